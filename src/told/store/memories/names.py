"""Name the status, trust and scope of memories."""

from __future__ import annotations

from typing import Protocol

ACTIVE, SUPERSEDED, QUARANTINED, FORGOTTEN = "active", "superseded", "quarantined", "forgotten"
ARCHIVED, CANDIDATE, DISMISSED = "archived", "candidate", "dismissed"
UNCONFIRMED = (CANDIDATE, DISMISSED)  # only found on request
USER, AGENT, TOOL, TEAM = "user", "agent", "tool", "team:"
STRANGER = "~"  # prefix of the machine of an operation that this machine or person did not write
GLOBAL, PROJECT, SHARED = "global", "project:", "shared:"
PRIVATE = "private"  # applies everywhere; `private:<project key>` in one project
_PRIVATE_PROJECT = f"{PRIVATE}:"
PRIVATE_HERE = f"{PRIVATE}:project"  # the name of the private scope of the current project


class _Scoped(Protocol):
    @property
    def scope(self) -> str: ...


def is_private(given: _Scoped | str) -> bool:
    """Tell whether a memory or a scope never leaves this machine."""
    scope = given if isinstance(given, str) else given.scope
    return scope == PRIVATE or scope.startswith(_PRIVATE_PROJECT)


def project_key(scope: str) -> str:
    """Return the key of the project that a scope is limited to, or an empty text."""
    if scope.startswith(_PRIVATE_PROJECT):
        return scope.removeprefix(_PRIVATE_PROJECT)
    return scope.removeprefix(PROJECT) if scope.startswith(PROJECT) else ""


def private_scope(scope: str) -> str:
    """Return the private scope that applies where a scope does."""
    if is_private(scope):
        return scope
    key = project_key(scope)
    return f"{_PRIVATE_PROJECT}{key}" if key else PRIVATE


def format_scope(scope: str) -> str:
    """Return `project`, `global`, `private`, `private:project` or the name of a shared scope."""
    if is_private(scope):
        return PRIVATE if scope == PRIVATE else PRIVATE_HERE
    return "project" if scope.startswith(PROJECT) else scope.removeprefix(SHARED)


def describe_scope(scope: str, here: str) -> str:
    """Return the name of a scope as the current project's folder has it; another project's by its key."""
    if here != GLOBAL and scope in (here, private_scope(here)):
        return format_scope(scope)
    return scope.removeprefix(PROJECT).removeprefix(SHARED)
