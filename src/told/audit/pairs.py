"""Find memories that contradict or repeat each other, or an instruction file."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from told.conflict.compare import quote_covers
from told.conflict.judge import REPEATS as SAME
from told.conflict.judge import REPLACES, Relation, judge_many
from told.conflict.outdated import find_outdated
from told.onboard.files import Document, compile_pattern
from told.onboard.instructions import Instruction
from told.search.about import format_about, parse_about
from told.search.tokens import STOP_WORDS, canonical_stem, tokenize
from told.store.memories.records import GLOBAL, USER, Memory, project_key

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
_SURE = 0.9
# Share of words that two statements need in common to contradict each other, by certainty.
_NEEDED_OVERLAP = ((0.95, 0.08), (0.85, 0.2), (0.0, 0.34))
_DUPLICATE_OVERLAP = 0.8
_PROSE_OVERLAP = 0.3  # share of words, if a file's statement may be mere description
_QUOTES = ('"', "“", "„", "«")
_SURE_BACK = 0.85  # that a memory replaces what a file says
_MIN_WORDS = 3  # of a statement that is looked up in a file
PATTERNS = {
    name: compile_pattern(text)
    for name, text in tomllib.loads(Path(__file__).with_name("patterns.toml").read_text("utf-8"))[
        "patterns"
    ].items()
}
_NEGATION = PATTERNS["negation"]
_POLARITY_WORDS = PATTERNS["polarity"]


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
    """Yield contradictions, duplicates and outdated memories, each pair once."""
    by_id = {one.id: one for one in memories}
    seen: set[frozenset[str]] = set()
    for one in memories:
        for edge in one.edges:
            pair = frozenset((one.id, edge.target))
            if edge.kind == "contradicts" and edge.target in by_id and pair not in seen:
                seen.add(pair)
                yield _contradiction(by_id[edge.target], one, "contradicts it")
    texts = [one.text for one in memories]
    outdated: dict[str, Finding] = {}
    contradicted: set[str] = set()
    for first, second in _find_similar_pairs(texts, texts):
        old, new = sorted((memories[first], memories[second]), key=_age)
        pair = frozenset((old.id, new.id))
        if pair in seen or not _scopes_overlap(old, new):
            continue
        seen.add(pair)
        found = judge_many(new.text, [old.text])[0]
        if is_duplicate(old.text, new.text, found.label, found.certainty):
            yield _duplicate(old, new)
        elif found.label == REPLACES and _is_same_subject(old.text, new.text, found.certainty):
            contradicted.add(old.id)
            yield _contradiction(old, new, found.why)
        elif _is_negation(old.text, new.text):
            contradicted.add(old.id)
            yield _contradiction(old, new, "says the opposite")
        elif find_outdated([old], [new], {one.id: parse_about(format_about(one.text)) for one in (old, new)}):
            known = outdated.get(old.id)
            if known is None or known.other is None or _age(known.other) < _age(new):
                outdated[old.id] = _outdated(old, new)
    yield from (one for name, one in outdated.items() if name not in contradicted)


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
            text in _normalise(one.text) and _is_negation(memory.text, one.text) for one in instructions
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
        found = judge_many(instruction.text, [memory.text])[0]
        is_covered = quote_covers(instruction.text, memory.text) and len(memory.text.split()) >= _MIN_WORDS
        is_opposite = _is_negation(memory.text, instruction.text)
        is_same = is_duplicate(memory.text, instruction.text, found.label, found.certainty)
        if (is_covered or is_same) and not is_opposite:
            if memory.id not in seen and instruction.is_clear:
                seen.add(memory.id)
                yield _in_file(memory, where)
            continue
        why = "the opposite" if is_opposite else _find_contradiction(memory.text, instruction, found)
        if why and (memory.id, file.path) not in denied:
            denied.add((memory.id, file.path))
            cases = (
                f"if the file is right: {reject_command(memory)}",
                "if the memory is right: change the file",
            )
            says = f"{{}} says otherwise: {why}."
            yield Finding(DENIED, memory, says, where, do=cases, sure=False, instruction=instruction)


def _find_contradiction(memory: str, instruction: Instruction, found: Relation) -> str:
    """Return why a file's statement contradicts a memory, whichever of them is newer."""
    said = instruction.text
    is_prose = not instruction.is_clear and _overlap(memory, said) < _PROSE_OVERLAP
    if is_prose or said.startswith(_QUOTES):  # a description, or an example of what somebody says
        return ""
    if found.label == REPLACES and _is_same_subject(memory, said, found.certainty):
        return found.why
    back = judge_many(memory, [said])[0]
    is_sure = back.label == REPLACES and back.certainty >= _SURE_BACK
    return back.why if is_sure and _is_same_subject(memory, said, back.certainty) else ""


def _find_similar_pairs(ours: Sequence[str], theirs: Sequence[str]) -> list[tuple[int, int]]:
    """Return pairs of indexes of texts that share rare words, best pairs only.

    The same sequence may be given twice, to compare its texts with each other.
    """
    is_same = ours is theirs
    by_word: dict[str, list[int]] = {}
    words = [_words(text) for text in theirs]
    for place, found in enumerate(words):
        for word in found:
            by_word.setdefault(word, []).append(place)
    pairs: dict[tuple[int, int], float] = {}
    for place, text in enumerate(ours):
        shared: dict[int, float] = {}
        for word in words[place] if is_same else _words(text):
            others = by_word.get(word, ())
            if len(others) <= _MAX_SHARING:
                for other in others:
                    if not is_same or other != place:
                        shared[other] = shared.get(other, 0.0) + 1 / len(others)
        for other in sorted(shared, key=lambda other: (-shared[other], other))[:_MAX_PARTNERS]:
            pair = (min(place, other), max(place, other)) if is_same else (place, other)
            pairs[pair] = max(shared[other], pairs.get(pair, 0.0))
    return sorted(sorted(pairs, key=lambda pair: (-pairs[pair], pair))[:_MAX_PAIRS])


def is_duplicate(old: str, new: str, label: str, certainty: float) -> bool:
    """Return whether two statements say the same; one may say a little more."""
    forth, back = quote_covers(old, new), quote_covers(new, old)
    if (forth and back) or (label == SAME and certainty >= _SURE and (forth or back)):
        return True
    differs = bool(_NEGATION.search(old)) != bool(_NEGATION.search(new))
    return label == SAME and not differs and _overlap(old, new) >= _DUPLICATE_OVERLAP


def _is_same_subject(old: str, new: str, certainty: float) -> bool:
    """Return whether two statements share enough words to contradict each other."""
    return _overlap(old, new) >= next(share for sure, share in _NEEDED_OVERLAP if certainty >= sure)


def _overlap(one: str, other: str) -> float:
    ours, theirs = _words(one), _words(other)
    return len(ours & theirs) / len(ours | theirs) if ours and theirs else 0.0


def _is_negation(one: str, other: str) -> bool:
    if bool(_NEGATION.search(one)) == bool(_NEGATION.search(other)):
        return False
    bare, other_bare = _POLARITY_WORDS.sub(" ", one), _POLARITY_WORDS.sub(" ", other)
    return len(bare.split()) > 1 and quote_covers(bare, other_bare) and quote_covers(other_bare, bare)


def _contradiction(old: Memory, new: Memory, why: str) -> Finding:
    return Finding(
        CONTRADICTS, old, f"The second one {why}. Which one applies?", other=new, do=_ask(old, new)
    )


def _outdated(old: Memory, new: Memory) -> Finding:
    why = "The second one is about the same, and briefs prefer it. Do both apply?"
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
