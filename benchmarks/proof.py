"""How many true statements the proof of a quote accepts, and how many swapped and planted ones."""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import CannotMeasureError
from benchmarks.capture import load
from told.memories.proof import OTHER_POINT, Message, Proof, prove
from told.store.memories.records import AGENT, READER

HOW = (
    "accepted: labelled durable statements with their quotes, in their message with the agent's text before "
    "it. swapped: the quote of one with the statement of another message of the same repository. planted: "
    "statements that an agent under injection gives a real quote, all of them invented. Held out: for each "
    "repository, the threshold that accepts most at 5 % swapped elsewhere."
)
PLANTED = Path(__file__).with_name("proof_planted.json")
_MAX_SWAPPED = 0.05


class Pair(NamedTuple):
    """A statement and the quote that it is given."""

    repository: str
    text: str
    quote: str
    message: Message
    is_true: bool


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of this benchmark."""
    parser.add_argument("--data", action="append", default=[], help="labelled messages; may be repeated")
    parser.add_argument("--wrong", action="store_true", help="list what is judged wrongly")


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Prove labelled, swapped and planted statements, as an agent's and as the reader's."""
    if not arguments.data:
        raise CannotMeasureError("Give the labelled messages as --data FILE.")
    pairs = list(_make_pairs([row for path in arguments.data for row in load(path)]))
    planted = list(load_planted())
    found: dict[str, Any] = {"benchmark": "proof", "statements": sum(one.is_true for one in pairs)}
    for by in (AGENT, READER):
        started = time.perf_counter()
        proofs = [_prove(one, by) for one in pairs]
        taken = time.perf_counter() - started
        judged = list(zip(pairs, proofs, strict=True))
        found[by] = {
            "accepted": _share(not made.why_not for one, made in judged if one.is_true),
            "swapped": _share(not made.why_not for one, made in judged if not one.is_true),
            "planted": _share(not _prove(one, by).why_not for one in planted),
            "held out": hold_out(pairs, proofs),
            "refused": Counter(made.why_not for one, made in judged if one.is_true and made.why_not),
            "ms": round(taken * 1000 / max(1, len(pairs)), 3),
        }
        if arguments.wrong:
            found[by]["wrong"] = [
                f"{made.why_not or 'accepted'} | {made.shared:.2f} | {one.quote} | {one.text}"
                for one, made in [*judged, *((one, _prove(one, by)) for one in planted)]
                if one.is_true == bool(made.why_not)
            ]
    return {**found, "how": HOW}


def _prove(pair: Pair, by: str) -> Proof:
    return prove(pair.text, pair.quote, [pair.message], by)


def _share(flags: Iterable[bool]) -> float:
    counted = list(flags)
    return round(sum(counted) / max(1, len(counted)), 4)


def _make_pairs(rows: Sequence[dict[str, Any]]) -> Iterator[Pair]:
    """Yield each durable statement with its quote, and with those of the repository's other messages."""
    by_repository: dict[str, list[tuple[Message, dict[str, Any]]]] = defaultdict(list)
    for row in rows:
        message = Message(row["message"], row.get("context") or "")
        by_repository[row["repo"]] += [(message, item) for item in row["items"] if item["durable"]]
    for repository, items in by_repository.items():
        for message, item in items:
            yield Pair(repository, item["statement"], item["quote"], message, is_true=True)
            for other, wrong in items:
                if other is not message:
                    yield Pair(repository, wrong["statement"], item["quote"], message, is_true=False)


def load_planted() -> Iterator[Pair]:
    """Yield invented sessions with statements that their quotes do not carry."""
    for session in json.loads(PLANTED.read_text(encoding="utf-8")):
        message = Message(session["message"], session["before"])
        for text in session["planted"]:
            yield Pair("", text, session["quote"], message, is_true=False)


def hold_out(pairs: Sequence[Pair], proofs: Sequence[Proof]) -> dict[str, float]:
    """Choose the threshold without each repository, and judge that repository by it."""
    scores = [one.shared if one.why_not in ("", OTHER_POINT) else 0.0 for one in proofs]
    right: list[bool] = []
    wrong: list[bool] = []
    for repository in {one.repository for one in pairs}:
        others = sorted(
            score
            for one, score in zip(pairs, scores, strict=True)
            if one.repository != repository and not one.is_true
        )
        limit = others[int(len(others) * (1 - _MAX_SWAPPED))]
        for one, score in zip(pairs, scores, strict=True):
            if one.repository == repository:
                (right if one.is_true else wrong).append(score > limit)
    return {"accepted": _share(right), "swapped": _share(wrong)}
