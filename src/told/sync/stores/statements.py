"""Turn what readers found into statements that told accepts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace

from told.hashing import blake2b
from told.pattern import lazy_pattern
from told.store.memories.names import ACTIVE
from told.sync.stores.item import Item, LeftOut
from told.text import add_full_stop, clean, cut_at_word, fix_surrogates, shorten

MAX_TEXT = 3_900  # characters; told accepts 4,000, and a placeholder may be longer than its secret
MAX_PARTS = 5
_MAX_READ = 200_000  # characters of one text
_MAX_NAME = 200
_MAX_NAMES = 30
_YEAR_2100 = 4_102_444_800_000
_MARKER = lazy_pattern(r"(?:#{1,6}|[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?")
_FENCES = ("```", "~~~")
_EMPHASIS = lazy_pattern(r"\*\*|__(?=\S)|(?<=\S)__")


def make_statements(found: Iterable[Item | LeftOut]) -> Iterator[Item | LeftOut]:
    """Clean items, split long ones, and leave out empty and repeated ones."""
    seen: set[str] = set()
    for one in found:
        if isinstance(one, LeftOut):
            yield replace(one, source=_source(one.source))
            continue
        parts = list(_split_item(one))
        if parts[0].source in seen:
            yield LeftOut(parts[0].source, "its id appears twice")
            continue
        seen.add(parts[0].source)
        yield from parts


def join_title(title: str, body: str) -> str:
    """Put a title before a text that does not begin with it."""
    title, body = title.strip(), body.strip()
    if not title or not body or body.startswith(title):
        return body or title
    return f"{title.rstrip('.')}.\n{body}"


def add_facts(item: Item, title: str, facts: Iterable[str]) -> Iterator[Item]:
    """Yield an observation, and each of its facts as a statement about it."""
    facts = list(facts)
    has_text = bool(item.text.strip())
    if has_text or not facts:
        yield item
    for number, fact in enumerate(facts, 1):
        yield replace(
            item,
            source=f"{item.source}/fact/{number}",
            text=fact,
            kind="fact",
            links=(("about", item.source),) if has_text else (),
            context=title,
        )


def text_key(*values: str) -> str:
    """Return a short hash, as the id of a text that has none."""
    return blake2b("\0".join(values).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def one_line(text: str) -> str:
    """Put Markdown on one line, one sentence for each bullet and heading."""
    lines: list[str] = []
    is_code = False
    for raw in clean(text).splitlines():
        line = " ".join(raw.split())
        if line.startswith(_FENCES):
            is_code = not is_code
            continue
        marker = None if is_code else _MARKER.match(line)
        content = line[marker.end() :] if marker else line
        if not any(map(str.isalnum, content)):
            continue
        if lines and (marker or line.startswith("**")):
            lines[-1] = add_full_stop(lines[-1])
        lines.append(add_full_stop(content) if marker and line.startswith("#") else content)
    return _EMPHASIS.sub("", " ".join(lines))


def _split_item(item: Item) -> Iterator[Item | LeftOut]:
    source = _source(item.source) or f"text/{text_key(item.text)}"
    text = one_line(item.text[:_MAX_READ])
    if not any(map(str.isalnum, text)):
        yield LeftOut(source, "it has no text")
        return
    tidy = replace(
        item,
        source=source,
        project=_name(item.project),
        created=_time(item.created),
        updated=max(_time(item.created), _time(item.updated)),
        status=item.status or ACTIVE,
        importance=min(10.0, max(0.0, item.importance)) if math.isfinite(item.importance) else 0.0,
        entities=tuple(dict.fromkeys(filter(None, map(_name, item.entities))))[:_MAX_NAMES],
        links=tuple(
            (kind, _source(other)) for kind, other in item.links if _source(other) not in ("", source)
        ),
        agent=_name(item.agent),
        session=_name(item.session),
        context=shorten(one_line(item.context[:_MAX_READ]), _MAX_NAME),
    )
    parts = _split_text(text)
    for number, part in enumerate(parts, 1):
        is_first = number == 1
        yield replace(
            tidy,
            source=source if is_first else f"{source}#{number}",
            text=part,
            links=tidy.links if is_first else (("about", source),),
        )
    kept = sum(map(len, parts))
    if len(item.text) > _MAX_READ or kept + len(parts) < len(text):
        yield LeftOut(source, f"longer than told accepts: {kept:,} of {len(item.text):,} characters imported")


def _split_text(text: str) -> list[str]:
    """Split a long text at the ends of sentences."""
    parts: list[str] = []
    while text and len(parts) < MAX_PARTS:
        part = text[:MAX_TEXT]
        if len(text) > MAX_TEXT:
            end = max(part.rfind(sign) for sign in (". ", "! ", "? ", "; "))
            part = part[: end + 1] if end > MAX_TEXT // 2 else cut_at_word(text, MAX_TEXT)
        parts.append(part.strip())
        text = text[len(part) :].strip()
    return [part for part in parts if any(map(str.isalnum, part))]


def _name(value: str) -> str:
    if len(value) <= _MAX_NAME and value.isprintable():
        return value.strip()
    return shorten(clean(fix_surrogates(value[: 10 * _MAX_NAME])), _MAX_NAME)


def _source(value: str) -> str:
    """Return an id on one line; of a long one the start and a hash."""
    short = _name(value)
    return short if len(value) <= _MAX_NAME else f"{short[:-1]}-{text_key(value)}"


def _time(value: int) -> int:
    return value if 0 < value < _YEAR_2100 else 0
