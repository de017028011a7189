"""Extract what was done, what is left and what was asked from a session's turns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from told.agents.reading import DOING, OPEN, PLAN_MARK, parse_plan, parse_tasks
from told.fence import strip_fenced
from told.learning.observe import find_observations, split_lines, summarise_answer
from told.learning.tool_calls import CREATE, EDIT, SHELL, parse_calls
from told.pattern import lazy_pattern
from told.recall.prompt import find_quiet_reason
from told.store.sessions.read import TurnRow
from told.tables import load_table
from told.text import clean, shorten
from told.words import split_sentences, split_words

_MAX_LINES = 200  # at the end of an answer
_MAX_LINE = 2_000  # characters
_LAST_PARAGRAPHS = 3  # in which a question waits for the user
_MIN_SENTENCE = 12  # bytes
_MIN_DONE = 15  # characters: "Done." says nothing
_MAX_DONE = 6
_MAX_ANSWERS = 4
_WIDTH = 200
_PLAN_TURNS = 3  # an older to-do list is out of date
_FULL_STEPS = 7_700  # characters of a turn's steps; later steps may be missing
_LISTED = lazy_pattern(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+")
_TICKED = lazy_pattern(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[xX]\]|✅|✔|☑)")
_QUESTION = ("?", "\uff1f")
_COLON = (":", "\uff1a")
_PHRASE_FORMS = {
    "heading": "(?:{})",
    "left": "{}",
    "nothing_left": "{}",
    "offer": r"\W*(?:{})",
    "offered": r"\W*(?:{})",
    "small_talk": r"\W*(?:(?:so|and|hi|hello|hey|okay|great|well|now)\b\W*)*(?:{})[^?]{{0,60}}\?+\W*",
    "narration": r"\W*(?:{})",
}


@cache
def _load_phrases() -> dict[str, re.Pattern[str]]:
    phrases = load_table(__file__, "phrases")
    return {
        name: lazy_pattern(form.format("|".join(phrases[name].strip().splitlines())), re.IGNORECASE)
        for name, form in _PHRASE_FORMS.items()
    }


def _starts_with(name: str, text: str) -> re.Match[str] | None:
    return _load_phrases()[name].match(_straighten(text))


def _contains(name: str, text: str) -> bool:
    return _load_phrases()[name].search(_straighten(text)) is not None


def _straighten(text: str) -> str:
    return text.replace("\u2019", "'")


def is_informative(asked: str) -> bool:
    """Return whether a prompt says more than "hi", "go on" or "/clear"."""
    words = asked.split(None, 3)
    if not words or (words[0].startswith("/") and "/" not in words[0][1:] and len(words) < 3):
        return False
    return (len(asked) > 30 or len(words) > 2) and find_quiet_reason(split_words(asked)) != "talk"


def is_offer(question: str) -> bool:
    """Return whether a question only offers to do more."""
    return _starts_with("offered", question) is not None


def find_left_open(answer: str) -> list[str]:
    """Return what the end of an answer says is next, missing or failed, verbatim."""
    found: list[str] = []
    in_list = False  # of open work
    for line, words in _lines_after_work(answer):
        is_listed = _LISTED.match(line) is not None
        after_heading = _match_heading(words)
        if after_heading is not None:
            in_list = not after_heading
            found += [after_heading] if after_heading else []
        elif in_list and is_listed:
            if not _TICKED.match(line) and len(words.encode()) > _MIN_SENTENCE:
                found.append(words)
        else:
            said = _split_sentences(words)
            starts_list = _strip_bold(said[-1]).endswith(_COLON) and _match_heading(said[-1]) == ""
            in_list = (in_list and is_listed) or starts_list
            found += [one for one in (said[:-1] if starts_list else said) if _is_left(one)]
    return list(dict.fromkeys(_strip_bold(one) for one in found))


def find_questions(answer: str) -> list[str]:
    """Return the unanswered questions at the end of the last answer."""
    paragraphs = [words for _, words in _split_lines(answer)][-_LAST_PARAGRAPHS:]
    small_talk = _load_phrases()["small_talk"]
    return [
        _strip_bold(one)
        for words in paragraphs
        for one in _split_sentences(words)
        if _is_question(one)
        and not small_talk.fullmatch(_straighten(one))
        and len(one.encode()) > _MIN_SENTENCE
    ]


def find_announced(answer: str) -> str:
    """Return the last sentence if it announces the agent's next step, or ""."""
    last = [words for _, words in _split_lines(answer)][-1:]
    said = [one for words in last for one in _split_sentences(words)][-1:]
    return next((_strip_bold(one) for one in said if _is_narration(one)), "")


def _is_left(sentence: str) -> bool:
    """Return whether a sentence says that something is left to do."""
    return (
        len(sentence.encode()) > _MIN_SENTENCE
        and not _is_question(_straighten(sentence))
        and _contains("left", sentence)
        and not _contains("nothing_left", sentence)
        and not _starts_with("offer", sentence)
    )


def _is_question(sentence: str) -> bool:
    return sentence.rstrip("*_\"') ").endswith(_QUESTION)


def _is_narration(words: str) -> bool:
    return _starts_with("narration", words) is not None and not _starts_with("offer", words)


def _split_sentences(words: str) -> list[str]:
    return split_sentences(words[:_MAX_LINE]) or [words]


def _lines_after_work(answer: str) -> list[tuple[str, str]]:
    """Return the lines after the last one that announces the agent's next step."""
    lines = _split_lines(answer)
    last = -1
    for at, (line, words) in enumerate(lines):
        if not _LISTED.match(line) and (_is_narration(words) or _is_narration(_split_sentences(words)[-1])):
            last = at
    return lines[last + 1 :]


def _split_lines(answer: str) -> list[tuple[str, str]]:
    """Return the last lines, raw and without list marks; no code and no tables."""
    return list(split_lines(clean(strip_fenced(answer))))[-_MAX_LINES:]


def _match_heading(words: str) -> str | None:
    """Return the text after a heading of open work, "" if none; None if not a heading."""
    bare = words.replace("**", "").replace("__", "").strip("*_ ")
    found = _starts_with("heading", bare)
    if found is None:
        return None
    after = bare[found.end() :].lstrip(" *_")
    if not after.strip("".join(_COLON)):
        return ""
    if not after.startswith(_COLON) or _contains("nothing_left", bare) or "none" in after[:8].lower():
        return None
    return after.lstrip("".join((*_COLON, " "))).strip()


def _strip_bold(words: str) -> str:
    return words.replace("**", "").replace("__", "").strip()


def list_done(turns: Sequence[TurnRow], root: str) -> list[str]:
    """Return what was done, in order; paths below `root` are shortened."""
    found: list[tuple[int, int, str]] = [
        (one.turn, at, said)
        for at, one in enumerate(find_observations(turns, root, _MAX_DONE))
        if (said := _remove_left(one.text))
    ]
    known = {said for _, _, said in found}
    for turn in reversed([turn for turn in turns if turn.answered and used_tools(turn)][-_MAX_ANSWERS:]):
        said = _summarise(turn)
        if said and len(found) < _MAX_DONE and not any(_starts_alike(said, one) for one in known):
            found.append((turn.n, _MAX_DONE, said))
            known.add(said)
    return [said for _, _, said in sorted(found)]


def list_planned(turns: Sequence[TurnRow]) -> list[str]:
    """Return the open items of the agent's to-do list, current ones first."""
    for turn in reversed(turns[-_PLAN_TURNS:]):
        last = turn.steps.rpartition("\n")[2]
        if last.startswith(PLAN_MARK):
            return _list_unfinished(parse_plan(last))
    if any(len(turn.steps) > _FULL_STEPS for turn in turns):
        return []  # some of its single tasks may be missing
    if not any("[Task" in turn.steps for turn in turns[-_PLAN_TURNS:]):
        return []
    lines = [line for turn in turns for line in turn.steps.splitlines() if line.startswith("[Task")]
    return _list_unfinished(parse_tasks(lines)) if lines else []


def used_tools(turn: TurnRow) -> bool:
    """Return whether the agent called a tool in a turn."""
    return turn.steps.startswith("[") or "\n[" in turn.steps


def has_changed_anything(turns: Sequence[TurnRow]) -> bool:
    """Return whether the agent changed files or ran commands."""
    return any(
        call.kind in (EDIT, CREATE, SHELL) for turn in turns for call in parse_calls(turn.steps.splitlines())
    )


def _summarise(turn: TurnRow) -> str:
    """Return what the agent says about its work in a turn."""
    answer = strip_fenced(turn.answered)
    said = _remove_left(shorten(clean(summarise_answer(answer, _WIDTH)), _WIDTH))
    calls = parse_calls(turn.steps.splitlines())
    if said or not any(call.kind in (EDIT, CREATE) and not call.ended for call in calls):
        return said
    return _remove_left(shorten(clean(summarise_answer(answer, _WIDTH, of_work=True)), _WIDTH))


def _remove_left(text: str) -> str:
    """Remove sentences about open work from a text about finished work."""
    if text.startswith(("Committed: ", "`")):
        return text
    said = " ".join(one for one in _split_sentences(text.replace("**", "")) if not _is_left(one))
    return said if len(said) > _MIN_DONE else ""


def _list_unfinished(items: list[tuple[str, str]]) -> list[str]:
    return [words for wanted in (DOING, OPEN) for state, words in items if state == wanted and words]


def _starts_alike(one: str, other: str) -> bool:
    size = min(len(one), len(other), 60)
    return one[:size].casefold() == other[:size].casefold()
