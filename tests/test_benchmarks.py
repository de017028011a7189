"""The measuring room makes the histories it says, and its figures have their names. No time is asserted."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from pathlib import Path

import apsw
import pytest

# The measuring room is not installed; it stands beside the tests.
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from benchmarks import (
    CannotMeasureError,
    banks,
    brief,
    commands,
    histories,
    hook,
    hook_banks,
    ingest,
    invented,
    locomo,
    measure,
    recall,
    report,
    said,
    story,
    surface,
    tokens,
    wired,
    words,
)
from benchmarks.__main__ import main
from benchmarks.floor import texts, transcripts
from tests.soak import points
from told.agents import claude_code, copilot_cli
from told.agents.base import Agent, Folder, find_roots, find_sources
from told.hook.dispatch import answer_hook
from told.model import USER, Begin, Cursor, Message, Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NOW = 1_794_000_000_000


@pytest.fixture(scope="module")
def language() -> words.Language:
    return words.Language(1, sentences=2_000)


def prompts(agent: Agent, home: Path) -> dict[str, int]:
    """Count what the user said in each session that an agent's reader finds."""
    said: dict[str, set[object]] = {}
    for found in find_sources(agent, find_roots(agent, {"HOME": str(home)})):
        if isinstance(found, Folder):
            continue
        source = found[0]
        begun: dict[str, set[object]] = {}
        for event in agent.read(source, Cursor()):
            assert not isinstance(event, Problem), (source, event)
            if isinstance(event, Begin):
                begun.setdefault(event.session, set())
            if isinstance(event, Message) and event.who == USER:
                begun.setdefault(event.session, set()).add((event.at, event.text))
        for session, heard in begun.items():
            said[session] = max(said.get(session, set()), heard, key=len)
    return {session: len(heard) for session, heard in said.items()}


def content(home: Path) -> dict[str, bytes]:
    found = {}
    for folder, _, names in os.walk(home):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, home)] = file.read()
    return found


def test_a_claude_history_has_the_sessions_and_turns_it_says(
    tmp_path: Path, language: words.Language
) -> None:
    written = histories.claude(str(tmp_path), 12, 60, now=NOW, language=language)
    counted = prompts(claude_code.AGENT, tmp_path)
    assert (len(counted), sum(counted.values())) == (12, 60)
    assert written.bytes == sum(os.path.getsize(path) for path in transcripts(str(tmp_path)))
    assert os.path.getmtime(written.newest) * 1000 <= NOW


def test_a_copilot_history_has_the_sessions_and_turns_it_says(
    tmp_path: Path, language: words.Language
) -> None:
    histories.copilot(str(tmp_path), 40, 200, now=NOW, language=language)
    counted = prompts(copilot_cli.AGENT, tmp_path)
    assert (len(counted), sum(counted.values())) == (40, 200)
    store = apsw.Connection(str(tmp_path / ".copilot/session-store.db"), flags=apsw.SQLITE_OPEN_READONLY)
    stored = {row[0] for row in store.execute("SELECT id FROM sessions")}
    folders = set(os.listdir(tmp_path / ".copilot/session-state"))
    assert folders - stored, "some sessions are only in session-state"
    assert folders & stored, "some sessions are in both places"
    indexed = store.execute("SELECT count(*) FROM search_index WHERE source_type = 'turn'").get
    assert indexed == store.execute("SELECT count(*) FROM turns").get


def test_the_same_seed_gives_the_same_history(tmp_path: Path) -> None:
    made = []
    for _ in range(2):
        home = tmp_path / "home"
        language = words.Language(1, sentences=500)
        histories.claude(str(home), 2, 8, now=NOW, language=language)
        histories.copilot(str(home), 10, 20, now=NOW, language=language)
        files = content(home)
        made.append(
            {name: text for name, text in files.items() if not name.endswith((".db", "-wal", "-shm"))}
        )
        home.rename(tmp_path / f"made-{len(made)}")
    assert made[0] == made[1]


def test_what_is_searched_for_is_there(tmp_path: Path, language: words.Language) -> None:
    histories.claude(str(tmp_path), 30, 300, now=NOW, language=language)
    said = [text for path in transcripts(str(tmp_path)) for text in texts(path)]
    assert 1 <= sum(story.RARE_WORD in text for text in said) <= 4
    assert any("cache" in text and "TTL" in text for text in said)


@pytest.mark.soak
def test_words_are_spread_as_in_a_language() -> None:
    language = words.Language(7)
    drawn = language.prose(30_000).lower().replace(".", "").split()
    counts: dict[str, int] = {}
    for word in drawn:
        counts[word] = counts.get(word, 0) + 1
    often = sum(sorted(counts.values(), reverse=True)[:100])
    assert often > 0.25 * len(drawn), "a hundred words are a good part of all"
    assert len(counts) > 60_000, "most words are rare"


@pytest.mark.soak
def test_bulk_is_as_large_as_asked_and_mixed_as_real_transcripts(tmp_path: Path) -> None:
    written = histories.claude_bulk(str(tmp_path), 6, now=NOW)
    assert 5_500_000 < written.bytes < 8_000_000
    kinds: dict[str, int] = {}
    for path in transcripts(str(tmp_path)):
        with open(path, "rb") as file:
            for line in file:
                record = json.loads(line)
                kind = "output" if "toolUseResult" in record else record["type"]
                kinds[kind] = kinds.get(kind, 0) + len(line)
    assert 0.4 < kinds["output"] / written.bytes < 0.7
    assert kinds["assistant"] > kinds["user"]
    assert sum(prompts(claude_code.AGENT, tmp_path).values()) == written.turns


def test_a_command_is_measured_beside_a_bare_python(tmp_path: Path) -> None:
    command = measure.Command([sys.executable, "-c", "print('é' * 6)"], dict(os.environ), str(tmp_path))
    timings = measure.rounds({"print": command}, 2)
    assert set(timings) == {measure.BARE, measure.BARE_ISOLATED, "print"}
    assert timings[measure.BARE].cpu_x == 1
    assert {"cpu_ms", "cpu_min_ms", "wall_ms", "wall_min_ms", "cpu_x", "wall_x"} == set(
        timings["print"].figures()
    )
    ran = measure.once(
        command._replace(words=[sys.executable, "-c", "import os; print(os.getcwd()); exit(3)"])
    )
    assert (ran.code, ran.out.strip()) == (3, os.path.realpath(tmp_path))
    assert measure.tokens("é" * 6) == 3


def test_peak_memory_is_the_commands_own(tmp_path: Path) -> None:
    ours = bytearray(300_000_000)
    ours[::4096] = b"x" * len(ours[::4096])
    ran = measure.heavy(measure.Command([sys.executable, "-c", "exit(5)"], dict(os.environ), str(tmp_path)))
    assert ran.code == 5
    assert 1 < ran.peak_mb < 200


def test_locomo_scores_evidence_by_type_and_half(tmp_path: Path) -> None:
    chats = []
    for number in range(6):
        turns = [
            {"speaker": "Ann", "dia_id": f"D1:{turn}", "text": f"word{turn} of chat {number}"}
            for turn in range(1, 12)
        ]
        chats.append(
            {
                "sample_id": f"conv-{number}",
                "conversation": {
                    "session_1_date_time": "1:56 pm on 1 May, 2023",
                    "session_1": turns,
                    "session_2": [
                        {"speaker": "Bob", "dia_id": "D2:5", "text": "heron", "blip_caption": "a kite"}
                    ],
                },
                "qa": [
                    {"question": "Who said word3?", "category": 4, "evidence": ["D1:3"]},
                    {"question": "kite?", "category": 2, "evidence": ["D2:05; D1:4"]},
                    {"question": "nothing", "category": 3, "evidence": []},
                ],
            }
        )
    data = tmp_path / "locomo.json"
    data.write_text(json.dumps(chats))
    figures = locomo.run(argparse.Namespace(data=str(data), quick=False))
    assert (figures["chats"], figures["questions"]) == (6, 12)
    assert figures["baseline"]["single-hop"] == {"questions": 6, "turn@5": 1.0, "turn@10": 1.0, "all@5": 1.0}
    assert figures["baseline"]["temporal"] == {"questions": 6, "turn@5": 0.5, "turn@10": 0.5, "all@5": 0.0}
    assert figures["baseline"]["tuning half"]["questions"] == 10
    assert figures["baseline"]["held-apart half"]["questions"] == 2
    assert set(figures["told"]) == set(figures["baseline"])


def test_locomo_without_its_data_says_what_to_give() -> None:
    with pytest.raises(CannotMeasureError, match="--data"):
        locomo.run(argparse.Namespace(data="", quick=True))


def test_an_unknown_name_is_answered_with_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nonsense"]) == 2
    error = capsys.readouterr().err
    page = (Path(__file__).parents[1] / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    table = page.partition("| measures |")[2].partition("\n\n")[0]
    documented = sorted({*re.findall(r"^\| `(\w+)", table, re.MULTILINE)})
    assert "models" in documented
    assert error == f"There is no benchmark 'nonsense'; choose one of: {', '.join(documented)}.\n"


def test_a_report_fits_80_columns() -> None:
    row = {"cpu_ms": 12.345, "wall_ms": 1234.5, "tokens": 120_000, "ok": True}
    figures = {
        "benchmark": "x",
        "sizes": {"one": {"index": row, "commands": {"a command with a long name " * 2: row, "b": row}}},
        "faults": [{"fault": "f " * 60, "told": {"ok": True, "what": ""}}],
        "how": "word " * 60,
    }
    laid_out = report.table(figures)
    assert max(map(len, laid_out.splitlines())) <= 80
    assert "12.3" in laid_out
    assert "How it was measured" in laid_out


def tiny(**more: Any) -> argparse.Namespace:
    return argparse.Namespace(**{"data": "", "json": True, "quick": True, "rounds": 1, **more})


@pytest.mark.soak
def test_recall_has_its_figures() -> None:
    figures = recall.run(tiny(million=False, sessions=12, turns=60, alone=True))
    assert {"benchmark", "machine", "peer", "sizes", "faults", "how"} <= set(figures)
    (size,) = figures["sizes"].values()
    assert set(size["index"]) == {"cpu_s", "wall_s", "peak_mb"}
    commands = size["commands"]
    for name in (
        "list",
        "files",
        "search rare word",
        "search two words",
        "search question",
        "show",
        "health",
    ):
        assert {"cpu_ms", "cpu_x", "wall_ms", "wall_x", "tokens", "code"} <= set(commands[f"told {name}"])
        assert commands[f"told {name}"]["code"] == 0, name
    json.dumps(figures)


@pytest.mark.soak
def test_commands_are_measured_in_a_pipe_at_a_terminal_and_with_the_service(tmp_path: Path) -> None:
    figures = commands.run(tiny(turns=60, home=str(tmp_path), alone=True))
    assert set(figures["commands"]) == {"pipe", "terminal", "service"}
    for rows in figures["commands"].values():
        assert {"list", "search, a rare word", "search, two words", "search, a question"} <= set(rows)
        assert all(row["cpu_ms"] > 0 and row["x"] > 0 for row in rows.values())


@pytest.mark.soak
def test_ingest_has_its_figures_and_finds_the_appended_turn() -> None:
    figures = ingest.run(tiny(megabytes=1.5, files=5))
    assert set(figures["cold"]) == {"told", "floor"}
    assert {"cpu_s", "wall_s", "mb_per_cpu_s", "mb_per_wall_s", "peak_mb"} == set(figures["cold"]["told"])
    assert {"files", "cpu_ms", "cpu_ms_over_bare", "cpu_x"} <= set(figures["sweep"])
    assert figures["told_x_floor_cpu"] > 0
    assert figures["appended"]["found"]
    json.dumps(figures)


@pytest.mark.soak
def test_brief_has_its_figures() -> None:
    figures = brief.run(tiny(sizes="60"))
    assert set(figures["sizes"]) == {"60 memories"}
    for size in figures["sizes"].values():
        assert {"cpu_ms", "wall_ms", "cpu_x_bare", "wall_x_bare", "cpu_x_first", "wall_x_first"} == set(size)
    json.dumps(figures)


@pytest.mark.soak
def test_hook_has_its_figures(tmp_path: Path) -> None:
    data = tmp_path / "projects.json"
    data.write_text(json.dumps({"projects": invented.projects()[:1]}))
    figures = hook.run(tiny(data=str(data), sizes="60", alone=True, peers="", agents_json=""))
    assert {"goals", "bare", "in_process", "tool_calls", "with_the_service", "other_tools"} <= set(figures)
    generated, given = figures["in_process"].values()
    for size in figures["with_the_service"].values():
        for name in (hook.NOTHING, hook.TEACHES):
            assert {"client_ms", "service_ms", "cpu_x", "wall_ms", "answered"} <= set(size["hooks"][name])
        assert size["kept"] == 1
        assert size["rss_mb"] > 0
    for size in (generated, given):
        for name in ("start", "compact", "stop, one new turn", "end", hook.NOTHING, hook.TEACHES):
            assert {"cpu_ms", "wall_ms", "cpu_x", "wall_x", "answered", "late"} <= set(size["hooks"][name])
            assert size["hooks"][name]["failed"] == 0, name
    assert figures["tool_calls"] == {"hooks_installed": 0, "cpu_ms": 0, "wall_ms": 0}
    assert max(map(len, report.table(figures).splitlines())) <= 80
    json.dumps(figures)


@pytest.mark.soak
def test_hook_measures_what_a_real_call_does(tmp_path: Path) -> None:
    machine = wired.Machine(str(tmp_path), hook_banks.generated(60, brief.PROMPTS))
    taught = machine.command(hook.TEACHES, teaching=True)
    environ = dict(taught.environ)
    machine.prepare(hook.TEACHES)
    with open(taught.stdin, encoding="utf-8") as file:
        call = json.load(file)
    answer_hook("claude-code", "prompt", call, environ)
    assert machine.kept() == 1, "what is taught is kept"
    machine.prepare("common words")
    with open(machine.payload_path("common words"), encoding="utf-8") as file:
        call = json.load(file)
    assert "additionalContext" in answer_hook("claude-code", "prompt", call, machine.command("start").environ)


def test_what_the_agent_recorded_has_to_be_the_labs(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("[]")
    with pytest.raises(CannotMeasureError, match="lab"):
        hook.run(tiny(sizes="60", alone=True, peers="", agents_json=str(tmp_path / "x.json")))


def test_the_same_seed_gives_the_same_store() -> None:
    made = [list(banks.generated(300)) for _ in range(2)]
    assert made[0] == made[1]
    assert 90 < sum(one.scope == banks.LARGE for one in made[0]) < 150
    assert sum(one.locked for one in made[0]) == 12


def test_tokens_has_its_figures_and_repeats_them() -> None:
    made = [tokens.run(tiny(projects=1, seed=3)) for _ in range(points(everyday=1, soak=2))]
    assert made[0] == made[-1]
    assert made[0]["tokens_per_prompt"]["brief"] < made[0]["tokens_per_prompt"]["everything"]
    assert {"hit_rate", "recall", "precision", "silence", "saved_share", "captured"} <= set(made[0])


def test_no_prompt_says_what_it_needs_word_for_word() -> None:
    for statement, prompts in said.statements().items():
        assert len(prompts) == 2, statement
        for prompt in prompts:
            own, other = prompt.lower().split(), statement.lower().split()
            runs = {tuple(own[at : at + 4]) for at in range(len(own) - 3)}
            assert not runs & {tuple(other[at : at + 4]) for at in range(len(other) - 3)}, prompt


def test_surface_measures_the_invented_projects() -> None:
    figures = surface.run(tiny(predictions="", projects="haulwise", budget=450, fresh=False, offline=False))
    assert figures["all"]["prompts"] == 21
    assert figures["all"] == figures["haulwise"]
    assert figures["all"]["harmful_share"] == 0


@pytest.mark.soak
def test_surface_keeps_projects_apart_that_nothing_was_set_on() -> None:
    figures = surface.run(
        tiny(predictions="", projects="lumen,parley", budget=450, fresh=True, offline=False)
    )
    assert figures["weights set on"] == figures["lumen"]
    assert figures["kept apart"] == figures["parley"]


def test_a_project_that_names_an_unknown_memory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text(
        "project x\nroot /x\n\na1 2026-01-01 rule user | Use pnpm.\n\n> add zod\nmust a2\n"
    )
    with pytest.raises(CannotMeasureError, match="a2"):
        invented.projects(str(tmp_path))
