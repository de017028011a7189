"""What a README says: in its first sentence, and in the commands below its headings."""

# ruff: noqa: RUF001 - signs of many languages are the subject
from __future__ import annotations

import re
from itertools import islice

from told.memory._onboard_files import behind_front_matter
from told.memory._onboard_learned import COMMANDS, WHAT, Learned, from_line, ticked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from told.memory._onboard_files import Document, Tree

_NAMES = ("readme.md", "readme.markdown", "readme.rst", "readme.adoc", "readme.txt", "readme")
_HEADING = re.compile(r"#{1,6}[ \t]+(.{1,120}?)[ \t#]*$")
_RULE = re.compile(r"([=\-~^\"'*+#])\1{2,}\s*$")
_FENCE = re.compile(r"[ \t]{0,3}(```+|~~~+)[ \t]*([\w+-]*)")
_SHELL = frozenset(("", "sh", "bash", "shell", "console", "zsh", "terminal", "shell-session", "fish"))
_NO_PROSE = ("[!", "![", "<", "|", ">", "```", "~~~", "- ", "* ", "+ ", "..", ":", "#", "=", "---", "{%")
_LINK = re.compile(r"!?\[([^\][]{0,200})\](?:\([^()\s]{0,400}[^()]{0,100}\)|\[[^\][]{0,100}\])")
_MARKS = re.compile(r"(\*\*|__)(?=\S)(.{1,200}?)(?<=\S)\1")
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,300}>")
_SENTENCE = re.compile(r".{10,400}?[.!?。！？](?=\s|$)")
_WORDS = 4  # words that a sentence about the project has at least
_TOP = 120  # lines in which a README says what it is about
_POINTS = re.compile(
    r"(?i)https?://|\b(documentation|docs|changelog|license|click|read more|see the|visit|join|sponsor"
    r"|guide)\b"
)
_ABOUT = re.compile(
    r"\b(install|set ?up|getting started|quick ?start|build|compil|test|lint|format|run|usage|start|develop"
    r"|contribut|deploy|releas)",
    re.IGNORECASE,
)
_PROMPT = re.compile(r"(?:\$|%|❯|>)\s+")
_COMMAND = re.compile(r"(?:\./|\.venv/|~/)?[a-zA-Z][\w./+-]*(?:\s|$)")
_MOST_COMMANDS = 4
_MOST_HEADINGS = 12


def readme_of(tree: Tree) -> Document | None:
    """Return the README in the project's own folder."""
    present = {name.lower(): name for name in reversed(tree.top())}
    return tree.first(*(present[name] for name in _NAMES if name in present))


def learn_readme(tree: Tree) -> Iterator[Learned]:
    """Yield what the README says."""
    document = readme_of(tree)
    if document is None:
        return
    said = first_sentence(document)
    if said:
        yield from_line(WHAT, "what", f"{document.path} says of the project: {said[1]}", document, said[0])
    yield from _commands(document)


def first_sentence(document: Document, *, pointing: bool = True) -> tuple[int, str] | None:
    """Return the first sentence that tells something, and its line.

    One that only points elsewhere is taken if there is no other, and if that is allowed.
    """
    found = _openings(document.lines)
    first = next(found, None)
    if first is None or not _POINTS.search(first[1]):
        return first
    otherwise = first if pointing else None
    return next((one for one in islice(found, 4) if not _POINTS.search(one[1])), otherwise)


def _openings(lines: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    """Yield the first sentence of each paragraph near the top, with its line."""
    number = behind_front_matter(lines)
    goes_on = False  # with what the line before began
    while number < min(len(lines), _TOP):
        line = lines[number].strip()
        following = lines[number + 1] if number + 1 < len(lines) else ""
        if line.startswith(("```", "~~~")):
            number = _behind_fence(lines, number)
            continue
        if line.startswith("<!--"):
            while number < len(lines) and "-->" not in lines[number]:
                number += 1
        elif not goes_on and _is_prose(line, following):
            sentence = _plain(_paragraph(lines, number))
            if len(sentence.split()) >= _WORDS or not sentence.isascii():
                yield number + 1, sentence
        goes_on = bool(line) and not line.startswith(("<", "[!", "![", "#")) and not _RULE.match(line)
        number += 1


def _is_prose(line: str, following: str) -> bool:
    bare = _TAG.sub("", line).strip()
    if not bare or bare.startswith(_NO_PROSE) or _RULE.match(following) or _RULE.match(line):
        return False
    return not any(sign in line for sign in ("]: ", " | ", "•", "·"))


def _behind_fence(lines: tuple[str, ...], number: int) -> int:
    mark = lines[number].strip()[:3]
    number += 1
    while number < len(lines) and not lines[number].strip().startswith(mark):
        number += 1
    return number + 1


def _paragraph(lines: tuple[str, ...], number: int) -> str:
    kept: list[str] = []
    for line in lines[number : number + 12]:
        if not line.strip() or (kept and line.strip().startswith(_NO_PROSE)):
            break
        kept.append(line.strip())
    return " ".join(kept)[:2000]


def _plain(paragraph: str) -> str:
    """Return the first sentence of a paragraph, without the marks of Markdown."""
    text = _MARKS.sub(r"\2", _LINK.sub(r"\1", _TAG.sub("", paragraph))).strip()
    whole = _SENTENCE.match(text)
    return whole.group() if whole else text[:400]


def _commands(document: Document) -> Iterator[Learned]:
    """Yield the shell commands of the code blocks below headings that promise such."""
    heading, given = "", 0
    number = 0
    lines = document.lines
    while number < len(lines) and given < _MOST_HEADINGS:
        title = _HEADING.match(lines[number])
        fence = _FENCE.match(lines[number])
        if title:
            heading = title.group(1) if _ABOUT.search(title.group(1)) else ""
        if not fence:
            number += 1
            continue
        end = _behind_fence(lines, number)
        if heading and fence.group(2).lower() in _SHELL:
            found = _in_block(lines, number + 1, min(end - 1, len(lines)))
            if found:
                named = ", ".join(ticked(command) for _, command in found)
                text = f'{document.path}, under "{heading}": {named}'
                yield from_line(COMMANDS, f"under {heading.lower()}", text, document, found[0][0])
                given += 1
                heading = ""  # the first block says how; those behind it go into detail
        number = end


def _in_block(lines: tuple[str, ...], start: int, end: int) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    prompted = any(_PROMPT.match(line.strip()) for line in lines[start:end])
    for number in range(start, end):
        line = lines[number].strip()
        prompt = _PROMPT.match(line)
        if prompted and not prompt:
            continue  # what a command printed
        command = line[prompt.end() :] if prompt else line
        command = command.partition(" #")[0].strip()
        if _COMMAND.match(command) and len(found) < _MOST_COMMANDS:
            found.append((number + 1, command))
    return found
