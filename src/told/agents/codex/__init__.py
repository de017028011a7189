"""Codex: rollout files in ~/.codex/sessions, and the databases that know their names."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from told.agents import wiring
from told.agents.base import (
    Agent,
    Call,
    Dialect,
    Layout,
    ProcessSign,
    ShellSign,
    StopQuestion,
    Table,
)
from told.agents.codex.rollout import ARCHIVED, find_thread, parse_item, read_rollout
from told.agents.headless import Headless, HeadlessReply, HeadlessTask
from told.agents.reading import find_missing_columns, read_database, read_log
from told.agents.values import as_count, as_dict, as_millis, as_text, get_dict, get_text, parse_object
from told.agents.wiring import Block, Change, Place, has_mark
from told.jsontext import parse_json
from told.model import Begin, Cursor, Event, Facts, Mark, Problem, Source
from told.pattern import lazy_pattern
from told.store.foreign import ForeignDatabase, ForeignError

STATE, HISTORY = "state", "history"

_STATE_TABLE = Table(STATE, "threads", ("id",))
_HISTORY_TABLE = Table(HISTORY, "thread_items", ("thread_id", "rollout_ordinal", "item_json"))
TABLES = (_STATE_TABLE, _HISTORY_TABLE)

_THREAD = (
    "id", "cwd", "title", "name", "git_branch", "git_origin_url", "archived", "archived_at", "source",
    "thread_source", "agent_nickname", "model", "created_at", "created_at_ms", "updated_at", "updated_at_ms",
)  # fmt: skip
_ITEM = ("thread_id", "item_json", "created_at_ms")
_IN_THREADS = "thread_id IN (SELECT value FROM json_each(?))"
_NUMBER = lazy_pattern(r"_(\d{1,6})\.sqlite$")
_LONGEST_META = 1 << 18  # characters of a rollout's first line
_BATCH = 50  # threads whose items are held in memory at once


def read_state(source: Source, cursor: Cursor) -> Iterator[Event | Problem]:
    """Yield the facts about every thread that changed since the cursor."""
    if _find_newest(source.path) == os.path.basename(source.path):
        yield from read_database(source.path, lambda database: _read_threads(database, cursor))


def read_history(source: Source, cursor: Cursor) -> Iterator[Event | Problem]:
    """Yield changed threads that have no rollout file."""
    if _find_newest(source.path) == os.path.basename(source.path):
        folder = os.path.dirname(source.path)
        yield from read_database(source.path, lambda database: _read_items(database, folder, cursor))


def _read_threads(database: ForeignDatabase, cursor: Cursor) -> Iterator[Event | Problem]:
    if missing := find_missing_columns(database, (_STATE_TABLE,)):
        yield Problem(0, f"missing in the database: {', '.join(missing)}")
        return
    latest = cursor.offset
    for row in database.rows("threads", _THREAD, order="rowid"):
        at = max(as_millis(row[name]) for name in ("updated_at_ms", "updated_at", "archived_at"))
        if as_text(row["id"]) and (at > cursor.offset or not cursor.offset):
            yield _make_facts(row)
        latest = max(latest, at)
    if latest != cursor.offset:
        yield Mark(Cursor(latest))


def _read_items(database: ForeignDatabase, folder: str, cursor: Cursor) -> Iterator[Event | Problem]:
    if missing := find_missing_columns(database, (_HISTORY_TABLE,)):
        yield Problem(0, f"missing in the database: {', '.join(missing)}")
        return
    columns = ("rowid", "thread_id")
    new = list(database.rows("thread_items", columns, "rowid > ?", (cursor.offset,), "rowid"))
    if not new:
        return
    threads = dict.fromkeys(as_text(row["thread_id"]) for row in new if as_text(row["thread_id"]))
    if threads:
        rollouts, helpers = _find_rollouts(folder), _find_helpers(folder)
        gone = [thread for thread in threads if thread not in rollouts]
        for start in range(0, len(gone), _BATCH):
            yield from _read_batch(database, gone[start : start + _BATCH], helpers)
    yield Mark(Cursor(new[-1]["rowid"]))


def _read_batch(
    database: ForeignDatabase, threads: list[str], helpers: set[str]
) -> Iterator[Event | Problem]:
    order = "thread_id, rollout_ordinal"
    rows = database.rows("thread_items", _ITEM, _IN_THREADS, (json.dumps(threads),), order)
    for thread, group in groupby(rows, key=lambda row: as_text(row["thread_id"])):
        yield Begin(thread)
        for row in group:
            item = parse_json(as_text(row["item_json"]))
            if isinstance(item, dict):
                at = as_millis(row["created_at_ms"])
                yield from parse_item(thread, item, at, "", by_user=thread not in helpers)
            else:
                yield Problem(0, f"an item of {thread} is not JSON")


def _make_facts(row: dict[str, Any]) -> Facts:
    origin, is_helper = _find_origin(row)
    return Facts(
        row["id"],
        cwd=as_text(row["cwd"]),
        branch=as_text(row["git_branch"]),
        repository=as_text(row["git_origin_url"]),
        title=as_text(row["name"]) or as_text(row["title"]) or as_text(row["agent_nickname"]),
        started=as_millis(row["created_at_ms"]) or as_millis(row["created_at"]),
        parent=get_text(origin.get("thread_spawn"), "parent_thread_id"),
        kind="subagent" if is_helper else "",
        archived=bool(row["archived"]),
        model=as_text(row["model"]),
    )


def _find_origin(row: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """Return a thread's origin, and whether an agent started it."""
    source = parse_object(as_text(row["source"]))
    return get_dict(source, "subagent"), "subagent" in source or row["thread_source"] == "subagent"


def _find_helpers(folder: str) -> set[str]:
    """Return the threads that another agent started, if a state database says so."""
    try:
        newest = _find_newest(os.path.join(folder, "state_0.sqlite"))
        with ForeignDatabase(os.path.join(folder, newest)) as database:
            rows = database.rows("threads", ("id", "source", "thread_source"))
            return {as_text(row["id"]) for row in rows if _find_origin(row)[1]}
    except ForeignError:
        return set()


def _find_newest(path: str) -> str:
    """Return the highest numbered database of the same kind."""
    folder, name = os.path.split(path)
    stem = _NUMBER.sub("", name)
    try:
        matches = {other: _NUMBER.search(other) for other in os.listdir(folder)}
    except OSError:
        return name
    numbers = {other: int(found[1]) for other, found in matches.items() if found}
    alike = [other for other in numbers if _NUMBER.sub("", other) == stem]
    return max(alike, key=numbers.__getitem__, default=name)


def _find_rollouts(folder: str) -> set[str]:
    return {
        find_thread(name)
        for kind in ("sessions", "archived_sessions")
        for _, _, names in os.walk(os.path.join(folder, kind))
        for name in names
        if name.startswith("rollout-") and name.endswith(".jsonl")
    }


_ROLLOUT, _INDEX = "rollout", "index"
# Codex passes no variables to an MCP server but those that its entry names.
_FORWARDED = ("TOLD_HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME")
# What lets a model act; unknown names are ignored. `apply_patch` stays, in a read-only sandbox.
_FEATURES_OFF = (
    "hooks", "shell_tool", "unified_exec", "apps", "plugins", "multi_agent", "memories", "goals",
    "view_image", "tool_suggest", "skill_search", "image_generation",
)  # fmt: skip


def read(source: Source, cursor: Cursor) -> Iterator[Event | Problem]:
    """Yield the events of one file from the cursor on."""
    if source.layout == STATE:
        yield from read_state(source, cursor)
    elif source.layout == HISTORY:
        yield from read_history(source, cursor)
    elif source.layout == _INDEX:
        yield from read_log(source.path, cursor, _parse_name)
    else:
        yield from read_rollout(source, cursor)


def _parse_name(line: dict[str, Any]) -> Iterator[Event]:
    if get_text(line, "id") and get_text(line, "thread_name"):
        yield Facts(line["id"], title=line["thread_name"])


def wire(place: Place) -> tuple[Change, ...]:
    """Return what told writes into Codex's files."""
    # Only commands: one hook of another type makes Codex reject the file.
    hooks = wiring.hook_entries(
        place, _hooks_file(place), lambda event: wiring.shell_group(place, AGENT.name, event)
    )
    if place.is_project:
        return (*hooks, *wiring.agents_file(place))
    names = [name for name in _FORWARDED if place.variables.get(name)]
    variables = {"env_vars": names} if names else {}
    folder = place.folder("CODEX_HOME", ".codex")
    return (
        *hooks,
        *wiring.mcp_entry(place, _config_file(place), ("mcp_servers",), **variables),
        Block(place.join(folder, "AGENTS.md"), place.instructions),
    )


def is_approved(place: Place) -> bool:
    """Tell whether Codex has a trusted hash of each hook."""
    keys, trusted = _read_approvals(place)
    return bool(keys) and all(key in trusted for key in keys)


def describe_approvals(place: Place) -> str:
    """Name the entries that Codex made when the user approved told's hooks; empty without any."""
    keys, trusted = _read_approvals(place)
    if trusted.isdisjoint(keys):
        return ""
    return (
        f"Codex keeps its own approval of told's hooks in {_config_file(place)}: [hooks.state.\""
        f'{_hooks_file(place)}:…"]. Remove these entries by hand if you like.'
    )


def _read_approvals(place: Place) -> tuple[list[str], set[str]]:
    """Return the keys of told's hooks in Codex's settings, and all keys with a trusted hash."""
    path = _hooks_file(place)
    try:
        with open(path, encoding="utf-8-sig") as file:
            groups = json.load(file)["hooks"]
        with open(_config_file(place), "rb") as file:
            state = tomllib.load(file)["hooks"]["state"]
        keys = [
            f"{path}:{_to_snake_case(name)}:{at}:0"
            for name, group in groups.items()
            for at, item in enumerate(group)
            if has_mark(json.dumps(item))
        ]
        return keys, {key for key, value in state.items() if value.get("trusted_hash")}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return [], set()


def _config_file(place: Place) -> str:
    return place.join(place.folder("CODEX_HOME", ".codex"), "config.toml")


def _hooks_file(place: Place) -> str:
    folder = place.in_project(".codex") if place.is_project else place.folder("CODEX_HOME", ".codex")
    return place.join(folder, "hooks.json")


def _to_snake_case(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def _ask(task: HeadlessTask) -> Sequence[str]:
    """Return the arguments for one question: no shell, hooks, servers, project files or transcript."""
    features = [word for name in _FEATURES_OFF for word in ("--disable", name)]
    values = ("mcp_servers={}", "project_doc_max_bytes=0", 'web_search="disabled"', 'approval_policy="never"')
    options = [word for value in values for word in ("-c", value)]
    model = ("--model", task.model) if task.model else ()
    return (
        "exec", "--json", "--ephemeral", "--skip-git-repo-check", "--sandbox", "read-only", *features,
        *options, *model, "-",
    )  # fmt: skip


def _read_answer(output: str) -> HeadlessReply:
    """Return the last message of a run that printed its events."""
    text, usage = "", {}
    for line in output.splitlines():
        event = as_dict(json.loads(line)) if line.startswith("{") else {}
        item = get_dict(event, "item")
        if event.get("type") == "item.completed" and item.get("type") == "agent_message":
            text = get_text(item, "text")
        elif event.get("type") == "turn.completed":
            usage = get_dict(event, "usage")
    if not text:
        raise ValueError("no message")
    return HeadlessReply(text, as_count(usage.get("input_tokens")), as_count(usage.get("output_tokens")))


def _is_attended(call: Call, _payload: Mapping[str, Any], _environ: Mapping[str, str]) -> bool:
    """Tell whether the session began in Codex's own terminal, and not in `codex exec` or an editor."""
    try:
        with open(call.transcript, encoding="utf-8", errors="replace") as file:
            first = file.readline(_LONGEST_META)
    except OSError:
        return False
    return get_dict(parse_object(first), "payload").get("source") == "cli"


AGENT = Agent(
    name="codex",
    title="Codex",
    label="codex",
    read=read,
    roots=("~/.codex",),
    root_variable="CODEX_HOME",
    layouts=(
        Layout("sessions/**/rollout-*.jsonl", _ROLLOUT),
        Layout("archived_sessions/**/rollout-*.jsonl", ARCHIVED),
        Layout("state_*.sqlite", STATE),
        Layout("thread_history_*.sqlite", HISTORY),
        Layout("session_index.jsonl", _INDEX),
    ),
    tables=TABLES,
    wire=wire,
    programs=("codex",),
    install_signs=("$CODEX_HOME", "~/.codex"),
    has_hooks=True,
    since={wiring.HOOKS: "0.124.0"},  # the first that has them turned on
    headless=Headless(_ask, _read_answer),
    todo="Open codex once and approve told's hooks: until then it skips them silently.",
    is_todo_done=is_approved,
    describe_own_entries=describe_approvals,
    headless_sign=rb'"originator":\s*"codex_exec"',
    # It shows "Blocked by hook" in red, and takes nothing else from a hook at a stop.
    dialect=Dialect(stop_question=StopQuestion(_is_attended, shows_as_error=True)),
    process=ProcessSign("codex", "@openai/codex", replaces_shell=True),
    shell_signs=(
        ShellSign("CODEX_THREAD_ID", "CODEX_THREAD_ID", in_hooks=False),  # every command
        ShellSign("CODEX_SANDBOX", "CODEX_THREAD_ID"),  # commands in the sandbox of macOS
        ShellSign("CODEX_SANDBOX_NETWORK_DISABLED", "CODEX_THREAD_ID"),  # commands in any sandbox
        ShellSign("CODEX_CI", "CODEX_THREAD_ID", in_hooks=False),  # commands in a terminal of its own
    ),
    instruction_files=("AGENTS.md", "AGENTS.override.md", "**/AGENTS.md"),
)
