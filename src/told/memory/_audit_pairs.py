"""Finds memories that contradict or repeat each other, or what an instruction file says."""

from __future__ import annotations

import re

from told.memory._audit_finding import CONTRADICTS, DENIED, IN_FILE, OUTDATED, REPEATS, Finding, erase
from told.memory._recall_outdated import outdated
from told.memory.compare import stands_in
from told.memory.supersede import REPEATS as SAME
from told.memory.supersede import REPLACES, judge
from told.search.about import about_line, about_of
from told.search.stop_words import STOP_WORDS
from told.search.tokens import key_of, tokens_of
from told.store.memory_records import GLOBAL, PROJECT, USER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from told.memory._onboard_files import Document
    from told.memory._onboard_instructions import Stated
    from told.store.memory_records import Memory

_COMMON = 60  # memories that have a word, from which on it brings none together
_PARTNERS = 12  # of a memory
_MOST_PAIRS = 2000
_SURE = 0.9
# Of the words of two statements, those that both must have: the fewer the surer it is that one is
# against the other; and for one to say nearly the same.
_NEEDED = ((0.95, 0.08), (0.85, 0.2), (0.0, 0.34))
_NEARLY = 0.8
_SHORTEST = 3  # words of a statement that a file can be said to have
_NOT = re.compile(
    r"\b(?:never|not|don'?t|no|nie|nicht|kein|keine|jamais|pas|nunca|não)\b|\bdo not\b", re.IGNORECASE
)
_TURNS = re.compile(
    r"\b(?:do not|never|not|don'?t|no|always|must|should|please|nie|nicht|kein|keine|immer|jamais|toujours"
    r"|nunca|siempre|não|sempre)\b",
    re.IGNORECASE,
)


def between_memories(memories: Sequence[Memory]) -> Iterator[Finding]:
    """Yield what memories that hold in the same place do to each other, each pair once."""
    by_id = {one.id: one for one in memories}
    told: set[frozenset[str]] = set()
    for one in memories:
        for edge in one.edges:
            pair = frozenset((one.id, edge.target))
            if edge.kind == "contradicts" and edge.target in by_id and pair not in told:
                told.add(pair)
                yield _contradiction(by_id[edge.target], one, "contradicts it")
    texts = [one.text for one in memories]
    heirs: dict[str, Finding] = {}
    against: set[str] = set()
    for first, second in near(texts, texts):
        old, new = sorted((memories[first], memories[second]), key=_age)
        pair = frozenset((old.id, new.id))
        if pair in told or not _overlap(old, new):
            continue
        told.add(pair)
        found = judge(new.text, [old.text])[0]
        if says_the_same(old.text, new.text, found.label, found.certainty):
            yield _repetition(old, new)
        elif found.label == REPLACES and _about_the_same(old.text, new.text, found.certainty):
            against.add(old.id)
            yield _contradiction(old, new, found.why)
        elif _turned_round(old.text, new.text):
            against.add(old.id)
            yield _contradiction(old, new, "says the opposite")
        elif outdated([old], [new], {one.id: about_of(about_line(one.text)) for one in (old, new)}):
            heir = heirs.get(old.id)
            if heir is None or heir.other is None or _age(heir.other) < _age(new):
                heirs[old.id] = _may_be_outdated(old, new)
    yield from (one for name, one in heirs.items() if name not in against)


def with_files(
    memories: Sequence[Memory], stated: Sequence[Stated], documents: Sequence[Document]
) -> Iterator[Finding]:
    """Yield the memories that an instruction file makes needless, or denies."""
    told: set[str] = set()
    whole = [(one, _bare(one.text)) for one in documents]
    for memory in memories:
        bare = _bare(memory.text).strip(" .")
        inside = next((one for one, text in whole if bare in text), None)
        if inside is not None and bare.count(" ") >= _SHORTEST - 1:
            told.add(memory.id)
            yield _needless(memory, inside.path)
    for place, its in near([one.text for one in memories], [one.text for one in stated]):
        memory, statement = memories[place], stated[its]
        if memory.id in told:
            continue
        where = f"{statement.document.path}:{statement.line}"
        found = judge(statement.text, [memory.text])[0]
        within = stands_in(statement.text, memory.text) and len(memory.text.split()) >= _SHORTEST
        if within or says_the_same(memory.text, statement.text, found.label, found.certainty):
            told.add(memory.id)
            yield _needless(memory, where)
            continue
        turned = _turned_round(memory.text, statement.text)
        other = found.label == REPLACES and _about_the_same(memory.text, statement.text, found.certainty)
        if turned or other:
            told.add(memory.id)
            why = f"{{}} says otherwise: {found.why if other else 'the opposite'}."
            cases = (f"if the file is right: {erase(memory)}", "if the memory is right: change the file")
            yield Finding(DENIED, memory, why, where, do=cases, sure=False)


def near(ours: Sequence[str], theirs: Sequence[str]) -> list[tuple[int, int]]:
    """Return the pairs that share telling words, the nearest of each; of one list with itself, each once."""
    same = ours is theirs
    of_theirs: dict[str, list[int]] = {}
    words = [_words(text) for text in theirs]
    for place, found in enumerate(words):
        for word in found:
            of_theirs.setdefault(word, []).append(place)
    pairs: dict[tuple[int, int], float] = {}
    for place, text in enumerate(ours):
        shared: dict[int, float] = {}
        for word in words[place] if same else _words(text):
            others = of_theirs.get(word, ())
            if len(others) <= _COMMON:
                for other in others:
                    if not same or other != place:
                        shared[other] = shared.get(other, 0.0) + 1 / len(others)
        best = sorted(shared, key=lambda other: (-shared[other], other))[:_PARTNERS]
        for other in best:
            pair = (min(place, other), max(place, other)) if same else (place, other)
            pairs[pair] = max(shared[other], pairs.get(pair, 0.0))
    ranked = sorted(pairs, key=lambda pair: (-pairs[pair], pair))[:_MOST_PAIRS]
    return sorted(ranked)


def says_the_same(old: str, new: str, label: str, certainty: float) -> bool:
    """Tell whether two statements say the same; one may say a little more."""
    forth, back = stands_in(old, new), stands_in(new, old)
    if (forth and back) or (label == SAME and certainty >= _SURE and (forth or back)):
        return True
    denied = bool(_NOT.search(old)) != bool(_NOT.search(new))
    return label == SAME and not denied and _in_common(old, new) >= _NEARLY


def _about_the_same(old: str, new: str, certainty: float) -> bool:
    """Tell whether two statements share so much that one can be against the other."""
    share = _in_common(old, new)
    return share >= next(least for sure, least in _NEEDED if certainty >= sure)


def _in_common(one: str, other: str) -> float:
    ours, theirs = _words(one), _words(other)
    return len(ours & theirs) / len(ours | theirs) if ours and theirs else 0.0


def _turned_round(one: str, other: str) -> bool:
    """Tell whether a statement denies another word for word."""
    if bool(_NOT.search(one)) == bool(_NOT.search(other)):
        return False
    bare, other_bare = _TURNS.sub(" ", one), _TURNS.sub(" ", other)
    return len(bare.split()) > 1 and stands_in(bare, other_bare) and stands_in(other_bare, bare)


def _contradiction(old: Memory, new: Memory, why: str) -> Finding:
    cases = (f"if the newer one holds: {erase(old)}", f"if the older one holds: {erase(new)}")
    return Finding(CONTRADICTS, old, f"A newer one {why}.", other=new, do=cases)


def _may_be_outdated(old: Memory, new: Memory) -> Finding:
    why = "A newer one is about the same; where both fit, only that one is shown."
    return Finding(OUTDATED, old, why, other=new, do=(f"if it took its place: {erase(old)}",), sure=False)


def _age(memory: Memory) -> tuple[int, int, str]:
    return memory.created, memory.number, memory.id


def _repetition(old: Memory, new: Memory) -> Finding:
    """Return which of two goes: the one that is less the user's, or the newer."""
    stays, goes = (new, old) if _standing(new) > _standing(old) else (old, new)
    return Finding(REPEATS, goes, "It says the same as another.", other=stays, do=(erase(goes),))


def _standing(memory: Memory) -> tuple[bool, bool, bool]:
    return memory.locked, memory.trust == USER, memory.scope == GLOBAL


def _needless(memory: Memory, where: str) -> Finding:
    why = "{} says it already; an agent that reads the file is told twice."
    return Finding(IN_FILE, memory, why, where, do=(erase(memory),))


def _overlap(one: Memory, other: Memory) -> bool:
    """Tell whether two memories can hold in the same place: those of two projects cannot."""
    both_own = one.scope.startswith(PROJECT) and other.scope.startswith(PROJECT)
    return one.scope == other.scope or not both_own


def _words(text: str) -> set[str]:
    stripped = (word.strip("`'\"()[]*_") for word in tokens_of(text.lower()))
    return {key_of(word) for word in stripped if len(word) > 1 and word not in STOP_WORDS}


def _bare(text: str) -> str:
    return " ".join(text.lower().replace("*", "").replace("`", "").split())
