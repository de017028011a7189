"""Tells words that were drawn at random from words that somebody made up."""

from __future__ import annotations

from told.guard._redact_patterns import pattern

# The pairs of letters that make up nine tenths of the names in programs, and three tenths of random text.
_USUAL_PAIR = pattern(
    r"(?=(?:"
    r"a[bcdgilmnprstuv]|b[aelou]|c[aehiklortu]|d[aeiosu]|e[acdefglmnpqrstvx]|f[aefioru]|g[ehirs]"
    r"|h[aeiot]|i[abcdefglmnoprstvz]|k[e]|l[adeilostuy]|m[aeimop]|n[acdefginostuv]"
    r"|o[bcdilmnoprstuvw]|p[aeiloprty]|q[u]|r[acdegimnorstuy]|s[acehiopstu]|t[acehilorstuy]"
    r"|u[abeilmnprst]|v[aei]|w[ahio]|x[ept]|y[pt]|z[e]"
    r"))"
)
_PAIR = pattern(r"[a-z](?=[a-z])")
_DIGITS = pattern(r"\d+")
_HEX = pattern(r"(?:[0-9a-f]+|[0-9A-F]+)\Z")
_UUID = pattern(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z")
_INNER_DIGITS = pattern(r"(?<=[A-Za-z])\d+(?=[A-Za-z])")
_NOT_LETTERS_OR_DIGITS = pattern(r"[^A-Za-z0-9]+")
_FEW_PAIRS = 4
_FEW_DIGITS = 3
_LONG = 16


def is_uuid(word: str) -> bool:
    """Tell whether the word is a UUID."""
    return bool(_UUID.match(word))


def is_hex(word: str) -> bool:
    """Tell whether the word is a number in hexadecimal digits of one case, with letters in it."""
    return bool(_HEX.match(word)) and not word.isdigit() and not word.isalpha()


def is_drawn(word: str) -> bool:
    """Tell whether a word of 16 and more is as if letters and digits were drawn at random."""
    plain = word if word.isalnum() else _NOT_LETTERS_OR_DIGITS.sub("", word)
    return len(plain) >= _LONG and not plain.isalpha() and not plain.isdigit() and looks_drawn(word, 2)


def looks_drawn(word: str, slack: int) -> bool:
    """Tell whether the letters of the word make too few of the usual pairs for a name.

    Args:
        word: What is judged.
        slack: How many usual pairs more than half of all are allowed.
    """
    lowered = word.lower()
    if "abcdefg" in lowered:
        return False
    digits = _DIGITS.findall(word)
    if len(digits) > _FEW_DIGITS and len(word) >= _LONG and len(_INNER_DIGITS.findall(word)) > _FEW_DIGITS:
        return True
    pairs = len(_PAIR.findall(lowered))
    if pairs <= _FEW_PAIRS and len(digits) > _FEW_DIGITS:
        return True
    usual = len(_USUAL_PAIR.findall(lowered))
    if len(digits) == 1 and (word.endswith(digits[0]) or word.startswith(digits[0])):
        usual += 2  # a name with a number behind or before it
    return usual * 2 <= pairs + slack


def kinds(word: str) -> int:
    """Count which of small letters, capitals and digits the word has."""
    return (word.upper() != word) + (word.lower() != word) + bool(_DIGITS.search(word))
