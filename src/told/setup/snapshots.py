"""Writes the snapshot that hooks start from: what some calls of the hook load and make in a child process."""

from __future__ import annotations

import os
import sys

from told import snapshot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from told.settings import OwnRule

_SECONDS = 60
_SCRIPT = (
    "import sys; sys.path[:0] = {places!r};"
    "from told.setup import snapshots; snapshots.{function}({scratch!r}, {target!r})"
)
# What is said, in the order of how often that happens; each step has a pack of its own. `told.snapshot` has
# names for them.
_STEPS = (
    ("thanks",),
    ("why does the webhook fail in src/billing/webhook.py", "run the tests and fix what is slow in the API"),
    ("ship it now and tell me when people can log in again",),
    (
        "No, we never use npm here, always pnpm. The API lives in services/api. I prefer short answers.",
        # With this in it, redaction loads what it needs for other letters, escapes, lines and private parts.
        (
            "Actually use yarn, not pnpm: `yarn install` and password="
            "hunter2secretvalue9\n<private>x</private> 'a' & \"b\" to 100%, na\u00efve"
        ),
        "install the packages and fix the API",
    ),
)


def write_snapshot(home: str, interpreter: str, places: tuple[str, ...]) -> bool:
    """Write the snapshot for an interpreter; False if that was not possible, which only costs time later.

    Args:
        home: The folder of everything told writes for itself.
        interpreter: What runs the hook.
        places: The folders that the hook finds its modules in.
    """
    import subprocess
    import tempfile

    with tempfile.TemporaryDirectory() as scratch:
        for function in ("prepare", "write"):
            script = _SCRIPT.format(
                places=list(places), function=function, scratch=scratch, target=snapshot.path_in(home)
            )
            try:
                done = subprocess.run(  # noqa: S603 - the interpreter that runs told
                    [interpreter, "-I", "-S", "-X", "no_debug_ranges", "-c", script], check=False,
                    capture_output=True,
                    timeout=_SECONDS, stdin=subprocess.DEVNULL, cwd=scratch,
                )  # fmt: skip
            except (OSError, subprocess.SubprocessError):
                return False
            if done.returncode:
                return False
    return True


def refresh(home: str) -> None:
    """Write the snapshot anew if there is one, and told or the user's own rules changed since."""
    path = snapshot.path_in(home)
    if os.path.exists(path) and not (is_current(home) and _has_rules(home, path)):
        renew(home)


def renew(home: str) -> None:
    """Write the snapshot anew if there is one."""
    if os.path.exists(snapshot.path_in(home)):
        from told.setup.launch import folders, launch

        write_snapshot(home, launch(strict=False).interpreter, tuple(folders()))


def _has_rules(home: str, path: str) -> bool:
    """Tell whether a snapshot is newer than the user's own rules, if there are any."""
    config = os.path.join(home, "config.toml")
    return not _rules_in(home) or os.stat(config).st_mtime_ns < os.stat(path).st_mtime_ns


def _rules_in(home: str) -> tuple[OwnRule, ...]:
    from told.settings import tolerant  # what is loaded before the hook is in no pack

    return tolerant({"TOLD_HOME": home}).redaction.rules


def is_current(home: str) -> bool:
    """Tell whether there is a snapshot that fits the sources as they are."""
    found = snapshot.opened(snapshot.path_in(home))
    return found is not None and all(map(snapshot.is_same, found.modules.values()))


def prepare(scratch: str, target: str) -> None:
    """Let the hook make its files; what that takes is not needed ever after."""
    hook = _Hook(scratch)
    hook.call("start")
    hook.configure(_rules_in(os.path.dirname(target)))
    hook.call("prompt", prompt=_STEPS[-1][0])
    hook.call("stop")


def write(scratch: str, target: str) -> None:
    """Load and make what hooks need, and write it down; runs in an interpreter of its own."""
    packs = _Packs()
    hook = _Hook(scratch)
    for prompts in _STEPS:
        for session in ("first", "second"):
            for prompt in prompts:
                hook.call("prompt", session_id=session, prompt=prompt)
        packs.close()
    hook.call("tool", tool_name="Bash", command="ls")
    packs.close()
    hook.call("stop")
    hook.call("start", source="compact")
    packs.close()
    import told.hook.handing  # noqa: F401 - what a session needs that has something to hand over

    packs.close()
    temporary = f"{target}.{os.getpid()}"
    with os.fdopen(os.open(temporary, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "wb") as file:
        file.write(snapshot.packed(packs.found, packs.modules))
    os.replace(temporary, target)


class _Hook:
    """The hook, called in a scratch folder."""

    def __init__(self, scratch: str) -> None:
        self._project = os.path.join(scratch, "project")
        self.home = os.path.join(scratch, "told")
        self._environ = {"HOME": scratch, "TOLD_HOME": self.home}
        os.makedirs(self._project, exist_ok=True)

    def configure(self, rules: tuple[OwnRule, ...]) -> None:
        """Give it a config as on the user's machine: the first one, and the rules that hooks compile."""
        from told.settings.first import template
        from told.settings.rules import with_rule

        text = template()
        for rule in rules:
            text = with_rule(text, rule.name, rule.pattern, rule.example)
        with open(os.path.join(self.home, "config.toml"), "w", encoding="utf-8") as file:
            file.write(text)

    def call(self, event: str, **payload: str) -> None:
        from told.hook import answer

        answer("claude-code", event, {"cwd": self._project, "session_id": "first", **payload}, self._environ)


class _Packs:
    """What was loaded and made since the last pack was closed."""

    def __init__(self) -> None:
        self.found: list[dict[str, Any]] = []
        self.modules: dict[str, tuple[Any, ...]] = {}
        self._before = frozenset(sys.modules) - {"__future__"}  # which every module asks for first
        self._patterns: set[Any] = set()
        self._tables: set[str] = set()

    def close(self) -> None:
        """Make a pack of what is new."""
        codes = {}
        for name, module in sys.modules.items():  # in the order in which they were ready
            path = getattr(module, "__file__", None) or ""
            if name in self._before or name in self.modules or not _is_ours(name) or not path.endswith(".py"):
                continue
            with open(path, "rb") as file:
                # Without docstrings it is read in less time.
                codes[name] = compile(file.read(), path, "exec", dont_inherit=True, optimize=2)
            state = os.stat(path)
            is_package = hasattr(module, "__path__")
            self.modules[name] = (len(self.found), path, state.st_mtime_ns, state.st_size, is_package)
        patterns = [key for key in snapshot.made_patterns if key not in self._patterns]
        tables = [name for name in snapshot.made_tables if name not in self._tables]
        self._patterns.update(patterns)
        self._tables.update(tables)
        self.found.append({
            "modules": codes, "patterns": {key: _compiled(*key) for key in patterns},
            "tables": {name: snapshot.made_tables[name] for name in tables},
        })  # fmt: skip


def _is_ours(name: str) -> bool:
    """Tell whether hooks load a module: of Python's own, they need hardly any once patterns are compiled."""
    return name.startswith("told.") or name == "__future__"


def _compiled(text: Any, flags: int) -> tuple[Any, ...]:
    """Return what the engine of `re` is given for a pattern, which is all of it but its text."""
    from re import _compiler, _parser  # type: ignore[attr-defined]

    parsed = _parser.parse(text, flags)
    state = parsed.state
    names: list[str | None] = [None] * state.groups
    for name, place in state.groupdict.items():
        names[place] = name
    code = [int(one) for one in _compiler._code(parsed, flags)]  # noqa: SLF001 - how `re` itself does it
    return int(flags | state.flags), code, state.groups - 1, state.groupdict, tuple(names)
