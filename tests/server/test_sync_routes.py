"""What the server accepts and shows of the log."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.server.live import serving
from tests.server.site import Site
from tests.sync.machines import Shelf
from tests.sync.team import Member
from told.errors import MissingError
from told.hashing import blake2b
from told.server.people import create_token
from told.sync.heads import decode_head, encode_head, sign_head
from told.sync.identity import load_machine_key, sign
from told.sync.server import KEY_USE, TeamServer
from told.sync.state import digest
from told.sync.transports.server import ServerTransport
from told.sync.transports.wire import receive, send

OWN, TEAM, SERIES, ONE = "oabcdefghijkl", "tabcdefghijkl", "aaaaaaaa", "000001.jsonl"


def put(
    site: Site, name: str, space: str, files: Mapping[str, bytes], head: bytes, *,
    before: bytes | None = None, series: str = SERIES, **more: Any,
) -> tuple[int, str]:  # fmt: skip
    body = io.BytesIO()
    digest = None if before is None else blake2b(before, digest_size=16).hexdigest()
    header = {"names": list(files), "deleted": [], "before": digest, "has_head": True} | more
    send(body, header, [head, *files.values()])
    answer = site.of(name).put(f"/api/v1/sync/{space}/{series}", content=body.getvalue())
    return answer.status_code, answer.json().get("detail", "")


def heads(site: Site, name: str, space: str) -> dict[str, bytes]:
    answer = site.of(name).get(f"/api/v1/sync/{space}")
    assert answer.status_code == 200
    header, parts = receive(io.BytesIO(answer.content))
    return dict(zip(header["names"], parts, strict=True))


def test_own_machines_are_seen_by_their_user_only(site: Site) -> None:
    assert put(site, "ada", OWN, {ONE: b"x"}, b"1") == (200, "")
    assert heads(site, "ada", OWN) == {SERIES: b"1"}
    assert heads(site, "max", OWN) == {}
    assert put(site, "max", OWN, {ONE: b"y"}, b"2") == (200, "")  # another space, by chance of the same id
    assert (heads(site, "ada", OWN), heads(site, "max", OWN)) == ({SERIES: b"1"}, {SERIES: b"2"})
    assert site.of("max").delete(f"/api/v1/sync/{OWN}/{SERIES}").status_code == 200
    assert (heads(site, "ada", OWN), heads(site, "max", OWN)) == ({SERIES: b"1"}, {})


def test_only_its_writer_changes_a_series_and_readers_read(site: Site) -> None:
    assert put(site, "max", TEAM, {ONE: b"x"}, b"1") == (200, "")
    assert heads(site, "rea", TEAM) == heads(site, "ada", TEAM) == {SERIES: b"1"}
    for files in ({}, {ONE: b"forged"}):
        assert put(site, "ada", TEAM, files, b"2", before=b"1")[0] == 403
    assert put(site, "rea", TEAM, {}, b"2", before=b"1")[0] == 403
    assert put(site, "rea", TEAM, {}, b"2", series="bbbbbbbb")[0] == 403
    assert put(site, "max", TEAM, {}, b"2", before=b"0") == (409, "The series changed meanwhile. Sync again.")
    assert heads(site, "rea", TEAM) == {SERIES: b"1"}
    other = create_token(site.server.database, site.server.team.team, "bo").secret
    assert site.client(other).delete(f"/api/v1/sync/{TEAM}/{SERIES}").status_code == 404
    assert site.of("ada").delete(f"/api/v1/sync/{TEAM}/{SERIES}").status_code == 200  # an admin
    assert heads(site, "rea", TEAM) == {}


def test_replaced_and_deleted_bytes_are_gone(site: Site) -> None:
    assert put(site, "max", TEAM, {ONE: b"canary one", "000002.jsonl": b"canary two"}, b"canary 1") == (
        200,
        "",
    )
    assert put(site, "max", TEAM, {ONE: b"erased"}, b"2", before=b"canary 1", deleted=["000002.jsonl"]) == (
        200,
        "",
    )
    with site.server.database.owning() as connection:
        rows = [
            connection.execute(f"SELECT t::text FROM {name} t").fetchall()
            for (name,) in connection.execute(
                "SELECT tablename FROM pg_tables WHERE schemaname = 'told'"
            ).fetchall()
        ]
        files = connection.execute(
            "SELECT data FROM series_file UNION SELECT head FROM series_head"
        ).fetchall()
    assert b"canary".hex() not in str(rows)
    assert sorted(bytes(one) for (one,) in files) == [b"2", b"erased"]


def test_broken_messages_are_refused_with_a_sentence(site: Site) -> None:
    for body in (
        b"", b"\0\0\0\5", b"x" * 100, b"\xff\xff\xff\xff", b"\0\0\0\2{}", b'\0\0\0\x0c{"sizes":[]}',
    ):  # fmt: skip
        answer = site.of("max").put(f"/api/v1/sync/{TEAM}/{SERIES}", content=body)
        assert answer.status_code == 400, body
        assert answer.json()["detail"].endswith(".")


def test_foreign_names_are_refused(site: Site) -> None:
    for name in ("../x.jsonl", "head", "000001.jsonl\n", "1.jsonl"):
        status, said = put(site, "max", TEAM, {name: b"x"}, b"1")
        assert status == 400, name
        assert "not the name of a file" in said
    assert site.of("max").get(f"/api/v1/sync/x{TEAM}").status_code == 422


@pytest.fixture
def ada(tmp_path: Path) -> Any:
    made = Member(tmp_path / "ada-machine", "ada")
    yield made
    made.close()


def take_part(site: Site, url: str, member: Member, name: str) -> ServerTransport:
    """Let a member's machine connect, and create the team's log or join it."""
    with closing(TeamServer(url, site.tokens[name])) as server:
        account = server.account()
        server.connect(account, member.identity)
        if not account.space:
            member.create_team()
            assert server.create_log(member.team.id) == member.team.id
    return ServerTransport(url, member.team.id, site.tokens[name])


def test_a_tampered_head_or_file_of_the_teams_log_is_refused(site: Site, ada: Member) -> None:
    shelf = Shelf()
    with serving(site) as url, closing(take_part(site, url, ada, "max")) as transport:
        ada.say("Use pnpm.")
        ada.sync(shelf, ada.team)
        (series, (head, files)) = next(iter(shelf.series.items()))
        wrong = [
            (head[:-20], files), (head.replace(b'"number":', b'"number":1'), files), (b"", files),
            (head.replace(b"Ada", b"Bob").replace(b'"name":"ada"', b'"name":"bob"'), files),
            (head, {name: data[:-1] for name, data in files.items()}), (head, {}),
            (head, {name: data.replace(b"pnpm", b"curl") for name, data in files.items()}),
        ]  # fmt: skip
        for bad, content in wrong:
            with pytest.raises(MissingError, match=f"Series {series} is refused"):
                transport.write(series, content, bad, before=None)
        with (
            closing(ServerTransport(url, ada.team.id, site.tokens["ada"])) as other,
            pytest.raises(MissingError, match="signed with another key than yours"),
        ):
            other.write(series, files, head, before=None)
        assert transport.heads() == {}
        assert transport.write(series, files, head, before=None)
        with pytest.raises(MissingError, match="is refused"):
            transport.write(series, dict.fromkeys(files, b"{}\n"), head, before=head)
        assert transport.heads() == {series: head}
        assert transport.read(series, list(files)) == files


def test_operations_that_do_not_continue_the_series_are_refused(site: Site, ada: Member) -> None:
    """Its own author signed it, with a program that is not told."""
    shelf = Shelf()
    with serving(site) as url, closing(take_part(site, url, ada, "max")) as transport:
        ada.say("Use pnpm.")
        ada.sync(shelf, ada.team)
        (series, (raw, files)) = next(iter(shelf.series.items()))
        head, key = decode_head(raw, b""), load_machine_key(ada.home)
        changes: list[Callable[[bytes], bytes]] = [
            lambda data: data.replace(b"pnpm", b"curl"),
            lambda data: data.partition(b"\n")[2],
            lambda data: data + b"{}\n",
            lambda data: data + data,
        ]
        for change in changes:
            wrong = {name: change(data) for name, data in files.items()}
            entries = tuple(
                replace(one, digest=digest(wrong[one.name]), size=len(wrong[one.name])) for one in head.files
            )
            forged = encode_head(sign_head(replace(head, files=entries), series, key), b"")
            with pytest.raises(MissingError, match=f"Series {series} is refused: "):
                transport.write(series, wrong, forged, before=None)
        assert transport.heads() == {}
        assert transport.write(series, files, raw, before=None)


def test_a_key_belongs_to_one_person_who_has_it(site: Site, ada: Member) -> None:
    me = site.of("max").get("/api/v1/me").json()
    public = ada.identity.public
    signature = sign(ada.identity.person, KEY_USE, me["team"]["id"], me["person"]["id"])
    for wrong in ({"signature": "0" * 128}, {"public_key": "0" * 64}):
        given = {"public_key": public, "signature": signature} | wrong
        assert site.of("max").put("/api/v1/sync/key", json=given).status_code == 400
    assert site.of("rea").put("/api/v1/sync/key", json=given | {"signature": signature}).status_code == 400
    for _ in range(2):
        answer = site.of("max").put("/api/v1/sync/key", json={"public_key": public, "signature": signature})
        assert answer.status_code == 200
    mine = site.of("rea").get("/api/v1/me").json()
    again = sign(ada.identity.person, KEY_USE, mine["team"]["id"], mine["person"]["id"])
    answer = site.of("rea").put("/api/v1/sync/key", json={"public_key": public, "signature": again})
    assert answer.status_code == 409
    assert site.of("max").delete("/api/v1/members/max/key").status_code == 403
    assert site.of("ada").delete("/api/v1/members/max/key").status_code == 200
    answer = site.of("rea").put("/api/v1/sync/key", json={"public_key": public, "signature": again})
    assert answer.status_code == 200


def test_the_first_client_creates_the_log(site: Site) -> None:
    assert site.of("rea").post("/api/v1/sync", json={"space": TEAM}).status_code == 403
    assert site.of("max").post("/api/v1/sync", json={"space": "oabcdefghijkl"}).status_code == 422
    assert site.of("max").post("/api/v1/sync", json={"space": TEAM}).json() == {"space": TEAM}
    assert site.of("ada").post("/api/v1/sync", json={"space": "tzzzzzzzzzzzz"}).json() == {"space": TEAM}
    assert site.of("rea").get("/api/v1/sync").json() == {
        "protocol": 1, "space": TEAM, "name": "acme", "encrypted": False, "public_key": None,
    }  # fmt: skip
