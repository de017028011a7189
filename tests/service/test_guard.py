"""The guard in front of an HTTP server on loopback."""

from __future__ import annotations

import pytest

from told.service.guard import MAX_BODY, Request, find_refusal

GOOD = {
    "host": "127.0.0.1:4711",
    "authorization": "Bearer s3cret",
    "content-type": "application/json; charset=utf-8",
    "content-length": "2",
}


def refusal(method: str = "POST", path: str = "/mcp", token: str = "s3cret", **headers: str | None) -> int:
    named = GOOD | {name.replace("_", "-"): value for name, value in headers.items()}
    given = {name: value for name, value in named.items() if value is not None}
    return find_refusal(Request(method, path, given), 4711, token, frozenset(("/mcp",)))


def test_own_request_gets_in() -> None:
    assert refusal() == 0
    assert refusal(host="LOCALHOST:4711") == 0


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1", "127.0.0.1:80", "", "localhost:4711.evil.example"]
)
def test_other_hosts_are_refused(host: str) -> None:
    assert refusal(host=host) == 421


def test_web_pages_are_refused() -> None:
    assert refusal(origin="https://evil.example") == 403
    assert refusal(origin="null") == 403


@pytest.mark.parametrize(
    "given", ["", "Bearer", "Bearer S3CRET", "Basic s3cret", "Bearer s3cret ", "Bearer ü"]
)
def test_wrong_tokens_are_refused(given: str) -> None:
    assert refusal(authorization=given) == 401


def test_nobody_gets_in_without_a_token_to_compare() -> None:
    assert refusal(token="", authorization="Bearer ") == 401


def test_other_methods_paths_and_bodies_are_refused() -> None:
    assert refusal(method="GET") == 405
    assert refusal(path="/mcp/../etc") == 404
    assert refusal(content_type="text/plain") == 415
    assert refusal(content_length=None) == 411
    assert refusal(content_length="-1") == 411
    assert refusal(transfer_encoding="chunked") == 411
    assert refusal(content_length=str(MAX_BODY + 1)) == 413
