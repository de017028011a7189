"""Writes the generated documents: `python -m tests.documents`. A test holds them against the code.

docs/commands.md comes from the table of commands, docs/agents.md from the agents' own files, the keys in
docs/config.md from the table of settings, and the examples in README.md from running them on the demo's
history.
"""

from __future__ import annotations

import re
import shlex
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from demo.told import Scratch
from lab.table import kept
from tests.agent_notes import HEAD as AGENTS_HEAD
from tests.agent_notes import NOTES
from told.agents import all_agents
from told.cli.commands import COMMANDS
from told.settings.first import literal, template
from told.settings.keys import KEYS, RULES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from told.agents.base import Agent
    from told.cli.arguments import Command, Option
    from told.settings.keys import Key

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
COMMANDS_PAGE = ROOT / "docs" / "commands.md"
AGENTS_PAGE = ROOT / "docs" / "agents.md"
CONFIG_PAGE = ROOT / "docs" / "config.md"

_WRITTEN = "<!-- Written by `python -m tests.documents`; change the code it comes from instead. -->"
_COMMANDS_HEAD = f"""# Commands

{_WRITTEN}

`told help` prints the list, `told COMMAND --help` one command. Options may stand before or after the
words; what begins with a dash and is no option goes behind `--`.

`list`, `files`, `search`, `checkpoints` and `timeline` are about the project of the current folder, and
about all projects where it has nothing to show; they say so when they do. `--project` and
`--all-projects` decide it instead.

"""
_COMMANDS_END = """## Exit codes

| code | meaning |
|---|---|
| 0 | it worked |
| 1 | nothing was found |
| 2 | the command was not understood |
| 3 | the store is busy; try again |
| 4 | something the command needs is not there, or an agent's database lacks a column |
| 130 | stopped by Ctrl-C |

Errors are one sentence on standard error that says what to do next.

## Output

Text is short by default so that an agent can afford to read it. What agents and others wrote stands between
marks such as `<agent k3xq7>` and `</agent k3xq7>`; [how it works](how-it-works.md#trust-and-fences) says why.
`--json` prints one line of compact JSON; [json.md](json.md) lists its fields.
"""


_REAL = """## With the real agents

`make agents` installs these versions from npm, lets each of them go through the same story in a home folder
of its own, against a scripted model on this machine, and writes this table. In the story the user corrects
the agent once; the next session, a new process, must have the correction in the request that reaches the
model. A fact that only one prompt needs must be in that prompt's request and in no other. The model then says
that its context is full, so that the agent compacts, and the correction must still be there; a checkpoint of
that session must have been written by then, and the brief of the next one must name it. In that next session
the model calls told's `search` as the agent names it, and the request that follows must hold what told
answered. At the end `told uninstall` must leave every file that told touched as it was.

"""


def commands_page() -> str:
    """Return docs/commands.md."""
    visible = [command for command in COMMANDS if not command.hidden]
    rows = [f"| [`told {one.name}`](#told-{one.name}) | {one.help} |" for one in visible]
    table = "\n".join(["| command | what it does |", "|---|---|", *rows])
    return _COMMANDS_HEAD + table + "\n\n" + "".join(map(_command, visible)) + _COMMANDS_END


def _command(command: Command) -> str:
    parts = [
        f"## told {command.name}\n\n{command.help[:1].upper()}{command.help[1:]}.\n",
        f"```\n{command.usage}\n```\n",
    ]
    if command.rows:
        parts.append(" ".join(command.rows.split("\n")) + "\n")
    if command.options:
        rows = [f"| `{_flag(option)}` | {option.help} |" for option in command.options]
        parts.append("\n".join(["| option | |", "|---|---|", *rows]) + "\n")
    return "\n".join(parts) + "\n"


def _flag(option: Option) -> str:
    short = f"-{option.short}, " if option.short else ""
    return f"{short}--{option.name} {option.value}".rstrip()


def agents_page() -> str:
    """Return docs/agents.md; the table of the real agents stays as the last run of them wrote it."""
    agents = all_agents().values()
    rows = ["| agent | `--agent` | read from files of a real run | variable |", "|---|---|---|---|"]
    for agent in agents:
        seen = NOTES[agent.name].seen if agent.seen_run else "**no**"
        variable = f"`{agent.env}`" if agent.env else ""
        rows.append(f"| [{agent.title}](#{_anchor(agent.title)}) | `{agent.name}` | {seen} | {variable} |")
    sections = "\n".join(map(_agent, agents))
    real = _REAL + kept(AGENTS_PAGE.read_text(encoding="utf-8")) + "\n"
    head = AGENTS_HEAD.format(written=_WRITTEN)
    return f"{head}\n" + "\n".join(rows) + f"\n\n{real}\n" + sections


_CONFIG_PART = re.compile(
    r"(<!-- Written by [^\n]*keys\.py[^\n]* -->\n).*?(<!-- end of [^\n]* -->\n)", re.DOTALL
)


def config_page() -> str:
    """Return docs/config.md with its part about the keys as the table of settings has them."""
    head = ["| key | value | usually | a project | an agent | |", "|---|---|---|---|---|---|"]
    keys = "\n".join([*head, *map(_setting, KEYS)])
    first = f"The file as it is first written:\n\n```toml\n{template()}```"
    page = CONFIG_PAGE.read_text(encoding="utf-8")
    return _CONFIG_PART.sub(lambda found: f"{found[1]}\n{keys}\n\n{first}\n\n{found[2]}", page)


def _setting(key: Key) -> str:
    must = "rules" if key.kind == RULES else key.must
    usual = f"`{literal(key.default)}`" if key.default not in ("", ()) else "none"
    by_agents = "may change it" if key.by_agents else ""
    return f"| `{key.name}` | {must} | {usual} | {key.in_project} | {by_agents} | {key.about} |"


def _anchor(title: str) -> str:
    return title.lower().replace(" ", "-")


def _agent(agent: Agent) -> str:
    note = NOTES[agent.name]
    lines = [f"## {agent.title}\n"]
    if not agent.seen_run:
        lines.append("**Not seen run**: read as documented and as other readers describe it.\n")
    lines.append(f"{note.about}\n")
    lines += ["| | |", "|---|---|", *(f"| {name} | {where} |" for name, where in _places(agent))]
    lines += [f"| taken | {', '.join(note.taken)} |", ""]
    if agent.advice:
        lines.append(f"Nothing found? {agent.advice}\n")
    return "\n".join(lines)


def _places(agent: Agent) -> list[tuple[str, str]]:
    """Return (kind of system, folders) of an agent; the same on whichever system this runs."""
    kinds: dict[str, list[str]] = {}
    for root in agent.roots:
        if not root.startswith("~/AppData/"):  # where %APPDATA% usually is
            kinds.setdefault(_system(root), []).append(f"`{_plain(root)}`")
    if "Linux" in kinds and "macOS" not in kinds:
        kinds["Linux and macOS" if "Windows" in kinds else "everywhere"] = kinds.pop("Linux")
    order = ("everywhere", "Linux", "Linux and macOS", "macOS", "Windows")
    places = [(kind, ", ".join(kinds[kind])) for kind in order if kind in kinds]
    if agent.env:
        places.append(("instead", f"the folder named by `{agent.env}`"))
    if agent.layouts:
        places.append(("files", _patterns(layout.pattern for layout in agent.layouts)))
    if agent.in_projects:
        places.append(("in each project", _patterns(layout.pattern for layout in agent.in_projects)))
    return places


def _patterns(patterns: Iterable[str]) -> str:
    """Write patterns in one line; those that differ in the ending alone are one."""
    endings: dict[str, list[str]] = {}
    for pattern in patterns:
        stem, _, ending = pattern.rpartition(".")
        endings.setdefault(stem, []).append(ending)
    several = {stem: list(dict.fromkeys(known)) for stem, known in endings.items()}
    return ", ".join(
        f"`{stem}.{known[0] if len(known) == 1 else '{' + ','.join(known) + '}'}`"
        for stem, known in several.items()
    )


def _system(root: str) -> str:
    if "APPDATA" in root:
        return "Windows"
    if "/Library/" in root:
        return "macOS"
    if "XDG_" in root or root.startswith(("~/snap/", "~/.var/")):
        return "Linux"
    return "everywhere"


def _plain(root: str) -> str:
    """Write a root as a user would: the default, with the rest behind it."""
    if root.startswith("$") and "|" in root:
        head, _, rest = root.partition(":")
        default = head.partition("|")[2]
        return f"{default}/{rest}" if rest else default
    return re.sub(r"\$(APPDATA|LOCALAPPDATA)\b", r"%\1%", root)


_BLOCK = re.compile(r"```console\n(.*?)```\n", re.DOTALL)


def with_examples(page: str, scratch: Scratch) -> str:
    """Return a page with the output of every `$ told …` in it as it is today; what is right is left alone."""

    def again(block: re.Match[str]) -> str:
        examples = re.split(r"^(?=\$ )", block[1], flags=re.MULTILINE)
        return f"```console\n{''.join(map(run, examples))}```\n"

    def run(example: str) -> str:
        line, _, output = example.partition("\n")
        if not line.startswith("$ told "):
            return example
        said = scratch.told(*shlex.split(line.removeprefix("$ told "))).stdout.replace(scratch.home, "~")
        same = normal(said).strip() == normal(output).strip()
        ending = output[len(output.rstrip("\n")) :] or "\n"
        return example if same else f"{line}\n{said.rstrip()}{ending}"

    return _BLOCK.sub(again, page)


def normal(output: str) -> str:
    """Take out what differs from one run to the next: dates, marks, and placeholders' digests.

    The demo's history is as old on any day, so every date in it moves with the day of the run.
    """
    output = re.sub(r"(?:\d{4}-)?\d\d-\d\d \d\d:\d\d", "DATE", output)
    output = re.sub(r"\b\d{4}-\d\d-\d\d\b", "DAY", output)
    output = re.sub(r"<(/?)(agent|user|tool) [a-z2-7]{5}>", r"<\1\2 MARK>", output)
    return re.sub(r"\[secret:([a-z-]+):[0-9a-f]+\]", r"[secret:\1:DIGEST]", output)


def main() -> int:
    """Write all of them."""
    COMMANDS_PAGE.write_text(commands_page(), encoding="utf-8")
    AGENTS_PAGE.write_text(agents_page(), encoding="utf-8")
    CONFIG_PAGE.write_text(config_page(), encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        scratch = Scratch(folder)
        if scratch.told("index").returncode:
            print("`told index` fails; the README is left as it is.", file=sys.stderr)
            return 1
        README.write_text(with_examples(README.read_text(encoding="utf-8"), scratch), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
