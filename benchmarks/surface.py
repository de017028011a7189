"""How well told chooses the few memories that a prompt needs, on invented projects."""

from __future__ import annotations

import argparse
import calendar
import json
import time
from collections.abc import Sequence
from typing import Any

import apsw

from benchmarks import CannotMeasureError, invented
from told.capture.entities import find_entities, find_triggers
from told.conflict.relation import CHANGES, MAY_CHANGE, SAME, judge
from told.recall.prompt import RecallRequest, relative_folder
from told.recall.recall import recall
from told.search.index_text import make_index_fields
from told.store.memories.read import SqliteMemories
from told.store.memories.records import (
    ACTIVE,
    AGENT,
    GLOBAL,
    PROJECT,
    SUPERSEDED,
    TOOL,
    USER,
    WAS,
    Edge,
    Memory,
    Trigger,
    split_kind,
)
from told.store.memories.schema import migrate
from told.text import count_tokens

_TRUST = {"user": USER, "assistant": AGENT}

HOW = (
    "Each project's memories are stored in the order of their dates, told judging what ends what; then "
    "each prompt is asked with nothing remembered between prompts. must-recall is the share of the memories "
    "that a perfect assistant needs, should-recall of the useful ones; harmful the share of prompts with one "
    "that was ended, poisoned, of another project or for another folder; silence the share of prompts that "
    "need nothing and get nothing but locked rules. Tokens are those of the text, UTF-8 bytes by 3.5, and 4 "
    "for its frame. Without --data the projects in surface_projects are asked; most of them were looked at "
    "while the lists of topics were written, so that figures of projects nobody looked at say more. Those of "
    "--fresh were written later by somebody who did not look at the lists; in most of them half of the "
    "prompts that need something share no word with it, in some four of five. Weights were set on many of "
    "them, never on those that are kept apart."
)


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--predictions", default="", help="where to write the chosen ids of each prompt, as JSON"
    )
    parser.add_argument("--projects", default="", help="only these projects, with commas between them")
    parser.add_argument(
        "--fresh", action="store_true", help="the projects that were written after the lists of topics"
    )
    parser.add_argument("--budget", type=int, default=450, help="tokens for a prompt")


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Choose memories for every prompt and compare with what it needs."""
    folder = invented.FRESH if arguments.fresh else invented.FOLDER
    projects = load(arguments.data) if arguments.data else invented.projects(folder)
    if arguments.projects:
        projects = [one for one in projects if one["project"] in arguments.projects.split(",")]
    chosen: dict[str, list[str]] = {}
    taken = 0.0
    for project in projects:
        memories = bank(project)
        now = max(moment(one["date"]) for one in project["memories"]) + 30 * 86_400_000
        for prompt in project["prompts"]:
            started = time.perf_counter()
            chosen[prompt["id"]] = choose(memories, project, prompt, now, arguments.budget)
            taken += time.perf_counter() - started
    if arguments.predictions:
        with open(arguments.predictions, "w", encoding="utf-8") as file:
            json.dump(chosen, file)
    return {
        "benchmark": "surface",
        "budget": arguments.budget,
        "all": summary(projects, chosen),
        **(_by_use(projects, chosen) if arguments.fresh else {}),
        **{project["project"]: summary([project], chosen) for project in projects},
        "ms_per_prompt": round(taken * 1000 / max(1, len(chosen)), 3),
        "how": HOW,
    }


def _by_use(projects: Sequence[dict[str, Any]], chosen: dict[str, list[str]]) -> dict[str, Any]:
    """Return the figures of the projects that weights were set on, and of those that were kept apart."""
    parts = {
        "weights set on": [one for one in projects if one["project"] in invented.SET_ON],
        "kept apart": [one for one in projects if one["project"] not in invented.SET_ON],
    }
    return {name: summary(some, chosen) for name, some in parts.items() if some}


def load(path: str) -> list[dict[str, Any]]:
    """Read the projects with their memories and prompts."""
    try:
        with open(path, encoding="utf-8") as file:
            projects = json.load(file)["projects"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CannotMeasureError(f"{path} cannot be read as projects: {error}") from error
    return list(projects)


def bank(project: dict[str, Any]) -> SqliteMemories:
    """Store a project's memories as they came, without what only their labels know."""
    database = apsw.Connection(":memory:")
    migrate(database)
    memories = SqliteMemories(database)
    kept: list[Memory] = []
    ordered = sorted(enumerate(project["memories"]), key=lambda one: (one[1]["date"], one[0]))
    for number, (_, given) in enumerate(ordered, 1):
        new = _memory(project, given, number)
        kept = taken_in(kept, new)
    with memories.writer.transaction():
        for memory in kept:
            memories.writer.put(memory, make_index_fields, fresh=True)
    return memories


def taken_in(kept: list[Memory], new: Memory) -> list[Memory]:
    """Add a memory and end what it replaces; tools and pages end nothing, an agent no user's word."""
    if new.trust == TOOL:
        return [*kept, new]
    near = [one for one in kept if one.scope == new.scope and one.status == ACTIVE and one.trust != TOOL]
    ended = set()
    for old in near:
        found = judge(old.text, new.text)
        may_end = not old.locked and (new.trust == USER or old.trust == AGENT)
        if found.kind == CHANGES and may_end:
            ended.add(old.id)
        elif found.kind == MAY_CHANGE and may_end and not new.edges:
            new = new._replace(edges=(Edge(WAS, old.id),))
        elif found.kind == SAME and new.trust == AGENT and old.trust == USER:
            return kept
    return [
        *(one._replace(status=SUPERSEDED, superseded_by=new.id) if one.id in ended else one for one in kept),
        new,
    ]


def _memory(project: dict[str, Any], given: dict[str, Any], number: int) -> Memory:
    other = given["status"] == "other_project"
    scope = GLOBAL if given["scope"] == "global" else PROJECT + ("another" if other else project["project"])
    text = given["text"]
    trust = _TRUST.get(given["source"], TOOL)
    kind, marks = split_kind(given["kind"])
    return Memory(
        given["id"], "bench", number, text, kind, "", scope, ACTIVE, bool(given["locked"]),
        trust, alpha=4.0 if trust == USER else 1.0, created=moment(given["date"]) + number * 1000,
        marks=marks,
        triggers=tuple(Trigger(one.kind, one.value) for one in find_triggers(text)),
        entities=find_entities(text),
    )  # fmt: skip


def choose(
    memories: SqliteMemories, project: dict[str, Any], prompt: dict[str, Any], now: int, budget: int
) -> list[str]:
    """Return the ids of the memories for a prompt, in their order, within the budget."""
    scopes = (PROJECT + project["project"], GLOBAL)
    folder = relative_folder(project["root"], prompt["cwd"])
    left = budget
    found = []
    for one in recall(memories, RecallRequest(prompt["prompt"], scopes, now, folder)).chosen:
        size = count_tokens(one.memory.text) + 4
        if size <= left:
            left -= size
            found.append(one.memory.id)
    return found


def moment(date: str) -> int:
    """Read a date as ms since 1970."""
    return calendar.timegm(time.strptime(date, "%Y-%m-%d")) * 1000


def summary(projects: Sequence[dict[str, Any]], chosen: dict[str, list[str]]) -> dict[str, Any]:
    """Compare what was chosen with what was needed."""
    must: list[tuple[float, bool]] = []
    should: list[float] = []
    silent: list[bool] = []
    spent: list[int] = []
    harmful = useful = counted = 0
    for project in projects:
        texts = {one["id"]: one for one in project["memories"]}
        for prompt in project["prompts"]:
            found = chosen[prompt["id"]]
            needed, wanted = set(prompt["must"]), set(prompt["should"])
            harmful += not set(prompt["must_not"]).isdisjoint(found)
            spent.append(sum(count_tokens(texts[one]["text"]) + 4 for one in found))
            if needed:
                share = len(needed.intersection(found)) / len(needed)
                must.append((share, prompt["lexical_overlap"] == 0))
            else:
                silent.append(all(texts[one]["locked"] for one in found))
            if wanted:
                should.append(len(wanted.intersection(found)) / len(wanted))
            for one in found:
                good = one in needed or one in wanted
                if good or not texts[one]["locked"]:
                    counted += count_tokens(texts[one]["text"]) + 4
                    useful += (count_tokens(texts[one]["text"]) + 4) * good
    return {
        "prompts": len(spent),
        "must_recall": _mean([share for share, _ in must]),
        "must_recall_no_shared_word": _mean([share for share, none in must if none]),
        "must_recall_shared_word": _mean([share for share, none in must if not none]),
        "should_recall": _mean(should),
        "harmful_share": round(harmful / max(1, len(spent)), 4),
        "token_precision": round(useful / counted, 4) if counted else None,
        "silence_share": _mean([float(one) for one in silent]),
        "tokens_per_prompt": round(sum(spent) / max(1, len(spent)), 1),
    }


def _mean(values: Sequence[float]) -> float | None:
    return round(sum(values) / len(values), 4) if values else None
