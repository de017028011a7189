"""Read the decision records of a project."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from told.onboard.files import (
    DECISIONS,
    Document,
    ProjectFact,
    ProjectFiles,
    fact_from_line,
    load_names,
    load_pattern,
    skip_front_matter,
)
from told.pattern import lazy_pattern
from told.store.memories.records import DECISION

_HEADING = lazy_pattern(r"(#{1,6})[ \t]+(.{1,200}?)[ \t#]*$")
_ITEM = lazy_pattern(r"(\s*)(?:[-*+]|\d{1,3}[.)])[ \t]+(?:\[([ xX])\][ \t]+)?(?=\S)")
_FENCES = ("```", "~~~")
_LINK = lazy_pattern(r"!?\[([^\][]{0,200})\](?:\([^()\s]{0,400}[^()]{0,100}\)|\[[^\][]{0,100}\])")
_EMPHASIS = lazy_pattern(r"(\*\*|__)(?=\S)(.{1,200}?)(?<=\S)\1")
_TAG = lazy_pattern(r"</?[a-zA-Z][^<>]{0,300}>")
_SENTENCE_END = lazy_pattern(r"(?<=[.!?])\s+(?=[A-Z`*\"(])")
# A line such as `Date: 2026-11-03` or `* **Status:** accepted`.
_FIELD = load_pattern("decision_field")
_STATUS = load_pattern("decision_status")
_NUMBER = lazy_pattern(r"(?i)^(?:\d{4}-\d\d-\d\d|(?:adr|rfc|decision)[\s:#-]*\d*|\d{1,5})[\s.:)–—-]+(?=\S)")  # noqa: RUF001
_IN_FORCE = ("accepted", "approved", "amended")
_NOT_YET = ("proposed", "draft")
_OUTCOME = load_pattern("decision_heading")
_NOT_RECORDS = load_pattern("no_decision")
_PAST = load_pattern("done_heading")
_DONE = ("~~", "✅", "✔", "☑")
_MAX_BLOCK = 2000  # characters
_MAX_RECORDS = 40


@dataclass(frozen=True, slots=True)
class _Block:
    """A paragraph, or an item of a list, with its place."""

    text: str
    line: int  # from 1
    heading: str  # above it
    level: int  # of that heading; 0 without one
    item: bool = False
    nested: bool = False  # an item below another
    done: bool = False  # its box is checked


def learn_decisions(tree: ProjectFiles) -> Iterator[ProjectFact]:
    """Yield the decisions of decision records and of DECISIONS.md."""
    names = load_names()
    for path in tree.match(*names["decision_records"])[:_MAX_RECORDS]:
        document = None if _NOT_RECORDS.search(path.rpartition("/")[2]) else tree.document(path)
        if document:
            yield from _parse_record(document)
    for path in tree.match(*names["decision_lists"]):
        if document := tree.document(path):
            yield from _parse_decision_list(document)


def _parse_record(document: Document) -> Iterator[ProjectFact]:
    """Yield the decision of one record: its title, status and first sentence."""
    title = next((found for line in document.lines if (found := _HEADING.match(line))), None)
    if title is None:
        return
    blocks = list(_split_blocks(document))
    stated = [found.group(1) for line in document.lines if (found := _FIELD.match(line))]
    stated += [one.text for one in blocks if one.heading.lower() == "status"]
    said = next((one.text for one in blocks if _OUTCOME.match(one.heading)), "")
    line = document.find_line(title.group())
    yield from _make_decision(document, line, title.group(2), _find_status(stated), said)


def _parse_decision_list(document: Document) -> Iterator[ProjectFact]:
    """Yield each section below the title as a decision, or each item of a plain list."""
    sections: dict[str, list[_Block]] = {}
    for one in _split_blocks(document):
        if one.level > 1 and not _PAST.search(one.heading):
            sections.setdefault(one.heading, []).append(one)
        elif one.level < 2 and one.item and not (one.nested or one.done):
            yield from _make_decision(document, one.line, one.text, "", "")
    for heading, blocks in islice(sections.items(), _MAX_RECORDS):
        said = next((one.text for one in blocks if not _FIELD.match(one.text)), "")
        status = _find_status([found.group(1) for one in blocks if (found := _FIELD.match(one.text))])
        yield from _make_decision(document, blocks[0].line, heading, status, said)


def _find_status(stated: list[str]) -> str:
    """Return a status, such as "accepted" or "superseded by 0007"."""
    found = next((found for text in stated if (found := _STATUS.search(_strip_markup(text)))), None)
    return " ".join(f"{found[1].lower()}{found[2]}".split()).rstrip(".") if found else ""


def _make_decision(
    document: Document, line: int, title: str, status: str, said: str
) -> Iterator[ProjectFact]:
    name = _NUMBER.sub("", _strip_markup(title)).rstrip(".")
    if not name:
        return
    marked = f" ({status})" if status else ""
    if status and not status.startswith(_IN_FORCE):
        what = "not made yet" if status.startswith(_NOT_YET) else "no longer in force"
        text = f"Decision {what}{marked}: {name}"
        yield fact_from_line(DECISIONS, f"decision {name.lower()}", text, document, line)
        return
    text = f"Decision{marked}: {name}{f'. {_first_sentence(said)}' if said else ''}"
    yield fact_from_line(DECISIONS, f"decision {name.lower()}", text, document, line, kind=DECISION)


def _strip_markup(text: str) -> str:
    """Return a text without tags, links and emphasis."""
    return _EMPHASIS.sub(r"\2", _LINK.sub(r"\1", _TAG.sub("", text))).strip()


def _first_sentence(text: str) -> str:
    return _SENTENCE_END.split(_strip_markup(text), maxsplit=1)[0]


def _split_blocks(document: Document) -> Iterator[_Block]:
    """Yield paragraphs and items outside of code, tables and comments."""
    heading, level, kept = "", 0, list[_Block]()
    fenced = commented = False
    for number in range(skip_front_matter(document.lines), len(document.lines)):
        raw = document.lines[number]
        line = raw.strip().removeprefix(">").strip()
        commented = (commented or line.startswith("<!--")) and "-->" not in line
        is_fence = line.startswith(_FENCES)
        fenced ^= is_fence
        title = None if fenced else _HEADING.match(raw)
        if fenced or is_fence or commented or title or not line or line.startswith(("|", "<", "---", "===")):
            yield from kept
            kept = []
            if title:
                heading, level = title.group(2), len(title.group(1))
            continue
        item = _ITEM.match(raw)
        if item or not kept or _FIELD.match(kept[0].text) or _FIELD.match(line):
            yield from kept
            text = raw[item.end() :].strip() if item else line
            done = bool(item and (item.group(2) or " ") in "xX") or text.startswith(_DONE)
            nested = bool(item and len(item.group(1).expandtabs(4)) > 1)
            kept = [_Block(text, number + 1, heading, level, bool(item), nested, done)]
        elif len(kept[0].text) < _MAX_BLOCK:
            one = kept[0]
            text = f"{one.text} {line}"
            kept = [_Block(text, one.line, heading, level, one.item, one.nested, one.done)]
    yield from kept
