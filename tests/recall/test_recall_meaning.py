"""Recall by similarity of meaning."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.recall import banks
from told.memories.embed import embed_memories
from told.recall.prompt import RecallRequest
from told.recall.recall import Recalled, explain, recall
from told.recall.score import MAX_LEARNED
from told.search.index_text import make_index_fields
from told.search.vectors import table as vector_table
from told.store.memories.protocol import Memories
from told.store.memories.records import USER, Embedding, IndexFields, Memory, Trigger

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("each_store")

NOW = 1_790_000_000_000
ZOO = "project:zoo"
SAID = (
    "Penguins get herring at eight, never sardines.",
    "The vet must be called before an animal is moved.",
    "Visitors pay in cash at the kiosk.",
    "The aquarium pump is replaced every spring.",
    "Keepers write their notes in English.",
    "The lions sleep indoors during thunderstorms.",
    "Parking is free for members.",
    "School classes book a guide two weeks ahead.",
)


def memory(number: int, text: str, **fields: object) -> Memory:
    given = {
        "id": f"m{number}", "machine": "one", "number": number, "text": text, "kind": "rule", "scope": ZOO,
        "trust": USER, "created": NOW - 90 * 86_400_000 + number * 1000, "alpha": 4.0,
    }  # fmt: skip
    return Memory(**{**given, **fields})  # type: ignore[arg-type]


def bank(*changed: Memory) -> Memories:
    memories = banks.make_empty()
    kept = {one.id: one for number, text in enumerate(SAID) for one in [memory(number, text)]}
    kept.update({one.id: one for one in changed})
    with memories.writer.transaction():
        for one in kept.values():
            memories.writer.put(one, make_index_fields, fresh=True)
    return memories


def asked(memories: Memories, prompt: str) -> list[str]:
    return [one.memory.id for one in recall(memories, RecallRequest(prompt, (ZOO,), NOW)).chosen]


def looked_at(memories: Memories, prompt: str) -> dict[str, Recalled]:
    found = recall(memories, RecallRequest(prompt, (ZOO,), NOW))
    return {one.memory.id: one for one in (*found.chosen, *found.left_out)}


@pytest.mark.parametrize(
    ("prompt", "needed"),
    [
        ("feed the sea birds", "m0"),
        ("relocate the injured zebra to another enclosure", "m1"),
        ("the fish tank's motor sounds broken", "m3"),
        ("where do the big cats stay in bad weather", "m5"),
    ],
)
def test_recall_finds_memories_by_meaning(prompt: str, needed: str) -> None:
    memories = bank()
    assert needed in asked(memories, prompt)
    assert looked_at(memories, prompt)[needed].parts["meaning"] > 0


@pytest.mark.parametrize(
    "prompt", ["compile the kernel module with clang", "vectorise the matrix multiplication", "thanks!"]
)
def test_unrelated_prompt_gets_nothing(prompt: str) -> None:
    assert asked(bank(), prompt) == []


def test_superseded_and_foreign_memories_are_not_compared() -> None:
    ended = memory(0, SAID[0])._replace(status="superseded", superseded_by="m9")
    elsewhere = memory(5, SAID[5])._replace(scope="project:farm")
    memories = bank(ended, elsewhere)
    assert "m0" not in looked_at(memories, "feed the sea birds")
    assert "m5" not in looked_at(memories, "where do the big cats stay in bad weather")


def test_vectors_of_another_model_are_not_compared() -> None:
    memories = bank()

    def of_another_model(text: str, at: int, when: Sequence[str]) -> IndexFields:
        worked = make_index_fields(text, at, when)
        return worked._replace(embedding=Embedding("another:1", worked.embedding.vector))

    with memories.writer.transaction():
        memories.writer.put(memory(0, SAID[0] + " Always."), of_another_model)
    assert "m0" not in asked(memories, "feed the sea birds")
    assert memories.vectors.counts()["another:1"] == 1
    assert list(embed_memories(memories, only_missing=True)) == [(1, 1)]
    assert asked(memories, "feed the sea birds")[0] == "m0"
    assert list(embed_memories(memories)) == [(len(SAID), len(SAID))]
    assert list(memories.vectors.counts()) == [vector_table.table_model_id()]


def test_recall_uses_words_without_the_vector_table(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    known = bank()
    for damaged in (None, b"", b"told meaning 1 " + b"x" * 500):
        path = tmp_path / f"{damaged!r:.8}.bin"
        if damaged is not None:
            path.write_bytes(damaged)
        monkeypatch.setattr(vector_table, "TABLE_PATH", str(path))
        for memories in (known, bank()):
            assert asked(memories, "feed the sea birds") == []
            assert asked(memories, "give the penguins sardines or herring") == ["m0"]


def test_result_is_the_same_in_every_process() -> None:
    script = (
        "from tests.recall.test_recall_meaning import *\n"
        "print(repr(recall(bank(), RecallRequest('feed the sea birds', (ZOO,), NOW))))"
    )
    answers = {
        subprocess.run(
            [sys.executable, "-c", script], env={**os.environ, "PYTHONHASHSEED": seed}, check=True,
            capture_output=True, text=True,
        ).stdout
        for seed in ("0", "4711")
    }  # fmt: skip
    assert len(answers) == 1
    assert "m0" in answers.pop()


def test_use_changes_a_score_a_little_and_is_explained() -> None:
    prompt = "give the penguins sardines or herring"
    new = looked_at(bank(), prompt)["m0"]
    used = looked_at(bank(memory(0, SAID[0], shown=9, followed=8)), prompt)["m0"]
    ignored = looked_at(bank(memory(0, SAID[0], shown=30)), prompt)["m0"]
    assert new.score < used.score <= round(new.score * (1 + MAX_LEARNED), 4)
    assert new.score > ignored.score >= new.score * (1 - MAX_LEARNED)
    memories = bank(memory(0, SAID[0], shown=9, followed=8, repeated=1))
    said = explain(recall(memories, RecallRequest(prompt, (ZOO,), NOW)))[0].layers[-1]
    assert said == "use +7% (shown 9 times, followed 8 times, said again once)"


def test_use_alone_recalls_nothing() -> None:
    prompt = "the fish tank's motor sounds broken"
    for one in (*range(3), *range(4, 8)):
        often = bank(memory(one, SAID[one], shown=500, followed=500))
        assert asked(often, prompt) == asked(bank(), prompt)
        assert asked(often, "compile the kernel module with clang") == []


def test_explain_names_the_meaning_layer() -> None:
    found = recall(bank(), RecallRequest("feed the sea birds", (ZOO,), NOW))
    best = explain(found)[0]
    assert best.recalled.memory.id == "m0"
    assert any(line.startswith("meaning 0.") for line in best.layers)


def test_phrases_of_later_prompts_find_a_memory() -> None:
    prompt = "write the weekly newsletter"
    plain = memory(20, "Mention the otters; the sponsor pays for them.")
    known = plain._replace(
        triggers=(Trigger("when", "write a newsletter"), Trigger("when", "draft a mailing"))
    )
    before, after = looked_at(bank(plain), prompt), looked_at(bank(known), prompt)
    assert after["m20"].parts["meaning"] > before["m20"].parts["meaning"]
    assert asked(bank(known), prompt)[0] == "m20"
    assert "m20" not in asked(bank(known), "the parking barrier is stuck")


def test_phrases_that_come_later_are_compared_too() -> None:
    memories = bank()
    phrases = (Trigger("when", "renew the season ticket"), Trigger("when", "cancel a membership"))
    with memories.writer.transaction():
        memories.writer.put(memory(6, SAID[6], triggers=phrases), make_index_fields)
    assert asked(memories, "somebody wants to renew her season ticket")[0] == "m6"
    assert list(embed_memories(memories)) == [(len(SAID), len(SAID))]
    assert asked(memories, "somebody wants to renew her season ticket")[0] == "m6"


def test_one_sentence_of_a_long_prompt_is_enough() -> None:
    prompt = (
        "The new colours look good on my screen. Next the header needs more space above it."
        " Then give the penguins their herring. And the logo may be smaller on phones."
    )
    assert "m0" in asked(bank(), prompt)
