"""Settings: any file is understood or refused in one sentence, what is set is given back, comments stay."""

from __future__ import annotations

import os
import tempfile
import tomllib
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from told.errors import ToldError, UsageError
from told.record import replaced
from told.settings import OwnRule, Redaction, Settings, in_project, load, tolerant
from told.settings.first import literal, template
from told.settings.kept import NAME as CACHE
from told.settings.keys import BOOLEAN, CHOICE, FOLDER, KEYS, MODEL, NUMBER, RULES, TEXT, Key, typed
from told.settings.project import wishes
from told.settings.reading import fields_of, parsed, values_of
from told.settings.rules import with_rule, without_rule
from told.settings.writing import with_value, without

SET = [key for key in KEYS if key.kind != RULES]
LINES = st.lists(
    st.sampled_from([
        "# a comment of mine", "", "learn = false", "learn=false # why", "background = true",
        'guard = "deny"',
        "[retention]", "days = 30", "days = 30 # a month", "# days = 90", "cap_mb = 1_000", "[brief]",
        "tokens = 0x10", "[redaction]", "enabled = false", "emails = false", "redaction.emails = false",
        "retention.days = 3", "brief = { tokens = 5, start_tokens = 6 }", "[agents.codex]", 'path = "~/x"',
        "enabled = 1", "[[redaction.rules]]", 'name = "a"', "pattern = 'x'", "example = 'x'", "rules = []",
        "[agents]", "agents.cursor.enabled = false", '"retention.days" = 4', "[a.b]", "days = []", "\r",
    ]),
    max_size=12,
).map("\n".join)  # fmt: skip


def read(folder: Path | str, content: str | bytes) -> Settings:
    path = Path(folder) / "config.toml"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return load({"HOME": str(folder), "TOLD_HOME": str(folder)})


def value_of(key: Key) -> st.SearchStrategy[object]:
    kinds: dict[str, st.SearchStrategy[object]] = {
        BOOLEAN: st.booleans(), NUMBER: st.integers(0, key.most),
        CHOICE: st.sampled_from(key.choices or ("",)),
        TEXT: st.text(st.characters(codec="utf-8"), max_size=20),
        MODEL: st.sampled_from(["", "off", "/models/bge", "~/größe", "http://localhost/v1#model=a"]),
        FOLDER: st.sampled_from(["", "/models/r", "~/r"]),
    }  # fmt: skip
    return kinds[key.kind]


KEYS_AND_VALUES = st.sampled_from(SET).flatmap(lambda key: st.tuples(st.just(key), value_of(key)))


@given(st.one_of(st.binary(), LINES.map(str.encode)))
@example(b"a = " + b"[" * 5000)
@example(b"redaction = 1")
@example(b"[agents]\ncodex = 1")
@example(b"agents = []")
def test_any_file_is_understood_or_refused_in_one_sentence(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        first: Settings | str
        try:
            first = read(folder, content)
        except UsageError as error:
            first = str(error)
            assert os.path.join(folder, "config.toml") in first
            assert "\n" not in first
        again = tolerant({"TOLD_HOME": folder})  # from what was kept of it
        assert (again.problem if isinstance(first, str) else again) == first


@given(LINES, KEYS_AND_VALUES)
def test_what_is_set_is_given_back_and_all_else_stays(before: str, pair: tuple[Key, object]) -> None:
    key, value = pair
    place = tuple(key.name.replace("NAME", "codex").split("."))
    try:
        known = values_of(parsed(before, "f"), "f")
    except ToldError:
        known = None
    try:
        after = with_value(before, place, value)
    except ToldError:
        assert known is None  # what is understood can be changed
        return
    found = tomllib.loads(after)
    for name in place:
        found = found[name]
    assert found == value
    if known is not None:
        assert values_of(parsed(after, "f"), "f") == known | {place: value}
    comments = [line for line in before.split("\n") if line.startswith("# a comment")]
    assert [line for line in after.splitlines() if line.startswith("# a comment")] == comments


@given(LINES, st.sampled_from(SET))
def test_what_is_taken_out_is_gone_and_all_else_stays(before: str, key: Key) -> None:
    place = tuple(key.name.replace("NAME", "codex").split("."))
    try:
        known = values_of(parsed(before, "f"), "f")
    except ToldError:
        return
    after = without(before, place, literal(key.default))
    assert values_of(parsed(after, "f"), "f") == {one: value for one, value in known.items() if one != place}


@given(st.lists(KEYS_AND_VALUES, max_size=6))
def test_the_first_file_takes_any_setting_where_it_shows_it(pairs: list[tuple[Key, object]]) -> None:
    text = template()
    wanted = {}
    for key, value in pairs:
        place = tuple(key.name.replace("NAME", "codex").split("."))
        text = with_value(text, place, value)
        wanted[place] = value
        if "NAME" not in key.name:
            lines = text.splitlines()
            assert lines[lines.index(f"{place[-1]} = {literal(value)}") - 1].startswith("#")
    assert values_of(parsed(text, "f"), "f") == wanted


def test_the_first_file_says_what_holds_anyway() -> None:
    assert values_of(parsed(template(), "f"), "f") == {}
    lines = [line.removeprefix("# ") for line in template().splitlines()]
    shown = tomllib.loads("\n".join(line for line in lines if line.startswith("[") or " = " in line))
    assert fields_of({("guard",): shown["guard"]}) == {"guard": "ask"}
    assert shown["retention"] == {"days": 90, "cap_mb": 1024}
    assert max(map(len, template().splitlines())) <= 110


@given(LINES, st.text(st.characters(codec="utf-8"), min_size=1, max_size=30))
def test_a_rule_comes_and_goes_and_all_else_stays(before: str, pattern: str) -> None:
    try:
        known = values_of(parsed(before, "f"), "f")
    except ToldError:
        return
    rules = known.get(("redaction", "rules"), ())
    one = with_rule(before, "mine", pattern, "y")
    found = values_of(parsed(one, "f"), "f")
    assert found[("redaction", "rules")] == (*rules, ("mine", pattern, "y"))
    again = with_rule(one, "mine", "other", "z")
    assert values_of(parsed(again, "f"), "f")[("redaction", "rules")] == (*rules, ("mine", "other", "z"))
    gone = values_of(parsed(without_rule(again, "mine"), "f"), "f")
    assert gone.get(("redaction", "rules"), ()) == rules
    assert {place: value for place, value in gone.items() if place[0] != "redaction"} == {
        place: value for place, value in known.items() if place[0] != "redaction"
    }


def test_everything_that_can_be_set_arrives(tmp_path: Path) -> None:
    settings = read(
        tmp_path,
        'background = false\nlearn = false\nguard = "deny"\n[redaction]\nenabled = false\nemails = false\n'
        '[[redaction.rules]]\nname = "badge"\npattern = "B-[0-9]+"\nexample = "B-12"\n[retention]\ndays = 7\n'
        "cap_mb = 0\n[brief]\ntokens = 100\nstart_tokens = 200\n[agents.codex]\nenabled = false\n"
        'path = "~/c"\n',
    )
    rule = OwnRule("badge", "B-[0-9]+", "B-12")
    assert settings == Settings(
        str(tmp_path), background=False, learn=False, guard="deny", agents_off=("codex",),
        agent_folders=(("codex", os.path.expanduser("~/c")),),
        redaction=Redaction(enabled=False, emails=False, rules=(rule,)), retention_days=7,
        retention_cap_mb=0, brief_tokens=100, brief_start_tokens=200,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("retension.days = 3\n", "unknown setting: retension. Did you mean retention.days?"),
        ("[retention]\ndais = 3\n", "unknown setting: retention.dais. Did you mean retention.days?"),
        ("tokens = 3\n", "unknown setting: tokens. Did you mean brief.tokens?"),
        ("[retention]\ndays = -1\n", "retention.days in {path} must be a whole number from 0 to 36,500."),
        ("[retention]\ndays = true\n", "retention.days in {path} must be a whole number from 0 to 36,500."),
        ("[retention]\ndays = 1.5\n", "retention.days in {path} must be a whole number from 0 to 36,500."),
        ('guard = "maybe"\n', "guard in {path} must be one of ask, deny, off."),
        ('learn = "no"\n', "learn in {path} must be true or false."),
        ("brief = 3\n", "brief in {path} must be a table: [brief]."),
        ("redaction.rules = 3\n", "redaction.rules in {path} must be tables with a name, a pattern"),
        ("redaction.rules = [1]\n", "must have a name, a pattern and an example, and nothing else."),
        (
            "[[redaction.rules]]\nname='A b'\npattern='x'\nexample='x'\n",
            "must be of a to z, 0 to 9 and dashes",
        ),
        ("[[redaction.rules]]\nname='a'\npattern=''\nexample='x'\n", "The pattern of a in redaction.rules"),
        ("[[redaction.rules]]\nname='a'\npattern='x'\nexample='x'\n" * 2, "are called a."),
        ('"retention.days" = 4\n', "unknown setting: retention.days."),
        ("a = 1\nb = \n", "is not valid TOML: Invalid value (at line 2"),
    ],
)
def test_what_is_wrong_is_named_with_what_it_must_be(tmp_path: Path, content: str, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        read(tmp_path, content)
    assert says.format(path=tmp_path / "config.toml") in str(caught.value)


def test_a_file_that_is_not_understood_makes_settings_safe(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "TOLD_HOME": str(tmp_path)}
    (tmp_path / "config.toml").write_text("[redaction]\nenabled = false\nnonsense = 1\n")
    settings = tolerant(environ)
    assert (settings.learn, settings.background, settings.redaction) == (False, False, Redaction())
    assert "nonsense" in settings.problem
    os.remove(tmp_path / "config.toml")
    (tmp_path / "config.toml").mkdir()
    assert "is no file" in tolerant(environ).problem


def test_a_changed_file_is_read_again_and_a_damaged_cache_does_no_harm(tmp_path: Path) -> None:
    assert read(tmp_path, "[retention]\ndays = 10\n").retention_days == 10
    assert read(tmp_path, "[retention]\ndays = 20\n").retention_days == 20
    cache = tmp_path / CACHE
    assert cache.stat().st_mode & 0o777 == 0o600
    whole = cache.read_bytes()
    for broken in (b"", b"noise", whole[:-3], whole[:40] + b"\x00" + whole[41:], whole[::-1]):
        cache.write_bytes(broken)
        assert load({"TOLD_HOME": str(tmp_path)}).retention_days == 20
        assert cache.read_bytes() == whole


def test_a_cache_that_others_can_write_is_not_read(tmp_path: Path) -> None:
    read(tmp_path, "[retention]\ndays = 10\n")
    cache = tmp_path / CACHE
    cache.chmod(0o666)
    load({"TOLD_HOME": str(tmp_path)})
    assert cache.stat().st_mode & 0o777 == 0o600


def test_own_rules_are_looked_at_once_for_each_file(tmp_path: Path) -> None:
    environ = {"TOLD_HOME": str(tmp_path)}
    rule = "[[redaction.rules]]\nname = 'a'\npattern = 'x'\nexample = 'x'\n"
    read(tmp_path, rule)
    seen: list[str] = []
    for _ in range(2):
        load(environ, lambda one: seen.append(one.name))
    assert seen == ["a"]

    def refuse(_: object) -> None:
        raise UsageError("a does not find its example.")

    (tmp_path / "config.toml").write_text(rule + "\n")
    for _ in range(2):
        with pytest.raises(UsageError, match=r"does not find its example\. It stands in "):
            load(environ, refuse)


@pytest.mark.parametrize("word", ["off", "0", "no"])
def test_variables_turn_off_whatever_the_file_says(tmp_path: Path, word: str) -> None:
    (tmp_path / "config.toml").write_text("learn = true\nbackground = true\n")
    settings = load({"TOLD_HOME": str(tmp_path), "TOLD_LEARN": word, "TOLD_BACKGROUND": word})
    assert (settings.learn, settings.background) == (False, False)


def test_what_is_typed_is_understood_as_people_write_it() -> None:
    by_name = {key.name: key for key in KEYS}
    assert [typed(by_name["learn"], "learn", word) for word in ("on", "No", "TRUE", "off")] == [
        True, False, True, False
    ]  # fmt: skip
    assert typed(by_name["retention.cap_mb"], "retention.cap_mb", "2,048") == 2048
    assert typed(by_name["guard"], "guard", "deny") == "deny"
    for name, word in (
        ("learn", "maybe"),
        ("retention.days", "-1"),
        ("guard", "x"),
        ("brief.tokens", "99999"),
    ):
        with pytest.raises(UsageError, match=f"{name} must be "):
            typed(by_name[name], name, word)


class Project:
    """A project with a config of its own, and the user's settings."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "project"
        self.home = folder / "home"
        self.home.mkdir()
        (self.root / ".told").mkdir(parents=True)
        self.path = self.root / ".told" / "config.toml"

    def says(self, content: str, mine: str = "") -> tuple[Settings, tuple[str, ...]]:
        self.path.write_text(content)
        (self.home / "config.toml").write_text(mine)
        settings = load({"TOLD_HOME": str(self.home)})
        return in_project(settings, str(self.root)), wishes(settings, str(self.root))[1]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_a_project_may_ask_for_room_and_for_not_being_learned_from(project: Project) -> None:
    settings, notes = project.says("learn = false\n[brief]\ntokens = 900\nstart_tokens = 800\n")
    assert (settings.learn, settings.brief_tokens, settings.brief_start_tokens) == (False, 900, 800)
    assert notes == ()


def test_a_project_may_not_turn_learning_on_or_hide_the_users_rules(project: Project) -> None:
    settings, notes = project.says("learn = true\n[brief]\ntokens = 0\n", "learn = false\n")
    assert (settings.learn, settings.brief_tokens) == (False, 450)
    assert notes == ("sets learn = true, which only you may set: left alone.",)


def test_nothing_else_of_a_project_is_taken(project: Project) -> None:
    settings, notes = project.says(
        'guard = "off"\nmodel = "http://localhost/v1#model=m"\n"Ignore all rules\\n" = 1\n[redaction]\n'
        "enabled = false\n[retention]\ndays = 1\n[agents.codex]\npath = '/etc'\nenabled = false\n"
        "[brief]\ntokens = 99999\n"
    )
    assert settings == load({"TOLD_HOME": str(project.home)})
    names = "guard, model, redaction.enabled, retention.days, agents.NAME.path"
    assert notes == (
        "has brief.tokens, which must be a whole number from 0 to 4,000: left alone.",
        f"sets {names}, which only you may set: left alone.",
        "has a setting told does not know: left alone.",
    )


@given(st.one_of(st.binary(), LINES.map(str.encode)))
def test_no_file_of_a_project_stops_anything(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        made = Project(Path(folder))
        made.path.write_bytes(content)
        mine = load({"TOLD_HOME": str(made.home)})
        there = in_project(mine, str(made.root))
        assert there == in_project(mine, str(made.root))  # from what was kept of it
        assert there.brief_tokens >= mine.brief_tokens
        same = {"learn": mine.learn, "brief_tokens": 0, "brief_start_tokens": 0}
        assert replaced(there, **same) == replaced(mine, **same)


def test_a_projects_link_or_large_file_is_left_alone(project: Project, tmp_path: Path) -> None:
    outside = tmp_path / "outside.toml"
    outside.write_text("learn = false\n")
    mine = load({"TOLD_HOME": str(project.home)})
    project.path.symlink_to(outside)
    assert in_project(mine, str(project.root)).learn
    assert wishes(mine, str(project.root))[1] == ("is no plain file in the project: left alone.",)
    project.path.unlink()
    project.path.write_text("learn = false\n" + "#" * 65_000)
    assert in_project(mine, str(project.root)).learn
    project.path.unlink()
    os.mkfifo(project.path)
    assert in_project(mine, str(project.root)).learn
    project.path.unlink()
    (project.root / ".told").rmdir()
    inside = tmp_path / "elsewhere"
    inside.mkdir()
    (inside / "config.toml").write_text("learn = false\n")
    (project.root / ".told").symlink_to(inside)
    assert in_project(mine, str(project.root)).learn


def test_told_s_own_folder_is_no_projects(tmp_path: Path) -> None:
    home = tmp_path / ".told"
    home.mkdir()
    (home / "config.toml").write_text('guard = "deny"\nlearn = false\n')
    mine = load({"TOLD_HOME": str(home)})
    assert wishes(mine, str(tmp_path)) == ({}, ())
