"""Where the user wants it: a tool call that a locked prohibition names is asked about, or denied."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.hook.desk import Desk, typed

if TYPE_CHECKING:
    from typing import Any

_FORCE = "Never run `git push --force`."


def _lock(desk: Desk, *rules: str) -> None:
    for rule in rules:
        assert desk.told("remember", "--lock", "--scope", "global", rule).code == 0


def _run(desk: Desk, command: str, agent: str = "claude-code") -> dict[str, Any]:
    given = typed(desk, "", agent) | {
        "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": command}
    }  # fmt: skip
    if agent == "copilot-cli":
        given |= {"toolName": "bash", "toolArgs": {"command": command}}
        del given["tool_name"], given["tool_input"]
    return dict(desk.ask(agent, "tool", given))


def _decided(desk: Desk, command: str) -> str:
    return _decision(_run(desk, command))


def _decision(answer: dict[str, Any]) -> str:
    """Return what an answer decides; a reminder of a checkpoint decides nothing."""
    return str(answer.get("hookSpecificOutput", {}).get("permissionDecision", ""))


def _edited(desk: Desk, path: str) -> str:
    given = typed(desk, "") | {
        "hook_event_name": "PreToolUse", "tool_name": "Edit",
        "tool_input": {"file_path": path, "old_string": "a", "new_string": "b"},
    }  # fmt: skip
    return _decision(desk.ask("claude-code", "tool", given))


def test_without_a_locked_rule_a_tool_call_gets_no_answer(desk: Desk) -> None:
    assert _run(desk, "git push --force") == {}
    assert desk.told("remember", "--scope", "global", _FORCE).code == 0
    assert _run(desk, "git push --force") == {}


def test_forbidden_call_asks_the_user_and_names_the_rule(desk: Desk) -> None:
    _lock(desk, _FORCE)
    given = _run(desk, "git push --force")["hookSpecificOutput"]
    assert given["hookEventName"] == "PreToolUse"
    assert given["permissionDecision"] == "ask"
    assert _FORCE in given["permissionDecisionReason"]
    assert desk.memories()[0]["id"] in given["permissionDecisionReason"]


@pytest.mark.parametrize(("setting", "decision"), [("ask", "ask"), ("deny", "deny"), ("off", "")])
def test_guard_setting_decides(desk: Desk, setting: str, decision: str) -> None:
    _lock(desk, _FORCE)
    desk.config(f'guard = "{setting}"\n')
    assert _decided(desk, "git push --force origin main") == decision


_FORBIDDEN = (
    "git push --force", "git push origin main --force", "git -C /srv/app push --force",
    "sudo git push --force",     "cd app && git push --force", "make test; git push --force",
    "make test || git push --force",
    "GIT_SSH_COMMAND='ssh -i k' git push --force", "FOO=1 BAR=2 git push --force",
    "env FOO=1 git push --force",     "/usr/bin/git push --force",
    'git push "--force"', "git 'push' --force", "(git push --force)",
    "if true; then git push --force; fi", "echo $(git push --force)", "git  push\t--force",
    "git push --force &",     "sudo -u deploy git push --force", "sudo -E git push --force",
    "nohup git push --force",
    "timeout 60 git push --force", 'bash -c "git push --force"', "sh -lc 'cd x && git push --force'",
    "xargs git push --force", "git push \\\n  --force", "git push --force | tee log", "eval git push --force",
)  # fmt: skip
_OTHERS = (
    "git push", "git push origin main", "git status", "git push --force-with-lease", "git pull --force",
    "echo 'never git push --force'", 'git commit -m "never git push --force"',
    "grep -r 'git push --force' docs",
    "gitk push --force", "legit push --force", "cat notes/git-push-force.md", "git fetch && git push",
    "npm install --force", "git stash push && rm --force x",
)  # fmt: skip


def test_forbidden_command_is_found_in_any_shell_form(desk: Desk) -> None:
    _lock(desk, _FORCE)
    desk.config('guard = "deny"\n')
    assert [command for command in _FORBIDDEN if _decided(desk, command) != "deny"] == []


def test_other_commands_pass(desk: Desk) -> None:
    _lock(desk, _FORCE)
    desk.config('guard = "deny"\n')
    assert [command for command in _OTHERS if _decided(desk, command)] == []


@pytest.mark.parametrize(
    ("rule", "command"),
    [
        ("Always run `pytest` first.", "pytest -q"),
        ("Always run `pytest` before `git push`.", "pytest"),
        ("Always run `pytest` before `git push`.", "git push"),
        ("Use `pnpm`, never `npm`.", "pnpm install"),
        ("Never use `npm`, always use `pnpm`.", "pnpm add left-pad"),
        ("`make ship` is how we deploy; never deploy by hand.", "make ship"),
        ("We use `uv pip install`, not plain pip.", "uv pip install x"),
        ("Prefer `rg` over `grep`.", "rg foo"),
        ("Don't forget to run `make lint`.", "make lint"),
        ("Never skip `pytest`.", "pytest"),
        ("Never stop using `mypy`.", "mypy src"),
        ("Never `git push` without running `pytest` first.", "pytest"),
    ],
)  # fmt: skip
def test_required_command_is_never_denied(desk: Desk, rule: str, command: str) -> None:
    _lock(desk, rule)
    desk.config('guard = "deny"\n')
    assert _decided(desk, command) == ""


@pytest.mark.parametrize(
    ("rule", "command"),
    [
        ("Use `pnpm`, never `npm`.", "npm install"),
        ("Never use `npm`, always use `pnpm`.", "npm ci"),
        ("Do not run `terraform apply`.", "terraform apply -auto-approve"),
        ("Don't use `rm -rf`.", "rm -rf build"),
        ("Kein `docker system prune` auf diesem Rechner.", "docker system prune -a"),
        ("Niemals `npm publish` ausführen.", "npm publish"),
        ("No uses nunca `kubectl delete`.", "kubectl delete pod x"),
    ],
)  # fmt: skip
def test_forbidden_command_is_denied(desk: Desk, rule: str, command: str) -> None:
    _lock(desk, rule)
    desk.config('guard = "deny"\n')
    assert _decided(desk, command) == "deny"


@pytest.mark.parametrize(
    ("rule", "command"),
    [
        ("Never `git push` without a review.", "git push"),
        ("Don't run `terraform apply` unless the plan was approved.", "terraform apply"),
        ("Never run `npm publish` before the changelog is written.", "npm publish"),
        ("Never use `git push --force` except on your own branch.", "git push --force"),
        ("`git push` nie ohne Review.", "git push"),
    ],
)
def test_conditionally_forbidden_command_asks(desk: Desk, rule: str, command: str) -> None:
    _lock(desk, rule)
    desk.config('guard = "deny"\n')
    assert _decided(desk, command) == "ask"


def test_a_path_that_a_rule_forbids_to_edit(desk: Desk) -> None:
    _lock(desk, "Never edit `migrations/` by hand.", "Never touch `src/generated/api.ts`.")
    assert _edited(desk, f"{desk.project}/migrations/0001_initial.sql") == "ask"
    assert _edited(desk, "migrations/0002.sql") == "ask"
    assert _edited(desk, f"{desk.project}/src/generated/api.ts") == "ask"
    assert _edited(desk, f"{desk.project}/src/generated/client.ts") == ""
    assert _edited(desk, f"{desk.project}/docs/migrations.md") == ""
    assert _edited(desk, f"{desk.project}/old_migrations/0001.sql") == ""


def test_a_patch_and_an_editor_are_read(desk: Desk) -> None:
    _lock(desk, "Never edit files under src/gen/.")
    patch = "*** Begin Patch\n*** Update File: src/gen/api.ts\n@@\n-a\n+b\n*** End Patch\n"
    given = typed(desk, "", "codex") | {"tool_name": "apply_patch", "tool_input": {"command": patch}}
    assert _decision(desk.ask("codex", "tool", given)) == "ask"
    for command, decision in (("view", ""), ("str_replace", "ask")):
        made = {"command": command, "path": f"{desk.project}/src/gen/api.ts"}
        given = typed(desk, "") | {"tool_name": "str_replace_editor", "tool_input": made}
        assert _decision(desk.ask("claude-code", "tool", given)) == decision


def test_a_file_name_that_a_rule_forbids_to_edit(desk: Desk) -> None:
    _lock(desk, "Never edit `.env`.")
    assert _edited(desk, f"{desk.project}/.env") == "ask"
    assert _edited(desk, f"{desk.project}/.env.example") == ""


def test_trigger_of_a_rule_is_guarded(desk: Desk) -> None:
    _lock(desk, "Never edit files in db/migrations by hand.")
    triggers = desk.memories()[0]["triggers"]
    found = _edited(desk, f"{desk.project}/db/migrations/0001.sql")
    assert found == ("ask" if any(one.startswith("path:") for one in triggers) else "")


def test_rule_of_another_project_does_not_apply(desk: Desk) -> None:
    other = desk.folder("code/other")
    payload = typed(desk, f"/mem:lock {_FORCE}") | {"cwd": other}
    desk.ask("claude-code", "prompt", payload)
    assert desk.memories()[0]["locked"]
    assert _run(desk, "git push --force") == {}


def test_unlocked_rule_does_not_apply(desk: Desk) -> None:
    _lock(desk, _FORCE)
    assert _decided(desk, "git push --force") == "ask"
    desk.prompt("/mem:unlock push force")
    assert _decided(desk, "git push --force") == ""


def test_each_agent_is_answered_in_its_own_form(desk: Desk) -> None:
    _lock(desk, _FORCE)
    for decision in ("ask", "deny"):
        desk.config(f'guard = "{decision}"\n')
        given = _run(desk, "git push --force", "codex")
        assert given["hookSpecificOutput"]["permissionDecision"] == decision
        given = _run(desk, "git push --force", "copilot-cli")
        assert given["permissionDecision"] == decision
        assert _FORCE in given["permissionDecisionReason"]
        given = _run(desk, "git push --force", "cursor")
        assert given["permission"] == decision
        assert _FORCE in given["user_message"]
        given = _run(desk, "git push --force", "gemini-cli")
        assert given.get("decision", "ask") == decision
        assert _FORCE in given.get("reason", given.get("systemMessage", ""))


def test_arguments_that_are_a_text_of_json_are_read(desk: Desk) -> None:
    _lock(desk, _FORCE)
    given = typed(desk, "", "copilot-cli") | {
        "toolName": "bash",
        "toolArgs": '{"command": "git push --force"}',
    }
    assert desk.ask("copilot-cli", "tool", given)["permissionDecision"] == "ask"


def test_a_patch_of_codex_that_only_mentions_a_command_is_left_alone(desk: Desk) -> None:
    _lock(desk, _FORCE)
    patch = "*** Begin Patch\n*** Add File: notes.md\n+git push --force\n*** End Patch\n"
    given = typed(desk, "", "codex") | {"tool_name": "apply_patch", "tool_input": {"command": patch}}
    assert desk.ask("codex", "tool", given) == {}


def test_as_installed_the_guard_answers_and_exits_0(desk: Desk) -> None:
    _lock(desk, _FORCE)
    given = typed(desk, "") | {"hook_event_name": "PreToolUse", "tool_input": {"command": "git push --force"}}
    said = desk.call("claude-code", "tool", given)
    assert (said.code, said.err) == (0, "")
    assert said.json["hookSpecificOutput"]["permissionDecision"] == "ask"
