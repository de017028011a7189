"""Others write in the same files: what is theirs stays, what is told's goes, and nobody takes the other's."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.install.foreign_files import (
    CLAUDE_MD,
    CLAUDE_SETTINGS,
    CLAUDE_STATE,
    CODEX_CONFIG,
    CURSOR_HOOKS,
    MARK,
    OPENCODE,
    ZED,
    changes,
    put,
    said,
)
from told.agents.wiring import Block, Entry, OwnFile
from told.install import foreign
from told.install.ledger import Ledger
from told.install.preview import Preview


def installed(tmp_path: Path, name: str, text: str) -> tuple[Path, Ledger]:
    path = put(tmp_path, name, text.encode())
    ledger = Ledger(str(tmp_path / "told"))
    for change in changes(path):
        foreign.apply_change(change, ledger, "agent user")
    return Path(path), ledger


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_bytes().decode()
    assert old in text
    path.write_bytes(text.replace(old, new, 1).encode())


EDITS = {
    "a value": ("settings.json", CLAUDE_SETTINGS, '"opus"', '"haiku"'),
    "a comment": ("settings.json", CLAUDE_SETTINGS, '"opus"', '"opus" /* mine */'),
    "another's hook": (
        "settings.json",
        CLAUDE_SETTINGS,
        '"PreToolUse": [',
        '"PreToolUse": [\n      {"x": 1},',
    ),
    "a Zed value": ("settings.json", ZED, '"vim_mode": true', '"vim_mode": false'),
    "a comment at the end": ("opencode.jsonc", OPENCODE, "// keep", "// keep this"),
    "a Cursor hook": ("hooks.json", CURSOR_HOOKS, '"version": 1', '"version": 2'),
    "a server's table": (
        "config.toml",
        CODEX_CONFIG,
        "[projects",
        "[mcp_servers.new]\ncommand = 'x'\n\n[projects",
    ),
    "a line of TOML": ("config.toml", CODEX_CONFIG, "# the fast one", "# the slow one"),
    "no end of TOML": ("config.toml", 'model = "x"\n[features]\na = 1', '"x"', '"y"'),
    "a line of Markdown": ("CLAUDE.md", CLAUDE_MD, "AGENTS.md", "RULES.md"),
}


@pytest.mark.parametrize("label", EDITS)
def test_what_others_wrote_since_is_all_that_remains(label: str, tmp_path: Path) -> None:
    name, text, old, new = EDITS[label]
    path, ledger = installed(tmp_path, name, text)
    edit(path, old, new)
    assert {outcome.state for outcome in foreign.undo_changes(ledger)} == {"removed"}
    assert path.read_bytes().decode() == text.replace(old, new, 1)
    assert ledger.installed() == []


def test_a_comment_behind_the_comma_that_told_added_stays(tmp_path: Path) -> None:
    path, ledger = installed(tmp_path, "settings.json", CLAUDE_SETTINGS)
    edit(path, '"opus",', '"opus", // mine')
    foreign.undo_changes(ledger)
    assert path.read_bytes().decode() == CLAUDE_SETTINGS.replace('"opus"', '"opus" // mine')


def test_something_added_behind_told_s_entries_stays(tmp_path: Path) -> None:
    path, ledger = installed(tmp_path, "config.toml", CODEX_CONFIG)
    added = '\n[hooks.state."/home/a/.codex/config.toml:stop:0:0"]\ntrusted_hash = "sha256:1"\n'
    path.write_bytes(path.read_bytes() + added.encode() + b"[mcp_servers.told.tools.x]\nmode = 'a'\n")
    foreign.undo_changes(ledger)
    assert path.read_bytes().decode() == CODEX_CONFIG + added


def test_a_file_that_its_program_wrote_anew_loses_only_told_s_entries(tmp_path: Path) -> None:
    for name, text in {"a.json": CLAUDE_SETTINGS, "b.json": CLAUDE_STATE, "c.json": "{}"}.items():
        path, ledger = installed(tmp_path, name, text)
        value = json.loads(path.read_bytes())
        value["numStartups"] = 13
        path.write_text(json.dumps(value, indent=4), encoding="utf-8")
        foreign.undo_changes(ledger)
        assert said(name, path.read_bytes()) == {**json.loads(text), "numStartups": 13}


def test_a_file_that_told_made_stays_if_others_use_it(tmp_path: Path) -> None:
    path = tmp_path / "home" / "settings.json"
    ledger = Ledger(str(tmp_path / "told"))
    for change in changes(str(path)):
        foreign.apply_change(change, ledger, "agent user")
    edit(path, '"telling": 5', '"theirs": 1, "telling": 5')
    foreign.undo_changes(ledger)
    assert json.loads(path.read_bytes()) == {"theirs": 1}


def test_a_file_that_told_made_goes_even_if_its_program_wrote_it_anew(tmp_path: Path) -> None:
    path = tmp_path / "home" / "settings.json"
    ledger = Ledger(str(tmp_path / "told"))
    for change in changes(str(path)):
        foreign.apply_change(change, ledger, "agent user")
    path.write_text(json.dumps(json.loads(path.read_bytes())), encoding="utf-8")
    foreign.undo_changes(ledger)
    assert not path.parent.exists()


def test_a_hook_that_others_put_into_told_s_own_group_stays(tmp_path: Path) -> None:
    path, ledger = installed(tmp_path, "settings.json", "{}")
    value = json.loads(path.read_bytes())
    value["hooks"]["Stop"][0]["hooks"].append({"type": "command", "command": "theirs"})
    path.write_text(json.dumps(value, indent=2), encoding="utf-8")
    foreign.undo_changes(ledger)
    theirs = {"hooks": [{"type": "command", "command": "theirs"}]}
    assert json.loads(path.read_bytes()) == {"hooks": {"Stop": [theirs]}}


def test_a_new_launch_path_spares_a_hook_that_others_put_into_told_s_own_group(tmp_path: Path) -> None:
    for name in ("settings.json", "config.toml"):
        path, ledger = installed(tmp_path, name, "")
        if name == "config.toml":
            path.write_bytes(
                b"[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ncommand = '" + MARK.encode() + b"'\n\n"
                b"[[hooks.Stop.hooks]]\ncommand = 'theirs'\n"
            )
        else:
            edit(path, '"hooks": [\n          {', '"hooks": [\n          {"command": "theirs"}, {')
        for change in changes(str(path), f"/moved {MARK}"):
            foreign.apply_change(change, ledger, "agent user")
            assert foreign.change_state(change) == "there"
        assert b"theirs" in path.read_bytes()
        foreign.undo_changes(ledger)
        (left,) = said(name, path.read_bytes())["hooks"].values()
        assert left == [{"hooks": [{"command": "theirs"}]}]


def test_a_server_that_the_user_switched_off_is_left_so_and_still_removed(tmp_path: Path) -> None:
    path, ledger = installed(tmp_path, "settings.json", "{}")
    edit(path, '"command": "told"', '"disabled": true, "command": "told"')
    assert not any(foreign.apply_change(change, ledger, "agent user") for change in changes(str(path)))
    assert json.loads(path.read_bytes())["mcpServers"]["told"]["disabled"] is True
    foreign.undo_changes(ledger)
    assert not json.loads(path.read_bytes())


def test_an_entry_that_the_user_removed_is_gone(tmp_path: Path) -> None:
    path, ledger = installed(tmp_path, "settings.json", CLAUDE_SETTINGS)
    path.write_text(CLAUDE_SETTINGS, encoding="utf-8")
    assert {outcome.state for outcome in foreign.undo_changes(ledger)} == {"gone"}
    assert path.read_text(encoding="utf-8") == CLAUDE_SETTINGS


def test_a_file_that_the_user_removed_is_gone(tmp_path: Path) -> None:
    path, ledger = installed(tmp_path, "settings.json", CLAUDE_SETTINGS)
    path.unlink()
    assert {outcome.state for outcome in foreign.undo_changes(ledger)} == {"gone"}
    assert not path.exists()
    assert ledger.installed() == []


def test_a_new_launch_path_keeps_what_others_wrote(tmp_path: Path) -> None:
    for name, text, old, new in EDITS.values():
        if name == "CLAUDE.md":
            continue
        path, ledger = installed(tmp_path, name, text)
        edit(path, old, new)
        moved = changes(str(path), f"/moved {MARK}")
        assert [foreign.apply_change(change, ledger, "agent user") for change in moved][:2] == [True, True]
        assert {foreign.change_state(change) for change in moved} == {"there"}
        assert not any(foreign.apply_change(change, ledger, "agent user") for change in moved)
        foreign.undo_changes(ledger)
        assert said(name, path.read_bytes()) == said(name, text.replace(old, new, 1).encode())


def test_told_s_entry_is_taken_over_when_the_ledger_was_lost(tmp_path: Path) -> None:
    path, _ = installed(tmp_path, "settings.json", CLAUDE_SETTINGS)
    ledger = Ledger(str(tmp_path / "other"))
    assert not any(foreign.apply_change(change, ledger, "agent user") for change in changes(str(path)))
    assert any(
        foreign.apply_change(change, ledger, "agent user") for change in changes(str(path), f"/b {MARK}")
    )
    foreign.undo_changes(ledger)
    assert said("settings.json", path.read_bytes())["hooks"].keys() >= {"UserPromptSubmit", "PreToolUse"}
    assert b"told" not in path.read_bytes()


def test_a_value_that_was_there_before_told_stays_when_told_goes(tmp_path: Path) -> None:
    for name, text in {
        "settings.json": '{"features": {"hooks": true}}',
        "config.toml": "features.hooks = true",
    }.items():
        path, ledger = installed(tmp_path, name, text)
        foreign.undo_changes(ledger)
        assert path.read_bytes().decode() == text


def test_a_block_that_the_user_changed_is_the_user_s(tmp_path: Path) -> None:
    path, ledger = installed(tmp_path, "CLAUDE.md", CLAUDE_MD)
    block = Block(str(path), "## told\n\nA new text.")
    edit(path, "Then search.", "Then ask me.")
    mine = path.read_bytes()
    assert foreign.change_state(block) == "edited"
    assert not Preview(ledger).apply(block, "agent user")
    assert not foreign.apply_change(block, ledger, "agent user")
    assert foreign.remove_change(block).state == "left"
    (outcome,) = foreign.undo_changes(ledger)
    assert (outcome.state, "You changed" in outcome.note) == ("left", True)
    assert path.read_bytes() == mine


def test_an_older_block_is_replaced_where_it_stands(tmp_path: Path) -> None:
    path, ledger = installed(tmp_path, "CLAUDE.md", CLAUDE_MD)
    path.write_bytes(path.read_bytes() + b"\nWritten below.\n")
    block = Block(str(path), "A new text.")
    assert foreign.change_state(block) == "edited"
    assert foreign.apply_change(block, ledger, "agent user")
    text = path.read_text(encoding="utf-8")
    assert text.index("A new text.") < text.index("Written below.")
    assert "Then search." not in text
    foreign.undo_changes(ledger)
    assert (
        path.read_text(encoding="utf-8").replace("\n", "") == CLAUDE_MD.replace("\n", "") + "Written below."
    )


def test_a_block_whose_end_was_cut_off_is_left_alone(tmp_path: Path) -> None:
    path, ledger = installed(tmp_path, "CLAUDE.md", CLAUDE_MD)
    edit(path, "<!-- told:end -->", "")
    left = path.read_bytes()
    assert foreign.change_state(changes(str(path))[0]) == "edited"
    assert not foreign.apply_change(changes(str(path))[0], ledger, "agent user")
    foreign.undo_changes(ledger)
    assert path.read_bytes() == left


def test_an_own_file_that_the_user_changed_is_left_and_an_old_one_is_replaced(tmp_path: Path) -> None:
    ledger = Ledger(str(tmp_path / "told"))
    path = tmp_path / "mem.md"
    foreign.apply_change(OwnFile(str(path), "one\n"), ledger, "agent user")
    assert foreign.apply_change(OwnFile(str(path), "two\n"), ledger, "agent user")
    assert path.read_text(encoding="utf-8") == "two\n"
    path.write_text("mine\n", encoding="utf-8")
    assert not foreign.apply_change(OwnFile(str(path), "three\n"), ledger, "agent user")
    (outcome,) = foreign.undo_changes(ledger)
    assert outcome.state == "left"
    assert path.read_text(encoding="utf-8") == "mine\n"


def test_two_agents_share_a_file_and_each_takes_back_its_own(tmp_path: Path) -> None:
    for name, text in {"settings.json": CLAUDE_SETTINGS, "config.toml": CODEX_CONFIG}.items():
        path = put(tmp_path, name, text.encode())
        ledger = Ledger(str(tmp_path / "told"))
        mine = changes(path)
        for place, change in enumerate(mine):
            foreign.apply_change(change, ledger, f"{'one' if place % 2 else 'two'} user")
        foreign.undo_changes(ledger, "one")
        assert [foreign.change_state(change) for change in mine] == ["there", "missing"] * 3
        foreign.undo_changes(ledger, "two project")
        assert foreign.change_state(mine[0]) == "there"
        foreign.undo_changes(ledger, "two")
        assert Path(path).read_bytes() == text.encode()


def test_two_agents_want_the_same_and_the_last_one_takes_it_away(tmp_path: Path) -> None:
    path = put(tmp_path, "AGENTS.md", b"# Rules\n")
    link = tmp_path / "CLAUDE.md"
    link.symlink_to("AGENTS.md")
    ledger = Ledger(str(tmp_path / "told"))
    assert foreign.apply_change(Block(path, "text"), ledger, "codex user")
    assert not foreign.apply_change(Block(str(link), "text"), ledger, "claude-code user")
    assert not foreign.apply_change(Block(str(link), "another text"), ledger, "claude-code user")
    assert ledger.owners() == ["claude-code user", "codex user"]
    (outcome,) = foreign.undo_changes(ledger, "codex")
    assert outcome.state == "left"
    assert foreign.change_state(Block(path, "text")) == "there"
    foreign.undo_changes(ledger, "claude-code")
    assert Path(path).read_bytes() == b"# Rules\n"
    assert os.path.islink(link)


def test_what_one_agent_made_for_both_goes_with_the_last(tmp_path: Path) -> None:
    path = Path(put(tmp_path, "settings.json", b'{\n  "a": 1\n}\n'))
    ledger = Ledger(str(tmp_path / "told"))
    first = Entry(str(path), ("hooks", "Stop"), {"command": f"1 {MARK}"}, item=True, mark=MARK)
    second = Entry(str(path), ("hooks", "Start"), {"command": f"2 {MARK}"}, item=True, mark=MARK)
    foreign.apply_change(first, ledger, "one user")
    foreign.apply_change(second, ledger, "two user")
    edit(path, '"a": 1', '"a": 2')
    foreign.undo_changes(ledger, "one")
    foreign.undo_changes(ledger, "two")
    assert path.read_bytes() == b'{\n  "a": 2\n}\n'


def test_a_preview_is_one_diff_of_each_file_and_writes_nothing(tmp_path: Path) -> None:
    ledger = Ledger(str(tmp_path / "told"))
    preview = Preview(ledger)
    texts = {"b.json": ZED, "c.toml": CODEX_CONFIG}
    files = [put(tmp_path, name, text.encode()) for name, text in texts.items()]
    new = str(tmp_path / "new" / "d.json")
    for path in (*files, new):
        for change in changes(path):
            assert preview.apply(change, "agent user")
    diffs = dict(preview.diffs())
    assert list(diffs) == [*files, new]
    assert diffs[new].startswith(f"--- /dev/null\n+++ {new}\n@@ -0,0 ")
    assert not os.path.exists(new)
    for path, text in zip(files, texts.values(), strict=True):
        assert diffs[path].startswith(f"--- {path}\n+++ {path}\n@@ ")
        assert Path(path).read_bytes() == text.encode()
        for change in changes(path):
            foreign.apply_change(change, ledger, "agent user")
        before, after = text.splitlines(), Path(path).read_text().splitlines()
        added = [line[1:] for line in diffs[path].splitlines()[2:] if line.startswith("+")]
        assert [line for line in after if line not in before] == [one for one in added if one not in before]
