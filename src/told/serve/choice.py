"""What the user chose when they chose the service: its port, its token, and who asks it."""

from __future__ import annotations

import os

from told.hook.service import CALLERS, CHOICE, Choice, chosen
from told.record import record, replaced
from told.store.memory_json import encoded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

TOKEN = "service.token"  # noqa: S105 - the name of its file
HOST = "127.0.0.1"
# Below the ports that systems give to outgoing connections: one of those would be taken now and then.
_FIRST, _LAST = 20_000, 32_000
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_MOST = 200


@record
class Terms:
    """What a hook has to know to ask the service."""

    choice: Choice
    token: str

    @property
    def address(self) -> str:
        """Where it listens."""
        return f"http://{HOST}:{self.choice.port}"


def token_of(home: str) -> str:
    """Return the token; empty if there is none."""
    try:
        descriptor = os.open(os.path.join(home, TOKEN), os.O_RDONLY | _NOFOLLOW)
        with os.fdopen(descriptor, encoding="ascii", errors="replace") as file:
            return file.read(_MOST).strip()
    except OSError:
        return ""


def terms(home: str, is_free: Callable[[int], bool]) -> Terms:
    """Return the terms on which the service would run; nothing is written yet.

    Args:
        home: The folder of everything told writes for itself.
        is_free: Tells whether told can have a port.
    """
    import secrets

    choice, token = chosen(home), token_of(home)
    if choice is None or not is_free(choice.port):
        ports = (_FIRST + secrets.randbelow(_LAST - _FIRST) for _ in range(_LAST - _FIRST))
        port = next(filter(is_free, ports))
        choice = Choice(port, choice.owners if choice else ())
    return Terms(choice, token or secrets.token_urlsafe(32))


def settle(home: str, agreed: Terms, owners: Iterable[str]) -> None:
    """Write down that these ask the service from now on, and on which terms."""
    from told.store.database import make_private_folder

    choice = replaced(agreed.choice, owners=tuple(sorted(set(owners))))
    make_private_folder(home)
    _write(os.path.join(home, TOKEN), f"{agreed.token}\n")
    _write(os.path.join(home, CHOICE), encoded({"port": choice.port, "owners": choice.owners}) + "\n")


def remove_choice(home: str) -> None:
    """Remove every file of a service that does not run."""
    for name in (CHOICE, TOKEN, CALLERS):
        path = os.path.join(home, name)
        if os.path.lexists(path):
            os.remove(path)


def _write(path: str, text: str) -> None:
    """Write a file that only the user may read, whole or not at all."""
    temporary = f"{path}.{os.getpid()}"
    flags = os.O_CREAT | os.O_WRONLY | os.O_TRUNC | _NOFOLLOW
    with os.fdopen(os.open(temporary, flags, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(temporary, path)
