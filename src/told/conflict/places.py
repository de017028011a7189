"""Find the folders and files that a statement names."""

from __future__ import annotations

from told.tables import load_table
from told.words import split_words

_WORDS = {name: frozenset(words.split()) for name, words in load_table(__file__).items()}
BEFORE_FOLDER, ARTICLES = _WORDS["before_folder"], _WORDS["articles"]
ALL, BUT, AND = _WORDS["all"], _WORDS["but"], _WORDS["and"]
CORRECTING = _WORDS["correcting"]
_FILE_ENDINGS = _WORDS["file_endings"]
_MIN_LIMITED = 3  # words of a statement that is limited to a folder


def is_path(word: str) -> bool:
    """Tell whether a word is a path or file name."""
    if "://" in word or word.startswith("--"):
        return False
    _, dot, ending = word.rpartition(".")
    return (bool(dot) and ending in _FILE_ENDINGS) or ("/" in word.strip("/") and not word[0].isdigit())


def find_own_folder(text: str) -> str:
    """Return the folder of a limited statement: `In src/legacy keep …`."""
    first, _, rest = text.lstrip()[:200].partition(" ")
    if first.lower() not in BEFORE_FOLDER:
        return ""
    words = [first, *split_words(rest)]
    if len(words) < _MIN_LIMITED:
        return ""
    at = 2 if words[1] in ARTICLES else 1
    place = words[at]
    written = rest.split()[at - 1 : at]  # with the slash at its end
    is_folder = "_" in place or bool(written and written[0].strip("`'\",:").endswith("/"))
    return place.strip("/*") if is_path(place) or is_folder else ""
