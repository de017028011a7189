"""agent-memory's clients get the answers that they know: a recording of the real one is replayed."""

from __future__ import annotations

import re

import pytest

from tests.server.site import Site
from tests.server.transcript import Call, Replayed, meant_differences, read_calls, replay, work


def check(found: list[Replayed]) -> dict[int, str]:
    """Return what differs without a reason, and reasons for what does not differ."""
    meant = meant_differences()
    wrong = {}
    for one in found:
        expected = meant.get(one.call.number)
        shown = f"{one.call.method} {one.call.path}: {one.status} {one.answer[:300]}"
        if one.is_same == bool(expected):
            wrong[one.call.number] = shown
        elif expected and not one.is_same:
            is_meant = one.status == expected["status"] and re.match(expected["answer"], one.answer)
            if not is_meant or (one.call.status < 500 and one.status != one.call.status):
                wrong[one.call.number] = shown
    return wrong


def test_every_recorded_call_is_answered_alike_without_a_token(site: Site) -> None:
    compat = site.with_settings(compat=True, compat_open=True)

    def after(call: Call) -> None:
        if call.path == "/api/queue":
            work(compat)

    found = replay(compat.client(), after)
    assert len(found) == len(list(read_calls())) == 72
    assert check(found) == {}
    assert len(meant_differences()) == 12  # docs/agent-memory.md tells the number


def test_every_recorded_call_is_answered_alike_with_a_token(site: Site) -> None:
    compat = site.with_settings(compat=True)
    assert compat.client().get("/api/observations").status_code == 401
    assert check(replay(compat.of("max"), lambda _: work(compat))).keys() == {64, 65, 66}  # only an admin may
    assert site.of("ada").get("/api/observations").status_code == 404
    assert site.of("ada").post("/api/queue", json={"session_id": "s"}).status_code == 404


@pytest.mark.soak  # the replays above compare every answer; here nothing works in between
def test_no_recorded_call_fails_inside(site: Site) -> None:
    compat = site.with_settings(compat=True, compat_open=True)
    assert [one.call.number for one in replay(compat.client()) if one.status >= 500] == []
