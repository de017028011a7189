"""`told config`: what holds and where it comes from, one file that keeps its comments, and no agent's say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from told.settings.keys import KEYS

if TYPE_CHECKING:
    from tests.cli.machine import Machine

RULE = ("add-rule", "badge", "BADGE-[0-9]{6}", "BADGE-104233")


def file_of(machine: Machine) -> str:
    return (machine.told_home / "config.toml").read_text()


def row(machine: Machine, name: str) -> dict[str, object]:
    found = machine.told("config", "list", "--json").json["settings"]
    return next(one for one in found if one["key"] == name)


def refused(machine: Machine, *words: str) -> str:
    """Return the one sentence with which a command is refused."""
    answer = machine.told("config", *words)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("told: ")
    assert answer.err.count("\n") == 1
    return answer.err


def test_path_says_where_the_file_is_and_writes_nothing(machine: Machine) -> None:
    path = str(machine.told_home / "config.toml")
    assert machine.told("config", "path").out == f"{path}\n"
    assert machine.told("config", "path", "--json").json == {"path": path}
    assert machine.told("config").code == machine.told("config", "get", "learn").code == 0
    assert not machine.told_home.exists()


def test_list_shows_every_setting_and_where_it_comes_from(machine: Machine) -> None:
    machine.config("learn = false\n[agents.codex]\nenabled = false\n")
    found = machine.told("config", "list", "--json").json
    names = [one["key"] for one in found["settings"]]
    assert names[:-2] == [key.name for key in KEYS if "NAME" not in key.name]
    assert names[-2:] == ["agents.codex.enabled", "agents.codex.path"]
    assert row(machine, "learn") == {"key": "learn", "value": False, "default": True, "source": "file"}
    assert row(machine, "background")["source"] == "environment"
    assert row(machine, "guard") == {"key": "guard", "value": "ask", "default": "ask", "source": "default"}
    out = machine.told("config", "list").out
    assert "  learn                   false          file, default true\n" in out
    assert max(map(len, out.splitlines()[1:])) <= 80


@pytest.mark.parametrize(
    ("name", "given", "value", "text"),
    [
        ("learn", "off", False, "false"), ("guard", "deny", "deny", "deny"),
        ("retention.days", "30", 30, "30"), ("retention.cap_mb", "0", 0, "0"),
        ("brief.tokens", "300", 300, "300"), ("brief.start_tokens", "4000", 4000, "4000"),
        ("redaction.emails", "false", False, "false"), ("redaction.enabled", "no", False, "false"),
        ("agents.codex.enabled", "false", False, "false"),
        ("agents.cursor.path", '/a "b" \\c ü', '/a "b" \\c ü', '/a "b" \\c ü'),
    ],
)  # fmt: skip
def test_what_is_set_is_given_back(machine: Machine, name: str, given: str, value: object, text: str) -> None:
    answer = machine.told("config", "set", name, given)
    assert (answer.code, answer.out, answer.err) == (0, f"{name} is now {text}.\n", "")
    assert machine.told("config", "get", name).out == f"{text}\n"
    assert machine.told("config", "get", name, "--json").json["value"] == value
    assert row(machine, name)["source"] == "file"
    assert (machine.told_home / "config.toml").stat().st_mode & 0o777 == 0o600
    assert machine.told("config", "unset", name).code == 0
    assert row(machine, name)["source"] == "default" if not name.startswith("agents") else True


def test_the_first_file_shows_every_setting_and_stays_as_it_is(machine: Machine) -> None:
    machine.told("config", "set", "retention.days", "30")
    before = file_of(machine)
    assert "\n# After how many days without need a memory may fade" in before
    assert all(key.path[-1] in before for key in KEYS)
    machine.told("config", "set", "retention.days", "90")
    machine.told("config", "set", "retention.days", "--default")
    assert file_of(machine) == before.replace("\ndays = 30\n", "\n# days = 90\n")


def test_comments_and_order_of_a_file_stay(machine: Machine) -> None:
    machine.config("# mine\n[brief] # small\ntokens = 100 # enough\n\n# years\n[retention]\ndays = 700\n")
    machine.told("config", "set", "brief.tokens", "200")
    machine.told("config", "set", "learn", "false")
    machine.told("config", "unset", "retention.days")
    assert file_of(machine) == (
        "learn = false\n# mine\n[brief] # small\ntokens = 200 # enough\n\n# years\n[retention]\n# days = 90\n"
    )


def test_a_file_that_is_a_link_stays_one(machine: Machine) -> None:
    machine.told_home.mkdir()
    real = machine.write("dotfiles/told.toml", "learn = false\n")
    (machine.told_home / "config.toml").symlink_to(real)
    machine.told("config", "set", "learn", "true")
    assert (machine.told_home / "config.toml").is_symlink()
    assert real.read_text() == "learn = true\n"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("set", "lern", "off"), "There is no setting 'lern'. Did you mean learn?"),
        (("get", "days"), "There is no setting 'days'. Did you mean retention.days?"),
        (("get", "agents.NAME.path"), "There is no setting 'agents.NAME.path'."),
        (("set", "agents.kodex.enabled", "off"), "Unknown agent 'kodex'. Did you mean codex?"),
        (("get", "agents.zzz.enabled"), "Unknown agent 'zzz'. told knows: "),
        (("set", "retention.days", "soon"), "must be a whole number from 0 to 36,500, not 'soon'."),
        (("set", "guard", "never"), "guard must be one of ask, deny, off, not 'never'."),
        (("set", "model", "bge"), "model must be empty, off, the whole path of a folder, or an address"),
        (("set", "model", "https://host/v1/embeddings"), "It must name the model: add #model=NAME"),
        (("set", "model", "http://other/v1#model=m&key=K"), "A key goes to another machine over https://"),
        (("set", "model", "https://a:b@host/v1#model=m"), "It must hold no password."),
        (("set", "model", "https://host/v1#model=m&key=sk-123"), "to the name of the variable"),
        (("set", "model", "https://host/v1#model=m&size=3"), "told knows model, key, "),
        (
            ("set", "model", f"https://host/v1?t=ghp_{'a1B2' * 9}#model=m"),
            "That value of model contains a secret",
        ),
        (("set", "reranker", "models"), "reranker must be empty, or the whole path of a folder, not"),
        (("set", "redaction.rules", "x"), "`told config add-rule NAME PATTERN EXAMPLE`"),
        (("set", "learn"), "`told config set KEY VALUE`"),
        (("get",), "`told config get KEY`"),
        (("list", "learn"), "`told config list`"),
        (("edit",), "`told config` takes list, path, get, set, unset, add-rule, remove-rule, not 'edit'."),
    ],
)
def test_what_cannot_be_set_is_refused_in_one_sentence(
    machine: Machine, words: tuple[str, ...], says: str
) -> None:
    assert says in refused(machine, *words)
    assert not machine.told_home.exists()


@pytest.mark.parametrize("content", ["learn = maybe\n", "a = 1\na = 2\n", "[retention]\ndays = 1\n[brief\n"])
def test_a_file_that_is_no_toml_is_left_as_it_is(machine: Machine, content: str) -> None:
    machine.config(content)
    found = refused(machine, "set", "learn", "off")
    assert "is not valid TOML" in found
    assert "(at line " in found
    assert file_of(machine) == content
    assert machine.told("config", "path").code == 0


def test_the_whole_file_must_be_understood_before_it_is_written(machine: Machine) -> None:
    machine.config("colour = 1\n[retention]\ndays = 'x'\n")
    assert "unknown setting: colour" in refused(machine, "set", "retention.days", "3")
    machine.config("[retention]\ndays = 'x'\n")
    assert "retention.days in " in refused(machine, "list")
    assert machine.told("config", "set", "retention.days", "3").code == 0
    assert machine.told("config", "get", "retention.days").out == "3\n"


@pytest.mark.parametrize(
    "words",
    [
        ("set", "learn", "off"), ("set", "guard", "off"), ("set", "redaction.enabled", "false"),
        ("set", "redaction.emails", "false"), ("set", "retention.days", "1"),
        ("set", "retention.cap_mb", "1"),
        ("set", "brief.start_tokens", "0"), ("set", "agents.codex.enabled", "false"), ("unset", "guard"),
        ("set", "guard", "--default"), RULE, ("unset", "model"),
        ("set", "model", "http://localhost/v1/embeddings#model=m"), ("set", "reranker", "/models/r"),
        ("remove-rule", "badge"),
    ],
)  # fmt: skip
def test_an_agent_weakens_nothing(machine: Machine, words: tuple[str, ...]) -> None:
    machine.config('guard = "deny"\n')
    machine.environ["CLAUDECODE"] = "1"
    assert refused(machine, *words).startswith("told: Only you can change ")
    assert file_of(machine) == 'guard = "deny"\n'


def test_an_agent_may_look_and_set_what_does_no_harm(machine: Machine) -> None:
    machine.environ["CLAUDECODE"] = "1"
    assert machine.told("config", "set", "background", "false").code == 0
    assert machine.told("config", "get", "background").out == "false\n"
    assert machine.told("config", "list").code == machine.told("config", "path").code == 0


def test_what_follows_from_a_choice_of_model_is_said(machine: Machine) -> None:
    makes = "`told re-embed` makes the missing vectors.\n"
    address = "http://localhost:8080/v1/embeddings#model=m"
    out = machine.told("config", "set", "model", address).out
    assert out == f"model is now {address}. Redacted text is sent there from now on. {makes}"
    assert machine.told("config", "set", "model", "~/m").out == f"model is now ~/m. {makes}"
    assert machine.told("config", "set", "model", "off").out == "model is now off.\n"
    assert machine.told("config", "unset", "model").out == f"model is now empty. {makes}"
    assert 'model = ""' in file_of(machine)


def test_a_variable_that_turns_something_off_is_named(machine: Machine) -> None:
    machine.environ["TOLD_LEARN"] = "off"
    out = machine.told("config", "set", "learn", "true").out
    assert out == "learn is now false, because TOLD_LEARN turns it off.\n"


def test_a_projects_own_config_is_shown_and_what_it_may_not_do_is_said(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.repo("work/shop")
    machine.write("work/shop/.told/config.toml", 'guard = "off"\n[brief]\ntokens = 700\n')
    found = machine.child("config", "list", "--json", cwd=machine.home / "work" / "shop").json
    tokens = next(one for one in found["settings"] if one["key"] == "brief.tokens")
    assert tokens == {"key": "brief.tokens", "value": 700, "default": 450, "source": "project"}
    said = "This project's .told/config.toml sets guard, which only you may set: left alone."
    assert found["notes"] == [said]
    assert "guard" not in machine.told("health").out
    monkeypatch.chdir(machine.home / "work" / "shop")
    assert said in machine.told("health").out


def test_health_says_what_is_wrong_with_the_file(machine: Machine) -> None:
    machine.config("[retention]\ndays = -3\n")
    answer = machine.told("health")
    assert answer.code == 0
    assert answer.out.startswith("RED 0.0 of 10. retention.days in ")
    found = machine.told("health", "--json").json
    assert (found["zone"], found["do"]) == ("RED", found["config"][0])
    machine.config("[agents.kodex]\nenabled = false\n")
    assert "Unknown agent 'kodex'" in machine.told("health").out


def test_install_writes_the_file_once(machine: Machine) -> None:
    machine.told("install", "--agent", "claude", "--dry-run")
    assert not (machine.told_home / "config.toml").exists()
    machine.told("install", "--agent", "claude")
    assert "# learn = true\n" in file_of(machine)
    assert (machine.told_home / "config.toml").stat().st_mode & 0o777 == 0o600
    machine.config("learn = false\n")
    machine.told("install", "--agent", "claude")
    assert file_of(machine) == "learn = false\n"
    machine.told("uninstall")
    assert file_of(machine) == "learn = false\n"
    machine.told("uninstall", "--purge", "--yes")
    assert not machine.told_home.exists()


def test_budgets_hold_for_briefs(machine: Machine) -> None:
    for number in range(8):
        machine.told("remember", f"Always run step number {number} of the release list", "--scope", "global")
    usual = machine.told("brief", "--json").json["tokens"]
    machine.told("config", "set", "brief.start_tokens", "60")
    assert machine.told("brief", "--json").json["tokens"] <= 60 < usual
    machine.told("config", "set", "brief.tokens", "0")
    assert machine.told("brief", "--prompt", "which release step is next?").code == 1


def test_a_project_may_say_that_it_is_not_learned_from(machine: Machine) -> None:
    quiet, other = machine.repo("work/quiet"), machine.repo("work/other")
    machine.write("work/quiet/.told/config.toml", "learn = false\n")
    machine.claude(("No, we always use tabs here, never spaces.", "Done."), cwd=quiet)
    machine.claude(("No, we always use pnpm here, never npm.", "Done."), cwd=other)
    machine.told("index")
    found = machine.told("memories", "--all-projects", "--all", "--json").json["memories"]
    assert [one["text"] for one in found if "tabs" in one["text"]] == []
    assert [one["text"] for one in found if "pnpm" in one["text"]] != []


def test_addresses_are_kept_where_the_user_wants_them(machine: Machine) -> None:
    address = "petra.vogel@brightwater-freight.com"
    machine.told("remember", f"Send the weekly figures to {address}", "--scope", "global")
    assert address not in machine.told("memories").out
    machine.told("config", "set", "redaction.emails", "false")
    machine.told("remember", f"Ask {address} about the daily figures", "--scope", "global")
    assert address in machine.told("memories").out


def test_own_rules_come_and_go(machine: Machine) -> None:
    assert machine.told("config", *RULE).out.startswith("Text that badge matches is redacted from now on")
    assert machine.told("config", "get", "redaction.rules").out == "badge: BADGE-[0-9]{6}  (BADGE-104233)\n"
    machine.told("remember", "The door opens with BADGE-991823 only", "--scope", "global")
    out = machine.told("memories").out
    assert "BADGE-991823" not in out
    assert "[secret:badge:" in out
    assert machine.told("config", "remove-rule", "badge").out == "Removed the rule badge.\n"
    assert machine.told("config", "remove-rule", "badge").code == 1
    assert "rules]]\nname" not in file_of(machine)


@pytest.mark.parametrize(
    ("pattern", "example"), [("BADGE-[0-9]{6}", "card 7"), ("(a+)+$", "aaaa"), ("[0-9", "1"), ("", "x")]
)
def test_a_rule_that_is_of_no_use_is_refused(machine: Machine, pattern: str, example: str) -> None:
    refused(machine, "add-rule", "mine", pattern, example)
    assert not (machine.told_home / "config.toml").exists()
    toml = f"[[redaction.rules]]\nname = 'mine'\npattern = '{pattern}'\nexample = '{example}'\n"
    machine.config(toml)
    answer = machine.told("list")
    assert (answer.code, answer.out) == (2, "")
    assert "mine" in answer.err
    assert str(machine.told_home / "config.toml") in answer.err


def test_an_agent_is_named_as_for_every_command(machine: Machine) -> None:
    machine.copilot(("Work on the cart", "Done."))
    assert machine.told("list", "--agent", "copilot").code == 0
    answer = machine.told("config", "set", "agents.Copilot.enabled", "off")
    assert (answer.code, answer.out) == (0, "agents.copilot-cli.enabled is now false.\n")
    assert machine.told("config", "get", "agents.copilot.enabled").out == "false\n"
    assert machine.told("config", "set", "agents.intellij.enabled", "off").out.startswith("agents.jetbrains-")
    assert machine.told("config", "unset", "agents.copilot.enabled").code == 0
    # A file may have been written by hand.
    machine.config("[agents.copilot]\nenabled = false\n")
    agents = {row["agent"]: row["enabled"] for row in machine.told("agents", "--json").json["agents"]}
    assert (agents["copilot-cli"], agents["claude-code"]) == (False, True)
    assert machine.told("config", "set", "agents.copilot-cli.enabled", "on").code == 0
    assert (machine.told_home / "config.toml").read_text() == "[agents.copilot]\nenabled = true\n"
