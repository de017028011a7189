"""An agent that stops gets its question from the service, which saves the session afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from told.hook.asking import QUESTION

if TYPE_CHECKING:
    from tests.service.house import House

AT_TERMINAL = {"CLAUDE_CODE_ENTRYPOINT": "cli", "CLAUDE_CODE_SESSION_ATTENDED": "1"}


def test_the_service_asks_once(house: House) -> None:
    house.serve()
    house.start(**AT_TERMINAL)
    for number in range(5):
        house.prompt(f"fix the typo in file {number}", **AT_TERMINAL)
    stop = {"session_id": "s-1", "cwd": str(house.project), "hook_event_name": "Stop"}

    assert house.call("stop", stop).out == ""  # nobody knows whether a user is there
    assert house.call("stop", stop, **AT_TERMINAL).text == QUESTION
    assert house.call("stop", stop, **AT_TERMINAL).out == ""
