"""Who gets in: tokens, roles, hosts, pages of a browser, sizes and rates."""

from __future__ import annotations

import re

from tests.server.site import Site
from told.server.app import make_api
from told.server.guard import OPEN_PATHS
from told.server.people import create_token, ensure_team
from told.store.postgres.database import Database


def list_routes() -> list[tuple[str, str]]:
    """Return the method and a path of every route."""
    paths = make_api(compat=True).openapi()["paths"]
    found = [
        (method.upper(), re.sub(r"{[^}]*}", "1", path))
        for path, methods in paths.items()
        for method in methods
    ]
    assert len(found) > 5
    return [(method, path) for method, path in found if path not in OPEN_PATHS]


def test_every_route_is_closed_without_a_token_and_with_a_bad_one(site: Site, postgres: Database) -> None:
    team = site.server.team.team
    expired = create_token(postgres, team, "max", days=0.000001).secret
    revoked = create_token(postgres, team, "max")
    with postgres.owning() as connection:
        connection.execute("UPDATE token SET expires = now() - interval '1 minute' WHERE expires IS NOT NULL")
        connection.execute("UPDATE token SET revoked = now() WHERE token = %s", (revoked.token,))
    routes = list_routes()
    for secret in ("", "told_wrong", expired, revoked.secret):
        with site.client(secret) as client:  # one event loop for all requests
            answers = {(method, path): client.request(method, path).status_code for method, path in routes}
        assert {place: status for place, status in answers.items() if status != 401} == {}


def test_a_request_without_a_path_of_told_is_closed_too(site: Site) -> None:
    assert site.client().get("/anything").status_code == 401
    assert site.of("ada").get("/anything").status_code == 404


def test_health_and_the_description_are_open(site: Site) -> None:
    assert site.client().get("/api/health").json()["status"] == "ok"
    assert site.client().get("/openapi.json").status_code == 200


def test_a_reader_reads_and_an_admin_manages(site: Site) -> None:
    assert site.of("rea").get("/api/v1/me").json()["role"] == "reader"
    assert site.of("rea").get("/api/v1/members").status_code == 200
    for name, status in (("rea", 403), ("max", 403), ("ada", 201)):
        made = site.of(name).post("/api/v1/tokens", json={"person": "new"})
        assert made.status_code == status
        if status == 403:
            assert made.json()["detail"].startswith("This needs the role admin")


def test_a_token_never_allows_more_than_its_person(site: Site, postgres: Database) -> None:
    refused = site.of("ada").post("/api/v1/tokens", json={"person": "rea", "role": "admin"})
    assert refused.status_code == 400
    with postgres.owning() as connection:
        connection.execute("UPDATE person SET role = 'reader' WHERE name = 'max'")
    assert site.of("max").get("/api/v1/me").json()["role"] == "reader"


def test_a_removed_member_is_out_at_once(site: Site) -> None:
    assert site.of("ada").delete("/api/v1/members/max").status_code == 200
    assert site.of("max").get("/api/v1/me").status_code == 401
    assert site.of("ada").delete("/api/v1/members/max").status_code == 404


def test_an_admin_changes_roles_and_the_last_admin_stays(site: Site) -> None:
    ada, rea = site.of("ada"), site.of("rea")
    assert ada.patch("/api/v1/members/rea", json={"role": "member"}).json()["role"] == "member"
    made = ada.post("/api/v1/tokens", json={"person": "rea", "role": "member"})
    assert site.client(made.json()["secret"]).get("/api/v1/me").json()["role"] == "member"
    assert rea.get("/api/v1/me").json()["role"] == "reader"  # a token keeps what it was made for
    assert rea.patch("/api/v1/members/rea", json={"role": "admin"}).status_code == 403
    assert ada.patch("/api/v1/members/nobody", json={"role": "admin"}).status_code == 404
    for last in (
        ada.patch("/api/v1/members/ada", json={"role": "member"}),
        ada.delete("/api/v1/members/ada"),
    ):
        assert (last.status_code, "only admin" in last.json()["detail"]) == (400, True)
    assert ada.patch("/api/v1/members/rea", json={"role": "admin"}).status_code == 200
    assert ada.patch("/api/v1/members/ada", json={"role": "member"}).json()["role"] == "member"
    assert site.of("ada").get("/api/v1/audit").status_code == 403


def test_people_and_tokens_are_audited(site: Site) -> None:
    ada = site.of("ada")
    made = ada.post("/api/v1/tokens", json={"person": "eve"}).json()
    assert ada.delete(f"/api/v1/tokens/{made['token']}").status_code == 200
    actions = [(one["action"], one["target"]) for one in ada.get("/api/v1/audit").json()]
    assert actions[:2] == [("token.revoke", made["token"]), ("token.create", made["token"])]
    assert made["secret"] not in str(ada.get("/api/v1/audit").json()) + str(ada.get("/api/v1/tokens").json())


def test_another_teams_token_sees_nothing_of_this_one(site: Site, postgres: Database) -> None:
    with postgres.owning() as connection:
        connection.execute("INSERT INTO team(team, name) VALUES ('tother', 'other')")
    other = site.client(create_token(postgres, "tother", "oz", role="admin").secret)
    assert [one["name"] for one in other.get("/api/v1/members").json()] == ["oz"]
    assert [one["person_name"] for one in other.get("/api/v1/tokens").json()] == ["oz"]
    assert {one["target"] for one in other.get("/api/v1/audit").json()} == {
        one["token"] for one in other.get("/api/v1/tokens").json()
    }
    assert ensure_team(postgres, "acme").team_name == "acme"


def test_requests_of_web_pages_and_strange_ones_are_refused(site: Site) -> None:
    client = site.of("ada")
    for headers, status in (
        ({"host": "evil.example"}, 421),
        ({"host": "127.0.0.1:3377"}, 200),
        ({"host": "[::1]:3377"}, 200),
        ({"origin": "http://localhost"}, 403),
        ({"content-length": "9" * 12}, 413),
        ({"content-length": "many"}, 400),
        ({"authorization": "Basic YWRhOmFkYQ=="}, 401),
        ({"authorization": "Bearer"}, 401),
    ):
        assert client.get("/api/v1/me", headers=headers).status_code == status, headers


def test_a_proxy_may_serve_it_under_a_name(site: Site) -> None:
    named = site.with_settings(public_hosts=("told.example.com",)).of("ada")
    assert named.get("/api/v1/me", headers={"host": "told.example.com"}).status_code == 200


def test_too_many_requests_are_slowed_down(site: Site) -> None:
    client = site.with_settings(rate=0.001, burst=3).of("ada")
    answers = [client.get("/api/v1/me") for _ in range(5)]
    assert [one.status_code for one in answers] == [200, 200, 200, 429, 429]
    assert answers[-1].headers["retry-after"] == "1"


def test_a_body_of_unknown_length_is_limited(site: Site) -> None:
    client = site.with_settings(max_body=1000).of("ada")
    sent = client.post("/api/v1/tokens", content=(b'{"person":"' + b"x" * 400 for _ in range(10)))
    assert sent.status_code == 413


def test_the_local_socket_needs_no_token(site: Site) -> None:
    assert site.client(local=True).get("/api/v1/me").json()["person"]["name"] == "ada"


def test_bad_values_get_a_sentence(site: Site) -> None:
    ada = site.of("ada")
    for person in ("\x00", "a\x00b", "\ud800", "", "x" * 41, "-", "a/b"):
        body = b'{"person": "' + person.encode("unicode_escape").replace(b"\\x00", b"\\u0000") + b'"}'
        answer = ada.post("/api/v1/tokens", content=body)
        assert answer.status_code in (400, 422), person
        assert answer.json()["detail"]
