"""`told re-embed`: vectors of the model that is set, for all or for what is missing; stopped, it goes on."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.machine import ago
from tests.search.embeddings_server import endpoint
from tests.search.toy_models import write_embedder
from told.search.vectors import embedder as embedders
from told.store.database import EMBED_LOCK, acquire_lock

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from tests.cli.machine import Answer, Machine
    from tests.cli.template import Build

_TURNS = 200


def build_history(machine: Machine) -> None:
    for number in range(4):
        turns = [(f"commit number {number} {n}", f"git revert {n}") for n in range(_TURNS // 4)]
        machine.claude(*turns, at=ago(days=number), session=f"session-{number}")
    assert machine.told("index").code == 0


@pytest.fixture
def history(prepared: Callable[[Build], Machine]) -> Machine:
    """A machine with sessions of many turns."""
    return prepared(build_history)


def run(machine: Machine, *words: str) -> dict[str, Any]:
    answer = machine.told("re-embed", "--json", *words)
    assert (answer.code, answer.err) == (0, "")
    found: dict[str, Any] = answer.json
    assert not found["stopped"]
    assert found["with_vectors"] == found["turns"] >= _TURNS
    return found


def refused(answer: Answer, code: int) -> str:
    assert (answer.code, answer.out) == (code, "")
    assert answer.err.count("\n") == 1
    return answer.err


def test_all_are_made_anew_or_only_what_is_missing(history: Machine) -> None:
    first = run(history)
    assert first["made"] == first["turns"]
    assert run(history, "--only-missing")["made"] == 0
    history.claude(("a new one", "with an answer"), session="new")
    assert history.told("list").code == 0
    assert run(history)["made"] == first["turns"] + 1
    said = history.told("re-embed", "--only-missing").out
    assert said.startswith("Embedded 0 turns and 0 memories. ")


def test_memories_get_vectors_of_the_table_whatever_the_model(history: Machine, tmp_path: Path) -> None:
    assert history.told("remember", "Never push to main on a Friday.").code == 0
    history.config(f'model = "{write_embedder(tmp_path / "toy")}"\n')
    assert run(history)["memories"] == 1
    assert run(history, "--only-missing")["memories"] == 0
    assert history.told("health", "--json").json.get("config", []) == []


def test_another_model_takes_the_place_of_the_first(history: Machine, tmp_path: Path) -> None:
    table = run(history)["model"]
    folder = write_embedder(tmp_path / "toy")
    assert history.told("config", "set", "model", folder).code == 0
    toy = run(history, "--only-missing")
    assert toy["model"].startswith("toy:")
    assert toy["made"] == toy["turns"]
    assert history.told("search", "commit", "number").code == 0
    assert history.told("config", "unset", "model").code == 0
    again = run(history)
    assert (again["model"], again["made"]) == (table, again["turns"])


class Interrupted:
    """An embedder during which somebody presses Ctrl-C."""

    is_quick = True

    def __init__(self, real: embedders.Embedder, after: int) -> None:
        self._real = real
        self._left = after
        self.model = real.model

    def vectors(self, texts: Sequence[str], *, asking: bool = False) -> list[bytes | None]:
        self._left -= 1
        if self._left < 0:
            raise KeyboardInterrupt
        return self._real.vectors(texts, asking=asking)


def test_what_was_stopped_goes_on(history: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    table = embedders.load_default_embedder()
    assert table is not None
    real = table
    with monkeypatch.context() as patch:
        patch.setattr("told.cli.index.embedder_of", lambda *_: Interrupted(real, 3))
        answer = history.told("re-embed", "--json")
    assert (answer.code, answer.json["stopped"]) == (130, True)
    done, every = answer.json["with_vectors"], answer.json["turns"]
    assert 0 < done < every
    with monkeypatch.context() as patch:
        patch.setattr("told.cli.index.embedder_of", lambda *_: Interrupted(real, 2))
        said = history.told("re-embed").out
    assert said.startswith("Stopped: ")
    assert said.endswith("`told re-embed` continues.\n")
    rest = run(history)
    assert 0 < rest["made"] < every - done
    assert run(history)["made"] == every


@pytest.mark.soak
def test_ctrl_c_at_a_real_process(history: Machine) -> None:
    with endpoint() as served:
        history.config(f'model = "{served.setting}"\n')
        served.pause = 0.5  # so long that no busy machine lets it come to its end first
        child = subprocess.Popen(
            [sys.executable, "-m", "told", "re-embed", "--json"], env=history.environ, cwd=history.home,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        deadline = time.monotonic() + 120
        while len(served.asked) < 4 and time.monotonic() < deadline:
            time.sleep(0.01)
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=120)
        assert (child.returncode, err) == (130, "")
        assert '"stopped":true' in out.replace(" ", "")
        served.pause = 0
        found = run(history)
        assert found["model"].startswith("toy:")
        assert found["made"] < found["turns"]


def test_a_model_that_does_not_work_costs_no_vectors(history: Machine, tmp_path: Path) -> None:
    every = run(history)["turns"]
    history.config(f'model = "{tmp_path}/gone"\n')
    assert "There is no folder" in refused(history.told("re-embed"), 4)
    history.config('model = "http://127.0.0.1:1/v1/embeddings#model=m&key=NOT_SET"\n')
    assert "NOT_SET" in refused(history.told("re-embed"), 4)
    with endpoint() as served:
        served.always = (503, {"Retry-After": "99"}, b"")
        history.config(f'model = "{served.setting}"\n')
        assert "gives no vectors now" in refused(history.told("re-embed"), 3)
    history.config('model = "off"\n')
    assert "`model` is off" in refused(history.told("re-embed"), 2)
    history.config("")
    assert run(history, "--only-missing") == {
        "model": run(history)["model"], "made": 0, "turns": every, "with_vectors": every,
        "memories": 0, "stopped": False,
    }  # fmt: skip


def test_health_says_what_is_wrong_with_a_model_and_what_it_lacks(history: Machine, tmp_path: Path) -> None:
    def notes() -> list[str]:
        found: list[str] = history.told("health", "--json").json.get("config", [])
        return found

    run(history)
    assert notes() == []
    history.config(f'model = "{tmp_path}/gone"\nreranker = "{tmp_path}/none"\n')
    model, reranker = notes()
    assert model.startswith("The setting `model` does not work, so only words are searched: There is no")
    assert reranker.startswith("The setting `reranker` does not work: There is no folder")
    assert model in history.told("health").out
    answer = history.told("search", "commit", "number")
    assert answer.code == 0
    assert answer.err.startswith("told: There is no folder")
    history.config(f'model = "{write_embedder(tmp_path / "toy")}"\n')
    assert [note.endswith("`told re-embed --only-missing` makes them.") for note in notes()] == [True]
    run(history, "--only-missing")
    assert notes() == []


def test_two_at_a_time_do_not_work_against_each_other(history: Machine) -> None:
    assert acquire_lock(str(history.told_home), EMBED_LOCK) is not None
    assert "Another told is making vectors." in refused(history.told("re-embed"), 3)


def test_a_bar_on_a_terminal(history: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    answer = history.told("re-embed")
    assert answer.code == 0
    assert f"100%  {_TURNS:,} of {_TURNS:,} turns" in answer.err or "100%" in answer.err
    assert answer.err.endswith("\n")
