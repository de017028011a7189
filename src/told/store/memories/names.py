"""Name the status, trust and scope of memories."""

from __future__ import annotations

ACTIVE, SUPERSEDED, QUARANTINED, FORGOTTEN = "active", "superseded", "quarantined", "forgotten"
ARCHIVED, CANDIDATE, DISMISSED = "archived", "candidate", "dismissed"
UNCONFIRMED = (CANDIDATE, DISMISSED)  # only found on request
USER, AGENT, TOOL, TEAM = "user", "agent", "tool", "team:"
GLOBAL, PROJECT, SHARED = "global", "project:", "shared:"
PRIVATE = "private"  # a scope that never leaves the machine
