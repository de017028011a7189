"""Tells whether the words before a random word announce a secret."""

from __future__ import annotations

from told.guard._redact_drawn import is_drawn, is_hex, is_uuid, kinds
from told.guard._redact_patterns import pattern
from told.guard._redact_vendors import FILLERS, KEY_WORDS, PLAIN_WORDS, QUALIFIERS, SECRET_WORDS, VENDORS
from told.snapshot import IGNORECASE

_ATOMS = pattern(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[A-Z]|\d+")
_PATH = pattern(r"/[a-z]{2,12}/")
_DIGITS = pattern(r"\d+")
_BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_%-"
_NAME = _BASE64 + ".$"
_GLUE = " \t\"'`([<{:=>,|\\\u2192-"
_BASE64_BEHIND = pattern(r"[\w+/=~%-]{0,80}+")
_PARAMETER = pattern(
    r"[?&](?:key|app_?id|code|auth|k|sid|jwt|hash|s|(?:\w{1,20}[_-])?sig(?:nature)?)=\Z|/key/\Z", IGNORECASE
)
_COOKIE = pattern(
    r"cookie2?[:=]?[ \"']{1,2}(?:[^\n;]*;)*[ ]?(?:\w*sess\w*|sid|auth\w*|connect\.sid|remember\w*)=\Z",
    IGNORECASE,
)
_HEAD = 72
_JUDGED = 80
_OF_A_KEY = 40  # characters that a part of a private key has at least
_STRONG = 20
_LONG_NUMBER = 32
_LONGEST_NAME = 7
_LONG_NAME = 5  # words in a name, behind which a space joins nothing
_PUBLIC = ("MII", "MFkw", "MCow", "AAAAB3", "AAAAC3", "AAAAE2")  # what a public key begins with
_PRODUCT_KEY = pattern(r"[A-Z0-9]{4,6}(?:-[A-Z0-9]{4,6}){3,7}\Z")
_TAKES = frozenset("(,[")
_TAKERS = (
    "jwt",
    "hmac",
    "fernet",
    "encrypt",
    "cipher",
    "apikey",
    "secret",
    "token",
    "newrelic",
    "algolia",
    "bearer",
    "auth",
)
_NOTHING, _WEAKLY, _FIRMLY = range(3)


def introduced(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Return where a random word is that a keyword or the name of a service introduces."""
    head = text[max(0, start - _HEAD) : start]
    before = len(head) - len(head.rstrip(_BASE64))
    if before and not _PATH.search(head, len(head) - before):
        start -= before
        head = text[max(0, start - _HEAD) : start]
    name = head.rstrip(_GLUE)
    if name.endswith("\n"):
        name = name.rstrip().rstrip(_GLUE)
    glue = head[len(name) :]
    said = _said(name, glue)
    if not said:
        return None
    if said == _WEAKLY and not VENDORS.isdisjoint(atom.lower() for atom in _ATOMS.findall(head)):
        said = _FIRMLY
    behind = _BASE64_BEHIND.match(text, end)
    end = behind.end() if behind else end
    word = text[start : min(end, start + _JUDGED)].rstrip(".-=")
    return (start, end) if _is_secret(word, glue, said) else None


def handed(text: str, start: int, end: int, word: str) -> bool:
    """Tell whether a quoted random word is handed to something that takes a key."""
    if (
        text[max(0, start - 6) : start - 1].rstrip(" b")[-1:] not in _TAKES
        or text[end : end + 1] != text[start - 1]
        or not word.isalnum()
    ):
        return False
    if not ((is_hex(word) and len(word) >= _LONG_NUMBER) or (kinds(word) > 2 and is_drawn(word))):
        return False
    line = text[max(0, start - _HEAD) : start]
    atoms = [atom.lower() for atom in _ATOMS.findall(line[line.rfind("\n") + 1 :])]
    if not PLAIN_WORDS.isdisjoint(atoms):
        return False
    joined = "".join(atoms)
    return not VENDORS.isdisjoint(atoms) or any(taker in joined for taker in _TAKERS)


def _said(name: str, glue: str) -> int:
    """Return how firmly the words before a value announce a secret."""
    said = _announced(name, spaced=not glue.strip(), lines="\n" in glue)
    if said or not glue:
        return said or (_FIRMLY if _PARAMETER.search(name) else _NOTHING)
    if glue == "=" and (_PARAMETER.search(name + "=") or _COOKIE.search(name + "=")):
        return _FIRMLY
    if name.endswith(('"d', "<D", "<P", "<Q")):
        return _OF_A_KEY
    return _NOTHING


def _is_secret(word: str, glue: str, said: int) -> bool:
    if said == _OF_A_KEY:
        return len(word) >= _OF_A_KEY and is_drawn(word)
    if _PRODUCT_KEY.match(word):
        return said == _FIRMLY
    if is_uuid(word) or is_hex(word):
        joined = ":" in glue or "=" in glue or len(word) >= _LONG_NUMBER
        return said == _FIRMLY and (joined or len(word) >= _STRONG)
    if said == _FIRMLY and word.isalnum() and len(_DIGITS.findall(word)) > 2:
        return True
    return is_drawn(word) and (
        said == _FIRMLY or (kinds(word) > 2 and len(word) >= _STRONG and not word.startswith(_PUBLIC))
    )


def _announced(head: str, *, spaced: bool, lines: bool) -> int:
    """Return how firmly the words at the end of the head announce a secret."""
    words = head[head.rfind("\n") + 1 :].split(" ")[-5:]
    if lines and len(words) > _LONG_NAME - 1:
        return _NOTHING
    behind = ""
    while words:
        last = words.pop()
        name = last[len(last.rstrip(_NAME)) :]
        atoms = [atom.lower() for atom in _ATOMS.findall(name)]
        if (
            not atoms
            or len(atoms) > _LONGEST_NAME
            or (behind and len(name) < len(last))
            or not PLAIN_WORDS.isdisjoint(atoms)
        ):
            return _NOTHING
        if not SECRET_WORDS.isdisjoint(atoms):
            return _FIRMLY if not spaced or (len(atoms) < _LONG_NAME and atoms[-1] != "pass") else _NOTHING
        if not VENDORS.isdisjoint(atoms) or "".join(atoms) in VENDORS:
            return _FIRMLY
        if atoms[-1] == "key":
            if len(atoms) > 1 and not KEY_WORDS.isdisjoint(atoms[:-1]):
                return _FIRMLY
            if words and words[-1].lower() in KEY_WORDS:
                return _FIRMLY
            if words and words[-1].lower() in PLAIN_WORDS:
                return _NOTHING
            return _FIRMLY if words and words[-1].lower() in VENDORS else _WEAKLY
        if QUALIFIERS.isdisjoint(atoms) and FILLERS.isdisjoint(atoms):
            return _NOTHING
        behind = atoms[-1]
    return _NOTHING
