"""What the tools do that agents call: each is a command, run for an agent and never with the user's word."""

from __future__ import annotations

from told.cli.calling import called
from told.cli.tools_place import folder_of, is_certain
from told.cli.tools_words import EVERYWHERE, PROJECT, SESSION, asked, asked_to_read
from told.cli.wishes import settings_for
from told.errors import NotFoundError, ToldError
from told.guard.redact import Redactor
from told.memory.authority import Caller, caller
from told.record import replaced
from told.serve.mcp.protocol import Answer
from told.store.key import own_key
from told.store.memory_records import AGENT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from told.cli.tools_words import Asked
    from told.serve.mcp.protocol import Client
    from told.settings import Settings

_ADDRESS = "file://"
_STRANGER = "agent"  # an agent that told does not know
# Commands whose answers need not be about one project.
_ANYWHERE = ("search", "timeline", "list", "files")
_NO_PLACE = "Say which project this is about. Give `project`: its folder, or its name."
_ELSEWHERE = " For what holds everywhere, give `scope` global."
_NOTHING = "Nothing is known yet. `search` finds what was said; `remember` keeps a statement."
# What a command advises at a terminal, and what an agent can do instead.
_ADVICE = (
    ("Try --all-projects", 'Try `project` "*" for all of them'),
    ("`told memories` lists them", "`search` finds them"),
    ("`told repos` lists them", '`sessions` with `project` "*" shows them'),
    ("Ids come from `told list` and `told search`", "Ids come from `search`, `timeline` and `sessions`"),
    ("`told remember TEXT` makes one", "`remember` makes one"),
    ("`told remember TEXT` makes a memory", "`remember` makes a memory"),
    ("`told wonder` takes", "`wonder` takes"),
    ("`told why` says more", "`get` says more"),
)


# Characters of names; an answer may say them again.
_LONGEST = {
    "project": 4_096,
    **dict.fromkeys(("id", "around", "agent", "since", "scope", "session", "kind"), 300),
}


class Tools:
    """Runs tools and reads resources for the agents that ask."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        """Take the variables that the agent gave to told."""
        self._environ = environ

    def call(self, name: str, arguments: dict[str, Any], client: Client) -> Answer:
        """Do what a tool says, with arguments that were checked, and return what to tell the agent."""
        project = _as_path(str(arguments.get("project") or ""))
        for place, most in _LONGEST.items():
            if len(str(arguments.get(place) or "")) > most:
                return Answer(f"`{place}` is too long: give at most {most:,} characters.", is_error=True)
        try:
            settings = settings_for(self._environ)
            given = _without_secrets(arguments, settings)
        except ToldError as error:
            return Answer(str(error), is_error=True)
        return self._run(asked(name, given), project, client, settings)

    def read(self, uri: str, client: Client) -> Answer:
        """Return the text of a resource."""
        try:
            settings = settings_for(self._environ)
            command = asked_to_read(_without_secrets({"uri": uri}, settings)["uri"])
        except ToldError as error:
            return Answer(str(error), is_error=True)
        if command is None:
            return Answer("There is no such resource: read told://brief or told://memories.", is_error=True)
        return self._run(command, "", client, settings)

    def knows_place(self) -> bool:
        """Tell whether it is clear which project the agent works in, though it does not say its folders."""
        return is_certain(self._environ)

    def _run(self, command: Asked, project: str, client: Client, settings: Settings) -> Answer:
        folder = folder_of(client.roots, self._environ, settings.home)
        words = command.words
        who = self._caller(client, settings.home, folder)
        is_known = folder or project or (command.belongs == SESSION and who.session)
        if command.belongs and (not is_known or project == EVERYWHERE):
            instead = _ELSEWHERE if command.belongs == PROJECT else ""
            return Answer(f"{_NO_PLACE}{instead}", is_error=True)
        if project == EVERYWHERE:
            project = ""
            if words[0] in _ANYWHERE:
                words = (words[0], "--all-projects", *words[1:])
        done = called(words, self._environ, folder=folder, caller=who, project=project, room=command.room)
        if not done.code:
            text = f"{done.text}\nCut here. {command.more}".rstrip() if done.cut else done.text
            return Answer(text)
        text = done.text or _NOTHING
        for advice, instead in _ADVICE:
            text = text.replace(advice, instead)
        return Answer(text, is_error=not (command.finds and done.code == NotFoundError.exit_code))

    def _caller(self, client: Client, home: str, folder: str) -> Caller:
        """Return who asks: an agent, whatever the variables say, and its session if anybody knows it."""
        found = caller(self._environ)
        if found.is_user:
            from told.agents._clients import agent_of_client

            found = Caller(AGENT, agent_of_client(client.name) or _STRANGER)
        if found.session or found.agent == _STRANGER:
            return found
        from told.hook.current import running

        return replaced(found, session=running(home, found.agent, folder))


def _as_path(project: str) -> str:
    """Return a project as it is named; a folder that is given as an address, as a folder."""
    if project[: len(_ADDRESS)].lower() != _ADDRESS:
        return project
    from told.serve.mcp.roots import folder_of as folder_at

    return folder_at(project) or project


def _without_secrets(arguments: dict[str, Any], settings: Settings) -> dict[str, Any]:
    """Return what an agent gave, without secrets: an answer may say it again."""
    redact = Redactor(own_key(settings.home), settings.redaction).redact
    given: dict[str, Any] = {}
    for name, value in arguments.items():
        if isinstance(value, list):
            given[name] = [redact(one) for one in value]
        else:
            given[name] = redact(value) if isinstance(value, str) else value
    return given
