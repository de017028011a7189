"""Parse a shell script into the commands it may run, nested ones too."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field, replace
from functools import lru_cache

from told.hook.guard import load_table, load_words
from told.pattern import lazy_pattern

_MAX_SCRIPT = 20_000
_MAX_DEPTH = 4
_MAX_LAYERS = 6
_TOKEN = lazy_pattern(
    r"""(?P<space>(?:[ \t\r]|\\\n)+)
    |(?P<nested>[$<>]\()
    |(?P<heredoc><<-?[ \t]*(?P<mark>['"\\]?)(?P<word>\w+)['"]?)
    |(?P<redirect>\d*(?:<<<|>>|>\||>&|<&|>|<)|&>>?)
    |(?P<split>&&|\|\||\|&|\||;;|;|&|\n|\(|\))
    |(?P<single>\$?'[^']*')
    |(?P<double>"(?:\\.|[^"\\])*")
    |(?P<plain>(?:\\.|\$(?![('])|[^\s'"\\;&|()<>$])+)
    """,
    re.VERBOSE | re.DOTALL,
)
_ASSIGNMENT = lazy_pattern(r"[A-Za-z_]\w*\+?=")
_PIPES = ("|", "|&")


@dataclass(frozen=True, slots=True)
class Command:
    """One command of a script."""

    words: tuple[str, ...]  # unquoted, the program first
    variables: tuple[str, ...] = ()  # assignments before it
    folder: str = ""  # where a `cd` before it went
    branch: str = ""  # that a `git checkout` before it switched to
    feeds: tuple[str, ...] = ()  # programs that read its output
    context: str = ""  # the words of its pipeline and of the command that runs it
    text: str = ""  # its heredoc
    writes: tuple[str, ...] = ()  # files that its output goes to

    @property
    def layers(self) -> list[tuple[str, ...]]:
        """Return the command as typed, then without each program that only runs another."""
        found = [self.words]
        while len(found) < _MAX_LAYERS and (inner := _unwrap(found[-1])):
            found.append(inner)
        return found


@dataclass(slots=True)
class _Draft:
    """A command while it is read."""

    words: list[str] = field(default_factory=list)
    nested: list[str] = field(default_factory=list)  # scripts of its substitutions
    writes: list[str] = field(default_factory=list)
    text: str = ""
    then: str = ""  # the operator after it

    @property
    def is_empty(self) -> bool:
        """Whether nothing was read yet."""
        return not (self.words or self.nested or self.writes)


@lru_cache(maxsize=64)  # each locked rule is compared with the same script
def parse_script(script: str) -> tuple[Command, ...]:
    """Return all commands that a script may run, in their order."""
    return tuple(_parse(script[:_MAX_SCRIPT], Command(()), 0))


def program_name(word: str) -> str:
    """Return the name of a program without its folder."""
    return word.replace("\\", "/").rpartition("/")[2].lower().removesuffix(".exe")


def _parse(script: str, outer: Command, depth: int) -> list[Command]:
    found: list[Command] = []
    drafts = _Lexer(script).split()
    at = 0
    while at < len(drafts):
        end = at
        while drafts[end].then in _PIPES and end + 1 < len(drafts):
            end += 1
        pipeline = drafts[at : end + 1]
        # A quoted statement says nothing about where it runs.
        words = [word for one in pipeline for word in one.words if " " not in word]
        context = " ".join([outer.context, outer.folder, *words])
        for place, draft in enumerate(pipeline):
            readers = [name for one in pipeline[place + 1 :] for name in _programs(one.words)]
            command = replace(
                _strip(draft.words), folder=outer.folder, branch=outer.branch, context=context,
                feeds=(*readers, *outer.feeds), text=draft.text, writes=tuple(draft.writes),
            )  # fmt: skip
            outer = _follow(outer, command)
            found.append(command)
            if depth < _MAX_DEPTH:
                inner = replace(command, feeds=(*_programs(draft.words), *command.feeds))
                for one in draft.nested:
                    found += _parse(one, inner, depth + 1)
                for one in _scripts(command):
                    found += _parse(one, command, depth + 1)
        at = end + 1
    return [one for one in found if one.words or one.writes]


@dataclass(slots=True)
class _Lexer:
    """Splits a script at its operators."""

    script: str
    drafts: list[_Draft] = field(default_factory=lambda: [_Draft()])
    heredocs: list[tuple[_Draft, str]] = field(default_factory=list)  # that begin at the next line
    at: int = 0
    is_glued: bool = False  # whether the next text belongs to the word before it
    redirect: str = ""  # the operator before the next word

    def split(self) -> list[_Draft]:
        """Return the commands in their order."""
        while self.at < len(self.script):
            if self.script[self.at] == "#" and not self.is_glued:
                found = self.script.find("\n", self.at)
                self.at = len(self.script) if found < 0 else found
                continue
            token = _TOKEN.match(self.script, self.at)
            if token is None:  # an open quote: better too many commands than too few
                self.at += 1
                continue
            self.at = token.end()
            if token.lastgroup in ("space", "split", "redirect", "heredoc"):
                self._read_operator(token)
            else:
                self._read_word(token)
        return [one for one in self.drafts if not one.is_empty]

    def _read_operator(self, token: re.Match[str]) -> None:
        self.is_glued = False
        kind, text = token.lastgroup, token.group()
        if kind == "heredoc":
            self.heredocs.append((self.drafts[-1], token["word"]))
        elif kind == "redirect":
            self.redirect = text
        elif kind == "split":
            self.redirect = ""
            if not self.drafts[-1].is_empty:
                self.drafts[-1].then = text
                self.drafts.append(_Draft())
            elif len(self.drafts) > 1 and text in _PIPES:  # after a subshell
                self.drafts[-2].then = text
            if text == "\n" and self.heredocs:
                self.at = _read_heredocs(self.script, self.at, self.heredocs)

    def _read_word(self, token: re.Match[str]) -> None:
        draft, kind = self.drafts[-1], token.lastgroup
        if kind == "nested":
            end = _find_closing(self.script, self.at)
            draft.nested.append(self.script[self.at : end])
            text, self.at = self.script[token.start() : end + 1], end + 1
        else:
            draft.nested += _substitutions(token.group()) if kind != "single" else []
            text = _unquote(token.group(), kind)
        if self.redirect and not self.is_glued:
            if self.redirect == "<<<":
                draft.text += text
            elif ">" in self.redirect and not text.isdigit() and text != "/dev/null":
                draft.writes.append(text)
            self.redirect = ""
        elif self.is_glued and draft.words:
            draft.words[-1] += text
        else:
            draft.words.append(text)
            self.is_glued = True


def _find_closing(script: str, at: int) -> int:
    """Return where the parenthesis closes that opened before `at`."""
    depth = 1
    while at < len(script):
        depth += {"(": 1, ")": -1}.get(script[at], 0)
        if not depth:
            break
        at += 1
    return at


def _read_heredocs(script: str, at: int, heredocs: list[tuple[_Draft, str]]) -> int:
    """Store the heredocs that begin at a line; return where they end."""
    for draft, word in heredocs:
        end = re.compile(rf"^[ \t]*{word}[ \t]*$", re.MULTILINE).search(script, at)
        draft.text += script[at : end.start() if end else len(script)]
        at = end.end() if end else len(script)
    heredocs.clear()
    return at


def _substitutions(text: str) -> list[str]:
    """Return the scripts in `$(…)` and backticks of a word."""
    found = text.split("`")[1::2]
    at = text.find("$(")
    while at >= 0:
        end = _find_closing(text, at + 2)
        found.append(text[at + 2 : end])
        at = text.find("$(", end)
    return found


def _unquote(text: str, kind: str | None) -> str:
    if kind == "single":
        return text.lstrip("$")[1:-1]
    if kind == "double":
        return re.sub(r'\\(["\\$`\n])', r"\1", text[1:-1])
    return re.sub(r"\\(.)", r"\1", text)


def _strip(words: list[str]) -> Command:
    """Return a command without leading keywords and assignments."""
    keywords = load_words("programs", "keywords")
    rest, variables = list(words), []
    while rest and (rest[0] in keywords or _ASSIGNMENT.match(rest[0])):
        word = rest.pop(0)
        variables += [word] if word not in keywords else []
    return Command(tuple(rest), tuple(variables))


def _programs(words: list[str]) -> list[str]:
    return [program_name(layer[0]) for layer in _strip(words).layers if layer]


def _follow(outer: Command, command: Command) -> Command:
    """Return where the script is after a command, and on which branch."""
    words = command.words
    if len(words) > 1 and words[0] in ("cd", "pushd"):
        return replace(outer, folder=os.path.join(outer.folder, words[1]))
    if words and program_name(words[0]) == "git" and "--" not in words:
        switch = next((at for at, word in enumerate(words) if word in ("checkout", "switch")), 0)
        names = [word for word in words[switch + 1 :] if not word.startswith("-")]
        return replace(outer, branch=names[0]) if switch and names else outer
    if not words and command.variables:
        return replace(outer, context=" ".join([outer.context, *command.variables]))
    if words and words[0] == "export":
        return replace(outer, context=" ".join([outer.context, *words[1:]]))
    return outer


def _scripts(command: Command) -> list[str]:
    """Return the scripts that a command is given: `sh -c 'this'`, a heredoc, `echo this | sh`."""
    shells, found = load_words("programs", "shells"), []
    if not shells.isdisjoint(command.feeds) and command.words[:1] in (("echo",), ("printf",), ("cat",)):
        found.append(command.text or " ".join(command.words[1:]))
    for layer in command.layers:
        name = program_name(layer[0]) if layer else ""
        if name == "eval":
            found.append(" ".join(layer[1:]))
        elif name == "ssh":
            found.append(" ".join(_after_options(layer[1:], "ssh")[1:]))
        elif name in shells or name == "su":
            flags = [at for at, word in enumerate(layer) if re.fullmatch(r"-[a-z]*c|--command", word)]
            found += list(layer[flags[0] + 1 : flags[0] + 2]) if flags and flags[0] else [command.text]
    return [one for one in found if one.strip()]


def _after_options(words: tuple[str, ...], program: str) -> tuple[str, ...]:
    """Return the words after a program's leading options and assignments."""
    with_value = load_table("programs")["runs_another"].get(program, "").split()
    while words and (words[0].startswith("-") or _ASSIGNMENT.match(words[0])):
        words = words[2:] if words[0] in with_value else words[1:]
    return words


def _unwrap(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the command that a command only runs; empty if it does work of its own."""
    if len(words) < 2:
        return ()
    table = load_table("programs")
    name, second = program_name(words[0]), words[1]
    if name == "timeout":
        return _after_options(words[1:], name)[1:]
    if name in table["runs_another"]:
        return _after_options(words[1:], name)
    if re.fullmatch(r"python[\d.]*|py", name):
        if "-m" in words[1:4]:
            return words[words.index("-m") + 1 :]
        return words[1:] if second.endswith(".py") else ()
    if name in load_words("programs", "shells") or name in ("source", "."):
        return _after_options(words[1:], "") if "-c" not in words else ()
    if name == "find" and "-exec" in words:
        return words[words.index("-exec") + 1 :]
    if f"{name}/{second}" in load_words("programs", "runners"):
        return _after_options(words[2:], "")
    if name in ("docker", "podman", "kubectl", "docker-compose") and "exec" in words[1:6]:
        rest = _after_options(words[words.index("exec") + 1 :], "container exec")[1:]
        return rest[1:] if rest[:1] == ("--",) else rest
    if name in ("pnpm", "yarn", "bun") and second in load_words("programs", "package_programs"):
        return words[1:]
    if name in load_words("programs", "task_runners"):
        rest = tuple(word for word in words[1:] if word not in ("run", "run-script"))
        return ("@task", *rest) if rest else ()
    return ()
