"""Verify that a user really said what an agent, or the reader, wants to remember."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from told.capture.explicit import blank_cited
from told.capture.pasted import mask_pasted
from told.capture.sentences import split_sentences
from told.conflict.claim_match import (
    DENIED_QUESTION,
    QUESTION_ENDS,
    adds_denial,
    content_stems,
    differ_in_language,
    find_share,
    fold_text,
    has_new_value,
    is_reversed,
    measure_shared,
    remove_invisible,
    split_clauses,
    split_words,
)
from told.fence import remove_between, remove_fenced
from told.pattern import lazy_pattern
from told.store.memories.records import AGENT, READER
from told.words import WORD, is_unspaced

# Why a statement is not the user's word.
NO_QUOTE = "no quote of the user's words was given"
NO_SESSION = "this session is not known to told"
NOT_TYPED = "the user did not type the quote in this session"
TOO_SHORT = "the quote is too short to prove it"
QUESTION = "the quote is a question"
OTHER_POINT = "the quote does not say that"
ADDED = "the quote does not say all of it"
NEW_NAME = "it has a name or a number that was not mentioned"
REVERSED = "the quote says the opposite"
CITED = "the user only cites the quote"

# Words of a quote, and its characters in Chinese or Japanese.
_MIN_WORDS, _MIN_UNSPACED = {AGENT: 3, READER: 2}, {AGENT: 4, READER: 2}
# What a statement shares with the quote (in words both ways and in meaning), with the message and with the
# turn before; each is at most 1. Chosen by `benchmarks proof`, leaving each repository out.
_MIN_SHARED = {AGENT: 1.8, READER: 1.6}
_MIN_KNOWN = 0.34  # share of an agent's statement that the message or the turn before has
_MIN_CLAUSE = 0.26  # the same of each of its clauses
_MAX_QUOTED = 0.5  # share of a quote outside quotation marks
_WORDS: dict[str, str | list[str]] = tomllib.loads(
    Path(__file__).with_name("proof.toml").read_text(encoding="utf-8")
)
_ORDERS = tuple(_WORDS["orders"])
_TAGS = frozenset(str(_WORDS["tags"]).split())
_LEANS = tuple(_WORDS["leans"])
_ASKING = frozenset(str(_WORDS["asking"]).split())
_OR = frozenset(str(_WORDS["or"]).split())
_TAG = 3  # words after a comma that only ask for consent: "use tabs, all right?"
_FAR = 8  # words between a quote and a question mark that is not about it
_LINE = lazy_pattern(r"[^\n]+")
_GAP = lazy_pattern(r"\s*(?:\[?(?:…|\.{3,})\]?)\s*")


@dataclass(frozen=True, slots=True)
class Message:
    """One message of the user, with the turn before it."""

    text: str
    before: str = ""
    turn: int = 0
    session: str = ""  # the agent's own id


@dataclass(frozen=True, slots=True)
class Proof:
    """Whether a statement is the user's word."""

    message: Message | None = None  # that contains the quote
    why_not: str = ""  # empty if it is proven
    said: str = ""  # the user's own sentences around a typed quote, on one line; no question
    shared: float = 0.0  # what they share with the statement, if that was compared


@dataclass(frozen=True, slots=True)
class _Quoted:
    """The complete sentences and clauses around a quote."""

    typed: str  # the message without what was pasted
    sentences: tuple[str, ...]
    said: str  # with what they lean on
    distance: int  # sentences between the parts of the quote
    asked: bool  # it is part of a question


def prove(text: str, quote: str, messages: Iterable[Message], by: str = AGENT) -> Proof:
    """Check that the user typed a quote, and that it carries the statement.

    Args:
        text: The statement, in an agent's or the reader's words.
        quote: The user's words; parts may be left out with "…".
        messages: What the user typed in the session, the latest first.
        by: Who says so. An agent may act under injection, so its quote has to say what the statement says;
            the reader answers a question of told.
    """
    if not any(map(str.isalnum, quote)):
        return Proof(None, NO_QUOTE)
    parts = [part for part in map(split_words, _GAP.split(quote)) if part]
    words = [word for part in parts for word in part]
    unspaced = sum(is_unspaced(word[0]) for word in words)
    if unspaced < _MIN_UNSPACED[by] and len(words) - unspaced < _MIN_WORDS[by]:
        return Proof(None, TOO_SHORT)
    messages = list(messages)
    failed = Proof(None, NOT_TYPED)
    for message in messages:
        if not all("".join(part) in fold_text(message.text) for part in parts):
            continue
        quoted = _find_quoted(message.text, parts, strict=by != READER)
        if quoted is None:
            continue
        near = messages if by == READER else ()
        session = "\n".join((quoted.typed, message.before, *(f"{one.text}\n{one.before}" for one in near)))
        shared = measure_shared(remove_invisible(text), quote, quoted.typed, message.before)
        why_not = _find_gap(remove_invisible(text), quote, quoted, session, by)
        if not why_not and shared < _MIN_SHARED[by]:  # the reader may translate what the user said
            is_other = by == READER and differ_in_language(text, " ".join(quoted.sentences))
            why_not = "" if is_other else OTHER_POINT
        if not why_not:
            return Proof(message, "", quoted.said, shared)
        said = "" if why_not in (QUESTION, CITED) else quoted.said  # nobody says what is only asked or cited
        failed = Proof(message, why_not, said, shared) if failed.message is None else failed
    return failed


def _find_quoted(message: str, parts: Sequence[list[str]], *, strict: bool) -> _Quoted | None:
    """Return the complete sentences that contain the parts in order; None if one was not typed.

    Complete, because a quote may have left out a "never".
    """
    message = remove_fenced(remove_between(message))
    typed = mask_pasted(message, strict=strict)
    places = [(word, found) for found in WORD.finditer(typed) for word in split_words(found[0])]
    words, place = [word for word, _ in places], 0
    spans = []
    for part in parts:
        starts = range(place, len(words) - len(part) + 1)
        at = next((at for at in starts if words[at : at + len(part)] == part), None)
        if at is None:
            return None
        place = at + len(part)
        spans.append((places[at][1].start(), places[place - 1][1].end()))
    sentences = split_sentences(message)
    chosen = [at for at, one in enumerate(sentences) if _touches((one.start, one.end), spans)]
    if not chosen:
        lines = [found[0] for found in _LINE.finditer(typed) if _touches(found.span(), spans)]
        return _Quoted(typed, tuple(lines), " ".join(" ".join(lines).split()), 0, asked=False)
    headings = dict.fromkeys(sentences[at].heading for at in chosen if sentences[at].heading)
    texts = [sentences[at].text for at in chosen]
    lean = [sentences[chosen[0] - 1].text] if chosen[0] and _leans(texts[0]) else []
    return _Quoted(
        typed,
        (*(heading.rstrip(":：") for heading in headings), *texts),  # noqa: RUF001 - people write it
        " ".join(" ".join((*headings, *lean, *texts)).split()),
        chosen[-1] - chosen[0] + 1 - len(chosen),
        all(_asks(sentences[at].text, message[spans[-1][1] : sentences[at].end], strict) for at in chosen),
    )


def _touches(one: tuple[int, int], spans: Sequence[tuple[int, int]]) -> bool:
    return any(one[0] < end and start < one[1] for start, end in spans)


def _leans(sentence: str) -> bool:
    """Tell whether a sentence begins with a word that points back."""
    return " ".join(split_words(sentence)[:2]).startswith(_LEANS)


def _find_gap(text: str, quote: str, quoted: _Quoted, session: str, by: str) -> str:
    """Return why the quoted sentences do not say what the statement says; empty if they may."""
    said = " ".join(quoted.sentences)
    if quoted.asked:
        return QUESTION
    outside, words = content_stems(blank_cited(said)), content_stems(quote)
    if outside and words and find_share(words, outside) < _MAX_QUOTED:  # most of it is in quotation marks
        return CITED
    if has_new_value(text, f"{session}\n{said}", may_misspell=by == READER):
        return NEW_NAME
    if is_reversed(said, text, strict=by != READER):
        return REVERSED
    if by == READER:
        return ""
    known = content_stems(f"{session}\n{said}")
    is_unheard = find_share(content_stems(text), known) < _MIN_KNOWN or any(
        find_share(stems, known) < _MIN_CLAUSE for stems in split_clauses(text)
    )
    return ADDED if quoted.distance or is_unheard or adds_denial(said, text) else ""


def _asks(sentence: str, rest: str, strict: bool) -> bool:
    """Tell whether a sentence is a question, and no order or rule in the form of one.

    Args:
        sentence: The complete sentence.
        rest: What follows the quote in it; a question may follow a long statement.
        strict: Whether a sentence that begins as a question is one up to its end.
    """
    bare = sentence.strip().strip("\"'”)").casefold()
    if not bare.endswith(QUESTION_ENDS) or bare.startswith(_ORDERS):
        return False
    first, *_ = split_words(bare.replace("'", "").replace("’", "")) or [""]  # noqa: RUF001 - people write it
    if DENIED_QUESTION.match(first):  # "shouldn't that be global?" is a rule
        return False
    last = split_words(re.split(r"[,，;–—-]", bare)[-1])  # noqa: RUF001 - people write these
    is_tag = len(last) <= min(_TAG, len(split_words(rest))) and last[0] not in _OR
    if set(last[-1:]) <= _TAGS or (is_tag and first not in _ASKING):
        return False
    is_elsewhere = len(split_words(rest)) >= _FAR
    return (first in _ASKING or not is_elsewhere) if strict else (first in _ASKING and not is_elsewhere)
