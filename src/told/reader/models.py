"""Open and ask the model that the settings name: over HTTP, an agent, or a file."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

from told.agents import installed_agents
from told.agents.base import Agent
from told.agents.headless import Headless, HeadlessReply, HeadlessTask, is_scratch_folder, make_scratch_folder
from told.endpoint import Response, post_json
from told.errors import MissingError, UsageError
from told.files import write_private
from told.reader.base import (
    AGENT,
    ANTHROPIC,
    ENDPOINT,
    GGUF,
    MODES,
    NoAnswerError,
    Question,
    Reader,
)
from told.settings import Settings
from told.settings.endpoints import Address, is_local_host, parse_address
from told.settings.keys import OFF

_AFTER_KILL = 5.0  # seconds to read what is left


def run_limited(
    command: Sequence[str], given: str, environ: Mapping[str, str], seconds: float, folder: str | None = None
) -> subprocess.CompletedProcess[str] | None:
    """Run a program in a process group of its own; None if it was killed at the limit."""
    pipe = subprocess.PIPE
    process = subprocess.Popen(  # noqa: S603 - an agent that the user chose, or told's own worker
        list(command), cwd=folder, env=dict(environ), stdin=pipe, stdout=pipe, stderr=pipe, text=True,
        encoding="utf-8", errors="replace", start_new_session=True,
    )  # fmt: skip
    try:
        output, errors = process.communicate(given, timeout=seconds)
    except subprocess.TimeoutExpired:
        _kill_group(process)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=_AFTER_KILL)  # closes the pipes
        return None
    except BaseException:  # such as Ctrl-C: leave nothing running
        process.kill()
        raise
    finally:
        _kill_group(process)
    return subprocess.CompletedProcess(command, process.returncode, output, errors)


def _kill_group(process: subprocess.Popen[str]) -> None:
    """Kill a program with everything that it started."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
    elif process.poll() is None:
        process.kill()


_HTTP_SECONDS = 180.0
_CHAT = "/chat/completions"
_MESSAGES = "/v1/messages"
_ANTHROPIC_URL = "https://api.anthropic.com"
_ANTHROPIC_KEY = "ANTHROPIC_API_KEY"
_ANTHROPIC_VERSION = "2023-06-01"


class _Remote:
    """The address, model and key of a server."""

    mode = ""

    def __init__(self, address: Address, model: str, key_env: str, key: str) -> None:
        self._address = address
        self._model = model
        self._key_env = key_env
        self._key = key
        self.title = f"{model} at {address.host}"
        self.sends = "to this machine only" if is_local_host(address.host) else f"to {address.host}"

    def _post(self, body: Mapping[str, Any], headers: Mapping[str, str]) -> Response:
        return post_json(self._address, body, headers, _HTTP_SECONDS)

    def _read(self, found: Response) -> dict[str, Any]:
        """Return the JSON object of an answer."""
        if found.status != 200:
            raise self._fail(found)
        try:
            answer = json.loads(found.content)
        except (ValueError, RecursionError):
            answer = None
        return answer if isinstance(answer, dict) else {}

    def _reply(
        self, texts: Sequence[Any], answer: dict[str, Any], tokens_in: str, tokens_out: str
    ) -> HeadlessReply:
        text = "".join(one for one in texts if isinstance(one, str))
        if not text.strip():
            raise NoAnswerError(f"{self._address.host} answers without a text. Check reader.url.")
        return HeadlessReply(text, _count(answer, tokens_in), _count(answer, tokens_out))

    def _fail(self, found: Response) -> Exception:
        host, status = self._address.host, found.status
        if not found.is_refusal:
            return NoAnswerError(f"{host} does not answer: {found.reason}. Try again later.")
        if status in (401, 403):
            advice = f"check the key in {self._key_env}" if self._key_env else "set reader.key_env"
            return MissingError(f"{host} refuses the key ({status}): {advice}.")
        if status == 404:
            return MissingError(f"{host} has no such path or model (404): check reader.url and reader.model.")
        if 300 <= status < 400:
            return MissingError(f"{host} redirects ({status}). Set reader.url to the final address.")
        return MissingError(f"{host} refuses the request ({status}): check reader.url and reader.model.")


class EndpointReader(_Remote):
    """A server with OpenAI's chat interface."""

    mode = ENDPOINT

    def ask(self, question: Question) -> HeadlessReply:
        """Ask with a schema; without one if the server does not accept it."""
        messages = [
            {"role": "system", "content": question.system},
            {"role": "user", "content": question.prompt},
        ]
        body: dict[str, Any] = {"model": self._model, "messages": messages}
        schema = {"name": "answer", "schema": question.schema}
        full = {
            "temperature": 0,
            "max_tokens": question.max_tokens,
            "response_format": {"type": "json_schema", "json_schema": schema},
        }
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        found = self._post(body | full, headers)
        if found.status in (400, 422):
            found = self._post(body, headers)
        answer = self._read(found)
        text = _dig(answer, "choices", 0, "message", "content")
        return self._reply([text], answer, "prompt_tokens", "completion_tokens")


class AnthropicReader(_Remote):
    """Anthropic's Messages API."""

    mode = ANTHROPIC

    def ask(self, question: Question) -> HeadlessReply:
        """Ask for a JSON answer."""
        body = {
            "model": self._model,
            "max_tokens": question.max_tokens,
            "system": question.system,
            "messages": [{"role": "user", "content": question.prompt}],
        }
        headers = {"x-api-key": self._key, "anthropic-version": _ANTHROPIC_VERSION}
        answer = self._read(self._post(body, headers))
        blocks = answer.get("content")
        texts = [_dig(one, "text") for one in blocks] if isinstance(blocks, list) else []
        return self._reply(texts, answer, "input_tokens", "output_tokens")


def open_remote(
    settings: Settings, mode: str, environ: Mapping[str, str]
) -> EndpointReader | AnthropicReader:
    """Return the reader behind an address, without connecting."""
    is_anthropic = mode == ANTHROPIC
    url = settings.reader_url or (_ANTHROPIC_URL if is_anthropic else "")
    address = parse_address(url)
    if address is None:
        raise UsageError(
            "reader.mode = endpoint needs an address: `told config set reader.url http://127.0.0.1:11434/v1`."
        )
    if not settings.reader_model:
        raise UsageError(f"reader.mode = {mode} needs a model: `told config set reader.model NAME`.")
    variable = settings.reader_key_env or (_ANTHROPIC_KEY if is_anthropic else "")
    key = environ.get(variable, "").strip() if variable else ""
    if variable and not key:
        raise MissingError(f"The variable {variable}, which should have the reader's key, is not set.")
    if not (key.isascii() and key.isprintable()):
        raise MissingError(f"The variable {variable} has no valid key. Set it again.")
    if key and not address.secure and not is_local_host(address.host):
        raise UsageError("A key goes to another machine over https:// only: change reader.url.")
    path = address.path.rstrip("/")
    if is_anthropic:
        path = path if path.endswith("/messages") else path.removesuffix("/v1") + _MESSAGES
    else:
        path = path if path.endswith(_CHAT) else path + _CHAT
    kind = AnthropicReader if is_anthropic else EndpointReader
    target = Address(address.secure, address.host, address.port, path)
    return kind(target, settings.reader_model, variable, key)


def _dig(value: Any, *path: str | int) -> Any:
    """Return the value at a path of names and indexes; None if there is none."""
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def _count(answer: dict[str, Any], name: str) -> int:
    found = _dig(answer, "usage", name)
    return found if isinstance(found, int) and found > 0 else 0


_AGENT_SECONDS = 300.0
_MAX_REASON = 160  # characters of an agent's message


class AgentReader:
    """An agent that runs once for each question."""

    mode = AGENT

    def __init__(self, agent: Agent, program: str, environ: Mapping[str, str], model: str) -> None:
        assert agent.headless is not None
        self._headless = agent.headless
        self._program = program
        self._environ = _make_environ(agent.headless, environ)
        self._model = model
        self._name = agent.title
        named = model or agent.headless.small_model
        self.title = f"{agent.title}{f' ({named})' if named else ''}"
        self.sends = f"to the provider of {agent.title}"

    def ask(self, question: Question) -> HeadlessReply:
        """Run the agent in an empty folder, which is deleted afterwards."""
        task = HeadlessTask(question.system, self._model or self._headless.small_model)
        prompt = question.prompt
        if not self._headless.takes_system:
            prompt = f"{question.system}\n\n{prompt}"
        folder = make_scratch_folder()
        try:
            for name, content in self._headless.files.items():
                os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
                write_private(os.path.join(folder, name), content.encode())
            words = (self._program, *self._headless.arguments(task))
            done = run_limited(words, prompt, self._environ | {"PWD": folder}, _AGENT_SECONDS, folder)
        except OSError as error:
            raise MissingError(f"{self._name} cannot be started: {error.strerror}.") from None
        finally:
            if is_scratch_folder(folder):
                shutil.rmtree(folder, ignore_errors=True)
        if done is None:
            raise NoAnswerError(f"{self._name} did not answer within {_AGENT_SECONDS:.0f} seconds.")
        if done.returncode:
            raise NoAnswerError(f"{self._name} failed ({done.returncode}): {_reason(done)}")
        try:
            found = self._headless.read(done.stdout)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise NoAnswerError(f"{self._name} printed no answer that told can read.") from None
        return found


def open_agent(name: str, model: str, environ: Mapping[str, str]) -> AgentReader:
    """Return the named agent, or the first that is installed."""
    able = {one.name: one for one in installed_agents().values() if one.headless is not None}
    if name:
        chosen = [one for one in able.values() if name in one.names]
        if not chosen:
            raise UsageError(f"reader.agent must be one of {', '.join(able)}, not {name[:40]!r}.")
    else:
        chosen = list(able.values())
    for agent in chosen:
        for program in agent.programs:
            path = shutil.which(program, path=environ.get("PATH", os.defpath))
            if path:
                return AgentReader(agent, path, environ, model)
    missing = f"{chosen[0].title} is not" if name else f"None of {', '.join(one.title for one in chosen)} is"
    raise MissingError(f"{missing} on the PATH. Install it, or choose another reader.mode.")


def _make_environ(headless: Headless, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment without the signs of another agent's shell; told's hooks are off."""
    signs = {
        name for agent in installed_agents().values() for sign in agent.shell_signs
        for name in (sign.variable, sign.session_variable)
    }  # fmt: skip
    kept = {name: value for name, value in environ.items() if name not in signs}
    return kept | dict(headless.variables) | {"TOLD_HOOKS": "off", "TOLD_BACKGROUND": "off"}


def _reason(done: subprocess.CompletedProcess[str]) -> str:
    """Return the last line that an agent printed before it failed."""
    lines = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
    text = "".join(char for char in (lines[-1] if lines else "no message") if char.isprintable())
    return text[:_MAX_REASON]


_FILE_SECONDS = 900.0
_MAX_TEXT, _MAX_LIST = 240, 4  # characters, entries
_WORKER = "told.reader.gguf_worker"


class GgufReader:
    """A GGUF file that xllamacpp runs."""

    mode = GGUF
    sends = "nowhere; the model runs on this machine"

    def __init__(self, path: str, environ: Mapping[str, str]) -> None:
        self._path = path
        self._environ = environ
        self.title = os.path.basename(path)

    def ask(self, question: Question) -> HeadlessReply:
        """Load the model, answer and exit: told itself stays small."""
        given = json.dumps({
            "file": self._path, "system": question.system, "prompt": question.prompt,
            "schema": limit_schema(question.schema), "max_tokens": question.max_tokens,
        })  # fmt: skip
        done = run_limited((sys.executable, "-I", "-m", _WORKER), given, self._environ, _FILE_SECONDS)
        if done is None:
            raise NoAnswerError(f"{self.title} did not answer within {_FILE_SECONDS:.0f} seconds.")
        try:
            found = json.loads(done.stdout.splitlines()[-1])
            return HeadlessReply(found["text"], int(found["tokens_in"]), int(found["tokens_out"]))
        except (ValueError, KeyError, TypeError, IndexError):
            last = (done.stderr.strip().splitlines() or ["no message"])[-1][:160]
            raise NoAnswerError(f"{self.title} failed: {last}") from None


def limit_schema(schema: Any) -> Any:
    """Bound every text and list: a small model may not find the end of either."""
    if isinstance(schema, list):
        return [limit_schema(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    found = {name: limit_schema(value) for name, value in schema.items()}
    if found.get("type") == "string" and "enum" not in found:
        found["maxLength"] = _MAX_TEXT
    if found.get("type") == "array":
        found["maxItems"] = _MAX_LIST
    return found


def open_gguf(path: str, environ: Mapping[str, str]) -> GgufReader:
    """Return the reader that runs a file."""
    if not path:
        raise UsageError("reader.mode = gguf needs a file: `told config set reader.file /path/model.gguf`.")
    if not os.path.isfile(path):
        raise MissingError(f"There is no file {path}. Check reader.file.")
    if find_spec("xllamacpp") is None:
        raise MissingError("xllamacpp is not installed. Run `pip install 'told[llama]'`.")
    return GgufReader(path, environ)


def open_reader(settings: Settings, environ: Mapping[str, str], mode: str = "") -> Reader | None:
    """Return the reader; None if there is none."""
    mode = mode or settings.reader_mode
    if mode not in MODES:
        raise UsageError(f"Unknown reader {mode[:40]!r}. Choose from {', '.join(MODES)}.")
    if mode == OFF:
        return None
    if mode in (ENDPOINT, ANTHROPIC):
        return open_remote(settings, mode, environ)
    if mode == GGUF:
        return open_gguf(settings.reader_file, environ)
    assert mode == AGENT
    return open_agent(settings.reader_agent, settings.reader_model, environ)
