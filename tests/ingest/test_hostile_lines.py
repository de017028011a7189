"""Read every good line, report every bad one, and never hang."""

from __future__ import annotations

import math
import os
import subprocess
import sys

import pytest

from told import jsontext as jsonl
from told.jsontext import Line, read_json_file, read_json_lines
from told.model import Cursor, Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

A, B = b'{"a":1}', b'{"b":2}'
GOOD_A, GOOD_B = (1, {"a": 1}), (3, {"b": 2})
BAD = [2]

# name, content, good lines as (number, value), numbers of bad lines
CASES: list[tuple[str, bytes, list[tuple[int, Any]], list[int]]] = [
    ("an empty file", b"", [], []),
    ("one line", A + b"\n", [GOOD_A], []),
    ("a whole last line without its line feed", A + b"\n" + B, [GOOD_A, (2, {"b": 2})], []),
    ("half a last line", A + b'\n{"b":', [GOOD_A], []),
    ("half a character at the end", A + b'\n{"b":"\xe2\x82', [GOOD_A], []),
    ("carriage returns", A + b"\r\n\r\n" + B + b"\r\n", [GOOD_A, GOOD_B], []),
    ("empty lines", A + b"\n\n" + B + b"\n\n\n", [GOOD_A, GOOD_B], []),
    ("spaces and tabs around", b" \t" + A + b" \n\t\n  " + B + b"\t\n", [GOOD_A, GOOD_B], []),
    ("only line feeds", b"\n" * 50, [], []),
    ("a byte order mark", b"\xef\xbb\xbf" + A + b"\n\n" + B + b"\n", [GOOD_A, GOOD_B], []),
    ("a byte order mark in the middle", A + b"\n\n\xef\xbb\xbf" + B + b"\n", [GOOD_A, GOOD_B], []),
    (
        "depth 100,000 of arrays",
        A + b"\n" + b'{"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n" + B + b"\n",
        [GOOD_A, GOOD_B],
        BAD,
    ),
    (
        "depth 100,000 of objects",
        A + b"\n" + b'{"x":' * 100_000 + b"1" + b"}" * 100_000 + b"\n" + B + b"\n",
        [GOOD_A, GOOD_B],
        BAD,
    ),
    ("depth 100,000, never closed", A + b"\n" + b"[" * 100_000 + b"\n" + B + b"\n", [GOOD_A, GOOD_B], BAD),
    ("a lone surrogate", A + b'\n{"x":"\\ud800"}\n' + B + b"\n", [GOOD_A, (2, {"x": "\ud800"}), GOOD_B], []),
    ("surrogates the wrong way round", b'{"x":"\\ude00\\ud83d"}\n', [(1, {"x": "\ude00\ud83d"})], []),
    ("an escaped pair of surrogates", b'{"x":"\\ud83d\\ude00"}\n', [(1, {"x": "😀"})], []),
    ("a surrogate written as UTF-8", b'{"x":"\xed\xa0\x80"}\n', [(1, {"x": "\ud800"})], []),
    ("an escaped NUL", b'{"x":"a\\u0000b"}\n', [(1, {"x": "a\0b"})], []),
    ("a raw NUL in a text", A + b'\n{"x":"a\0b"}\n' + B + b"\n", [GOOD_A, GOOD_B], BAD),
    (
        "zeros before a line, as a crash leaves them",
        A + b"\n\n" + b"\0" * 4096 + B + b"\n",
        [GOOD_A, GOOD_B],
        [],
    ),
    ("a line of zeros only", A + b"\n" + b"\0" * 4096 + b"\n" + B + b"\n", [GOOD_A, GOOD_B], []),
    ("a zero as the second byte", A + b"\n{\0}\n" + B + b"\n", [GOOD_A, GOOD_B], BAD),
    ("UTF-16, little end first", '{"a":1}\n{"b":2}\n'.encode("utf-16-le"), [], [1, 2]),
    ("UTF-16, little end first, marked", b"\xff\xfe" + '{"a":1}\n{"b":2}\n'.encode("utf-16-le"), [], [1, 2]),
    ("UTF-16, big end first, marked", b"\xfe\xff" + '{"a":1}\n{"b":2}\n'.encode("utf-16-be"), [], [1, 2]),
    ("bytes that are not UTF-8", A + b'\n{"x":"\xff\xfe\x80"}\n' + B + b"\n", [GOOD_A, GOOD_B], BAD),
    ("Latin-1", A + b'\n{"x":"caf\xe9"}\n' + B + b"\n", [GOOD_A, GOOD_B], BAD),
    (
        "random bytes",
        A + b"\n" + bytes(b for b in range(256) if b != 10) + b"\n" + B + b"\n",
        [GOOD_A, GOOD_B],
        BAD,
    ),
    (
        "a whole number of 5,000 digits",
        b'{"x":' + b"7" * 5000 + b',"y":"z"}\n',
        [(1, {"x": "7" * 5000, "y": "z"})],
        [],
    ),
    ("a fraction beyond all bounds", b'{"x":1e999,"y":-1e999}\n', [(1, {"x": math.inf, "y": -math.inf})], []),
    ("infinity", b'{"x":Infinity,"y":-Infinity}\n', [(1, {"x": math.inf, "y": -math.inf})], []),
    ("a key twice", b'{"x":1,"x":2}\n', [(1, {"x": 2})], []),
    ("a bare text", A + b'\n"text"\n' + B + b"\n", [GOOD_A, GOOD_B], BAD),
    ("a bare number", A + b"\n42\n" + B + b"\n", [GOOD_A, GOOD_B], BAD),
    ("null", A + b"\nnull\n" + B + b"\n", [GOOD_A, GOOD_B], BAD),
    ("an array", A + b'\n[{"a":1}]\n' + B + b"\n", [GOOD_A, GOOD_B], BAD),
    ("two objects on a line", A + b"\n" + A + B + b"\n" + B + b"\n", [GOOD_A, GOOD_B], BAD),
    ("a line torn by another writer", A + b'\n{"x":"to{"y":1}\n' + B + b'\nrn"}\n', [GOOD_A, GOOD_B], [2, 4]),
    ("a merge conflict", A + b"\n<<<<<<< HEAD\n" + B + b"\n=======\n", [GOOD_A, GOOD_B], [2, 4]),
    ("a line feed inside a text", A + b'\n{"x":"a\nb"}\n', [GOOD_A], [2, 3]),
    ("single quotes", A + b"\n{'x':1}\n" + B + b"\n", [GOOD_A, GOOD_B], BAD),
    ("a comma too many", A + b'\n{"x":1,}\n' + B + b"\n", [GOOD_A, GOOD_B], BAD),
    (
        "a line longer than allowed",
        A + b'\n{"x":"' + b"y" * 300_000 + b'"}\n' + B + b"\n",
        [GOOD_A, GOOD_B],
        BAD,
    ),
    (
        "two lines longer than allowed",
        b"z" * 300_000 + b"\n" + b"z" * 200_000 + b"\n" + B + b"\n",
        [GOOD_B],
        [1, 2],
    ),
    ("a long line that is still being written", A + b'\n{"x":"' + b"y" * 900_000, [GOOD_A], []),
    (
        "a line of exactly the limit",
        A + b"\n" + b'{"x":"' + b"y" * (131_072 - 9) + b'"}\n',
        [GOOD_A, (2, {"x": "y" * (131_072 - 9)})],
        [],
    ),
]


@pytest.fixture
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "MAX_LINE", 131_072)
    monkeypatch.setattr(jsonl, "_MARK_EVERY", 1)


def read(path: str, cursor: Cursor | None = None) -> list[Line | Problem | Cursor]:
    return list(read_json_lines(path, cursor or Cursor()))


def without_cursors(events: list[Line | Problem | Cursor]) -> list[Line | Problem]:
    return [event for event in events if not isinstance(event, Cursor)]


@pytest.mark.usefixtures("small_limits")
@pytest.mark.parametrize(("content", "good", "bad"), [pytest.param(*case[1:], id=case[0]) for case in CASES])
def test_good_lines_are_read_and_bad_ones_reported_once(
    tmp_path: Path, content: bytes, good: list[tuple[int, Any]], bad: list[int]
) -> None:
    file = tmp_path / "session.jsonl"
    file.write_bytes(content)
    events = read(str(file))
    assert [(event.number, event.value) for event in events if isinstance(event, Line)] == good
    assert [event.line for event in events if isinstance(event, Problem)] == bad


@pytest.mark.usefixtures("small_limits")
@pytest.mark.parametrize("content", [pytest.param(case[1], id=case[0]) for case in CASES])
def test_reading_from_any_cursor_yields_the_same_rest(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "session.jsonl"
    file.write_bytes(content)
    events = read(str(file))
    for position, event in enumerate(events):
        if isinstance(event, Cursor):
            assert read(str(file), event) == events[position + 1 :]


@pytest.mark.usefixtures("small_limits")
@pytest.mark.parametrize(
    "content", [pytest.param(case[1], id=case[0]) for case in CASES if len(case[1]) < 200]
)
def test_growing_file_yields_the_same_events(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "session.jsonl"
    whole = without_cursors(read_content(file, content))
    if whole and b"\n" not in content[-1:]:
        content += b"\n"
        whole = without_cursors(read_content(file, content))
    cursor, seen = Cursor(), []
    for size in range(len(content) + 1):
        file.write_bytes(content[:size])
        for event in read(str(file), cursor):
            if isinstance(event, Cursor):
                cursor = event
            else:
                seen.append(event)
    two_on_a_line = A + B in content  # the first is whole before the second comes
    assert two_on_a_line or seen == whole


def read_content(file: Path, content: bytes) -> list[Line | Problem | Cursor]:
    file.write_bytes(content)
    return read(str(file))


def test_nan_is_accepted(tmp_path: Path) -> None:
    (line, _) = read_content(tmp_path / "f", b'{"x":NaN}\n')
    assert isinstance(line, Line)
    assert math.isnan(line.value["x"])


def only_problem(path: str) -> str:
    (problem,) = read(path)
    assert isinstance(problem, Problem)
    assert problem.line == 0
    document = read_json_file(path)
    assert document == problem
    return problem.reason


def test_missing_file_is_a_problem(tmp_path: Path) -> None:
    assert only_problem(str(tmp_path / "gone.jsonl")) == "no such file or directory"


def test_folder_is_a_problem(tmp_path: Path) -> None:
    assert only_problem(str(tmp_path)) == "not a regular file"


def test_pipe_is_a_problem_and_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert only_problem(str(tmp_path / "pipe")) == "not a regular file"


@pytest.mark.parametrize("device", ["/dev/null", "/dev/zero", "/dev/tty"])
def test_device_is_a_problem(device: str) -> None:
    if not os.path.exists(device):
        pytest.skip(f"no {device} here")
    assert only_problem(device)


def test_link_loop_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "one").symlink_to(tmp_path / "two")
    (tmp_path / "two").symlink_to(tmp_path / "one")
    assert "symbolic links" in only_problem(str(tmp_path / "one"))


def test_path_with_nul_is_a_problem(tmp_path: Path) -> None:
    assert only_problem(str(tmp_path / "a\0b"))


def test_unreadable_file_is_a_problem(tmp_path: Path) -> None:
    file = tmp_path / "secret.jsonl"
    file.write_bytes(A)
    file.chmod(0)
    if os.access(file, os.R_OK):
        pytest.skip("this user may read everything")
    assert only_problem(str(file)) == "permission denied"


def test_file_shorter_than_the_cursor_yields_nothing(tmp_path: Path) -> None:
    file = tmp_path / "short.jsonl"
    file.write_bytes(A + b"\n")
    assert read(str(file), Cursor(1_000_000, 10)) == []


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process's own peak")
def test_line_of_300_mb_uses_little_memory(tmp_path: Path) -> None:
    file = tmp_path / "huge.jsonl"
    with file.open("wb") as out:
        out.write(A + b"\n")
        out.seek(300 * 1024 * 1024, os.SEEK_CUR)
        out.write(b"\n" + B + b"\n")
    program = (
        "import sys\n"
        "from told.jsontext import read_json_lines\n"
        "from told.model import Cursor\n"
        "print(*[type(event).__name__ for event in read_json_lines(sys.argv[1], Cursor())])\n"
        # What the kernel counts for resource.getrusage includes the process this one was forked from.
        "print(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))\n"
    )
    output = subprocess.check_output([sys.executable, "-c", program, str(file)], text=True)
    names, memory = output.splitlines()
    assert names.replace(" Cursor", "") == "Line Problem Line"
    assert int(memory) * 1024 < 100 * 1024 * 1024
