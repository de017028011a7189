"""Writes the table of topics that told ships, from the lists in `topics_*.txt`: `python -m training.topics`.

One line of a list is one topic, a deeper line carries it on. `*` stands for any ending, `_` joins the words
of a phrase; a word may stand in several topics and then says less about each of them. `loose_words.txt` has
the everyday words, which only hint. The index holds the topics of every memory, so raise the version in
`memory_schema` when the lists change after a release.
"""

from __future__ import annotations

import glob
import os

from told.search.topics import ALIKE, SHORTEST_BEGINNING
from told.search.unspaced import is_unspaced
from told.search.word_forms import FILLERS, LONGEST_PHRASE, phrase_of

_HERE = os.path.dirname(os.path.abspath(__file__))
TARGET = os.path.join(os.path.dirname(_HERE), "src", "told", "search", "topic_words.py")
_HEAD = '''"""Words and their topics, made by `python -m training.topics`.

By the first letters of a word: each word with its topics. A prompt looks up few words, so that nothing of
this is taken apart before it is needed.
"""

# ruff: noqa: E501 - words of many languages, as many on a line as begin alike
from __future__ import annotations
'''


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
    """Return the everyday words that only hint at a topic, although its list has them."""
    with open(os.path.join(_HERE, "loose_words.txt"), encoding="utf-8") as file:
        return set(file.read().split())


def table(found: dict[str, list[str]]) -> str:
    """Return the module: words that begin alike stand together."""
    exact: dict[str, list[str]] = {}
    beginnings: dict[str, list[str]] = {}
    for name, listed in found.items():
        for word in dict.fromkeys(form for given in listed for form in _forms(given)):
            (beginnings if word.endswith("*") else exact).setdefault(word.rstrip("*"), []).append(name)
    unspaced = sorted(word for word in exact | beginnings if is_unspaced(word[0]))
    return (
        _HEAD + _by_start("EXACT", exact) + _by_start("BEGINNINGS", beginnings)
        + "".join(f'\n{name} = "{" ".join(words)}"\n'
                  for name, words in (("LOOSE", sorted(loose())), ("UNSPACED", unspaced)))
    )  # fmt: skip


def _by_start(name: str, words: dict[str, list[str]]) -> str:
    """Return the words with their topics, those together that begin alike."""
    parts: dict[str, list[str]] = {}
    for word in sorted(words):
        parts.setdefault(word[:ALIKE], []).append(f"{word}|{'+'.join(words[word])}")
    lines = [f'    "{start}": " {" ".join(entries)} ",' for start, entries in parts.items()]
    return "\n".join([f"\n{name} = {{", *lines, "}", ""])


def _forms(word: str) -> list[str]:
    """Return a word as it is, and a phrase as it is looked up; without its fillers it must still be one."""
    if "_" not in word:
        return [word if len(word) > SHORTEST_BEGINNING else word.rstrip("*")]
    words = [part for part in word.rstrip("*").split("_") if part and part not in FILLERS]
    return [phrase_of(words)] if 1 < len(words) <= LONGEST_PHRASE else []


def main() -> None:
    """Write the table."""
    with open(TARGET, "w", encoding="utf-8") as file:
        file.write(table(lists()))


if __name__ == "__main__":
    main()
