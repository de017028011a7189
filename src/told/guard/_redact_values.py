"""Tells whether a value that stands where a secret may stand is one, or a placeholder, a name or code."""

from __future__ import annotations

from told.snapshot import IGNORECASE, pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    # the value, up to 60 characters before the literal, all from there to the value, the character behind it
    Judgement = Callable[[str, str, str, str], bool]

_PLACEHOLDER = pattern(
    r"x{4}|\*{3}|\.{3}|…|[<>{}]|\A[$\[]|\$[({]|%[a-z_]+%|example|placeholder|change[_-]?me|redacted|0123456789ab|"
    r"1234567890123|(?:token|key|string|secret|password|value)[_-]?here\Z|"
    r"(?<![a-z0-9])(?:(?:your|insert|replace|enter|todo|dummy|sample)(?![a-z0-9]{12})|"
    r"(?:my|some|the)[_-](?:[a-z]{1,20}[_-]){0,3}(?:secret|token|key|pass|api))",
    IGNORECASE,
)
# Words that stand for a password in examples; a real one among them protects nothing.
_STAND_INS = frozenset(
    (
        "pass", "passwd", "password", "passphrase", "pwd", "secret", "token", "user", "username", "test",
        "admin", "root", "none", "null", "true", "false", "undefined", "string", "str", "postgres", "mysql",
        "guest", "demo", "pass123", "password1", "password123", "secret123", "foobar", "xxx", "yyy", "abc123",
    )
)  # fmt: skip
_SEPARATORS = str.maketrans("", "", "_-.:/+=~,@")
_CONSONANTS = pattern(r"[bcdfghjklmnpqrstvwxz]{6}")
_CHANGE = pattern(r"(?<=[a-z])[^a-z]|(?<=[A-Z])[^A-Z]|(?<=[0-9])[^0-9]|(?<=[^A-Za-z0-9])[A-Za-z0-9]")
_DIGIT_OR_SYMBOL = pattern(r"[^A-Za-z_.:/,\u0080-\U0010ffff-]")
_DIGITS = pattern(r"\d+")
_DOTTED_NAMES = pattern(r"[A-Za-z_]\w{0,40}(?:(?:\.|->|::)[A-Za-z_]\w{0,40}){1,6}\Z")
_UUID = pattern(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z", IGNORECASE)
_CODE_OR_PATH = pattern(
    r"(?:[a-z][a-z0-9+]{1,9}://|[~.]{0,2}/|[A-Za-z]:\\|0x|@|#/|process\.env|os\.environ|data:)"
)
_NAME_CHARACTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-$"
_SECRET_NAME = pattern(
    r"pass(?:word|wd|phrase|code)|(?:\A|[^a-z]|db|user|sql|root|admin|my)pass(?![a-z])|pwd|secret|token|credential|"
    r"(?:api|access|private|auth|sign|signing|encryption|master|account|licen[cs]e|deploy|shared|service|client|app|"
    r"admin|rest|webhook|storage|rsa|ssh|server|write|stripe|openai)[_.-]?key(?![a-z])|_auth\Z"
)
_PLAIN_NAME = pattern(
    r"public|tokeni[sz]|keyword|keyboard|bypass|"
    r"(?:ids?|name|ur[il]|type|len|length|path|file|dir|count|limit|size|hash|version|endpoint|field|header|prefix|suffix|"
    r"ttl|expiry|expires|expiration|_at|ref|policy|regex|pattern|label|hint|index|algorithm|format|event|class|method|"
    r"signatures|pair|budget|usage)\Z"
)
_CALLS = frozenset("([")
_OPERATORS = frozenset("=:>,%")
_PASSWORD_PROGRAM = pattern(r"mysql(?:dump|admin)?|mariadb|sshpass")
_KEY_LINE = pattern(r"[A-Za-z0-9+/=]{24}")


def filled(value: str) -> bool:
    """Tell whether the value is filled in at all, and not a placeholder."""
    return (
        len(value) > 3
        and len(set(value)) > min(4, len(value) // 2)
        and value.lower() not in _STAND_INS
        and not _PLACEHOLDER.search(value)
    )


def mixed(value: str) -> bool:
    """Tell whether a value that begins like a token goes on like one."""
    return (_changes(value) >= len(value) // 8 or bool(_CONSONANTS.search(value))) and filled(value)


def random(value: str) -> bool:
    """Tell whether the value looks drawn at random: letters and digits change places often."""
    # The cheap questions come first: most values are words, and hostile text asks very often.
    if len(value) < 8 or not _looks_random(value) or _CODE_OR_PATH.match(value) or not filled(value):
        return False
    if _DOTTED_NAMES.match(value):
        return any(random(part) for part in value.split(".") if len(part) > 15)
    return True


def password(value: str) -> bool:
    """Tell whether the value looks like a password that a person chose."""
    if len(value) < 6 or not _DIGIT_OR_SYMBOL.search(value):
        return random(value)
    if value.lower() == value.upper():  # no letters: a port, a date, a version
        return random(value)
    return not _CODE_OR_PATH.match(value) and not _DOTTED_NAMES.match(value) and filled(value)


def _looks_random(value: str) -> bool:
    digits = _DIGITS.findall(value)
    if not digits and value.islower() and not _CONSONANTS.search(value):
        return False
    plain = value.translate(_SEPARATORS)
    if len(plain) < 7 or plain.isdigit():
        return len(plain) > 15
    if len(plain) == len(value) and (
        (len(plain) > 15 and len(digits) > 1) or (len(plain) > 11 and _CONSONANTS.search(plain))
    ):
        return True
    changes = _changes(plain)
    return (changes * 5 >= len(plain) and (bool(digits) or changes * 3 >= len(plain))) or bool(
        _UUID.match(value)
    )


def named(value: str, head: str, lead: str, after: str) -> bool:
    """Tell whether the name before the value says secret, and the value looks like one."""
    name = (
        head[len(head.rstrip(_NAME_CHARACTERS)) :] + lead[: len(lead) - len(lead.lstrip(_NAME_CHARACTERS))]
    ).lower()
    if after in _CALLS or (not name.startswith("-") and _OPERATORS.isdisjoint(lead) and "value" not in lead):
        return False  # a call; or only a space, which joins a name to its value in a command's option alone
    judge = password if "pass" in name or "pwd" in name else random
    return judge(value) and bool(_SECRET_NAME.search(name)) and not _PLAIN_NAME.search(name)


def command(value: str, head: str, lead: str, _after: str) -> bool:
    """Tell whether `-p` is a password's option for the command that stands before it on the line."""
    program = _PASSWORD_PROGRAM.search(head[head.rfind("\n") + 1 :])
    if program is None or (lead.endswith(" ") and program[0] != "sshpass"):
        return False
    return password(value)


def prose(value: str) -> bool:
    """Tell whether the last word of a sentence about a password is one."""
    return password(value.rstrip(".,;:!?)*"))


def key_body(value: str) -> bool:
    """Tell whether something that can be a key stands between the lines that say so."""
    return bool(_KEY_LINE.search(value))


def _changes(value: str) -> int:
    """Count how often the kind of character changes along the value."""
    return len(_CHANGE.findall(value))


def _by_value(judge: Callable[[str], bool]) -> Judgement:
    return lambda value, _head, _lead, _after: judge(value)


JUDGEMENTS: dict[str, Judgement] = {
    "filled": _by_value(filled),
    "mixed": _by_value(mixed),
    "random": _by_value(random),
    "password": _by_value(password),
    "named": named,
    "command": command,
    "prose": _by_value(prose),
    "key-body": _by_value(key_body),
}
