"""Embedding by an HTTP endpoint: redaction, keys, retries, timeouts."""

from __future__ import annotations

import json
import socket
import time
from typing import TYPE_CHECKING

import pytest

from tests.search.embeddings_server import Endpoint, endpoint
from told.errors import ToldError, UsageError
from told.search.vectors import embedder as _embedder_endpoint
from told.search.vectors.arithmetic import similarity
from told.search.vectors.embedder import load_embedder
from told.settings.endpoints import parse_endpoint

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from told.search.vectors.embedder import Embedder


@pytest.fixture
def served() -> Iterator[Endpoint]:
    with endpoint() as made:
        yield made


@pytest.fixture(autouse=True)
def waited(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Note the pauses instead of waiting."""
    pauses: list[float] = []
    monkeypatch.setattr(time, "sleep", pauses.append)
    return pauses


def at(setting: str, environ: Mapping[str, str] | None = None) -> Embedder:
    found = load_embedder(setting, environ, lambda text: text.replace("hunter2", "[secret]"))
    assert found is not None
    return found


def failed(setting: str, environ: Mapping[str, str] | None = None) -> tuple[int, str]:
    with pytest.raises(ToldError) as raised:
        at(setting, environ).vectors(["git"])
    said = str(raised.value)
    assert "\n" not in said
    return raised.value.exit_code, said


def test_remote_embedder_returns_vectors_in_order(served: Endpoint) -> None:
    embedder = at(served.setting)
    texts = ["undo the last commit", "", "git revert", "the button should be blue"]
    undo, nothing, revert, blue = embedder.vectors(texts)
    assert nothing is None
    assert undo is not None
    assert revert is not None
    assert blue is not None
    assert len(undo) == 257
    assert similarity(undo, revert) > similarity(undo, blue)
    assert [one["path"] for one in served.asked] == ["/v1/embeddings"]
    assert served.asked[0]["model"] == "toy"
    assert served.texts == [text for text in texts if text]
    assert served.keys == [None]
    assert not embedder.is_quick


def test_remote_embedder_batches_requests(served: Endpoint) -> None:
    texts = [f"commit number {number}" for number in range(150)]
    found = at(served.setting).vectors(texts)
    assert [len(one["input"]) for one in served.asked] == [64, 64, 22]
    assert found[149] == at(served.setting).vectors(texts[149:])[0]
    assert at(served.setting).vectors([]) == []


def test_remote_embedder_redacts_and_shortens_texts(served: Endpoint) -> None:
    at(served.setting).vectors(["the password is hunter2", "x " * 100_000], asking=True)
    assert served.texts[0] == "the password is [secret]"
    assert len(served.texts[1]) == 8000


def test_address_sets_prefixes(served: Endpoint) -> None:
    embedder = at(f"{served.setting}&query_prefix=search_query:%20&text_prefix=doc:%20")
    embedder.vectors(["git"])
    embedder.vectors(["git"], asking=True)
    assert served.texts == ["doc: git", "search_query: git"]
    assert embedder.model != at(served.setting).model


def test_key_comes_from_variable(served: Endpoint) -> None:
    setting = f"{served.setting}&key=TOY_KEY"
    at(setting, {"TOY_KEY": " sk-toy \n"}).vectors(["git"])
    assert served.keys == ["Bearer sk-toy"]
    for environ in ({}, {"TOY_KEY": ""}):
        code, said = failed(setting, environ)
        assert (code, said.startswith("The variable TOY_KEY, which should hold the key for 127.0.0.1,")) == (
            4,
            True,
        )
    code, said = failed(setting, {"TOY_KEY": "sk-\ntoy"})
    assert (code, "sk-" in said) == (4, False)


def test_model_id_depends_on_name_and_address(served: Endpoint) -> None:
    one = at(served.setting).model
    assert one.startswith("toy:")
    assert one == at(f"{served.setting}&key=K", {"K": "k"}).model
    assert one != at(served.setting.replace("/v1/", "/v2/")).model
    assert one != at(served.setting.replace("=toy", "=toys")).model


@pytest.mark.parametrize("status", [429, 500, 503])
def test_busy_endpoint_is_retried(served: Endpoint, waited: list[float], status: int) -> None:
    served.instead = [(status, {}, b"")] * 2
    assert at(served.setting).vectors(["git"])[0] is not None
    assert waited == [0.5, 1.0]
    served.always = (status, {}, b"busy")
    code, said = failed(served.setting)
    assert (code, said) == (
        3, f"127.0.0.1 gives no vectors now: it answers with {status}. Try again later."
    )  # fmt: skip
    assert len(served.asked) == 6


def test_retry_after_is_respected_up_to_a_limit(served: Endpoint, waited: list[float]) -> None:
    served.instead = [(429, {"Retry-After": "3"}, b"")]
    assert at(served.setting).vectors(["git"])[0] is not None
    assert waited == [3.0]
    served.instead = [(429, {"Retry-After": "3600"}, b"")]
    assert failed(served.setting)[0] == 3
    assert waited == [3.0]


@pytest.mark.parametrize(
    ("status", "says"),
    [
        (401, "it wants a key. Add &key=VARIABLE."), (404, "check the address, and the model 'toy'."),
        (302, "told follows none. Set that one."), (400, "Check the address and the model's name."),
    ],
)  # fmt: skip
def test_refusal_is_not_retried(served: Endpoint, status: int, says: str) -> None:
    served.always = (status, {"Location": "http://127.0.0.1:1/"}, b"no")
    code, said = failed(served.setting)
    assert (code, len(served.asked)) == (4, 1)
    assert said.startswith(f"127.0.0.1 refuses ({status})")
    assert said.endswith(says)


def test_wrong_key_names_its_variable(served: Endpoint) -> None:
    served.always = (401, {}, b"")
    code, said = failed(f"{served.setting}&key=TOY_KEY", {"TOY_KEY": "sk-toy"})
    assert (code, said) == (4, "127.0.0.1 refuses (401): check the key in TOY_KEY.")


@pytest.mark.parametrize(
    "content",
    [
        b"", b"<html>", b"[]", b"{}", b'{"data": 1}', b'{"data": []}', b'{"data": [{"embedding": []}]}',
        b'{"data": [{"embedding": ["x"]}]}', b'{"data": [{"embedding": [1]}, {"embedding": [1]}]}',
        b'{"data": [[1, 2]]}', b"\xff\xfe", b"[" * 100_000,
    ],
)  # fmt: skip
def test_invalid_answer_is_an_error(served: Endpoint, content: bytes) -> None:
    served.always = (200, {}, content)
    code, said = failed(served.setting)
    assert code == 3
    assert said.endswith("Check the address: most end in /v1/embeddings.")


@pytest.mark.parametrize("value", ["NaN", "Infinity", "0"])
def test_nan_makes_no_vector(served: Endpoint, value: str) -> None:
    served.always = (200, {}, f'{{"data": [{{"embedding": [{value}, 0]}}]}}'.encode())
    assert at(served.setting).vectors(["git"]) == [None]


def test_answer_without_indexes_is_in_order(served: Endpoint) -> None:
    rows = [{"embedding": [1, 0]}, {"embedding": [0, 1]}]
    served.always = (200, {}, json.dumps({"data": rows}).encode())
    one, other = at(served.setting).vectors(["a", "b"])
    assert one is not None
    assert other is not None
    assert similarity(one, other) == 0


def test_unreachable_endpoint_is_an_error(waited: list[float]) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    code, said = failed(f"http://127.0.0.1:{port}/v1/embeddings#model=toy")
    assert code == 3
    assert said == "127.0.0.1 gives no vectors now: Connection refused. Try again later."
    assert len(waited) == 2


def test_silent_endpoint_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_embedder_endpoint, "_TIMEOUT", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        code, said = failed(f"http://127.0.0.1:{silent.getsockname()[1]}/#model=toy")
    assert (code, said) == (3, "127.0.0.1 gives no vectors now: timed out. Try again later.")


def test_endpoint_of_parses_address() -> None:
    found = parse_endpoint("https://host.example/v1/embeddings?v=2#model=@cf/a:b&key=A_KEY")
    assert found.address == "https://host.example:443/v1/embeddings?v=2"
    assert (found.model, found.key_variable) == ("@cf/a:b", "A_KEY")
    assert parse_endpoint("http://[::1]:8080#model=m&key=K").address == "http://[::1]:8080/"
    assert [parse_endpoint(f"https://h/#model=m{one}").floor for one in ("", "&floor=0.35", "&floor=1")] == [
        0.6, 0.35, 1.0
    ]  # fmt: skip
    for wrong in (
        "https://h/#model=m&floor=x",
        "https://h/#model=m&floor=1.5",
        "https://#model=m",
        "https://h:x/#model=m",
        "https://h/#m",
        "https://h/ v#model=m",
    ):
        with pytest.raises(UsageError):
            parse_endpoint(wrong)
