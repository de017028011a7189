"""Observe commits, repairs and closing answers of agents."""

from __future__ import annotations

import pytest

from told.learning.observe import Observation, find_observations
from told.store.sessions.read import TurnRow

REPAIRED = "Fixed the crash: the cart was read before it was loaded. All tests pass."


def turn(steps: str, answered: str = "Okay.", n: int = 0, asked: str = "please") -> TurnRow:
    return TurnRow(1, n, 1000 + n, asked, answered, steps)


def seen(steps: str, answered: str = "Okay.") -> list[str]:
    return [one.text for one in find_observations([turn(steps, answered)])]


@pytest.mark.parametrize(
    ("command", "subject", "label"),
    [
        (
            'git commit -m "fix: stop the crash on empty carts"',
            "fix: stop the crash on empty carts",
            "bugfix",
        ),
        ("git commit -m 'feat(cart): add coupons'", "feat(cart): add coupons", "feature"),
        ("git add -A && git commit -am 'Rename greet to salute'", "Rename greet to salute", "refactor"),
        ("git commit --message='Support Python 3.14'", "Support Python 3.14", "feature"),
        ("git -C api commit -q -m 'chore: bump deps'", "chore: bump deps", "change"),
        (
            "cd api && git commit -m 'Use a queue instead of cron' && git push",
            "Use a queue instead of cron",
            "decision",
        ),
        ("""git commit -m "$(cat <<'EOF' feat: add carts ... " && git push""", "feat: add carts", "feature"),
        ("""git commit -m "$(cat <<'EOF' docs: say how EOF )\"""", "docs: say how", "change"),
        ('git commit -m "refactor: split the reader ... "', "refactor: split the reader", "refactor"),
        ("git commit -m $'fix: one line\\n\\nand a body'", "fix: one line", "bugfix"),
        ("git commit -m 'Fix the total' -m 'It was wrong since May.'", "Fix the total", "bugfix"),
        ("sudo -u dev git commit -m 'Add a test for refunds'", "Add a test for refunds", "feature"),
        ("bash -lc 'git commit -m \"Add a test for refunds\"'", "Add a test for refunds", "feature"),
    ],
)
def test_observes_commit_by_subject(command: str, subject: str, label: str) -> None:
    (one,) = find_observations([turn(f"[Bash] {command}")])
    assert (one.text, one.label) == (f"Committed: {subject}", label)
    assert one.quote == f"[Bash] {command}"


@pytest.mark.parametrize(
    "command",
    [
        "git commit -F message.txt",
        "git commit --amend --no-edit",
        "git commit",
        'git commit -m "$MESSAGE"',
        "git commit --dry-run -m 'Add a cart'",
        "git commit -m wip",
        "echo 'git commit -m \"Add a cart\"'",
        "git log --grep 'commit -m'",
        "git commit-tree -m 'Add a cart' HEAD^{tree}",
    ],
)
def test_ignores_commits_without_useful_subject(command: str) -> None:
    assert seen(f"[Bash] {command}") == []


def test_ignores_failed_and_refused_commits() -> None:
    assert seen("[Bash] git commit -m 'Add a cart'\n(failed)") == []
    assert seen("[Bash] git commit -m 'Add a cart'\n(refused)") == []
    told = "[Bash] git commit -m 'Add a cart'\n[Bash] npm test\n(failed)"
    assert seen(told) == ["Committed: Add a cart"]
    assert seen("[Bash] git commit -m 'Add a cart'\n[Bash] npm test\n(failed) 1 back") == []


def test_amended_commit_replaces_previous() -> None:
    steps = "[Edit] a.py\n[Bash] git commit -m 'Add a cort'\n[Bash] git commit --amend -m 'Add a cart'"
    (one,) = find_observations([turn(steps)])
    assert (one.text, one.paths) == ("Committed: Add a cart", ("a.py",))


def test_marks_cut_commit_subject() -> None:
    assert seen('[Bash] git commit -m "Add a very long subj') == ["Committed: Add a very long subj…"]


def test_observes_repair_with_changed_files() -> None:
    steps = """[Bash] pytest -q
(failed)
[Read] /home/dev/shop/cart.py
[Edit] /home/dev/shop/cart.py
[Edit] /home/dev/shop/tests/test_cart.py
(failed)
[Write] /home/dev/shop/money.py
[Bash] pytest -q"""
    (one,) = find_observations([turn(steps)], root="/home/dev/shop")
    assert one.text == "`pytest -q` failed, and passed after changes to cart.py, money.py"
    assert (one.label, one.paths, one.quote) == ("bugfix", ("cart.py", "money.py"), "[Bash] pytest -q")


@pytest.mark.parametrize(
    ("first", "then", "known_as"),
    [
        ("npm run lint", "npm run lint", "npm run lint"),
        ("cd web && npm test 2>&1", "npm test", "npm test"),
        ("uv run mypy src", "cd . && uv run mypy src", "uv run mypy src"),
        ("make check", "make check && echo ok", "make check"),
        ("./scripts/deploy.sh --dry", "./scripts/deploy.sh --dry", "deploy.sh --dry"),
    ],
)
def test_recognises_same_command(first: str, then: str, known_as: str) -> None:
    steps = f"[Bash] {first}\n(failed)\n[Edit] a.py\n[Bash] {then}"
    assert seen(steps) == [f"`{known_as}` failed, and passed after changes to a.py"]


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("pytest -q", "pytest -q tests/test_one.py"),  # another command
        ("pytest -q", "pytest -q | tail -5"),  # the pipe's end says nothing about the tests
        ("pytest -q", "pytest -q || true"),
        ("pytest -q", "pytest -q; echo done"),
        ("ls build", "ls build"),  # looking is no check
        ("grep -r foo src", "grep -r foo src"),
        ("npm test", "pnpm test"),
        ("git commit -m 'Add it'", "git commit --dry-run"),
    ],
)
def test_ignores_commands_that_do_not_plainly_pass(first: str, then: str) -> None:
    assert seen(f"[Bash] {first}\n(failed)\n[Edit] a.py\n[Bash] {then}") == []


def test_ignores_failures_without_changes() -> None:
    assert seen("[Edit] a.py\n[Bash] pytest\n(failed)\n[Bash] pytest") == []


def test_labels_repair_by_installation_as_discovery() -> None:
    steps = "[Edit] a.py\n[Bash] npm test\n(failed)\n[Bash] npm install vitest\n[Bash] npm test"
    (one,) = find_observations([turn(steps)])
    assert one.text == "`npm test` failed, and passed after `npm install vitest`"
    assert one.label == "discovery"


def test_observes_repair_across_turns_once() -> None:
    turns = [
        turn("[Bash] npm test\n(failed)\n[Edit] a.ts", n=0),
        turn("[Bash] npm test\n(failed)\n[Edit] b.ts", n=1),
        turn("[Bash] npm test", n=2),
        turn("[Bash] npm test\n(failed)\n[Edit] c.ts\n[Bash] npm test", n=3),
    ]
    assert [(one.text, one.turn) for one in find_observations(turns)] == [
        ("`npm test` failed, and passed after changes to c.ts", 3)
    ]
    assert find_observations(turns[:3])[0].text == "`npm test` failed, and passed after changes to a.ts, b.ts"


def test_ignores_last_call_without_result() -> None:
    steps = "[Bash] npm test\n(failed)\n[Edit] a.ts\n[Bash] npm test"
    assert seen(steps, answered="") == []
    assert seen("[Bash] git commit -m 'Add a cart'", answered="") == []


@pytest.mark.parametrize(
    ("answered", "kept", "label"),
    [
        ("Renamed greet to salute in hello.py.", "Renamed greet to salute in hello.py.", "refactor"),
        (
            f"I'll look first.\n\n{REPAIRED}\n\nLet me know if you want more!",
            REPAIRED,
            "bugfix",
        ),
        (
            "Great question! I added a `--dry-run` flag to deploy.py. Would you like docs too?",
            "I added a `--dry-run` flag to deploy.py.",
            "feature",
        ),
        (
            "## Summary\n\n- **Moved** the parser into `core/`\n- Updated imports",
            "Moved the parser into `core/`",
            "refactor",
        ),
        (
            "The failure was caused by a stale lock file.",
            "The failure was caused by a stale lock file.",
            "discovery",
        ),
        ("Done! The API now returns UTC times.", "The API now returns UTC times.", "change"),
        ("Ich habe die Funktion umbenannt und die Tests angepasst.",) * 2 + ("refactor",),
        ("J'ai ajouté un test pour le panier.",) * 2 + ("feature",),
        ("He corregido el cálculo del total.",) * 2 + ("bugfix",),
        ("已修复购物车的崩溃问题。", "已修复购物车的崩溃问题。", "bugfix"),
    ],
)
def test_observes_results_in_closing_answer(answered: str, kept: str, label: str) -> None:
    (one,) = find_observations([turn("[Edit] a.py", answered)])
    assert (one.text, one.label) == (kept, label)
    assert one.quote in answered


@pytest.mark.parametrize(
    "answered",
    [
        "",
        "Done!",
        "Should I also rename the tests that were added?",
        "Let me know if the changes I made are fine.",
        "I'll run the tests now.",
        "```\nfixed the bug\n```",
        "Sure, happy to help with whatever you created.",
    ],
)
def test_ignores_answers_without_results(answered: str) -> None:
    assert seen("[Edit] a.py", answered) == []


def test_uses_answer_of_last_turn_with_edits() -> None:
    turns = [
        turn("[Edit] a.py", "Added the cart.", 0),
        turn("[Edit] b.py", "Fixed the total.", 1),
        turn("[Read] b.py", "The function was created in 2019.", 2),
    ]
    assert [(one.text, one.turn, one.paths) for one in find_observations(turns)] == [
        ("Fixed the total.", 1, ("b.py",))
    ]


def test_ignores_sessions_without_edits_and_commits() -> None:
    steps = "[Read] a.py\n[Bash] pytest\n(failed)\n[Bash] pip install x\n[Bash] pytest"
    assert seen(steps, "I found that the cache was broken.") == []
    assert find_observations([]) == []


def test_limits_observations_of_a_session() -> None:
    commits = "\n".join(f"[Bash] git commit -m 'Add part {n} of it'" for n in range(9))
    repair = "[Bash] make test\n(failed)\n[Edit] a.py\n[Bash] make test\n"
    found = [one.text for one in find_observations([turn(repair + commits, "Added all nine parts.")])]
    assert len(found) == 5
    assert "`make test` failed, and passed after changes to a.py" in found
    assert "Added all nine parts." in found
    assert "Committed: Add part 8 of it" in found
    assert "Committed: Add part 0 of it" not in found
    assert len(find_observations([turn(repair + commits, "Added all nine parts.")], limit=1)) == 1


def test_cleans_hostile_text() -> None:
    subject = "Add \x1b[31mred\u202e things\u200b " + "a" * 900
    answer = "Fixed \x1b]0;title\x07it\u2028now " + "very " * 300
    steps = f"[Bash] git commit -m '{subject}'\n[Edit] a\x1b[0m.py\n(failed) 99999999999 back\n(failed) x\n[]"
    found = find_observations([turn(steps, answer)])
    assert found
    for one in found:
        assert isinstance(one, Observation)
        assert one.text.isprintable()
        assert len(one.text) <= 240


def test_ignores_text_that_told_wrote() -> None:
    thought = "I think `git commit -m 'Add a cart'` is next\n(failed)"
    assert seen(f"{thought}\n[Edit] a.py") == []


def test_observations_are_deterministic() -> None:
    turns = [turn("[Edit] a.py\n[Bash] git commit -m 'Add a cart'", "Added a cart.")]
    assert find_observations(turns) == find_observations(tuple(turns))
