"""Compares rules about places with the files that were touched: what stays as it is, what lives where."""

from __future__ import annotations

import re

from told.memory._learn_deeds import Deed, is_change, is_under
from told.memory._observe_calls import CREATE, OTHER, SHELL
from told.memory._observe_words import any_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_NO_WORDS = """
never don't dont do_not must_not mustn't should_not shouldn't not nie niemals nicht ne jamais no nunca não nao
"""
_CHANGE_WORDS = """
touch* edit* modif* chang* alter* ändern ändere bearbeite* anfass* fass toque toques tocar
cambi* mexa mexer mude
"""
_IN_WORDS = "in into inside under below at to unter nach dans sous en bajo em sob na no"
_THE_WORDS = "the die den le la el a o"
_IS_WORDS = """
live lives go goes belong belongs stay stays are_kept is_kept are_stored is_stored are is must_be should_be
liegen liegt gehören gehört kommen vont se_trouve se_trouvent van vive viven está están fica
ficam vão mora moram
"""
_PUT_WORDS = "put place keep create store add write lege leg mets mettre pon coloca coloque ponha"
_ALL_WORDS = "all any every new the alle neue les los las os as"


_FILLING_WORDS = """
a alle an and any anything archivos arquivos below code contents dans dateien de den des die
directly directory em en fichiers file files folder folders generated in inside jamais la le les
nada nichts no o of or os rien stuff the to und under within y
"""
_FILLING = re.compile(rf"\W*(?:{any_of(_FILLING_WORDS)}\W+)*", re.IGNORECASE)
_NO, _CHANGE = any_of(_NO_WORDS), any_of(_CHANGE_WORDS)
_THINGS = r"(?P<things>[\w -]{3,40}?)"
_IN = rf"{any_of(_IN_WORDS)}\s+(?:{any_of(_THE_WORDS)}\s+)?`?$"
_HANDS_OFF = re.compile(
    rf"(?:\b{_NO}\b|\bn')[^.;]*?\b{_CHANGE}\b|\b{_CHANGE}\b[^.;]*\b(?:nicht|nie)\b", re.IGNORECASE
)
_MAY_BE_ALLOWED = re.compile(
    r"\b(?:without|unless|until|except|ohne|sans|sin|sem|if|when|außer|sauf|salvo)\b", re.IGNORECASE
)
_ADD = re.compile(rf"\b{_NO}\b[^.;]*?\b(?:commit\w*|check in|git add|stage)\b", re.IGNORECASE)
_LIVES = re.compile(rf"{_THINGS}\s+{any_of(_IS_WORDS)}\s+{_IN}", re.IGNORECASE)
_PUT = re.compile(rf"\b{any_of(_PUT_WORDS)}\s+(?:{any_of(_ALL_WORDS)}\s+)*{_THINGS}\s+{_IN}", re.IGNORECASE)
_CAMEL = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_NEGATIVE = re.compile(rf"\b{_NO}\b", re.IGNORECASE)


def judged(sentence: str, done: Sequence[Deed], places: Sequence[str]) -> bool | None:
    """Return whether the files that were touched comply with a sentence; None where that is not plain."""
    if not places:
        return None
    touched = [deed for deed in done if deed.path and any(is_under(deed.path, place) for place in places)]
    if (found := _HANDS_OFF.search(sentence)) and _is_about(sentence[found.end() :], places):
        if any(is_change(deed) for deed in touched):
            return None if _MAY_BE_ALLOWED.search(sentence) else False
        looked = touched and all(deed.kind == OTHER for deed in touched)
        return True if looked and not _written(done, places) else None
    if _ADD.search(sentence):
        added = [
            deed.command.words for deed in done if deed.command and deed.command.words[:2] == ("git", "add")
        ]
        return (
            False
            if any(is_under(word, place) for words in added for word in words[2:] for place in places)
            else None
        )
    if _NEGATIVE.search(sentence):
        return None
    for place in places:
        head = sentence[: sentence.find(place)]
        if found := _PUT.search(head):
            return _placed(found["things"], places, done)
        if found := _LIVES.search(head):
            placed = _placed(found["things"], places, done)
            return placed if placed is not None else True if touched else None
    return None


def _is_about(behind: str, places: Sequence[str]) -> bool:
    """Whether it is the place itself that is not to be changed, rather than something in it."""
    at = min((start for place in places if (start := behind.find(place)) >= 0), default=0)
    return _FILLING.fullmatch(behind[:at]) is not None


def _written(done: Sequence[Deed], places: Sequence[str]) -> bool:
    """Whether a shell command other than a look names the place."""
    return any(
        is_under(word, place)
        for deed in done
        if deed.kind == SHELL
        and deed.command
        and deed.command.words[0] in ("sed", "rm", "mv", "cp", "tee", "git", "perl")
        for word in deed.command.words[1:]
        for place in places
    )


def _placed(things: str, places: Sequence[str], done: Sequence[Deed]) -> bool | None:
    """Judge "put Xs under a/": of the files whose name says that they are Xs, the new ones were put there."""
    name = things.rsplit(maxsplit=1)[-1].lower()
    name = name[:-1] if name.endswith("s") and not name.endswith("ss") else name
    verdict: bool | None = None
    for deed in done:
        if not is_change(deed) or name not in _words(deed.path.rsplit("/", 1)[-1]):
            continue
        if any(is_under(deed.path, place) for place in places):
            verdict = True
        elif deed.kind == CREATE:
            return False
    return verdict


def _words(name: str) -> set[str]:
    return {word.lower().removesuffix("s") for word in _CAMEL.findall(name)}
