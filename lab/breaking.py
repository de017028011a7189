"""The ways to break told's folder, each as a context in which it is broken."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

from lab.machine import Machine

_HOLD = """
import sys, time, apsw
held = []
for path in sys.argv[1:]:
    connection = apsw.Connection(path)
    connection.execute("BEGIN EXCLUSIVE")
    held.append(connection)
print("held", flush=True)
time.sleep(600)
"""
_CLAUDE = "claude-code"


class CannotBreakError(Exception):
    """This machine does not allow such a fault; the message says why."""


@contextlib.contextmanager
def _full(machine: Machine) -> Iterator[None]:
    with _mounted(machine, "size=2m"):
        with contextlib.suppress(OSError), open(os.path.join(machine.told_home, "filling"), "wb") as file:
            while True:
                file.write(b"x" * 4096)
                file.flush()
        yield


@contextlib.contextmanager
def _read_only(machine: Machine) -> Iterator[None]:
    with _mounted(machine, "size=16m"):
        _mount("-o", "remount,ro", machine.told_home)
        yield


@contextlib.contextmanager
def _mounted(machine: Machine, options: str) -> Iterator[None]:
    """Put told's folder on a small disk of its own."""
    aside = f"{machine.told_home}-aside"
    shutil.move(machine.told_home, aside)
    os.mkdir(machine.told_home)
    try:
        _mount("-t", "tmpfs", "-o", options, "tmpfs", machine.told_home)
        try:
            shutil.copytree(aside, machine.told_home, dirs_exist_ok=True)
            yield
        finally:
            subprocess.run(["umount", machine.told_home], check=False)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _mount(*words: str) -> None:
    try:
        done = subprocess.run(["mount", *words], capture_output=True, check=False)
    except OSError as error:
        raise CannotBreakError("there is no `mount` here") from error
    if done.returncode:
        raise CannotBreakError("only root can mount a small disk")


@contextlib.contextmanager
def _locked(machine: Machine) -> Iterator[None]:
    """Hold every database of told's from another process."""
    paths = [
        os.path.join(folder, name)
        for folder, _, files in os.walk(machine.told_home)
        for name in files
        if name.endswith(".db")
    ]
    holder = subprocess.Popen([sys.executable, "-c", _HOLD, *paths], stdout=subprocess.PIPE)
    try:
        assert holder.stdout is not None
        holder.stdout.readline()
        yield
    finally:
        holder.kill()
        holder.communicate()


@contextlib.contextmanager
def _corrupt(machine: Machine) -> Iterator[None]:
    for folder, _, files in os.walk(machine.told_home):
        for name in files:
            with open(os.path.join(folder, name), "r+b") as file:
                file.write(b"\x00\xff no database, no journal \n" * 40)
    yield


@contextlib.contextmanager
def _missing(machine: Machine) -> Iterator[None]:
    shutil.rmtree(machine.told_home)
    yield


@contextlib.contextmanager
def _a_file(machine: Machine) -> Iterator[None]:
    shutil.rmtree(machine.told_home)
    with open(machine.told_home, "w", encoding="utf-8") as file:
        file.write("not a folder\n")
    yield


@contextlib.contextmanager
def _hung_service(machine: Machine) -> Iterator[None]:
    """Let somebody who never answers sit where the service should be."""
    machine.told("install", "--agent", _CLAUDE, "--service", "--yes")
    machine.told("service", "stop")
    with open(os.path.join(machine.home, ".claude", "settings.json"), encoding="utf-8") as file:
        port = re.search(r"http://127\.0\.0\.1:(\d+)", file.read())
    if port is None:
        raise CannotBreakError("Claude Code was not given the address of a service")
    try:
        with socket.create_server(("127.0.0.1", int(port[1]))):
            yield
    finally:
        machine.told("install", "--agent", _CLAUDE, "--yes")


FAULTS: dict[str, Callable[[Machine], AbstractContextManager[None]]] = {
    "full": _full,
    "read-only": _read_only,
    "locked by another process": _locked,
    "corrupt": _corrupt,
    "missing": _missing,
    "a file in its place": _a_file,
    "behind a hung service": _hung_service,
}
