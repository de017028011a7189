"""`told sync server` as people run it: homes of their own, one server."""

from __future__ import annotations

import contextlib
import io
import json
import re
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.server.live import serving
from tests.server.site import Site
from told.cli.main import main
from told.hook.dispatch import answer_hook
from told.server.people import create_token

CODE = re.compile(r"told-[a-z2-7-]{30,}")
REMOTE = "git@github.com:acme/shop.git"


class Person:
    """Somebody with a clone of the shop on a machine of their own."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch, url: str) -> None:
        self.root, self.url = root, url
        self.repository = str(root / "home" / "shop")
        (root / "home" / "shop" / ".git").mkdir(parents=True)
        (root / "home" / "shop" / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        config = f'[core]\n\tbare = false\n[remote "origin"]\n\turl = {REMOTE}\n'
        (root / "home" / "shop" / ".git" / "config").write_text(config)
        self._monkeypatch = monkeypatch
        self.environ = {
            "HOME": str(root / "home"), "TOLD_HOME": str(root / "told"), "TOLD_BACKGROUND": "off",
            "PATH": "/usr/bin:/bin", "USER": root.name,
        }  # fmt: skip

    def told(self, *words: str, **more: str) -> tuple[int, str, str]:
        self._monkeypatch.chdir(self.repository)
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(list(words), self.environ | more)
        return code, out.getvalue(), err.getvalue()

    def says(self, *words: str, **more: str) -> str:
        """Run a command that succeeds; return its output."""
        code, out, err = self.told(*words, **more)
        assert (code, err) == (0, ""), out + err
        return out

    def json(self, *words: str) -> Any:
        return json.loads(self.says(*words, "--json"))

    def connect(self, token: str, *words: str) -> str:
        path = self.root / "token"
        path.write_text(f"{token}\n")
        return self.says("sync", "server", self.url, "--token-file", str(path), *words)

    def start(self) -> str:
        given = {"hook_event_name": "SessionStart", "session_id": "s-1", "cwd": self.repository}
        return answer_hook("claude-code", "start", given | {"source": "startup"}, self.environ)

    def bytes(self) -> bytes:
        return b"\n".join(path.read_bytes() for path in self.root.rglob("*") if path.is_file())


class Office:
    """A running server, and its people."""

    def __init__(self, site: Site, url: str, make: Any) -> None:
        self.site, self.url, self._make = site, url, make

    def person(self, name: str) -> Person:
        made: Person = self._make(name)
        return made

    def token(self, name: str, **more: Any) -> str:
        return create_token(self.site.server.database, self.site.server.team.team, name, **more).secret

    def bytes(self) -> bytes:
        """Return everything that the database has."""
        with self.site.server.database.owning() as connection:
            tables = connection.execute(
                "SELECT tablename FROM pg_tables WHERE schemaname = 'told'"
            ).fetchall()
            rows = [connection.execute(f"SELECT t::text FROM {name} t").fetchall() for (name,) in tables]
            files = connection.execute("SELECT head FROM series_head UNION SELECT data FROM series_file")
            return str(rows).encode() + b"".join(bytes(one) for (one,) in files if one)


@pytest.fixture
def office(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Office]:
    with serving(site) as url:
        yield Office(site, url, lambda name: Person(tmp_path / name, monkeypatch, url))


def test_a_colleagues_rule_is_in_the_brief(office: Office) -> None:
    ada, max_ = office.person("ada"), office.person("max")
    said = ada.connect(office.site.tokens["ada"])
    assert f"Connected to acme as ada (admin).\nserver {office.url}: " in said
    assert "Created the log of the team acme as ada." in said
    assert "github.com/acme/shop is shared with acme." in said
    assert "Private ones never leave." in said
    name = ada.json("remember", "Always use pnpm to install packages in this repository.")["id"]
    ada.says("remember", "canary-unshared stays.")
    ada.says("remember", "--scope", "private", "canary-private stays.")
    ada.says("share", name)
    ada.says("sync")
    said = max_.connect(office.site.tokens["max"])
    assert "Joined the team acme as max." in said
    assert re.search(r"New member: ada \(fingerprint [a-z2-7]{4}(-[a-z2-7]{4}){3}\)", said)
    brief = max_.says("brief", "--prompt", "install the npm packages")
    assert re.search(r"Context:\n- <team acme ada-\w{4} \w+>Always use pnpm to install packages", brief)
    assert "Rules:" not in brief
    max_.says("confirm", max_.json("memories")["memories"][0]["id"])
    assert "pnpm" in max_.start()
    found = office.bytes()
    assert b"Always use pnpm" in found
    assert b"canary" not in found + max_.bytes()


def test_own_machines_meet_through_the_server_which_cannot_read_them(office: Office) -> None:
    laptop, desktop = office.person("ada-laptop"), office.person("ada-desktop")
    laptop.says("lock", "Always run the canary before a commit.")
    token = office.site.tokens["ada"]
    code = CODE.search(laptop.connect(token))
    assert code
    refused = desktop.told("sync", "server", office.url, TOLD_SERVER_TOKEN=token)
    assert refused[0] == 2
    assert "`told sync join CODE server" in refused[2]
    said = desktop.says("sync", "join", code.group(), "server", office.url, TOLD_SERVER_TOKEN=token)
    assert "Joined the team acme as ada." in said
    assert "canary" in desktop.told("memories", TOLD_SERVER_TOKEN=token)[1]
    assert b"canary" not in office.bytes()
    assert token.encode() not in desktop.bytes()  # it came in a variable
    assert desktop.told("sync")[0] == 4
    desktop.says("sync", TOLD_SERVER_TOKEN=token)
    name = laptop.json("memories")["memories"][0]["id"]
    laptop.says("forget", name, "--force")
    desktop.says("sync", TOLD_SERVER_TOKEN=token)
    laptop.says("sync")
    assert "Confirmed by" in laptop.says("forget", "--receipt", name)
    assert b"canary" not in laptop.bytes() + desktop.bytes()


def test_the_token_is_kept_where_only_the_user_reads_it(office: Office) -> None:
    ada = office.person("ada")
    token = office.site.tokens["ada"]
    ada.connect(token)
    ada.says("sync")
    ada.says("export", "out.json", "--include-private")
    (ada.root / "token").unlink()
    holding = [one for one in ada.root.rglob("*") if one.is_file() and token.encode() in one.read_bytes()]
    assert holding == [ada.root / "told" / "sync" / "tokens"]
    assert stat.S_IMODE(holding[0].stat().st_mode) == 0o600
    assert token not in Path(ada.repository, "out.json").read_text()
    assert token not in ada.says("sync", "status", "--json") + ada.says("team")
    assert f"server {office.url}" in ada.says("sync", "status")
    ada.says("sync", "remove", f"server:{office.url}")
    assert token.encode() not in ada.bytes()
    assert office.url not in ada.says("sync", "status")


def test_an_offline_server_fails_only_the_sync(office: Office) -> None:
    ada = office.person("ada")
    ada.connect(office.site.tokens["ada"])
    spaces = ada.root / "told" / "sync" / "spaces.json"
    for path in (spaces, ada.root / "told" / "sync" / "tokens"):
        path.write_text(path.read_text().replace(office.url, "http://127.0.0.1:1"))
    ada.says("remember", "Use pnpm here.")
    assert "pnpm" in ada.start()
    ada.says("index")
    code, out, _ = ada.told("sync")
    assert code == 3
    assert "cannot be reached (Connection refused). What is new here is sent later." in out
    for path in (spaces, ada.root / "told" / "sync" / "tokens"):
        path.write_text(path.read_text().replace("http://127.0.0.1:1", office.url))
    assert re.search(r"[1-9] changes? sent", ada.says("sync"))


def test_a_revoked_token_and_a_removed_member_end_the_exchange(office: Office) -> None:
    ada, max_ = office.person("ada"), office.person("max")
    ada.connect(office.site.tokens["ada"])
    max_.connect(office.site.tokens["max"])
    name = ada.json("remember", "Always use pnpm to install packages in this repository.")["id"]
    ada.says("share", name)
    ada.says("sync")
    max_.says("sync")
    admin = office.site.of("ada")
    assert admin.delete("/api/v1/members/max").status_code == 200
    deadline = time.monotonic() + 60
    while (found := max_.told("sync"))[0] == 0:  # the guard remembers a token for 2 seconds
        assert time.monotonic() < deadline
    code, out, _ = found
    assert code == 4
    assert "refuses the token: it is wrong, expired or revoked. Ask for a new one" in out
    assert "pnpm" in max_.says("memories")


def test_a_reader_receives_and_sends_nothing(office: Office) -> None:
    ada, rea = office.person("ada"), office.person("rea")
    assert "The team shares nothing yet" in rea.connect(office.site.tokens["rea"])
    ada.connect(office.site.tokens["ada"])
    name = ada.json("remember", "Always use pnpm to install packages in this repository.")["id"]
    ada.says("share", name)
    ada.says("sync")
    said = rea.connect(office.site.tokens["rea"])
    assert "Not sent:" in said
    assert "pnpm" in rea.says("memories")


def test_another_key_for_a_person_is_refused_until_an_admin_forgets_the_first(office: Office) -> None:
    first, second = office.person("ada-first"), office.person("ada-second")
    token = office.site.tokens["ada"]
    first.connect(token)
    second.says("sync", "folder", str(second.root))
    code, _, err = second.told("sync", "server", office.url, TOLD_SERVER_TOKEN=token)
    assert code == 4
    assert "an admin runs `told server token forget-key ada`" in err
    assert office.site.of("ada").delete("/api/v1/members/ada/key").status_code == 200
    assert "Joined the team" in second.says("sync", "server", office.url, TOLD_SERVER_TOKEN=token)


def test_team_commands_take_a_server(office: Office) -> None:
    ada, max_ = office.person("ada"), office.person("max")
    tokens = {name: {"TOLD_SERVER_TOKEN": office.site.tokens[name]} for name in ("ada", "max")}
    said = ada.says("team", "enable", f"server:{office.url}", **tokens["ada"])
    assert "github.com/acme/shop is shared with acme." in said
    assert "Joined" in max_.says("team", "enable", office.url, **tokens["max"])
    said = ada.says("team", "create", "vault", "--encrypt", "--server", office.url, **tokens["ada"])
    code = re.search(r"team-[a-z2-7-]{16,}", said)
    assert code
    joined = max_.says("team", "join", code.group(), "--server", office.url, **tokens["max"])
    assert "Joined the team vault" in joined
    ada.says("team", "enable", "--team", "vault")
    name = ada.json("remember", "The canary is yellow and sings.")["id"]
    ada.says("share", name, "--team", "vault")
    ada.says("sync", **tokens["ada"])
    assert b"canary" not in office.bytes()
    max_.says("team", "enable", "--team", "vault", **tokens["max"])
    max_.says("sync", **tokens["max"])
    assert "canary" in max_.says("memories")


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("127.0.0.1:3377", "is no address of a server"),
        ("http://told.example.com", "over https:// only"),
        ("https://user:password@told.example.com", "is no address of a server"),
        ("https://told.example.com/?x=1", "is no address of a server"),
    ],
)
def test_wrong_addresses_are_refused(office: Office, url: str, said: str) -> None:
    code, _, err = office.person("ada").told("sync", "server", url)
    assert code == 2
    assert said in err


def test_without_a_token_nothing_is_asked_outside_a_terminal(office: Office) -> None:
    code, _, err = office.person("ada").told("sync", "server", office.url)
    assert code == 2
    assert "--token-file FILE, or the variable TOLD_SERVER_TOKEN" in err
    code, _, err = office.person("bo").told(
        "sync", "server", office.url, TOLD_SERVER_TOKEN="told_wrong-token"
    )
    assert code == 4
    assert "refuses the token" in err
