"""Secrets that tell what they are by how they begin: a rule for each issuer."""

from __future__ import annotations

from told.guard._redact_issuers import ALPHABETS, ISSUERS
from told.guard._redact_rule import Rule

_NOT_INSIDE = r"(?<![A-Za-z0-9_+])"
_NOT_INSIDE_BASE64 = r"(?<![A-Za-z0-9_+/])"
_JUDGED_BY = {"": "mixed", "?": "random", "!": "given", "~": "mixed"}


def _simple(row: str) -> Rule:
    name, kind, least_said, most_said, *literals = row.split()
    least, most = int(least_said), int(most_said)
    alphabet, sample = ALPHABETS[kind[0]]
    choice = "|".join(literals).replace(".", r"\.")
    inside = _NOT_INSIDE_BASE64 if kind[1:] == "~" else _NOT_INSIDE
    whole = r"(?!\w)" if most - least < 11 else ""
    return Rule(
        name,
        tuple(literals),
        f"{inside}(?:{choice}){alphabet}{{{least},{most}}}+{whole}",
        tuple(literal + _sample(sample, least) for literal in literals),
        (*(literal + "x" * least for literal in literals), f"{literals[0]} and then"),
        _JUDGED_BY[kind[1:]],
        True,
    )


def _sample(characters: str, length: int) -> str:
    return (characters * (length // len(characters) + 1))[: length - 1] + characters[0]


def _shaped(
    name: str,
    beginnings: str,
    rest: str,
    *examples: str,
    counter_examples: tuple[str, ...] = (),
    accept: str = "mixed",
) -> Rule:
    choice = beginnings.replace(".", r"\.").replace(" ", "|")
    pattern = f"{_NOT_INSIDE}(?:{choice}){rest}"
    return Rule(name, tuple(beginnings.split()), pattern, examples, counter_examples, accept, is_format=True)


FORMATS = (
    *(_simple(row) for row in ISSUERS.splitlines()),
    _shaped(
        "jwt",
        "eyJ",
        r"(?<![\w-]eyJ)[\w-]{8,2000}+\.{1,2}[\w-]{8,8000}+(?:\.[\w-]{8,8000}+){0,3}",
        "ey·JhbGciOiJIUzI1NiJ9.eyJzdWIiOiI0MiIsIm5hbWUiOiJBbm4ifQ.k3J9sQ0vWx7LmN2pR5tY8uB1cD4eF6gH0iJk",
        counter_examples=("eyJ.eyJ.x", "eyJhbGciOi...", "eyJson"),
    ),
    _shaped(
        "twitter-token",
        "AAAAAAAAAAAAAAAAAAAAA",
        r"(?<!/A{21})(?!A{4})[A-Za-z0-9%]{60,160}+",
        "AAAAAAAAAAAAAAAAAAAAAk3J9sQ0v·Wx7LmN2pR5tY8uB1cD4%3DeF6gH0iJk3J9sQ0vWx7LmN2pR5tY8uB1cD4eF6gH0i",
        accept="given",
    ),
    _shaped(
        "encoded-key",
        "LS0tLS1CRUdJT",
        r"(?!iBDRVJU|iBQVUJM)[A-Za-z0-9+/=]{60,9000}+",
        "LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQ·pk3J9sQ0vWx7LmN2pR5tY8uB1cD4eF6gH0iJk3J9sQ0vWx7LmN2",
        counter_examples=(
            "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUV2RENDQTZTZ0F3SUJBZ0lVk3J9sQ0vWx7LmN2pR5tY8uB1cD4eF",
        ),
    ),
    _shaped(
        "sendgrid-key",
        "SG.",
        r"[\w-]{16,64}\.[\w-]{16,64}",
        "S·G.k3J9sQ0vWx7LmN2pR5tY8u.B1cD4eF6gH0iJk3J9sQ0vWx7LmN2pR5tY8uB1c",
    ),
    _shaped(
        "sourcegraph-token",
        "sgp_",
        r"[0-9a-fA-F]{16}_[0-9a-fA-F]{40}",
        "sg·p_4f2a9c8e1b7d3f6a_4f2a9c8e1b7d3f6a0c5e4f2a9c8e1b7d3f6a0c5e",
    ),
    _shaped(
        "onepassword-key",
        "A3-",
        r"[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}",
        "A·3-K3J9SQ-0VWX7L-MN2PR-5TY8U-B1CD4-EF6GH",
    ),
    _shaped(
        "airtable-token",
        "pat",
        r"\w{14}\.[0-9a-f]{64}",
        "pa·tk3J9sQ0vWx7LmN.4f2a9c8e1b7d3f6a0c5e4f2a9c8e1b7d3f6a0c5e4f2a9c8e1b7d3f6a0c5e4f2a",
    ),
    _shaped(
        "authress-key",
        "sc_ ext_ scauth_ authress_",
        r"[a-z0-9]{5,30}\.[a-z0-9]{4,6}\.acc[_-][a-z0-9-]{10,32}\.[\w+/=-]{30,120}",
        "sc·_k3j9sq0v.x7lm.acc_n2pr5ty8ub1c.D4eF6gH0iJk3J9sQ0vWx7LmN2pR5tY8u",
    ),
    _shaped(
        "harness-key",
        "pat. sat.",
        r"[\w-]{22}\.[0-9a-zA-Z]{24}\.[0-9a-zA-Z]{20}",
        "pa·t.k3J9sQ0vWx7LmN2pR5tY8u.B1cD4eF6gH0iJk3J9sQ0vWx7.LmN2pR5tY8uB1cD4eF6g",
    ),
    _shaped(
        "mapbox-token",
        "pk. sk. tk.",
        r"eyJ[\w-]{40,200}\.[\w-]{20,40}",
        "pk·.eyJ1IjoiazNKOXNRMHZXeDdMbU4ycFI1dFk4dUIxY0Q0ZUY2Z0gw.k3J9sQ0vWx7LmN2pR5tY8u",
    ),
    _shaped(
        "openshift-token", "sha256~", r"[\w-]{43}", "sha·256~k3J9sQ0vWx7LmN2pR5tY8uB1cD4eF6gH0iJk3J9sQ0v"
    ),
    _shaped(
        "yandex-token",
        "t1.",
        r"[\w-]{1,400}={0,2}\.[\w-]{60,120}",
        "t1·.9euelZqk.3J9sQ0vWx7LmN2pR5tY8uB1cD4eF6gH0iJk3J9sQ0vWx7LmN2pR5tY8uB1cD4eF6gH0",
    ),
)
