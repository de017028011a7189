"""Puts the user's own rules into a config file's text, and takes them out."""

from __future__ import annotations

from told.errors import UsageError
from told.settings import CONFIG
from told.settings.first import literal
from told.settings.reading import parsed
from told.settings.writing import edited, says

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def with_rule(text: str, name: str, pattern: str, example: str) -> str:
    """Return a config file's text with one more rule; one of the same name is replaced.

    Raises:
        UsageError: the text is not understood.
        MissingError: it cannot be changed without changing more.
    """
    wanted = parsed(text, CONFIG)
    rules = _rules_of(wanted)
    given = {"name": name, "pattern": pattern, "example": example}
    at = _place(rules, name)
    if at < len(rules):
        rules[at] = given
        return edited(text, lambda document: document["redaction"]["rules"][at].update(given), wanted)
    rules.append(given)
    lines = "".join(f"{part} = {literal(value)}\n" for part, value in given.items())
    appended = f"{text.rstrip()}\n\n[[redaction.rules]]\n{lines}".lstrip()
    if says(appended, wanted):
        return appended

    def change(document: Any) -> None:
        import tomlkit

        if "redaction" not in document:
            document["redaction"] = tomlkit.table()
        document["redaction"]["rules"] = rules

    return edited(text, change, wanted)


def without_rule(text: str, name: str) -> str:
    """Return a config file's text without a rule; the same text if there is none of that name.

    Raises:
        UsageError: the text is not understood.
        MissingError: it cannot be changed without changing more.
    """
    wanted = parsed(text, CONFIG)
    rules = _rules_of(wanted)
    at = _place(rules, name)
    if at == len(rules):
        return text
    del rules[at]
    if rules:
        return edited(text, lambda document: document["redaction"]["rules"].__delitem__(at), wanted)
    del wanted["redaction"]["rules"]
    return edited(text, lambda document: document["redaction"].__delitem__("rules"), wanted)


def _rules_of(tables: dict[str, Any]) -> list[Any]:
    redaction = tables.setdefault("redaction", {})
    rules = redaction.setdefault("rules", []) if isinstance(redaction, dict) else None
    if not isinstance(rules, list):
        raise UsageError("redaction.rules in the file must be tables: [[redaction.rules]].")
    return rules


def _place(rules: list[Any], name: str) -> int:
    """Return which of the rules is called so; how many there are, if none is."""
    named = (at for at, one in enumerate(rules) if isinstance(one, dict) and one.get("name") == name)
    return next(named, len(rules))
