"""What a run found out about an agent."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

FILES, START, PROMPT, COMPACTION, UNINSTALL = "files", "start", "prompt", "compaction", "uninstall"
LISTED, CALLED, WRITTEN, OFFERED = "listed", "called", "written", "offered"
COLUMNS = {
    FILES: "session files read",
    START: "brief at start",
    PROMPT: "brief at prompt",
    COMPACTION: "survives compaction",
    LISTED: "MCP listed",
    CALLED: "tool call works",
    WRITTEN: "checkpoint before compaction",
    OFFERED: "checkpoint offered at the next start",
    UNINSTALL: "uninstall clean",
}


@dataclass(frozen=True)
class Finding:
    """Whether something works; None where the agent does not allow it."""

    works: bool | None
    note: str = ""

    @property
    def text(self) -> str:
        """As it stands in the table."""
        if self.works is None:
            return self.note or "not possible"
        plain = "yes" if self.works else "**no**"
        return f"{plain}: {self.note}" if self.note else plain


@dataclass
class Row:
    """All findings about one agent."""

    agent: str
    title: str
    version: str
    remark: str = ""
    findings: dict[str, Finding] = field(default_factory=dict)
    also: dict[str, Finding] = field(default_factory=dict)  # what has no column
    figures: dict[str, float] = field(default_factory=dict)

    @property
    def works(self) -> bool:
        """Whether all of it works that the agent allows."""
        return all(one.works is not False for one in (*self.findings.values(), *self.also.values()))

    def data(self) -> dict[str, Any]:
        """Return all of it for JSON."""
        return {**asdict(self), "works": self.works}
