"""One chat in Aider's history file: prompts, replies, and what Aider itself printed."""

from __future__ import annotations

import os
import re

from told.agents.text import step
from told.model import AGENT, USER, Begin, Event, Facts, Ref, Said, Touch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# Aider ends what it prints and what the user typed with two spaces; a model's own Markdown does not.
_END = "  "
_PROMPT = "#### "
_PRINTED = "> "

# Commands that carry a prompt; the others (/add, /drop, /run …) speak to Aider and not to the model.
_ASKING = re.compile(r"/(?:ask|code|architect|context)\s+(.+)", re.DOTALL)
_MODEL = re.compile(r"(?:Main )?[Mm]odel: (\S+)")
_ADDED = re.compile(r"Added (.+) to the chat\.?")
_APPLIED = re.compile(r"Applied edit to (.+)")
_COMMIT = re.compile(r"Commit ([0-9a-f]{7,40}) (.*)")
_CREATE = re.compile(r"Create new file\?.*: ?y(?:es)?", re.IGNORECASE)

_MAX_BLOCK = 60  # lines of one code block worth keeping


class Chat:
    """Takes the lines of one chat and yields its events."""

    def __init__(self, path: str, started: str, at: int) -> None:
        self._folder = os.path.dirname(path)
        self._at = at
        digits = "".join(filter(str.isdigit, started))
        self._session = f"{_short_hash(path)}-{digits[:8]}-{digits[8:]}"
        self._prompt: list[str] = []
        self._reply: list[str] = []
        self._in_printed = False
        self._last_printed = ""
        self._created: set[str] = set()

    def begin(self) -> Iterator[Event]:
        """Yield what is known from the line that starts the chat."""
        yield Begin(self._session)
        yield Facts(self._session, cwd=self._folder, started=self._at)

    def line(self, content: str) -> Iterator[Event]:
        """Take one line; whatever it completes is yielded."""
        if content.startswith(_PROMPT) and content.endswith(_END):
            self._in_printed = False
            yield from self._flush_reply()
            self._prompt.append(content.removeprefix(_PROMPT).removesuffix(_END))
            return
        if self._in_printed:
            self._in_printed = not content.endswith(_END)
            return
        if content.startswith(_PRINTED) and content.endswith(_END):
            yield from self.flush()
            yield from self._printed(content.removeprefix(_PRINTED).strip())
        elif content.startswith("> #"):  # an error report over several lines, of which only one is marked
            yield from self.flush()
            self._in_printed = True
        else:
            yield from self._flush_prompt()
            self._reply.append(content)

    def flush(self) -> Iterator[Event]:
        """Yield the prompt and the reply that stand so far."""
        yield from self._flush_prompt()
        yield from self._flush_reply()

    def _flush_prompt(self) -> Iterator[Event]:
        said = "\n".join(self._prompt).strip()
        self._prompt = []
        if said.startswith("/"):
            asking = _ASKING.fullmatch(said)
            said = asking[1].strip() if asking else ""
        if said and said != "<blank>" and not said.startswith("!"):
            yield Said(self._session, USER, said, self._at)

    def _flush_reply(self) -> Iterator[Event]:
        said = "\n".join(_shortened(self._reply)).strip()
        self._reply = []
        if said:
            yield Said(self._session, AGENT, said, self._at)

    def _printed(self, printed: str) -> Iterator[Event]:
        before, self._last_printed = self._last_printed, printed
        if model := _MODEL.match(printed):
            yield Facts(self._session, model=model[1])
        elif added := _ADDED.fullmatch(printed):
            yield self._touch(added[1], "read")
        elif _CREATE.fullmatch(printed):
            self._created.add(before)
        elif applied := _APPLIED.fullmatch(printed):
            how = "create" if applied[1] in self._created else "edit"
            self._created.discard(applied[1])
            yield self._touch(applied[1], how)
        elif commit := _COMMIT.fullmatch(printed):
            yield Ref(self._session, "commit", commit[1], self._at)
            subject = commit[2].replace('"', "'")
            line = step("aider", {"command": f'git commit -m "{subject}"'})
            yield Said(self._session, AGENT, line, self._at, form="step")

    def _touch(self, path: str, how: str) -> Touch:
        return Touch(self._session, os.path.normpath(os.path.join(self._folder, path)), how, self._at)


def _shortened(lines: list[str]) -> Iterator[str]:
    """Leave out the middle of a very long code block: the files themselves hold it."""
    block: list[str] | None = None
    for line in lines:
        if not line.startswith("```"):
            if block is None:
                yield line
            else:
                block.append(line)
        elif block is None:
            block = []
            yield line
        else:
            yield from _capped(block)
            block = None
            yield line
    if block is not None:
        yield from _capped(block)


def _capped(block: list[str]) -> list[str]:
    if len(block) <= _MAX_BLOCK:
        return block
    half = _MAX_BLOCK // 2
    return [*block[:half], f"… {len(block) - _MAX_BLOCK} lines …", *block[-half:]]


def _short_hash(path: str) -> str:
    from _blake2 import blake2b

    return blake2b(os.fsencode(path), digest_size=4).hexdigest()
