"""How well the session that fixed something is found in a coding history, by questions written by hand."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import Any

from benchmarks import CannotMeasureError, code_data, measure, page, retrieval, retrieval_peers
from benchmarks.code_data import History, Session
from benchmarks.retrieval import Answer, ask, means, tuning_part
from benchmarks.retrieval_cost import COST

_QUICK = 80  # sessions
_HALVES = 2
ALL, TUNING, APART = "all", "tuning half", "held-apart half"

HOW = (
    "One invented project: sessions written by hand that each fixed or decided something, and made-up "
    "ones that worked on the same things without it. Each question has one right session; any@k says "
    "whether it is among the first k, mrr is the mean of 1 / its place (0 if it is not found). "
    "`no word shared` are the questions that share no word of five letters or more (endings aside) "
    f"with the right session. Choices may be made on the {TUNING} only (by a hash of the session's "
    "id). The baseline asks FTS5 for any word of the question; sessions by their best turn. " + COST
)


def options(parser: argparse.ArgumentParser) -> None:
    """Add what only this benchmark takes."""
    retrieval.model_option(parser)
    retrieval_peers.options(parser)
    page.option(parser)


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Score told's retrieval, a plain full-text search beside it, and other tools if asked for."""
    path = arguments.data or os.path.join(code_data.FOLDER, "parcels.txt")
    try:
        history = code_data.history(path, _QUICK if arguments.quick else code_data.SESSIONS)
    except OSError as error:
        raise CannotMeasureError(f"{path} cannot be read: {error}") from error
    corpus = history.corpus()
    figures: dict[str, Any] = {
        "benchmark": "code",
        "sessions": len({turn.session for turn in corpus.said}),
        "turns": len(corpus.said),
        "questions": len(corpus.questions),
    }
    costs: dict[str, Any] = {}
    for name, way in retrieval.ways(arguments).items():
        answers, cost = ask(way, [corpus])
        figures[name] = summary(history, answers[0])
        costs[name] = cost.figures()
    state: dict[str, str] = {}
    for name in retrieval_peers.chosen(arguments):
        ran = retrieval_peers.asked(name, [corpus], arguments.cache, again=arguments.again)
        state[name] = ran.state
        if ran.cost:
            figures[name] = summary(history, ran.answers[0])
            costs[name] = ran.cost.figures()
    figures |= {"cost": costs, **({"peers": state} if state else {}), "machine": measure.machine()}
    figures["how"] = f"{HOW} {retrieval_peers.GIVEN}" if state else HOW
    page.write(arguments, "code", _page(figures, state))
    return figures


def summary(history: History, answers: Sequence[Answer]) -> dict[str, Any]:
    """Take the means: over all questions, over each half, and by whether a word is shared."""
    asked = [(question, session) for session in history.fixed for question in session.questions]
    rows = [
        (question, session, scores(session, answer.sessions))
        for (question, session), answer in zip(asked, answers, strict=True)
    ]
    shared = [bool(code_data.overlap(question, session)) for question, session, _ in rows]
    return {
        ALL: means([row for _, _, row in rows]),
        TUNING: means([row for _, session, row in rows if tuning_part(session.id, _HALVES)]),
        APART: means([row for _, session, row in rows if not tuning_part(session.id, _HALVES)]),
        "a word shared": means([row for (_, _, row), some in zip(rows, shared, strict=True) if some]),
        "no word shared": means([row for (_, _, row), some in zip(rows, shared, strict=True) if not some]),
    }


def scores(session: Session, found: Sequence[str]) -> dict[str, float]:
    """Score one question."""
    place = found.index(session.id) + 1 if session.id in found else 0
    return {
        "any@1": float(place == 1),
        "any@5": float(0 < place <= 5),
        "mrr": 1 / place if place else 0.0,
    }


def _page(figures: dict[str, Any], state: dict[str, str]) -> str:
    rows = []
    for way, cost in figures["cost"].items():
        parts = (ALL, APART, "no word shared")
        shown = [page.shares(figures[way][part], "any@1", "any@5", "mrr") for part in parts]
        costs = [cost[name] for name in ("query_ms", "index_s", "index_MB", "peak_MB")]
        rows.append([f"{page.name_of(way)} {state.get(way, '')}".strip(), *shown, *costs])
    counts = [figures["told"][part]["questions"] for part in (ALL, APART, "no word shared")]
    names = ("all", "held apart", "no word shared")
    head = [
        "any@1 / any@5 / mrr", *(f"{name} ({count})" for name, count in zip(names, counts, strict=True)),
        "ms a query", "index s", "index MB", "peak MB",
    ]  # fmt: skip
    left = [f"{name}: {why}." for name, why in state.items() if name not in figures["cost"]]
    return "\n\n".join([page.table(head, rows), *left])
