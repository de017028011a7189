"""Finds what told handed an agent in the requests that reached the model."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the model follows this script
    from lab.model import Request


BUDGET = 450
_BRIEF = re.compile(r"<told>.*?</told>", re.DOTALL)
_QUOTED = re.compile(r"<(user|agent|tool) ([a-z2-7]{5})>.*?</\1 \2>", re.DOTALL)


def briefs(request: Request) -> tuple[str, ...]:
    """Return what told handed over, in order, each once."""
    found = [brief for text in request.texts for brief in _BRIEF.findall(_plain(text))]
    return tuple(dict.fromkeys(found))


def _plain(text: str) -> str:
    return html.unescape(text) if "&lt;told&gt;" in text else text  # Gemini CLI escapes what hooks say


def holding(requests: Iterable[Request], words: str) -> tuple[str, ...]:
    """Return the briefs with these words in the first of the requests that has any; case does not matter."""
    for request in requests:
        found = tuple(brief for brief in briefs(request) if words.casefold() in brief.casefold())
        if found:
            return found
    return ()


def own_words(brief: str) -> str:
    """Return a brief without what it quotes: what is left are memories, and no record of a session."""
    return _QUOTED.sub("", brief)


def tokens(text: str) -> int:
    """Return about how many tokens a text costs."""
    return -(-len(text.encode()) // 4)
