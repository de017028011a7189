"""When told is called, in its own words; every agent has other names for these moments."""

from __future__ import annotations

START, PROMPT, COMPACT, COMPACTED = "start", "prompt", "compact", "compacted"
STOP, END, HELPER, TOOL = "stop", "end", "helper", "tool"

# Stands between what the user typed and told's text about it, in agents that show their hooks both.
SLASH_END = "\n\n(told) "
