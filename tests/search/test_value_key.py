"""The key of a statement: look-alikes of a text share it, other values do not."""

from __future__ import annotations

import pytest

from told.search.value_key import make_value_key

VALUE = "Use pnpm to install packages, never npm."
LOOK_ALIKES = {
    "case": "USE PNPM TO INSTALL PACKAGES, NEVER NPM",
    "spaces": "Use  pnpm\tto install\u00a0packages , never npm !",
    "spaces in words": "Use p n p m to install packages, never npm.",
    "cyrillic": "Usе рnрm tо instаll расkаgеs, nеvеr nрm.",
    "cyrillic capitals": "USE PNPM TО INSTALL PАСKAGES, NEVER NРM",
    "greek": "Use ρnρm to install packages, never npm.",
    "greek capitals": "USE PNPM TΟ INSTALL PACKAGES, NEVER ΝPM",
    "invisible": "Use p\u200bnpm to ins\u2060tall packages, never n\u034fpm.",
    "soft hyphen": "Use pn\u00adpm to install packages, never npm.",
    "direction": "\u202eUse pnpm\u202c to install packages, never npm.",
    "blank letters": "Use pnpm\u3164 to install\u2800 packages, never npm.",
    "markdown": "**Use** `pnpm` to _install_ packages, never npm.",
    "markdown in a word": "Use pn**pm** to install packages, never npm…",
    "quotes": "“Use pnpm to install packages, never npm”",
    "list": "- Use pnpm to install packages, never npm.",
    "quotation": "> Use pnpm to install packages, never npm.",
    "dash": "Use pnpm to install packages — never npm.",
    "full width": "Ｕｓｅ ｐｎｐｍ to install packages, never npm。",
    "mathematical": "𝐔𝐬𝐞 𝓹𝓷𝓹𝓶 to install packages, never npm.",
    "small capitals": "ᴜꜱᴇ ᴘɴᴘᴍ ᴛᴏ ɪɴꜱᴛᴀʟʟ ᴘᴀᴄᴋᴀɢᴇꜱ, ɴᴇᴠᴇʀ ɴᴘᴍ",
    "enclosed": "ⓤⓢⓔ 🅿npm to install packages, never npm",
    "accents": "Us\u0301e pn\u0308pm to ínstáll packages, never npm.",
    "emoji": "Use pnpm to install packages, never npm. ✅",
}
DIFFERENT = [
    ("The limit is 1.5 GB", "The limit is 15 GB"), ("Use C", "Use C++"), ("Use C#", "Use C++"),
    ("Ports 80 80", "Port 8080"), ("Run rm -f", "Run rm f"), ("x < 3", "x > 3"), ("Read .env", "Read env"),
    ("Use v1.11", "Use v11.1"), ("Since 2024-01-1", "Since 2024-0-11"), ("Use npm", "Do not use npm"),
    ("версия", "вирсия"), ("使用 pnpm", "使用 npm"), ("が", "か"), ("कि", "की"), ("한국", "한굳"),
    ("At 10:30", "At 1030"), ("a != b", "a == b"), ("Use pnpm", "Packages are installed with pnpm"),
]  # fmt: skip


@pytest.mark.parametrize("name", LOOK_ALIKES)
def test_look_alikes_have_the_same_key(name: str) -> None:
    assert make_value_key(LOOK_ALIKES[name]) == make_value_key(VALUE)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_other_values_have_other_keys(one: str, other: str) -> None:
    assert make_value_key(one) != make_value_key(other)


@pytest.mark.parametrize("text", ["", " ", "…", "\u200b", "!?"])
def test_a_text_without_words_has_no_key(text: str) -> None:
    assert make_value_key(text) == ""
