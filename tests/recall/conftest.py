"""Run the tests of recall on each kind of store."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from tests.recall import banks
from tests.stores import FILES, POSTGRES, empty_postgres

if TYPE_CHECKING:
    from collections.abc import Iterator

    from told.store.memories.protocol import Memories


@pytest.fixture(scope="module", params=[FILES, POSTGRES])
def each_store(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let `bank` make stores of this kind."""
    if request.param == FILES:
        yield
        return
    database = request.getfixturevalue("teams")
    open_banks: list[ExitStack] = []

    def make() -> Memories:
        if len(open_banks) > banks.MOST_OPEN:
            open_banks.pop(0).close()
        open_banks.append(ExitStack())
        return empty_postgres(database, open_banks[-1])

    kept, banks.make_empty = banks.make_empty, make
    try:
        yield
    finally:
        banks.make_empty = kept
        for one in open_banks:
            one.close()
