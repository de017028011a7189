"""What the user set holds in hooks; a config that is not understood stops no prompt and stores nothing."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.hook.desk import ASKED, TAUGHT, Desk, begun, typed

_BAD = (
    "learn = \n",
    "nonsense = 1\n",
    "[retention]\ndays = -1\n",
    "\x00",
    "[[redaction.rules]]\nname = 'a'\n",
)
_EVENTS = ("start", "prompt", "compact", "compacted", "stop", "end", "helper", "tool")
_UNWANTED = ("re", "tomllib", "json", "typing", "pathlib", "datetime", "enum", "told.settings.reading",
             "told.settings.keys", "tomlkit")  # fmt: skip


@pytest.fixture
def used(desk: Desk) -> Desk:
    """A machine that was told something."""
    assert desk.prompt(TAUGHT) == ""
    assert any("pnpm" in text for text in desk.texts())
    return desk


@pytest.mark.parametrize("content", _BAD)
def test_a_bad_config_stops_no_prompt_and_nothing_is_learned(used: Desk, content: str) -> None:
    used.config(content)
    for number in range(2):  # read, and from what was kept of it
        assert "pnpm" in used.prompt(ASKED, session=f"s{number}")
        used.prompt("No, we always deploy with helm, never with kubectl.", session=f"t{number}")
    assert "pnpm" in used.call("claude-code", "start", begun(used, session="new")).out
    assert b"helm" not in used.every_byte()
    assert used.told("health").out.startswith("RED 0.0 of 10. ")
    used.config("")
    used.prompt("No, we always deploy with helm, never with kubectl.", session="later")
    assert any("helm" in text for text in used.texts())


@pytest.mark.parametrize("content", _BAD[:2])
def test_with_a_bad_config_no_conversation_is_taken_in(desk: Desk, content: str) -> None:
    desk.claude(("Please rename the zephyrine module", "Done."), cwd=desk.project)
    desk.config(content)
    for event in _EVENTS:
        payload = typed(desk, "Please rename the zephyrine module")
        assert desk.call("claude-code", event, payload, TOLD_DEBUG="1").code == 0
    assert b"zephyrine" not in desk.every_byte()


def test_with_a_bad_config_a_command_of_the_user_says_why_nothing_was_kept(desk: Desk) -> None:
    desk.config("nonsense = 1\n")
    said = desk.prompt("/mem:remember The zephyrine server is in rack 4.")
    assert "/mem:remember was not carried out: " in said
    assert "nonsense" in said
    desk.config("")
    assert desk.texts() == []


def test_an_agent_that_is_off_is_told_nothing_and_not_listened_to(used: Desk) -> None:
    used.config("[agents.codex]\nenabled = false\n")
    for event in _EVENTS:
        taught = typed(used, "No, we always deploy with helm, never with kubectl.", "codex")
        assert used.ask("codex", event, taught | {"transcript_path": None}) == {}
    assert used.prompt(ASKED, "codex", "other") == ""
    assert "pnpm" in used.prompt(ASKED, "claude-code", "mine")
    assert not any("helm" in text for text in used.texts())


def test_budgets_hold_in_hooks(used: Desk) -> None:
    used.told("remember", "Always run the linter before a commit", "--scope", "global")
    used.config("[brief]\ntokens = 0\n")
    assert used.prompt(ASKED, session="a") == ""
    assert "pnpm" in str(used.ask("claude-code", "start", begun(used, session="b")))
    used.config("[brief]\nstart_tokens = 0\n")
    assert "pnpm" in used.prompt(ASKED, session="c")
    assert used.ask("claude-code", "start", begun(used, session="d")) == {}


def test_a_project_may_turn_learning_off_and_no_rule_of_the_users(used: Desk) -> None:
    used.write("code/acme-api/.told/config.toml", "learn = false\nguard = 'off'\n[brief]\ntokens = 0\n")
    assert "pnpm" in used.prompt(ASKED, session="a")
    used.prompt("No, we always deploy with helm, never with kubectl.", session="b")
    assert not any("helm" in text for text in used.texts())


def test_what_is_in_a_projects_config_stops_no_prompt(used: Desk) -> None:
    for number, content in enumerate((b"\xff", b"learn = 3", b"a = " + b"[" * 9000, b"#" * 70_000)):
        used.write("code/acme-api/.told/config.toml", content)
        assert "pnpm" in used.prompt(ASKED, session=f"s{number}")


def test_addresses_are_kept_where_the_user_wants_them(desk: Desk) -> None:
    taught = "No, always send the weekly figures to petra.vogel@brightwater-freight.com, never to the list."
    desk.prompt(taught, session="a")
    desk.config("[redaction]\nemails = false\n")
    assert "petra.vogel@brightwater-freight.com" not in " ".join(desk.texts())
    desk.prompt(taught.replace("weekly", "daily"), session="b")
    assert "petra.vogel@brightwater-freight.com" in " ".join(desk.texts())


def test_own_rules_hold_in_hooks(desk: Desk) -> None:
    desk.told("config", "add-rule", "badge", "BADGE-[0-9]{6}", "BADGE-104233")
    desk.prompt("No, always open the door with BADGE-991823, never with the key.", TOLD_DEBUG="1")
    desk.prompt("/mem:remember The back door takes BADGE-771823.")
    assert len(desk.texts()) == 2
    desk.call("claude-code", "prompt", typed(desk, "Where is BADGE-661823?"), TOLD_DEBUG="1")
    found = desk.every_byte()
    assert not any(number in found for number in (b"BADGE-991823", b"BADGE-771823", b"BADGE-661823"))


@pytest.mark.parametrize("content", ["# nothing yet\n", "[brief]\ntokens = 400\n[retention]\ndays = 3\n"])
def test_a_prompt_reads_no_toml(used: Desk, content: str) -> None:
    used.config(content)
    used.prompt(ASKED, session="first")
    program = (
        "import sys\nfrom told.hook import answer\n"
        f"call = {typed(used, ASKED, session='second')!r}\n"
        f"said = answer('claude-code', 'prompt', call, {used.environ!r})\n"
        f"print('pnpm' in said, *(name for name in {_UNWANTED!r} if name in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r}\n{program}"],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.stdout.split() == ["True"], done.stderr


def test_a_snapshot_has_the_users_own_rules(desk: Desk) -> None:
    desk.told("config", "add-rule", "badge", "BADGE-[0-9]{6}", "BADGE-104233")
    desk.told("install", "--agent", "claude")
    path = desk.told_home / f"snapshot.{sys.implementation.cache_tag}"
    assert b"BADGE-[0-9]{6}" in path.read_bytes()
    desk.told("config", "add-rule", "card", "CARD-[0-9]{6}", "CARD-104233")
    assert b"CARD-[0-9]{6}" in path.read_bytes()
    desk.call("claude-code", "prompt", typed(desk, "No, never show BADGE-991823 or CARD-771823 to a guest."))
    (text,) = desk.texts()
    assert "[secret:badge:" in text
    assert "[secret:card:" in text
