"""Plain words that state a habit or a choice, in a few words and without any cue: "use pnpm, not npm"."""

# ruff: noqa: RUF001 - words and signs of many languages are the subject
from __future__ import annotations

from told.memory._capture_plain import plain

_MOST = 16  # words
_LONGEST = 400  # characters of a message that is taken apart for this
_USE = (
    " use ", " we use ", " we only use ", " i use ", " please use ", " no use ", " no we use ",
    " no please use ", " here we use ", " wir benutzen ", " wir verwenden ", " wir nutzen ", " benutze ",
    " verwende ", " on utilise ", " nous utilisons ", " utilise ", " utilisez ", " usamos ", " usa ",
    " utiliza ", " usem ", " a gente usa ",
)  # fmt: skip
_RATHER = (
    " not ", " instead of ", " rather than ", " never ", " nicht ", " statt ", " kein ", " keine ", " pas ",
    " au lieu de ", " en lugar de ", " en vez de ", " no ", " em vez de ", " não ", " ao invés de ",
)  # fmt: skip
_EVERYWHERE = (
    " everywhere ", " in this repo ", " in this project ", " in this codebase ", " by default ",
    " for indentation ", " for all ", " for every ", " überall ", " in diesem projekt ", " partout ",
    " dans ce projet ", " en este proyecto ", " neste projeto ",
)  # fmt: skip
_WE = (
    " we deploy ", " we release ", " we ship ", " we store ", " we write ", " we host ", " we target ",
    " we support ", " we version ", " we format ", " we tag ", " we follow ", " wir deployen ",
    " wir veröffentlichen ", " wir schreiben ", " on déploie ", " nous déployons ", " desplegamos ",
)  # fmt: skip
_I = (
    " i prefer ", " i hate ", " i dislike ", " i don't like ", " ich bevorzuge ", " ich hasse ",
    " ich mag keine ", " je préfère ", " je déteste ", " prefiero ", " odio ", " prefiro ", " odeio ",
)  # fmt: skip
_EVERY = (
    " all ", " every ", " each ", " alle ", " jede ", " jeder ", " tous les ", " toutes les ",
    " todos los ",
)  # fmt: skip
_HOLDS = (
    " must ", " should ", " are stored ", " is stored ", " are written ", " are named ", " are kept ",
    " go to ", " go through ", " goes through ", " goes to ", " live in ", " lives in ", " müssen ",
    " muss ", " sollen ", " doivent ", " doit ", " deben ", " debe ",
)  # fmt: skip
_NOT_STANDING = (
    " now ", " today ", " currently ", " for now ", " this time ", " yet ", " still ", " anymore ",
    " jetzt ", " heute ", " gerade ", " maintenant ", " ahora ", " agora ", " should we ", " can we ",
    " it ", " this ", " that ", " these ", " those ",
)  # fmt: skip


def states_habit(sentence: str) -> bool:
    """Say whether a sentence plainly states a habit or a choice; a question or a state of today does not."""
    if sentence.rstrip().endswith(("?", "？")):
        return False
    if not sentence.isascii() and ("ではなく" in sentence or "而不是" in sentence):
        return "使" in sentence or "用" in sentence
    bare = plain(sentence)
    if bare.count(" ") > _MOST + 1 or any(word in bare for word in _NOT_STANDING):
        return False
    if bare.startswith(_USE):
        return any(word in bare for word in (*_RATHER, *_EVERYWHERE))
    if bare.startswith(_EVERY):
        return any(word in bare for word in _HOLDS)
    return bare.startswith((*_WE, *_I))


def may_state_habit(message: str) -> bool:
    """Say the same of any sentence of a short message."""
    if len(message) > _LONGEST:
        return False
    for sign in "!;\n。！":
        message = message.replace(sign, ". ")
    return any(map(states_habit, message.split(". ")))
