"""What every client has to find: all is listed, each tool answers, and nothing ends the server."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from lab.clients import calls
from lab.clients.past import Past
from lab.clients.talk import STATELESS, WORD, Call, Client, Heard, Outcome, Server
from lab.result import Finding

_LONGEST_ERROR = 1_000  # characters; more is no clear word
_LONGEST = 20_000


def found_by(client: Client, server: Server, past: Past, tools: Mapping[str, Any]) -> dict[str, Finding]:
    """Let a client do everything with a server on an invented machine; `tools` are those it must see."""
    groups = {
        "called properly": calls.proper(past),
        "with nothing": calls.with_nothing(tools),
        "with wrong types": calls.with_wrong_types(tools),
        "with 1 MB": calls.with_a_megabyte(tools, past),
    }
    heard = client.talk(server, [call for group in groups.values() for call in (*group, calls.GOOD)])
    if heard.failure:
        return {"connects": Finding(False, heard.failure)}
    answers = iter(heard.outcomes)
    taken = {name: [next(answers) for _ in (*group, calls.GOOD)] for name, group in groups.items()}
    found = {"connects": _connected(client, heard), **dict(_lists(heard, tools))}
    for name, group in groups.items():
        problems = _problems(name, group, taken[name], tools)
        found[name] = Finding(not problems, "; ".join(problems))
    went_on = [name for name in groups if not _finds(taken[name][-1])]
    found["goes on"] = Finding(not went_on, "; ".join(f"not after: {name}" for name in went_on))
    return found


def elsewhere(client: Client, server: Server, folder: str, project: str) -> dict[str, Finding]:
    """Let a client start the server in the wrong folder; it must find the project all the same.

    Args:
        client: The client.
        server: The server, in the folder of the project.
        folder: The wrong folder.
        project: The right one, which is a root of the client, or is named in the call.
    """
    listing, named = Call("sessions", {}), Call("sessions", {"project": project})
    found = {}
    for column, roots, call in (("roots", [project], listing), ("project named", [], named)):
        heard = client.talk(replace(server, cwd=folder, roots=roots), [call])
        said = heard.outcomes[0].text.partition("\n")[0] if heard.outcomes else heard.failure
        reached = os.path.basename(project) in said  # else it has looked everywhere, and says so
        found[f"wrong folder, {column}"] = Finding(reached, "" if reached else said[:120])
    return found


def _connected(client: Client, heard: Heard) -> Finding:
    right = (heard.revision == STATELESS) == (client.era == STATELESS)
    note = f"it speaks {heard.revision}" if not right else "" if heard.instructions else "no instructions"
    return Finding(not note, note)


def _lists(heard: Heard, tools: Mapping[str, Any]) -> Iterator[tuple[str, Finding]]:
    missing = [name for name in dict.fromkeys((*calls.NAMES, *tools)) if name not in heard.tools]
    yield "tools", Finding(not missing, ", ".join(missing))
    for column, names in (("resources", heard.resources), ("prompts", heard.prompts)):
        silent = [name for name in names if not heard.texts.get(name, "").strip()]
        yield column, Finding(bool(names) and not silent, ", ".join(silent) or ("" if names else "none"))


def _problems(
    group: str, made: Sequence[Call], outcomes: Sequence[Outcome], tools: Mapping[str, Any]
) -> list[str]:
    found = []
    for call, outcome in zip(made, outcomes, strict=False):
        if outcome.failure:
            found.append(f"{call.tool}: {outcome.failure[:120]}")
        elif _unclear(outcome):
            found.append(f"{call.tool}: no clear answer: {outcome.text[:120]!r}")
        elif (expected := _expected(group, call, tools)) is not None and outcome.is_error != expected:
            said = "an error" if outcome.is_error else "no error"
            found.append(f"{call.tool}: {said}: {outcome.text[:120]!r}")
    return found


def _expected(group: str, call: Call, tools: Mapping[str, Any]) -> bool | None:
    """Tell whether a call has to be refused; None where either is right."""
    if group == "with nothing":
        return bool(tools[call.tool].get("required"))
    return {"called properly": False, "with wrong types": True}.get(group)


def _unclear(outcome: Outcome) -> bool:
    longest = _LONGEST_ERROR if outcome.is_error else _LONGEST
    return not outcome.text.strip() or "Traceback" in outcome.text or len(outcome.text) > longest


def _finds(outcome: Outcome) -> bool:
    return not outcome.failure and not outcome.is_error and WORD in outcome.text
