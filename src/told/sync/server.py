"""A team server as its clients see it: the user's token, name and role there, and the team's log."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from told.errors import MissingError, UsageError
from told.files import cannot_write, make_folder, read_text, write_private
from told.journal.copies import sync_folder
from told.jsontext import dump_json, load_json
from told.pattern import lazy_pattern
from told.sync.identity import Identity, sign
from told.sync.transports.server import PROTOCOL, Answer, ServerConnection

KEY_USE = "told server"  # what a member key signs to be tied to a name
TOKEN_VARIABLE = "TOLD_SERVER_TOKEN"  # noqa: S105 - the name of a variable
_TOKENS = "tokens"
_TOKEN = lazy_pattern(r"[\x21-\x7e]{8,200}")


@dataclass(frozen=True, slots=True)
class Account:
    """Who the user is on a server."""

    team: str  # its id
    team_name: str
    person: str  # its id
    name: str
    role: str
    space: str  # the team's log; empty if there is none yet
    public_key: str  # the member key that the server knows; empty if no machine has connected yet

    @property
    def is_reader(self) -> bool:
        """Whether the user may only read."""
        return self.role == "reader"


class TeamServer:
    """Asks a server about the user and the team."""

    def __init__(self, url: str, token: str) -> None:
        """Name the server and the user's token there."""
        self._connection = ServerConnection(url, token)

    def account(self) -> Account:
        """Return who the user is there.

        Raises:
            BusyError: the server does not answer now.
            MissingError: it refuses the token, or is no told server.
        """
        me, log = self._ask("GET", "/api/v1/me"), self._ask("GET", "/api/v1/sync")
        try:
            if log["protocol"] != PROTOCOL:
                raise MissingError(
                    f"{self._connection.url} speaks version {log['protocol']} of the protocol, and this told"
                    f" version {PROTOCOL}. Update the older told."
                )
            return Account(
                str(me["team"]["id"]), str(me["team"]["name"]), str(me["person"]["id"]),
                str(me["person"]["name"]), str(me["role"]), log["space"] or "", log["public_key"] or "",
            )  # fmt: skip
        except (KeyError, TypeError):
            raise MissingError(
                f"{self._connection.url} is no team server of told. Check the address."
            ) from None

    def connect(self, account: Account, identity: Identity) -> None:
        """Tie the user's member key to the user's name.

        Raises:
            MissingError: the server knows another key.
        """
        signature = sign(identity.person, KEY_USE, account.team, account.person)
        self._ask("PUT", "/api/v1/sync/key", {"public_key": identity.public, "signature": signature})

    def create_log(self, space: str) -> str:
        """Make a log the one of the team unless it has one; return which it is."""
        return str(self._ask("POST", "/api/v1/sync", {"space": space}).get("space", ""))

    def close(self) -> None:
        """End the connection."""
        self._connection.close()

    def _ask(self, method: str, path: str, value: Mapping[str, Any] | None = None) -> dict[str, Any]:
        answer: Answer = self._connection.ask(method, path, json.dumps(value).encode() if value else b"")
        if answer.status == 409:
            raise MissingError(f"{self._connection.url} refuses: {answer.json.get('detail')}")
        return answer.json


def check_token(token: str) -> str:
    """Return a token without spaces around it.

    Raises:
        UsageError: it cannot be one.
    """
    if not _TOKEN.fullmatch(token.strip()):
        raise UsageError("This is no token. `told server token create NAME` prints one for an admin.")
    return token.strip()


def load_token(home: str, url: str) -> str:
    """Return the saved token for a server; empty if there is none."""
    return _load(home).get(url, "")


def find_token(home: str, url: str, environ: Mapping[str, str]) -> str:
    """Return the saved token for a server, else the one of the environment.

    Raises:
        MissingError: there is none.
    """
    found = load_token(home, url) or environ.get(TOKEN_VARIABLE, "").strip()
    if not found:
        raise MissingError(f"told has no token for {url}. Run `told sync server {url}`.")
    return check_token(found)


def save_token(home: str, url: str, token: str) -> None:
    """Keep a token for a server where only the user reads it; an empty one deletes it."""
    others = {name: one for name, one in _load(home).items() if name != url}
    path = os.path.join(sync_folder(home), _TOKENS)
    try:
        make_folder(sync_folder(home))
        write_private(path, dump_json(others | ({url: token} if token else {})).encode() + b"\n")
    except OSError as error:
        raise cannot_write(path, error) from None


def _load(home: str) -> dict[str, str]:
    try:
        found = load_json(read_text(os.path.join(sync_folder(home), _TOKENS)))
    except (OSError, ValueError):
        return {}
    return {str(url): str(token) for url, token in found.items()} if isinstance(found, dict) else {}
