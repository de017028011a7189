"""Writes letters that only look different as ordinary ones, character for character."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# Where Unicode keeps other forms of ASCII characters, and how UTF-8 begins them.
_RANGES = (
    (0xA0, 0xC0), (0x2B0, 0x2E5), (0x1D2C, 0x1D6B), (0x2000, 0x200B), (0x2010, 0x2060), (0x2070, 0x20A0),
    (0x2100, 0x2190), (0x2460, 0x2500), (0x3000, 0x3001), (0xFE50, 0xFE70), (0xFF01, 0xFF5F),
    (0x1D400, 0x1D800), (0x1F100, 0x1F1AD),
)  # fmt: skip
_BEGINNINGS = (
    b"\xc2\xa0", b"\xc2\xb2", b"\xc2\xb3", b"\xc2\xb9", b"\xca", b"\xcb", b"\xe1\xb4", b"\xe1\xb5",
    b"\xe2\x80\x80",
    b"\xe2\x80\x81", b"\xe2\x80\x82", b"\xe2\x80\x83", b"\xe2\x80\x89", b"\xe2\x80\xaf", b"\xe2\x80\x91",
    b"\xe2\x81", b"\xe2\x82", b"\xe2\x84", b"\xe2\x85", b"\xe2\x91", b"\xe2\x92", b"\xe2\x93",
    b"\xe3\x80\x80",
    b"\xef\xb9", b"\xef\xbc", b"\xef\xbd", b"\xf0\x9d", b"\xf0\x9f\x84", b"\xf0\x9f\x85",
)  # fmt: skip
_ASCII = bytes(range(128))
_ORDINARY: dict[int, int] = {}


def ordinary(text: str) -> str:
    """Return the text with ordinary letters."""
    foreign = text.encode().translate(None, _ASCII)
    if not any(beginning in foreign for beginning in _BEGINNINGS):
        return text
    if not _ORDINARY:
        _ORDINARY.update(_table())
    return text.translate(_ORDINARY)


def _table() -> Iterator[tuple[int, int]]:
    from unicodedata import normalize

    yield 0x2011, 0x2D  # a hyphen that does not break
    for first, beyond in _RANGES:
        for code in range(first, beyond):
            plain = normalize("NFKC", chr(code))
            if len(plain) == 1 and plain.isascii():
                yield code, ord(plain)
