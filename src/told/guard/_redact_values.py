"""Tells whether what stands before a value says that it is a secret."""

from __future__ import annotations

from told.guard._redact_drawn import is_drawn, is_hex, is_uuid
from told.guard._redact_looks import (
    by_value,
    filled,
    given,
    key_body,
    mixed,
    password,
    path,
    prose,
    random,
    symbolic,
    word,
)
from told.guard._redact_patterns import pattern
from told.snapshot import IGNORECASE, MULTILINE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.guard._redact_looks import Judgement

_NAME_CHARACTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-$"
_PASSWORD_NAME = pattern(
    r"pass(?:word|wd|phrase|code|wort|e\b)|(?:\A|[^a-z]|db|user|sql|root|admin|my|key|store|bind|become|ssh|trust|require|"
    r"auth|smtp|mail|ftp)pass(?![a-z])|pwd|(?:\A|[_.-]|bind|root|user|db)pw\Z|senha|wachtwoord"
)
_SECRET_NAME = pattern(
    r"secret|token|credential|"
    r"(?:api|access|private|auth|sign|signing|encryption|master|account|licen[cs]e|deploy|shared|service|client|app|"
    r"admin|rest|webhook|storage|rsa|ssh|server|write|stripe|openai|consumer|subscription|functions|integration|"
    r"security|transaction|project|hmac|crypto|encrypt|session)[_.-]?key(?![a-z])|"
    r"(?:_|\A)auth\Z|auth_?(?:code|basic)\Z|_(?:salt|pat)\Z"
)
_ANY_KEY = pattern(r"[a-z0-9]{2,}[_.-]?key\Z")
_PLAIN_NAME = pattern(
    r"public|tokeni[sz]|(?:next|page|pagination|continuation|starting|change|lock|request|sync|confirmation)[_.-]?token\Z|"
    r"idempotency|keyword|keyboard|bypass|compass|passenger|passive|passing|authors?\Z|"
    r"(?:cache|primary|foreign|sort|partition|hash|object|bucket|row|registry|idempotency|dedup\w*|group|index|query|i18n|"
    r"translation|publishable|site|react|state|map|dict|json|column|unique|composite|storage|hot|websocket|arrow|press\w*|route)"
    r"[_.-]?key\Z|"
    r"(?:ids?|name|ur[il]|type|len|length|path|file|dir|count|limit|size|hash|version|endpoint|field|header|prefix|suffix|"
    r"ttl|expiry|expires|expiration|_at|ref|policy|regex|pattern|label|hint|index|algorithm|format|event|class|method|"
    r"signatures|pair|time|date|budget|usage|tokens|ms|latency|seconds|prompt|text|title|message|msg|error|err|info|provider|manager|"
    r"service|store|helper|utils?|validator|schema|model|view|page|form|input|button|dialog|mode|enabled|required|visible|"
    r"strategy|callback|handler|listener|factory|builder|config|options?|params?|args?|status|state|strength|rules?|"
    r"requirements?|reset|changed|updated|created|valid|verified|placeholder|env|var|variable|arn|secretsmanager)\Z"
)
_CALLS = frozenset("([")
_OF_PASSWORDS = ("pass", "pw", "senh", "wach")
_MARKS = ("=", ":", ">", "%", ",", "(")
_JOINED = frozenset("=:>,(")
_LISTING = frozenset((",", "("))
_VERBS = frozenset(("pass", "key", "token", "secret", "auth", "passes"))
_SETTING = pattern(
    r"(?:define|set\w*|put|add\w*|property|env|store|with\w*)[ ]?\([ ]?\\{0,4}[\"']\Z", IGNORECASE
)
_NAME_ALONE = pattern(r"[A-Za-z_]+\d{0,3}\Z")
_ENDS = "\n\r;& "
_SHORT = 7
_HEAD = 60
_QUOTES = frozenset("\"'`")
_ENV_LINE = pattern(
    r"(?:^|[ \t;&])(?:export[ ]|set[ ]|-e[ ]|ENV[ ]|ARG[ ]|-[ ])?[A-Z][A-Z0-9_]*\Z", MULTILINE
)
_YAML_LINE = pattern(r"^[ \t]*(?:-[ ])?[\w.-]*\Z", MULTILINE)
_CONNECTION = pattern(r"[;?&][ \t]?[\w ]*\Z")
_TYPES = pattern(r"[A-Z]?[a-z]+(?:[A-Z][a-z]+)+\Z|[A-Z][a-z]+\Z")
_SPEAKING = pattern(r"pass|pwd|secret|token|key|cred|user|auth")
_PASSWORD_PROGRAM = pattern(
    r"mysql(?:dump|admin|import|sh)?|mariadb|sshpass|"
    r"(?:docker|podman|helm|az|oc|buildah|skopeo|nerdctl)[ ].*login|"
    r"mongo\w*|psexec|rdesktop|pscp|plink"
)
_LOGIN_LINE = pattern(
    r"(?:machine[ \t]+\S+|default)\s+login\s+\S+\s+\Z|\blogin\s+\S+\s+\Z|username[ ]\S+[ ]\Z|"
    r"(?:enable|line\w*)[ ]\Z|"
    r"\b(?:with|using|and|its)[ ](?:the[ ]|a[ ])?\Z|\buser(?:name)?[ ]\S+,?[ ](?:and[ ])?\Z|"
    r"\b(?:temp|temporary|initial|new|wifi)[ ]\Z"
)


def named(value: str, head: str, lead: str, after: str) -> bool:
    """Tell whether the name before the value says secret, and the value looks like one."""
    quoted = lead[-1:] in _QUOTES
    # The questions that most values fail come first.
    if not lead[:4].lower().startswith(_OF_PASSWORDS):
        if not random(value) and not (after in _QUOTES and symbolic(value)):
            return False
    elif value.isalpha() and not quoted and _JOINED.isdisjoint(lead):
        return False
    start = len(head.rstrip(_NAME_CHARACTERS))
    operator = lead.lstrip(_NAME_CHARACTERS)
    name = (head[start:] + lead[: len(lead) - len(operator)]).lower()
    if (after in _CALLS and not quoted) or _PLAIN_NAME.search(name) or _is_other(head, start, operator):
        return False
    joint = next((mark for mark in _MARKS if mark in operator), "")
    if not joint and not name.startswith("-"):
        # Only a space, which joins an option to its value, or a string to what it is for.
        return (
            quoted
            and operator[0] in " \t"
            and operator[-1] != "`"
            and name not in _VERBS
            and _strongly(value, name)
        )
    if joint in _LISTING:
        return _strongly(value, name) or (joint == "," and _is_set(value, name, head[:start]))
    if _PASSWORD_NAME.search(name):
        return password(value) or (word(value) and _is_literal(value, head, lead, after))
    if _SECRET_NAME.search(name):
        return True
    return bool(_ANY_KEY.search(name)) and (
        is_drawn(value) or is_uuid(value) or (len(value) > 15 and is_hex(value))
    )


def _is_other(head: str, start: int, operator: str) -> bool:
    """Tell whether the name is one of a type, a resource or a package."""
    return (
        head.endswith("::", 0, start)
        or "arn:" in head[-_HEAD:]
        or (head.endswith("/", 0, start) and operator[:1] in _QUOTES)
    )


def _is_set(value: str, name: str, before: str) -> bool:
    """Tell whether a call gives a word to a password by its name: `define("DB_PASSWORD", "sunshine")`."""
    return bool(_SETTING.search(before)) and bool(_PASSWORD_NAME.search(name)) and word(value)


def _strongly(value: str, name: str) -> bool:
    """Tell whether the value is a secret where a list of names could stand as well."""
    if _PASSWORD_NAME.search(name):
        return password(value) and not _NAME_ALONE.match(value)
    return (
        bool(_SECRET_NAME.search(name))
        and (is_drawn(value) or is_uuid(value) or is_hex(value))
        and random(value)
    )


def _is_literal(value: str, head: str, lead: str, after: str) -> bool:
    """Tell whether a mere word is what is given to a password, and not a name for it."""
    quoted = lead[-1:] in _QUOTES
    if _TYPES.match(value) or (_SPEAKING.search(value.lower()) and not (quoted and "_" not in value)):
        return False
    operator = lead.lstrip(_NAME_CHARACTERS)
    name = head + lead[: len(lead) - len(operator)]
    if quoted:
        return after in _QUOTES
    if "=" in operator:
        return after in _ENDS and bool(_ENV_LINE.search(name) or (after in ";&" and _CONNECTION.search(name)))
    if ">" in operator:
        return after == "<"
    return ":" in operator and len(value) > _SHORT and after in "\n\r" and bool(_YAML_LINE.search(name))


def command(value: str, head: str, lead: str, _after: str) -> bool:
    """Tell whether `-p` is a password's option for the command that stands before it on the line."""
    program = _PASSWORD_PROGRAM.search(head[head.rfind("\n") + 1 :])
    if program is None or (lead.endswith(" ") and program[0].startswith(("mysql", "maria"))):
        return False
    return password(value)


def credential(value: str, _head: str, lead: str, _after: str) -> bool:
    """Tell whether what a header hands over opens something."""
    return (
        random(value) or (len(value) > 11 and password(value)) or ("basic " in lead.lower() and filled(value))
    )


def signed_in(value: str) -> bool:
    """Tell whether the word behind a user and a colon is a password, and no group or port."""
    return not value.isdigit() and word(value)


def login(value: str, head: str, _lead: str, _after: str) -> bool:
    """Tell whether the line is one of those that join a password to its name by a space alone."""
    return bool(_LOGIN_LINE.search(head)) and password(value.rstrip(".,;:!?)*"))


JUDGEMENTS: dict[str, Judgement] = {
    "given": by_value(given),
    "filled": by_value(filled),
    "mixed": by_value(mixed),
    "random": by_value(random),
    "password": by_value(password),
    "word": by_value(word),
    "path": by_value(path),
    "named": named,
    "command": command,
    "login": login,
    "credential": credential,
    "signed-in": by_value(signed_in),
    "prose": prose,
    "key-body": by_value(key_body),
}
