"""`told learn`, `told brief`, `told explain` and `told hook`: from messages to memories and back."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict

from told.api import make_brief, recall_request
from told.capture.explain import explain as explain_message
from told.cli.arguments import Arguments
from told.cli.context import (
    Context,
    MemoryView,
    count,
    iso,
)
from told.cli.index import import_all
from told.cli.reader.reading import read_sessions
from told.cli.reader.status import READER_HINT
from told.errors import NotFoundError, UsageError
from told.journal.apply import open_memories
from told.learning.learn import LearnResult
from told.reader.models import open_reader
from told.recall.brief import make_shown_payload
from told.recall.recall import describe_prompt, recall
from told.recall.recall import explain as explain_recall
from told.service.local import answer_now
from told.store.fts import unquote_phrase
from told.store.memories.protocol import Memories
from told.store.sessions.facts import TO_CAPTURE, WorkQueue
from told.text import count_tokens

_STOPPED = 130  # exit code of shells for Ctrl-C
_BUSY = 3
_LINE_SECONDS = 10.0  # between lines of progress without a terminal


def learn(context: Context, arguments: Arguments) -> None:
    """Learn from sessions that were not learned from yet."""
    message = arguments.text("why")
    if message:
        _explain(context, message)
        return
    reader = open_reader(context.settings, context.environ, arguments.text("reader"))
    if reader is not None and not context.caller.is_user:
        raise UsageError("Only you can run the reader. Use `told learn` in your own terminal.")
    if not context.settings.learn:
        raise UsageError("Learning is off. `told config set learn true` turns it on.")
    if reader is None and arguments.text("since"):
        raise UsageError("--since needs a reader. `told learn --reader agent` uses your own agent.")
    since = context.parse_time(arguments.text("since")) if arguments.text("since") else 0
    import_all(context)
    with closing(open_memories(context.home)) as memories:
        if reader is None:
            _learn_offline(context, arguments, memories)
        else:
            read_sessions(context, arguments, memories, reader, since)


def _learn_offline(context: Context, arguments: Arguments, memories: Memories) -> None:
    waiting = WorkQueue(context.connection).count(TO_CAPTURE)
    is_dry = arguments.flag("dry-run")
    found = (None if is_dry else context.learn(memories)) or LearnResult()
    if context.as_json:
        learned = {"learned": found.statements, "again": found.again, "observations": found.observations}
        context.print_json({"reader": None, "dry_run": is_dry, "sessions": waiting, **learned})
    elif is_dry:
        context.print(f"{count(waiting, 'session')} to learn from, offline. Run `told learn` to start.")
    else:
        again = f", {found.again:,} of them known before" if found.again else ""
        sessions = count(found.sessions, "session")
        hint = " `told undo --of ID` reverts one." if found.statements else ""
        context.print(f"Learned {count(found.statements, 'statement')} from {sessions}{again}.{hint}")
        context.print(READER_HINT)


def _explain(context: Context, message: str) -> None:
    """Print how a message is read: sentences, cues, what stopped them, what is kept."""
    found = explain_message(context.redact(message))
    if context.as_json:
        context.print_json({
            "sentences": [asdict(one) for one in found.sentences],
            "kept": [
                {"text": one.text, "kind": one.kind, "marks": list(one.marks), "scope": one.scope,
                 "quote": one.quote, "score": one.certainty, "explicit": one.sure,
                 "status": "active" if one.sure else "candidate"}
                for one in found.kept
            ],
        })  # fmt: skip
        return
    for sentence in found.sentences:
        cue = f": {sentence.cue}" if sentence.cue else ""
        stop = f", {sentence.guard}" if sentence.guard else ""
        context.print(f"{sentence.text}  ({sentence.decision}{cue}{stop})")
    for one in found.kept:
        status = "memory" if one.sure else "candidate"
        context.print(f"Kept as a {status} ({', '.join((one.kind, *one.marks, one.scope))}): {one.text}")
    if not found.kept:
        context.print("Nothing is kept: without a reader, only what you teach explicitly is.")


def brief(context: Context, arguments: Arguments) -> None:
    """Print the brief for a session or a prompt."""
    prompt = arguments.text("prompt")
    if prompt and arguments.flag("start"):
        raise UsageError("Give --start or --prompt TEXT, not both.")
    session = context.stored_id(arguments.text("session"))
    with MemoryView(context) as view:
        made = make_brief(
            view, prompt, budget=arguments.number("budget", 0), for_session=session,
            again=arguments.flag("again"), tools=arguments.flag("tools"),
        )  # fmt: skip
        if session and made.memories:
            view.writer.add("show", "", **make_shown_payload(made, session))
            view.writer.write()
        silence = "" if made.lines else _explain_silence(view, prompt, session)
    if context.as_json:
        lines = [
            {"zone": line.zone, "id": line.memory or None, "at": iso(line.at), "text": line.text}
            for line in made.lines
        ]
        learning = context.learning_json() if silence else {}
        context.print_json({"tokens": count_tokens(made.text), "lines": lines} | learning)
    elif made.lines:
        context.print(made.text)
    else:
        raise NotFoundError(context.describe_learning() or silence)
    context.exit_code = 0 if made.lines else 1


def _explain_silence(view: MemoryView, prompt: str, session: str) -> str:
    """Say why a brief is empty."""
    if not view.memories.listed(limit=1):
        return "No memories yet. `told remember TEXT` adds one; after `told install`, sessions add more."
    if not view.memories.listed(scopes=view.scopes, limit=1):
        return "No memories in this project yet. `told memories --all-projects` lists all."
    if session:
        return "Nothing new for this session. Use --again to repeat what it was shown."
    if prompt:
        return "No memory fits this prompt. `told explain TEXT` shows why."
    return "No rules or open work in this project yet. `told memories` lists what is known."


def explain(context: Context, arguments: Arguments) -> None:
    """Explain why memories are in or out of a prompt's brief."""
    with MemoryView(context) as view:
        found = recall(view.memories, recall_request(view, arguments.phrase))
        rows = explain_recall(found)
        if context.as_json:
            memories = [
                {
                    "id": one.recalled.memory.id, "in": not one.recalled.against, "why": one.verdict,
                    "score": one.recalled.score, "layers": one.recalled.parts,
                    "text": view.text(one.recalled.memory),
                }
                for one in rows
            ]  # fmt: skip
            topics = dict.fromkeys(map(unquote_phrase, found.prompt.names), 1.0)
            context.print_json(
                {"understood": describe_prompt(found), "topics": topics, "memories": memories}
                | ({"broken": list(found.broken)} if found.broken else {}),
                found=rows,
            )
            return
        context.print(describe_prompt(found))
        for one in rows:
            mark = "out" if one.recalled.against else "in "
            context.print(f"{mark} {one.recalled.score:.2f} {view.row(one.recalled.memory)}")
            reason = f"{one.verdict}; " if one.recalled.against else ""
            context.print(f"    {reason}{' · '.join(one.layers) or 'no layer knows it'}")
        if not rows:
            context.print("No memory is related to it.")
        for broken in found.broken:
            context.print(f"left out, it cannot be judged: {broken}")
    context.exit_code = 0 if rows else 1


def hook(words: Sequence[str], environ: Mapping[str, str]) -> int:
    """Answer one hook call on standard input, in this process."""
    if sys.stdin is not None and sys.stdin.isatty():
        raise UsageError("Agents run this with a call on standard input. Run `told install` to set it up.")
    if len(words) == 2:
        sys.stdout.write(answer_now(words[0], words[1], sys.stdin.buffer.read(), environ))
    return 0
