"""How much of the evidence for LongMemEval's questions is found, without any model reading the result."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, NamedTuple

from benchmarks import CannotMeasureError, longmemeval_data, measure, page, retrieval, retrieval_peers
from benchmarks.longmemeval_data import Oracle, Question
from benchmarks.retrieval import Answer, Corpus, Index, Said, ask, means, share, tuning_part
from benchmarks.retrieval_cost import COST

_PARTS = 5
_QUICK = 12  # questions of each setting
_BESIDE_PEERS = 100  # questions of setting s: all would take the peers hours
SETTINGS = ("s", "o48", "pool")
ALL, TUNING, APART = "all", "tuning fifth", "held-apart four fifths"
PUBLISHED, WITH_ABSTENTION = "as the published code", "with abstention"

HOW = (
    "Sessions are ranked for each question; any@k says whether one session with evidence is among the "
    "first k, all@k whether all are, ndcg@k is the published code's ndcg_any (places 1 and 2 count the "
    "same); means over questions. s: the published haystacks of about 48 sessions, of each the first "
    "500 characters of what the user said. o48: the evidence in full among evidence of other questions, "
    "48 sessions in all, chosen by a hash. pool: all evidence sessions in one corpus. Questions with "
    "the ending _abs are left out. A session counts as evidence if the data set names it as an answer's "
    "session, also where only the assistant says the answer. The published code does not count those: "
    f"with none left, any is 0 and all is 1; row `{PUBLISHED}`. `{WITH_ABSTENTION}` takes all questions. "
    "turn@k (o48 and pool): the share of a question's user turns with the answer among the first k "
    "turns (a turn is what the user said and what was answered), questions without one left out. "
    f"Choices may be made on the {TUNING} only (by a hash of the question's id). The question is asked "
    "at its own date. The baseline asks FTS5 for any word of the question; sessions by their best turn. "
    + COST
)


class Setting(NamedTuple):
    """One way of laying the data out: corpora, and the questions of each."""

    name: str
    questions: list[list[Question]]
    corpora: Callable[[], Iterator[Corpus]]


def options(parser: argparse.ArgumentParser) -> None:
    """Add what only this benchmark takes."""
    parser.add_argument("--haystacks", default="", help="the file of setting s, where --data is no folder")
    parser.add_argument("--setting", choices=SETTINGS, action="append", help="only this one; repeatable")
    retrieval.model_option(parser)
    retrieval_peers.options(parser)
    page.option(parser)


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Score told's retrieval, and a plain full-text search beside it, in each setting."""
    if not arguments.data:
        raise CannotMeasureError(f"Give a folder with {longmemeval_data.ORACLE}, or that file, as --data.")
    oracle_file, haystacks_file = longmemeval_data.files(arguments.data, arguments.haystacks)
    oracle = longmemeval_data.oracle(oracle_file)
    haystacks = longmemeval_data.haystacks(haystacks_file) if haystacks_file else {}
    figures: dict[str, Any] = {"benchmark": "longmemeval", "questions": len(oracle.questions)}
    for setting in _settings(oracle, haystacks, most=_QUICK if arguments.quick else 0):
        if not arguments.setting or setting.name in arguments.setting:
            figures[setting.name] = measured(setting, retrieval.ways(arguments))
            if setting.name == "s" and (names := retrieval_peers.chosen(arguments)):
                figures["beside_peers"] = _beside(names, setting, arguments)
    if "s" not in figures and (not arguments.setting or "s" in arguments.setting):
        figures["s"] = "not measured: give its file as --haystacks"
    figures["machine"] = measure.machine()
    figures["how"] = f"{HOW} {retrieval_peers.GIVEN}" if "beside_peers" in figures else HOW
    page.write(arguments, "longmemeval", _page(figures))
    return figures


def measured(setting: Setting, ways: dict[str, Callable[[Sequence[Said]], Index]]) -> dict[str, Any]:
    """Score every way in one setting."""
    figures: dict[str, Any] = {"sessions": {}, "turns": {}, "cost": {}}
    for name, way in ways.items():
        answers, cost = ask(way, setting.corpora())
        pairs = _pairs(setting, answers)
        figures["sessions"][name] = sessions(pairs)
        if setting.name != "s":
            figures["turns"][name] = turns(pairs)
        figures["cost"][name] = cost.figures()
    return {name: group for name, group in figures.items() if group}


def _pairs(setting: Setting, answers: Sequence[Sequence[Answer]]) -> list[tuple[Question, Answer]]:
    return [
        pair
        for questions, given in zip(setting.questions, answers, strict=True)
        for pair in zip(questions, given, strict=True)
    ]


def _beside(names: Sequence[str], setting: Setting, arguments: argparse.Namespace) -> dict[str, Any]:
    """Score other tools, and told beside them, on some of the questions of setting s held apart."""
    asked = {
        question.id: number for number, (question,) in enumerate(setting.questions) if not question.abstention
    }
    few = [asked[name] for name in sorted(asked, key=longmemeval_data.shuffled)[:_BESIDE_PEERS]]
    every = list(setting.corpora())
    corpora = [every[number] for number in few]
    small = Setting(setting.name, [setting.questions[number] for number in few], lambda: iter(corpora))
    found: dict[str, Any] = {"setting": setting.name, "state": {}, "scores": {}, "cost": {}}
    for name, way in retrieval.ways(arguments).items():
        answers, cost = ask(way, corpora)
        found["scores"][name] = sessions(_pairs(small, answers))[APART]
        found["cost"][name] = cost.figures()
    for name in names:
        ran = retrieval_peers.asked(name, corpora, arguments.cache, again=arguments.again)
        found["state"][name] = ran.state
        if ran.cost:
            found["scores"][name] = sessions(_pairs(small, ran.answers))[APART]
            found["cost"][name] = ran.cost.figures()
    return found


def sessions(pairs: Sequence[tuple[Question, Answer]]) -> dict[str, Any]:
    """Take the means over sessions: over all, over the parts, by type, and by the other rules of counting."""
    rows = [(question, session_scores(question.sessions, answer.sessions)) for question, answer in pairs]
    published = [
        session_scores(question.with_user_turn, answer.sessions)
        for question, answer in pairs
        if not question.abstention
    ]
    return {
        **_by_part(rows),
        PUBLISHED: means(published),
        WITH_ABSTENTION: means([row for _, row in rows]),
    }


def turns(pairs: Sequence[tuple[Question, Answer]]) -> dict[str, Any]:
    """Take the means over the user's turns that hold the answer."""
    return _by_part(
        [
            (
                question,
                {f"turn@{most}": share(question.turns, answer.turns[:most]) for most in (5, 10)},
            )
            for question, answer in pairs
            if question.turns
        ]
    )


def session_scores(wanted: Collection[str], found: Sequence[str]) -> dict[str, float]:
    """Score one question: any, all and ndcg_any at 5 and 10, as LongMemEval's own code does."""
    scores: dict[str, float] = {}
    for most in (5, 10):
        first = found[:most]
        scores[f"any@{most}"] = float(any(one in first for one in wanted))
        scores[f"all@{most}"] = float(all(one in first for one in wanted))
        best = _gain([True] * min(len(wanted), most))
        scores[f"ndcg@{most}"] = _gain([one in wanted for one in first]) / best if best else 0.0
    return scores


def _gain(right: Sequence[bool]) -> float:
    return sum(1 / math.log2(max(2, place)) for place, hit in enumerate(right, 1) if hit)


def _by_part(rows: Sequence[tuple[Question, dict[str, float]]]) -> dict[str, Any]:
    counted = [(question, row) for question, row in rows if not question.abstention]
    types = sorted({question.type for question, _ in counted})
    return {
        ALL: means([row for _, row in counted]),
        TUNING: means([row for question, row in counted if tuning_part(question.id, _PARTS)]),
        APART: means([row for question, row in counted if not tuning_part(question.id, _PARTS)]),
        **{kind: means([row for question, row in counted if question.type == kind]) for kind in types},
    }


def _settings(oracle: Oracle, haystacks: dict[str, tuple[Said, ...]], most: int) -> Iterator[Setting]:
    questions = oracle.questions[:most] if most else oracle.questions
    asked = [question for question in questions if question.id in haystacks]
    if asked:
        yield Setting(
            "s",
            [[question] for question in asked],
            lambda: (Corpus(haystacks[one.id], [(one.text, one.now)]) for one in asked),
        )
    yield Setting(
        "o48",
        [[question] for question in questions],
        lambda: (
            Corpus(longmemeval_data.among_others(oracle, one), [(one.text, one.now)]) for one in questions
        ),
    )
    everything = [turn for said in oracle.sessions.values() for turn in said]
    yield Setting(
        "pool",
        [list(questions)],
        lambda: iter([Corpus(everything, [(one.text, one.now) for one in questions])]),
    )


def _page(figures: dict[str, Any]) -> str:
    rows = []
    for setting in SETTINGS:
        found = figures.get(setting)
        if not isinstance(found, dict):
            continue
        for way, parts in found["sessions"].items():
            for part in (ALL, APART):
                row, cost = parts[part], found["cost"][way]
                user = found.get("turns", {}).get(way, {}).get(part, {})
                rows.append(
                    [
                        f"{setting}, {page.name_of(way)}, {part}", row["questions"],
                        page.shares(row, "any@5", "all@5", "ndcg@10"), page.shares(user, "turn@5", "turn@10"),
                        cost["query_ms"], cost["index_s"], cost["index_MB"], cost["peak_MB"],
                    ]
                )  # fmt: skip
    head = [
        "", "questions", "any@5 / all@5 / ndcg@10", "user turn@5 / @10", "ms a query", "index s",
        "index MB", "peak MB",
    ]  # fmt: skip
    text = page.table(head, rows)
    if "beside_peers" not in figures:
        return text
    return f"{text}\n\n{page.peers(figures['beside_peers'], 'any@5', 'all@5', 'ndcg@10')}"
