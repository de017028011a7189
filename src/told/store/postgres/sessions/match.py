"""Match a team's turns by their words.

PostgreSQL selects the matches that may be best; their scores are those of SQLite's bm25.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from math import log
from typing import NamedTuple

from told.pattern import lazy_pattern
from told.store.fts import match_any, match_in, quote_phrase
from told.store.postgres.database import Connection, Viewer
from told.store.postgres.fts import (
    Phrase,
    format_tsquery,
    list_phrases,
    parse_expression,
    split_words,
    to_tsquery,
)
from told.store.postgres.sessions.queries import TeamQueries
from told.store.sessions.match import MAX_ASKED, MAX_QUESTION
from told.store.sessions.schema import FIRST_NOTE
from told.words import WORD

# The weight labels of the columns. What is asked for in `asked` is checked once more, because of `extra`.
LABELS = {"project": "", "asked": "A", "answered": "B", "steps": "C", "near": "D", "extra": "A"}
_COUNTED = 2001  # turns with a phrase that are counted; of more, there is an estimate
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
_SHARED_START = 2  # letters that a similar term shares
_MAX_SIMILAR = 3
_GROUPS = 3  # of phrases of similar rarity, for the rough score
# Constants of bm25, and the rarity of a phrase in half of the turns or more.
_K1, _B = 1.2, 0.75
_LEAST_RARITY = 1e-6
_PLACE = lazy_pattern(r"(\d+)([A-C]?)")


class _Weights(NamedTuple):
    """Weights of one word by its label."""

    a: float  # asked, extra
    b: float  # answered
    c: float  # steps
    d: float  # near

    @classmethod
    def of_columns(cls, weights: Sequence[float]) -> _Weights:
        """Return the weights of the columns project, asked, answered, steps, near and extra by label."""
        return cls(*weights[1:5])

    def by_label(self) -> dict[str, float]:
        """Return the weights by the labels that PostgreSQL prints."""
        return {"A": self.a, "B": self.b, "C": self.c, "": self.d}


class TeamTurnIndex(TeamQueries):
    """Full-text queries over turns; with `notes` only over checkpoints."""

    def __init__(self, connection: Connection, viewer: Viewer, *, notes: bool = False) -> None:
        super().__init__(connection, viewer)
        self._notes = notes
        self._counts: dict[str, int] = {}  # turns by query, up to _COUNTED or estimated
        self._totals: tuple[int, int] | None = None

    def turn_count(self) -> int:
        """Return how many turns are indexed."""
        return self._total()[0]

    def frequency(self, phrase: str, cap: int) -> int:
        """Count the turns that match an expression, up to `cap`."""
        query = to_tsquery(phrase, LABELS)
        if cap > _COUNTED:
            sql = "SELECT count_turns(%(team)s, %(query)s::tsquery, %(cap)s)"
            return min(int(self._fetch_value(sql, query=query, cap=cap)), cap)
        return min(self._count([query])[0], cap)

    def match(
        self, expression: str, weights: Sequence[float], limit: int, *,
        since: int = 0, until: int = 0, agent: str = "", newest: int = 0,
        long_weights: Sequence[float] = (), long_from: int = 1000,
    ) -> list[tuple[int, int, int, int, float]]:  # fmt: skip
        """Return (row, session, n, at, score) of the best matches; a lower score is better.

        `newest`: score only so many of the newest matches. `long_weights`: for answers of `long_from` bytes;
        shorter ones get a mixture.
        """
        parsed = parse_expression(expression)
        phrases = list(list_phrases(parsed))
        rarities = self._rarities(phrases)
        short = _Weights.of_columns(weights)
        long = _Weights.of_columns(long_weights or weights)
        turns, words = self._total()
        usual = words / turns if turns else 1.0
        groups = _group_by_rarity(rarities)
        found = self._fetch(
            "SELECT turn, session, n, at, size, answered_size, words FROM match_turns("
            "%(team)s, %(query)s::tsquery, %(agent)s, %(since)s, %(until)s, %(below)s, %(newest)s,"
            " %(weights)s::real[], %(terms)s::text[]::tsquery[], %(worths)s::float8[], %(usual)s, %(limit)s)",
            query=format_tsquery(parsed, LABELS), agent=agent, since=since, until=until,
            below=FIRST_NOTE + 1 if self._notes else 0, newest=newest,
            weights=[float(weight) for weight in reversed(short)], terms=[terms for terms, _ in groups],
            worths=[worth for _, worth in groups],
            usual=max(usual, 1.0), limit=limit,
        )  # fmt: skip
        counter = _PhraseCounter(phrases)
        scored = []
        for turn, session, n, at, size, answered, vector in found:
            length = _K1 * (1 - _B + _B * size / usual)
            counts = counter.count(vector)
            score = _score(counts, rarities, short, length)
            if long_weights:
                share = min(1.0, answered / long_from)
                score += (_score(counts, rarities, long, length) - score) * share
            scored.append((turn, session, n, at, -score))
        return sorted(scored, key=lambda hit: (hit[4], -hit[3], -hit[0]))

    def find_prompts(
        self, phrases: Sequence[str], parts: Sequence[str]
    ) -> list[tuple[str, int, int, str, str]]:
        """Return (native session, n, at, project key, text) of users' prompts with a phrase.

        Args:
            phrases: Matched by whole words.
            parts: Matched anywhere, for languages without spaces.
        """
        query = to_tsquery(match_in("asked", match_any(map(quote_phrase, phrases))), LABELS)
        found = self._fetch(
            """SELECT s.native, t.n, t.at, s.project_key, t.asked, m.turn IS NULL
            FROM turn t JOIN session s ON s.team = t.team AND s.session = t.session
              LEFT JOIN match_turns(%(team)s, %(query)s::tsquery) m ON m.turn = t.turn
            WHERE t.team = %(team)s AND s.kind = '' AND t.n >= 0 AND (m.turn IS NOT NULL
              OR EXISTS (SELECT FROM unnest(%(parts)s::text[]) AS part WHERE strpos(t.asked, part) > 0))
            ORDER BY t.at, t.turn""",
            query=query, parts=list(parts),
        )  # fmt: skip
        wanted = [split_words(phrase) for phrase in phrases]
        return [
            tuple(row)
            for *row, by_part in found
            if by_part or any(part in row[4] for part in parts) or _contains(split_words(row[4]), wanted)
        ]

    def session_projects(self) -> dict[str, str]:
        """Return the project keys of sessions by their native ids."""
        sql = "SELECT native, project_key FROM session WHERE team = %(team)s AND project != 0"
        return dict(self._fetch(sql))

    def shapes(self, turns: Sequence[int]) -> list[tuple[int, tuple[int, str, bool]]]:
        """Return (row, (bytes, start of the question, is it unanswered)) of turns."""
        found = self._fetch(
            f"""SELECT turn, octet_length(asked) + octet_length(answered), left(asked, {MAX_ASKED}),
              octet_length(answered) = 0 AND octet_length(asked) <= {MAX_QUESTION}
              AND right(rtrim(asked), 1) = '?'
            FROM turn WHERE team = %(team)s AND turn = ANY(%(turns)s)""",
            turns=list(turns),
        )
        return [(turn, (size, asked, asks)) for turn, size, asked, asks in found]

    def texts(self, turns: Sequence[int], *, of_told: bool = False) -> dict[int, tuple[str, str, str]]:
        """Return (asked, answered, steps) of turns by row; `of_told`: only turns that may have asked told."""
        where = " AND (strpos(steps, 'told') > 0 OR strpos(asked, '/mem:') > 0)" if of_told else ""
        found = self._fetch(
            "SELECT turn, asked, answered, steps FROM turn"
            f" WHERE team = %(team)s AND turn = ANY(%(turns)s){where}",
            turns=list(turns),
        )
        return {turn: (asked, answered, steps) for turn, asked, answered, steps in found}

    def similar_terms(self, word: str) -> list[str]:
        """Return indexed words one edit away from a word, most frequent first."""
        stem = next(iter(split_words(word)), "")
        if len(stem) < 3:
            return []
        sql = "SELECT known_words(%(team)s, %(candidates)s)"
        known = [one for (one,) in self._fetch(sql, candidates=sorted(list_edits(stem)))]
        counts = self._count([f"'{one}'" for one in known])
        nearest = sorted(zip((-count for count in counts), known, strict=True))[:_MAX_SIMILAR]
        return list(dict.fromkeys(self._spell(term) for _, term in nearest))

    def _spell(self, stem: str) -> str:
        """Return a word with a stem: stemming the stem again may change it."""
        sql = (
            "SELECT t.asked, t.answered, t.steps FROM match_turns(%(team)s, %(query)s::tsquery, most => 1) m"
            " JOIN turn t ON t.team = %(team)s AND t.turn = m.turn"
        )
        found = self._fetch(sql, query=f"'{stem}':ABC")
        for text in found[0] if found else ():
            for word in WORD.findall(text):
                if split_words(word) == [stem]:
                    return str(word).lower()
        return stem

    def _total(self) -> tuple[int, int]:
        """Return the numbers of turns and of their words."""
        if self._totals is None:
            sql = "SELECT sum(turns), sum(words) FROM turn_total WHERE team = %(team)s"
            turns, words = self._fetch(sql)[0]
            self._totals = int(turns or 0), int(words or 0)
        return self._totals

    def _count(self, queries: Sequence[str]) -> list[int]:
        """Count the turns of each query once."""
        new = [query for query in dict.fromkeys(queries) if query not in self._counts]
        if new:
            found = self._fetch(
                "SELECT query, count_turns(%(team)s, query::tsquery, %(most)s)"
                " FROM unnest(%(queries)s::text[]) AS query",
                queries=new, most=_COUNTED,
            )  # fmt: skip
            self._counts.update(found)
        return [self._counts[query] for query in queries]

    def _rarities(self, phrases: Iterable[Phrase]) -> dict[str, float]:
        """Return the rarity of each phrase by its query."""
        queries = list(dict.fromkeys(format_tsquery(phrase, LABELS) for phrase in phrases))
        total = self.turn_count()
        return {
            query: max(_LEAST_RARITY, log((max(total, count) - count + 0.5) / (count + 0.5)))
            for query, count in zip(queries, self._count(queries), strict=True)
        }


def list_edits(word: str) -> set[str]:
    """Return the words one edit away that share the first letters: one letter changed, or two swapped."""
    splits = [(word[:at], word[at:]) for at in range(_SHARED_START, len(word) + 1)]
    return {
        *(head + tail[1:] for head, tail in splits if tail),
        *(head + tail[1] + tail[0] + tail[2:] for head, tail in splits if len(tail) > 1),
        *(head + letter + tail[1:] for head, tail in splits if tail for letter in _LETTERS),
        *(head + letter + tail for head, tail in splits for letter in _LETTERS),
    } - {word}


def _group_by_rarity(rarities: Mapping[str, float]) -> list[tuple[str, float]]:
    """Return groups of phrases of similar rarity, each as one query with its worth."""
    ordered = sorted((rarity, query) for query, rarity in rarities.items() if query)
    size = -(-len(ordered) // _GROUPS) or 1
    groups = []
    for start in range(0, _GROUPS * size, size):
        group = ordered[start : start + size]
        # `ts_rank` divides by the number of words.
        groups.append((" | ".join(query for _, query in group), sum((rarity for rarity, _ in group), 0.0)))
    return groups


def _score(
    counts: Sequence[tuple[str, Mapping[str, int]]],
    rarities: Mapping[str, float],
    weights: _Weights,
    length: float,
) -> float:
    by_label = weights.by_label()
    score = 0.0
    for query, places in counts:
        often = sum(by_label[label] * count for label, count in places.items())
        score += rarities[query] * often * (_K1 + 1) / (often + length)
    return score


class _PhraseCounter:
    """Counts phrases in printed vectors."""

    def __init__(self, phrases: Sequence[Phrase]) -> None:
        self._phrases = [(format_tsquery(phrase, LABELS), phrase) for phrase in phrases if phrase.words]
        every = [phrase.words[: len(phrase.words) - phrase.prefix] for _, phrase in self._phrases]
        self._words = {word: f"'{word}':" for words in every for word in words}
        starts = {phrase.words[-1] for _, phrase in self._phrases if phrase.prefix}
        self._starts = [re.compile(f"'({re.escape(start)}[^']*)':([0-9A-C,]+)") for start in starts]

    def count(self, vector: str) -> list[tuple[str, dict[str, int]]]:
        """Return how often each phrase begins in each column; each comes as often as in the expression."""
        listed = [found for start in self._starts for found in start.findall(vector)]
        for word, printed in self._words.items():
            _, found, after = vector.partition(printed)
            if found:
                listed.append((word, after.partition(" ")[0]))
        places = {word: {int(place): label for place, label in _PLACE.findall(text)} for word, text in listed}
        known: dict[str, dict[str, int]] = {}
        result = []
        for query, phrase in self._phrases:
            if query not in known:
                known[query] = _count_places(_find_phrase(phrase, places), _labels_of(phrase))
            if known[query]:
                result.append((query, known[query]))
        return result


def _find_phrase(phrase: Phrase, places: Mapping[str, Mapping[int, str]]) -> dict[int, str]:
    """Return the places where a phrase begins, and their labels."""
    each: list[Mapping[int, str]] = [places.get(word, {}) for word in phrase.words]
    if phrase.prefix:
        start = phrase.words[-1]
        each[-1] = {
            at: label for word, own in places.items() if word.startswith(start) for at, label in own.items()
        }
    first, *others = each
    return {
        at: label for at, label in first.items()
        if all(at + step in other for step, other in enumerate(others, 1))
    }  # fmt: skip


def _labels_of(phrase: Phrase) -> Collection[str] | None:
    if phrase.columns is None:
        return None
    return {label.replace("D", "") for label in (LABELS.get(column, "D") for column in phrase.columns)}


def _count_places(places: Mapping[int, str], labels: Collection[str] | None) -> dict[str, int]:
    counts: dict[str, int] = {}
    for label in places.values():
        if labels is None or label in labels:
            counts[label] = counts.get(label, 0) + 1
    return counts


def _contains(words: Sequence[str], phrases: Iterable[Sequence[str]]) -> bool:
    """Tell whether words contain one of the phrases."""
    text = f" {' '.join(words)} "
    return any(phrase and f" {' '.join(phrase)} " in text for phrase in phrases)
