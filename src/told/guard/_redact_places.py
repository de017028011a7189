"""Commands, files and sentences in which a password has its place."""

from __future__ import annotations

from told.guard._redact_rule import Rule

_QUOTE = r"""\\{0,4}["'`]"""
_IN_QUOTES = r"""(?:[@bNru]{0,2}\\{0,4}["'])(?P<value>[^\s"'`\\]{3,}+)(?=\\{0,4}["'])"""
_WORD = r"""(?P<value>[^\s"'`<>]{4,}+)"""

PLACES = (
    Rule(
        "webhook",
        ("://",),
        r"://[\w./-]{0,80}?hooks?(?:b2)?(?:\.\w[\w.-]{2,40})?/(?P<value>[\w/@.%+-]{16,300}+)",
        (
            "https://acme.webhook.office.com/webhookb2/4f2a9c8e-1b7d-4f6a-8c5e-4f2a9c8e1·b7d@4f2a9c8e-1b7d-4f6a-8c5e-4f2a9c8e1b7d/IncomingWebhook/4f2a9c8e1b7d3f6a0c5e4f2a9c8e1b7d",
            "https://hook.eu1.make.com/k3j9sq0vwx7l·mn2pr5ty8ub1cd4e",
        ),
        (
            "https://github.com/acme/app/webhooks/handlers/payment",
            "src/hooks/useAuthenticationToken.ts",
            "/home/ann/hooks/.claude/projects/cd5543a7-f99c-4ced-8e7f-53ad4568075c.jsonl",
        ),
        accept="path",
        look=r"://[\w./?-]{0,80}?hook",
    ),
    Rule(
        "webhook",
        ("://",),
        r"://hooks\.zapier\.com/hooks/catch/(?P<value>[\w/-]{6,80}+)",
        ("https://hooks.zapier.com/hooks/catch/1234567/bx·7k2q9/",),
        ("https://hooks.zapier.com/hooks/catch/xxxxxxx/xxxxxx/",),
        look=r"://hooks\.zapier",
    ),
    Rule(
        "putty-key",
        ("key",),
        r"key-file-\d:[^\n]{0,80}\n(?:[^\n]{0,120}\n){0,60}?private-lines:[ ]\d{1,4}\s{1,4}"
        r"(?P<value>(?:[A-Za-z0-9+/=]{16,80}\s{0,4}){1,200}+)",
        ("PuTTY-User-Key-File-2: ssh-rsa\nPrivate-Lines: 2\nAAABAQCk3J9sQ0vWx7LmN2pR5tY·8uB1cD4eF6gH0\n",),
        ("PuTTY-User-Key-File-2: ssh-rsa\nPrivate-Lines: 14",),
        accept="key-body",
        look=r"key-file-\d",
    ),
    Rule(
        "password",
        ("identified by",),
        rf"identified by[ ]{{1,2}}(?:password[ ])?{_IN_QUOTES}",
        ("mysql> CREATE USER app IDENTIFIED BY 'sun·shine';",),
        ("the user is identified by 'username' and a number", "IDENTIFIED BY '${PASSWORD}'"),
        accept="word",
    ),
    Rule(
        "password",
        ("securestring",),
        rf"securestring\s{{1,3}}(?:-\w{{3,12}}\s{{1,3}}){{0,2}}{_IN_QUOTES}",
        (
            'ConvertTo-SecureString "Summ·er2024" -AsPlainText -Force',
            "ConvertTo-SecureString -String 'hunt·er2' -AsPlainText",
        ),
        ('ConvertTo-SecureString "$password" -AsPlainText', "ConvertTo-SecureString $plain -AsPlainText"),
        accept="word",
    ),
    Rule(
        "password",
        ("auth",),
        rf"auth(?:enticate)?[ ]?=?[ ]?\([ ]?(?:\w+[ ]?=[ ]?)?"
        rf"{_QUOTE}[^\"'\s]{{1,80}}{_QUOTE},[ ]?(?:\w+[ ]?=[ ]?)?{_IN_QUOTES}",
        (
            "requests.get(url, auth=('ann', 'hunt·er2'))",
            'HTTPBasicAuth("ann", "sun·shine")',
        ),
        ("auth=('user', 'pass')", "auth(name, 'scope')"),
        accept="word",
        look=r"auth(?:enticate)? ?=? ?\(",
    ),
    Rule(
        "password",
        ("pass", "secret"),
        rf"(?:pass(?:word|wd|phrase|code)?|secret(?=[ ][0578][ ]))\s{{1,8}}(?:[0578][ ])?{_WORD}",
        (
            "machine api.acme.dev login ann password k3J9sQ·0vWx7L",
            "machine host\n  login ann\n  password hunt·er22\n",
            "log in as ann with password hunt·er2",
            "username ann password 7 0822455D0A·16",
        ),
        ("machine x login y password reset", "with password authentication enabled", "and secret sharing2"),
        accept="login",
        look=r"(?:pass(?:word|wd|phrase|code)?|secret(?= [0578] ))\s",
    ),
    Rule(
        "password",
        ("use ",),
        rf"use[ ](?:{_QUOTE})?{_WORD}(?:{_QUOTE})?[ ]as[ ](?:(?:the|my|your|its)[ ])?"
        r"(?:\w{1,16}[ ]){0,2}(?:pass(?:word|phrase)|pwd|token|secret|api[ ]?key)",
        ("please use hunt·er2 as the password",),
        ("use argon2 for password hashing", "use os.environ for the token"),
        accept="password",
    ),
    Rule(
        "password",
        ("in with", "cred"),
        rf"(?:(?:(?<=log )|(?<=log))in[ ]with|cred(?:ential)?s?(?:[ ]are|[ ]is|:))[ :]{{1,3}}(?:{_QUOTE})?"
        rf"[\w.@+-]{{1,60}}[ ]?[/:][ ]?{_WORD}",
        ("login with admin / hunt·er2", "creds: ann:hunt·er2", "the credentials are ann / Summ·er2024"),
        ("login with google / github", "credentials: aws:iam"),
        accept="password",
        look=r"(?:in with|cred(?:ential)?s?)[ :]",
    ),
)
