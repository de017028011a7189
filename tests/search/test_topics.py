"""Topics: which words lead to each other, and that the table is the one its lists make."""

from __future__ import annotations

import pytest

from told.search import topic_words
from told.search.about import about_of
from told.search.memory_words import memory_words
from told.search.topics import hints, topics
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


def test_what_is_stored_of_a_memory_names_its_topics() -> None:
    lines = (*topic_words.EXACT.values(), *topic_words.BEGINNINGS.values())
    entries = [entry for line in lines for entry in line.split()]
    names = {name for entry in entries for name in entry.partition("|")[2].split("+")}
    assert len(names) > 100
    assert not any(set(" \t:") & set(name) for name in names)
    said = "Deploys wait for the migration."
    assert about_of(memory_words(said, 0).about).topics == topics(said)
