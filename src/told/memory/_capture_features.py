"""Describes a sentence of a message in numbers that mean the same in every language."""

# ruff: noqa: RUF001 - words and signs of many languages are the subject
from __future__ import annotations

from itertools import pairwise

from told.memory._capture_cues import cues
from told.memory._capture_habits import states_habit
from told.memory._capture_model import WORDING
from told.memory._capture_openings import ABSOLUTE, FILLERS, POLICY_VERBS, TASK_VERBS
from told.memory._capture_plain import is_unspaced, plain, wordings
from told.memory._capture_sentences import count_words
from told.memory._capture_unspaced import FILLERS as UNSPACED_FILLERS
from told.memory._capture_unspaced import TASKS
from told.memory._capture_wording import shapes, without_code, without_quotes
from told.snapshot import pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from told.memory._capture_sentences import Sentence

_NAME = pattern(
    r"`[^`\n]+`|\b[a-z]+[A-Z]\w*|\w_\w|\w/\w|\w/(?=\s|$)|/\w+/|\w\.(?:[a-z]{2,4}|go|rs|c|h)\b(?!\.)|(?<!\S)--?[a-z]"
)
_POINTER = pattern(r"\b(?:lines?|issues?|PR|pr|ligne|línea|zeile)\s+#?\d|#\d|[Ii]mage\s*#?\d|screenshot")
_EMPHASIS_WORDS = """
NOT ONLY ALWAYS NEVER MUST ALL ANY ANYTHING EVERY DON'T DO SHOULD NO ENTIRE ONCE ONE BOTH IS ARE VERY
JUST WILL FIRST EXACTLY EVERYTHING IMPORTANT STOP
"""
_EMPHASIS = frozenset(_EMPHASIS_WORDS.split())
_TAG_WORDS = """
no yeah yes right correct ok okay wth huh agreed sense non parece verdad ne oder né vale tá ね 吧 好吗
"""
_TAGS = frozenset(_TAG_WORDS.split())
_LENGTHS = (6, 12, 25, 50, 80)  # words of a message
_NEGATIONS = (", not ", ", nicht ", ", pas ", ", no ", ", não ", ", nie ", " NOT ", "，不", "、ではな")
_CORRECTING = (
    " actually ", " no actually ", " wrong ", " no it ", " no the ", " eigentlich ", " falsch", " nein ",
    " en fait ", " en réalité ", " non ", " en realidad ", " no el ", " no está ", " na verdade ", " não o ",
    " 其实", " 不对", " 错了", " 実は", " 違います", " 違う",
)  # fmt: skip
_MEANT = (
    " i meant ", " ich meinte ", " je voulais dire ", " je parlais d", " quise decir ", " me refería ",
    " me referia ", " eu quis dizer ", " 我是说", " 我的意思是",
)  # fmt: skip
_FORBIDDING = (" don't ", " do not ", " dont ", " stop ", " avoid ", " évite ", " evita ", " vermeide ")
_WARNING = (
    " careful ", " beware ", " watch out ", " caution ", " achtung ", " vorsicht ", " attention ",
    " cuidado ", " atenção ", " 小心", " 当心",
)  # fmt: skip
_WHO = (
    " i am a ", " i'm a ", " i am an ", " i'm an ", " i'm not a ", " i am not a ", " i'm new to ",
    " i'm the only ", " ich bin ein ", " ich bin eine ", " ich bin kein ", " je suis un ", " je suis une ",
    " je suis débutant", " soy un ", " soy una ", " soy profesor", " no soy ", " eu sou ", " sou um ",
    " sou uma ",
)  # fmt: skip
_WHO_NOT = (" i am a bit ", " i'm a bit ", " i'm a little ", " i am a little ", " je suis un peu ")
_NOT_PLAIN = frozenset(
    (
        "one_off", "demonstrative", "pointer", "question", "hold_off", "guess", "progress", "stuck",
        "happened", "trails", "quoted",
    )
)  # fmt: skip
_NOT_STATED = frozenset(
    ("task", "bug", "want", "ask", "hedge", "lets", "should", "must", "condition", "past")
)
_UNSPACED_ORDERS = ("必ず", "絶対に", "一律", "务必", "禁止", "千万", "永远不要")
_PERSONS = frozenset(("i", "we", "you", "he", "they", "i've", "we've", "you've"))
_HAPPENED_WORDS = "got ran made did saw put wrote found went see tried just have"
_HAPPENED = frozenset(_HAPPENED_WORDS.split())
_PERFECT = frozenset(("ha", "han", "he", "has", "hemos"))
_CONTINUED = frozenset(("stop", "quit", "keep", "keeps", "more"))
_AROUND = " \t\n,.!:;…-，。！、：；–—"
_FILLERS = frozenset(FILLERS)
_CLOSING = ",.!:;…-–—?"  # these would mean something without a comma: `no tabs`, `right click`, `look in lib`
_NEED_A_COMMA = frozenset(
    (
        "no", "nope", "nah", "não", "nie", "nein", "non", "si", "sí", "good", "right", "sure", "look", "man",
        "great", "super", "gut", "listen", "then", "plus", "wait", "again", "really", "nice", "cool", "right",
        "tak", "k",
    )
)  # fmt: skip
_STARTS = {
    "we": "we we're we've we'll our wir unser nous on nosotros nuestra nós nosso",
    "i": "i i'm i'd i'll i've my ich mein je j' mon yo mi eu meu",
    "it": "it it's its this that that's these those they he das dies c' ça cela ce esto eso es isso isto é",
    "the": "the a an der die das ein eine le la les l' un une el los las una o a os as um uma",
    "you": "you you're your du tu vous usted você",
    "if": (
        "if when whenever unless once before after for in on at wenn für bei si quand lorsque pour dans "
        "cuando para en se quando em"
    ),
    "there": "there there's here here's es il hay ahí há",
    "no": "no none nothing not kein keine aucun ningún nenhum pas",
}
_START_OF = {word: name for name, text in _STARTS.items() for word in text.split()}
_LIST_HEADING = ("convention", "note", "must", "always", "never", "dont", "prefer", "define")


def without_filler(text: str) -> str:
    """Return the text without openings such as `ok, so`."""
    while True:
        rest = _opened(text.lstrip(_AROUND))
        if not rest or count_words(rest) < 2:
            return text
        text = rest


def _opened(text: str) -> str:
    """Return what follows the opening of a text, or nothing if it has none."""
    for opening in UNSPACED_FILLERS:
        if text.startswith(opening) and text[len(opening) :][:1] in _AROUND:
            return text[len(opening) :].lstrip(_AROUND)
    words = text.split(None, 2)
    if not words:
        return ""
    for count in (2, 1):
        opening = " ".join(words[:count])
        said = opening.lower().replace("’", "'").rstrip(_AROUND)
        if said in _NEED_A_COMMA and opening[-1] not in _CLOSING:
            continue
        if len(words) >= count and said in _FILLERS:
            return (
                text[text.index(words[count - 1]) + len(words[count - 1]) :].lstrip(_AROUND)
                if count == 1
                else (words[2] if len(words) > 2 else "")
            )
    return ""


def is_task(text: str) -> bool:
    """Say whether a sentence asks for work: `please add …`, `can you fix …`."""
    words = plain(without_filler(text)).split()
    if not words:
        return False
    first = words[0]
    if first in {"please", "let's", "lets", "bitte", "can", "could", "just", "now", "then", "you"}:
        rest = [word for word in words[1:4] if word not in {"you", "we", "please", "also", "just", "now"}]
        first = rest[0] if rest else first
    return first in TASK_VERBS or any(text.find(task) >= 0 for task in TASKS if not text.isascii())


def describe(found: Sequence[Sentence], message: str) -> list[dict[str, float]]:
    """Return the features of each sentence of a message."""
    far = is_unspaced(message)
    size = sum(count_words(sentence.text) for sentence in found)
    shared = {f"over:{length}": 1.0 for length in _LENGTHS if size > length}
    if len(found) == 1:
        shared["alone"] = 1.0
    single = [_own(sentence, far) for sentence in found]
    described = []
    for place, (sentence, own) in enumerate(zip(found, single, strict=True)):
        features = {**own, **shared}
        features["first"] = float(place == 0)
        features["last"] = float(place == len(found) - 1)
        if place + 1 < len(found):
            for name in ("reason", "demonstrative", "task", "question"):
                if name in single[place + 1]:
                    features[f"next:{name}"] = 1.0
        if place:
            for name in ("task", "question", "bug", "must", "should", "dont_want"):
                if name in single[place - 1]:
                    features[f"before:{name}"] = 1.0
        if sentence.item:
            features["item"] = 1.0
        if sentence.heading:
            features["headed"] = 1.0
            if any(name in cues(plain(sentence.heading), with_unspaced=far) for name in _LIST_HEADING):
                features["headed:rules"] = 1.0
        described.append({name: value for name, value in features.items() if value})
    return described


def _own(sentence: Sentence, far: bool) -> dict[str, float]:
    text = without_filler(sentence.text)
    uncoded = without_code(text)
    unquoted = without_quotes(uncoded)
    bare = plain(unquoted if count_words(unquoted) > 2 else text)
    found = cues(bare, with_unspaced=far)
    words = bare.split()
    first = words[0] if words else ""
    size = count_words(text)
    ends = text.rstrip()
    asks = ends.endswith(("?", "？"))
    tagged = asks and bool(words) and words[-1] in _TAGS
    shape = {
        "question": asks and not tagged,
        "tag": tagged,
        "start_asks": first in _ASKING,
        "task": is_task(text),
        "policy": first in POLICY_VERBS,
        "emphasis": not _EMPHASIS.isdisjoint(text.split()) and not text.isupper(),
        "pointer": bool(_POINTER.search(text)),
        "not_this": any(negation in text for negation in _NEGATIONS),
        "named": bool(_NAME.search(text)),
        "digit": any(map(str.isdigit, text)),
        "exclaim": ends.endswith(("!", "！")),
        "trails": ends.endswith((":", "：")),
        "dots": ends.endswith(("...", "…")),
        "opened": len(text) != len(sentence.text),
        "quoted": unquoted != uncoded,
        **shapes(bare, words),
        "short": size < 5,
        "brief": 5 <= size < 9,
        "lengthy": size > 22,
        "happened": _happened(words),
        "ing": any(word in _CONTINUED and after.endswith("ing") for word, after in pairwise(words)),
    }
    found |= {name for name, true in shape.items() if true}
    if first in _START_OF:
        found.add(f"start:{_START_OF[first]}")
    if first in ABSOLUTE:
        found.add("absolute")
    found |= _combined(found)
    if _is_sure(found, bare, plain(sentence.text)) or states_habit(sentence.text):
        found.add("sure")
    said = wordings(plain(without_quotes(without_code(sentence.text))))
    return dict.fromkeys((*found, *(f"{WORDING}{one}" for one in said)), 1.0)


def _is_sure(found: set[str], bare: str, opened: str) -> bool:
    """Say whether a sentence is unmistakable, whatever was learned: `from now on`, `I meant`, `never …`."""
    if found & {"question", "start_asks", "happened", "stuck", "pointer", "hedge", "you_task"}:
        return bool(found & {"start_asks"}) and not found & _NOT_PLAIN and _forbids(found, bare)
    corrected = opened.startswith(_CORRECTING) and bool(found & {"place", "named", "env", "not_this"})
    return (
        "henceforth" in found
        or "absolute" in found
        or found >= {"never", "always", "orders"}
        or corrected
        or bare.startswith(_MEANT)
        or (not bare.isascii() and any(order in bare for order in _UNSPACED_ORDERS))
        or ("prefer" in found and (" over " in bare or "contrast" in found))
        or (not found & _NOT_PLAIN and (_forbids(found, bare) or _is_plain(found, bare, opened)))
    )


def _forbids(found: set[str], bare: str) -> bool:
    """Say whether a sentence forbids something in the work on code: `don't add comments`."""
    return (
        "dont" in found
        and bool(found & {"code_thing", "you_agent"})
        and bare.startswith(_FORBIDDING)
        and not _is_definite(bare)
    )


def _is_definite(bare: str) -> bool:
    """Say whether a sentence is about one thing, `the file`; everybody has only one code base."""
    for whole in (" the code ", " the repo ", " the project "):
        bare = bare.replace(whole, " ")
    return " the " in bare


def _is_plain(found: set[str], bare: str, opened: str) -> bool:
    """Say whether a sentence warns, says who somebody is, where something lives, or how to work."""
    return (
        opened.startswith(_WARNING)
        or (bare.startswith(_WHO) and not bare.startswith(_WHO_NOT))
        or ("place" in found and bool(found & {"named", "env"}) and not found & _NOT_STATED)
        or (
            "policy" in found
            and bool(found & {"code_thing", "you_agent"})
            and not found & {"named", "ui"}
            and not _is_definite(bare)
        )
    )


def _happened(words: Sequence[str]) -> bool:
    """Say whether a sentence tells what somebody did."""
    if len(words) > 1 and words[0] in _PERSONS and (words[1] in _HAPPENED or words[1].endswith("ed")):
        return True
    return any(
        (word in _PERFECT and after.endswith(("ado", "ido")))
        or (word == "j'" and after == "ai")
        or word + after == "ichhabe"
        for word, after in pairwise(words)
    )


def _combined(found: set[str]) -> set[str]:
    """Return what several cues say together that none says alone."""
    asks = bool(found & {"question", "start_asks"})
    broken = bool(found & {"stuck", "bug", "happened"})
    modal = bool(found & {"must", "should", "must_not"})
    norm = modal or bool(found & {"never", "dont_want", "prefer", "policy"})
    looks = "ui" in found
    told = not asks and not found & {"task", "you_task", "happened", "stuck", "pointer"}
    every = bool(found & {"universal", "always", "never", "generic", "henceforth"})
    why = bool(found & {"reason", "purpose"})
    states = (
        told
        and not norm
        and not broken
        and not found & {"want", "lets", "one_off", "hedge", "ask", "progress", "short"}
    )
    rules = {
        "c:modal_all": modal and every and told,
        "c:modal_why": modal and why and told,
        "c:modal_contrast": modal and bool(found & {"contrast", "not_this", "only", "emphasis"}) and told,
        "c:modal_named": modal and "named" in found and told and not looks,
        "c:modal_thing": modal and "code_thing" in found and told and not looks,
        "c:modal_looks": modal and looks,
        "c:modal_asks": modal and asks,
        "c:modal_broken": modal and broken,
        "c:modal_place": modal and bool(found & {"place", "precede", "like", "define"}),
        "c:forbid_all": bool(found & {"dont", "must_not", "dont_want"}) and every and told,
        "c:forbid_why": bool(found & {"dont", "must_not", "dont_want"}) and why and told,
        "c:forbid_thing": bool(found & {"dont", "must_not", "dont_want"}) and "code_thing" in found and told,
        "c:always_policy": bool(found & {"always", "never"})
        and bool(found & {"policy", "task", "you_agent", "i_way"}),
        "c:always_broken": bool(found & {"always", "never"}) and broken,
        "c:unwanted": "dont_want" in found and told and not looks,
        "c:wish": bool(found & {"want", "want_that"}) and told and not every and not why,
        "c:wish_all": bool(found & {"want", "want_that"}) and every,
        "c:wish_never": bool(found & {"want", "want_that"})
        and bool(found & {"never", "always", "henceforth", "language", "abandon"}),
        "c:task_all": "task" in found and every,
        "c:task_why": "task" in found and "purpose" in found,
        "c:task_plain": "task" in found and not every and not why,
        "c:we_use": bool(found & {"we_do", "start:we"}) and states,
        "c:is_a": "is_a" in found and states,
        "c:is_a_work": "is_a" in found and told and "kind_of_work" in found and not broken,
        "c:lives": "place" in found and states,
        "c:fact_env": "env" in found and states,
        "c:fact_named": "named" in found and states,
        "c:fact_generic": bool(found & {"generic", "universal", "only", "always", "never"}) and states,
        "c:define": bool(found & {"define", "precede"}) and told and not broken,
        "c:agent_habit": "you_agent" in found
        and bool(found & {"never", "always", "dont", "henceforth", "ing", "language"}),
        "c:me": bool(found & {"i_way"})
        and bool(found & {"always", "never", "prefer", "taste", "only"})
        and told,
        "c:taste": bool(found & {"taste", "prefer"}) and told and not looks,
        "c:corrects": bool(found & {"actually", "wrong", "meant"})
        and bool(found & {"place", "named", "not_this", "contrast", "env", "only"})
        and told,
        "c:warns": "warn" in found
        and bool(found & {"must", "dont", "condition", "reason", "note", "never"})
        and not asks,
        "c:decides": "we_will" in found and why and told,
        "c:decided": bool(found & {"we_will", "abandon"}) and told and not looks,
        "c:contrast_policy": "contrast" in found and "policy" in found,
        "c:convention": "convention" in found and (norm or "is_a" in found or "we_do" in found) and told,
        "c:note": "note" in found and states,
        "c:state": states,
        "c:broken": broken and not norm,
        "c:looks_wish": looks and bool(found & {"want", "should", "must", "lets"}),
    }
    return {name for name, true in rules.items() if true}


_ASKING_WORDS = """
what why how where which who when can could would should shall will do does did is are was were am has
have isn't aren't shouldn't couldn't wouldn't don't doesn't didn't warum wieso wie was wo welche welcher
kann kannst können könnte soll sollen sollten gibt ist sind hast habe pourquoi comment quel quelle quels
où qui peux peut pouvez pourrais est qu'est as qu' qué por cómo dónde cuál puedes podrías hay has es
está quién cuándo pode poderia podemos qual onde quando como tem é
"""
_ASKING = frozenset(_ASKING_WORDS.split())
