"""Build checkpoints from transcripts in their own words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from told.agents.reading import describe_call
from told.checkpoints.from_session import MAX_TOKENS, build_from_session
from told.store.sessions.read import SessionReader, SessionRow, TurnRow
from told.text import count_tokens

if TYPE_CHECKING:
    from told.model import Handover

_ROOT = "/home/dev/shop"
_ASKED = "Add pagination to the orders API"
_DONE = "I added `limit` and `offset` to list_orders."
_NOW = 1_794_800_000_000


class _Told(SessionReader):
    """One session, as the store would have it."""

    def __init__(self, *turns: tuple[str, str, list[str]], touched: Any = (), refs: Any = ()) -> None:
        self._turns = [
            TurnRow(1, n, _NOW - 60_000 * (len(turns) - n), asked, answered, "\n".join(steps))
            for n, (asked, answered, steps) in enumerate(turns)
        ]
        self._touched = list(touched)
        self._refs = list(refs)

    def turns(self, session_id: int, limit: int = -1, *, newest: bool = False) -> list[TurnRow]:
        del session_id
        count = len(self._turns) if limit < 0 else limit
        return self._turns[-count:] if newest else self._turns[:count]

    def files_of(self, session_id: int) -> list[tuple[str, str, int]]:
        del session_id
        return self._touched

    def refs_of(self, session_id: int) -> list[tuple[str, str, int]]:
        del session_id
        return self._refs

    def made(self, **more: Any) -> Handover | None:
        """Return what told makes of it."""
        title = more.pop("title", "")
        row = SessionRow(
            id=1, public="sabcdefg", agent="codex", native="n-1", project="shop", part="", branch="main",
            turns=len(self._turns), summary="", title=title, title_by="", started=0, ended=_NOW, kind="",
            parent="", cwd=_ROOT, archived=0, model="",
        )  # fmt: skip
        row = row._replace(kind=more.pop("kind", ""))
        return build_from_session(self, None, row, _NOW, **more)


def _made(answer: str, *steps: str, asked: str = _ASKED, **more: Any) -> Handover:
    found = _Told((asked, answer, list(steps) or [f"[edit] {_ROOT}/src/orders.py"])).made(**more)
    assert found is not None
    return found


def _plan(tool: str, **given: Any) -> str:
    """Return the last line of a turn's steps after an agent wrote its list."""
    from told.agents.reading import split_plan

    return split_plan(describe_call(tool, given))[1]


def test_checkpoint_names_author_and_session() -> None:
    note = _made(_DONE)

    assert (note.by, note.agent, note.session, note.branch, note.at) == ("tool", "codex", "n-1", "main", _NOW)
    assert note.goal == note.title == _ASKED
    assert note.done == (_DONE,)
    assert note.pending == note.questions == note.decisions == ()


def test_goal_has_first_and_latest_request() -> None:
    talk = _Told(
        ("hi", "Hello!", []),
        (_ASKED, _DONE, ["[edit] a.py"]),
        ("ok", "Fine.", []),
        ("Now write the docs for it", "I added docs/orders.md.", ["[write] docs/orders.md"]),
        ("thanks!", "You're welcome!", []),
    )
    note = talk.made()

    assert note is not None
    assert note.goal == f"{_ASKED}. Later: Now write the docs for it"
    assert note.title == _ASKED


def test_title_is_the_session_s() -> None:
    assert _made(_DONE, title="Orders in pages").title == "Orders in pages"


@pytest.mark.parametrize(
    "turns",
    [
        [("hello", "Hello! How can I help you today?")],
        [("hi there", "Hi! What would you like to work on?"), ("nothing, thanks", "Okay!")],
        [("What does a mutex do?", "A mutex lets one thread in at a time.")],
        [("/clear", "")],
        [("yes", "")],
    ],
)
def test_no_checkpoint_without_work(turns: list[tuple[str, str]]) -> None:
    assert _Told(*((asked, answered, []) for asked, answered in turns)).made() is None


def test_no_checkpoint_for_subagents() -> None:
    assert _Told((_ASKED, _DONE, ["[edit] a.py"])).made(kind="subagent") is None


def test_commits_and_fixes_are_done() -> None:
    note = _made(
        "Everything is green.",
        "[Bash] pytest -q", "(failed)", f"[Edit] {_ROOT}/src/orders.py", "[Bash] pytest -q",
        '[Bash] git commit -am "orders: pages of 50"', "[Bash] git log -1",
    )  # fmt: skip

    assert "`pytest -q` failed, and passed after changes to orders.py" in note.done
    assert "Committed: orders: pages of 50" in note.done


@pytest.mark.parametrize(
    ("answer", "pending"),
    [
        (f"{_DONE} The docs are not updated yet.", ["The docs are not updated yet."]),
        (
            f"{_DONE}\n\n## Next steps\n1. Migrate the old rows\n2. [x] Tests\n3. Remove the flag\n\nDone!",
            ["Migrate the old rows", "Remove the flag"],
        ),
        (f"{_DONE} **Remaining:**\n- the invoices page\n- docs/api.md", ["the invoices page"]),
        (
            f"{_DONE} I couldn't run the tests: no database here.",
            ["I couldn't run the tests: no database here."],
        ),
        (f"{_DONE} Still failing: `test_refresh`.", ["Still failing: `test_refresh`."]),
        (f"{_DONE} Die Doku fehlt noch.", ["Die Doku fehlt noch."]),
        (f"{_DONE} The videos aren't sorted yet.", ["The videos aren't sorted yet."]),
        (f"{_DONE} The rest has not been merged yet.", ["The rest has not been merged yet."]),
        (f"{_DONE} Nothing remains to be done.", []),
        (f"{_DONE} All remaining tests pass.", []),
        (f"{_DONE} If you need to be notified, tell me.", []),
        (f"{_DONE}\n```\n# TODO: not yet done\n```", []),
        (f"The tests still fail. Let me fix that.\n\n{_DONE} All tests pass.", []),
    ],
)
def test_work_left_in_the_answer_is_pending(answer: str, pending: list[str]) -> None:
    found = _made(answer).pending

    assert list(found[: len(pending)]) == pending
    assert bool(found) == bool(pending)


def test_unanswered_question_stays_open() -> None:
    note = _made(f"{_DONE} Should a page have 50 or 100 rows?\n\nIs there anything else?")

    assert note.questions == ("Should a page have 50 or 100 rows?",)


def test_unanswered_prompt_is_pending() -> None:
    talk = _Told((_ASKED, _DONE, ["[edit] a.py"]), ("Now do the invoices as well", "", ["[read] b.py"]))
    note = talk.made()

    assert note is not None
    assert note.pending == ("Asked last, not finished: Now do the invoices as well",)


def test_farewell_hides_nothing() -> None:
    talk = _Told(
        (_ASKED, f"{_DONE} The docs are not updated yet.", ["[edit] a.py"]), ("thanks, bye", "Bye!", [])
    )
    note = talk.made()

    assert note is not None
    assert note.pending == ("The docs are not updated yet.",)


@pytest.mark.parametrize(
    "plan",
    [
        _plan("TodoWrite", todos=[
            {"content": "Read it", "status": "completed"},
            {"content": "Write docs; then tests", "status": "pending"},
            {"content": "Add pages", "status": "in_progress"},
        ]),
        _plan("update_plan", explanation="so", plan=[
            {"step": "Read it", "status": "completed"}, {"step": "Add pages", "status": "in_progress"},
            {"step": "Write docs; then tests", "status": "pending"},
        ]),
        _plan("write_todos", todos=[
            {"description": "Dropped", "status": "cancelled"},
            {"description": "Add pages", "status": "in_progress"},
            {"description": "Write docs; then tests", "status": "pending"},
        ]),
        _plan("manage_todo_list", operation="write", todoList=[
            {"id": 1, "title": "Add pages", "status": "in-progress"},
            {"id": 2, "title": "Write docs; then tests", "status": "not-started"},
        ]),
        _plan("update_todo", todos="- [x] Read it\n- [~] Add pages\n- [ ] Write docs; then tests"),
    ],
)  # fmt: skip
def test_plan_items_are_pending(plan: str) -> None:
    note = _made("I read it.", "[edit] a.py", "[TodoWrite]", plan)

    assert note.pending == ("Add pages", "Write docs; then tests")


def test_single_tasks_are_pending() -> None:
    lines = [
        describe_call("TaskCreate", {"subject": "Read it", "description": "All of it"}),
        describe_call("TaskCreate", {"subject": "Add pages", "description": "To the API"}),
        describe_call("TaskCreate", {"subject": "Write docs", "description": "For users"}),
        describe_call("TaskUpdate", {"taskId": "1", "status": "completed"}),
        describe_call("TaskUpdate", {"taskId": "2", "status": "in_progress"}),
    ]

    assert _made("I read it.", *lines).pending == ("Add pages", "Write docs")


def test_old_plan_is_ignored() -> None:
    plan = _plan("TodoWrite", todos=[{"content": "Add pages", "status": "pending"}])
    later = [(f"Change the colour of page {n}", f"I changed page {n}.", ["[edit] b.py"]) for n in range(4)]
    note = _Told((_ASKED, "Planned.", ["[TodoWrite]", plan]), *later).made()

    assert note is not None
    assert note.pending == ()


def test_changed_files_are_listed_relative_to_the_project() -> None:
    touched = [
        (f"{_ROOT}/src/orders.py", "edit", 3), (f"{_ROOT}/docs/plan.md", "create", 2),
        ("/etc/hosts", "read", 1), (f"{_ROOT}/README.md", "read", 1),
    ]  # fmt: skip
    note = _Told((_ASKED, _DONE, ["[edit] x"]), touched=touched).made()

    assert note is not None
    assert note.files == ("src/orders.py (edit)", "docs/plan.md (create)")
    assert note.plans == ("docs/plan.md",)


def test_git_lists_files_the_transcript_does_not() -> None:
    read = [(f"{_ROOT}/README.md", "read", 1)]
    talk = _Told((_ASKED, _DONE, ["[shell] sed -i s/a/b/ src/orders.py"]), touched=read)

    asked = talk.made(changed=lambda: ("src/orders.py (edit)",))
    assert asked is not None
    assert asked.files == ("src/orders.py (edit)",)
    alone = talk.made(changed=lambda: ())
    assert alone is not None
    assert alone.files == ("README.md (read)",)


def test_references_list_commits_pull_requests_and_urls() -> None:
    refs = [("commit", "1234567890abcdef", 1), ("pr", "acme/shop#12", 2)]
    asked = f"{_ASKED}, see https://github.com/acme/shop/pull/12 and https://docs.example.org/pages."
    note = _Told((asked, _DONE, ["[edit] x"]), refs=refs).made()

    assert note is not None
    assert note.references == ("commit 1234567890", "PR acme/shop#12", "https://docs.example.org/pages")


def test_checkpoint_fits_the_token_limit() -> None:
    many = "\n".join(f"- the part {n} {'of the very long page ' * 9}is missing" for n in range(40))
    touched = [(f"{_ROOT}/{'deep/' * 20}file{n}.py", "edit", n) for n in range(80)]
    turns = [
        (
            f"Change {n}: {'words ' * 300}",
            f"I fixed {n}. {'Long words. ' * 200}\n## Next steps\n{many}",
            ["[edit] x"],
        )
        for n in range(100)
    ]
    note = _Told(*turns, touched=touched, refs=[("pr", f"acme/shop#{n}", n) for n in range(50)]).made()

    assert note is not None
    lists = (note.done, note.pending, note.files, note.plans, note.references, note.questions)
    text = "\n".join((note.title, note.goal, *(item for items in lists for item in items)))
    assert count_tokens(text) <= MAX_TOKENS
    assert note.pending
    assert note.files
    assert "\n" not in "".join(item for items in lists for item in items)


def test_checkpoint_is_deterministic() -> None:
    talk = _Told((_ASKED, f"{_DONE} Not yet tested. Which size?", ["[edit] x", "[Bash] make test"]))

    assert talk.made() == talk.made()


@pytest.mark.parametrize(
    ("answer", "steps", "done"),
    [
        ("Refunds take the same key as orders.", ["[Edit] a.py"], ("Refunds take the same key as orders.",)),
        (
            "Refunds take the same key as orders. The docs are not updated yet.",
            ["[Edit] a.py"],
            ("Refunds take the same key as orders.",),
        ),
        ("Let me look at it.\n\nRefunds take the key.", ["[Edit] a.py"], ("Refunds take the key.",)),
        ("Refunds take the same key as orders.", ["[Read] a.py", "[Bash] pytest -q"], ()),
        ("The file cannot be read here.", ["[Edit] a.py", "(failed)"], ()),
        ("Sure, happy to help! Shall I go on with the docs?", ["[Edit] a.py"], ()),
    ],
)
def test_answer_after_a_change_says_what_was_done(
    answer: str, steps: list[str], done: tuple[str, ...]
) -> None:
    note = _Told((_ASKED, answer, steps), touched=[("a.py", "edit", 0)]).made()

    assert note is not None
    assert note.done == done


def test_goal_may_be_a_question() -> None:
    talk = _Told(
        ("Why do the totals differ by one cent?", "Each line is rounded.", ["[read] a.py"]),
        ("Round once per invoice then", _DONE, ["[edit] a.py"]),
    )
    note = talk.made()

    assert note is not None
    assert note.goal == "Why do the totals differ by one cent? Later: Round once per invoice then"
