"""Evidence: every memory names its source, goes with it, and can be made from it again."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.acceptance.site import Site


def injected(site: Site, *prompts: str) -> set[str]:
    """Return the ids of the memories that prompts get unasked."""
    answers = [site.told("brief", "--prompt", prompt, "--json") for prompt in prompts]
    return {line["id"] for answer in answers for line in answer.json["lines"] if line["id"]}


@pytest.mark.atlas("evidence.claim_resolves_to_source")
def test_every_injected_memory_leads_to_its_source(site: Site) -> None:
    session = site.session(
        "Remember that the parser cache is called Brindle-5531.", "Fix the footer, please."
    )
    site.remember("Never log the Tamarack-9046 header.")
    site.environ["CLAUDE_CODE_SESSION_ID"] = session
    site.tool("remember", text="The parser cache is called Brindle-5531.", quote="called Brindle-5531")
    site.write("work/shop/AGENTS.md", "# Rules\n\n- Always sign the Wexcombe-7102 artefacts.\n")
    site.do("onboard")
    found = injected(
        site, "which parser cache is used, Brindle?", "log the Tamarack-9046 header", "sign Wexcombe-7102"
    )
    assert len(found) >= 2  # the positive control
    for memory in found:
        evidence = site.do("why", memory, "--json").json["evidence"]
        assert evidence
        for place in evidence:
            if place["agent"] == "terminal":
                assert place["quote"]  # the journal is the source
            else:
                turn = site.do("show", f"{place['session']}.{place['turn']}", "--full", "--json").out
                assert place["quote"] in turn


@pytest.mark.atlas("evidence.source_delete_reaches_derived")
def test_what_comes_from_a_forgotten_session_goes_with_it(site: Site) -> None:
    doomed = site.session(
        "Remember that the mirror is called Galliard-3328.",
        "Is Galliard-3328 up?",
        native="11111111-2222-4333-8444-555555555555",
    )
    sibling = site.session(
        "Remember that the queue is called Sorrel-6075.",
        "Is Sorrel-6075 up?",
        native="11111111-2222-4333-8444-666666666666",
    )
    for native, name in ((doomed, "Galliard-3328"), (sibling, "Sorrel-6075")):
        site.do("checkpoint", f"Move {name} to the new rack", "--session", native)
    site.later(days=2)
    site.run_background()
    site.do("forget", "--session", doomed, "--force")
    kinds = {
        "memory": ("memories", "--all-projects", "--all", "--json"),
        "session": ("list", "--all-projects", "--json"),
        "turn": ("timeline", "--all-projects", "--json"),
        "checkpoint": ("checkpoints", "--all-projects", "--json"),
        "index": ("search", "--all-projects", "--json", "rack", "up"),
    }
    for kind, command in kinds.items():
        out = site.told(*command).out
        assert "galliard" not in out.lower(), kind
        assert "sorrel" in out.lower(), kind
    assert b"galliard" not in site.every_byte().lower()
    assert "brief" in site.seen("Sorrel-6075")


@pytest.mark.atlas("evidence.rebuild_from_retained")
def test_the_same_answers_come_from_the_evidence_alone(site: Site) -> None:
    site.session(
        "Remember that the build farm is called Umberwick-8841.",
        "Remember that releases are tagged Fennock-1973.",
    )
    site.remember("The rollout key is named Dapplegrim-3067.")
    site.later(days=2)
    site.run_background()
    tokens = ("Umberwick-8841", "Fennock-1973", "Dapplegrim-3067")
    for lose in ("databases", "the agents' files, too"):
        if lose != "databases":
            shutil.rmtree(site.home / ".claude")
        site.rebuild()
        for token in tokens:
            assert {"brief", "memories", "tool"} <= set(site.seen(token)), (lose, token)
    assert "Umberwick-8841" in site.do("search", "--in", "sessions", "--json", "build farm").out
