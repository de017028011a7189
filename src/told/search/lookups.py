"""Recognise turns that only asked told: their words echo what told was asked and what it answered."""

from __future__ import annotations

from told.pattern import lazy_pattern

# Commands and tools that read; a turn that also does something else is no lookup.
_COMMANDS = "ask|brief|explain|files|find|list|memories|query|reason|recall|search|show|timeline|why|wonder"
_SHELL = lazy_pattern(rf"(?:^|[\s;&|(\"'/\\])told(?:\.exe)?[\"']?\s+(?:{_COMMANDS})\b")
_TOOL = lazy_pattern(r"(?:^|[^a-z])told[^a-z]+(?:files|get|reason|search|sessions|timeline|wonder)$")
_SLASH = lazy_pattern(r"/mem:(?:search|wonder|reason|why|stats)\b|\(told\) The user typed `/mem:")
_CALL = lazy_pattern(r"\[([^\]\n]+)\] ?(.*)")
_NEXT_COMMAND = lazy_pattern(r"\s*(?:&&|;)\s")


def is_lookup(asked: str, steps: str) -> bool:
    """Tell whether a turn only asked told something."""
    if _SLASH.match(asked):
        return True
    calls = [line for line in steps.splitlines() if line.startswith("[")]
    return bool(calls) and all(bool(short) and not rest for short, rest in map(_split_lookup, calls))


def shorten_lookup(call: str) -> str:
    """Return the line of a tool call, without what it asks told."""
    short, rest = _split_lookup(call)
    return short + rest if short else call


def _split_lookup(call: str) -> tuple[str, str]:
    """Return a call without what it asks told, and the commands after that; empty for another call."""
    found = _CALL.match(call)
    if not found:
        return "", ""
    tool, words = found.groups()
    if _TOOL.search(tool.lower()) or (tool == "ToolSearch" and "mcp__told__" in words):
        return f"[{tool}]", ""
    asks = _SHELL.search(words)
    if not asks:
        return "", ""
    after = _NEXT_COMMAND.search(words, asks.end())
    return f"[{tool}] {words[: asks.end()]}", words[after.start() :] if after else ""
