"""Wrong use and broken surroundings: one sentence on stderr, the right exit code, nothing else on stdout."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw
import pytest

import told
from tests.soak import points, thinned
from told.store.sessions.schema import VERSION

if TYPE_CHECKING:
    from tests.cli.machine import Answer, Machine

DONE, NOTHING, WRONG, BUSY, MISSING = range(5)


def one_sentence(answer: Answer, code: int) -> str:
    """Check that a failure is one sentence or two for a person, and return it."""
    assert answer.code == code
    assert answer.out == ""
    assert answer.err.startswith("told: ")
    assert answer.err.endswith((".\n", "?\n"))
    assert answer.err.count("\n") == 1
    assert "Traceback" not in answer.err
    return answer.err.removeprefix("told: ").rstrip()


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (
            ("show", "zzzz"),
            NOTHING,
            "No session has the id 'zzzz'. Ids come from `told list` and `told search`.",
        ),
        (("show", "zzzz.3"), NOTHING, "No session has the id 'zzzz.3'."),
        (("show", "s"), WRONG, "'s' is too short for an id. Give at least three letters of it."),
        (("show",), WRONG, "Missing argument: `told show ID`. See `told show --help`."),
        (("show", "a", "b"), WRONG, "`told show` takes one ID, not 2."),
        (("search",), WRONG, "Missing argument: `told search QUERY`."),
        (("search", " "), WRONG, "Missing argument: `told search QUERY`."),
        (("search", "--fix", "x"), WRONG, "Put words that begin with a dash after `--`."),
        (("list", "--agent", "foo"), WRONG, 'Unknown agent "foo". told knows: aider, claude-code,'),
        (("list", "--project", "nope"), NOTHING, "No project is called 'nope'. `told repos` lists them."),
        (("list", "--project", "/no/where"), NOTHING, "No project is called '/no/where'."),
        (("list", "--project", "x", "--all-projects"), WRONG, "Give --project or --all-projects, not both."),
        (("list", "--limit", "-1"), WRONG, "--limit must be a whole number of at least 1, not '-1'."),
        (("list", "--limit", "0"), WRONG, "--limit must be a whole number of at least 1, not '0'."),
        (("list", "--limit", "ten"), WRONG, "--limit must be a whole number of at least 1, not 'ten'."),
        (("list", "--limit", "1.5"), WRONG, "--limit must be a whole number of at least 1, not '1.5'."),
        (("list", "--limit", ""), WRONG, "--limit must be a whole number of at least 1, not ''."),
        (("list", "--limit"), WRONG, "--limit needs a value: --limit N."),
        (("list", "--days", "0"), WRONG, "--days must be a whole number of at least 1, not '0'."),
        (("list", "--days", "1", "--since", "today"), WRONG, "Give --days or --since, not both."),
        (("list", "--since", "whenever"), WRONG, "Unknown time 'whenever'. Try 2026-11-03,"),
        (("remember", "x", "--private"), WRONG, "Did you mean --scope private?"),
        (("list", "--bogus"), WRONG, "`told list` has no option --bogus. --help lists them."),
        (("list", "--jsno"), WRONG, "`told list` has no option --jsno. Did you mean --json?"),
        (("list", "--xyzzy"), WRONG, "`told list` has no option --xyzzy. --help lists them."),
        (("list", "--json=yes"), WRONG, "--json takes no value."),
        (("list", "parser"), WRONG, "`told list` takes options only, not 'parser'."),
        (("lst",), WRONG, 'Unknown command "lst". Did you mean "told list"?'),
        (("serach", "x"), WRONG, 'Unknown command "serach". Did you mean "told search"?'),
        (("qqqqqq",), WRONG, 'Unknown command "qqqqqq". `told help` lists the commands.'),
        (("help", "qqqqqq"), WRONG, 'Unknown command "qqqqqq". `told help` lists the commands.'),
        (("--nonsense",), WRONG, 'Unknown command "--nonsense".'),
    ],
)
def test_wrong_use_is_one_sentence_that_says_what_to_do(
    shop: Machine, words: tuple[str, ...], code: int, says: str
) -> None:
    assert says in one_sentence(shop.told(*words), code)


COMMANDS = tomllib.loads((Path(told.__file__).parent / "cli" / "commands.toml").read_text())["command"]
# An id, name or path that does not exist, where that is not simply the first word.
UNKNOWN = {
    "checkpoint": ("--close", "czzzzz"), "checkpoints": ("export", "czzzzz"), "config": ("get", "zzz"),
    "correct": ("mzzzzzzz", "New words of the rule"), "init": ("/no/where",), "list": ("--project", "zzz"),
    "export": ("--format", "zzz"),
    "files": ("--project", "zzz"), "onboard": ("/no/where",), "proposals": ("accept", "pzzzzzzz"),
    "remember": ("Never use tabs", "--scope", "zzz"), "retention": ("restore", "mzzzzzzz"),
    "schema-check": ("--agent", "zzz"), "scopes": ("subscribe", "zzz"), "status": ("--agent", "zzz"),
    "timeline": ("--around", "zzzzzz"), "undo": ("--of", "mzzzzzzz"),
    "install": ("--agent", "zzz"), "uninstall": ("--agent", "zzz"), "repos": ("--agent", "zzz"),
    "learn": ("--reader", "zzz"), "backup": ("zzz/zzz/told.zip",),
}  # fmt: skip
FREE_WORDS = ("search", "memories", "share", "unshare")  # or they need a team first
PROGRAMS = ("hook", "mcp")  # agents run these
SLOW = (*PROGRAMS, "ping")
QUIET = ("sweep",)  # nothing to say is said by nothing


@pytest.mark.parametrize(
    "command",
    thinned([one for one in COMMANDS if one["name"] not in ("sync-serve", *SLOW)], 3)
    + [pytest.param(one, marks=pytest.mark.soak) for one in COMMANDS if one["name"] in SLOW],
    ids=lambda command: str(command["name"]),
)
def test_every_command_answers_bad_use_an_empty_store_and_an_agents_shell(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, command: dict[str, Any]
) -> None:
    name = command["name"]
    monkeypatch.chdir(machine.repo("work/shop"))
    if name in PROGRAMS:
        for words in ((name,), (name, "zzz", "zzz"), (name, "--xyzzy")):
            answer = machine.child(*words)
            assert answer.out == ""
            assert "Traceback" not in answer.err
            assert answer.code == DONE if name == "hook" or len(words) == 1 else WRONG
        return
    parses_itself = command.get("standalone", False)
    assert "--xyzzy" in one_sentence(machine.told(name, "--xyzzy"), WRONG) or parses_itself
    unknown = machine.told(name, *UNKNOWN.get(name, ("zzzzzz",)))
    if unknown.out:  # `explain` takes any words
        assert (name, unknown.code, unknown.err) == ("explain", NOTHING, "")
    else:
        says = one_sentence(unknown, unknown.code)
        assert unknown.code in (NOTHING, WRONG)
        assert "zz" in says or "/no/where" in says or name in FREE_WORDS or parses_itself
    for sign in ({}, {"CLAUDECODE": "1"}):
        machine.environ |= sign
        for form in ([], ["--json"]):
            answer = machine.told(name, *form)
            if answer.err or not (answer.out or name in QUIET):
                one_sentence(answer, NOTHING if answer.code == NOTHING else WRONG)
            if answer.out and form:
                assert isinstance(answer.json, dict)
            if command.get("needs_operand"):
                assert f"Missing argument: `told {name} " in answer.err


def test_options_may_stand_before_the_command(shop: Machine) -> None:
    assert shop.told("--json", "list").out == shop.told("list", "--json").out
    assert shop.told("--limit", "2", "list").out == shop.told("list", "--limit", "2").out
    assert shop.told("-n", "2", "list").out == shop.told("list", "-n2").out


def test_an_options_value_may_stand_behind_a_sign_or_at_once(shop: Machine) -> None:
    two = shop.told("list", "--limit", "2").out
    assert two.startswith("2 of 4 ")
    for form in ("--limit=2", "-n=2", "-n2"):
        assert shop.told("list", form).out == two


def test_an_enormous_limit_is_a_limit(shop: Machine) -> None:
    assert len(shop.ids("--limit", "9" * 40)) == 4
    assert shop.told("files", "--limit", "9" * 40).code == DONE
    assert shop.told("list", "--days", "9" * 40).code == DONE


@pytest.mark.parametrize("words", [("--version",), ("-V",), ("version",)])
def test_the_version_is_told(machine: Machine, words: tuple[str, ...]) -> None:
    assert machine.told(*words).out.startswith("told 0.")


@pytest.mark.parametrize("words", [("help",), ("--help",), ("-h",)])
def test_help_writes_nothing(machine: Machine, words: tuple[str, ...]) -> None:
    answer = machine.told(*words)
    assert (answer.code, answer.err) == (DONE, "")
    assert "usage: told COMMAND" in answer.out
    assert not machine.told_home.exists()


def test_a_command_without_options_speaks_of_none(machine: Machine) -> None:
    assert "usage: told mcp\n" in machine.told("mcp", "--help").out
    assert "usage: told list [options]\n" in machine.told("list", "--help").out


@pytest.mark.parametrize("command", ["list", "files", "checkpoints", "timeline", "repos"])
def test_without_any_history_it_is_said_where_told_looks(machine: Machine, command: str) -> None:
    says = one_sentence(machine.told(command), NOTHING)
    assert says.endswith(": no agent has any history here. `told agents` shows where told looks.")


def test_a_search_without_any_history_says_so(machine: Machine) -> None:
    says = one_sentence(machine.told("search", "x"), NOTHING)
    assert "no agent has any history here. `told agents` shows where told looks." in says


@pytest.mark.parametrize("command", ["list", "files", "checkpoints", "timeline", "repos"])
def test_json_of_nothing_is_still_json(machine: Machine, command: str) -> None:
    answer = machine.told(command, "--json")
    assert (answer.code, answer.err) == (NOTHING, "")
    assert answer.json["count"] == 0


def test_without_a_home_folder_it_is_said_what_to_set(machine: Machine) -> None:
    answer = machine.child("list", drop=("HOME", "TOLD_HOME"))
    assert one_sentence(answer, MISSING) == (
        "There is no home folder. Set HOME, or set TOLD_HOME to a folder told may use."
    )


def test_without_home_but_with_a_folder_for_told_it_works(machine: Machine) -> None:
    assert "no agent has any history" in one_sentence(machine.child("list", drop=("HOME",)), NOTHING)


@pytest.mark.parametrize("below", ["", "/deeper", "/deeper/still"])
def test_a_file_where_tolds_folder_should_be_is_named(machine: Machine, below: str) -> None:
    place = machine.write("a-file", "not a folder")
    machine.environ["TOLD_HOME"] = f"{place}{below}"
    for command in (("list",), ("search", "x"), ("health",), ("index",)):
        says = one_sentence(machine.told(*command), MISSING)
        assert str(place) in says
        assert says.endswith("Set TOLD_HOME to a folder it may use.")
    assert place.read_text() == "not a folder"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_home_that_cannot_be_written_is_named(machine: Machine) -> None:
    machine.environ["TOLD_HOME"] = str(machine.home / "told")
    machine.home.chmod(0o555)
    try:
        says = one_sentence(machine.child("list"), MISSING)
    finally:
        machine.home.chmod(0o755)
    assert "permission denied" in says


def test_a_store_on_a_disk_that_cannot_be_written_still_answers(
    shop: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = shop.told("list").out
    real = apsw.Connection

    def read_only(path: str, flags: int = 0, **more: object) -> apsw.Connection:
        if path.endswith("sessions.db") and flags & apsw.SQLITE_OPEN_READWRITE:
            raise apsw.CantOpenError("unable to open database file")
        return real(path, flags=flags)

    monkeypatch.setattr(apsw, "Connection", read_only)
    answer = shop.told("list")
    assert (answer.code, answer.out) == (DONE, before)
    assert answer.err.endswith("What is new may be missing here.\n")


@pytest.mark.parametrize("damage", ["garbage", "truncated", "empty"])
def test_a_damaged_store_is_made_anew(shop: Machine, damage: str) -> None:
    before = shop.told("list").out
    store = shop.told_home / "sessions.db"
    for suffix in ("-wal", "-shm"):
        (shop.told_home / f"sessions.db{suffix}").unlink(missing_ok=True)
    content = store.read_bytes()
    store.write_bytes({"garbage": b"\x13\x37" * 4096, "truncated": content[:9000], "empty": b""}[damage])
    first = shop.told("index")
    assert first.code == DONE
    assert "Traceback" not in first.err
    if damage != "empty":
        assert first.err == "told: The store was damaged; it is being rebuilt from the agents' files.\n"
    assert shop.told("list").out == before


def test_a_store_that_is_damaged_in_the_middle_is_no_traceback(shop: Machine) -> None:
    store = shop.told_home / "sessions.db"
    connection = apsw.Connection(str(store))
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    content = bytearray(store.read_bytes())
    content[4096 : len(content) - 4096] = b"\xa5" * (len(content) - 8192)
    store.write_bytes(content)
    for words in (("list",), ("search", "cache"), ("files",)):
        answer = shop.told(*words)
        assert answer.code in range(5)
        assert "Traceback" not in answer.err


def test_a_store_of_a_newer_told_is_left_alone(shop: Machine) -> None:
    connection = apsw.Connection(str(shop.told_home / "sessions.db"))
    connection.execute(f"PRAGMA user_version={VERSION + 1}")
    connection.close()
    says = one_sentence(shop.told("list"), MISSING)
    assert says == "The store was made by a newer told. Update told, or run `told rebuild`."


def test_rebuild_helps_with_a_store_of_a_newer_told(shop: Machine) -> None:
    connection = apsw.Connection(str(shop.told_home / "sessions.db"))
    connection.execute(f"PRAGMA user_version={VERSION + 1}")
    connection.close()
    assert shop.told("rebuild").code == DONE
    assert shop.told("list").code == DONE


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("agents = [broken", "is not valid TOML: "),
        ("colour = true\n", "has an unknown setting: colour. Remove that line."),
        pytest.param(
            'background = "yes"\n', "background in ",
        ),
        ("[agents.codex]\nenabled = 1\n", "agents.codex.enabled in "),
        ("[agents.codex]\npath = 3\n", "agents.codex.path in "),
        ("[agents.codex]\nfolder = 'x'\n", "takes only `enabled` and `path`."),
        ("[agents]\ncodex = false\n", "takes only `enabled` and `path`."),
        pytest.param(
            "[agents.kodex]\nenabled = false\n", "kodex",
        ),
        pytest.param(
            "agents = 3\n", "agents",
        ),
        (b"\xff\xfe\x00", "is not valid TOML: "),
    ],
)  # fmt: skip
def test_a_config_that_is_not_understood_names_the_file_and_the_setting(
    machine: Machine, content: str | bytes, says: str
) -> None:
    machine.told_home.mkdir()
    path = machine.told_home / "config.toml"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    found = one_sentence(machine.told("list"), WRONG)
    assert says in found
    assert str(path) in found


def test_in_a_folder_that_was_deleted_everything_works(shop: Machine) -> None:
    gone = shop.home / "gone"
    gone.mkdir()
    script = 'cd "$1" && rmdir "$1" && shift && exec "$@"'
    command = ["sh", "-c", script, "sh", str(gone), sys.executable, "-P", "-m", "told"]
    asked = (["list"], ["search", "cache"], ["files", "--json"], ["health"])
    for words in asked[: points(everyday=1, soak=4)]:
        gone.mkdir(exist_ok=True)
        done = subprocess.run(
            [*command, *words], env=shop.environ, capture_output=True, text=True, timeout=120, check=False
        )
        assert (done.returncode, done.stderr) == (DONE, "")
        assert done.stdout


@pytest.mark.parametrize("words", ["list", "search cache --json", "show s --help", "help"])
def test_a_reader_that_has_seen_enough_is_no_error(shop: Machine, words: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "told", *words.split()],
            env=shop.environ, cwd=shop.home, stdout=writing, stderr=subprocess.PIPE, timeout=120, check=False,
        )  # fmt: skip
    finally:
        os.close(writing)
    assert done.stderr == b""
    assert done.returncode in (DONE, -signal.SIGPIPE)


def test_without_a_terminal_and_with_a_bare_locale_everything_is_still_utf_8_or_replaced(
    machine: Machine,
) -> None:
    machine.claude(("Ajoute un café 日本", "Voilà."))
    machine.environ |= {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    assert machine.told("index").code == DONE
    answer = machine.child("list")
    assert answer.code == DONE
    assert "Ajoute un caf" in answer.out
    assert machine.child("list", "--json").code == DONE


def test_the_rest_of_the_history_is_read_in_the_background(machine: Machine) -> None:
    for number in range(60):
        machine.claude((f"Question {number}", f"A long answer about thing {number}. " * 400))
    machine.environ["TOLD_BACKGROUND"] = "on"
    first = machine.child("list", "--json")
    assert first.code in (DONE, NOTHING)
    store = apsw.Connection(str(machine.told_home / "sessions.db"), flags=apsw.SQLITE_OPEN_READONLY)
    store.set_busy_timeout(5000)
    read: Any = 0
    swept: Any = 0
    deadline = time.monotonic() + 120
    while (read < 60 or not swept) and time.monotonic() < deadline:
        time.sleep(0.05)
        ((read, swept),) = store.execute("SELECT (SELECT count(*) FROM session), at FROM sweep").fetchall()
    store.close()
    assert read == 60
    assert swept


def test_a_busy_store_is_answered_from_what_is_known(shop: Machine) -> None:
    before = shop.told("list").out
    shop.claude(("A new one", "Yes."))
    other = apsw.Connection(str(shop.told_home / "sessions.db"))
    other.execute("BEGIN IMMEDIATE")
    try:
        answer = shop.told("list")
    finally:
        other.execute("ROLLBACK")
        other.close()
    assert (answer.code, answer.out) == (DONE, before)
    assert "A new one" in shop.told("list").out


@pytest.mark.parametrize("hidden", ["sessions.db", "key"])
def test_tolds_own_files_are_private(shop: Machine, hidden: str) -> None:
    assert (shop.told_home / hidden).stat().st_mode & 0o077 == 0
    assert shop.told_home.stat().st_mode & 0o077 == 0
