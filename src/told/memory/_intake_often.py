"""Notices what a user asks for again and again: the same wish in three sessions is a preference."""

from __future__ import annotations

from _blake2 import blake2s

from told.memory.remember import Said
from told.search.stop_words import STOP_WORDS
from told.store.memory_records import GLOBAL, PREFERENCE, PROJECT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from told.store.fresh import Fresh, FreshSession
    from told.store.reading import Reading, TurnRow

_SESSIONS = 3
_LONGEST_MESSAGE = 1200  # characters; longer ones are specifications and pastes
_FEWEST, _MOST = 2, 16  # telling words of a wish
# How a wish about the manner of work begins or is turned. What is to be done is a task, however often.
_MANNER_WORDS = """
use don't dont do not no never keep be only just without avoid prefer always ensure remember answer reply
respond think explain stop benutze verwende nutze nimm kein keine nicht nur ohne immer nie antworte utilise
sans pas jamais toujours garde réponds évite usa utiliza sin nunca siempre responde evita mantén sem não
sempre responda evite mantenha
"""
_POLITE_WORDS = "please pls bitte svp por favor again now then also and but ok okay this time"
_MANNER, _POLITE = frozenset(_MANNER_WORDS.split()), frozenset(_POLITE_WORDS.split())
_ENDS = ".!?\n;。！？"  # noqa: RUF001 - people end sentences with these


class Often:
    """Collects the wishes of a run, and finds those that were said in enough sessions."""

    def __init__(self, fresh: Fresh, reading: Reading) -> None:
        self._fresh = fresh
        self._reading = reading
        self._heard: dict[int, dict[int, int]] = {}  # words, session: turn
        self._new: dict[int, tuple[FreshSession, TurnRow, str]] = {}

    def add(self, session: FreshSession, turn: TurnRow, *, is_new: bool, taken: Sequence[str]) -> None:
        """Note the wishes of a turn; what was taken as a statement is none."""
        for wish in wishes(turn.asked):
            if any(wish in quote or quote in wish for quote in taken):
                continue
            words = number_of(wish)
            places = self._heard.setdefault(words, {})
            if session.id not in places:
                places[session.id] = turn.n
                if is_new:
                    self._new[words] = (session, turn, wish)

    def found(self, sessions: Sequence[FreshSession]) -> list[Said]:
        """Return the wishes that have now been said in enough sessions, each once."""
        by_id = {one.id: one for one in sessions}
        said: list[Said] = []
        for words, (session, turn, wish) in self._new.items():
            known = self._fresh.saying(words, _SESSIONS)
            before = {row[0] for row in known}
            every = before | self._heard[words].keys()
            if len(before) < _SESSIONS <= len(every):
                projects = {by_id[one].project if one in by_id else "" for one in every - before}
                projects |= {row[4] for row in known}
                one_place = len(projects) == 1 and session.project
                scope = PROJECT + session.project if one_place else GLOBAL
                said.append(
                    Said(
                        wish, scope, PREFERENCE, quote=wish, agent=session.agent, session=session.native,
                        turn=turn.n, at=turn.at, seed=f"{session.name}.{turn.n}.often.{len(said)}",
                    )
                )  # fmt: skip
        return said

    def take(self) -> list[tuple[int, int, int]]:
        """Return what was heard as (words, session, turn), and begin anew."""
        heard = [
            (words, session, n) for words, places in self._heard.items() for session, n in places.items()
        ]
        self._heard, self._new = {}, {}
        return heard


def wishes(message: str) -> list[str]:
    """Return the sentences of a message that wish for a manner of work."""
    if len(message) > _LONGEST_MESSAGE:
        return []
    found = []
    start = 0
    for place, char in enumerate(f"{message}\n"):
        if char in _ENDS:
            sentence = message[start:place].strip(" -*•\t,")
            start = place + 1
            words = _words(sentence)
            if words and words[0] in _MANNER and _FEWEST <= len(_telling(words)) <= _MOST:
                found.append(sentence)
    return found


def number_of(wish: str) -> int:
    """Return a number that stands for what a wish says, however politely."""
    telling = " ".join(_telling(_words(wish)))
    digest = blake2s(telling.encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def _words(sentence: str) -> list[str]:
    bare = "".join(char if char.isalnum() or char in "'-_./" else " " for char in sentence.lower())
    words = [word.strip("'-_./") for word in bare.split()]
    while words and words[0] in _POLITE:
        words.pop(0)
    return [word for word in words if word]


def _telling(words: Sequence[str]) -> list[str]:
    return [word for word in words if word in _MANNER or (word not in STOP_WORDS and word not in _POLITE)]
