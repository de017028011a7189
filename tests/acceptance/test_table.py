"""Each of the twenty acceptance tests exists, and the table of the threat model has it."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from tests.acceptance.table import FOLDER, PAGE, POSTGRES, ROWS, Recorder, make_table

NAMES = [row["id"] for row in ROWS]
MARKED = re.compile(r'@pytest\.mark\.atlas\("([a-z._]+)"\)')


def test_every_acceptance_test_exists() -> None:
    assert len(NAMES) == len(set(NAMES)) == 20
    server = set(FOLDER.glob("test_server_*.py"))
    local = set(FOLDER.glob("test_*.py")) - server - {FOLDER / "test_policy.py"}  # which has both
    for files in (local, server):
        assert {name for path in files for name in MARKED.findall(path.read_text())} == set(NAMES)


def test_the_page_has_a_result_for_each() -> None:
    """`make docs` writes the results; here only the words around them are compared."""
    text = PAGE.read_text(encoding="utf-8")
    for row in ROWS:
        line = next(line for line in text.splitlines() if line.startswith(f"| `{row['id']}` | "))
        assert line.endswith(f" | {row['does']} | {row['not_proven']} |")
        assert "not run | " not in line
        assert line.count(" | ") == 4


@pytest.mark.parametrize(
    ("outcomes", "result"),
    [
        (["passed"], "passes"),
        (["passed", "missing"], "partly"),
        (["passed", "failed"], "fails"),
        ([], "not run"),
    ],
)
def test_a_result_is_no_better_than_its_worst_part(outcomes: list[str], result: str) -> None:
    recorder = Recorder()
    recorder.outcomes[NAMES[0], POSTGRES] = Counter(outcomes)
    assert f"| `{NAMES[0]}` | not run | {result} |" in make_table(recorder)
