"""Read the decision records of a project."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import dropwhile, takewhile
from typing import NamedTuple

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
# An item of a list, but for one that is done.
_ITEM = lazy_pattern(r"(?:[-*+]|\d{1,3}[.)])[ \t]+(?!\[[xX]\]|~~|[✅✔☑])(?:\[ \][ \t]+)?(\S.*)")
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
_MAX_RECORDS = 40


class _Section(NamedTuple):
    """A heading with the lines below it, outside of code, tables and comments."""

    level: int
    title: str
    line: int  # from 1
    body: list[str]


def learn_decisions(tree: ProjectFiles) -> Iterator[ProjectFact]:
    """Yield the decisions of decision records and of DECISIONS.md."""
    names = load_names()
    for path in tree.match(*names["decision_records"])[:_MAX_RECORDS]:
        document = None if _NOT_RECORDS.search(path.rpartition("/")[2]) else tree.document(path)
        if document and (sections := _split_sections(document)):
            stated = [found[1] for line in document.lines if (found := _FIELD.match(line))]
            stated += [line for one in sections if one.title.lower() == "status" for line in one.body]
            said = next((one.body for one in sections if _OUTCOME.match(one.title)), [])
            yield from _make_decision(document, sections[0], stated, said)
    for document in filter(None, map(tree.document, tree.match(*names["decision_lists"]))):
        yield from _parse_decision_list(document)


def _parse_decision_list(document: Document) -> Iterator[ProjectFact]:
    """Yield each section below the title as a decision, or each item of a plain list."""
    for one in _split_sections(document)[: _MAX_RECORDS + 1]:
        if one.level > 1 and not _PAST.search(one.title):
            stated = [found[1] for line in one.body if (found := _FIELD.match(line))]
            yield from _make_decision(document, one, stated, one.body)
        for number, line in enumerate(one.body, one.line + 1) if one.level == 1 else ():
            if item := _ITEM.match(line):
                yield from _make_decision(document, _Section(2, item[1], number, []), [], [])


def _make_decision(
    document: Document, section: _Section, stated: list[str], said: list[str]
) -> Iterator[ProjectFact]:
    """Yield a decision: its title, its status and the first sentence of what was said."""
    name = _NUMBER.sub("", _strip_markup(section.title)).rstrip(".")
    found = next(filter(None, (_STATUS.search(_strip_markup(line)) for line in stated)), None)
    status = " ".join(f"{found[1].lower()}{found[2]}".split()).rstrip(".") if found else ""
    marked = f" ({status})" if status else ""
    if status and not status.startswith(_IN_FORCE):
        what = "not made yet" if status.startswith(_NOT_YET) else "no longer in force"
        text = f"Decision {what}{marked}: {name}"
        yield fact_from_line(DECISIONS, f"decision {name.lower()}", text, document, section.line)
    elif name:
        rest = dropwhile(lambda line: not line or _FIELD.match(line), said)
        first = _SENTENCE_END.split(_strip_markup(" ".join(takewhile(bool, rest))), maxsplit=1)[0]
        text = f"Decision{marked}: {name}{f'. {first}' if first else ''}"
        yield fact_from_line(
            DECISIONS, f"decision {name.lower()}", text, document, section.line, kind=DECISION
        )


def _strip_markup(text: str) -> str:
    """Return a text without tags, links and emphasis."""
    return _EMPHASIS.sub(r"\2", _LINK.sub(r"\1", _TAG.sub("", text))).strip()


def _split_sections(document: Document) -> list[_Section]:
    found: list[_Section] = []
    fenced = False
    start = skip_front_matter(document.lines)
    for number, line in enumerate(document.lines[start:], start + 1):
        fenced ^= line.strip().startswith(_FENCES)
        title = None if fenced else _HEADING.match(line)
        if title:
            found.append(_Section(len(title[1]), title[2], number, []))
        elif found:
            is_text = not fenced and not line.strip().startswith(("|", "<", *_FENCES))
            found[-1].body.append(line.strip("> \t") if is_text else "")
    return found
