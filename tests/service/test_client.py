"""The hook client: cheap, silent about its own problems, and careful with what it sends."""

from __future__ import annotations

import json
import marshal
import os
import socket
import subprocess
import sys
import threading

import pytest

from tests.service.house import CLIENT, PYTHON, House, Said, end
from tests.soak import SOAK, sampled

# Beside `_socket` only what is built into the interpreter or frozen in it.
ALLOWED = {"_socket", "_signal", "os", "stat", "_stat", "posixpath", "genericpath", "_collections_abc"}


def imported(words: tuple[str, ...], environ: dict[str, str], raw: bytes = b"") -> set[str]:
    done = subprocess.run(
        [PYTHON, "-X", "importtime", *words[1:]], input=raw, env=environ, capture_output=True, check=False
    )
    lines = [line for line in done.stderr.decode().splitlines() if line.startswith("import time:")]
    return {line.rpartition("|")[2].strip() for line in lines} - {"imported package"}


def test_served_prompt_imports_only_built_in_modules_and_sockets(house: House) -> None:
    house.serve()
    bare = imported((PYTHON, "-I", "-S", "-c", "pass"), house.environ)
    raw = json.dumps(house.typed("Which package manager do we use?")).encode()
    assert imported(house.words("prompt"), house.environ, raw) - bare <= ALLOWED


BAD = (b"", b"{", b"[]", b"\xff\xfe", b"null", b'{"prompt": 7}', b"{}" * 2_100_000)


@pytest.mark.parametrize("raw", sampled(BAD, (b"", b"\xff\xfe", b'{"prompt": 7}', BAD[-1])))
def test_bad_call_gets_no_output_and_exit_code_0(house: House, raw: bytes) -> None:
    assert house.call("prompt", raw, TOLD_BACKGROUND="off") == Said(0, "", "")


@pytest.mark.parametrize("words", [(), ("claude-code",), ("claude-code", "nonsense"), ("", "")])
def test_bad_arguments_get_no_output_and_exit_code_0(house: House, words: tuple[str, ...]) -> None:
    process = subprocess.Popen(
        [PYTHON, "-I", "-S", CLIENT, *words], env=house.environ | {"TOLD_BACKGROUND": "off"},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert end(process, b"{}") == Said(0, "", "")


@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")])
def test_tool_round_of_qwen_starts_nothing(house: House, separators: tuple[str, str]) -> None:
    raw = json.dumps(house.typed(""), separators=separators).encode()
    assert house.call("prompt", raw, "qwen-code") == Said(0, "", "")
    assert not list(house.home.iterdir())
    assert not house.processes()


def test_prompt_that_quotes_an_empty_prompt_is_answered(house: House) -> None:
    said = house.prompt('/mem:remember Send {"prompt":""} to end a session')
    assert "remembers" in said.text


def test_keys_in_the_environment_are_not_sent(house: House) -> None:
    (house.home / "run").mkdir(mode=0o700)
    frames = []
    with socket.socket(socket.AF_UNIX) as listener:
        here = os.getcwd()
        os.chdir(house.home / "run")  # the path of a socket is short
        try:
            listener.bind("service.sock")
        finally:
            os.chdir(here)
        listener.listen()
        if len(os.fsencode(house.home / "run" / "service.sock")) > 100:
            pytest.skip("the folder of this test has too long a path for a socket")

        def answer() -> None:
            connection, _ = listener.accept()
            frames.append(connection.recv(1 << 20))
            connection.sendall(b"told1 2\n{}")
            connection.close()

        thread = threading.Thread(target=answer)
        thread.start()
        keys = {
            "ANTHROPIC_API_KEY": "k-1", "GEMINI_API_KEY": "k-2", "CLAUDE_CODE_MESSAGING_TOKEN": "k-3",
            "GITHUB_TOKEN": "k-4", "COPILOT_PROVIDER_API_KEY": "k-5", "PGPASSWORD": "k-6",
        }  # fmt: skip
        said = house.prompt("hello", CLAUDE_CONFIG_DIR="/c", CURSOR_VERSION="3", **keys)
        thread.join()
    assert said == Said(0, "{}", "")
    assert not [key for key in keys.values() if key.encode() in frames[0]]
    assert b"CLAUDE_CONFIG_DIR=/c" in frames[0]
    assert b"CURSOR_VERSION=3" in frames[0]
    assert b"HOME=" + os.fsencode(house.user) in frames[0]


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can be another user")
def test_prompt_is_not_sent_to_another_user(house: House) -> None:
    (house.home / "run").mkdir()
    path = house.home / "run" / "service.sock"
    if len(os.fsencode(path)) > 100:
        pytest.skip("the folder of this test has too long a path for a socket")
    code = (
        "import os,socket,sys; s=socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); os.setuid(65534);"
        "s.listen(); print('ready', flush=True); c,_=s.accept(); print(c.recv(100), flush=True)"
    )
    other = subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True)
    assert other.stdout is not None
    assert other.stdout.readline() == "ready\n"
    said = house.prompt("/mem:remember We deploy on Fridays here", TOLD_BACKGROUND="off")
    out, _ = other.communicate(timeout=120)
    assert out.strip() == "b''"  # connected, and closed without a byte
    assert "remembers" in said.text


def test_prompt_without_service_is_answered_in_process(house: House) -> None:
    assert "remembers" in house.prompt("/mem:remember We use pnpm here", TOLD_BACKGROUND="off").text
    assert not house.processes()
    assert house.texts() == ["We use pnpm here"]


def test_code_in_the_home_is_never_executed(house: House) -> None:
    """A clone can carry any file, and an environment can point TOLD_HOME at the clone."""
    ran = house.root / "ran"
    code = f"open({str(ran)!r}, 'w')"
    for name in ("told", "apsw", "sitecustomize", "json"):
        (house.home / name).mkdir()
        (house.home / name / "__init__.py").write_text(code)
    (house.home / "run").mkdir(mode=0o700)
    for name in ("snapshot.py", "usercustomize.py", "run/client.py", "run/told.py"):
        (house.home / name).write_text(code)
    (house.home / "told.pth").write_text(f"import os; {code}\n")
    for name in ("snapshot.cpython-311", "snapshot.bin", "settings"):
        (house.home / name).write_bytes(marshal.dumps(compile(code, name, "exec")))
    environ = {
        "PYTHONPATH": str(house.home), "PYTHONHOME": "", "PYTHONUSERBASE": str(house.home),
        "PYTHONSTARTUP": str(house.home / "snapshot.py"),
    }  # fmt: skip
    for event in ("start", "stop", "end") if SOAK else ("start",):
        house.call(event, house.started("s-0"), TOLD_BACKGROUND="off", **environ)
    assert "remembers" in house.prompt("/mem:remember We use pnpm here", **environ).text
    house.serve()
    assert "remembers" in house.prompt("/mem:remember We test with pytest here", **environ).text
    house.start("s-1", **environ)
    assert not ran.exists()
