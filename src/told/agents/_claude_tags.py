"""Removes what agents put around a person's words: hook output, reminders and context in tags."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def without(text: str, tags: Iterable[str]) -> str:
    """Cut out every `<tag>…</tag>`; a tag that is never closed stays, for it may be the user's own."""
    for tag in tags:
        opening, closing = f"<{tag}>", f"</{tag}>"
        kept, at = [], 0
        while (start := text.find(opening, at)) >= 0 and (end := text.find(closing, start)) >= 0:
            kept.append(text[at:start])
            at = end + len(closing)
        if kept:
            text = "".join((*kept, text[at:]))
    return text.strip()


def within(text: str, tag: str) -> str:
    """Return what stands in the first `<tag>…</tag>`, or nothing."""
    start = text.find(f"<{tag}>")
    if start < 0:
        return ""
    start += len(tag) + 2
    end = text.find(f"</{tag}>", start)
    return text[start:end].strip() if end >= 0 else ""
