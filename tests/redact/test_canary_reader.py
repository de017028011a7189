"""Test that no secret gets from a reader's answers into told's files or output."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.hook.desk import Desk
from tests.hook.talk import Talk, edit
from tests.reader.model_server import ModelServer, model_server
from tests.redact.canary import CANARIES, TEXT, TOKEN, everywhere, leaks, named, spoken, variables
from tests.redact.test_canary import assert_only_in_config, assert_prints_nothing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SAID = (
    "I looked at the importer again, and the thing is that our customer ids are UUIDs and not plain integers,"
    " whatever the old schema suggests about it."
)
QUOTE = "our customer ids are UUIDs and not plain integers"
KNOWN = "Customer ids are UUIDs, not integers."


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Desk:
    made = Desk(tmp_path, capsys)
    made.environ |= {**variables(), "TOLD_DEBUG": "1"}
    monkeypatch.chdir(made.project)
    for name in ("session._INGEST_UNTIL", "session._LEARN_UNTIL", "auto_checkpoint._WRITE_UNTIL"):
        monkeypatch.setattr(f"told.hook.{name}", 60)  # a slow machine takes its time
    return made


@pytest.fixture
def model(desk: Desk) -> Iterator[ModelServer]:
    """The reader of this machine."""
    with model_server() as made:
        desk.config(f'[reader]\nmode = "endpoint"\nurl = "{made.url}"\nmodel = "toy"\n')
        yield made


def item(text: str, quote: str = QUOTE) -> dict[str, Any]:
    return {"text": text, "kind": "fact", "scope": "project", "quote": quote, "turn": 0, "replaces": [TOKEN]}


def answer(*items: dict[str, Any]) -> dict[str, Any]:
    lines = ["Read the importer", TEXT]
    summary = {"goal": f"Ship it. {TEXT}", "done": lines, "pending": lines, "decisions": lines}
    return {"items": list(items), "candidates": [{"id": TOKEN, "keep": True}], "summary": summary}


def test_no_leak_from_judge_answers(desk: Desk, model: ModelServer) -> None:
    private = next(one.said for one in CANARIES if one.said.startswith("<private>"))
    tainted = [item(f"{KNOWN} {one.said}") for one in CANARIES]
    model.answer = lambda _asked: answer(item(f"{KNOWN} {private}"), *tainted, item(KNOWN, TEXT))
    Talk(desk).turn(SAID, "The docs are not updated yet.", edit(f"{desk.project}/src/ids.py")).compact()
    said = desk.told("learn", "--yes")
    assert len(model.requests) == 2, "one for the items, one for the summary"
    assert any(QUOTE in text for text in desk.texts()), "the user's own words are kept"
    assert leaks([("learn", (said.out + said.err).encode())]) == []
    assert "Ship it" in desk.told("checkpoints", "--json").out, "the summary is kept"
    assert_prints_nothing(desk)
    assert_only_in_config(desk, "reader")


@pytest.mark.parametrize("taint", [spoken, named], ids=["spoken", "named"])
def test_no_leak_from_malformed_answers(desk: Desk, model: ModelServer, taint: Any) -> None:
    broken = [TEXT, f'{{"items": [{{"text": "{TOKEN}"', json.dumps(everywhere({"items": "a b"}, taint))]
    for number, text in enumerate(broken):
        model.answer = lambda _asked, text=text: text  # type: ignore[misc]
        desk.claude((f"{SAID} It is remark {number}.", "Done."), cwd=desk.project)
        said = desk.told("learn", "--yes")
        assert leaks([("learn", (said.out + said.err).encode())]) == []
    assert_prints_nothing(desk)
    assert_only_in_config(desk, "reader")


def test_no_leak_from_the_models_name(desk: Desk, model: ModelServer) -> None:
    desk.config(f'[reader]\nmode = "endpoint"\nurl = "{model.url}"\nmodel = "{TOKEN}"\n')
    desk.claude((SAID, "Done."), cwd=desk.project)
    desk.told("learn", "--yes")
    assert [one["model"] for one in model.requests] == [TOKEN]
    assert "[secret:" in (desk.told_home / "reader.jsonl").read_text()
    assert_only_in_config(desk, "reader")
