"""Verify that a user really said what an agent wants to remember."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from told.capture.explicit import blank_cited
from told.capture.pasted import mask_pasted
from told.capture.sentences import split_sentences
from told.conflict.reading import DENY, EMPTY, Claim, read_claim
from told.fence import remove_between, remove_fenced
from told.pattern import lazy_pattern
from told.search.tokens import STOP_WORDS, canonical_stem, is_unspaced, tokenize

# Why a statement is not the user's word.
NO_QUOTE = "no quote of the user's words was given"
NO_SESSION = "this session is not known to told"
NOT_TYPED = "the user did not type the quote in this session"
TOO_SHORT = "the quote is too short to prove it"
QUESTION = "the quote is a question"
OTHER_POINT = "the quote does not say that"
REVERSED = "the quote says the opposite"
CITED = "the user only cites the quote"

_MIN_WORDS = 3  # of a quote
_MIN_UNSPACED = 4  # characters of a quote in Chinese or Japanese
_MIN_KNOWN = 0.6  # share of the statement's words that come from the message or the turn before
_MIN_QUOTED = 0.25  # share of them that the quote itself has
_MIN_PREFIX = 4  # letters that forms of one word share
_WORDS: dict[str, str | list[str]] = tomllib.loads(
    Path(__file__).with_name("proof.toml").read_text(encoding="utf-8")
)
_DENY = DENY | frozenset(str(_WORDS["deny"]).split())
_ORDERS = tuple(_WORDS["orders"])
_TAGS = frozenset(str(_WORDS["tags"]).split())
_WORD = lazy_pattern(r"[^\W_]+")
_LINE = lazy_pattern(r"[^\n]+")
_GAP = lazy_pattern(r"\s*(?:\[?(?:…|\.{3,})\]?)\s*")
_QUESTION_ENDS = ("?", "？")  # noqa: RUF001 - people write these


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
    said: str = ""  # the user's own sentences around a quote that was typed


def prove(text: str, quote: str, messages: Iterable[Message], by: str = "agent") -> Proof:  # noqa: ARG001,D417
    """Check that the user typed a quote, and that it carries the statement.

    Args:
        text: The statement, in an agent's words.
        quote: The user's words; parts may be left out with "…".
        messages: What the user typed in the session, the latest first.
    """
    if not any(map(str.isalnum, quote)):
        return Proof(None, NO_QUOTE)
    parts = [part for part in map(_words, _GAP.split(quote)) if part]
    if not _is_long_enough(parts):
        return Proof(None, TOO_SHORT)
    failed = Proof(None, NOT_TYPED)
    for message in messages:
        typed = mask_pasted(remove_fenced(remove_between(message.text)))
        sentences = _quoted_sentences(typed, parts)
        if not sentences:
            continue
        why_not = _find_gap(text, quote, sentences, f"{typed}\n{message.before}")
        if not why_not:
            return Proof(message)
        failed = Proof(message, why_not) if failed.message is None else failed
    return failed


def _words(text: str) -> list[str]:
    """Return the words in lower case; each character of an unspaced script is one."""
    found: list[str] = []
    for word in _WORD.findall(unicodedata.normalize("NFKC", text).casefold()):
        found += list(word) if any(map(is_unspaced, word)) else [word]
    return found


def _is_long_enough(parts: Sequence[Sequence[str]]) -> bool:
    words = [word for part in parts for word in part]
    unspaced = sum(1 for word in words if is_unspaced(word[0]))
    return unspaced >= _MIN_UNSPACED or len(words) - unspaced >= _MIN_WORDS


def _quoted_sentences(typed: str, parts: Sequence[Sequence[str]]) -> list[str]:
    """Return the complete sentences that contain the parts in order; none if one is missing.

    Complete, because a quote may have left out a "never".
    """
    places = [(word, found) for found in _WORD.finditer(typed) for word in _words(found[0])]
    words, place = [word for word, _ in places], 0
    spans = []
    for part in parts:
        at = _find_run(words, part, place)
        if at < 0:
            return []
        place = at + len(part)
        spans.append((places[at][1].start(), places[place - 1][1].end()))
    sentences = [(one.start, one.end) for one in split_sentences(typed)]
    lines = [found.span() for found in _LINE.finditer(typed)]
    chosen: dict[tuple[int, int], None] = {}
    for start, end in spans:
        covering = [one for one in sentences if one[0] < end and start < one[1]]
        chosen |= dict.fromkeys(covering or [one for one in lines if one[0] < end and start < one[1]])
    return [typed[start:end] for start, end in chosen]


def _find_run(words: Sequence[str], wanted: Sequence[str], start: int) -> int:
    """Return where words stand one after the other, or -1."""
    for at in range(start, len(words) - len(wanted) + 1):
        if words[at] == wanted[0] and list(words[at : at + len(wanted)]) == list(wanted):
            return at
    return -1


def _find_gap(text: str, quote: str, sentences: Sequence[str], around: str) -> str:
    """Return why the quoted sentences do not say what the statement says; empty if they do."""
    said = " ".join(sentences)
    if all(map(_asks, sentences)):
        return QUESTION
    wanted = content_stems(text)
    quoted, known = content_stems(quote), content_stems(f"{said}\n{around}")
    if not wanted or not quoted:
        return OTHER_POINT
    if _share(wanted, quoted) < _MIN_QUOTED or _share(wanted, known | quoted) < _MIN_KNOWN:
        return OTHER_POINT
    if not _share(wanted, content_stems(blank_cited(said))):
        return CITED
    if any(_is_value(stem) and not _has(known, stem) for stem in wanted):
        return OTHER_POINT  # a name or a number that nobody mentioned
    return REVERSED if _is_reversed(said, text) else ""


def _asks(sentence: str) -> bool:
    bare = sentence.strip().strip("\"'”)").casefold()
    last = set(_words(re.split(r"[,，;–—-]", bare)[-1]))  # noqa: RUF001 - people write these
    return bare.endswith(_QUESTION_ENDS) and not bare.startswith(_ORDERS) and not last <= _TAGS


def content_stems(text: str) -> set[str]:
    """Return the stems of the words that carry a text's meaning."""
    found = set()
    for line in text.splitlines():
        for start in range(0, len(line), 600):  # `tokenize` reads only the beginning of a long text
            for token in tokenize(line[start : start + 600].casefold()):
                word = token.strip("`'\"()[]{}*_<>.,:;!?")
                if any(map(str.isalnum, word)) and word not in STOP_WORDS and word not in EMPTY | _DENY:
                    found.add(canonical_stem(word))
    return found


def _share(wanted: set[str], known: set[str]) -> float:
    return sum(_has(known, stem) for stem in wanted) / len(wanted)


def _has(known: set[str], stem: str) -> bool:
    """Tell whether a stem, another form of it, or a name that contains it is known."""
    if stem in known or any(stem in _WORD.findall(one) for one in known if not one.isalnum()):
        return True
    is_word = len(stem) >= _MIN_PREFIX and stem.isalpha()
    return is_word and any(
        one.startswith(stem) or (len(one) >= _MIN_PREFIX and stem.startswith(one)) for one in known
    )


def _is_value(stem: str) -> bool:
    return any(map(str.isdigit, stem))


def _is_reversed(said: str, text: str) -> bool:
    """Tell whether the statement affirms what was denied, or denies what was affirmed."""
    before, now = read_claim(said), read_claim(text)
    turned = (before.denied - before.affirmed) & now.affirmed
    if turned and (not _denies(text) or now.denied & (before.affirmed - before.denied)):
        return True
    return bool(_newly_denied(before, now)) and not _denies(said)


def _newly_denied(before: Claim, now: Claim) -> frozenset[str]:
    return (now.denied - now.affirmed) & (before.affirmed - before.denied)


def _denies(text: str) -> bool:
    words = {token.strip("`'\"()[]*_") for token in tokenize(text.casefold())}
    return not words.isdisjoint(_DENY) or any("n't" in word for word in words)
