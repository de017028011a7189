"""Deletion: what was forgotten is on no path, and no copy that told controls brings it back."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.acceptance.site import PAY, SHOP

if TYPE_CHECKING:
    from pathlib import Path

    from tests.acceptance.site import Site

DOOMED, SIBLING = "Larkspur-6612", "Hollyhock-2048"
SAID = f"Remember that the tenant of the beta is called {DOOMED}."
KEPT = f"Remember that invoices are stored in the bucket {SIBLING}."


def forget(site: Site, token: str) -> str:
    """Forget the memory with a token; return its id."""
    made = next(row["id"] for row in site.memories() if token in row["text"])
    site.do("forget", made, "--force")
    return str(made)


@pytest.mark.atlas("deletion.absent_after_reindex_and_restart")
def test_every_probe_comes_back_empty(site: Site) -> None:
    native = site.session(SAID, KEPT)
    assert {"brief", "tool"} <= set(site.seen(DOOMED))
    site.do("checkpoint", f"Invite {DOOMED} to the beta", "--session", native)
    made = forget(site, DOOMED)
    assert DOOMED.encode() not in site.every_byte()
    for step in ("forgotten", "source again", "background", "rebuilt", "restarted", "archive only"):
        if step == "source again":
            site.session(SAID, KEPT, "go on", native=native)
        elif step == "background":
            site.later(days=3)
            site.run_background()
        elif step == "rebuilt":
            site.rebuild()
        elif step == "restarted":
            answer = site.child("memories", "--json", "--all", cwd=site.where)
            assert DOOMED not in answer.out
            assert SIBLING in answer.out
        elif step == "archive only":
            shutil.rmtree(site.home / ".claude")
            site.rebuild()
        assert site.seen(DOOMED) == [], step
        assert {"brief", "memories", "tool"} <= set(site.seen(SIBLING)), step
    assert [one["memory"] for one in site.log() if one["kind"] == "forget"].count(made) >= 1  # the audit


@pytest.mark.atlas("deletion.absent_from_shared_copies")
def test_a_shared_memory_goes_everywhere(site: Site) -> None:
    site.do("scopes", "create", "tenants")
    made = site.remember(SAID)
    site.do("scopes", "share", made, "tenants")
    site.go(PAY)
    site.do("scopes", "subscribe", "tenants")
    site.remember(KEPT)
    assert "brief" in site.seen(DOOMED, "the tenant of the beta")
    site.go(SHOP)
    forget(site, DOOMED)
    site.go(PAY)
    assert site.seen(DOOMED, "the tenant of the beta") == []
    assert "brief" in site.seen(SIBLING, "where invoices are stored")


def copy(source: Path, target: Path) -> None:
    if target.exists():
        shutil.rmtree(target) if target.is_dir() else target.unlink()
    shutil.copytree(source, target) if source.is_dir() else shutil.copy2(source, target)


@pytest.mark.atlas("deletion.absent_from_shared_copies")
@pytest.mark.parametrize(
    "what",
    [
        "memory.db",
        "archive",
        "project journal",
        "journal beside",
        "sessions.db",
    ],
)
def test_a_copy_made_before_does_not_restore_it(site: Site, what: str, tmp_path: Path) -> None:
    if what == "project journal":
        site.do("init")
    site.session(SAID, KEPT)
    site.later(days=3)
    site.run_background()
    project = site.home / SHOP / ".told"
    places = {
        "memory.db": list(site.told_home.glob("memory.db*")),
        "sessions.db": list(site.told_home.glob("sessions.db*")),
        "archive": [site.told_home / "archive"],
        "project journal": [project / "journal"],
        "journal beside": [site.told_home / "journal"],
    }[what]
    assert places
    backup = tmp_path / "backup"
    backup.mkdir()
    for place in places:
        copy(place, backup / place.name)
    forget(site, DOOMED)
    for place in places:
        if what == "journal beside":  # as another machine's series
            (series,) = (one for one in (backup / "journal").iterdir() if one.is_dir())
            copy(series, place / "oldmachine")
        else:
            copy(backup / place.name, place)
    site.run_background()
    assert site.seen(DOOMED) == []
    site.rebuild()
    assert site.seen(DOOMED) == []
    assert {"brief", "memories", "tool"} <= set(site.seen(SIBLING))


@pytest.mark.atlas("deletion.absent_from_shared_copies")
@pytest.mark.parametrize("door", ["hook", "search", "show", "tool"])
@pytest.mark.parametrize("whole", [False, True])
def test_an_old_copy_of_the_sessions_is_cleaned_before_it_is_read(
    site: Site, door: str, whole: bool, tmp_path: Path
) -> None:
    native = site.session(SAID, KEPT)
    made = site.do("list", "--json").json["sessions"][0]["id"]
    assert DOOMED in site.do("show", made, "--full").out
    files = list(site.told_home.glob("sessions.db*"))
    for file in files:
        copy(file, tmp_path / file.name)
    if whole:
        site.do("forget", "--session", native, "--force")
    else:
        forget(site, DOOMED)
    for file in files:
        copy(tmp_path / file.name, file)
    assert DOOMED.encode() in site.every_byte()
    if door == "hook":
        given = site.recall(f"Which tenant is {DOOMED.lower()}?")
    elif door == "tool":
        given = site.tool("sessions", project="*") + site.tool("search", query="tenant of the beta")
    else:
        given = site.told(door, "beta" if door == "search" else made, "--json").out
    assert DOOMED not in given
    site.told("list")
    assert DOOMED.encode() not in site.every_byte()
