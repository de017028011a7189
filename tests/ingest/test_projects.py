"""Identify the project of a session."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.ingest.box import differences
from tests.soak import points
from told.ingest.projects import identify, normalize_remote, read_remote

if TYPE_CHECKING:
    from tests.ingest.box import Box

REMOTE = "git@github.com:Acme/Demo.git"


class World:
    """Repositories on a scratch machine, and sessions in them."""

    def __init__(self, box: Box) -> None:
        self.box = box
        self._made = 0

    def repository(self, name: str, remote: str = "", *, commit: str = "first") -> str:
        folder = self.box.folder(name)
        self.box.git(folder, "init", "-q")
        if commit:
            Path(folder, "file").write_text(commit)
            self.box.git(folder, "add", "file")
            self.box.git(folder, "commit", "-q", "-m", commit)
        if remote:
            self.box.git(folder, "remote", "add", "origin", remote)
        return folder

    def session(self, cwd: str, name: str = "") -> str:
        """Have a session in a folder and read it."""
        self._made += 1
        name = name or f"session-{self._made}"
        self.box.claude(name, cwd=cwd).turn("Where am I?", "Here.").write()
        self.box.index()
        return name

    def projects(self) -> dict[str, Any]:
        """Return the project, and the folder in it, of each session."""
        return {
            native: (name, part)
            for native, name, part in self.box.rows(
                "SELECT native, coalesce(p.key, ''), part FROM session s"
                " LEFT JOIN project p ON p.id = s.project_id WHERE turns > 0"
            )
        }


@pytest.fixture
def world(box: Box) -> World:
    return World(box)


def same_after_a_rebuild(world: World) -> None:
    before, answers = world.projects(), world.box.answers(())
    world.box.drop_store()
    world.box.told("rebuild")
    assert world.projects() == before
    assert differences(answers, world.box.answers(())) == []


@pytest.mark.parametrize(
    "url",
    [
        "git@github.com:Acme/Demo.git", "git@github.com:Acme/Demo", "ssh://git@github.com/Acme/Demo.git",
        "ssh://git@github.com:22/acme/demo.git", "ssh://git@ssh.github.com:443/acme/demo.git",
        "https://github.com/Acme/Demo", "https://github.com/Acme/Demo.git", "https://github.com/acme/demo.git/",
        "https://www.github.com/acme/demo", "http://github.com:80/acme/demo", "HTTPS://GITHUB.COM/ACME/DEMO",
        "https://user@github.com/acme/demo", "https://user:pa55@github.com/acme/demo.git",
        "https://user:p@ss@github.com/acme/demo", "https://user:pa/ss@github.com/acme/demo",
        "https://x-access-token:ghs_abc@github.com/acme/demo", "https://github.com/acme/demo?token=abc",
        "git://github.com/acme/demo", "git+ssh://git@github.com/acme/demo", "github.com:acme/demo",
        "git@github.com-work:acme/demo.git", "acme/demo", "github.com/acme/demo", " acme/demo\n",
        "git@github.com:/acme/demo.git", "user:secret@github.com:acme/demo",
    ],
)  # fmt: skip
def test_all_forms_of_a_remote_have_one_key(url: str) -> None:
    assert normalize_remote(url)[0] == "github.com/acme/demo"


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("https://gitlab.example.org/group/sub/demo.git", "gitlab.example.org/group/sub/demo"),
        ("git@gitlab.com-me:group/demo.git", "gitlab.com/group/demo"),
        ("https://dev.azure.com/org/project/_git/demo", "dev.azure.com/org/project/_git/demo"),
        ("git@work:acme/demo.git", "work/acme/demo"),
        ("git@box:demo.git", "box:demo"),
        ("ssh://git@localhost:2222/demo", "localhost:demo"),
        ("/srv/git/demo.git", "file/srv/git/demo"),
        ("file:///srv/git/demo.git", "file/srv/git/demo"),
        ("C:/repos/demo.git", "file/c:/repos/demo"),
        ("", ""), ("   ", ""), ("https://", ""), ("https://github.com", ""), ("://", ""), ("@", ""),
    ],
)  # fmt: skip
def test_unknown_hosts_keep_their_name(url: str, key: str) -> None:
    assert normalize_remote(url)[0] == key


URLS = st.one_of(
    st.text(max_size=60),
    st.lists(
        st.sampled_from(
            ["https", "://", "ssh", "git", "@", ":", "/", "//", "github.com", "acme", "demo", ".git", ".",
             "..", "~", "\\", "C:", "file", "?", "#", " ", "443", "user", "[::1]", "-work", "É", "\x00"]
        ),
        max_size=12,
    ).map("".join),
)  # fmt: skip


@settings(max_examples=points(everyday=150, soak=2000), deadline=None, derandomize=True, database=None)
@given(URLS)
@example("a.git.git")
@example("https://gitserver/a@b")
@example("host:a@b")
def test_normalize_remote_is_idempotent(url: str) -> None:
    key, name = normalize_remote(url)
    assert normalize_remote(key)[0] == key
    assert bool(key) == bool(name)


WORD = st.text("abcdefghijklmnopqrstuvwxyz0123456789", min_size=3, max_size=12)


@settings(max_examples=points(everyday=100, soak=1000), deadline=None, derandomize=True, database=None)
@given(
    scheme=st.sampled_from(["https://", "http://", "ssh://", "git+https://", ""]),
    password=st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ%!$&*+=._~-/@", min_size=6, max_size=20),
    port=st.sampled_from(["", ":8443"]),
    words=st.tuples(WORD, WORD, WORD),
)
def test_key_never_contains_a_password(
    scheme: str, password: str, port: str, words: tuple[str, str, str]
) -> None:
    user, owner, name = words
    separator = ":" if not scheme else f"{port}/"
    if not scheme:
        password = password.replace("/", "x")
    key, shown = normalize_remote(f"{scheme}{user}:{password}@git.example.org{separator}{owner}/{name}.git")
    assert (key, shown) == (f"git.example.org/{owner}/{name}", f"{owner}/{name}")


def test_sub_folders_worktrees_and_clones_are_one_project(world: World) -> None:
    box = world.box
    main = world.repository("work/demo", REMOTE)
    (Path(main) / "packages" / "web").mkdir(parents=True)
    tree = str(box.home / "trees" / "hotfix")
    box.git(main, "worktree", "add", "-q", tree)
    clone = world.repository("other/place", "https://user:pw@github.com/acme/demo", commit="another")
    local = str(box.home / "local-clone")
    box.git(str(box.home), "clone", "-q", main, local)
    for folder in (main, f"{main}/packages/web", tree, clone, local):
        world.session(folder)
    seen = world.projects()
    assert {key for key, _ in seen.values()} == {"github.com/acme/demo"}
    assert sorted(part for _, part in seen.values()) == ["", "", "", "", "packages/web"]
    assert box.told("repos", "--json").json["projects"][0]["sessions"] == 5
    same_after_a_rebuild(world)


def test_worktree_without_remote_belongs_to_its_repository(world: World) -> None:
    main = world.repository("work/demo")
    tree = str(world.box.home / "tree")
    world.box.git(main, "worktree", "add", "-q", tree)
    world.session(main)
    world.session(tree)
    shutil.rmtree(tree)
    world.session(tree)
    assert len(set(world.projects().values())) == 1
    same_after_a_rebuild(world)


def test_deleted_worktree_belongs_to_its_repository(world: World) -> None:
    main = world.repository("work/demo", REMOTE)
    world.session(f"{main}/.claude/worktrees/hotfix")
    world.session(main)
    assert {key for key, _ in world.projects().values()} == {"github.com/acme/demo"}
    same_after_a_rebuild(world)


def test_submodule_is_its_own_project(world: World) -> None:
    library = world.repository("library", "git@github.com:acme/library.git")
    main = world.repository("work/demo", REMOTE)
    world.box.git(
        main, "-c", "protocol.file.allow=always", "submodule", "add", "-q", library, "vendor/library"
    )
    world.box.git(f"{main}/vendor/library", "remote", "set-url", "origin", "git@github.com:acme/library.git")
    world.session(main, "main")
    world.session(f"{main}/vendor/library", "sub")
    assert world.projects() == {"main": ("github.com/acme/demo", ""), "sub": ("github.com/acme/library", "")}


def test_nested_repository_is_its_own_project(world: World) -> None:
    outer = world.repository("work/outer", "git@github.com:acme/outer.git")
    inner = world.repository("work/outer/tools/inner", "git@github.com:acme/inner.git")
    (Path(inner) / "src").mkdir()
    (Path(outer) / "src").mkdir()
    for name, folder in (("a", outer), ("b", f"{outer}/src"), ("c", inner), ("d", f"{inner}/src")):
        world.session(folder, name)
    assert world.projects() == {
        "a": ("github.com/acme/outer", ""), "b": ("github.com/acme/outer", "src"),
        "c": ("github.com/acme/inner", ""), "d": ("github.com/acme/inner", "src"),
    }  # fmt: skip
    shutil.rmtree(inner)
    world.session(f"{inner}/src", "e")
    same_after_a_rebuild(world)


@pytest.mark.parametrize("remote", [REMOTE, ""])
def test_moved_folder_is_the_same_project(world: World, remote: str) -> None:
    old = world.repository("work/demo", remote)
    world.session(old)
    new = str(world.box.home / "moved")
    Path(old).rename(new)
    world.session(new)
    world.session(old)
    assert len({key for key, _ in world.projects().values()}) == 1
    same_after_a_rebuild(world)


def test_deleted_folder_keeps_its_project(world: World) -> None:
    folder = world.repository("work/demo", REMOTE)
    (Path(folder) / "src").mkdir()
    world.session(f"{folder}/src", "before")
    shutil.rmtree(folder)
    world.session(folder, "after")
    world.session(f"{folder}/src/deep", "below")
    assert world.projects() == {
        "before": ("github.com/acme/demo", "src"), "after": ("github.com/acme/demo", ""),
        "below": ("github.com/acme/demo", "src/deep"),
    }  # fmt: skip
    same_after_a_rebuild(world)


def test_folder_without_git_is_its_own_project(world: World) -> None:
    folder = world.box.folder("notes")
    world.session(folder, "a")
    world.session(f"{folder}/sub", "b")
    assert world.projects()["a"] == (f"path:{folder}", "")
    assert world.projects()["b"][0] == f"path:{folder}/sub"
    same_after_a_rebuild(world)


def test_deleted_folders_do_not_absorb_sub_folders(world: World) -> None:
    order = ["/gone/dev/shop", "/gone/dev", "/gone/dev/shop/api", "/gone"]
    for number, folder in enumerate(order):
        world.session(folder, f"session-{number}")
    first = world.projects()
    assert len({key for key, _ in first.values()}) == 4
    world.box.drop_store()
    shutil.rmtree(world.box.home / ".claude")
    shutil.rmtree(world.box.told_home / "archive")
    for number, folder in reversed([*enumerate(order)]):
        world.session(folder, f"session-{number}")
    assert world.projects() == first


def test_sessions_follow_when_a_remote_is_added(world: World) -> None:
    folder = world.repository("work/demo", commit="")
    (Path(folder) / "src").mkdir()
    world.session(folder)
    world.session(f"{folder}/src")
    Path(folder, "file").write_text("x")
    world.box.git(folder, "add", "file")
    world.box.git(folder, "commit", "-q", "-m", "first")
    world.session(folder)
    assert {key[:7] for key, _ in world.projects().values()} == {"commit:"}
    world.box.git(folder, "remote", "add", "origin", REMOTE)
    world.session(folder)
    assert {key for key, _ in world.projects().values()} == {"github.com/acme/demo"}
    assert sorted(part for _, part in world.projects().values()) == ["", "", "", "src"]
    assert world.box.rows("SELECT count(*) FROM project") == [(1,)]
    assert world.box.told("list", "--project", "demo", "--json").json["total"] == 4
    same_after_a_rebuild(world)


def test_sessions_follow_when_a_folder_becomes_a_known_repository(world: World) -> None:
    world.session(world.repository("clone", REMOTE))
    folder = world.box.folder("work/demo/src")
    world.session(folder, "early")
    world.repository("work/demo", REMOTE)
    world.session(str(Path(folder).parent), "late")
    assert world.projects()["early"] == ("github.com/acme/demo", "src")
    assert world.box.rows("SELECT count(*) FROM project") == [(1,)]
    same_after_a_rebuild(world)


def test_home_folder_does_not_absorb_its_folders(world: World) -> None:
    home = str(world.box.home)
    world.session(home, "home")
    world.session(f"{home}/gone/away", "away")
    assert world.projects()["home"] == (f"path:{home}", "")
    assert world.projects()["away"][0] == f"path:{home}/gone/away"


def test_linked_folder_is_its_target(world: World) -> None:
    folder = world.repository("work/demo", commit="")
    (Path(folder) / "src").mkdir()
    link = world.box.home / "link"
    link.symlink_to(folder)
    plain = world.box.folder("notes")
    (world.box.home / "link2").symlink_to(plain)
    world.session(f"{link}/src", "a")
    world.session(f"{folder}/src", "b")
    world.session(str(world.box.home / "link2"), "c")
    world.session(plain, "d")
    seen = world.projects()
    assert seen["a"] == seen["b"]
    assert seen["c"] == seen["d"]


@pytest.mark.parametrize(
    "cwd",
    ["C:\\Users\\dev\\shop", "C:/Users/dev/shop", "\\\\server\\share", "relative/path", ".", "..", "~", "~/x",
     "/", "//", "/etc/passwd", "/dev/null", "/proc/self", "a" * 3000, "/" + "b/" * 400, "/x\x00y", "\ud800",
     "/tmp/\ud83d", "%2e%2e", "file:///x", "'; DROP TABLE session; --", "\n\n"],
)  # fmt: skip
def test_any_folder_name_is_accepted(world: World, cwd: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(world.repository("work/elsewhere", "git@github.com:acme/elsewhere.git"))
    world.session(cwd, "odd")
    world.session("/gone/shop", "good")
    assert world.box.turns("odd") == [("Where am I?", "Here.")]
    assert world.projects()["odd"][0] != "github.com/acme/elsewhere"
    assert world.box.told("list", "--json", "--all-projects").json["total"] == 2
    assert world.box.told("repos").code == 0


def test_windows_folder_name(world: World) -> None:
    world.session("C:\\Users\\dev\\shop")
    assert world.box.told("repos", "--json").json["projects"][0]["project"] == "shop"


def test_git_hook_variables_are_ignored(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = world.repository("one", commit="one"), world.repository("two", commit="two")
    key = identify(two, ask_git=True).key
    monkeypatch.setenv("GIT_DIR", f"{one}/.git")
    monkeypatch.setenv("GIT_WORK_TREE", one)
    assert identify(two, ask_git=True).key == key


def test_same_relative_remote_in_two_repositories(world: World) -> None:
    keys = {
        identify(world.repository(f"{name}/demo", "../upstream.git"), ask_git=True).key for name in ("a", "b")
    }
    assert len(keys) == 2


@pytest.mark.parametrize(
    ("config", "url"),
    [
        ('[remote "up"]\n\turl = u\n[remote "origin"]\n\turl = o\n', "o"),
        ('[remote "up"]\n\turl = u\n\tpushurl = p\n[branch "main"]\n\turl = wrong\n', "u"),
        ('[remote "origin"]\n\turl = "quoted"\n', "quoted"),
        ('[Remote "origin"]\r\n\tURL=o\r\n', "o"),
        ("[core]\n\turl = no\n", ""),
        ("", ""), ("\0\0[[[", ""), ('[remote "origin"]\nurl', ""),
    ],
)  # fmt: skip
def test_read_remote_from_any_config(tmp_path: Path, config: str, url: str) -> None:
    (tmp_path / "config").write_text(config)
    assert read_remote(str(tmp_path)) == url


def test_git_config_that_is_a_pipe_or_folder_does_not_block(world: World) -> None:
    for number, make in enumerate((os.mkfifo, os.mkdir)):
        folder = world.box.folder(f"odd-{number}/.git")
        make(f"{folder}/config")
        assert identify(os.path.dirname(folder), ask_git=False).root == os.path.dirname(folder)
    folder = world.box.folder("pointer")
    os.mkfifo(f"{folder}/.git")
    assert identify(folder, ask_git=False).root == folder
