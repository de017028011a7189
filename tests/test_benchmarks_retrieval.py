"""The benchmarks of retrieval count what they say they count. No time is asserted."""

from __future__ import annotations

import gzip
import json
import os
import sys

import pytest

# The measuring room is not installed; it stands beside the tests.
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from benchmarks import (
    CannotMeasureError,
    code,
    code_data,
    longmemeval,
    longmemeval_data,
    page,
    retrieval,
    retrieval_peers,
    retrieval_peers_install,
)
from benchmarks.__main__ import main
from benchmarks.retrieval import Corpus, Plain, Said, Told

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

WORDS = (
    "heron",
    "kayak",
    "violin",
    "saffron",
    "glacier",
    "lantern",
    "walnut",
    "compass",
    "thimble",
    "orchid",
)


def _question(number: int, word: str, *, by: str = "user", ending: str = "") -> dict[str, Any]:
    """Return a question as LongMemEval has it: one session of two messages answers it."""
    messages = [
        {"role": "user", "content": f"I bought a {word} for my aunt.", "has_answer": by == "user"},
        {"role": "assistant", "content": "How nice.", "has_answer": by == "assistant"},
        {"role": "user", "content": "Tell me about trains.", "has_answer": False},
        {"role": "assistant", "content": "Trains run on rails."},
    ]
    return {
        "question_id": f"q{number}{ending}", "question_type": "single-session-user", "answer": "",
        "question": f"Who got the {word}?", "question_date": "2023/05/10 (Wed) 10:00",
        "haystack_dates": ["2023/05/01 (Mon) 09:30"], "haystack_session_ids": [f"answer_{number}"],
        "haystack_sessions": [messages], "answer_session_ids": [f"answer_{number}"],
    }  # fmt: skip


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """A folder with both files in the published form: one question abstains, one is the assistant's."""
    questions = [_question(number, word) for number, word in enumerate(WORDS[:8])]
    questions += [_question(8, WORDS[8], by="assistant"), _question(9, WORDS[9], ending="_abs")]
    packed = gzip.compress(json.dumps(questions).encode())
    (tmp_path / longmemeval_data.ORACLE).write_bytes(packed)
    lines = []
    for number in range(len(WORDS)):
        sessions = [
            [f"answer_{n}", "2023/05/01 (Mon) 09:30", f"a {word} for\u2028aunt"]
            for n, word in enumerate(WORDS)
        ]
        name = questions[number]["question_id"]
        lines.append(
            json.dumps({"question_id": name, "sessions": [*sessions, sessions[0]]}, ensure_ascii=False)
        )
    (tmp_path / longmemeval_data.HAYSTACKS).write_bytes(gzip.compress("\n".join(lines).encode()))
    return tmp_path


def test_longmemeval_scores_three_settings_by_type_and_part(
    published: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["longmemeval", "--data", str(published), "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    for setting in longmemeval.SETTINGS:
        for way in ("told", "baseline"):
            rows = figures[setting]["sessions"][way]
            assert rows["all"] == {
                "questions": 9, "any@5": 1.0, "all@5": 1.0, "ndcg@5": 1.0, "any@10": 1.0, "all@10": 1.0,
                "ndcg@10": 1.0,
            }  # fmt: skip
            assert rows["single-session-user"] == rows["all"]
            parts = rows[longmemeval.TUNING]["questions"] + rows[longmemeval.APART]["questions"]
            assert parts == 9
            assert rows[longmemeval.WITH_ABSTENTION]["questions"] == 10
            # Nobody but the assistant said it: the published code then finds nothing, and all of nothing.
            assert rows[longmemeval.PUBLISHED]["any@5"] == round(8 / 9, 4)
            assert rows[longmemeval.PUBLISHED]["all@5"] == 1.0
        assert figures[setting]["cost"]["told"]["queries"] == 10
    assert "turns" not in figures["s"]
    assert figures["pool"]["turns"]["told"]["all"] == {"questions": 8, "turn@5": 1.0, "turn@10": 1.0}
    assert "abs" in figures["how"]


def test_longmemeval_without_haystacks_says_so_and_fits_80_columns(
    published: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(longmemeval, "_QUICK", 2)
    assert main(["longmemeval", "--data", str(published / longmemeval_data.ORACLE), "--quick"]) == 0
    out = capsys.readouterr().out
    assert "--haystacks" in out
    assert max(map(len, out.splitlines())) <= 80
    assert main(["longmemeval", "--data", ""]) == 1
    assert "--data" in capsys.readouterr().err


def test_what_is_not_longmemeval_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text('[{"question_id": "q"}]')
    with pytest.raises(CannotMeasureError, match="oracle"):
        longmemeval_data.oracle(str(other))
    with pytest.raises(CannotMeasureError, match="haystacks"):
        longmemeval_data.haystacks(str(other))


def test_sessions_are_scored_as_the_published_code_does() -> None:
    scores = longmemeval.session_scores({"a", "b"}, ["x", "a", "y", "z", "w", "b"])
    assert (scores["any@5"], scores["all@5"], scores["all@10"]) == (1.0, 0.0, 1.0)
    assert scores["ndcg@5"] == pytest.approx(1 / 2)  # places 1 and 2 weigh the same
    assert scores["ndcg@10"] == pytest.approx((1 + 1 / 2.584962500721156) / 2)
    assert longmemeval.session_scores({"a", "b"}, ["b", "a"])["ndcg@5"] == 1.0
    nothing = longmemeval.session_scores((), ["a"])
    assert (nothing["any@5"], nothing["all@5"], nothing["ndcg@5"]) == (0.0, 1.0, 0.0)


def test_distractors_are_the_same_each_time_and_never_the_evidence_again(published: Path) -> None:
    data = longmemeval_data.oracle(str(published / longmemeval_data.ORACLE))
    first, second = data.questions[:2]
    # The same words under another name would be a right answer that counts as wrong.
    data.sessions["answer_copy"] = tuple(
        turn._replace(id=f"answer_copy:{n}", session="answer_copy")
        for n, turn in enumerate(data.sessions["answer_0"])
    )
    among = longmemeval_data.among_others(data, first, 4)
    sessions = {turn.session for turn in among}
    assert "answer_0" in sessions
    assert "answer_copy" not in sessions
    assert len(sessions) == 4
    assert among == longmemeval_data.among_others(data, first, 4)
    assert sessions != {turn.session for turn in longmemeval_data.among_others(data, second, 4)}


def test_a_turn_is_what_was_said_and_what_was_answered(published: Path) -> None:
    data = longmemeval_data.oracle(str(published / longmemeval_data.ORACLE))
    assert [(turn.asked, turn.answered) for turn in data.sessions["answer_1"]] == [
        ("I bought a kayak for my aunt.", "How nice."),
        ("Tell me about trains.", "Trains run on rails."),
    ]
    assert data.questions[1].turns == {"answer_1:0"}
    assert not data.questions[8].turns


@pytest.mark.parametrize("way", [Told, Plain])
def test_both_ways_find_turns_and_sessions(way: type[Told | Plain]) -> None:
    at = 1_790_000_000_000
    said = [
        Said("a:0", "a", at, "the ferry is late", "because of fog"),
        Said("a:1", "a", at + 60_000, "fine"),
        Said("b:0", "b", at, "what about the bridge?", "it is closed"),
    ]
    (found,), cost = retrieval.ask(
        way, [Corpus(said, [("who closed the bridge", at + 86_400_000), ("fog", at)])]
    )
    assert [(answer.turns[0], answer.sessions[0]) for answer in found] == [("b:0", "b"), ("a:0", "a")]
    assert len(cost.ms) == 2
    assert cost.figures()["index_MB"] >= 0
    assert cost.index_bytes > 4_000


def test_the_code_histories_are_complete_and_the_same_each_time() -> None:
    path = os.path.join(code_data.FOLDER, "parcels.txt")
    history = code_data.history(path, 200)
    corpus = history.corpus()
    assert len({turn.session for turn in corpus.said}) == 200
    assert len({turn.id for turn in corpus.said}) == len(corpus.said)
    assert len(corpus.questions) >= 60
    assert all(one.at < history.now for one in (*history.fixed, *history.others))
    assert all(answered for one in history.fixed for _, answered in one.turns)
    assert corpus == code_data.history(path, 200).corpus()
    questions = [question for question, _ in corpus.questions]
    assert len(set(questions)) == len(questions)
    # Most questions must not be answerable by matching words.
    shared = [code_data.overlap(question, one) for one in history.fixed for question in one.questions]
    assert sum(1 for count in shared if count < 2) > len(shared) * 0.8


def _own_history(folder: Path) -> Path:
    """Write a small history of one's own."""
    data = folder / "mine.txt"
    lines = ["now 2026-09-20"]
    for number, word in enumerate(WORDS):
        lines += [
            f"# k{number} 2026-08-{number + 1:02d} | the parser | src/parse.py | tail beak wing",
            f"> The {word} is broken",
            "< Fixed.",
            f"? what was wrong with the {word}",
            "? unrelated nonsense",
        ]
    data.write_text("\n".join(lines))
    return data


def test_code_counts_places(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = _own_history(tmp_path)
    assert main(["code", "--data", str(data), "--quick", "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert (figures["sessions"], figures["questions"]) == (80, 20)
    for way in ("told", "baseline"):
        assert figures[way]["a word shared"] == {"questions": 10, "any@1": 1.0, "any@5": 1.0, "mrr": 1.0}
        assert figures[way]["no word shared"]["questions"] == 10
    halves = figures["told"][code.TUNING]["questions"] + figures["told"][code.APART]["questions"]
    assert halves == 20
    session = code_data.history(str(data), 10).fixed[0]
    assert code.scores(session, ["k3", "k0"]) == {"any@1": 0.0, "any@5": 1.0, "mrr": 0.5}
    assert code.scores(session, ["k3"])["mrr"] == 0.0


def test_what_is_no_history_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = tmp_path / "mine.txt"
    data.write_text("now 2026-09-20\n# k1 2026-08-01 | no file\n> a\n< b\n? c\n")
    assert main(["code", "--data", str(data)]) == 1
    assert "four parts" in capsys.readouterr().err
    assert main(["code", "--data", str(tmp_path / "nothing.txt")]) == 1
    assert "cannot be read" in capsys.readouterr().err


def test_figures_are_written_between_their_marks_and_nowhere_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(code, "_QUICK", 12)
    words = ["code", "--data", str(_own_history(tmp_path)), "--quick", "--write"]
    target = tmp_path / "page.md"
    begin, end = page.marks("code")
    target.write_text(f"before\n\n{begin}\nold figures\n{end}\n\nafter\n")
    assert main([*words, str(target)]) == 0
    text = target.read_text()
    assert text.startswith(f"before\n\n{begin}\n\n| any@1 / any@5 / mrr |")
    assert text.endswith(f"{end}\n\nafter\n")
    assert "old figures" not in text
    assert "| plain FTS5 |" in text
    target.write_text("no marks\n")
    capsys.readouterr()
    assert main([*words, str(target)]) == 1
    assert "no place" in capsys.readouterr().err
    assert target.read_text() == "no marks\n"


def test_the_page_of_benchmarks_has_a_place_for_each() -> None:
    with open(page.PAGE, encoding="utf-8") as file:
        text = file.read()
    for name in ("locomo", "longmemeval", "code"):
        assert page.replaced(text, name, "figures"), name


PEER = """
import json, sys
job = json.load(open(sys.argv[1]))
answers = [[[turn[0] for turn in corpus["said"] if question in turn[3]] for question, _ in corpus["asked"]]
           for corpus in job["corpora"]]
json.dump({"answers": answers, "ms": [1.0], "index_seconds": 0.5, "index_bytes": 7}, open(sys.argv[2], "w"))
"""


def test_a_peer_is_scored_on_the_same_corpora_or_named_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = [Said("a:0", "a", 0, "one heron"), Said("b:0", "b", 0, "two", "kayaks")]
    corpora = [Corpus(said, [("kayaks", 0)])]

    def ready(script: str) -> Any:
        return lambda _cache, _folder: retrieval_peers_install.Ready(
            [sys.executable, "-c", script], {}, "9.9"
        )

    peers = {
        "works": ready(PEER),
        "breaks": ready("raise SystemExit('no model here')"),
        "hangs": ready("import time; time.sleep(60)"),
        "absent": lambda _cache, _folder: "the registry does not have it",
    }
    monkeypatch.setattr(retrieval_peers, "PEERS", peers)
    found = {name: retrieval_peers.asked(name, corpora, str(tmp_path), limit=2) for name in peers}
    assert found["works"].state == "9.9"
    assert found["works"].answers[0][0].turns == ["b:0"]
    assert found["works"].answers[0][0].sessions == ["b"]
    assert found["works"].cost is not None
    assert found["works"].cost.index_bytes == 7
    assert "no model here" in found["breaks"].state
    assert "longer than 2 seconds" in found["hangs"].state
    assert found["absent"].state == "not measured; the registry does not have it"
    assert [name for name in peers if found[name].cost] == ["works"]
    # What was answered once is kept, until the questions are others or it is asked again.
    monkeypatch.setitem(peers, "works", ready("raise SystemExit('gone')"))
    assert retrieval_peers.asked("works", corpora, str(tmp_path)) == found["works"]
    assert "gone" in retrieval_peers.asked("works", corpora, str(tmp_path), again=True).state
    others = [Corpus(said, [("heron", 0)])]
    assert "gone" in retrieval_peers.asked("works", others, str(tmp_path)).state
