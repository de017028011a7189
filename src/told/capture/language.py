"""Guess the language of a message from its script and short words."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from told.pattern import lazy_pattern

# Languages with at least ten teaching messages in the training data; others get the explicit grammar only.
MODELLED = frozenset(("en", "zh", "es", "fr", "ja", "ru", "pl"))
_READ = 2000  # characters of a message
_WORDS = {
    language: frozenset(words.split())
    for language, words in tomllib.loads(
        Path(__file__).with_name("languages.toml").read_text(encoding="utf-8")
    ).items()
}
_WORD = lazy_pattern(r"[^\W\d_]+")
_KANA = lazy_pattern(r"[\u3040-\u30ff]")
_HAN = lazy_pattern(r"[\u3400-\u9fff]")
_HANGUL = lazy_pattern(r"[\uac00-\ud7af]")
_THAI = lazy_pattern(r"[\u0e00-\u0e7f]")
_CYRILLIC = lazy_pattern(r"[\u0400-\u04ff]")
_UKRAINIAN = lazy_pattern(r"[іїєґ]", re.IGNORECASE)
_OTHER = lazy_pattern(r"[\u0370-\u03ff\u0590-\u06ff\u0900-\u0dff]")
_MIN_HITS = 2  # words of a language in a text of plain letters
_MIN_SHARE = 0.15  # of the letters that have to be in another script


def detect_language(text: str) -> str:
    """Return the language of a text as a two-letter code; `en` if unsure."""
    text = text[:_READ]
    if not text.isascii():
        letters = max(1, sum(map(str.isalpha, text)))
        han, kana = len(_HAN.findall(text)), len(_KANA.findall(text))
        if (han + kana) / letters >= _MIN_SHARE:
            return "ja" if kana * 10 > han else "zh"
        for language, script in (("ko", _HANGUL), ("th", _THAI), ("ru", _CYRILLIC), ("xx", _OTHER)):
            if len(script.findall(text)) / letters >= _MIN_SHARE:
                return "uk" if language == "ru" and _UKRAINIAN.search(text) else language
    words = _WORD.findall(text.lower())
    hits = {language: sum(word in known for word in words) for language, known in _WORDS.items()}
    best = max(hits, key=lambda language: hits[language])
    is_clear = hits[best] >= _MIN_HITS or not text.isascii()
    return best if hits[best] > hits["en"] and is_clear else "en"
