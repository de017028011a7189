"""Whether a newer statement shows that it took the place of an older one, by how both are worded.

Two things show it: the newer one lets go of a name that the older one chose ("Back to A: B lost data", "no
B", "B is gone"), or both begin with the same subject and say what it is ("The queue is A", "The queue is B").
"""

from __future__ import annotations

from itertools import pairwise

from told.memory import _recall_replaced_words as words_for
from told.record import record
from told.search.stop_words import STOP_WORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST_WORDS = 60
_LONGEST_SUBJECT = 4  # words
_ELIDED, _SHORTEST = 2, 3  # letters
_FIRST, _FIRST_WORDS, _NEAR_START = 2, 3, 3  # words that count as the first
_OPENS, _ENDS = "([{\"'`«“„*", ")]}\"'`»”*"
_ENDINGS = _ENDS + ",;:.!?…"
_NO_CHOICE = STOP_WORDS | words_for.TURNS | words_for.ARTICLES | words_for.PAUSES


@record
class Said:
    """A statement, ready to be held against others."""

    words: tuple[str, ...]  # in small letters, each pause as a comma
    subject: tuple[str, ...]  # what it begins with, up to what is said of it
    turn: str
    value: int  # where that begins; 0 if it is not known
    names: frozenset[str]  # which words are written as names
    capitals: frozenset[str]  # which begin with a capital, wherever they stand


def said(text: str) -> Said:
    """Read a statement."""
    words: list[str] = []
    names: set[str] = set()
    capitals: set[str] = set()
    for chunk in text.replace("\u2019", "'").split()[:_MOST_WORDS]:
        if chunk.isalpha() and chunk.islower():
            words.append(chunk)
            continue
        bare = chunk.lstrip(_OPENS)
        word = bare.rstrip(_ENDINGS)
        for part in _parts(word):
            small = part.lower()
            if part != small:
                capitals.add(small)
            if _is_name(part, small, first=not words or words[-1] in words_for.PAUSES):
                names.add(small)
            words.append(small)
        tail = bare[len(word) :]
        if tail and tail.strip(_ENDS):
            words.append(":" if ":" in tail and words_for.PAUSES.isdisjoint(words) else words_for.BREAK)
    subject, turn, value = _subject(words)
    return Said(tuple(words), subject, turn, value, frozenset(names), frozenset(capitals))


def _parts(word: str) -> list[str]:
    """Return a word without what is elided before it, and apart from its version."""
    if word.isalpha():
        return [word]
    head, elided, rest = word.partition("'")
    if elided:
        word = (
            rest if len(head) <= _ELIDED and len(rest) > _ELIDED else head if len(rest) == 1 else head + rest
        )
    for sign in ":@":
        name, found, version = word.rpartition(sign)
        if found and name and version[:1].isdigit():
            return [name.rpartition("/")[2] or name, version]
    return [word] if word else []


def _is_name(word: str, small: str, *, first: bool) -> bool:
    if small in STOP_WORDS or len(word) < _SHORTEST - 1:
        return False
    if word[1:] != small[1:]:
        return True
    if word.isalpha():
        return word != small and not first
    return any(map(str.isalpha, word)) and any(char in "_./@#+" or char.isdigit() for char in word[1:])


def _subject(words: Sequence[str]) -> tuple[tuple[str, ...], str, int]:
    found: list[str] = []
    for at, word in enumerate(words):
        if (
            word == words_for.BREAK
            or len(found) > _LONGEST_SUBJECT
            or (word in words_for.TURNS and not found)
        ):
            break
        if word in words_for.TURNS:
            end = at
            while end < len(words) and (
                words[end] in words_for.TURNS or words[end] in words_for.ARTICLES or _is_done(words, end)
            ):
                end += 1
            turns = [one for one in words[at:end] if one not in words_for.ARTICLES]
            return tuple(found), _kind(turns), end
        if word not in words_for.ARTICLES:
            found.append(_plain(word))
    return (), "", 0


def _is_done(words: Sequence[str], at: int) -> bool:
    return words[at - 1] in words_for.IS and words[at].endswith(words_for.DONE) and at + 1 < len(words)


def _kind(turns: Sequence[str]) -> str:
    """Return how a subject is brought together with what is said of it: `is`, or by which words."""
    if all(one in words_for.IS or one in words_for.BY for one in turns):
        return "is"
    if turns[0] in words_for.MOVES:
        return "moves"
    return " ".join([one for one in turns if one not in words_for.IS and one not in words_for.BY])


def _plain(word: str) -> str:
    return word[:-1] if len(word) > _SHORTEST and word.endswith("s") else word


def same_subject(old: Said, new: Said) -> bool:
    """Tell whether both begin with the same subject and say what it is, each something else."""
    if not old.subject or not new.subject or new.turn not in (old.turn, "moves"):
        return False
    if old.subject != new.subject and (
        old.subject[-len(new.subject) :] != new.subject or words_for.NOW.isdisjoint(new.words)
    ):
        return False
    before, now = _clause(old.words[old.value :]), _clause(new.words[new.value :])
    if not before or not now:
        return False
    if before[0] != now[0]:
        if before[0].endswith(words_for.DONE) != now[0].endswith(words_for.DONE):
            return False
        chosen, instead = old.names.isdisjoint(before[:_NEAR_START]), new.names.isdisjoint(now[:_NEAR_START])
        if now[0][0].isdigit() and (before[0][0].isdigit() or before[0] in words_for.EVER):
            return True
        if chosen and instead:
            # Two properties of one thing may both hold: prices are integers, and net.
            last = {old.words[old.value - 1], new.words[new.value - 1]}
            return last <= words_for.IS_ONE and len(before) <= _FIRST and len(now) <= _NEAR_START
        return not instead or new.words[new.value - 1] not in words_for.ARTICLES
    pairs = zip(before[:_NEAR_START], now, strict=False)
    one, two = next(((one, two) for one, two in pairs if one != two), ("", ""))
    return one in old.names and two in new.names


def other_number(old: Said, new: Said) -> bool:
    """Tell whether both begin alike and name another number at the same word: a port, a limit."""
    if old.words[:_FIRST_WORDS] != new.words[:_FIRST_WORDS] or len(old.words) <= _FIRST_WORDS:
        return False
    before, now = _numbered(old.words), _numbered(new.words)
    return any(word in now and now[word] != number for word, number in before.items())


def _numbered(words: Sequence[str]) -> dict[str, str]:
    return {word: after for word, after in pairwise(words) if after.isdigit() and word.isalpha()}


def chosen_in(one: Said) -> list[str]:
    """Return the words that may name what a statement chose, the likeliest first."""
    start = one.value or (
        _FIRST if one.words[:1] and one.words[0] in words_for.LIMITS else 0
    )  # after `In src/x …`
    value = [
        word for word in one.words[start:]
        if word not in _NO_CHOICE and (len(word) >= _SHORTEST or word in one.names)
    ]  # fmt: skip
    found = value[:_FIRST] + [word for word in value[_FIRST:] if word in one.names]
    return list(dict.fromkeys([*found, *(name for name, _ in _with_version(one.words[: one.value]))]))


def lets_go(name: str, old: Said, new: Said) -> bool:
    """Tell whether the newer statement speaks of what the older one chose as of what is over."""
    words = new.words
    mentioned = [at for at, word in enumerate(words) if word == name]
    if not mentioned or (name in old.names and name not in new.capitals and not _is_odd(name)):
        return False
    if any(_is_dropped(words, at, old.names) for at in mentioned) or _other_version(name, old.words, words):
        return True
    first = next((at for at, word in enumerate(words) if at and word in words_for.CLAUSES), len(words))
    if mentioned[0] < first:
        return False
    value = [word for word in old.words[old.value :] if word not in _NO_CHOICE][:_FIRST]
    known = name in old.names or not words_for.MOVES.isdisjoint(old.words[:_NEAR_START])
    if known and name in value and _turns_away(words, first):
        return True
    return any(_is_blamed(words, at) or _is_left_a_corner(words, at) for at in mentioned)


def _is_odd(name: str) -> bool:
    return not name.isalpha()


def _turns_away(words: Sequence[str], first: int) -> bool:
    """Tell whether a statement begins with a return or a move, and is not only for some place."""
    opening = words[:first]
    if words_for.BACK.isdisjoint(opening) and not any(
        word in words_for.MOVES for word in opening[:_FIRST_WORDS]
    ):
        return False
    return not any(one in words_for.ONLY and two in words_for.LIMITS for one, two in pairwise(words))


def _is_dropped(words: Sequence[str], at: int, names: frozenset[str]) -> bool:
    start, end = at, at + 1
    while start and (words[start - 1] in names or words[start - 1] in words_for.ARTICLES):
        start -= 1
    while end < len(words) and words[end] in names:
        end += 1
    before = words[start - 1] if start else ""
    pair = (words[start - 2] if start > 1 else "", before)
    after = words[end] if end < len(words) else words_for.BREAK
    if (
        before in words_for.FOR
        or pair in words_for.INSTEAD
        or after in words_for.ARROWS
        or (before in words_for.NO and after in words_for.AFTER_NO)
    ):
        return True
    leading = words[max(0, start - 4) : start]
    if not words_for.NO_LONGER.isdisjoint(pairwise(leading)):
        return True
    if before in words_for.FROM and not words_for.MOVES.isdisjoint(words[max(0, start - 5) : start]):
        return True
    following = _clause(words[end : end + 4])
    pairs = set(pairwise(following))
    return not words_for.GONE.isdisjoint(following) or not words_for.NO_LONGER.isdisjoint(pairs)


def _clause(words: Sequence[str]) -> Sequence[str]:
    return words[: next((at for at, word in enumerate(words) if word in words_for.PAUSES), len(words))]


def _is_blamed(words: Sequence[str], at: int) -> bool:
    """Tell whether a later clause begins with the name and says that it failed."""
    start = at
    while start and words[start - 1] not in words_for.PAUSES and words[start - 1] not in words_for.BECAUSE:
        start -= 1
    if not start or at - start > _NEAR_START:
        return False
    following = _clause(words[at + 1 : at + 4])
    return any(
        word in words_for.FAILED or (len(word) > _SHORTEST and word.endswith(words_for.FAILED_ENDS))
        for word in following
    ) or ("runs", "out") in pairwise(following)


def _is_left_a_corner(words: Sequence[str], at: int) -> bool:
    """Tell whether the name is said to be only for something."""
    return words[at - 1] in words_for.PAUSES and not words_for.ONLY.isdisjoint(
        _clause(words[at + 1 : at + 3])
    )


def _other_version(name: str, old: Sequence[str], new: Sequence[str]) -> bool:
    before, now = _versions(name, old), _versions(name, new)
    return bool(before and now) and before.isdisjoint(now)


def _versions(name: str, words: Sequence[str]) -> set[str]:
    return {after for word, after in _with_version(words) if word == name}


def _with_version(words: Sequence[str]) -> list[tuple[str, str]]:
    return [
        (word, after) for word, after in pairwise(words)
        if after[0].isdigit() and after.replace(".", "").isdigit() and word not in _NO_CHOICE
    ]  # fmt: skip
