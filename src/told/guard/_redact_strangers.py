"""Finds secrets of issuers that nobody listed: by their prefix, their shape, or what stands before them."""

from __future__ import annotations

from told.guard._redact_answers import Answers
from told.guard._redact_drawn import is_drawn, is_hex, is_uuid, kinds, looks_drawn
from told.guard._redact_introduced import handed, introduced
from told.guard._redact_looks import filled
from told.guard._redact_patterns import pattern
from told.guard._redact_vendors import IDS, VENDORS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_DIGIT = pattern(r"\d")
# All but names of several words have a run without a break, or are a UUID, whose dashes have their places.
_ALIKE = bytes(97 if chr(byte).isalnum() and byte < 128 else 32 for byte in range(256))
_RUN = b"a" * 16
_DASH = ord("-")
_BETWEEN = pattern(r"[_-]+")
_PREFIX = pattern(r"(?:[a-z]{2,14}\d{0,2}|[A-Z]{2,12}\d{0,2}|[a-z]\d[a-z]?|[a-z]{2,5}\d[a-z]{1,5})\Z")
_FILE_ENDINGS_TEXT = """\
js jsx ts tsx cjs mjs css scss map json jsonl jsonc html htm md txt log py pyc pyi so db png jpg jpeg gif
svg webp ico woff woff2 ttf zip gz tgz whl jar wasm lock yaml yml toml xml csv pdf mp3 mp4 go rs rb java kt
swift c h m cpp hpp snap tmp bak
"""
_FILE_ENDINGS = frozenset(_FILE_ENDINGS_TEXT.split())
# A word with one of these in its prefix may be a mere number behind it.
_KEYISH_TEXT = """\
sk pk rk ak pat key apikey api tok token secret sec access auth oauth pwd priv sdk mob cred pass
"""
_KEYISH = frozenset(_KEYISH_TEXT.split())
_SHAPES = pattern(
    r"[\w~.]{3}\dQ~[\w~.-]{31,34}\Z|"
    r"[A-Za-z0-9]{40,80}(?:AZDO|AzSe|AzFu|ACDb|AzCa|APIM|JQQJ99)[A-Za-z0-9]{4,30}\Z|"
    r"[0-9a-f]{32}-us\d{1,2}\Z|[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}\Z|"
    r"[0-9a-fx]{30,42}(?:FFFF)?NRAL\Z|[A-Za-z0-9]{14}\.atlasv1\.[\w-]{50,}|"
    r"[0-9a-f]{10}msh[0-9a-z]{15}p[0-9a-z]{6}jsn[0-9a-z]{12}\Z|"
    r"[MNO][\w-]{22,27}\.[\w-]{6}\.[\w-]{27,40}\Z|"
    r"fn[AE][\w-]{37,38}\Z|SCW[A-Z0-9]{17}\Z|EXO[0-9a-f]{24}\Z|cio[A-Za-z0-9]{32}\Z|oy2[a-z0-9]{43}\Z|"
    r"sk[A-Za-z0-9]{80,200}\Z|md-[\w-]{22}\Z|6L[c-g][\w-]{37}\Z|KEY[0-9A-Z]{32}_\w{22}\Z|u\d{6,8}-[0-9a-f]{24}\Z|"
    r"[5KL][1-9A-HJ-NP-Za-km-z]{50,51}\Z|sl\.(?:[uB]\.)?[\w-]{60,}\Z|re_\w{8}_\w{24}\Z|fc-[0-9a-f]{32}\Z|"
    r"00[\w-]{40}\Z|s\.[A-Za-z0-9]{24}\Z|xox.-[\w-]{20,}\Z|"
    r"st\.[0-9a-f-]{24,36}\.[0-9a-f]{32}\.[0-9a-f]{32}\Z"
)
# What makes the word behind it a part of the same secret.
_FIRST_PART = pattern(
    r"(?:(?<!\d)\d{8,10}:(?=\nAA)|(?<!\d)\d{15,16}\||\b[12]/\d{12,17}(?:/\d{12,17})?:|\b00D[A-Za-z0-9]{12,15}!|"
    r"\b1//(?=\n0)|access_token\$\w+\$\w{16}\$|[\w-]{9,13}:(?=\nAPA91b)|\b0\.[0-9a-f-]{36}\.\w{30}:|"
    r"\$(?:2[abxy]|[15-9yPHS]|apr1|NT|krb5\w{2,5}|md5|sha1|sha256|argon2\w{1,2}|pbkdf2[\w-]{0,16}|scrypt)\$[\w./+=,$]{0,80}|pbkdf2_sha\d+\$\d+\$(?:\w+\$)?|\{(?:S?SHA|CRYPT|MD5|SMD5)\})\n"
)
_OF_ONE_PIECE = pattern(r"[\w./+=$,~-]{0,400}+")
_BASE64_BEHIND = pattern(r"[\w+/=~%-]*+")
# An id is what it is called, and most random words of a transcript are ids.
_OF_IDS = frozenset((b'Id":"', b'id":"', b'ID":"', b'-id "'))
_OF_OTHER_IDS = (
    *(end + quote for end in (b"Id", b"id", b"ID") for quote in (b'": "', b'\\":\\"')),
    b"-id ",
)
_OF_ANY_ID, _LONGEST_OF_IDS = 5, max(map(len, _OF_OTHER_IDS))
_QUOTES = frozenset("\"'`")
_INSIDE = frozenset("/@#+")  # before a part of a path, or of data in base 64
_NUMBERS = frozenset((32, 40, 48, 64))  # digits that a hexadecimal token has
_LONG_OF_LETTERS = 32
_BEFORE, _BEHIND = 160, 81  # characters around a word that tell whether something announces it
_HEAD = 96


def strangers(text: str, flat: bytes, words: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int, str]]:
    """Yield where secrets of unknown issuers are, and of which kind.

    Args:
        text: What is searched.
        flat: The same, a byte for each character.
        words: Where the unbroken runs of 18 and more letters, digits and `_.~-` are.
    """
    done = 0
    telling, real = Answers(_tells_itself), Answers(lambda word: filled(word[:80]))
    announced: dict[tuple[str, int], tuple[int, int] | None] = {}  # with what stands around a word
    for start, end in words:
        bare = flat[start:end]
        if (
            bare.isalpha()
            or start < done
            or flat[start - _OF_ANY_ID : start] in _OF_IDS
            or (
                _RUN not in bare.translate(_ALIKE)
                and not (end - start > 35 and flat[end - 13] == _DASH == flat[end - 18])
            )
            or flat.endswith(_OF_OTHER_IDS, max(0, start - _LONGEST_OF_IDS), start)
        ):
            continue
        word = text[start:end]
        if not _DIGIT.search(word) and (
            end - start < _LONG_OF_LETTERS or "_" not in word or word.lower() == word
        ):
            continue
        found = _first_part(text, start, end)
        if found is None and text[max(0, start - 1) : start] not in _INSIDE and telling[word]:
            found = start, end
        if found is None:
            said = text[max(0, start - _BEFORE) : end + _BEHIND], min(_BEFORE, start)
            if said not in announced:
                place = introduced(text, start, end)
                announced[said] = (place[0] - start, place[1] - end) if place else None
            moved = announced[said]
            found = (start + moved[0], end + moved[1]) if moved else None
        if found is None and text[start - 1 : start] in _QUOTES and handed(text, start, end, word):
            found = start, end
        if found is not None and real[word]:
            behind = _BASE64_BEHIND.match(text, found[1])
            done = behind.end() if behind else found[1]
            yield found[0], done, "token"


def _first_part(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Return where a secret is that begins before the word, with something a word does not have."""
    if start == 0 or text[start - 1] not in ":|!$/.}":
        return None
    head = text[max(0, start - _HEAD) : start]
    if head[-1] in "/." and "$" not in head and not head.endswith("1//"):
        return None  # a path, or data in base 64
    before = _FIRST_PART.search(f"{head}\n{text[start : start + 8]}")
    if before is None:
        return None
    behind = _OF_ONE_PIECE.match(text, end)
    return start - len(before[0]) + 1, behind.end() if behind else end


def _tells_itself(word: str) -> bool:
    if is_hex(word) or is_uuid(word) or "---" in word:  # or the frame around a public key
        return False
    return _is_shaped(word) or _is_prefixed(word)


def _is_shaped(word: str) -> bool:
    return bool(_SHAPES.match(word)) and (is_drawn(word) or word.isalnum())


def _is_prefixed(word: str) -> bool:
    """Tell whether the word is a random body behind a prefix that says no id."""
    if word.rpartition(".")[2] in _FILE_ENDINGS:
        return False
    for segment in word.split("."):
        parts = _BETWEEN.split(segment)
        prefix: list[str] = []
        left = len(segment)
        while len(parts) > 1 and _PREFIX.match(parts[0]) and left - len(parts[0]) > 16 and len(prefix) < 4:
            left -= len(parts[0]) + 1
            prefix.append(parts.pop(0).lower())
        if prefix and prefix[0] not in IDS and _is_body(segment[-left:], parts, prefix, segment):
            return True
    return False


def _is_body(body: str, parts: list[str], prefix: list[str], segment: str) -> bool:
    keyish = not _KEYISH.isdisjoint(prefix) or prefix[0].endswith(("sk", "key", "pat", "tok"))
    underscore = segment[len(segment) - len(body) - 1] == "_"
    if is_uuid(body):
        return keyish or (len(prefix) == 1 and prefix[0] in VENDORS)
    if len(parts) == 1 and is_hex(body):
        return (keyish and len(body) > 27) or (underscore and len(body) in _NUMBERS and len(prefix[0]) < 6)
    length = len("".join(parts))
    if not _DIGIT.search(body):
        return underscore and length >= _LONG_OF_LETTERS - 4 and body.isalpha() and looks_drawn(body, 0)
    if kinds(body) == 3:
        return length >= (20 if underscore or keyish else 22) and is_drawn(body)
    longest = max(map(len, parts))
    brief = keyish or (len(prefix) == 1 and len(prefix[0]) < 8)
    return longest >= (20 if brief else 24 if underscore else 30) and is_drawn(body)
