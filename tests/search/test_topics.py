"""Topics of texts."""

from __future__ import annotations

import pytest

from told.search.about import parse_about
from told.search.index_text import make_index_fields
from told.search.topics import EXACT, PREFIXES, find_topic_hints, find_topics
from training.topics import TARGET, lists, table


def test_topic_table_matches_lists() -> None:
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
def test_different_words_share_topic(one: str, other: str) -> None:
    assert find_topics(one).keys() & find_topics(other).keys()


def test_unrelated_words_have_no_topic() -> None:
    assert find_topics("the heron and the kettle") == {}
    assert find_topics("") == {}


def test_everyday_word_is_weaker_than_term() -> None:
    assert max(strength for strength, _ in find_topic_hints("table")) < max(
        strength for strength, _ in find_topic_hints("alembic")
    )


def test_stored_about_line_names_topics() -> None:
    names = {name for joined in (*EXACT.values(), *PREFIXES.values()) for name in joined.split("+")}
    assert len(names) > 100
    assert not any(set(" \t:") & set(name) for name in names)
    said = "Deploys wait for the migration."
    assert parse_about(make_index_fields(said, 0).about).topics == find_topics(said)
