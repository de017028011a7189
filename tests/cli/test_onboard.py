"""A project is learned from its own files: as what they say, once, with the line that says it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.soak import points

if TYPE_CHECKING:
    from tests.cli.machine import Machine

README = """# Shop

[![build](https://img.example/b.svg)](https://ci.example)

Shop sells **tea** to people in [small towns](https://towns.example). It is old.

## Testing

```sh
$ npm test
all 12 passed
```

## Colours

```sh
paint --blue
```
"""
PACKAGE = """{
  "name": "shop",
  "packageManager": "pnpm@9.1.0",
  "engines": {"node": ">=20"},
  "scripts": {
    "test": "vitest run",
    "lint": "eslint .",
    "tea:brew": "node brew.js"
  }
}
"""
INSTRUCTIONS = """---
globs: "*"
---
# Working here

## Rules
- Never use tabs for indentation
- All database access goes through `src/db/repo.ts`,
  also in tests
- [the wiki](https://wiki.example)

```sh
never run this
```
"""
COMPOSE = """services:
  web:
    build: .
    ports:
      - "8080:80"
  db:
    image: postgres:16
    ports:
      - 5432:5432
volumes:
  data:
"""
WORKFLOW = """on: push
jobs:
  test:
    steps:
      - uses: actions/checkout@v4
      - run: pnpm install
      - name: Test
        run: |
          pnpm test
          echo done
"""
FILES = {
    "README.md": README,
    "package.json": PACKAGE,
    "pnpm-lock.yaml": "lockfileVersion: 9\n",
    "Makefile": "BIN = .venv\n.PHONY: build\nbuild: src\n\t@docker build .\nodd-thing:\n\ttrue\n",
    "CLAUDE.md": INSTRUCTIONS,
    ".cursor/rules/style.mdc": "- Always write tests before you fix a bug\n",
    "docker-compose.yml": COMPOSE,
    ".github/workflows/ci.yml": WORKFLOW,
    ".env.example": "# where\nDATABASE_URL=postgres://shop:hunter2secret@db/shop\nexport API_KEY=abc\n",
    "src/README.md": "# src\n\nThe code of the shop.\n",
    "src/index.ts": "export {}\n",
    "src/db/repo.ts": "export {}\n",
    "tests/shop.test.ts": "test()\n",
}


@pytest.fixture
def shop(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A machine whose current folder is a repository with all sorts of files."""
    monkeypatch.chdir(machine.repo("work/shop", "git@github.com:acme/shop.git"))
    for path, content in FILES.items():
        machine.write(f"work/shop/{path}", content)
    return machine


def git(*words: str, when: str = "2026-11-01T12:00:00Z") -> None:
    who = {"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when, "GIT_CONFIG_GLOBAL": os.devnull}
    subprocess.run(
        ["git", "-c", "user.name=Ann", "-c", "user.email=ann@shop.example", *words],
        check=True, env=os.environ | who, capture_output=True,
    )  # fmt: skip


def onboard(machine: Machine, *words: str) -> Any:
    answer = machine.told("onboard", "--json", *words)
    assert (answer.code, answer.err) == (0, "")
    return answer.json


def bare(text: str) -> str:
    """Return what stands between the marks of a fence."""
    assert text.startswith("<tool ")
    return text.partition(">")[2].rpartition("</tool")[0]


def learned(machine: Machine, *words: str) -> dict[str, Any]:
    return {bare(row["text"]): row for row in onboard(machine, *words)["learned"]}


def memories(machine: Machine, *words: str) -> list[Any]:
    answer = machine.told("memories", "--json", "--limit", "500", *words)
    rows: list[Any] = answer.json["memories"]
    return rows


@pytest.mark.parametrize(
    ("says", "group", "file", "line"),
    [
        ("README.md says of the project: Shop sells tea to people in small towns.", "what it is",
         "README.md", 5),
        ('README.md, under "Testing": `npm test`', "commands", "README.md", 10),
        ("Written mostly in TypeScript", "stack", ".", None),
        ("Packages are managed with pnpm 9.1.0 (package.json)", "stack", "package.json", 3),
        ("Needs node >=20 (package.json)", "stack", "package.json", 4),
        ("`pnpm run test` runs `vitest run` (package.json)", "commands", "package.json", 6),
        ("Other commands of package.json (`pnpm run NAME`): `tea:brew`", "commands", "package.json", 8),
        ("`make build` runs `docker build .` (Makefile)", "commands", "Makefile", 3),
        ("Other commands of Makefile (`make NAME`): `odd-thing`", "commands", "Makefile", 5),
        (".github/workflows/ci.yml (CI) runs `pnpm install`, `pnpm test`", "commands",
         ".github/workflows/ci.yml", 6),
        (".env.example names the variables DATABASE_URL, API_KEY", "environment", ".env.example", 2),
        ("docker-compose.yml has the services web (port 8080:80), db (postgres:16, port 5432:5432)",
         "environment", "docker-compose.yml", 1),
        ("Folders: src/: The code of the shop", "layout", ".", None),
        ("Tests are in tests/, named *.test.ts", "layout", ".", None),
        ("CLAUDE.md says: Never use tabs for indentation", "instructions", "CLAUDE.md", 7),
        ("CLAUDE.md says: All database access goes through `src/db/repo.ts`, also in tests", "instructions",
         "CLAUDE.md", 8),
        (".cursor/rules/style.mdc says: Always write tests before you fix a bug", "instructions",
         ".cursor/rules/style.mdc", 1),
    ],
)  # fmt: skip
def test_what_files_say_is_learned_with_its_place(
    shop: Machine, says: str, group: str, file: str, line: int | None
) -> None:
    row = learned(shop, "--dry-run")[says]
    assert (row["group"], row["file"], row["line"]) == (group, file, line)


RECORDS = {
    "README.md": README + "\nSee the [runbooks](docs/runbooks/) and [the press page](docs/press.md).\n",
    "docs/press.md": "Do not call us on Sundays.\n",
    "docs/runbooks/failover.md": """# Failover

> [!WARNING]
> Failover drops orders. Announce it first.

## Promote

```sh
./promote.sh db-1
```

1. Never promote both replicas at the same
   time: they diverge.
2. Check the lag.
""",
    "docs/adr/0001-mysql.md": "# 1. Use MySQL\n\n## Status\n\nSuperseded by [ADR-0002](0002.md)\n",
    "docs/adr/0002-postgres.md": """# ADR 2: Use PostgreSQL

* Status: accepted
* Date: 2025-05-06

## Decision

Orders are kept in PostgreSQL 16. Reports read from a replica.
""",
    "docs/adr/template.md": "# Title\n\nStatus: accepted\n",
    "DECISIONS.md": """# Decisions

## 2026-03-01: Vite instead of webpack
**Status:** accepted
Webpack took 4 minutes. Vite takes 20 s.

## Render on the server
Status: proposed

Search engines want it.
""",
    "ROADMAP.md": """# Roadmap

## Now
- [ ] Split the importer off
- [x] Drop Python 3.9

## Done
- Rate limits for the public API
""",
    "STATE.md": "# State\n\n## Focus\n\nThe importer moves to its own service. It reads S3.\n",
    "CONTRIBUTING.md": "# Contributing\n\n## Rules\n\n- Never use mocks in the tests of the importer\n",
}


def test_decisions_plans_and_runbooks_are_learned(shop: Machine) -> None:
    for path, content in RECORDS.items():
        shop.write(f"work/shop/{path}", content)
    found = learned(shop)
    new = {text: (row["group"], row["kind"], row["file"], row["line"]) for text, row in found.items()}
    expected = {
        'docs/runbooks/failover.md, under "Promote": `./promote.sh db-1`':
            ("runbooks", "fact", "docs/runbooks/failover.md", 9),
        "docs/runbooks/failover.md warns: Failover drops orders.":
            ("runbooks", "fact", "docs/runbooks/failover.md", 3),
        "docs/runbooks/failover.md warns: Never promote both replicas at the same time: they diverge.":
            ("runbooks", "fact", "docs/runbooks/failover.md", 12),
        "Decision no longer in force (superseded by ADR-0002): Use MySQL":
            ("decisions", "fact", "docs/adr/0001-mysql.md", 1),
        "Decision (accepted): Use PostgreSQL. Orders are kept in PostgreSQL 16.":
            ("decisions", "decision", "docs/adr/0002-postgres.md", 1),
        "Decision (accepted): Vite instead of webpack. Webpack took 4 minutes.":
            ("decisions", "decision", "DECISIONS.md", 4),
        "Decision not made yet (proposed): Render on the server": ("decisions", "fact", "DECISIONS.md", 8),
        'ROADMAP.md, under "Now": Split the importer off': ("plans", "fact", "ROADMAP.md", 4),
        'STATE.md, under "Focus": The importer moves to its own service.': ("plans", "fact", "STATE.md", 5),
    }  # fmt: skip
    assert {
        text: row for text, row in new.items() if row[0] in ("runbooks", "decisions", "plans")
    } == expected
    assert "CONTRIBUTING.md says: Never use mocks in the tests of the importer" in new
    assert not [text for text in new if "Sundays" in text or "holds mostly" in text]
    # A record that is superseded later takes the place of what it said.
    shop.write("work/shop/docs/adr/0002-postgres.md", "# ADR 2: Use PostgreSQL\n\n* Status: deprecated\n")
    (text,) = learned(shop)
    assert text == "Decision no longer in force (deprecated): Use PostgreSQL"


def test_what_is_no_command_and_no_statement_is_not_learned(shop: Machine) -> None:
    every = " ".join(learned(shop))
    for word in ("paint", "12 passed", "wiki", "never run this", "globs", "BIN", "PHONY", "echo"):
        assert word not in every


def test_a_history_shows_its_habits(shop: Machine) -> None:
    git("checkout", "-q", "-b", "main")
    for number in range(12):
        shop.write("work/shop/src/index.ts", f"export const n = {number}\n")
        git("add", "src/index.ts")
        git("commit", "-q", "-m", f"{'fix' if number % 3 else 'feat'}(tea): change {number}")
    found = learned(shop)
    assert "The default branch is main" in found
    convention = found["Commit messages follow Conventional Commits, such as feat:, fix:"]
    assert bare(convention["quote"]) == "fix(tea): change 11"
    assert "Changed most often lately: src/index.ts" in found
    assert all("Ann" not in text and "ann@" not in text for text in found)


def test_what_a_file_says_stays_the_files_word(shop: Machine) -> None:
    onboard(shop)
    rows = memories(shop)
    assert {row["trust"] for row in rows} == {"tool"}
    assert {row["kind"] for row in rows} <= {"fact", "observation"}
    assert {row["project"] for row in rows} == {"github.com/acme/shop"}
    assert all(row["text"].startswith("<tool ") for row in rows)
    asked = (
        "Fix the indentation, are tabs right?",
        "Run the tests of the shop",
        "How is the database reached?",
    )
    for prompt in asked:
        assert shop.told("brief", "--prompt", prompt).out == ""
    assert "tabs" not in shop.told("brief", "--start").out


def test_why_names_the_file_the_line_and_its_words(shop: Machine) -> None:
    onboard(shop)
    row = memories(shop, "tabs")[0]
    (place,) = shop.told("why", "--json", row["id"]).json["evidence"]
    assert place["agent"] == "file"
    assert place["session"].startswith("CLAUDE.md#")
    assert (place["turn"], bare(place["quote"])) == (7, "- Never use tabs for indentation")
    assert "file CLAUDE.md:" in shop.told("why", row["id"]).out


def test_what_is_learned_is_found_by_its_words(shop: Machine) -> None:
    onboard(shop)
    assert [bare(row["text"]) for row in memories(shop, "vitest")] == [
        "`pnpm run test` runs `vitest run` (package.json)"
    ]


def test_again_there_is_nothing_new(shop: Machine) -> None:
    first = onboard(shop)
    again = onboard(shop)
    assert (again["count"], again["learned"], again["ended"]) == (0, [], [])
    assert again["known"] == first["count"] == len(memories(shop))
    assert shop.told("onboard").out == f"Nothing new about acme/shop: {first['count']} facts known.\n"


def test_a_sub_folder_and_a_path_mean_the_same_project(
    shop: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = onboard(shop)
    monkeypatch.chdir(shop.home / "work/shop/src/db")
    assert onboard(shop)["count"] == 0
    monkeypatch.chdir(shop.home)
    assert onboard(shop, "work/shop/src")["known"] == first["count"]


def test_what_changed_takes_the_place_of_what_was(shop: Machine) -> None:
    old = learned(shop)
    shop.write("work/shop/package.json", PACKAGE.replace("vitest run", "jest"))
    shop.write("work/shop/CLAUDE.md", INSTRUCTIONS.replace("Never use tabs", "Never use any tabs"))
    again = learned(shop)
    assert set(again) == {
        "`pnpm run test` runs `jest` (package.json)", "CLAUDE.md says: Never use any tabs for indentation",
    }  # fmt: skip
    ended = {row["id"]: row["superseded_by"] for row in memories(shop, "--status", "superseded")}
    assert ended == {
        old["`pnpm run test` runs `vitest run` (package.json)"]["id"]:
            again["`pnpm run test` runs `jest` (package.json)"]["id"],
        old["CLAUDE.md says: Never use tabs for indentation"]["id"]:
            again["CLAUDE.md says: Never use any tabs for indentation"]["id"],
    }  # fmt: skip


def test_what_is_gone_ends_and_may_come_back(shop: Machine) -> None:
    onboard(shop)
    rule = shop.home / "work/shop/.cursor/rules/style.mdc"
    rule.unlink()
    ended = onboard(shop)["ended"]
    assert [bare(row["text"]) for row in ended] == [
        ".cursor/rules/style.mdc says: Always write tests before you fix a bug"
    ]
    assert memories(shop, "bug") == []
    shop.write("work/shop/.cursor/rules/style.mdc", FILES[".cursor/rules/style.mdc"])
    assert onboard(shop)["count"] == 1
    assert len(memories(shop, "bug")) == 1


def test_undo_takes_all_of_it_back(shop: Machine) -> None:
    onboard(shop)
    shop.write("work/shop/Makefile", "build:\n\tcargo build\n")
    assert onboard(shop)["count"] == 1
    before = {row["text"] for row in memories(shop)}
    assert shop.told("undo").code == 0
    assert {row["text"] for row in memories(shop)} != before
    assert any("docker build ." in row["text"] for row in memories(shop))
    assert shop.told("undo").code == 0
    assert memories(shop) == []
    assert onboard(shop)["known"] == 0


def test_a_dry_run_writes_nothing(shop: Machine) -> None:
    answer = shop.told("onboard", "--dry-run")
    assert answer.code == 0
    assert answer.out.startswith("Would learn ")
    assert not (shop.told_home / "journal").exists()
    assert memories(shop) == []


def test_what_people_read_is_grouped_and_fenced(shop: Machine) -> None:
    out = shop.told("onboard").out
    first, _, rest = out.partition("\n")
    assert first.startswith("Learned ")
    assert first.endswith(" facts about acme/shop.")
    groups = [line for line in rest.splitlines() if line.endswith(":") and not line.startswith(("-", "<"))]
    assert groups == ["what it is:", "stack:", "commands:", "environment:", "layout:", "instructions:"]
    assert rest.count("\n<tool ") == rest.count("\n</tool ") == len(groups)


def test_secrets_are_taken_out_and_values_never_kept(shop: Machine) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    shop.write("work/shop/CLAUDE.md", f"- Always use the token {token} for pushes\n")
    assert any("[secret:github-token:" in text for text in learned(shop))
    for path in shop.told_home.rglob("*"):
        content = b"" if path.is_dir() else path.read_bytes()
        assert token.encode() not in content
        assert b"hunter2secret" not in content


def test_nothing_outside_the_project_is_read(shop: Machine) -> None:
    shop.write("secret/notes.md", "# Notes\n\nThe vault code of the bank is known to us.\n")
    (shop.home / "work/shop/README.md").unlink()
    (shop.home / "work/shop/README.md").symlink_to(shop.home / "secret/notes.md")
    (shop.home / "work/shop/docs").symlink_to(shop.home / "secret")
    shop.write("work/shop/AGENTS.md", "@../../secret/notes.md\n")
    assert all("vault" not in text for text in learned(shop))


def test_odd_files_are_left_alone(shop: Machine) -> None:
    project = shop.home / "work/shop"
    (project / "README.md").unlink()
    os.mkfifo(project / "README.md")
    shop.write("work/shop/CLAUDE.md", b"- Never use \x00 binary rules here\n" * 9)
    shop.write("work/shop/AGENTS.md", "- Never use files that are far too long\n" * 30_000)
    shop.write("work/shop/package.json", '{"a":' * 90_000)
    shop.write("work/shop/pyproject.toml", b"\xff\xfe[tool")
    texts = " ".join(learned(shop))
    for word in ("binary", "too long", "README.md", "pyproject"):
        assert word not in texts
    assert "`make build`" in texts


def test_nothing_of_the_project_is_run(shop: Machine) -> None:
    git("add", "-A")
    git("commit", "-q", "-m", "feat: all")
    trap = shop.write("trap.sh", f"#!/bin/sh\ntouch {shop.home}/caught\n")
    trap.chmod(0o755)
    settings = ("core.fsmonitor", "gpg.program", "core.pager", "diff.external", "core.editor")
    for name in settings:
        git("config", name, str(trap))
    git("config", "log.showSignature", "true")
    git("config", "core.hooksPath", str(shop.home))
    assert any(text.startswith("The default branch is ") for text in learned(shop))
    assert not (shop.home / "caught").exists()


def test_a_folder_without_git_is_a_project_too(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(machine.folder("notes"))
    machine.write("notes/README.md", "# Notes\n\nThese are notes about many birds.\n")
    machine.write("notes/node_modules/x/index.js", "x\n")
    machine.write("notes/a.py", "x\n")
    assert set(learned(machine)) == {
        "README.md says of the project: These are notes about many birds.", "Written mostly in Python",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("given", "code", "said"),
    [
        ("nowhere", 2, "nowhere is no folder."),
        ("a-file", 2, "a-file is no folder."),
        (".", 2, "The home folder is no project."),
        ("", 2, "The home folder is no project."),
        ("/", 2, "is no project."),
        ("empty", 1, "There is nothing to learn from in "),
    ],
)
def test_what_is_no_project_is_refused(machine: Machine, given: str, code: int, said: str) -> None:
    machine.write("a-file", "x")
    machine.folder("empty")
    answer = machine.told("onboard", *filter(None, [given]))
    assert (answer.code, answer.out) == (code, "")
    assert said in answer.err
    assert answer.err.count("\n") == 1


def test_what_the_user_forgot_is_not_learned_again(shop: Machine) -> None:
    onboard(shop)
    row = memories(shop, "tabs")[0]
    assert shop.told("forget", row["id"], "--force").code == 0
    shop.write("work/shop/CLAUDE.md", "\n\n" + INSTRUCTIONS.partition("---\n# Working here")[2])
    again = onboard(shop)
    assert again["left_out"] == 1
    assert memories(shop, "tabs") == []
    for path in shop.told_home.rglob("*"):
        assert path.is_dir() or b"Never use tabs" not in path.read_bytes()


def test_what_the_user_corrected_is_not_learned_again(shop: Machine) -> None:
    onboard(shop)
    row = memories(shop, "tabs")[0]
    assert shop.told("correct", row["id"], "Tabs are fine in makefiles").code == 0
    assert (onboard(shop)["count"], onboard(shop)["left_out"]) == (0, 1)
    assert [one["trust"] for one in memories(shop, "tabs")] == ["user"]


def test_a_locked_one_is_left_as_it_is(shop: Machine) -> None:
    onboard(shop)
    row = memories(shop, "tabs")[0]
    assert shop.told("lock", row["id"]).code == 0
    (shop.home / "work/shop/CLAUDE.md").unlink()
    onboard(shop)
    assert [one["id"] for one in memories(shop, "--locked")] == [row["id"]]


def test_it_ends_nothing_that_somebody_said(shop: Machine) -> None:
    assert shop.told("remember", "Use npm for packages").code == 0
    assert shop.told("remember", "Always use tabs for indentation").code == 0
    onboard(shop)
    assert len([row for row in memories(shop) if row["trust"] == "user"]) == 2
    assert memories(shop, "--status", "superseded") == []


def test_an_agent_may_learn_a_project_but_not_more_than_that(shop: Machine) -> None:
    shop.environ["CLAUDECODE"] = "1"
    onboard(shop)
    assert {row["trust"] for row in memories(shop)} == {"tool"}
    assert not any(row["locked"] for row in memories(shop))


def test_a_project_with_endless_rules_is_bounded(shop: Machine) -> None:
    for number in range(points(everyday=15, soak=60)):
        rules = "".join(f"- Always use helper number {number}-{n} in module {n}\n" for n in range(40))
        shop.write(f"work/shop/.cursor/rules/r{number}.mdc", rules)
        shop.write(f"work/shop/folder{number}/a.py", "x\n")
    targets = "".join(f"test-{n}:\n\techo {n}\n" for n in range(500))
    shop.write("work/shop/Makefile", targets)
    onboard(shop)
    rows = memories(shop)
    assert len(rows) <= 200
    assert sum("helper number" in row["text"] for row in rows) <= 40
    assert onboard(shop)["count"] == 0


def test_both_ways_to_the_same_memories_agree(shop: Machine) -> None:
    onboard(shop)
    before = shop.told("memories", "--json").out
    for path in Path(shop.told_home).glob("*.db*"):
        path.unlink()
    assert shop.told("rebuild").code == 0
    assert shop.told("memories", "--json").out == before
    assert onboard(shop)["count"] == 0
