"""Run the acceptance tests and write their results into docs/threat-model.md."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parent
PAGE = FOLDER.parents[1] / "docs" / "threat-model.md"
ROWS: list[dict[str, str]] = tomllib.loads((FOLDER / "table.toml").read_text(encoding="utf-8"))["test"]
_BLOCK = re.compile(r"(?<=<!-- acceptance -->\n).*?(?=<!-- /acceptance -->)", re.DOTALL)


SQLITE, POSTGRES = "SQLite", "PostgreSQL"
STORES = (SQLITE, POSTGRES)


class Recorder:
    """Note the outcome of every test by the name that its mark gives it, and its store."""

    def __init__(self) -> None:
        self.outcomes: dict[tuple[str, str], Counter[str]] = {}
        self.reasons: dict[tuple[str, str], dict[str, None]] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Any:
        """Note the outcome of a test's call, or of a set-up that failed."""
        report: pytest.TestReport = yield
        mark = item.get_closest_marker("atlas")
        if mark is None or (report.when != "call" and report.outcome == "passed"):
            return report
        name = mark.args[0], _store_of(item)
        expected = getattr(report, "wasxfail", "")
        outcome = "missing" if expected and report.outcome == "skipped" else report.outcome
        self.outcomes.setdefault(name, Counter())[outcome] += 1
        reason = expected if outcome == "missing" else _skip_reason(report)
        if reason:
            self.reasons.setdefault(name, {})[reason] = None
        return report


def _store_of(item: pytest.Item) -> str:
    """Return the store of a test: the server's have files of their own, some tests run on both."""
    parameters = getattr(getattr(item, "callspec", None), "params", {})
    is_server = item.path.name.startswith("test_server_")
    return POSTGRES if is_server or parameters.get("kept") == "postgres" else SQLITE


def _skip_reason(report: pytest.TestReport) -> str:
    where = report.longrepr if report.outcome == "skipped" else None
    return where[2].removeprefix("Skipped: ") if isinstance(where, tuple) else ""


def run() -> tuple[int, str]:
    """Run the tests; return pytest's exit code and the table."""
    recorder = Recorder()
    words = ["-n0", "-q", "-p", "no:cacheprovider", f"--ignore={FOLDER / 'test_table.py'}", str(FOLDER)]
    code = pytest.main(words, plugins=[recorder])
    return int(code), make_table(recorder)


def make_table(recorder: Recorder) -> str:
    """Return the table in Markdown."""
    head = f"| test | {' | '.join(STORES)} | what told does | what a pass does not prove |"
    lines = [head, "|---|---|---|---|---|"]
    for row in ROWS:
        keys = [(row["id"], store) for store in STORES]
        results = [
            _describe(recorder.outcomes.get(key, Counter()), recorder.reasons.get(key, {})) for key in keys
        ]
        lines.append(f"| `{row['id']}` | {' | '.join(results)} | {row['does']} | {row['not_proven']} |")
    return "\n".join(lines) + "\n"


def _describe(outcomes: Counter[str], reasons: dict[str, None]) -> str:
    why = f": {'; '.join(reasons)}" if reasons else ""
    if outcomes["failed"]:
        return "fails"
    if not outcomes["passed"]:
        return f"not run{why}"
    return f"partly{why}" if outcomes["missing"] else "passes"


def write(table: str) -> None:
    """Replace the table in the page."""
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(_BLOCK.sub(lambda _: table, text, count=1), encoding="utf-8")
