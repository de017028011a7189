"""Correction on the team server: the corrected value is recalled, and the old one stays away."""

from __future__ import annotations

import re

import pytest

from tests.acceptance.server import PAY, SHOP, ServerSite

# Each: the statement, its correction, what to ask, words that must come and words that must not.
SHAPES = {
    "replacement": (
        "The staging host is alder-71.", "The staging host is now birch-72, not alder-71.",
        "which host is staging?", "birch-72", "The staging host is alder-71.",
    ),
    "polarity": (
        "Use Flagsmith for feature flags.", "Do not use Flagsmith for feature flags.",
        "add a feature flag with Flagsmith", "Do not use Flagsmith", "- Use Flagsmith",
    ),
    "partial": (
        "Deploys go to Frankfurt and Dublin.", "Deploys no longer go to Dublin, only to Frankfurt.",
        "where do deploys go?", "only to Frankfurt", "Frankfurt and Dublin",
    ),
}  # fmt: skip


def edit(server: ServerSite, memory: str, text: str) -> str:
    """Replace the text of a memory; return the id of the new one."""
    return str(server.change(memory, text=text)["id"])


@pytest.mark.atlas("correction.survives_reindex")
@pytest.mark.parametrize("door", ["said", "edited"])
@pytest.mark.parametrize("shape", list(SHAPES))
def test_a_correction_outlives_a_rebuild(server: ServerSite, shape: str, door: str) -> None:
    said, correction, question, come, stay = SHAPES[shape]
    project = {"project": f"acme/{shape}-{door}"}
    old = server.save(said, **project)
    assert said.rstrip(".") in server.brief(question, **project)
    ways = {
        "said": lambda: server.save(correction, **project),
        "edited": lambda: edit(server, old, correction),
    }
    new = ways[door]()
    server.work()
    for step in ("corrected", "said again", "rebuilt"):
        if step == "said again":
            server.push(f"{shape}-{door}", said, **project)
            server.save(said, by="agent", agent="codex", **project)
            server.work()
        elif step == "rebuilt":
            server.rebuild()
        given = server.brief(question, **project) + server.tool("brief", prompt=question, **project)
        assert come in given, step
        assert stay not in re.sub(r" \(was: [^)]*\)", "", given), step
    shown = server.get("ada", f"/memories/{old}")
    assert (shown["text"], shown["status"], shown["superseded_by"]) == (said, "superseded", new)
    assert [one["what"] for one in shown["history"]][-1] == "supersede"


@pytest.mark.atlas("correction.retraction_without_replacement")
def test_a_retraction_needs_no_new_value(server: ServerSite) -> None:
    """The server reads no retraction out of a prompt: its person takes the one memory back."""
    said, asked = (
        "We have a nightly job that rebuilds the Puffin index.",
        "does a nightly job rebuild the Puffin index?",
    )
    made = server.save(said, share=True)
    server.save("Never deploy the Puffin index on Fridays.", share=True)
    server.save(said, project=PAY)
    before = len(server.texts(all_projects=True))
    assert "nightly job" in server.brief(asked)
    assert "nightly job" in server.brief(asked, "max")
    server.change(made, status="rejected")
    server.push("puffin", said)
    server.tool("remember", text=said, project=SHOP)
    server.work()
    server.rebuild()
    for name in ("ada", "max"):
        assert "nightly job" not in server.brief(asked, name)
        assert "on Fridays" in server.brief(
            "deploy the Puffin index on a Friday?", name
        )  # the positive control
    assert len(server.texts(all_projects=True)) == before - 1  # no newer fact was needed
    server.change(made, status="confirmed")
    assert "nightly job" in server.brief(asked)
