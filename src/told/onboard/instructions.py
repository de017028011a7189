"""Read what READMEs and instruction files say about a project."""

from __future__ import annotations

# ruff: noqa: RUF001 - punctuation of many languages
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice, pairwise

from told.agents import installed_agents
from told.capture.grammar import find_kind
from told.capture.sentences import count_words, split_sentences
from told.onboard.files import (
    COMMANDS,
    INSTRUCTIONS,
    WHAT,
    Document,
    ProjectFact,
    ProjectFiles,
    fact_from_line,
    load_names,
    load_pattern,
    quote_command,
    read_text_file,
    shorten,
    skip_front_matter,
)
from told.pattern import lazy_pattern

_MIN_WEIGHT = 0.3  # of a sentence that states something for every session
_README_NAMES = ("readme.md", "readme.markdown", "readme.rst", "readme.adoc", "readme.txt", "readme")
_HEADING = lazy_pattern(r"#{1,6}[ \t]+(.{1,120}?)[ \t#]*$")
_UNDERLINE = lazy_pattern(r"([=\-~^\"'*+#])\1{2,}\s*$")
_README_FENCE = lazy_pattern(r"[ \t]{0,3}(```+|~~~+)[ \t]*([\w+-]*)")
_SHELL_LANGUAGES = frozenset(
    ("", "sh", "bash", "shell", "console", "zsh", "terminal", "shell-session", "fish")
)
_NOT_PROSE = ("[!", "![", "<", "|", ">", "```", "~~~", "- ", "* ", "+ ", "..", ":", "#", "=", "---", "{%")
_LINK = lazy_pattern(r"!?\[([^\][]{0,200})\](?:\([^()\s]{0,400}[^()]{0,100}\)|\[[^\][]{0,100}\])")
_EMPHASIS = lazy_pattern(r"(\*\*|__)(?=\S)(.{1,200}?)(?<=\S)\1")
_TAG = lazy_pattern(r"</?[a-zA-Z][^<>]{0,300}>")
_FIRST_SENTENCE = lazy_pattern(r".{10,400}?[.!?。！？](?=\s|$)")
_MIN_SENTENCE_WORDS = 4
_MAX_INTRO_LINES = 120
_POINTS_ELSEWHERE = load_pattern("points_elsewhere")
_COMMAND_HEADING = load_pattern("command_heading")
_PROMPT = lazy_pattern(r"(?:\$|%|❯|>)\s+")
_COMMAND = lazy_pattern(r"(?:\./|\.venv/|~/)?[a-zA-Z][\w./+-]*(?:\s|$)")
_MAX_COMMANDS = 4
_MAX_HEADINGS = 12


def find_readme(tree: ProjectFiles) -> Document | None:
    """Return the README in the project's root folder."""
    present = {name.lower(): name for name in reversed(tree.list_root())}
    return tree.first(*(present[name] for name in _README_NAMES if name in present))


def learn_readme(tree: ProjectFiles) -> Iterator[ProjectFact]:
    """Yield what the README says about the project and its commands."""
    document = find_readme(tree)
    if document is None:
        return
    said = first_sentence(document)
    if said:
        yield fact_from_line(
            WHAT, "what", f"{document.path} says of the project: {said[1]}", document, said[0]
        )
    yield from find_commands(document)


def first_sentence(document: Document, *, pointing: bool = True) -> tuple[int, str] | None:
    """Return the line number and text of the first informative sentence.

    A sentence that only points elsewhere is the last resort, if `pointing` allows it.
    """
    found = _find_openings(document.lines)
    first = next(found, None)
    if first is None or not _POINTS_ELSEWHERE.search(first[1]):
        return first
    otherwise = first if pointing else None
    return next((one for one in islice(found, 4) if not _POINTS_ELSEWHERE.search(one[1])), otherwise)


def _find_openings(lines: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    """Yield the first sentence of each paragraph near the top."""
    number = skip_front_matter(lines)
    goes_on = False  # the paragraph of the line before
    while number < min(len(lines), _MAX_INTRO_LINES):
        line = lines[number].strip()
        following = lines[number + 1] if number + 1 < len(lines) else ""
        if line.startswith(("```", "~~~")):
            number = _skip_fence(lines, number)
            continue
        if line.startswith("<!--"):
            while number < len(lines) and "-->" not in lines[number]:
                number += 1
        elif not goes_on and _is_prose(line, following):
            sentence = _take_first_sentence(_join_paragraph(lines, number))
            if len(sentence.split()) >= _MIN_SENTENCE_WORDS or not sentence.isascii():
                yield number + 1, sentence
        goes_on = bool(line) and not line.startswith(("<", "[!", "![", "#")) and not _UNDERLINE.match(line)
        number += 1


def _is_prose(line: str, following: str) -> bool:
    bare = _TAG.sub("", line).strip()
    if not bare or bare.startswith(_NOT_PROSE) or _UNDERLINE.match(following) or _UNDERLINE.match(line):
        return False
    return not any(sign in line for sign in ("]: ", " | ", "•", "·"))


def _skip_fence(lines: tuple[str, ...], number: int) -> int:
    mark = lines[number].strip()[:3]
    number += 1
    while number < len(lines) and not lines[number].strip().startswith(mark):
        number += 1
    return number + 1


def _join_paragraph(lines: tuple[str, ...], number: int) -> str:
    kept: list[str] = []
    for line in lines[number : number + 12]:
        if not line.strip() or (kept and line.strip().startswith(_NOT_PROSE)):
            break
        kept.append(line.strip())
    return " ".join(kept)[:2000]


def strip_markup(text: str) -> str:
    """Return a text without tags, links and emphasis."""
    return _EMPHASIS.sub(r"\2", _LINK.sub(r"\1", _TAG.sub("", text))).strip()


def _take_first_sentence(paragraph: str) -> str:
    text = strip_markup(paragraph)
    whole = _FIRST_SENTENCE.match(text)
    return whole.group() if whole else text[:400]


def find_commands(document: Document, *, any_heading: bool = False) -> Iterator[ProjectFact]:
    """Yield the shell commands below headings such as "Install", or below any."""
    heading, given = "", 0
    number = 0
    lines = document.lines
    while number < len(lines) and given < _MAX_HEADINGS:
        title = _HEADING.match(lines[number])
        fence = _README_FENCE.match(lines[number])
        if title:
            named = title.group(1)
            heading = named if any_heading or _COMMAND_HEADING.search(named) else ""
        if not fence:
            number += 1
            continue
        end = _skip_fence(lines, number)
        if heading and fence.group(2).lower() in _SHELL_LANGUAGES:
            found = _parse_block(lines, number + 1, min(end - 1, len(lines)))
            if found:
                commands = ", ".join(quote_command(command) for _, command in found)
                text = f'{document.path}, under "{heading}": {commands}'
                yield fact_from_line(COMMANDS, f"under {heading.lower()}", text, document, found[0][0])
                given += 1
                heading = ""  # further blocks are details
        number = end


def _parse_block(lines: tuple[str, ...], start: int, end: int) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    prompted = any(_PROMPT.match(line.strip()) for line in lines[start:end])
    for number in range(start, end):
        line = lines[number].strip()
        prompt = _PROMPT.match(line)
        if prompted and not prompt:
            continue  # output
        command = line[prompt.end() :] if prompt else line
        command = command.partition(" #")[0].strip()
        if _COMMAND.match(command) and len(found) < _MAX_COMMANDS:
            found.append((number + 1, command))
    return found


_MAX_FILES = 30
_MAX_INSTRUCTIONS = 40  # of a project
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
        return self.weight >= _MIN_WEIGHT


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


def parse_instructions(document: Document, least: float = _MIN_WEIGHT) -> list[Instruction]:
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
            weight = _MIN_WEIGHT if find_kind(sentence.text) else 0.0  # the words of a rule
            weight += 0.3 if _IMPERATIVE.match(sentence.text) else 0.0
            weight += 0.3 if sentence.item and _RULE_HEADING.search(f"{heading} {sentence.heading}") else 0.0
            if weight < least:
                continue
            line = start + part.count("\n", 0, sentence.start) + 1
            text = shorten(part[sentence.start : sentence.end].replace("**", "").strip(" *_"))
            if text.count("`") % 2:  # cut in the middle of a command
                continue
            found.setdefault(text, Instruction(text, document, line, round(weight, 3)))
    return list(found.values())


def learn_instructions(tree: ProjectFiles) -> Iterator[ProjectFact]:
    """Yield the clearest statements of all instruction files."""
    every: dict[str, Instruction] = {}
    contributing = map(tree.document, tree.match(*load_names()["contributing"]))
    for document in (*find_instruction_files(tree), *filter(None, contributing)):
        for one in parse_instructions(document):
            every.setdefault(one.text.lower(), one)
    ranked = sorted(every.values(), key=lambda one: -one.weight)[:_MAX_INSTRUCTIONS]
    for one in every.values():
        if one in ranked:
            text = f"{one.document.path} says: {one.text}"
            yield fact_from_line(INSTRUCTIONS, f"says {one.text.lower()}", text, one.document, one.line)


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
