"""`/mem:lock …` and its like, typed by the user as a prompt: carried out as the user's own command."""

from __future__ import annotations

from told.errors import NotFoundError, ToldError, UsageError
from told.guard.fence import Fence, enclosed
from told.guard.redact import Redactor
from told.guard.text import one_line
from told.hook.places import here
from told.memory.change import CONFIRM, LOCK, REJECT, UNLOCK, change, correct
from told.memory.finding import meant
from told.memory.pen import Pen
from told.memory.remember import Said, checked, remember
from told.memory.scopes import holding_in
from told.record import replaced
from told.store.key import own_key
from told.store.memory_records import ACTIVE, USER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.hook.moment import Moment
    from told.store.memory_records import Memory

_REMEMBER, _CORRECT = "remember", "correct"
_CHANGES = {LOCK: "locked", UNLOCK: "unlocked", CONFIRM: "confirmed", REJECT: "rejected"}
_STATEMENT = 3  # words; what has fewer can only be words to find a memory by
_SHOWN = 200
_QUOTES = {'"': '"', "'": "'", "“": "”", "„": "“", "«": "»", "`": "`"}
_ARROWS = (" -> ", " => ", " → ")


def carried_out(moment: Moment) -> str:
    """Do what a command says, and return what the agent should tell the user; nothing for other commands."""
    name, *rest = moment.call.prompt.removeprefix("/mem:").split(None, 1) or [""]
    name, given = name.lower(), " ".join(rest).strip()
    if name not in (_REMEMBER, _CORRECT, *_CHANGES):
        return ""
    try:
        done = _Command(moment).do(name, given)
    except ToldError as error:
        done = f"/mem:{name} was not carried out: {error}"
    return enclosed(f"{done}\nTell the user so in one line; there is nothing else to do.")


class _Command:
    """One command of the user's."""

    def __init__(self, moment: Moment) -> None:
        call, home, now = moment.call, moment.home, moment.now
        key = own_key(home)
        place = here(home, call.cwd, moment.hide)
        self._call = replaced(call, session=moment.hidden_session())
        self._now = now
        self._fence = Fence(key)
        self._redact = Redactor(key, moment.settings.redaction).redact
        self._problem = moment.settings.problem
        self._memories = moment.memories(hurry=False)
        self._pen = Pen(home, self._memories, now)
        self._scope = place.scope
        self._scopes = holding_in(self._memories, place.scope)

    def do(self, name: str, given: str) -> str:
        """Carry it out; return what was done."""
        if not given:
            raise UsageError(f"say what: `/mem:{name} …`.")
        if name == _CORRECT:
            return self._correct(given)
        if name == _REMEMBER or (name == LOCK and not self._is_found(given)):
            return self._remember(given, locked=name == LOCK)
        memory = self._one(given)
        return f"told {_CHANGES[name]} {self._row(change(self._pen, name, memory).memory)}"

    def _is_found(self, given: str) -> bool:
        found = meant(self._memories, given, self._scopes, self._now)
        return bool(found) and (found[0].id.startswith(given) or len(given.split()) < _STATEMENT)

    def _remember(self, given: str, *, locked: bool) -> str:
        done = remember(self._pen, self._said(given, locked=locked))
        what = "knew already" if done.again else "remembers"
        ended = "".join(f"\nIt stands in the place of {self._row(old)}" for old, _ in done.ended)
        return f"told {what}{' and locked' if locked else ''} {self._row(done.memory)}{ended}"

    def _correct(self, given: str) -> str:
        old, new = _two(given)
        memory = self._one(old)
        said = self._said(new)
        done = correct(self._pen, memory, Said(said.text, memory.scope, memory.kind, quote=said.quote,
                                               agent=said.agent, session=said.session))  # fmt: skip
        return f"told put {self._row(done.memory)}\nin the place of {self._row(memory)}"

    def _said(self, given: str, *, locked: bool = False) -> Said:
        if self._problem:  # there may be a rule that takes something out of it
            raise UsageError(self._problem)
        text = checked(self._redact(given))
        return Said(
            text, self._scope, locked=locked, quote=text, agent=self._call.agent, session=self._call.session
        )

    def _one(self, given: str) -> Memory:
        found = [one for one in meant(self._memories, given, self._scopes, self._now) if one.status == ACTIVE]
        if not found:
            raise NotFoundError(f"no memory fits {given[:60]!r}. `told memories` lists them.")
        if len(found) > 1:
            rows = "\n".join(map(self._row, found[:5]))
            raise UsageError(f"{given[:60]!r} fits {len(found)} memories. Give an id:\n{rows}")
        return found[0]

    def _row(self, memory: Memory) -> str:
        text = one_line(memory.text, _SHOWN)
        return f"{memory.id}: {text if memory.trust == USER else self._fence.inline(text, memory.trust)}"


def _two(given: str) -> tuple[str, str]:
    """Return the old and the new: an id or quoted words first, or an arrow between the two.

    Raises:
        UsageError: there is only one.
    """
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
