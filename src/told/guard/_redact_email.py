"""Finds the e-mail addresses of people: no examples, no packages, no remotes."""

from __future__ import annotations

from told.guard._redact_patterns import pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_LOCAL = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._%+-"
_LONGEST_LOCAL = 64
_DOMAIN = pattern(r"(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,5}([A-Za-z]{2,16})(?![\w@-])")
_WORLDS_TEXT = """\
com org net io dev edu gov mil int info biz app cloud tech name pro mobi email online site store shop blog
xyz club live life world work works team agency studio design digital solutions systems software company
group global network media news space tools host press page wiki center academy
"""
_WORLDS = frozenset(_WORLDS_TEXT.split())
# Countries whose endings are those of files as well, or of names in programs.
_NOT_COUNTRIES_TEXT = """\
py rs ts js md sh pl so cc hs ps vb fs ml mm id is as to do in it no
"""
_NOT_COUNTRIES = frozenset(_NOT_COUNTRIES_TEXT.split())
_NOBODY = pattern(
    r"(?:x+|(?:no|do-?not)[-_.]?reply|notifications?|mailer-daemon|git|hg|svn|ssh|root|admin|user\d?|username|you|your.*|name|"
    r"someone|somebody|nobody|me|test\d?|testuser|foo|bar|baz|example|email|mail|info|support|hello|contact|security|"
    r"(?:john|jane|joe)[._]?doe|alice|bob|first\.?last)\Z"
)
_NOWHERE = pattern(
    r"(?:.*\.)?(?:example|test|invalid|local|localhost|internal|lan|domain|company|acme|foo|bar|host|hostname|email|"
    r"yourdomain|mydomain|users\.noreply\.github|openssh|libssh)\.[a-z]+\Z"
)
_REMOTE = ("ssh", "scp", "sftp", "rsync", "mosh")


def emails(text: str, flat: bytes) -> Iterator[tuple[int, int, str]]:
    """Yield where e-mail addresses are.

    Args:
        text: What is searched.
        flat: The same, a byte for each character.
    """
    at = flat.find(b"@")
    while at >= 0:
        domain = _DOMAIN.match(text, at + 1)  # which fewer have than a name before it
        if domain:
            head = text[max(0, at - _LONGEST_LOCAL - 8) : at]
            local = head[len(head.rstrip(_LOCAL)) :].lstrip(".%+-_")
            before = head[: len(head) - len(local)]
            end = domain.end()
            if (
                local
                and _is_somebody(local, domain[0].lower(), domain[1].lower(), before)
                and (text[end : end + 1] != ":" or not text[end + 1 : end + 2].strip("\"' \n,"))
            ):
                yield at - len(local), end, "email"
        at = flat.find(b"@", at + 1)


def _is_somebody(local: str, domain: str, world: str, before: str) -> bool:
    if before.endswith(("//", ":", "@")) and not before.endswith("mailto:"):
        return False
    if len(world) > 2 and world not in _WORLDS:
        return False
    if world in _NOT_COUNTRIES or len(local) < 2:
        return False
    if before.rstrip().endswith(_REMOTE):
        return False
    return not _NOBODY.match(local.lower()) and not _NOWHERE.match(domain)
