"""A block of rules and facts for AGENTS.md or CLAUDE.md, between marks."""

from __future__ import annotations

from collections.abc import Iterable

from told.store.memories.records import DECISION, RULE, Memory

BEGIN, END = "<!-- told-memories:begin -->", "<!-- told-memories:end -->"
_TITLE = "## What we decided"
_HEADINGS = {RULE: "Rules", DECISION: "Decisions"}
_OTHERS = "Facts"


def format_block(memories: Iterable[Memory]) -> str:
    """Return the block with what the user said, decided or confirmed."""
    sections: dict[str, list[str]] = {name: [] for name in (*_HEADINGS.values(), _OTHERS)}
    for one in memories:
        if one.is_decided_by_user:
            text = one.text.replace("<!--", "<! --").replace("-->", "-- >")
            context = f" ({one.context})" if one.context else ""
            sections[_HEADINGS.get(one.kind, _OTHERS)].append(f"- {text}{context}")
    lines = [BEGIN, _TITLE]
    for name, entries in sections.items():
        lines += ["", f"### {name}", "", *entries] if entries else []
    return "\n".join([*lines, END])


def replace_block(text: str, block: str) -> str:
    """Return a file's text with the block in place of the old one, or at its end."""
    start = text.find(f"{BEGIN}\n")
    end = text.find(END, start)
    if start >= 0 and end >= 0:
        return text[:start] + block + text[end + len(END) :]
    gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
    return f"{text}{gap}{block}\n"
