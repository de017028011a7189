"""What ssh adds to the contract: hosts that fail, and requests that are not whole."""

from __future__ import annotations

import io
import json
import os
import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.sync.places import PYTHON, SPACE, Ssh
from told.errors import BusyError, MissingError, ToldError, UsageError
from told.sync.transports.folder import FolderTransport
from told.sync.transports.serve import serve
from told.sync.transports.ssh import SshTransport
from told.sync.transports.wire import receive, send

A, ONE, TWO = "aaaaaaaa", "000001.jsonl", "000002.jsonl"


@pytest.fixture
def host(tmp_path: Path) -> Ssh:
    return Ssh(tmp_path)


def test_one_connection_serves_all_calls(host: Ssh, tmp_path: Path) -> None:
    place = host.connect("mine")
    for turn in range(3):
        assert place.write(A, {ONE: b"one"}, b"%d" % turn, before=b"%d" % (turn - 1) if turn else None)
        assert place.heads() == {A: b"%d" % turn}
    place.close()
    place.close()
    assert len((tmp_path / "pids").read_text().split()) == 1
    assert place.heads() == {A: b"2"}
    place.close()
    assert len((tmp_path / "pids").read_text().split()) == 2


def test_the_hub_is_private(host: Ssh) -> None:
    place = host.connect("mine")
    place.write(A, {ONE: b"one"}, b"1", before=None)
    place.close()
    assert {path.stat().st_mode & 0o077 for path in (host.hub, *host.hub.rglob("*"))} == {0}


def test_text_that_login_scripts_print_is_skipped(host: Ssh) -> None:
    host.answer_with(f"echo Welcome to host; printf 'You have mail'; exec {PYTHON} -c '{host.serve()}'")
    place = host.connect("mine")
    assert place.write(A, {ONE: b"one"}, b"1", before=None)
    assert place.heads() == {A: b"1"}
    place.close()


@pytest.mark.parametrize(
    ("script", "error", "said"),
    [
        (
            "echo 'sh: 1: told: not found' >&2; exit 127",
            MissingError,
            "no told on host (sh: 1: told: not found)",
        ),
        ("echo 'Unknown command' >&2; exit 2", MissingError, "told did not start on host (Unknown command)"),
        ("echo Hello; exit 0", MissingError, "told did not start on host (Hello)"),
        ("yes", MissingError, "told did not start on host (y)"),
        (
            "echo 'ssh: connect: Connection timed out' >&2; exit 255",
            BusyError,
            "(ssh: connect: Connection timed out)",
        ),
        (
            "echo 'me@host: Permission denied (publickey).' >&2; exit 255",
            MissingError,
            "`ssh host` works without",
        ),
        ("echo 'Host key verification failed.' >&2; exit 255", MissingError, "refuses the connection"),
        ("echo told-sync 2; cat", MissingError, "speaks version 2 of the protocol, and this told version 1"),
        ("echo told-sync 1; exit 1", BusyError, "ended early (exit code 1)"),
        ("echo told-sync 1; echo garbage; echo; sleep 9", BusyError, "ended early"),
        ("echo told-sync 1; head -c 4 /dev/zero; sleep 9", BusyError, "ended early"),
    ],
)
def test_a_host_that_fails_is_named(host: Ssh, script: str, error: type[ToldError], said: str) -> None:
    host.answer_with(script)
    place = host.connect("mine")
    with pytest.raises(error) as told:
        place.heads()
    assert said in str(told.value)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    "script", ["sleep 600", "echo told-sync 1; sleep 600", "echo told-sync 1; cat > /dev/null"]
)
def test_a_host_that_hangs_is_given_up(host: Ssh, script: str) -> None:
    host.answer_with(script)
    place = host.connect("mine", seconds=0.3)
    began = time.monotonic()
    with pytest.raises(BusyError, match=r"did not answer within 0\.3 s"):
        place.heads()
    assert time.monotonic() - began < 300


def test_after_a_lost_connection_the_next_call_connects_again(host: Ssh, tmp_path: Path) -> None:
    place = host.connect("mine")
    place.write(A, {ONE: b"one"}, b"1", before=None)
    os.kill(int((tmp_path / "pids").read_text()), 9)
    with pytest.raises(BusyError, match=r"connection to host ended early"):
        place.heads()
    assert place.heads() == {A: b"1"}
    place.close()


def test_errors_of_the_other_side_are_told(host: Ssh) -> None:
    host.hub.parent.mkdir(parents=True)
    host.hub.write_bytes(b"")
    place = host.connect("mine")
    with pytest.raises(MissingError, match=r"^host: .*hub"):
        place.heads()
    host.hub.unlink()
    assert place.heads() == {}
    place.close()


def test_a_host_cannot_send_names_that_were_not_asked_for(host: Ssh, tmp_path: Path) -> None:
    answer = io.BytesIO()
    send(answer, {"names": [ONE, TWO, "../../etc", "AAAAAAAA", A]}, [b"1", b"2", b"3", b"4", b"5"])
    (tmp_path / "answer").write_bytes(answer.getvalue())
    host.answer_with(f"echo told-sync 1; cat {tmp_path}/answer; cat {tmp_path}/answer; cat > /dev/null")
    place = host.connect("mine")
    assert place.read(A, [ONE]) == {ONE: b"1"}
    assert place.heads() == {A: b"5"}
    place.close()


@pytest.mark.parametrize("host", ["-oProxyCommand=x", "", "a b", "me@-x", "a;b", "a\nb", "$(x)", "é"])
def test_options_are_no_hosts(host: str) -> None:
    with pytest.raises(UsageError, match="is not a host"):
        SshTransport(host, SPACE, environ={})


@pytest.mark.parametrize(
    "host", ["laptop", "me@example.org", "192.0.2.1", "fe80::1%eth0", "my_host", "a.b-c"]
)
def test_hosts_are_given_to_ssh_after_its_options(host: str) -> None:
    words = SshTransport(host, SPACE, environ={})._words
    assert words[-5:] == ["--", host, "told", "sync-serve", SPACE]
    assert "BatchMode=yes" in words


def test_ssh_is_missing(tmp_path: Path) -> None:
    with pytest.raises(MissingError, match="ssh is not installed"):
        SshTransport("host", SPACE, environ={"PATH": str(tmp_path)}).heads()


def request(header: dict[str, object], parts: list[bytes]) -> bytes:
    stream = io.BytesIO()
    send(stream, header, parts)
    return stream.getvalue()


@pytest.fixture
def answers(tmp_path: Path) -> Callable[[bytes], list[dict[str, object]]]:
    """Let the serving side answer some bytes; return the headers of its answers."""

    def answer(sent: bytes) -> list[dict[str, object]]:
        output = io.BytesIO()
        serve(io.BytesIO(sent), output, str(tmp_path / "hub"), SPACE)
        greeting, end = output.getvalue(), output.tell()
        assert greeting.startswith(b"\ntold-sync 1\n")
        output.seek(len(b"\ntold-sync 1\n"))
        headers = []
        while output.tell() < end:
            headers.append(receive(output)[0])
        return headers

    return answer


WRITE = request(
    {"do": "write", "series": A, "names": [ONE], "deleted": [], "has_before": False}, [b"1", b"", b"one" * 20]
)


def test_half_a_request_changes_nothing(
    answers: Callable[[bytes], list[dict[str, object]]], tmp_path: Path
) -> None:
    for length in range(len(WRITE)):
        assert answers(WRITE[:length]) == []
    place = FolderTransport(str(tmp_path / "hub"), SPACE)
    assert place.heads() == {}
    assert answers(WRITE) == [{"written": True}]
    assert place.heads() == {A: b"1"}


def test_damaged_requests_are_refused_and_never_leave_the_folder(
    answers: Callable[[bytes], list[dict[str, object]]], tmp_path: Path
) -> None:
    choose = random.Random(18)
    for _ in range(300):
        damaged = bytearray(WRITE)
        for _ in range(choose.randint(1, 3)):
            damaged[choose.randrange(len(damaged))] = choose.randrange(256)
        for header in answers(bytes(damaged)):
            assert header.keys() in ({"written"}, {"error", "message"}), header
    names = {path.name for path in tmp_path.rglob("*") if path.is_file()}
    assert all(name == "head" or name[:6].isdigit() or name.startswith("~told-") for name in names)
    assert {path.name for path in tmp_path.iterdir()} == {"hub"}


@pytest.mark.parametrize(
    "asked",
    [
        {}, {"do": "erase"}, {"do": "read"}, {"do": "read", "series": A, "names": 5}, {"do": "write"},
        {"do": "write", "series": "../aaaaa", "names": [], "deleted": [], "has_before": False},
        {"do": "write", "series": A, "names": ["../x"], "deleted": [], "has_before": False},
        {"do": "write", "series": A, "names": [], "deleted": ["../x"], "has_before": False},
    ],
)  # fmt: skip
def test_requests_that_are_not_understood_get_an_answer(
    answers: Callable[[bytes], list[dict[str, object]]], asked: dict[str, object]
) -> None:
    found = answers(request(asked, [b"1", b""]) + request({"do": "heads"}, []))
    assert [header.get("error") for header in found] == ["missing", None]


@pytest.mark.parametrize(
    "sizes", [[5_000_000], [-1], [1.5], ["1"], [True], 7, [0] * 20_001, [4_000_000] * 300]
)
def test_sizes_are_limited(answers: Callable[[bytes], list[dict[str, object]]], sizes: object) -> None:
    header = json.dumps({"do": "heads", "sizes": sizes}).encode()
    assert answers(len(header).to_bytes(4, "big") + header + bytes(100)) == []
    assert answers(b"\xff\xff\xff\xff" + header) == []
