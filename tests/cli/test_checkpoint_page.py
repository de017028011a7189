"""docs/checkpoints.md shows what is printed and written today, and names all there is."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.test_docs import keys_of
from told.cli.arguments import command_named
from told.cli.checkpoint_fields import from_object
from told.cli.checkpoint_show import CLIPBOARD_PROGRAMS

if TYPE_CHECKING:
    from tests.cli.machine import Machine

PAGES = Path(__file__).parents[2] / "docs"
PAGE = (PAGES / "checkpoints.md").read_text(encoding="utf-8")


def block(kind: str) -> str:
    found = re.search(rf"```{kind}\n(.*?)```\n", PAGE, re.DOTALL)
    assert found, kind
    return found[1]


def normal(machine: Machine, text: str) -> str:
    """Take out what differs from one run to the next: places, dates, ids and marks."""
    text = text.replace(str(machine.told_home), "~/.told").replace(str(machine.home), "~")
    text = re.sub(r"\d{4}-\d\d-\d\d-\d{4}|\d{4}-\d\d-\d\dT[\d:.]+Z|\d\d-\d\d \d\d:\d\d", "DATE", text)
    text = re.sub(r"\bc[a-z2-7]{9}\b", "CID", text)
    text = re.sub(r"\bs[a-z2-7]{7}\b", "SID", text)
    text = re.sub(r"(?<=session: )[a-z2-7]{12}", "NATIVE", text)
    return re.sub(r"<(/?agent) [a-z2-7]{5}>", r"<\1 MARK>", text)


@pytest.fixture
def shop(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A machine with the page's project as the current folder."""
    folder = machine.repo("code/shop", "git@github.com:acme/shop.git")
    Path(folder, ".git", "HEAD").write_text("ref: refs/heads/main\n")
    monkeypatch.chdir(folder)
    return machine


def test_the_examples_are_what_is_printed_and_written(shop: Machine) -> None:
    examples = re.split(r"^\$ told ", block("console"), flags=re.MULTILINE)[1:]
    assert len(examples) == 2
    for example in examples:
        line, _, output = example.partition("\n")
        assert normal(shop, shop.told(*shlex.split(line)).out) == normal(shop, output)
    (path,) = shop.told_home.rglob("*.md")
    assert normal(shop, path.read_text()) == normal(shop, block("markdown"))


def test_every_field_and_name_of_the_table_is_taken() -> None:
    rows = re.findall(r"^\| `(\w+)` \|(.*?)\| .* \|$", PAGE, re.MULTILINE)
    assert len(rows) == 13
    for field, others in rows:
        for name in (field, *re.findall(r"`(\w+)`", others)):
            given = from_object({name: "closed"})
            assert getattr(given, field) in ("closed", ("closed",)), name


def test_every_option_that_says_something_is_named() -> None:
    command = command_named("checkpoint")
    assert command is not None
    names = [
        f"--{one.name}" for one in command.options if one.name not in ("goal", "title", "status", "json")
    ]
    assert [name for name in names if f"`{name}" not in PAGE and f" {name} " not in PAGE] == []


def test_every_program_for_the_clipboard_is_named() -> None:
    assert [words[0] for words in CLIPBOARD_PROGRAMS if f"`{words[0]}`" not in PAGE] == []


def test_every_field_of_the_json_is_documented(shop: Machine) -> None:
    made = shop.told("checkpoint", "OAuth", "--json").json
    path = Path(made["path"])
    path.write_text(f"{path.read_text()}\n## Mine\n\nx\n")
    shop.environ["PATH"] = str(shop.home)
    program = shop.write("pbcopy", "#!/bin/sh\n/bin/cat > /dev/null\n")
    program.chmod(0o755)
    calls = [
        ("show", made["id"]), ("checkpoints",), ("checkpoints", "export", made["id"]),
        ("checkpoints", "export", made["id"], "--copy"), ("search", "OAuth"), ("forget", made["id"]),
    ]  # fmt: skip
    answers = [made, *(shop.told(*words, "--json").json for words in calls)]
    fields = {field for answer in answers for field in keys_of(answer)}
    assert {"goal", "heading", "markdown", "copied", "again", "forgotten"} <= fields
    page = (PAGES / "json.md").read_text(encoding="utf-8")
    assert [field for field in fields if f"`{field}`" not in page] == []
