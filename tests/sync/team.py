"""Members of a team, each on a machine of their own."""

from __future__ import annotations

from pathlib import Path

from tests.sync.machines import Machine, Shelf
from told.memories.teams import enable, share
from told.store.memories.records import ACTIVE, Memory
from told.sync.exchange import Exchange
from told.sync.identity import Identity
from told.sync.spaces import Space, find_team, save_space
from told.sync.teams import CREATED, new_team_id, say

SHOP = "project:github.com/acme/shop"


class Member(Machine):
    """A machine of a member of the team `acme`, who works on the shop."""

    def __init__(self, root: Path, name: str, identity: Identity | None = None) -> None:
        super().__init__(root, identity)
        self.name = name

    @property
    def team(self) -> Space:
        return find_team(self.home)

    def create_team(self, key: str = "") -> Space:
        team, nonce = new_team_id(self.identity)
        space = Space(team, name="acme", author=self.name, key=key, creator=self.identity.public)
        save_space(self.home, space)
        say(self.home, space, CREATED, self.now, name="acme", nonce=nonce)
        return enable(self.writer(), space, SHOP)

    def join(self, team: Space) -> Space:
        save_space(self.home, Space(team.id, name="acme", author=self.name, key=team.key))
        return enable(self.writer(), self.team, SHOP)

    def say(self, text: str, scope: str = SHOP, **more: object) -> str:
        """Remember something and share it."""
        name = self.remember(text, scope, **more)
        share(self.writer(), self.memory(name), self.team)
        return name

    def memory(self, name: str) -> Memory:
        return self.memories.get([name])[name]

    def meet(self, shelf: Shelf) -> Exchange:
        self.time += 1000
        return self.sync(shelf, self.team)

    def of_others(self) -> list[Memory]:
        return [one for one in self.all() if one.trust.startswith("team:") and one.status == ACTIVE]

    def the(self, text: str) -> Memory:
        (found,) = (one for one in self.all() if one.text == text)
        return found


def meet(shelf: Shelf, *members: Member) -> None:
    """Let members sync, one after the other."""
    for one in members:
        assert one.meet(shelf).problems == []
