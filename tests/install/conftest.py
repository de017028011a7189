"""The scratch machine of the tests of commands, for tests of what told writes into agents' files."""

from tests.cli.conftest import machine

__all__ = ["machine"]
