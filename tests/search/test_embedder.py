"""Choice of the embedder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from told.search.vectors import table as vector_table
from told.search.vectors.embedder import load_default_embedder, load_embedder

if TYPE_CHECKING:
    import pytest


def test_empty_setting_loads_table() -> None:
    embedder = load_embedder("")
    assert embedder is not None
    assert embedder.model == vector_table.table_model_id()
    assert embedder.is_quick
    texts = ["undo the last commit", "", "git revert"]
    assert embedder.vectors(texts) == [vector_table.make_vector(text) for text in texts]
    asked = [vector_table.make_vector(text, asking=True) for text in texts]
    assert embedder.vectors(texts, asking=True) == asked


def test_off_loads_no_embedder() -> None:
    assert load_embedder("off") is None


def test_missing_table_loads_no_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_table, "TABLE_PATH", "/nowhere/meaning.bin")
    assert load_default_embedder() is None
    assert load_embedder("") is None
