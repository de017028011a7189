"""What turns texts into vectors: the table unless the user chose otherwise; nothing slow is loaded early."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from told.search import meaning
from told.search.embedder import chosen, default

if TYPE_CHECKING:
    import pytest


def test_nothing_chosen_is_the_table() -> None:
    embedder = chosen("")
    assert embedder is not None
    assert embedder.model == meaning.model_id()
    assert embedder.is_quick
    texts = ["undo the last commit", "", "git revert"]
    assert embedder.vectors(texts) == meaning.vectors(texts)
    assert embedder.vectors(texts, asking=True) == meaning.vectors(texts, asking=True)


def test_off_is_nothing() -> None:
    assert chosen("off") is None


def test_without_the_table_there_is_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meaning, "PATH", "/nowhere/meaning.bin")
    assert default() is None
    assert chosen("") is None


def test_the_table_needs_nothing_that_is_slow_to_load() -> None:
    program = (
        "import sys\nfrom told.search.embedder import chosen\n"
        "print(chosen('').vectors(['a commit', 'a branch']) != [None, None])\n"
        "slow = {'numpy', 'onnxruntime', 'tokenizers', 'json', 're', 'typing', 'http', 'socket'}\n"
        "print(*sorted(slow & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True"]
