"""Read a prompt: topics, places, and whether it needs memories."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

from told.conflict.places import ALL, AND, ARTICLES, BEFORE_FOLDER, BUT, find_own_folder, is_path
from told.search.query import find_keywords
from told.search.tokens import STOP_WORDS, VAGUE_WORDS, is_unspaced
from told.search.topics import find_topic_hints, split_words
from told.store.memories.records import Memory
from told.text import fix_surrogates

# Hundredths of log odds; chosen on the projects that weights are set on, where it hides one need in fifty.
QUIET_WORDING = 100
_MAX_PROMPT = 4000  # characters
_FOLDER_SHARE = 0.35  # weight of the current folder's name, beside the prompt itself
_MAX_THANKS, _MAX_HOW_TO, _MAX_SHORT = 4, 10, 6  # words
_MAX_QUIET = 16  # words; a longer prompt says something of its own
_MAX_OPENING = 12  # words
_MAX_WORDS, _MAX_LENGTH, _MAX_UNKNOWN = 24, 9, 3  # that count for the wording
_FOLDER = os.path.dirname(__file__)
with open(os.path.join(_FOLDER, "quiet.toml"), "rb") as _file:
    _QUIET: dict[str, Any] = tomllib.load(_file)
_CHAT, _THANKS, _OWN = (frozenset(_QUIET[name].split()) for name in ("chat", "thanks", "own"))
_NO_SUBJECT = STOP_WORDS | VAGUE_WORDS | _CHAT | frozenset(_QUIET["generic"].split())
_LANGUAGE_THINGS = frozenset(_QUIET["language_things"].split())
_COMMON_FOLDERS = frozenset(_QUIET["common_folders"].split())
_HOW_TO = tuple(f" {start} " for start in _QUIET["how"])
_CONVERT = tuple(f" {start} " for start in _QUIET["convert"])
_BETWEEN = BEFORE_FOLDER | ARTICLES | AND


class RecallRequest(NamedTuple):
    """A prompt and the place where it is asked."""

    prompt: str
    scopes: tuple[str, ...]  # of the project, the user, and their subscriptions
    now: int
    folder: str = ""  # the current folder below the project's root
    tools: bool = False  # include what tools and pages said
    search: bool = False  # the user searches memories: no prompt is quiet, and more are scored


class Prompt(NamedTuple):
    """The parts of a prompt that recall uses."""

    text: str
    words: tuple[str, ...]
    topics: dict[str, float]  # how clearly each is named
    hints: tuple[tuple[float, tuple[str, ...]], ...]  # how clearly each word names which topics
    paths: tuple[str, ...]  # named in the prompt, without a leading slash
    folder: str  # the current folder below the project's root; empty at the root
    quiet: str  # why it needs no memory; empty if it may need one
    faint: bool  # whether it is worded like one that needs none
    subjects: tuple[str, ...]  # stems of the words that name one; any project gets prompts without
    subject_topics: tuple[str, ...]


def read_prompt(prompt: str, folder: str = "") -> Prompt:
    """Read a prompt.

    Args:
        prompt: The text the user typed.
        folder: The current folder, below the project's root.
    """
    text = fix_surrogates(prompt[:_MAX_PROMPT])
    words = tuple(split_words(text))
    hints = find_topic_hints(text)
    for part in folder.lower().split("/"):
        if part and part not in _COMMON_FOLDERS:
            hints += [(_FOLDER_SHARE * strength, names) for strength, names in find_topic_hints(part)]
    topics: dict[str, float] = {}
    for strength, names in hints:
        for name in names:
            topics[name] = max(topics.get(name, 0.0), strength)
    quiet = find_quiet_reason(text, words)
    if not quiet and not topics and 0 < len(words) <= _MAX_THANKS and words[0] in _THANKS:
        quiet = "talk"
    faint = not quiet and is_worded_quietly(words, asks=text.rstrip().endswith("?"))
    paths = tuple(dict.fromkeys(word.strip("/") for word in words if is_path(word)))
    subjects = " ".join(word for word in words if word not in _NO_SUBJECT and not word.isdigit())
    named = tuple(dict.fromkeys(name for _, names in find_topic_hints(subjects) for name in names))
    stems = tuple(dict.fromkeys(find_keywords(subjects)))
    place = folder.lower().strip("/")
    return Prompt(text, words, topics, tuple(hints), paths, place, quiet, faint, stems, named)


def find_quiet_reason(text: str, words: Sequence[str]) -> str:
    """Return why a prompt needs no memory; else empty."""
    if not words:
        return "empty"
    is_cjk_chat = is_unspaced(text[0]) and len(text) < 20 and any(word in text for word in _QUIET["chat_cjk"])
    if is_cjk_chat or all(word in _CHAT for word in words):
        return "talk"
    if len(words) > _MAX_QUIET:
        return ""
    bare = f" {' '.join(words)} "
    if _asks_for_meaning(text, bare, words):
        return "general question"
    lower = f" {text.lower().replace(' ?', '?')} "
    converts = bare.startswith(_CONVERT) and any(word[0].isdigit() for word in words)
    if converts or any(phrase in bare or phrase in lower for phrase in _QUIET["small_work"]):
        return "work on the text at hand"
    how_to = len(words) <= _MAX_HOW_TO and bare.startswith(_HOW_TO) and not _LANGUAGE_THINGS.isdisjoint(words)
    if _OWN.isdisjoint(words) and (how_to or any(phrase in lower for phrase in _QUIET["generally"])):
        return "general question"
    return ""


def _asks_for_meaning(text: str, bare: str, words: Sequence[str]) -> bool:
    if any(phrase in text for phrase in _QUIET["meaning_cjk"]):
        return len(text) < 30
    start = next((phrase for phrase in _QUIET["meaning"] if bare.startswith(f" {phrase} ")), "")
    if not start or not _OWN.isdisjoint(words):
        return False
    is_general = start not in _QUIET["meaning_open"] or len(words) <= _MAX_SHORT
    return is_general or bare.rstrip().endswith(tuple(_QUIET["meaning_endings"]))


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


def is_worded_quietly(words: Sequence[str], *, asks: bool) -> bool:
    """Tell whether a prompt is worded like one that needs no memory.

    Args:
        words: The words of the prompt, in lower case.
        asks: Whether it ends with a question mark.
    """
    bias, weights = _load_wording_weights()
    known = mask_numbers(words)
    names = {*extract_wording(known, asks=asks), count_unknown(known, weights.__contains__)}
    return bias + sum(weights.get(name, 0) for name in names) >= QUIET_WORDING


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
