"""Run git in a cache of told's, with the user's access and none of the user's other settings."""

from __future__ import annotations

import os
import re
import shlex
from collections import Counter
from collections.abc import Mapping

from told.errors import BusyError, DiskFullError, MissingError, ToldError, UsageError
from told.pattern import lazy_pattern
from told.sync.transports.process import Done, run

OLDEST = (2, 31)  # reads settings from the environment, where `ps` does not show them
# How the user reaches a host. Everything else that starts with GIT_ may name another repository.
_KEPT = lazy_pattern(
    r"GIT_(SSH|SSH_COMMAND|SSH_VARIANT|SSL_\w+|HTTP_\w+|PROXY_\w+|EXEC_PATH|ALLOW_PROTOCOL"
    r"|CONFIG_GLOBAL|CONFIG_SYSTEM|CONFIG_NOSYSTEM)"
)
_ACCESS = lazy_pattern(
    r"(http|credential|url|ssh|protocol)\..*|core\.(sshcommand|gitproxy)", re.DOTALL | re.IGNORECASE
)
_REMOTE = ("url", "pushurl", "proxy", "proxyauthmethod", "uploadpack", "receivepack", "vcs")
_FIXED = (
    ("core.hooksPath", os.devnull),
    ("core.logAllRefUpdates", "false"),  # a log would keep what was erased
    ("core.sharedRepository", "umask"),
    ("core.fsync", "none"),  # a damaged cache is made again
    ("core.alternateRefsCommand", ""),
    ("credential.interactive", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("fetch.unpackLimit", "10000000"),  # no packs: `git prune` then removes what was erased
    ("fastimport.unpackLimit", "10000000"),
    ("fetch.writeCommitGraph", "false"),
    ("pack.compression", "1"),
    ("pack.window", "2"),  # a file resembles its last version, not its neighbours
    ("push.followTags", "false"),
    ("push.gpgSign", "false"),
    ("push.negotiate", "false"),
    ("push.pushOption", ""),
    ("submodule.recurse", "false"),
)
_NO_QUESTIONS = {
    "GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "", "SSH_ASKPASS": "", "SSH_ASKPASS_REQUIRE": "never",
    "GCM_INTERACTIVE": "never", "GIT_NO_REPLACE_OBJECTS": "1", "GIT_NO_LAZY_FETCH": "1",
    "LC_ALL": "C", "LANGUAGE": "",
}  # fmt: skip
_SSH_OPTIONS = "-o BatchMode=yes -o ConnectTimeout=20 -o LogLevel=ERROR"  # no banner
_NOT_A_NAME = lazy_pattern(r"[/\\:]")
_SECRET = lazy_pattern(r"(?<=://)[^/@\s]+@")
# What git, ssh and hosts say when trying again will not help.
_REFUSED = lazy_pattern(
    r"permission denied|access denied|denied to|authentication failed|could not read (username|password)"
    r"|terminal prompts disabled|not found|does not appear to be a git repository|host key verification"
    r"|\b40[134]\b|read[- ]only|not allowed|not permitted|not authorized|dubious ownership"
    r"|insufficient permission|unable to create temporary object|remote helper|mismatched algorithms"
    r"|declined|not granted",
    re.IGNORECASE,
)
_DAMAGED = lazy_pattern(
    r"corrupt|bad object|bad sha1|unable to read|missing (blob|tree|commit)|invalid object|\.lock'"
    r"|not a git repository: |garbage|broken|bad config|did not send all necessary",
    re.IGNORECASE,
)
_LINE = lazy_pattern(r"(?:(?:fatal|error|remote|warning): )*(.*)")


class DamagedCacheError(Exception):
    """The cache is not what told wrote; it is to be made again."""


class Git:
    """Run git on one cache and one remote."""

    def __init__(
        self, remote: str, cache: str, environ: Mapping[str, str], repo: str | None, seconds: float
    ) -> None:
        if not remote or remote.startswith("-") or not remote.isprintable():
            raise UsageError(f"{remote[:80]!a} is not a git remote. Name a remote or its URL.")
        self.remote = remote
        is_name = repo and not _NOT_A_NAME.search(remote)
        self.name = f"{remote} of {repo}" if is_name else _SECRET.sub("", remote)
        self._cache = cache
        self._repo = repo
        self._seconds = seconds
        self._user = {name: value for name, value in environ.items() if not name.startswith("GIT_")}
        self._user |= {name: value for name, value in environ.items() if _KEPT.fullmatch(name)}
        self._user |= _NO_QUESTIONS
        self._given = {name: value for name, value in environ.items() if name.startswith("GIT_CONFIG")}
        self._environ: dict[str, str] | None = None

    def run(self, *words: str, data: bytes = b"") -> Done:
        """Run git on the cache.

        Raises:
            BusyError: it took too long.
            MissingError: there is no git.
        """
        if self._environ is None:
            self._environ = self._make_environ()
        return self._start(["--git-dir", self._cache, *words], self._environ, data)

    def ask_cache(self, *words: str, data: bytes = b"") -> bytes:
        """Run a command that needs no host; return its output.

        Raises:
            DamagedCacheError: it fails.
        """
        done = self.run(*words, data=data)
        if done.code:
            _check_disk(done, self._cache)
            raise DamagedCacheError(_explain(done))
        return done.out

    def list_local_refs(self, below: str) -> dict[str, str] | None:
        """Return the refs of a remote that is a folder of this machine; None if git cannot read them."""
        inside = os.path.join(self.remote, ".git")
        folder = inside if os.path.lexists(inside) else self.remote
        words = ["--git-dir", folder, "for-each-ref", "--format=%(objectname) %(refname)", below]
        done = self._start(words, self._user)
        lines = (line.partition(" ") for line in done.out.decode("utf-8", "replace").splitlines())
        return None if done.code else {ref: oid for oid, _, ref in lines}

    def create_cache(self) -> None:
        """Create the cache: a bare repository without settings of the user's."""
        version = self._start(["version"], self._user).out.decode("utf-8", "replace")
        numbers = [int(number) for number in re.findall(r"\d+", version)[:2]]
        if numbers < list(OLDEST):
            raise MissingError(f"told needs git 2.31 or newer; this is {version.strip()!r}. Update git.")
        words = ["init", "--quiet", "--bare", "--template=", self._cache]
        done = self._start(words, self._user)
        if done.code:
            _check_disk(done, self._cache)
            raise MissingError(f"git cannot create {self._cache} ({_explain(done)}). Check the folder.")

    def explain(self, done: Done, do: str) -> Exception:
        """Build the error for a call to the host that failed."""
        if _DAMAGED.search(done.err) and not _REFUSED.search(done.err):
            return DamagedCacheError(_explain(done))
        why = _explain(done)
        if not _REFUSED.search(done.err):
            return BusyError(f"{self.name} cannot be reached ({why}). Check the connection, then retry.")
        if do == "write":
            return MissingError(f"{self.name} is read-only for you ({why}). Ask for the right to push.")
        return MissingError(f"git cannot read {self.name} ({why}). Check the remote and your access.")

    def _start(self, words: list[str], environ: Mapping[str, str], data: bytes = b"") -> Done:
        try:
            return run(["git", *words], environ, self._seconds, folder=self._repo, data=data)
        except TimeoutError:
            why = f"{self.name} did not answer within {self._seconds:g} s. Check the connection, then retry."
            raise BusyError(why) from None
        except OSError:
            if self._repo and not os.path.isdir(self._repo):
                raise MissingError(f"There is no repository {self._repo}. Name another one.") from None
            raise MissingError("git is not installed. Install it, or sync by a folder.") from None

    def _make_environ(self) -> dict[str, str]:
        """Give git the settings by which the user reaches the host from the repository."""
        settings: list[tuple[str, str]] = []
        if not self.is_local_path:
            everywhere = self._list_settings(["--git-dir", self._cache], self._user)
            here = everywhere
            if self._repo or self._given:
                where = [] if self._repo else ["--git-dir", self._cache]
                here = self._list_settings(where, self._user | self._given)
            settings = self._select(here, everywhere)
            ssh = dict(here).get("core.sshcommand", "")
        else:
            ssh = ""
        self._check_name(settings)
        settings += _FIXED
        environ = dict(self._user)
        command = environ.get("GIT_SSH_COMMAND") or ssh or ("" if "GIT_SSH" in environ else "ssh")
        if _is_openssh(command):
            environ["GIT_SSH_COMMAND"] = f"{command} {_SSH_OPTIONS}"
        environ["GIT_CONFIG_COUNT"] = str(len(settings))
        for number, (key, value) in enumerate(settings):
            environ[f"GIT_CONFIG_KEY_{number}"] = key
            environ[f"GIT_CONFIG_VALUE_{number}"] = value
        return environ

    @property
    def is_local_path(self) -> bool:
        """Whether the remote is a folder that needs no settings for access."""
        return not self._repo and not self._given and os.path.isdir(self.remote)

    def _list_settings(self, where: list[str], environ: Mapping[str, str]) -> list[tuple[str, str]]:
        done = self._start([*where, "config", "--null", "--list"], environ)
        if done.code:
            raise MissingError(f"git cannot read its settings for {self.name} ({_explain(done)}). Fix them.")
        entries = (entry.partition("\n") for entry in done.out.decode("utf-8", "surrogateescape").split("\0"))
        return [(key, value if equals else "true") for key, equals, value in entries if key]

    def _select(
        self, here: list[tuple[str, str]], everywhere: list[tuple[str, str]]
    ) -> list[tuple[str, str]]:
        """Return the settings for access that git reads in the repository, and not in the cache."""
        shared = Counter(everywhere)
        of_remote = {f"remote.{self.remote}.{key}" for key in _REMOTE}
        chosen = []
        for setting in here:
            if shared[setting]:
                shared[setting] -= 1
            elif setting[0] in of_remote or _ACCESS.fullmatch(setting[0]):
                chosen.append(setting)
        return chosen

    def _check_name(self, settings: list[tuple[str, str]]) -> None:
        """Refuse a word that is neither a remote of the repository nor a path or URL."""
        is_known = any(key == f"remote.{self.remote}.url" for key, _ in settings)
        if is_known or _NOT_A_NAME.search(self.remote) or os.path.isdir(self.remote):
            return
        where = self._repo or "any repository"
        raise MissingError(f'"{self.remote}" is not a remote of {where}. `git remote -v` lists them.')


def _is_openssh(command: str) -> bool:
    """Return whether a command of the user's takes OpenSSH's options."""
    try:
        words = shlex.split(command)
    except ValueError:
        return False
    return bool(words) and os.path.basename(words[0]) in ("ssh", "ssh.exe")


def _explain(done: Done) -> str:
    """Return the first line in which git says what went wrong, without passwords."""
    lines = [line.strip() for line in done.err.splitlines() if line.strip()]
    told = next(
        (line for line in lines if _REFUSED.search(line)), lines[0] if lines else f"exit code {done.code}"
    )
    found = _LINE.fullmatch(told)
    return _SECRET.sub("", found[1] if found else told).rstrip(".")[:200]


def _check_disk(done: Done, cache: str) -> None:
    if "No space left" in done.err or "quota" in done.err:
        full: ToldError = DiskFullError(
            f"The disk is full: git cannot write to {cache}. Free some space, then retry."
        )
        raise full
