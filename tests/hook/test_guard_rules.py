"""A locked rule in plain words: the commands it forbids in all spellings, and those it lets pass."""

from __future__ import annotations

import json
import subprocess
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.hook.desk import Desk, typed

if TYPE_CHECKING:
    from typing import Any

_DATA = Path(__file__).parent / "data"
# Seen at the first look at the held-out set: 75 of 75 caught, 5 of 60 false alarms.
_SETS = {"guard_rules": (30, 100), "guard_heldout": (15, 60)}


def _lock(desk: Desk, *rules: str) -> list[dict[str, Any]]:
    """Lock rules; return what is said of each."""
    said = desk.told("remember", "--lock", "--scope", "global", "--items", json.dumps(rules), "--json")
    assert said.code == 0, said
    return list(said.json["items"])


def _decided(desk: Desk, given: str) -> str:
    """Return what the hook decides on a command, on `edit: PATH` or on `read: PATH`."""
    kind, _, path = given.partition(": ")
    tool: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": given}}
    if kind in ("edit", "read"):
        tool = {"tool_name": kind.title(), "tool_input": {"file_path": f"{desk.project}/{path}"}}
    payload = typed(desk, "") | {"hook_event_name": "PreToolUse"} | tool
    answer = desk.ask("claude-code", "tool", payload)
    return str(answer.get("hookSpecificOutput", {}).get("permissionDecision", ""))


@pytest.mark.parametrize("name", _SETS)
def test_every_spelling_is_caught_and_harmless_commands_pass(desk: Desk, name: str) -> None:
    desk.config('guard = "deny"\n')
    table = tomllib.loads((_DATA / f"{name}.toml").read_text())
    rules, harmless = table["rule"], table["harmless"]
    missed = []
    for rule in rules:
        (memory,) = _lock(desk, rule["text"])
        missed += [(rule["text"], one) for one in rule["forbidden"] if not _decided(desk, one)]
        assert desk.told("unlock", memory["id"]).code == 0
    for one in desk.memories():
        assert desk.told("lock", one["id"]).code == 0
    alarms = [one for one in harmless if _decided(desk, one)]
    forbidden = sum(len(rule["forbidden"]) for rule in rules)
    assert (len(rules), forbidden, len(harmless)) == (_SETS[name][0], 5 * len(rules), _SETS[name][1])
    caught = f"{forbidden - len(missed)} of {forbidden} caught"
    print(f"{name}: {caught}, {len(alarms)} of {len(harmless)} false alarms")
    assert (missed, alarms) == ([], [])


def _git(desk: Desk, *words: str) -> None:
    subprocess.run(("git", "-C", desk.project, *words), check=True, capture_output=True)


def test_the_checked_out_branch_is_the_target_if_the_command_names_none(desk: Desk) -> None:
    desk.config('guard = "deny"\n')
    _lock(desk, "Never force-push to main.", "Don't commit directly to main.")
    assert _decided(desk, "git push -f") == "ask"  # no repository: not known
    assert _decided(desk, "git commit -m x") == "ask"
    _git(desk, "init", "-b", "main")
    assert _decided(desk, "git push -f") == "deny"
    assert _decided(desk, "git push -f origin HEAD") == "deny"
    assert _decided(desk, "git commit -m x") == "deny"
    assert _decided(desk, "git push -f origin feature") == ""
    assert _decided(desk, "git checkout -b fix && git commit -m x") == ""
    _git(desk, "checkout", "-b", "feature")
    assert _decided(desk, "git push -f") == ""
    assert _decided(desk, "git commit -m x") == ""
    assert _decided(desk, "git checkout main && git commit -m x") == "deny"
    assert _decided(desk, "git push -f --all") == "ask"


@pytest.mark.parametrize(
    ("rule", "command", "decision"),
    [
        # Where the place is clear it decides; where it is not, the user does.
        ("Never drop tables in production.", "psql -h prod -c 'drop table x'", "deny"),
        ("Never drop tables in production.", "psql -h staging -c 'drop table x'", ""),
        ("Never drop tables in production.", "psql -c 'drop table x'", "ask"),
        ("On production, never run terraform apply.", "terraform -chdir=prod apply", "deny"),
        # A limit that cannot be checked asks.
        ("Never deploy on Fridays.", "fly deploy", "ask"),
        ("Never commit when tests fail.", "git commit -m x", "ask"),
        ("If the build is red, never deploy.", "fly deploy", "ask"),
        ("Never run rm -rf outside build/.", "rm -rf src", "ask"),
        # Said in other ways.
        ("Force pushes are forbidden.", "git push -f", "deny"),
        ("Force pushing is not allowed.", "git push --force", "deny"),
        ("It is forbidden to force-push.", "git push -f", "deny"),
        ("Always use pnpm instead of npm or yarn.", "yarn add x", "deny"),
        ("Never commit, push or merge to main.", "git push origin main", "deny"),
        ("Tags must not be pushed or deleted.", "git push --tags", "deny"),
        ("It is not allowed to install anything with brew or apt.", "sudo apt-get install jq", "deny"),
        ("Never restart or stop services on production servers.", "ssh prod 'systemctl stop x'", "deny"),
        ("The lock file (pnpm-lock.yaml) must never be edited.", "edit: pnpm-lock.yaml", "deny"),
        ("We never use docker run --privileged.", "docker run --rm x", ""),
        ("Don't commit to main. Open a PR.", "gh pr create", ""),
        ("The default branch is `develop`, not `main`.", "main", ""),
        ("Niemals auf main force-pushen.", "git push -f origin main", "deny"),
        ("不要使用npm", "npm install", "deny"),
        ("Never use npm/yarn.", "yarn", "deny"),
        ("Never run python directly, use uv run python.", "python x.py", "deny"),
        ("Never run python directly, use uv run python.", "uv run python x.py", ""),
        ("Never rm -rf the data/ folder.", "rm -rf data", "deny"),
        ("Never rm -rf the data/ folder.", "rm -rf build", ""),
        ("Never access ~/.ssh.", "cat $HOME/.ssh/id_rsa", "deny"),
        ("Never edit *.pb.go files.", "edit: api/x.pb.go", "deny"),
        ("Never run scripts/deploy.sh.", "bash ./scripts/deploy.sh now", "deny"),
        # What a rule allows passes.
        ("Never git push --force, use --force-with-lease.", "git push --force-with-lease", ""),
        ("Never use docker-compose, use docker compose.", "docker compose up", ""),
        # Rules that require, reverse, or are about something else.
        ("Always run tests before pushing.", "git push", ""),
        ("Never push without running the tests.", "npm test", ""),
        ("Never skip the migrations.", "alembic upgrade head", ""),
        ("Don't forget to run migrations.", "alembic upgrade head", ""),
        ("No need to force-push.", "git push -f", ""),
        ("Don't hesitate to force-push.", "git push -f", ""),
        ("Never ask before running rm -rf.", "rm -rf build", ""),
        ("Never commit secrets.", "git commit -m x", ""),
        ("Never add Co-Authored-By to commits.", "git commit -m x", ""),
        ("No emojis in commit messages.", "git commit -m x", ""),
        ("Never write commit messages in German.", "git commit -m x", ""),
        ("Do not drop support for Python 3.11.", "python x.py", ""),
        # A script for a shell is read; a text for a file is not.
        ("Never force-push.", "sh <<'EOF'\ngit push -f\nEOF", "deny"),
        ("Never force-push.", "cat > notes.md <<'EOF'\ngit push -f\nEOF", ""),
        ("Never run rm -rf.", "echo 'rm -rf x' | sh", "deny"),
        ("Never run rm -rf.", "ssh host 'rm -rf /srv/x'", "deny"),
    ],
)  # fmt: skip
def test_what_a_rule_means_decides(desk: Desk, rule: str, command: str, decision: str) -> None:
    desk.config('guard = "deny"\n')
    _lock(desk, rule)
    assert _decided(desk, command) == decision


def test_lock_says_what_the_guard_does_with_a_rule(desk: Desk) -> None:
    locked = desk.told("lock", "Never force-push to main")
    assert "The guard can enforce it after `told install --profile full`: `git push --force`" in locked.out
    (desk.home / ".claude").mkdir(exist_ok=True)
    assert desk.told("install", "--agent", "claude", "--profile", "full", "--yes").code == 0
    again = desk.told("lock", "Never force-push to main").out
    assert "The guard asks before `git push --force`, `git push --force-with-lease`" in again
    assert "on main." in again
    desk.config('guard = "deny"\n')
    assert "The guard denies changes to `.env`." in desk.told("lock", "Never edit .env by hand").out
    assert "The guard asks before `git push`." in desk.told("lock", "Never push without a review").out
    told = desk.told("lock", "Never run the nightly job").out
    assert "The guard cannot act on this rule. Name a command or a path in backticks" in told
    assert "guard" not in desk.told("lock", "Answers are short and in English").out
    desk.config('guard = "off"\n')
    rule = next(one for one in desk.memories() if ".env" in one["text"])
    assert "The guard is off" in desk.told("why", rule["id"]).out


def test_lock_gives_programs_what_the_guard_does(desk: Desk) -> None:
    pushes, vague, other = _lock(
        desk, "Never force-push to main", "Never run the nightly job", "Answers are short and in English"
    )
    assert pushes["guard"]["acts"]
    assert pushes["guard"]["commands"][0] == "git push --force"
    assert (pushes["guard"]["where"], pushes["guard"]["decision"]) == ("on main", "ask")
    assert not pushes["guard"]["installed"]
    assert not vague["guard"]["acts"]
    assert "backticks" in vague["guard"]["hint"]
    assert other["guard"] is None
    by_id = desk.told("lock", pushes["id"], "--json")
    assert by_id.json["guard"] == pushes["guard"]
