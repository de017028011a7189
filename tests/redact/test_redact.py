"""Tests of the redactor with the examples of all rules."""

from __future__ import annotations

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from benchmarks.redact_hostile import hostile
from tests.soak import points
from told.redact.engine import Redactor
from told.redact.rules import all_rules
from told.settings import Redaction

RULES = all_rules()
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
def test_redact_every_example_in_any_context(example: str) -> None:
    for around in AROUND:
        redacted = REDACTOR.redact(around.format(shown(example)))
        assert "[secret:" in redacted, around
        if "·" in example and "BEGIN" not in example:
            assert secret_of(example) not in redacted, around
        else:
            assert shown(example)[-12:] not in redacted or "END" in example, around


@pytest.mark.parametrize("counter_example", COUNTER_EXAMPLES)
def test_keep_every_counter_example(counter_example: str) -> None:
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
def test_keep_text_that_only_looks_secret(harmless: str) -> None:
    assert REDACTOR.redact(harmless) == harmless


def test_placeholder_has_kind_and_stable_hash() -> None:
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


def test_placeholder_does_not_depend_on_context() -> None:
    token = "ghp_" + "k3J9sQ0vWx7LmN2pR5tY8uB1cD4eF6gH0iJk"
    placeholder = REDACTOR.redact(token)
    for around in ("{}", "GITHUB_TOKEN={}", '{{"a": "b\\n{}\\nc"}}', "https://x:{}@example.org", "It is {}."):
        assert REDACTOR.redact(around.format(token)) == around.format(placeholder)


def test_keep_placeholders() -> None:
    for text in (
        "password=[secret:password:4f2a]",
        "my password is [secret:password:4f2a], use it",
        "postgres://app:[secret:url-password:4f2a]@db/app",
        "[secret:digitalocean-token:4f2a]",
        "curl -u admin:[secret:user-password:4f2a] https://ci.example.com",
    ):
        assert REDACTOR.redact(text) == text


def test_forged_placeholder_hides_no_secret() -> None:
    token = "ghp_" + "k3J9sQ0vWx7LmN2pR5tY8uB1cD4eF6gH0iJk"
    for text in (f"[secret:a:1234]{token}", f"{token}[secret:a:1234]", f"password=[secret:a:1234]{token}"):
        assert token[-10:] not in REDACTOR.redact(text)


def test_redact_private_key_with_headers() -> None:
    header, footer = "-----BEGIN PGP PRIVATE KEY BLOCK-----", "-----END PGP PRIVATE KEY BLOCK-----"
    body = (
        "Version: GnuPG v2\nComment: " + "a remark " * 30 + "\n\nlQWGBGSVV4YBDAClvRnxezIRy2Yv7SFlzC0i\n=8xQN"
    )
    redacted = REDACTOR.redact(f"before\n{header}\n{body}\n{footer}\nafter")
    assert redacted.startswith("before\n[secret:private-key:")
    assert redacted.endswith("]\nafter")


def test_redact_very_long_secret_to_its_end() -> None:
    assert "k3J9" not in REDACTOR.redact("api_token=" + "k3J9sQ0v" * 500)


@given(st.text(), st.sampled_from([shown(one) for rule in RULES for one in rule.examples]), st.text())
def test_redaction_is_idempotent(before: str, example: str, after: str) -> None:
    once = REDACTOR.redact(f"{before} {example} {after}")
    assert REDACTOR.redact(once) == once


TEXTS = list(hostile(points(everyday=6_000, soak=20_000)))


@pytest.mark.parametrize("part", range(8))
def test_hostile_text_terminates(part: int) -> None:
    # Anything but linear work would show here; how long it takes is measured in the benchmarks.
    for name, text in TEXTS[part::8]:
        assert REDACTOR.redact(text) is not None, name


@settings(max_examples=30, deadline=None, phases=[Phase.generate])
@given(
    st.lists(st.sampled_from([text[:40] for _, text in TEXTS] + list(" =:\"'\n-.")), min_size=1, max_size=6)
)
def test_mixtures_of_hostile_text_terminate(pieces: list[str]) -> None:
    piece = "".join(pieces)
    assert REDACTOR.redact("x" + piece * (20_000 // len(piece) + 1))


def test_disabled_redaction_still_removes_private_parts() -> None:
    redactor = Redactor(KEY, Redaction(enabled=False))
    assert redactor.redact("password=hunter2x9 \x1b[1m<private>b</private>") == "password=hunter2x9 [private]"


def test_emails_can_be_kept() -> None:
    text = "Write to ann.smith@acme-labs.dev, password=hunter2x9"
    assert "ann.smith" not in REDACTOR.redact(text)
    kept = Redactor(KEY, Redaction(emails=False)).redact(text)
    assert "ann.smith@acme-labs.dev" in kept
    assert "hunter2x9" not in kept
