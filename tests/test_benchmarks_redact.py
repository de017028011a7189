"""The benchmark of redaction counts what it says it counts. No time is asserted."""

from __future__ import annotations

import gzip
import json
import os
import sys

import pytest

# The measuring room is not installed; it stands beside the tests.
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from benchmarks import redact, redact_peers, redact_text, tools
from benchmarks.__main__ import main
from benchmarks.redact_score import Row, alarms, covered, recall

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any

TOKEN = "ghp_" + "k3J9sQ0vWx7LmN2pR5tY8uB1cD4eF6gH0iJk"
LINES: list[dict[str, Any]] = [
    {"id": "a", "text": f"use {TOKEN} now", "secret": TOKEN, "label": 1, "kind": "", "tier": "A"},
    {"id": "b", "text": "the fjord is blue", "secret": "fjord", "label": 1, "kind": "", "tier": "A"},
    {"id": "c", "text": f"say {TOKEN}", "secret": TOKEN, "label": 1, "kind": "transcript", "tier": "B"},
    {"id": "d", "text": "nothing at all", "secret": "", "label": 0, "kind": "sample", "tier": ""},
    {"id": "e", "text": TOKEN, "label": 0, "kind": "sample", "contested": True},
    {"text": f"no other keys than a text: {TOKEN}"},
]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    def two(size: int) -> Iterator[tuple[str, str]]:
        yield "a", "a" * (size // 100)
        yield "b", "token=" * (size // 100)

    monkeypatch.setattr(redact, "hostile", two)
    monkeypatch.setattr(redact, "from_sessions", lambda _: ["one text of a session"] * 10)
    monkeypatch.setattr(redact, "from_source", lambda: ["def one() -> int: ..."])


@pytest.mark.parametrize("packed", [False, True])
def test_it_says_what_was_found_and_what_was_no_secret(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], packed: bool
) -> None:
    content = "".join(json.dumps(line) + "\n" for line in LINES).encode()
    data, out = tmp_path / "data", tmp_path / "out"
    data.write_bytes(gzip.compress(content) if packed else content)
    words = ["redact", "--data", str(data), "--no-peers", "--quick", "--predictions", str(out)]
    assert main([*words, "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["rows"] == {"with_a_secret": 3, "without": 3, "contested_left_out": 1}
    assert figures["recall"]["secrets"] == {"A": 2, "transcript": 1}
    assert figures["recall"]["told"] == {"A": 0.5, "transcript": 1.0}
    assert figures["recall_by_tier_all_kinds"]["told"] == {"A": 0.5, "B": 1.0}
    assert figures["false_alarms"]["told"] == {"no kind": 1.0, "sample": 0.0}
    assert set(figures["scanners"].values()) == {"left out"}
    assert figures["told_on_hostile_text"]["texts"] == 2
    redacted = [json.loads(line) for line in out.read_text().splitlines()]
    assert [line["id"] for line in redacted] == ["a", "b", "c", "d", "e", "6"]
    assert TOKEN not in redacted[0]["redacted"]
    assert redacted[3]["redacted"] == "nothing at all"
    assert main(words) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


def test_without_data_the_rules_own_examples_are_the_rows(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["redact", "--no-peers", "--quick", "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert set(figures["recall_gone"]["told"]) == {"A", "B"}
    assert min(figures["recall_gone"]["told"].values()) > 0.9
    assert figures["false_alarms"]["told"]["counter-example"] < 0.1


def test_what_is_no_labelled_data_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "data").write_text('{"no": "text"}\n')
    assert main(["redact", "--data", str(tmp_path / "data"), "--no-peers"]) == 1
    assert "cannot be read as labelled texts" in capsys.readouterr().err


def test_a_secret_is_covered_when_no_useful_part_of_it_is_left() -> None:
    row = Row("1", f"password: password{TOKEN}", f"password{TOKEN}", True, "", "A")
    assert covered(row, "password: [secret]")
    assert not covered(row, f"password: [secret]{TOKEN[-6:]}")
    assert covered(row, f"password: [secret]{TOKEN[-5:]}")
    wide = "".join(chr(ord(one) + 0xFEE0) if one.isalnum() else one for one in TOKEN)
    assert not covered(Row("1", wide, wide, True, "", "A"), TOKEN[:9] + "\u200b" + TOKEN[9:])


def test_tools_stand_side_by_side() -> None:
    rows = [Row("1", "x secret1", "secret1", True, "", "A"), Row("2", "y", "", False, "sample", "")]
    redacted = {"one": ["x [secret]", "y"], "two": ["x secret1", "[secret]"]}
    found = {"one": [True, False], "two": [True, True]}
    figures = recall(rows, redacted, found)
    assert figures["recall"] == {"secrets": {"A": 1}, "one": {"A": 1.0}, "two": {"A": 0.0}}
    assert figures["recall_flagged"] == {"one": {"A": 1.0}, "two": {"A": 1.0}}
    assert alarms(rows, found) == {"texts": {"sample": 1}, "one": {"sample": 0.0}, "two": {"sample": 1.0}}


def test_a_scanner_that_cannot_be_installed_is_named_and_nothing_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tools, "install", lambda *_: tools.Peer("", "no network"))
    (tmp_path / "data").write_text(json.dumps(LINES[0]))
    assert main(["redact", "--data", str(tmp_path / "data"), "--json", "--quick"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["scanners"]["detect-secrets"] == "not installed; no network"
    assert list(figures["speed_on_sessions"]) == ["told"]


def test_what_scanners_print_is_read_by_text(tmp_path: Path) -> None:
    program = tmp_path / "scanner"
    program.write_text(
        "import json, os, sys\n"
        "for name in os.listdir(sys.argv[1]):\n"
        "    text = open(os.path.join(sys.argv[1], name)).read()\n"
        "    print(json.dumps([name, [word for word in text.split() if word.startswith('ghp_')]]))\n"
    )
    real = redact_peers.SCANNERS["detect-secrets"]
    scanner = real._replace(
        program="python", words=lambda _, files, __: [sys.executable, str(program), files]
    )
    place = tmp_path / f"{scanner.package}-{scanner.version}" / "bin"
    place.mkdir(parents=True)
    (place / "python").touch()
    found = redact_peers.scan(
        scanner, [f"a {TOKEN}", "b"], ["c " * 99], str(tmp_path), str(tmp_path / "work")
    )
    assert found[0] == [[TOKEN], []]
    assert found[2] == scanner.version


@pytest.mark.soak
def test_speed_is_measured_on_as_much_text_as_it_says() -> None:
    texts = redact_text.from_sessions(0.2)
    assert 200_000 <= sum(map(len, texts)) < 300_000
    assert any("def " in text for text in redact_text.from_source())
