"""Tests of users' own redaction rules."""

from __future__ import annotations

import base64

import pytest

from told.errors import UsageError
from told.redact.custom_rules import check_rule
from told.redact.engine import Redactor
from told.settings import CustomRule, Redaction

KEY = bytes(range(32))


def redactor(*rules: CustomRule) -> Redactor:
    return Redactor(KEY, Redaction(rules=rules))


def test_custom_rule_redacts_its_matches() -> None:
    own = redactor(CustomRule("customer", r"ACME-\d{4}", "ACME-1234"))
    redacted = own.redact("Call ACME-1234, ACME-5678 and ACME-1234.")
    first, second, third = (part for part in redacted.split() if part.startswith("[secret:customer:"))
    assert first.rstrip(",") == third.rstrip(".") != second
    assert "ACME" not in redacted


def test_custom_rule_redacts_only_its_secret_group() -> None:
    own = redactor(CustomRule("codename", r"(?i)codename (?P<secret>[a-z]{4,30})", "codename bluebird"))
    redacted = own.redact("The codename bluebird is out.")
    assert redacted.startswith("The codename [secret:codename:")
    assert redacted.endswith("] is out.")


def test_custom_rule_finds_encoded_text() -> None:
    own = redactor(CustomRule("customer", r"ACME-\d{8}", "ACME-12345678"))
    placeholder = own.redact("ACME-12345678")
    for hidden in (
        "ACME%2D12345678",
        "\uff21\uff23\uff2d\uff25-12345678",
        "AC\u200bME-12345678",
        '"ACME-" + "12345678"',
        "id " + base64.b64encode(b"the id ACME-12345678 is secret").decode(),
    ):
        assert placeholder in own.redact(hidden)


def test_custom_rule_wins_over_builtin_rule() -> None:
    own = redactor(CustomRule("our-token", r"ghp_[A-Za-z0-9]{36}", "ghp_" + "a1" * 18))
    assert own.redact("token=ghp_" + "k3J9sQ0vWx7LmN2pR5tY8uB1cD4eF6gH0iJk").startswith(
        "token=[secret:our-token:"
    )


def test_custom_rules_are_idempotent() -> None:
    own = redactor(
        CustomRule("word", r"\b[a-z]{6}\b", "secret"),
        CustomRule("number", r"[0-9a-f]{4}", "4f2a"),
        CustomRule("some", r"x[^;]{1,30}", "xyz"),
    )
    once = own.redact("secret token 4f2a, [secret:word:12ab] x 12345678 x[secret:a:1234] ;x")
    assert own.redact(once) == once


GOOD = (
    (r"ACME-[0-9]{6}", "ACME-123456"),
    (r"ACME-[A-Z0-9]+", "ACME-X1"),
    (r"[A-Z0-9]{20,}", "A1" * 12),
    (r"\bacme_[a-z]+_[0-9]+\b", "acme_prod_12"),
    (r"\b[A-Z0-9]{20,}\b", "A1" * 12),
    (r"(?m)^key: .+$", "key: value"),
    (r"(?i)project-x(?:-[a-z]+)?", "Project-X-blue"),
    (r"(?:[0-9a-f]{2}:){5}[0-9a-f]{2}", "00:1a:2b:3c:4d:5e"),
    (r"acme(?:prod|dev)_[A-Za-z0-9]{32}", "acmeprod_" + "aB3d" * 8),
    (r"(?<![A-Za-z])[A-Za-z]{10,}!", "abcdefghijk!"),
    (r"customer [A-Z][a-z]{2,30} [A-Z][a-z]{2,30}", "customer Ann Smith"),
    (r'"acme":\s*"[^"]+"', '"acme": "x"'),
    (r"K\d{7}", "K1234567"),
    ("Z\u00fcri-[0-9]+", "Z\u00fcri-12"),
)
ENDLESS = (
    r"(a+)+b", r"(a|a)*b", r"(?:a|ab)+c", r"(x+x+)+y", r"([a-z]+\d*)*@", r"(?:.{1,100}){1,100}x",
    r".*secret", r"[a-z]+!", r"x[a-z]+!", r"x=[^;]*;", r"\w+\s*\w+;", r"key=.*;.*;x", r"\S+@\S+\.com",
    r"[a-z]{1,100}[a-z]{1,100}[a-z]{1,100}!", r"(\w+) \1", r"(a)(?(1)b|c)", r"(?=.*\d)x", r"a{1,5000}b",
    r"a{5000,}",
    r"(?:[0-9a-f]{2}:)+[0-9a-f]{2}", r"(?m)^\s*key", r"(?s)^a.*b.*c", r"(?:ab|cd|ef|gh|ij){9}",
)  # fmt: skip


@pytest.mark.parametrize(("pattern", "example"), GOOD)
def test_accept_usable_rule(pattern: str, example: str) -> None:
    check_rule(CustomRule("own", pattern, example))
    assert "[secret:own:" in redactor(CustomRule("own", pattern, example)).redact(f"\n{example}")


@pytest.mark.parametrize("pattern", ENDLESS)
def test_refuse_rule_that_is_not_linear(pattern: str) -> None:
    with pytest.raises(UsageError, match=r"^The pattern of rule own [a-z].*\.$"):
        check_rule(CustomRule("own", pattern, "abc"))


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        (CustomRule("", "a", "a"), "name of an own rule"),
        (CustomRule("Big", "a", "a"), "name of an own rule"),
        (CustomRule("a b", "a", "a"), "name of an own rule"),
        (CustomRule("a" * 41, "a", "a"), "name of an own rule"),
        (CustomRule("own", "(", "("), "no regular expression"),
        (CustomRule("own", "a" * 501, "a"), "longer than 500"),
        (CustomRule("own", "x?", "x"), "empty text"),
        (CustomRule("own", r"\b", "x"), "empty text"),
        (CustomRule("own", r"ACME-\d", "ACME-x"), "does not find its own example"),
        (CustomRule("own", r"a(?P<secret>b)?", "a"), "does not find its own example"),
    ],
)
def test_refuse_unusable_rule_with_reason(rule: CustomRule, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        check_rule(rule)
    with pytest.raises(UsageError, match=says):
        redactor(rule)
