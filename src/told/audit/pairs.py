"""Find memories that contradict or repeat each other, or an instruction file."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from told.conflict.relation import CHANGES, MAY_CHANGE, judge
from told.conflict.same import normalise_claim, quote_covers, reverses, say_same
from told.onboard.files import Document, compile_pattern
from told.onboard.instructions import Instruction
from told.search.tokens import STOP_WORDS, canonical_stem, tokenize
from told.store.memories.records import GLOBAL, USER, WAS, Memory, project_key

GONE, COMMAND, PROGRAM, HOST = "gone", "command", "program", "host"
CONTRADICTS, OUTDATED, DENIED = "contradicts", "outdated", "denied"
REPEATS, IN_FILE = "repeats", "in a file"
STALE, EXPIRED, FADED = "stale", "expired", "faded"
NAMED = (GONE, COMMAND, PROGRAM, HOST)  # the finding's name is part of the memory
# In the order of the report.
KINDS = (
    GONE, COMMAND, HOST, PROGRAM, CONTRADICTS, OUTDATED, DENIED, REPEATS, IN_FILE, STALE, EXPIRED, FADED,
)  # fmt: skip

_MIN_OVERLAP = 0.2  # share of words that a memory and a file's statement need to contradict each other
_PROSE_OVERLAP = 0.3  # share of words, if a file's statement may be mere description
# What an edge between two memories means.
_EDGES = {
    CONTRADICTS: (CONTRADICTS, "The second one contradicts it. Which one applies?"),
    WAS: (OUTDATED, "The second one probably replaces it. Do both apply?"),
}
_QUOTES = ('"', "“", "„", "«")
_MIN_WORDS = 3  # of a statement that is looked up in a file
PATTERNS = {
    name: compile_pattern(text)
    for name, text in tomllib.loads(Path(__file__).with_name("patterns.toml").read_text("utf-8"))[
        "patterns"
    ].items()
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem of a memory."""

    what: str
    memory: Memory
    why: str  # told's words; {} stands for the name
    name: str = ""  # a path, a command, a host, or a place in a file
    other: Memory | None = None
    do: tuple[str, ...] = ()  # commands; if there are several, each with its condition
    sure: bool = True
    instruction: Instruction | None = None  # that contradicts it
    newer: str = ""  # `file` or `memory`, of a contradiction with a file


def reject_command(memory: Memory) -> str:
    """Return the command that takes a memory out of briefs and searches; it can be undone."""
    unlock = f"told unlock {memory.id} && " if memory.locked else ""
    return f"{unlock}told reject {memory.id}"


def propose_change(memory: Memory) -> tuple[str, ...]:
    """Return the commands for a memory that may be out of date."""
    return (
        f"if it changed: told correct {memory.id} 'NEW TEXT'",
        f"if it no longer applies: {reject_command(memory)}",
    )


def compare_memories(memories: Sequence[Memory]) -> Iterator[Finding]:
    """Yield contradictions and replacements that were found when memories were written, and duplicates."""
    by_id = {one.id: one for one in memories}
    seen: set[frozenset[str]] = set()
    for one in memories:
        for edge in one.edges:
            old, pair = by_id.get(edge.target), frozenset((one.id, edge.target))
            if old is not None and pair not in seen and edge.kind in _EDGES:
                seen.add(pair)
                what, why = _EDGES[edge.kind]
                yield Finding(what, old, why, other=one, do=_ask(old, one), sure=what == CONTRADICTS)
    by_words: dict[tuple[str, ...], list[Memory]] = {}
    for new in sorted(memories, key=lambda one: (one.created, one.number, one.id)):
        alike = by_words.setdefault(normalise_claim(new.text), [])
        old = next((one for one in alike if _scopes_overlap(one, new) and say_same(one.text, new.text)), None)
        if old is not None and frozenset((old.id, new.id)) not in seen:
            # The locked, the user's or the global memory of two stays, else the older one.
            stays, goes = (new, old) if _authority(new) > _authority(old) else (old, new)
            why = "It says the same as another."
            yield Finding(REPEATS, goes, why, other=stays, do=(reject_command(goes),))
        alike.append(new)


def compare_with_files(
    memories: Sequence[Memory], instructions: Sequence[Instruction], documents: Sequence[Document]
) -> Iterator[Finding]:
    """Yield the memories that an instruction file repeats or contradicts.

    Args:
        memories: Those that apply in the project.
        instructions: Every statement of the files, also one that is only likely to matter.
        documents: The files.
    """
    files = [(one.path, _normalise(one.text)) for one in documents]
    statements = [(one, _words(one.text)) for one in instructions]
    for memory in memories:
        text, words = _normalise(memory.text).strip(" ."), _words(memory.text)
        # A statement with the memory's words that denies it does not repeat it.
        near = [one for one, others in statements if _share(words, others) >= _MIN_OVERLAP]
        denied = [one for one in near if reverses(memory.text, one.text) or reverses(one.text, memory.text)]
        is_whole = text.count(" ") >= _MIN_WORDS - 1
        is_denied = any(text in _normalise(one.text) for one in denied)
        places = [path for path, content in files if is_whole and not is_denied and text in content]
        same = [one for one in near if one not in denied and _covers(one.text, memory.text)]
        places += [f"{one.document.path}:{one.line}" for one in same if one.is_clear]
        if places:
            why = "{} says it already; an agent that reads the file is told twice."
            do = (f"to keep it only in the file: {reject_command(memory)}",)
            yield Finding(IN_FILE, memory, why, places[0], do=do)
        seen: set[str] = set()
        for one in near:
            why = "the opposite" if one in denied else "" if one in same else _contradict(memory.text, one)
            if why and one.document.path not in seen:
                seen.add(one.document.path)
                yield Finding(
                    DENIED, memory, f"{{}} says otherwise: {why}.", f"{one.document.path}:{one.line}",
                    do=(f"if the file is right: {reject_command(memory)}",
                        "if the memory is right: change the file"),
                    sure=False, instruction=one,
                )  # fmt: skip


def _covers(said: str, text: str) -> bool:
    """Tell whether a file's statement says no less than a memory."""
    return say_same(text, said) or (len(text.split()) >= _MIN_WORDS and quote_covers(said, text))


def _contradict(memory: str, instruction: Instruction) -> str:
    """Return why a file's statement contradicts a memory, whichever of them is newer."""
    said = instruction.text
    is_prose = not instruction.is_clear and _share(_words(memory), _words(said)) < _PROSE_OVERLAP
    if is_prose or said.startswith(_QUOTES):  # a description, or an example
        return ""
    found = (judge(memory, said), judge(said, memory))
    return next((one.why for one in found if one.kind in (CHANGES, MAY_CHANGE)), "")


def _share(ours: set[str], theirs: set[str]) -> float:
    return len(ours & theirs) / len(ours | theirs) if ours and theirs else 0.0


def _ask(old: Memory, new: Memory) -> tuple[str, ...]:
    """Return the commands for two memories of which told cannot know the right one."""
    return (
        f"if both apply: told correct {old.id} 'WHEN IT APPLIES'",
        f"if only {old.id} applies: {reject_command(new)}",
        f"if only {new.id} applies: {reject_command(old)}",
    )


def _authority(memory: Memory) -> tuple[bool, bool, bool]:
    return memory.locked, memory.trust == USER, memory.scope == GLOBAL


def _scopes_overlap(one: Memory, other: Memory) -> bool:
    """Return whether two memories can apply in the same place."""
    projects = project_key(one.scope), project_key(other.scope)
    return not all(projects) or projects[0] == projects[1]


def _words(text: str) -> set[str]:
    stripped = (word.strip("`'\"()[]*_") for word in tokenize(text.lower()))
    return {canonical_stem(word) for word in stripped if len(word) > 1 and word not in STOP_WORDS}


def _normalise(text: str) -> str:
    return " ".join(text.lower().replace("*", "").replace("`", "").split())
