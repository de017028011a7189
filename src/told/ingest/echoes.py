"""Finds all places in sessions that say something that is to be forgotten, also in other words."""

from __future__ import annotations

from told.ingest.forgotten import ANYWHERE
from told.ingest.spans import Marker, sentences_of, words_of
from told.ingest.whole import Whole
from told.search.stop_words import STOP_WORDS
from told.search.unspaced import is_unspaced
from told.store.erasing import Erasing
from told.store.memory_records import USER, Evidence
from told.store.trimming import Trimmed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import apsw

    from told.ingest.spans import Mark
    from told.store.memory_records import Memory

_SHORTEST = 3  # words that are looked for in other sessions, too; fewer stand anywhere
_SHORTEST_UNSPACED = 6
_RUN, _RUN_UNSPACED = 4, 8  # words in a row that somebody took over
_SHARE, _SHARE_OF_NAMES = 0.6, 0.4  # of a statement's words that a sentence has when it says the same


class Statement:
    """Words that are to be forgotten."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.words = [word.text for word in words_of(text)]
        self.content = _content(self.words)
        self._unspaced = any(map(is_unspaced, text))
        size = _RUN_UNSPACED if self._unspaced else _RUN
        self._runs = {
            tuple(self.words[at : at + size])
            for at in range(len(self.words) - size + 1)
            if len(_content(self.words[at : at + size])) >= _SHORTEST
        }
        self._run = size

    @property
    def is_long(self) -> bool:
        """Whether these words say the same wherever they stand."""
        return len(self.words) >= (_SHORTEST_UNSPACED if self._unspaced else _SHORTEST)

    @property
    def expression(self) -> str:
        """The FTS5 expression that finds the words in a row."""
        if not self._unspaced:
            return '{asked answered steps} : "' + " ".join(self.words) + '"'
        runs = "".join(letter if is_unspaced(letter) else " " for letter in self.text).split()
        longest = max(runs, key=len)
        pairs = [longest[at : at + 2] for at in range(len(longest) - 1)] or [longest]
        return 'extra : "' + " ".join(pairs) + '"'

    def is_in(self, words: Sequence[str]) -> bool:
        """Tell whether a sentence says the same: it has most of its words, or a part of them in a row."""
        content = _content(words)
        shared = content & self.content
        names = any(letter.isdigit() for word in shared for letter in word)
        share = _SHARE_OF_NAMES if names else _SHARE
        if len(shared) >= 2 and len(shared) >= share * len(self.content):
            return True
        return any(
            tuple(words[at : at + self._run]) in self._runs for at in range(len(words) - self._run + 1)
        )


def pieces_of(quote: str, text: str) -> list[str]:
    """Return the sentences of a quote that say what a memory says; all of it if that cannot be told.

    A quote may have a sentence before and behind that the memory is not about.
    """
    statement = Statement(text)
    found = []
    for start, end in sentences_of(quote):
        piece = Statement(quote[start:end])
        if piece.words and (statement.is_in(piece.words) or piece.is_in(statement.words)):
            found.append(piece.text)
    return found or [quote]


def said_by(memory: Memory) -> list[str]:
    """Return what a memory says, in its own words and in those that were said."""
    quotes = (piece for one in memory.evidence if one.quote for piece in pieces_of(one.quote, memory.text))
    return [one for one in dict.fromkeys((memory.text, *quotes)) if words_of(one)]


def _content(words: Sequence[str]) -> set[str]:
    """Return the words that mean something; of scripts without spaces every two neighbours."""
    found = set()
    before = ""
    for word in words:
        if is_unspaced(word[0]):
            if before:
                found.add(before + word)
            before = word
        else:
            before = ""
            if len(word) > 1 and word not in STOP_WORDS:
                found.add(word)
    return found


class Echoes:
    """Looks through sessions for what some memories say."""

    def __init__(self, connection: apsw.Connection, key: bytes, home: str) -> None:
        """Take the open store, told's key for the marks, and told's folder."""
        self._erasing = Erasing(connection)
        self._reading = Whole(connection, home)
        self._trimmed = Trimmed(connection)
        self._marker = Marker(key)

    def places(self, memory: Memory) -> list[Evidence]:
        """Return every place that says what a memory says: with marks, and without a word of it."""
        statements = list(map(Statement, said_by(memory)))
        found: dict[Evidence, None] = {}
        sessions = {(one.agent, one.session) for one in memory.evidence if one.session}
        for statement in statements:
            if statement.is_long:
                sessions |= set(map(self._erasing.names, self._erasing.sessions_with(statement.expression)))
        sessions |= self._not_indexed([one for one in statements if one.is_long])
        own = {(one.agent, one.session) for one in memory.evidence}
        for agent, native in sorted(sessions):
            marks = [self._marker.mark(one.words) for one in statements]
            if (agent, native) in own:
                marks += self._said_again(self._texts(agent, native), statements)
            found |= dict.fromkeys(
                Evidence(agent, native, ANYWHERE, mark=one.mark, words=one.words) for one in marks
            )
        for place in memory.evidence:
            if place.session and place.quote and words_of(place.quote):
                found |= dict.fromkeys(self._said_in(place, memory))
        return list(found)

    def _not_indexed(self, statements: Sequence[Statement]) -> set[tuple[str, str]]:
        """Return the sessions that say it and are not in the index, because their text is in the archive."""
        marks = [self._marker.mark(one.words) for one in statements]
        longest = [max(one.words, key=len) for one in statements]
        found = set()
        for session in self._trimmed.all() if marks else ():
            for _, _, _, *texts in self._reading.kept_turns(session.id):
                text = "\n".join(texts)
                folded = text.casefold()
                if any(word in folded for word in longest) and self._marker.spans(text, marks):
                    found.add((session.agent, session.native))
                    break
        return found

    def _said_in(self, place: Evidence, memory: Memory) -> Iterator[Evidence]:
        """Yield the place of a quote if its turn has to be left out where the words are not found in it."""
        quote = Statement(pieces_of(place.quote, memory.text)[0])
        mark = self._marker.mark(quote.words)
        turns = self._turns(place.agent, place.session)
        if turns is None:
            sure = memory.trust == USER
        else:
            here = turns.get(place.turn, "")
            if self._marker.spans(here, [mark]):
                sure = True
            elif any(self._marker.spans(text, [mark]) for text in turns.values()):
                sure = False
            else:
                shared = _content([word.text for word in words_of(here)]) & quote.content
                sure = bool(shared) and len(shared) >= _SHARE * len(quote.content)
        if sure:
            yield Evidence(place.agent, place.session, place.turn, "", place.at, mark.mark, mark.words)

    def _turns(self, agent: str, native: str) -> dict[int, str] | None:
        """Return what was said in each turn of a session; None if there is no such session."""
        session_id = self._erasing.find(agent, native)
        if not session_id:
            return None
        return {n: "\n".join(texts) for n, _, _, *texts in self._reading.kept_turns(session_id)}

    def _texts(self, agent: str, native: str) -> Iterator[str]:
        session_id = self._erasing.find(agent, native)
        if not session_id:
            return
        yield from (title for _, title, _, _ in self._erasing.facts(session_id))
        yield self._reading.session(session_id).summary
        for _, _, _, *texts in self._reading.kept_turns(session_id):
            yield from texts
        for _, note in self._erasing.notes(session_id):
            yield from (note.title, note.overview, note.work_done, note.technical_details)
            yield from (note.important_files, note.next_steps, note.history)

    def _said_again(self, texts: Iterable[str], statements: Sequence[Statement]) -> list[Mark]:
        """Return the marks of sentences that say the same in other words."""
        found = []
        wanted = set().union(*(one.content for one in statements)) if statements else set()
        for text in dict.fromkeys(texts):
            if len(wanted & _content([word.text for word in words_of(text)])) < 2:
                continue
            for start, end in sentences_of(text):
                inside = [word.text for word in words_of(text[start:end])]
                if inside and any(one.is_in(inside) for one in statements):
                    found.append(self._marker.mark(inside))
        return found
