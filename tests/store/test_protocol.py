"""SQLite does what every store has to do."""

from __future__ import annotations

import inspect

import apsw
import pytest

from told.search.index_text import extra_words, near_words
from told.store.checkpoints import OwnCheckpoints
from told.store.matching import Matching
from told.store.projects import Projects
from told.store.protocol import (
    CheckpointKeeping,
    ProjectKeeping,
    SessionReading,
    SessionWriting,
    TurnMatching,
    TurnNearness,
)
from told.store.reading import Reading
from told.store.schema import migrate
from told.store.vectors import TurnVectors
from told.store.writing import Writer

PAIRS = [
    (SessionReading, Reading),
    (TurnMatching, Matching),
    (TurnNearness, TurnVectors),
    (SessionWriting, Writer),
    (ProjectKeeping, Projects),
    (CheckpointKeeping, OwnCheckpoints),
]


def test_the_type_checker_agrees() -> None:
    connection = apsw.Connection(":memory:")
    assert migrate(connection)
    reading: SessionReading = Reading(connection)
    matching: TurnMatching = Matching(connection)
    writing: SessionWriting = Writer(connection, extra_words, near_words)
    projects: ProjectKeeping = Projects(connection)
    nearness: TurnNearness = TurnVectors(connection, "none")
    checkpoints: CheckpointKeeping = OwnCheckpoints(connection)
    assert checkpoints.known() == {}
    assert matching.turn_count() == 0
    assert nearness.sketches() == []
    with writing.transaction():
        made = writing.new_session("codex", "one")
        assert projects.put("path:/a", "a", "/a").name == "a"
    assert reading.session(made.id).native == "one"


@pytest.mark.parametrize(("protocol", "store"), PAIRS)
def test_every_call_takes_the_same_arguments(protocol: type, store: type) -> None:
    promised = [name for name in vars(protocol) if not name.startswith("_")]
    assert promised
    for name in promised:
        wanted = inspect.signature(getattr(protocol, name)).parameters
        given = inspect.signature(getattr(store, name)).parameters
        assert [(one.name, one.kind, one.default) for one in wanted.values()] == [
            (one.name, one.kind, one.default) for one in given.values()
        ], name
