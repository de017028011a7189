"""Questions about a topic that an agent can hand to helpers: each with its reason and where to look."""

from __future__ import annotations

from told.memory._graph_turns import place_of
from told.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from told.memory.wonder import Wonder
    from told.store.memory_records import Memory
    from told.store.reading import Reading

MOST = 6
_FEWEST = 3
_LOOK = 4  # places
_PER_KIND = 2
_TOPIC = 60
_DECIDED = ("decision", "rule", "correction", "preference")
_REASONS = (
    "because", "since", "so that", "due to", "weil", "damit", "parce que", "porque", "para que", "因为",
    "ため",
)  # fmt: skip


@record
class Axis:
    """One question to look into."""

    ask: str  # with {} where its subject stands
    why: str
    look: tuple[str, ...]  # ids of memories, sessions and turns
    subject: str = ""
    by_user: bool = True  # whether the user said the subject
    files: tuple[str, ...] = ()  # to look into


class _Asking:
    """Makes the questions about one topic."""

    def __init__(self, found: Wonder, reading: Reading) -> None:
        self._found = found
        self._reading = reading

    def pressing(self) -> Iterator[Axis]:
        """Yield what conflicts, is open, unnamed or doubtful."""
        found = self._found
        for pair in found.conflicts[:_PER_KIND]:
            ask = f"Which holds, {pair.old.id} or {pair.new.id}?"
            yield Axis(ask, pair.why, self._places(pair.old, pair.new))
        for flip in found.flips[:_PER_KIND]:
            back = ", and back again" if flip.back else ""
            why = f"changed {len(flip.before)} times{back}"
            yield Axis(f"Is {flip.memory.id} settled?", why, self._places(flip.memory, *flip.before))
        for question in found.questions[:_PER_KIND]:
            why = "asked, and nothing later answers it"
            yield Axis("{}", why, (question.place,), question.text, files=self._files())
        for name in found.names[:_PER_KIND]:
            times = "1 turn" if len(name.turns) == 1 else f"{len(name.turns)} turns"
            why, files = f"in {times}, in no memory", self._files(name.name)
            yield Axis("What holds for {}?", why, name.turns[:_LOOK], name.name, by_user=False, files=files)
        for weak in found.weak[:_PER_KIND]:
            ask, files = f"Is {weak.memory.id} still right?", self._files()
            yield Axis(ask, weak.why, self._places(weak.memory), files=files)

    def further(self) -> Iterator[Axis]:
        """Yield what can be asked where nothing presses."""
        found = self._found
        for memory in found.known:
            if memory.kind in _DECIDED and not any(word in memory.text.lower() for word in _REASONS):
                yield Axis(f"Why {memory.id}?", "decided, and no reason is kept", self._places(memory))
                break
        for guess in found.guesses[:1]:
            yield Axis(f"Is the guess {guess.id} right?", "only a guess so far", (guess.id,))
        for file in found.spoken.files[:1]:
            why = f"touched in {len(file.sessions)} of the sessions about it"
            ask, files = "What does {} do in this?", (file.path,)
            yield Axis(ask, why, file.sessions[:_LOOK], file.path, by_user=False, files=files)
        topic = found.topic[:_TOPIC]
        ids = tuple(memory.id for memory in found.known[:_LOOK])
        turns = tuple(turn.place for turn in found.spoken.turns[:_LOOK])
        if found.known:
            yield Axis("What else holds for {}?", "this is all that is remembered", ids, topic)
        elif turns:
            yield Axis("What was decided about {}?", "sessions speak of it, no memory does", turns, topic)
        if not found.spoken.files:
            ask = "Which code has to do with {}?"
            yield Axis(ask, "no session about it touched a file", (ids or turns)[:_LOOK], topic)

    def _places(self, *memories: Memory) -> tuple[str, ...]:
        """Return the memories and the turns that they come from."""
        said = [
            place_of(self._reading, one.session, one.turn)
            for memory in memories
            for one in memory.evidence[:2]
            if one.session
        ]
        ids = [memory.id for memory in memories[: _LOOK // 2]]
        return tuple(dict.fromkeys((*ids, *said)))[:_LOOK]

    def _files(self, name: str = "") -> tuple[str, ...]:
        """Return the file to look into: one that has the name, or the one that was touched most."""
        files = [file.path for file in self._found.spoken.files]
        return tuple([path for path in files if name and name.lower() in path.lower()] or files)[:1]


def axes(found: Wonder, reading: Reading) -> tuple[Axis, ...]:
    """Return three to six questions where there is as much to ask, the most pressing first."""
    asking = _Asking(found, reading)
    chosen = list(asking.pressing())[:MOST]
    for axis in asking.further() if len(chosen) < _FEWEST else ():
        if len(chosen) < _FEWEST:
            chosen.append(axis)
    return tuple(chosen)
