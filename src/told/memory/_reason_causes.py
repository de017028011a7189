"""Finds reasons: sentences of memories, and of the turns behind them, that say because or so that."""

# ruff: noqa: RUF001 - signs of many languages are the subject
from __future__ import annotations

from told.memory._graph_polarity import claim
from told.memory._graph_turns import place_of
from told.memory._reason_stance import share
from told.memory._reason_weigh import worth_of
from told.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from told.memory._graph_turns import Spoken
    from told.memory._reason_question import Question
    from told.store.memory_records import Memory
    from told.store.reading import Reading

_CUES = (
    " because", " since ", " so that ", " due to ", " as otherwise", "otherwise ", " the reason ",
    " in order to ", " to avoid ", " to keep ", " thanks to ", "root cause", " weil ", " damit ", " denn ",
    " wegen ", " sonst ", " grund ", " um zu ", " parce qu", " car ", " afin ", " à cause ",
    " pour éviter ", " sinon ", " porque ", " para que ", " debido ", " ya que ", " para evitar ",
    " por causa ", " pois ", " já que ",
)  # fmt: skip
_CUES_UNSPACED = ("因为", "由于", "为了", "否则", "ため", "から、", "ので")
_MOST_TEXT = 6000
_LONGEST = 300
_STOPS = ".!?。！？"
_OF_TURN, _OF_ANSWER, _UNCLAIMED = 0.8, 0.5, 0.5
_SAME_ASKED = 0.9
_LEAST = 0.6  # share of the question's words


@record
class Cause:
    """A reason that somebody gave."""

    text: str
    trust: str
    worth: float
    memory: Memory | None = None
    place: str = ""  # the turn, if it was not said in the memory itself
    at: int = 0


def causes(
    question: Question, found: Sequence[tuple[Memory, float]], spoken: Spoken, reading: Reading
) -> list[Cause]:
    """Return the reasons that memories and turns give for what is asked, the best first.

    Args:
        question: What is asked.
        found: Memories about it, each with its fit.
        spoken: Turns about it.
        reading: The sessions, for the turns that memories come from.
    """
    given: dict[str, Cause] = {}
    for memory, fit in found:
        worth = worth_of(memory, fit)
        for sentence in _reasons(memory.text):
            _keep(given, Cause(sentence, memory.trust, worth, memory, at=memory.created))
        for cause in _of_evidence(question, memory, worth, reading):
            _keep(given, cause)
    for turn in spoken.turns:
        for text, by_user in ((turn.asked, turn.by_user), (turn.answered, False)):
            for sentence in _reasons(text):
                fit = share(question, claim(sentence))
                if text is turn.answered:  # what answers the same question need not repeat its words
                    fit = max(fit, _SAME_ASKED * share(question, claim(turn.asked)))
                if fit >= _LEAST:
                    worth = round(_UNCLAIMED * fit * (1.0 if by_user else _OF_ANSWER), 3)
                    trust = "user" if by_user else "agent"
                    _keep(given, Cause(sentence, trust, worth, None, turn.place, turn.at))
    return sorted(given.values(), key=lambda one: (-one.worth, -one.at, one.text))


def _of_evidence(question: Question, memory: Memory, worth: float, reading: Reading) -> Iterator[Cause]:
    """Yield the reasons in the quotes of a memory, and in the turns that they come from."""
    for one in memory.evidence[:4]:
        place = place_of(reading, one.session, one.turn)
        for sentence in _reasons(one.quote):
            yield Cause(sentence, memory.trust, round(worth * _OF_TURN, 3), memory, place, one.at)
        for row in reading.sessions_like(one.session, 1) if one.session else ():
            turn = reading.turn(row.id, one.turn)
            if turn is None:
                continue
            for text, by_user in ((turn.asked, not row.kind), (turn.answered, False)):
                for sentence in _reasons(text):
                    if share(question, claim(sentence)) > 0:
                        trust = "user" if by_user else "agent"
                        own = worth * (_OF_TURN if by_user else _OF_ANSWER)
                        yield Cause(sentence, trust, round(own, 3), memory, place, one.at)


def _keep(given: dict[str, Cause], cause: Cause) -> None:
    key = " ".join(cause.text.lower().split()).strip(" .!")
    if key not in given or given[key].worth < cause.worth:
        given[key] = cause


def _reasons(text: str) -> Iterator[str]:
    """Yield the sentences of a text that give a reason."""
    for sentence in _sentences(text[:_MOST_TEXT]):
        lower = f" {sentence.lower()} "
        says = any(cue in lower for cue in _CUES) or any(cue in sentence for cue in _CUES_UNSPACED)
        if says and len(sentence) <= _LONGEST and not sentence.endswith(("?", "？")):
            yield sentence


def _sentences(text: str) -> Iterator[str]:
    start = 0
    for end in range(1, len(text) + 1):
        last, following = text[end - 1], text[end : end + 1]
        stops = last in _STOPS and (not following or following.isspace() or not last.isascii())
        if stops or last == "\n" or not following:
            sentence = " ".join(text[start:end].split())
            start = end
            if sentence:
                yield sentence
