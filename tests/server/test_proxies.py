"""The examples of docs/server.md for nginx and Caddy, in front of a running server."""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.documents import ROOT
from tests.server.live import serving
from tests.server.site import Site

PAGE = (ROOT / "docs" / "server.md").read_text(encoding="utf-8")
HOST = "told.example.com"
SECONDS = 60  # for a start on a busy machine


def example(language: str) -> str:
    """Return the example of the page for one proxy."""
    found = re.search(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    assert found
    return found[1]


def replaced(text: str, **pairs: object) -> str:
    """Put this test's addresses and files in the place of the example's."""
    names = {
        "listen": "listen 443", "name": HOST + " {", "server": "127.0.0.1:3377",
        "certificate": "/etc/ssl/told.pem", "key": "/etc/ssl/told.key",
    }  # fmt: skip
    for name, value in pairs.items():
        assert names[name] in text
        text = text.replace(names[name], str(value))
    return text


def free_port() -> int:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return int(bound.getsockname()[1])


class _Connection(http.client.HTTPSConnection):
    """Reaches the host by its name on this machine, without a name server."""

    def connect(self) -> None:
        plain = socket.create_connection(("127.0.0.1", self.port), timeout=SECONDS)
        self.sock = self._context.wrap_socket(plain, server_hostname=HOST)  # type: ignore[attr-defined]


def ask(port: int, authority: Path, path: str, token: str = "", body: object = None) -> tuple[int, Any]:
    """Send a request through the proxy."""
    context = ssl.create_default_context(cafile=os.fspath(authority))
    connection = _Connection(HOST, port, context=context)
    headers = {"content-type": "application/json"} | ({"authorization": f"Bearer {token}"} if token else {})
    data = None if body is None else json.dumps(body)
    connection.request("GET" if body is None else "POST", path, data, headers)
    found = connection.getresponse()
    content = found.read()
    connection.close()
    return found.status, json.loads(content)


@contextmanager
def running(words: Sequence[str], port: int, authority: Path, environ: dict[str, str]) -> Iterator[None]:
    """Run a proxy for a block."""
    process = subprocess.Popen(
        words, env={**os.environ, **environ}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + SECONDS
    try:
        while True:
            try:
                ask(port, authority, "/api/health")
                break
            except (OSError, http.client.HTTPException):
                assert process.poll() is None, process.communicate()[1]
                assert time.monotonic() < deadline
                time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.communicate(timeout=SECONDS)


@contextmanager
def nginx(folder: Path, server: int) -> Iterator[tuple[int, Path]]:
    """Run nginx with the example."""
    certificate, key, port = folder / "told.pem", folder / "told.key", free_port()
    subprocess.run(
        [
            "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={HOST}",
            "-addext", f"subjectAltName=DNS:{HOST}", "-keyout", key, "-out", certificate,
        ],
        check=True, capture_output=True,
    )  # fmt: skip
    text = replaced(
        example("nginx"), listen=f"listen 127.0.0.1:{port}", server=f"127.0.0.1:{server}",
        certificate=certificate, key=key,
    )  # fmt: skip
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    folders = "".join(f"{kind}_temp_path {folder / kind};\n" for kind in kinds)
    user = "user root;\n" if os.geteuid() == 0 else ""
    (folder / "nginx.conf").write_text(
        f"{user}pid {folder / 'pid'};\ndaemon off;\nerror_log stderr;\nevents {{}}\n"
        f"http {{\naccess_log off;\n{folders}{text}}}\n"
    )
    words = ["nginx", "-p", os.fspath(folder), "-e", "stderr", "-c", os.fspath(folder / "nginx.conf")]
    with running(words, port, certificate, {}):
        yield port, certificate


@contextmanager
def caddy(folder: Path, server: int) -> Iterator[tuple[int, Path]]:
    """Run Caddy with the example, with certificates of its own instead of fetched ones."""
    port = free_port()
    text = replaced(example("caddyfile"), server=f"127.0.0.1:{server}")
    options = f"admin off\nlocal_certs\nskip_install_trust\nhttp_port {free_port()}\nhttps_port {port}\n"
    (folder / "Caddyfile").write_text(f"{{\n{options}}}\n{text}")
    words = ["caddy", "run", "--adapter", "caddyfile", "--config", os.fspath(folder / "Caddyfile")]
    authority = folder / "data" / "caddy" / "pki" / "authorities" / "local" / "root.crt"
    homes = {"XDG_DATA_HOME": str(folder / "data"), "XDG_CONFIG_HOME": str(folder / "config")}
    with running(words, port, authority, homes):
        yield port, authority


@pytest.mark.parametrize("proxy", [nginx, caddy])
def test_the_example_of_a_proxy_works(site: Site, tmp_path: Path, proxy: Any) -> None:
    if shutil.which(proxy.__name__) is None or shutil.which("openssl") is None:
        pytest.skip(f"{proxy.__name__} is not installed; `make proxies` needs it")
    site, token = site.with_settings(public_hosts=(HOST,)), site.tokens["max"]
    with serving(site) as url, proxy(tmp_path, int(url.rpartition(":")[2])) as (port, authority):
        assert ask(port, authority, "/api/health")[0] == 200
        assert ask(port, authority, "/api/v1/memories")[0] == 401
        status, saved = ask(port, authority, "/api/v1/memories", token, {"text": "Use pnpm to install."})
        assert (status, saved["memory"]["text"]) == (201, "Use pnpm to install.")
        # Larger than nginx takes without the example's limit.
        turns = [{"n": n, "asked": f"Word{n} " * 12_000} for n in range(20)]
        long = {"agent": "codex", "native": "one", "turns": turns}
        assert ask(port, authority, "/api/v1/sessions", token, long)[0] == 201
        assert ask(port, authority, "/api/v1/search", token, {"query": "pnpm"})[0] == 200


def test_a_host_that_was_not_named_is_refused(site: Site) -> None:
    answer = site.client(site.tokens["max"], host=HOST).get("/api/v1/memories")
    assert (answer.status_code, "--public-host" in answer.json()["detail"]) == (421, True)
