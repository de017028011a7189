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

README = "# Shop\n\nShop sells tea.\n\n```sh\npaint --blue\n```\n"
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
    ".github/workflows/ci.yml": WORKFLOW,
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
        ("Written mostly in TypeScript", "stack", ".", None),
        ("Packages are managed with pnpm 9.1.0 (package.json)", "stack", "package.json", 3),
        ("Needs node >=20 (package.json)", "stack", "package.json", 4),
        ("`pnpm run test` runs `vitest run` (package.json)", "commands", "package.json", 6),
        ("Other commands of package.json (`pnpm run NAME`): `tea:brew`", "commands", "package.json", 8),
        ("`make build` runs `docker build .` (Makefile)", "commands", "Makefile", 3),
        ("Other commands of Makefile (`make NAME`): `odd-thing`", "commands", "Makefile", 5),
        (".github/workflows/ci.yml (CI) runs `pnpm install`, `pnpm test`", "commands",
         ".github/workflows/ci.yml", 6),
        ("Instructions are in CLAUDE.md, .cursor/rules/style.mdc", "instructions", ".", None),
    ],
)  # fmt: skip
def test_what_files_say_is_learned_with_its_place(
    shop: Machine, says: str, group: str, file: str, line: int | None
) -> None:
    row = learned(shop, "--dry-run")[says]
    assert (row["group"], row["file"], row["line"]) == (group, file, line)


RECORDS = {
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
}


def test_decisions_are_learned(shop: Machine) -> None:
    for path, content in RECORDS.items():
        shop.write(f"work/shop/{path}", content)
    new = {
        text: (row["kind"], row["file"], row["line"])
        for text, row in learned(shop).items()
        if row["group"] == "decisions"
    }
    assert new == {
        "Decision no longer in force (superseded by ADR-0002): Use MySQL":
            ("fact", "docs/adr/0001-mysql.md", 1),
        "Decision (accepted): Use PostgreSQL. Orders are kept in PostgreSQL 16.":
            ("decision", "docs/adr/0002-postgres.md", 1),
        "Decision (accepted): Vite instead of webpack. Webpack took 4 minutes.":
            ("decision", "DECISIONS.md", 3),
        "Decision not made yet (proposed): Render on the server": ("fact", "DECISIONS.md", 7),
    }  # fmt: skip
    # A record that is superseded later takes the place of what it said.
    shop.write("work/shop/docs/adr/0002-postgres.md", "# ADR 2: Use PostgreSQL\n\n* Status: deprecated\n")
    (text,) = learned(shop)
    assert text == "Decision no longer in force (deprecated): Use PostgreSQL"


def test_what_is_no_command_and_no_statement_is_not_learned(shop: Machine) -> None:
    every = " ".join(learned(shop))
    for word in ("paint", "sells", "never run this", "tabs", "BIN", "PHONY", "echo"):
        assert word not in every


def test_what_a_file_says_stays_the_files_word(shop: Machine) -> None:
    onboard(shop)
    rows = memories(shop)
    assert {row["trust"] for row in rows} == {"tool"}
    assert {row["kind"] for row in rows} == {"fact"}
    assert {row["project"] for row in rows} == {"github.com/acme/shop"}
    assert all(row["text"].startswith("<tool ") for row in rows)
    asked = (
        "Fix the indentation, are tabs right?",
        "Run the tests of the shop",
        "Where are the instructions?",
    )
    for prompt in asked:
        assert shop.told("brief", "--prompt", prompt).out == ""
    assert "vitest" not in shop.told("brief", "--start").out


def test_why_names_the_file_the_line_and_its_words(shop: Machine) -> None:
    onboard(shop)
    row = memories(shop, "vitest")[0]
    (place,) = shop.told("why", "--json", row["id"]).json["evidence"]
    assert place["agent"] == "file"
    assert place["session"].startswith("package.json#")
    assert (place["turn"], bare(place["quote"])) == (6, '"test": "vitest run",')
    assert "file package.json:" in shop.told("why", row["id"]).out


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
    shop.write("work/shop/AGENTS.md", "Never use tabs\n")
    again = learned(shop)
    assert len(again) == 2
    assert any("AGENTS.md" in text for text in again)
    ended = {row["id"]: row["superseded_by"] for row in memories(shop, "--status", "superseded")}
    (test,) = [row["id"] for text, row in again.items() if "jest" in text]
    assert ended[old["`pnpm run test` runs `vitest run` (package.json)"]["id"]] == test
    assert set(ended.values()) == {row["id"] for row in again.values()}


def test_what_is_gone_ends_and_may_come_back(shop: Machine) -> None:
    onboard(shop)
    (shop.home / "work/shop/Makefile").unlink()
    ended = onboard(shop)["ended"]
    assert sorted(bare(row["text"]) for row in ended) == [
        "Other commands of Makefile (`make NAME`): `odd-thing`",
        "`make build` runs `docker build .` (Makefile)",
    ]
    assert memories(shop, "docker") == []
    shop.write("work/shop/Makefile", FILES["Makefile"])
    assert onboard(shop)["count"] == 2
    assert len(memories(shop, "docker")) == 1


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
    assert groups == ["stack:", "commands:", "instructions:"]
    assert rest.count("\n<tool ") == rest.count("\n</tool ") == len(groups)


def test_secrets_are_taken_out(shop: Machine) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    shop.write("work/shop/package.json", PACKAGE.replace("eslint .", f"eslint --token {token}"))
    assert any("[secret:github-token:" in text for text in learned(shop))
    for path in shop.told_home.rglob("*"):
        content = b"" if path.is_dir() else path.read_bytes()
        assert token.encode() not in content


def test_nothing_outside_the_project_is_read(shop: Machine) -> None:
    shop.write("secret/notes.md", "# Notes\n\nThe vault code of the bank is known to us.\n")
    (shop.home / "work/shop/README.md").unlink()
    (shop.home / "work/shop/README.md").symlink_to(shop.home / "secret/notes.md")
    (shop.home / "work/shop/DECISIONS.md").symlink_to(shop.home / "secret/notes.md")
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
    assert "Written mostly in TypeScript" in learned(shop)
    assert not (shop.home / "caught").exists()


def test_a_folder_without_git_is_a_project_too(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(machine.folder("notes"))
    machine.write("notes/README.md", "# Notes\n\nThese are notes about many birds.\n")
    machine.write("notes/node_modules/x/index.js", "x\n")
    machine.write("notes/a.py", "x\n")
    assert set(learned(machine)) == {"Written mostly in Python"}


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
    row = memories(shop, "vitest")[0]
    assert shop.told("forget", row["id"], "--force").code == 0
    shop.write("work/shop/package.json", "\n\n" + PACKAGE)
    again = onboard(shop)
    assert again["left_out"] == 1
    assert memories(shop, "vitest") == []
    for path in shop.told_home.rglob("*"):
        assert path.is_dir() or b"vitest run" not in path.read_bytes()


def test_what_the_user_corrected_is_not_learned_again(shop: Machine) -> None:
    onboard(shop)
    row = memories(shop, "vitest")[0]
    assert shop.told("correct", row["id"], "The tests run with vitest in watch mode").code == 0
    assert (onboard(shop)["count"], onboard(shop)["left_out"]) == (0, 1)
    assert [one["trust"] for one in memories(shop, "vitest")] == ["user"]


def test_a_locked_one_is_left_as_it_is(shop: Machine) -> None:
    onboard(shop)
    row = memories(shop, "vitest")[0]
    assert shop.told("lock", row["id"]).code == 0
    (shop.home / "work/shop/package.json").unlink()
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


def test_a_project_with_endless_records_is_bounded(shop: Machine) -> None:
    for number in range(points(everyday=50, soak=300)):
        shop.write(f"work/shop/docs/adr/{number}.md", f"# Use helper number {number}\n")
    targets = "".join(f"test-{n}:\n\techo {n}\n" for n in range(500))
    shop.write("work/shop/Makefile", targets)
    onboard(shop)
    rows = memories(shop)
    assert len(rows) <= 200
    assert sum("helper number" in row["text"] for row in rows) == 40
    assert onboard(shop)["count"] == 0


def test_both_ways_to_the_same_memories_agree(shop: Machine) -> None:
    onboard(shop)
    before = shop.told("memories", "--json").out
    for path in Path(shop.told_home).glob("*.db*"):
        path.unlink()
    assert shop.told("rebuild").code == 0
    assert shop.told("memories", "--json").out == before
    assert onboard(shop)["count"] == 0
