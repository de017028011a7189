"""Read pairs of similar texts from Python packages.

A docstring's first sentence is paired with the rest, a function's name with that sentence, and a comment
with the line of code below it. Nothing of this text is shipped: it only moves weights.
"""

from __future__ import annotations

import ast
import os
import warnings
import zipfile
from collections.abc import Iterator

Pair = tuple[str, str]

MOST_OF_A_PACKAGE = 6000  # pairs: no package shall drown the others
_FEWEST_LETTERS = 12
_LONGEST = 400  # characters
_FEWEST_WORDS = 4
_MOST_OF_A_FILE = 120


def pairs_of_packages(folder: str) -> list[Pair]:
    """Return the pairs of all wheels in a folder without duplicates."""
    found: dict[str, str] = {}
    rights: set[str] = set()
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".whl"):
            continue
        of_package = 0
        with zipfile.ZipFile(os.path.join(folder, name)) as wheel:
            for path in sorted(wheel.namelist()):
                if not path.endswith(".py") or "test" in path or "vendor" in path:
                    continue
                for left, right in pairs_of_source(wheel.read(path).decode("utf-8", "replace")):
                    if left in found or right in rights or of_package >= MOST_OF_A_PACKAGE:
                        continue
                    found[left] = right
                    rights.add(right)
                    of_package += 1
    return list(found.items())


def pairs_of_source(source: str) -> list[Pair]:
    """Return the pairs of one Python file, at most 120."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return []
    pairs = [*_of_docstrings(tree), *_of_comments(source)]
    return [pair for pair in pairs if all(_says_something(side) for side in pair)][:_MOST_OF_A_FILE]


def _of_docstrings(tree: ast.Module) -> Iterator[Pair]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        first, _, rest = (ast.get_docstring(node) or "").partition("\n\n")
        first = " ".join(first.split())[:_LONGEST]
        paragraph = " ".join(rest.partition("\n\n")[0].split())[:_LONGEST]
        if len(first.split()) < _FEWEST_WORDS:
            continue
        if len(paragraph.split()) >= 2 * _FEWEST_WORDS and not paragraph.startswith((":", "@", ".. ", ">>>")):
            yield first, paragraph
        elif "_" in node.name.strip("_") or not node.name.islower():
            yield node.name, first


def _of_comments(source: str) -> Iterator[Pair]:
    said: list[str] = []
    for line in source.splitlines():
        line = line.strip()  # noqa: PLW2901 - only the text counts
        if line.startswith("# "):
            said.append(line[2:])
            continue
        if said and line and len(" ".join(said).split()) >= _FEWEST_WORDS:
            yield " ".join(said)[:_LONGEST], line[:_LONGEST]
        said = []


def _says_something(text: str) -> bool:
    return sum(char.isalpha() for char in text) >= _FEWEST_LETTERS
