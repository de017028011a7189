"""Check whether a value is a secret or a placeholder, a name or code.

A check gets the value, the text before the rule's literal, the text from the literal to the value and the
character behind the value.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from told.pattern import lazy_pattern
from told.redact.rules import load_pattern, load_words

# Pairs of letters that make up nine tenths of the names in programs and three tenths of random text.
_USUAL_PAIR = load_pattern("usual_pair")
_PAIR = lazy_pattern(r"[a-z](?=[a-z])")
_DIGITS = lazy_pattern(r"\d+")
_HEX = lazy_pattern(r"(?:[0-9a-f]+|[0-9A-F]+)\Z")
_UUID = lazy_pattern(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z")
_INNER_DIGITS = lazy_pattern(r"(?<=[A-Za-z])\d+(?=[A-Za-z])")
_NOT_LETTERS_OR_DIGITS = lazy_pattern(r"[^A-Za-z0-9]+")
_FEW_PAIRS = 4
_FEW_NUMBERS = 3


def is_uuid(word: str) -> bool:
    """Return whether the word is a UUID."""
    return bool(_UUID.match(word))


def is_hex(word: str) -> bool:
    """Return whether the word is hexadecimal, of one case, with letters and digits."""
    return bool(_HEX.match(word)) and not word.isdigit() and not word.isalpha()


def is_random_token(word: str) -> bool:
    """Return whether the word is a random token of at least 16 letters and digits."""
    plain = word if word.isalnum() else _NOT_LETTERS_OR_DIGITS.sub("", word)
    return len(plain) >= _LONG and not plain.isalpha() and not plain.isdigit() and looks_random(word, 2)


def looks_random(word: str, slack: int) -> bool:
    """Return whether the word has too few usual letter pairs for a name.

    `slack` is how many usual pairs more than half of all are allowed.
    """
    lowered = word.lower()
    if "abcdefg" in lowered:
        return False
    numbers = _DIGITS.findall(word)
    if len(numbers) > _FEW_NUMBERS and len(word) >= _LONG and len(_INNER_DIGITS.findall(word)) > _FEW_NUMBERS:
        return True
    pairs = len(_PAIR.findall(lowered))
    if pairs <= _FEW_PAIRS and len(numbers) > _FEW_NUMBERS:
        return True
    usual = len(_USUAL_PAIR.findall(lowered))
    if len(numbers) == 1 and (word.endswith(numbers[0]) or word.startswith(numbers[0])):
        usual += 2  # a name with a number behind or before it
    return usual * 2 <= pairs + slack


def count_kinds(word: str) -> int:
    """Count how many of small letters, capitals and digits the word has."""
    return (word.upper() != word) + (word.lower() != word) + bool(_DIGITS.search(word))


def count_numbers(word: str) -> int:
    """Count the runs of digits."""
    return len(_DIGITS.findall(word))


Check = Callable[[str, str, str, str], bool]

_PLACEHOLDER = load_pattern("placeholder", re.IGNORECASE)
# Words of examples; a real password among them protects nothing.
_STAND_INS = load_words("stand_ins")
_PLACEHOLDER_HINTS = tuple(load_words("placeholder_hints"))
_PLACEHOLDER_SIGNS = tuple(load_words("placeholder_signs"))
_CODE_OR_PATH = load_pattern("code_or_path")
_CODE = load_pattern("code")
_SEPARATORS = str.maketrans("", "", "_-.:/+=~,@")
_CONSONANTS = lazy_pattern(r"[bcdfghjklmnpqrstvwxz]{6}")
_KIND_CHANGE = lazy_pattern(
    r"(?<=[a-z])[^a-z]|(?<=[A-Z])[^A-Z]|(?<=[0-9])[^0-9]|(?<=[^A-Za-z0-9])[A-Za-z0-9]"
)
_DIGIT_OR_SYMBOL = lazy_pattern(r"[\x00-+0-9;-@\[-^`{-\x7f]")  # of ASCII, except for _ . : / , and -
_DOTTED_NAMES = lazy_pattern(r"(?:\$\.?)?[A-Za-z_]\w{0,40}(?:(?:\??\.|->|::)[A-Za-z_]\w{0,40}){1,6}\Z")
_DIGIT = lazy_pattern(r"\d")
_REPEATED = lazy_pattern(r"([01])\1{15}|([a-zA-Z2-9])\2{15}")
_UNBROKEN = lazy_pattern(r"[A-Za-z0-9]{20}\Z")
_SYMBOL = lazy_pattern(r"[^\w\s.,:/-]")
_FEW_SYMBOLS = 3
_KEY_FRAME = lazy_pattern(r"-----(?:BEGIN|END)[^-]*-----")
_KEY_LINE = lazy_pattern(r"[A-Za-z0-9+/=]{24}")
_SENTENCE = lazy_pattern(r"\s*(?:[\w.,!?-]+\s+){3,}[\w.,!?-]*\Z")
_MIN_LETTERS = 12  # of a random value without digits
_LONG = 16
_UNSEPARATED = 10

_IN_NAMES = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-$"
_PASSWORD_NAME = load_pattern("password_name")
_SECRET_NAME = load_pattern("secret_name")
_PLAIN_NAME = load_pattern("plain_name")
_ANY_KEY_NAME = lazy_pattern(r"[a-z0-9]{2,}[_.-]?key\Z")
_PASSWORD_NAME_STARTS = ("pass", "pw", "senh", "wach", "cont", "kenn", "mdp", "mot_")
_CALLS = frozenset("([")
_OPERATORS = ("=", ":", ">", "%", ",", "(")
_OPERATOR_SIGNS = frozenset("=:>,(")
_LIST_OPERATORS = frozenset((",", "("))
_VERBS = frozenset(("pass", "key", "token", "secret", "auth", "passes"))
_SETTER_CALL = lazy_pattern(
    r"(?:define|set\w*|put|add\w*|property|env|store|with\w*)[ ]?\([ ]?\\{0,4}[\"']\Z", re.IGNORECASE
)
_NAME_ONLY = lazy_pattern(r"[A-Za-z_]+\d{0,3}\Z")
_VALUE_ENDS = "\n\r;& "
_SHORT_WORD = 7
_ARN_DISTANCE = 60
_QUOTES = frozenset("\"'`")
_ENV_LINE = lazy_pattern(
    r"(?:^|[ \t;&])(?:export[ ]|set[ ]|-e[ ]|ENV[ ]|ARG[ ]|-[ ])?[A-Z][A-Z0-9_]*\Z", re.MULTILINE
)
_YAML_LINE = lazy_pattern(r"^[ \t]*(?:-[ ])?[\w.-]*\Z", re.MULTILINE)
_CONNECTION_STRING = lazy_pattern(r"[;?&][ \t]?[\w ]*\Z")
_TYPE_NAME = lazy_pattern(r"[A-Z]?[a-z]+(?:[A-Z][a-z]+)+\Z|[A-Z][a-z]+\Z")
_SECRET_PART = lazy_pattern(r"pass|pwd|secret|token|key|cred|user|auth")
_PASSWORD_PROGRAM = load_pattern("password_program")


def is_given(value: str) -> bool:
    """Return whether the value is no placeholder."""
    lowered = value.lower()
    hints = _PLACEHOLDER_HINTS if value.isalnum() else _PLACEHOLDER_SIGNS + _PLACEHOLDER_HINTS
    for hint in hints:  # much faster than the pattern
        if hint in lowered:
            return not _PLACEHOLDER.search(value)
    return True


def is_filled(value: str) -> bool:
    """Return whether the value is varied and no placeholder or stand-in."""
    return (
        len(value) > 3
        and len(set(value)) > min(4, len(value) // 2)
        and value.lower() not in _STAND_INS
        and is_given(value)
        and not _REPEATED.search(value)
    )


def is_mixed(value: str) -> bool:
    """Return whether a value with a token's prefix continues like a token."""
    return (
        len(_KIND_CHANGE.findall(value)) >= len(value) // 8
        or bool(_CONSONANTS.search(value))
        or bool(_DIGIT.search(value) and _UNBROKEN.search(value))
    ) and is_filled(value)


def is_random(value: str) -> bool:
    """Return whether the letters and digits of the value make no words."""
    # Cheap questions first: most values are words, and hostile text asks very often.
    if len(value) < 8 or (not _DIGIT.search(value) and (len(value) < _MIN_LETTERS or value.islower())):
        return False
    if not _has_random_letters(value) or _CODE_OR_PATH.match(value) or not is_filled(value):
        return False
    if _CODE.search(value):
        return False
    if _DOTTED_NAMES.match(value):
        return any(is_random_token(part) for part in value.split(".") if len(part) > 15)
    return True


def _has_random_letters(value: str) -> bool:
    if not value.isascii():
        return False
    plain = value.translate(_SEPARATORS)
    if len(plain) < 7:
        return False
    if plain.isdigit():
        return len(plain) > 15 and "." not in value
    if plain.isalpha():
        return len(plain) >= _MIN_LETTERS and looks_random(value, 0)
    if is_uuid(value) or is_hex(value):
        return True
    if len(plain) == len(value) >= _UNSEPARATED and count_numbers(value) > 1:
        return True
    return looks_random(value, 2 if len(plain) >= _LONG else 1)


def is_password(value: str) -> bool:
    """Return whether the value looks like a password that a person chose."""
    if len(value) < 6 or not _DIGIT_OR_SYMBOL.search(value):
        return is_random(value)
    if value.lower() == value.upper():  # no letters: a port, a date, a version
        return is_random(value)
    return (
        not _CODE_OR_PATH.match(value)
        and not _CODE.search(value)
        and not _DOTTED_NAMES.match(value)
        and is_filled(value)
    )


def is_password_word(value: str) -> bool:
    """Return whether the value may be a password where nothing else can be."""
    if _DIGIT_OR_SYMBOL.search(value):
        return is_password(value) or (len(value) > 3 and value.isdigit())
    return len(value) > 3 and value.isascii() and not _DOTTED_NAMES.match(value) and is_filled(value)


def is_login_password(value: str) -> bool:
    """Return whether the word behind a user and a colon is a password."""
    return not value.isdigit() and is_password_word(value)  # digits are a group or a port


def is_key_body(value: str) -> bool:
    """Return whether a key may be between the lines that frame one."""
    body = _KEY_FRAME.sub("", value)
    return bool(_KEY_LINE.search(body)) or (bool(_SENTENCE.match(body)) and not _PLACEHOLDER.search(body))


def has_random_part(path: str) -> bool:
    """Return whether a part of the path is random."""
    return is_filled(path) and any(
        is_uuid(part) or is_hex(part) or is_random_token(part) for part in path.split("/") if len(part) > 15
    )


def is_credential(value: str, _head: str, lead: str, _after: str) -> bool:
    """Return whether the value of an authorization header is a secret."""
    return (
        is_random(value)
        or (len(value) > 11 and is_password(value))
        or ("basic " in lead.lower() and is_filled(value))
    )


def is_password_option(value: str, head: str, lead: str, _after: str) -> bool:
    """Return whether `-p` takes a password in the command before it."""
    program = _PASSWORD_PROGRAM.search(head[head.rfind("\n") + 1 :])
    if program is None or (lead.endswith(" ") and program[0].startswith(("mysql", "maria"))):
        return False
    return is_password(value)


def is_named_secret(value: str, head: str, lead: str, after: str) -> bool:
    """Return whether the name before the value means a secret that it can be."""
    quoted = lead[-1:] in _QUOTES
    # Questions that most values fail come first.
    if not lead[:4].lower().startswith(_PASSWORD_NAME_STARTS):
        if not is_random(value) and not (after in _QUOTES and _has_many_symbols(value)):
            return False
    elif value.isalpha() and not quoted and _OPERATOR_SIGNS.isdisjoint(lead):
        return False
    start = len(head.rstrip(_IN_NAMES))
    operator = lead.lstrip(_IN_NAMES)
    name = (head[start:] + lead[: len(lead) - len(operator)]).lower()
    if (after in _CALLS and not quoted) or _PLAIN_NAME.search(name) or _is_other_name(head, start, operator):
        return False
    sign = next((mark for mark in _OPERATORS if mark in operator), "")
    if not sign and not name.startswith("-"):
        # Only a space: it joins an option to its value, or a string to what it is for.
        return (
            quoted
            and operator[0] in " \t"
            and operator[-1] != "`"
            and name not in _VERBS
            and _is_strong_secret(value, name)
        )
    if sign in _LIST_OPERATORS:
        return _is_strong_secret(value, name) or (sign == "," and _is_set_password(value, name, head[:start]))
    if _PASSWORD_NAME.search(name):
        return is_password(value) or (
            is_password_word(value) and _is_literal_password(value, head, lead, after)
        )
    if _SECRET_NAME.search(name):
        return True
    return bool(_ANY_KEY_NAME.search(name)) and (
        is_random_token(value) or is_uuid(value) or (len(value) > 15 and is_hex(value))
    )


def _has_many_symbols(value: str) -> bool:
    return len(_SYMBOL.findall(value)) > _FEW_SYMBOLS and is_password(value)


def _is_other_name(head: str, start: int, operator: str) -> bool:
    """Return whether the name is one of a type, a resource or a package."""
    return (
        head.endswith("::", 0, start)
        or "arn:" in head[-_ARN_DISTANCE:]
        or (head.endswith("/", 0, start) and operator[:1] in _QUOTES)
    )


def _is_set_password(value: str, name: str, before: str) -> bool:
    """Return whether a call sets a password: `define("DB_PASSWORD", "sunshine")`."""
    return bool(_SETTER_CALL.search(before)) and bool(_PASSWORD_NAME.search(name)) and is_password_word(value)


def _is_strong_secret(value: str, name: str) -> bool:
    """Return whether the value is a secret even where names may be listed."""
    if _PASSWORD_NAME.search(name):
        return is_password(value) and not _NAME_ONLY.match(value)
    return (
        bool(_SECRET_NAME.search(name))
        and (is_random_token(value) or is_uuid(value) or is_hex(value))
        and is_random(value)
    )


def _is_literal_password(value: str, head: str, lead: str, after: str) -> bool:
    """Return whether a word is the password itself and not a variable's name."""
    quoted = lead[-1:] in _QUOTES
    if _TYPE_NAME.match(value) or (_SECRET_PART.search(value.lower()) and not (quoted and "_" not in value)):
        return False
    operator = lead.lstrip(_IN_NAMES)
    name = head + lead[: len(lead) - len(operator)]
    if quoted:
        return after in _QUOTES
    if "=" in operator:
        return after in _VALUE_ENDS and bool(
            _ENV_LINE.search(name) or (after in ";&" and _CONNECTION_STRING.search(name))
        )
    if ">" in operator:
        return after == "<"
    return ":" in operator and len(value) > _SHORT_WORD and after in "\n\r" and bool(_YAML_LINE.search(name))


def _by_value(check: Callable[[str], bool]) -> Check:
    return lambda value, _head, _lead, _after: check(value)


# By the names that rules use.
VALUE_CHECKS: dict[str, Check] = {
    "given": _by_value(is_given),
    "filled": _by_value(is_filled),
    "mixed": _by_value(is_mixed),
    "random": _by_value(is_random),
    "password": _by_value(is_password),
    "word": _by_value(is_password_word),
    "path": _by_value(has_random_part),
    "signed-in": _by_value(is_login_password),
    "key-body": _by_value(is_key_body),
    "named": is_named_secret,
    "command": is_password_option,
    "credential": is_credential,
}
