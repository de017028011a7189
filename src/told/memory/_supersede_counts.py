"""Finds the numbers of a text, with what they count."""

from __future__ import annotations

from told.memory import _supersede_cues as cues
from told.memory._supersede_tokens import BREAKS, key_of
from told.record import record

_NUMBER_WORDS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10,
    "zwei": 2, "drei": 3, "vier": 4, "fünf": 5, "sechs": 6, "deux": 2, "trois": 3, "quatre": 4,
    "dos": 2, "tres": 3, "cuatro": 4, "dois": 2, "três": 3, "quatro": 4,
}  # fmt: skip
_UNITS = {
    word: name
    for name, words in {
        "time": "s sec secs second seconds min mins minute minutes h hour hours day days week weeks month"
        " months year years ms sekunde sekunden minuten stunde stunden tag tage tagen woche wochen monat"
        " monate jahr jahre jours heures días horas dias meses",
        "size": "kb mb gb tb kib mib gib bytes byte",
        "share": "% percent prozent",
        "text": "line lines char chars characters column columns zeilen zeichen words",
        "count": "times reviewer reviewers review reviews approvals retries attempts people",
        "width": "space spaces leerzeichen espaces espacios espaços",
        "clock": "am pm uhr",
        "rate": "hz khz mhz baud rps qps",
        "power": "v mv a ma w mw db dbm",
        "distance": "px cm mm m km",
        "money": "€ $ £ eur usd euro euros dollars",
    }.items()
    for word in words.split()
}


@record
class Count:
    """A number with what it counts and the word before it."""

    value: str
    unit: str
    about: str


def is_number(token: str) -> bool:
    """Tell whether a word is a number, in digits or spelt out."""
    return token[0].isdigit() or token in _NUMBER_WORDS or (token[0] in "v$€£" and token[1:2].isdigit())


def counts_of(tokens: list[str]) -> tuple[Count, ...]:
    """Return the numbers of a text, with unit and the word before."""
    found = []
    about = ""
    for at, token in enumerate(tokens):
        if token in BREAKS:
            continue
        if not is_number(token):
            if token not in cues.EMPTY:
                about = key_of(token)
            continue
        value, unit = _split(token)
        following = tokens[at + 1] if at + 1 < len(tokens) else ""
        unit = "clock" if ":" in value else _UNITS.get(unit) or _UNITS.get(following, "")
        if token in _NUMBER_WORDS and not unit:
            continue
        found.append(Count(value, unit, about))
    return tuple(found)


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
