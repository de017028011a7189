"""Runs the real agents in folders of their own, against a scripted model: `make agents`."""


class CannotRunError(Exception):
    """Something that the run needs is not there; the message says what to do."""
