"""Tells from a transcript line's bytes whether it is worth parsing; most of a transcript is not.

Quotes inside JSON strings are escaped, so an unescaped `"type":"x"` is always the line's own structure.
A line written with spaces after its colons matches nothing here and is simply parsed.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_HEAD = b'{"type":"'
_WANTED = frozenset(
    (
        b"user",
        b"assistant",
        b"attachment",
        b"ai-title",
        b"custom-title",
        b"agent-name",
        b"summary",
        b"pr-link",
    )
)
_NEAR = 640
_ERROR = b'"is_error":true'


def skip(raw: bytes, awaited: Iterable[str]) -> bool:
    """Whether a line holds nothing of interest. `awaited` are the tool calls whose output matters."""
    if raw.startswith(_HEAD):
        kind = raw[len(_HEAD) : raw.find(b'"', len(_HEAD))]
        if kind not in _WANTED:
            return True
    # The line's kind nearly always stands near its start; only where it does not is the whole line searched.
    head = raw[:_NEAR]
    if b'"type":"progress","data":{' in head:  # repeats whole messages of a subagent
        return True
    if b'"role":"assistant"' in head or b'"type":"assistant"' in head:
        return False
    if b'"type":"tool_result"' in head:
        return _dull_result(raw, awaited)
    if b'"type":"attachment"' not in head:
        if b'"type":"progress","data":{' in raw:
            return True
        if b'"type":"assistant"' in raw:
            return False
        if b'"type":"tool_result"' in raw:
            return _dull_result(raw, awaited)
        if b'"type":"user"' in raw:
            return False
        if b'"type":"attachment"' not in raw:
            return b'"type":"system"' in raw
    return b'"type":"queued_command"' not in raw


def _dull_result(raw: bytes, awaited: Iterable[str]) -> bool:
    if any(call.encode() in raw for call in awaited):
        return False
    if _ERROR in raw or b'"bashEditDiff":{' in raw:  # a call that the user rejected is an error, too
        return False
    # The output of Read says `"type":"text"` of itself; any other is a text block beside the output.
    return raw.count(b'"type":"text"') == raw.count(b'"toolUseResult":{"type":"text"')
