"""Makes text that others wrote safe to keep and to show, and measures it."""

from __future__ import annotations

# What begins a terminal control sequence: ESC, or one of the 8-bit control characters.
OPENERS = frozenset("\x1b\x90\x98\x9b\x9d\x9e\x9f")
# UTF-8 read as Latin-1 is full of 8-bit control characters behind accented letters: these open nothing.
_EIGHT_BIT = "(?<![\x80-\xff])"
_COMMAND = rf"(?:\x1b\[|{_EIGHT_BIT}\x9b)[0-?]*+[ -/]*+[@-~]?"
_STRING = (
    rf"(?:\x1b[PX\]^_]|{_EIGHT_BIT}[\x90\x98\x9d-\x9f])"
    r"[^\x07\x18\x1a\x1b\x9c]*+(?:[\x07\x18\x1a\x9c]|\x1b\\|(?=\x1b)|\Z)"
)
_OTHER = r"\x1b[ -/]*+[0-~]?"

# Nothing of this has a shape of its own: it hides, reorders or smuggles text.
_UNSEEN = (
    *range(0x20),
    *range(0x7F, 0xA0),
    0xAD,
    0x61C,
    0x180E,
    *range(0x200B, 0x2010),
    *range(0x202A, 0x202F),
    *range(0x2060, 0x2070),
    0xFEFF,
    *range(0xFFF9, 0xFFFC),
    *range(0xE0000, 0xE0200),
)
_SHOWN_AS = dict.fromkeys(map(chr, _UNSEEN), "")
_SHOWN_AS |= dict.fromkeys("\r\u2028\u2029", "\n")
del _SHOWN_AS["\n"], _SHOWN_AS["\t"]
# Question marks and the like, also those of Chinese and Japanese.
_ENDS = (".", "!", "?", ":", "…", "\u3002", "\uff01", "\uff1f")
_PLAIN_ASCII = bytes((9, 10, *range(0x20, 0x7F)))


def clean(text: str) -> str:
    """Return the text without anything that a terminal, a page or a model could obey but a person cannot see.

    Only line feeds and tabs remain of the control characters; whatever it returns can be written as UTF-8.
    """
    if text.isascii():
        if not text.encode("ascii").translate(None, _PLAIN_ASCII):
            return text
    elif text.replace("\n", "").replace("\t", "").isprintable():
        return text
    else:
        text = _whole_characters(text)
    present = set(text)
    if not OPENERS.isdisjoint(present):
        text = _without_sequences(text)
    text = text.replace("\r\n", "\n")
    for character in _SHOWN_AS.keys() & present:
        text = text.replace(character, _SHOWN_AS[character])
    return text


def one_line(text: str, width: int) -> str:
    """Return the text on one line of at most `width` characters, cut between words where that is possible."""
    if width < 1:
        return ""
    line = " ".join(text.split(None, width))
    if len(line) <= width:
        return line.rstrip()
    cut = line[:width]
    space = cut.rfind(" ")
    # A word that fills more than half of the line is cut itself: better half a path than none.
    return (cut[:space] if space > width // 2 else cut[: width - 1]).rstrip() + "…"


def as_sentence(text: str) -> str:
    """Return the text with a full stop, unless it ends as a sentence does, or was cut."""
    return text if text.endswith(_ENDS) else f"{text}."


def without_placeholders(text: str) -> str:
    """Return the text without what stands for secrets and private parts: nobody said those words."""
    if "[secret:" in text:
        first, *others = text.split("[secret:")
        text = "".join([first, *(other.partition("]")[2] for other in others)])
    return text.replace("[private]", "")


def tokens(text: str) -> int:
    """Estimate how many tokens a model counts: UTF-8 bytes by 3.5, rounded up."""
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    return -(-size * 2 // 7)


def _whole_characters(text: str) -> str:
    """Join surrogate pairs and replace lone surrogates, which UTF-8 cannot hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _without_sequences(text: str) -> str:
    """Remove terminal control sequences whole; of a control string that nothing closes, only its opener."""
    import re  # terminal output is rare enough here not to make every command pay for this

    last_close = max(0, *map(text.rfind, "\x07\x18\x1a\x1b\x9c"))
    head = re.sub(f"{_COMMAND}|{_STRING}|{_OTHER}", "", text[:last_close])
    return head + re.sub(f"{_COMMAND}|{_OTHER}", "", text[last_close:])
