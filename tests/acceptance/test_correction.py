"""Correction: the corrected value is recalled, and the old one stays away."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.soak import points

if TYPE_CHECKING:
    from tests.acceptance.site import Site

DATA = tomllib.loads(
    Path(__file__).with_name("data").joinpath("retractions.toml").read_text(encoding="utf-8")
)

# Each: the statement, its correction, what to ask, words that must come and words that must not.
SHAPES = {
    "replacement": (
        "The staging host is alder-71.", "The staging host is now birch-72, not alder-71.",
        "which host is staging?", ["birch-72"], ["The staging host is alder-71."],
    ),
    "polarity": (
        "Use Flagsmith for feature flags.", "Do not use Flagsmith for feature flags.",
        "add a feature flag with Flagsmith", ["Do not use Flagsmith"], ["- Use Flagsmith"],
    ),
    "retraction": (
        "The Cormorant job runs every night at 02:00.",
        "I misspoke, the Cormorant job does not run every night.",
        "when does the Cormorant job run at night?", [], ["Cormorant"],
    ),
    "partial": (
        "Deploys go to Frankfurt and Dublin.", "Remember: Deploys no longer go to Dublin, only to Frankfurt.",
        "where do deploys go?", ["only to Frankfurt"], ["Frankfurt and Dublin"],
    ),
    "partial, as said": (
        "We deploy to Dublin and Frankfurt.", "We no longer deploy to Dublin, only to Frankfurt.",
        "where do we deploy to?", ["only to Frankfurt"], ["Dublin and Frankfurt"],
    ),
    "bounded": (
        "Use the Dublin mirror for packages until 2026-11-20.", "",
        "which mirror is used for packages?", [], ["Dublin mirror"],
    ),
}  # fmt: skip


@pytest.mark.atlas("correction.survives_reindex")
@pytest.mark.parametrize("shape", list(SHAPES))
def test_a_correction_outlives_a_rebuild(site: Site, shape: str) -> None:
    said, correction, question, come, stay = SHAPES[shape]
    other = "Never store card numbers in the Petrel table."
    native = site.session(f"Remember: {said}", other)
    if not correction:  # in a session told is not sure that a statement with an end lasts
        site.remember(said)
    (made,) = (row["id"] for row in site.memories() if row["text"] == said)
    assert said.rstrip(".") in site.say(question)
    site.session(correction or "thanks")
    site.later(days=30)
    for step in ("corrected", "read again", "rebuilt"):
        if step == "read again":
            site.session(f"Remember: {said}", other, "go on", native=native)
        elif step == "rebuilt":
            site.rebuild()
        given = site.say(question)
        assert [words for words in come if words not in given] == [], step
        assert [words for words in stay if words in given] == [], step
        assert "Petrel" in site.say("store the card numbers in the Petrel table"), step
    history = site.do("why", made, "--json").json
    assert history["text"] == said
    assert history["status"] in (("superseded", "dismissed") if correction else ("active",))


@pytest.mark.atlas("correction.retraction_without_replacement")
@pytest.mark.parametrize("door", ["prompt", "session"])
def test_a_retraction_needs_no_new_value(site: Site, door: str) -> None:
    said = "We have a nightly job that rebuilds the Puffin index."
    other = "Never deploy the Puffin index on Fridays."
    native = site.session(f"Remember: {said}", other)
    assert "nightly job" in site.say("does a nightly job rebuild the Puffin index?")
    before = len(site.memories())
    retraction = "I misspoke, we do not have a nightly job."
    if door == "prompt":
        assert "told undo" in site.say(retraction)
    else:
        site.session(retraction)
    site.session(f"Remember: {said}", other, "go on", native=native)  # the source again
    site.session(said, native="99999999-2222-4333-8444-555555555555")  # and a copy of it
    site.tool("remember", text=said)
    site.run_background()
    site.rebuild()
    assert "nightly job" not in site.say("does a nightly job rebuild the Puffin index?")
    assert len(site.memories()) == before - 1  # no newer fact was needed
    assert "Puffin index on Fridays" in site.say(
        "deploy the Puffin index on a Friday"
    )  # the positive control
    (gone,) = site.memories("--status", "dismissed")
    site.do("undo", "--of", gone["id"])
    assert "nightly job" in site.say("does a nightly job rebuild the Puffin index?")


@pytest.fixture
def settled(site: Site) -> Site:
    for text in DATA["memories"]:
        site.remember(text)
    for text in DATA["locked"]:
        site.remember("--lock", text)
    return site


def dismissed(site: Site) -> list[tuple[str, str]]:
    return [(row["id"], row["text"]) for row in site.memories("--status", "dismissed")]


@pytest.mark.atlas("correction.retraction_without_replacement")
def test_retractions_end_the_memory_that_they_name_and_no_other(settled: Site) -> None:
    done = 0
    sets = ("retractions", "later_retractions", "fresh_retractions")
    sentences = [one for name in sets for one in DATA[name]][:: points(everyday=3, soak=1)]
    for sentence, word in sentences:
        settled.say(sentence)
        for memory, text in dismissed(settled):
            assert word.lower() in text.lower(), sentence
            done += 1
            settled.do("confirm", memory)
    assert done >= 0.8 * len(sentences)


@pytest.mark.atlas("correction.retraction_without_replacement")
def test_what_only_sounds_like_a_retraction_ends_nothing(settled: Site) -> None:
    before = sorted(settled.texts_of("active"))
    sets = ("look_alikes", "later_look_alikes", "fresh_look_alikes")
    sentences = [one for name in sets for one in DATA[name]][:: points(everyday=3, soak=1)]
    for sentence in [*sentences, *DATA["locked_retractions"]]:
        settled.say(sentence)
    assert dismissed(settled) == []
    assert set(before) <= set(settled.texts_of("active"))
    asked = settled.do("proposals", "--json").json["proposals"]
    assert any(one["memory"]["text"] == DATA["locked"][0] for one in asked)


@pytest.mark.atlas("correction.survives_reindex")
def test_a_part_that_goes_without_the_rest_is_asked_about(site: Site) -> None:
    said = "We deploy to Dublin and Frankfurt."
    site.session(f"Remember: {said}")
    site.session("Remember: We no longer deploy to Dublin.")
    assert said in site.texts_of("active")
    waiting = site.do("review", "--json").json["items"]
    assert any(one["state"] == "conflict" and one["other"]["text"] == said for one in waiting)
