"""A statement that gives its own end: until Friday, until 20 November."""

from __future__ import annotations

import time

import pytest

from told.search.until import find_end

SAID = int(time.mktime((2026, 11, 18, 12, 0, 0, 0, 0, -1))) * 1000  # a Wednesday


@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("Until Friday, use the Dublin mirror.", (2026, 11, 20)),
        ("Use the Dublin mirror until Friday.", (2026, 11, 20)),
        ("Use the Dublin mirror until next Monday!", (2026, 11, 23)),
        ("Until 2026-11-30 use the Dublin mirror for packages.", (2026, 11, 30)),
        ("The freeze lasts until 30 November.", (2026, 11, 30)),
        ("The freeze lasts until Nov 30th, 2026.", (2026, 11, 30)),
        ("The freeze lasts until 5 January", (2027, 1, 5)),
        ("Bis Freitag gilt der Mergestopp.", (2026, 11, 20)),
        ("Le gel dure jusqu'au 30 novembre.", (2026, 11, 30)),
        ("Usa el espejo de Dublín hasta el viernes.", (2026, 11, 20)),
        ("Said on a Wednesday: keep it until Wednesday", (2026, 11, 25)),
    ],
)
def test_the_end_of_the_named_day(text: str, last: tuple[int, int, int]) -> None:
    end = time.localtime(find_end(text, SAID) // 1000 - 1)
    assert end[:3] == last


@pytest.mark.parametrize(
    "text",
    [
        "Retry until the build passes.", "Wait until Friday's build is green.",
        "Never deploy until it is reviewed.",
        "Tokens are valid until 2020-01-01.", "Poll until Friday and then report it to the team lead.",
        "The parser reads until line 30.", "Keep it until May be decided.", "Use npm.", "", "Until",
        "Until 2026-99-99 use it.", "The column valid_until 2026-11-30 is indexed by date",
    ],
)  # fmt: skip
def test_other_statements_have_no_end(text: str) -> None:
    assert find_end(text, SAID) == 0
