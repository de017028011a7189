"""The database follows the checkpoint files."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tests.ingest.test_checkpoint_markdown import AWKWARD
from told.app.stores import open_store
from told.ingest.checkpoint_files import (
    create_checkpoint,
    list_checkpoints,
    new_path,
    project_folder,
    read_checkpoint,
)
from told.ingest.checkpoint_markdown import format_checkpoint, normalize
from told.ingest.checkpoint_sync import sync_checkpoints
from told.journal.registry import ProjectJournal, register, unregister
from told.model import CLOSED, OPEN, Handover
from told.redact.engine import Redactor
from told.search.index_text import make_extra_words, make_near_words
from told.store.database import public_id
from told.store.sessions.erase import SessionEraser
from told.store.sessions.read import Filter, SessionReader
from told.store.sessions.schema import find_damage
from told.store.sessions.write import SessionWriter

if TYPE_CHECKING:
    from collections.abc import Iterator

    import apsw

    from tests.ingest.box import Box
    from told.store.sessions.read import CheckpointRow

KEY = "github.com/acme/demo"
ONE = Handover(
    goal="Move the gateway to another port", pending=("Tell the zebra team",), title="Gateway port",
    id="cabcdefghi", agent="claude-code", session="first", project=KEY, folder="/gone/demo",
    at=1_794_828_243_007,
)  # fmt: skip


class Desk:
    """An open store, and the files beside it."""

    def __init__(self, box: Box) -> None:
        self.box = box
        self.home = str(box.told_home)
        self.connection: apsw.Connection = open_store(str(box.store))
        self.redact = Redactor(b"k" * 32).redact

    def put(self, one: Handover, name: str = "") -> str:
        folder = project_folder(self.home, one.project, "demo", one.folder)
        path = os.path.join(folder, name) if name else new_path(folder, one)
        create_checkpoint(path, one)
        return path

    def sync(self) -> int:
        count = sync_checkpoints(self.connection, self.home, self.redact)
        assert find_damage(self.connection) == []
        assert sync_checkpoints(self.connection, self.home, self.redact) == 0
        return count

    def rows(self) -> list[CheckpointRow]:
        return SessionReader(self.connection).checkpoints(Filter(), -1)

    def sessions(self) -> list[tuple[Any, ...]]:
        sql = "SELECT agent, native, public, turns FROM session ORDER BY 1, 2"
        return self.connection.execute(sql).fetchall()


@pytest.fixture
def desk(box: Box) -> Iterator[Desk]:
    made = Desk(box)
    yield made
    made.connection.close()


def test_new_file_is_stored_completely(desk: Desk) -> None:
    path = desk.put(ONE)
    assert desk.sync() == 1
    (row,) = desk.rows()
    assert (row.public, row.status, row.path, row.title) == (ONE.id, OPEN, path, "Gateway port")
    assert (row.overview, row.next_steps, row.at) == (ONE.goal, "- Tell the zebra team", ONE.at)
    assert (row.agent, row.project) == ("claude-code", "acme/demo")
    assert desk.sessions() == [("claude-code", "first", public_id("s", "claude-code", "first"), 0)]


def test_checkpoint_is_found_by_words_and_id(desk: Desk) -> None:
    desk.put(ONE)
    desk.sync()
    desk.connection.close()
    found = desk.box.told("search", "zebra team", "--json", "--all-projects").json
    assert ONE.id in str(found)
    assert "zebra" in desk.box.told("show", ONE.id, "--full").out
    assert ONE.id in desk.box.told("checkpoints", "--all-projects").out


def test_sync_reads_edits_and_drops_deleted_files(desk: Desk) -> None:
    path = desk.put(ONE)
    desk.sync()
    with open(path, "a") as file:
        file.write("\n## Risks\n\nA walrus may object.\n")
    assert desk.sync() == 1
    assert "walrus" in desk.rows()[0].technical_details
    os.remove(path)
    assert desk.sync() == 1
    assert (desk.rows(), desk.sessions()) == ([], [])
    assert desk.connection.execute("SELECT count(*) FROM turn").fetchall() == [(0,)]


def test_transcript_fills_a_session_created_by_a_checkpoint(desk: Desk) -> None:
    desk.put(replace(ONE, project="", folder=""))
    desk.sync()
    before = desk.sessions()[0][2]
    desk.box.claude("first").turn("Which port does the gateway use?", "It listens on 8443.").write()
    desk.box.index()
    assert desk.sessions() == [("claude-code", "first", before, 1)]
    shown = desk.box.told("show", before, "--json").json
    assert [one["id"] for one in shown["checkpoints"]] == [ONE.id]
    desk.put(replace(ONE, id="cbbbbbbbbb", session=before, agent="", project="", folder=""))
    desk.sync()
    assert {row.session for row in desk.rows()} == {before}


def test_session_loses_checkpoint_that_no_longer_names_it(desk: Desk) -> None:
    path = desk.put(ONE)
    desk.sync()
    with open(path, "w") as file:
        file.write(format_checkpoint(replace(ONE, session="second", status=CLOSED)))
    desk.sync()
    assert [(row[1], row[3]) for row in desk.sessions()] == [("second", 0)]
    assert [row.status for row in desk.rows()] == [CLOSED]


def test_copy_gets_its_own_id_in_any_order(desk: Desk) -> None:
    path = desk.put(ONE)
    copy = os.path.join(os.path.dirname(path), "aaa-copy.md")
    shutil.copy(path, copy)
    desk.sync()
    at_once = {row.path: row.public for row in desk.rows()}
    assert at_once[path] == ONE.id != at_once[copy]
    os.rename(path, f"{path}.away")
    desk.sync()
    assert {row.path: row.public for row in desk.rows()} == {copy: ONE.id}
    os.rename(f"{path}.away", path)
    desk.sync()
    assert {row.path: row.public for row in desk.rows()} == at_once


def test_project_comes_from_folder_else_from_key(desk: Desk) -> None:
    folder = desk.box.folder("work/shop")
    desk.put(replace(ONE, folder=folder, project="path:/old/name", session="here"))
    desk.put(replace(ONE, id="cbbbbbbbbb", folder="/gone/x", project="path:/gone/x", session="gone"))
    desk.put(replace(ONE, id="cccccccccc", folder="", project="", session=""))
    desk.sync()
    assert {row.public: row.project for row in desk.rows()} == {
        ONE.id: "shop", "cbbbbbbbbb": "x", "cccccccccc": "",
    }  # fmt: skip


def test_plain_note_gets_project_of_its_siblings(desk: Desk) -> None:
    beside = os.path.dirname(desk.put(ONE))
    top = os.path.dirname(beside)
    desk.put(replace(ONE, id="cbbbbbbbbb", session="b", project="", folder=""))
    copied = desk.put(replace(ONE, id="cddddddddd", session="d", project="path:/gone/x", folder=""))
    for folder in (beside, top, project_folder(desk.home, "", "demo", ""), os.path.join(top, "strange")):
        os.makedirs(folder, exist_ok=True)
        for name in ("0.md", "mine.md"):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write("# Ring the bank\n")
    # A file of some project's makes no folder its own.
    os.rename(copied, os.path.join(top, "strange", os.path.basename(copied)))
    desk.sync()
    assert {row.path for row in desk.rows() if row.title == "Ring the bank" and row.project} == {
        os.path.join(beside, "0.md"), os.path.join(beside, "mine.md"),
    }  # fmt: skip


def test_file_in_project_folder_belongs_to_that_project(desk: Desk) -> None:
    root, other = desk.box.folder("work/shop"), desk.box.folder("work/other")
    os.mkdir(os.path.join(root, ".told"))
    path = os.path.join(root, ".told", "checkpoints", "x.md")
    create_checkpoint(path, replace(ONE, folder=other, project=f"path:{other}"))
    assert desk.sync() == 0  # nobody has run `told init` there
    register(ProjectJournal(desk.home, root, f"project:path:{root}"))
    assert desk.sync() == 1
    assert [(row.project, row.path) for row in desk.rows()] == [("shop", path)]
    unregister(desk.home, root)
    assert desk.sync() == 1
    assert desk.rows() == []
    assert os.path.exists(path)


def test_trimmed_session_keeps_its_checkpoint(desk: Desk) -> None:
    desk.put(ONE)
    desk.sync()
    before = desk.rows()
    writer = SessionWriter(desk.connection, make_extra_words, make_near_words)
    session = writer.session("claude-code", "first")
    assert session is not None
    with writer.transaction():
        SessionEraser(desk.connection).drop_session(writer, session)
    assert desk.rows() == []
    assert desk.sync() == 1
    assert desk.rows() == before


def test_later_checkpoint_moves_no_session(desk: Desk) -> None:
    desk.box.claude("first").turn("Which port does the gateway use?", "It listens on 8443.").write()
    desk.box.index()
    before = desk.box.rows("SELECT ended, started FROM session")
    assert 0 < before[0][0] < ONE.at
    desk.put(ONE)
    desk.sync()
    assert desk.box.rows("SELECT ended, started FROM session") == before


def test_secrets_in_edits_are_redacted(desk: Desk) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    desk.put(replace(ONE, decisions=(f"Use {secret} for CI",), session=f"s-{secret}", branch=f"b/{secret}"))
    desk.sync()
    desk.connection.close()
    for path in desk.box.told_home.glob("sessions.db*"):
        assert secret.encode() not in path.read_bytes()


def test_health_reports_unreadable_files(desk: Desk) -> None:
    path = desk.put(ONE)
    broken = os.path.join(os.path.dirname(path), "broken.md")
    with open(broken, "wb") as file:
        file.write(b"\0\1\2")
    desk.sync()
    assert len(desk.rows()) == 1
    desk.connection.close()
    said = desk.box.told("health", "--deep").out
    assert "broken.md" in said
    assert "cannot be read: it is no text. Fix or delete the file." in said
    assert desk.box.told("health", "--json").json["checkpoints"][0]["reason"] == "it is no text"
    with open(broken, "w") as file:
        file.write("# Mended\n\nNow it says something\n")
    assert "broken.md" not in desk.box.told("health").out
    desk.box.index()
    assert "Mended" in desk.box.told("checkpoints", "--all-projects").out


def test_temporarily_unreadable_folder_loses_nothing(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.put(ONE)
    desk.sync()

    def refused(path: str) -> dict[str, tuple[int, int]]:
        raise PermissionError(13, "no", path)

    monkeypatch.setattr("told.ingest.checkpoint_sync.list_files", refused)
    assert sync_checkpoints(desk.connection, desk.home, desk.redact) == 0
    assert len(desk.rows()) == 1


def test_query_syncs_its_project(box: Box) -> None:
    folder = box.folder("work/shop")
    os.chdir(folder)
    desk = Desk(box)
    path = desk.put(replace(ONE, folder=folder, project=f"path:{folder}"))
    desk.connection.close()
    os.makedirs(real := project_folder(desk.home, f"path:{folder}", "shop", folder))
    os.rename(path, os.path.join(real, os.path.basename(path)))
    assert "Gateway port" in box.told("checkpoints").out


# -- made anew --------------------------------------------------------------------------------------


def _some(number: int) -> Handover:
    text, other = AWKWARD[number % len(AWKWARD)], AWKWARD[(number * 7 + 1) % len(AWKWARD)]
    return normalize(
        Handover(
            goal=f"{text}\ngoal {number}", done=(text,), pending=(other, text), title=f"{text} {number}",
            notes=other, id=public_id("c", str(number), length=9), agent="claude-code",
            session=f"session-{number % 9}", project=KEY if number % 2 else "path:/gone/x",
            folder="/gone/demo", at=1_794_828_243_007 + number, status=CLOSED if number % 3 else OPEN,
        )
    )  # fmt: skip


def _known(desk: Desk) -> list[Any]:
    turns = desk.connection.execute(
        "SELECT s.native, t.n, t.at, t.answered, t.extra FROM turn t JOIN session s ON s.id = t.session_id"
        " ORDER BY 1, 2"
    )
    return [*desk.rows(), *turns]


def test_rebuild_restores_all_edited_checkpoints(box: Box) -> None:
    box.claude("session-3").turn("Which port does the gateway use?", "It listens on 8443.").write()
    desk = Desk(box)
    for number in range(64):
        desk.put(_some(number))
    paths = list(list_checkpoints(desk.home))
    assert len(paths) == 64
    desk.connection.close()
    box.index()
    for number, path in enumerate(paths):
        if number % 4 == 0:
            with open(path, "ab") as file:
                file.write(f"\n## Von Hand\r\n\r\n- [x] walrus {number}\r\n".encode())
    os.remove(paths[-1])
    box.index()
    desk = Desk(box)
    before = _known(desk)
    said = {path: read_checkpoint(path) for path in paths[:-1]}
    desk.connection.close()
    assert sum(isinstance(one, tuple) and "walrus" in str(one) for one in before) >= 16
    for words in (("index",), ("rebuild",)):
        box.drop_store()
        assert box.told(*words).code == 0
        desk = Desk(box)
        assert _known(desk) == before
        desk.connection.close()
    assert {path: read_checkpoint(path) for path in list_checkpoints(str(box.told_home))} == said


def test_archive_does_not_copy_checkpoint_files(box: Box) -> None:
    transcript = box.claude("first").turn("Which port does the gateway use?", "It listens on 8443.").write()
    desk = Desk(box)
    desk.put(ONE)
    desk.connection.close()
    box.index()
    before = box.told("checkpoints", "--all-projects", "--json").json
    assert len(before["checkpoints"]) == 1
    transcript.unlink()
    assert box.told("rebuild").code == 0
    assert box.told("checkpoints", "--all-projects", "--json").json == before
    assert box.turns("first") == [("Which port does the gateway use?", "It listens on 8443.")]
