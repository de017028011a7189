"""Every fuzz target keeps its invariant: for its corpus, and for damaged examples."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.targets import CORPUS, TARGETS, Target
from tests.soak import points

_WRONG: list[Any] = [
    *(None, True, 0, -1, 1.5, float("nan"), 10**30),
    *("", "x", "\x00", "\ud800", [], {}, [1], {"a": 1}, [[]]),
]
_PIECES = [
    b"<", b"</agent>", b'"', b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"\n", b"\r", b"{", b"}", b"[" * 50,
    b"\\u0000", b"\xe2\x80\xae", b"NEAR(", b"*", b"---\n", b"```", b"1e999", b"\xf0\x9f\xa4\x96",
    b"NaN", b"9" * 400,
]  # fmt: skip


@pytest.fixture(autouse=True)
def _quick_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)


@functools.cache
def seeds(target: Target) -> list[bytes]:
    return [b"", *target.seeds()]


@st.composite
def damaged(draw: st.DrawFn, target: Target) -> bytes:
    """Draw an example with changed bytes, or JSON with values of wrong types."""
    content = draw(st.sampled_from(seeds(target)))
    if draw(st.booleans()) and (
        changed := _with_wrong_types(content, draw(st.randoms(use_true_random=False)))
    ):
        return changed
    for _ in range(draw(st.integers(1, 5))):
        at = int(draw(st.floats(0, 1, exclude_max=True)) * (len(content) + 1))
        piece = draw(st.one_of(st.sampled_from(_PIECES), st.binary(max_size=6), st.just(b"")))
        skipped = draw(st.sampled_from([0, len(piece), 1, len(content) // 8]))
        content = content[:at] + piece + content[at + skipped :]
    return content


def _with_wrong_types(content: bytes, random: Any) -> bytes:
    """Change some values of JSON, in a document or in lines; empty if it is none."""
    for head, body in ((content[:1], content[1:]), (b"", content)):
        try:
            documents = [json.loads(line) for line in (body.splitlines() if b"\n{" in body else [body])]
        except ValueError:
            continue
        places = [place for document in documents for place in _places(document)]
        for holder, key in random.sample(places, min(len(places), 1 + len(places) // 12)):
            holder[key] = random.choice(_WRONG)
        return head + "\n".join(map(json.dumps, documents)).encode()
    return b""


def _places(document: Any) -> Iterator[tuple[Any, Any]]:
    pairs = (
        document.items()
        if isinstance(document, dict)
        else enumerate(document)
        if isinstance(document, list)
        else ()
    )
    for key, value in list(pairs):
        yield document, key
        yield from _places(value)


@pytest.mark.parametrize("target", TARGETS, ids=[one.name for one in TARGETS])
def test_examples_and_damaged_ones_keep_the_invariant(target: Target) -> None:
    for path in target.corpus():
        target.run(path.read_bytes())

    @settings(
        max_examples=points(everyday=15, soak=1000), deadline=None, derandomize=True, database=None,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(damaged(target))
    def run(content: bytes) -> None:
        target.run(content)

    run()


def test_every_corpus_belongs_to_a_target() -> None:
    assert {path.name for path in CORPUS.iterdir()} <= {one.name for one in TARGETS}
