"""How many secrets are taken out of text, how much else with them, and how fast; beside other scanners."""

from __future__ import annotations

import argparse
import gzip
import json
import os
import tempfile
import time
import zlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from benchmarks import CannotMeasureError, redact_peers
from benchmarks.redact_hostile import hostile
from benchmarks.redact_score import Row, alarms, recall
from benchmarks.redact_text import from_sessions, from_source
from told.redact.engine import Redactor, redact_all
from told.redact.rules import all_rules
from told.text import clean

HOW = (
    "Each row's text is redacted by itself. A secret is covered if no six characters in a row of it remain "
    "(invisible characters, colours and wide letters aside; what also stands elsewhere in the text does not "
    "count); gone if it does not occur word for word; flagged if anything at all was found in its text. A, B "
    "and C are rows without a kind, by tier; rows of a kind are a group of their own, and the second table "
    "counts them in their tiers as well. A false alarm is a text without a secret in which something was "
    "found; contested ones are left out. Of a scanner that only reports, what it reports is cut out of the "
    "text. Speed is CPU time on invented sessions, of told with many texts together, as ingest does it, and "
    "one at a time; for the scanners on a part of them and without their start; told's source code is the "
    "second text. Hostile texts repeat what rules look for, half a megabyte each; the slow ones count by the "
    "best of three. Without --data the rows are the examples and counter-examples of told's own rules."
)
_MEGABYTES, _QUICK = 10.0, 1.0
_HOSTILE, _HOSTILE_QUICK = 500_000, 20_000
_SLOW = 0.5  # seconds for a megabyte
TOLD = "told"


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of this benchmark."""
    parser.add_argument(
        "--predictions", default="", help="write the redacted texts to this file, a row a line"
    )
    parser.add_argument("--no-peers", action="store_true", help="leave the other scanners out")
    parser.add_argument("--peers", default="", metavar="FOLDER", help="where other scanners are installed")


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Redact every row with told and each scanner that can be installed, and compare with the labels."""
    rows = load(arguments.data) if arguments.data else own_rows()
    redactor = Redactor(b"benchmark")
    redacted = {TOLD: [redactor.redact(row.text) for row in rows]}
    found = {TOLD: [text != clean(row.text) for row, text in zip(rows, redacted[TOLD], strict=True)]}
    if arguments.predictions:
        write(arguments.predictions, rows, redacted[TOLD])
    sessions = from_sessions(_QUICK if arguments.quick else _MEGABYTES)
    speed: dict[str, dict[str, Any]] = {TOLD: {"mb_per_s": pace(redactor.redact, sessions)}}
    speed[TOLD]["one_text_at_a_time_mb_per_s"] = pace(redactor.redact, sessions, apart=True)
    state = dict.fromkeys(redact_peers.SCANNERS, "left out")
    if not arguments.no_peers:
        with tempfile.TemporaryDirectory() as folder:
            for name, scanner in redact_peers.SCANNERS.items():
                values, speed_of, state[name] = redact_peers.scan(
                    scanner, [row.text for row in rows], sessions, arguments.peers, os.path.join(folder, name)
                )
                if values is not None:
                    redacted[name] = [cut(row.text, ones) for row, ones in zip(rows, values, strict=True)]
                    found[name] = [bool(ones) for ones in values]
                    speed[name] = {"mb_per_s": speed_of}
    return {
        "benchmark": "redact",
        "rows": _counted(rows),
        "scanners": state,
        **recall(rows, redacted, found),
        "false_alarms": alarms(rows, found),
        "speed_on_sessions": speed,
        "told_on_source_code_mb_per_s": pace(redactor.redact, from_source()),
        "told_on_hostile_text": slowest(redactor.redact, _HOSTILE_QUICK if arguments.quick else _HOSTILE),
        "how": HOW,
    }


def load(path: str) -> list[Row]:
    """Read labelled texts, one JSON object a line, gzipped or not."""
    try:
        with open(path, "rb") as file:
            content = file.read()
        if content[:2] == b"\x1f\x8b":
            content = gzip.decompress(content)
        lines = [json.loads(line) for line in content.splitlines() if line.strip()]
        return [Row.from_json(line, number) for number, line in enumerate(lines, 1)]
    except (OSError, EOFError, zlib.error, ValueError, KeyError, TypeError, AttributeError) as error:
        raise CannotMeasureError(f"{path} cannot be read as labelled texts: {error}") from error


def own_rows() -> list[Row]:
    """Return the examples and counter-examples of told's own rules as rows."""
    rows = []
    for rule in all_rules():
        for number, example in enumerate(rule.examples):
            # The examples hold a dot inside the secret that is not part of it.
            before, _, after = example.partition("·")
            after = after.replace("·", "")
            secret = before[-3:] + after[:3]
            tier = "A" if rule.is_format else "B"
            rows.append(Row(f"{rule.name}-{number}", before + after, secret, True, "", tier))
        for number, example in enumerate(rule.counter_examples):
            text = example.replace("·", "")
            rows.append(Row(f"{rule.name}-not-{number}", text, "", False, "counter-example", ""))
    return rows


def write(path: str, rows: Iterable[Row], redacted: Iterable[str]) -> None:
    """Write what became of each row, in the form that other programs score."""
    with open(path, "w", encoding="utf-8") as file:
        for row, text in zip(rows, redacted, strict=True):
            print(json.dumps({"id": row.id, "redacted": text}, ensure_ascii=False), file=file)


def cut(text: str, values: Iterable[str]) -> str:
    """Return a text without the values that a scanner reported, the longest first."""
    for value in sorted(set(values), key=len, reverse=True):
        if value:
            text = text.replace(value, "[secret]")
    return text


def pace(redact: Callable[[str], str], texts: Sequence[str], *, apart: bool = False) -> float:
    """Return how many megabytes are redacted in a second of one core, as ingest does it, or apart."""
    size = sum(len(text.encode()) for text in texts)
    redact(texts[0])  # patterns are compiled at their first use
    began = time.process_time()
    if apart:
        for text in texts:
            redact(text)
    else:
        redact_all(redact, texts)
    return round(size / 1_000_000 / max(time.process_time() - began, 1e-9), 2)


def slowest(redact: Callable[[str], str], size: int) -> dict[str, Any]:
    """Redact each hostile text and return which one took the longest."""
    worst, name, count, total = 0.0, "", 0, 0.0
    for named, text in hostile(size):
        megabytes = len(text.encode()) / 1_000_000
        taken = _seconds(redact, text) / megabytes
        if taken > _SLOW:  # whether it was the text, or the machine
            taken = min(taken, *(_seconds(redact, text) / megabytes for _ in range(2)))
        total += taken
        count += 1
        if taken > worst:
            worst, name = taken, named
    mean = total / max(1, count)
    return {
        "texts": count,
        "worst_s_per_mb": round(worst, 3),
        "mean_s_per_mb": round(mean, 3),
        "worst": name[:40],
    }


def _seconds(redact: Callable[[str], str], text: str) -> float:
    began = time.process_time()
    redact(text)
    return time.process_time() - began


def _counted(rows: Sequence[Row]) -> dict[str, int]:
    found = {"with_a_secret": sum(row.holds for row in rows), "without": sum(not row.holds for row in rows)}
    return {**found, "contested_left_out": sum(row.contested and not row.holds for row in rows)}
