"""What `sessions.db` has of a checkpoint's file: redacted, without what was forgotten, to be searched."""

from __future__ import annotations

from told.guard.names import plain_path
from told.guard.together import together
from told.ingest.checkpoint_items import written_items
from told.ingest.checkpoint_text import normal, title_of
from told.model import USER, Checkpoint
from told.record import replaced
from told.store.ids import checkpoint_number, public_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from told.ingest.forgotten import Forgotten
    from told.model import Handover

    Change = Callable[[list[str]], list[str]]

LISTS = ("done", "pending", "decisions", "files", "plans", "references", "questions")
PLANS, QUESTIONS = "Plans", "Open questions"  # behind what is pending
_NAMES = ("agent", "project", "folder", "branch")
_LEAST = 3  # words that say the same wherever they stand
_LONGEST_AGENT = 40


def is_agent(name: str) -> bool:
    """Tell whether a text can be the name of an agent: it is shown where told itself speaks."""
    bare = name.replace("-", "").replace("_", "").replace(".", "")
    return bare.isascii() and bare.isalnum() and len(name) <= _LONGEST_AGENT


def session_elsewhere(native: str, folder: str) -> str:
    """Return the id under which the checkpoints of a session are kept in the folder of another project."""
    return public_id("", native, folder, length=12)


def note_of(handover: Handover, path: str) -> Checkpoint:
    """Return a checkpoint as the store keeps it."""
    details = [_under("Decisions", handover.decisions), handover.notes]
    details += [f"{name}:\n{text}" if name and text else name or text for name, text in handover.more]
    return Checkpoint(
        session="", number=checkpoint_number(handover.id), title=handover.title, overview=handover.goal,
        at=handover.at, work_done=_lines(handover.done),
        technical_details="\n\n".join(filter(None, details)), important_files=_lines(handover.files),
        next_steps="\n\n".join(filter(None, (
            _lines(handover.pending), _under(PLANS, handover.plans),
            _under(QUESTIONS, handover.questions),
        ))),
        history=_lines(handover.references), id=handover.id, status=handover.status, path=path,
    )  # fmt: skip


def redacted(handover: Handover, redact: Callable[[str], str]) -> Handover:
    """Return a checkpoint without secrets."""
    hidden = {name: plain_path(getattr(handover, name), redact) for name in _NAMES}
    return normal(replaced(with_texts(handover, lambda texts: together(redact, texts)), **hidden))


def without_forgotten(handover: Handover, forgotten: Forgotten) -> Handover:
    """Return a checkpoint without what the user made told forget.

    The user may say it again; what an agent or told itself writes may come from old text.
    """
    marks = forgotten.marks(handover.agent, handover.session)
    if handover.by != USER:
        marks += forgotten.long_marks(_LEAST)
    if not marks:
        return handover
    new = with_texts(handover, lambda texts: [forgotten.text(text, marks) for text in texts])
    if new.goal != handover.goal and handover.title == title_of(handover.goal):  # it may be cut short
        new = replaced(new, title=title_of(new.goal))
    return replaced(new, branch=forgotten.text(new.branch, marks))


def cleaned(handover: Handover, home: str, redact: Callable[[str], str]) -> Handover:
    """Return a checkpoint as it may be said: without secrets, and without what was forgotten."""
    from told.ingest.tombstones import Tombstones

    return without_forgotten(redacted(handover, redact), Tombstones(home).now())


def with_texts(handover: Handover, change: Change) -> Handover:
    """Return a checkpoint with all its texts changed."""
    texts = [handover.title, handover.goal, handover.notes]
    texts += [item for name in LISTS for item in getattr(handover, name)]
    texts += [part for section in handover.more for part in section]
    new = iter(change(texts))
    values: dict[str, Any] = {name: next(new) for name in ("title", "goal", "notes")}
    values |= {name: tuple(next(new) for _ in getattr(handover, name)) for name in LISTS}
    values["more"] = tuple((next(new), next(new)) for _ in handover.more)
    return replaced(handover, **values)


def _lines(items: tuple[str, ...]) -> str:
    return "\n".join(written_items(items, ""))


def _under(name: str, items: tuple[str, ...]) -> str:
    return f"{name}:\n{_lines(items)}" if items else ""
