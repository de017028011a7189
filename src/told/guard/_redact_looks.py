"""Tells whether a value that stands where a secret may stand is one, or a placeholder, a name or code."""

from __future__ import annotations

from told.guard._redact_drawn import is_drawn, is_hex, is_uuid, looks_drawn
from told.guard._redact_patterns import pattern
from told.snapshot import IGNORECASE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    # the value, some characters before the literal, all from there to the value, the character behind it
    Judgement = Callable[[str, str, str, str], bool]

_PLACEHOLDER = pattern(
    r"x{4}|&lt;|\*{3}|\.{3}|…|\A<[^<>]*>?\Z|<[a-z_ -]+>|\A[{\[]|\{\}|\{\w{2,}\}|\{\{[ \w.$|-]+\}\}|"
    r"\$\{[\w.:?-]*\}?\Z|\$\{\w+[:}.(\[]|\$\([^()]*\)?|\A\$[A-Za-z_]\w*\Z|"
    r"%[a-z_]+%|%\([a-z_]+\)|\A%[sdv]\Z|example|placeholder|change[_-]?(?:me|it)|redacted|0123456789ab|"
    r"1234567890123|(?:token|key|string|secret|password|value)[_-]?here\Z|"
    r"(?<![a-z0-9])(?:(?:your|insert|replace|enter|todo|dummy|sample|fake|mock)(?![a-z0-9]{12})|"
    r"(?:my|some|the)[_-](?:[a-z]{1,20}[_-]){0,3}(?:secret|token|key|pass|api))",
    IGNORECASE,
)
# A value without any of these is no placeholder, which is cheaper to see.
_SIGNS = (
    "***",
    "...",
    "\u2026",
    "<",
    "{",
    "[",
    "$",
    "%",
    "&lt;",
    "my_",
    "my-",
    "some_",
    "some-",
    "the_",
    "the-",
)
_HINTS_TEXT = """\
xxxx example placeholder change redacted 0123456789ab 1234567890123 here your
insert replace enter todo dummy sample fake mock
"""
_HINTS = tuple(_HINTS_TEXT.split())
# Words that stand for a password in examples; a real one among them protects nothing.
_STAND_INS_TEXT = """\
pass passwd password passphrase pwd secret token user username test admin root none null nil true false
undefined string str postgres mysql guest demo pass123 password1 password123 secret123 foobar xxx yyy abc123
required optional invalid missing empty hidden text plain basic bearer oauth jwt ldap default disabled
enabled unknown anonymous redacted masked encrypted hashed value object number boolean integer bytes char
varchar self this that auto manual input output prompt stdin file env environment vault keychain keyring
credentials credential authorization authentication config settings login logout reset forgot confirm
confirmation update create delete change show hide generate generated random expired expires valid field
label type name email phone address description title error warning info debug public private protected
static final const
"""
_STAND_INS = frozenset(_STAND_INS_TEXT.split())
_SEPARATORS = str.maketrans("", "", "_-.:/+=~,@")
_CONSONANTS = pattern(r"[bcdfghjklmnpqrstvwxz]{6}")
_CHANGE = pattern(r"(?<=[a-z])[^a-z]|(?<=[A-Z])[^A-Z]|(?<=[0-9])[^0-9]|(?<=[^A-Za-z0-9])[A-Za-z0-9]")
_DIGIT_OR_SYMBOL = pattern(r"[\x00-+0-9;-@\[-^`{-\x7f]")  # of ASCII, but for _ . : / , and -
_DOTTED_NAMES = pattern(r"(?:\$\.?)?[A-Za-z_]\w{0,40}(?:(?:\??\.|->|::)[A-Za-z_]\w{0,40}){1,6}\Z")
_CODE_OR_PATH = pattern(
    r"(?:[a-z][a-z0-9+]{1,9}://|[~.]{0,2}/|[A-Za-z]:\\|0x(?![0-9a-f]{64}\b)|@|#/|process\.env|os\.environ|data:|\$\.|"
    r"[\^~<>=v]{0,2}\d+(?:\.\d+)+(?:-\w+)?\Z|#[0-9a-f]{3,8}\Z|(?:file|env|vault|op|ssm|arn|ref|secret|gcp|aws|azure|sops|enc|bao|doppler):)"
)
_CODE = pattern(
    r"\?\?|\?[a-z0-9]|[=!]==?(?=[\w\s])|&&|\|\||=>|\A[\w.]+[(\[]|\w\([\w.,]*\)\Z|[?:]\w+\.\w|\A[a-z_]\w*\)|\+\+|<\w+>|/>|</|[a-z]-\d+(?:\.\d+)+"
)
_DIGIT = pattern(r"\d")
_DIGITS = pattern(r"\d+")
_REPEATED = pattern(r"([01])\1{15}|([a-zA-Z2-9])\2{15}")
_UNBROKEN = pattern(r"[A-Za-z0-9]{20}\Z")
_LETTERS = 12
_LONG = 16
_SOME = 10
_SYMBOL = pattern(r"[^\w\s.,:/-]")
_FEW_SYMBOLS = 3
_KEY_LINES = pattern(r"-----(?:BEGIN|END)[^-]*-----")
_SENTENCE = pattern(r"\s*(?:[\w.,!?-]+\s+){3,}[\w.,!?-]*\Z")
_KEY_LINE = pattern(r"[A-Za-z0-9+/=]{24}")


def given(value: str) -> bool:
    """Tell whether the value is no placeholder."""
    lowered = value.lower()
    for hint in _HINTS if value.isalnum() else _SIGNS + _HINTS:
        if hint in lowered:
            return not _PLACEHOLDER.search(value)
    return True


def filled(value: str) -> bool:
    """Tell whether the value is filled in at all, and not a placeholder."""
    return (
        len(value) > 3
        and len(set(value)) > min(4, len(value) // 2)
        and value.lower() not in _STAND_INS
        and given(value)
        and not _REPEATED.search(value)
    )


def mixed(value: str) -> bool:
    """Tell whether a value that begins like a token goes on like one."""
    return (
        _changes(value) >= len(value) // 8
        or bool(_CONSONANTS.search(value))
        or bool(_DIGIT.search(value) and _UNBROKEN.search(value))
    ) and filled(value)


def random(value: str) -> bool:
    """Tell whether the value looks drawn at random: its letters and digits make no words."""
    # The cheap questions come first: most values are words, and hostile text asks very often.
    if len(value) < 8 or (not _DIGIT.search(value) and (len(value) < _LETTERS or value.islower())):
        return False
    if not _looks_random(value) or _CODE_OR_PATH.match(value) or not filled(value):
        return False
    if _CODE.search(value):
        return False
    if _DOTTED_NAMES.match(value):
        return any(is_drawn(part) for part in value.split(".") if len(part) > 15)
    return True


def password(value: str) -> bool:
    """Tell whether the value looks like a password that a person chose."""
    if len(value) < 6 or not _DIGIT_OR_SYMBOL.search(value):
        return random(value)
    if value.lower() == value.upper():  # no letters: a port, a date, a version
        return random(value)
    return (
        not _CODE_OR_PATH.match(value)
        and not _CODE.search(value)
        and not _DOTTED_NAMES.match(value)
        and filled(value)
    )


def symbolic(value: str) -> bool:
    """Tell whether the value has so many signs among its letters that it can only be a chosen secret."""
    return len(_SYMBOL.findall(value)) > _FEW_SYMBOLS and password(value)


def word(value: str) -> bool:
    """Tell whether the value can be a password that is a mere word, where only a password can stand."""
    if _DIGIT_OR_SYMBOL.search(value):
        return password(value) or (len(value) > 3 and value.isdigit())
    return len(value) > 3 and value.isascii() and not _DOTTED_NAMES.match(value) and filled(value)


def _looks_random(value: str) -> bool:
    if not value.isascii():
        return False
    plain = value.translate(_SEPARATORS)
    if len(plain) < 7:
        return False
    if plain.isdigit():
        return len(plain) > 15 and "." not in value
    if plain.isalpha():
        return len(plain) >= _LETTERS and looks_drawn(value, 0)
    if is_uuid(value) or is_hex(value):
        return True
    if len(plain) == len(value) >= _SOME and len(_DIGITS.findall(value)) > 1:
        return True
    return looks_drawn(value, 2 if len(plain) >= _LONG else 1)


def prose(value: str, head: str, lead: str, _after: str) -> bool:
    """Tell whether the last word of a sentence about a password is one."""
    del head, lead
    return password(value.rstrip(".,;:!?)*"))


def key_body(value: str) -> bool:
    """Tell whether something that can be a key stands between the lines that say so."""
    body = _KEY_LINES.sub("", value)
    return bool(_KEY_LINE.search(body)) or (bool(_SENTENCE.match(body)) and not _PLACEHOLDER.search(body))


def path(value: str) -> bool:
    """Tell whether a part of the path is random."""
    return filled(value) and any(
        is_uuid(part) or is_hex(part) or is_drawn(part) for part in value.split("/") if len(part) > 15
    )


def _changes(value: str) -> int:
    """Count how often the kind of character changes along the value."""
    return len(_CHANGE.findall(value))


def by_value(judge: Callable[[str], bool]) -> Judgement:
    """Return the judgement of a value that needs nothing else."""
    return lambda value, _head, _lead, _after: judge(value)
