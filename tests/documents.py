"""Write the generated documents: `python -m tests.documents`. A test compares them with the code.

docs/commands.md comes from the table of commands, docs/agents.md from the agents' packages, the keys in
docs/config.md from the table of settings, docs/server-api.md from the server's routes, and the examples in
README.md from running them on the demo's history.
"""

from __future__ import annotations

import re
import shlex
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from demo.told import Scratch, remove_escapes
from lab.table import kept
from tests.agent_notes import HEAD as AGENTS_HEAD
from tests.agent_notes import NOTES
from told.agents import all_agents
from told.cli.help import command_groups, examples_of
from told.server.app import make_api
from told.settings.keys import KEYS, RULES
from told.settings.write import make_template, to_toml

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
API_PAGE = ROOT / "docs" / "server-api.md"

_WRITTEN = "<!-- Written by `python -m tests.documents`; change the code it comes from instead. -->"
_COMMANDS_HEAD = f"""# Commands

{_WRITTEN}

`told help` lists the commands, `told COMMAND --help` explains one. Options may come before or after the
arguments; put an argument that begins with a dash after `--`.

`list`, `files`, `search`, `checkpoints` and `timeline` cover the project of the current folder. With no
result there, they show you results from all projects and say so; for an agent they stay in its project. Use
`--project` or `--all-projects` to choose.

"""
_COMMANDS_END = """## Exit codes

| code | meaning |
|---|---|
| 0 | success |
| 1 | nothing found |
| 2 | invalid command or argument |
| 3 | the store is busy, the disk is full, or a place of sync or a server cannot be reached; try again |
| 4 | something the command needs is missing, or an agent's database lacks a column |
| 130 | stopped by Ctrl-C |

An error is one sentence on standard error that says what to do.

## Output

At a terminal, told prints tables with colours and relative dates, wrapped at its width, and shows long
output in your pager (`TOLD_PAGER`, `PAGER`, else `less`). It respects `--color`, `NO_COLOR` and `TERM=dumb`.

In a pipe or an agent's shell, text is short, so that an agent can afford to read it. Text that told did not
write is inside tags such as `<agent k3xq7>` and `</agent k3xq7>`; see
[how it works](how-it-works.md#trust-and-fences). `--json` prints one line of compact JSON;
[json.md](json.md) lists its fields.
"""


_REAL = """## With the real agents

`make agents` installs these versions from npm, runs each of them in a home folder of its own against a
scripted model on this machine, and writes this table:

1. The user corrects the agent once. The next session, a new process, must send the correction to the model.
2. A fact that only one prompt needs must be in that prompt's request and in no other.
3. The model reports a full context, so the agent compacts. The correction must still be there, a checkpoint
   of the session must exist, and the brief of the next session must name it.
4. In that next session the model calls told's `search`, and the following request must contain told's answer.
5. `told uninstall` must restore every file that told changed.

"""


def commands_page() -> str:
    """Return docs/commands.md."""
    parts = [_COMMANDS_HEAD]
    for group, commands in command_groups():
        rows = [f"| [`told {one.name}`](#told-{one.name}) | {one.summary} |" for one in commands]
        parts.append("\n".join([f"| {group} | |", "|---|---|", *rows]) + "\n\n")
    parts += [_command(one) for _, commands in command_groups() for one in commands]
    return "".join(parts) + _COMMANDS_END


def _command(command: Command) -> str:
    parts = [
        f"## told {command.name}\n\n{command.summary[:1].upper()}{command.summary[1:]}.\n",
        f"```\n{command.usage}\n```\n",
    ]
    if command.details:
        parts.append(" ".join(command.details.split("\n")) + "\n")
    if command.options:
        rows = [f"| `{_flag(option)}` | {option.help} |" for option in command.options]
        parts.append("\n".join(["| option | |", "|---|---|", *rows]) + "\n")
    examples = [f"{typed}  # {does}" if does else typed for typed, does in examples_of(command.name)]
    parts.append("\n".join(["```sh", *examples, "```\n"]))
    return "\n".join(parts) + "\n"


def _flag(option: Option) -> str:
    short = f"-{option.short}, " if option.short else ""
    return f"{short}--{option.name} {option.value}".rstrip()


def agents_page() -> str:
    """Return docs/agents.md; the table of real runs stays as it is."""
    agents = all_agents().values()
    rows = ["| agent | `--agent` | versions tested | variable |", "|---|---|---|---|"]
    for agent in agents:
        seen = NOTES[agent.name].seen if agent.verified else "**no**"
        variable = f"`{agent.root_variable}`" if agent.root_variable else ""
        rows.append(f"| [{agent.title}](#{_anchor(agent.title)}) | `{agent.name}` | {seen} | {variable} |")
    sections = "\n".join(map(_agent, agents))
    real = _REAL + kept(AGENTS_PAGE.read_text(encoding="utf-8")) + "\n"
    head = AGENTS_HEAD.format(written=_WRITTEN)
    return f"{head}\n" + "\n".join(rows) + f"\n\n{real}\n" + sections


_CONFIG_PART = re.compile(
    r"(<!-- Written by [^\n]*keys\.toml[^\n]* -->\n).*?(<!-- end of [^\n]* -->\n)", re.DOTALL
)


def config_page() -> str:
    """Return docs/config.md with the keys of the table of settings."""
    head = ["| key | value | default | in a project | by agents | meaning |", "|---|---|---|---|---|---|"]
    keys = "\n".join([*head, *map(_setting, KEYS)])
    first = f"The file that `told install` writes:\n\n```toml\n{make_template()}```"
    page = CONFIG_PAGE.read_text(encoding="utf-8")
    return _CONFIG_PART.sub(lambda found: f"{found[1]}\n{keys}\n\n{first}\n\n{found[2]}", page)


def _setting(key: Key) -> str:
    must = "rules" if key.kind == RULES else key.must
    usual = f"`{to_toml(key.default)}`" if key.default not in ("", ()) else "none"
    by_agents = "yes" if key.by_agents else ""
    return f"| `{key.name}` | {must} | {usual} | {key.in_project} | {by_agents} | {key.about} |"


def _anchor(title: str) -> str:
    return title.lower().replace(" ", "-")


def _agent(agent: Agent) -> str:
    note = NOTES[agent.name]
    lines = [f"## {agent.title}\n"]
    if not agent.verified:
        lines.append("**Not tested with a real run**: written from documentation and other readers.\n")
    lines.append(f"{note.about}\n")
    lines += ["| | |", "|---|---|", *(f"| {name} | {where} |" for name, where in _places(agent))]
    lines += [f"| imported | {', '.join(note.taken)} |", ""]
    if agent.advice:
        lines.append(f"Nothing found? {agent.advice}\n")
    return "\n".join(lines)


def _places(agent: Agent) -> list[tuple[str, str]]:
    """Return (system, folders) of an agent, for all systems."""
    kinds: dict[str, list[str]] = {}
    for root in agent.roots:
        if not root.startswith("~/AppData/"):  # where %APPDATA% usually is
            kinds.setdefault(_system(root), []).append(f"`{_plain(root)}`")
    if "Linux" in kinds and "macOS" not in kinds:
        kinds["Linux and macOS" if "Windows" in kinds else "everywhere"] = kinds.pop("Linux")
    order = ("everywhere", "Linux", "Linux and macOS", "macOS", "Windows")
    places = [(kind, ", ".join(kinds[kind])) for kind in order if kind in kinds]
    if agent.root_variable:
        places.append(("instead", f"the folder named by `{agent.root_variable}`"))
    if agent.layouts:
        places.append(("files", _patterns(layout.pattern for layout in agent.layouts)))
    if agent.project_layouts:
        places.append(("in each project", _patterns(layout.pattern for layout in agent.project_layouts)))
    return places


def _patterns(patterns: Iterable[str]) -> str:
    """Write patterns in one line; merge those that differ only in the ending."""
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
    """Write a root as a user would: the default, then the rest."""
    if root.startswith("$") and "|" in root:
        head, _, rest = root.partition(":")
        default = head.partition("|")[2]
        return f"{default}/{rest}" if rest else default
    return re.sub(r"\$(APPDATA|LOCALAPPDATA)\b", r"%\1%", root)


_BLOCK = re.compile(r"```console\n(.*?)```\n", re.DOTALL)


def with_examples(page: str, scratch: Scratch) -> str:
    """Return a page with the current output of every `$ told …` in it."""

    def again(block: re.Match[str]) -> str:
        examples = re.split(r"^(?=\$ )", block[1], flags=re.MULTILINE)
        return f"```console\n{''.join(map(run, examples))}```\n"

    def run(example: str) -> str:
        line, _, output = example.partition("\n")
        if not line.startswith("$ told "):
            return example
        words = shlex.split(line.removeprefix("$ told "))
        is_piped = words[-2:] == ["|", "cat"]
        said = scratch.told(*words[:-2]).stdout if is_piped else _screen(scratch, words)
        said = said.replace(scratch.home, "~")
        same = normal(said).strip() == normal(output).strip()
        ending = output[len(output.rstrip("\n")) :] or "\n"
        return example if same else f"{line}\n{said.rstrip()}{ending}"

    return _BLOCK.sub(again, page)


def _screen(scratch: Scratch, words: list[str]) -> str:
    """Return what a person reads at a terminal of 80 columns."""
    return remove_escapes(scratch.told_at_terminal(*words, columns=80, show=False).stdout)


def normal(output: str) -> str:
    """Replace what differs between runs: dates, marks and digests of placeholders.

    The demo's history has the same age on any day, so its dates move with the day of the run.
    """
    output = re.sub(r"(?:\d{4}-)?\d\d-\d\d \d\d:\d\d", "DATE", output)
    output = re.sub(r"\b(?:\d+ (?:minute|hour|day)s? ago|yesterday|just now)\b", "WHEN", output)
    output = re.sub(r"\b[A-Z][a-z]{2} \d{1,2}(?: \d{4})?\b", "WHEN", output)
    output = re.sub(r"\b\d{4}-\d\d-\d\d\b", "DAY", output)
    output = re.sub(r"<(/?)(agent|user|tool) [a-z2-7]{5}>", r"<\1\2 MARK>", output)
    output = re.sub(r"\[secret:([a-z-]+):[0-9a-f]+\]", r"[secret:\1:DIGEST]", output)
    return " ".join(output.split())  # the width of a date moves what is beside it


_API_HEAD = f"""# The routes of the team server

{_WRITTEN}

What the [team server](server.md#rest) answers, by subject. Readers may read and search;
members may also write; the queue, tokens, removing members and the audit log are for admins.
"""


def server_api_page() -> str:
    """Return docs/server-api.md, made from the server's routes."""
    parts = [_API_HEAD]
    rows: dict[str, list[str]] = {}
    for path, methods in make_api().openapi()["paths"].items():
        for method, about in methods.items():
            says = about["description"].partition("\n")[0]
            rows.setdefault(about["tags"][0], []).append(f"| `{method.upper()} {path}` | {says} |\n")
    for subject in sorted(rows):
        parts.append(f"\n## {subject.capitalize()}\n\n| route | what it does |\n|---|---|\n")
        parts += rows[subject]
    return "".join(parts)


def main() -> int:
    """Write all documents."""
    API_PAGE.write_text(server_api_page(), encoding="utf-8")
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
