"""What a question asks for: whether something holds, which of two, why, or what is so."""

from __future__ import annotations

from told.memory import _supersede_cues as cues
from told.memory._graph_polarity import Claim, claim
from told.record import record
from told.search.kinship import alternatives
from told.search.tokens import BREAKS, key_of, tokens_of

WHETHER, CHOICE, WHY, VALUE = FORMS = ("whether", "choice", "why", "value")
_MOST_TEXT = 2000
_WHY_WORDS = cues.words("why warum wieso weshalb pourquoi porquê")
_WHY_PHRASES = (
    " por qué ", " por que ", " how come ", " what for ", " reason for ", " reasons for ", " grund für ",
    " raison de ",
)  # fmt: skip
_WHY_UNSPACED = ("为什么", "为何", "なぜ", "どうして")
_VALUE_WORDS = cues.words("""
what which when where who whom whose how whats wheres hows wann wo welche welcher welches welchen welchem
wer wie wieviel wieviele wohin woher quel quelle quels quelles quand où qui combien comment cuándo cuando
dónde donde qué cuál quién cuánto cuántos cómo quando onde qual quais quem quanto quantos
""")
_WAS = "was"  # a past tense in English, "what" in German
_GERMAN = cues.words("ist sind wir gilt der die das für nutzen verwenden machen haben muss müssen sollen")
_VALUE_UNSPACED = ("什么", "哪", "何时", "多少", "いつ", "どこ", "どれ", "どの", "何")
_OR = cues.words("or oder ou vs versus")
_OR_SHORT = cues.words("o u")  # also an article, so only between two choices of one thing
_OR_UNSPACED = ("还是", "或者", "それとも")
_NOT = cues.words("not nicht pas no não")
# What a question begins with, or only says that it is one.
_LEADING = cues.words("""
can could should shall may must do does did is are was were will would have has had am dont doesnt didnt
isnt arent shouldnt cant wont we i you one soll sollen sollten kann können darf dürfen muss müssen ist sind
wird werden hat haben ich wir man est sont doit faut peut on nous es son debe debemos puedo podemos é são
deve devemos posso and so but und also then
""")
_ASKING = _WHY_WORDS | _VALUE_WORDS | cues.words("""
reason reasons grund gründe better best prefer preferred right correct supposed true besser richtig lieber
whether ob anyway exactly actually really currently aktuell eigentlich genau currently
""")  # fmt: skip
_WANTED = {
    "time": (" when ", " wann ", " quand ", " cuándo ", " quando "),
    "place": (" where ", " wheres ", " wo ", " wohin ", " où ", " dónde ", " onde "),
    "number": (
        " how many ", " how much ", " how long ", " how often ", " wie viele ", " wie lange ", " wieviel ",
        " combien ", " cuánto ", " cuántos ", " quanto ", " quantos ",
    ),
}  # fmt: skip
_HOW = cues.words("how wie")
_HOW_MUCH = cues.words("long much many often far big large old lang lange viel viele oft weit groß alt")
_LONGEST_SIDE = 3
_OPENING = 3  # words among which a question word stands


@record
class Question:
    """A question, ready to be held against memories."""

    text: str
    form: str
    claim: Claim  # what it asks about, without the words that only ask
    words: dict[str, float]
    sides: tuple[tuple[str, frozenset[str]], ...] = ()  # of a choice: as said, and as compared
    wants: str = ""  # of a value: "number", "time" or "place", if it asks for one


def asked(text: str) -> Question:
    """Read a question of any kind and language; never fails."""
    raw = " ".join(text[:_MOST_TEXT].lower().split())
    tokens = tokens_of(raw)
    spaced = f" {' '.join(tokens)} "
    opening = [token for token in tokens if token not in BREAKS][:_OPENING]
    is_value = _is_value(raw, tokens, opening)
    sides: tuple[tuple[str, frozenset[str]], ...] = ()
    if _is_why(raw, spaced, opening):
        form = WHY
    else:
        sides = _sides(raw, tokens, is_value=is_value)
        form = CHOICE if sides else VALUE if is_value else WHETHER
    while form == WHETHER and tokens and tokens[0] in _LEADING:
        tokens = tokens[1:]
    read = claim(" ".join(_telling(tokens)))
    words = {word: weight for word, weight in read.reading.words.items() if word not in _ASKING}
    return Question(text, form, read, words, sides, _wants(opening, spaced) if form == VALUE else "")


def _telling(tokens: list[str]) -> list[str]:
    """Return the words that do more than ask: neither "why" nor "how long"."""
    pairs = zip(["", *tokens], tokens, strict=False)
    return [
        token for before, token in pairs
        if token not in _ASKING and not (before in _HOW and token in _HOW_MUCH)
    ]  # fmt: skip


def _is_why(raw: str, spaced: str, opening: list[str]) -> bool:
    return (
        not _WHY_WORDS.isdisjoint(opening)
        or any(phrase in spaced for phrase in _WHY_PHRASES)
        or any(part in raw for part in _WHY_UNSPACED)
    )


def _is_value(raw: str, tokens: list[str], opening: list[str]) -> bool:
    if not _VALUE_WORDS.isdisjoint(opening) or any(part in raw for part in _VALUE_UNSPACED):
        return True
    return bool(opening) and opening[0] == _WAS and not _GERMAN.isdisjoint(tokens)


def _sides(raw: str, tokens: list[str], *, is_value: bool) -> tuple[tuple[str, frozenset[str]], ...]:
    """Return the two things that a question asks to choose from; nothing if it does not."""
    for mark in _OR_UNSPACED:
        if mark in raw:
            left, _, right = raw.partition(mark)
            parts = [frozenset(claim(part).affirmed) for part in (left, right)]
            own = [parts[0] - parts[1], parts[1] - parts[0]]
            return tuple((" ".join(sorted(one)), one) for one in own) if all(own) else ()
    for at, token in enumerate(tokens):
        if token not in _OR and token not in _OR_SHORT:
            continue
        after = _run(tokens[at + 1 :])
        before = _run(tokens[:at][::-1])[: max(1, len(after))][::-1]
        if not before or not after or after[0] in _NOT:
            continue
        one_of_a_kind = alternatives(before[-1], after[0])
        if (token in _OR_SHORT or (is_value and not _set_apart(tokens[:at]))) and not one_of_a_kind:
            continue
        return tuple((" ".join(side), frozenset(map(key_of, side))) for side in (before, after))
    return ()


def _run(tokens: list[str]) -> list[str]:
    """Return the first words that say something, up to the next that does not."""
    run: list[str] = []
    for token in tokens:
        if token in BREAKS or token in cues.EMPTY or token in _ASKING:
            if run or token in BREAKS:
                break
            continue
        run.append(token)
        if len(run) == _LONGEST_SIDE:
            break
    return run


def _set_apart(tokens: list[str]) -> bool:
    """Tell whether a comma or colon stands before the first choice: "which one, npm or yarn?"."""
    return any(token in BREAKS for token in tokens[-_LONGEST_SIDE - 1 :])


def _wants(opening: list[str], spaced: str) -> str:
    wanted = [name for name, said in _WANTED.items() if any(phrase in spaced for phrase in said)]
    return wanted[0] if wanted and not _VALUE_WORDS.isdisjoint(opening) else ""
