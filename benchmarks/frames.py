"""Whether rules that share a frame stay independent, and whether true replacements still end the old one."""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from told.audit.pairs import compare_memories
from told.journal.apply import open_memories
from told.journal.file_journal import FileJournal
from told.memories.journal_writer import JournalWriter
from told.memories.remember import NewMemory, remember
from told.recall.prompt import RecallRequest
from told.recall.recall import IS_NEWER, recall
from told.store.memories.records import ACTIVE

HOW = (
    "Each frame is a statement with a subject and a value. Its subjects are different things: remembered one "
    "after another (with the same value, with other values, and with a change word) none may end or merge "
    "another. `apart` gives each frame and variant a project, `together` puts every statement in one. "
    "`hidden` counts statements that a brief leaves out for a newer one, though the prompt names their "
    "subject; `audited` counts findings of `told audit`. Replacements are the same subject with another "
    "value; `back` is A, B, A. `asked` counts proposals. Nobody looked at what fails of blind.txt."
)
_DATA = Path(__file__).with_name("frames_data")
HALVES = ("seen", "blind")
_SCOPE = "project:example.com/frames"
_NOW = 1_790_000_000_000
_STEP = 60_000  # ms between two statements
_LEADS = {
    "en": "From now on: ", "de": "Ab jetzt: ", "fr": "Désormais : ", "es": "A partir de ahora: ",
    "pt": "A partir de agora: ", "it": "D'ora in poi: ", "nl": "Vanaf nu: ", "ja": "今後、",
    "ru": "Теперь: ", "zh": "以后",
}  # fmt: skip


class Frame(NamedTuple):
    """A statement with a place for its subject and its value."""

    language: str
    text: str
    subjects: tuple[str, ...]
    values: tuple[str, ...]
    change: str  # how another value is said; empty where several may be true

    def say(self, subject: str, value: int, *, changed: bool = False) -> str:
        """Return the statement about a subject with one of the values."""
        text = self.change if changed else self.text
        said = text.format(s=subject, v=self.values[value % len(self.values)])
        return said[:1].upper() + said[1:]


def load_frames(half: str) -> list[Frame]:
    """Read the frames of a half."""
    lines = (_DATA / f"{half}.txt").read_text("utf-8").splitlines()
    rows = [[field.strip() for field in line.split("|")] for line in lines if not line.startswith("#")]
    return [
        Frame(language, text, tuple(subjects.split(";")), tuple(values.split(";")), change)
        for language, text, subjects, values, change in rows
    ]


def make_groups(frame: Frame) -> dict[str, list[str]]:
    """Return statements about different subjects: with the same value, with others, with a change word."""
    plain = [frame.say(subject, at) for at, subject in enumerate(frame.subjects)]
    changed = [
        frame.say(subject, at, changed=True) if frame.change else _LEADS[frame.language] + plain[at]
        for at, subject in enumerate(frame.subjects)
    ]
    same = [frame.say(subject, 0) for subject in reversed(frame.subjects)]
    return {"same value": same, "other value": plain, "change word": [plain[0], *changed[1:]]}


def make_replacements(frame: Frame) -> dict[str, list[str]]:
    """Return statements about one subject, of which only the last is true."""
    if not frame.change:
        return {}
    first, second, last = frame.subjects[0], frame.subjects[1], frame.subjects[-1]
    return {
        "plain": [frame.say(first, 0), frame.say(first, 1)],
        "change word": [frame.say(second, 1), frame.say(second, 0, changed=True)],
        "back": [frame.say(last, one) for one in (0, 1, 0)],
    }


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--half", choices=HALVES, default="", help="only one half")
    parser.add_argument("--show", action="store_true", help="show the failures of the seen half")


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Measure both halves."""
    halves = [arguments.half] if arguments.half else HALVES
    return {
        "benchmark": "frames",
        **{half: measure_half(half, show=arguments.show and half == "seen") for half in halves},
        "how": HOW,
    }


def measure_half(half: str, *, show: bool = False) -> dict[str, Any]:
    """Remember all statements of a half and count what went wrong."""
    frames = load_frames(half)
    apart: Counter[str] = Counter()
    failures: list[str] = []
    for frame in frames:
        for texts in make_groups(frame).values():
            apart.update(check_independent(texts, failures))
    everything = dict.fromkeys(text for frame in frames for text in make_groups(frame)["other value"])
    together = _remember_all(list(everything), failures)
    figures: dict[str, Any] = {"frames": len(frames), "apart": dict(apart), "together": dict(together)}
    replaced = {"plain": Counter[str](), "change word": Counter[str](), "back": Counter[str]()}
    for frame in frames:
        for name, texts in make_replacements(frame).items():
            found = check_replaced(texts)
            replaced[name].update(found)
            if not found["superseded"]:
                failures.append(f"{'asked' if found['asked'] else 'kept'}: {' -> '.join(texts)}")
    figures["replacements"] = {name: dict(found) for name, found in replaced.items()}
    return figures | ({"failures": failures} if show else {})


@contextmanager
def _open_writer() -> Iterator[JournalWriter]:
    with tempfile.TemporaryDirectory(prefix="told-frames-") as home:
        memories = open_memories(home)
        try:
            yield JournalWriter(FileJournal(home), memories, _NOW)
        finally:
            memories.close()


def _say(writer: JournalWriter, texts: Sequence[str], failures: list[str]) -> Counter[str]:
    """Remember statements; count what they end, merge and ask."""
    found: Counter[str] = Counter({"statements": len(texts), "ended": 0, "merged": 0, "asked": 0})
    for at, text in enumerate(texts):
        writer.now = _NOW + at * _STEP
        done = remember(writer, NewMemory(text, _SCOPE), sync=False)
        found["ended"] += len(done.superseded)
        found["merged"] += done.again
        found["asked"] += len(done.proposals)
        failures += [f"ended: {old.text} <- {text} ({why})" for old, why in done.superseded]
        failures += [f"merged: {done.memory.text} <- {text}"] if done.again else []
        failures += [f"asked: {text}"] if done.proposals else []
    return found


def _remember_all(texts: Sequence[str], failures: list[str]) -> Counter[str]:
    with _open_writer() as writer:
        return _say(writer, texts, failures)


def check_independent(texts: Sequence[str], failures: list[str]) -> Counter[str]:
    """Remember statements about different subjects; count what is ended, merged, hidden or audited."""
    with _open_writer() as writer:
        found = _say(writer, texts, failures)
        rows = writer.memories.load(writer.memories.listed(status=ACTIVE))
        findings = list(compare_memories(list(rows.values())))
        found["audited"] = len(findings)
        failures += [
            f"audited as {one.what}: {one.memory.text} / {one.other.text if one.other else ''}"
            for one in findings
        ]
        found["hidden"] = 0
        for text in texts:
            request = RecallRequest(f"How was that: {text}", (_SCOPE,), _NOW + len(texts) * _STEP)
            hidden = [
                one
                for one in recall(writer.memories, request).left_out
                if one.memory.text == text and one.against.endswith(IS_NEWER)
            ]
            found["hidden"] += bool(hidden)
            failures += [f"hidden: {text} ({one.against})" for one in hidden]
        return found


def check_replaced(texts: Sequence[str]) -> Counter[str]:
    """Remember statements of which only the last is true; tell whether only it is active."""
    with _open_writer() as writer:
        found = _say(writer, texts, [])
        active = writer.memories.load(writer.memories.listed(status=ACTIVE)).values()
        is_done = [one.text for one in active] == [texts[-1]]
        return Counter(
            {"pairs": 1, "superseded": int(is_done), "asked": int(not is_done and found["asked"] > 0)}
        )
