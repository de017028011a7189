"""Secrets that tell what they are by how they begin: one line for each kind of issuer."""

from __future__ import annotations

from told.record import record


@record
class Rule:
    """One kind of secret.

    A match begins where one of the `literals` stands, so text without one costs no regular expression.
    Repeats are bounded or possessive, which keeps the time linear. The secret is the group that matched last,
    or all of the match. Examples hold a middle dot that is not part of them, lest this looks like a leak.
    """

    name: str
    literals: tuple[str, ...]  # in lower case; of a format as it is written
    pattern: str
    examples: tuple[str, ...]
    counter_examples: tuple[str, ...] = ()
    accept: str = "filled"  # which judgement of `told.guard._redact_values` the secret has to pass
    is_format: bool = False  # known by how it begins, in an unbroken run of 18 characters or more


# What a token is made of, and characters to make up an example from.
_ALNUM = ("[A-Za-z0-9]", "k3J9sQ0vWx7LmN2pR5tY8uB1cD4eF6gH0iJk")
_WORD = ("[A-Za-z0-9_-]", "k3J9sQ0v-Wx7LmN2pR5t_Y8uB1cD4eF6gH0iJk")
_DOTS = ("[A-Za-z0-9_.-]", "k3J9sQ0vWx7LmN2pR5tY8uB1.cD4eF6gH0iJk")
_BASE64 = ("[A-Za-z0-9_+/=-]", "k3J9sQ0vWx7LmN2pR5tY8uB1cD4eF6+H0i/k")
_UPPER = ("[A-Z0-9]", "K3J9SQ0VWX7LMN2PR5TY8UB1CD4EF6GH0JK")
_HEX = ("[0-9a-fA-F]", "4f2a9c8e1b7d3f6a0c5e")

# name, how it may begin, what follows, at least and at most how much of it
_SIMPLE: tuple[tuple[str, str, tuple[str, str], int, int], ...] = (
    ("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", _ALNUM, 16, 255),
    ("github-token", "github_pat_", _WORD, 20, 255),
    (
        "gitlab-token",
        "glpat- gldt- glrt- glcbt- glptt- glft- glimt- glagent- gloas- glsoat- glffct-",
        _DOTS,
        16,
        300,
    ),
    ("gitlab-token", "GR1348941", _WORD, 16, 64),
    ("anthropic-key", "sk-ant-", _WORD, 20, 300),
    ("openai-key", "sk-proj- sk-svcacct- sk-admin- sk-", _WORD, 19, 300),
    ("google-key", "AIza", _WORD, 30, 60),
    ("google-token", "ya29.", _WORD, 20, 400),
    ("google-secret", "GOCSPX-", _WORD, 20, 60),
    ("slack-token", "xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs- xapp-", _WORD, 14, 400),
    ("slack-token", "xoxe.xoxp- xoxe.xoxb-", _WORD, 14, 400),
    (
        "stripe-key",
        "sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_ pk_live_ pk_prod_",
        _ALNUM,
        10,
        255,
    ),
    ("stripe-secret", "whsec_", _BASE64, 20, 255),
    ("brevo-key", "xkeysib- xsmtpsib-", _WORD, 30, 120),
    ("npm-token", "npm_", _ALNUM, 30, 64),
    ("pypi-token", "pypi-A", _WORD, 40, 600),
    ("huggingface-token", "hf_ api_org_", _ALNUM, 30, 40),
    ("twilio-key", "SK", _HEX, 32, 32),
    ("aws-key-id", "AKIA ASIA ABIA ACCA", _UPPER, 16, 16),
    ("aws-bedrock-key", "ABSK bedrock-api-key-", _BASE64, 60, 2000),
    ("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", _HEX, 32, 64),
    ("shopify-token", "shpat_ shpca_ shppa_ shpss_", _HEX, 32, 32),
    ("square-token", "sq0atp- sq0csp- sq0idp- EAAA", _WORD, 22, 80),
    ("databricks-token", "dapi", _HEX, 32, 32),
    ("doppler-token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim.", _DOTS, 30, 80),
    ("dynatrace-token", "dt0c01. dt0s01. dt0s16.", _DOTS, 40, 120),
    ("grafana-token", "glc_ glsa_ eyJrIjoi", _BASE64, 30, 400),
    ("vault-token", "hvs. hvb. hvr.", _WORD, 20, 300),
    ("linear-key", "lin_api_ lin_oauth_", _ALNUM, 32, 80),
    ("mailgun-key", "key- pubkey-", _HEX, 32, 32),
    ("newrelic-key", "NRAK- NRII- NRJS- NRIQ- NRRA-", _WORD, 16, 64),
    ("notion-token", "ntn_", _ALNUM, 40, 60),
    ("planetscale-token", "pscale_tkn_ pscale_oauth_ pscale_pw_", _BASE64, 20, 80),
    ("postman-key", "PMAK-", _WORD, 50, 64),
    ("prefect-key", "pnu_ pnb_", _ALNUM, 30, 64),
    ("pulumi-token", "pul-", _HEX, 40, 40),
    ("readme-key", "rdme_", _ALNUM, 50, 80),
    ("rubygems-key", "rubygems_", _HEX, 48, 48),
    ("sentry-token", "sntrys_ sntryu_ sntryi_", _BASE64, 40, 600),
    ("settlemint-token", "sm_aat_ sm_pat_ sm_sat_", _ALNUM, 16, 40),
    ("shippo-token", "shippo_live_ shippo_test_", _HEX, 40, 40),
    ("sourcegraph-token", "sgp_ sgp_local_ slk_", _HEX, 40, 64),
    ("onepassword-token", "ops_eyJ", _BASE64, 60, 2000),
    ("age-key", "AGE-SECRET-KEY-1", _UPPER, 50, 64),
    ("alibaba-key", "LTAI", _ALNUM, 14, 24),
    ("adobe-secret", "p8e-", _HEX, 32, 32),
    ("artifactory-key", "AKCp cmVmd", _ALNUM, 56, 80),
    ("atlassian-token", "ATATT3", _BASE64, 60, 300),
    ("clojars-token", "CLOJARS_", _ALNUM, 40, 64),
    ("duffel-token", "duffel_test_ duffel_live_", _BASE64, 40, 60),
    ("easypost-key", "EZAK EZTK", _ALNUM, 50, 60),
    ("facebook-token", "EAAC EAAM", _ALNUM, 40, 300),
    ("flutterwave-key", "FLWSECK_TEST- FLWPUBK_TEST- FLWSECK- FLWPUBK-", _HEX, 12, 32),
    ("fly-token", "fo1_ fm1a_ fm1r_ fm2_", _BASE64, 40, 600),
    ("frameio-token", "fio-u-", _BASE64, 60, 80),
    ("payment-key", "live_ test_", _WORD, 30, 64),
    ("heroku-key", "HRKU-", _WORD, 40, 80),
    ("infracost-key", "ico-", _ALNUM, 32, 32),
    ("intra42-secret", "s-s4t2ud- s-s4t2af-", _HEX, 64, 64),
    ("octopus-key", "API-", _UPPER, 26, 26),
    ("perplexity-key", "pplx-", _ALNUM, 40, 64),
    ("scalingo-token", "tk-us-", _WORD, 40, 64),
    ("typeform-token", "tfp_", _DOTS, 40, 80),
    ("yandex-key", "AQVN", _WORD, 35, 38),
    ("groq-key", "gsk_", _ALNUM, 30, 80),
    ("replicate-token", "r8_", _ALNUM, 30, 60),
    ("xai-key", "xai-", _ALNUM, 40, 120),
    ("supabase-token", "sbp_ sb_secret_", _WORD, 20, 80),
    ("tailscale-key", "tskey-", _WORD, 16, 100),
    ("docker-token", "dckr_pat_ dckr_oat_", _WORD, 20, 64),
    ("figma-token", "figd_ figo_", _WORD, 30, 80),
    ("langsmith-key", "lsv2_pt_ lsv2_sk_", _WORD, 32, 64),
    ("pinecone-key", "pcsk_", _WORD, 30, 100),
    ("nvidia-key", "nvapi-", _WORD, 40, 100),
    ("posthog-key", "phx_ phc_", _ALNUM, 30, 60),
    ("contentful-token", "CFPAT-", _WORD, 40, 60),
    ("circleci-token", "CCIPAT_ CCIRUN_", _WORD, 30, 90),
    ("buildkite-token", "bkua_ bkat_", _ALNUM, 30, 60),
    ("encoded-token", "ZXlK", _BASE64, 80, 4000),
)
# Beginnings that ordinary names have as well.
_WEAK = frozenset(("payment-key", "openai-key", "mailgun-key", "encoded-token"))
_NOT_INSIDE = r"(?<![A-Za-z0-9_+])"


def _simple(name: str, beginnings: str, made_of: tuple[str, str], least: int, most: int) -> Rule:
    alphabet, sample = made_of
    choice = beginnings.replace(".", r"\.").replace(" ", "|")
    whole = r"(?!\w)" if most - least < 11 else ""
    literals = tuple(beginnings.split())
    return Rule(
        name,
        literals,
        f"{_NOT_INSIDE}(?:{choice}){alphabet}{{{least},{most}}}+{whole}",
        tuple(
            literal + (sample * least)[:least].replace("-", "", 1) + sample[:1] * ("-" in sample)
            for literal in literals
        ),
        (*(literal + "x" * least for literal in literals), f"{literals[0]} and then"),
        accept="random" if name in _WEAK else "mixed",
        is_format=True,
    )


def _shaped(
    name: str, beginnings: str, rest: str, *examples: str, counter_examples: tuple[str, ...] = ()
) -> Rule:
    choice = beginnings.replace(".", r"\.").replace(" ", "|")
    pattern = f"{_NOT_INSIDE}(?:{choice}){rest}"
    return Rule(name, tuple(beginnings.split()), pattern, examples, counter_examples, "mixed", is_format=True)


FORMATS = (
    *(_simple(*row) for row in _SIMPLE),
    _shaped(
        "jwt",
        "eyJ",
        r"(?<![\w-]eyJ)[\w-]{8,2000}+\.[\w-]{8,8000}+(?:\.[\w-]{8,2000}+)?",
        "ey·JhbGciOiJIUzI1NiJ9.eyJzdWIiOiI0MiIsIm5hbWUiOiJBbm4ifQ.k3J9sQ0vWx7LmN2pR5tY8uB1cD4eF6gH0iJk",
        counter_examples=("eyJ.eyJ.x", "eyJhbGciOi...", "eyJson"),
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
