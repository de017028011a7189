"""What the service answers: the same as a hook of its own, from memories that it keeps open."""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
from typing import TYPE_CHECKING

from tests.hook.desk import ASKED, TAUGHT, typed
from tests.serve.house import House, is_running, until
from told.hook import answer
from told.hook.moment import Serving
from told.journal.apply import open_memories

if TYPE_CHECKING:
    from typing import Any

NOTHING = (204, b"")


def test_it_answers_as_a_hook_of_its_own_would(served: House) -> None:
    served.say(TAUGHT, "before")
    asked = typed(served, ASKED, session="now")
    own = served.ask("claude-code", "prompt", asked | {"session_id": "then"})
    reply = served.post(asked)
    assert reply.code == 200
    assert json.loads(reply.body) == own
    assert reply.headers["content-type"] == "application/json"
    assert "pnpm" in reply.told


def test_what_a_prompt_teaches_is_on_disk_when_it_is_answered(served: House) -> None:
    served.say(TAUGHT)
    os.kill(served.pid, signal.SIGKILL)
    assert served.texts() == ["We use pnpm here, never npm."]


def test_a_command_of_the_users_is_carried_out(served: House) -> None:
    said = served.say("/mem:lock Never push to the main branch without a review")
    assert "told remembers and locked" in said
    [memory] = served.memories("--locked")
    assert memory["text"] == "Never push to the main branch without a review"


def test_a_prompt_that_needs_nothing_gets_nothing(served: House) -> None:
    assert served.post(typed(served, "ok thanks"))[:2] == NOTHING


def test_what_another_told_writes_is_known_at_the_next_prompt(served: House) -> None:
    served.say(ASKED, "first")
    assert served.child("remember", TAUGHT, "--scope", "global").code == 0
    assert "pnpm" in served.say(ASKED, "second")


def test_what_another_told_forgets_is_gone_from_every_file(served: House) -> None:
    served.say(TAUGHT, "first")
    assert "pnpm" in served.say(ASKED, "second")
    [memory] = served.memories()
    done = served.child("forget", memory["id"], "--force")
    assert done.code == 0, done.err
    assert b"pnpm" not in served.every_byte()
    assert "pnpm" not in served.say(ASKED, "third")


def test_memories_that_are_made_anew_are_noticed(served: House) -> None:
    served.say(TAUGHT, "first")
    assert served.child("rebuild").code == 0
    assert served.child("remember", "The build runs with vite.", "--scope", "global").code == 0
    said = served.say(ASKED, "second")
    assert "pnpm" in said
    assert "vite" in said


def test_a_deleted_database_is_made_anew(served: House) -> None:
    served.say(TAUGHT, "first")
    for name in ("memory.db", "memory.db-wal", "memory.db-shm"):
        (served.told_home / name).unlink(missing_ok=True)
    assert "pnpm" in served.say(ASKED, "second")
    assert (served.told_home / "memory.db").exists()


def test_a_damaged_database_is_made_anew(served: House) -> None:
    served.say(TAUGHT, "first")
    path = served.told_home / "memory.db"
    (served.told_home / "new.db").write_bytes(b"no database at all" * 1000)
    (served.told_home / "new.db").replace(path)
    assert "pnpm" in served.say(ASKED, "second")


def test_it_leaves_when_tolds_folder_is_deleted_and_does_not_make_it_again(house: House) -> None:
    pid = house.begin(first="import told.serve.service as it;it._EVERY=0.1;")
    house.say(TAUGHT)
    shutil.rmtree(house.told_home)
    until(lambda: not is_running(pid))
    assert not house.told_home.exists()


def test_after_the_folder_is_gone_nobody_is_let_in(served: House) -> None:
    port, token = served.port, served.token
    served.told_home.rename(served.home / "elsewhere")
    served.told_home.mkdir()
    moved = House.__new__(House)
    moved.__dict__ = served.__dict__ | {"told_home": served.home / "elsewhere"}
    assert (moved.port, moved.token) == (port, token)
    assert moved.post(typed(served, TAUGHT)).code == 401
    assert list(served.told_home.iterdir()) == []
    served.told_home.rmdir()
    (served.home / "elsewhere").rename(served.told_home)


def test_nonsense_is_answered_with_nothing_and_does_no_harm(served: House) -> None:
    wrong: list[Any] = [
        b"",
        b"{",
        b"[1, 2]",
        b"null",
        b"\xff\xfe\x00",
        b"[" * 100_000,
        {"prompt": 7},
        {"prompt": []},
    ]
    for body in wrong:
        assert served.post(body)[:2] == NOTHING, body
    assert served.post(typed(served, TAUGHT), path="/told.hook/nobody/prompt").code in (200, 204)
    served.say(TAUGHT)
    assert "pnpm" in served.say(ASKED, "second")


def test_a_full_or_locked_journal_costs_a_prompt_only_its_brief(served: House) -> None:
    served.say(TAUGHT, "first")
    (served.told_home / "journal").chmod(0o500)
    other = open_memories(served.place)
    try:
        with other.writer.transaction():
            assert "pnpm" in served.say(ASKED, "second")
    finally:
        other.close()
        (served.told_home / "journal").chmod(0o700)
    assert "pnpm" in served.say(ASKED, "third")


def test_a_brief_that_came_too_late_is_not_taken_for_shown(house: House) -> None:
    house.prompt(TAUGHT, session="before")
    opened = open_memories(house.place)
    late = Serving(lambda _home, **_: opened, time.monotonic() - 1)
    asked = typed(house, ASKED, session="now")
    assert "pnpm" in answer("claude-code", "prompt", asked, house.environ, late)
    assert "pnpm" in house.prompt(ASKED, session="now")  # so it is said again
    assert "pnpm" not in house.prompt(ASKED, session="now")


def test_an_answer_that_takes_too_long_is_not_waited_for(house: House) -> None:
    house.begin(patience=0.0)
    assert house.post(typed(house, TAUGHT))[:2] == NOTHING


def test_many_prompts_leave_nothing_behind_in_the_process(served: House) -> None:
    served.say(TAUGHT)
    for number in range(30):
        served.say(ASKED, f"s{number}")
    files, threads = _open_files(served.pid), _threads(served.pid)
    for number in range(30, 90):
        served.say(ASKED, f"s{number}")
    until(lambda: _open_files(served.pid) < files + 6)  # sixty prompts: one being closed is no leak
    until(lambda: _threads(served.pid) < threads + 6)


def _open_files(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))


def _threads(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/task"))


def test_with_debugging_on_it_logs_without_secrets(house: House) -> None:
    house.environ["TOLD_DEBUG"] = "1"
    house.begin()
    house.say("The key for the deploy is ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8")
    log = (house.told_home / "hook.log").read_text()
    assert '"hook":["claude-code","prompt"]' in log
    assert "ghp_a1B2" not in log
    assert house.token not in log
