"""The words for days, months and spans of time, in the languages people ask in."""

from __future__ import annotations

MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
    "november", "december",
)  # fmt: skip
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

_FOREIGN_MONTHS = (
    "januar janvier enero janeiro", "februar février fevrier febrero fevereiro", "märz mars marzo março",
    "avril abril", "mai mayo maio", "juni juin junio junho", "juli juillet julio julho", "août aout agosto",
    "septembre septiembre setembro", "oktober octobre octubre outubro", "novembre noviembre novembro",
    "dezember décembre decembre diciembre dezembro",
)  # fmt: skip
_FOREIGN_WEEKDAYS = (
    "montag lundi lunes", "dienstag mardi martes", "mittwoch mercredi miércoles", "donnerstag jeudi jueves",
    "freitag vendredi viernes", "samstag samedi sábado", "sonntag dimanche domingo",
)  # fmt: skip


def _numbered(names: tuple[str, ...], foreign: tuple[str, ...], first: int) -> dict[str, int]:
    """Map each name, its first three letters and its foreign names to its number."""
    numbers = {}
    for number, (name, others) in enumerate(zip(names, foreign, strict=True), first):
        numbers.update(dict.fromkeys((name, name[:3], *others.split()), number))
    return numbers


MONTH = _numbered(MONTHS, _FOREIGN_MONTHS, 1) | {"sept": 9}
WEEKDAY = _numbered(WEEKDAYS, _FOREIGN_WEEKDAYS, 0) | {"tues": 1, "thurs": 3}
DAYS_BACK = {
    "today": 0, "heute": 0, "aujourd'hui": 0, "hoy": 0, "hoje": 0, "tonight": 0,
    "yesterday": 1, "gestern": 1, "hier": 1, "ayer": 1, "ontem": 1,
    "vorgestern": 2, "anteayer": 2, "avant-hier": 2,
}  # fmt: skip
UNIT = {
    "hour": "h", "hours": "h", "stunde": "h", "stunden": "h", "heures": "h", "horas": "h",
    "day": "d", "days": "d", "tag": "d", "tage": "d", "tagen": "d", "jours": "d", "días": "d", "dias": "d",
    "week": "w", "weeks": "w", "woche": "w", "wochen": "w", "semaine": "w", "semaines": "w", "semana": "w",
    "semanas": "w", "month": "m", "months": "m", "monat": "m", "monate": "m", "monaten": "m", "mois": "m",
    "mes": "m", "meses": "m", "mês": "m", "year": "y", "years": "y", "jahr": "y", "jahre": "y", "jahren": "y",
    "an": "y", "ans": "y", "année": "y", "año": "y", "años": "y", "ano": "y", "anos": "y",
    "weekend": "e", "wochenende": "e", "night": "n",
}  # fmt: skip
COUNT = {
    "a": 1, "an": 1, "one": 1, "two": 2, "couple": 2, "three": 3, "few": 3, "four": 4, "five": 5, "six": 6,
    "seven": 7, "eight": 8, "nine": 9, "ten": 10, "einem": 1, "einer": 1, "zwei": 2, "drei": 3,
    "une": 1, "un": 1, "deux": 2, "trois": 3, "una": 1, "dos": 2, "tres": 3,
}  # fmt: skip
LAST = frozenset((
    "last", "past", "previous", "letzte", "letzten", "letzter", "letztes", "vergangene", "dernier",
    "dernière", "último",
))  # fmt: skip
LAST_BEHIND = frozenset(["dernier", "dernière", "derniere", "pasado", "pasada", "passado", "passada"])
THIS = frozenset(["this", "diese", "diesen", "dieser", "dieses", "esta", "este", "cette"])
AGO = frozenset(["ago", "earlier", "back"])
AGO_BEFORE = frozenset(["vor", "hace", "há"])
SINCE = frozenset(["since", "after", "seit", "depuis", "desde"])
BEFORE = frozenset(["before", "until", "till", "bis", "vor", "antes"])
# What must stand before a bare "May", "March" or year for it to be a time.
IN = SINCE | BEFORE | THIS | LAST | frozenset((
    "in", "of", "during", "on", "by", "mid", "early", "late", "around", "im", "am", "en", "em", "to", "and",
    "between", "from", "le", "el",
))  # fmt: skip
# One of these beside it makes "hier" French for yesterday, not German for here.
FRENCH = frozenset(["que", "qu", "nous", "le", "la", "fait", "avons", "ce", "est", "ai", "on", "de"])


def day_word(year: int, month: int, day: int) -> str:
    """Return the one word under which the turns of a day are indexed."""
    return f"{year:04}{month:02}{day:02}"
