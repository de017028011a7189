"""The user's settings, as a hook reads them: whatever the file says, an agent is never kept waiting by it."""

from __future__ import annotations

from told.settings import tolerant

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from told.settings import OwnRule, Settings


def settings_of(environ: Mapping[str, str]) -> Settings:
    """Return the settings; safe ones, with which nothing said is stored, if they are not understood."""
    return tolerant(environ, _check)


def _check(rule: OwnRule) -> None:
    from told.guard.own_rules import check  # only where the file changed since it was last read

    check(rule)
