"""Write the table of topics that told ships: `python -m training.topics`.

Each line of `topics_*.txt` is one topic; an indented line continues it. `*` matches any ending, `_` joins the
words of a phrase. `loose_words.txt` lists everyday words, which only hint. Every memory is indexed by its
topics, so raise the version in `told.store.memories.schema` when the lists change after a release.
"""

from __future__ import annotations

import glob
import json
import os

from told.search.topics import FILLERS, MAX_PHRASE, MIN_PREFIX, phrase_key

_HERE = os.path.dirname(os.path.abspath(__file__))
TARGET = os.path.join(os.path.dirname(_HERE), "src", "told", "search", "data", "topics.json")


def lists() -> dict[str, list[str]]:
    """Return the words of every topic."""
    found: dict[str, list[str]] = {}
    for path in sorted(glob.glob(os.path.join(_HERE, "topics_*.txt"))):
        with open(path, encoding="utf-8") as file:
            text = "".join(line for line in file if not line.startswith("#"))
        for line in text.replace("\n  ", " ").splitlines():
            name, _, words = line.partition(": ")
            if name:
                found.setdefault(name.strip(), []).extend(words.lower().split())
    return found


def loose() -> set[str]:
    """Return the everyday words that only hint at a topic."""
    with open(os.path.join(_HERE, "loose_words.txt"), encoding="utf-8") as file:
        return set(file.read().split())


def table(found: dict[str, list[str]]) -> str:
    """Return the table as JSON, one word per line."""
    exact: dict[str, list[str]] = {}
    prefixes: dict[str, list[str]] = {}
    for name, listed in found.items():
        for word in dict.fromkeys(form for given in listed for form in _forms(given)):
            (prefixes if word.endswith("*") else exact).setdefault(word.rstrip("*"), []).append(name)
    content = {
        "words": {word: "+".join(names) for word, names in sorted(exact.items())},
        "prefixes": {word: "+".join(names) for word, names in sorted(prefixes.items())},
        "everyday_words": sorted(loose()),
    }
    return json.dumps(content, ensure_ascii=False, indent=0) + "\n"


def _forms(word: str) -> list[str]:
    """Return a word unchanged, a phrase as its key."""
    if "_" not in word:
        return [word if len(word) > MIN_PREFIX else word.rstrip("*")]
    words = [part for part in word.rstrip("*").split("_") if part and part not in FILLERS]
    return [phrase_key(words)] if 1 < len(words) <= MAX_PHRASE else []


def main() -> None:
    """Write the table."""
    with open(TARGET, "w", encoding="utf-8") as file:
        file.write(table(lists()))


if __name__ == "__main__":
    main()
