"""Read decision records, plans and runbooks of a project."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from posixpath import normpath

from told.onboard.files import (
    DECISIONS,
    PLANS,
    RUNBOOKS,
    Document,
    ProjectFact,
    ProjectFiles,
    fact_from_line,
    load_names,
    load_pattern,
    skip_front_matter,
)
from told.onboard.instructions import find_commands, find_readme, strip_markup
from told.pattern import lazy_pattern
from told.store.memories.records import DECISION

_HEADING = lazy_pattern(r"(#{1,6})[ \t]+(.{1,200}?)[ \t#]*$")
_ITEM = lazy_pattern(r"(\s*)(?:[-*+]|\d{1,3}[.)])[ \t]+(?:\[([ xX])\][ \t]+)?(?=\S)")
_FENCES = ("```", "~~~")
_SENTENCE_END = lazy_pattern(r"(?<=[.!?])\s+(?=[A-Z`*\"(])")
_LOCAL_LINK = lazy_pattern(r"\[([^\][]{0,200})\]\((?!\w+:|#|/)([^()\s#]{1,300})")
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
_RUNBOOK = load_pattern("runbook")
_WARNING = load_pattern("warning")
_ADMONITION = lazy_pattern(r"(?i)\[!(?:warning|caution|important|danger)\]\s*")
_MIN_WORDS, _MAX_WORDS = 3, 60
_MAX_BLOCK = 2000  # characters
_MAX_RECORDS = 40
_MAX_ITEMS = 12  # of a file
_MAX_RUNBOOKS = 8


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
    found = next((found for text in stated if (found := _STATUS.search(strip_markup(text)))), None)
    return " ".join(f"{found[1].lower()}{found[2]}".split()).rstrip(".") if found else ""


def _make_decision(
    document: Document, line: int, title: str, status: str, said: str
) -> Iterator[ProjectFact]:
    name = _NUMBER.sub("", strip_markup(title)).rstrip(".")
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


def learn_plans(tree: ProjectFiles) -> Iterator[ProjectFact]:
    """Yield the open items of STATE.md, ROADMAP.md and the like."""
    for path in tree.match(*load_names()["plans"]):
        document = tree.document(path)
        if document is None:
            continue
        blocks = [one for one in _split_blocks(document) if not _PAST.search(one.heading) and one.level]
        with_items = {one.heading for one in blocks if one.item}
        current = [
            one for one in blocks
            if (one.item and not one.nested and not one.done) or one.heading not in with_items
        ]  # fmt: skip
        for one in current[:_MAX_ITEMS]:
            said = _first_sentence(one.text)
            if len(said.split()) < _MIN_WORDS - 1:
                continue
            text = f'{document.path}, under "{strip_markup(one.heading)}": {said}'
            yield fact_from_line(PLANS, f"plan {said.lower()}", text, document, one.line)


def learn_runbooks(tree: ProjectFiles) -> Iterator[ProjectFact]:
    """Yield the commands and warnings of runbooks that the README links to."""
    for document in islice(_find_runbooks(tree), _MAX_RUNBOOKS):
        for fact in find_commands(document, any_heading=True):
            yield ProjectFact(RUNBOOKS, fact.topic, fact.text, fact.path, fact.line, fact.quote)
        warnings = {said: one for one in _split_blocks(document) for said in _find_warnings(one)}
        for said, one in islice(warnings.items(), _MAX_ITEMS):
            text = f"{document.path} warns: {said}"
            yield fact_from_line(RUNBOOKS, f"warns {said.lower()}", text, document, one.line)


def _find_runbooks(tree: ProjectFiles) -> Iterator[Document]:
    readme = find_readme(tree)
    linked = _LOCAL_LINK.findall(readme.text) if readme else []
    seen: set[str] = set()
    for name, target in linked:
        path = normpath(target)
        if not _RUNBOOK.search(f"{name} {path}"):
            continue
        below = tree.match(f"{path.lower()}/*.md")
        for one in below or [path]:
            is_new = one not in seen and one.lower().endswith((".md", ".rst"))
            seen.add(one)
            if is_new and (document := tree.document(one)):
                yield document


def _find_warnings(block: _Block) -> Iterator[str]:
    text = block.text
    is_marked = bool(_ADMONITION.match(text))
    for sentence in _SENTENCE_END.split(strip_markup(_ADMONITION.sub("", text))):
        is_warning = is_marked or _WARNING.search(sentence)
        if is_warning and _MIN_WORDS <= len(sentence.split()) <= _MAX_WORDS and not sentence.endswith(":"):
            yield sentence
        is_marked = False


def _first_sentence(text: str) -> str:
    return _SENTENCE_END.split(strip_markup(text), maxsplit=1)[0]


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
