"""Find the statements in a user's message that are worth remembering."""

from __future__ import annotations

from dataclasses import dataclass, replace

from told.capture.entities import find_entities, find_triggers
from told.capture.explicit import Explicit, find_scope
from told.capture.explicit_grammar import KINDS, TASK_STARTS
from told.capture.features import describe, find_signs
from told.capture.gate import may_teach
from told.capture.model import Weights, classify_kind, load_weights, score_described
from told.capture.pasted import is_unsure, mask_pasted
from told.capture.reading import Reading, Span, read_message
from told.capture.retractions import find_retractions
from told.capture.sentences import count_words, split_sentences
from told.capture.standalone import find_last_sentence, make_standalone
from told.store.memories.records import Trigger

_UNSURE = 0.5  # certainty of an explicit statement that may be pasted
_MAX_ABOUT = 25  # words of an earlier message
# Cues in a sentence that give its statement a mark.
_MARKS = {
    "correction": {"wrong", "meant", "actually"},
    "preference": {"prefer", "taste"},
    "warning": {"warn"},
}

_REQUESTS = frozenset(("request", "point", "heading", "todo"))  # explicit cues: remember that …


@dataclass(frozen=True, slots=True)
class Statement:
    """One thing a user said that a later session should know."""

    kind: str  # rule, decision or fact
    quote: str  # the exact words, a part of the message
    text: str  # one sentence that can be understood without the conversation
    scope: str = "project"  # or global
    triggers: tuple[Trigger, ...] = ()
    entities: tuple[str, ...] = ()
    certainty: float = 0.0
    marks: tuple[str, ...] = ()  # of correction, preference, warning
    context: str = ""  # one line that is shown with a text that cannot stand alone
    sure: bool = True  # False for a candidate
    explicit: bool = False  # the user taught it in so many words
    requested: bool = False  # the user asked for it to be remembered
    pasted: bool = False  # it may be pasted: a candidate that no repeat confirms


@dataclass(frozen=True, slots=True)
class Description:
    """The kind, triggers and entities of a statement."""

    kind: str
    triggers: tuple[Trigger, ...]
    entities: tuple[str, ...]


def describe_statement(text: str) -> Description:
    """Describe a statement that somebody asked to keep."""
    return Description(_guess_kind(text), find_triggers(text), find_entities(text))


def _guess_kind(text: str) -> str:
    """Return the kind by its wording; where that tells nothing, of the likeliest sentence."""
    words = text.lower().split()
    if KINDS["decision"].search(text):
        return "decision"
    if KINDS["order"].search(text) or words[0] in TASK_STARTS:
        return "rule"
    sentences = split_sentences(text)
    if not sentences:
        return "fact"
    described = describe(sentences, text)
    scores = score_described(described, load_weights())
    return classify_kind(described.own[scores.index(max(scores))][:2])


def capture(message: str, before: str = "", asked: str = "") -> list[Statement]:
    """Return the statements worth keeping in a user's message.

    Args:
        message: The text the user typed in one prompt.
        before: The end of the agent's text before it, to which the message may refer.
        asked: The user's own message before that, which a statement that cannot stand alone is about.

    Returns:
        What the user taught explicitly, then memories and candidates, the likeliest first.
    """
    if not may_teach(message):
        return []
    found = make_statements(message, before, read_message(message, before))
    taken_back = [one.quote for one in find_retractions(message)]  # it ends a memory and makes none
    found = [
        one for one in found if not any(one.quote in quote or quote in one.quote for quote in taken_back)
    ]
    about = find_last_sentence(mask_pasted(asked).rstrip()) if found else ""
    if not about or count_words(about) > _MAX_ABOUT:
        return found
    return [replace(one, text=f'{one.text} (about: "{about}")') if one.context else one for one in found]


def make_statements(
    message: str, before: str, reading: Reading, weights: Weights | None = None
) -> list[Statement]:
    """Word the explicit statements and the likely spans of a message."""
    weights = weights or load_weights()
    likely = [span for span in reading.spans if span.probability >= weights.candidate]
    return [
        *(_make_explicit(message, one) for one in reading.explicit),
        *(_make_likely(message, before, reading, span, weights) for span in likely),
    ]


def _make_explicit(message: str, one: Explicit) -> Statement:
    pasted = is_unsure(message, one.start, one.end)
    return Statement(
        one.kind, one.quote, one.text, one.scope, find_triggers(one.text), find_entities(one.text),
        _UNSURE if pasted else 1.0, one.marks, one.context, sure=not pasted, explicit=not pasted,
        requested=not pasted and one.cue in _REQUESTS, pasted=pasted,
    )  # fmt: skip


def _make_likely(message: str, before: str, reading: Reading, span: Span, weights: Weights) -> Statement:
    sentences = reading.sentences
    centre = sentences[span.centre]
    # Long sentences were scored by clause; the text has the whole sentence.
    whole = split_sentences(message, clauses=False)
    place = next(place for place, one in enumerate(whole) if one.start <= centre.start < one.end)
    text, context = make_standalone(message, whole, place, place, before)
    if span.centre in reading.standing:
        kind = "rule" if KINDS["order"].search(text) else "fact"
    else:
        kind = classify_kind(reading.described.own[span.centre][:2], weights)
    signs = find_signs(centre.text)
    start, end = sentences[span.first].start, sentences[span.last].end
    pasted = is_unsure(message, start, end)
    return Statement(
        kind,
        message[start:end],
        text,
        find_scope(text, "order" if kind == "rule" else ""),
        find_triggers(text),
        find_entities(text),
        span.probability,
        tuple(mark for mark, cues in _MARKS.items() if signs & cues),
        context,
        sure=span.probability >= weights.memory and not pasted,
        pasted=pasted,
    )
