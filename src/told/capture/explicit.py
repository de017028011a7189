"""Find what a user teaches in so many words: remember that, from now on, never."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from told.capture.pasted_lines import ENDORSES
from told.capture.sentences import Sentence, count_words, has_cjk, split_sentences
from told.pattern import lazy_pattern

# ruff: noqa: RUF001 - punctuation of many languages

REST, LIST, BACK = "rest", "list", "back"  # what a cue makes told read
REQUESTS = frozenset(("request", "point", "list", "todo"))  # cues by which the user asks to remember
QUESTION, ONE_OFF, AGENT = "question", "one_off", "agent"  # guards of every cue
_MAX_SENTENCES = 400  # of a message
_MAX_WORDS = 70  # of a statement with its neighbours
_MIN_WORDS = 3  # of a statement
_MIN_REST = 2  # words that follow `remember that`
_MAX_GAP = 2  # line breaks between a sentence and the one that it leans on
_WORD = lazy_pattern(r"[^\W_]+(?:'[^\W_]+)?")
_SIGNS = " .!。！：:,?？;–—-"
_QUOTED = lazy_pattern(
    r"“[^”\n]{3,600}”|«[^»\n]{3,600}»|„[^“”\n]{3,600}[“”]|(?<!\w)\"[^\"\n]{3,600}\"|(?<!\w)'[^'\n]{12,300}'(?!\w)"
    r"|「[^」\n]{3,600}」|`[^`\n]{1,200}`"
)
_DATA: dict[str, Any] = tomllib.loads(Path(__file__).with_name("explicit.toml").read_text(encoding="utf-8"))
_PARTS: dict[str, str] = _DATA["parts"]
_OPENINGS = rf"(?:(?:{_PARTS['openings']})\b[\s,.!:;–—-]*)*"
_BEGINS = {
    "clause": rf"(?:^|[,;:!.…–—]\s*|\s-+\s|\b(?:{_PARTS['and']})\s){_OPENINGS}",
    "sentence": rf"^(?:[^,.:;!?]{{1,30}}[,:!–—-]\s)?{_OPENINGS}",
    "anywhere": r"(?:(?<=\W)|^)",
}
_BEGINS_CJK = rf"(?:^|[，。,：:；\s！!、]|{_PARTS['cjk_openings']})"


@dataclass(frozen=True, slots=True)
class Cue:
    """Words by which a user teaches."""

    name: str
    words: tuple[tuple[frozenset[str], ...], ...]  # groups of any of them
    signs: tuple[str, ...]
    pattern: re.Pattern[str]  # the group `start` is where the cue begins
    cjk: re.Pattern[str]
    needs: re.Pattern[str] | None
    guards: tuple[str, ...]
    read: str
    kind: str
    mark: str

    @property
    def is_request(self) -> bool:
        """Tell whether the user asks for something to be remembered."""
        return self.name in REQUESTS

    def may_be_in(self, words: frozenset[str], text: str) -> bool:
        """Tell whether a text has the words that the cue needs."""
        for groups in self.words:
            if not any(map(words.isdisjoint, groups)):
                return True
        return not text.isascii() and any(sign in text for sign in self.signs)


@dataclass(frozen=True, slots=True)
class Reading:
    """A cue in a sentence, and the guard that stopped it, if any."""

    sentence: Sentence
    cue: Cue
    guard: str = ""


@dataclass(frozen=True, slots=True)
class Explicit:
    """One thing that a user taught in so many words."""

    text: str
    quote: str
    cue: Cue
    start: int  # of the quote in the message
    end: int
    leans: bool = False  # it cannot be understood without what was said before the message

    @property
    def kind(self) -> str:
        """Return the kind: rule, decision or fact."""
        return self.cue.kind or find_kind(self.text) or "fact"

    @property
    def scope(self) -> str:
        """Return `global` only if the words say so."""
        return "global" if _GLOBAL.search(self.text) else "project"


def _compile(pattern: str | list[str]) -> re.Pattern[str]:
    """Compile a pattern; phrases of a list start with a word."""
    if isinstance(pattern, list):
        pattern = "|".join(rf"\b{one}" if one[0].isascii() and one[0].isalpha() else one for one in pattern)
    return lazy_pattern(pattern, re.IGNORECASE)


def _make_cue(name: str, table: dict[str, Any]) -> Cue:
    spaced = "|".join(table["patterns"])
    for part in ("name", "verb", "states", "frames", "that", "opening"):
        spaced = spaced.replace(f"{{{part}}}", _PARTS[part])
    cjk = "|".join(table.get("cjk", ())) or "(?!)"
    begins_cjk = _BEGINS_CJK if table.get("read") in (REST, LIST) or table.get("at") == "anywhere" else ""
    return Cue(
        name,
        tuple(tuple(frozenset(group.split()) for group in one.split("+")) for one in table["words"]),
        tuple(table.get("signs", "").split()),
        _compile(f"{_BEGINS[table.get('at', 'clause')]}(?P<start>{spaced})"),
        _compile(f"{begins_cjk}(?P<start>{cjk})"),
        _compile(_DATA["needs"][table["needs"]]) if "needs" in table else None,
        tuple(table.get("guards", ())),
        table.get("read", ""),
        table.get("kind", ""),
        table.get("mark", ""),
    )


_CUES = tuple(_make_cue(name, table) for name, table in _DATA["cues"].items())
_GUARDS = {name: _compile(pattern) for name, pattern in _DATA["guards"].items()}
_TASKS, _ASKING = (frozenset(_DATA[name]["starts"].split()) for name in ("tasks", "questions"))
_ENDS, _POLITE, _TAG = (_compile(_DATA["questions"][name]) for name in ("ends", "polite", "tag"))
_LEANS, _OBJECT, _COMPLETES, _NOT_COMPLETING = map(_compile, _DATA["neighbours"].values())
_DECISION, _RULE = (_compile(_DATA["kinds"][name]) for name in ("decision", "rule"))
_GLOBAL = _compile(_DATA["scopes"]["global"])


def find_explicit(message: str, before: str = "") -> list[Explicit]:
    """Return what a message teaches explicitly, in its order.

    Args:
        message: The text the user typed in one prompt.
        before: The end of the agent's text before it; what is copied from there is not the user's word.
    """
    readings = read_cues(message, before)
    if not readings:
        return []
    sentences = split_sentences(message, clauses=False)[:_MAX_SENTENCES]
    cues = {one.sentence.start: one for one in readings}
    found: list[Explicit] = []
    taken: set[int] = set()
    for place, sentence in enumerate(sentences):
        reading = cues.get(sentence.start)
        if reading is None or reading.guard:
            continue
        for first, last in _choose_sentences(sentences, place, reading.cue):
            if taken.isdisjoint(range(first, last + 1)):
                taken.update(range(first, last + 1))
                found.append(_make_explicit(message, sentences[first : last + 1], reading.cue))
    return sorted(found, key=lambda one: one.start)


def read_cues(message: str, before: str = "") -> list[Reading]:
    """Return the sentences with a cue, and what stopped it."""
    text = message.replace("’", "'").lower()
    cues = _find_possible(_CUES, text)
    if not cues:
        return []
    said = _squeeze(before)
    blank = blank_quotations(message)
    found = []
    for sentence in split_sentences(message, clauses=False)[:_MAX_SENTENCES]:
        own = text[sentence.start : sentence.end]
        reading = _read_sentence(cues, sentence, blank[sentence.start : sentence.end], own)
        if reading and not reading.guard and count_words(own) > _MIN_WORDS and _squeeze(own) in said:
            reading = replace(reading, guard=AGENT)
        found += [reading] if reading else []
    return found


def _squeeze(text: str) -> str:
    return " ".join(_WORD.findall(text.lower()))


def _find_possible(cues: Sequence[Cue], text: str) -> list[Cue]:
    words = frozenset(_WORD.findall(text))
    return [cue for cue in cues if cue.may_be_in(words, text)]


def _read_sentence(cues: Sequence[Cue], sentence: Sentence, blank: str, own: str) -> Reading | None:
    """Return the first cue of a sentence that no guard stops; else the first one."""
    stopped = None
    if _is_endorsed(sentence.text):
        return Reading(sentence, next(cue for cue in _CUES if cue.read == REST))
    for cue in _find_possible(cues, own):
        for match in _find_matches(cue, blank):
            guard = _find_guard(cue, blank, match)
            if guard is None:
                continue
            if not guard:
                return Reading(sentence, cue)
            stopped = stopped or Reading(sentence, cue, guard)
    return stopped


def _find_matches(cue: Cue, blank: str) -> Iterator[re.Match[str]]:
    yield from cue.pattern.finditer(blank)
    if has_cjk(blank):
        yield from cue.cjk.finditer(blank)


def _find_guard(cue: Cue, blank: str, match: re.Match[str]) -> str | None:
    """Return the guard that stops a cue, "" if none does, None if it is no cue here."""
    start = match.start("start")
    lead, rest = blank[:start], blank[match.end() :]
    if cue.read in (REST, BACK) and _GUARDS["not_me"].search(lead):
        return None
    if cue.read == LIST:
        return None if rest.strip() else ""
    if cue.read == BACK and rest.strip(_SIGNS):
        return None
    if _asks(blank) and not _POLITE.match(blank[start:]):
        return QUESTION
    is_announced = cue.read == REST and not rest.strip(_SIGNS)
    if is_announced:
        return ""
    content = (
        rest
        if cue.read == REST
        else lead
        if cue.read == BACK
        else f"{lead} {rest}"
        if cue.name == "henceforth"
        else blank
    )
    if _GUARDS[ONE_OFF].search(content):
        return ONE_OFF
    if cue.read == REST and count_words(rest.replace("°", "x")) < _MIN_REST:
        return "few_words"
    if cue.needs and not cue.needs.search(rest):
        return "one_off"
    return next((name for name in cue.guards if _stops(name, cue, content)), "")


def _stops(guard: str, cue: Cue, content: str) -> bool:
    if guard == "few_words":
        least = _MIN_REST if cue.name == "henceforth" else _MIN_WORDS
        return count_words(content.replace("°", "x")) < least
    if guard == "task_follows":
        return is_task(content.strip(_SIGNS)) or bool(_GUARDS["progress"].search(content.strip()))
    return bool(_GUARDS[guard].search(content))


def is_task(text: str) -> bool:
    """Tell whether a text begins like a request for work."""
    words = _WORD.findall(text.lower())
    return bool(words) and (words[0] in _TASKS or bool(_GUARDS["cjk_task"].match(text)))


def _asks(blank: str) -> bool:
    if _TAG.search(blank):
        return False
    words = _WORD.findall(blank.replace("°", "x").lower())
    if words[:2] == ["do", "not"]:
        return bool(_ENDS.search(blank))
    return bool(_ENDS.search(blank)) or bool(words and words[0] in _ASKING)


def _choose_sentences(sentences: Sequence[Sentence], place: int, cue: Cue) -> list[tuple[int, int]]:
    """Return the first and last sentence of what a cue makes told keep."""
    own = sentences[place].text
    if cue.read == LIST:
        return _find_items(sentences, place)
    if cue.read == BACK:
        match = next(_find_matches(cue, blank_quotations(own)))
        content, tail = own[: match.start("start")], match.groupdict().get("tail")
        if count_words(content) >= _MIN_WORDS and not is_small_talk(content.strip(_SIGNS)):
            return [(place, place)]
        if (
            not own.rstrip().endswith((":", "：", ","))
            and place
            and _says_something(sentences[place - 1].text)
        ):
            return [(place - 1, place if tail else place - 1)]
        return [] if tail else _find_items(sentences, place)
    if cue.read == REST and not any(
        one.end() < len(own.rstrip(_SIGNS)) for one in _find_matches(cue, blank_quotations(own))
    ):
        return _find_items(sentences, place) if not _is_endorsed(own) else [(place, place)]
    return [(_find_first(sentences, place, cue), _find_last(sentences, place, cue))]


def _find_items(sentences: Sequence[Sentence], place: int) -> list[tuple[int, int]]:
    """Return the list or the paragraph that a cue such as `Remember:` announces."""
    found: list[tuple[int, int]] = []
    for at in range(place + 1, len(sentences)):
        if not sentences[at].item:
            break
        if sentences[at].line != sentences[at - 1].line:
            found.append((at, at))
        elif found:
            found[-1] = (found[-1][0], at)
    if found or place + 1 == len(sentences) or is_work(sentences[place + 1].text):
        return found
    last = place + 1
    while (
        last + 1 < len(sentences)
        and sentences[last + 1].line == sentences[last].line
        and not is_work(sentences[last + 1].text)
        and _fits(sentences[place + 1 : last + 2])
    ):
        last += 1
    return [(place + 1, last)]


def _find_first(sentences: Sequence[Sentence], place: int, cue: Cue) -> int:
    """Return the sentence before if a sentence leans on it."""
    if place and _leans(sentences[place].text, cue) and _is_near(sentences, place):
        return place - 1
    return place


def _is_near(sentences: Sequence[Sentence], place: int) -> bool:
    earlier = sentences[place - 1]
    return (
        sentences[place].line - earlier.line <= 1
        and _says_something(earlier.text)
        and _fits(sentences[place - 1 : place + 1])
    )


def _find_last(sentences: Sequence[Sentence], place: int, cue: Cue) -> int:
    """Return the last sentence that completes a statement: a reason or a detail."""
    last = place
    while last + 1 < len(sentences) and sentences[last + 1].line == sentences[place].line:
        following = sentences[last + 1].text
        goes_on = cue.name == "request" and last == place
        if (
            is_work(following)
            or not (goes_on or completes(following))
            or not _fits(sentences[place : last + 2])
        ):
            break
        blank = blank_quotations(following)
        other = _read_sentence(_CUES, sentences[last + 1], blank, blank.lower())
        if other and not other.guard:
            break
        last += 1
    return last


def _fits(sentences: Sequence[Sentence]) -> bool:
    return sum(count_words(one.text) for one in sentences) <= _MAX_WORDS


def _leans(text: str, cue: Cue) -> bool:
    if cue.read == REST:
        match = next(_find_matches(cue, blank_quotations(text)), None)
        text = text[match.end() :].strip(_SIGNS) if match else text
    return leans_back(text)


def _make_explicit(message: str, own: Sequence[Sentence], cue: Cue) -> Explicit:
    start, end = own[0].start, own[-1].end
    leans = not (len(own) > 1 and own[0].line == own[-1].line) and _leans(own[0].text, cue)
    text = " ".join(" ".join(one.text.split()) for one in own)
    return Explicit(text, message[start:end], cue, start, end, leans)


def find_kind(text: str) -> str:
    """Return the kind that a statement's words show: rule, decision or ""."""
    if _DECISION.search(text):
        return "decision"
    return "rule" if _RULE.search(text) else ""


def blank_quotations(text: str) -> str:
    """Replace quotations and code by signs; the length stays the same."""
    return _QUOTED.sub(lambda quoted: "°" * len(quoted.group()), text.replace("’", "'"))


def _is_endorsed(sentence: str) -> bool:
    """Tell whether a sentence asks to remember a quotation: `Make this a rule: "…"`."""
    request, colon, rest = sentence.partition(":")
    quoted = _QUOTED.fullmatch(rest.strip(" .!")) if colon else None
    return bool(quoted and quoted[0][0] != "`" and ENDORSES.search(request + colon))


def blank_cited(text: str) -> str:
    """Blank the quotations in a text, except for one that it asks to remember; code is no quotation."""
    endorsed = any(_is_endorsed(one.text) for one in split_sentences(text, clauses=False))
    return text if endorsed else _QUOTED.sub(lambda one: one[0] if one[0][0] == "`" else " ", text)


def leans_back(text: str) -> bool:
    """Tell whether a sentence needs the one before it."""
    return bool(_LEANS.search(text) or _OBJECT.search(text))


def completes(text: str) -> bool:
    """Tell whether a sentence gives the reason or detail of the one before it."""
    return bool(_COMPLETES.search(text)) and not _NOT_COMPLETING.search(text)


def is_small_talk(text: str) -> bool:
    """Tell whether a sentence only greets, thanks or approves."""
    return bool(_GUARDS["small_talk"].search(text))


def is_work(text: str) -> bool:
    """Tell whether a sentence asks for work, asks a question or reports progress."""
    return (
        not count_words(text)
        or is_task(text)
        or _asks(text)
        or bool(_GUARDS["progress"].search(text) or _GUARDS[ONE_OFF].search(text))
        or is_small_talk(text)
    )


def _says_something(text: str) -> bool:
    return not _ENDS.search(text) and not is_small_talk(text)
