"""The files in which a project tells agents how to work, and the statements in them, one by one."""

from __future__ import annotations

import re
from itertools import pairwise

from told.memory._capture_features import describe
from told.memory._capture_model import odds
from told.memory._capture_sentences import count_words, sentences
from told.memory._capture_weights import THRESHOLD
from told.memory._onboard_files import behind_front_matter
from told.memory._onboard_learned import INSTRUCTIONS, Learned, from_line, short
from told.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from told.memory._onboard_files import Document, Tree

# Where agents look for instructions in a project; patterns in lower case.
_FILES = (
    "CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md", "AGENTS.md", "AGENTS.override.md", "AGENT.md",
    "GEMINI.md", "QWEN.md", "CONVENTIONS.md", ".cursorrules", ".windsurfrules", ".clinerules", ".roorules",
    ".goosehints", ".rules", ".github/copilot-instructions.md", ".junie/guidelines.md", "WARP.md",
)  # fmt: skip
_PATTERNS = (
    ".cursor/rules/*.mdc", ".cursor/rules/*.md", ".clinerules/*.md", ".windsurf/rules/*.md",
    ".roo/rules/*.md", ".github/instructions/*.md", ".claude/rules/*.md", ".continue/rules/*.md",
    ".amazonq/rules/*.md",
    ".qoder/rules/*.md", ".augment/rules/*.md", ".kiro/steering/*.md",
)  # fmt: skip
_IN_FOLDERS = ("/CLAUDE.md", "/AGENTS.md", "/GEMINI.md")
_MOST_FILES = 30
_MOST = 40  # statements of a project
_LONGEST = 150_000  # characters of a file that are read
_PART = 1800  # characters that are looked at together
_RULED = re.compile(
    r"\b(rules?|convention|guideline|style|standard|principle|practice|must|never|always|do(?:n'?t|s)?|avoid"
    r"|important|constraint|requirement|workflow|commit|testing|tests|security|naming|polic(?:y|ies)|habits?"
    r"|instructions?|prefer)",
    re.IGNORECASE,
)
_ORDER = re.compile(
    r"\W*(?:always|never|do not|don'?t|must|should|use|prefer|avoid|keep|run|write|add|make sure|ensure|only"
    r"|no|all|every|each|follow|put|store|place|please|when|before|after|if|check|update|test|commit|import"
    r"|include|place|name|return|handle|treat|read|ask|stop|limit|document)\b",
    re.IGNORECASE,
)
_LINKS = re.compile(r"\W*(?:\[[^\]]*\]\([^)]*\)|https?://\S+|`[^`]*`)\W*$")
_FEWEST_WORDS, _MOST_WORDS = 3, 60
_BRACKETS = {ord("<"): "(", ord(">"): ")"}
_FENCES = ("```", "~~~")
_OPENS = re.compile(r"\s*(?:[-*+•>|#<]|\d{1,3}[.)]\s|```|~~~)")


@record
class Stated:
    """One statement of an instruction file."""

    text: str
    document: Document
    line: int
    weight: float  # how plainly it is a standing statement


_OURS = ("<!-- told:begin", "<!-- told:end")  # around what `told install` wrote, which teaches nothing


def instruction_files(tree: Tree) -> list[Document]:
    """Return the instruction files that are there, those in the project's own folder first."""
    below = [path for path in tree.files if path.endswith(_IN_FOLDERS)]
    listed = [*_FILES, *tree.like(*_PATTERNS), *below]
    found: dict[str, Document] = {}
    for path in dict.fromkeys(listed):
        document = tree.document(path) if len(found) < _MOST_FILES else None
        if document is not None and document.text not in {one.text for one in found.values()}:
            found[path] = document
    return list(found.values())


def statements_of(document: Document) -> list[Stated]:
    """Return every statement of an instruction file that holds from session to session, in its order."""
    found: dict[str, Stated] = {}
    for start, heading, part in _parts(document):
        # A `<name>` in a command is no tag here.
        flat = _unwrapped(part).translate(_BRACKETS)
        every = sentences(flat)
        for sentence, features in zip(every, describe(every, flat), strict=True):
            words = count_words(sentence.text)
            if not _FEWEST_WORDS <= words <= _MOST_WORDS or _LINKS.match(sentence.text):
                continue
            if "question" in features or sentence.text.endswith(":"):
                continue
            weight = odds(features)
            weight += 0.3 if _ORDER.match(sentence.text) else 0.0
            weight += 0.3 if sentence.item and _RULED.search(f"{heading} {sentence.heading}") else 0.0
            if weight < (0.3 if sentence.item else THRESHOLD):
                continue
            line = start + part.count("\n", 0, sentence.start) + 1
            text = short(part[sentence.start : sentence.end].replace("**", "").strip(" *_"))
            if text.count("`") % 2:  # cut in the middle of a command
                continue
            found.setdefault(text, Stated(text, document, line, round(weight, 3)))
    return list(found.values())


def learn_instructions(tree: Tree) -> Iterator[Learned]:
    """Yield the plainest statements of all instruction files; each stays the file's word."""
    every: dict[str, Stated] = {}
    for document in instruction_files(tree):
        for one in statements_of(document):
            every.setdefault(one.text.lower(), one)
    ranked = sorted(every.values(), key=lambda one: -one.weight)[:_MOST]
    for one in every.values():
        if one in ranked:
            text = f"{one.document.path} says: {one.text}"
            yield from_line(INSTRUCTIONS, f"says {one.text.lower()}", text, one.document, one.line)


def _unwrapped(part: str) -> str:
    """Return a text of the same length in which a paragraph or item that was wrapped by hand is one line."""
    lines = part.split("\n")
    fenced = False
    kept = lines[0]
    for before, line in pairwise(lines):
        fenced ^= before.lstrip().startswith(_FENCES)
        apart = fenced or not before.strip() or not line.strip() or _OPENS.match(line)
        kept += ("\n" if apart or before.lstrip().startswith((*_FENCES, "|")) else " ") + line
    return kept


def _parts(document: Document) -> Iterator[tuple[int, str, str]]:
    """Yield (first line, heading, text) of the sections, long ones in pieces; front matter is left out."""
    heading, begin, kept, size = "", 0, list[str](), 0
    fenced = ours = False
    start = behind_front_matter(document.lines)
    read = 0
    for number in range(start, len(document.lines)):
        line = document.lines[number]
        read += len(line) + 1
        ours = (ours or _OURS[0] in line) and _OURS[1] not in line
        if ours:
            continue
        if read > _LONGEST:
            break
        fenced ^= line.lstrip().startswith(_FENCES)
        is_heading = line.startswith("#") and not fenced
        if is_heading or (size > _PART and not fenced):
            if kept:
                yield begin, heading, "\n".join(kept)
            kept, size = [], 0
            heading = line.strip("# ") if is_heading else heading
        if not is_heading:
            if not kept:
                begin = number
            kept.append(line)
            size += len(line)
    if kept:
        yield begin, heading, "\n".join(kept)
