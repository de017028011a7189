"""Errors that users see: the docstring is the default message.

ToldError
├── UsageError      2  the command was not understood
├── NotFoundError   1  there is nothing like that
├── BusyError       3  try again
│   └── DiskFullError  3  free some space, then try again
└── MissingError    4  something the command needs is not there
"""

from __future__ import annotations


class ToldError(Exception):
    """Something went wrong."""

    exit_code = 1

    def __str__(self) -> str:
        """Return the message, or the docstring of the class."""
        return super().__str__() or (type(self).__doc__ or "")


class UsageError(ToldError):
    """That is not how this command is used. `told help` lists the commands."""

    exit_code = 2


class NotFoundError(ToldError):
    """Nothing found."""

    exit_code = 1


class BusyError(ToldError):
    """The store is busy. Try again in a moment."""

    exit_code = 3


class DiskFullError(BusyError):
    """The disk is full. Free some space, then try again."""


class MissingError(ToldError):
    """Something this command needs is not there."""

    exit_code = 4
