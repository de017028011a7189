"""Layer 0: what a prompt is by its form: its topics, the paths in it, and whether it needs anything."""

from __future__ import annotations

from told.memory._recall_quiet import quiet
from told.memory._recall_topics import spoken, topics
from told.record import record

_MOST_PROMPT = 4000
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
    topics: dict[str, float]
    paths: tuple[str, ...]  # named in the prompt, without a leading slash
    folder: str  # the current folder below the project's root; empty at the root
    quiet: str  # why it needs nothing, if it needs nothing


def structure(prompt: str, folder: str = "") -> Structure:
    """Read a prompt.

    Args:
        prompt: What the user typed.
        folder: The current folder, below the project's root.
    """
    text = prompt[:_MOST_PROMPT]
    words = tuple(spoken(text))
    found = topics(text)
    paths = tuple(dict.fromkeys(word.strip("/") for word in words if is_path(word)))
    for part in folder.lower().split("/"):
        if part and part not in _COMMON_FOLDERS:
            for name, strength in topics(part).items():
                found[name] = max(found.get(name, 0.0), _PLACE * strength)
    return Structure(text, words, found, paths, folder.lower().strip("/"), quiet(text, words))


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
