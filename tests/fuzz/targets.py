"""The one table of fuzz targets: every parser of foreign data, with what must hold for any bytes.

hypothesis runs all of them in `make test`, atheris in `make soak`. A crash becomes a file in
`corpus/NAME/`, which both read.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import hashlib
import io
import json
import os
import re
import shutil
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tests.agents.test_contract import AGENTS, DATA, check, sources_in, variants
from tests.cli.test_backup import seal
from tests.hook.desk import PAYLOADS
from tests.install.foreign_files import changes, said
from tests.install.test_foreign_random import there_and_back
from tests.sync.other_stores import STORES, files_of, read_or_refuse, unpack
from tests.test_fence import load_examples
from told.agents.base import Agent
from told.agents.dialects import EVENTS
from told.capture.statements import capture
from told.errors import UsageError
from told.fence import Fence, defuse_tags, strip_fenced
from told.hook.dispatch import FAILURE, read_last_failure
from told.ingest.checkpoint_markdown import format_checkpoint, parse_checkpoint
from told.install import foreign
from told.install.ledger import Ledger
from told.journal.apply import open_memories
from told.journal.file_journal import FileJournal
from told.journal.files import BadLineError, encode_head, encode_line, first_hash, parse_line
from told.journal.fold import fold_family
from told.jsontext import load_json, parse_json
from told.memories.journal_writer import JournalWriter
from told.memories.remember import NewMemory, remember
from told.memories.scopes import MemoryFilter, list_memories
from told.model import Cursor
from told.onboard.onboard import open_project, read_project
from told.recall.prompt import RecallRequest
from told.recall.recall import recall
from told.redact.engine import Redactor
from told.search.query import parse_query
from told.service.local import answer_now
from told.settings import load_settings
from told.store import foreign as foreign_store
from told.store.fts import match_all, match_any, quote_phrase
from told.store.memories.protocol import Memories
from told.sync.backup_file import DIGEST_BYTES, BackupReader, is_known_name
from told.sync.stores import TOOLS
from told.text import clean

CORPUS = Path(__file__).parent / "corpus"
KEY = bytes(range(32))
_SMALL = 40_000  # bytes of an example
_NOW = 1_794_830_000_000


class Target(NamedTuple):
    """Something that reads foreign data."""

    name: str
    run: Callable[[bytes], None]  # raises if the invariant does not hold
    invariant: str
    examples: Callable[[], list[bytes]] = list  # beside those in the corpus

    def seeds(self) -> list[bytes]:
        """Return the examples and the corpus."""
        return [*self.examples(), *(path.read_bytes() for path in self.corpus())]

    def corpus(self) -> list[Path]:
        """Return the files that once broke it, and other hand-made ones."""
        return sorted(path for path in (CORPUS / self.name).glob("*") if path.is_file())


@functools.cache
def scratch() -> Path:
    """Return a folder that is deleted at the end of the process."""
    folder = tempfile.mkdtemp(prefix="told-fuzz-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def as_text(data: bytes) -> str:
    """Decode bytes; some become lone surrogates, as in arguments and JSON."""
    return data.decode("utf-8", "surrogateescape")


# -- agents' files -----------------------------------------------------------------------------------


@functools.cache
def _files_of(name: str) -> list[tuple[Path, Path, bytes]]:
    """Return (home, file, content) of the small files of an agent's fixtures, copied."""
    foreign_store.BACKOFF = (0.0, 0.0, 0.0)  # nobody else opens these databases
    found = []
    for home in variants(AGENTS[name]):
        copy = scratch() / name / home.name
        shutil.copytree(home, copy, copy_function=shutil.copyfile)
        files = [path for path in sorted(copy.rglob("*")) if path.is_file() and path.stat().st_size < _SMALL]
        # SQLite waits ten seconds for a damaged index of a log.
        files = [path for path in files if not path.name.endswith("-shm")]
        found += [(copy, path, path.read_bytes()) for path in files]
    return found[:250]


def _read_agent(name: str, data: bytes) -> None:
    files = _files_of(name)
    home, path, content = files[(data[0] if data else 0) % len(files)]
    path.write_bytes(data[1:])
    try:
        for source in sources_in(AGENTS[name], home):
            for event in AGENTS[name].read(source, Cursor()):
                check(event)
    finally:
        path.write_bytes(content)


def _reader(agent: Agent) -> Target:
    return Target(
        f"reader-{agent.name}",
        functools.partial(_read_agent, agent.name),
        "yields events of declared types, or Problems",
        lambda: [bytes([at]) + content for at, (_, _, content) in enumerate(_files_of(agent.name))],
    )


# -- stores of other tools ---------------------------------------------------------------------------


@functools.cache
def _stores_of(tool: str) -> list[tuple[Path, Path, bytes]]:
    """Return (store, file, content) of the small files of a tool's stores, copied."""
    foreign_store.BACKOFF = (0.0, 0.0, 0.0)
    stores = [unpack(tool, name, scratch() / f"store-{name}") for other, name in STORES if other == tool]
    found = [(store, path, path.read_bytes()) for store in stores for path in files_of(store)]
    return [one for one in found if len(one[2]) < 10 * _SMALL]


def _read_store(tool: str, data: bytes) -> None:
    files = _stores_of(tool)
    store, path, content = files[(data[0] if data else 0) % len(files)]
    path.write_bytes(data[1:])
    try:
        read_or_refuse(tool, store)
    finally:
        path.write_bytes(content)


def _store(tool: str) -> Target:
    return Target(
        f"store-{tool}",
        functools.partial(_read_store, tool),
        "yields statements that told accepts, or is refused with a sentence",
        lambda: [bytes([at]) + content for at, (_, _, content) in enumerate(_stores_of(tool))],
    )


# -- told's own files that others may write ----------------------------------------------------------


def _checkpoint(data: bytes) -> None:
    found = parse_checkpoint(clean(as_text(data)), "/notes/any.md", 7)
    assert found.id
    assert parse_checkpoint(format_checkpoint(found)) == found


def _journal_line(data: bytes) -> None:
    with contextlib.suppress(BadLineError):
        parse_line(data, "machine")
    # What another machine wrote can have any payload, and a right hash.
    with contextlib.suppress(ValueError):
        given = load_json(data.decode())
        head = encode_head(
            1, _NOW, str(given.get("kind", "remember")) if isinstance(given, dict) else "", "m1", "x"
        )
        line, _ = encode_line(head, data, first_hash("machine"))
        with contextlib.suppress(BadLineError):
            operation = parse_line(line.rstrip(b"\n"), "machine")
            for folded in fold_family("m1", [operation]).values():
                assert isinstance(folded.memory.text, str)
                assert 0.0 <= folded.memory.confidence <= 1.0


def _settings(data: bytes) -> None:
    home = scratch() / "settings"
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_bytes(data)
    with contextlib.suppress(UsageError):
        load_settings({"HOME": str(home), "TOLD_HOME": str(home)})


# -- other programs' settings ------------------------------------------------------------------------


def _config(name: str, data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    try:
        said(name, text.encode())
    except (ValueError, RecursionError):
        path = scratch() / name
        path.write_text(text, encoding="utf-8", newline="")
        with contextlib.suppress(UsageError):
            foreign.apply_change(changes(str(path))[0], Ledger(str(scratch() / "ledger")), "agent user")
        return
    there_and_back(name, text)


# -- a project's files -------------------------------------------------------------------------------

_PROJECT_FILES = (
    "AGENTS.md", "package.json", "pyproject.toml", "Makefile", "justfile", "Cargo.toml", "go.mod",
    ".github/workflows/ci.yml", ".gitlab-ci.yml", "Taskfile.yml", "tox.ini", "docs/adr/0001-x.md",
    "decisions.md", "composer.json", "deno.json",
)  # fmt: skip


def _onboard(data: bytes) -> None:
    root = scratch() / "project"
    shutil.rmtree(root, ignore_errors=True)
    path = root / _PROJECT_FILES[(data[0] if data else 0) % len(_PROJECT_FILES)]
    path.parent.mkdir(parents=True)
    path.write_bytes(data[1:])
    for fact in read_project(open_project(str(root), {"PATH": ""}), str):
        assert fact.text.strip()
        assert "\n" not in fact.text


# -- what agents send --------------------------------------------------------------------------------


@functools.cache
def _environ() -> dict[str, str]:
    home = scratch() / "home"
    (home / "code").mkdir(parents=True)
    return {
        "HOME": str(home), "TOLD_HOME": str(scratch() / "told"), "TOLD_BACKGROUND": "off", "TZ": "UTC",
        "PATH": os.environ.get("PATH", ""), "TOLD_HOOK_SECONDS": "100",
    }  # fmt: skip


@functools.cache
def _calls() -> list[tuple[str, str, bytes]]:
    """Return (agent, event, payload) of recorded calls."""
    paths = sorted(PAYLOADS.glob("*/*.json"))
    found = []
    for at, path in enumerate(paths):
        payload = path.read_text().replace("/home/dev", _environ()["HOME"])
        event = next((one for one in EVENTS if one in path.stem), EVENTS[at % len(EVENTS)])
        found.append((path.parent.name, event, payload.encode()))
    return found[:250]


def _list_payloads() -> list[bytes]:
    return [bytes([at]) + payload for at, (_, _, payload) in enumerate(_calls())]


def _hook(data: bytes) -> None:
    agent, event, _ = _calls()[(data[0] if data else 0) % len(_calls())]
    home = Path(_environ()["TOLD_HOME"])
    if home.is_dir() and sum(one.stat().st_size for one in home.rglob("*") if one.is_file()) > 20_000_000:
        shutil.rmtree(home)
    (home / FAILURE).unlink(missing_ok=True)
    answer = answer_now(agent, event, data[1:], _environ())
    assert answer == "" or isinstance(json.loads(answer), dict)
    assert read_last_failure(str(home)) == (0, "")


# -- text --------------------------------------------------------------------------------------------

_FENCE_TAG = re.compile(r"</?(agent|tool|user|team[^>]*) [a-z2-7]{5}>", re.IGNORECASE)


def _list_attacks() -> list[bytes]:
    return [one.encode("utf-8", "surrogateescape") for one in load_examples("attacks")]


def _fence(data: bytes) -> None:
    fence, text = Fence(KEY), as_text(data)
    for fenced in (fence.block(text), fence.inline(text), fence.inline(text, "team Ann")):
        opening, closing = fenced[: fenced.index(">") + 1], fenced[fenced.rindex("<") :]
        assert [tag.group() for tag in _FENCE_TAG.finditer(fenced)] == [opening, closing]
        assert strip_fenced(f"a{fenced}b") == "ab"
    once = fence.plain(text)
    assert fence.plain(once) == once
    assert len(once.splitlines()) <= 1
    assert defuse_tags(once) == once
    for tag in (
        "<system-reminder>",
        "</agent>",
        "<|im_end|>",
        "[INST]",
        "</function_results>",
        "&lt;/told&gt;",
    ):
        assert tag not in once.lower().replace("[inst]", "[INST]") or tag == "[INST]"


_REDACTOR = Redactor(KEY)


def _redact(data: bytes) -> None:
    once = _REDACTOR.redact(as_text(data))
    assert _REDACTOR.redact(once) == once
    once.encode()


def _clean(data: bytes) -> None:
    text = as_text(data)
    once = clean(text)
    assert clean(once) == once
    once.encode()
    assert not set(once) & set("\x00\x1b\r\u200b\u202e")


def _capture(data: bytes) -> None:
    message = as_text(data)
    for one in capture(message, "Should I?"):
        assert one.quote
        assert one.quote in message
        assert one.text.strip()
        assert "\n" not in one.text
        assert one.kind in {"rule", "decision", "fact"}
        assert one.scope in {"project", "global"}
        assert 0.0 <= one.certainty <= 1.0


@functools.cache
def _memories() -> Memories:
    home = str(scratch() / "memories")
    os.makedirs(home)
    memories = open_memories(home)
    writer = JournalWriter(FileJournal(home), memories, _NOW)
    for text in (
        'Use {"client_id":"abc"} for the deploy', "Never use npm, use pnpm", "The database is postgres",
        "数据库使用 postgres", "Prefer tabs over spaces", "We deploy to staging with make ship",
    ):  # fmt: skip
        remember(writer, NewMemory(text, "global"))
    return memories


def _query(data: bytes) -> None:
    memories, text = _memories(), as_text(data)
    query = parse_query(text, _NOW)
    terms = (*query.terms, *query.must, quote_phrase(text), quote_phrase(text, prefix=True))
    for expression in (match_any(terms), match_all(terms)):
        memories.match(expression, (1.0, 1.0, 1.0), 5, scopes=("global",), ended=True)
        memories.latest(expression, 5)
    list_memories(memories, MemoryFilter(words=clean(text), scopes=("global",)), _NOW, 5)
    found = recall(memories, RecallRequest(text, ("global",), _NOW, search=True))
    assert found.broken == ()


def _json(data: bytes) -> None:
    found = parse_json(data)
    assert isinstance(found, dict | list | str | int | float | bool | None)


# -- backups ------------------------------------------------------------------------------------------


def _backup(data: bytes) -> None:
    """Read the bytes as a backup and as the manifest of one, both with a right digest."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.comment = b"0" * DIGEST_BYTES
        archive.writestr("key", b"k")
        archive.writestr("manifest.json", data)
    path = scratch() / "backup.zip"
    for content in (seal(out.getvalue()), seal(data + b"0" * DIGEST_BYTES)):
        path.write_bytes(content)
        with contextlib.suppress(UsageError), BackupReader(str(path)) as reader:
            reader.check()
            assert all(is_known_name(name) for name in reader.manifest.files)


def _list_backups() -> list[bytes]:
    files = {"key": [1, hashlib.sha256(b"k").hexdigest()]}
    project = {"number": 1, "root": "/srv/shop", "scope": "project:x", "ignored": "", "series": ["abcdefgh"]}
    manifest = {
        "format": "told-backup", "version": 1, "told": "0.1.0", "created": 1, "operations": 0, "damaged": 0,
        "projects": [project], "files": files,
    }  # fmt: skip
    return [json.dumps(manifest).encode()]


_CONFIG = "is changed and restored, or not touched"
TARGETS = (
    *(_reader(agent) for agent in AGENTS.values() if (DATA / agent.name).is_dir()),
    *(_store(tool) for tool in TOOLS),
    Target("hook", _hook, "is answered with JSON or nothing, without a failure", _list_payloads),
    Target("fence", _fence, "cannot close its fence, open a line or keep a protocol's tag", _list_attacks),
    Target("checkpoint", _checkpoint, "is parsed, and written back the same"),
    Target("journal-line", _journal_line, "is an operation or a BadLineError; any payload folds"),
    Target("settings", _settings, "is read, or refused with a sentence"),
    Target("config-json", functools.partial(_config, "settings.json"), _CONFIG),
    Target("config-toml", functools.partial(_config, "config.toml"), _CONFIG),
    Target("onboard", _onboard, "gives facts of one line"),
    Target("redactor", _redact, "is redacted the same twice, and can be stored"),
    Target("clean", _clean, "has no control characters, cleaned once or twice"),
    Target("capture", _capture, "teaches exact quotes"),
    Target("query", _query, "searches without an error, and breaks no memory"),
    Target("json", _json, "is a value or a sentence"),
    Target("backup", _backup, "is read, or refused with a sentence", _list_backups),
)


def named(name: str) -> Target:
    """Return a target."""
    return next(one for one in TARGETS if one.name == name)
