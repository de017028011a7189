"""Reword a statement so that it can be understood on its own."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from told.capture.entities import find_entities
from told.capture.sentences import Sentence, count_words, split_sentences
from told.pattern import lazy_pattern

# ruff: noqa: RUF001 - punctuation of many languages

_DATA: dict[str, Any] = tomllib.loads(Path(__file__).with_name("standalone.toml").read_text(encoding="utf-8"))
_MAX_WORDS = 70  # of a text with the sentences it needs
_MAX_CONTEXT = 120  # characters
_MAX_CLAIM = 14  # words of an agent's sentence that a correction may rewrite
_SIGNS = r"\s,.!:;…\-–—，。！、：；"


def _compile(name: str) -> re.Pattern[str]:
    return lazy_pattern(_DATA[name], re.IGNORECASE)


_NEED_COMMA = frozenset(_DATA["need_comma"])
_FREE_FILLERS = "|".join(one for one in _DATA["fillers"] if one not in _NEED_COMMA)
OPENINGS = "|".join(_DATA["fillers"])  # of a sentence
_FILLER = lazy_pattern(
    rf"^[{_SIGNS}]*(?:(?:{_FREE_FILLERS})\b(?!')[{_SIGNS}]+|(?:{OPENINGS})\s?[,.!:;…–—-]+\s*"
    rf"|(?:{'|'.join(_DATA['cjk_fillers'])})[，。！、：,!]\s*)",
    re.IGNORECASE,
)
_TAIL, _HEDGE, _SWEARING = _compile("tails"), _compile("hedges"), _compile("swearing")
_LEANS, _COMPLETES, _NOT_COMPLETING = _compile("leans"), _compile("completes"), _compile("not_completing")
_SMALL_TALK, _PRONOUN, _REFERENCE = _compile("small_talk"), _compile("pronoun"), _compile("reference")
_OBJECT = _compile("object")
_FRAMES = [(lazy_pattern(pattern, re.IGNORECASE), text) for pattern, text in _DATA["frames"]]
_NOT_THIS = lazy_pattern(
    r"^(?!never |always |no |only )(?P<right>[^,，]{1,40}?)[,，]\s*"
    r"(?:not|nicht|pas|no|não|а не|不是|而不是)\s*"
    r"(?P<wrong>[^,，.。]{1,40})[.。]?$",
    re.IGNORECASE,
)
_THEIR_OWN = ((lazy_pattern(r"\bmyself\b"), "themselves"), (lazy_pattern(r"\bmy\b"), "their"))
_QUESTION = lazy_pattern(r"[?？]\s*$")
_FIRST_PERSON = lazy_pattern(r"\b(?:I|I'll|I've|I'm|let me|ich|je|yo|eu|я)\b|我", re.IGNORECASE)


def make_standalone(
    message: str, sentences: Sequence[Sentence], first: int, last: int, before: str = ""
) -> tuple[str, str]:
    """Return a text that needs no conversation, and a context line or "".

    Args:
        message: What the user typed.
        sentences: Its sentences; a cue such as `remember that` may have been cut off.
        first: The first sentence of the statement.
        last: The last one.
        before: The end of the agent's text before the message.
    """
    last = _extend(sentences, first, last)
    parts = [clean_sentence(sentence.text) for sentence in sentences[first : last + 1]]
    earlier = _find_earlier(message, sentences, first)
    context = ""
    if _is_short_correction(sentences[first].text, parts):
        return _correct(parts[0], earlier, before)
    if leans_back(parts[0]):
        parts[0], resolved = _resolve_reference(parts[0], earlier, before)
        if not resolved and earlier and _may_join(earlier, parts):
            parts.insert(0, clean_sentence(earlier))
        elif not resolved:
            context = shorten(earlier or find_last_sentence(before))
    return " ".join(filter(None, map(finish, parts))), context


def leans_back(text: str) -> bool:
    """Tell whether a sentence needs the one before it."""
    return bool(_LEANS.search(text) or _OBJECT.search(text))


def completes(text: str) -> bool:
    """Tell whether a sentence gives the reason or detail of the one before it."""
    return bool(_COMPLETES.search(text)) and not _NOT_COMPLETING.search(text)


def is_small_talk(text: str) -> bool:
    """Tell whether a sentence only greets, thanks or approves."""
    return bool(_SMALL_TALK.search(text))


def clean_sentence(text: str) -> str:
    """Return a sentence without filler, hedges, swearing and first-person frames."""
    text = " ".join(text.split())
    text = _SWEARING.sub("", text)
    while True:
        shorter = _HEDGE.sub("", _FILLER.sub("", text, count=1), count=1)
        if shorter == text or count_words(shorter) < 2:
            break
        text = shorter
    shorter = _TAIL.sub("", text)
    text = shorter if count_words(shorter) > 1 else text
    for pattern, replacement in _FRAMES:
        if pattern.match(text):
            text = pattern.sub(replacement, text, count=1)
            break
    if text.startswith("The user"):
        for own, their in _THEIR_OWN:
            text = own.sub(their, text)
    return text


def finish(text: str) -> str:
    """Return a sentence with a capital letter and a full stop."""
    text = text.strip().lstrip(",;:.!–—-，。：； ")
    if not text.endswith(("!", "?", "。", "！", "？", ".")) or text.endswith(".."):
        text = text.rstrip("….,;:-–— ")
    if not text:
        return ""
    if text[0].islower() and text.split(" ", 1)[0].replace("'", "").replace("’", "").rstrip(",").isalpha():
        text = text[0].upper() + text[1:]
    if not text.endswith((".", "!", "?", "。", "！", "？")):
        text += "。" if "\u3040" <= text[-1] <= "\u9fff" else "."
    return text


def shorten(text: str) -> str:
    """Return one line of at most 120 characters."""
    text = " ".join(text.split())
    if len(text) <= _MAX_CONTEXT:
        return text
    return text[: _MAX_CONTEXT - 1].rsplit(" ", 1)[0].rstrip(",;:") + "…"


def find_last_sentence(text: str) -> str:
    """Return the last sentence of the agent's text."""
    sentences = split_sentences(text[-600:], clauses=False, documents=True)
    return sentences[-1].text if sentences else ""


def _extend(sentences: Sequence[Sentence], first: int, last: int) -> int:
    """Return the last sentence that completes the statement."""
    words = sum(count_words(sentence.text) for sentence in sentences[first : last + 1])
    while last + 1 < len(sentences) and sentences[last + 1].line == sentences[last].line:
        words += count_words(sentences[last + 1].text)
        if words > _MAX_WORDS or not completes(sentences[last + 1].text):
            break
        last += 1
    return last


def _find_earlier(message: str, sentences: Sequence[Sentence], first: int) -> str:
    """Return the sentence before, if it is near and says something."""
    if not first:
        return ""
    earlier = sentences[first - 1]
    near = message.count("\n", earlier.end, sentences[first].start) <= 2
    return earlier.text if near and not is_small_talk(earlier.text) else ""


def _may_join(earlier: str, parts: Sequence[str]) -> bool:
    size = count_words(earlier) + sum(map(count_words, parts))
    return not _QUESTION.search(earlier) and size <= _MAX_WORDS


def _resolve_reference(text: str, earlier: str, before: str) -> tuple[str, bool]:
    """Replace `it` or `that file` by the only name mentioned before."""
    pronoun = _PRONOUN.match(text)
    reference = _REFERENCE.search(text)
    thing = _OBJECT.match(text)
    if not pronoun and not reference and not thing:
        return text, False
    names = _find_names(earlier or find_last_sentence(before))
    if len(names) != 1 or names[0] in text:
        return text, False
    if reference:
        return f"{text[: reference.start()]}{names[0]}{text[reference.end() :]}", True
    if thing:
        return f"{text[: thing.start('object')]}{names[0]}{text[thing.end('object') :]}", True
    assert pronoun is not None
    verb = " is" if pronoun.group().lower() in ("it's", "that's") else ""
    return f"{names[0]}{verb}{text[pronoun.end() :]}", True


def _find_names(text: str) -> list[str]:
    """Return the names in a text that are no part of a longer one."""
    names = find_entities(text)
    return [name for name in names if not any(name in other and name != other for other in names)]


def _is_short_correction(typed: str, parts: Sequence[str]) -> bool:
    """Tell whether a statement is only `no: X, not Y` or `no, X`."""
    opened = _FILLER.match(typed)
    short = len(parts) == 1 and count_words(parts[0]) <= 6
    return short and (
        _NOT_THIS.match(parts[0]) is not None or (opened is not None and typed[0] in "nNwW不い")
    )


def _correct(text: str, earlier: str, before: str) -> tuple[str, str]:
    """Complete a short correction with the claim that it corrects."""
    contrast = _NOT_THIS.match(text)
    claims = [sentence.text for sentence in split_sentences(before[-600:], clauses=False)]
    if contrast:
        right, wrong = contrast["right"].strip(), contrast["wrong"].strip()
        holds = re.compile(rf"(?<!\w){re.escape(wrong)}(?!\w)", re.IGNORECASE)
        hit = [claim for claim in claims if holds.search(claim)]
        if len(hit) == 1 and _is_plain_claim(hit[0], holds):
            return finish(holds.sub(f"{right} (not {wrong})", hit[0])), ""
        claims = hit or claims
    return finish(text), shorten(earlier or (claims[-1] if claims else ""))


def _is_plain_claim(claim: str, wrong: re.Pattern[str]) -> bool:
    """Tell whether a claim stays true when its wrong value is replaced."""
    plain = "," not in claim and ";" not in claim and not _FIRST_PERSON.search(claim)
    return (
        plain
        and not _QUESTION.search(claim)
        and count_words(claim) <= _MAX_CLAIM
        and len(wrong.findall(claim)) == 1
    )
