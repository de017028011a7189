"""The plugin for opencode, run by Node with calls such as opencode's."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.agents.wiring_places import LINUX, own_file
from told.agents.wiring import FULL, MINIMAL, Launch

if TYPE_CHECKING:
    from pathlib import Path

NODE = shutil.which("node") or ""
pytestmark = pytest.mark.skipif(not NODE, reason="there is no Node on this machine")

# Stands in for told's hook: says what it was asked, and writes it down.
ECHO = (
    "import json,sys;said=json.load(sys.stdin);log=open({log!r},'a');"
    "log.write(json.dumps([*sys.argv[1:],said.get('prompt','')])+chr(10));"
    "print(json.dumps(dict(additionalContext=' '.join([*sys.argv[1:],said.get('prompt','')]).strip())))"
)
DENY = 'print(\'{"permissionDecision": "deny", "permissionDecisionReason": "Never push."}\')'
MESSAGE = {"message": {"id": "msg_1", "sessionID": "ses_1"}}
TYPED = {"id": "prt_1", "type": "text", "text": "fix the login"}


class Opencode:
    """Node with the plugin loaded."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.log = folder / "log"

    def install(self, code: str, profile: str = MINIMAL, patience: str = "30_000") -> None:
        """Write the plugin with another program as the hook, and a timeout for busy machines."""
        hook = self._folder / "hook.py"
        hook.write_text(code)
        launch = Launch(sys.executable, str(hook))
        text = own_file("opencode", "told.js", LINUX, profile=profile, launch=launch)
        assert "TIMEOUT = 1000;" in text
        (self._folder / "told.mjs").write_text(text.replace("TIMEOUT = 1000;", f"TIMEOUT = {patience};"))

    def run(self, *steps: tuple[str, Any, Any], sessions: dict[str, Any] | None = None) -> list[Any]:
        """Call hooks of the plugin one after the other; return what each made of its output."""
        script = f"""
            import {{ Told }} from "./told.mjs";
            const sessions = {json.dumps(sessions or {})};
            const get = async ({{ path }}) => ({{ data: sessions[path.id] ?? {{}} }});
            const client = {{ session: {{ get }} }};
            const hooks = await Told({{ client, directory: "/home/ada/shop" }});
            const outputs = [];
            for (const [name, input, output] of {json.dumps(steps)}) {{
              try {{ await hooks[name](input, output); outputs.push(output); }}
              catch (error) {{ outputs.push({{ thrown: error.message }}); }}
            }}
            console.log(JSON.stringify(outputs));
        """
        (self._folder / "run.mjs").write_text(script)
        done = subprocess.run(
            [NODE, "run.mjs"], cwd=self._folder, capture_output=True, text=True, timeout=120, check=True
        )
        outputs: list[Any] = json.loads(done.stdout)
        return outputs

    def asked(self) -> list[list[str]]:
        """Return what the hook was asked: agent, event, prompt."""
        return [json.loads(line) for line in self.log.read_text().splitlines()]


@pytest.fixture
def opencode(tmp_path: Path) -> Opencode:
    made = Opencode(tmp_path)
    made.install(ECHO.format(log=str(made.log)))
    return made


def chat(session: str = "ses_1") -> tuple[str, Any, Any]:
    return "chat.message", {"sessionID": session}, {**MESSAGE, "parts": [dict(TYPED)]}


def system(*lines: str, session: str = "ses_1") -> tuple[str, Any, Any]:
    return "experimental.chat.system.transform", {"sessionID": session}, {"system": list(lines)}


def test_adds_the_prompts_brief_as_a_synthetic_part(opencode: Opencode) -> None:
    (output,) = opencode.run(chat())
    typed, added = output["parts"]
    assert typed == TYPED
    assert added["text"] == "opencode prompt fix the login"
    assert added["synthetic"] is True
    assert (added["messageID"], added["sessionID"]) == ("msg_1", "ses_1")
    assert added["id"] > typed["id"], "opencode sorts by id"


def test_adds_the_start_brief_to_every_request_but_titles(opencode: Opencode) -> None:
    _, first, title, second = opencode.run(
        chat(), system("You are opencode."), system("You are a title generator."), system("You are opencode.")
    )
    assert first["system"] == second["system"] == ["You are opencode.", "opencode start"]
    assert title["system"] == ["You are a title generator."]
    assert [event for _, event, _ in opencode.asked()].count("start") == 1


def test_sends_no_prompt_of_a_helper(opencode: Opencode) -> None:
    talk, request = opencode.run(
        chat(), system("You are a helper."), sessions={"ses_1": {"parentID": "ses_0"}}
    )
    assert talk["parts"] == [TYPED]
    assert request["system"] == ["You are a helper.", "opencode helper"]
    assert opencode.asked() == [["opencode", "helper", ""]]


def test_ignores_synthetic_parts(opencode: Opencode) -> None:
    parts = [TYPED, {"id": "prt_2", "type": "text", "text": "file contents", "synthetic": True}]
    opencode.run(("chat.message", {"sessionID": "ses_1"}, {**MESSAGE, "parts": parts}))
    assert ["opencode", "prompt", "fix the login"] in opencode.asked()


def test_removes_quotes_of_opencode_run(opencode: Opencode) -> None:
    parts = [{"id": "prt_1", "type": "text", "text": '"fix the login"\n'}]
    (output,) = opencode.run(("chat.message", {"sessionID": "ses_1"}, {**MESSAGE, "parts": parts}))
    assert ["opencode", "prompt", "fix the login"] in opencode.asked()
    assert output["parts"][0] == parts[0], "what is there stays as it is"


def test_sends_a_typed_command_once(opencode: Opencode) -> None:
    command = {"command": "mem/lock", "sessionID": "ses_1", "arguments": "never push to main"}
    before, _ = opencode.run(("command.execute.before", command, {"parts": []}), chat())
    assert before["parts"][0]["text"] == "opencode prompt /mem:lock never push to main"
    prompts = [prompt for _, event, prompt in opencode.asked() if event == "prompt"]
    assert prompts == ["/mem:lock never push to main"]


def test_ignores_commands_of_others(opencode: Opencode) -> None:
    command = {"command": "review", "sessionID": "ses_1", "arguments": ""}
    (before,) = opencode.run(("command.execute.before", command, {"parts": []}))
    assert before["parts"] == []
    assert not opencode.log.exists()


def test_renews_the_brief_after_a_compaction(opencode: Opencode) -> None:
    compacted = {"event": {"type": "session.compacted", "properties": {"sessionID": "ses_1"}}}
    _, compacting, _, request = opencode.run(
        chat(), ("experimental.session.compacting", {"sessionID": "ses_1"}, {"context": []}),
        ("event", compacted, None), system("You are opencode."),
    )  # fmt: skip
    assert compacting["context"] == ["opencode compact"]
    assert request["system"] == ["You are opencode.", "opencode compacted"]


def test_sends_stop_and_end(opencode: Opencode) -> None:
    idle = {"event": {"type": "session.idle", "properties": {"sessionID": "ses_1"}}}
    opencode.run(chat(), ("event", idle, None), ("dispose", None, None))
    assert [event for _, event, _ in opencode.asked()] == ["start", "prompt", "stop", "end"]


@pytest.mark.parametrize(
    "code",
    [
        "import time;time.sleep(30)",
        "import sys;sys.exit(2)",
        "print('no JSON')",
        "import os;os.kill(os.getpid(), 9)",
    ],
)
def test_ignores_a_failing_hook(opencode: Opencode, code: str) -> None:
    opencode.install(code, patience="500")
    talk, request = opencode.run(chat(), system("You are opencode."))
    assert talk["parts"] == [TYPED]
    assert request["system"] == ["You are opencode."]


def test_ignores_a_missing_program(opencode: Opencode, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    opencode.install("pass")
    (talk,) = opencode.run(chat())
    assert talk["parts"] == [TYPED]


def test_denies_tool_calls_only_in_full_profile(opencode: Opencode) -> None:
    call = ("tool.execute.before", {"tool": "bash", "sessionID": "ses_1"}, {"args": {"command": "git push"}})
    opencode.install(DENY, FULL)
    assert opencode.run(call) == [{"thrown": "Never push."}]
    opencode.install("pass", FULL)
    assert opencode.run(call) == [{"args": {"command": "git push"}}]
    opencode.install(DENY, MINIMAL)
    assert "not a function" in opencode.run(call)[0]["thrown"]


def _tool(call: str, session: str = "ses_1") -> tuple[tuple[str, Any, Any], tuple[str, Any, Any]]:
    asked = {"tool": "bash", "sessionID": session, "callID": call}
    before = ("tool.execute.before", asked, {"args": {"command": "ls"}})
    return before, ("tool.execute.after", asked, {"title": "ls", "output": f"files of {call}"})


def test_adds_reminders_to_tool_results(opencode: Opencode) -> None:
    opencode.install(ECHO.format(log=str(opencode.log)), FULL)
    before, after = _tool("call_1")
    _, unasked = _tool("call_2")
    _, other, own, again = opencode.run(before, unasked, after, after)
    assert own["output"] == "files of call_1\n\nopencode tool"
    assert other["output"] == "files of call_2"
    assert again["output"] == "files of call_1", "it is said once"


def test_sends_the_helper_of_a_tool_call(opencode: Opencode) -> None:
    said = "json.load(sys.stdin).get('agent_id', '')"
    opencode.install(f"import json,sys;print(json.dumps(dict(additionalContext={said})))", FULL)
    before, after = _tool("call_1")
    *_, main = opencode.run(chat(), before, after)
    *_, helper = opencode.run(chat(), before, after, sessions={"ses_1": {"parentID": "ses_0"}})
    assert main["output"] == "files of call_1"
    assert helper["output"] == "files of call_1\n\nses_1"
