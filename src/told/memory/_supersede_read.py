"""Reads one statement or message: what it is about, what it affirms, denies, counts and limits."""

from __future__ import annotations

from told.memory import _supersede_cues as cues
from told.memory._supersede_counts import Count, counts_of, is_number
from told.memory._supersede_denials import denials
from told.memory._supersede_opposites import OPPOSITES
from told.record import record
from told.search.kinship import SLOTS, VALUES
from told.search.tokens import BREAKS, is_name, key_of, tokens_of
from told.search.word_forms import stem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_MOST_TEXT = 2000
_HIDDEN = "[secret:"
_LETTERS = str.maketrans("0123456789", "ghijklmnop")
# Small words that are names only where they are written as names, and not as the first word.
_HOMONYMS = {
    "mit": "MIT", "sie": "Sie", "go": "Go", "c": "C", "can": "CAN", "less": "Less", "got": "Got",
    "here": "HERE", "just": "Just", "ant": "Ant", "alle": "Alle", "ty": "Ty", "lit": "Lit",
    "render": "Render", "min": "MIN", "max": "MAX", "mode": "MODE", "standard": "Standard", "vor": "VOR",
    "nach": "NACH", "ses": "SES", "fly": "Fly",
}  # fmt: skip


@record
class Reading:
    """What one text says."""

    text: str  # blank-separated lower-case words between blanks, for cues
    words: dict[str, float]  # what it is about, with weights
    affirmed: frozenset[str]
    denied: frozenset[str]
    values: dict[str, frozenset[str]]  # slot to affirmed values
    rejected: dict[str, frozenset[str]]  # slot to denied values
    counts: tuple[Count, ...]
    names: frozenset[str]  # paths, hosts, people, identifiers
    places: frozenset[str]  # stems after "in", "for", "under" …
    areas: frozenset[str]  # kinds of places, products and audiences it names
    subject: frozenset[str]  # stems before the first verb
    point: frozenset[str]  # what it says of its subject
    verb: str
    first: str
    one_off: bool  # an order for now
    points_back: bool  # "it", "them", "those": leans on what was said before
    raw: str
    plain: str  # without what case and blanks make of it
    states: dict[str, bool]  # which side it takes of two that exclude each other
    head: str  # the first telling word
    proper: frozenset[str]  # what it writes with a capital within a sentence


def read(text: str) -> Reading:
    """Read a text of any kind and language; never fails."""
    if _HIDDEN in text:
        text = _with_words_for_secrets(text)
    raw = text[:_MOST_TEXT].lower()
    tokens = tokens_of(raw)
    words: dict[str, float] = {}
    affirmed: set[str] = set()
    denied: set[str] = set()
    values: dict[str, set[str]] = {}
    rejected: dict[str, set[str]] = {}
    names: set[str] = set()
    places: set[str] = set()
    areas: set[str] = set()
    states: dict[str, bool] = {}
    cased = frozenset(text[:_MOST_TEXT].replace(",", " ").replace(".", " ").split()[1:])
    head = ""
    flags = denials(tokens)
    near_place = 0
    last = len(tokens) - 1 - (bool(tokens) and tokens[-1] in BREAKS)
    for position, (token, is_denied) in enumerate(zip(tokens, flags, strict=True)):
        if token in BREAKS:
            near_place = 0
            continue
        if token in cues.PLACE:
            near_place = 4
        near_place -= 1
        if token in cues.AREA:
            areas.add(key_of(token))
        for slot in SLOTS.get(token, ()) if token not in _HOMONYMS or _HOMONYMS[token] in cased else ():
            (rejected if is_denied else values).setdefault(slot, set()).add(VALUES[token])
        if token in OPPOSITES and (len(token) > 2 or position == last):
            pair, side = OPPOSITES[token]
            states[pair] = side != is_denied
        if token in cues.EMPTY or is_number(token):
            continue
        key = key_of(token)
        head = head or key
        if is_name(token):
            names.add(key)
            if "/" in token:
                areas.add(key)
        words[key] = max(words.get(key, 0.0), 0.35 if token in cues.COMMON or key in cues.COMMON else 1.0)
        (denied if is_denied else affirmed).add(key)
        if near_place > 0:
            places.add(key)
    subject, verb = _subject(tokens)
    first = next((token for token in tokens if token not in BREAKS), "")
    return Reading(
        f" {' '.join(tokens)} ".replace(" fall back ", " fallback "),
        words,
        frozenset(affirmed),
        frozenset(denied - affirmed),
        {slot: frozenset(found) for slot, found in values.items()},
        {slot: frozenset(found - values.get(slot, set())) for slot, found in rejected.items()},
        counts_of(tokens),
        frozenset(names),
        frozenset(places),
        frozenset(areas),
        subject,
        _point(tokens),
        verb,
        first,
        _one_off(tokens),
        not cues.POINTERS.isdisjoint(tokens),
        raw,
        " ".join(text[:_MOST_TEXT].casefold().split()),
        states,
        head,
        _proper(text[:_MOST_TEXT]),
    )


def _with_words_for_secrets(text: str) -> str:
    """Write one word for each placeholder: which secret it is counts, its letters and digits say nothing."""
    first, *others = text.split(_HIDDEN)
    kept = [first]
    for other in others:
        placeholder, closed, rest = other.partition("]")
        mark = placeholder.rpartition(":")[2].translate(_LETTERS)
        kept.append(f"q{mark}{rest}" if closed else other)
    return "".join(kept)


def _proper(text: str) -> frozenset[str]:
    """Return the words with a capital that do not begin a sentence: names, in most languages."""
    found = set()
    ended = True
    for word in text.split():
        bare = word.strip(".,;:!?()\"'`")
        if not ended and bare[:1].isupper() and bare.isalpha():
            found.add(key_of(bare.lower()))
        ended = word[-1] in ".!?:"
    return frozenset(found)


def has(reading: Reading, spaced: Iterable[str], unspaced: Iterable[str] = ()) -> bool:
    """Tell whether a reading holds any of these turns of phrase."""
    return any(phrase in reading.text for phrase in spaced) or any(part in reading.raw for part in unspaced)


_VERBS = cues.words("""
is are was were be must should may can could will has have had uses use runs run lives live goes go sits
sit stays stay needs need moved became went got left switched shows show keeps keep expires expire
starts start happens happen comes come gets get stored kept belongs belong listens writes reads sends
prefers supports follow follows contains include includes require requires rotates arrive arrives ist
sind wird werden läuft laufen liegt liegen geht gehen muss müssen hat haben nutzt nutzen kommt kommen
bleibt bleiben bekommen gehört est sont tourne tournent doit doivent utilise va vont reste restent a ont
es son van está están usa usan se usamos é são fica ficam vai vão
""")
_IMPERATIVES = cues.words("""
use never always do dont keep write run store put add ask answer log name tag mark sort stop avoid
prefer commit push format indent deploy call explain merge retry cache build train include please nutze
immer nie keine kein usa nunca siempre utiliser écrire ne jamais toujours no sin
""")
_SKIPPED = cues.words("""
never always please do dont pls and also bitte immer nie no not must you we should nunca siempre jamais
""")


def _subject(tokens: list[str]) -> tuple[frozenset[str], str]:
    """Return the stems before the first verb, and the verb of an order."""
    if not tokens:
        return frozenset(), ""
    if tokens[0] in _IMPERATIVES:
        verb = next((token for token in tokens if token not in _SKIPPED and token not in BREAKS), "")
        return frozenset(), stem(verb)
    found: list[str] = []
    for token in tokens:
        if token in BREAKS:
            return frozenset(), ""
        if token in _VERBS:
            return frozenset(found), stem(token)
        if token not in cues.EMPTY and not is_number(token):
            found.append(key_of(token))
    return frozenset(), ""


_TURNS = cues.words("""
with in as on to from by at before after against under mit als auf zu von bei per um avec en comme sur
vers con como em com = :
""")


def _point(tokens: list[str]) -> frozenset[str]:
    """Return the stems of what is said: after the verb, or after the preposition of an order."""
    if not tokens:
        return frozenset()
    words = [token for token in tokens if token not in BREAKS]
    turn = 0
    if words and words[0] in _IMPERATIVES:
        if "use" in words[:3] or "nutze" in words[:2]:
            end = next(
                (at for at, word in enumerate(words) if word in {"for", "für", "in", "para", "pour"}),
                len(words),
            )
            return frozenset(key_of(word) for word in words[:end] if word not in cues.EMPTY)
        turn = next((at for at, word in enumerate(words) if at > 1 and word in _TURNS), 0)
    else:
        turn = next((at for at, word in enumerate(words) if at and (word in _VERBS or word in _TURNS)), 0)
    return frozenset(key_of(word) for word in words[turn:] if word not in cues.EMPTY and not is_number(word))


def _one_off(tokens: list[str]) -> bool:
    words = [
        token
        for token in tokens
        if token not in BREAKS
        and token not in {"please", "pls", "bitte", "and", "now", "mal", "por", "favor"}
    ]
    if "?" in tokens:
        return True
    return len(words) > 1 and words[0] in cues.ONE_OFF and not cues.ONE_THING.isdisjoint(words[1:4])
