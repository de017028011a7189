"""What a user of Neovim's chat plugins finds again."""

from __future__ import annotations

import shutil
from pathlib import Path

from told.agents.base import Folder, find_roots, find_sources
from told.agents.neovim import AGENT
from told.model import Checkpoint, Cursor, Event, Facts, Message, Problem, Source, Touch

HOME = Path(__file__).parents[1] / "data" / "agents" / "neovim" / "plugins"
AVANTE = "avante-__home__dev__shop"


def sources(environ: dict[str, str]) -> list[Source]:
    found = find_sources(AGENT, find_roots(AGENT, environ))
    return [entry[0] for entry in found if not isinstance(entry, Folder)]


def read_home(home: Path) -> list[Event | Problem]:
    return [event for source in sources({"HOME": str(home)}) for event in AGENT.read(source, Cursor())]


def spoken(session: str) -> list[tuple[str, str, str]]:
    return [
        (event.who, event.form, event.text)
        for event in read_home(HOME)
        if isinstance(event, Message) and event.session == session
    ]


def facts(session: str) -> list[Facts]:
    return [event for event in read_home(HOME) if isinstance(event, Facts) and event.session == session]


def test_reads_copilotchat_without_sticky_lines() -> None:
    assert spoken("copilotchat-refactor") == [
        ("user", "text", "Split this function"),
        ("agent", "step", "It does two things."),
        ("agent", "text", "Here are two functions."),
        ("agent", "step", "[file] lua/init.lua"),
    ]
    assert facts("copilotchat-refactor") == [
        Facts("copilotchat-refactor", title="refactor", title_by="user"),
    ]


def test_reads_codecompanion_without_attachments() -> None:
    assert spoken("codecompanion-1750000000") == [
        ("user", "text", "Make my editor start faster"),
        ("agent", "step", "Look at the plugins."),
        ("agent", "text", "Load plugins lazily."),
        ("agent", "step", "[insert_edit_into_file] init.lua"),
    ]
    assert facts("codecompanion-1750000000") == [
        Facts(
            "codecompanion-1750000000",
            cwd="/home/dev/dotfiles",
            title="Faster start",
            started=1750000000000,
            model="gpt-4.1",
        )
    ]


def test_reads_summaries_as_checkpoints() -> None:
    checkpoints = [event for event in read_home(HOME) if isinstance(event, Checkpoint)]
    assert [(one.session, one.title, one.overview) for one in checkpoints] == [
        ("codecompanion-1750000000", "Faster start", "# Summary\n\nPlugins are loaded lazily now."),
        (f"{AVANTE}-1", "Add a cache", "A cache of 100 entries was added."),
    ]


def test_reads_avante_without_tool_results() -> None:
    assert spoken(f"{AVANTE}-1") == [
        ("user", "text", "Add a cache"),
        ("agent", "step", "Where is the store?"),
        ("agent", "step", "[str_replace] store.go"),
        ("agent", "text", "The cache is in."),
    ]
    (known,) = facts(f"{AVANTE}-1")
    assert (known.cwd, known.title, known.model) == ("/home/dev/shop", "Add a cache", "claude-sonnet-4")
    assert [(event.path, event.how) for event in read_home(HOME) if isinstance(event, Touch)] == [
        ("init.lua", "edit"),
        ("store.go", "edit"),
    ]


def test_parses_avante_times_as_local() -> None:
    times = [
        event.at for event in read_home(HOME) if isinstance(event, Message) and event.session == f"{AVANTE}-1"
    ]
    assert [at - times[0] for at in times] == [0, 2000, 3000, 7000]
    assert abs(times[0] - 1751364000000) <= 14 * 3600 * 1000


def test_reads_older_avante_chats() -> None:
    assert spoken(f"{AVANTE}-0") == [
        ("user", "text", "What does main do?"),
        ("agent", "text", "It starts the server."),
    ]


def test_reads_configured_folders(tmp_path: Path) -> None:
    shutil.copytree(HOME / ".local" / "share", tmp_path / "data")
    shutil.copytree(HOME / ".local" / "state", tmp_path / "state")
    environ = {"HOME": "/nowhere", "XDG_DATA_HOME": f"{tmp_path}/data", "XDG_STATE_HOME": f"{tmp_path}/state"}
    assert {source.layout for source in sources(environ)} == {
        "copilotchat",
        "codecompanion",
        "summary",
        "avante",
    }


def test_reports_a_half_written_chat(tmp_path: Path) -> None:
    path = tmp_path / ".local" / "share" / "nvim" / "copilotchat_history" / "x.json"
    path.parent.mkdir(parents=True)
    path.write_text('[{"role": "user", "content": "Hel')
    assert read_home(tmp_path) == [Problem(0, "not JSON")]
