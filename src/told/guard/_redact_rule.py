"""What a rule for a kind of secret is."""

from __future__ import annotations

from told.record import record


@record
class Rule:
    """One kind of secret.

    A match begins where one of the `literals` stands, so text without one costs no regular expression.
    Repeats are bounded or possessive, which keeps the time linear. The secret is the group that matched last,
    or all of the match. Examples hold a middle dot that is not part of them, lest this looks like a leak.
    """

    name: str
    literals: tuple[str, ...]  # in lower case; of a format as it is written
    pattern: str
    examples: tuple[str, ...]
    counter_examples: tuple[str, ...] = ()
    accept: str = "filled"  # which judgement of `told.guard._redact_values` the secret has to pass
    is_format: bool = False  # known by how it begins, in an unbroken run of 18 characters or more
    # What a match has at the literal at least, where all other letters than ASCII are "?" and all are small:
    # quickly seen, and seldom there.
    look: str = ""
