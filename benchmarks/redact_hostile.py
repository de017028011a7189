"""Texts that are made to slow redaction down: what its rules and its normalising look for, over and over."""

from __future__ import annotations

import base64
from collections.abc import Iterator

from told.redact.rules import all_rules

_TOKEN = "ghp_" + "k3J9sQ0vWx7LmN2pR5tY8uB1cD4eF6gH0iJk"
# Single characters and parts of disguises; what a rule wants, and what it almost wants.
_PIECES = (
    "@", "%41", "%41x", "%", "%25", "\\u0041", "\\u0041x", "\\x41", "\\x41x", "\\", "\\\\", "\\/", "\\/x",
    "\\n", "\\n1",
    "&amp;", "&amp;x", "&#65;", "&", "&lt;", "\\u001b[0m", "\\u{41}", "\\101x", "\\U00000041", "=3D",
    "=3Dx", "=\n", "x=\n",
    '"', '""', '"a"', "'a' ", '"a" + ', '"a"+"b"', '"a" "b" ', "'a'\n'b'", '\\"a\\" + ', "`a` ", '"a" \\\n',
    "\n", " \n", "a\n", "aB3dE6gH\n", "ghp_\n", "ghp_aB3\naB3dE6gH ", f"{_TOKEN[:20]}\n{_TOKEN[20:]}\n",
    "sk-\n1aB2cD3e",
    "-----BEGIN", "-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\n" + "A" * 24 + "\n",
    "-----END",
    "password=", "password: ", "password is ", "pass word is ", "token=", "token: ", "key\t", "secret ",
    "auth",
    "://", "://a:", "a:b@", "https://a:b", " -p", " -u", "-user a:", "bearer ", "authorization: ", "sig=",
    "<private>", "</private>", "<private", "private>", "&lt;private&gt;", "private", "[secret:a:1234]",
    "[secret:",
    "eyJ-", "eyJaaaaaaaaa.", "eyJhbGciOiJIUzI1NiJ9.", "a.", "a-", "a_b", "a~", "0", "a", "A", "aB3",
    "4f2a9c8e1b7d3f6a",
    "\uff47\uff48\uff50_", "\U0001d420", "e\u0301", "\ufb01", "\u00e9", "\u4e2d", "a\u00a0", "\ufe0f",
    "a@b.example ", "a@", "a.b@c.", "<a@b>", "{", "[", "(", "((((", "'\"", "\"'", "x='", "key='", "+", "/",
    "=", "a/",
)  # fmt: skip


def hostile(size: int = 1_000_000) -> Iterator[tuple[str, str]]:
    """Yield texts of about `size` characters, each with a name."""
    pieces = [*_PIECES, *sorted(_of_rules().difference(_PIECES)), *sorted(_encoded())]
    for piece in pieces:
        yield ascii(piece)[:60], piece * (size // len(piece) + 1)
    yield "nested base64", _nested(size)
    yield "base64 in lines", base64.encodebytes((f"{_TOKEN} or so, " * (size // 72)).encode()).decode()
    yield "seed words", "abandon zoo legal winner thank year wave sausage worth useful yellow " * (size // 66)
    yield "card numbers", "5281 0037 3353 9698 " * (size // 20)
    yield "one line of prose", "the quick brown fox jumps over the lazy dog " * (size // 44)
    yield "lines as wide as a terminal", ("x" * 70 + " aB3dE6gHk\naB3dE6gHk ") * (size // 92)
    yield "growing words", "".join(f"{'k3J9sQ0v' * (n % 400)} " for n in range(size // 1600))


def _of_rules() -> set[str]:
    """Return what each rule looks for, an example of it, and what is almost one."""
    pieces: set[str] = set()
    for rule in all_rules():
        example = rule.examples[0].replace("·", "")
        for start in (*rule.literals[:1], *rule.words[:2]):
            pieces |= {start, start + "x", start + " "}
        pieces |= {example + " ", example[:-3] + "\n"}
    return pieces


def _encoded() -> set[str]:
    """Return secrets in disguise, and what is almost one, as a piece of a long text."""
    almost = f"{_TOKEN[:-4]}.password=x"
    return {
        base64.b64encode(_TOKEN.encode()).decode() + " ",
        base64.b64encode(almost.encode()).decode() + "\n",
        base64.b64encode(b"nothing to see here, move on").decode(),
        _TOKEN.encode().hex() + " ",
        "".join(f"%{ord(letter):02x}" for letter in _TOKEN) + " ",
        "".join(f"\\u{ord(letter):04x}" for letter in _TOKEN) + " ",
        "".join(f"&#{ord(letter)};" for letter in _TOKEN),
        '"' + '" + "'.join(_TOKEN) + '" ',
    }


def _nested(size: int) -> str:
    text = f"password={_TOKEN} " * (size // 120)
    for _ in range(3):
        text = base64.b64encode(text.encode()).decode()
    return text[:size]
