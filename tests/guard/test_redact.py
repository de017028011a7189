"""Secrets are taken out before anything is stored, and nothing else is."""

from __future__ import annotations

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from told.guard._redact_rules import RULES
from told.guard.redact import Redactor

KEY = bytes(range(32))
REDACTOR = Redactor(KEY)


def shown(text: str) -> str:
    return text.replace("·", "")


def secret_of(text: str) -> str:
    """Return the word around the middle dot, which is what has to be gone."""
    return text[text.index("·") - 2 : text.index("·")] + text[text.index("·") + 1 :][:3]


EXAMPLES = [pytest.param(one, id=f"{rule.name}-{n}") for rule in RULES for n, one in enumerate(rule.examples)]
COUNTER_EXAMPLES = [
    pytest.param(one, id=f"{rule.name}-{n}") for rule in RULES for n, one in enumerate(rule.counter_examples)
]
AROUND = [
    "{}",
    "Before it, {} and after it.",
    '{{"content": "{}"}}',
    "$ run {} && echo done",
    "first line\n{}\nlast line",
    "> {}",
]


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_of_every_rule_is_redacted_wherever_it_stands(example: str) -> None:
    for around in AROUND:
        redacted = REDACTOR.redact(around.format(shown(example)))
        assert "[secret:" in redacted, around
        if "·" in example and "BEGIN" not in example:
            assert secret_of(example) not in redacted, around
        else:
            assert shown(example)[-12:] not in redacted or "END" in example, around


@pytest.mark.parametrize("counter_example", COUNTER_EXAMPLES)
def test_every_counter_example_stays_as_it_is(counter_example: str) -> None:
    for around in AROUND:
        text = around.format(shown(counter_example))
        assert REDACTOR.redact(text) == text


@pytest.mark.parametrize(
    "harmless",
    [
        "commit 29f259419e936a33a11795be985999fb2f8c8b87",
        '{"sessionId":"172f871a-1e7a-4986-a702-da0b7c3e124b"}',
        "sha256:a83fb6d61b56db59ef2fa5dbc1f6e73c18bb1c250b01f2fe366b85032b796523",
        '"integrity": "sha512-ZOnQlCnRNItDmlfwBowN0tP5W4HR4AXvQXCI8hrH9Dkatg0DcblZqPCCQTY9lvwAiWnksSklW=="',
        "github.com/spf13/cobra v1.9.1 h1:bc9KJrKJyt8sv2Um8Xt/vy50Xt+zDoi0LqI3Dv9wHTI=",
        "/srv/app/node_modules/.pnpm/@babel+core@7.28.4/node_modules/@babel/core/lib/index.js",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAqikqqdCPmmUT1FVdMXsweiMe37sQvRtmzm4Xk0ekGwuq dev@laptop",
        "The tokenizer splits on whitespace; max_tokens is 4096.",
        "We decided to store the API key in the OS keychain, not in .env.",
        "If that is what you want, pass `verbose2=True` instead.",
        "Please ask the user for a password or a token.",
        "I renamed tests/test_token_rotation0 to tests/auth2/test_secret1.py",
    ],
)
def test_what_only_looks_secret_is_kept(harmless: str) -> None:
    assert REDACTOR.redact(harmless) == harmless


def test_the_placeholder_names_the_kind_and_is_the_same_for_the_same_secret() -> None:
    first, second = (
        "ghp_" + "k3J9sQ0vWx7LmN2pR5tY8uB1cD4eF6gH0iJk",
        "ghp_" + "a1B2c3D4e5F6g7H8i9J0a1B2c3D4e5F6g7H8",
    )
    one, two, three = REDACTOR.redact(f"{first}\n{second}\n token={first}").split("\n")
    assert one.startswith("[secret:github-token:")
    assert two.startswith("[secret:github-token:")
    assert one != two
    assert three == f" token={one}"
    assert Redactor(bytes(32)).redact(first) != one


def test_private_parts_are_removed_whole() -> None:
    assert REDACTOR.redact("a <private>b</private> c <PRIVATE>d</Private> e") == "a [private] c [private] e"
    assert REDACTOR.redact("a <private>b <private>c</private> d</private> e") == "a [private] e"
    assert REDACTOR.redact("a <private>never closed\nsecret") == "a [private]"
    assert REDACTOR.redact("</private> kept") == "</private> kept"
    assert REDACTOR.redact("a <pri\u200bvate>b</private> c") == "a [private] c"


def test_hidden_and_wrapped_tokens_are_found() -> None:
    token = "ghp_" + "k3J9sQ0vWx7LmN2pR5tY8uB1cD4eF6gH0iJk"
    wide = "".join(chr(ord(c) + 0xFEE0) if c.isalnum() else c for c in token)
    for hidden in (
        token[:9] + "\u200b" + token[9:],
        token[:9] + "\x1b[0m" + token[9:],
        f'"{token[:10]}" + "{token[10:]}"',
        f"{token[:22]}\n{token[22:]}",
        wide,
    ):
        redacted = REDACTOR.redact(f"token = {hidden}")
        assert "[secret:" in redacted
        assert token[-10:] not in redacted
        assert wide[-10:] not in redacted


def test_a_private_key_is_known_behind_its_headers() -> None:
    header, footer = "-----BEGIN PGP PRIVATE KEY BLOCK-----", "-----END PGP PRIVATE KEY BLOCK-----"
    body = (
        "Version: GnuPG v2\nComment: " + "a remark " * 30 + "\n\nlQWGBGSVV4YBDAClvRnxezIRy2Yv7SFlzC0i\n=8xQN"
    )
    redacted = REDACTOR.redact(f"before\n{header}\n{body}\n{footer}\nafter")
    assert redacted.startswith("before\n[secret:private-key:")
    assert redacted.endswith("]\nafter")


def test_a_very_long_secret_leaves_no_tail() -> None:
    assert "k3J9" not in REDACTOR.redact("api_token=" + "k3J9sQ0v" * 500)


@given(st.text(), st.sampled_from([shown(one) for rule in RULES for one in rule.examples]), st.text())
def test_redacting_twice_changes_nothing_more(before: str, example: str, after: str) -> None:
    once = REDACTOR.redact(f"{before} {example} {after}")
    assert REDACTOR.redact(once) == once


PIECES = sorted(
    {literal for rule in RULES for literal in rule.literals}
    | {shown(rule.examples[0]) for rule in RULES}
    | {rule.literals[0] + "x" for rule in RULES}
    | {
        "token=",
        "token: ",
        "password is ",
        "<private>",
        "</private>",
        "eyJ-",
        "eyJaaaaaaaaa.",
        "a:b@",
        "://a:",
        "key\t",
    }
    | {
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\nAAAAAAAAAAAAAAAAAAAAAAAA\n",
        "pass word is ",
        " -p",
    }
)


@pytest.mark.parametrize("piece", PIECES)
def test_half_a_megabyte_of_anything_comes_to_an_end(piece: str) -> None:
    # Anything but linear work would take hours here; how long it takes is measured in the benchmarks.
    assert REDACTOR.redact(piece * (500_000 // len(piece)))


@settings(max_examples=30, deadline=None, phases=[Phase.generate])
@given(st.lists(st.sampled_from(PIECES + list(" =:\"'\n-.")), min_size=1, max_size=6))
def test_so_do_mixtures(pieces: list[str]) -> None:
    piece = "".join(pieces)
    assert REDACTOR.redact("x" + piece * (100_000 // len(piece) + 1))
