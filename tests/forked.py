"""Run hook clients in processes that are forked from one that has loaded told: starting Python is slow."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from tests.at_end import at_end
from told.agents.wiring import import_folders
from told.hook import client

_SERVER = """
import gc, json, os, runpy, sys, time, traceback
sys.path[:0] = json.loads(sys.argv[1])
import apsw, told.service.local
from told.hook.dispatch import answer_hook
home = sys.argv[2]
environ = {"HOME": home, "TOLD_HOME": home + "/told", "TOLD_BACKGROUND": "off"}
payload = {"session_id": "s-0", "cwd": home, "prompt": "Never use tabs in this house, always spaces."}
for event in ("start", "prompt", "compact", "stop"):  # loads what is loaded on demand
    answer_hook("claude-code", event, payload, environ)
gc.freeze()
for line in sys.stdin.buffer:
    call = json.loads(line)
    child = os.fork()
    if not child:
        try:
            for stream, name in enumerate(("in", "out", "err")):
                flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC if stream else os.O_RDONLY
                os.dup2(os.open(os.path.join(call["files"], name), flags, 0o600), stream)
            os.chdir(call["cwd"])
            os.environ.clear()
            os.environ.update(call["environ"])
            time.tzset()
            sys.argv = call["words"]
            runpy.run_path(sys.argv[0], run_name="__main__")
            os._exit(0)
        except BaseException:
            os.write(2, traceback.format_exc().encode())
            os._exit(1)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print(code, flush=True)
"""


class Ended(NamedTuple):
    """What a process gave back."""

    code: int
    out: bytes
    err: bytes


def can_run(words: tuple[str, ...]) -> bool:
    """Tell whether a command is the hook client, started as `told install` writes it."""
    return words[1:4] == ("-I", "-S", str(client.__file__)) and os.path.samefile(words[0], sys.executable)


def run(words: tuple[str, ...], environ: dict[str, str], cwd: str | Path, given: bytes) -> Ended:
    """Run the hook client to its end."""
    server, files = _server()
    assert server.stdin is not None
    assert server.stdout is not None
    (files / "in").write_bytes(given)
    call = {"words": words[3:], "environ": environ, "cwd": str(cwd), "files": str(files)}
    server.stdin.write(json.dumps(call).encode() + b"\n")
    server.stdin.flush()
    code = int(server.stdout.readline())
    return Ended(code, (files / "out").read_bytes(), (files / "err").read_bytes())


@functools.cache
def _server() -> tuple[subprocess.Popen[bytes], Path]:
    folder = tempfile.TemporaryDirectory()
    words = [sys.executable, "-I", "-S", "-c", _SERVER, json.dumps(import_folders()), folder.name]
    server = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd="/")

    def end() -> None:
        server.communicate()
        folder.cleanup()

    at_end(end)
    return server, Path(folder.name)
