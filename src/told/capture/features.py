"""Describe sentences by cues, words, shape, message and context."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from zlib import crc32

from told.capture.cues import find_cjk_cues, find_cues, has_cjk, load_cue_data, load_words, normalise
from told.capture.language import detect_language
from told.capture.sentences import Sentence, count_words
from told.pattern import lazy_pattern
from told.text import remove_placeholders

# ruff: noqa: RUF001 - punctuation of many languages

SLOTS = 1 << 17  # a feature is a slot of the weights: the hash of its name
_CUE, _WORD, _MESSAGE, _CONTEXT, _SHAPE = 1.5, 1.2, 0.8, 0.4, 1.0  # how much each block counts
_STEM = 8  # letters of a word that count
_CONTEXT_LENGTH = 250  # characters of the agent's text
_SENTENCE_SIZES = (3, 5, 8, 12, 16, 20, 25)  # words
_MESSAGE_SIZES = (5, 10, 20, 40, 80, 120)  # words
_PASTED_SHARES = (1.1, 1.5, 3.0)  # characters of the message to those that were typed

_CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_TOKEN = lazy_pattern(rf"[{_CJK}]|[^\W\d_{_CJK}]+(?:['’][^\W\d_]+)?|\d+|[?!:;,.`/]")
_NAME = lazy_pattern(
    r"`[^`\n]+`|\b[a-z]+[A-Z]\w*|\w_\w|\w/\w|\w/(?=\s|$)|/\w+/|\w\.(?:[a-z]{2,4}|go|rs|c|h)\b(?!\.)|(?<!\S)--?[a-z]"
)
_POINTER = lazy_pattern(r"\b(?:lines?|issues?|PR|pr|ligne|línea|zeile)\s+#?\d|#\d|[Ii]mage\s*#?\d|screenshot")
_QUOTED = lazy_pattern(
    r"“[^”\n]{1,120}”|«[^»\n]{1,120}»|„[^“”\n]{1,120}[“”]|(?<!\w)\"[^\"\n]{1,120}\"|「[^」\n]{1,120}」"
)
_CODE = lazy_pattern(
    r"`[^`\n]{1,200}`|https?://\S{1,400}|(?<!\S)@[\w./-]{1,200}|(?<!\S)--?[a-zA-Z][\w-]{0,60}"
    r"|(?<![\w./~-])@?[\w.~-]{0,80}[/\\][\w./\\~-]{1,300}"
)
_TASK_VERBS = load_words("task_verbs", unaccented=True)
_POLICY_VERBS = load_words("policy_verbs", unaccented=True)
_ASKING, _EMPHASIS = load_words("asking"), load_words("emphasis")
_POLITE = load_words("polite_openings")
_CJK_TASKS: list[str] = load_cue_data()["phrases"]["cjk_tasks"]
_NEGATIONS: list[str] = load_cue_data()["phrases"]["negations"]
_START_OF = {word: name for name, text in load_cue_data()["sentence_starts"].items() for word in text.split()}


@dataclass(frozen=True, slots=True)
class Block:
    """Features of one sort, as slots, and what each counts."""

    scale: float
    slots: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Described:
    """The features that all sentences of a message share, and those of each."""

    shared: tuple[Block, ...]
    own: tuple[tuple[Block, ...], ...]


def describe(sentences: Sequence[Sentence], message: str, before: str = "") -> Described:
    """Return the features of the sentences of a message."""
    tokens = [_tokenise(sentence.text) for sentence in sentences]
    sizes = [count_words(sentence.text) for sentence in sentences]
    shared = (
        _block(_MESSAGE, "m:", (gram for one in tokens for gram in _grams(one))),
        _block(_CONTEXT, "c:", _tokenise(before[-_CONTEXT_LENGTH:])),
    )
    around = _describe_message(sentences, sizes, message, before)
    own = tuple(
        (
            _block(_CUE, "o:", find_signs(sentence.text)),
            _block(_WORD, "w:", _grams(tokens[place])),
            _block(_SHAPE, "s:", (*around, *_describe_place(sentences, sizes, place))),
        )
        for place, sentence in enumerate(sentences)
    )
    return Described(shared, own)


def _block(weight: float, prefix: str, names: Iterable[str]) -> Block:
    slots = tuple(sorted({crc32((prefix + name).encode("utf-8", "replace")) % SLOTS for name in names}))
    return Block(weight / sqrt(len(slots)) if slots else 0.0, slots)


def _tokenise(text: str) -> list[str]:
    words = _TOKEN.findall(remove_placeholders(text))  # their letters are random
    return ["0" if word.isdigit() else word.lower()[:_STEM] for word in words]


def _grams(tokens: Sequence[str]) -> list[str]:
    """Return words and pairs of words."""
    return [*tokens, *map("_".join, zip(("^", *tokens), (*tokens, "$"), strict=True))]


def _describe_message(
    sentences: Sequence[Sentence], sizes: Sequence[int], message: str, before: str
) -> tuple[str, ...]:
    typed = sum(len(sentence.text) for sentence in sentences)
    return (
        f"words:{_bucket(sum(sizes), _MESSAGE_SIZES)}",
        f"sentences:{min(len(sentences), 6)}",
        f"pasted:{_bucket(len(message) / max(1, typed), _PASTED_SHARES)}",
        f"language:{detect_language(message)}",
        f"answers:{bool(before)}",
        f"asks:{any(_asks(sentence.text) for sentence in sentences)}",
    )


def _describe_place(sentences: Sequence[Sentence], sizes: Sequence[int], place: int) -> tuple[str, ...]:
    sentence = sentences[place]
    return (
        f"size:{_bucket(sizes[place], _SENTENCE_SIZES)}",
        f"place:{min(place, 4)}",
        f"last:{place == len(sentences) - 1}",
        f"question:{_asks(sentence.text)}",
        f"item:{sentence.item}",
        f"headed:{bool(sentence.heading)}",
    )


def _bucket(value: float, limits: Sequence[float]) -> int:
    return sum(value > limit for limit in limits)


def _asks(text: str) -> bool:
    return text.rstrip().endswith(("?", "？"))


def find_signs(text: str) -> set[str]:
    """Return the cues of a sentence and what its form tells."""
    text = remove_placeholders(text)
    uncoded = _CODE.sub(" ° ", text)
    unquoted = _QUOTED.sub(" ° ", uncoded)
    bare = normalise(unquoted if count_words(unquoted) > 2 else text)
    words = bare.split()
    end = text.rstrip()
    found = find_cues(bare) | find_cjk_cues(bare) if has_cjk(text) else find_cues(bare)
    form = {
        "question": _asks(text),
        "start_asks": words[:1] and words[0] in _ASKING,
        "task": _is_task(text, words),
        "policy": words[:1] and words[0] in _POLICY_VERBS,
        "emphasis": not _EMPHASIS.isdisjoint(text.split()) and not text.isupper(),
        "pointer": _POINTER.search(text),
        "not_this": any(negation in text for negation in _NEGATIONS),
        "named": _NAME.search(text),
        "digit": any(map(str.isdigit, text)),
        "exclaim": end.endswith(("!", "！")),
        "trails": end.endswith((":", "：")),
        "dots": end.endswith(("...", "…")),
        "quoted": unquoted != uncoded,
    }
    found |= {name for name, is_true in form.items() if is_true}
    if words and words[0] in _START_OF:
        found.add(f"start:{_START_OF[words[0]]}")
    return found


def _is_task(text: str, words: Sequence[str]) -> bool:
    """Detect requests for work: `please add …`, `can you fix …`."""
    rest = [word for word in words[:5] if word not in _POLITE]
    return bool(rest and rest[0] in _TASK_VERBS) or any(task in text for task in _CJK_TASKS)
