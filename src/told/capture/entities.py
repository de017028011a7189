"""Find the names in a statement and the situations it applies to."""

from __future__ import annotations

from typing import Any

from told.capture.sentences import has_cjk
from told.pattern import lazy_pattern
from told.store.memories.records import Trigger
from told.tables import load_table
from told.text import remove_placeholders

_TICKED = lazy_pattern(r"`([^`\n]{1,120})`")
_PATH = lazy_pattern(
    r"(?<![\w/.:@-])(?:@?(?:~|\.{1,2})?/?(?:[\w.*@+-]+/)+[\w.*+-]*"
    r"|\.?[\w*][\w.*-]*\.(?:py|pyi|js|jsx|ts|tsx|mjs|go|rs|rb|php|java|kt"
    r"|swift|c|cc|cpp|h|hpp|cs|sql|md|mdx|txt|json|jsonl|ya?ml|toml|ini|cfg|env|lock|sh|css|scss|html|vue|svelte|xml|db"
    r"|ipynb|gradle|tf|proto|csv)\b|\.env\b|\.gitignore\b|Makefile\b|Dockerfile\b)"
)
_SYMBOL = lazy_pattern(
    r"(?<![\w`/.-])(?:[A-Za-z]\w*_\w+|[a-z]+[A-Z]\w*|(?:[A-Z][a-z0-9]+){2,}|[A-Za-z]\w*\(\))"
    r"(?![\w/])"
)
_FLAG = lazy_pattern(r"(?<![\w-])--[a-z][\w-]+")
_WORD = lazy_pattern(r"[\w.+]+")
_LETTERS = lazy_pattern(r"[^\W_]+")
_NAMES: dict[str, Any] = load_table(__file__)
_PROGRAMS = frozenset(_NAMES["programs"].split())
_TOOLS = (_PROGRAMS | frozenset(_NAMES["tools"].split())) - frozenset(_NAMES["ambiguous"].split())
_TASK_OF = {word: task for task, words in _NAMES["tasks"].items() for word in words.split()}
_LIMIT = 12  # entities or triggers of a statement


def find_entities(text: str) -> tuple[str, ...]:
    """Return the files, commands, tools and identifiers that a statement names."""
    text = remove_placeholders(text)
    found: list[tuple[int, str]] = []
    for pattern in (_PATH, _SYMBOL, _FLAG):
        found += [(match.start(), match.group().lstrip("@").rstrip(".,")) for match in pattern.finditer(text)]
    found += [(match.start(1), match.group(1).strip()) for match in _TICKED.finditer(text)]
    found += [
        (match.start(), match.group().rstrip("."))
        for match in _WORD.finditer(text)
        if match.group().lower().rstrip(".") in _TOOLS
    ]
    return tuple(dict.fromkeys(name for _, name in sorted(found) if len(name) > 1))[:_LIMIT]


def find_triggers(text: str) -> tuple[Trigger, ...]:
    """Return the paths, commands and kinds of task a statement applies to."""
    text = remove_placeholders(text)
    found = [Trigger("path", match.group().lstrip("@").rstrip(".,")) for match in _PATH.finditer(text)]
    for match in _TICKED.finditer(text):
        words = match.group(1).split()
        if words and words[0] in _PROGRAMS and not _PATH.fullmatch(match.group(1)):
            found.append(Trigger("command", match.group(1).strip()))
    bare = _PATH.sub(" ", text).lower()
    tasks = [_TASK_OF[word] for word in _LETTERS.findall(bare) if word in _TASK_OF]
    if has_cjk(text):
        tasks += [task for word, task in _TASK_OF.items() if not word.isascii() and word in text]
    found += [Trigger("task", task) for task in tasks]
    return tuple(dict.fromkeys(found))[:_LIMIT]
