"""Make told's own memories of observations and lessons, and keep them up to date."""

from __future__ import annotations

from told.capture.statements import Description, describe_statement
from told.memories.change import correct
from told.memories.journal_writer import JournalWriter
from told.memories.remember import NewMemory, remember
from told.pattern import lazy_pattern
from told.store.memories.records import AGENT, GLOBAL, OBSERVATION, PROJECT, SUPERSEDED, Trigger
from told.store.postgres.agent_memory.lessons import LessonRow
from told.store.postgres.agent_memory.observations import ObservationRow
from told.store.postgres.agent_memory.sessions import UNKNOWN
from told.sync.stores.statements import MAX_TEXT, join_title
from told.text import shorten

TOOL = "agent-memory"
_KINDS = {"decision": "decision", "gotcha": "warning", "discovery": "fact", "pattern": "fact"}
_MAX_CONTEXT = 200  # characters
_SPACES = lazy_pattern(r"\\s[+*]?|\s+")
_PLAIN = lazy_pattern(r"[\w ./:=-]+")


def remember_row(
    writer: JournalWriter, row: ObservationRow | LessonRow, known: str = "", session: str = ""
) -> str:
    """Make a memory of a row, or bring the one made of it up to date; return its id, empty if there is none.

    Args:
        writer: Its caller is an agent: what is sent here is never the user's own word.
        row: An observation or a lesson, already redacted.
        known: The id of the memory that was made of the row before.
        session: The client's id of the row's session.
    """
    new = make_memory(row)._replace(session=session)
    is_active = not isinstance(row, LessonRow) or row.active
    old = writer.memories.get([known]).get(known) if known else None
    if not new.text.strip():
        return known
    if old is None or old.status == SUPERSEDED:
        return remember(writer, new).memory.id if is_active else known
    if not is_active:
        # What the user said or confirmed, too, stays.
        if old.trust == AGENT and not old.is_decided_by_user and not old.locked:
            writer.add("supersede", old.id, by="", why=f"turned off in {TOOL}")
            writer.write()
    elif old.text != new.text:
        return correct(writer, old, new).memory.id
    return known


def make_memory(row: ObservationRow | LessonRow) -> NewMemory:
    """Return what a row says as a statement of an agent."""
    at = int(row.created_at.timestamp() * 1000)
    if isinstance(row, LessonRow):
        text, kind, label, seed = row.rule or row.title, "rule", "", f"lesson/{row.id}"
        trigger = " ".join(filter(None, (row.trigger_tool, row.trigger_pattern)))
        context = f"{row.title} (before {trigger})" if trigger else row.title
    else:
        text, kind = (
            join_title(row.title, row.narrative or row.subtitle or ""),
            _KINDS.get(row.type, OBSERVATION),
        )
        label, seed, context = row.type, f"observation/{row.id}", ""
    text = shorten(text, MAX_TEXT)
    return NewMemory(
        text, find_scope(row.project_name), kind=kind, trust=AGENT, agent=TOOL, at=at,
        about=_describe(row, text), label=label if kind == OBSERVATION else "", seed=f"{TOOL}\0{seed}",
        context=shorten(context, _MAX_CONTEXT),
    )  # fmt: skip


def find_scope(project: str | None) -> str:
    """Return the scope of a project that a client names."""
    return f"{PROJECT}{project}" if project and project != UNKNOWN else GLOBAL


def _describe(row: ObservationRow | LessonRow, text: str) -> Description:
    """Return the triggers and entities of a row: its own ones, else those in its text."""
    about = describe_statement(text) if text.strip() else Description("fact", (), ())
    if isinstance(row, ObservationRow):
        named = (*row.concepts, *row.files_modified, *row.files_read)
        return Description(about.kind, about.triggers, tuple(dict.fromkeys((*named, *about.entities))))
    command = _SPACES.sub(" ", row.trigger_pattern or "").strip(" ^$")
    is_command = row.trigger_tool in (None, "Bash") and _PLAIN.fullmatch(command)
    triggers = (Trigger("command", command),) if is_command else about.triggers
    return Description("rule", triggers, about.entities)
