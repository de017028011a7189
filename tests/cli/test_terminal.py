"""At a terminal people get tables; pipes and agents get compact, fenced text."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import pytest

from told.cli.terminal.blocks import Column, Heading, Paragraph, Span, Table, marked
from told.cli.terminal.screen import Screen
from told.text import relative_time

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.cli.machine import Machine

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_DAY = 86_400_000


def _commands(shop: Machine) -> list[tuple[str, ...]]:
    session = shop.ids("--project", "acme-api")[0]
    return [
        ("list",), ("list", "--all-projects"), ("files",), ("timeline",), ("repos",), ("checkpoints",),
        ("search", "cache", "ttl"), ("show", session), ("show", session, "--full"), ("memories", "--all"),
        ("health",), ("agents",), ("status",), ("stats",), ("config", "list"), (), ("help",),
    ]  # fmt: skip


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_lines_fit_the_terminal_and_have_no_fences(shop: Machine, columns: int) -> None:
    shop.told("remember", "Never deploy on Fridays, because nobody is there to fix it on the weekend")
    for words in _commands(shop):
        answer = shop.at_terminal(*words, COLUMNS=str(columns))
        assert answer.code == 0, words
        assert not re.search(r"<(agent|tool|user) [a-z2-7]{5}>", answer.out), words
        if words not in (("help",), ("config", "list")):
            plain = _COLOUR.sub("", answer.out)
            assert [line for line in plain.splitlines() if len(line) > columns] == [], words


@pytest.mark.parametrize(
    ("options", "variables", "coloured"),
    [
        ((), {"TERM": "xterm"}, True),
        ((), {"TERM": "dumb"}, False),
        ((), {"TERM": "xterm", "NO_COLOR": "1"}, False),
        (("--color", "never"), {"TERM": "xterm"}, False),
        (("--color=always",), {"TERM": "dumb", "NO_COLOR": "1"}, True),
    ],
)
def test_colour_follows_the_option_and_the_environment(
    shop: Machine, options: tuple[str, ...], variables: dict[str, str], coloured: bool
) -> None:
    answer = shop.at_terminal("list", *options, **variables)
    assert bool(_COLOUR.search(answer.out)) is coloured
    assert "WHEN" in answer.out


def test_a_pipe_an_agents_shell_and_json_get_no_tables(shop: Machine) -> None:
    for answer in (shop.at_terminal("list", CLAUDECODE="1"), shop.at_terminal("list", "--json")):
        assert "WHEN" not in answer.out
        assert not _COLOUR.search(answer.out)
    assert "<agent " in shop.at_terminal("list", CLAUDECODE="1").out


def test_a_wrong_colour_is_one_sentence(shop: Machine) -> None:
    answer = shop.told("list", "--color=blue")
    assert (answer.code, answer.err) == (2, "told: --color is one of auto, always, never, not 'blue'.\n")


def test_what_people_read_at_a_terminal(shop: Machine, snapshot: Callable[[str, str], None]) -> None:
    session = shop.ids("--project", "acme-api")[0]
    for name, words in (("list", ("list",)), ("show", ("show", session)), ("repos", ("repos",))):
        snapshot(f"{name}-terminal", shop.at_terminal(*words, NO_COLOR="1").out)


def test_long_output_goes_through_the_pager_of_the_user(
    shop: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("shutil.get_terminal_size", lambda: os.terminal_size((80, 3)))
    page = tmp_path_factory.mktemp("pager") / "page"
    assert shop.told("list", TOLD_PAGER=f"tee {page}", COLUMNS="80").code == 0
    assert "WHEN" in page.read_text()
    assert "WHEN" in shop.told("list", TOLD_PAGER="cat", COLUMNS="80").out
    assert "WHEN" in shop.told("list", TOLD_PAGER="no-such-pager", COLUMNS="80").out


def test_a_table_drops_columns_and_wraps_by_words() -> None:
    table = Table(
        (Column("ID"), Column("AGENT", least=60), Column("TEXT", wraps=True)),
        [("a1", "claude", "some words that do not fit on one line of a narrow terminal")],
    )
    narrow = Screen(40, colour=False).render([table])
    assert "AGENT" not in narrow
    assert "AGENT" in Screen(80, colour=False).render([table])
    words = {word for line in narrow.splitlines()[1:] for word in line.split()}
    assert words == {"a1", *table.rows[0][2].split()}  # type: ignore[union-attr]  # no word is broken


def test_plain_lines_wrap_with_their_indent() -> None:
    screen = Screen(40, colour=False)
    assert screen.render(["- " + "word " * 12]) == "- " + "word " * 6 + "word\n  word word word word word\n"
    assert screen.render([Heading("A"), Paragraph(Span("b", "dim"), indent=2)]) == "A\n  b\n"


def test_what_people_copy_is_not_broken() -> None:
    command, code = f"  told team join team-{'abcde-' * 9}f --folder /mnt/team", "team-" + "abcde-" * 9
    assert Screen(40, colour=False).render([f"Join with:\n{command}", code]) == (
        f"Join with:\n{command}\n{code}\n"
    )


def test_hits_are_highlighted() -> None:
    shown = Screen(80, colour=True).render([Paragraph(marked("charged twice", [(8, 13)]))])
    assert _COLOUR.sub("", shown) == "charged twice\n"
    assert "\x1b[1;33mtwice" in shown


@pytest.mark.parametrize(
    ("gone", "said"),
    [
        (0, "just now"), (60_000, "1 minute ago"), (7_200_000, "2 hours ago"), (_DAY, "yesterday"),
        (2 * _DAY, "2 days ago"), (30 * _DAY, "Oct 16"), (400 * _DAY, "Oct 11 2025"),
    ],
)  # fmt: skip
def test_times_are_relative_and_have_the_year_when_it_is_another(gone: int, said: str) -> None:
    now = 1_794_744_000_000  # 2026-11-15 12:00 UTC
    assert relative_time(now - gone, now) == said
    assert relative_time(0, now) == "undated"
