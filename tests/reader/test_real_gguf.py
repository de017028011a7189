"""A real GGUF file through xllamacpp: `make llama` installs both and sets the path."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.reader.test_review import IDS, say

if TYPE_CHECKING:
    from tests.cli.machine import Machine

FILE = os.environ.get("TOLD_TEST_GGUF", "")


@pytest.mark.skipif(not FILE, reason="`make llama` runs it")
def test_a_real_model_reads_a_session(desk: Machine) -> None:
    desk.config(f'[reader]\nmode = "gguf"\nfile = "{FILE}"\n')
    say(desk, IDS)
    done = desk.told("learn", "--yes", "--json").json
    assert (done["calls"], done["failed"], done["error"]) == (1, 0, None)
    assert done["tokens_in"] > 500
    assert done["tokens_out"] > 0
    assert done["sessions"] == 1
    assert desk.told("stats", "--json").json["reader"]["calls"] == 1
