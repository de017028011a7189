"""Fixtures of the server's tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.at_end import at_end
from tests.server.site import Site, make_site
from told.server.agent_memory import lessons
from told.store.postgres.database import Database

at_end(lessons._matcher.close)


@pytest.fixture
def site(postgres: Database, tmp_path: Path) -> Site:
    """Create a server with an admin (ada), a member (max) and a reader (rea)."""
    return make_site(postgres, os.fspath(tmp_path))
