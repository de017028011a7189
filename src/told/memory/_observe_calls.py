"""Reads the kept lines about an agent's tool calls: which tool, on what, and how the call ended."""

from __future__ import annotations

from told.agents.text import FAILED, REFUSED
from told.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_SHELLS_WORDS = """
aider bash command exec execbash execcommand executebash executecommand localshell localshellcall
runbash runcommand runcommands runinterminal runshellcommand runterminalcmd runterminalcommand shell
shellcommand terminal unifiedexec
"""
_SHELLS = frozenset(_SHELLS_WORDS.split())
_EDITS_WORDS = """
applyagentdiff applydiff applypatch create createfile createnewfile createnewjupyternotebook delete
deletefile deletepath edit editedexistingfile editexistingfile editfile editfiles editnotebook
editnotebookfile editor filedeleted insert insertcontent insertedit inserteditintofile insertline
multiedit multireplacestring multireplacestringinfile multistrreplace newfilecreated notebookedit
patch reapply replace replaceinfile replacestring replacestringinfile removefile searchandreplace
searchreplace singlefindandreplace strreplace strreplacebasededittool strreplaceeditor write
writefile writetofile
"""
_EDITS = frozenset(_EDITS_WORDS.split())
_CREATES_WORDS = """
create createfile createnewfile newfilecreated write writefile writetofile
"""
_CREATES = frozenset(_CREATES_WORDS.split())
_LONGEST_NAME = 80

SHELL, EDIT, CREATE, OTHER = "shell", "edit", "create", "other"


@record
class Call:
    """One tool call: its kind, what it was about, and how it ended (empty: as far as is known, well)."""

    kind: str
    about: str
    line: str
    ended: str = ""


def calls(lines: Iterable[str]) -> list[Call]:
    """Return the tool calls among a turn's lines, in their order; thoughts are left out."""
    found: list[Call] = []
    for line in lines:
        if line.startswith("["):
            name, bracket, about = line[1:].partition("]")
            if bracket and name and len(name) <= _LONGEST_NAME and " " not in name:
                found.append(Call(_kind(name), about.strip(), line))
        elif line.startswith((FAILED, REFUSED)):
            _end(found, line)
    return found


def _kind(name: str) -> str:
    bare = "".join(filter(str.isalpha, name.lower())).removeprefix("copilot").removeprefix("builtin")
    if bare in _CREATES:
        return CREATE
    return SHELL if bare in _SHELLS else EDIT if bare in _EDITS else OTHER


def _end(found: list[Call], line: str) -> None:
    how = FAILED if line.startswith(FAILED) else REFUSED
    count, _, word = line[len(how) :].strip().partition(" ")
    if not count:
        back = 0
    elif word == "back" and count.isascii() and count.isdigit() and len(count) < 3:
        back = int(count)
    else:
        return
    if back < len(found):
        call = found[-1 - back]
        found[-1 - back] = Call(call.kind, call.about, call.line, how)
