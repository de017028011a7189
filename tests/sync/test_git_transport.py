"""What a git remote adds to the contract: clones, access, history and the user's repository."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.sync.places import SPACE, git
from told.errors import BusyError, MissingError, ToldError, UsageError
from told.sync.transports.git import GitTransport

A, B = "aaaaaaaa", "bbbbbbbb"
ONE, TWO = "000001.jsonl", "000002.jsonl"
REF = f"refs/told/{SPACE}/{A}"
Connect = Callable[..., GitTransport]


@pytest.fixture
def remote(tmp_path: Path) -> Path:
    path = tmp_path / "remote.git"
    git("init", "--quiet", "--bare", "--initial-branch=main", path)
    return path


@pytest.fixture
def clone(tmp_path: Path, remote: Path) -> Path:
    """Make a clone with two commits that are pushed."""
    path = tmp_path / "clone"
    git("clone", "--quiet", remote, path)
    for number in (1, 2):
        (path / "file.txt").write_text(f"{number}")
        git("-C", path, "add", "file.txt")
        identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
        git("-C", path, *identity, "commit", "--quiet", "-m", f"Commit {number}")
    git("-C", path, "push", "--quiet", "origin", "HEAD:main")
    return path


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "home").mkdir()
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return own | {"HOME": str(tmp_path / "home")}


@pytest.fixture
def connect(tmp_path: Path, remote: Path, environ: dict[str, str]) -> Connect:
    def connect(
        name: str = "mine", where: str | Path = remote, *, repo: Path | None = None, seconds: float = 60.0
    ) -> GitTransport:
        cache = str(tmp_path / "caches" / name)
        place = str(repo) if repo else None
        return GitTransport(str(where), SPACE, cache, environ=environ, repo=place, seconds=seconds)

    return connect


@pytest.fixture
def ssh(tmp_path: Path, environ: dict[str, str]) -> Callable[[str], str]:
    """Let git reach a host by a script; return the URL."""

    def make(body: str) -> str:
        script = tmp_path / "fake-ssh"
        script.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\nfor last; do :; done\n{body}\n')
        script.chmod(0o755)
        environ["GIT_SSH_COMMAND"] = str(script)
        return f"git@example.org:{tmp_path}/remote.git"

    return make


def every_object(repository: Path) -> str:
    return git("-C", repository, "cat-file", "--batch", "--batch-all-objects", "--unordered")


def cache_of(tmp_path: Path, name: str = "mine") -> Path:
    return tmp_path / "caches" / name / SPACE / "repository.git"


def snapshot(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path): (path.stat().st_mtime_ns, path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_a_series_is_one_commit_that_tells_nothing_else(connect: Connect, remote: Path) -> None:
    place = connect()
    place.write(A, {ONE: b"one"}, b"1", before=None)
    place.write(A, {TWO: b"two"}, b"2", before=b"1")
    assert git("-C", remote, "for-each-ref", "--format=%(refname)") == REF
    assert git("-C", remote, "log", "--format=%an %ae %at %cn %ce %ct %P|%B", REF) == (
        "told told@localhost 0 told told@localhost 0 |"
    )
    assert git("-C", remote, "ls-tree", "--name-only", REF).split() == [ONE, TWO, "head"]


def test_the_users_repository_is_not_touched(
    connect: Connect, clone: Path, environ: dict[str, str], tmp_path: Path, ssh: Callable[[str], str]
) -> None:
    (clone / "file.txt").write_text("edited")
    ran, hooks = tmp_path / "ran", clone / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for hook in ("pre-push", "reference-transaction", "pre-commit", "post-commit", "post-index-change"):
        (hooks / hook).write_text(f"#!/bin/sh\necho {hook} >> {ran}\n")
        (hooks / hook).chmod(0o755)
    (tmp_path / "home" / ".gitconfig").write_text(
        f"[core]\n\thooksPath = {hooks}\n\tlogAllRefUpdates = always\n"
        f"[init]\n\ttemplateDir = {hooks.parent}\n"
        "[commit]\n\tgpgSign = true\n[push]\n\tgpgSign = true\n\tfollowTags = true\n"
    )
    git("-C", clone, "config", "core.hooksPath", hooks)
    git("-C", clone, "remote", "set-url", "origin", ssh('HOME=/nowhere exec sh -c "$last"'))
    status, log = git("-C", clone, "status"), git("-C", clone, "log", "--all", "--format=%H %D")
    ran.unlink(missing_ok=True)  # git may have had no reason to write its index
    before = snapshot(clone)
    # As in a hook of git's, where these name the user's repository.
    environ |= {"GIT_DIR": str(clone / ".git"), "GIT_WORK_TREE": str(clone), "GIT_INDEX_FILE": "index"}
    place = connect(where="origin", repo=clone)
    assert place.write(A, {ONE: b"one"}, b"1", before=None)
    assert place.write(A, {ONE: b"two"}, b"2", before=b"1")
    assert connect("other").heads() == place.heads() == {A: b"2"}
    assert snapshot(clone) == before
    assert not ran.exists()
    assert (git("-C", clone, "status"), git("-C", clone, "log", "--all", "--format=%H %D")) == (status, log)
    git("-C", clone, "fetch", "--quiet", tmp_path / "remote.git")
    assert git("-C", clone, "log", "--all", "--format=%H %D") == log


def test_two_clones_and_a_shallow_one_exchange(
    connect: Connect, clone: Path, remote: Path, tmp_path: Path
) -> None:
    shallow = tmp_path / "shallow"
    git("clone", "--quiet", "--depth=1", f"file://{remote}", shallow)
    assert git("-C", shallow, "rev-list", "--count", "HEAD") == "1"
    one, two = connect("one", "origin", repo=clone), connect("two", "origin", repo=shallow)
    assert one.write(A, {ONE: b"of one"}, b"1", before=None)
    assert two.write(B, {ONE: b"of two"}, b"1", before=None)
    assert one.heads() == two.heads() == {A: b"1", B: b"1"}
    assert one.read(B, [ONE]) == {ONE: b"of two"}
    assert two.read(A, [ONE]) == {ONE: b"of one"}
    assert git("-C", shallow, "rev-list", "--count", "HEAD") == "1"


def test_erased_payloads_leave_every_cache(connect: Connect, remote: Path, tmp_path: Path) -> None:
    mine, theirs = connect("mine"), connect("theirs")
    mine.write(A, {ONE: b"a canary", TWO: b"stays"}, b"1", before=None)
    theirs.heads()
    assert all("a canary" in every_object(cache_of(tmp_path, name)) for name in ("mine", "theirs"))
    mine.write(A, {ONE: b"erased"}, b"2", before=b"1")
    assert theirs.heads() == {A: b"2"}
    assert theirs.read(A, [ONE, TWO]) == {ONE: b"erased", TWO: b"stays"}
    for name in ("mine", "theirs"):
        assert "a canary" not in every_object(cache_of(tmp_path, name))
        assert list((cache_of(tmp_path, name) / "objects" / "pack").iterdir()) == []
    git("-C", remote, "gc", "--quiet", "--prune=now")
    assert "a canary" not in every_object(remote)


def test_the_users_name_and_address_are_in_no_object(
    connect: Connect, remote: Path, environ: dict[str, str]
) -> None:
    who = "[user]\n\tname = Ada Canary\n\temail = ada@canary.example\n"
    Path(environ["HOME"], ".gitconfig").write_text(who)
    environ |= {"GIT_AUTHOR_EMAIL": "ada@canary.example", "GIT_COMMITTER_EMAIL": "ada@canary.example"}
    connect().write(A, {ONE: b"one"}, b"1", before=None)
    assert "anary" not in every_object(remote)


def test_a_payload_is_erased_after_a_kill_between_fetch_and_prune(connect: Connect, tmp_path: Path) -> None:
    mine, theirs = connect("mine"), connect("theirs")
    mine.write(A, {ONE: b"a canary"}, b"1", before=None)
    theirs.heads()
    mine.write(A, {ONE: b"erased"}, b"2", before=b"1")
    cache = cache_of(tmp_path, "theirs")
    git("--git-dir", cache, "fetch", "--quiet", tmp_path / "remote.git", f"+{REF}:{REF}")
    (cache / f"{REF}.lock").write_bytes(b"")
    (cache.parent / "unfinished").write_bytes(b"")
    assert connect("theirs").heads() == {A: b"2"}
    assert "a canary" not in every_object(cache)


def test_forced_and_deleted_refs_are_followed(connect: Connect, remote: Path) -> None:
    mine, theirs = connect("mine"), connect("theirs")
    mine.write(A, {ONE: b"one"}, b"1", before=None)
    theirs.write(B, {ONE: b"two"}, b"1", before=None)
    git("-C", remote, "update-ref", REF, f"refs/told/{SPACE}/{B}")
    assert mine.heads() == {A: b"1", B: b"1"}
    assert mine.read(A, [ONE]) == {ONE: b"two"}
    git("-C", remote, "update-ref", "-d", REF)
    assert not mine.write(A, {ONE: b"one"}, b"2", before=b"1")
    assert mine.heads() == theirs.heads() == {B: b"1"}
    assert mine.write(A, {ONE: b"again"}, b"1", before=None)
    assert theirs.heads() == {A: b"1", B: b"1"}
    assert theirs.read(A, [ONE]) == {ONE: b"again"}


def test_a_host_may_remove_what_the_cache_knows(connect: Connect, remote: Path) -> None:
    mine, theirs = connect("mine"), connect("theirs")
    mine.write(A, {ONE: b"one"}, b"1", before=None)
    theirs.write(B, {ONE: b"two"}, b"1", before=None)
    assert mine.heads() == theirs.heads() == {A: b"1", B: b"1"}
    git("-C", remote, "update-ref", "-d", f"refs/told/{SPACE}/{B}")
    git("-C", remote, "gc", "--quiet", "--prune=now")
    assert mine.write(A, {TWO: b"two"}, b"2", before=b"1")
    git("-C", remote, "gc", "--quiet", "--prune=now")
    assert theirs.heads() == {A: b"2"}
    assert theirs.read(A, [ONE, TWO]) == {ONE: b"one", TWO: b"two"}
    assert theirs.write(B, {ONE: b"two"}, b"1", before=None)
    assert mine.heads() == {A: b"2", B: b"1"}
    git("-C", remote, "fsck", "--strict", "--connectivity-only")


def test_a_series_is_replaced_only_as_it_was_seen(connect: Connect, remote: Path) -> None:
    """The same head with other files is another commit."""
    mine, theirs = connect("mine"), connect("theirs")
    mine.write(A, {ONE: b"one"}, b"1", before=None)
    theirs.heads()
    mine.write(A, {ONE: b"other"}, b"1", before=b"1")
    assert not theirs.write(A, {TWO: b"two"}, b"2", before=b"1")
    assert theirs.read(A, [ONE, TWO]) == {ONE: b"other"}
    assert theirs.write(A, {TWO: b"two"}, b"2", before=b"1")
    assert mine.heads() == {A: b"2"}
    assert mine.read(A, [ONE, TWO]) == {ONE: b"other", TWO: b"two"}


def test_only_new_files_travel(connect: Connect, ssh: Callable[[str], str], tmp_path: Path) -> None:
    url = ssh(f'tee -a {tmp_path}/sent | sh -c "$last" | tee -a {tmp_path}/received')
    mine, theirs = connect("mine", url), connect("theirs", url)
    files = {f"{number:06}.jsonl": os.urandom(10_000) for number in range(50)}
    mine.write(A, files, b"1", before=None)
    theirs.write(B, {ONE: b"one"}, b"1", before=None)
    theirs.heads()
    assert (tmp_path / "sent").stat().st_size > 500_000
    assert (tmp_path / "received").stat().st_size > 500_000
    for turn in (2, 3):
        (tmp_path / "sent").write_bytes(b"")
        (tmp_path / "received").write_bytes(b"")
        assert mine.write(A, {f"00010{turn}.jsonl": b"more"}, b"%d" % turn, before=b"%d" % (turn - 1))
        assert theirs.heads() == {A: b"%d" % turn, B: b"1"}
        assert theirs.read(A, list(files)) == files
        assert (tmp_path / "sent").stat().st_size < 20_000
        assert (tmp_path / "received").stat().st_size < 20_000


def test_spaces_of_one_remote_are_apart(
    connect: Connect, environ: dict[str, str], remote: Path, tmp_path: Path
) -> None:
    mine = connect()
    other = GitTransport(str(remote), "other", str(tmp_path / "caches" / "mine"), environ=environ)
    assert mine.write(A, {ONE: b"one"}, b"1", before=None)
    assert other.heads() == {}
    assert other.write(A, {ONE: b"two"}, b"2", before=None)
    assert (mine.heads(), other.heads()) == ({A: b"1"}, {A: b"2"})
    assert (mine.read(A, [ONE]), other.read(A, [ONE])) == ({ONE: b"one"}, {ONE: b"two"})


def test_nothing_new_costs_one_call_of_git(
    connect: Connect, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    connect().write(A, {ONE: b"one"}, b"1", before=None)
    connect().heads()
    calls: list[list[str]] = []
    popen = subprocess.Popen

    def counted(words: list[str], *rest: object, **named: object) -> object:
        calls.append(words)
        return popen(words, *rest, **named)  # type: ignore[call-overload]

    monkeypatch.setattr(subprocess, "Popen", counted)
    assert connect().heads() == {A: b"1"}
    assert [words[3] for words in calls] == ["for-each-ref"]


def test_the_cache_is_private_and_has_no_settings(connect: Connect, remote: Path, tmp_path: Path) -> None:
    connect(where=f"file://{remote}").heads()
    assert (tmp_path / "caches" / "mine").stat().st_mode & 0o777 == 0o700
    settings = git("--git-dir", cache_of(tmp_path), "config", "--local", "--name-only", "--list").split()
    assert {name.partition(".")[0] for name in settings} == {"core"}


@pytest.mark.parametrize("damage", ["empty", "object", "config", "head", "heads"])
def test_a_damaged_cache_is_made_again(connect: Connect, tmp_path: Path, damage: str) -> None:
    connect().write(A, {ONE: b"one", TWO: b"two"}, b"1", before=None)
    connect().heads()
    cache = cache_of(tmp_path)
    objects = [path for path in (cache / "objects").rglob("*") if path.is_file()]
    targets = {
        "empty": objects, "object": objects[:1], "config": [cache / "config"], "head": [cache / "HEAD"],
        "heads": [cache.parent / "heads.json"],
    }  # fmt: skip
    for path in targets[damage]:
        path.chmod(0o600)
        path.write_bytes(b"" if damage != "config" else b"[broken")
    place = connect()
    assert place.heads() == {A: b"1"}
    assert place.read(A, [ONE, TWO]) == {ONE: b"one", TWO: b"two"}
    assert place.write(A, {ONE: b"new"}, b"2", before=b"1")
    assert connect("other").heads() == {A: b"2"}
    assert connect("other").read(A, [ONE, TWO]) == {ONE: b"new", TWO: b"two"}


def test_a_remote_that_may_only_be_read(connect: Connect, ssh: Callable[[str], str]) -> None:
    connect("writer").write(A, {ONE: b"one"}, b"1", before=None)
    url = ssh(
        'case "$last" in *receive-pack*)\n'
        'echo "ERROR: Permission to team/app.git denied to deploy key" >&2; exit 1;;\n'
        'esac\nexec sh -c "$last"'
    )
    place = connect(where=url)
    assert place.heads() == {A: b"1"}
    assert place.read(A, [ONE]) == {ONE: b"one"}
    with pytest.raises(MissingError, match=r"is read-only for you \(.*Permission to team/app.git denied"):
        place.write(A, {TWO: b"two"}, b"2", before=b"1")
    assert place.heads() == {A: b"1"}
    assert place.read(A, [ONE, TWO]) == {ONE: b"one"}


def test_a_host_that_refuses_the_ref(connect: Connect, remote: Path) -> None:
    hook = remote / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho only branches >&2\nexit 1\n")
    hook.chmod(0o755)
    with pytest.raises(MissingError, match=r"refuses refs/told/.*pre-receive hook declined"):
        connect().write(A, {ONE: b"one"}, b"1", before=None)
    assert connect().heads() == {}


@pytest.mark.parametrize(
    ("said", "error"),
    [
        ("ssh: connect to host example.org port 22: Connection refused", BusyError),
        ("ssh: Could not resolve hostname example.org: Name or service not known", BusyError),
        ("git@example.org: Permission denied (publickey).", MissingError),
        ("Host key verification failed.", MissingError),
        ("ERROR: Repository not found.", MissingError),
    ],
)
def test_a_host_that_fails_is_named(
    connect: Connect, ssh: Callable[[str], str], said: str, error: type[ToldError]
) -> None:
    url = ssh(f'echo "{said}" >&2; exit 255')
    with pytest.raises(error) as told:
        connect(where=url).heads()
    assert said.removeprefix("ERROR: ").rstrip(".") in str(told.value)
    assert "\n" not in str(told.value)


def test_a_host_that_hangs_is_given_up_with_all_that_was_started(
    connect: Connect, ssh: Callable[[str], str], tmp_path: Path
) -> None:
    url = ssh(f"echo $$ > {tmp_path}/pid; exec sleep 600")
    with pytest.raises(BusyError, match=r"did not answer within 0\.5 s"):
        connect(where=url, seconds=0.5).heads()
    process = int((tmp_path / "pid").read_text())
    deadline = time.monotonic() + 30
    while _is_running(process) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not _is_running(process)


def _is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_the_settings_of_the_users_repository_give_access(
    connect: Connect, ssh: Callable[[str], str], clone: Path, environ: dict[str, str], tmp_path: Path
) -> None:
    """A deploy key of one repository, and one that a folder's settings name."""
    url = ssh('exec sh -c "$last"')
    script = environ.pop("GIT_SSH_COMMAND")
    git("-C", clone, "remote", "add", "team", url)
    git("-C", clone, "config", "core.sshCommand", f"{script} -i deploy-key")
    assert connect("one", "team", repo=clone).write(A, {ONE: b"one"}, b"1", before=None)
    assert "-i deploy-key" in (tmp_path / "asked").read_text()
    git("-C", clone, "config", "--unset", "core.sshCommand")
    included = tmp_path / "home" / "work.config"
    included.write_text(f"[core]\n\tsshCommand = {script} -i work-key\n")
    (tmp_path / "home" / ".gitconfig").write_text(f'[includeIf "gitdir:{clone}/"]\n\tpath = {included}\n')
    assert connect("two", "team", repo=clone).heads() == {A: b"1"}
    assert "-i work-key" in (tmp_path / "asked").read_text()


def test_ssh_never_asks(
    connect: Connect, ssh: Callable[[str], str], environ: dict[str, str], tmp_path: Path
) -> None:
    url = ssh('exec sh -c "$last"')
    os.symlink(environ.pop("GIT_SSH_COMMAND"), tmp_path / "ssh")
    environ["PATH"] = f"{tmp_path}:{environ['PATH']}"
    assert connect(where=url).heads() == {}
    assert "BatchMode=yes" in (tmp_path / "asked").read_text()


def test_git_is_missing(connect: Connect, environ: dict[str, str], tmp_path: Path) -> None:
    environ["PATH"] = str(tmp_path)
    with pytest.raises(MissingError, match=r"git is not installed\. Install it"):
        connect().heads()


def test_git_is_too_old(connect: Connect, environ: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "git").write_text("#!/bin/sh\necho git version 2.25.1\n")
    (tmp_path / "git").chmod(0o755)
    environ["PATH"] = f"{tmp_path}:{environ['PATH']}"
    with pytest.raises(MissingError, match=r"git 2\.31 or newer; this is 'git version 2\.25\.1'"):
        connect().heads()


def test_a_remote_that_does_not_exist(connect: Connect, clone: Path, tmp_path: Path) -> None:
    with pytest.raises(MissingError, match=r'"upstream" is not a remote of .*clone'):
        connect(where="upstream", repo=clone).heads()
    with pytest.raises(MissingError, match=r"cannot read .*nowhere"):
        connect(where=tmp_path / "nowhere").heads()
    with pytest.raises(MissingError, match=r"no repository .*gone"):
        connect(where="origin", repo=tmp_path / "gone").heads()


@pytest.mark.parametrize("remote", ["--upload-pack=touch x", "", "a\nb"])
def test_options_are_no_remotes(remote: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a git remote"):
        GitTransport(remote, SPACE, str(tmp_path), environ={})


def test_commands_are_no_remotes(connect: Connect, tmp_path: Path) -> None:
    with pytest.raises(MissingError):
        connect(where=f"ext::sh -c touch% {tmp_path}/ran").heads()
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("with_repo", [False, True])
def test_passwords_in_a_url_are_not_shown(connect: Connect, clone: Path, with_repo: bool) -> None:
    url = "https://ada:hunter2@127.0.0.1:1/app.git"
    with pytest.raises(ToldError) as told:
        connect(where=url, repo=clone if with_repo else None).heads()
    assert "127.0.0.1" in str(told.value)
    assert "hunter2" not in str(told.value)


def test_processes_with_one_cache_take_turns(connect: Connect) -> None:
    places = [connect() for _ in range(4)]
    series = [f"series{number:02}" for number in range(4)]
    results: list[bool] = []

    def write(place: GitTransport, name: str) -> None:
        results.append(place.write(name, {ONE: name.encode()}, b"1", before=None))

    threads = [threading.Thread(target=write, args=pair) for pair in zip(places, series, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 4
    assert connect("other").heads() == dict.fromkeys(series, b"1")
    assert all(connect("other").read(name, [ONE]) == {ONE: name.encode()} for name in series)
