"""Which made-up secrets in chats, terminals and config are removed; by language, shape and half."""

from __future__ import annotations

import argparse
import base64
import hashlib
import random
import re
import string
import uuid
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.redact_score import Row, covered
from told.redact.engine import Redactor
from told.redact.rules import seed_words
from told.text import clean

HOW = (
    "Each line is redacted by itself, with secrets generated from a seed. A line leaks if six characters in "
    "a row of a secret remain (all of a shorter one). A false alarm is a line without a secret in which "
    "something was found. Lines are split in two halves by a hash of their template: rules were written "
    "with the misses of the half 'seen' in view, and never those of the half 'unseen'."
)
_FOLDER = Path(__file__).parent / "redact_texts"
_SECRET, _PART = re.compile("«([^«»]*)»"), re.compile(r"\{([A-Za-z]\w*(?::[a-z]+)?)\}")
_WORDS = (
    "tiger", "Berlin", "pepper", "Falcon", "dolphin", "Marlene", "sunset", "Rocket", "coffee", "Madrid",
    "garden", "Pascal", "orange", "Schnee", "thunder", "Amelie", "copper", "Torino", "biscuit", "Olivia",
)  # fmt: skip
_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_ALPHABETS = {
    "digits": string.digits, "hex": "0123456789abcdef", "HEX": "0123456789ABCDEF",
    "low": string.ascii_lowercase + string.digits, "up": "ABCDEFGHJKLMNPQRSTUVWXYZ23456789",
    "alnum": string.ascii_letters + string.digits, "keyline": string.ascii_letters + string.digits + "+/",
}  # fmt: skip
_SIZES = {"alnum": 14, "keyline": 64}


class Line(NamedTuple):
    """A line with the secrets in it, none if it is harmless."""

    language: str
    shape: str
    half: str
    text: str
    secrets: tuple[str, ...]


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of this benchmark."""
    parser.add_argument("--misses", action="store_true", help="also print the misses of the seen half")


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Redact every line, and count leaks and false alarms."""
    redactor = Redactor(b"benchmark")
    judged = [(line, is_wrong(line, redactor.redact(line.text))) for line in lines()]
    figures: dict[str, Any] = {"benchmark": "redact_lines"}
    for name, chosen in (("leaks", True), ("false_alarms", False)):
        some = [(line, wrong) for line, wrong in judged if bool(line.secrets) is chosen]
        figures[name] = {
            "by_half": _counts(some, lambda line: line.half),
            "by_language": _counts(some, lambda line: f"{line.language} {line.half}"),
            "by_shape": _counts(some, lambda line: f"{line.shape} {line.half}"),
        }
    if arguments.misses:
        figures["misses"] = [line.text for line, wrong in judged if wrong and line.half == "seen"]
    return {**figures, "how": HOW}


def is_wrong(line: Line, redacted: str) -> bool:
    """Tell whether a secret remains in a line, or a harmless line was changed."""
    if not line.secrets:
        return redacted != clean(line.text)
    return not all(covered(Row("", line.text, one, True, "", ""), redacted) for one in line.secrets)


def lines() -> list[Line]:
    """Read all lines and put generated secrets in their places."""
    return [
        _line(template)
        for name in ("secrets.txt", "harmless.txt")
        for template in (_FOLDER / name).read_text(encoding="utf-8").splitlines()
        if not template.startswith("#")
    ]


def _line(template: str) -> Line:
    head, _, text = template.partition(" | ")
    language, shape = head.split()
    mark = hashlib.sha256(template.encode()).digest()
    chance = random.Random(mark)
    text = _PART.sub(lambda match: _made(match[1], chance), text).replace("⏎", "\n")
    # French quotes look like the marks: "« «secret» »".
    text = re.sub("« (?=«)", "\x01", text)
    text = re.sub("(?<=») »", "\x02", text)
    secrets = tuple(_SECRET.findall(text))
    text = _SECRET.sub(r"\1", text).replace("\x01", "« ").replace("\x02", " »")
    return Line(language, shape, "seen" if mark[0] % 2 else "unseen", text, secrets)


def _made(name: str, chance: random.Random) -> str:
    """Return a generated value of this name, or the name in braces."""
    if name in _MAKERS:
        return _MAKERS[name](chance)
    if name.startswith("b64_"):
        return base64.b64encode(chance.randbytes(int(name[4:]) * 3 // 4)).decode()
    if name.startswith("seed12:"):
        return " ".join(chance.sample(_foreign_words()[name[7:]], 12))
    kind = name.rstrip(string.digits)
    size = name[len(kind) :]
    if kind not in _ALPHABETS:
        return "{" + name + "}"
    return _some(_ALPHABETS[kind], int(size or _SIZES[kind]), chance)


def _some(letters: str, size: int, chance: random.Random) -> str:
    return "".join(chance.choices(letters, k=size))


def _strong(chance: random.Random) -> str:
    parts = [
        *chance.choices(string.ascii_lowercase, k=5), *chance.choices(string.ascii_uppercase, k=3),
        *chance.choices(string.digits, k=3), *chance.choices("!#$%&*+-_?@", k=2),
    ]  # fmt: skip
    chance.shuffle(parts)
    return "".join(("k", *parts, "7"))


def _human(chance: random.Random) -> str:
    word, year = chance.choice(_WORDS), chance.randrange(1960, 2026)
    return chance.choice([f"{word}{year}", f"{word}{year}!", f"{word}_{year % 100}", f"{word}{year % 100}#x"])


def _card(chance: random.Random, first: str = "4", size: int = 16) -> str:
    digits = first + _some(string.digits, size - 1 - len(first), chance)
    for last in string.digits:
        if luhn(digits + last):
            return digits + last
    raise AssertionError


def luhn(digits: str) -> bool:
    """Tell whether a card number's check digit is right."""
    doubled = [int(one) * 2 for one in digits[-2::-2]]
    return (sum(map(int, digits[::-2])) + sum(one // 10 + one % 10 for one in doubled)) % 10 == 0


def _phrase(chance: random.Random, count: int, *, valid: bool = True) -> list[str]:
    """Return a seed phrase of so many words, with a right checksum or a wrong one."""
    entropy = chance.randbytes(count * 4 // 3)
    check = hashlib.sha256(entropy).digest()[0] >> (8 - count // 3)
    number = (int.from_bytes(entropy) << (count // 3)) | (check if valid else check ^ 1)
    return [seed_words()[(number >> (11 * place)) & 2047] for place in reversed(range(count))]


def _wif(chance: random.Random) -> str:
    payload = b"\x80" + chance.randbytes(32) + b"\x01"
    return _base58(payload + hashlib.sha256(hashlib.sha256(payload).digest()).digest()[:4])


def _xprv(chance: random.Random) -> str:
    payload = bytes.fromhex("0488ade4") + chance.randbytes(74)
    return _base58(payload + hashlib.sha256(hashlib.sha256(payload).digest()).digest()[:4])


def _base58(content: bytes) -> str:
    number, text = int.from_bytes(content), ""
    while number:
        number, rest = divmod(number, 58)
        text = _BASE58[rest] + text
    return text


def _grouped(text: str, size: int, between: str) -> str:
    return between.join(text[at : at + size] for at in range(0, len(text), size))


def _base32(chance: random.Random) -> str:
    return base64.b32encode(chance.randbytes(20)).decode()


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


_MAKERS: dict[str, Callable[[random.Random], str]] = {
    "strong": _strong,
    "human": _human,
    "phrase": lambda chance: "-".join([*(one.lower() for one in chance.sample(_WORDS, 3)), "42"]),
    "card": _card,
    "cardspaced": lambda chance: _grouped(_card(chance, "5" + str(chance.randrange(1, 6))), 4, " "),
    "carddashed": lambda chance: _grouped(_card(chance), 4, "-"),
    "amex": lambda chance: re.sub(r"(....)(.{6})(.*)", r"\1 \2 \3", _card(chance, "37", 15)),
    "otp": lambda chance: _grouped(_some(string.digits, 6, chance), 3, " "),
    "base32": _base32,
    "base32spaced": lambda chance: _grouped(_base32(chance).lower(), 4, " "),
    "rec": lambda chance: _grouped(_some("0123456789abcdef", 10, chance), 5, "-"),
    "bitlocker": lambda chance: _grouped(_some(string.digits, 48, chance), 6, "-"),
    "wif": _wif,
    "xprv": _xprv,
    "uuid": lambda chance: str(uuid.UUID(bytes=chance.randbytes(16), version=4)),
    "seed12": lambda chance: " ".join(_phrase(chance, 12)),
    "seed24": lambda chance: " ".join(_phrase(chance, 24)),
    "seedbad": lambda chance: " ".join(_phrase(chance, 12, valid=False)),
    "seedcomma": lambda chance: ", ".join(_phrase(chance, 12)),
    "seednumbered": lambda chance: "\n".join(
        f"{number}. {word}" for number, word in enumerate(_phrase(chance, 12), 1)
    ),
    "b64pw": lambda chance: _encoded(_strong(chance)),
    "b64login": lambda chance: _encoded("bob:" + _strong(chance)),
    "b64url_44": lambda chance: _encoded(chance.randbytes(24).hex()[:33]).replace("=", "%3D"),
    "vaultline": lambda chance: chance.randbytes(40).hex().translate(str.maketrans("abcdef", "345612")),
    "keyshort": lambda chance: _some(_ALPHABETS["keyline"], 34, chance) + "==",
    "snow": lambda chance: "11" + _some(string.digits, 16, chance),
}  # fmt: skip


@cache
def _foreign_words() -> dict[str, list[str]]:
    rows = (_FOLDER / "seed_words.txt").read_text(encoding="utf-8").splitlines()[1:]
    return {row.split()[0]: row.split()[1:] for row in rows}


def _counts(judged: Sequence[tuple[Line, bool]], group: Callable[[Line], str]) -> dict[str, str]:
    names: Iterable[str] = sorted({group(line) for line, _ in judged})
    return {
        name: f"{sum(wrong for line, wrong in judged if group(line) == name)} of "
        f"{sum(group(line) == name for line, _ in judged)}"
        for name in names
    }
