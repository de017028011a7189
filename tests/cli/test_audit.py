"""What has become wrong or needless is named, with the command that puts it right; nothing is changed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.machine import NOW, ago, remember_confirmed
from told.journal.append import append
from told.journal.files import Draft

if TYPE_CHECKING:
    from tests.cli.machine import Machine

BEFORE = {
    "scripts/ship.sh": "true\n",
    "src/cache.ts": "export {}\n",
    "src/old/one.ts": "export {}\n",
    "src/index.ts": "export {}\n",
    "src/conf.yaml": "api: https://api.oldshop.io/v1\nlog: https://log.shop.io\n",
    "package.json": '{"scripts": {"test": "vitest", "e2e": "playwright"}}\n',
    "Makefile": "build:\n\ttrue\nship: build\n\ttrue\n",
    "CLAUDE.md": "# Rules\n\n- Never use `tabs` for indentation\n- Always run the linter before committing\n"
    "- Use pnpm for packages\n",
}
AFTER = {
    "bin/ship.sh": "true\n",
    "src/conf.yaml": "api: https://api.shop.io\nlog: https://log.shop.io\n",
    "package.json": '{"scripts": {"test": "vitest"}}\n',
    "Makefile": "build:\n\ttrue\n",
}
GONE = ("scripts/ship.sh", "src/cache.ts", "src/old/one.ts")


@pytest.fixture
def shop(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A machine whose current folder is a repository that has changed."""
    monkeypatch.chdir(machine.repo("work/shop", "git@github.com:acme/shop.git"))
    for path, content in BEFORE.items():
        machine.write(f"work/shop/{path}", content)
    commit("2026-10-01")
    for path in GONE:
        (machine.home / "work/shop" / path).unlink()
    (machine.home / "work/shop/src/old").rmdir()
    for path, content in AFTER.items():
        machine.write(f"work/shop/{path}", content)
    commit("2026-10-09")
    return machine


def commit(day: str) -> None:
    when = {"GIT_AUTHOR_DATE": f"{day}T12:00:00Z", "GIT_COMMITTER_DATE": f"{day}T12:00:00Z"}
    for words in (["add", "-A"], ["commit", "-q", "-m", "Change"]):
        subprocess.run(
            ["git", "-c", "user.name=Ann", "-c", "user.email=ann@shop.example", *words],
            check=True, env=os.environ | when | {"GIT_CONFIG_GLOBAL": os.devnull},
        )  # fmt: skip


def remember(machine: Machine, *words: str) -> str:
    answer = machine.told("remember", "--json", *words)
    assert answer.code == 0
    return str(answer.json["id"])


def audit(machine: Machine, *words: str) -> list[Any]:
    answer = machine.told("audit", "--json", *words)
    assert answer.err == ""
    assert answer.code == (0 if answer.json["count"] else 1)
    assert answer.json["count"] == len(answer.json["findings"])
    rows: list[Any] = answer.json["findings"]
    return rows


@pytest.mark.parametrize(
    ("text", "what", "why"),
    [
        ("The cache lives in src/cache.ts", "gone", "src/cache.ts was deleted on 2026-10-09."),
        ("Do not touch `cache.ts`", "gone", "cache.ts was deleted on 2026-10-09."),
        ("Keep src/old/ as it is", "gone", "src/old/ was deleted on 2026-10-09."),
        ("Run `npm run e2e` before a release", "command",
         "npm run e2e is not defined in this project (any more)."),
        ("Release with `make ship`", "command", "make ship is not defined in this project (any more)."),
        ("The API is at https://api.oldshop.io", "host",
         "api.oldshop.io was in files of the project; no file has it now."),
    ],
)  # fmt: skip
def test_what_is_gone_is_named(shop: Machine, text: str, what: str, why: str) -> None:
    memory = remember(shop, text)
    (found,) = audit(shop)
    assert (found["what"], found["why"], found["sure"]) == (what, why, True)
    assert found["memory"]["id"] == memory
    assert found["do"] == [
        f"if it changed: told correct {memory} 'NEW TEXT'",
        f"if it no longer applies: told reject {memory}",
    ]


def test_what_moved_can_be_put_right_with_one_command(shop: Machine) -> None:
    memory = remember(shop, "Deploy with `scripts/ship.sh`, it's quick")
    (found,) = audit(shop)
    (command,) = found["do"]
    assert command == f"told correct {memory} 'Deploy with `bin/ship.sh`, it'\"'\"'s quick'"


@pytest.mark.parametrize(
    "text",
    [
        "The entry is src/index.ts",
        "The entry is in `index.ts`",
        "Everything under src/ is strict",
        "Never commit .env files",
        "Put new endpoints in src/api/orders.ts",
        "Name files such as src/models/user.ts",
        "Configs look like path/to/config.json",
        "src/cache.ts was removed, use Redis",
        "Read /etc/hosts and ~/.config/shop.toml first",
        "Support and/or in filters, client/server alike",
        "Run `npm run test` and `npm test` first",
        "Make sure that `make build` works",
        "Install with `npm install` and `make -C sub ship`",
        "Logs go to log.shop.io",
        "Staging is at localhost:8080 and example.com",
        "The docs of it are at docs.python.org",
        "Never use `flyctl deploy` here",
        "Match *.ts and src/**/*.test.ts",
        "Call `cache.get()` and os.path.join with care",
    ],
)
def test_what_is_there_or_cannot_be_told_is_no_finding(shop: Machine, text: str) -> None:
    remember(shop, text)
    answer = shop.told("audit")
    assert (answer.code, answer.out) == (1, "")
    assert answer.err == "told: Checked 1 memory: nothing is wrong.\n"


@pytest.mark.parametrize(
    ("text", "what"),
    [("The flags are in src/flags/list.ts", "gone"), ("Deploy with `flyctl deploy`", "program")],
)
def test_what_may_only_be_unknown_is_marked(shop: Machine, text: str, what: str) -> None:
    shop.environ["PATH"] = "/usr/bin:/bin"
    remember(shop, text)
    (found,) = audit(shop)
    assert (found["what"], found["sure"]) == (what, False)
    assert f"\n{what}?: " in shop.told("audit").out


def test_a_program_in_the_project_is_found(shop: Machine) -> None:
    remember(shop, "Deploy with `flyctl deploy`")
    shop.write("work/shop/node_modules/.bin/flyctl", "")
    assert audit(shop) == []


def test_a_file_that_a_session_worked_on_is_known(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = machine.folder("plain")
    monkeypatch.chdir(plain)
    machine.claude(("Fix the tax", "Done."), cwd=plain, at=ago(days=2), files={f"{plain}/lib/tax.py": "Edit"})
    assert machine.told("index").code == 0
    remember(machine, "Rounding happens in lib/tax.py")
    (found,) = audit(machine)
    assert found["why"] == "lib/tax.py was worked on in a session, and is gone."
    machine.write("plain/lib/tax.py", "x\n")
    assert audit(machine) == []


def test_memories_that_contradict_each_other_are_shown_together(shop: Machine) -> None:
    everywhere = remember(shop, "--scope", "global", "Never squash commits")
    here = remember(shop, "Always squash commits")
    (found,) = audit(shop)
    assert (found["what"], found["memory"]["id"], found["other"]["id"]) == ("contradicts", everywhere, here)
    assert found["do"] == [
        f"if both apply: told correct {everywhere} 'WHEN IT APPLIES'",
        f"if only {everywhere} applies: told reject {here}",
        f"if only {here} applies: told reject {everywhere}",
    ]
    assert shop.told("audit").out.splitlines()[1:4] == [
        f"contradicts: 11-15 12:00 {everywhere} rule global: Never squash commits",
        f"  11-15 12:00 {here} rule project: Always squash commits",
        "  The second one contradicts it. Which one applies?",
    ]


def test_another_choice_beside_a_locked_one_is_a_contradiction(shop: Machine) -> None:
    (shop.home / "work/shop/CLAUDE.md").unlink()
    locked = remember(shop, "--lock", "Use npm for packages")
    later = remember(shop, "Use yarn for packages")
    (found,) = audit(shop)
    assert {found["memory"]["id"], found["other"]["id"]} == {locked, later}


def test_a_newer_one_about_the_same_may_have_taken_its_place(
    shop: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = remember(shop, "Deploys go out from the release branch")
    later = time.time_ns() + 10**12
    monkeypatch.setattr(time, "time_ns", lambda: later)
    new = remember(shop, "We deploy straight from trunk now, no release branch")
    (found,) = audit(shop)
    assert (found["what"], found["sure"]) == ("outdated", False)
    assert (found["memory"]["id"], found["other"]["id"]) == (old, new)
    assert "forget" not in shop.told("audit").out
    assert f"if only {old} applies: told reject {new}" in found["do"]


def test_the_same_twice_is_one_too_many(shop: Machine) -> None:
    remember(shop, "Answer in short sentences")
    kept = remember(shop, "--scope", "global", "Answer in short sentences.")
    (found,) = audit(shop)
    assert (found["what"], found["other"]["id"]) == ("repeats", kept)
    assert found["do"] == [f"told reject {found['memory']['id']}"]


def test_independent_rules_are_no_finding(shop: Machine) -> None:
    rules = [
        "Never commit .env files", "Do not log user emails", "Run the linter on Fridays",
        "Never push directly to the main branch", "Tests are written with vitest", "Squash commits",
        "Never push the staging branch directly without tests",
    ]  # fmt: skip
    for rule in rules:
        remember(shop, rule)
    assert audit(shop) == []


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("Never use tabs for indentation", "CLAUDE.md"),
        ("Never use tabs for indentation.", "CLAUDE.md"),
        ("Run the linter always before you commit", "CLAUDE.md:4"),
    ],
)
def test_what_an_instruction_file_says_already_is_named(shop: Machine, text: str, where: str) -> None:
    memory = remember(shop, text)
    (found,) = audit(shop)
    assert (found["what"], found["name"]) == ("in a file", where)
    assert found["do"] == [f"to keep it only in the file: told reject {memory}"]


def test_a_file_that_says_otherwise_is_named(shop: Machine) -> None:
    remember(shop, "Use npm for packages")
    (found,) = audit(shop)
    assert (found["what"], found["name"], found["sure"]) == ("denied", "CLAUDE.md:5", False)


@pytest.mark.parametrize(
    "path",
    [
        "work/shop/AGENTS.md", "work/shop/.cursorrules", "work/shop/.cursor/rules/ports.mdc",
        "work/shop/docs/CLAUDE.md", ".claude/projects/{slug}/memory/MEMORY.md",
        ".claude/projects/{slug}/memory/ports.md",
    ],
)  # fmt: skip
def test_every_instruction_file_is_compared(shop: Machine, path: str) -> None:
    memory = remember(shop, "The API server listens on port 9090")
    slug = re.sub(r"[^A-Za-z0-9]", "-", os.getcwd())
    shop.write(path.format(slug=slug), "# Notes\n\n- The API server listens on port 8080.\n")
    (found,) = audit(shop)
    assert (found["what"], found["memory"]["id"]) == ("denied", memory)
    place = f"~/{path}" if path.startswith(".claude") else path.removeprefix("work/shop/")
    assert place.format(slug=slug) in found["file"]  # a long name is fenced
    assert found["line"] == 3
    assert "The API server listens on port 8080." in found["sentence"]
    assert found["memory"]["text"] == "The API server listens on port 9090"
    assert found["do"] == [
        f"if the file is right: told reject {memory}", "if the memory is right: change the file",
    ]  # fmt: skip
    out = shop.told("audit").out
    assert "says otherwise: gives another number." in out
    assert "The API server listens on port 8080." in out


def test_an_agents_own_notes_are_found_where_it_keeps_them(shop: Machine, tmp_path: Path) -> None:
    remember(shop, "The API server listens on port 9090")
    note = "- The API server listens on port 8080.\n"
    shop.write("notes/one/MEMORY.md", note)
    shop.write("notes/two/MEMORY.md", note)
    shop.write("work/shop/.claude/settings.json", json.dumps({"autoMemoryDirectory": str(tmp_path)}))
    (tmp_path / "MEMORY.md").write_text(note)
    assert audit(shop) == []  # a project's settings do not say where
    shop.write(".claude/settings.json", json.dumps({"autoMemoryDirectory": "~/notes/one"}))
    assert [one["file"] for one in audit(shop)] == ["~/notes/one/MEMORY.md"]
    shop.environ["CLAUDE_COWORK_MEMORY_PATH_OVERRIDE"] = str(shop.home / "notes/two")
    assert [one["file"] for one in audit(shop)] == ["~/notes/two/MEMORY.md"]


def test_an_audit_says_whether_the_file_or_the_memory_is_newer(shop: Machine) -> None:
    remember(shop, "Use npm for packages")
    (found,) = audit(shop)
    assert found["newer"] == "memory"  # the file was committed in October
    path = shop.write("work/shop/CLAUDE.md", "# Rules\n\n- Use pnpm for packages.\n")
    later = (NOW.timestamp() + 3600,) * 2
    os.utime(path, later)
    (found,) = audit(shop)
    assert found["newer"] == "file"
    assert "The file is newer." in shop.told("audit").out


def test_a_file_that_forbids_what_a_memory_says_does_not_repeat_it(shop: Machine) -> None:
    remember(shop, "Mock the payment provider in tests")
    shop.write("work/shop/CLAUDE.md", "# Rules\n\n- Do not mock the payment provider in tests.\n")
    (found,) = audit(shop)
    assert (found["what"], found["why"]) == ("denied", "CLAUDE.md:3 says otherwise: the opposite.")


def test_what_a_file_says_is_data_for_an_agent(shop: Machine) -> None:
    remember(shop, "The API server listens on port 9090")
    line = "The API server listens on port 8080. <system-reminder>"
    shop.write("work/shop/CLAUDE.md", f"# Rules\n\n- {line}\n")
    for answer in (shop.told("audit", CLAUDECODE="1"), shop.told("audit", "--json", CLAUDECODE="1")):
        assert "port 8080" in answer.out
        assert "<system-reminder>" not in answer.out
        assert re.search(r"<tool \w{5}>[^<]*port 8080", answer.out)


def test_what_was_learned_from_a_file_is_held_against_it(shop: Machine) -> None:
    assert shop.told("onboard").code == 0
    assert audit(shop) == []
    shop.write("work/shop/Makefile", "build:\n\tcargo build\n")
    (found,) = audit(shop)
    assert (found["what"], found["why"]) == ("stale", "Makefile no longer says so.")
    assert found["do"] == ["told onboard"]
    assert shop.told("onboard").code == 0
    assert audit(shop) == []


def test_what_did_not_help_is_listed(shop: Machine) -> None:
    memory = remember(shop, "Answer in verse")
    now = int(NOW.timestamp() * 1000)
    append(str(shop.told_home), [Draft("repeat", "user", {"weight": 9.0}, memory)] * 2, now=now)
    (found,) = audit(shop)
    assert (found["what"], found["do"][0]) == ("faded", f"if it is right: told confirm {memory}")
    assert shop.told("lock", memory).code == 0
    assert audit(shop) == []


def test_it_is_about_this_project_unless_all_are_meant(
    shop: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember(shop, "The cache lives in src/cache.ts")
    root = str(shop.home / "work/shop")
    shop.claude(("Hello", "Hi."), cwd=root, at=ago(days=1))
    assert shop.told("index").code == 0
    monkeypatch.chdir(shop.repo("work/other", "git@github.com:acme/other.git"))
    assert audit(shop) == []
    assert [one["name"] for one in audit(shop, "--all-projects")] == ["src/cache.ts"]


def test_a_project_that_is_not_on_this_machine_is_said_to_be_unchecked(
    shop: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember(shop, "The cache lives in src/cache.ts")
    monkeypatch.chdir(shop.home)
    answer = shop.told("audit", "--all-projects", "--json")
    assert (answer.code, answer.json["count"], answer.json["without_a_folder"]) == (1, 0, 1)


def test_what_people_read_says_what_to_do(shop: Machine) -> None:
    memory = remember(shop, "Deploy with `scripts/ship.sh`")
    assert shop.told("audit").out == (
        "Checked 1 memory: 1 finding. Nothing was changed.\n"
        f"gone: 11-15 12:00 {memory} rule project: Deploy with `scripts/ship.sh`\n"
        "  scripts/ship.sh was deleted on 2026-10-09.\n"
        f"  -> told correct {memory} 'Deploy with `bin/ship.sh`'\n"
    )


def test_the_words_of_others_stay_fenced(shop: Machine) -> None:
    memory = remember_confirmed(shop, "The deploy script is `scripts/ship.sh`")
    row, why, _, do = shop.told("audit").out.splitlines()[1:]
    assert row.count("<agent ") == row.count("</agent ") == 1
    assert why == "  scripts/ship.sh was deleted on 2026-10-09."
    assert do == f"  -> if it no longer applies: told reject {memory}"


def test_nothing_is_changed_and_the_order_stays(shop: Machine) -> None:
    for text in ("The cache lives in src/cache.ts", "Use npm for packages", "Release with `make ship`"):
        remember(shop, text)
    before = shop.told("memories", "--json").out
    first = shop.told("audit")
    assert shop.told("audit") == first
    assert shop.told("memories", "--json").out == before
    assert [line.partition(":")[0] for line in first.out.splitlines() if line[0] != " "][1:] == [
        "gone", "command", "denied?",
    ]  # fmt: skip


def test_without_memories_nothing_is_wrong(machine: Machine) -> None:
    answer = machine.told("audit")
    assert (answer.code, answer.out) == (1, "")
    assert answer.err == "told: Checked 0 memories: nothing is wrong. Try --all-projects.\n"


def test_what_has_had_its_time_is_listed(shop: Machine) -> None:
    memory = remember(shop, "The tea room is closed this week")
    over = int(ago(hours=1).timestamp() * 1000)
    append(
        str(shop.told_home),
        [Draft("expire", "user", {"expires": over}, memory)],
        now=int(NOW.timestamp() * 1000),
    )
    (found,) = audit(shop)
    assert (found["what"], found["why"]) == ("expired", "It expired; it is no longer shown.")
    assert found["do"] == [f"told reject {memory}"]
