"""Finds the numbers of a text, with what they count."""

from __future__ import annotations

from told.memory import _supersede_cues as cues
from told.record import record
from told.search.tokens import BREAKS, key_of

_NUMBER_WORDS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "twelve": 12, "twenty": 20, "thirty": 30, "single": 1, "half": 0.5, "first": 1, "second": 2,
    "zwei": 2, "drei": 3, "vier": 4, "fünf": 5, "sechs": 6, "sieben": 7, "acht": 8, "zehn": 10, "zwölf": 12,
    "deux": 2, "trois": 3, "quatre": 4, "cinq": 5, "dix": 10,
    "dos": 2, "tres": 3, "cuatro": 4, "cinco": 5, "diez": 10, "dois": 2, "duas": 2,
    "três": 3, "quatro": 4, "dez": 10,
}  # fmt: skip
_SECONDS = {
    "ms": 0.001,
    "s": 1, "sec": 1, "secs": 1, "second": 1, "seconds": 1, "sekunde": 1, "sekunden": 1, "segundo": 1,
    "segundos": 1, "seconde": 1, "secondes": 1, "秒": 1, "min": 60, "mins": 60, "minute": 60,
    "minutes": 60, "minuten": 60, "minutos": 60, "minuto": 60, "分": 60, "分钟": 60, "分間": 60, "h": 3600,
    "hr": 3600, "hrs": 3600, "hour": 3600, "hours": 3600, "stunde": 3600, "stunden": 3600, "heure": 3600,
    "heures": 3600, "hora": 3600, "horas": 3600, "小时": 3600, "時間": 3600, "day": 86400, "days": 86400,
    "tag": 86400, "tage": 86400, "tagen": 86400, "jour": 86400, "jours": 86400, "día": 86400,
    "días": 86400, "dia": 86400, "dias": 86400, "天": 86400, "日": 86400, "日間": 86400, "week": 604800,
    "weeks": 604800, "woche": 604800, "wochen": 604800, "semaine": 604800, "semaines": 604800,
    "semana": 604800, "semanas": 604800, "周": 604800, "週間": 604800, "month": 2592000, "months": 2592000,
    "monat": 2592000, "monate": 2592000, "monaten": 2592000, "mois": 2592000, "mes": 2592000,
    "meses": 2592000, "mês": 2592000, "个月": 2592000, "ヶ月": 2592000, "year": 31536000, "years": 31536000,
    "jahr": 31536000, "jahre": 31536000, "jahren": 31536000, "an": 31536000, "ans": 31536000,
    "année": 31536000, "años": 31536000, "año": 31536000, "ano": 31536000, "anos": 31536000,
    "年": 31536000, "年間": 31536000,
}  # fmt: skip
_UNITS = {
    "kb": "size", "mb": "size", "gb": "size", "tb": "size", "kib": "size", "mib": "size", "gib": "size",
    "bytes": "size", "byte": "size",
    "%": "share", "percent": "share", "prozent": "share",
    "line": "text", "lines": "text", "char": "text", "chars": "text", "characters": "text",
    "column": "text", "columns": "text", "zeilen": "text", "zeichen": "text", "words": "text",
    "digits": "text", "pages": "text",
    "times": "count", "reviewer": "count", "reviewers": "count", "review": "count", "reviews": "count",
    "approval": "count", "approvals": "count", "retries": "count", "tries": "count", "attempts": "count",
    "people": "count", "freigabe": "count", "freigaben": "count", "relecteur": "count",
    "relecteurs": "count", "aprobación": "count", "aprobaciones": "count",
    "space": "width", "spaces": "width", "leerzeichen": "width", "espaces": "width", "espacios": "width",
    "espaços": "width",
    "am": "clock", "pm": "clock", "uhr": "clock",
    "hz": "rate", "khz": "rate", "mhz": "rate", "baud": "rate", "rps": "rate", "qps": "rate", "fps": "rate",
    "v": "power", "mv": "power", "a": "power", "ma": "power", "w": "power", "mw": "power", "db": "power",
    "dbm": "power",
    "px": "distance", "cm": "distance", "mm": "distance", "m": "distance", "km": "distance",
    "pixel": "distance", "pixels": "distance",
    "kg": "weight", "g": "weight", "lbs": "weight", "tonnes": "weight",
    "€": "money", "$": "money", "£": "money", "eur": "money", "usd": "money", "euro": "money",
    "euros": "money", "dollars": "money", "cores": "cores",
}  # fmt: skip
_VAGUE = frozenset(("one", "first", "second", "half"))
# "a week", "every minute" and "once per hour" count as well.
_SINGLE = cues.words("""
a an per every each full ein eine einen jede jeder jedes un une par chaque una cada um uma por
""")


@record
class Count:
    """A number with what it counts and the words about it."""

    value: str
    unit: str
    about: str  # the telling word before
    of: str = ""  # the telling word after
    digits: str = ""  # as it is written


def is_number(token: str) -> bool:
    """Tell whether a word is a number, in digits or spelt out."""
    return token[0].isdigit() or token in _NUMBER_WORDS or (token[0] in "v$€£" and token[1:2].isdigit())


def counts_of(tokens: list[str]) -> tuple[Count, ...]:
    """Return the numbers of a text, with unit and the words around."""
    found = []
    about = ""
    for at, token in enumerate(tokens):
        if token in BREAKS:
            continue
        if not is_number(token):
            if len(token) > 1 and token in _SECONDS and at and tokens[at - 1] in _SINGLE:
                found.append(Count(str(float(_SECONDS[token])), "time", about))
            elif token not in cues.EMPTY:
                about = key_of(token)
            continue
        digits, unit = _split(token)
        following = tokens[at + 1] if at + 1 < len(tokens) else ""
        length = _SECONDS.get(unit) or (0 if unit else _SECONDS.get(following, 0))
        unit = (
            "time" if length else "clock" if ":" in digits else _UNITS.get(unit) or _UNITS.get(following, "")
        )
        of = (
            ""
            if unit or not following or following in cues.EMPTY or following in BREAKS
            else key_of(following)
        )
        if token in _NUMBER_WORDS and not unit and (not of or token in _VAGUE):
            continue
        value = str(float(digits) * length) if length and _is_plain(digits) else digits
        found.append(Count(value, unit, about, of, digits))
    return tuple(found)


def digits_of(token: str) -> str:
    """Return the figures of a number, without its unit."""
    return _split(token)[0]


def _is_plain(digits: str) -> bool:
    return digits.replace(".", "", 1).isascii() and digits.replace(".", "", 1).isdigit()


def _split(token: str) -> tuple[str, str]:
    if token in _NUMBER_WORDS:
        return str(_NUMBER_WORDS[token]), ""
    if token[0] in "$€£":
        return token[1:], token[0]
    token = token.lstrip("v")
    end = 0
    while end < len(token) and (token[end].isdigit() or token[end] in ".:,-x"):
        end += 1
    return token[:end].rstrip(".:,-x") or token, token[end:]
