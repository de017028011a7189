"""A checkpoint that told makes: what the transcript shows, in its own words, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from told.agents.text import step
from told.guard.text import tokens
from told.memory.checkpoint_made import BUDGET, made_from
from told.record import replaced
from told.store.reading import Reading, SessionRow, TurnRow

if TYPE_CHECKING:
    from told.model import Handover

_ROOT = "/home/dev/shop"
_ASKED = "Add pagination to the orders API"
_DONE = "I added `limit` and `offset` to list_orders."
_NOW = 1_794_800_000_000


class _Told(Reading):
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
        row = replaced(row, kind=more.pop("kind", ""))
        return made_from(self, None, row, _NOW, **more)


def _made(answer: str, *steps: str, asked: str = _ASKED, **more: Any) -> Handover:
    found = _Told((asked, answer, list(steps) or [f"[edit] {_ROOT}/src/orders.py"])).made(**more)
    assert found is not None
    return found


def _plan(tool: str, **given: Any) -> str:
    """Return the last line of a turn's steps after an agent wrote its list."""
    from told.agents._plans import apart

    return apart(step(tool, given))[1]


def test_who_made_it_and_of_what() -> None:
    note = _made(_DONE)

    assert (note.by, note.agent, note.session, note.branch, note.at) == ("tool", "codex", "n-1", "main", _NOW)
    assert note.goal == note.title == _ASKED
    assert note.done == (_DONE,)
    assert note.pending == note.questions == note.decisions == ()


def test_the_goal_says_where_the_work_went() -> None:
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


def test_the_title_is_the_sessions_own() -> None:
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
def test_where_there_is_nothing_to_hand_over_none_is_made(turns: list[tuple[str, str]]) -> None:
    assert _Told(*((asked, answered, []) for asked, answered in turns)).made() is None


def test_a_helpers_session_gets_none() -> None:
    assert _Told((_ASKED, _DONE, ["[edit] a.py"])).made(kind="subagent") is None


def test_commits_and_repairs_are_done() -> None:
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
def test_what_the_answer_says_is_left_is_pending(answer: str, pending: list[str]) -> None:
    found = _made(answer).pending

    assert list(found[: len(pending)]) == pending
    assert bool(found) == bool(pending)


def test_a_question_without_an_answer_stays_open() -> None:
    note = _made(f"{_DONE} Should a page have 50 or 100 rows?\n\nIs there anything else?")

    assert note.questions == ("Should a page have 50 or 100 rows?",)


def test_an_ask_without_an_answer_is_pending() -> None:
    talk = _Told((_ASKED, _DONE, ["[edit] a.py"]), ("Now do the invoices as well", "", ["[read] b.py"]))
    note = talk.made()

    assert note is not None
    assert note.pending == ("Asked last, not finished: Now do the invoices as well",)


def test_a_farewell_hides_nothing() -> None:
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
def test_the_agents_own_list_says_what_is_pending(plan: str) -> None:
    note = _made("I read it.", "[edit] a.py", "[TodoWrite]", plan)

    assert note.pending == ("Add pages", "Write docs; then tests")


def test_a_list_that_is_written_item_by_item_counts_as_well() -> None:
    lines = [
        step("TaskCreate", {"subject": "Read it", "description": "All of it"}),
        step("TaskCreate", {"subject": "Add pages", "description": "To the API"}),
        step("TaskCreate", {"subject": "Write docs", "description": "For users"}),
        step("TaskUpdate", {"taskId": "1", "status": "completed"}),
        step("TaskUpdate", {"taskId": "2", "status": "in_progress"}),
    ]

    assert _made("I read it.", *lines).pending == ("Add pages", "Write docs")


def test_a_list_that_nobody_touched_for_long_says_nothing() -> None:
    plan = _plan("TodoWrite", todos=[{"content": "Add pages", "status": "pending"}])
    later = [(f"Change the colour of page {n}", f"I changed page {n}.", ["[edit] b.py"]) for n in range(4)]
    note = _Told((_ASKED, "Planned.", ["[TodoWrite]", plan]), *later).made()

    assert note is not None
    assert note.pending == ()


def test_changed_files_come_first_below_the_project() -> None:
    touched = [
        (f"{_ROOT}/src/orders.py", "edit", 3), (f"{_ROOT}/docs/plan.md", "create", 2),
        ("/etc/hosts", "read", 1), (f"{_ROOT}/README.md", "read", 1),
    ]  # fmt: skip
    note = _Told((_ASKED, _DONE, ["[edit] x"]), touched=touched).made()

    assert note is not None
    assert note.files == ("src/orders.py (edit)", "docs/plan.md (create)")
    assert note.plans == ("docs/plan.md",)


def test_where_the_transcript_says_nothing_git_does() -> None:
    read = [(f"{_ROOT}/README.md", "read", 1)]
    talk = _Told((_ASKED, _DONE, ["[shell] sed -i s/a/b/ src/orders.py"]), touched=read)

    asked = talk.made(changed=lambda: ("src/orders.py (edit)",))
    assert asked is not None
    assert asked.files == ("src/orders.py (edit)",)
    alone = talk.made(changed=lambda: ())
    assert alone is not None
    assert alone.files == ("README.md (read)",)


def test_references_are_commits_requests_and_what_the_user_gave() -> None:
    refs = [("commit", "1234567890abcdef", 1), ("pr", "acme/shop#12", 2)]
    asked = f"{_ASKED}, see https://github.com/acme/shop/pull/12 and https://docs.example.org/pages."
    note = _Told((asked, _DONE, ["[edit] x"]), refs=refs).made()

    assert note is not None
    assert note.references == ("commit 1234567890", "PR acme/shop#12", "https://docs.example.org/pages")


def test_it_is_short_whatever_was_said() -> None:
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
    assert tokens(text) <= BUDGET
    assert note.pending
    assert note.files
    assert "\n" not in "".join(item for items in lists for item in items)


def test_it_is_the_same_every_time() -> None:
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
def test_after_a_change_the_answer_says_what_was_done_in_whatever_words(
    answer: str, steps: list[str], done: tuple[str, ...]
) -> None:
    note = _Told((_ASKED, answer, steps), touched=[("a.py", "edit", 0)]).made()

    assert note is not None
    assert note.done == done


def test_a_goal_that_is_a_question_stays_one() -> None:
    talk = _Told(
        ("Why do the totals differ by one cent?", "Each line is rounded.", ["[read] a.py"]),
        ("Round once per invoice then", _DONE, ["[edit] a.py"]),
    )
    note = talk.made()

    assert note is not None
    assert note.goal == "Why do the totals differ by one cent? Later: Round once per invoice then"
