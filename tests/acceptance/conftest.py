"""Fixtures: the site of an acceptance test, one for each kind of store."""

from __future__ import annotations

import gc
import os
import time
from typing import TYPE_CHECKING

import pytest

from tests.acceptance.server import ServerSite
from tests.acceptance.site import Site
from tests.hook.conftest import _OF_AGENTS
from tests.server.site import make_site
from told.redact.engine import Redactor
from told.server.hybrid import register_table

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from told.store.postgres.database import Database

STORES = ("sqlite",)


@pytest.fixture(params=STORES)
def site(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Iterator[Site]:  # fmt: skip
    """An empty home with two projects; the current folder is the first."""
    for name in list(os.environ):
        if name.startswith(_OF_AGENTS):
            monkeypatch.delenv(name)
    made = Site(tmp_path, capsys, monkeypatch, request.param)
    for name, value in made.environ.items():
        monkeypatch.setenv(name, value)
    time.tzset()
    yield made
    gc.enable()  # a command does without
    monkeypatch.undo()
    time.tzset()


@pytest.fixture(scope="module")
def server(module_postgres: Database, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerSite]:
    """Create a team server on PostgreSQL; the tests of a module share it, and each has words of its own."""
    register_table(module_postgres)
    home = os.fspath(tmp_path_factory.mktemp("server"))
    made = ServerSite(make_site(module_postgres, home, Redactor(b"k" * 32).redact))
    yield made
    made.close()
