"""The table of all settings in a config file: reading, checking, listing and documents come from it."""

from __future__ import annotations

from told.errors import UsageError
from told.record import record
from told.settings import ASK, Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

BOOLEAN, NUMBER, CHOICE, TEXT, RULES = "boolean", "number", "choice", "text", "rules"
MODEL, FOLDER = "model", "folder"
ONLY_OFF, ONLY_MORE = "only `false`", "only more"  # what a project's own config may say
NAME = "NAME"  # stands for an agent's
_USUAL = Settings("")
_YES, _NO = ("true", "on", "yes"), ("false", "off", "no")


@record
class Key:
    """One setting."""

    name: str
    kind: str
    default: Any
    about: str  # one sentence
    field: str  # of the settings record
    most: int = 0  # of a number; the least is 0
    choices: tuple[str, ...] = ()
    variable: str = ""  # that turns it off whatever the file says
    in_project: str = ""  # what a project's own config may say; empty: nothing
    by_agents: bool = False  # whether an agent may set it in its shell

    @property
    def path(self) -> tuple[str, ...]:
        """The tables it is in, and its name there."""
        return tuple(self.name.split("."))

    @property
    def must(self) -> str:
        """What its value must be, in words."""
        if self.kind == NUMBER:
            return f"a whole number from 0 to {self.most:,}"
        if self.kind == CHOICE:
            return f"one of {', '.join(self.choices)}"
        if self.kind == MODEL:
            from told.settings.models import MUST

            return MUST
        kinds = {
            BOOLEAN: "true or false",
            TEXT: "text in quotes",
            FOLDER: "empty, or the whole path of a folder",
        }
        return kinds.get(self.kind, "tables with a name, a pattern and an example: [[redaction.rules]]")


KEYS = (
    Key(
        "background", BOOLEAN, _USUAL.background,
        "Read the rest of the history after an answer, in a process of its own;"
        " with false, `told index` reads it.",
        "background", variable="TOLD_BACKGROUND", by_agents=True,
    ),
    Key(
        "learn", BOOLEAN, _USUAL.learn,
        "Make memories of what you say in sessions; with false, only `told remember` and its like make any.",
        "learn", variable="TOLD_LEARN", in_project=ONLY_OFF,
    ),
    Key(
        "guard", CHOICE, _USUAL.guard,
        "What a tool call meets that a locked rule of yours forbids, with `told install --profile full`.",
        "guard", choices=(ASK, "deny", "off"),
    ),
    Key(
        "model", MODEL, _USUAL.model,
        "What compares the meaning of texts: empty for the table that comes with told, off, a folder with a"
        " model of yours, or the address of an endpoint, to which text is sent.",
        "model",
    ),
    Key(
        "reranker", FOLDER, _USUAL.reranker,
        "A folder with a model of yours that looks at the first results again, for `told search --deep`.",
        "reranker",
    ),
    Key(
        "checkpoint.remind_after", NUMBER, _USUAL.checkpoint_remind_after,
        "After how many tool calls without a checkpoint an agent is reminded of one, with"
        " `told install --profile full`; 0: never.",
        "checkpoint_remind_after", most=1_000,
    ),
    Key(
        "checkpoint.gate", CHOICE, _USUAL.checkpoint_gate,
        "With ask, a tool call is denied then until there is a checkpoint, three times at most.",
        "checkpoint_gate", choices=("off", ASK),
    ),
    Key(
        "redaction.enabled", BOOLEAN, _USUAL.redaction.enabled,
        "Take secrets out of text before it is stored; `<private>` parts are taken out in any case.",
        "redaction",
    ),
    Key(
        "redaction.emails", BOOLEAN, _USUAL.redaction.emails,
        "Take e-mail addresses out as well.",
        "redaction",
    ),
    Key(
        "redaction.rules", RULES, (),
        "Kinds of secrets that only you know, each with a name, a pattern, and an example that it must find.",
        "redaction",
    ),
    Key(
        "retention.days", NUMBER, _USUAL.retention_days,
        "After how many days without need a memory may fade into the archive; 0: never.",
        "retention_days", most=36_500,
    ),
    Key(
        "retention.cap_mb", NUMBER, _USUAL.retention_cap_mb,
        "How many megabytes all that told writes may take; 0: no cap.",
        "retention_cap_mb", most=1_000_000,
    ),
    Key(
        "brief.tokens", NUMBER, _USUAL.brief_tokens,
        "How many tokens the brief for a prompt may cost; 0: no brief.",
        "brief_tokens", most=4_000, in_project=ONLY_MORE,
    ),
    Key(
        "brief.start_tokens", NUMBER, _USUAL.brief_start_tokens,
        "How many tokens the brief at the start of a session may cost; 0: no brief.",
        "brief_start_tokens", most=4_000, in_project=ONLY_MORE,
    ),
    Key(
        "agents.NAME.enabled", BOOLEAN, True,
        "Read this agent's files and answer its hooks; what was read stays.",
        "agents_off",
    ),
    Key(
        "agents.NAME.path", TEXT, "",
        "Look for this agent's files in this folder instead of the usual ones.",
        "agent_folders",
    ),
)  # fmt: skip
TABLES = {path[:1] for path in (key.path for key in KEYS) if len(path) > 1}


def key_at(path: Sequence[str]) -> Key | None:
    """Return the setting at a path, with an agent's name in the place of NAME."""
    if len(path) == 3 and path[0] == "agents":
        path = ("agents", NAME, path[2])
    return next((key for key in KEYS if key.path == tuple(path)), None)


def key_named(name: str) -> Key:
    """Return a setting by the name that a user typed.

    Raises:
        UsageError: there is none.
    """
    found = key_at(name.split("."))
    if found is None or NAME in name.split("."):
        raise UsageError(f"There is no setting {name!r}.{nearest(name)}")
    return found


def nearest(
    name: str, known: Iterable[str] = (), otherwise: str = "`told config list` shows them all."
) -> str:
    """Return a hint at the setting that a mistyped one may have been."""
    from difflib import get_close_matches

    names = list(known) or [key.name for key in KEYS]
    lasts = {one.rpartition(".")[2]: one for one in reversed(names)}
    close = get_close_matches(name, names, 1, 0.6)
    close = close or [lasts[one] for one in get_close_matches(name.rpartition(".")[2], lasts, 1, 0.7)]
    return f" Did you mean {close[0]}?" if close else f" {otherwise}"


def fits(key: Key, value: Any) -> bool:
    """Tell whether a value is what a setting must be; the parts of rules are looked at elsewhere."""
    if key.kind == BOOLEAN:
        return isinstance(value, bool)
    if key.kind == NUMBER:
        return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= key.most
    if key.kind == CHOICE:
        return isinstance(value, str) and value in key.choices
    if key.kind == TEXT:
        return isinstance(value, str)
    if key.kind in (MODEL, FOLDER):
        from told.settings.models import is_folder_path, wrong_with_model

        return not wrong_with_model(value) if key.kind == MODEL else value == "" or is_folder_path(value)
    return isinstance(value, list)


def misfit(key: Key, value: Any) -> str:
    """Return what is wrong with a value that does not fit, in words that follow the setting's name."""
    if key.kind == MODEL:
        from told.settings.models import wrong_with_model

        return wrong_with_model(value)
    return f"must be {key.must}"


def typed(key: Key, name: str, text: str) -> Any:
    """Return the value that a user typed for a setting.

    Raises:
        UsageError: it is none that fits.
    """
    if key.kind == RULES:
        raise UsageError(
            "Rules are changed by `told config add-rule NAME PATTERN EXAMPLE` and `told config remove-rule`."
        )
    value: Any = text
    if key.kind == BOOLEAN and text.lower() in (*_YES, *_NO):
        value = text.lower() in _YES
    elif key.kind == NUMBER:
        plain = text.replace(",", "").replace("_", "")
        value = int(plain[:12]) if plain.isascii() and plain.isdigit() else text
    if not fits(key, value):
        given = "" if key.kind == MODEL else f", not {text!r}"  # somebody's key may stand in an address
        raise UsageError(f"{name} {misfit(key, value).removesuffix(' in quotes')}{given}.")
    return value
