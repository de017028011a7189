"""Tests of tokens of unlisted issuers, passwords and e-mail addresses."""

from __future__ import annotations

import random

import pytest

from told.redact.engine import Redactor
from told.redact.rules import Rule, load_formats
from told.redact.values import is_random_token
from told.settings import Redaction

REDACTOR = Redactor(bytes(range(32)))
WITHOUT_EMAILS = Redactor(bytes(range(32)), Redaction(emails=False))
MIXED = "k3J9sQ0vWx7LmN2pR5tY8uB1cD4eF6gH"
SMALL = "k3j9sq0vwx7lmn2pr5ty8ub1cd4ef6gh"
HEX = "4f2a9c8e1b7d3f6a0c5e4f2a9c8e1b7d"
UUID = "4f2a9c8e-1b7d-4f6a-8c5e-4f2a9c8e1b7d"


def shown(line: str) -> str:
    return line.replace("·", "").format(mixed=MIXED, small=SMALL, hex=HEX, uuid=UUID)


def hidden(line: str) -> str:
    """Return what is between the two marks, which has to be gone."""
    return line.split("«")[1].split("»", maxsplit=1)[0]


def without(line: str) -> tuple[str, str]:
    """Return the redacted line and what may not be in it."""
    text = shown(line)
    return REDACTOR.redact(text.replace("«", "").replace("»", "")), hidden(text)


@pytest.mark.parametrize(
    "line",
    [
        "run it with «acme_{mixed}» and wait",
        "run it with «acme_live_{mixed}» and wait",
        'client.connect("«qx-{mixed}»")',
        "- «zed_pat_{small}»",
        "export FOO=«nova_sk_{hex}»",
        "FOO=«widget-key-{uuid}»",
        "«wk7_{small}»",
        "«{hex}-us14»",
        "x = '«k3J8Q~{mixed}k3»'",
        "https://api.telegram.org/bot«7723267938:AA{mixed}k»/sendMessage",
        "«MTk3J9sQ0vWx7LmN2pR5tY8u.k3J9sQ.{mixed}»",
        "«k3J9sQ0vWx7LmN.atlasv1.{mixed}{mixed}»",
        "ann:«$2b$12${mixed}{mixed}»",
        "ann:«$6$k3J9sQ0v${mixed}{mixed}»:18000:0:99999:7:::",
        "ann:«$apr1$k3J9sQ0v$k3J9sQ0vWx7LmN2pR5tY8u»",
    ],
)
def test_redact_unlisted_prefixes_and_known_shapes(line: str) -> None:
    redacted, secret = without(line)
    assert "[secret:" in redacted
    assert secret not in redacted


@pytest.mark.parametrize(
    "line",
    [
        "datadog api: «{hex}»",
        "heroku_key: «{uuid}»",
        "algolia admin «{hex}»",
        "zendesk token «{mixed}»",
        "my api key is «{mixed}»",
        "Secret Key: «{mixed}»",
        "here is the token: «{hex}»",
        "ENV API_TOKEN «{mixed}»",
        "curl -H 'X-Api-Key: «{mixed}»' https://api.acme.dev",
        'req.Header.Set("X-Auth-Token", "«{hex}»")',
        "https://api.acme.dev/weather?q=Rome&appid=«{hex}»",
        "https://x.blob.acme.dev/c?sv=2024&sig=«{mixed}»",
        "Set-Cookie: sessionid=«{small}»; HttpOnly",
        'NSString *apiKey = @"«{mixed}»";',
        'const API_KEY: &str = "«{mixed}»";',
        'private static final String SECRET = "«{mixed}»";',
        "<key>API_KEY</key>\n<string>«{mixed}»</string>",
        'jwt.sign(payload, "«{mixed}»")',
        '{{"kty":"EC","d":"«{mixed}k3J9sQ0vWx7L»"}}',
        'license_key = "«K3J9S-Q0VWX-7LMN2-PR5TY-8UB1C»"',
        "[Interface]\nPrivateKey = «{mixed}k3J9sQ0vWx7=»",
        "aws_secret_access_key = «k3J9sQ0vWx7LmN2p/R5tY8uB1cD4eF6gH0iJ+k3J9»",
        "define( 'AUTH_KEY', '«k3J9#sQ0v^Wx7L&mN2p!R5tY@8uB1*cD4e»' );",
        "SECRET_KEY = '«django-k3j9#sq0v^wx7l&mn2p!r5ty@8ub1»'",
        "api_key = '«correct#horse!battery%staple&again»'",
    ],
)
def test_redact_announced_random_words(line: str) -> None:
    redacted, secret = without(line)
    assert "[secret:" in redacted
    assert secret not in redacted


@pytest.mark.parametrize(
    "line",
    [
        "DB_PASS=«let·mein»",
        'password = "«sun·shine»"',
        "password: «correcthorse·battery»",
        "<password>«sun·shine»</password>",
        "Server=db;User ID=sa;Password=«sun·shine»;Encrypt=True",
        'variable "db_password" {{\n  default = "«sun·shine»"\n}}',
        "define('DB_PASSWORD', '«sun·shine»');",
        "spring.datasource.password=«s3a·side»",
        "ConvertTo-SecureString '«sun·shine»' -AsPlainText -Force",
        "CREATE USER app IDENTIFIED BY '«sun·shine»'",
        "machine api.acme.dev login ann password «s3a·side»",
        "curl -u ann:«sun·shine» https://ci.acme.dev",
        "docker login -u ann -p «S3a·side!9» registry.acme.dev",
        "password: «$Secr3t·!»",
        "Das Passwort lautet «S3a·side!»",
        "la contraseña es «S3a·side!»",
        "wachtwoord = «S3a·side!»",
        "пароль: «S3a·side!»",
        "密码: «S3a·side!»",
        "please use «S3a·side!» as the password",
        "login with admin / «S3a·side!»",
    ],
)
def test_redact_chosen_passwords(line: str) -> None:
    redacted, secret = without(line)
    assert "[secret:" in redacted
    assert secret not in redacted


@pytest.mark.parametrize(
    "harmless",
    [
        "toolu_01gbiNFXGn6w38gS4dwELfUZ",
        '{"id":"msg_015oWWxcurdDFh0r1SR9ghDo","call_id":"call_e2mpG5ixrUPb6z3YwGaR8Mpm"}',
        "chatcmpl-9AbCdEfGhIjKlMnOpQrStUvWxYz12 took 3 s",
        "req_011CSHoEeqs5C35K2UUqR7Fy failed",
        f"session {UUID} was resumed from sess_{HEX}",
        f"commit {HEX}4f2a9c8e",
        f"pulled nginx@sha256:{HEX}{HEX}",
        f"dist/assets/index-{MIXED}.js",
        f"https://cdn.acme.dev/img_{MIXED}.png",
        "test_gttrf_gttrs_NAG_f07cdf_f07cef_f07crf",
        '"@aws-sdk/credential-provider-node": "^3.972.94"',
        "getVercelOidcTokenFromContextWithRetry2",
        "password: string | undefined",
        "password: PasswordInput",
        "password=settings.db_password,",
        'label: "Password", type: "password", autocomplete: "current-password"',
        "token: 'refreshToken'",
        "'pass', 'raise', 'return', 'yield2'",
        '"nextPageToken": "CAUQAA4f2a9c8e1b7d3f6a"',
        f'"AWS::MSK::BatchScramSecret": "{HEX[:16]}"',
        "arn:aws:secretsmanager:eu-west-1:123456789012:secret:app/db-k3J9sQ",
        f"-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE{MIXED}\n-----END PUBLIC KEY-----",
        "const auth = `${encode(proxy.user)}:${encode(proxy.password)}`",
        "The key to success is a secret that nobody keeps.",
        "abcdefghijklmnopqrstuvwxyz0123456789",
    ],
)
def test_keep_names_numbers_and_code(harmless: str) -> None:
    assert REDACTOR.redact(harmless) == harmless


@pytest.mark.parametrize(
    "line",
    [
        "write to «ann.lee@gmail.com» please",
        "Author: Kai Tanaka <«kai.tanaka@initech.de»>",
        "mailto:«zoe.w@bigcorp.co.uk»?subject=x",
        '"email": "«pat+news@startup.io»"',
        "ask «j.mueller@web.de».",
        "cc «bob@initech.de», the owner",
        "<«alice@gmail.com»>",
        "write to «info@bigcorp.co.uk» or call",
        "«support@startup.io»",
        "«admin@hooli.com» has the keys",
    ],
)
def test_redact_emails_of_people_if_enabled(line: str) -> None:
    text, address = line.replace("«", "").replace("»", ""), hidden(line)
    assert address not in Redactor(bytes(32), Redaction(emails=True)).redact(text)
    assert WITHOUT_EMAILS.redact(text) == text


@pytest.mark.parametrize(
    "harmless",
    [
        "git clone git@github.com:acme/app.git",
        "ssh deploy@prod.acme-corp.com",
        "scp notes.txt ann@box.acme-corp.com:/srv",
        "npm install lodash@4.17.21 @scope/package@1.2.3",
        "uses: actions/checkout@v4",
        "Co-authored-by: bot <noreply@github.com>",
        "Author: Dev <dev@example.com>",
        "alice@example.org, bob@acme.test and info@example.com",
        "[remote] url = ssh://git@gitlab.com/acme/app.git",
        "you@gmail.com, user@gmail.com or john.doe@gmail.com",
        "logo@2x.png and getty@tty1.service",
        "loss = W@x.data + b",
        "user@localhost",
    ],
)
def test_keep_emails_of_nobody(harmless: str) -> None:
    assert Redactor(bytes(32), Redaction(emails=True)).redact(harmless) == harmless


@pytest.mark.parametrize("rule", load_formats(), ids=lambda rule: f"{rule.name}-{rule.literals[0]}")
def test_examples_of_formats_are_long_enough_to_be_scanned(rule: Rule) -> None:
    assert rule.is_format
    assert all(len(example.replace("·", "")) >= 18 for example in rule.examples)
    assert all(rule.literals)


def test_redact_invented_issuers_and_keep_ids() -> None:
    dice = random.Random(11)
    small = "abcdefghijklmnopqrstuvwxyz"
    both = small + small.upper() + "0123456789"

    def drawn(length: int, alphabet: str = both) -> str:
        return "".join(dice.choice(alphabet) for _ in range(length))

    found = 0
    for _ in range(200):
        issuer = drawn(4, small)
        token = f"{issuer}_{dice.choice(['', 'live_', 'pat_'])}{drawn(32)}"
        found += token not in REDACTOR.redact(f"the new one is {token} now")
    assert found > 180
    for _ in range(50):
        number = drawn(40, "0123456789abcdef")
        for line in (
            f'{{"id":"msg_01{drawn(22)}","call_id":"call_{drawn(24)}"}}',
            f"toolu_01{drawn(22)} and req_01{drawn(22)} and chatcmpl-{drawn(29)}",
            f"run_{drawn(24)} thread_{drawn(24)} file-{drawn(24)} ses_{drawn(26)}",
            f"cus_{drawn(14)} price_{drawn(24)} pi_{drawn(24)} evt_{drawn(24)}",
            f"commit {number} of https://github.com/acme/app/commit/{number}",
            f'"integrity": "sha512-{drawn(86)}==", "checksum": "{number}"',
            f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA{drawn(44)} ann@laptop",
            f"-----BEGIN PUBLIC KEY-----\n{drawn(40)}/{drawn(23)}\n{drawn(64)}\n-----END PUBLIC KEY-----",
            f"data:image/png;base64,{drawn(200)}+{drawn(90)}/{drawn(90)}",
            f"agent-{number[:17]}.jsonl and rollout-2026-01-01-{number[:8]}-{number[:4]}.jsonl",
        ):
            assert REDACTOR.redact(line) == line


def test_tell_random_tokens_from_names() -> None:
    letters = "abcdefghijklmnopqrstuvwxyz"
    dice = random.Random(7)
    for alphabet in (letters + letters.upper() + "0123456789", letters + "0123456789"):
        drawn = ["".join(dice.choice(alphabet) for _ in range(32)) for _ in range(300)]
        assert sum(map(is_random_token, drawn)) > 285
    names = (
        "test_the_second_window2",
        "MAX_RETRIES_PER_REQUEST_V2",
        "getHttp2SessionOptions",
        "claude-opus-4-5-20251101",
    )
    assert not any(map(is_random_token, names))


def test_longest_prefix_names_the_secret() -> None:
    body = "4f2a9c8e1b7d3f6a0c5e" * 2
    redacted = REDACTOR.redact(f"sk-{body} and sk-or-v1-{body}4f2a9c8e")
    assert redacted.startswith("[secret:openai-key:")
    assert " and [secret:openrouter-key:" in redacted
