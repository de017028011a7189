"""A machine in a repository, a scripted model, and pauses that take no time."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from tests.cli.conftest import machine
from tests.reader.model_server import ModelServer, model_server

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.cli.machine import Machine

__all__ = ["machine"]


@pytest.fixture
def desk(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A machine whose current folder is a repository."""
    monkeypatch.chdir(machine.repo("work/shop", "git@github.com:acme/shop.git"))
    return machine


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with model_server() as made:
        yield made


@pytest.fixture
def endpoint(desk: Machine, model: ModelServer) -> ModelServer:
    """The reader of this machine is an endpoint."""
    desk.config(f'[reader]\nmode = "endpoint"\nurl = "{model.url}"\nmodel = "toy"\n')
    return model


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "sleep", lambda _seconds: None)
