"""Put made-up secrets into inputs and find them in told's files."""

from __future__ import annotations

import functools
import gzip
import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple

import apsw

from told.redact.engine import Redactor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path


class Canary(NamedTuple):
    """A made-up secret and the part of it that must not be stored."""

    said: str
    core: str


TOKEN = "ghp_" + "b7Kx92LmQz81RtYw0aSdFgHjKlPoIuYtReWq"
_KEY_BODY = "MIIEowIBAAKCAQEAx7Vq2Nf8Zt3Lw9Rb5Yc1Hd6Jg4Sk0Pm" + "\n" + "Wq8Xe2Vr5Tn7Ub9Yi3Ko1Pl6Ah4Sj0Df"
_SEED = "middle goat strong craft lizard lazy hollow diet knife sound excuse monkey"
CANARIES: tuple[Canary, ...] = (
    Canary(TOKEN, TOKEN[4:]),
    Canary("sk-ant-api03-" + "Zq8Lw2Xk9Vb4Nm7Tr1Yp5Hc3Jd6Fg0Sa" * 2, "Zq8Lw2Xk9Vb4Nm7Tr1Yp5Hc3Jd6Fg0Sa"),
    Canary("aws_access_key_id=AKIA" + "Q3EGRIUZ7XHNW4ZB", "Q3EGRIUZ7XHNW4ZB"),
    Canary("aws_secret_access_key=" + "hV7pQ2xW9nB4mK1sD6fG3jL8zC5vT0yR/EuIoPqA", "hV7pQ2xW9nB4mK1sD6fG3jL8"),
    Canary("password=" + "Tr0ub4dor-Xylo9phone", "Tr0ub4dor-Xylo9phone"),
    Canary("postgres://app:" + "j96YdRGLe40Wq2@db.internal:5432/app", "j96YdRGLe40Wq2"),
    Canary("<private>The client is Zephyrine" + "Corp.</private>", "ZephyrineCorp"),
    Canary(
        f"-----BEGIN RSA PRIVATE KEY-----\n{_KEY_BODY}\n-----END RSA PRIVATE KEY-----",
        "Wq8Xe2Vr5Tn7Ub9Yi3Ko1Pl6Ah4Sj0Df",
    ),
    Canary("the root pw was changed to " + "Marzipan_8841x", "Marzipan_8841x"),
    Canary("my seed phrase is " + _SEED, _SEED),
    Canary("my visa is " + "4514-8904-6046-3123", "4514-8904-6046-3123"),
    Canary("the PIN is " + "83920475", "83920475"),
)  # fmt: skip
_MAIL = Canary("zara.canary@zephyr-mail.io", "zara.canary")
if Redactor(b"canary").redact(f"Write to {_MAIL.said} today") != f"Write to {_MAIL.said} today":
    CANARIES = (*CANARIES, _MAIL)
TEXT = "Never print these: " + " and ".join(one.said for one in CANARIES) + " , ever."
_SHOWN = 12  # as many characters of a core are too many, wherever they stand

# What tells a reader what a record is: with a secret in its place there would be no record.
STRUCTURE = frozenset((
    "type", "role", "kind", "subtype", "status", "version", "level", "state", "$mid", "mime", "event", "tool",
    "toolid", "tool_name", "toolname", "name", "method", "format", "schema", "source", "phase", "how",
    "ref_type", "say", "ask", "encoding", "language", "tag", "variable", "class", "_class", "sender",
    "author", "hook_event_name", "hookeventname", "hookname", "recipient", "channel", "toolkind", "layout",
    "$type",
))  # fmt: skip


def is_moment(text: str) -> bool:
    """Return whether a text is a time or a number."""
    return text[:4].isdigit() and set(text) <= set("0123456789-:.TZ+ ")


def everywhere(value: Any, change: Callable[[str, str], str], key: str = "") -> Any:
    """Change all texts of a value, also JSON in texts, except record types."""
    if isinstance(value, dict):
        return {name: everywhere(item, change, name.lower()) for name, item in value.items()}
    if isinstance(value, list):
        return [everywhere(item, change, key) for item in value]
    if not isinstance(value, str) or not value or key in STRUCTURE or is_moment(value):
        return value
    if value[0] in "{[":
        try:
            return json.dumps(everywhere(json.loads(value), change, key))
        except ValueError:
            pass
    return change(value, key)


def spoken(value: str, _key: str) -> str:
    """Append every canary to sentences."""
    return f"{value} {TEXT}" if " " in value.strip() else value


def named(value: str, _key: str) -> str:
    """Put the token into names, paths and ids."""
    if " " in value.strip() or "\n" in value or len(value) > 300:
        return value
    if value.startswith("https://"):
        return value.replace("https://", f"https://x:{TOKEN}@")
    head, dot, ending = value.rpartition(".")
    if "/" in value and dot and "/" not in ending:
        return f"{head}-{TOKEN}.{ending}"
    return f"{value}/{TOKEN}" if "/" in value else f"{value}-{TOKEN}"


def taint(home: Path, change: Callable[[str, str], str]) -> None:
    """Change the texts in all files of an agent."""
    for path in sorted(home.rglob("*")):
        if path.is_file() and not path.is_symlink():
            _taint_file(path, change)


def _taint_file(path: Path, change: Callable[[str, str], str]) -> None:
    content = path.read_bytes()
    if content.startswith(b"SQLite format 3"):
        _taint_database(path, change)
    elif path.suffix == ".json":
        path.write_text(json.dumps(everywhere(json.loads(content), change)))
    elif path.suffix == ".jsonl":
        lines = [everywhere(json.loads(line), change) for line in content.splitlines()]
        path.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
    elif path.suffix == ".md":
        lines = content.decode().splitlines()
        marked = [_taint_line(line, change) for line in lines]
        path.write_text("\n".join(marked) + "\n")


def _taint_line(line: str, change: Callable[[str, str], str]) -> str:
    """Change a line of prose, but no headings: TEXT has line breaks."""
    marks = ("# aider", "<", "> ", "---", "```", "_", "# 20")
    if line.startswith(marks) or not line.strip() or "</" in line or change is not spoken:
        return line
    return f"{line} {TEXT}" if not line.startswith("#") else f"{line} {TOKEN}"


def _taint_database(path: Path, change: Callable[[str, str], str]) -> None:
    database = apsw.Connection(str(path))
    tables = database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
    for table in (str(row[0]) for row in tables):
        if table.startswith("sqlite_") or "search" in table or "migration" in table:
            continue
        columns = [row[1] for row in database.execute(f'PRAGMA table_info("{table}")')]
        for column in columns:
            query = f'SELECT rowid, "{column}" FROM "{table}"'
            for row, value in database.execute(query).fetchall():
                if isinstance(value, str):
                    new = everywhere(value, change, column.lower())
                    try:
                        database.execute(f'UPDATE "{table}" SET "{column}" = ? WHERE rowid = ?', (new, row))
                    except apsw.ConstraintError:
                        continue  # a name that has to be one of a few
    database.close()


def every_byte(*folders: Path) -> dict[str, bytes]:
    """Return names and contents of all files, decompressed."""
    found = {}
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            name = f"{folder.name}/{path.relative_to(folder)}"
            content = path.read_bytes() if path.is_file() else b""
            found[name] = name.encode() + b"\n" + (
                gzip.decompress(content) if path.suffix == ".gz" and content else content
            )  # fmt: skip
    return found


def leaks(contents: Iterable[tuple[str, bytes]], canaries: Iterable[Canary] = CANARIES) -> list[str]:
    """Return where a part of a secret is, ignoring case."""
    searched = _parts(tuple(one.core for one in canaries))
    found = []
    for name, content in contents:
        low = content.lower()
        for core, blocks, parts in searched:
            if not any(block in low for block in blocks):
                continue
            at = max(low.find(part) for part in parts)
            if at >= 0:
                around = content[max(0, at - 80) : at + 40].decode("utf-8", "replace")
                found.append(f"{name}: {core[:8]}… in …{around!r}")
                break
    return found


@functools.cache
def _parts(cores: tuple[str, ...]) -> list[tuple[str, list[bytes], list[bytes]]]:
    """Return, for each core, blocks of which every part has at least one, and the parts."""
    found = []
    for core in cores:
        low = core.lower()
        blocks = [
            low[at : at + _SHOWN // 2] for at in range(0, max(1, len(low) - _SHOWN // 2 + 1), _SHOWN // 2)
        ]
        parts = [low[at : at + _SHOWN] for at in range(max(1, len(low) - _SHOWN + 1))]
        assert all(any(block in part for block in blocks) for part in parts)
        found.append((core, [one.encode() for one in blocks], [one.encode() for one in parts]))
    return found


def variables() -> dict[str, str]:
    """Return environment variables that contain secrets."""
    return {"GITHUB_TOKEN": TOKEN, "ANTHROPIC_API_KEY": CANARIES[1].said, "DATABASE_URL": CANARIES[5].said}


def told_files(told_home: Path, *projects: str) -> dict[str, bytes]:
    """Return the files in told's own folder and in those of projects."""
    places = [told_home, *(type(told_home)(os.path.join(one, ".told")) for one in projects)]
    return every_byte(*(place for place in places if place.exists()))
