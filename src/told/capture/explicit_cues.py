"""Find the cue of a sentence that teaches, and check it against guards."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from told.capture.cues import has_cjk
from told.capture.explicit_grammar import (
    BASE_FORMS,
    CUES,
    GUARDS,
    NOT_HABITS,
    NOT_ORDERS,
    QUESTION_STARTS,
    QUOTED,
    TASK_STARTS,
    find_matches,
)
from told.capture.sentences import count_words
from told.capture.standalone import OPENINGS, is_small_talk
from told.pattern import lazy_pattern

# ruff: noqa: RUF001 - punctuation of many languages

MIN_WORDS = 3  # of a statement
_NAME = lazy_pattern(r"[A-Z0-9_./`°-]")
_WORD = lazy_pattern(r"[\w'’°-]+")
_ENDS_IN_OPENING = lazy_pattern(rf"(?:^|\W)(?:{OPENINGS})$", re.IGNORECASE)
_NOT_ME = lazy_pattern(
    r"\b(?:i|you|we|they|he|she|user|users|to|not|don't|can't|doesn't|didn't|should|must|will) "
    r"(?:still |also |always )?$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Cue:
    """A cue in a sentence, and which part of the sentence it keeps."""

    name: str
    start: int  # of what is kept, in the sentence
    end: int
    quote: int = 0  # where the quote starts
    points: str = ""  # back or ahead, where the sentence itself says nothing
    chosen: str = ""  # a name that the agent must have offered


def blank_quotations(text: str) -> str:
    """Replace quotations and code by signs; the length stays the same."""
    return QUOTED.sub(lambda quoted: "°" * len(quoted.group()), text.replace("’", "'"))


def find_cue(blank: str) -> Cue | None:
    """Return the cue of a sentence that passes its guards."""
    pointing = _find_pointing(blank)
    if pointing:
        return pointing
    for name in CUES:
        if name == "point":
            continue
        for match in find_matches(name, blank):
            cue = _READERS[name](name, blank, match)
            if cue:
                return cue
    return None


def _find_pointing(blank: str) -> Cue | None:
    """Return a cue that ends a sentence and means what is before or after it."""
    if GUARDS["question_ends"].search(blank) and not GUARDS["polite_question"].match(blank):
        return None
    for match in find_matches("point", blank):
        start = match.start("start")
        if blank[match.end() :].strip(" .!。！:：,?？"):
            continue
        tail = next(
            (value for key, value in match.groupdict().items() if key.startswith("tail") and value), ""
        )
        content = blank[:start].strip(" ,;:.-–—，、")
        if _NOT_ME.search(blank[:start]):
            continue
        if count_words(content) >= MIN_WORDS and not is_small_talk(content):
            return None if GUARDS["one_off"].search(content) else Cue("point", 0, start)
        if blank.rstrip().endswith((":", "：", ",")):
            return Cue("point", 0, 0, points="ahead")
        return Cue("point", 0, len(blank) if tail else 0, points="back")
    return None


def _asks(blank: str) -> bool:
    if GUARDS["tag_question"].search(blank):
        return False
    words = _WORD.findall(blank.lower())
    if words[:2] == ["do", "not"]:
        return bool(GUARDS["question_ends"].search(blank))
    return bool(GUARDS["question_ends"].search(blank)) or bool(words and words[0] in QUESTION_STARTS)


def _read_request(name: str, blank: str, match: re.Match[str]) -> Cue | None:
    """Keep what follows `remember that` or `note:`."""
    start = match.start("start")
    rest = blank[match.end() :]
    asks = _asks(rest if name == "again" else blank)
    if (asks and not GUARDS["polite_question"].match(blank[start:])) or _NOT_ME.search(blank[:start]):
        return None
    if (
        name != "announce"
        and not count_words(rest)
        and blank.rstrip().endswith((":", "：", ",", "-", ".", "!", "。", "?"))
    ):
        return Cue(name, 0, 0, points="ahead")
    if GUARDS["one_off"].search(rest) or count_words(rest) < 2:
        return None
    if GUARDS["reminisces"].search(rest.strip()) or GUARDS["spec"].search(rest):
        return None
    if name in ("announce", "again"):
        words = _WORD.findall(rest.lower())
        if (
            GUARDS["progress"].search(rest.strip())
            or GUARDS["reports"].search(rest)
            or (len(words) < MIN_WORDS and not has_cjk(rest))
        ):
            return None
        if name == "announce" and words and words[0] in TASK_STARTS:
            return None
    if name == "todo" and (not GUARDS["habit"].search(rest) or GUARDS["this_one"].search(rest)):
        return None
    return Cue(name, match.end(), len(blank), _find_quote(blank, start))


def _read_heading(name: str, blank: str, match: re.Match[str]) -> Cue | None:
    whole = match.end() >= len(blank.rstrip())
    return Cue(name, 0, 0, points="ahead") if whole else None


def _read_henceforth(name: str, blank: str, match: re.Match[str]) -> Cue | None:
    start = match.start("start")
    rest = blank[match.end() :]
    if _asks(blank) or GUARDS["one_off"].search(blank[:start] + rest) or count_words(rest) < MIN_WORDS - 1:
        return None
    lead = blank[:start].rstrip()
    apart = lead.endswith((",", ".", ";", ":", "!", "–", "—", "-")) or _ENDS_IN_OPENING.search(lead)
    other = count_words(lead) < MIN_WORDS or is_small_talk(lead) or _has_task_before(lead)
    if not count_words(lead) or (apart and other):
        begin = start if has_cjk(match.group()) else match.end()
        return Cue(name, begin, len(blank), _find_quote(blank, start))
    return Cue(name, 0, len(blank))


def _read_order(name: str, blank: str, match: re.Match[str]) -> Cue | None:
    """Keep `always` and `never` with an order; reports say `it never loads`."""
    verb = next(
        (value for key, value in match.groupdict().items() if key.startswith("verb") and value), ""
    ).lower()
    if (verb and not _is_base_form(verb)) or GUARDS["spec_condition"].match(blank):
        return None
    return _keep_clause(name, blank, match)


def _read_habit(name: str, blank: str, match: re.Match[str]) -> Cue | None:
    """Keep `we never`, unless what follows is about this moment: `we never get`."""
    verb = next(
        (value for key, value in match.groupdict().items() if key.startswith("verb") and value), ""
    ).lower()
    if verb and (verb in NOT_HABITS or not _is_base_form(verb)):
        return None
    return _keep_clause(name, blank, match)


def _is_base_form(verb: str) -> bool:
    if verb in NOT_ORDERS:
        return False
    if verb.endswith("s") and not verb.endswith("ss"):
        return verb in BASE_FORMS
    return not verb.endswith(("ed", "ing")) or verb in BASE_FORMS


def _keep_clause(name: str, blank: str, match: re.Match[str]) -> Cue | None:
    start = match.start("start")
    if _asks(blank) and not (name == "stop" and GUARDS["polite_question"].match(blank[start:])):
        return None
    if (
        GUARDS["one_off"].search(blank)
        or GUARDS["reports"].search(blank)
        or count_words(blank[start:]) < MIN_WORDS
    ):
        return None
    if name in ("stop", "habit") and GUARDS["definite"].search(blank[start:]):
        return None
    start = start if _has_task_before(blank[:start]) or is_small_talk(blank[:start]) else 0
    return Cue(name, start, len(blank), start)


def _find_quote(blank: str, start: int) -> int:
    """Return where a quote starts: with the sentence unless a task precedes the cue."""
    return start if _has_task_before(blank[:start]) or count_words(blank[:start]) > MIN_WORDS else 0


def _has_task_before(text: str) -> bool:
    """Tell whether a request for work precedes the cue in its sentence."""
    words = _WORD.findall(text.lower())
    return bool(words) and (words[0] in TASK_STARTS or bool(GUARDS["cjk_tasks"].match(text)))


def _read_contrast(name: str, blank: str, match: re.Match[str]) -> Cue | None:
    value = next((value for key, value in match.groupdict().items() if key.startswith("name") and value), "")
    if value and not (
        _NAME.search(value)
        or re.search(r"(?:called|named) $", blank[: match.start() + blank[match.start() :].find(value)])
    ):
        return None
    return _keep_clause(name, blank, match)


def _read_change(name: str, blank: str, match: re.Match[str]) -> Cue | None:
    groups = {re.sub(r"\d", "", key): value for key, value in match.groupdict().items() if value}
    subject = blank[match.start("start") :].strip()
    place = groups.get("name", "")
    if GUARDS["to_be_done"].search(blank):
        return None
    if place and (GUARDS["not_place"].match(place) or not (_NAME.search(place) or groups.get("noun"))):
        return None
    if GUARDS["not_dropped"].match(groups.get("dropped", "")) or GUARDS["not_value"].match(
        groups.get("value", "")
    ):
        return None
    if groups.get("value") and not _NAME.search(groups["value"]):
        return None
    if GUARDS["one_day_subject"].match(subject) and not _NAME.search(subject[1:40]):
        return None
    return _keep_clause(name, blank, match)


def _read_taste(name: str, blank: str, match: re.Match[str]) -> Cue | None:
    if GUARDS["not_taste"].search(blank[match.start("start") :]) or _is_brief(blank):
        return None
    return _keep_clause(name, blank, match)


def _is_brief(blank: str) -> bool:
    """Tell whether only two words follow `I`: `I hate CSS` is a mood."""
    return blank[:2].lower() == "i " and count_words(blank) <= MIN_WORDS


def _read_choice(name: str, blank: str, match: re.Match[str]) -> Cue | None:
    cue = _keep_clause(name, blank, match)
    chosen = next((value for key, value in match.groupdict().items() if "name" in key and value), "")
    return replace(cue, chosen=chosen.lower()) if cue else None


_READERS: dict[str, Callable[[str, str, re.Match[str]], Cue | None]] = {
    "heading": _read_heading,
    "request": _read_request,
    "again": _read_request,
    "todo": _read_request,
    "announce": _read_request,
    "henceforth": _read_henceforth,
    "order": _read_order,
    "stop": _keep_clause,
    "prohibit": _keep_clause,
    "habit": _read_habit,
    "convention": _keep_clause,
    "language": _keep_clause,
    "contrast": _read_contrast,
    "change": _read_change,
    "taste": _read_taste,
    "correction": _keep_clause,
    "choice": _read_choice,
}


def is_work(text: str) -> bool:
    """Tell whether a sentence asks for work, asks a question or reports progress."""
    words = _WORD.findall(text.lower())
    return (
        not words
        or words[0] in TASK_STARTS
        or _asks(text)
        or bool(
            GUARDS["cjk_tasks"].match(text)
            or GUARDS["progress"].search(text)
            or GUARDS["one_off"].search(text)
        )
        or is_small_talk(text)
    )
