"""Build a checkpoint from a session's transcript, in its own words and without a model."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from told.checkpoints.progress import (
    find_announced,
    find_left_open,
    find_questions,
    has_changed_anything,
    is_informative,
    list_done,
    list_planned,
    used_tools,
)
from told.ingest.checkpoint_rows import LISTS
from told.model import TOOL, Handover
from told.onboard.files import Git
from told.pattern import lazy_pattern
from told.store.memories.protocol import Memories
from told.store.memories.records import ACTIVE, DECISION, PREFERENCE, RULE, USER, is_private
from told.store.sessions.read import SessionRow, TurnRow
from told.text import add_full_stop, clean, count_tokens, shorten

if TYPE_CHECKING:
    from told.store.sessions.protocols import SessionReading

MAX_TOKENS = 600  # of the whole checkpoint
MAX_CHANGES = 40  # files
_GIT_SECONDS = 2.0
_MAX_TURNS = 40
_MAX_FILES, _MAX_READ_FILES = 12, 5
_MAX_COMMITS, _MAX_OTHER_REFS, _MAX_URLS = 3, 5, 4
_MAX_ITEMS = 6  # of each list
# In characters.
_MAX_GOAL, _MAX_NOW, _MAX_ITEM, _MAX_TITLE, _MAX_PATH = 240, 200, 200, 80, 160
_STEM_LENGTH = 4
_SHA_LENGTH = 10

_PLAN_NAME = lazy_pattern(r"(?:^|[-_. ])(?:plan|plans|todo|todos|roadmap|tasks|prd|spec)(?:$|[-_. ])")
_PLAN_SUFFIXES = (".md", ".mdx", ".txt", ".rst", ".org")
_URL = lazy_pattern(r"https?://[^\s<>\"'`)\]}|\\^]{4,300}")
_READ, _CREATE, _EDIT, _DELETE = "read", "create", "edit", "delete"
_GIT_CHANGES = {"A": _CREATE, "?": _CREATE, "D": _DELETE}
_TOLD_FOLDER = ".told"
_DECIDED = (DECISION, RULE)
# The lists to shorten, least important first.
_CUT_ORDER = ("references", "files", "done", "decisions", "plans", "questions", "pending")
_KEEPS_LAST = ("done", "decisions", "references")

Touched = Sequence[tuple[str, str, int]]  # path, how, time


def build_from_session(
    reading: SessionReading, memories: Memories | None, session: SessionRow, now: int, *, project: str = "",
    root: str = "", under_way: bool = False, changed: Callable[[], Sequence[str]] | None = None,
) -> Handover | None:  # fmt: skip
    """Build the checkpoint of a session; None if nothing is worth handing over.

    `under_way`: the agent is still working on the last prompt. `changed` lists the changed files if the
    transcript does not name any.
    """
    turns = reading.turns(session.id, _MAX_TURNS, newest=True)
    if not turns or session.kind:
        return None
    first = reading.turns(session.id, 1)[0] if session.turns > len(turns) else turns[0]
    root = root or (session.cwd.removesuffix(f"/{session.part}") if session.part else session.cwd)
    touched = reading.files_of(session.id)
    is_work = has_changed_anything(turns)
    files = _list_files(touched, root)
    if is_work and changed is not None and not _has_changes(touched):
        files = [*changed()][: 2 * _MAX_ITEMS] or files
    title = session.title or next((one.asked for one in (first, *turns) if is_informative(one.asked)), "")
    found = Handover(
        _make_goal(first, turns), tuple(list_done(turns, root)),
        tuple(_list_pending(turns, under_way=under_way)), tuple(_list_decisions(memories, session)),
        tuple(files), tuple(_list_plans(touched, root)),
        tuple(_list_references(reading.refs_of(session.id), turns)),
        () if under_way else tuple(find_questions(_last_relevant(turns).answered)[:2]),
        title=shorten(clean(title), _MAX_TITLE), agent=session.agent, session=session.native,
        project=project, folder=session.cwd, branch=session.branch, at=now, by=TOOL,
    )  # fmt: skip
    is_worth = found.done or found.pending or found.decisions or _has_changes(touched)
    is_worth = is_worth or (is_work and found.questions)
    return _fit(found) if found.goal and is_worth else None


def last_work_time(reading: SessionReading, session: SessionRow) -> int:
    """Return when the last relevant turn began; 0 if there is none."""
    turns = reading.turns(session.id, _MAX_TURNS, newest=True)
    return _last_relevant(turns).at if turns else 0


def _last_relevant(turns: Sequence[TurnRow]) -> TurnRow:
    """Return the last turn that is more than thanks or a farewell."""
    return next((one for one in reversed(turns) if used_tools(one) or is_informative(one.asked)), turns[-1])


def _make_goal(first: TurnRow, turns: Sequence[TurnRow]) -> str:
    """Return the user's first request, and the latest if it differs."""
    asked = [turn.asked for turn in (first, *turns) if is_informative(turn.asked)]
    if not asked:
        return next((shorten(clean(turn.asked), _MAX_GOAL) for turn in (first, *turns) if turn.asked), "")
    goal = shorten(clean(asked[0]), _MAX_GOAL)
    now = shorten(clean(asked[-1]), _MAX_NOW)
    return goal if asked[-1] == asked[0] else f"{add_full_stop(goal)} Later: {now}"


def _list_pending(turns: Sequence[TurnRow], *, under_way: bool) -> list[str]:
    last = turns[-1] if under_way else _last_relevant(turns)
    found = list_planned(turns)
    if under_way or (not last.answered and is_informative(last.asked)):
        asked = last.asked or next((one.asked for one in reversed(turns) if one.asked), "")
        said = find_announced(last.answered)
        found = [f"Asked last, not finished: {shorten(clean(asked), _MAX_NOW)}", *found]
        found += [f"About to: {said}"] if said else []
    else:
        said = find_announced(last.answered) if used_tools(last) else ""
        known = [_stems(one) for one in found]
        left = [f"About to: {said}"] if said else find_left_open(last.answered)
        found += [one for one in left if not any(stems and stems <= _stems(one) for stems in known)]
    return [shorten(clean(one), _MAX_ITEM) for one in dict.fromkeys(found)][:_MAX_ITEMS]


def _stems(text: str) -> set[str]:
    """Return word stems: "the docs must be updated" includes "update the docs"."""
    return {word[:_STEM_LENGTH] for word in text.lower().split() if len(word) >= _STEM_LENGTH}


def _list_decisions(memories: Memories | None, session: SessionRow) -> list[str]:
    """Return the user's decisions, corrections and rules of the session, in order; no private ones."""
    if memories is None:
        return []
    found = [
        one for one in memories.load(memories.of_session(session.native)).values()
        if one.status == ACTIVE and one.trust == USER and one.kind in _DECIDED and PREFERENCE not in one.marks
        and not is_private(one)
        and any((place.agent, place.session) == (session.agent, session.native) for place in one.evidence)
    ]  # fmt: skip
    found.sort(key=lambda one: (one.created, one.number, one.id))
    return [shorten(clean(one.text), _MAX_ITEM) for one in found][-_MAX_ITEMS:]


def _fit(note: Handover) -> Handover:
    """Shorten the lists, least important first, until the checkpoint is small enough."""

    def size() -> int:
        items = (one for name in LISTS for one in getattr(note, name))
        return count_tokens("\n".join((note.title, note.goal, *items)))

    while size() > MAX_TOKENS:
        name = next((name for name in _CUT_ORDER if len(getattr(note, name)) > 1), "")
        if not name:
            break
        items = getattr(note, name)
        note = replace(note, **{name: items[1:] if name in _KEEPS_LAST else items[:-1]})
    return note


def _list_files(touched: Touched, root: str) -> list[str]:
    """Return the files that a session changed, latest first; else those it read."""
    seen = [(_shorten_path(path, root), how) for path, how, _ in touched]
    seen = [(path, how) for path, how in seen if path and f"/{_TOLD_FOLDER}/" not in f"/{path}"]
    changed = [f"{path} ({how})" for path, how in seen if how != _READ]
    if changed:
        return changed[:_MAX_FILES]
    return [f"{path} ({how})" for path, how in seen if not os.path.isabs(path)][:_MAX_READ_FILES]


def _has_changes(touched: Touched) -> bool:
    return any(how != _READ for _, how, _ in touched)


def _list_plans(touched: Touched, root: str) -> list[str]:
    found = [_shorten_path(path, root) for path, _, _ in touched if _is_plan(path)]
    return [path for path in found if path][:_MAX_READ_FILES]


def _is_plan(path: str) -> bool:
    stem, suffix = os.path.splitext(os.path.basename(path).lower())
    return suffix in _PLAN_SUFFIXES and (_PLAN_NAME.search(stem) is not None or "/plans/" in path.lower())


def _shorten_path(path: str, root: str) -> str:
    """Return a path relative to the root; "" if it is too long."""
    path = clean(path)
    if root:
        path = path.removeprefix(root.rstrip("/") + "/")
    return path if len(path) <= _MAX_PATH and "\n" not in path else ""


def _list_references(named: Sequence[tuple[str, str, int]], turns: Sequence[TurnRow]) -> list[str]:
    """Return commits, pull requests and issues, and URLs the user gave."""
    by_kind: dict[str, list[str]] = {}
    for kind, value, _ in named:
        by_kind.setdefault(kind, []).append(value)
    found = [f"commit {value[:_SHA_LENGTH]}" for value in by_kind.get("commit", ())[-_MAX_COMMITS:]]
    found += [f"PR {value}" for value in by_kind.get("pr", ())[-_MAX_OTHER_REFS:]]
    found += [f"issue {value}" for value in by_kind.get("issue", ())[-_MAX_OTHER_REFS:]]
    urls = dict.fromkeys(one.rstrip(".,;:!?") for turn in turns for one in _URL.findall(turn.asked))
    known = " ".join(found)
    new = [one for one in urls if "/".join(one.split("/")[3:5]) not in known or one.count("/") < 5]
    return [shorten(clean(one), _MAX_PATH) for one in dict.fromkeys((*found, *new[-_MAX_URLS:]))]


def list_changes(
    root: str, environ: Mapping[str, str], since: int, own: Collection[str] = ()
) -> tuple[str, ...]:
    """List a work tree's changes since a time in ms, or uncommitted ones, such as "src/app.py (edit)"."""
    git = Git(root, environ)
    found = _list_committed(git, since) if since else {}
    for path, how in _list_uncommitted(git):
        if how == _DELETE or _is_newer(os.path.join(root, path), since):
            found[path] = _CREATE if found.get(path) == _CREATE != how and how != _DELETE else how
    own_paths = {os.path.realpath(path) for path in own}
    return tuple(
        f"{path} ({how})"
        for path, how in sorted(found.items())
        if path.split("/")[0] != _TOLD_FOLDER and os.path.realpath(os.path.join(root, path)) not in own_paths
    )[:MAX_CHANGES]


def read_branch(root: str, environ: Mapping[str, str]) -> str:
    """Return the branch of a work tree, or ""."""
    output = Git(root, environ).read("symbolic-ref", "--quiet", "--short", "HEAD", seconds=_GIT_SECONDS)
    return (output or "").strip()


def _list_committed(git: Git, since: int) -> dict[str, str]:
    """Return the final change of each path in the commits since a time."""
    output = git.read(
        "log", f"--since=@{since // 1000}", "-200", "--no-merges", "--no-ext-diff", "--no-textconv",
        "--no-renames", "--name-status", "-z", "--format=", seconds=_GIT_SECONDS,
    )  # fmt: skip
    words = [word.strip("\n") for word in (output or "").split("\0")]
    found: dict[str, str] = {}
    for state, path in zip(words[::2], words[1::2], strict=False):  # newest first
        if state and path:
            how = _GIT_CHANGES.get(state[0], _EDIT)
            # Created and then edited counts as created.
            if path not in found or (how == _CREATE and found[path] == _EDIT):
                found[path] = how
    return found


def _list_uncommitted(git: Git) -> list[tuple[str, str]]:
    """Return path and change of everything that differs from the last commit."""
    words = ("status", "--porcelain=v1", "-z", "--no-renames", "--ignore-submodules")
    output = git.read(*words, "--untracked-files=all", seconds=_GIT_SECONDS)
    if output is None:  # too many: list new folders instead of their files
        output = git.read(*words, "--untracked-files=normal", seconds=_GIT_SECONDS)
    found = []
    for entry in (output or "").split("\0"):
        states, path = entry[:2], entry[3:]
        if path:
            how = _DELETE if "D" in states else _CREATE if states in ("??", "A ", "AM") else _EDIT
            found.append((path, how))
    return found


def _is_newer(path: str, since: int) -> bool:
    try:
        return os.lstat(path.rstrip("/")).st_mtime_ns // 1_000_000 >= since
    except OSError:
        return True
