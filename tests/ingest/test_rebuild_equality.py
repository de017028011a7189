"""Whatever the order in which told reads, and however often it begins anew, its answers are the same."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tests.ingest.box import differences

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.ingest.box import Box


def test_a_rebuild_gives_the_same_answers(box: Box) -> None:
    box.use_fixtures()
    box.index()
    before = box.answers()
    box.drop_store()
    assert box.told("rebuild").code == 0
    assert differences(before, box.answers()) == []


def test_the_order_in_which_files_are_read_makes_no_difference(box: Box) -> None:
    box.use_fixtures()
    files = sorted(path for path in box.home.rglob("*") if path.is_file())
    for number, path in enumerate(files):
        os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))
    box.index()
    before = box.answers()
    box.drop_store()
    for number, path in enumerate(reversed(files)):
        os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))
    box.index()
    assert differences(before, box.answers()) == []
