"""Installs the other tools, runs them, and packs the stores that they wrote."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import shutil
import sqlite3
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lab import CannotRunError

_SECONDS = 60.0


def install_npm(scratch: Path, package: str) -> Path:
    """Install a package of npm; return the folder of its modules."""
    folder = scratch / "npm" / package.replace("/", "+")
    if not folder.exists():
        folder.mkdir(parents=True)
        run(["npm", "install", "--no-audit", "--no-fund", package], folder)
    return folder / "node_modules"


def unpack_npm(scratch: Path, package: str) -> Path:
    """Unpack a package of npm without what it depends on; return its folder."""
    folder = scratch / "npm" / package.replace("/", "+")
    if not (folder / "package").exists():
        folder.mkdir(parents=True, exist_ok=True)
        archive = run(["npm", "pack", package], folder).split()[-1]
        run(["tar", "xzf", archive], folder)
    return folder / "package"


def install_pypi(scratch: Path, *packages: str, python: str = "python3") -> Path:
    """Install packages of PyPI in an environment of their own; return its programs."""
    folder = scratch / "pypi" / packages[0].replace("/", "+")
    if not folder.exists():
        run([python, "-m", "venv", str(folder)], scratch)
        run([str(folder / "bin" / "pip"), "install", "-q", *packages], scratch)
    return folder / "bin"


def run(words: Sequence[str], folder: Path, environ: Mapping[str, str] | None = None, stdin: str = "") -> str:
    """Run a program to its end; return what it printed.

    Raises:
        CannotRunError: it is not there, or failed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    try:
        done = subprocess.run(
            list(words), cwd=folder, env={**os.environ, **(environ or {})}, input=stdin, capture_output=True,
            text=True, timeout=1800, check=False,
        )  # fmt: skip
    except FileNotFoundError:
        raise CannotRunError(f"{words[0]} is not there; install it, then retry.") from None
    if done.returncode:
        raise CannotRunError(f"{' '.join(words)[:200]} failed: {(done.stderr or done.stdout)[-2000:]}")
    return done.stdout


@contextlib.contextmanager
def serving(words: Sequence[str], folder: Path, environ: Mapping[str, str], url: str) -> Iterator[None]:
    """Run a server until the block ends; wait until it answers."""
    with subprocess.Popen(
        list(words), cwd=folder, env={**os.environ, **environ}, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as server:  # fmt: skip
        try:
            _wait(url)
            yield
        finally:
            server.terminate()


def post(url: str, body: Any, method: str = "POST") -> Any:
    """Send JSON to a server; return its answer."""
    request = urllib.request.Request(
        url, json.dumps(body).encode(), {"Content-Type": "application/json"}, method=method
    )
    with urllib.request.urlopen(request, timeout=_SECONDS) as answer:
        return json.load(answer)


def call_tools(
    words: Sequence[str],
    folder: Path,
    environ: Mapping[str, str],
    calls: Sequence[tuple[str, dict[str, Any]]],
) -> list[Any]:
    """Call the tools of an MCP server on stdio, one after the other."""
    start = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "lab", "version": "1"},
    }
    requests: list[tuple[str, dict[str, Any]]] = [("initialize", start)]
    requests += [("tools/call", {"name": name, "arguments": values}) for name, values in calls]
    answers = []
    with subprocess.Popen(
        list(words), cwd=folder, env={**os.environ, **environ}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True,
    ) as server:  # fmt: skip
        assert server.stdin is not None
        assert server.stdout is not None
        for number, (method, values) in enumerate(requests, 1):
            message = {"jsonrpc": "2.0", "id": number, "method": method, "params": values}
            server.stdin.write(json.dumps(message) + "\n")
            server.stdin.flush()
            answer = _answer(server.stdout, number)
            if "error" in answer or answer.get("result", {}).get("isError"):
                raise CannotRunError(f"{method} {values} failed: {answer}")
            answers.append(answer["result"])
            if method == "initialize":
                server.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        server.stdin.close()
        time.sleep(1)
        server.terminate()
    return answers[1:]


def pack_database(database: Path, target: Path) -> None:
    """Pack a database with all that its log has."""
    copy = target.parent / "copy.db"
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(database, copy)
    if Path(f"{database}-wal").exists():
        shutil.copy(f"{database}-wal", f"{copy}-wal")
    with contextlib.closing(sqlite3.connect(copy)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("VACUUM")
    target.write_bytes(gzip.compress(copy.read_bytes(), 9, mtime=0))
    for part in ("", "-wal", "-shm"):
        Path(f"{copy}{part}").unlink(missing_ok=True)


def _answer(lines: Any, number: int) -> Any:
    for line in lines:
        if line.strip().startswith("{"):
            answer = json.loads(line)
            if answer.get("id") == number:
                return answer
    raise CannotRunError("the server ended")


def _wait(url: str) -> None:
    until = time.monotonic() + _SECONDS
    while time.monotonic() < until:
        with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=2):
            return
        time.sleep(0.3)
    raise CannotRunError(f"{url} does not answer.")
