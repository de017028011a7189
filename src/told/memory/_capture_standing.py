"""Makes a sentence stand alone: without openings and tags, with the name of what `it` was."""

# ruff: noqa: RUF001 - words and signs of many languages are the subject
from __future__ import annotations

from told.memory._capture_features import without_filler
from told.memory._capture_names import entities
from told.snapshot import IGNORECASE, pattern

_TAIL = pattern(
    r"[\s,;.…]*(?:,|\.\.\.|\s-)\s*(?:no|yeah|right|ok|okay|please|thanks|wth|man|te parece|verdad|vale|non"
    r"|d'accord|ja|oder|né"
    r"|tá|好吗|ね)\s*[?？!.]*\s*$",
    IGNORECASE,
)
_HEDGE = pattern(
    r"(?:i think(?: that)?|i guess|i believe|in my thinking,?|to me,?|my (?:idea|view) is that|je pense que?"
    r"|creo que|acho que"
    r"|ich denke,?(?: dass)?)\s+(?=\S+\s+\S+\s+\S+)",
    IGNORECASE,
)
_PRONOUN = pattern(
    r"(it|this|that|es|das|dies|ça|cela|eso|esto|isso|isto)(?=\s+(?:is|are|lives|should|must|needs|has|uses|runs|belongs|goes"
    r"|can|cannot|shouldn't|isn't|doesn't|was|will|liegt|ist|muss|soll|läuft|est|doit|va|está|debe|va|deve|fica)\b)"
    r"|(it's|that's)(?=\s)|(它|这个|那个|それ|これ)(?=在|是|应|必|は|が)",
    IGNORECASE,
)
_THAT_FILE = pattern(
    r"\b(?:that|this|the same) (?:file|folder|directory|module|function|class|script)\b"
    r"|\b(?:diese|die) Datei\b|\bce fichier\b"
    r"|\best[ea] archivo\b|\beste arquivo\b|这个文件|このファイル",
    IGNORECASE,
)
_LAST_SENTENCE = pattern(r"[^.!?。！？\n]+(?:[.!?][\w/][^.!?。！？\n]*)*[.!?。！？]*\s*$")


def standing(sentence: str, earlier: str, before: str) -> str:
    """Return one sentence that can be understood without the conversation, as far as that is safe.

    Args:
        sentence: The sentence as it was typed.
        earlier: The sentence before it in the same message.
        before: The end of the agent's text before the message.
    """
    text = without_filler(sentence.strip())
    text = _HEDGE.sub("", text, count=1) if _HEDGE.match(text) else text
    shorter = _TAIL.sub("", text)
    text = shorter if len(shorter.split()) > 2 or not shorter.isascii() else text
    text = _resolved(text, earlier, before)
    text = (
        " ".join(text.split()).rstrip("….,;:- ")
        if not text.rstrip().endswith(("!", "?"))
        else " ".join(text.split())
    )
    if not text:
        return sentence.strip()
    if text[0].islower() and text.split(" ", 1)[0].isalpha():
        text = text[0].upper() + text[1:]
    if text.isascii() or text[-1].isalnum():
        text += (
            ""
            if text.endswith((".", "!", "?", "。", "！", "？"))
            else "。"
            if "\u3040" <= text[-1] <= "\u9fff"
            else "."
        )
    return text


def _resolved(text: str, earlier: str, before: str) -> str:
    pronoun = _PRONOUN.match(text)
    reference = _THAT_FILE.search(text)
    if not pronoun and not reference:
        return text
    name = _only_name(earlier) or ("" if earlier else _only_name(_last(before)))
    if not name or name in text:
        return text
    if reference:
        return f"{text[: reference.start()]}{name}{text[reference.end() :]}"
    assert pronoun is not None
    verb = " is" if pronoun.group(2) else ""
    return f"{name}{verb}{text[pronoun.end() :]}"


def _only_name(text: str) -> str:
    """Return the name in a text if it has exactly one: with two, nobody knows which was meant."""
    names = entities(text)
    return names[0] if len(names) == 1 else ""


def _last(before: str) -> str:
    match = _LAST_SENTENCE.search(before[-600:].rstrip())
    return match.group() if match else ""
