"""The first commands of docs/server.md, run as they are written."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
from pathlib import Path

from tests.documents import ROOT
from tests.server.live import serving
from tests.server.site import Site
from tests.server.test_start import Machine
from told.server.agent_tools import TOOLS
from told.store.postgres.database import connect

PAGE = (ROOT / "docs" / "server.md").read_text(encoding="utf-8")
SECTION = PAGE.partition("## From nothing to a colleague's rule\n")[2].partition("\n## ")[0]


def blocks() -> list[list[str]]:
    return [one.strip().splitlines() for one in re.findall(r"```sh\n(.*?)```", SECTION, re.DOTALL)]


class Clone:
    """A colleague with a home and a clone of the project."""

    def __init__(self, folder: Path, port: int) -> None:
        self.home, self.folder, self.port = folder, folder / "shop", port
        self.folder.mkdir(parents=True)
        folder = self.folder
        subprocess.run(["git", "init", "-q", "."], cwd=folder, check=True)
        remote = ["git", "remote", "add", "origin", "git@github.com:acme/shop.git"]
        subprocess.run(remote, cwd=folder, check=True)

    def run(self, machine: Machine, line: str) -> str:
        """Run a line of the page, with the port of this test."""
        words = shlex.split(line.replace(":3377", f":{self.port}"))
        assert words[0] == "told"
        home = {"HOME": os.fspath(self.home), "TOLD_HOME": os.fspath(self.home / ".told")}
        done = machine.told(*words[1:], cwd=self.folder, **home)
        assert (done.returncode, done.stderr) == (0, ""), f"{line}\n{done.stdout}{done.stderr}"
        return done.stdout


def test_a_colleagues_brief_has_the_rule(tmp_path: Path) -> None:
    (start,), tokens, ada_says, bo_says = blocks()
    server = Machine(tmp_path)
    ada, bo = (Clone(tmp_path / name, server.port) for name in ("ada", "bo"))
    assert start == "told server start --embedded"
    process = server.start()
    try:
        for line in tokens:
            done = server.told(*shlex.split(line)[1:], cwd=tmp_path)
            assert done.returncode == 0, done.stderr
        shutil.move(tmp_path / "ada.token", ada.folder)
        shutil.move(tmp_path / "bo.token", bo.folder)
        for line in ada_says:
            ada.run(server, line)
        brief = [bo.run(server, line) for line in bo_says][-1]
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 0
        if process.stdout:
            process.stdout.close()
    shown = SECTION.partition("```\nContext:\n")[2].partition("\n```")[0]
    mark = re.compile(r"<(/?)team team ada-\w{4} \w+>")
    assert mark.sub(r"<\1team>", shown) in mark.sub(r"<\1team>", brief)


def part(title: str) -> str:
    """Return a section of the page."""
    return PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def section(title: str, language: str) -> list[str]:
    """Return the examples in a section of the page."""
    return re.findall(rf"```{language}\n(.*?)```", part(title), re.DOTALL)


def test_the_examples_of_rest_and_sql_work(site: Site) -> None:
    answers = []
    with serving(site) as url:
        for lines in section("REST", "sh"):
            command = lines.replace("http://127.0.0.1:3377", url)
            environ = {"PATH": os.environ["PATH"], "TOKEN": site.tokens["ada"]}
            done = subprocess.run(["sh", "-c", command], env=environ, capture_output=True, check=True)
            answers.append(json.loads(done.stdout))
    saved, found, brief = answers
    assert [one["id"] for one in found["memories"]] == brief["memories"] == [saved["memory"]["id"]]
    assert "pnpm" in brief["text"]
    (lines,) = section("Direct SQL", "sql")
    with connect(site.server.database.url) as connection:
        shown = [connection.execute(one) for one in lines.split(";") if one.strip()][3].fetchall()
    assert [row[0] for row in shown] == ["Always use pnpm to install packages here."]
    refused = site.of("ada").delete("/api/v1/members/x").json()
    assert f"`{json.dumps(refused)}`" in PAGE


def test_views_and_tools_are_listed(site: Site) -> None:
    with site.server.database.owning() as connection:
        views = connection.execute("SELECT viewname FROM pg_views WHERE schemaname = 'told'").fetchall()
    assert {name for (name,) in views} == set(re.findall(r"^\| `(\w+)` \|", part("Direct SQL"), re.MULTILINE))
    assert [one.name for one in TOOLS] == re.findall(r"^\| `(\w+)` \|", part("MCP"), re.MULTILINE)
