"""What one forget costs does not depend on how much was forgotten before."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from told.journal import append as appending
from told.journal import apply as applying
from told.journal import batch
from told.journal.append import append
from told.journal.apply import catch_up, find_memory_damage, open_memories, purge_erased, rebuild
from told.journal.erase import erase
from told.journal.files import Draft
from told.journal.put import refold_families
from told.store.memories.read import SqliteMemories

from .test_apply import history, rebuilt
from .writing import NOW, dump_tables, operations

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def refolded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the list to which every family is added that is folded again."""
    found: list[str] = []

    def count(memories: SqliteMemories, families: set[str], touching: object) -> None:
        found.extend(sorted(families))
        refold_families(memories, families, touching)  # type: ignore[arg-type]

    monkeypatch.setattr(batch, "refold_families", count)
    return found


def remember(home: Path, count: int) -> list[str]:
    drafts = [Draft("remember", "user", {"text": f"Use tool{number}."}) for number in range(count)]
    return [one.memory for one in append(str(home), drafts, now=NOW)]


def forget(home: Path, memories: SqliteMemories, name: str) -> None:
    append(str(home), [Draft("forget", "user", {}, name)], now=NOW + 1)
    catch_up(str(home), memories)
    erase(str(home), [name])
    purge_erased(str(home), memories)


def test_each_forget_folds_only_its_own_memory_again(tmp_path: Path, refolded: list[str]) -> None:
    names = remember(tmp_path, 30)
    memories = open_memories(str(tmp_path))
    for name in names[:12]:
        forget(tmp_path, memories, name)
    assert refolded == [name[:8] for name in names[:12]]
    assert dump_tables(memories.connection) == rebuilt(tmp_path)
    memories.close()
    assert find_memory_damage(str(tmp_path)) == []


def test_a_rebuilt_database_knows_what_was_erased(tmp_path: Path, refolded: list[str]) -> None:
    names = remember(tmp_path, 30)
    memories = open_memories(str(tmp_path))
    for name in names[:12]:
        forget(tmp_path, memories, name)
    memories.close()
    memories = rebuild(str(tmp_path))
    refolded.clear()
    forget(tmp_path, memories, names[12])
    assert refolded == [names[12][:8]]
    memories.close()


def test_a_long_journal_is_not_folded_again_because_of_one_forget(
    tmp_path: Path, refolded: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    names = remember(tmp_path, 30)
    memories = open_memories(str(tmp_path))
    monkeypatch.setattr(applying, "_BATCH", 5)  # a journal of several batches
    for name in names[:6]:
        forget(tmp_path, memories, name)
    assert refolded == [name[:8] for name in names[:6]]
    assert dump_tables(memories.connection) == rebuilt(tmp_path)
    memories.close()


def test_what_was_erased_by_another_process_is_folded_again_once(tmp_path: Path, refolded: list[str]) -> None:
    names = remember(tmp_path, 10)
    memories = open_memories(str(tmp_path))
    append(str(tmp_path), [Draft("forget", "user", {}, name) for name in names[:3]], now=NOW + 1)
    erase(str(tmp_path), names[:3])
    catch_up(str(tmp_path), memories)
    assert sorted(refolded) == sorted(name[:8] for name in names[:3])
    assert dump_tables(memories.connection) == rebuilt(tmp_path)
    memories.close()


@pytest.mark.parametrize("seed", range(6))
def test_erasing_at_any_time_equals_a_rebuild(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(appending, "SEGMENT_BYTES", 3000)
    monkeypatch.setattr(applying, "_BATCH", 7)
    rng = random.Random(seed)
    memories = open_memories(str(tmp_path))
    for part in range(8):
        history(tmp_path, seed * 100 + part, 12)
        if rng.random() < 0.6:
            catch_up(str(tmp_path), memories)
        gone = sorted({one.memory for one in operations(tmp_path) if one.kind == "forget"})
        erase(str(tmp_path), rng.sample(gone, min(len(gone), 2)))
        if rng.random() < 0.6:
            catch_up(str(tmp_path), memories)
    catch_up(str(tmp_path), memories)
    assert dump_tables(memories.connection) == rebuilt(tmp_path)
    memories.close()
    assert find_memory_damage(str(tmp_path)) == []
