"""Checks the rules that users add: a rule has to be of use, and must not be able to hang."""

from __future__ import annotations

from told.errors import UsageError
from told.snapshot import kept, pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

    from told.settings import OwnRule

_IN_NAMES = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")
_LONGEST_NAME = 40
_LONGEST_PATTERN = 500  # characters


def check(rule: OwnRule) -> None:
    """Check a rule, which takes longer than a hook has.

    Raises:
        UsageError: the rule's name, pattern or example is of no use.
    """
    import re

    if not 0 < len(rule.name) <= _LONGEST_NAME or not _IN_NAMES.issuperset(rule.name):
        raise UsageError(
            f"The name of an own rule must be 1 to {_LONGEST_NAME} of a-z, 0-9 and -, not {rule.name!r}."
        )
    if len(rule.pattern) > _LONGEST_PATTERN:
        raise UsageError(f"The pattern of rule {rule.name} is longer than {_LONGEST_PATTERN} characters.")
    try:
        compiled = re.compile(rule.pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise UsageError(f"The pattern of rule {rule.name} is no regular expression: {error}.") from None
    from told.guard._own_rules_time import trouble_with

    why = trouble_with(rule.pattern)
    if why:
        raise UsageError(f"The pattern of rule {rule.name} {why}.")
    found = compiled.search(rule.example)
    if found is None or not found["secret" if "secret" in compiled.groupindex else 0]:
        raise UsageError(f"Rule {rule.name} does not find its own example: mend the pattern or the example.")


def compiled(rule: OwnRule) -> re.Pattern[str]:
    """Return the pattern of a rule; it is checked, unless a snapshot says that it was.

    Raises:
        UsageError: the rule is of no use.
    """
    kept(f"{__name__}:{rule.name}:{rule.pattern}:{rule.example}", lambda: _checked(rule))
    return pattern(rule.pattern)


def _checked(rule: OwnRule) -> bool:
    check(rule)
    return True
