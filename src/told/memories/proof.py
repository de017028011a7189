"""Verify that a user really said what an agent, or the reader, wants to remember."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path

from told.capture.explicit import blank_cited
from told.capture.pasted import mask_pasted
from told.capture.sentences import Sentence, split_sentences
from told.conflict.reading import DENY, EMPTY, WEAK_SLOTS, Reading, load_groups, read_claim
from told.fence import remove_between, remove_fenced
from told.pattern import lazy_pattern
from told.search.tokens import (
    STOP_WORDS,
    STOP_WORDS_BY_LANGUAGE,
    canonical,
    canonical_stem,
    is_unspaced,
    tokenize,
)
from told.search.vectors.arithmetic import similarity
from told.search.vectors.table import make_vector
from told.store.memories.records import AGENT, READER

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
_MIN_CLAUSE = 0.2  # share of an agent's clause that the message or the turn before has
_CLAUSE_STEMS = 3
_MIN_PREFIX = 4  # letters that forms of one word share
_MAX_QUOTED = 0.5  # share of a quote outside quotation marks
_ALIKE = 0.8  # of the letters of two spellings of a name
_OTHER_SCRIPT = 0.3  # share of the letters by which two texts are of different scripts
_WORDS: dict[str, str | list[str]] = tomllib.loads(
    Path(__file__).with_name("proof.toml").read_text(encoding="utf-8")
)
_DENY = DENY | frozenset(str(_WORDS["deny"]).split())
_STRONG = _DENY - frozenset(str(_WORDS["limiting"]).split())
_ORDERS = tuple(_WORDS["orders"])
_TAGS = frozenset(str(_WORDS["tags"]).split())
_LEANS = tuple(_WORDS["leans"])
_ASKING = frozenset(str(_WORDS["asking"]).split())
_OR = frozenset(str(_WORDS["or"]).split())
_TAG = 3  # words after a comma that only ask for consent: "use tabs, all right?"
_FAR = 8  # words between a quote and a question mark that is not about it
_WORD = lazy_pattern(r"[^\W_]+")
_LINE = lazy_pattern(r"[^\n]+")
_GAP = lazy_pattern(r"\s*(?:\[?(?:…|\.{3,})\]?)\s*")
_CLAUSE = lazy_pattern(
    r"[.;:!?。；：！？，、]+(?=\s|$|[^\x00-\x7f])|,\s+|\s[-–—(]+\s*|\s(?:and|und|et|y|e|и)\s"  # noqa: RUF001 - people write these
)
_DIGITS = lazy_pattern(r"\d+(?:[.:]\d+)*")
_CODE = lazy_pattern(r"`([^`\n]+)`")
_CAMEL = lazy_pattern(r"(?<![A-Za-z])[A-Za-z]*[a-z][A-Z][A-Za-z0-9]*")
_DENIED_QUESTION = lazy_pattern(
    r"(?:is|are|do|does|did|was|were|should|would|could|can|must)n['’]?t\b",  # noqa: RUF001 - people write it
    re.IGNORECASE,
)
_SIGNS_OF_NAMES = frozenset("/_.@\\")
_NUMBERS = load_groups("numbers")
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
    said: str = ""  # the user's own sentences around a typed quote, on one line
    shared: float = 0.0  # what they share with the statement, if that was compared


@dataclass(frozen=True, slots=True)
class _Quoted:
    """The complete sentences and clauses around a quote."""

    typed: str  # the message without what was pasted
    sentences: tuple[str, ...]
    clauses: tuple[str, ...]
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
    parts = [part for part in map(_words, _GAP.split(quote)) if part]
    if not _is_long_enough(parts, by):
        return Proof(None, TOO_SHORT)
    messages = list(messages)
    failed = Proof(None, NOT_TYPED)
    for message in messages:
        if not all("".join(part) in _fold(message.text) for part in parts):
            continue
        quoted = _find_quoted(message.text, parts, strict=by != READER)
        if quoted is None:
            continue
        near = messages if by == READER else ()
        session = "\n".join((quoted.typed, message.before, *(f"{one.text}\n{one.before}" for one in near)))
        shared = _measure_shared(_plain(text), quote, quoted, message)
        why_not = _find_gap(_plain(text), quote, quoted, session, by) or (
            OTHER_POINT if shared < _MIN_SHARED[by] and not _may_translate(text, quoted, by) else ""
        )
        if not why_not:
            return Proof(message, "", quoted.said, shared)
        failed = Proof(message, why_not, quoted.said, shared) if failed.message is None else failed
    return failed


def _plain(text: str) -> str:
    """Return a text without invisible characters and compatibility forms."""
    text = unicodedata.normalize("NFKC", text)
    return text if text.isascii() else "".join(one for one in text if unicodedata.category(one) != "Cf")


def _words(text: str) -> list[str]:
    """Return the words in lower case; each character of an unspaced script is one."""
    found: list[str] = []
    for word in _WORD.findall(_plain(text).casefold()):
        found += list(word) if any(map(is_unspaced, word)) else [word]
    return found


@lru_cache(maxsize=256)  # the messages of a session, for each item of an answer
def _fold(text: str) -> str:
    return "".join(_words(text))


def _is_long_enough(parts: Sequence[Sequence[str]], by: str) -> bool:
    words = [word for part in parts for word in part]
    unspaced = sum(1 for word in words if is_unspaced(word[0]))
    return unspaced >= _MIN_UNSPACED[by] or len(words) - unspaced >= _MIN_WORDS[by]


def _find_quoted(message: str, parts: Sequence[Sequence[str]], *, strict: bool) -> _Quoted | None:
    """Return the complete sentences that contain the parts in order; None if one was not typed.

    Complete, because a quote may have left out a "never".
    """
    message = remove_fenced(remove_between(message))
    typed = mask_pasted(message, strict=strict)
    places = [(word, found) for found in _WORD.finditer(typed) for word in _words(found[0])]
    words, place = [word for word, _ in places], 0
    spans = []
    for part in parts:
        at = _find_run(words, part, place)
        if at < 0:
            return None
        place = at + len(part)
        spans.append((places[at][1].start(), places[place - 1][1].end()))
    sentences = split_sentences(message, clauses=False)
    chosen = _choose(sentences, spans)
    if not chosen:
        lines = [found[0] for found in _LINE.finditer(typed) if _touches(found.span(), spans)]
        return _Quoted(typed, tuple(lines), tuple(lines), " ".join(" ".join(lines).split()), 0, asked=False)
    clauses = split_sentences(message)
    headings = dict.fromkeys(sentences[at].heading for at in chosen if sentences[at].heading)
    texts = [sentences[at].text for at in chosen]
    lean = [sentences[chosen[0] - 1].text] if chosen[0] and _leans(texts[0]) else []
    return _Quoted(
        typed,
        (*headings, *texts),
        tuple(clauses[at].text for at in _choose(clauses, spans)),
        " ".join(" ".join((*headings, *lean, *texts)).split()),
        chosen[-1] - chosen[0] + 1 - len(chosen),
        all(_asks(sentences[at].text, message[spans[-1][1] : sentences[at].end], strict) for at in chosen),
    )


def _choose(sentences: Sequence[Sentence], spans: Sequence[tuple[int, int]]) -> list[int]:
    return [at for at, one in enumerate(sentences) if _touches((one.start, one.end), spans)]


def _touches(one: tuple[int, int], spans: Sequence[tuple[int, int]]) -> bool:
    return any(one[0] < end and start < one[1] for start, end in spans)


def _leans(sentence: str) -> bool:
    """Tell whether a sentence begins with a word that points back."""
    return " ".join(_words(sentence)[:2]).startswith(_LEANS)


def _find_run(words: Sequence[str], wanted: Sequence[str], start: int) -> int:
    """Return where words stand one after the other, or -1."""
    for at in range(start, len(words) - len(wanted) + 1):
        if words[at] == wanted[0] and list(words[at : at + len(wanted)]) == list(wanted):
            return at
    return -1


def _find_gap(text: str, quote: str, quoted: _Quoted, session: str, by: str) -> str:
    """Return why the quoted sentences do not say what the statement says; empty if they may."""
    said = " ".join(quoted.sentences)
    if quoted.asked:
        return QUESTION
    if _is_cited(said, quote):
        return CITED
    if _has_new_value(text, f"{session}\n{said}", may_misspell=by == READER):
        return NEW_NAME
    if _is_reversed(said, text, by):
        return REVERSED
    if by == READER:
        return ""
    known = content_stems(f"{session}\n{said}")
    is_unheard = any(_share(stems, known) < _MIN_CLAUSE for stems in _clause_stems(text))
    return ADDED if quoted.distance or is_unheard or _adds_denial(said, text) else ""


def _may_translate(text: str, quoted: _Quoted, by: str) -> bool:
    """Tell whether the reader says in another language what the user said."""
    return by == READER and _differ_in_language(text, " ".join(quoted.sentences))


def _asks(sentence: str, rest: str, strict: bool) -> bool:
    """Tell whether a sentence is a question, and no order or rule in the form of one.

    Args:
        sentence: The complete sentence.
        rest: What follows the quote in it; a question may follow a long statement.
        strict: Whether a sentence that begins as a question is one up to its end.
    """
    bare = sentence.strip().strip("\"'”)").casefold()
    if not bare.endswith(_QUESTION_ENDS) or bare.startswith(_ORDERS):
        return False
    first, *_ = _words(bare.replace("'", "").replace("’", "")) or [""]  # noqa: RUF001 - people write it
    if _DENIED_QUESTION.match(first):  # "shouldn't that be global?" is a rule
        return False
    last = _words(re.split(r"[,，;–—-]", bare)[-1])  # noqa: RUF001 - people write these
    is_tag = len(last) <= min(_TAG, len(_words(rest))) and last[0] not in _OR
    if set(last[-1:]) <= _TAGS or (is_tag and first not in _ASKING):
        return False
    is_elsewhere = len(_words(rest)) >= _FAR
    return (first in _ASKING or not is_elsewhere) if strict else (first in _ASKING and not is_elsewhere)


def _is_cited(said: str, quote: str) -> bool:
    """Tell whether most of a quote stands in quotation marks, and other words outside of them."""
    outside, quoted = content_stems(blank_cited(said)), content_stems(quote)
    return bool(outside and quoted) and _share(quoted, outside) < _MAX_QUOTED


def _has_new_value(text: str, around: str, *, may_misspell: bool) -> bool:
    """Tell whether a statement has a number, path, command or identifier that nobody mentioned.

    The reader may correct a name; to an agent, a package with a similar name is another one.
    """
    known = _fold(around)
    numbers = {*_DIGITS.findall(around), *(_NUMBERS.get(word, "") for word in _words(around))}
    if any(number not in numbers and number not in known for number in _DIGITS.findall(text)):
        return True
    names = [name for code in _CODE.findall(text) for name in code.split()]
    names += [
        word for word in text.split() if _SIGNS_OF_NAMES.intersection(word.strip("`'\"()[]{}*<>.,:;!?"))
    ]
    names += _CAMEL.findall(text)
    for name in names:
        words = _words(name)
        new = [one for one in words if len(one) > 1 and one not in known and canonical(one) not in known]
        if "".join(words) not in known and new and not (may_misspell and _is_misspelt("".join(new), around)):
            return True
    return any(_mixes_scripts(word) and word not in known for word in _words(text))


def _is_misspelt(name: str, around: str) -> bool:
    return not name.isdecimal() and bool(get_close_matches(name, _words(around), 1, _ALIKE))


def _mixes_scripts(word: str) -> bool:
    scripts = {unicodedata.name(char, "?").split()[0] for char in word if char.isalpha()}
    return "LATIN" in scripts and bool(scripts & {"CYRILLIC", "GREEK"})


def _measure_shared(text: str, quote: str, quoted: _Quoted, message: Message) -> float:
    """Measure what a statement shares with the quote, in words and meaning, and with what is around it."""
    wanted, own = content_stems(text), content_stems(quote)
    if not wanted or not own:
        return 0.0
    near = own | content_stems(" ".join(quoted.clauses)) | content_stems(quoted.typed)
    one, other = make_vector(text), make_vector(quote)
    return (
        _share(wanted, own)
        + _share(own, wanted)
        + _share(wanted, near)
        + _share(wanted, near | content_stems(message.before))
        + (similarity(one, other) if one and other else 0.0)
    )


def _clause_stems(text: str) -> Iterator[frozenset[str]]:
    for clause in _CLAUSE.split(text):
        stems = content_stems(clause)
        if len(stems) >= _CLAUSE_STEMS:
            yield stems


@lru_cache(maxsize=64)
def content_stems(text: str) -> frozenset[str]:
    """Return the stems of the words that carry a text's meaning."""
    found = set()
    for line in text.splitlines():
        for start in range(0, len(line), 600):  # `tokenize` reads only the beginning of a long text
            for token in tokenize(line[start : start + 600].casefold()):
                word = token.strip("`'\"()[]{}*_<>.,:;!?")
                if any(map(str.isalnum, word)) and word not in STOP_WORDS and word not in EMPTY | _DENY:
                    found.add(canonical_stem(word))
    return frozenset(found)


def _share(wanted: frozenset[str], known: frozenset[str]) -> float:
    return sum(_has(known, stem) for stem in wanted) / len(wanted)


def _has(known: frozenset[str], stem: str) -> bool:
    """Tell whether a stem, another form of it, or a name that contains it is known."""
    if stem in known or any(stem in _WORD.findall(one) for one in known if not one.isalnum()):
        return True
    is_word = len(stem) >= _MIN_PREFIX and stem.isalpha()
    return is_word and any(
        one.startswith(stem) or (len(one) >= _MIN_PREFIX and stem.startswith(one)) for one in known
    )


def _is_reversed(said: str, text: str, by: str) -> bool:
    """Tell whether the statement clearly affirms what was denied, or denies what was affirmed.

    A statement with other words may be a rewording: "must not exceed 80" against "keep below 80".
    """
    if said.rstrip().endswith(_QUESTION_ENDS) and _DENIED_QUESTION.match(said):
        return False
    before, now = read_claim(said), read_claim(text)
    turned = (before.denied - before.affirmed) & now.affirmed
    swapped = (now.denied - now.affirmed) & (before.affirmed - before.denied)
    known = before.affirmed | before.denied
    was_denied, is_denied = _denies(said), _denies(text)
    content = {stem for stem in now.affirmed | now.denied if stem not in _DENY}
    if by != READER:
        if _has_other_value(before.reading, now.reading):
            return True
        was_denied = not before.denied.isdisjoint(content) if before.denied else _denies(said, _STRONG)
        if now.denied:  # a denial of something new turns nothing round
            is_denied = any(_has(known, stem) for stem in now.denied)
            content -= set() if is_denied else now.denied
    if was_denied == is_denied:
        found = turned | swapped if turned and swapped else frozenset()
    else:
        found = turned if was_denied else swapped
    new = sum(not _has(known, stem) for stem in content)
    return bool(found) and (not new or (by != READER and new < len(found) and len(found) * 2 > len(content)))


def _has_other_value(before: Reading, now: Reading) -> bool:
    """Tell whether a statement names another value of one kind: MySQL instead of Postgres."""
    return any(
        slot not in WEAK_SLOTS and values.isdisjoint(before.values[slot])
        for slot, values in now.values.items()
        if slot in before.values
    )


def _adds_denial(said: str, text: str) -> bool:
    """Tell whether a statement repeats the quoted sentences and denies something else."""
    now, known = read_claim(text), content_stems(said)
    return len(now.denied) > 1 and all(
        _has(known, stem) == (stem not in now.denied) for stem in content_stems(text)
    )


def _denies(text: str, denying: frozenset[str] = _DENY) -> bool:
    words = {token.strip("`'\"()[]*_") for token in tokenize(text.casefold())}
    return not words.isdisjoint(denying) or any("n't" in word for word in words)


def _differ_in_language(one: str, other: str) -> bool:
    first, second = _find_languages(one), _find_languages(other)
    return bool(first and second) and first.isdisjoint(second)


def _find_languages(text: str) -> frozenset[str]:
    """Return the languages a text may be in: its script, or those with most of its stop words."""
    letters = [char for char in text if char.isalpha()]
    scripts = [unicodedata.name(char, "?").split()[0] for char in letters if not char.isascii()]
    foreign = [script for script in scripts if script != "LATIN"]
    if len(foreign) > _OTHER_SCRIPT * len(letters):
        return frozenset(foreign)
    words = _words(text)
    hits = {name: sum(word in known for word in words) for name, known in STOP_WORDS_BY_LANGUAGE.items()}
    most = max(hits.values())
    return frozenset(name for name, count in hits.items() if count == most and most)
