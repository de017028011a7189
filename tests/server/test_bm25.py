"""Where PostgreSQL has pg_textsearch, search over all projects ranks by BM25."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server.site import Site, make_site
from told.server.backup import back_up, restore
from told.store.postgres.database import Database, connect
from told.store.postgres.memories.bm25 import enable_bm25, has_bm25
from told.store.postgres.migrate import migrate

URL = os.environ.get("TOLD_TEST_TEXTSEARCH", "")  # of an empty database that may be deleted
SHOP, PAY = "acme/shop", "acme/pay"


@pytest.fixture
def ranked(tmp_path: Path) -> Iterator[Site]:
    if not URL:
        pytest.skip("needs PostgreSQL with pg_textsearch: TOLD_TEST_TEXTSEARCH=postgresql://…")
    with connect(URL) as connection:
        connection.execute("DROP SCHEMA IF EXISTS told CASCADE")
        connection.execute("DROP EXTENSION IF EXISTS pg_textsearch CASCADE")
    database = Database(URL, size=4)
    migrate(database)
    assert enable_bm25(database)
    assert enable_bm25(database)
    yield make_site(database, os.fspath(tmp_path))
    database.close()


def save(site: Site, name: str, text: str, project: str, **more: object) -> str:
    """Save a memory for somebody; return its id."""
    body = {"text": text, "project": project, **more}
    return str(site.of(name).post("/api/v1/memories", json=body).json()["memory"]["id"])


def search(site: Site, name: str, query: str) -> list[str]:
    """Return the ids that a search in all projects finds."""
    answer = site.of(name).post("/api/v1/search", json={"query": query, "what": "memories"})
    return [one["id"] for one in answer.json()["memories"]]


def test_it_is_off_where_postgresql_has_no_such_extension(postgres: Database) -> None:
    assert not enable_bm25(postgres)
    with postgres.owning() as connection:
        assert not has_bm25(connection)


def test_a_search_ranks_rare_words_first_and_shows_only_what_one_may_see(ranked: Site) -> None:
    for number in range(20):
        save(ranked, "max", f"The service number {number} logs to a file.", SHOP, share=True)
    wanted = save(ranked, "max", "The zeppelin service logs to a socket.", PAY, share=True)
    hidden = save(ranked, "max", "The zeppelin hangar is closed.", PAY)
    private = save(ranked, "max", "The zeppelin key is under the mat.", PAY, scope="private")
    assert search(ranked, "ada", "where does the zeppelin service log to?")[0] == wanted
    assert search(ranked, "max", "zeppelin hangar")[0] == hidden
    assert not {hidden, private} & set(search(ranked, "ada", "zeppelin hangar key mat"))
    assert search(ranked, "ada", '"zeppelin service"')[0] == wanted  # phrases do without BM25
    assert search(ranked, "ada", "\"'();--:*&|!<> \\") is not None


def test_what_ended_or_was_forgotten_is_not_found(ranked: Site) -> None:
    first = save(ranked, "max", "The zeppelin parks in hall seven.", SHOP, share=True)
    assert first in search(ranked, "ada", "zeppelin hall")
    assert ranked.of("max").delete(f"/api/v1/memories/{first}").status_code == 200
    assert first not in search(ranked, "ada", "zeppelin hall")


def test_a_backup_is_restored_and_indexed_again(ranked: Site, tmp_path: Path) -> None:
    first = save(ranked, "max", "The zeppelin parks in hall seven.", SHOP, share=True)
    path = os.fspath(tmp_path / "told.dump")
    back_up(URL, path)
    restore(ranked.server.database, path, replace=True)
    with ranked.server.database.owning() as connection:
        assert not has_bm25(connection)
    assert enable_bm25(ranked.server.database)
    assert search(ranked, "ada", "zeppelin hall")[0] == first
