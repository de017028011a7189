"""Fixtures of the server's tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.server.site import Site, make_site
from told.store.postgres.database import Database


@pytest.fixture
def site(postgres: Database, tmp_path: Path) -> Site:
    """Create a server with an admin (ada), a member (max) and a reader (rea)."""
    return make_site(postgres, os.fspath(tmp_path))
