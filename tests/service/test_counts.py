"""Late, missed and failed hooks are counted across processes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from told.service.state import FAILED, LATE, MISSED, Count, count_problem, read_counts

COUNT = (
    "import sys; from told.service.state import count_problem;"
    "count_problem(sys.argv[1], 'codex', 'start', 'late', 'slow')"
)


def test_counts_add_up_and_the_latest_comes_first(tmp_path: Path) -> None:
    home = str(tmp_path)
    for kind, reason in ((LATE, "first"), (FAILED, "second"), (LATE, "no answer within the limit")):
        count_problem(home, "claude-code", "prompt", kind, reason)
    count_problem(home, "codex", "start", MISSED, "the agent did not wait")
    first, second = read_counts(home)
    assert first == Count("codex", "start", 0, 1, 0, first.at, "the agent did not wait")
    assert second == Count("claude-code", "prompt", 2, 0, 1, second.at, "no answer within the limit")
    assert (tmp_path / "run" / "counts.json").stat().st_mode & 0o777 == 0o600


def test_no_count_is_lost_among_processes(tmp_path: Path) -> None:
    counting = [subprocess.Popen([sys.executable, "-c", COUNT, str(tmp_path)]) for _ in range(8)]
    assert [one.wait() for one in counting] == [0] * 8
    assert [one.late for one in read_counts(str(tmp_path))] == [8]


def test_strange_names_and_damaged_files_are_ignored(tmp_path: Path) -> None:
    count_problem(str(tmp_path), "claude\ncode", "prompt", LATE, "slow")
    count_problem(str(tmp_path), "claude-code", "prompt", "sk-secret", "slow")
    count_problem(str(tmp_path / "nowhere"), "claude-code", "prompt", LATE, "slow")
    assert read_counts(str(tmp_path)) == []
    count_problem(str(tmp_path), "claude-code", "prompt", LATE, "slow")
    (tmp_path / "run" / "counts.json").write_text("{")
    assert read_counts(str(tmp_path)) == []
    count_problem(str(tmp_path), "claude-code", "prompt", LATE, "slow")
    assert [one.late for one in read_counts(str(tmp_path))] == [1]
