"""Watches a session's commands for one that failed and passed later, and for what happened in between."""

from __future__ import annotations

from told.memory._observe_labels import BUGFIX, DISCOVERY
from told.memory._observe_shell import Command, commands
from told.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_CHECKS_WORDS = """
ava bats behave biome black build bun-test cargo check clippy cmake compile cspell ctest cypress
deno django dotnet e2e eslint flake8 gradle gradlew go jest just lint make meson mix mocha mvn mvnw
mypy ninja nox nx phpstan phpunit playwright pre-commit prettier pylint pyright pytest rake rspec
rubocop ruff sbt shellcheck spec stylelint swift task test tests tox tsc turbo ty typecheck unittest
verify vitest xcodebuild
"""
_CHECKS = frozenset(_CHECKS_WORDS.split())
# Commands that look, or tidy up; that they fail says nothing about the project.
_TRIVIAL_WORDS = """
[ [[ awk basename cat cd chmod clear cp curl cut date diff dirname done du echo exit export false fi
file find for from git grep gh head help jq kill less ls lsof man mkdir more mv nc pgrep pkill popd
printf ps pushd pwd read readlink realpath rg rm rmdir sed set sleep sort source stat tail tee test
touch tr tree true type uname uniq unset wait wc wget which while xargs
"""
_TRIVIAL = frozenset(_TRIVIAL_WORDS.split())
_INSTALLS_WORDS = """
add build compose docker generate install migrate restore sync up
"""
_INSTALLS = frozenset(_INSTALLS_WORDS.split())
_LONGEST = 100
_MOST_NAMED = 4
_MOST_OPEN = 50


@record
class Repair:
    """A command that failed, and what made it pass."""

    command: str
    paths: tuple[str, ...]
    by: str = ""  # a command, where no file was changed

    @property
    def opening(self) -> str:
        """How the text about this command begins."""
        return f"`{self.command}` failed"

    @property
    def label(self) -> str:
        """An observation's label."""
        return BUGFIX if self.paths else DISCOVERY

    @property
    def text(self) -> str:
        """What happened, as one sentence."""
        if not self.paths:
            return f"{self.opening}, and passed after `{self.by}`"
        names = list(dict.fromkeys(path.rsplit("/", 1)[-1] for path in self.paths))
        named = ", ".join(names[:_MOST_NAMED])
        more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
        return f"{self.opening}, and passed after changes to {named}{more}"


class _Open:
    """A command that failed and has not passed since."""

    def __init__(self) -> None:
        self.paths: dict[str, None] = {}
        self.by = ""


class Watch:
    """Takes a session's edits and commands in their order."""

    def __init__(self) -> None:
        """Begin with nothing open."""
        self._open: dict[str, _Open] = {}

    def edited(self, path: str) -> None:
        """Take note of a changed file."""
        if path:
            for one in self._open.values():
                one.paths[path] = None

    def ran(self, line: str, *, failed: bool, passed: bool) -> Iterator[Repair]:
        """Take a command that was run; yield it if it had failed before and was repaired."""
        if not failed and not self._concerns(line):
            return
        told = [command for command in commands(line) if command.words[0] not in _TRIVIAL]
        if failed:
            key = _key(told)
            if key and len(self._open) < _MOST_OPEN:
                self._open.setdefault(key, _Open())
        elif passed:
            keys = {_key(told), *(_key([one]) for one in told)} - {""}
            for key in sorted(keys & self._open.keys()):
                if not _counts(line, told):
                    continue
                one = self._open.pop(key)
                if one.paths or one.by:
                    yield Repair(key, tuple(one.paths), one.by)
            by = _key([one for one in told if not _INSTALLS.isdisjoint(one.words)])
            for one in self._open.values():
                one.by = by or one.by

    def _concerns(self, line: str) -> bool:
        """Whether a line may say something new of what is open; most do not, and need not be taken apart."""
        return any(key.partition(" ")[0] in line for key in self._open) or (
            bool(self._open) and any(word in line for word in _INSTALLS)
        )


def _key(told: list[Command]) -> str:
    """Return how a line of commands is known again: its checks, or its only command."""
    if not told or not all(one.is_whole for one in told):
        return ""
    checks = [one for one in told if is_check(one)]
    if not checks and len(told) > 1:
        return ""
    key = " && ".join(" ".join(one.words) for one in checks or told)
    return key if len(key) <= _LONGEST and "`" not in key and key.isprintable() else ""


def is_check(command: Command) -> bool:
    """Whether a command tests, builds or checks the project."""
    return any(
        part in _CHECKS for layer in command.layers for word in layer[:3] for part in (word, *word.split(":"))
    )


def _counts(line: str, told: list[Command]) -> bool:
    """Whether the end of the whole line is that of its commands: what is piped or followed by `;` is not."""
    told_last = told[-1].words
    behind = ""
    for command in commands(line):
        behind = command.then if command.words == told_last else behind
        if command.then in ("|", "|&", "||", "&"):
            return False
    return behind in ("", "&&", ")")
