"""Find the files that instruct agents, and the statements in them."""

from __future__ import annotations

# ruff: noqa: RUF001 - punctuation of many languages
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from told.agents import installed_agents
from told.capture.sentences import count_words, split_sentences
from told.onboard.files import (
    INSTRUCTIONS,
    MAX_TEXT,
    Document,
    ProjectFact,
    ProjectFiles,
    load_names,
    load_pattern,
    read_text_file,
    skip_front_matter,
)
from told.pattern import lazy_pattern
from told.text import shorten

_CUE_WEIGHT = 0.3  # of each sign that a sentence states something for every session
_MAX_FILES = 30
_MAX_CHARACTERS = 150_000  # of a file
_RULE_HEADING = load_pattern("rule_heading")
_IMPERATIVE = load_pattern("imperative")
_LINE = lazy_pattern(r"[^\n]+")
_ONLY_LINK = lazy_pattern(r"\W*(?:\[[^\]]*\]\([^)]*\)|https?://\S+|`[^`]*`)\W*$")
_MIN_WORDS, _MAX_WORDS = 3, 60
_BRACKETS = {ord("<"): "(", ord(">"): ")"}
_FENCES = ("```", "~~~")
_BLOCK_START = lazy_pattern(r"\s*(?:[-*+•>|#<]|\d{1,3}[.)]\s|```|~~~)")


@dataclass(frozen=True, slots=True)
class Instruction:
    """One statement of an instruction file."""

    text: str
    document: Document
    line: int
    weight: float  # how clearly it is a rule

    @property
    def is_clear(self) -> bool:
        """Return whether it surely applies in every session."""
        return self.weight >= _CUE_WEIGHT


# Written by `told install` and by `told export`.
_TOLD_BLOCK = lazy_pattern(r"<!-- told(?:-memories)?:(begin|end)")


def find_instruction_files(tree: ProjectFiles) -> list[Document]:
    """Return the existing instruction files, those in the root folder first."""
    # Text that several files share counts for the first: agents with hooks come first.
    agents = sorted(installed_agents().values(), key=lambda agent: (agent.is_fallback, not agent.has_hooks))
    names = [name for agent in agents for name in agent.instruction_files]
    in_folders = tuple(name.removeprefix("**") for name in names if name.startswith("**"))
    patterns = [name for name in names if "*" in name and not name.startswith("**")]
    below = [path for path in tree.files if path.endswith(in_folders)]
    listed = [*(name for name in names if "*" not in name), *tree.match(*patterns), *below]
    found: dict[str, Document] = {}
    for path in dict.fromkeys(listed):
        document = tree.document(path) if len(found) < _MAX_FILES else None
        if document is not None and document.text not in {one.text for one in found.values()}:
            found[path] = document
    return list(found.values())


def find_agents_notes(root: str, environ: Mapping[str, str]) -> list[Document]:
    """Return the files in which agents keep their own memory of a project."""
    home = environ.get("HOME", "").rstrip("/")
    found = []
    for agent in installed_agents().values():
        folder = agent.notes_folder(environ, root) if agent.notes_folder else ""
        try:
            names = sorted(name for name in os.listdir(folder) if name.endswith(".md")) if folder else []
        except OSError:
            names = []
        for name in names[:_MAX_FILES]:
            path = os.path.join(folder, name)
            short = f"~{path.removeprefix(home)}" if home and path.startswith(f"{home}/") else path
            document = None if os.path.islink(path) else read_text_file(path, short, path)
            found += [document] if document else []
    return found


def parse_instructions(document: Document, least: float = _CUE_WEIGHT) -> list[Instruction]:
    """Return the statements of an instruction file that apply in every session.

    Args:
        document: The file.
        least: The least weight of a statement; 0 for all of them.
    """
    lines, headings = _read_lines(document)
    whole = "\n".join(lines)
    found: dict[str, Instruction] = {}
    # A `<name>` in a command is no tag here.
    flat = _unwrap(lines).translate(_BRACKETS)
    for sentence in split_sentences(flat, [one.span() for one in _LINE.finditer(flat)]):
        is_statement = _MIN_WORDS <= count_words(sentence.text) <= _MAX_WORDS
        if not is_statement or sentence.text.endswith(("?", "？", ":")) or _ONLY_LINK.match(sentence.text):
            continue
        line = whole.count("\n", 0, sentence.start)
        is_listed = sentence.item and _RULE_HEADING.search(f"{headings[line]} {sentence.heading}")
        weight = _CUE_WEIGHT * (bool(_IMPERATIVE.match(sentence.text)) + bool(is_listed))
        text = shorten(whole[sentence.start : sentence.end].replace("**", "").strip(" *_"), MAX_TEXT)
        if weight >= least and text.count("`") % 2 == 0:  # not cut in the middle of a command
            found.setdefault(text, Instruction(text, document, line + 1, weight))
    return list(found.values())


def learn_instructions(tree: ProjectFiles) -> Iterator[ProjectFact]:
    """Yield where the instructions for agents and contributors are."""
    found = [one.path for one in find_instruction_files(tree)]
    found += tree.match(*load_names()["contributing"])
    if found:
        text = f"Instructions are in {', '.join(dict.fromkeys(found))}"
        yield ProjectFact(INSTRUCTIONS, "files", shorten(text, MAX_TEXT), ".")


def _unwrap(lines: Sequence[str]) -> str:
    """Join hard-wrapped lines; the text keeps its length."""
    fenced = False
    kept = lines[0]
    for before, line in pairwise(lines):
        fenced ^= before.lstrip().startswith(_FENCES)
        apart = fenced or not before.strip() or not line.strip() or _BLOCK_START.match(line)
        kept += ("\n" if apart or before.lstrip().startswith((*_FENCES, "|")) else " ") + line
    return kept


def _read_lines(document: Document) -> tuple[list[str], list[str]]:
    """Return the lines, without headings and what told wrote, and the heading above each."""
    lines, headings = [], []
    heading, fenced, ours = "", False, False
    start = skip_front_matter(document.lines)
    for number, line in enumerate(document.text[:_MAX_CHARACTERS].split("\n")):
        mark = _TOLD_BLOCK.search(line)
        ours = mark[1] == "begin" if mark else ours
        is_fence = line.lstrip().startswith(_FENCES)
        fenced ^= is_fence
        is_heading = line.startswith("#") and not fenced
        heading = line.strip("# ") if is_heading else heading
        lines.append("" if ours or mark or is_heading or fenced or is_fence or number < start else line)
        headings.append(heading)
    return lines, headings
