"""What an agent did, as rules are compared with it: commands, changes and looks, in their order."""

from __future__ import annotations

from fnmatch import fnmatchcase

from told.agents.text import FAILED, REFUSED
from told.memory._observe_calls import CREATE, EDIT, SHELL, calls
from told.memory._observe_commits import commit_of
from told.memory._observe_shell import Command, commands
from told.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_LOOKS = frozenset(("cat", "head", "tail", "less", "ls", "grep", "rg", "wc", "bat"))


@record
class Deed:
    """One command or one touched file."""

    kind: str  # shell, edit, create, or other for a look
    failed: bool
    command: Command | None = None
    path: str = ""
    subject: str = ""  # of the commit that this command makes


def deeds(steps: Sequence[str]) -> list[Deed]:
    """Return what was done, without what the user did not allow."""
    found: list[Deed] = []
    for call in calls(line for step in steps for line in step.splitlines()):
        if call.ended == REFUSED:
            continue
        failed = call.ended == FAILED
        if call.kind == SHELL:
            commit = commit_of(call.about)
            for command in commands(call.about):
                makes = commit is not None and "commit" in command.words and "git" in command.words
                subject = commit[0] if makes and commit and not failed else ""
                found.append(Deed(SHELL, failed, command, subject=subject))
                if command.words[0] in _LOOKS:
                    found += [Deed("other", failed, path=word) for word in command.words[1:] if "/" in word]
        elif call.about:
            found.append(Deed(call.kind, failed, path=call.about))
    return found


def is_change(deed: Deed) -> bool:
    """Whether a file was changed by a tool of the agent's."""
    return deed.kind in (EDIT, CREATE) and not deed.failed


def is_under(path: str, place: str) -> bool:
    """Whether a path lies at or below a place that a memory names, which may be a pattern such as *.lock."""
    parts = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".")]
    wanted = [part for part in place.replace("\\", "/").split("/") if part not in ("", ".", "~", "**")]
    if not wanted:
        return False
    if len(wanted) == 1 and "." in wanted[0] and not place.endswith("/"):
        return bool(parts) and fnmatchcase(parts[-1], wanted[0])
    ends = range(len(wanted), len(parts) + 1)
    return any(
        all(
            fnmatchcase(part, want) for part, want in zip(parts[end - len(wanted) : end], wanted, strict=True)
        )
        for end in ends
    )
