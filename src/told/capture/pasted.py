"""Find the parts of a message that the user pasted; they teach nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from told.store.memories.records import KIND_NAMES

# ruff: noqa: RUF001 - punctuation of many languages

Span = tuple[int, int]

_MAX_LINE = 2_000  # characters; nobody types a longer line
_MIN_DOCUMENT = 15  # lines of a pasted Markdown document
_MIN_HEADINGS = 2
_FENCE = re.compile(r"^[ \t]*(```+|~~~+|´´´+)", re.MULTILINE)
_OPENING = re.compile(r"<([A-Za-z][\w:.-]*)((?: [^<>\n]{0,200})?)>")
_LINE = re.compile(r"[^\n]+")
_NOT_PROSE = re.compile(
    r"""\s*(?:
      >                                                    # quoted
    | \(told\)\s                                          # told's own text, as an agent echoes it
    | [/!]\w[\w:-]*(?:\s|$)                                # a slash or shell command
    | [\$%❯➜»]\s | \(?[\w.-]+\)?\ [❯➜] | [\w.-]+@[\w.-]+:\S*[$\#]\s | PS\ [A-Z]:\\  # a shell prompt
    | \[[\d/:.\-TZ ,]+[^\]]*\] | \[(?:ERROR|WARN\w*|INFO|DEBUG|TRACE|FATAL)\]        # [12:30:01 …]
    | \d{4}-\d\d-\d\d[T ]\d\d:\d\d | \d\d:\d\d:\d\d        # a time stamp
    | at\ \S+.*[:(]\d+ | File\ "[^"]+",\ line\ \d+         # a stack trace
    | Traceback\ \( | \w*(?:Error|Exception|Warning):\s | Caused\ by:
    | (?:[\w.-]+\ )?(?:ERROR|WARN|WARNING|INFO|DEBUG|FATAL|FAIL|PASS|FAILED|ERR!|error\[E\d+\])
      (?:\b|(?<=!))[:\s\[]
    | (?:error|warning|hint|fatal|panic)(?:\s[A-Z]+\d+)?:\s | (?:info|warn|dbug|fail|crit|trce):\s\S+\.\S
    | (?:[+-]{3}|@@)\s | diff\ --git | index\ [0-9a-f]{7} | [+-]\ {2,}\S  # a diff
    | \|.*\| | [-=*_#]{3,}\s*$                             # a table, a rule
    | <[^>]+>\s*$ | <\w+[^>]*>.*</\w+>\s*$ | \{\s*$ | [\])}][,;)]*\s*$
    | (?:import|from|export|const|let|var|def|class|func|fn|public|private|return|package
      |\#include)\b.*[;{:(=]\s*$
    | (?:GET|POST|PUT|DELETE|PATCH|HEAD)\s+\S+
    | \S+:\d+(?::\d+)?[:\s]-?\s*(?:error|warning|note)\b | \S+:\d+:\d+ | [\w./-]+\.\w+:\d+:?\s
    | [1-5]\d\d\ [A-Z][a-z]+(?:\ [A-Z][a-z]+)*:\s          # an HTTP status
    | [A-Z]\w+(?:Denied|Failed|Failure|Refused|Timeout):\s
    | https?://\S+\s*$ | "[\w$-]+":\s
    | (?:npm|npx|yarn|pnpm|pip|git|cd|docker|cargo|go|python3?|node|sudo|curl|brew|apt|make|uv)
      (?:\ [\w@./:=~-]+){1,8}\s*$
    | (?:git|bash|zsh|sh|make(?:\[\d+\])?):\s              # a program's message
    | On\ branch\ | Your\ branch\ | \(use\ "git
    | (?://|/\*|\*/|<!--|--\s)\s*\S                        # a comment in code
    )""",
    re.VERBOSE,
)
_NOT_TYPED = (  # programs send these in the user's name
    "This session is being continued from a previous conversation",
    "Caveat: The messages below were generated",
    "Base directory for this skill:",
    "Stop hook feedback",
    "[Request interrupted",
)
_SYMBOLS = re.compile(r"[{}()\[\];=<>|\\/_:@#$%^&*+~]")
_CODE_END = re.compile(r"(?:[;{]|=>|\);?|\},?)\s*$")
_INTRODUCES = re.compile(  # a line that ends so introduces somebody else's words
    r"\b(?:says?|said|wrote|writes|told me|answered|replied|prints?|printed|returns?|reports?|complains?"
    r"|errors?|output|logs?|stack ?trace|traceback|e-?mail|docs?|ticket|(?:get|got|getting|see|seeing) this"
    r"|sagt|schrieb|schreibt|meldet|fehler|ausgabe|dit|écrit|affiche|erreur|sortie|dice|escribió|muestra"
    r"|salida|diz|escreveu|mostra|erro|saída|пишет|написал|ошибка|вывод)\b[^\n]{0,40}:\s*$"
    r"|(?:报错|输出|日志|错误|エラー|出力|ログ)[^\n]{0,12}[:：]\s*$",
    re.IGNORECASE,
)
_SAYS = re.compile(  # in the middle of a line, somebody else's words follow
    r"\b(?:this|the following|that) (?:is|comes|was) (?:taken )?from [^:\n]{2,60}:\s|"
    r"(?<!\bi )(?<!\bwe )(?<!\bich )(?<!\bwir )\b(?:says|said|wrote|writes|replied|answered|sagt|schreibt"
    r"|schrieb|dit|dice|diz|пишет|comments? from \w+|message from \w+)\s?:\s",
    re.IGNORECASE,
)
_MAIL_QUOTE = re.compile(
    r"^(?:On .{5,80} wrote:|Am .{5,80} schrieb .{2,60}:|Le .{5,80} a écrit ?:|El .{5,80} escribió:"
    r"|-{2,} ?(?:Original Message|Forwarded message|Ursprüngliche Nachricht).*|From: .+@.+)\s*$",
    re.MULTILINE,
)
_HEADING = re.compile(r"^\s{0,3}#{1,4} \S")
_INDENT = re.compile(r" {4,}|\t")
_BULLET = re.compile(r"\s*(?:[-*•+–]|\(?\d{1,3}[.)]|[a-zA-Z][.)])\s")


def mask_pasted(message: str) -> str:
    """Replace pasted characters by spaces; the length stays the same."""
    masked = ["\n" if char == "\n" else " " for char in message]
    for start, end in find_typed(message):
        masked[start:end] = message[start:end]
    return "".join(masked)


def find_typed(message: str) -> list[Span]:
    """Return the spans of the lines that a person typed."""
    if message.lstrip().startswith(_NOT_TYPED):
        return []
    mail = _MAIL_QUOTE.search(message)
    readable = message[: mail.start()] if mail else message
    lines = [
        line.span() for start, end in _skip_blocks(readable) for line in _LINE.finditer(readable, start, end)
    ]
    lines = _skip_quoted_paragraphs(readable, lines)
    prose = [end - start <= _MAX_LINE and _is_prose(message[start:end]) for start, end in lines]
    prose = _drop_output_blocks(message, lines, _drop_inside_output(message, lines, prose))
    kept = [_cut_reported(message, span) for span, typed in zip(lines, prose, strict=True) if typed]
    return _skip_documents(message, _skip_indented(message, kept))


def _skip_blocks(message: str) -> Iterator[Span]:
    """Yield the spans outside code fences and tags."""
    place = searched = 0
    never_closed: set[str] = set()
    fence = _FENCE.search(message)
    while opening := _OPENING.search(message, searched):
        while fence and fence.start() < searched:
            fence = _FENCE.search(message, searched)
        if fence and fence.start() < opening.start():
            yield place, fence.start()
            place = searched = _find_fence_end(message, fence)
            continue
        after = _find_tag_end(message, opening, never_closed)
        if after:
            yield place, opening.start()
            place = after
        searched = after or opening.end()
    while fence := _FENCE.search(message, place):
        yield place, fence.start()
        place = _find_fence_end(message, fence)
    yield place, len(message)


def _find_fence_end(message: str, fence: re.Match[str]) -> int:
    closing = message.find(f"\n{fence.group(1)}", fence.end())
    return len(message) if closing < 0 else closing + 1 + len(fence.group(1))


def _find_tag_end(message: str, opening: re.Match[str], never_closed: set[str]) -> int:
    """Return where the closing tag ends, or 0."""
    for closing in (f"</{opening.group(1)}{opening.group(2)}>", f"</{opening.group(1)}>"):
        if closing in never_closed:
            continue
        found = message.find(closing, opening.end())
        if found >= 0:
            return found + len(closing)
        never_closed.add(closing)
    return 0


def _skip_quoted_paragraphs(message: str, lines: list[Span]) -> list[Span]:
    """Drop the paragraph after a line such as `The log says:`."""
    kept: list[Span] = []
    quoted = False
    end_before = 0
    for start, end in lines:
        new_paragraph = message.count("\n", end_before, start) > 1
        introduced = bool(kept) and kept[-1][1] == end_before and _introduces(message, kept[-1])
        introduced = introduced and not _BULLET.match(message, start, end)
        quoted = introduced or (quoted and not new_paragraph)
        if not quoted:
            kept.append((start, end))
        end_before = end
    return kept


def _introduces(message: str, line: Span) -> bool:
    text = message[line[0] : line[1]].rstrip()
    return text.endswith((":", "：")) and bool(_INTRODUCES.search(text))


def _cut_reported(message: str, line: Span) -> Span:
    """Return a line up to the words that it reports: `The README says: …`."""
    says = _SAYS.search(message, *line)
    return (line[0], says.end()) if says else line


def _drop_inside_output(message: str, lines: list[Span], prose: list[bool]) -> list[bool]:
    """Drop single lines that have output directly before and after them."""

    def joined(left: int, right: int) -> bool:
        return left >= 0 and right < len(lines) and message[lines[left][1] : lines[right][0]] == "\n"

    kept = list(prose)
    for place, typed in enumerate(prose):
        above = joined(place - 1, place) and not prose[place - 1]
        below = joined(place, place + 1) and not prose[place + 1]
        kept[place] = typed and not (above and below)
    return kept


def _drop_output_blocks(message: str, lines: list[Span], prose: list[bool]) -> list[bool]:
    """Drop the rest of a paragraph after several lines of output, or one with an indent below."""
    kept = list(prose)
    is_output = False
    for place, (start, _) in enumerate(lines):
        joins = place > 0 and message[lines[place - 1][1] : start] == "\n"
        if not joins:
            is_output = False
        elif not prose[place - 1]:
            is_output = is_output or not prose[place] or message[start] in " \t"
        kept[place] = prose[place] and not is_output
    return kept


def _skip_indented(message: str, lines: list[Span]) -> list[Span]:
    """Drop indented code: blocks after a line that is neither indented nor a list."""
    kept: list[Span] = []
    in_list = False
    for start, end in lines:
        text = message[start:end]
        if _BULLET.match(text):
            in_list = True
        elif not _INDENT.match(text):
            in_list = False
        elif not in_list and kept and not _shows_wrapped_text(message, kept[-1], start):
            continue
        kept.append((start, end))
    return kept


def _shows_wrapped_text(message: str, before: Span, start: int) -> bool:
    """Tell whether an indented line goes on with the sentence before it."""
    return message[before[1] : start] == "\n" and message[before[1] - 1] not in ".:!?。：！？"


def _skip_documents(message: str, lines: list[Span]) -> list[Span]:
    """Drop a long Markdown document with headings, from its first heading on."""
    headings = [place for place, (start, end) in enumerate(lines) if _HEADING.match(message[start:end])]
    if len(lines) < _MIN_DOCUMENT or len(headings) < _MIN_HEADINGS:
        return lines
    return lines[: headings[0]]


def _is_prose(line: str) -> bool:
    text = line.strip()
    if len(text) < 2 or _NOT_PROSE.match(line) or _is_brief_line(text):
        return False
    if sum(map(str.isalpha, text)) * 2 < len(text.replace(" ", "")):
        return False
    if _CODE_END.search(text) and len(_SYMBOLS.findall(text)) * 8 > len(text):
        return False
    return len(_SYMBOLS.findall(text)) * 5 < len(text)


def _is_brief_line(text: str) -> bool:
    """Tell whether told wrote a line: `- Use tabs. (rule, 2026-11-03, you)`."""
    if not text.endswith(")"):
        return False
    marks = text[text.rfind("(") + 1 : -1].split(", ")
    return len(marks) > 2 and marks[0] in KIND_NAMES and (marks[-2][:4].isdigit() or marks[-2] == "undated")
