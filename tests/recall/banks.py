"""Empty stores for tests of recall, of the kind that the module runs on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from told.store.memories.read import SqliteMemories
from told.store.memories.schema import open_empty

if TYPE_CHECKING:
    from collections.abc import Callable

    from told.store.memories.protocol import Memories

MOST_OPEN = 8  # connections; no test has more banks at once


def _make_sqlite() -> Memories:
    return SqliteMemories(open_empty())


make_empty: Callable[[], Memories] = _make_sqlite
