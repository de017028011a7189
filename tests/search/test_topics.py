"""Topics: which words lead to each other, and that the table is the one its lists make."""

from __future__ import annotations

import pytest

from told.search import topic_words
from told.search.memory_words import memory_words
from told.search.topics import hints, topic_word, topics
from training.topics import TARGET, lists, table


def test_the_table_is_what_its_lists_make() -> None:
    with open(TARGET, encoding="utf-8") as file:
        assert file.read() == table(lists()), "run python -m training.topics"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ship it", "Deployments wait for the pipeline."), ("run the specs", "pytest needs a broker."),
        ("open a pr", "Merge requests go against next."), ("bitte einchecken", "Commits are signed."),
        ("it is sluggish", "Performance is measured first."),
        ("rate-limit the login", "429 after 100 requests."),
        ("支付失败", "Payments are Stripe."), ("the migration's type", "Schema changes are reviewed."),
    ],
)  # fmt: skip
def test_other_words_for_the_same_thing_meet(one: str, other: str) -> None:
    assert topics(one).keys() & topics(other).keys()


def test_words_of_no_topic_have_none() -> None:
    assert topics("the heron and the kettle") == {}
    assert topics("") == {}


def test_an_everyday_word_says_less_than_a_term() -> None:
    assert max(strength for strength, _ in hints("table")) < max(strength for strength, _ in hints("alembic"))


def test_the_index_holds_a_word_of_its_own_for_every_topic() -> None:
    lines = (*topic_words.EXACT.values(), *topic_words.BEGINNINGS.values())
    entries = [entry for line in lines for entry in line.split()]
    names = {name for entry in entries for name in entry.partition("|")[2].split("+")}
    assert len({topic_word(name) for name in names}) == len(names) > 100
    assert topic_word("deploy") in memory_words("Deploys wait.", 0)[0].split()
