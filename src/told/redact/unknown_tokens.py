"""Find tokens of unlisted issuers by shape or context, and e-mail addresses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from told.pattern import lazy_pattern
from told.redact.rules import load_pattern, load_words
from told.redact.values import (
    count_kinds,
    count_numbers,
    is_filled,
    is_hex,
    is_random_token,
    is_uuid,
    looks_random,
)

Span = tuple[int, int]

_VENDORS = load_words("vendors")
_ID_PREFIXES = load_words("id_prefixes")
_SECRET_WORDS = load_words("secret_words")
_KEY_WORDS = load_words("key_words")
_LINKING_WORDS = _KEY_WORDS | load_words("qualifiers") | load_words("fillers")
_PLAIN_WORDS = load_words("plain_words")
_KEY_PREFIXES = load_words("key_prefixes")
_KEY_FUNCTIONS = load_words("key_functions")
_FILE_ENDINGS = load_words("file_endings")
_TOP_LEVEL_DOMAINS = load_words("top_level_domains")
_NO_COUNTRY_CODES = load_words("no_country_codes")
_KNOWN_SHAPE = load_pattern("unknown_token")
_FIRST_PART = load_pattern("first_part")
_NOBODY = load_pattern("nobody")
_NO_DOMAIN = load_pattern("no_domain")

_DIGIT = lazy_pattern(r"\d")
# Except for names of several words, a token has a run without a break or is a UUID.
_RUN_MAP = bytes(97 if chr(byte).isalnum() and byte < 128 else 32 for byte in range(256))
_RUN = b"a" * 16
_DASH = ord("-")
_SEPARATOR = lazy_pattern(r"[_-]+")
_PREFIX = lazy_pattern(r"(?:[a-z]{2,14}\d{0,2}|[A-Z]{2,12}\d{0,2}|[a-z]\d[a-z]?|[a-z]{2,5}\d[a-z]{1,5})\Z")
_MAX_PREFIXES = 4
_REST_OF_SECRET = lazy_pattern(r"[\w./+=$,~-]{0,400}+")
_REST_OF_BASE64 = lazy_pattern(r"[\w+/=~%-]*+")
_NEAR_REST_OF_BASE64 = lazy_pattern(r"[\w+/=~%-]{0,80}+")
# Most random words of a transcript are ids: names that end so say that a value is one.
_SHORT_ID_NAMES = frozenset((b'Id":"', b'id":"', b'ID":"', b'-id "'))
_SHORT_ID_NAME = 5
_ID_NAMES = (
    *(end + quote for end in (b"Id", b"id", b"ID") for quote in (b'": "', b'\\":\\"')),
    b"-id ",
)
_ID_NAME = max(map(len, _ID_NAMES))
_QUOTES = frozenset("\"'`")
_IN_PATHS = frozenset("/@#+")  # before a part of a path, or of base64 data
_HEX_LENGTHS = frozenset((32, 40, 48, 64))
_LONG_LETTERS = 32
_BEFORE, _BEHIND = 160, 81  # characters around a word that may announce it
_FIRST_PART_LENGTH = 96

_ATOMS = lazy_pattern(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[A-Z]|\d+")
_PATH = lazy_pattern(r"/[a-z]{2,12}/")
_BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_%-"
_IN_NAMES = _BASE64 + ".$"
_GLUE = " \t\"'`([<{:=>,|\\\u2192-"
_PARAMETER = lazy_pattern(
    r"[?&](?:key|app_?id|code|auth|k|sid|jwt|hash|s|(?:\w{1,20}[_-])?sig(?:nature)?)=\Z|/key/\Z",
    re.IGNORECASE,
)
_COOKIE = lazy_pattern(
    r"cookie2?[:=]?[ \"']{1,2}(?:[^\n;]*;)*[ ]?(?:\w*sess\w*|sid|auth\w*|connect\.sid|remember\w*)=\Z",
    re.IGNORECASE,
)
_PRODUCT_KEY = lazy_pattern(r"[A-Z0-9]{4,6}(?:-[A-Z0-9]{4,6}){3,7}\Z")
_NAME_LENGTH = 72
_CHECKED = 80
_PRIVATE_KEY_PART = 40  # characters that a part of a private key has at least
_STRONG = 20
_LONG_NUMBER = 32
_MAX_NAME_PARTS = 7
_LONG_NAME = 5  # parts of a name, behind which a space joins nothing
_PUBLIC_KEYS = ("MII", "MFkw", "MCow", "AAAAB3", "AAAAC3", "AAAAE2")
_BEFORE_ARGUMENTS = frozenset("(,[")
# How strongly the text before a word announces a secret.
_NOT, _WEAKLY, _FIRMLY, _AS_PRIVATE_KEY = range(4)

_LOCAL_PART = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._%+-"
_LOCAL_LENGTH = 64
_DOMAIN = lazy_pattern(r"(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,5}([A-Za-z]{2,16})(?![\w@-])")
_REMOTE_COMMANDS = ("ssh", "scp", "sftp", "rsync", "mosh")


def find_unknown_tokens(text: str, flat: bytes, words: Iterable[Span]) -> Iterator[Span]:
    """Yield where tokens of unlisted issuers are.

    `words` are the unbroken runs of at least 18 letters, digits and `_.~-`.
    """
    done = 0
    # Hostile text repeats the same question very often.
    tokens: dict[str, bool] = {}
    filled: dict[str, bool] = {}
    announced: dict[tuple[str, int], Span | None] = {}  # by the text around a word
    for start, end in words:
        if start < done or not _may_be_token(flat, start, end):
            continue
        word = text[start:end]
        if not _DIGIT.search(word) and (
            end - start < _LONG_LETTERS or "_" not in word or word.lower() == word
        ):
            continue
        found = _find_with_first_part(text, start, end)
        if found is None and text[max(0, start - 1) : start] not in _IN_PATHS:
            if word not in tokens:
                tokens[word] = _is_token(word)
            found = (start, end) if tokens[word] else None
        if found is None:
            around = text[max(0, start - _BEFORE) : end + _BEHIND], min(_BEFORE, start)
            if around not in announced:
                span = _find_announced(text, start, end)
                announced[around] = (span[0] - start, span[1] - end) if span else None
            moved = announced[around]
            found = (start + moved[0], end + moved[1]) if moved else None
        if found is None and text[start - 1 : start] in _QUOTES and _is_key_argument(text, start, end, word):
            found = start, end
        if found is None:
            continue
        if word not in filled:
            filled[word] = is_filled(word[:_CHECKED])
        if filled[word]:
            behind = _REST_OF_BASE64.match(text, found[1])
            done = behind.end() if behind else found[1]
            yield found[0], done


def _may_be_token(flat: bytes, start: int, end: int) -> bool:
    """Return False for letters alone, ids and names of several words."""
    word = flat[start:end]
    if word.isalpha() or flat[start - _SHORT_ID_NAME : start] in _SHORT_ID_NAMES:
        return False
    has_run = _RUN in word.translate(_RUN_MAP)
    may_be_uuid = end - start > 35 and flat[end - 13] == _DASH == flat[end - 18]
    return (has_run or may_be_uuid) and not flat.endswith(_ID_NAMES, max(0, start - _ID_NAME), start)


def _find_with_first_part(text: str, start: int, end: int) -> Span | None:
    """Return a secret that begins before the word, such as `123456789:AA…`."""
    if start == 0 or text[start - 1] not in ":|!$/.}":
        return None
    head = text[max(0, start - _FIRST_PART_LENGTH) : start]
    if head[-1] in "/." and "$" not in head and not head.endswith("1//"):
        return None  # a path, or base64 data
    before = _FIRST_PART.search(f"{head}\n{text[start : start + 8]}")
    if before is None:
        return None
    behind = _REST_OF_SECRET.match(text, end)
    return start - len(before[0]) + 1, behind.end() if behind else end


def _is_token(word: str) -> bool:
    if is_hex(word) or is_uuid(word) or "---" in word:  # or the frame around a public key
        return False
    if _KNOWN_SHAPE.match(word) and (is_random_token(word) or word.isalnum()):
        return True
    return _has_token_prefix(word)


def _has_token_prefix(word: str) -> bool:
    """Return whether the word is random text behind a prefix that is not of an id."""
    if word.rpartition(".")[2] in _FILE_ENDINGS:
        return False
    for segment in word.split("."):
        parts = _SEPARATOR.split(segment)
        prefix: list[str] = []
        left = len(segment)
        while (
            len(parts) > 1
            and _PREFIX.match(parts[0])
            and left - len(parts[0]) > 16
            and len(prefix) < _MAX_PREFIXES
        ):
            left -= len(parts[0]) + 1
            prefix.append(parts.pop(0).lower())
        if prefix and prefix[0] not in _ID_PREFIXES and _is_body(segment[-left:], parts, prefix, segment):
            return True
    return False


def _is_body(body: str, parts: list[str], prefix: list[str], segment: str) -> bool:
    """Return whether the text behind a prefix is random enough for a token."""
    has_key_prefix = not _KEY_PREFIXES.isdisjoint(prefix) or prefix[0].endswith(("sk", "key", "pat", "tok"))
    underscore = segment[len(segment) - len(body) - 1] == "_"
    if is_uuid(body):
        return has_key_prefix or (len(prefix) == 1 and prefix[0] in _VENDORS)
    if len(parts) == 1 and is_hex(body):
        return (has_key_prefix and len(body) > 27) or (
            underscore and len(body) in _HEX_LENGTHS and len(prefix[0]) < 6
        )
    length = len("".join(parts))
    if not _DIGIT.search(body):
        return underscore and length >= _LONG_LETTERS - 4 and body.isalpha() and looks_random(body, 0)
    if count_kinds(body) == 3:
        return length >= (20 if underscore or has_key_prefix else 22) and is_random_token(body)
    longest = max(map(len, parts))
    is_short = has_key_prefix or (len(prefix) == 1 and len(prefix[0]) < 8)
    return longest >= (20 if is_short else 24 if underscore else 30) and is_random_token(body)


def _find_announced(text: str, start: int, end: int) -> Span | None:
    """Return a random word that a keyword or the name of a service announces."""
    head = text[max(0, start - _NAME_LENGTH) : start]
    before = len(head) - len(head.rstrip(_BASE64))
    if before and not _PATH.search(head, len(head) - before):
        start -= before
        head = text[max(0, start - _NAME_LENGTH) : start]
    name = head.rstrip(_GLUE)
    if name.endswith("\n"):
        name = name.rstrip().rstrip(_GLUE)
    glue = head[len(name) :]
    strength = _announcement(name, glue)
    if strength == _NOT:
        return None
    if strength == _WEAKLY and not _VENDORS.isdisjoint(atom.lower() for atom in _ATOMS.findall(head)):
        strength = _FIRMLY
    behind = _NEAR_REST_OF_BASE64.match(text, end)
    end = behind.end() if behind else end
    word = text[start : min(end, start + _CHECKED)].rstrip(".-=")
    return (start, end) if _is_announced_secret(word, glue, strength) else None


def _announcement(name: str, glue: str) -> int:
    """Return how strongly a name before a value announces a secret."""
    strength = _name_strength(name, spaced=not glue.strip(), lines="\n" in glue)
    if strength != _NOT:
        return strength
    if not glue:
        return _FIRMLY if _PARAMETER.search(name) else _NOT
    if glue == "=" and (_PARAMETER.search(name + "=") or _COOKIE.search(name + "=")):
        return _FIRMLY
    if name.endswith(('"d', "<D", "<P", "<Q")):  # parameters of private keys in JSON and XML
        return _AS_PRIVATE_KEY
    return _NOT


def _is_announced_secret(word: str, glue: str, strength: int) -> bool:
    if strength == _AS_PRIVATE_KEY:
        return len(word) >= _PRIVATE_KEY_PART and is_random_token(word)
    if _PRODUCT_KEY.match(word):
        return strength == _FIRMLY
    if is_uuid(word) or is_hex(word):
        joined = ":" in glue or "=" in glue or len(word) >= _LONG_NUMBER
        return strength == _FIRMLY and (joined or len(word) >= _STRONG)
    if strength == _FIRMLY and word.isalnum() and count_numbers(word) > 2:
        return True
    return is_random_token(word) and (
        strength == _FIRMLY
        or (count_kinds(word) > 2 and len(word) >= _STRONG and not word.startswith(_PUBLIC_KEYS))
    )


def _name_strength(head: str, *, spaced: bool, lines: bool) -> int:
    """Return how strongly the last words of the head announce a secret."""
    words = head[head.rfind("\n") + 1 :].split(" ")[-5:]
    if lines and len(words) >= _LONG_NAME:
        return _NOT
    is_last = True
    while words:
        last = words.pop()
        name = last[len(last.rstrip(_IN_NAMES)) :]
        atoms = [atom.lower() for atom in _ATOMS.findall(name)]
        if (
            not atoms
            or len(atoms) > _MAX_NAME_PARTS
            or (not is_last and len(name) < len(last))
            or not _PLAIN_WORDS.isdisjoint(atoms)
        ):
            return _NOT
        if not _SECRET_WORDS.isdisjoint(atoms):
            return _FIRMLY if not spaced or (len(atoms) < _LONG_NAME and atoms[-1] != "pass") else _NOT
        if not _VENDORS.isdisjoint(atoms) or "".join(atoms) in _VENDORS:
            return _FIRMLY
        if atoms[-1] == "key":
            return _key_strength(atoms, words[-1].lower() if words else "")
        if _LINKING_WORDS.isdisjoint(atoms):
            return _NOT
        is_last = False
    return _NOT


def _key_strength(atoms: list[str], before: str) -> int:
    if not _KEY_WORDS.isdisjoint(atoms[:-1]) or before in _KEY_WORDS:
        return _FIRMLY
    if before in _PLAIN_WORDS:
        return _NOT
    return _FIRMLY if before in _VENDORS else _WEAKLY


def _is_key_argument(text: str, start: int, end: int, word: str) -> bool:
    """Return whether a quoted random word is passed to a function that takes a key."""
    if (
        text[max(0, start - 6) : start - 1].rstrip(" b")[-1:] not in _BEFORE_ARGUMENTS
        or text[end : end + 1] != text[start - 1]
        or not word.isalnum()
    ):
        return False
    if not (
        (is_hex(word) and len(word) >= _LONG_NUMBER) or (count_kinds(word) > 2 and is_random_token(word))
    ):
        return False
    line = text[max(0, start - _NAME_LENGTH) : start]
    atoms = [atom.lower() for atom in _ATOMS.findall(line[line.rfind("\n") + 1 :])]
    if not _PLAIN_WORDS.isdisjoint(atoms):
        return False
    joined = "".join(atoms)
    return not _VENDORS.isdisjoint(atoms) or any(name in joined for name in _KEY_FUNCTIONS)


def find_emails(text: str, flat: bytes) -> Iterator[Span]:
    """Yield where e-mail addresses of people are."""
    at = flat.find(b"@")
    while at >= 0:
        domain = _DOMAIN.match(text, at + 1)
        if domain:
            head = text[max(0, at - _LOCAL_LENGTH - 8) : at]
            local = head[len(head.rstrip(_LOCAL_PART)) :].lstrip(".%+-_")
            before = head[: len(head) - len(local)]
            end = domain.end()
            if (
                local
                and _is_person(local, domain[0].lower(), domain[1].lower(), before)
                and (text[end : end + 1] != ":" or not text[end + 1 : end + 2].strip("\"' \n,"))
            ):
                yield at - len(local), end
        at = flat.find(b"@", at + 1)


def _is_person(local: str, domain: str, top_level: str, before: str) -> bool:
    if before.endswith(("//", ":", "@")) and not before.endswith("mailto:"):
        return False
    if len(top_level) > 2 and top_level not in _TOP_LEVEL_DOMAINS:
        return False
    if top_level in _NO_COUNTRY_CODES or len(local) < 2:
        return False
    if before.rstrip().endswith(_REMOTE_COMMANDS):
        return False
    return not _NOBODY.match(local.lower()) and not _NO_DOMAIN.match(domain)
