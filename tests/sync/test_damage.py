"""A truncated, changed, future-dated or foreign series changes nothing, and is named."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from nacl.signing import SigningKey

from tests.soak import points
from tests.sync.machines import Machine, Shelf
from told.sync.identity import is_signed, sign


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[tuple[Machine, Machine]]:
    here = Machine(tmp_path / "here")
    there = Machine(tmp_path / "there", here.identity)
    yield here, there
    here.close()
    there.close()


@pytest.mark.parametrize("plain", [True, False], ids=["plain", "encrypted"])
def test_every_changed_or_missing_byte_is_found(pair: tuple[Machine, Machine], *, plain: bool) -> None:
    here, there = pair
    shelf = Shelf()
    for number in range(6):
        here.remember(f"Statement{number} about zebra{number}.")
    here.sync(shelf, plain=plain)
    there.sync(shelf, plain=plain)
    name = here.remember("Always use the new canary.")
    here.change("lock", name)
    here.sync(shelf, plain=plain)
    (series,) = [one for one, (head, _) in shelf.series.items() if shelf.series[one][1]]
    head, files = shelf.series[series]
    before = there.state()
    copy = {path: path.read_bytes() for path in Path(there.home).rglob("*.jsonl")}
    rng = random.Random(5)
    for _ in range(points(everyday=60, soak=1000)):
        part = rng.choice(["head", *files])
        data = head if part == "head" else files[part]
        at = rng.randrange(len(data))
        is_cut = rng.random() < 0.3
        broken = (
            data[:at] if is_cut else data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1 :]
        )
        changed = {**files, part: broken} if part != "head" else files
        shelf.series[series] = broken if part == "head" else head, changed
        result = there.sync(shelf, plain=plain)
        assert len(result.problems) == 1, (part, at, is_cut)
        assert series in result.problems[0]
        assert there.state() == before
        assert {path: path.read_bytes() for path in Path(there.home).rglob("*.jsonl")} == copy
    shelf.series[series] = head, files
    assert there.sync(shelf, plain=plain).problems == []
    assert there.state() == here.state()


def test_operations_from_the_far_future_are_refused(pair: tuple[Machine, Machine]) -> None:
    here, there = pair
    shelf = Shelf()
    here.time += 3 * 365 * 86_400_000
    here.remember("Always use the canary.")
    here.sync(shelf)
    result = there.sync(shelf)
    assert there.texts() == []
    assert "more than two years ahead" in result.problems[0]
    there.time = here.time
    assert there.sync(shelf).problems == []
    assert there.texts() == ["Always use the canary."]


def test_a_rewritten_history_is_refused(pair: tuple[Machine, Machine], tmp_path: Path) -> None:
    """The same machine's key, with another past: a home restored from an old backup."""
    here, there = pair
    shelf = Shelf()
    here.remember("Use pnpm.")
    here.sync(shelf)
    there.sync(shelf)
    for path in (Path(here.home) / "sync").rglob("*.jsonl"):
        path.unlink()
    for path in (Path(here.home) / "sync").rglob("*.json"):
        if path.name != "spaces.json":
            path.unlink()
    other = Shelf()
    here.time += 10
    here.remember("Use tabs.")
    here.sync(other)
    shelf.series |= other.series
    there.sync(shelf)
    assert "Use pnpm." in there.texts()


def test_a_signature_has_one_spelling() -> None:
    key = SigningKey(b"k" * 32)
    public = key.verify_key.encode().hex()
    signature = sign(key, "head")
    assert is_signed(public, signature, "head")
    assert not is_signed(public, signature.upper(), "head")
