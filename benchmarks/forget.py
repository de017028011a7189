"""How many forgotten words are left in any byte of told's folder, in stores of many sizes."""

from __future__ import annotations

import argparse
import contextlib
import gc
import gzip
import io
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from benchmarks import CannotMeasureError, banks, claude_files, measure, story
from told.cli.main import main
from told.journal.apply import open_memories
from told.journal.file_journal import FileJournal
from told.memories.journal_writer import JournalWriter
from told.memories.remember import NewMemory, add_memory
from told.store.memories.records import GLOBAL

SIZES, QUICK_SIZES = (5, 50, 500, 5000), (5, 50)
WORDS, QUICK_WORDS = 1000, 60  # for each size
_IN_A_STATEMENT = 4
_CONSONANTS, _VOWELS = "bdfgjkmnprtvz", "aeiou"
_HEADS = ("", "Acmecustomer", "über", "RELEASE", "сервис")
_TAILS = ("k", "king", "ks", "ked", "7")  # the index stores some of them without the ending
_SAID = (
    "The {0} service keeps its {1} ledger in {2}, next to {3}.",
    "Never send {0} to {1} before {2} has signed {3}.",
    "We call the {0} of the {1} team {2} or {3}.",
)

HOW = (
    "Each store has that many other memories. The words are made up, four in a statement; many share a long "
    "beginning, and some have endings that the index cuts off. Statements are remembered at the terminal, "
    "said in sessions of Claude Code, or typed into a prompt hook that the service answers, and then "
    "forgotten by `told forget`. A word is left if its middle, which no other word has, is found in any byte "
    "or name of any file below TOLD_HOME, whatever its case, or in what a .gz file contains."
)


class Secrets(NamedTuple):
    """Statements, and for each of their words the part that is searched for."""

    statements: tuple[str, ...]
    needles: tuple[str, ...]


class Store:
    """A home for told, which runs in this process."""

    def __init__(self, root: str, *, service: bool = False) -> None:
        self.root = root
        self.home = os.path.join(root, ".told")
        self.environ = {
            "HOME": root, "TOLD_HOME": self.home, "PATH": os.environ.get("PATH", os.defpath), "TZ": "UTC",
            "TOLD_BACKGROUND": "on" if service else "off", "TOLD_HOOK_SECONDS": "100",
        }  # fmt: skip
        self.program = os.path.join(os.path.dirname(sys.executable), "told")

    def told(self, *words: str) -> str:
        """Run told and return its output."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(words, self.environ)
        if code:
            raise CannotMeasureError(f"told {words[0]} ended with {code}: {err.getvalue().strip()[-300:]}")
        return out.getvalue()

    def child(self, *words: str, stdin: str = "") -> str:
        """Run told as a process of its own and return its output."""
        done = subprocess.run(
            [self.program, *words], env=self.environ, cwd=self.root, input=stdin, capture_output=True,
            text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            raise CannotMeasureError(f"told {words[0]} ended with {done.returncode}: {done.stderr[-300:]}")
        return done.stdout

    def fill(self, size: int) -> None:
        """Remember that many other statements."""
        memories = open_memories(self.home)
        writer = JournalWriter(FileJournal(self.home), memories, time.time_ns() // 1_000_000)
        for one in banks.generated(size, 1):
            add_memory(writer, NewMemory(one.text, GLOBAL))
        writer.write()
        memories.close()

    def remember(self, statement: str) -> str:
        """Remember a statement at the terminal; return its id."""
        return str(json.loads(self.told("remember", statement, "--json"))["id"])

    def say(self, statements: Iterable[str]) -> list[str]:
        """Write a session for each statement, and import them; return their ids."""
        now = time.time_ns() // 1_000_000
        ids: list[str] = []
        for number, text in enumerate(statements):
            at = now - (2 * len(ids) + 3) * story.DAY // 2
            turns = (
                story.Turn(at, "Good morning, how do I start the server?", "With make serve."),
                story.Turn(at + 60_000, f"Remember: {text} Then run the tests.", f"Noted. {text} They pass."),
            )
            name = f"{number:08}-1111-4222-8333-444444444444"
            session = story.Session(name, os.path.join(self.root, "shop"), "", "main", text, turns)
            os.makedirs(session.folder, exist_ok=True)
            claude_files.write(self.root, session, random.Random(number))
            ids.append(name)
        self.told("index")
        return ids


def make_secrets(words: int, seed: int) -> Secrets:
    """Make up that many words and the statements that contain them."""
    chance = random.Random(seed)
    needles = [
        "".join(chance.choice(_VOWELS if at % 2 else _CONSONANTS) for at in range(9)) for _ in range(words)
    ]
    made = [f"{chance.choice(_HEADS)}{needle}{chance.choice(_TAILS)}" for needle in needles]
    groups = [made[at : at + _IN_A_STATEMENT] for at in range(0, words, _IN_A_STATEMENT)]
    statements = [_SAID[number % len(_SAID)].format(*group) for number, group in enumerate(groups)]
    return Secrets(tuple(statements), tuple(needles))


def find_words(folder: str, needles: Iterable[str]) -> dict[str, list[str]]:
    """Return the files below a folder whose bytes or names have one of the words, with these words."""
    gc.collect()
    wanted = [(one, one[2:].encode()) for one in needles]  # the index may store a beginning only once
    found: dict[str, list[str]] = {}
    for parent, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(parent, name)
            content = _read(path)
            here = [one for one, raw in wanted if raw in content]
            if here:
                found[os.path.relpath(path, folder)] = here
    return found


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            content = file.read()
    except OSError:
        return b""  # a socket, or gone
    if path.endswith(".gz") or content[:2] == b"\x1f\x8b":
        with contextlib.suppress(OSError, EOFError):
            content += gzip.decompress(content)
    return content.lower() + os.path.basename(path).lower().encode("utf-8", "surrogateescape")


def one_by_one(store: Store, secrets: Secrets) -> None:
    """Forget each statement by its id."""
    for memory in [store.remember(one) for one in secrets.statements]:
        store.told("forget", memory, "--force")


def in_one_go(store: Store, secrets: Secrets) -> None:
    """Forget all statements with one command."""
    store.told("forget", *[store.remember(one) for one in secrets.statements], "--force")


def by_session(store: Store, secrets: Secrets) -> None:
    """Forget each session in which a statement was made."""
    for name in store.say(secrets.statements):
        store.told("forget", "--session", name, "--force")


def by_source(store: Store, secrets: Secrets) -> None:
    """Forget all that was learned from an agent's sessions."""
    store.say(secrets.statements)
    store.told("forget", "--source", "claude-code", "--force")


def with_service(store: Store, secrets: Secrets) -> None:
    """Teach in prompts, and forget while the service runs."""
    store.child("service", "start")
    try:
        for number, text in enumerate(secrets.statements):
            payload = {"session_id": f"s-{number % 3}", "cwd": store.root, "prompt": f"Remember: {text}",
                       "hook_event_name": "UserPromptSubmit"}  # fmt: skip
            store.child("hook", "claude-code", "prompt", stdin=json.dumps(payload))
        rows = json.loads(store.child("memories", "--all-projects", "--json", "--limit", "9999"))["memories"]
        taught = [row["id"] for row in rows if any(one in row["text"].lower() for one in secrets.needles)]
        if len(taught) < len(secrets.statements):
            raise CannotMeasureError(f"Only {len(taught)} of {len(secrets.statements)} prompts taught.")
        for memory in taught:
            store.child("forget", memory, "--force")
    finally:
        store.child("service", "stop")


WAYS: dict[str, Callable[[Store, Secrets], None]] = {
    "one by one": one_by_one, "in one go": in_one_go, "by session": by_session, "by source": by_source,
    "service running": with_service,
}  # fmt: skip


def check(way: str, size: int, words: int, seed: int = 1) -> dict[str, Any]:
    """Forget words in a store of a size; return what is left of them."""
    with tempfile.TemporaryDirectory(prefix="told-bench-") as root:
        store = Store(os.path.realpath(root), service=way == "service running")
        store.fill(size)
        secrets = make_secrets(words, seed)
        began = time.perf_counter()
        WAYS[way](store, secrets)
        took = time.perf_counter() - began
        left = find_words(store.home, secrets.needles)
    many = len({one for some in left.values() for one in some})
    files = {name: len(some) for name, some in left.items()}
    return {
        "way": way, "memories": size, "words": words, "left": many, "files": files, "seconds": round(took, 1),
    }  # fmt: skip


def options(parser: argparse.ArgumentParser) -> None:
    """Add what only this benchmark takes."""
    parser.add_argument("--words", type=int, default=0, help=f"forgotten in each store (default {WORDS})")
    parser.add_argument("--way", choices=tuple(WAYS), action="append", help="only this way of forgetting")
    parser.add_argument("--size", type=int, action="append", help="only a store of so many memories")


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Forget words in every way in stores of all sizes."""
    words = arguments.words or (QUICK_WORDS if arguments.quick else WORDS)
    rows = []
    for size in arguments.size or (QUICK_SIZES if arguments.quick else SIZES):
        for seed, way in enumerate(arguments.way or WAYS):
            rows.append(check(way, size, words, seed))
            print(f"{way}, {size:,} memories: {rows[-1]['left']} of {words} words left", file=sys.stderr)
    return {
        "benchmark": "forget", "machine": measure.machine(), "left": sum(row["left"] for row in rows),
        "words": sum(row["words"] for row in rows), "rows": rows, "how": HOW,
    }  # fmt: skip
