"""The queue: each item once, tried again when it fails, and set aside when it fails too often."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.server.queue_worker import HANDLERS, TABLE
from tests.server.site import Site
from told.server.context import Server
from told.server.jobs import Handler, Worker, Write
from told.store.postgres.database import Database, Viewer
from told.store.postgres.jobs import Limits, count_states, enqueue, prune, release

LIMITS = Limits(lease_seconds=30, attempts=3, wait_seconds=0)


class Queue:
    """A queue with one worker in this process."""

    def __init__(self, site: Site, database: Database) -> None:
        self.site, self.database = site, database
        self.viewer = Viewer(site.server.team.team, "u1")
        with database.owning() as connection:
            connection.execute(TABLE)

    def add(self, kind: str, key: str, viewer: Viewer | None = None, **payload: Any) -> bool:
        """Add an item for a person."""
        viewer = viewer or self.viewer
        with self.database.viewing(viewer) as connection:
            return enqueue(connection, viewer, kind, payload, key)

    def drain(self, handlers: dict[str, Handler] = HANDLERS) -> None:
        """Process items until none is left."""
        worker = Worker(self.site.server, "w1", handlers, LIMITS)
        while worker.work():
            pass

    def rows(self, statement: str) -> list[Any]:
        """Return the rows of a query of all teams."""
        with self.database.owning() as connection:
            return connection.execute(statement).fetchall()

    @property
    def effects(self) -> list[int]:
        """What the handlers wrote."""
        return [n for (n,) in self.rows("SELECT n FROM effect ORDER BY n")]

    @property
    def states(self) -> dict[str, int]:
        """How many items are in each state, without those of none."""
        with self.database.owning() as connection:
            return {
                state: number
                for state, number in count_states(connection, self.viewer.team).items()
                if number
            }


@pytest.fixture
def queue(site: Site, postgres: Database) -> Queue:
    return Queue(site, postgres)


def test_an_item_sent_twice_is_processed_once(queue: Queue) -> None:
    assert queue.add("add", "k1", n=1)
    assert not queue.add("add", "k1", n=1)
    queue.drain()
    assert not queue.add("add", "k1", n=1)
    queue.drain()
    assert queue.effects == [1]
    assert queue.states == {"done": 1}


def test_the_same_key_of_another_kind_is_another_item(queue: Queue) -> None:
    assert queue.add("add", "k1", n=1)
    assert queue.add("fail", "k1")


def test_an_item_of_a_rolled_back_transaction_is_not_there(queue: Queue) -> None:
    def send_and_fail() -> None:
        with queue.database.viewing(queue.viewer) as connection:
            assert enqueue(connection, queue.viewer, "add", {"n": 1}, "k1")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        send_and_fail()
    queue.drain()
    assert queue.states == {}
    assert queue.add("add", "k1", n=1)


def test_items_are_processed_with_the_rights_of_their_person(queue: Queue) -> None:
    def look(_: Server, viewer: Viewer, payload: dict[str, Any]) -> Write:
        return lambda connection: connection.execute(
            "INSERT INTO effect SELECT %s, current_user || ' ' || current_setting('told.person')",
            (payload["n"],),
        ).close()

    for n, person in enumerate(("u1", "u2", "u1")):
        queue.add("look", str(n), queue.viewer._replace(person=person), n=n)
    queue.drain({"look": look})
    found = queue.rows("SELECT n, person FROM effect ORDER BY n")
    assert found == [(0, "told_app u1"), (1, "told_app u2"), (2, "told_app u1")]


def test_people_see_only_their_own_items(queue: Queue) -> None:
    queue.add("add", "k1", n=1)
    for viewer, seen in (("u1", 1), ("u2", 0)):
        with queue.database.viewing(queue.viewer._replace(person=viewer)) as connection:
            assert len(connection.execute("SELECT id FROM job").fetchall()) == seen


def test_a_failing_item_is_tried_again_then_set_aside_and_stops_no_other(queue: Queue) -> None:
    for n in range(5):
        queue.add("add", str(n), n=n)
    queue.add("fail", "bad", says="first line\nsecond line")
    queue.add("fail late", "worse", n=99)
    queue.drain()
    assert queue.effects == [0, 1, 2, 3, 4]
    assert queue.states == {"done": 5, "dead": 2}
    rows = queue.rows("SELECT key, attempts, error FROM job WHERE state = 'dead' ORDER BY key")
    assert rows == [("bad", 3, "ValueError: first line"), ("worse", 3, "DivisionByZero: division by zero")]


def test_an_attempt_that_fails_is_repeated_later(queue: Queue) -> None:
    queue.add("fail", "bad")
    Worker(queue.site.server, "w1", HANDLERS, LIMITS._replace(wait_seconds=1000)).work()
    queue.drain()
    assert queue.states == {"ready": 1}
    # 15 minutes at most, and at random up to half more or less.
    [(minutes,)] = queue.rows("SELECT extract(epoch FROM run_at - now()) / 60 FROM job")
    assert 7 < minutes < 23


def test_a_kind_without_a_handler_says_so(queue: Queue) -> None:
    queue.add("newer", "k1")
    queue.drain()
    [(error,)] = queue.rows("SELECT error FROM job WHERE state = 'dead'")
    assert error == "This server cannot process 'newer'. Update told."


def test_errors_are_redacted(queue: Queue) -> None:
    secret = "hunter2hunter2"
    site = queue.site.with_settings(redact=lambda text: text.replace(secret, "[…]"))
    queue.add("fail", "k1", says=f"password {secret}")
    Worker(site.server, "w1", HANDLERS, LIMITS).work()
    assert queue.rows("SELECT error FROM job") == [("ValueError: password […]",)]


def test_a_worker_that_lost_its_lease_writes_nothing(queue: Queue) -> None:
    """It was slow; another worker has taken the item, and does it."""

    def lose(server: Server, viewer: Viewer, payload: dict[str, Any]) -> Write:
        if not lost:
            lost.append(True)
            with server.database.owning() as connection:
                assert release(connection, viewer.team, ["w1"], LIMITS) == set()
            Worker(server, "w2", {"lose": lose}, LIMITS).work()
        return HANDLERS["add"](server, viewer, payload)

    lost: list[bool] = []
    queue.add("lose", "k1", n=1)
    queue.drain({"lose": lose})
    assert queue.effects == [1]
    assert queue.states == {"done": 1}


def test_an_expired_lease_is_taken_over(queue: Queue) -> None:
    queue.add("add", "k1", n=1)
    with queue.database.owning() as connection:
        connection.execute(
            "UPDATE job SET state = 'running', worker = 'gone', attempts = 1,"
            " lease_until = now() - interval '1 second'"
        )
        assert release(connection, queue.viewer.team, [], LIMITS) == {"gone"}
    queue.drain()
    assert queue.effects == [1]


def test_a_stopped_worker_returns_what_it_had_not_begun(queue: Queue) -> None:
    def stop(server: Server, viewer: Viewer, payload: dict[str, Any]) -> Write:
        worker.stop()
        return HANDLERS["add"](server, viewer, payload)

    worker = Worker(queue.site.server, "w1", {"stop": stop}, LIMITS)
    for n in range(3):
        queue.add("stop", str(n), n=n)
    worker.run()
    assert queue.effects == [0]
    assert queue.rows("SELECT state, attempts FROM job ORDER BY id") == [
        ("done", 1),
        ("ready", 0),
        ("ready", 0),
    ]


def test_what_is_done_keeps_no_payload_and_is_deleted_after_a_week(queue: Queue) -> None:
    queue.add("add", "k1", n=1)
    queue.add("add", "k2", n=2)
    queue.drain()
    assert queue.rows("SELECT DISTINCT payload FROM job") == [({},)]
    with queue.database.owning() as connection:
        connection.execute("UPDATE job SET finished = now() - interval '8 days' WHERE key = 'k1'")
        assert prune(connection, queue.viewer.team) == 1
    assert queue.rows("SELECT key FROM job") == [("k2",)]


@pytest.fixture
def failed(queue: Queue) -> Queue:
    """Return a queue with three failed items."""
    for n in range(3):
        queue.add("fail", str(n), says=f"reason {n}")
    queue.drain()
    return queue


def test_an_admin_sees_retries_and_deletes_what_failed(failed: Queue, site: Site) -> None:
    ada = site.of("ada")
    shown = ada.get("/api/v1/jobs").json()
    assert shown["counts"] == {"fail": {"ready": 0, "running": 0, "done": 0, "dead": 3}}
    assert [one["error"] for one in shown["dead"]] == [f"ValueError: reason {n}" for n in (2, 1, 0)]
    first, second, third = (one["id"] for one in shown["dead"])
    assert ada.delete(f"/api/v1/jobs/{first}").json() == {"deleted": first}
    assert ada.delete(f"/api/v1/jobs/{first}").status_code == 404
    assert ada.post("/api/v1/jobs/retry", json={"ids": [second]}).json() == {"retried": 1}
    assert ada.post("/api/v1/jobs/retry").json() == {"retried": 1}
    assert failed.states == {"ready": 2}
    assert ada.delete(f"/api/v1/jobs/{third}").status_code == 404  # it waits again
    failed.drain({"fail": lambda *_: lambda _: None})
    assert failed.states == {"done": 2}
    actions = [one["action"] for one in ada.get("/api/v1/audit").json()]
    assert (actions.count("jobs.retry"), actions.count("jobs.delete")) == (2, 1)


@pytest.mark.parametrize("name", ["max", "rea"])
def test_others_may_not(failed: Queue, site: Site, name: str) -> None:
    client = site.of(name)
    calls: list[Callable[[], Any]] = [
        lambda: client.get("/api/v1/jobs"),
        lambda: client.post("/api/v1/jobs/retry"),
        lambda: client.delete("/api/v1/jobs/1"),
    ]
    assert [call().status_code for call in calls] == [403] * 3
    assert failed.states == {"dead": 3}


def test_health_and_stats_count_the_queue(failed: Queue, site: Site) -> None:
    failed.add("add", "waiting", n=1)
    health = site.client().get("/api/health").json()
    assert health["queue"] == {"pending": 1, "running": 0, "dead": 3, "observations_total": 0}
    stats = site.of("rea").get("/api/v1/stats").json()
    assert stats["jobs"] == {"ready": 1, "running": 0, "done": 0, "dead": 3}
    assert stats["people"] == 3
    assert stats["database_bytes"] > 1_000_000


def test_metrics_are_in_the_format_of_prometheus(failed: Queue, site: Site) -> None:
    site.of("rea").get("/api/v1/me")
    site.of("ada").delete("/api/v1/jobs/123456")
    site.client().get("/api/v1/me")
    assert site.client().get("/metrics").status_code == 401
    answer = site.of("rea").get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = answer.text.splitlines()
    samples = dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    assert samples['told_jobs{kind="fail",state="dead"}'] == "3"
    assert samples['told_requests_total{method="GET",route="/api/v1/me",status="200"}'] == "1"
    assert samples['told_requests_total{method="DELETE",route="/api/v1/jobs/{job}",status="404"}'] == "1"
    assert samples['told_requests_total{method="GET",route="other",status="401"}'] == "2"
    assert samples['told_request_seconds_bucket{method="GET",route="/api/v1/me",le="+Inf"}'] == "1"
    assert int(samples["told_resident_memory_bytes"]) > 1_000_000
    assert all(float(value) >= 0 for value in samples.values())
    kinds = [line.split()[2] for line in lines if line.startswith("# TYPE")]
    assert len(kinds) == len(set(kinds)) > 5
