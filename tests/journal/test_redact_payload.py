"""A payload from which a secret was taken out later: the chain holds, and each byte of it is watched."""

from __future__ import annotations

import json
import random
import re
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.journal.writing import fold
from tests.soak import SOAK, points
from told.journal.append import append
from told.journal.apply import open_memories
from told.journal.erase import erase, find_secrets, redact_journals
from told.journal.files import Draft
from told.journal.read import verify
from told.journal.registry import FOLDER, ProjectJournal, list_series, own_series_name, register
from told.redact.rescan import Rescanner
from told.store.database import load_key

from .writing import NOW, damages, do, journal, operations, remember, segment

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

SECRET = "hunter-4711"
MARKER = "[secret:own:1a2b]"


def redact(text: str) -> str:
    return re.sub(r"hunter-\d+\w*", MARKER, text)


RESCANNER = Rescanner(redact)


def test_redact_removes_text_and_keeps_the_chain_valid(tmp_path: Path) -> None:
    kept = remember(tmp_path, "Use uv.")
    told = remember(tmp_path, f"The door opens with {SECRET}.", entities=["door", SECRET], locked=True)
    do(tmp_path, "revise", told, text=f"Every door opens with {SECRET}.")
    do(tmp_path, "lock", told)
    before = operations(tmp_path)
    assert [one.memory for one in find_secrets(str(tmp_path), RESCANNER)] == [told, told]
    assert redact_journals(str(tmp_path), RESCANNER) == 2
    assert SECRET.encode() not in segment(tmp_path).read_bytes()
    assert damages(tmp_path) == []
    after = operations(tmp_path)
    assert [one.hash for one in after] == [one.hash for one in before]
    assert [one.redacted for one in after] == [False, True, True, False]
    memories = fold(after)
    assert memories[told].text == f"Every door opens with {MARKER}."
    assert memories[told].locked
    assert memories[told].entities == ("door", MARKER)
    assert memories[kept].text == "Use uv."
    assert list(find_secrets(str(tmp_path), RESCANNER)) == []
    assert redact_journals(str(tmp_path), RESCANNER) == 0
    remember(tmp_path, "Next.")
    assert damages(tmp_path) == []


def test_redact_replaces_the_salt(tmp_path: Path) -> None:
    remember(tmp_path, f"It is {SECRET}.")
    first = json.loads(segment(tmp_path).read_bytes())
    redact_journals(str(tmp_path), RESCANNER)
    second = json.loads(segment(tmp_path).read_bytes())
    assert second["payload_hash"] == first["payload_hash"]
    assert first["payload"]["salt"] not in segment(tmp_path).read_text()
    assert len(second["payload"]["salt"]) == len(first["payload"]["salt"])


def test_flipped_byte_in_redacted_line_is_found(tmp_path: Path) -> None:
    for text in ("Use uv.", f"The door opens with {SECRET} über alles.", "Use ruff."):
        remember(tmp_path, text)
    redact_journals(str(tmp_path), RESCANNER)
    path = segment(tmp_path)
    whole = path.read_bytes()
    start = whole.index(b"\n") + 1
    end = whole.index(b"\n", start)
    chance = random.Random(3)
    for place in range(start, end):
        changed = bytearray(whole)
        changed[place] ^= 1 << chance.randrange(8)
        path.write_bytes(changed)
        found = damages(tmp_path)
        assert found, place
        if changed[place] != 10:
            assert {one.line for one in found} == {2}, place
            assert [one.number for one in operations(tmp_path)] == [1, 3], place


def test_forged_redacted_payload_is_damage(tmp_path: Path) -> None:
    remember(tmp_path, f"One is {SECRET}.")
    remember(tmp_path, f"Two is {SECRET}.")
    redact_journals(str(tmp_path), RESCANNER)
    path = segment(tmp_path)
    whole = path.read_bytes()
    one, two = whole.split(b"\n")[:2]
    marks = [re.search(rb',"redacted":"\w{32}"', line)[0] for line in (one, two)]  # type: ignore[index]
    path.write_bytes(whole.replace(marks[0], marks[1]))
    assert [found.line for found in damages(tmp_path)] == [1]
    path.write_bytes(whole.replace(marks[0], b""))
    assert [found.line for found in damages(tmp_path)] == [1]
    payloads = [re.search(rb'"payload":(\{.*\}),"redacted"', line)[1] for line in (one, two)]  # type: ignore[index]
    path.write_bytes(whole.replace(payloads[0], payloads[1]))
    assert [found.line for found in damages(tmp_path)] == [1]
    path.write_bytes(whole.replace(payloads[0], b"null"))
    assert [found.line for found in damages(tmp_path)] == [1]


def test_redacted_operation_can_be_erased_and_undone(tmp_path: Path) -> None:
    gone = remember(tmp_path, f"It is {SECRET}.")
    kept = remember(tmp_path, f"Another is {SECRET}.")
    later = do(tmp_path, "revise", kept, text=f"No, {SECRET}.")
    redact_journals(str(tmp_path), RESCANNER)
    do(tmp_path, "undo", kept, machine=later.machine, number=later.number)
    assert fold(operations(tmp_path))[kept].text == f"Another is {MARKER}."
    assert erase(str(tmp_path), [gone]) == 1
    assert damages(tmp_path) == []
    payloads = {one.memory: one.payload for one in operations(tmp_path) if one.kind == "remember"}
    assert payloads[gone] is None
    assert payloads[kept] is not None


def test_redact_keeps_batches_together(tmp_path: Path) -> None:
    drafts = [Draft("remember", "user", {"text": f"Part {n} is {SECRET}."}) for n in range(3)]
    append(str(tmp_path), drafts, now=NOW)
    redact_journals(str(tmp_path), RESCANNER)
    assert len(operations(tmp_path)) == 3
    path = segment(tmp_path)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:2]))
    assert operations(tmp_path) == []  # the third never came
    remember(tmp_path, "Next.")
    assert [one.payload["text"] for one in operations(tmp_path) if one.payload] == ["Next."]


def test_redact_is_applied_even_if_size_would_not_change(tmp_path: Path) -> None:
    same = len(MARKER) + len(',"redacted":""') + 32 - len("hunter-")  # digits that keep the size
    for size in range(1, 130) if SOAK else (1, same - 1, same, same + 1):
        home = tmp_path / str(size)
        told = remember(home, "hunter-" + "7" * size)
        memories = open_memories(str(home))
        redact_journals(str(home), RESCANNER)
        memories.close()
        memories = open_memories(str(home))
        assert memories.get([told])[told].text == MARKER, size
        memories.close()
        assert damages(home) == []


def test_redact_keeps_names_without_secrets(tmp_path: Path) -> None:
    told = remember(tmp_path, "Something.", evidence=[{"agent": "codex", "session": SECRET, "turn": 1}])
    do(tmp_path, "forget", told, evidence=[{"agent": "codex", "session": SECRET, "mark": SECRET, "words": 3}])
    do(tmp_path, "set", set={"captured": {f"codex/{SECRET}": 4}})
    assert redact_journals(str(tmp_path), RESCANNER) == 0
    long = f"{SECRET}k3J9sQ0vW"
    remember(tmp_path, "More.", evidence=[{"agent": "codex", "session": long}], scope=f"project:{long}")
    do(tmp_path, "forget", told, evidence=[{"agent": "codex", "session": long, "mark": "ab", "words": 3}])
    do(tmp_path, "set", set={"captured": {f"codex/{long}": 4}, "forgotten_turn": {"-7": f"codex/{long}"}})
    assert redact_journals(str(tmp_path), RESCANNER) == 3
    more, forgotten, noted = (one.payload or {} for one in operations(tmp_path)[3:])
    hidden = RESCANNER.redact_id(long)
    assert hidden.startswith("hidden-")
    assert more["evidence"][0]["session"] == forgotten["evidence"][0]["session"] == hidden
    assert more["scope"] == f"project:{MARKER}"
    assert forgotten["evidence"][0]["mark"] == "ab"
    assert noted["set"] == {"captured": {f"codex/{hidden}": 4}, "forgotten_turn": {"-7": f"codex/{hidden}"}}
    assert damages(tmp_path) == []


def test_redact_drops_damaged_lines_with_secrets(tmp_path: Path) -> None:
    remember(tmp_path, "Use uv.")
    remember(tmp_path, f"It is {SECRET}.")
    remember(tmp_path, "Use ruff.")
    path = segment(tmp_path)
    path.write_bytes(path.read_bytes().replace(b"It is", b"It was"))
    path.with_name("000001.torn").write_text(f"cut off {SECRET}")
    path.with_name("000001.jsonl.77.new").write_text(f"left behind {SECRET}")
    assert len(list(find_secrets(str(tmp_path), RESCANNER))) == 3
    redact_journals(str(tmp_path), RESCANNER)
    assert not any(SECRET.encode() in one.read_bytes() for one in tmp_path.rglob("*") if one.is_file())
    assert [one.number for one in operations(tmp_path)] == [1, 3]


def test_redact_keeps_the_seal(tmp_path: Path) -> None:
    home, root = tmp_path / "told", tmp_path / "shop"
    (root / FOLDER).mkdir(parents=True)
    home.mkdir()
    load_key(str(home))
    place = ProjectJournal(str(home), str(root), "project:shop")
    place = place._replace(series=(own_series_name(place),))
    register(place)
    draft = Draft("remember", "user", {"text": f"It is {SECRET}.", "scope": "project:shop"}, "mabcdefg")
    append(str(home), [draft], now=NOW, project=place)
    assert redact_journals(str(home), RESCANNER) == 1
    (series,) = [one for one in list_series(journal(home)) if one.project]
    assert series.project is not None
    (found,) = operations(home)
    assert (found.by, found.payload and found.payload["text"]) == ("user", f"It is {MARKER}.")
    path = next(root.rglob("*.jsonl"))
    assert SECRET.encode() not in path.read_bytes()
    # What somebody else put there stays theirs.
    path.write_bytes(path.read_bytes().replace(b"It is", b"It be"))
    assert operations(home) == []
    assert verify(journal(home))


texts = st.text(max_size=40) | st.sampled_from(
    [SECRET, f"a {SECRET} b", f'"{SECRET}\\', "\n", "]", ',"redacted":"']
)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=points(everyday=20, soak=200), deadline=None)
@given(payloads=st.lists(st.dictionaries(texts, values, max_size=4), min_size=1, max_size=4), place=st.data())
def test_redact_accepts_any_payload(
    tmp_path_factory: pytest.TempPathFactory, payloads: list[dict[str, object]], place: st.DataObject
) -> None:
    home = tmp_path_factory.mktemp("home")
    for payload in payloads:
        append(str(home), [Draft("revise", "user", payload, "mabcdefg")], now=NOW)
    before = operations(home)
    count = redact_journals(str(home), RESCANNER)
    after = operations(home)
    assert damages(home) == []
    assert [(one.number, one.hash) for one in after] == [(one.number, one.hash) for one in before]
    assert sum(one.redacted for one in after) == count == sum(_says(one.payload) for one in before)
    assert not any(_says(one.payload) for one in after)
    assert redact_journals(str(home), RESCANNER) == 0
    path = segment(home)
    whole = bytearray(path.read_bytes())
    at = place.draw(st.integers(0, len(whole) - 1))
    whole[at] ^= 1 << place.draw(st.integers(0, 7))
    path.write_bytes(whole)
    assert damages(home)


def _says(value: object) -> bool:
    """Tell whether any text says it; names of fields are none."""
    if isinstance(value, dict):
        return any(_says(one) for one in value.values())
    return any(map(_says, value)) if isinstance(value, list) else isinstance(value, str) and SECRET in value
