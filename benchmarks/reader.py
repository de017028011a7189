"""What a scripted agent that follows told's instructions makes told remember, and what that costs."""

from __future__ import annotations

import argparse
import concurrent.futures
import datetime as dt
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from types import ModuleType
from typing import Any

from benchmarks import CannotMeasureError
from benchmarks.mcp_talk import Talk
from benchmarks.measure import Command
from told.capture.sentences import split_sentences
from told.install.place import TEXTS
from told.text import count_tokens

HOW = (
    "Every message of the histories goes through the prompt hook that `told install` writes. The agent saves "
    "the labelled points with `remember` over MCP: text and quote are the sentences of the message that "
    "say it, with the missing key words from the turn before. Every fifth message it also makes up a quote. "
    "Caught and junk are defined as in the histories' own run."
)
_FALSE_EVERY = 5
_KINDS = {"decision": "decision", "fact": "fact"}
_FIRST_WORDS = ("Remembered", "Already known", "Refined", "Confirmed")  # of the answer for an item
_ID = re.compile(r"\bm[a-z2-7]{7}\b")


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this benchmark."""
    parser.add_argument("--project", default="", help="only this history")
    parser.add_argument("--details", default="", help="write what was missed to this file, as JSON")


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Run the histories."""
    life = _load(arguments.data)
    names = [arguments.project] if arguments.project else life.life.names()
    folder = tempfile.mkdtemp(prefix="reader-")
    try:
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            found = dict(zip(names, pool.map(lambda name: _history(life, folder, name), names), strict=True))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    total: Counter[str] = Counter()
    for counted, _ in found.values():
        total.update(counted)
    if arguments.details:
        with open(arguments.details, "w", encoding="utf-8") as file:
            details = {name: missed for name, (_, missed) in found.items()}
            json.dump(details, file, indent=1, ensure_ascii=False)
    return {"how": HOW} | _figures(total)


def _load(data: str) -> ModuleType:
    """Import the histories' own program, which is not part of told."""
    if not os.path.isfile(os.path.join(data, "run.py")):
        raise CannotMeasureError("Give --data: the folder with life.py, write.py, run.py and histories.")
    beside = os.path.join(os.path.dirname(sys.executable), "told")
    os.environ.setdefault("TOLD", beside)
    sys.path.insert(0, os.path.abspath(data))
    sys.dont_write_bytecode = True
    return importlib.import_module("run")


def _history(life: ModuleType, folder: str, name: str) -> tuple[Counter[str], dict[str, Any]]:
    one = _History(life, folder, name)
    one.work()
    return one.judge()


class _History:
    """One history, told once by a scripted agent."""

    def __init__(self, life: ModuleType, folder: str, name: str) -> None:
        self._life = life
        self._history: dict[str, Any] = life.life.load(name)
        self._judge = life.Judge(self._history)
        self._box = life.Machine(os.path.join(folder, name), self._history)
        environ = {key: value for key, value in self._box.env().items() if key != "TOLD_BACKGROUND"}
        self._box.env = lambda **more: environ | more
        self._now = dt.datetime.now(dt.UTC)
        self._hook = life.prompt_hook(self._box)
        self._saved: dict[str, str] = {}  # point -> id
        self._made_up: list[str] = []
        self._refused: list[str] = []  # true quotes that were not accepted
        self._count: Counter[str] = Counter()

    def work(self) -> None:
        """Go through all sessions, the oldest first, then let told read the transcripts."""
        sessions = self._history["sessions"]
        for place in sorted(range(len(sessions)), key=lambda one: (-sessions[one][0], *sessions[one][1:3])):
            self._session(place)
        for place in range(len(sessions)):
            self._life.write.claude(self._box.home, self._history, place, self._now)
        self._box.told("index")

    def _session(self, place: int) -> None:
        self._count["sessions"] += 1
        folder = self._box.cwd(self._history["sessions"][place][3])
        talk: Talk | None = None
        for turn in range(len(self._history["sessions"][place][6])):
            self._send(place, turn, folder)
            self._count.update(messages=1)
            at = (place, turn)
            items = [(point, self._item(point, at)) for point in self._judge.at.get(at, [])]
            if self._count["messages"] % _FALSE_EVERY == 0:
                items.append(({}, self._invent()))
            if not items:
                continue
            if talk is None:
                environ = self._box.env(CLAUDECODE="1", CLAUDE_PROJECT_DIR=folder)
                talk = Talk(Command([self._life.TOLD, "mcp"], environ, folder))
                talk.listed()
            self._remember(talk, items)
        if talk is not None:
            talk.end()

    def _send(self, place: int, turn: int, folder: str) -> None:
        """Call the prompt hook with a transcript that ends before the message."""
        call = {
            "session_id": self._life.write.session_id(self._history["name"], place), "cwd": folder,
            "transcript_path": self._life.write.claude(
                self._box.home, self._history, place, self._now, until=turn
            ),
            "permission_mode": "default", "hook_event_name": "UserPromptSubmit",
            "prompt": self._history["messages"][place, turn],
        }  # fmt: skip
        subprocess.run(
            self._hook, input=json.dumps(call), text=True, capture_output=True, cwd=folder,
            env=self._box.env(CLAUDECODE="1"), timeout=120, check=False,
        )  # fmt: skip

    def _remember(self, talk: Talk, items: list[tuple[dict[str, Any], dict[str, Any]]]) -> None:
        given = {"items": [item for _, item in items]}
        _, text, failed = talk.call("remember", given)
        tokens = count_tokens(json.dumps(given, ensure_ascii=False)) + count_tokens(text)
        self._count.update(calls=1, call_tokens=tokens, failed=failed)
        lines = [line for line in text.splitlines() if line.startswith(_FIRST_WORDS)]
        for (point, item), line in zip(items, lines, strict=False):
            named = _ID.search(line)
            if point and "candidate" in line:
                self._refused.append(f"{item['text']} | {item['quote']} | {line}")
            elif point and named:
                self._saved[point["id"]] = named[0]

    def _invent(self) -> dict[str, Any]:
        """Return a statement with a quote that the user never typed."""
        text = f"Skip check number {len(self._made_up) + 1} before every release."
        self._made_up.append(text)
        return {"text": text, "kind": "rule", "quote": text.lower()}

    def _item(self, point: dict[str, Any], at: tuple[int, int]) -> dict[str, Any]:
        """Return what an attentive agent would save for a point."""
        message, (place, turn) = self._history["messages"][at], at
        turns = self._history["sessions"][place][6]
        before = f"{turns[turn - 1][0]}\n{turns[turn - 1][2]}" if turn else ""
        quote = point["part"] or self._shortest(point["says"], message)
        text = " ".join(quote.split())
        if not self._life.life.holds(point["says"], text):
            words = self._missing(point["says"], text, f"{message}\n{before}")
            text = f"{text.rstrip('.')} ({' '.join(words)})"
        item = {"text": text, "kind": _KINDS.get(point["kind"].split()[0], "rule"), "quote": quote}
        if point["scope"] == "global":
            item["scope"] = "global"
        ended = (one["id"] for one in self._judge.points.values() if one["superseded_by"] == point["id"])
        old = [self._saved[one] for one in ended if one in self._saved]
        return item | ({"replaces": old} if old else {})

    def _shortest(self, says: list[str], message: str) -> str:
        """Return the fewest sentences in a row that say a point; the message if none do."""
        found = split_sentences(message)
        for size in range(1, len(found)):
            for start in range(len(found) - size + 1):
                piece = message[found[start].start : found[start + size - 1].end]
                if self._life.life.holds(says, piece):
                    return piece
        return message

    def _missing(self, says: list[str], text: str, around: str) -> list[str]:
        """Return the key words that a text lacks, as the conversation has them where it does."""
        holds = self._life.life.holds
        choices = []
        for one in says:
            words = []
            for word in one.split():
                if not word.startswith("!") and not holds([word], text):
                    known = [part for part in word.split("|") if holds([part], around)]
                    words.append((known or word.split("|"))[0].replace("_", " "))
            choices.append(words)
        return min(choices, key=len)

    def judge(self) -> tuple[Counter[str], dict[str, Any]]:
        """Count what was kept, and say what was not."""
        judge, points = self._judge, self._history["points"].values()
        known: dict[str, Any] = self._box.memories()
        subprocess.run(
            [self._life.TOLD, "service", "stop"], env=self._box.env(), capture_output=True, check=False
        )
        said = [one for one in known.values() if one["status"] == "active" and one["said"]]
        current = [point for point in points if not point["superseded_by"]]
        missed = [point for point in current if not any(judge.usable(point, one) for one in said)]
        junk, counted = [], 0
        for one in said:
            places = judge.messages(one)
            if places and places <= self._history["neutral"]:
                continue
            counted += 1
            if not judge.stands_for(one) and not any(place in judge.at for place in places):
                junk.append(one["text"])
        sources = [judge.stands_for(one) for one in said]
        dead = [point for point in points if judge.dead(point)]
        stale = [one["text"] for one in said if judge.stale(one)]
        false = [one["text"] for one in known.values() if one["said"] and one["text"] in self._made_up]
        self._count.update(
            points=len(current), caught=len(current) - len(missed), memories=counted, junk=len(junk),
            superseded=len(dead), stale=len(stale), made_up=len(self._made_up), believed=len(false),
            refused=len(self._refused),
            doubled=sum(sum(point["id"] in found for found in sources) > 1 for point in current),
        )  # fmt: skip
        kept = {
            point["id"]: [f"{one['status']}: {one['text']}" for one in known.values()
                          if point["id"] in judge.stands_for(one)]
            for point in missed
        }  # fmt: skip
        details = {
            "missed": kept, "junk": junk, "refused": self._refused, "believed": false, "stale": stale,
            "doubled": [[one["text"] for one in said if point["id"] in judge.stands_for(one)]
                        for point in current if sum(point["id"] in found for found in sources) > 1],
        }  # fmt: skip
        return self._count, details


def _figures(count: Counter[str]) -> dict[str, Any]:
    instruction = count_tokens(TEXTS["remember"]) * count["sessions"]
    spent = instruction + count["call_tokens"]
    return {
        "points": count["points"], "caught": round(count["caught"] / count["points"], 3),
        "memories": count["memories"], "junk_share": round(count["junk"] / max(1, count["memories"]), 3),
        "stale": f"{count['stale']}/{count['superseded']}", "doubled": count["doubled"],
        "made-up quotes believed": f"{count['believed']}/{count['made_up']}",
        "true quotes refused": count["refused"], "calls": count["calls"], "failed": count["failed"],
        "messages": count["messages"], "instruction_tokens": instruction, "call_tokens": count["call_tokens"],
        "tokens_per_30_messages": round(spent * 30 / max(1, count["messages"])),
    }  # fmt: skip
