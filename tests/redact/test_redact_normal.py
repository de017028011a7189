"""Tests of encoded, escaped and split secrets and of private parts."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from told.redact.engine import Redactor
from told.redact.normalise import View, to_plain_letters
from told.text import clean

REDACTOR = Redactor(bytes(range(32)))
TOKEN = "ghp_" + "k3J9sQ0vWx7LmN2pR5tY8uB1cD4eF6gH0iJk"
PLACEHOLDER = REDACTOR.redact(TOKEN)


def wide(text: str) -> str:
    return "".join(chr(ord(letter) + 0xFEE0) for letter in text)


def bold(text: str) -> str:
    return "".join(
        chr(0x1D400 + ord(one) - 65)
        if one.isupper()
        else chr(0x1D41A + ord(one) - 97)
        if one.islower()
        else one
        for one in text
    )


def of_each(form: str, text: str = TOKEN) -> str:
    return "".join(form.format(ord(letter)) for letter in text)


def in_base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


HIDDEN = {
    "colours between": f"\x1b[32m{TOKEN[:7]}\x1b[0m{TOKEN[7:]}",
    "zero width": "\u200b".join(TOKEN),
    "a soft hyphen": f"{TOKEN[:12]}\u00ad{TOKEN[12:]}",
    "NULs": "\0".join(TOKEN),
    "full width": wide(TOKEN),
    "mathematical": bold(TOKEN),
    "underlined": "\u0332".join(TOKEN),
    "escaped in JSON": f'{{"t":"\\u0067{TOKEN[1:]}"}}',
    "all escaped in JSON": of_each("\\u{:04x}"),
    "escaped in JSON in JSON": json.dumps(f'{{"t":"\\u0067{TOKEN[1:]}"}}'),
    "behind a line of JSON": json.dumps(f"a\n{TOKEN}\nb"),
    "behind a line of JSON in JSON": json.dumps(json.dumps(f"a\n{TOKEN}\nb")),
    "colours in JSON": json.dumps(f"\x1b[1m{TOKEN}\x1b[0m"),
    "hexadecimal escapes": of_each("\\x{:02x}"),
    "octal escapes": of_each("\\{:03o}"),
    "percent": "q=" + of_each("%{:02X}"),
    "percent before it": f"https://x.example/?q=a%3D{TOKEN}%26b",
    "percent twice": "q=" + of_each("%25{:02x}"),
    "entities": of_each("&#{};"),
    "hexadecimal entities": of_each("&#x{:x};"),
    "base64": "data: " + in_base64(TOKEN),
    "base64 of more": "env: " + in_base64(f"A=1\nTOKEN={TOKEN}\nB=2\n"),
    "base64 of base64": "data: " + in_base64(in_base64(TOKEN)),
    "base64 in lines": base64.encodebytes(f"{'some words ' * 9}{TOKEN}{' some words' * 9}".encode()).decode(),
    "base64 of UTF-16": "powershell -enc " + base64.b64encode(TOKEN.encode("utf-16-le")).decode(),
    "hexadecimal digits": "h: " + TOKEN.encode().hex(),
    "a second line": f"token: {TOKEN[:20]}\n{TOKEN[20:]}",
    "an early second line": f"token: {TOKEN[:8]}\n{TOKEN[8:]}",
    "three lines": f"token: {TOKEN[:12]}\n{TOKEN[12:24]}\n{TOKEN[24:]}",
    "an indented line": f"  token: {TOKEN[:14]}\n    {TOKEN[14:]}",
    "a quoted line": f"> token: {TOKEN[:14]}\n> {TOKEN[14:]}",
    "a line of a difference": f"+token: {TOKEN[:14]}\n+{TOKEN[14:]}",
    "a commented line": f"# token: {TOKEN[:14]}\n# {TOKEN[14:]}",
    "a line in JSON": json.dumps(f"token: {TOKEN[:14]}\n{TOKEN[14:]}\n"),
    "a cut line": f"{'$ export A=1 ' * 6}{TOKEN[:4]}\n{TOKEN[4:]} && run",
    "a line of a mail": f"token {TOKEN[:14]}=\n{TOKEN[14:]} ok",
    "a continued line": f"export T={TOKEN[:14]}\\\n{TOKEN[14:]}",
    "plus": f'T = "{TOKEN[:10]}" + "{TOKEN[10:]}"',
    "plus and plus": f"'{TOKEN[:4]}' + '{TOKEN[4:9]}' + '{TOKEN[9:]}'",
    "nothing between strings": f'T = "{TOKEN[:10]}" "{TOKEN[10:]}"',
    "a letter before a string": f'T = "{TOKEN[:10]}" f"{TOKEN[10:]}"',
    "strings on lines": f'T = (\n    "{TOKEN[:10]}"\n    "{TOKEN[10:]}"\n)',
    "a dot": f"$t = '{TOKEN[:10]}' . '{TOKEN[10:]}';",
    "two dots": f't = "{TOKEN[:10]}" .. "{TOKEN[10:]}"',
    "two bars": f"SELECT '{TOKEN[:10]}' || '{TOKEN[10:]}'",
    "plus in JSON": json.dumps(f'T = "{TOKEN[:10]}" + "{TOKEN[10:]}"'),
}


@pytest.mark.parametrize("hidden", HIDDEN.values(), ids=HIDDEN)
def test_encoded_secret_has_same_placeholder(hidden: str) -> None:
    redacted = REDACTOR.redact(hidden)
    assert PLACEHOLDER in redacted
    assert TOKEN[-8:] not in redacted
    assert REDACTOR.redact(redacted) == redacted


def test_keep_text_around_encoded_secret() -> None:
    assert REDACTOR.redact(f"a &amp; b, 50%25: {of_each('%{:02x}')} %20 &lt;c&gt;") == (
        f"a &amp; b, 50%25: {PLACEHOLDER} %20 &lt;c&gt;"
    )
    assert REDACTOR.redact(f'x = "{TOKEN[:9]}" + "{TOKEN[9:]}" + y') == f'x = "{PLACEHOLDER}" + y'
    assert REDACTOR.redact(f"full {wide(TOKEN)} \uff57\uff49\uff44\uff54\uff48") == (
        f"full {PLACEHOLDER} \uff57\uff49\uff44\uff54\uff48"
    )


@pytest.mark.parametrize(
    "harmless",
    [
        "path%20with%20spaces/and%2Fslashes?q=%41%42",
        "&lt;p&gt;Tom &amp; Jerry&#39;s&lt;/p&gt;",
        '{"html": "\\u003cb\\u003ebold\\u003c\\/b\\u003e"}',
        'message = "one long line that " + "is broken in two"',
        "A line that ends with a long-identifier\n1234567890 begins the next one",
        f"logo: {in_base64('nothing to see here, only some words in a row')}",
        "digest 6e6f7468696e6720746f2073656520686572652c206f6e6c7920776f726473",
        "\U0001d400 proof, \uff21 wide letter, e\u0301 and \ufb01",
        "C:\\new\\table\\x41\\u0041",
    ],
)
def test_keep_escaped_text_without_secret(harmless: str) -> None:
    assert REDACTOR.redact(harmless) == harmless


@pytest.mark.parametrize(
    ("opening", "closing"),
    [
        ("<private>", "</private>"),
        ("<PRIVATE>", "</Private>"),
        ("< private >", "< / private >"),
        ('<private why="mine">', "</private>"),
        ("&lt;private&gt;", "&lt;/private&gt;"),
        ("&amp;lt;private&amp;gt;", "&amp;lt;/private&amp;gt;"),
        ("&#60;private&#x3e;", "&#x3C;/private&#62;"),
        ("\\u003cprivate\\u003e", "\\u003c/private\\u003e"),
        ("<private>", "<\\/private>"),
        ("%3Cprivate%3E", "%3C%2Fprivate%3E"),
        ("\uff1cprivate\uff1e", "\uff1c\uff0fprivate\uff1e"),
        ("<pri\u200bvate>", "</private>"),
        ("<private>", "&lt;/private&gt;"),
    ],
)
def test_remove_private_parts(opening: str, closing: str) -> None:
    assert REDACTOR.redact(f"a {opening}b{closing} c") == "a [private] c"
    assert REDACTOR.redact(f"a {opening}b {opening}c{closing} d{closing} e") == "a [private] e"
    assert REDACTOR.redact(f"a {opening}never closed\nsecret") == "a [private]"
    assert REDACTOR.redact(f"{closing} kept") == clean(f"{closing} kept")


def test_keep_the_word_private() -> None:
    for text in (
        "private: yes",
        "a < private_key",
        "x = a<private",
        "the private> sign",
        "is 3 private > 2?",
    ):
        assert REDACTOR.redact(text) == text


PIECES = st.sampled_from(
    (TOKEN, TOKEN[:9], TOKEN[9:], "\n", "\\n", " ", '"', "' + '", '" + "', "%3D", "%20", "&lt;", "&amp;",
     "\\u0067", "\\/",
     "=\n", "=3D", "> ", "+", "password=", "token: ", "[secret:a:12ab]", "[secret:", "<private>",
     "&lt;/private&gt;",
     in_base64(TOKEN), TOKEN.encode().hex(), wide(TOKEN), "\u0332", "\ufb01", "\x1b[0m",
     "-----BEGIN PRIVATE KEY-----\n")
)  # fmt: skip


@given(st.lists(PIECES | st.text(max_size=4), max_size=9))
def test_redaction_of_encoded_text_is_idempotent(pieces: list[str]) -> None:
    once = REDACTOR.redact("".join(pieces))
    assert REDACTOR.redact(once) == once


@given(
    st.lists(
        st.tuples(
            st.text("ab ", max_size=700), st.sampled_from(("xy", "%20", "q")), st.sampled_from(("", "z"))
        )
    )
)
def test_view_maps_spans_to_original(parts: list[tuple[str, str, str]]) -> None:
    text, edits = "", []
    for before, old, new in parts:
        text += before
        edits.append((len(text), len(text) + len(old), new))
        text += old
    if not edits:
        return
    view = View(text, edits)
    for at, letter in enumerate(view.text):
        start, end = view.original_span(at, at + 1)
        if letter in "ab ":
            assert text[start:end] == letter
        elif letter == "z":
            assert (start, end, "z") in edits


def test_plain_letters_keep_length() -> None:
    text = "".join(map(chr, [*range(0x80, 0xD800), *range(0xE000, 0x20000)]))
    assert len(to_plain_letters(text)) == len(text)
    assert to_plain_letters(wide(TOKEN) + bold(TOKEN)) == TOKEN * 2
