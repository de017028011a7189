"""Judging how a new statement relates to an old one."""

from __future__ import annotations

import itertools
import random
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.supersede_framed import FRAMES, SUBJECTS, VALUES
from benchmarks.supersede_pairs import met, pairs
from tests.soak import points
from told.conflict.relation import CHANGES, INDEPENDENT, KINDS, MAY_CHANGE, SAME, judge

RULES = (
    "Never commit .env files to the repository.",
    "Never use tabs for indentation.",
    "Always run the linter before committing.",
    "Do not log user emails.",
)


@pytest.mark.parametrize(("old", "new"), list(itertools.permutations(RULES, 2)))
def test_similar_sounding_rules_are_independent(old: str, new: str) -> None:
    assert judge(old, new).kind == INDEPENDENT


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
    assert judge(old, new).kind != CHANGES


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
    assert judge(old, new).kind not in (CHANGES, MAY_CHANGE)


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
    assert judge(old, new).kind in (CHANGES, MAY_CHANGE)


def test_statement_for_another_folder_replaces_nothing() -> None:
    assert judge("We use pnpm.", "packages/legacy still uses npm, leave it").kind not in (CHANGES, MAY_CHANGE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Always end class names with 'k_'.", "From now on, end class names with 'v_'."),
        ("Always end class names with 'a_'.", "Always end class names with 'i_'."),
        ("I'd like you to sign mails with 'Lo'.", "From now on, I want you to sign all mails with 'Hi'."),
        ("Write notes in English. This helps us.", "From now on, write notes in German. It is shorter."),
        ("Send nightly builds to us.", "From now on, send nightly builds to eu."),
        ("Going forward, name the log files app.log.", "Going forward, name the log files main.log."),
        ("Use Redis for the job queue.", "I changed my mind about redis, use postgres."),
        ("We ship to Oslo.", "We no longer ship to Oslo, only to Bergen."),
    ],
)  # fmt: skip
def test_other_value_in_the_same_words_replaces(old: str, new: str) -> None:
    assert judge(old, new).kind == CHANGES


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Add @retry to all handlers.", "From now on, add @timer to all handlers."),
        ("Run ruff before a commit.", "From now on, run mypy before a commit."),
        ("End class names with 'k_'.", "From now on, end method names with 'v_'."),
        ("Start class names with 'k_'.", "From now on, end class names with 'v_'."),
        ("Import the gzip module in every script.", "Import the bz2 module in every script."),
        ("Never log emails.", "From now on, never log phone numbers."),
        ("Write docstrings in English.", "From now on, write docstrings in imperative mood."),
        ("The API runs on port 8080.", "The API now runs on Kubernetes."),
        ("Reply in German.", "Now reply to the customer in English."),
        ("Every endpoint needs a login.", "There must be no endpoint without a login."),
        ("Amounts are stored in cents.", "For yen there are no cents, store the plain amount."),
    ],
)
def test_order_for_something_else_ends_nothing(old: str, new: str) -> None:
    assert judge(old, new).kind != CHANGES


def test_one_half_of_a_statement_is_not_ended_with_the_other() -> None:
    old = "Use tabs in Go files. Use spaces in Python files."
    assert judge(old, "From now on, use tabs in Python files.").kind == MAY_CHANGE


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Deploy to us.", "Deploy to eu."),
        ("Prefix flags with 'a_'.", "Prefix flags with 'i_'."),
        ("Call the counter 'a'.", "Call the counter 'i'."),
        ("Plan A costs 5 EUR.", "Plan I costs 5 EUR."),
    ],
)
def test_other_value_is_no_repeat(old: str, new: str) -> None:
    assert judge(old, new).kind != SAME


def test_same_text_repeats() -> None:
    for text in {pair.old for pair in pairs()[:: points(everyday=27, soak=9)]}:
        assert judge(text, text).kind == SAME, text
        assert judge(text, f"  {text.upper()} ").kind == SAME, text


def test_only_replaced_statements_of_written_pairs_end() -> None:
    some = pairs()[:: points(everyday=9, soak=3)]
    found = [judge(pair.old, pair.new).kind for pair in some]
    ended = [pair for pair, kind in zip(some, found, strict=True) if kind == CHANGES]
    asked = [pair for pair, kind in zip(some, found, strict=True) if kind == MAY_CHANGE]
    assert [pair for pair in ended if pair.label != "replaces"] == []
    assert sum(pair.label != "replaces" for pair in asked) <= len(asked) / 10


def test_only_changed_statements_of_a_project_end() -> None:
    for one in met()[:: points(everyday=15, soak=5)]:
        assert one.ends or judge(one.old, one.new).kind != CHANGES, one


def test_any_text_is_judged() -> None:
    choose = random.Random(7)
    alphabet = "abc ABC 019 .,;:!?/\\@#-_'\"()[]{}|\n\t\0\ud800é漢字かなカナ한글ا🙂 never no not of 8080 "
    for _ in range(points(everyday=60, soak=200)):
        old, new = ("".join(choose.choice(alphabet) for _ in range(choose.randrange(60))) for _ in range(2))
        found = judge(old, new)
        assert found.kind in KINDS
        assert found.why
        assert found == judge(old, new)


def test_long_texts_are_judged_in_linear_time() -> None:
    for text in ("never " * 50_000, "a/b." * 50_000, "npm, " * 50_000, "漢字" * 100_000, "x" * 400_000):
        assert judge(text, text[1:]).kind in KINDS  # quadratic time would take hours
        assert judge("We use npm.", text).kind in KINDS


def test_result_is_the_same_in_every_process() -> None:
    script = (
        "from told.conflict.relation import judge; from benchmarks.supersede_pairs import pairs;"
        "print([judge(p.old, p.new) for p in pairs()[::20]])"
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
        assert judge(door, back).kind == INDEPENDENT
        token = "The staging token is [secret:token:{}]."
        assert judge(token.format(one), token.format(one)).kind == SAME
    assert judge("It is [secret:cut", "It is [secret:cut").kind == SAME
