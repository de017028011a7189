"""What briefs cost against the whole history, and whether they say what is needed, on generated histories."""

from __future__ import annotations

import argparse
import random
from dataclasses import dataclass
from typing import Any

from benchmarks import said, story
from benchmarks.surface import open_empty_bank, store, take_in
from benchmarks.words import Language
from told.capture.statements import Statement, capture
from told.fence import Fence
from told.recall.brief import Brief, make_line, make_prompt_brief
from told.recall.prompt import RecallRequest
from told.store.memories.read import SqliteMemories
from told.store.memories.records import (
    ACTIVE,
    GLOBAL,
    PROJECT,
    USER,
    Evidence,
    Memory,
    Trigger,
    split_kind,
)
from told.text import count_tokens

_NOW = 1_794_000_000_000
_DAY = 86_400_000
_SESSIONS, _TURNS = 40, 320  # of a project
_PLANTED = 24  # statements in a project
_ORDERS = ("Never touch", "No, not like that")  # of generated turns: they would be rules, and mean nothing
_SHAPE = story.Shape(sentences=(2, 8), calls=(0, 3), output=(200, 3_000))

HOW = (
    "Each project has a generated history of 40 sessions in which 24 hand-written statements were said once; "
    "told captures what it finds worth keeping, and the rest of these is remembered by command. Then come "
    "prompts: those that need one of the statements, in other words than it was said; those that need a "
    "statement nobody made in that project; and small talk. History is what was said, without tool output; "
    "everything is a memory that injects all it has. Hit rate is the share of the prompts in need whose "
    "brief has what they need; recall leaves out what was ended as replaced; precision is the share of all "
    "injected lines that were needed, of area the share of those that are about what the prompt is about; "
    "silence the share of the prompts in no need that got nothing."
)


@dataclass(frozen=True, slots=True)
class Project:
    """A project with a history, and what it should be reminded of."""

    scope: str
    texts: list[str]  # all that was said
    memories: SqliteMemories
    active: list[Memory]
    kept: dict[str, str]  # each planted statement with the id of its memory; empty if it was ended
    captured: int  # how many of these told found by itself


@dataclass(frozen=True, slots=True)
class Asked:
    """One prompt and its answer."""

    in_need: bool
    small_talk: bool
    needed: str  # the memory; empty if nothing is needed, or if what is needed was not kept
    useful: int  # lines of the prompt's own area
    got: tuple[str, ...]
    cost: int


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--projects", type=int, default=0, help="how many projects")
    parser.add_argument("--seed", type=int, default=1, help="the same gives the same histories")


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """RecallRequest every project what it was told, and what it was not."""
    count = arguments.projects or (2 if arguments.quick else 6)
    language = Language(arguments.seed, sentences=4_000)
    fence = Fence(b"k" * 32)
    projects = [plant(number, arguments.seed, language) for number in range(count)]
    asked: list[Asked] = []
    history = everything = 0
    for project in projects:
        answers = [ask(project, prompt, about, fence) for prompt, about in prompts(project)]
        asked += answers
        history += sum(map(count_tokens, project.texts)) * len(answers)
        lines = [make_line(one, fence, _NOW) for one in project.active]
        everything += count_tokens(Brief(tuple(lines)).text) * len(answers)
    needing = [one for one in asked if one.in_need]
    others = [one for one in asked if not one.in_need]
    right = sum(one.needed in one.got for one in needing)
    cost = sum(one.cost for one in asked)
    return {
        "benchmark": "tokens",
        "projects": count,
        "memories": sum(len(project.active) for project in projects),
        "prompts": {"in_need": len(needing), "in_no_need": len(others)},
        "tokens_per_prompt": {
            "history": history // len(asked),
            "everything": everything // len(asked),
            "brief": round(cost / len(asked), 1),
        },
        "saved_share": {
            "of_history": _share(history - cost, history),
            "of_everything": _share(everything - cost, everything),
        },
        "captured": _share(sum(project.captured for project in projects), count * _PLANTED),
        "hit_rate": _share(sum(bool(one.got) and one.needed in one.got for one in needing), len(needing)),
        "recall": _share(right, sum(bool(one.needed) for one in needing)),
        "precision": _share(right, sum(len(one.got) for one in asked)),
        "precision_in_need": _share(right, sum(len(one.got) for one in needing)),
        "precision_of_area": _share(sum(one.useful for one in asked), sum(len(one.got) for one in asked)),
        "silence": {
            "small_talk": _share(
                sum(not one.got for one in others if one.small_talk), count * len(said.QUIET)
            ),
            "other_tasks": _share(
                sum(not one.got for one in others if not one.small_talk),
                sum(not one.small_talk for one in others),
            ),
        },
        "how": HOW,
    }


def plant(number: int, seed: int, language: Language) -> Project:
    """Make a project's history, with statements said here and there, and what told keeps of it."""
    chance = random.Random(seed * 1000 + number)
    planted = chance.sample(list(said.statements()), _PLANTED)
    sessions = story.sessions(language, "/home/dev", _SESSIONS, _TURNS, now=_NOW - 10 * _DAY, shape=_SHAPE)
    turns = [turn for session in sessions for turn in session.turns]
    places = dict(zip(chance.sample(range(len(turns)), _PLANTED), planted, strict=True))
    scope = f"{PROJECT}{number}"
    texts: list[str] = []
    memories = open_empty_bank()
    before = ""
    captured = 0
    for place, turn in enumerate(turns):
        asked = places.get(place, "Go on." if turn.asked.startswith(_ORDERS) else turn.asked)
        found = capture(asked, before)
        captured += bool(found) and place in places
        if place in places and not found:
            found = [Statement("rule", asked, asked)]
        for statement in found:
            store(memories, take_in(memories, _memory(statement, scope, len(texts), turn.at, asked)))
        texts += [asked, turn.answered]
        before = turn.answered
    active = list(memories.load(memories.listed(scopes=[scope])).values())
    made = {one.evidence[0].quote: one.id for one in active}
    return Project(scope, texts, memories, active, {text: made.get(text, "") for text in planted}, captured)


def prompts(project: Project) -> list[tuple[str, str]]:
    """Return the later prompts, each with the statement that it is about, also if nobody made it."""
    written = said.statements()
    found = [(prompt, text) for text in project.kept for prompt in written[text]]
    found += [(prompt, text) for text in written if text not in project.kept for prompt in written[text][:1]]
    return [*found, *((prompt, "") for prompt in said.QUIET)]


def ask(project: Project, prompt: str, about: str, fence: Fence) -> Asked:
    """RecallRequest for a brief as an agent's prompt would."""
    brief = make_prompt_brief(project.memories, RecallRequest(prompt, (project.scope, GLOBAL), _NOW), fence)
    areas = said.areas()
    near = {name for text, name in project.kept.items() if about and areas[text] == areas[about]}
    return Asked(
        about in project.kept, not about, project.kept.get(about, ""), len(near.intersection(brief.memories)),
        brief.memories, count_tokens(brief.text),
    )  # fmt: skip


def _memory(statement: Statement, scope: str, number: int, at: int, asked: str) -> Memory:
    kind, marks = split_kind(statement.kind)
    return Memory(
        f"m{number:05d}{len(statement.quote)}", "bench", number, statement.text, kind, "", scope,
        ACTIVE, False, USER, alpha=4.0, created=at, evidence=(Evidence("claude-code", "s", 0, asked, at),),
        triggers=tuple(Trigger(one.kind, one.value) for one in statement.triggers),
        entities=statement.entities, marks=(*marks, *statement.marks),
    )  # fmt: skip


def _share(part: float, whole: float) -> float:
    return round(part / whole, 4) if whole else 0.0
