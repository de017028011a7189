"""Carry series in refs of a git remote that the user already pushes to."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from told.errors import MissingError
from told.files import cannot_write, make_folder, open_private, open_regular, write_private
from told.journal.files import SeriesLock
from told.sync.transports.git_program import DamagedCacheError, Git
from told.sync.transports.names import HEAD, MAX_FILE, MAX_HEAD, check_space, check_write, is_file, is_series

# One identity and one date for all: a commit tells nothing that the head does not.
_COMMITTER = b"committer told <told@localhost> 0 +0000\n"
_NEW = "refs/told-new/commit"  # keeps a commit in the cache until it is pushed
_FETCH = (
    "fetch", "--prune", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules",
    "--no-auto-maintenance",
)  # fmt: skip
_PUSH = ("push", "--porcelain", "--no-verify", "--no-signed", "--no-follow-tags", "--no-recurse-submodules")

_Result = TypeVar("_Result")


class GitTransport:
    """Keep each series as one parentless commit in `refs/told/<space>/<series>`.

    Branches, the work tree and the user's repository are never touched: commits are made and read in a bare
    repository of told's. What was erased is in no history, and is removed from the cache; a host may keep
    objects that no ref reaches for some weeks, where anyone who knows their hash can read them.
    """

    def __init__(
        self,
        remote: str,
        space: str,
        cache: str,
        *,
        environ: Mapping[str, str],
        repo: str | None = None,
        seconds: float = 120.0,
    ) -> None:
        """Name the place; git does not run yet.

        Args:
            remote: A URL or a path, or with `repo` the name of one of its remotes.
            space: The id of what is shared.
            cache: A private folder for this remote alone; it can be deleted when told does not run.
            environ: The user's environment.
            repo: The top folder of a repository of the user's, whose settings for access are used.
            seconds: The time limit of each call of git.
        """
        self._refs = f"refs/told/{check_space(space)}"
        self._cache = os.path.join(os.path.abspath(cache), space)
        self._repository = os.path.join(self._cache, "repository.git")
        self._heads = os.path.join(self._cache, "heads.json")
        self._unfinished = os.path.join(self._cache, "unfinished")
        self._seconds = seconds
        self._git = Git(remote, self._repository, environ, repo, seconds)
        self._is_fetched = False

    def heads(self) -> dict[str, bytes]:
        """Return the head of each series, by its name."""
        return self._with_cache(self._fetch)

    def read(self, series: str, names: Sequence[str]) -> dict[str, bytes]:
        """Return some files of a series as it was when `heads` was called last."""
        known = [name for name in names if is_file(name)]
        if not is_series(series) or not known:
            return {}

        def read() -> dict[str, bytes]:
            if not self._is_fetched:
                self._fetch()
            found = self._read_blobs([f"{self._refs}/{series}:{name}" for name in known], MAX_FILE)
            return {path.rpartition(":")[2]: data for path, data in found.items()}

        return self._with_cache(read)

    def write(
        self, series: str, files: Mapping[str, bytes | None], head: bytes, *, before: bytes | None
    ) -> bool:
        """Replace the commit of a series; False if its head is another one by now."""
        check_write(series, files, head)

        def write() -> bool:
            if self._read_heads().get(series) != before and self._fetch().get(series) != before:
                return False
            return self._push(series, files, head, before)

        return self._with_cache(write)

    def close(self) -> None:
        """Do nothing: no connection is kept."""

    def _with_cache(self, do: Callable[[], _Result]) -> _Result:
        """Run with the cache to itself; make a damaged one again, once."""
        try:
            make_folder(self._cache)
            with SeriesLock(self._cache, int(self._seconds * 1000)):
                try:
                    self._prepare()
                    return do()
                except DamagedCacheError:
                    shutil.rmtree(self._repository, ignore_errors=True)
                self._prepare()
                return do()
        except DamagedCacheError as error:
            why = f"git does not work in {self._cache} ({error}). Check the folder, then retry."
            raise MissingError(why) from None
        except OSError as error:
            raise cannot_write(self._cache, error) from None

    def _prepare(self) -> None:
        if not os.path.isdir(self._repository):
            self._git.create_cache()
            self._mark()
            self._is_fetched = False
        if os.path.lexists(self._unfinished):
            self._tidy()

    def _mark(self) -> None:
        """Note that the cache is changing: if this process is killed, the next one tidies."""
        os.close(open_private(self._unfinished, os.O_WRONLY))

    def _tidy(self) -> None:
        """Remove from the cache what no ref reaches, erased payloads among it."""
        for folder, folders, names in os.walk(self._repository):
            folders[:] = [name for name in folders if name != "objects"]
            for name in names:
                if name.endswith(".lock"):  # of a killed git: the cache has one user
                    os.remove(os.path.join(folder, name))
        self._git.ask_cache("update-ref", "-d", _NEW)
        self._git.ask_cache("prune", "--expire=now")
        self._store_heads()
        os.remove(self._unfinished)

    def _fetch(self) -> dict[str, bytes]:
        """Bring the cache up to date; return the heads.

        One connection asks what changed and gets it; unlike `git ls-remote` it lists no other refs. The refs
        of a folder of this machine are read first: that takes one program, `git fetch` runs three.
        """
        if self._git.is_local_path and (heads := self._find_unchanged()) is not None:
            self._is_fetched = True
            return heads
        self._mark()
        done = self._git.run(*_FETCH, "--", self._git.remote, f"+{self._refs}/*:{self._refs}/*")
        if done.code:
            raise self._git.explain(done, "read")
        self._is_fetched = True
        if done.err.strip():  # it prints what changed
            self._tidy()
        else:
            os.remove(self._unfinished)
        return self._read_heads()

    def _find_unchanged(self) -> dict[str, bytes] | None:
        """Return the heads if the refs at the remote are those in the cache."""
        refs, heads = self._read_stored()
        return heads if refs is not None and self._git.list_local_refs(f"{self._refs}/") == refs else None

    def _read_stored(self) -> tuple[dict[str, str] | None, dict[str, bytes]]:
        """Return the refs and the heads that were stored last."""
        try:
            with open_regular(self._heads) as file:
                refs, heads = json.load(file)
            return refs, {series: head.encode("latin-1") for series, head in heads.items()}
        except (OSError, ValueError, AttributeError, TypeError):
            return None, {}

    def _read_heads(self) -> dict[str, bytes]:
        """Return the heads in the cache, from one file if nothing changed."""
        refs, heads = self._read_stored()
        return self._store_heads() if refs is None else heads

    def _store_heads(self) -> dict[str, bytes]:
        """Read the heads from git, and keep them in one file."""
        listed = self._git.ask_cache(
            "for-each-ref", "--format=%(objectname) %(objecttype) %(refname)", "refs/told/"
        )
        refs = [line.split(" ") for line in listed.decode("utf-8", "replace").splitlines()]
        commits = {ref: oid for oid, kind, ref in refs if kind == "commit"}
        # Without common history git sends all files again, unless both sides take it for cut off.
        write_private(os.path.join(self._repository, "shallow"), _lines(commits.values()), sync=False)
        named = [ref for ref in commits if is_series(ref.removeprefix(f"{self._refs}/"))]
        blobs = self._read_blobs([f"{ref}:{HEAD}" for ref in named], MAX_HEAD)
        heads = {path.rpartition(":")[0].rpartition("/")[2]: head for path, head in blobs.items()}
        stored = {series: head.decode("latin-1") for series, head in heads.items()}
        everything = {ref: oid for oid, _, ref in refs}
        write_private(self._heads, json.dumps([everything, stored]).encode(), sync=False)
        return heads

    def _read_blobs(self, paths: Sequence[str], limit: int) -> dict[str, bytes]:
        """Read files of commits, given as `ref:name`; leave out what is missing or too large."""
        listed = self._git.ask_cache("cat-file", "--batch-check", data=_lines(paths)).decode().splitlines()
        wanted = {}
        for path, line in zip(paths, listed, strict=True):
            fields = line.split(" ")
            if len(fields) == 3 and fields[1] == "blob" and int(fields[2]) <= limit:
                wanted[path] = (fields[0], int(fields[2]))
        found, start = {}, 0
        output = self._git.ask_cache("cat-file", "--batch", data=_lines(oid for oid, _ in wanted.values()))
        for path, (_, size) in wanted.items():
            start = output.index(b"\n", start) + 1
            found[path] = output[start : start + size]
            start += size + 1
        return found

    def _push(
        self, series: str, files: Mapping[str, bytes | None], head: bytes, before: bytes | None
    ) -> bool:
        ref = f"{self._refs}/{series}"
        old = self._resolve(ref)
        kept = {} if before is None else self._list_files(old)
        self._mark()
        try:
            new = self._commit({name: oid for name, oid in kept.items() if name not in files}, files, head)
            lease = f"--force-with-lease={ref}:{old}"
            done = self._git.run(*_PUSH, lease, "--", self._git.remote, f"{new}:{ref}")
            if done.code == 0:
                self._git.ask_cache("update-ref", ref, new)
        finally:
            self._tidy()
        if done.code == 0:
            return True
        refused = next((line for line in done.out.decode().splitlines() if line.startswith("!")), "")
        if not refused:
            raise self._git.explain(done, "write")
        self._fetch()
        now = self._resolve(ref)
        if now == old:
            why = refused.rpartition("\t")[2].strip("[]()")
            raise MissingError(f"{self._git.name} refuses {ref} ({why}). Ask for the right to push it.")
        return now == new

    def _resolve(self, ref: str) -> str:
        """Return the commit of a ref in the cache; empty if there is none."""
        return self._git.ask_cache("for-each-ref", "--format=%(objectname)", ref).decode().strip()

    def _list_files(self, commit: str) -> dict[str, str]:
        """Return the blobs of a commit by name."""
        found = {}
        for entry in self._git.ask_cache("ls-tree", "-z", commit).decode("utf-8", "replace").split("\0"):
            fields, _, name = entry.partition("\t")
            if fields.startswith("100644 blob ") and is_file(name):
                found[name] = fields.rpartition(" ")[2]
        return found

    def _commit(self, kept: Mapping[str, str], files: Mapping[str, bytes | None], head: bytes) -> str:
        """Write a commit without parents; return its id."""
        parts = [b"commit ", _NEW.encode(), b"\nmark :1\n", _COMMITTER, b"data 0\n"]
        parts += [f"M 100644 {oid} {name}\n".encode() for name, oid in kept.items()]
        for name, data in (*files.items(), (HEAD, head)):
            if data is not None:
                parts += [f"M 100644 inline {name}\ndata {len(data)}\n".encode(), data, b"\n"]
        parts.append(b"get-mark :1\ndone\n")
        words = ("-c", "pack.compression=0", "fast-import", "--quiet", "--force", "--done", "--depth=0")
        return self._git.ask_cache(*words, data=b"".join(parts)).decode().strip()


def _lines(words: Iterable[str]) -> bytes:
    return "".join(f"{word}\n" for word in words).encode()
