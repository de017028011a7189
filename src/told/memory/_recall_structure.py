"""Layer 0: what a prompt is by its form: its topics, the paths in it, and whether it needs anything."""

from __future__ import annotations

from told.memory._recall_quiet import is_thanks, quiet
from told.memory._recall_wording import is_quiet
from told.record import record
from told.search.topics import hints, spoken

_MOST_PROMPT = 4000
_COMMAND, _PLAINLY = 4, 0.85  # words: what so short a prompt names so plainly is what it is about
_PLACE = 0.35  # what the current folder's name says, against what the prompt itself says
_ENDING_WORDS = """
py pyi js jsx ts tsx mjs go rs rb php java kt swift c cc cpp h hpp cs sql md mdx txt json yaml yml toml ini
cfg env lock sh css scss html vue svelte xml ipynb gradle tf proto csv
"""
_ENDINGS = frozenset(_ENDING_WORDS.split())
_COMMON_WORDS = "src app lib home work srv users code projects repo source main packages"
_COMMON_FOLDERS = frozenset(_COMMON_WORDS.split())


@record
class Structure:
    """A prompt as recall sees it."""

    text: str
    words: tuple[str, ...]
    topics: dict[str, float]  # how plainly each is named
    hints: tuple[tuple[float, tuple[str, ...]], ...]  # how plainly each of its words names which topics
    paths: tuple[str, ...]  # named in the prompt, without a leading slash
    folder: str  # the current folder below the project's root; empty at the root
    quiet: str  # why it needs nothing, if it needs nothing
    faint: bool  # whether it is worded like one that needs nothing


def structure(prompt: str, folder: str = "") -> Structure:
    """Read a prompt.

    Args:
        prompt: What the user typed.
        folder: The current folder, below the project's root.
    """
    text = prompt[:_MOST_PROMPT]
    words = tuple(spoken(text))
    found = hints(text)
    paths = tuple(dict.fromkeys(word.strip("/") for word in words if is_path(word)))
    for part in folder.lower().split("/"):
        if part and part not in _COMMON_FOLDERS:
            found += [(_PLACE * strength, names) for strength, names in hints(part)]
    named: dict[str, float] = {}
    for strength, names in found:
        for name in names:
            named[name] = max(named.get(name, 0.0), strength)
    reason = quiet(text, words) or ("talk" if not named and is_thanks(words) else "")
    command = len(words) <= _COMMAND and max(named.values(), default=0.0) >= _PLAINLY
    faint = not reason and not command and is_quiet(words, asks=text.rstrip().endswith("?"))
    return Structure(text, words, named, tuple(found), paths, folder.lower().strip("/"), reason, faint)


def is_path(word: str) -> bool:
    """Tell whether a word is a path or the name of a file."""
    if "://" in word or word.startswith("--"):
        return False
    _, dot, ending = word.rpartition(".")
    return (bool(dot) and ending in _ENDINGS) or ("/" in word.strip("/") and not word[0].isdigit())


def below(root: str, folder: str) -> str:
    """Return a folder as seen from the root of its project; empty if it is not below it."""
    base = root.rstrip("/") + "/"
    return folder[len(base) :].strip("/") if root and folder.startswith(base) else ""
