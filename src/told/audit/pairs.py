"""Find memories that contradict or repeat each other, or an instruction file."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from told.conflict.relation import CHANGES, MAY_CHANGE, Relation, judge
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

_MAX_SHARING = 60  # a word that more memories share brings none together
_MAX_PARTNERS = 12  # of a memory
_MAX_PAIRS = 2000
_MIN_OVERLAP = 0.2  # share of words that a memory and a file's statement need to contradict each other
_PROSE_OVERLAP = 0.3  # share of words, if a file's statement may be mere description
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
            if old is None or pair in seen or edge.kind not in (CONTRADICTS, WAS):
                continue
            seen.add(pair)
            yield _contradiction(old, one) if edge.kind == CONTRADICTS else _outdated(old, one)
    by_words: dict[tuple[str, ...], list[Memory]] = {}
    for new in sorted(memories, key=_age):
        alike = by_words.setdefault(normalise_claim(new.text), [])
        old = next((one for one in alike if _scopes_overlap(one, new) and say_same(one.text, new.text)), None)
        if old is not None and frozenset((old.id, new.id)) not in seen:
            yield _duplicate(old, new)
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
    seen: set[str] = set()
    files = [(one, _normalise(one.text)) for one in documents]
    for memory in memories:
        text = _normalise(memory.text).strip(" .")
        place = next((one for one, content in files if text in content), None)
        is_denied = place is not None and any(
            text in _normalise(one.text) and _is_opposite(memory.text, one.text) for one in instructions
        )
        if place is not None and text.count(" ") >= _MIN_WORDS - 1 and not is_denied:
            seen.add(memory.id)
            yield _in_file(memory, place.path)
    pairs = _find_similar_pairs([one.text for one in memories], [one.text for one in instructions])
    denied: set[tuple[str, str]] = set()
    for first, second in pairs:
        memory, instruction = memories[first], instructions[second]
        file = instruction.document
        where = f"{file.path}:{instruction.line}"
        is_covered = quote_covers(instruction.text, memory.text) and len(memory.text.split()) >= _MIN_WORDS
        is_opposite = _is_opposite(memory.text, instruction.text)
        is_same = say_same(memory.text, instruction.text)
        if (is_covered or is_same) and not is_opposite:
            if memory.id not in seen and instruction.is_clear:
                seen.add(memory.id)
                yield _in_file(memory, where)
            continue
        why = "the opposite" if is_opposite else _find_contradiction(memory.text, instruction)
        if why and (memory.id, file.path) not in denied:
            denied.add((memory.id, file.path))
            cases = (
                f"if the file is right: {reject_command(memory)}",
                "if the memory is right: change the file",
            )
            says = f"{{}} says otherwise: {why}."
            yield Finding(DENIED, memory, says, where, do=cases, sure=False, instruction=instruction)


def _find_contradiction(memory: str, instruction: Instruction) -> str:
    """Return why a file's statement contradicts a memory, whichever of them is newer."""
    said, share = instruction.text, _overlap(memory, instruction.text)
    is_prose = not instruction.is_clear and share < _PROSE_OVERLAP
    if is_prose or share < _MIN_OVERLAP or said.startswith(_QUOTES):  # a description, or an example
        return ""
    found: list[Relation] = [judge(memory, said), judge(said, memory)]
    return next((one.why for one in found if one.kind in (CHANGES, MAY_CHANGE)), "")


def _find_similar_pairs(ours: Sequence[str], theirs: Sequence[str]) -> list[tuple[int, int]]:
    """Return pairs of indexes of texts that share rare words, best pairs only."""
    by_word: dict[str, list[int]] = {}
    words = [_words(text) for text in theirs]
    for place, found in enumerate(words):
        for word in found:
            by_word.setdefault(word, []).append(place)
    pairs: dict[tuple[int, int], float] = {}
    for place, text in enumerate(ours):
        shared: dict[int, float] = {}
        for word in _words(text):
            others = by_word.get(word, ())
            for other in others if len(others) <= _MAX_SHARING else ():
                shared[other] = shared.get(other, 0.0) + 1 / len(others)
        for other in sorted(shared, key=lambda other: (-shared[other], other))[:_MAX_PARTNERS]:
            pairs[place, other] = shared[other]
    return sorted(sorted(pairs, key=lambda pair: (-pairs[pair], pair))[:_MAX_PAIRS])


def _is_opposite(one: str, other: str) -> bool:
    return reverses(one, other) or reverses(other, one)


def _overlap(one: str, other: str) -> float:
    ours, theirs = _words(one), _words(other)
    return len(ours & theirs) / len(ours | theirs) if ours and theirs else 0.0


def _contradiction(old: Memory, new: Memory) -> Finding:
    why = "The second one contradicts it. Which one applies?"
    return Finding(CONTRADICTS, old, why, other=new, do=_ask(old, new))


def _outdated(old: Memory, new: Memory) -> Finding:
    why = "The second one probably replaces it. Do both apply?"
    return Finding(OUTDATED, old, why, other=new, do=_ask(old, new), sure=False)


def _ask(old: Memory, new: Memory) -> tuple[str, ...]:
    """Return the commands for two memories of which told cannot know the right one."""
    return (
        f"if both apply: told correct {old.id} 'WHEN IT APPLIES'",
        f"if only {old.id} applies: {reject_command(new)}",
        f"if only {new.id} applies: {reject_command(old)}",
    )


def _duplicate(old: Memory, new: Memory) -> Finding:
    """Keep the locked, the user's or the global memory of two, else the older one."""
    stays, goes = (new, old) if _authority(new) > _authority(old) else (old, new)
    return Finding(REPEATS, goes, "It says the same as another.", other=stays, do=(reject_command(goes),))


def _in_file(memory: Memory, where: str) -> Finding:
    why = "{} says it already; an agent that reads the file is told twice."
    return Finding(
        IN_FILE, memory, why, where, do=(f"to keep it only in the file: {reject_command(memory)}",)
    )


def _age(memory: Memory) -> tuple[int, int, str]:
    return memory.created, memory.number, memory.id


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
