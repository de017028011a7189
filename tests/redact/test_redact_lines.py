"""Tests of secrets as people type and paste them, in eleven languages."""

from __future__ import annotations

import pytest

from benchmarks import redact_lines
from told.redact.engine import Redactor
from told.redact.numbers import is_card

REDACTOR = Redactor(bytes(range(32)))
SEED = "flee amateur fade night toddler piano tail danger clown wagon early divide"
HEX = "ede70c43031cb3de2fb60528b33ee0cf2fbbfcec4fee0456b0185ac6f6f82b30"


@pytest.mark.parametrize(
    "line",
    [
        "the box is 10.0.4.12, user admin and password «k4csv-mKmQ30»",
        "ssh in as deploy, pw «Madrid18#x»",
        "login: bob / «k-fk2Tl*eN2D»",
        "credentials bob:«Summer2024»",
        "root pw was changed to «k-fk2Tl*eN2D» last friday",
        "the wifi key is «5492361318»",
        "$ kubectl get secret db -o jsonpath='{.data.password}' | base64 -d\n«kbM0qiw%z47E»",
        "db_password: !vault |\n  $ANSIBLE_VAULT;1.1;AES256\n  «62386536633934383162376433663661»\n",
        f"the private key of the deployer wallet is 0x«{HEX}»",
        f"my seed phrase is «{SEED}»",
        f"«{SEED}»",
        "charge it to my card «4514 8904 6046 3123»",
        "the PIN is «2347»",
        "the 2FA code is «027366»",
    ],
)
def test_redact_what_a_person_tells_an_agent(line: str) -> None:
    secret = line.split("«")[1].split("»", maxsplit=1)[0]
    redacted = REDACTOR.redact(line.replace("«", "").replace("»", ""))
    assert secret not in redacted
    assert "[secret:" in redacted


def test_redact_both_passwords_of_a_change() -> None:
    redacted = REDACTOR.redact("change the password from Amelie2011 to klF4WqkTu_9g in the script")
    assert redacted.count("[secret:password:") == 2


@pytest.mark.parametrize(
    "line",
    [
        SEED.replace("divide", "zoo"),  # a wrong checksum, and nothing says it is a phrase
        "test test test test test test test test test test test junk",
        "use 4242 4242 4242 4242, 12/34 and cvc 123 as the test card",
        "order 4514890460463124 has shipped",
        f"sha256 {HEX}",
        f"tx 0x{HEX} of my wallet",
        "PIN the version to 3.2; pin 5 is VCC",
        "the password is stored in 1Password, see docs/login2.md",
    ],
)
def test_keep_numbers_and_words_that_only_look_like_it(line: str) -> None:
    assert REDACTOR.redact(line) == line


def test_a_card_number_needs_its_check_digit() -> None:
    right = [last for last in "0123456789" if is_card("451489046046312" + last)]
    assert right == ["3"]


def test_few_secrets_leak_and_few_lines_are_removed_wrongly() -> None:
    lines = redact_lines.lines()
    wrong = [bool(line.secrets) for line in lines if redact_lines.is_wrong(line, REDACTOR.redact(line.text))]
    # Only counts: whoever writes rules must not see the lines of the unseen half.
    assert (len(lines), sum(wrong) <= 25, len(wrong) - sum(wrong) <= 1) == (615, True, True)
