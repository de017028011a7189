"""Answer a prompt: store what it teaches, run its `/mem:` command, return its brief."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from told.agents.dialects import hides_compaction
from told.agents.processes import NESTED
from told.capture.grammar import asks, is_task
from told.capture.retractions import find_retractions
from told.capture.statements import Statement, capture, describe_statement
from told.conflict.compare import compare_statement
from told.conflict.places import CORRECTING
from told.conflict.statement import strip_lead
from told.errors import DiskFullError, MissingError, NotFoundError, ToldError, UsageError
from told.fence import Fence, wrap_in_tags
from told.hook.context import COMMAND, HookContext, Location, locate, refuse_command
from told.hook.dispatch import log_failure
from told.hook.prompt_notes import note_prompt
from told.journal.file_journal import FileJournal
from told.memories.caller import Caller
from told.memories.change import CONFIRM, LOCK, REJECT, UNLOCK, change, correct
from told.memories.journal_writer import JournalWriter
from told.memories.remember import NewMemory, remember, validate_text
from told.memories.retract import TakenBack, retract
from told.memories.scopes import active_scopes, find_memories
from told.memories.session_notes import NotesFile
from told.recall.brief import Brief, format_for_agent, make_prompt_brief
from told.recall.learned import RunningSession, add_learned
from told.recall.prompt import RecallRequest, find_quiet_reason, relative_folder
from told.settings import apply_project_settings
from told.store.database import load_key
from told.store.memories.protocol import Memories
from told.store.memories.records import ACTIVE, CANDIDATE, CAPTURE, GLOBAL, UNCONFIRMED, USER, Memory
from told.text import count_tokens, cut_at_word, shorten
from told.words import split_words

_LONGEST_QUERY = 4000  # characters of a prompt that recall looks at
_REPEAT_AFTER_MS = 3 * 3_600_000  # in a session that may have been compacted meanwhile
_LONGEST_MESSAGE = 32_000  # characters; the same as sessions store of a message
_UNSAVED = (
    "NOT saved what the user just taught: {error} told saves it from the transcript when it can write again."
    " Tell the user so in one line."
)
_SAVED = "told saved: {texts}; no need to call `remember`."
_LONGEST_SAVED = 30  # characters of a text that was saved
_LONGEST_CORRECTION = 12  # words
_MARGIN = 8_000  # characters that are redacted beyond it, so that no secret is cut in two


def answer_prompt(context: HookContext) -> str:
    """Return what the agent should know for a prompt; empty if nothing."""
    prompt = context.call.prompt
    is_typed = not context.call.helper  # an agent writes the prompts of its subagents
    if is_typed and prompt.startswith(COMMAND):
        return run_command(context)
    if context.call.helper == NESTED:
        context.note_speaker(context.open_memories())
        if refused := refuse_command(prompt):
            return refused
    # These statements may still contain secrets: `_learn` redacts before it stores anything.
    may_teach = is_typed and context.settings.learn and not context.is_headless
    taught = (_find_taught(prompt) or _find_correction(context)) if may_teach else []
    notes = note_prompt(context)
    taken_back = find_retractions(prompt) if may_teach else []
    note = _take_back(context) if taken_back else ""
    query = prompt[:_LONGEST_QUERY]
    is_quiet = bool(not taught and find_quiet_reason(split_words(query)))
    if is_quiet and not notes.briefed:
        return note
    brief = _make_brief(context, "" if is_quiet else query, taught, notes.briefed)
    return "\n".join(filter(None, (brief, note)))


def _find_taught(message: str) -> list[Statement]:
    """Return what a message surely teaches; candidates are stored from the transcript, later."""
    return [one for one in capture(message) if one.sure]


def _find_correction(context: HookContext) -> list[Statement]:
    """Return a short message that gives another value of what told knows: "actually, port 9090 now"."""
    text = context.call.prompt.strip()
    words = text.lower().replace(",", " ").strip(".!").split(None, _LONGEST_CORRECTION)
    is_short = len(words) <= _LONGEST_CORRECTION and "\n" not in text
    if not is_short or CORRECTING.isdisjoint(words) or asks(text) or is_task(strip_lead(text)):
        return []
    found = compare_statement(context.open_memories(), text, locate(context).scope, context.now)
    about = describe_statement(text) if found.replaces or found.likely else None
    return [Statement(about.kind, text, text, "project", about.triggers, about.entities)] if about else []


def _take_back(context: HookContext) -> str:
    """Dismiss what a prompt takes back, or ask; return what the agent should know of it."""
    call, location = context.call, locate(context)
    memories = context.open_memories()
    if not apply_project_settings(context.settings, location.root).learn:
        return ""
    session, now = context.stored_session(), context.now
    prompts = NotesFile(context.home, call.agent, session).read().prompts
    heard = tuple(one.text for one in prompts if one.at < now)
    writer = JournalWriter(FileJournal(context.home), memories, now, Caller(CAPTURE), hurry=True)
    lines = []
    for one in find_retractions(context.redactor().redact(call.prompt[:_LONGEST_MESSAGE])):
        try:
            done = retract(writer, TakenBack(one, location.scope, call.agent, session, 0, now, heard))
        except (DiskFullError, MissingError) as error:
            return wrap_in_tags(_UNSAVED.format(error=error))
        lines += [
            f"told dismissed {memory.id}. `told undo --of {memory.id}` reverts it." for memory in done.done
        ]
        lines += [f"told asks whether {memory.id} still applies: `told review`." for memory in done.asked]
    return wrap_in_tags("\n".join(("The user took something back.", *lines))) if lines else ""


def _make_brief(context: HookContext, query: str, taught: list[Statement], briefed: int) -> str:
    """Store what a prompt teaches, and return what the agent should know.

    Args:
        context: The hook call.
        query: What the brief is for; empty for a prompt that needs none.
        taught: What the prompt teaches.
        briefed: When the session got its start brief.
    """
    call, now = context.call, context.now
    memories = context.open_memories()
    location = locate(context)
    key = load_key(context.home)
    shown = context.shown_log.read()
    known, since = shown.memories, shown.since
    if hides_compaction(call):
        since = max(since, now - _REPEAT_AFTER_MS)
    settings = apply_project_settings(context.settings, location.root)
    note = ""
    context.note_speaker(memories)
    fence = Fence(key)
    if taught and settings.learn:
        try:
            saved = _learn(context, taught, location, memories)
            known |= dict.fromkeys((one.id for one in saved), now)
            note = _describe_saved(saved, fence)
        except (DiskFullError, MissingError) as error:
            note = wrap_in_tags(_UNSAVED.format(error=shorten(str(error), _LONGEST_ROW)))
    folder = relative_folder(location.root, call.cwd)
    scopes = active_scopes(memories, location.scope)
    ask = RecallRequest(query, scopes, now, folder)
    brief = Brief()
    if query:
        brief = make_prompt_brief(
            memories, ask, fence, budget=settings.brief_tokens, session=call.session, since=since, known=known
        )
    if not call.helper:
        running = RunningSession(context.stored_session(), briefed, known)
        brief = add_learned(brief, memories, running, scopes, fence, now=now, budget=settings.brief_tokens)
    if brief.broken:
        log_failure(MissingError(f"left out of a brief: {', '.join(brief.broken)}"), context.environ)
    if call.session and brief.memories and not context.is_late:
        context.shown_log.add(now, brief.memories, count_tokens(brief.text))
    return "\n".join(filter(None, (format_for_agent(brief), note)))


def _describe_saved(saved: Sequence[Memory], fence: Fence) -> str:
    """Return what was saved in a few words, so that the agent does not save it again."""
    texts = [fence.plain(shorten(one.text, _LONGEST_SAVED)) for one in saved if one.status == ACTIVE]
    if not texts:
        return ""
    more = f" (+{len(texts) - 1})" if len(texts) > 1 else ""
    return wrap_in_tags(_SAVED.format(texts=f'"{texts[0]}"{more}'))


def _learn(
    context: HookContext, taught: list[Statement], location: Location, memories: Memories
) -> list[Memory]:
    """Store what a prompt teaches; return the memories."""
    call, now, session = context.call, context.now, context.stored_session()
    message = context.redactor().redact(cut_at_word(call.prompt, _LONGEST_MESSAGE + _MARGIN))
    message = message[:_LONGEST_MESSAGE]
    if message != call.prompt:  # it was shortened, or a secret was removed
        taught = _find_taught(message)
    writer = JournalWriter(FileJournal(context.home), memories, now, Caller(CAPTURE), hurry=True)
    known = []
    for number, one in enumerate(taught):
        new = NewMemory(
            " ".join(one.text.split()), GLOBAL if one.scope == GLOBAL else location.scope, one.kind,
            quote=one.quote, agent=call.agent, session=session, at=now, about=one,
            seed=f"{call.agent}/{session}.{now}.{number}", certainty=one.certainty,
            marks=one.marks,
        )  # fmt: skip
        known.append(remember(writer, new).memory)
    return known


_REMEMBER, _CORRECT = "remember", "correct"
_CHANGES = {LOCK: "locked", UNLOCK: "unlocked", CONFIRM: "confirmed", REJECT: "dismissed"}
_MAY_CHANGE = {CONFIRM: UNCONFIRMED, REJECT: (CANDIDATE,)}  # besides active memories
_UNDO = "`told undo` reverts it."
_FEWEST_WORDS = 3  # of a statement; fewer words can only search for a memory
_LONGEST_ROW = 200
_QUOTES = {'"': '"', "'": "'", "“": "”", "„": "“", "«": "»", "`": "`"}
_ARROWS = (" -> ", " => ", " → ")


def run_command(context: HookContext) -> str:
    """Run a command; return what the agent should tell the user."""
    name, *rest = context.call.prompt.removeprefix(COMMAND).split(None, 1) or [""]
    name, given = name.lower(), " ".join(rest).strip()
    if name not in (_REMEMBER, _CORRECT, *_CHANGES):
        return ""
    try:
        done = _Command(context).do(name, given)
    except ToldError as error:
        done = f"/mem:{name} was not carried out: {error}"
    return wrap_in_tags(f"{done}\nTell the user so in one line; there is nothing else to do.")


class _Command:
    """One command of the user."""

    def __init__(self, context: HookContext) -> None:
        call, home, now = context.call, context.home, context.now
        location = locate(context)
        self._call = replace(call, session=context.stored_session())
        self._now = now
        self._fence = Fence(load_key(home))
        self._redact = context.redactor().redact
        self._problem = context.settings.problem
        self._home, self._guard = home, context.settings.guard
        self._memories = context.open_memories(hurry=False)
        self._writer = JournalWriter(FileJournal(home), self._memories, now)
        self._scope = location.scope
        self._scopes = active_scopes(self._memories, location.scope)

    def do(self, name: str, given: str) -> str:
        """Run the command; return what was done."""
        if not given:
            raise UsageError(f"say what: `/mem:{name} …`.")
        if name == _CORRECT:
            return self._correct(given)
        if name == _REMEMBER or (name == LOCK and not self._is_found(given)):
            return self._remember(given, locked=name == LOCK)
        memory = change(self._writer, name, self._find_one(given, _MAY_CHANGE.get(name, ()))).memory
        return f"told {_CHANGES[name]} {self._row(memory)}{self._describe_guard(memory)}\n{_UNDO}"

    def _is_found(self, given: str) -> bool:
        found = find_memories(self._memories, given, self._scopes, self._now)
        return bool(found) and (found[0].id.startswith(given) or len(given.split()) < _FEWEST_WORDS)

    def _remember(self, given: str, *, locked: bool) -> str:
        done = remember(self._writer, self._new_memory(given, locked=locked))
        what = "restored" if done.restored else "knew already" if done.again else "remembers"
        ended = "".join(f"\nIt replaces {self._row(old)}" for old, _ in done.superseded)
        said = f"told {what}{' and locked' if locked else ''} {self._row(done.memory)}{ended}"
        return f"{said}{self._describe_guard(done.memory) if locked else ''}\n{_UNDO}"

    def _describe_guard(self, memory: Memory) -> str:
        """Return a line on what the guard does with a locked rule."""
        from told.hook.guard.describe import guard_note  # noqa: PLC0415 - not loaded for a prompt

        note = guard_note(memory.text, self._guard, self._home) if memory.locked else ""
        return f"\n{note}" if note else ""

    def _correct(self, given: str) -> str:
        old, new = _split_correction(given)
        memory = self._find_one(old)
        new_memory = self._new_memory(new)._replace(scope=memory.scope, kind=memory.kind)
        done = correct(self._writer, memory, new_memory)
        return f"told saved {self._row(done.memory)}\nwhich replaces {self._row(memory)}\n{_UNDO}"

    def _new_memory(self, given: str, *, locked: bool = False) -> NewMemory:
        if self._problem:  # the invalid settings may contain a redaction rule
            raise UsageError(self._problem)
        text = validate_text(self._redact(given))
        return NewMemory(
            text, self._scope, locked=locked, quote=text, agent=self._call.agent, session=self._call.session
        )

    def _find_one(self, given: str, also: Sequence[str] = ()) -> Memory:
        """Return the one memory with an id or words, active or of another allowed status."""
        found = find_memories(self._memories, given, self._scopes, self._now, candidates=CANDIDATE in also)
        found = [one for one in found if one.status in (ACTIVE, *also)]
        if not found:
            raise NotFoundError(f"no memory fits {given[:60]!r}. `told memories` lists them.")
        if len(found) > 1:
            rows = "\n".join(map(self._row, found[:5]))
            raise UsageError(f"{given[:60]!r} fits {len(found)} memories. Give an id:\n{rows}")
        return found[0]

    def _row(self, memory: Memory) -> str:
        text = shorten(memory.text, _LONGEST_ROW)
        is_user = memory.trust == USER
        return (
            f"{memory.id}: {self._fence.plain(text) if is_user else self._fence.inline(text, memory.trust)}"
        )


def _split_correction(given: str) -> tuple[str, str]:
    """Split `ID new text`, `"old words" new text` or `old -> new`."""
    closing = _QUOTES.get(given[:1], "")
    for arrow in _ARROWS:
        if arrow in given and not closing:
            old, _, new = given.partition(arrow)
            return old.strip(), new.strip()
    old, _, new = given[1:].partition(closing) if closing else given.partition(" ")
    for arrow in _ARROWS:
        new = new.strip().removeprefix(arrow.strip())
    if not old.strip() or not new.strip():
        raise UsageError("say the old and the new one: `/mem:correct ID the new statement`.")
    return old.strip(), new.strip()
