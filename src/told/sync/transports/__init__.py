"""Carry series between machines: a folder, a git ref, ssh, a server. A transport is three functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol


class Transport(Protocol):
    """A place where machines leave their series of operations.

    A series has a head, which is small and says what its files are, and files. Only its own machine writes a
    series, or one that erases what was forgotten. The place need not be trusted: callers verify every byte.

    Raises:
        BusyError: it cannot be reached now.
        MissingError: it cannot be used: no such place, no permission.
    """

    def heads(self) -> dict[str, bytes]:
        """Return the head of each series, by its name (8 letters or digits)."""

    def read(self, series: str, names: Sequence[str]) -> dict[str, bytes]:
        """Return some files of a series; those that are not there are left out."""

    def write(
        self, series: str, files: Mapping[str, bytes | None], head: bytes, *, before: bytes | None
    ) -> bool:
        """Write and delete (None) files of a series, then its head.

        Args:
            series: Its name.
            files: New content by name; None deletes.
            head: The new head.
            before: The head that is to be replaced; None if there was none.

        Returns:
            False if the head is another one by now; nothing was changed then.
        """

    def close(self) -> None:
        """End the connection, if there is one."""
