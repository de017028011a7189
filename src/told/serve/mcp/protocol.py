"""What the parts of the server hand each other: a tool, a client, an answer, and whoever does the work."""

from __future__ import annotations

from told.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    class Toolbox(Protocol):
        """Does what a tool or a resource stands for. It is given checked arguments only."""

        def call(self, name: str, arguments: dict[str, Any], client: Client) -> Answer:
            """Do what one of the tools says, and return what to tell the agent."""

        def read(self, uri: str, client: Client) -> Answer:
            """Return the text of a resource; an error if there is no such one."""

        def knows_place(self) -> bool:
            """Tell whether it is sure which project a call is about that does not say it."""


@record
class Tool:
    """One tool: what an agent reads about it, and what it may be given."""

    name: str
    about: str
    schema: dict[str, Any]  # JSON Schema, as the agent sees it
    read_only: bool = False
    destructive: bool = False
    more: dict[str, Any] = {}  # noqa: RUF012 - properties that are taken as well, but not told of


@record
class Client:
    """The agent that asks: what it calls itself, and the folders it works in."""

    name: str = ""
    roots: tuple[str, ...] = ()
    version: str = ""
    may_be_asked: bool = False  # for its folders, which it could say and has not yet


@record
class Answer:
    """What a tool says to the agent."""

    text: str
    is_error: bool = False
