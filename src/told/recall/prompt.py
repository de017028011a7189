"""Read a prompt: its sentences, places and wording."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from math import log2
from typing import NamedTuple

from told.conflict.places import ALL, AND, ARTICLES, BEFORE_FOLDER, BUT, find_own_folder, is_path
from told.search.query import find_terms
from told.search.tokens import VAGUE_WORDS
from told.store.fts import unquote_phrase
from told.store.memories.records import Memory
from told.text import fix_surrogates
from told.words import split_sentences, split_words

# How much better a memory must fit a prompt that is worded like a general question, by the log odds of that;
# a long one, which resembles something anyway, by the doublings of its words; and one without a subject.
WORDING_SHARE, LENGTH_SHARE, NO_SUBJECT_SHARE = 0.12, 0.35, 0.42
_LEAST_ODDS, _MOST_ODDS = -3.0, 6.0
_USUAL_WORDS, _WORD_BYTES = 10, 8  # the latter for scripts without spaces
_MAX_PROMPT = 4000  # characters
_MAX_SENTENCES, _MIN_SENTENCE = 4, 3  # of a prompt that are compared by themselves; words of one
_MAX_TERMS = 9  # that are looked up
_MAX_OPENING = 12  # words
_MAX_WORDS, _MAX_LENGTH, _MAX_UNKNOWN = 24, 9, 3  # that count for the wording
_FOLDER = os.path.dirname(__file__)
_BETWEEN = BEFORE_FOLDER | ARTICLES | AND


class RecallRequest(NamedTuple):
    """A prompt and the place where it is asked."""

    prompt: str
    scopes: tuple[str, ...]  # of the project, the user, and their subscriptions
    now: int
    folder: str = ""  # the current folder below the project's root
    tools: bool = False  # include what tools and pages said
    search: bool = False  # the user searches memories: no wording counts, and more are scored


class Prompt(NamedTuple):
    """The parts of a prompt that recall uses."""

    text: str
    words: tuple[str, ...] = ()
    sentences: tuple[str, ...] = ()  # if there are several
    paths: tuple[str, ...] = ()  # named in the prompt, without a leading slash
    folder: str = ""  # the current folder below the project's root; empty at the root
    names: tuple[str, ...] = ()  # quoted terms of its subject; without one, of what it asks to do
    quiet: str = ""  # why nothing is looked up; else empty
    doubt: float = 0.0  # how much better than usual a memory must fit


def read_prompt(prompt: str, folder: str = "") -> Prompt:
    """Read a prompt.

    Args:
        prompt: The text the user typed.
        folder: The current folder, below the project's root.
    """
    text = fix_surrogates(prompt[:_MAX_PROMPT])
    words = tuple(split_words(text))
    parts = dict.fromkeys(split_sentences(text, semicolons=True))
    sentences = tuple(one for one in parts if one.count(" ") >= _MIN_SENTENCE - 1)
    if len(sentences) > _MAX_SENTENCES:  # what is asked stands before or behind what is pasted
        half = _MAX_SENTENCES // 2
        sentences = (*sentences[:half], *sentences[-half:])
    paths = tuple(dict.fromkeys(word.strip("/") for word in words if is_path(word)))
    terms = [
        one for one in find_terms(text, _MAX_TERMS) if unquote_phrase(one) not in _load_words("asking_words")
    ]
    names = [one for one in terms if not _is_generic(unquote_phrase(one))]
    if names:  # a number only names something beside a word
        names = [one for one in terms if one in names or unquote_phrase(one).isdigit()]
    odds = measure_quiet_wording(words, asks=text.rstrip().endswith("?"))
    doubt = WORDING_SHARE * max(_LEAST_ODDS, min(_MOST_ODDS, odds))
    distinct = set(words)  # a log says the same again and again
    length = max(len(distinct), len("".join(distinct).encode()) / _WORD_BYTES)
    doubt += NO_SUBJECT_SHARE if not names else 0.0
    doubt += LENGTH_SHARE * log2(max(1.0, length / _USUAL_WORDS))
    return Prompt(
        text, words, sentences if len(sentences) > 1 else (), paths,
        folder.lower().strip("/"), tuple(names or terms), find_quiet_reason(words), doubt,
    )  # fmt: skip


def find_quiet_reason(words: Sequence[str]) -> str:
    """Return why there is nothing to look up for a prompt; else empty."""
    if not words:
        return "empty"
    return "talk" if all(word in _load_words("small_talk") for word in words) else ""


def _is_generic(word: str) -> bool:
    return word.isdigit() or word in VAGUE_WORDS or word in _load_words("generic_words")


def is_everyday_term(term: str) -> bool:
    """Tell whether any project's prompts have a quoted term: it says little about this one."""
    word = unquote_phrase(term)
    return _is_generic(word) or word in _load_wording_weights()[1]


@cache
def _load_words(name: str) -> frozenset[str]:
    with open(os.path.join(_FOLDER, f"{name}.txt"), encoding="utf-8") as file:
        return frozenset(file.read().split())


@cache
def _load_wording_weights() -> tuple[int, dict[str, int]]:
    """Load the bias and the weights that `python -m training.quiet` wrote, in hundredths."""
    with open(os.path.join(_FOLDER, "quiet_weights.txt"), encoding="utf-8") as file:
        bias, *lines = file.read().splitlines()
    found: dict[str, int] = {}
    for line in lines:
        weight, *names = line.split(" ")
        found |= dict.fromkeys(names, int(weight))
    return int(bias), found


def measure_quiet_wording(words: Sequence[str], *, asks: bool) -> float:
    """Return the log odds that a prompt is worded like one that needs no memory.

    Args:
        words: The words of the prompt, in lower case.
        asks: Whether it ends with a question mark.
    """
    bias, weights = _load_wording_weights()
    known = mask_numbers(words)
    names = {*extract_wording(known, asks=asks), count_unknown(known, weights.__contains__)}
    return (bias + sum(weights.get(name, 0) for name in names)) / 100


def mask_numbers(words: Sequence[str]) -> list[str]:
    """Return the first words of a prompt, all numbers alike."""
    return ["0" if any(map(str.isdigit, word)) else word for word in words[:_MAX_WORDS]]


def extract_wording(words: Sequence[str], *, asks: bool) -> Iterator[str]:
    """Yield features of a wording: words, pairs, beginning, end and length."""
    yield f"={min(len(words), _MAX_LENGTH)}{'?' if asks else ''}"
    if not words:
        return
    yield f"^{words[0]}"
    yield f"{words[-1]}$"
    yield from words
    pairs = [f"{words[at]}_{words[at + 1]}" for at in range(len(words) - 1)]
    yield from pairs
    if pairs:
        yield f"^{pairs[0]}"


def count_unknown(words: Sequence[str], is_known: Callable[[str], bool]) -> str:
    """Return a feature for the number of unknown words."""
    return f"~{min(_MAX_UNKNOWN, sum(not is_known(word) for word in words))}"


def relative_folder(root: str, folder: str) -> str:
    """Return a folder relative to its project's root; empty outside it."""
    base = root.rstrip("/") + "/"
    return folder[len(base) :].strip("/") if root and folder.startswith(base) else ""


def find_places(memory: Memory) -> tuple[str, ...]:
    """Return the folders and files that a memory names."""
    named = [one.value.lower().strip("/*") for one in memory.triggers if one.kind == "path"]
    named += [word.strip("/*") for word in split_words(memory.text) if is_path(word)]
    return tuple(dict.fromkeys(one for one in (find_own_folder(memory.text), *named) if one))


def match_place(place: str, prompt: Prompt) -> float:
    """Return how surely a prompt is about a place, 0 to 1."""

    def is_inside(path: str) -> bool:
        return path == place or path.startswith(f"{place}/") or path.endswith(f"/{place}")

    if any(map(is_inside, prompt.paths)):
        return 1.0
    if not prompt.folder or not is_inside(prompt.folder):
        return 0.0
    return max(0.5, 1.0 - 0.2 * (prompt.folder.count("/") - place.count("/")))


def is_elsewhere(text: str, prompt: Prompt) -> bool:
    """Tell whether a statement is for another folder than the prompt's."""
    if any(match_place(place, prompt) for place in _find_excluded(text)):
        return True
    place = find_own_folder(text)
    is_named = place.rpartition("/")[2] in prompt.words
    return bool(place) and not is_named and not match_place(place, prompt)


def _find_excluded(text: str) -> list[str]:
    """Return what a statement excludes: `All modules but legacy are …`."""
    words = split_words(text[:200])[:_MAX_OPENING]
    if not words or words[0] not in ALL:
        return []
    at = next((at for at, word in enumerate(words) if at and word in BUT), len(words))
    found = []
    for before, word in zip(words[at:], words[at + 1 :], strict=False):
        if word in _BETWEEN:
            continue
        if before not in BUT and before not in _BETWEEN:
            break
        found.append(word.strip("/*"))
    return found
