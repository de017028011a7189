"""How much of the evidence for LoCoMo's questions is found, without any model reading the result."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from benchmarks import CannotMeasureError, measure, page, retrieval, retrieval_peers
from benchmarks.locomo_data import TYPES, Chat, Question, Turn, load, moment
from benchmarks.retrieval import TOLD, Answer, Corpus, Plain, Said, Told, ask, means, share
from benchmarks.retrieval_cost import COST

_TUNING = 5  # chats; the others are held apart
_BESIDE_PEERS = 2  # chats: the others would take the peers hours
_GROUPED = "told_grouped"

HOW = (
    "Each chat is one corpus: its turns (with image captions) are ranked for each of its questions, "
    "asked a day after its last session. turn@k is the share of a question's evidence turns among the "
    "first k, all@5 whether every chat session with evidence is among the first five, sessions ranked "
    f"by their best turn; all are means over questions. `{_GROUPED}` takes the order of sessions that "
    "told's own answer has. Questions without usable evidence are left out. Choices may be made on the "
    "tuning half (the first five chats) only; peers are asked about the others. The baseline asks FTS5 "
    "for any word of the question. " + COST
)


class Score(NamedTuple):
    """How well one question was answered."""

    chat: int
    type: str
    figures: dict[str, float]
    grouped: dict[str, float]  # by the order of sessions that the answer itself has


def options(parser: argparse.ArgumentParser) -> None:
    """Add what only this benchmark takes."""
    retrieval.model_option(parser)
    retrieval_peers.options(parser)
    page.option(parser)


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Score told's retrieval, a plain full-text search beside it, and other tools if asked for."""
    if not arguments.data:
        raise CannotMeasureError("Give the data set as --data locomo10.json.gz.")
    chats = load(arguments.data)
    if arguments.quick:
        chats = chats[:2]
    figures: dict[str, Any] = {
        "benchmark": "locomo",
        "chats": len(chats),
        "turns": sum(len(chat.turns) for chat in chats),
        "questions": sum(len(chat.questions) for chat in chats),
    }
    corpora = [corpus(chat) for chat in chats]
    kept: dict[str, list[list[Answer]]] = {}
    costs: dict[str, Any] = {}
    for name, way in retrieval.ways(arguments).items():
        kept[name], cost = ask(way, corpora)
        costs[name] = cost.figures()
        figures[name] = summary(scored(chats, kept[name]))
    figures[_GROUPED] = _summary(scored(chats, kept[TOLD]), "grouped")
    figures["cost"] = costs
    if names := retrieval_peers.chosen(arguments):
        few = (chats[_TUNING:] or chats)[: 1 if arguments.quick else _BESIDE_PEERS]
        figures["beside_peers"] = _beside(names, few, arguments)
    figures["machine"] = measure.machine()
    figures["how"] = f"{HOW} {retrieval_peers.GIVEN}" if "beside_peers" in figures else HOW
    page.write(arguments, "locomo", _page(figures))
    return figures


def corpus(chat: Chat) -> Corpus:
    """Return a chat as turns that can be found, each with its own moment, and what is asked about it."""
    said = []
    counted: dict[int, int] = {}
    for turn in chat.turns:
        n = counted[turn.session] = counted.get(turn.session, -1) + 1
        said.append(Said(turn.id, str(turn.session), moment(turn.date) + n * 60_000, turn.text))
    now = max((moment(turn.date) for turn in chat.turns), default=0) + 86_400_000
    return Corpus(said, [(question.text, now) for question in chat.questions])


def retrieve(turns: Sequence[Turn], questions: Sequence[str]) -> list[list[str]]:
    """Rank a chat's turns for each question with told's store and search: the ids, best first."""
    asked = corpus(_about(turns, questions))
    index = Told(asked.said)
    return [index.answer(*question).turns for question in asked.questions]


def baseline(turns: Sequence[Turn], questions: Sequence[str]) -> list[list[str]]:
    """Rank a chat's turns for each question by BM25 over any of its words."""
    asked = corpus(_about(turns, questions))
    index = Plain(asked.said)
    return [index.answer(*question).turns for question in asked.questions]


def _about(turns: Sequence[Turn], questions: Sequence[str]) -> Chat:
    return Chat("", tuple(turns), tuple(Question(question, "", frozenset()) for question in questions))


def _beside(names: Sequence[str], chats: Sequence[Chat], arguments: argparse.Namespace) -> dict[str, Any]:
    """Score other tools, and told beside them, on some chats."""
    found: dict[str, Any] = {
        "chats": ", ".join(chat.name for chat in chats),
        "state": {},
        "scores": {},
        "cost": {},
    }
    corpora = [corpus(chat) for chat in chats]
    for name, way in retrieval.ways(arguments).items():
        answers, cost = ask(way, corpora)
        found["scores"][name] = summary(scored(chats, answers))["all"]
        found["cost"][name] = cost.figures()
    for name in names:
        ran = retrieval_peers.asked(name, corpora, arguments.cache, again=arguments.again)
        found["state"][name] = ran.state
        if ran.cost:
            found["scores"][name] = summary(scored(chats, ran.answers))["all"]
            found["cost"][name] = ran.cost.figures()
    return found


def score(
    chats: Iterable[Chat], way: Callable[[Sequence[Turn], Sequence[str]], list[list[str]]]
) -> list[Score]:
    """Score one way of retrieval, which only ranks turns, on every question."""
    chats = list(chats)
    answers = [
        [Answer(ids, []) for ids in way(chat.turns, [question.text for question in chat.questions])]
        for chat in chats
    ]
    return scored(chats, answers)


def scored(chats: Sequence[Chat], answers: Sequence[Sequence[Answer]]) -> list[Score]:
    """Score the answers to every question."""
    scores = []
    for number, (chat, of_chat) in enumerate(zip(chats, answers, strict=True)):
        sessions = {turn.id: str(turn.session) for turn in chat.turns}
        for question, answer in zip(chat.questions, of_chat, strict=True):
            wanted = {sessions[turn] for turn in question.evidence}
            first = list(dict.fromkeys(sessions[turn] for turn in answer.turns))[:5]
            figures = {
                "turn@5": share(question.evidence, answer.turns[:5]),
                "turn@10": share(question.evidence, answer.turns[:10]),
                "all@5": float(wanted <= set(first)),
            }
            grouped = {
                "any@5": float(bool(wanted & set(answer.sessions[:5]))),
                "all@5": float(wanted <= set(answer.sessions[:5])),
                "all@10": float(wanted <= set(answer.sessions[:10])),
            }
            scores.append(Score(number, question.type, figures, grouped))
    return scores


def summary(scores: Sequence[Score]) -> dict[str, Any]:
    """Take the means: over all, over each half, and by the type of question."""
    return _summary(scores, "figures")


def _summary(scores: Sequence[Score], what: str) -> dict[str, Any]:
    def over(some: Iterable[Score]) -> dict[str, float]:
        return means([getattr(one, what) for one in some])

    return {
        "all": over(scores),
        "tuning half": over(one for one in scores if one.chat < _TUNING),
        "held-apart half": over(one for one in scores if one.chat >= _TUNING),
        **{kind: over(one for one in scores if one.type == kind) for kind in TYPES.values()},
    }


def _page(figures: dict[str, Any]) -> str:
    rows = []
    for way in figures["cost"]:
        cost = figures["cost"][way]
        costs = [cost[name] for name in ("query_ms", "p95_ms", "index_s", "index_MB", "peak_MB")]
        for part in ("all", "held-apart half"):
            row = figures[way][part]
            grouped = figures[_GROUPED][part] if way == TOLD else {}
            shown = [page.shares(row, "turn@5", "turn@10", "all@5"), page.shares(grouped, "all@5")]
            rows.append([f"{page.name_of(way)}, {part}", row["questions"], *shown, *costs])
    head = [
        "", "questions", "turn@5 / turn@10 / all@5", "all@5 as grouped", "ms a query", "p95", "index s",
        "index MB", "peak MB",
    ]  # fmt: skip
    text = page.table(head, rows)
    if "beside_peers" not in figures:
        return text
    return f"{text}\n\n{page.peers(figures['beside_peers'], 'turn@5', 'turn@10', 'all@5')}"
