"""Writes sessions the way Claude Code 2.1 keeps them: one JSON line for each block and each tool result."""

from __future__ import annotations

import json
import os
import random
import re
from datetime import UTC, datetime

from benchmarks.story import Call, Session, Turn

_VERSION = "2.1.325"
_MODEL = "claude-opus-5-5"
_USAGE = (
    '"usage":{"input_tokens":1234,"cache_creation_input_tokens":5120,"cache_read_input_tokens":40960,'
    '"output_tokens":421,"output_tokens_details":{"thinking_tokens":0},"server_tool_use":'
    '{"web_search_requests":0,"web_fetch_requests":0},"service_tier":"standard","cache_creation":'
    '{"ephemeral_1h_input_tokens":0,"ephemeral_5m_input_tokens":5120},"inference_geo":"","iterations":[],'
    '"speed":"standard","fallback_credit":null},"stop_details":null'
)
_BETAS = ",".join(f'"some-feature-of-the-service-2026-{month:02}-01"' for month in range(1, 10))
_quote = json.encoder.encode_basestring


class Extras:
    """The lines around a conversation that make up much of a real file and say nothing about it."""

    def __init__(self, prompt: str = "", tools: str = "", listing: str = "", request: str = "") -> None:
        self.prompt = _quote(prompt)
        self.tools = _quote(tools)
        self.listing = _quote(listing)
        self.request = _quote(request)
        self.wanted = bool(prompt)


def slug(folder: str) -> str:
    """Name a project's folder as Claude Code does: what is no letter or digit is a dash."""
    return re.sub(r"[^A-Za-z0-9]", "-", folder)


def path_of(home: str, session: Session) -> str:
    """Return where a session's file lies."""
    return os.path.join(home, ".claude", "projects", slug(session.folder), f"{session.id}.jsonl")


def write(home: str, session: Session, chance: random.Random, extras: Extras | None = None) -> int:
    """Write a session's file, as old as its last turn. Returns its size in bytes."""
    path = path_of(home, session)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    content = "".join(_Writer(session, chance, extras or Extras()).lines()).encode()
    with open(path, "wb") as file:
        file.write(content)
    ended = session.turns[-1].at / 1000
    os.utime(path, (ended, ended))
    return len(content)


def turn_lines(session: Session, turn: Turn, chance: random.Random) -> str:
    """Return the lines that one more turn adds to a session's file."""
    writer = _Writer(session, chance, Extras())
    writer.turn(turn)
    return "".join(writer.out)


class _Writer:
    """Builds one file. Each line names the line before it as its parent."""

    def __init__(self, session: Session, chance: random.Random, extras: Extras) -> None:
        self.session = session
        self.chance = chance
        self.extras = extras
        self.out: list[str] = []
        self.parent = "null"
        self.id = f'"sessionId":"{session.id}"'
        self.tail = (
            f'"userType":"external","entrypoint":"cli","cwd":{_quote(session.folder)},{self.id},'
            f'"version":"{_VERSION}","gitBranch":{_quote(session.branch)}}}\n'
        )

    def lines(self) -> list[str]:
        session, half = self.session, len(self.session.turns) // 2
        self.out.append(f'{{"type":"permission-mode","permissionMode":"default",{self.id}}}\n')
        if self.extras.wanted:
            self._opening(iso(session.turns[0].at))
        for number, turn in enumerate(session.turns):
            if session.summary and number == half:
                self._compaction(iso(turn.at))
            self.turn(turn)
            if number == 0:
                self.out.append(f'{{"type":"ai-title","aiTitle":{_quote(session.title)},{self.id}}}\n')
        return self.out

    def turn(self, turn: Turn) -> None:
        at, prompt = iso(turn.at), self._hex()
        asked = _quote(turn.asked)
        self._line(
            f'"promptId":"{prompt}","type":"user","message":{{"role":"user","content":{asked}}}',
            at,
            ',"permissionMode":"default","promptSource":"typed","turnOrigin":"human","origin":{"kind":"human"}',
        )
        self._request(at)
        if turn.thought:
            block = f'{{"type":"thinking","thinking":{_quote(turn.thought)},"signature":"{self._hex() * 8}"}}'
            self._assistant(block, at, "tool_use")
        for call in turn.calls:
            self._call(call, at, prompt)
        self._assistant(f'{{"type":"text","text":{_quote(turn.answered)}}}', at, "end_turn")
        self.out.append(f'{{"type":"last-prompt","lastPrompt":{asked},{self.id}}}\n')
        self._line(
            '"type":"system","subtype":"turn_duration","durationMs":48211,"messageCount":16',
            at,
            ',"isMeta":false',
        )

    def _call(self, call: Call, at: str, prompt: str) -> None:
        if call.remark:
            self._assistant(f'{{"type":"text","text":{_quote(call.remark)}}}', at, "tool_use")
        call_id, target = f"toolu_{self._hex()[:24]}", _quote(call.target)
        text, output = _quote(call.text), _quote(call.output)
        if call.tool == "Edit":
            given = f'{{"replace_all":false,"file_path":{target},"old_string":"","new_string":{text}}}'
            result = (
                f'{{"filePath":{target},"oldString":"","newString":{text},"originalFile":{text},'
                f'"structuredPatch":[],"userModified":false,"replaceAll":false}}'
            )
        elif call.tool == "Write":
            given = f'{{"file_path":{target},"content":{text}}}'
            result = f'{{"type":"create","filePath":{target},"content":{text},"structuredPatch":[]}}'
        elif call.tool == "Read":
            given = f'{{"file_path":{target}}}'
            result = f'{{"type":"text","file":{{"filePath":{target},"content":{output},"numLines":40}}}}'
        elif call.tool == "Grep":
            given = f'{{"pattern":{target},"output_mode":"content"}}'
            result = f'{{"mode":"content","numFiles":0,"filenames":[],"content":{output},"numLines":40}}'
        else:
            given = f'{{"command":{target},"description":"Run a command"}}'
            result = f'{{"stdout":{output},"stderr":"","interrupted":false,"isImage":false}}'
        block = f'{{"type":"tool_use","id":"{call_id}","name":"{call.tool}","input":{given}}}'
        self._assistant(block, at, "tool_use")
        asked_by = self.parent
        self._line(
            f'"promptId":"{prompt}","type":"user","message":{{"role":"user","content":[{{"tool_use_id":"{call_id}",'
            f'"type":"tool_result","content":{output}}}]}}',
            at,
            f',"toolUseResult":{result},"sourceToolAssistantUUID":{asked_by},'
            '"permissionDecision":{"decision":"accept","source":"config","reasonType":"mode"}',
        )
        self._request(at)

    def _assistant(self, block: str, at: str, stop: str) -> None:
        self._line(
            f'"message":{{"id":"msg_{self._hex()[:24]}","type":"message","role":"assistant","model":"{_MODEL}",'
            f'"content":[{block}],"stop_reason":"{stop}","stop_sequence":null,{_USAGE}}},"apiBlockIndex":0,'
            f'"requestedModel":"{_MODEL}","promptCacheRequested":"5m","type":"assistant"',
            at,
            ',"effort":"medium","perTurnEffort":"medium","madeBy":"model"',
        )

    def _opening(self, at: str) -> None:
        extras = self.extras
        self._attachment(f'{{"type":"prompt_snapshot","systemPrompt":[{extras.prompt}]}}', at)
        for kind in ("skill_listing", "agent_listing_delta", "session_context", "environment"):
            self._attachment(f'{{"type":"{kind}","content":{extras.listing}}}', at)
        self.out.append(
            f'{{"type":"api-request-shape",{self.id},"shapeHash":"{self._hex()}","timestamp":"{at}",'
            f'"version":"{_VERSION}","shape":{{"system":[],"tools":[{{"name":"Agent","description":{extras.tools}}}]}}}}\n'
        )

    def _request(self, at: str) -> None:
        if not self.extras.wanted:
            return
        digest = self._hex()
        message = f'{{"role":"system","content":[{{"type":"text","text":{self.extras.request}}}]}}'
        self.out.append(f'{{"type":"api-request-blob",{self.id},"hash":"{digest}","message":{message}}}\n')
        self.out.append(
            f'{{"type":"api-request",{self.id},"id":"{self._hex()}","timestamp":"{at}","version":"{_VERSION}",'
            f'"querySource":"repl_main_thread","shapeHash":"{digest}","params":{{"model":"{_MODEL}","betas":'
            f'[{_BETAS}],"max_tokens":128000}},"keep":0,'
            f'"tail":["{digest}"],"requestDigest":"{digest}"}}\n'
        )

    def _attachment(self, attachment: str, at: str) -> None:
        self._line(f'"attachment":{attachment},"type":"attachment"', at, ',"renderedRole":"system"')

    def _compaction(self, at: str) -> None:
        self._line(
            '"type":"system","subtype":"compact_boundary","content":"Conversation compacted","level":"info",'
            '"compactMetadata":{"trigger":"auto","preTokens":155000,"postTokens":3029}',
            at,
        )
        text = (
            "This session is being continued from a previous conversation that ran out of context.\n\n"
            f"Summary:\n{self.session.summary}"
        )
        self._line(
            f'"type":"user","message":{{"role":"user","content":{_quote(text)}}}',
            at,
            ',"isVisibleInTranscriptOnly":true,"isCompactSummary":true',
        )

    def _line(self, content: str, at: str, more: str = "") -> None:
        own = f'"{self._uuid()}"'
        self.out.append(
            f'{{"parentUuid":{self.parent},"isSidechain":false,{content},"uuid":{own},"timestamp":"{at}"{more},'
            f"{self.tail}"
        )
        self.parent = own

    def _hex(self) -> str:
        return f"{self.chance.getrandbits(128):032x}"

    def _uuid(self) -> str:
        digits = self._hex()
        return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"


def iso(at: int) -> str:
    """Write a time in milliseconds as agents do: ISO 8601 in UTC, with milliseconds."""
    return datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{at % 1000:03}Z"
