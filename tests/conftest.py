"""The order of the tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

# A worker takes whole files, one after the other. A slow one that is taken last lets the other workers wait
# for it: the slow ones begin, the slowest first, and the many quick ones fill up what is left.
SLOW_FIRST = (
    "tests/guard/test_canary.py", "tests/test_benchmarks.py", "tests/cli/test_memory_kill.py",
    "tests/ingest/test_kill.py", "tests/serve/test_chosen.py", "tests/ingest/test_trimming.py",
    "tests/ingest/test_together.py", "tests/ingest/test_trimming_besides.py", "tests/cli/test_cap.py",
    "tests/ingest/test_catch_up.py", "tests/test_demo.py", "tests/test_benchmarks_retrieval.py",
    "tests/cli/test_damage.py", "tests/ingest/test_rebuild_equality.py", "tests/test_benchmarks_mcp.py",
    "tests/test_benchmarks_redact.py",
)  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    rank = {name: number for number, name in enumerate(SLOW_FIRST)}
    items.sort(key=lambda item: rank.get(item.nodeid.partition("::")[0], len(rank)))
