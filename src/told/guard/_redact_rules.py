"""Secrets known by what stands around them: a name, a header, an address, a command."""

from __future__ import annotations

from told.guard._redact_places import PLACES
from told.guard._redact_rule import Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    RULES: tuple[Rule, ...]  # all of them

_QUOTE = r"""\\{0,4}["'`]"""
_OPENING = rf"(?:[@$]|[bfrulBFRULN]{{1,2}})?{_QUOTE}"
_BARE_RUN, _BARE_AND = r"""[^\s"'`,;<>(){}\[\]\\|&]""", r"&(?![\w.-]{1,40}=)"
_BARE = rf"(?P<bare>(?=(?:{_BARE_RUN}|{_BARE_AND}){{4}})(?:{_BARE_RUN}++|{_BARE_AND})++)"
_QUOTED_RUN, _BACKSLASH = r"""[^\s"'`\\]""", r"""\\(?![nrtux"'`\\])"""
_QUOTED = rf"{_OPENING}(?P<quoted>(?=(?:{_QUOTED_RUN}|{_BACKSLASH}){{4}})(?:{_QUOTED_RUN}++|{_BACKSLASH})++)"
_VALUE = rf"(?:{_QUOTED}|{_BARE})"
# Between a name and its value: the end of the name, a type, an operator. Also `"name": "X", "value": "…"`,
# `<X>…`, `X%3D…`, `setX("…")`, `variable "X" { default = …` and, for a command's option, nothing but a space.
_OPERATOR = (
    rf"(?:{_QUOTE})?\]?"
    r"(?:[ \t]{1,2}[a-z]\w{0,15}+(?=[ \t]{1,3}=)|\[\](?=[ \t]?=)"
    r"|:[ \t]?&?(?:'static[ ])?[A-Za-z]\w{0,15}+[?!]?(?=[ \t]{1,3}=))?"
    rf"(?:[ \t]{{0,24}}(?:=>|:{{0,3}}={{1,3}}|[.?+|]=|:|%3D)[ \t]{{0,8}}"
    rf"|,?\s{{0,24}}{_QUOTE[:-1] + ']'}?(?:\w{{1,12}}+:)?(?:value|default)(?:{_QUOTE})?\s?[:=]\s?"
    r"|</key>\s{0,24}<string>"
    r"|[ \t]?\{\s{0,24}(?:[a-z]\w{0,20}[ \t]{0,12}=[^\n]{0,60}\n\s{0,24}){0,3}default[ \t]{0,12}=[ \t]{0,8}"
    rf"|[ \t]?,[ \t]?(?={_OPENING})"
    rf"|(?:[ ][\w:-]{{1,20}}+={_QUOTE}[\w:/-]{{0,30}}{_QUOTE}){{0,2}}>\s{{0,24}}(?:<!\[CDATA\[)?"
    rf"|\([ \t]?(?={_OPENING})|[ \t]{{1,4}}(?=[\"'@]|[^\s\d!#%^&*]{{0,24}}+[\d!#%^&*]))"
)
_PRIVATE_KEY = (
    r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
    r"(?:[^-]|-(?!----))*+-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
    r"|-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
    r"(?:(?:\s|\\n){0,4}+[A-Za-z-]{3,20}+:[ ][^\n\\]{0,200}+)*+"
    r"(?:[\s\"'+|\\nr]{0,12}+[A-Za-z0-9+/=]{16,512}+)*+"
)
# What follows a name at least, but for a mere number: most words that are no names show nothing of it.
_LOOK = (
    r"(?=[\w.?-]{0,64}+(?:[:=](?![ \t]{0,8}+\n)|[\"'`\\\[\]>+|%<{]|[,(][ \t]?[@$bfruln]{0,2}\\{0,4}[\"'`]"
    r"|[ \t]{1,26}+(?:[\"'`@=:>.?+|%,{(\\]|[^\s\d!#%^&*]{0,24}+[\d!#%^&*]|[a-z?][\w?]{0,15}+[ \t]{1,3}=)"
    r"|,?\s{0,24}+[\"'`\\]{0,5}+(?:[\w?]{1,12}+:)?(?:value|default)))"
    r"(?!\w{0,24}+[\"'\\]{0,3}+ ?[:=] ?[\d.]{1,7}+[^\w.?])"
)
_NAMES = (
    "pass", "pw", "secret", "token", "key", "cred", "auth", "senha", "wachtwoord",
)  # fmt: skip

CONTEXT = (
    Rule(
        "private-key",
        ("-----begin",),
        _PRIVATE_KEY,
        (
            "-----BEGIN RSA PRI·VATE KEY-----\nMIIEowIBAAKCAQEAk3J9sQ0vcD==\n-----END RSA PRI·VATE KEY-----",
            "-----BEGIN PRI·VATE KEY-----\\nMIIEowIBAAKCAQEAk3J9sQ0vWx7LmN2pR5tY8uB1\\n",
            "-----BEGIN PGP PRI·VATE KEY BLOCK-----\nVersion: GnuPG v2\n\nlQWGBGSVV4YBDAClvRnxezIRy2Yv7S\n",
        ),
        (
            "-----BEGIN PRI·VATE KEY-----\nanything\n-----END PRI·VATE KEY-----",
            "-----BEGIN CERTIFICATE-----\nMIIEowIBAAKCAQEAk3J9sQ0vWx7LmN2p\n-----END CERTIFICATE-----",
        ),
        accept="key-body",
    ),
    Rule(
        "slack-webhook",
        ("://",),
        r"://hooks\.slack\.com/(?:services|workflows|triggers)/[\w/+-]{20,120}",
        ("https://hooks.slack.com/services/T01K3·J9SQ/B0VWX7LMN/k3J9sQ0vWx7LmN2pR5tY8uB1",),
        ("https://hooks.slack.com/services/TXXXXXXXX/BXXXXXXXX/XXXXXXXXXXXX", "https://hooks.slack.com/"),
        look=r"://hooks\.slack",
    ),
    Rule(
        "discord-webhook",
        ("://",),
        r"://[\w.-]{4,40}/[\w/]{0,20}?hooks/(?P<path>\d{15,22}/[\w-]{40,90})",
        (
            "https://discord.com/api/webhooks/7812365·42736412345/k3J9sQ0vWx7LmN2pR5tY8uB1cD4eF6gH0iJk3J9sQ0vWx7LmN2p",
        ),
        ("https://discord.com/api/webhooks/{id}/{token}",),
        look=r"://[\w.?-]{4,40}/[\w/?]{0,20}hooks",
    ),
    Rule(
        "url-password",
        ("://",),
        r"""://[^\s/:@"'<>`]{0,64}:(?P<after_colon>[^\s/@"'<>`\\(\[]{3,256}+)@|://(?P<alone>[A-Za-z0-9_-]{20,128}+)@""",
        (
            "postgres://app:j96·YdRGLe40@db.internal:5432/app",
            "https://k3J9sQ0vWx·7LmN2pR5tY8uB1@sentry.example.org/4",
            "redis://:hunt·er2x@cache:6379/0",
        ),
        (
            "https://user:pass@host.example",
            "postgres://app:${DB_PASSWORD}@db/app",
            "https://host.example:8080/a@b",
            "http://localhost:5432/@scope/package",
        ),
        look=r"://[^\s/@\"'<>`]{0,330}+@",
    ),
    Rule(
        "authorization",
        ("auth",),
        r"(?<![a-z])auth(?:orization|(?=[\"']?[:=][ ]?[\"']?(?:basic|bearer)[ ]))"
        rf"(?:{_QUOTE})?\s{{0,2}}[:=,]\s{{0,2}}(?:{_QUOTE})?"
        rf"(?:[A-Za-z][\w-]{{1,24}}+[ \t]{{1,3}}+(?=[^\s\"'`\\<>,;]{{8}}))?(?:[a-z_]{{2,24}}=(?:{_QUOTE})?)?"
        r"""(?P<credential>[^\s"'`\\<>,;]{8,}+)""",
        (
            "Authorization: Bearer k3J9·sQ0vWx7LmN2pR5tY8uB1",
            "authorization: Basic YWRtaW46aHVu·dGVyMg==",
            '"Authorization": "token 4f2a·9c8e1b7d3f6a0c5e4f2a9c8e1b7d3f6a0c5e"',
            "Authorization: SSWS k3J9·sQ0vWx7LmN2pR5tY8uB1",
            'Authorization: OAuth oauth_token="k3J9·sQ0vWx7LmN2pR5tY8uB1"',
        ),
        ("Authorization: Bearer <token>", "Authorization: Bearer $TOKEN", "Authorization: Bearer ${TOKEN}"),
        accept="credential",
        look=r"auth(?:orization|[\"']?[:=])",
    ),
    Rule(
        "user-password",
        ("-u",),
        rf"(?:(?<=[ ])-u[ ]?|-user[= ])(?:{_QUOTE})?[^\s:<\"'`$]{{1,80}}:(?:{_QUOTE})?"
        r"""(?P<value>[^\s"'`]{4,}+)""",
        (
            "curl -u admin:uf2·Stc#lmQo5wi2 https://ci.example.com",
            "curl --user 'api:key-d2·LkV78zLxt' https://x.example",
        ),
        ("docker run -u 1000:1000 image", "curl -u user:pass http://x", 'curl -u "$USER:$PASS" http://x'),
        accept="signed-in",
        look=r"-u(?:ser[= ]| ?)[^\s:]{1,90}:",
    ),
    Rule(
        "user-key",
        ("-u",),
        rf"(?:(?<=[ ])-u|-user)[= ](?:{_QUOTE})?(?P<value>[A-Za-z0-9_.-]{{20,}}+):?(?![^\s\"'`])",
        ("curl -u k3J9sQ0v·Wx7LmN2pR5tY8uB1: https://x.example",),
        ("systemctl --user some-service-for-user-1000.slice", "curl -u deployment-user-for-staging:"),
        accept="random",
        look=r"-u(?:ser)?[= ]\\{0,4}[\"'`]?[\w.?-]{20}",
    ),
    Rule(
        "command-password",
        (" -p",),
        rf"[ ]-p[ ]?(?:{_QUOTE})?(?P<value>[^\s\"'`]{{4,}}+)",
        ("mysql -u root -p425·Vowschajbr9 app < dump.sql", "sshpass -p 'tr0ub4·dor' ssh host"),
        ("docker run -p 8080:80 image", "mkdir -p src/told1/guard", "mysql -u root -p app"),
        accept="command",
    ),
    Rule(
        "password",
        (
            "pass",
            "senha",
            "wachtwoord",
            "contraseña",
            "парол",
            "密码",
            "密碼",
            "パスワード",
            "hasło",
            "lösenord",
        ),
        r"(?:(?:pass(?:word|wd|phrase|code|wort|e)|senha|contrase\u00f1a|wachtwoord)\b[^\n.:;=\"'`]{0,48}?[ ]"
        r"(?:is|was|to|as|ist|lautet|est|es|\u00e9|:)[ :]{1,2}(?:now )?"
        r"|(?:contrase\u00f1a|\u043f\u0430\u0440\u043e\u043b\w{0,3}|\u5bc6[\u7801\u78bc]|\u30d1\u30b9\u30ef\u30fc\u30c9|has\u0142o|l\u00f6senord)"
        r"[ ]?(?:[:=\uff1a]|[\u662f\u4e3a\u306f\u2014-])[ ]?)"
        r"""(?:["'`*]{1,2})?(?P<value>[^\s"'`<>]{4,}+)""",
        (
            "my password for the staging box is R52·WBI!r1ubKvty, please use it",
            "the password is hunt·er2",
            "Das Passwort lautet hunt·er2",
            "la contraseña es hunt·er2",
            "пароль: hunt·er2",
            "密码是 hunt·er2",
            "I changed the passphrase to `corr3ct-h0rse`".replace("h0rse", "h0·rse"),
        ),
        ("the password is required", "the password is hashed with argon2id", "password was not set"),
        accept="prose",
        look=r"(?:pass(?:word|wd|phrase|code|wort|e)|senha|wachtwoord)(?!\w)[^\n.:;=\"'`]{0,48} ",
    ),
    Rule(
        "secret",
        _NAMES,
        r"(?!\w{0,24}+[\"'\\]{0,3}+[ ]?[:=][ ]?[\d.]{1,7}+[^\w.])"
        rf"(?:{'|'.join(_NAMES)})[\w.-]{{0,32}}+{_OPERATOR}{_VALUE}",
        (
            "password=hunt·er2",
            'DB_PASSWORD="c0rrect-h0·rse"',
            "passwd: s3cr·3t!",
            '{"client_secret": "k3J9·sQ0vWx7LmN2pR5tY"}',
            '{\\"api_key\\": \\"k3J9·sQ0vWx7LmN2pR5tY\\"}',
            "aws_secret_access_key = k3J9sQ0vWx7LmN2pR5tY8uB1·cD4eF6gH0iJk3J9s",
            "export SERVICE_TOKEN=4f2a9c8e1b7d·3f6a0c5e",
            "told --password hunt·er22 run",
            "told --api-key=k3J9sQ0v·Wx7LmN2p",
            "<apiToken>\n  k3J9sQ0v·Wx7LmN2p\n</apiToken>",
            "- name: API_TOKEN\n  value: k3J9sQ0v·Wx7LmN2p",
            'System.setProperty("API_TOKEN", "k3J9sQ0v·Wx7LmN2p")',
            'token: str = "k3J9sQ0v·Wx7LmN2p"',
            "AccountName=x;AccountKey=k3J9sQ0vWx7LmN2pR5tY8uB1·cD4eF6gH0iJk3J9s==;EndpointSuffix=core",
            "SharedAccessKey=k3J9sQ0vWx7LmN2pR5tY8uB1·cD4eF6gH0iJk=",
            "//registry.example/:_authToken=4f2a9c8e·1b7d3f6a0c5e",
            "https://x.example/?access_token=4f2a9c8e·1b7d3f6a0c5e&x=1",
        ),
        (
            "password: str",
            "token: string",
            "password: string;",
            "token = get_token()",
            'token = os.environ["TOKEN"]',
            "const token = process.env.API_TOKEN",
            "TOKEN=${TOKEN}",
            "API_KEY=your-api-key-here",
            "api_key: <your-token>",
            "password: ****************",
            "token=xxxxxxxxxxxxxxxx",
            "secret_name: db-credentials-prod",
            'max_tokens: 4096, "input_tokens": 123456',
            "password_hash = hash_password(form.password.data)",
            "key_length = XSalsa20.key_length",
            '"cache_key": "user-42-profile9x"',
            "token_path: /home/ann/.config/token1",
            "tokenizer = AutoTokenizer.from_pretrained(name)",
            "secret: [secret:github-token:4f2a]",
            "The token expires after 3600s and the key rotates.",
            '"password":{"type":"string","minLength":12}',
            "def get_secret(self, user_id: int) -> str | None:",
            "Fix token refresh in auth2middleware1",
            "PublicKeyToken=b77a5c561934e089",
        ),
        accept="named",
        look=_LOOK,
    ),
)


def __getattr__(name: str) -> tuple[Rule, ...]:
    if name != "RULES":
        raise AttributeError(name)
    from told.guard._redact_formats import FORMATS  # there are many, and most searches need none of them

    return (*FORMATS, *CONTEXT, *PLACES)
