"""Finds the subject of a commit in the shell command that made it."""

from __future__ import annotations

import re

from told.memory._observe_shell import Command, commands, plain_words

_HEREDOC = re.compile(r"""\$\(\s*cat\s+<<-?\s*['"\\]?(\w+)['"]?\s*""")
_NO_COMMIT = frozenset(("--dry-run", "--help", "-h", "-F", "--file", "-C", "-c", "--no-edit"))
_BODY = " ... "
_WORTHLESS = re.compile(
    r"(?:wip|tmp|temp|test|update|updates|changes|fixup!.*|squash!.*|merge .*|x+|\W*)", re.IGNORECASE
)


def commit_of(line: str) -> tuple[str, bool] | None:
    """Return the subject of the commit that a shell line makes, and whether it amends the one before."""
    if "git" not in line or "commit" not in line:
        return None
    for command in commands(line):
        for words in command.layers:
            plain = plain_words(words)
            if plain[:1] == ["git"] and "commit" in plain[1:2]:
                subject = _subject(command, words[words.index("commit") + 1 :])
                return (subject, "--amend" in words) if subject else None
    return None


def _subject(command: Command, words: tuple[str, ...]) -> str:
    if not _NO_COMMIT.isdisjoint(words):
        return ""
    for at, word in enumerate(words):
        if word.startswith("--message="):
            return _cleaned(word.partition("=")[2], command)
        if word == "--message" or re.fullmatch(r"-[a-z]*m", word):
            return _cleaned(words[at + 1], command) if at + 1 < len(words) else ""
        if re.match(r"-m\S", word):
            return _cleaned(word[2:], command)
    return ""


def _cleaned(message: str, command: Command) -> str:
    is_cut = not command.is_whole
    if opened := _HEREDOC.match(message):
        message = message[opened.end() :]
        closed = re.search(rf"\s{opened[1]}(?!\w)", message)
        is_cut = is_cut and closed is None and _BODY not in message
        message = message[: closed.start()] if closed else message
    elif message.startswith("$") and "\\n" not in message and not re.match(r"\$\w+\s", message):
        return ""  # from a variable or another program
    message = message.removeprefix("$") if "\\n" in message else message
    subject = message.partition(_BODY)[0].split("\\n")[0].split("\n")[0].strip()
    if _WORTHLESS.fullmatch(subject) or len(subject) < 5:
        return ""
    return f"{subject}…" if is_cut and _BODY not in message else subject
