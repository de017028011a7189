"""The service: started on demand, the only one of its home, and gone when nobody needs it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.service.house import CLIENT, PYTHON, House, folders, until
from tests.soak import points, sampled
from told.errors import UsageError
from told.hook.client import socket_paths
from told.service import control
from told.service.state import make_private_folder

# The service as it is, but it looks more often whether it is still needed.
ALERT = "from told.service import process;process._CHECK_SECONDS=0.1;process.run()"


def serve(house: House, code: str, *first: str) -> None:
    """Start the service with some code, which may import from other folders first."""
    code = f"import sys;sys.path[:0]={[*first, *folders()]!r};{code}"
    subprocess.run([PYTHON, "-I", "-S", "-c", code, "told-service"], env=house.environ, check=True)
    assert until(house.pong)


def test_first_hook_starts_it_and_the_second_asks_it(house: House) -> None:
    house.start()
    assert until(house.pong)
    house.prompt("Which package manager do we use?")
    pong = house.pong()
    assert pong is not None
    assert pong.calls == 1
    assert house.processes() == [pong.pid]
    usual, *others = socket_paths(str(house.home))
    if usual.startswith(str(house.home)):  # nothing is left elsewhere
        assert not any(os.path.exists(os.path.dirname(path)) for path in others)


def test_many_starts_at_once_leave_one_service(house: House) -> None:
    code = f"import sys;sys.path[:0]={folders()!r};from told.service.process import run;run()"
    words = [PYTHON, "-I", "-S", "-c", code, "told-service"]
    started = [subprocess.Popen(words, env=house.environ) for _ in range(points(everyday=3, soak=100))]
    assert [one.wait() for one in started] == [0] * len(started)
    assert until(house.pong)
    assert until(lambda: len(house.processes()) == 1)
    pong = house.pong()
    assert pong is not None
    assert house.processes() == [pong.pid]


def test_it_keeps_nothing_of_the_process_that_started_it(house: House) -> None:
    pong = control.start(str(house.home), house.environ | {"OPENAI_API_KEY": "k-1", "TOLD_LEARN": "off"})
    status = Path(f"/proc/{pong.pid}")
    assert os.readlink(status / "cwd") == "/"
    assert os.getsid(pong.pid) == pong.pid != os.getsid(0)
    assert [os.readlink(status / "fd" / name) for name in "012"] == ["/dev/null"] * 3
    assert b"k-1" not in (status / "environ").read_bytes()
    house.prompt("No, we use pnpm here, never npm.")  # its own variables do not turn learning off
    assert len(house.texts()) == 1


def test_it_leaves_when_idle_and_takes_its_socket_along(house: House) -> None:
    house.environ["TOLD_SERVICE_IDLE"] = "0.2"
    pong = house.serve()
    assert until(lambda: not os.path.exists(f"/proc/{pong.pid}"))
    assert not any(map(os.path.exists, socket_paths(str(house.home))))


def test_it_leaves_when_its_home_disappears_and_does_not_touch_the_next_one(house: House) -> None:
    serve(house, ALERT)
    old = house.pong()
    assert old is not None
    os.rename(house.home, house.root / "away")
    house.home.mkdir()
    house.prompt("hello")
    assert until(lambda: not os.path.exists(f"/proc/{old.pid}"))
    shutil.rmtree(house.root / "away")
    house.prompt("hello")
    assert until(house.pong)
    pong = house.pong()
    assert pong is not None
    assert house.processes() == [pong.pid]


def test_it_stops_on_request_and_on_a_signal(house: House) -> None:
    first = house.serve()
    assert house.stop()
    assert until(lambda: not os.path.exists(f"/proc/{first.pid}"))
    assert not house.stop()
    second = house.serve()
    os.kill(second.pid, signal.SIGTERM)
    assert until(lambda: not os.path.exists(f"/proc/{second.pid}"))
    assert control.state(str(house.home)) == control.State(None)


def test_socket_of_a_killed_one_is_replaced(house: House) -> None:
    first = house.serve()
    house.kill()
    assert until(lambda: not os.path.exists(f"/proc/{first.pid}"))
    assert any(map(os.path.exists, socket_paths(str(house.home))))
    assert "remembers" in house.prompt("/mem:remember We use pnpm here").text
    assert until(house.pong)


def test_updated_told_replaces_it(house: House, tmp_path: Path) -> None:
    copy = tmp_path / "site"
    shutil.copytree(Path(CLIENT).parent.parent, copy / "told")  # with what is compiled
    serve(house, ALERT, str(copy))
    first = house.pong()
    version = copy / "told" / "__init__.py"
    version.write_text(f"{version.read_text()}\n__version__ = '99.0'\n")

    def is_new() -> bool:
        found = house.pong()
        return found is not None and found.version == "99.0"

    assert until(is_new)
    second = house.pong()
    assert first is not None
    assert second is not None
    assert first.pid != second.pid
    assert until(lambda: house.processes() == [second.pid])


@pytest.mark.parametrize("word", sampled(["off", "0", "no"], ["off"]))
def test_nothing_is_started_where_background_work_is_off(house: House, word: str) -> None:
    house.start(TOLD_BACKGROUND=word)
    house.prompt("We use pnpm here, never npm.", TOLD_BACKGROUND=word)
    assert not house.processes()
    with pytest.raises(UsageError, match="turned off"):
        control.start(str(house.home), house.environ | {"TOLD_BACKGROUND": word})


def test_it_is_not_started_from_the_shell_of_an_agent(house: House) -> None:
    with pytest.raises(UsageError, match="agent's shell"):
        control.start(str(house.home), house.environ | {"CLAUDECODE": "1"})
    assert not house.processes()


def test_it_needs_at_most_40_mb_and_loads_no_model(house: House) -> None:
    house.serve()
    for number in range(points(everyday=3, soak=5)):
        house.prompt(f"We always use tool{number} for job{number} here.", f"s-{number}")
        house.start(f"t-{number}")
    pong = house.pong()
    assert pong is not None
    assert pong.rss_mb <= 40
    assert "onnx" not in Path(f"/proc/{pong.pid}/maps").read_text()


def test_long_home_has_its_socket_elsewhere(house: House, tmp_path: Path) -> None:
    house.home = tmp_path / ("long-" * 20) / "told"
    house.home.mkdir(parents=True)
    house.environ["TOLD_HOME"] = str(house.home)
    house.serve()
    path = next(path for path in socket_paths(str(house.home)) if os.path.exists(path))
    assert not path.startswith(str(house.home))
    assert os.stat(os.path.dirname(path)).st_mode & 0o777 == 0o700
    house.prompt("hello")
    pong = house.pong()
    assert pong is not None
    assert pong.calls == 1
    house.stop()
    assert not os.path.exists(os.path.dirname(path))


def test_folder_of_somebody_else_is_not_used_for_the_socket(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir(mode=0o755)
    (tmp_path / "link").symlink_to(tmp_path / "mine")
    (tmp_path / "file").write_text("")
    assert make_private_folder(str(tmp_path / "mine"))
    assert (tmp_path / "mine").stat().st_mode & 0o777 == 0o700
    assert not make_private_folder(str(tmp_path / "link"))
    assert not make_private_folder(str(tmp_path / "file"))
    if os.getuid() == 0:
        (tmp_path / "other").mkdir()
        os.chown(tmp_path / "other", 65534, 65534)
        assert not make_private_folder(str(tmp_path / "other"))


def test_no_service_is_started_for_a_home_that_is_not_there(house: House) -> None:
    assert not control.start_for_hook(house.environ | {"TOLD_HOME": str(house.root / "nowhere")})
    assert sys.executable
