"""What the tests of the journal write."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from told.journal.append import Draft, Written, append
from told.journal.model import Damage, Operation
from told.journal.read import read

if TYPE_CHECKING:
    from pathlib import Path

NOW = 1_750_000_000_000


def remember(home: Path, text: str, at: int = NOW, by: str = "user", **more: Any) -> str:
    return append(str(home), [Draft("remember", by, {"text": text, **more})], now=at)[0].memory


def do(home: Path, kind: str, memory: str = "", at: int = NOW, by: str = "user", **payload: Any) -> Written:
    return append(str(home), [Draft(kind, by, payload, memory)], now=at)[0]


def journal(home: Path) -> str:
    return str(home / "journal")


def operations(home: Path) -> list[Operation]:
    return [found for found in read(journal(home)) if isinstance(found, Operation)]


def damages(home: Path) -> list[Damage]:
    return [found for found in read(journal(home)) if isinstance(found, Damage)]


def segment(home: Path) -> Path:
    return max(home.glob("journal/*/*.jsonl"))
