"""The query planner: asks the index for what is rare, and lets what is common only take part in the ranking.

Ranking a row costs the index far more than finding it, so a question is held to the rows of its rare terms.
"""

from __future__ import annotations

BUDGET = 2000  # rows that may be ranked
COMMON = 12  # common terms that take part in ranking


def plan(
    frequencies: dict[str, int],
    total: int,
    budget: int = BUDGET,
    common: int = COMMON,
    must: tuple[str, ...] = (),
) -> str:
    """Build the expression for the index; empty when no term can match.

    Args:
        frequencies: How many turns have each quoted phrase (counted up to some cap).
        total: How many turns there are.
        budget: How many turns may be ranked.
        common: How many of the terms beyond the budget still take part in ranking.
        must: Phrases that a turn has to have.
    """
    terms = [term for term in frequencies if frequencies[term] > 0 and term not in must]
    if must:
        required = " AND ".join(must)
        return f"{required} AND ({_any([*must, *terms[: 2 * common]])})" if terms else required
    if min(total, sum(frequencies[term] for term in terms)) <= budget:
        return _any(terms)
    by_rarity = sorted(terms, key=lambda term: (frequencies[term], -len(term)))
    rare: list[str] = []
    for term in by_rarity:
        if rare and sum(frequencies[one] for one in rare) + frequencies[term] > budget:
            break
        rare.append(term)
    others = by_rarity[len(rare) : len(rare) + common]
    # The terms of the left side are counted twice in the ranking, which suits rare ones.
    return f"({_any(rare)}) AND ({_any([*rare, *others])})" if others else _any(rare)


def too_common(frequencies: dict[str, int], cap: int) -> bool:
    """Tell whether even the rarest term reaches the cap, so that only the newest turns can be ranked."""
    known = [count for count in frequencies.values() if count > 0]
    return bool(known) and min(known) >= cap


def scoped(expression: str, project_token: str = "") -> str:
    """Restrict an expression to one project, if one is named.

    The project's token is no word that anyone says, so the text needs no restriction to its own columns,
    which would make every match a quarter slower.
    """
    return f'{{project}}:"{project_token}" AND ({expression})' if project_token else expression


def _any(terms: list[str]) -> str:
    """Join phrases so that any of them matches."""
    return " OR ".join(terms)
