"""Find mentions of forgotten memories in sessions, and erase them.

Erasing uses the marks in the journal instead of the words, so an interrupted run can be repeated.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import apsw

from told.files import cannot_write
from told.ingest.archive import archive_path, cut_forgotten, rewrite_sessions
from told.ingest.checkpoint_rows import forget_in_files
from told.ingest.complete_sessions import CompleteSessions
from told.ingest.fold import SessionDraft
from told.ingest.forgotten import ANYWHERE, Forgotten, Mark, Marker, find_sentences, split_words
from told.ingest.leftovers import remove_traces
from told.search.index_text import make_extra_words, make_near_words
from told.search.tokens import STOP_WORDS
from told.store.fts import match_in, quote_phrase
from told.store.memories.records import USER, Evidence, Memory
from told.store.sessions.erase import SessionEraser, purge_sessions
from told.store.sessions.facts import TrimmedSessions
from told.store.sessions.write import NOTE_TEXTS, SessionState, SessionWriter
from told.words import character_pairs, is_unspaced

# Words a statement needs to be searched in all sessions; shorter ones are too common.
_MIN_WORDS, _MIN_WORDS_UNSPACED = 3, 6
_RUN, _RUN_UNSPACED = 4, 8  # consecutive words that count as a copy
_SHARE, _SHARE_WITH_DIGITS = 0.6, 0.4  # of a statement's words in a sentence that paraphrases it

Name = tuple[str, str]  # of a session: agent, native


class Statement:
    """Words to forget."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.words = _words(text)
        self.content = _content(self.words)
        self._unspaced = any(map(is_unspaced, text))
        self._run = _RUN_UNSPACED if self._unspaced else _RUN
        self._runs = {run for run in self._list_runs(self.words) if len(_content(run)) >= _MIN_WORDS}

    @property
    def is_long(self) -> bool:
        """Whether the words mean the same wherever they occur."""
        return len(self.words) >= (_MIN_WORDS_UNSPACED if self._unspaced else _MIN_WORDS)

    @property
    def expression(self) -> str:
        """The FTS5 expression that finds the words as a phrase."""
        if not self._unspaced:
            return match_in("asked answered steps", quote_phrase(" ".join(self.words)))
        runs = "".join(letter if is_unspaced(letter) else " " for letter in self.text).split()
        longest = max(runs, key=len)
        return match_in("extra", quote_phrase(" ".join(character_pairs(longest))))

    def is_in(self, words: Sequence[str]) -> bool:
        """Return whether a sentence has most of the words, or some in a row."""
        shared = _content(words) & self.content
        has_digits = any(letter.isdigit() for word in shared for letter in word)
        share = _SHARE_WITH_DIGITS if has_digits else _SHARE
        if len(shared) >= 2 and len(shared) >= share * len(self.content):
            return True
        return any(run in self._runs for run in self._list_runs(words))

    def _list_runs(self, words: Sequence[str]) -> Iterator[tuple[str, ...]]:
        return (tuple(words[at : at + self._run]) for at in range(len(words) - self._run + 1))


def select_sentences(quote: str, text: str) -> list[str]:
    """Return the sentences of a quote that a memory is about; else the quote.

    A quote may include sentences around the one that was remembered.
    """
    statement = Statement(text)
    found = []
    for start, end in find_sentences(quote):
        sentence = Statement(quote[start:end])
        if sentence.words and (statement.is_in(sentence.words) or sentence.is_in(statement.words)):
            found.append(sentence.text)
    return found or [quote]


def list_statements(memory: Memory) -> list[str]:
    """Return a memory's text and the quoted sentences it comes from."""
    quotes = (
        sentence
        for one in memory.evidence
        if one.quote
        for sentence in select_sentences(one.quote, memory.text)
    )
    return [one for one in dict.fromkeys((memory.text, *quotes)) if split_words(one)]


def _words(text: str) -> list[str]:
    return [word.text for word in split_words(text)]


def _content(words: Sequence[str]) -> set[str]:
    """Return the words without stop words; pairs of characters in scripts without spaces."""
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


class MentionFinder:
    """Find where sessions mention what memories say."""

    def __init__(self, connection: apsw.Connection, key: bytes, home: str) -> None:
        """Take the database, told's key for the marks, and told's home."""
        self._eraser = SessionEraser(connection)
        self._reader = CompleteSessions(connection, home)
        self._trimmed = TrimmedSessions(connection)
        self._marker = Marker(key)

    def find(self, memory: Memory) -> list[Evidence]:
        """Return every mention of a memory, with marks and without text."""
        statements = list(map(Statement, list_statements(memory)))
        long = [one for one in statements if one.is_long]
        own = {(one.agent, one.session) for one in memory.evidence}
        sessions = {name for name in own if name[1]}
        for statement in long:
            sessions |= set(map(self._eraser.names, self._eraser.sessions_with(statement.expression)))
        sessions |= self._find_in_trimmed(long)
        found: dict[Evidence, None] = {}
        for agent, native in sorted(sessions):
            marks = [self._marker.mark(one.words) for one in statements]
            if (agent, native) in own:
                marks += self._find_paraphrases(self._texts(agent, native), statements)
            found |= dict.fromkeys(
                Evidence(agent, native, ANYWHERE, mark=one.mark, words=one.words) for one in marks
            )
        for place in memory.evidence:
            if place.session and place.quote and split_words(place.quote):
                found |= dict.fromkeys(self._find_quote(place, memory))
        return list(found)

    def _find_in_trimmed(self, statements: Sequence[Statement]) -> set[Name]:
        """Return the trimmed sessions that contain a statement; they are not indexed."""
        marks = [self._marker.mark(one.words) for one in statements]
        longest = [max(one.words, key=len) for one in statements]
        found = set()
        for session in self._trimmed.all() if marks else ():
            for turn in self._reader.archive_turns(session.id):
                text = "\n".join(turn.texts)
                folded = text.casefold()
                if any(word in folded for word in longest) and self._marker.find_spans(text, marks):
                    found.add((session.agent, session.native))
                    break
        return found

    def _find_quote(self, place: Evidence, memory: Memory) -> Iterator[Evidence]:
        """Yield the turn of a quote if it must be cut even where the words are not found."""
        quote = Statement(select_sentences(place.quote, memory.text)[0])
        mark = self._marker.mark(quote.words)
        turns = self._turn_texts(place.agent, place.session)
        if turns is None:
            is_sure = memory.trust == USER
        else:
            here = turns.get(place.turn, "")
            if self._marker.find_spans(here, [mark]):
                is_sure = True
            elif any(self._marker.find_spans(text, [mark]) for text in turns.values()):
                is_sure = False
            else:
                shared = _content(_words(here)) & quote.content
                is_sure = bool(shared) and len(shared) >= _SHARE * len(quote.content)
        if is_sure:
            yield Evidence(place.agent, place.session, place.turn, "", place.at, mark.mark, mark.words)

    def _turn_texts(self, agent: str, native: str) -> dict[int, str] | None:
        """Return the text of each turn; None for an unknown session."""
        session_id = self._eraser.find(agent, native)
        if not session_id:
            return None
        return {turn.n: "\n".join(turn.texts) for turn in self._reader.archive_turns(session_id)}

    def _texts(self, agent: str, native: str) -> Iterator[str]:
        session_id = self._eraser.find(agent, native)
        if not session_id:
            return
        yield from (title for _, _, _, title, _, _ in self._eraser.facts(session_id))
        yield self._reader.session(session_id).summary
        for turn in self._reader.archive_turns(session_id):
            yield from turn.texts
        for _, note in self._eraser.notes(session_id):
            yield from (getattr(note, name) for name in NOTE_TEXTS)

    def _find_paraphrases(self, texts: Iterable[str], statements: Sequence[Statement]) -> list[Mark]:
        """Return the marks of sentences that say the same in other words."""
        found = []
        wanted = set().union(*(one.content for one in statements)) if statements else set()
        for text in dict.fromkeys(texts):
            if len(wanted & _content(_words(text))) < 2:
                continue
            for start, end in find_sentences(text):
                inside = _words(text[start:end])
                if inside and any(one.is_in(inside) for one in statements):
                    found.append(self._marker.mark(inside))
        return found


@dataclass(frozen=True, slots=True)
class SessionLoss:
    """What a session loses by forgetting."""

    agent: str
    native: str
    public: str
    turns: int  # that lose text
    numbers: tuple[int, ...]  # of these turns
    whole: bool
    files: tuple[str, ...]  # of the agent, which still contain it


class SessionForgetter:
    """Cut forgotten text out of sessions, the archive and checkpoints."""

    def __init__(self, connection: apsw.Connection, home: str, forgotten: Forgotten) -> None:
        self._connection = connection
        self._home = home
        self._forgotten = forgotten
        self._eraser = SessionEraser(connection)
        self._reader = CompleteSessions(connection, home)
        self._writer = SessionWriter(connection, make_extra_words, make_near_words)

    def find_losses(self, names: Iterable[Name]) -> list[SessionLoss]:
        """Return what known sessions lose, if anything."""
        found = []
        for agent, native in sorted(set(names)):
            session_id = self._eraser.find(agent, native)
            if not session_id:
                continue
            row = self._reader.session(session_id)
            before = self._reader.archive_turns(session_id)
            whole = self._forgotten.has(agent, native, row.parent)
            marks = self._forgotten.marks(agent, native)
            after = () if whole else self._forgotten.cut_turns(agent, native, before, marks)
            pairs = zip(before, after or before, strict=True)
            numbers = tuple(old.n for old, new in pairs if whole or old != new)
            if numbers or whole or self._forgotten.cut_text(row.title, marks) != row.title:
                files = tuple(path for path in self._eraser.files(session_id) if os.path.exists(path))
                found.append(SessionLoss(agent, native, row.public, len(numbers), numbers, whole, files))
        return found

    def find_changed_turns(self, names: Iterable[Name]) -> dict[int, str]:
        """Return the sessions of turns that lose text, by hashed turn key.

        Agents copy turns into the files of other sessions.
        """
        found: dict[int, str] = {}
        for agent, native in names:
            session_id = self._eraser.find(agent, native)
            before = self._reader.archive_turns(session_id) if session_id else ()
            whole = self._forgotten.has(agent, native)
            after = self._forgotten.cut_turns(agent, native, before, self._forgotten.marks(agent, native))
            for old, new in zip(before, after, strict=True):
                if isinstance(old.key, int) and (whole or old != new):
                    found[old.key] = f"{agent}/{native}"
        return found

    def erase(self, names: Iterable[Name]) -> None:
        """Erase forgotten text from sessions, the archive and checkpoints."""
        forget_in_files(self._connection, self._home, self._forgotten)
        changed = []
        for agent, native in sorted(set(names)):
            session = self._writer.session(agent, native)
            path = archive_path(self._home, agent, native)
            if session is not None and not self._forgotten.has(agent, native, session.parent):
                with self._writer.transaction():
                    self._cut(session)
                changed.append(session.id)
                continue
            if session is not None:
                with self._writer.transaction():
                    self._drop(session)
            if os.path.exists(path) and not cut_forgotten(path, agent, self._forgotten):
                os.remove(path)
        rewrite_sessions(self._connection, self._home, changed)
        try:
            remove_traces(self._home)
        except OSError as error:
            raise cannot_write(self._home, error) from None
        purge_sessions(self._connection)

    def _cut(self, session: SessionState) -> None:
        forgotten, eraser, writer = self._forgotten, self._eraser, self._writer
        agent, native = session.agent, session.native
        marks = forgotten.marks(agent, native)
        for source_id, branch, repository, title, model, state in eraser.facts(session.id):
            facts = (forgotten.cut_text(branch, marks), repository, forgotten.cut_text(title, marks), model)
            eraser.put_facts(session.id, source_id, facts, forgotten.cut_state(state, marks))
        writer.facts.update_session(session.id)
        session = writer.session(agent, native) or session
        before = self._reader.archive_turns(session.id)
        after = forgotten.cut_turns(agent, native, before, marks)
        writer.put_turns(session, after, replace=True)
        for source_id, note in eraser.notes(session.id):
            writer.put_checkpoint(session, source_id, forgotten.cut_note(note, marks))
        for path, _, _ in self._reader.files_of(session.id):
            if not forgotten.allows(path, marks):
                eraser.drop_touch(session.id, path)
        for _, value, _ in self._reader.refs_of(session.id):
            if not forgotten.allows(value, marks):
                eraser.drop_ref(session.id, value)
        writer.put_title(session)
        summary = forgotten.cut_summary(session.summary, before, after, marks)
        if summary != session.summary and len(after) == session.next_n:
            draft = SessionDraft(native, begin=True)
            draft.turns = after
            summary = draft.summary
        writer.close_session(session.id, session.next_n, summary)

    def _drop(self, session: SessionState) -> None:
        for source_id, *_, state in self._eraser.facts(session.id):
            self._eraser.put_state(source_id, self._forgotten.cut_state(state, [], all_texts=True))
        self._eraser.drop_session(self._writer, session)
