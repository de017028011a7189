"""Find the files that instruct agents, and the statements in them."""

from __future__ import annotations

# ruff: noqa: RUF001 - punctuation of many languages
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from told.agents import installed_agents
from told.capture.sentences import count_words, split_sentences
from told.onboard.files import (
    INSTRUCTIONS,
    Document,
    ProjectFact,
    ProjectFiles,
    load_names,
    load_pattern,
    read_text_file,
    shorten,
    skip_front_matter,
)
from told.pattern import lazy_pattern

_CUE_WEIGHT = 0.3  # of each sign that a sentence states something for every session
_MAX_FILES = 30
_MAX_CHARACTERS = 150_000  # of a file
_MAX_SECTION = 1800  # characters
_RULE_HEADING = load_pattern("rule_heading")
_IMPERATIVE = load_pattern("imperative")
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
    found: dict[str, Instruction] = {}
    for start, heading, part in _split_sections(document):
        # A `<name>` in a command is no tag here.
        flat = _unwrap(part).translate(_BRACKETS)
        for sentence in split_sentences(flat):
            words = count_words(sentence.text)
            if not _MIN_WORDS <= words <= _MAX_WORDS or _ONLY_LINK.match(sentence.text):
                continue
            if sentence.text.endswith(("?", "？", ":")):
                continue
            weight = _CUE_WEIGHT if _IMPERATIVE.match(sentence.text) else 0.0
            weight += (
                _CUE_WEIGHT
                if sentence.item and _RULE_HEADING.search(f"{heading} {sentence.heading}")
                else 0.0
            )
            if weight < least:
                continue
            line = start + part.count("\n", 0, sentence.start) + 1
            text = shorten(part[sentence.start : sentence.end].replace("**", "").strip(" *_"))
            if text.count("`") % 2:  # cut in the middle of a command
                continue
            found.setdefault(text, Instruction(text, document, line, round(weight, 3)))
    return list(found.values())


def learn_instructions(tree: ProjectFiles) -> Iterator[ProjectFact]:
    """Yield where the instructions for agents and contributors are."""
    found = [one.path for one in find_instruction_files(tree)]
    found += tree.match(*load_names()["contributing"])
    if found:
        text = f"Instructions are in {', '.join(dict.fromkeys(found))}"
        yield ProjectFact(INSTRUCTIONS, "files", shorten(text), ".")


def _unwrap(part: str) -> str:
    """Join hard-wrapped lines; the text keeps its length."""
    lines = part.split("\n")
    fenced = False
    kept = lines[0]
    for before, line in pairwise(lines):
        fenced ^= before.lstrip().startswith(_FENCES)
        apart = fenced or not before.strip() or not line.strip() or _BLOCK_START.match(line)
        kept += ("\n" if apart or before.lstrip().startswith((*_FENCES, "|")) else " ") + line
    return kept


def _split_sections(document: Document) -> Iterator[tuple[int, str, str]]:
    """Yield (first line, heading, text) of each section, long ones in pieces."""
    heading, begin, kept, size = "", 0, list[str](), 0
    fenced = ours = False
    start = skip_front_matter(document.lines)
    read = 0
    for number in range(start, len(document.lines)):
        line = document.lines[number]
        read += len(line) + 1
        mark = _TOLD_BLOCK.search(line)
        ours = mark[1] == "begin" if mark else ours
        if ours:
            continue
        if read > _MAX_CHARACTERS:
            break
        fenced ^= line.lstrip().startswith(_FENCES)
        is_heading = line.startswith("#") and not fenced
        if is_heading or (size > _MAX_SECTION and not fenced):
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
