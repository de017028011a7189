"""What Claude Code's own transcripts say about hooks, and what is still running when a session is over."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

from lab import leftovers, timing

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def _transcript(home: Path, *records: Mapping[str, object]) -> None:
    folder = home / ".claude" / "projects" / "-home-dev-code-acme-api"
    folder.mkdir(parents=True)
    lines = [*map(json.dumps, records), "half a li"]
    (folder / "session.jsonl").write_text("\n".join(lines), encoding="utf-8")


def _attached(kind: str, **rest: object) -> dict[str, object]:
    return {"type": "attachment", "attachment": {"type": kind, "hookName": "SessionStart:startup", **rest}}


def test_the_longest_time_of_each_hook_is_found(tmp_path: Path) -> None:
    stop = {"type": "system", "subtype": "stop_hook_summary", "hookInfos": [{"durationMs": 9}]}
    start = [_attached("hook_success", durationMs=ms) for ms in (30, 70, 50)]
    _transcript(tmp_path, *start, stop)
    assert timing.recorded(str(tmp_path)) == {"SessionStart:startup": 70.0, "Stop": 9.0}


def test_hooks_that_failed_or_were_given_up_are_told_apart(tmp_path: Path) -> None:
    _transcript(
        tmp_path, _attached("hook_non_blocking_error", stderr="No such file"), _attached("hook_cancelled")
    )
    assert timing.complaints(str(tmp_path)) == ["SessionStart:startup: No such file"]
    assert timing.given_up(str(tmp_path)) == 1


def test_a_home_without_transcripts_says_nothing(tmp_path: Path) -> None:
    assert timing.recorded(str(tmp_path)) == {}
    assert timing.complaints(str(tmp_path)) == []


def test_what_still_runs_in_a_home_is_found_and_ended(tmp_path: Path) -> None:
    home = str(tmp_path)
    program = [sys.executable, "-c", "print(1, flush=True); import time; time.sleep(60)", "left"]
    other = subprocess.Popen(program, env={"HOME": f"{home}-other"}, stdout=subprocess.PIPE)
    left = subprocess.Popen(program, env={"HOME": home}, stdout=subprocess.PIPE)
    try:
        for one in (other, left):
            assert one.stdout is not None
            one.stdout.readline()
        if not os.path.isdir("/proc/self"):
            assert leftovers.running(home) == {}
            return
        assert set(leftovers.running(home)) == {left.pid}
        leftovers.end(home)
        assert left.wait(10) != 0
        assert other.poll() is None
    finally:
        for one in (other, left):
            one.kill()
            one.communicate()
