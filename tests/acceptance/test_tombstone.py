"""Tombstones: what the user rejected or forgot stays away until the user asks for it again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.search.test_value_key import LOOK_ALIKES, VALUE

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.acceptance.site import Site

NEIGHBOUR = "Always tag container images with the commit hash."
ASKED = "install the packages with npm or pnpm"
AGENT = {"CLAUDECODE": "1"}
UNITS = ("active", "candidate", "quarantined", "archived", "superseded")


def reject(site: Site, value: str = VALUE) -> str:
    """Say a value and a neighbour in a session, and reject the value."""
    site.session(value, NEIGHBOUR)
    made = next(row["id"] for row in site.memories() if row["text"] == value)
    site.do("reject", made)
    return str(made)


def is_away(site: Site, rejected: str) -> None:
    """Check that no unit carries the value, that its rejection is intact and its neighbour is recalled."""
    assert [text for text in site.texts_of(*UNITS) if "pnpm" in text.lower()] == []
    assert [row["id"] for row in site.memories("--status", "dismissed")] == [rejected]
    assert "pnpm" not in site.say(ASKED)
    assert "commit hash" in site.say("tag the container images")  # the positive control


def say_everywhere(site: Site, value: str) -> None:
    """Restate a value on every path but the user's own request to remember it."""
    site.session(value, "thanks, go on")
    site.session(value, agent="copilot-cli")
    site.say(value)
    site.told("remember", value, **AGENT)
    site.tool("remember", text=value, kind="rule")
    site.tool("remember", text=value, scope="global")
    site.write("work/shop/DECISIONS.md", f"# Decisions\n\n- {value}\n")
    site.do("onboard")


def launder(site: Site, rejected: str) -> None:
    """Replace a rejected value by another one, then say it again and have it confirmed."""
    site.told("correct", rejected, "Use yarn to install packages.")
    site.remember("Use yarn to install packages.")
    say_everywhere(site, VALUE)
    site.tool("feedback", id=rejected, useful=True)
    site.tool("correct", id=rejected, text=VALUE)
    other = site.remember("The bundler is esbuild.", **AGENT)
    site.told("correct", other, VALUE, **AGENT)
    site.run_background()


@pytest.mark.atlas("tombstone.laundering_sequence")
def test_a_rejected_value_is_not_walked_back(site: Site) -> None:
    rejected = reject(site)
    launder(site, rejected)
    is_away(site, rejected)
    assert "yarn" in site.say(ASKED)
    site.rebuild()
    is_away(site, rejected)


@pytest.mark.atlas("tombstone.laundering_sequence")
@pytest.mark.parametrize("how", ["undo", "confirm", "remember", "prompt", "session"])
def test_the_users_own_word_is_the_way_back(site: Site, how: str) -> None:
    rejected = reject(site)
    ways: dict[str, Callable[[], Any]] = {
        "undo": lambda: site.do("undo"),
        "confirm": lambda: site.do("confirm", rejected),
        "remember": lambda: site.do("remember", VALUE),
        "prompt": lambda: site.say(f"Remember: {VALUE}"),
        "session": lambda: site.session(f"Remember: {VALUE}"),
    }
    ways[how]()
    assert VALUE in site.texts_of("active")


@pytest.mark.atlas("tombstone.survives_ttl_and_prune")
def test_a_rejection_outlives_every_expiry(site: Site) -> None:
    rejected = reject(site)
    site.do("lock", site.remember(NEIGHBOUR))
    for days in (40, 400, -200, 4000):  # also a clock that jumps back
        site.later(days=days)
        site.run_background()
        site.told("retention", "prune", "--days", "1", "--force")
    site.told("retention", "restore", "--all")
    launder(site, rejected)
    is_away(site, rejected)


@pytest.mark.atlas("tombstone.key_normalization_attack")
@pytest.mark.parametrize("how", ["reject", "forget"])
def test_look_alikes_of_a_value_are_refused_and_a_paraphrase_is_not(site: Site, how: str) -> None:
    made = site.remember(VALUE)
    site.do(how, made, *(["--force"] if how == "forget" else []))
    for name, text in LOOK_ALIKES.items():
        site.say(f"From now on: {text}")
        assert "Not saved" in site.told("remember", "--", text, **AGENT).out, name
    site.session(*LOOK_ALIKES.values())
    assert site.texts_of(*UNITS) == []
    paraphrase = "Packages are installed with pnpm and nothing else."
    site.remember(paraphrase, **AGENT)
    site.say("From now on the package manager of this repo is pnpm.")
    assert paraphrase in site.texts_of("candidate")
    assert "package manager of this repo" in site.recall("which package manager do we use?")


@pytest.mark.atlas("tombstone.reextraction_stays_inactive")
@pytest.mark.parametrize("how", ["reject", "forget"])
def test_reading_the_source_again_brings_nothing_back(site: Site, how: str) -> None:
    native = site.session(VALUE, NEIGHBOUR)
    made = next(row["id"] for row in site.memories() if row["text"] == VALUE)
    site.do(how, made, *(["--force"] if how == "forget" else []))
    fresh = "Never squash merge commits."
    site.session(VALUE, NEIGHBOUR, fresh, native=native)  # the same session goes on
    site.session(VALUE, NEIGHBOUR, native="99999999-2222-4333-8444-555555555555")  # a copy of it
    site.session(VALUE, agent="copilot-cli")
    site.rebuild()
    site.do("index")
    assert [text for text in site.texts_of("active") if "pnpm" in text] == []
    assert "pnpm" not in site.say(ASKED)
    assert set(site.texts_of("active")) == {NEIGHBOUR, fresh}  # the positive control


@pytest.mark.atlas("tombstone.no_second_memory_unit")
def test_a_value_said_again_makes_no_second_unit(site: Site) -> None:
    rejected = reject(site)
    before = {row["id"] for status in (*UNITS, "dismissed") for row in site.memories("--status", status)}
    say_everywhere(site, VALUE)
    site.run_background()
    after = {row["id"] for status in (*UNITS, "dismissed") for row in site.memories("--status", status)}
    assert after == before
    is_away(site, rejected)
    # Each refusal is recorded on the rejected unit: the write collides with it and makes nothing.
    refused = [one for one in site.log() if one["kind"] == "refuse" and one["memory"] == rejected]
    assert len(refused) >= 5
