"""Users add rules of their own, and none that is of no use or could hang."""

from __future__ import annotations

import base64

import pytest

from told.errors import UsageError
from told.guard.own_rules import check
from told.guard.redact import Redactor
from told.settings import OwnRule, Redaction

KEY = bytes(range(32))


def redactor(*rules: OwnRule) -> Redactor:
    return Redactor(KEY, Redaction(rules=rules))


def test_an_own_rule_takes_out_what_it_finds() -> None:
    own = redactor(OwnRule("customer", r"ACME-\d{4}", "ACME-1234"))
    redacted = own.redact("Call ACME-1234, ACME-5678 and ACME-1234.")
    first, second, third = (part for part in redacted.split() if part.startswith("[secret:customer:"))
    assert first.rstrip(",") == third.rstrip(".") != second
    assert "ACME" not in redacted


def test_of_a_rule_with_a_group_named_secret_only_that_is_taken_out() -> None:
    own = redactor(OwnRule("codename", r"(?i)codename (?P<secret>[a-z]{4,30})", "codename bluebird"))
    redacted = own.redact("The codename bluebird is out.")
    assert redacted.startswith("The codename [secret:codename:")
    assert redacted.endswith("] is out.")


def test_an_own_rule_sees_through_disguises() -> None:
    own = redactor(OwnRule("customer", r"ACME-\d{8}", "ACME-12345678"))
    placeholder = own.redact("ACME-12345678")
    for hidden in (
        "ACME%2D12345678",
        "\uff21\uff23\uff2d\uff25-12345678",
        "AC\u200bME-12345678",
        '"ACME-" + "12345678"',
        "id " + base64.b64encode(b"the id ACME-12345678 is secret").decode(),
    ):
        assert placeholder in own.redact(hidden)


def test_an_own_rule_names_what_others_find_as_well() -> None:
    own = redactor(OwnRule("our-token", r"ghp_[A-Za-z0-9]{36}", "ghp_" + "a1" * 18))
    assert own.redact("token=ghp_" + "k3J9sQ0vWx7LmN2pR5tY8uB1cD4eF6gH0iJk").startswith(
        "token=[secret:our-token:"
    )


def test_redacting_twice_with_own_rules_changes_nothing_more() -> None:
    own = redactor(
        OwnRule("word", r"\b[a-z]{6}\b", "secret"),
        OwnRule("number", r"[0-9a-f]{4}", "4f2a"),
        OwnRule("some", r"x[^;]{1,30}", "xyz"),
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
def test_a_rule_of_use_is_accepted(pattern: str, example: str) -> None:
    check(OwnRule("own", pattern, example))
    assert "[secret:own:" in redactor(OwnRule("own", pattern, example)).redact(f"\n{example}")


@pytest.mark.parametrize("pattern", ENDLESS)
def test_a_rule_that_could_take_more_than_linear_time_is_refused(pattern: str) -> None:
    with pytest.raises(UsageError, match=r"^The pattern of rule own [a-z].*\.$"):
        check(OwnRule("own", pattern, "abc"))


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        (OwnRule("", "a", "a"), "name of an own rule"),
        (OwnRule("Big", "a", "a"), "name of an own rule"),
        (OwnRule("a b", "a", "a"), "name of an own rule"),
        (OwnRule("a" * 41, "a", "a"), "name of an own rule"),
        (OwnRule("own", "(", "("), "no regular expression"),
        (OwnRule("own", "a" * 501, "a"), "longer than 500"),
        (OwnRule("own", "x?", "x"), "empty text"),
        (OwnRule("own", r"\b", "x"), "empty text"),
        (OwnRule("own", r"ACME-\d", "ACME-x"), "does not find its own example"),
        (OwnRule("own", r"a(?P<secret>b)?", "a"), "does not find its own example"),
    ],
)
def test_a_rule_of_no_use_is_refused_with_the_reason(rule: OwnRule, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        check(rule)
    with pytest.raises(UsageError, match=says):
        redactor(rule)
