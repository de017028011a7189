"""What a new statement does to an old one; above all, what it must not do."""

from __future__ import annotations

import itertools
import random
import subprocess
import sys

import pytest

from benchmarks.supersede import summary
from tests.memory.pairs import pairs
from told.memory.supersede import LABELS, judge, relation
from training.supersede_data import met

RULES = (
    "Never commit .env files to the repository.",
    "Never use tabs for indentation.",
    "Always run the linter before committing.",
    "Do not log user emails.",
)


@pytest.mark.parametrize(("old", "new"), list(itertools.permutations(RULES, 2)))
def test_rules_that_only_sound_alike_leave_each_other_alone(old: str, new: str) -> None:
    assert relation(old, new).label == "independent"


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
    ],
)
def test_an_ordinary_sentence_ends_no_rule(old: str, new: str) -> None:
    assert relation(old, new).label != "replaces"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("We use npm for installs.", "we switched to pnpm, no more npm"),
        ("Tests run with mocha.", "mocha is gone, we use vitest now"),
        ("The API listens on port 8080.", "the api port is 9090 now"),
        ("Never force push.", "force pushing is allowed again from now on"),
        ("Wir nutzen MySQL.", "wir sind auf postgres umgestiegen"),
        ("On utilise yarn.", "on est passé à pnpm, plus de yarn"),
        ("Usamos npm.", "ahora usamos pnpm, npm ya no"),
        ("使用 npm 安装依赖。", "以后改用 pnpm,不要再用 npm"),
    ],
)
def test_an_announced_change_replaces(old: str, new: str) -> None:
    assert relation(old, new).label == "replaces"


def test_going_back_to_the_first_choice_works() -> None:
    first, second = "Use npm.", "Use bun."
    assert relation(first, "we use bun from now on, no npm").label == "replaces"
    assert relation(second, "bun is out, back to npm", older=first).label == "replaces"
    assert relation(first, "back to bun, npm is out again", older=second).label == "replaces"


def test_the_same_for_another_folder_leaves_the_old_one_alone() -> None:
    found = relation("We use pnpm.", "packages/legacy still uses npm, leave it")
    assert found.label == "contradicts_scope"
    assert "folder" in found.why


def test_saying_it_again_repeats_it() -> None:
    for text in {pair.old for pair in pairs()} | {pair.new for pair in pairs()}:
        assert relation(text, text).label == "repeats", text
        assert relation(text, f"  {text.upper()} ").label == "repeats", text


def test_an_unrelated_statement_ends_nothing() -> None:
    """Each invented message meets statements of other pairs that it does not mean."""
    choose = random.Random(11)
    invented = pairs()
    met = 0
    for _ in range(3000):
        (_, _, old, _, _), (_, _, other, new, _) = choose.choice(invented), choose.choice(invented)
        words, others = _words(old), _words(other) | _words(new)
        if words & others:
            continue
        met += 1
        found = judge(new, [old])[0]
        assert found.label != "replaces" or "choice" in found.why or "drops" in found.why, (old, new, found)
    assert met > 500


def test_invented_pairs_are_judged_well() -> None:
    figures = summary(
        [pair.label for pair in pairs()],
        [relation(pair.old, pair.new, older=pair.older).label for pair in pairs()],
    )
    assert figures["accuracy"] >= 0.78
    assert figures["wrongly_ended"]["independent"] == 0
    assert figures["wrongly_ended"]["contradicts_scope"] == 0
    assert figures["wrongly_ended"]["all"] <= 8


def test_among_many_no_independent_statement_is_ended() -> None:
    for pair in pairs():
        if pair.label == "independent":
            assert judge(pair.new, [pair.old])[0].label != "replaces", pair


def test_in_a_project_what_stays_true_is_not_ended_and_most_of_what_changed_is() -> None:
    ended = missed = wrong = 0
    for new, group in itertools.groupby(met(), key=lambda one: (one.project, one.new)):
        standing = list(group)
        for one, found in zip(standing, judge(new[1], [one.old for one in standing]), strict=True):
            ended += one.ends
            missed += one.ends and found.label != "replaces"
            wrong += found.label == "replaces" and not one.ends
    assert ended > 60
    assert wrong == 0
    assert missed <= ended // 2


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The free plan allows 5 documents.", "The free plan allows 3 documents since the new pricing."),
        ("Fehler gehen an Sentry.", "Fehler gehen an GlitchTip, Sentry ist abgeschaltet."),
        ("The database is MySQL 8.", "The database is Postgres 16 since April."),
        ("Deploys are on Friday.", "Deploys are on Monday."),
        ("Use npm.", "Use bun."),
    ],
)
def test_among_many_a_statement_of_the_same_thing_ends_the_old_one(old: str, new: str) -> None:
    others = ["Answer in German.", "Tests need a running Docker.", "Never log user emails."]
    found = judge(new, [*others, old])
    assert [one.label == "replaces" for one in found] == [False, False, False, True]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The module legacy-adt stays at Java 8.", "All modules but legacy-adt are Java 21."),
        ("Das Modul legacy-adt bleibt bei Java 8.", "Alle Module außer legacy-adt sind Java 21."),
    ],
)
def test_what_is_said_of_all_but_one_leaves_that_one_alone(old: str, new: str) -> None:
    assert judge(new, [old])[0].label != "replaces"


def test_one_word_in_common_ends_no_long_statement_about_something_else() -> None:
    old = "Jobs run on the cluster through SLURM; the log-in node kills anything over 10 minutes."
    new = "Deprecations warn for two minor releases before anything is removed."
    assert judge(new, [old])[0].label != "replaces"


def test_only_the_likeliest_of_many_is_ended() -> None:
    found = judge(
        "Switched to bun for installs because it is quicker.",
        ["We use npm for this repo.", "Generated code comes from the schema with npm run gen."],
    )
    assert [one.label == "replaces" for one in found] == [True, False]


def test_several_are_judged_in_their_order() -> None:
    found = judge("we switched to pnpm, no more npm", ["Answer in German.", "We use npm.", ""])
    assert [one.label for one in found] == ["independent", "replaces", "independent"]
    assert judge("anything", []) == []


def test_nothing_in_common_with_one_of_many_is_independent() -> None:
    assert judge("round to one decimal", ["Videos are hosted on Mux."])[0].label == "independent"


def test_any_text_gets_an_answer() -> None:
    choose = random.Random(7)
    alphabet = "abc ABC 019 .,;:!?/\\@#-_'\"()[]{}|\n\t\0\ud800é漢字かなカナ한글ا🙂 never no not of 8080 "
    for _ in range(400):
        old, new, older = (
            "".join(choose.choice(alphabet) for _ in range(choose.randrange(60))) for _ in range(3)
        )
        found = relation(old, new, older=older)
        assert found.label in LABELS
        assert 0 <= found.certainty <= 1
        assert found.why
        assert found == relation(old, new, older=older)


def test_long_texts_cost_no_more_than_their_length() -> None:
    for text in ("never " * 50_000, "a/b." * 50_000, "npm, " * 50_000, "漢字" * 100_000, "x" * 400_000):
        assert relation(text, text[1:]).label in LABELS  # what is not linear would take hours here
        assert relation("We use npm.", text).label in LABELS


def test_the_answer_is_the_same_in_every_process() -> None:
    script = (
        "from told.memory.supersede import judge; from tests.memory.pairs import pairs;"
        "print([judge(p[3], [p[2]])[0] for p in pairs()])"
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


def _words(text: str) -> set[str]:
    return {word.strip(".,!?").rstrip("s") for word in text.lower().split() if len(word) > 3}


def test_what_stands_for_a_secret_is_one_word_whatever_its_letters() -> None:
    for one, other in (("79d6", "42c6"), ("bd6a", "f2b7"), ("0000", "ffff"), ("1e10", "face")):
        door = f"Always open the door with [secret:badge:{one}], never with the key."
        back = f"The back door takes [secret:badge:{other}]."
        assert relation(door, back).label == "independent"
        token = "The staging token is [secret:token:{}]."
        assert relation(token.format(one), token.format(one)).label == "repeats"
        assert relation(token.format(one), f"{token.format(other)[:-1]} now.").label == "replaces"
    assert relation("It is [secret:cut", "It is [secret:cut").label == "repeats"
