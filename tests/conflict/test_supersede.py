"""Judging how a new statement relates to an old one."""

from __future__ import annotations

import itertools
import random
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.supersede import summary
from benchmarks.supersede_framed import FRAMES, SUBJECTS, VALUES
from tests.soak import points
from told.conflict.judge import LABELS, judge_many, judge_pair
from benchmarks.supersede_pairs import met, pairs

RULES = (
    "Never commit .env files to the repository.",
    "Never use tabs for indentation.",
    "Always run the linter before committing.",
    "Do not log user emails.",
)


@pytest.mark.parametrize(("old", "new"), list(itertools.permutations(RULES, 2)))
def test_similar_sounding_rules_are_independent(old: str, new: str) -> None:
    assert judge_pair(old, new).label == "independent"


@settings(deadline=None, max_examples=60)
@given(
    st.sampled_from(FRAMES),
    st.sampled_from([pair for group in SUBJECTS.values() for pair in itertools.permutations(group, 2)]),
    st.tuples(st.sampled_from(VALUES), st.sampled_from(VALUES)),
)
def test_different_subjects_are_never_ended(
    frame: str, subjects: tuple[str, str], values: tuple[str, str]
) -> None:
    old, new = (frame.format(s=s, v=v) for s, v in zip(subjects, values, strict=True))
    assert not judge_pair(old, new).ends


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Never push directly to the main branch.", "Never push the staging branch directly without tests."),
        ("Never push directly to main.", "Never commit directly to the vendor folder."),
        ("Never delete migrations.", "Never delete user accounts without a ticket."),
        ("Use pnpm for installs.", "Thanks, that works great!"),
        ("The API runs on port 8080.", "Hello! How are you"),
        ("Always answer in German.", "run the tests"),
        ("Deploy on Tuesdays.", "What is the plan for tomorrow?"),
        ("The module legacy-adt stays at Java 8.", "All modules but legacy-adt are Java 21."),
    ],
)
def test_ordinary_sentence_replaces_nothing(old: str, new: str) -> None:
    assert judge_pair(old, new).label != "replaces"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("We use npm for installs.", "we switched to pnpm, no more npm"),
        ("Tests run with mocha.", "mocha is gone, we use vitest now"),
        ("The API listens on port 8080.", "the api port is 9090 now"),
        ("Wir nutzen MySQL.", "wir sind auf postgres umgestiegen"),
        ("On utilise yarn.", "on est passé à pnpm, plus de yarn"),
        ("Usamos npm.", "ahora usamos pnpm, npm ya no"),
        ("使用 npm 安装依赖。", "以后改用 pnpm,不要再用 npm"),
    ],
)
def test_announced_change_replaces(old: str, new: str) -> None:
    assert judge_pair(old, new).label == "replaces"


def test_returning_to_the_first_choice_replaces() -> None:
    first, second = "Use npm.", "Use bun."
    assert judge_pair(first, "we use bun from now on, no npm").label == "replaces"
    assert judge_pair(second, "bun is out, back to npm", older=first).label == "replaces"
    assert judge_pair(first, "back to bun, npm is out again", older=second).label == "replaces"


def test_statement_for_another_folder_contradicts_scope() -> None:
    assert judge_pair("We use pnpm.", "packages/legacy still uses npm, leave it").label == "contradicts_scope"


def test_same_text_repeats() -> None:
    for text in {pair.old for pair in pairs()[:: points(everyday=27, soak=9)]}:
        assert judge_pair(text, text).label == "repeats", text
        assert judge_pair(text, f"  {text.upper()} ").label == "repeats", text


def test_only_replaced_statements_of_written_pairs_end() -> None:
    some = pairs()[:: points(everyday=9, soak=3)]
    found = [judge_pair(pair.old, pair.new, older=pair.older) for pair in some]
    wrong = [pair for pair, one in zip(some, found, strict=True) if one.ends and pair.label != "replaces"]
    assert wrong == []
    figures = summary([pair.label for pair in some], [one.label for one in found])
    assert figures["wrongly_ended"]["independent"] == 0


def test_only_changed_statements_of_a_project_end() -> None:
    for one in met()[:: points(everyday=15, soak=5)]:
        assert one.ends or not judge_many(one.new, [one.old])[0].ends, one


def test_judge_many_keeps_the_order() -> None:
    found = judge_many("we switched to pnpm, no more npm", ["Answer in German.", "We use npm.", ""])
    assert [one.label for one in found] == ["independent", "replaces", "independent"]
    assert judge_many("anything", []) == []


def test_judge_many_without_shared_words_is_independent() -> None:
    assert judge_many("round to one decimal", ["Videos are hosted on Mux."])[0].label == "independent"


def test_any_text_is_judged() -> None:
    choose = random.Random(7)
    alphabet = "abc ABC 019 .,;:!?/\\@#-_'\"()[]{}|\n\t\0\ud800é漢字かなカナ한글ا🙂 never no not of 8080 "
    for _ in range(points(everyday=60, soak=200)):
        old, new, older = (
            "".join(choose.choice(alphabet) for _ in range(choose.randrange(60))) for _ in range(3)
        )
        found = judge_pair(old, new, older=older)
        assert found.label in LABELS
        assert 0 <= found.certainty <= 1
        assert found.why
        assert found == judge_pair(old, new, older=older)


def test_long_texts_are_judged_in_linear_time() -> None:
    for text in ("never " * 50_000, "a/b." * 50_000, "npm, " * 50_000, "漢字" * 100_000, "x" * 400_000):
        assert judge_pair(text, text[1:]).label in LABELS  # quadratic time would take hours
        assert judge_pair("We use npm.", text).label in LABELS


def test_result_is_the_same_in_every_process() -> None:
    script = (
        "from told.conflict.judge import judge_many; from training.supersede_data import pairs;"
        "print([judge_many(p[3], [p[2]])[0] for p in pairs()[::20]])"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", script],
            capture_output=True,
            check=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": "."},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(runs) == 1


def test_secret_placeholder_counts_as_one_word() -> None:
    for one, other in (("79d6", "42c6"), ("bd6a", "f2b7"), ("0000", "ffff"), ("1e10", "face")):
        door = f"Always open the door with [secret:badge:{one}], never with the key."
        back = f"The back door takes [secret:badge:{other}]."
        assert judge_pair(door, back).label == "independent"
        token = "The staging token is [secret:token:{}]."
        assert judge_pair(token.format(one), token.format(one)).label == "repeats"
    assert judge_pair("It is [secret:cut", "It is [secret:cut").label == "repeats"
