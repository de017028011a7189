"""A backup of the server's database brings everything back, and a bad one changes nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.postgres import url_of
from tests.server.site import Site
from told.errors import MissingError, UsageError
from told.server.backup import back_up, restore
from told.server.embedded import EmbeddedPostgres
from told.store.postgres.database import Database, connect


def people_of(database: Database) -> list[tuple[str, str]]:
    """Return the names and roles of all people."""
    with database.owning() as connection:
        return [
            (name, role) for name, role in connection.execute("SELECT name, role FROM person ORDER BY name")
        ]


@pytest.fixture
def other(postgres_server: EmbeddedPostgres) -> Database:
    """Open a database without anything of told."""
    with connect(postgres_server.url) as connection:
        connection.execute("DROP DATABASE IF EXISTS other WITH (FORCE)")
        connection.execute("CREATE DATABASE other")
    return Database(url_of(postgres_server, "other"), size=2)


def test_everything_is_restored_into_an_empty_database(
    site: Site, postgres: Database, other: Database, tmp_path: Path
) -> None:
    path = os.fspath(tmp_path / "told.dump")
    assert back_up(postgres.url, path) == os.path.getsize(path)
    assert os.stat(path).st_mode & 0o777 == 0o600
    restore(other, path, replace=False)
    assert people_of(other) == people_of(postgres) != []
    other.close()


def test_a_database_in_use_is_only_replaced_on_request(
    site: Site, postgres: Database, tmp_path: Path
) -> None:
    path = os.fspath(tmp_path / "told.dump")
    back_up(postgres.url, path)
    with postgres.owning() as connection:
        connection.execute("UPDATE person SET name = 'changed' WHERE name = 'max'")
    with pytest.raises(UsageError, match="--force"):
        restore(postgres, path, replace=False)
    assert ("changed", "member") in people_of(postgres)
    restore(postgres, path, replace=True)
    assert ("max", "member") in people_of(postgres)
    assert site.of("max").get("/api/v1/me").status_code == 200


def test_a_damaged_backup_changes_nothing(site: Site, postgres: Database, tmp_path: Path) -> None:
    path = tmp_path / "told.dump"
    back_up(postgres.url, os.fspath(path))
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    before = people_of(postgres)
    with pytest.raises(MissingError, match="pg_restore"):
        restore(postgres, os.fspath(path), replace=True)
    assert people_of(postgres) == before
    with pytest.raises(UsageError, match="exists already"):
        back_up(postgres.url, os.fspath(path))
