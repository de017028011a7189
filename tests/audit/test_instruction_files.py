"""A line of an instruction file that contradicts a memory is found; unrelated lines raise no alarm."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from told.audit.pairs import DENIED, compare_with_files
from told.onboard.files import Document
from told.onboard.instructions import parse_instructions
from told.store.memories.records import FACT, USER, Memory

DATA = Path(__file__).parent.parent / "data" / "instruction_conflicts.toml"
PAIRS: dict[str, list[tuple[str, str]]] = {
    name: [(memory, line.removeprefix("- ")) for memory, line in pairs]
    for name, pairs in tomllib.loads(DATA.read_text(encoding="utf-8")).items()
}


def find_denied(memories: list[str], lines: list[str]) -> set[tuple[str, str]]:
    """Return the pairs of a memory and a line that are said to contradict each other."""
    text = "# Project\n\n" + "".join(f"- {line}\n" for line in lines)
    document = Document("AGENTS.md", text, tuple(text.split("\n")))
    known = [
        Memory(f"m{number:07d}", text=one, kind=FACT, trust=USER, scope="project:x")
        for number, one in enumerate(memories)
    ]
    found = compare_with_files(known, parse_instructions(document, 0.0), [document])
    return {
        (one.memory.text, one.instruction.text) for one in found if one.what == DENIED and one.instruction
    }


@pytest.mark.parametrize(("name", "least"), [("contradicting", 16), ("unseen_contradicting", 11)])
def test_contradicting_lines_are_found(name: str, least: int) -> None:
    found = [pair for pair in PAIRS[name] if find_denied([pair[0]], [pair[1]])]
    assert len(found) >= least


@pytest.mark.parametrize("name", ["harmless", "unseen_harmless"])
def test_harmless_lines_raise_no_alarm(name: str) -> None:
    assert [pair for pair in PAIRS[name] if find_denied([pair[0]], [pair[1]])] == []


@pytest.mark.parametrize("prefix", ["", "unseen_"])
def test_lines_about_something_else_raise_no_alarm(prefix: str) -> None:
    true, harmless = PAIRS[f"{prefix}contradicting"], PAIRS[f"{prefix}harmless"]
    memories = list(dict.fromkeys(memory for memory, _ in (*true, *harmless)))
    assert find_denied(memories, [line for _, line in (*true, *harmless)]) <= set(true)
