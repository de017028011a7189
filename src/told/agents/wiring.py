"""What told writes into an agent's own files, as plain records; `setup/` writes and takes it back."""

from __future__ import annotations

from told.agents.events import COMPACT, COMPACTED, END, HELPER, PROMPT, SLASH_END, START, STOP, TOOL
from told.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

__all__ = (
    "COMPACT",
    "COMPACTED",
    "END",
    "FULL",
    "HELPER",
    "MINIMAL",
    "NO_HOOKS",
    "PROJECT_SCOPE",
    "PROMPT",
    "SLASH_END",
    "START",
    "STOP",
    "TOOL",
    "USER_SCOPE",
    "Block",
    "Change",
    "Entry",
    "Launch",
    "OwnFile",
    "Place",
)  # fmt: skip

USER_SCOPE, PROJECT_SCOPE = "user", "project"
NO_HOOKS, MINIMAL, FULL = "none", "minimal", "full"


@record
class Entry:
    """A value in a JSON, JSONC or TOML file of somebody else's."""

    path: str
    keys: tuple[str, ...]  # from the top of the file to the value
    value: Any  # as JSON knows it
    item: bool = False  # one more item of the list at `keys`, not the value there itself
    mark: str = ""  # a text that is in told's own item and in nobody else's
    default: bool = False  # only where there is no value yet: one that is there is never told's


@record
class Block:
    """A paragraph in a Markdown file of somebody else's, between marks of its own."""

    path: str
    text: str


OWN = "told:own"  # stands in a comment of a file of told's, where its format has comments


@record
class OwnFile:
    """A file that is told's alone, in a folder of somebody else's."""

    path: str
    text: str
    executable: bool = False


if TYPE_CHECKING:
    Change = Entry | Block | OwnFile


@record
class Launch:
    """How told's hook is started without a shell's or a virtual environment's help."""

    interpreter: str  # a real binary, never a version manager's stand-in
    code: str  # what it runs; one line, and all its quotes are single ones

    def words(self, agent: str, event: str) -> tuple[str, ...]:
        """Return the program and its arguments, for agents that need no shell."""
        return (self.interpreter, "-I", "-S", "-c", self.code, agent, event)

    def line(self, agent: str, event: str, *, windows: bool = False) -> str:
        """Return the same as one line for a shell."""
        quote = _for_cmd if windows else _for_sh
        return " ".join(quote(word) for word in self.words(agent, event))

    def powershell(self, agent: str, event: str) -> str:
        """Return the same as one line for PowerShell."""
        return "& " + " ".join(_for_powershell(word) for word in self.words(agent, event))


@record
class Slash:
    """A command that the user can type in an agent: `/mem:name words`."""

    name: str
    about: str  # one line for the agent's own list of commands
    text: str  # what the agent is told about it
    hint: str = ""  # what is typed behind it; empty where nothing is
    runs: bool = False  # the agent runs told for it; else the prompt hook does what it says


@record
class Place:
    """The machine and the wishes of the user, as an agent's wiring is told them."""

    home: str  # the user's
    project: str  # the root folder of the current project; empty where there is none
    variables: Mapping[str, str]  # of the environment
    launch: Launch
    scope: str = USER_SCOPE
    profile: str = MINIMAL
    told: tuple[str, ...] = ()  # the command `told` in full, for entries that name it
    mcp: bool = False  # whether `told mcp` is there
    service: str = ""  # the address of the background service, if the user chose it
    system: str = "linux"  # or darwin, win32
    token: str = ""  # what the background service wants to see in every request
    note: str = ""  # instructions for an agent that is briefed by hooks
    guide: str = ""  # instructions for one that has to ask
    slash: tuple[Slash, ...] = ()  # the commands for agents that can have some


def _for_sh(word: str) -> str:
    plain = word and all(char.isascii() and (char.isalnum() or char in "-_./=:,@%+") for char in word)
    return word if plain else "'" + word.replace("'", "'\"'\"'") + "'"


def _for_cmd(word: str) -> str:
    return f'"{word}"' if not word or any(char in " ()[];,='&^!*" for char in word) else word


def _for_powershell(word: str) -> str:
    plain = word and all(char.isascii() and (char.isalnum() or char in "-_./:\\") for char in word)
    return word if plain else "'" + word.replace("'", "''") + "'"
