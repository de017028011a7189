"""`told team` and `told share` as colleagues run them: two homes, a shared folder."""

from __future__ import annotations

import contextlib
import io
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from told.cli.main import main

if TYPE_CHECKING:
    from tests.cli.machine import Machine

CODE = re.compile(r"team-[a-z2-7-]{16,}")
REMOTE = "git@github.com:acme/shop.git"


class Person:
    """Somebody with a clone of the shop on a machine of their own."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch, repository: str) -> None:
        self.root, self.name, self.repository = root, root.name, repository
        (root / "home").mkdir(parents=True)
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
        assert (code, err) == (0, ""), err
        return out

    def json(self, *words: str) -> Any:
        return json.loads(self.says(*words, "--json"))

    def remember(self, text: str, *words: str) -> str:
        return str(self.json("remember", text, *words)["id"])

    def texts(self) -> str:
        return self.told("memories")[1]


@pytest.fixture
def people(machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Person, Person, Path]:
    (tmp_path / "drive").mkdir()
    ada, bo = (
        Person(tmp_path / name, monkeypatch, machine.repo(f"{name}/shop", REMOTE)) for name in ("ada", "bo")
    )
    return ada, bo, tmp_path / "drive"


People = tuple[Person, Person, Path]


def test_a_colleagues_statement_is_context_with_its_author(people: People) -> None:
    ada, bo, drive = people
    assert "Created the team shop, not encrypted." in ada.says("team", "enable", str(drive))
    name = ada.remember("Always use pnpm to install packages in this repository.")
    ada.remember("Deploys happen on Tuesdays.")
    ada.says("share", name)
    ada.says("sync")
    joined = bo.says("team", "enable", str(drive))
    assert "Joined the team shop as bo." in joined
    assert re.search(r"New member: ada \(fingerprint [a-z2-7]{4}(-[a-z2-7]{4}){3}\)", joined)
    listed = bo.texts()
    assert re.search(r"<team shop ada-[a-z2-7]{4} [a-z2-7]{5}>Always use pnpm", listed)
    assert "Tuesdays" not in listed
    brief = bo.says("brief", "--prompt", "install the npm packages")
    assert brief.index("Context:") < brief.index("Always use pnpm")
    assert "Rules:" not in brief
    assert re.search(r"<team shop ada-[a-z2-7]{4} ", brief)
    assert re.search(r"said by team:shop/ada-.*remember by team:shop/ada-", bo.says("why", "pnpm"), re.DOTALL)
    bo.says("confirm", "pnpm")
    brief = bo.says("brief", "--prompt", "install the npm packages")
    assert brief.index("Rules:") < brief.index("Always use pnpm")
    assert re.search(r"<team shop ada-[a-z2-7]{4} ", brief)


def test_locking_a_colleagues_rule_makes_an_own_one(people: People) -> None:
    ada, bo, drive = people
    ada.says("team", "enable", str(drive))
    name = ada.remember("Always use pnpm to install packages.")
    ada.says("share", name)
    ada.says("sync")
    bo.says("team", "enable", str(drive))
    bo.says("lock", "pnpm")
    ada.says("unshare", name)
    ada.says("sync")
    bo.says("sync")
    (row,) = bo.json("memories")["memories"]
    assert (row["locked"], row["trust"]) == (True, "user")


def test_nothing_of_another_project_or_home_lies_in_the_folder(people: People, machine: Machine) -> None:
    ada, bo, drive = people
    ada.says("team", "enable", str(drive))
    ada.remember("My canary-salary is 4711.", "--scope", "private")
    ada.remember("The canary-unshared rule.")
    shared = ada.remember("Always use pnpm.")
    ada.says("share", shared)
    ada.repository = machine.repo("other/canary-project", "git@github.com:acme/canary-project.git")
    ada.remember("Never share the canary-other rule.")
    ada.says("sync")
    bo.says("team", "enable", str(drive))
    found = [path for path in drive.rglob("*") if path.is_file()]
    data = b"\n".join(path.read_bytes() for path in found) + b"\n".join(str(one).encode() for one in found)
    assert b"Always use pnpm." in data
    for canary in (
        b"canary",
        str(ada.root).encode() + b"/",
        str(machine.home).encode(),
        b"@acme",
        b"@github",
    ):
        assert canary not in data.replace(str(drive).encode(), b"")


def test_what_cannot_be_shared_is_refused_in_one_sentence(people: People, machine: Machine) -> None:
    ada, bo, drive = people
    assert ada.told("share", "x")[2] == (
        "told: You are in no team. `told team create NAME` or `told team join CODE` starts.\n"
    )
    ada.says("team", "create", "acme", "--folder", str(drive))
    name = ada.remember("Always use pnpm.")
    assert "`told team enable` in a project turns it on." in ada.told("share", name)[2]
    ada.says("team", "enable")
    private = ada.remember("I hate Mondays.", "--scope", "private")
    assert f"{private} is private." in ada.told("share", private)[2]
    said = json.loads(ada.says("remember", "The agent guessed this.", "--json", CLAUDECODE="1"))["id"]
    assert "told confirm" in ada.told("share", said)[2]
    ada.says("share", name)
    ada.says("sync")
    bo.says("team", "enable", str(drive))
    assert "is a colleague's. Only its author shares it." in bo.told("share", "pnpm")[2]
    ada.repository = machine.repo("other/bakery", "git@github.com:acme/bakery.git")
    other = ada.remember("The bakery uses Go.")
    assert "Run `told team enable` there first." in ada.told("share", other)[2]
    ada.repository = machine.folder("no-git")
    assert "no git remote and no commit" in ada.told("team", "enable")[2]
    ada.repository = machine.repo("other/copy", "/srv/shop.git")
    assert "git remote is a path" in ada.told("team", "enable")[2]


def test_a_secret_that_told_learns_to_know_later_blocks_sharing(people: People) -> None:
    ada, _, drive = people
    ada.says("team", "enable", str(drive))
    name = ada.remember("Staging answers to swordfish-99.")
    rule = '[[redaction.rules]]\nname = "fish"\npattern = "swordfish-[0-9]+"\nexample = "swordfish-12"\n'
    (ada.root / "told" / "config.toml").write_text(rule)
    code, _, err = ada.told("share", name)
    assert (code, err) == (2, f"told: {name} contains a secret, which is never shared. Correct it first.\n")
    (ada.root / "told" / "config.toml").unlink()
    ada.says("share", name)
    (ada.root / "told" / "config.toml").write_text(rule)
    assert "contains a secret and was not shared" in ada.says("sync")
    assert b"swordfish" not in b"".join(path.read_bytes() for path in drive.rglob("*") if path.is_file())


def test_agents_neither_share_nor_change_teams(people: People) -> None:
    ada, _, drive = people
    ada.says("team", "enable", str(drive))
    name = ada.remember("Always use pnpm.")
    for words in (
        ("share", name), ("unshare", name), ("team", "create", "evil"), ("team", "enable", str(drive)),
        ("team", "disable"), ("team", "leave"), ("team", "code"), ("team", "policy", "accept"),
        ("team", "revoke", "bo"), ("team", "join", "team-x"),
    ):  # fmt: skip
        code, _, err = ada.told(*words, CLAUDECODE="1")
        assert (code, err[:14]) == (2, "told: Only you"), words
    assert "1 member" in ada.says("team", CLAUDECODE="1")
    assert ada.json("team")["teams"][0]["shared"] == 0


def test_encrypted_teams_need_their_code(people: People) -> None:
    ada, bo, drive = people
    created = ada.says("team", "create", "acme", "--folder", str(drive), "--encrypt", "--as", "Ada Lovelace")
    code = CODE.search(created)
    assert code
    ada.says("team", "enable")
    name = ada.remember("Always use pnpm.")
    ada.says("share", name)
    ada.says("sync")
    _, _, err = bo.told("team", "enable", str(drive))
    assert err == (
        "told: This team is encrypted. A colleague's `told team code` prints the code to join it with.\n"
    )
    assert bo.told("team", "join", code.group()[:-1], "--folder", str(drive))[0] == 2
    places = "--folder PATH, --git REMOTE, --ssh HOST or --server URL.\n"
    assert bo.told("team", "join", code.group())[2].endswith(places)
    assert "Joined the team acme as bo." in bo.says("team", "join", code.group(), "--folder", str(drive))
    bo.says("team", "enable")
    assert "Always use pnpm." in bo.texts()
    assert "Ada-Lovelace" in bo.texts()
    assert b"pnpm" not in b"".join(path.read_bytes() for path in drive.rglob("*") if path.is_file())


def test_a_passphrase_opens_its_team_only(people: People) -> None:
    ada, bo, drive = people
    _, _, err = ada.told("team", "create", "acme", "--folder", str(drive), "--passphrase")
    assert err == "told: Type the passphrase at a terminal, or set TOLD_TEAM_PASSPHRASE.\n"
    words = ("team", "create", "acme", "--folder", str(drive), "--passphrase")
    created = ada.says(*words, TOLD_TEAM_PASSPHRASE="correct horse")
    code = CODE.search(created)
    assert code
    join = ("team", "join", code.group(), "--folder", str(drive))
    assert (
        bo.told(*join, TOLD_TEAM_PASSPHRASE="battery staple")[2] == "told: Wrong passphrase for this team.\n"
    )
    assert bo.told("team")[0] == 1
    assert "Joined the team acme" in bo.says(*join, TOLD_TEAM_PASSPHRASE="correct horse")
    assert bo.says("team", "code").startswith(code.group())


def test_members_policy_revoke_and_leave(people: People) -> None:
    ada, bo, drive = people
    ada.says("team", "enable", str(drive))
    bo.says("team", "enable", str(drive))
    name = ada.remember("Always use pnpm.")
    ada.says("share", name)
    ada.says("sync")
    bo.says("sync")
    members = {row["name"].partition("-")[0]: row for row in bo.json("team", "members")["members"]}
    assert (members["ada"]["creator"], members["bo"]["you"]) == (True, True)
    own = {row["name"]: row for row in ada.json("team", "members")["members"]}["ada"]
    assert own["fingerprint"] == members["ada"]["fingerprint"]
    assert "Only the creator" in bo.told("team", "policy", "bo")[2]
    assert "rules by ada count for members" in ada.says("team", "policy", "ada")
    bo.says("sync")
    assert "not accepted" in bo.says("team")
    assert "Accepted: rules by ada-" in bo.says("team", "policy", "accept")
    bo.says("sync")
    brief = bo.says("brief", "--prompt", "install the npm packages with yarn or npm")
    assert brief.index("Rules:") < brief.index("Always use pnpm")
    assert "on this machine" in bo.says("team", "revoke", "ada")
    assert "pnpm" not in bo.texts()
    ada.says("sync")
    assert "for all members" in ada.says("team", "revoke", "bo")
    assert "revoked" in ada.says("team", "members")
    assert "deleted here" in bo.says("team", "leave")
    assert bo.told("team")[0] == 1


def test_a_member_who_left_comes_back(people: People) -> None:
    ada, bo, drive = people
    ada.says("team", "enable", str(drive))
    ada.says("share", ada.remember("Always use pnpm."))
    ada.says("sync")
    bo.says("team", "enable", str(drive))
    bo.says("team", "revoke", "ada")  # by mistake
    bo.says("team", "leave")
    bo.says("team", "enable", str(drive))
    assert "pnpm" in bo.texts()
    ada.says("sync")
    rows = ada.json("team", "members")["members"] + bo.json("team", "members")["members"]
    assert [row["name"] for row in rows if row["left"] or row["revoked"]] == []


def test_json_of_what_is_exchanged_is_documented(people: People, tmp_path: Path) -> None:
    ada, _, drive = people
    page = (Path(__file__).parents[2] / "docs" / "json.md").read_text()
    ada.remember("Always use pnpm.")
    (tmp_path / "team").mkdir()
    for words in (
        ("sync", "folder", str(drive)), ("sync", "code"), ("team", "enable", str(tmp_path / "team")),
        ("share",), ("share", "pnpm"), ("sync",), ("sync", "status"), ("team",), ("team", "members"),
        ("team", "code"), ("unshare", "pnpm"), ("team", "policy", "ada"), ("team", "disable"),
        ("team", "leave"), ("sync", "remove", "folder", str(drive)), ("export", str(tmp_path / "x.json")),
        ("import", str(tmp_path / "x.json"), "--dry-run"), ("backup", str(tmp_path / "b.zip")),
    ):  # fmt: skip
        keys = re.findall(r'"(\w+)":', json.dumps(ada.json(*words)))
        assert [one for one in keys if f"`{one}`" not in page] == [], words


def test_a_revoked_member_is_told_and_not_named_at_each_sync(people: People) -> None:
    ada, bo, drive = people
    ada.says("team", "enable", str(drive))
    bo.says("team", "enable", str(drive))
    assert "New member: bo" in ada.says("sync")
    ada.says("team", "revoke", "bo")
    assert "Not accepted" not in ada.says("sync")
    bo.says("sync")
    assert "your key was revoked" in bo.says("team")
    assert bo.json("team")["teams"][0]["revoked"] is True


def test_disable_and_undo(people: People) -> None:
    ada, bo, drive = people
    ada.says("team", "enable", str(drive))
    name = ada.remember("Always use pnpm.")
    ada.says("share", name)
    assert f"Undone: shared {name}: Always use pnpm." in ada.says("undo")
    ada.says("sync")
    bo.says("team", "enable", str(drive))
    assert "pnpm" not in bo.texts()
    ada.says("share", name)
    ada.says("sync")
    bo.says("sync")
    assert "pnpm" in bo.texts()
    assert "no longer shared with shop" in bo.says("team", "disable")
    assert "pnpm" not in bo.texts()
    bo.says("team", "enable")
    assert "pnpm" in bo.texts()
    ada.says("undo")
    ada.says("sync")
    bo.says("sync")
    assert "pnpm" not in bo.texts()


def test_review_offers_what_the_team_does_not_have(people: People) -> None:
    ada, _, drive = people
    ada.remember("Always use pnpm.")
    assert "share" not in ada.told("review")[2]
    ada.says("team", "enable", str(drive))
    assert "Not shared with shop: 1 rule (`told share`)." in ada.told("review")[2]
    listed = ada.says("share")
    assert "Always use pnpm." in listed
    ada.says("share", "pnpm")
    assert "share" not in ada.told("review")[2]
    assert ada.told("share")[0] == 1
