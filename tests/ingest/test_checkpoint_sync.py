"""The files of checkpoints are the truth: what somebody writes, edits or deletes there is what told knows."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from tests.ingest.test_checkpoint_text import AWKWARD
from told.cli.session import open_store
from told.guard.redact import Redactor
from told.ingest.checkpoint_files import every, folder_of, new_path, write
from told.ingest.checkpoint_reading import read_file
from told.ingest.checkpoint_sync import sync
from told.ingest.checkpoint_text import normal, text_of
from told.journal.places import register, unregister
from told.journal.registry import Place
from told.model import CLOSED, OPEN, Handover
from told.record import replaced
from told.search.index_text import extra_words, near_words
from told.store.condition import damaged
from told.store.erasing import Erasing
from told.store.ids import public_id
from told.store.reading import Filter, Reading
from told.store.writing import Writer

if TYPE_CHECKING:
    from collections.abc import Iterator

    import apsw

    from tests.ingest.box import Box
    from told.store.reading import CheckpointRow

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
        folder = folder_of(self.home, one.project, "demo", one.folder)
        path = os.path.join(folder, name) if name else new_path(folder, one)
        write(path, one)
        return path

    def sync(self) -> int:
        count = sync(self.connection, self.home, self.redact)
        assert damaged(self.connection) == []
        assert sync(self.connection, self.home, self.redact) == 0
        return count

    def rows(self) -> list[CheckpointRow]:
        return Reading(self.connection).checkpoints(Filter(), -1)

    def sessions(self) -> list[tuple[Any, ...]]:
        sql = "SELECT agent, native, public, turns FROM session ORDER BY 1, 2"
        return self.connection.execute(sql).fetchall()


@pytest.fixture
def desk(box: Box) -> Iterator[Desk]:
    made = Desk(box)
    yield made
    made.connection.close()


def test_a_new_file_is_known_with_all_it_says(desk: Desk) -> None:
    path = desk.put(ONE)
    assert desk.sync() == 1
    (row,) = desk.rows()
    assert (row.public, row.status, row.path, row.title) == (ONE.id, OPEN, path, "Gateway port")
    assert (row.overview, row.next_steps, row.at) == (ONE.goal, "- Tell the zebra team", ONE.at)
    assert (row.agent, row.project) == ("claude-code", "acme/demo")
    assert desk.sessions() == [("claude-code", "first", public_id("s", "claude-code", "first"), 0)]


def test_it_is_found_by_its_words_and_by_its_id(desk: Desk) -> None:
    desk.put(ONE)
    desk.sync()
    desk.connection.close()
    found = desk.box.told("search", "zebra team", "--json", "--all-projects").json
    assert ONE.id in str(found)
    assert "zebra" in desk.box.told("show", ONE.id, "--full").out
    assert ONE.id in desk.box.told("checkpoints", "--all-projects").out


def test_a_hand_edit_is_taken_in_and_a_deleted_file_goes(desk: Desk) -> None:
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


def test_the_agents_transcript_fills_the_session_that_a_checkpoint_made(desk: Desk) -> None:
    desk.put(replaced(ONE, project="", folder=""))
    desk.sync()
    before = desk.sessions()[0][2]
    desk.box.claude("first").turn("Which port does the gateway use?", "It listens on 8443.").write()
    desk.box.index()
    assert desk.sessions() == [("claude-code", "first", before, 1)]
    shown = desk.box.told("show", before, "--json").json
    assert [one["id"] for one in shown["checkpoints"]] == [ONE.id]
    desk.put(replaced(ONE, id="cbbbbbbbbb", session=before, agent="", project="", folder=""))
    desk.sync()
    assert {row.session for row in desk.rows()} == {before}


def test_a_session_that_a_file_no_longer_names_loses_its_checkpoint(desk: Desk) -> None:
    path = desk.put(ONE)
    desk.sync()
    with open(path, "w") as file:
        file.write(text_of(replaced(ONE, session="second", status=CLOSED)))
    desk.sync()
    assert [(row[1], row[3]) for row in desk.sessions()] == [("second", 0)]
    assert [row.status for row in desk.rows()] == [CLOSED]


def test_of_two_files_with_one_id_the_copy_gets_its_own_in_whatever_order(desk: Desk) -> None:
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


def test_it_belongs_to_the_project_of_its_folder_else_of_its_key(desk: Desk) -> None:
    folder = desk.box.folder("work/shop")
    desk.put(replaced(ONE, folder=folder, project="path:/old/name", session="here"))
    desk.put(replaced(ONE, id="cbbbbbbbbb", folder="/gone/x", project="path:/gone/x", session="gone"))
    desk.put(replaced(ONE, id="cccccccccc", folder="", project="", session=""))
    desk.sync()
    assert {row.public: row.project for row in desk.rows()} == {
        ONE.id: "shop", "cbbbbbbbbb": "x", "cccccccccc": "",
    }  # fmt: skip


def test_a_plain_note_belongs_where_the_others_in_its_folder_do(desk: Desk) -> None:
    beside = os.path.dirname(desk.put(ONE))
    top = os.path.dirname(beside)
    desk.put(replaced(ONE, id="cbbbbbbbbb", session="b", project="", folder=""))
    copied = desk.put(replaced(ONE, id="cddddddddd", session="d", project="path:/gone/x", folder=""))
    for folder in (beside, top, folder_of(desk.home, "", "demo", ""), os.path.join(top, "strange")):
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


def test_what_lies_in_a_projects_own_folder_belongs_there_whatever_it_says(desk: Desk) -> None:
    root, other = desk.box.folder("work/shop"), desk.box.folder("work/other")
    os.mkdir(os.path.join(root, ".told"))
    path = os.path.join(root, ".told", "checkpoints", "x.md")
    write(path, replaced(ONE, folder=other, project=f"path:{other}"))
    assert desk.sync() == 0  # nobody has run `told init` there
    register(Place(desk.home, root, f"project:path:{root}"))
    assert desk.sync() == 1
    assert [(row.project, row.path) for row in desk.rows()] == [("shop", path)]
    unregister(desk.home, root)
    assert desk.sync() == 1
    assert desk.rows() == []
    assert os.path.exists(path)


def test_a_session_that_goes_to_make_room_leaves_its_checkpoint(desk: Desk) -> None:
    desk.put(ONE)
    desk.sync()
    before = desk.rows()
    writer = Writer(desk.connection, extra_words, near_words)
    session = writer.session("claude-code", "first")
    assert session is not None
    with writer.transaction():
        Erasing(desk.connection).drop_session(writer, session)
    assert desk.rows() == []
    assert desk.sync() == 1
    assert desk.rows() == before


def test_a_checkpoint_that_is_written_later_moves_no_session(desk: Desk) -> None:
    desk.box.claude("first").turn("Which port does the gateway use?", "It listens on 8443.").write()
    desk.box.index()
    before = desk.box.rows("SELECT ended, started FROM session")
    assert 0 < before[0][0] < ONE.at
    desk.put(ONE)
    desk.sync()
    assert desk.box.rows("SELECT ended, started FROM session") == before


def test_secrets_of_a_hand_edit_never_reach_the_store(desk: Desk) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    desk.put(replaced(ONE, decisions=(f"Use {secret} for CI",), session=f"s-{secret}", branch=f"b/{secret}"))
    desk.sync()
    desk.connection.close()
    for path in desk.box.told_home.glob("sessions.db*"):
        assert secret.encode() not in path.read_bytes()


def test_what_cannot_be_read_stops_nothing_and_health_names_it(desk: Desk) -> None:
    path = desk.put(ONE)
    broken = os.path.join(os.path.dirname(path), "broken.md")
    with open(broken, "wb") as file:
        file.write(b"\0\1\2")
    desk.sync()
    assert len(desk.rows()) == 1
    desk.connection.close()
    said = desk.box.told("health", "--deep").out
    assert "broken.md" in said
    assert "cannot be read: it is no text. Mend or delete the file." in said
    assert desk.box.told("health", "--json").json["checkpoints"][0]["reason"] == "it is no text"
    with open(broken, "w") as file:
        file.write("# Mended\n\nNow it says something\n")
    assert "broken.md" not in desk.box.told("health").out
    desk.box.index()
    assert "Mended" in desk.box.told("checkpoints", "--all-projects").out


def test_a_folder_that_cannot_be_read_for_once_loses_nothing(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.put(ONE)
    desk.sync()

    def refused(path: str) -> dict[str, tuple[int, int]]:
        raise PermissionError(13, "no", path)

    monkeypatch.setattr("told.ingest.checkpoint_sync.listed", refused)
    assert sync(desk.connection, desk.home, desk.redact) == 0
    assert len(desk.rows()) == 1


def test_every_query_takes_in_what_is_new_in_its_project(box: Box) -> None:
    folder = box.folder("work/shop")
    os.chdir(folder)
    desk = Desk(box)
    path = desk.put(replaced(ONE, folder=folder, project=f"path:{folder}"))
    desk.connection.close()
    os.makedirs(real := folder_of(desk.home, f"path:{folder}", "shop", folder))
    os.rename(path, os.path.join(real, os.path.basename(path)))
    assert "Gateway port" in box.told("checkpoints").out


# -- made anew --------------------------------------------------------------------------------------


def _some(number: int) -> Handover:
    text, other = AWKWARD[number % len(AWKWARD)], AWKWARD[(number * 7 + 1) % len(AWKWARD)]
    return normal(
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


def test_all_64_are_back_after_the_databases_were_deleted_with_hand_edits(box: Box) -> None:
    box.claude("session-3").turn("Which port does the gateway use?", "It listens on 8443.").write()
    desk = Desk(box)
    for number in range(64):
        desk.put(_some(number))
    paths = list(every(desk.home))
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
    said = {path: read_file(path) for path in paths[:-1]}
    desk.connection.close()
    assert sum(isinstance(one, tuple) and "walrus" in str(one) for one in before) >= 16
    for words in (("index",), ("rebuild",)):
        box.drop_store()
        assert box.told(*words).code == 0
        desk = Desk(box)
        assert _known(desk) == before
        desk.connection.close()
    assert {path: read_file(path) for path in every(str(box.told_home))} == said


def test_the_archive_keeps_no_copy_of_them(box: Box) -> None:
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
