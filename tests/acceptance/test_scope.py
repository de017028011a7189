"""Scope: what was said for one project is not met in another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.acceptance.site import PAY, SHOP

if TYPE_CHECKING:
    from tests.acceptance.site import Site

TOKEN = "osprey-4417"
FACT = f"The Quillmere ledger is exported to the bucket {TOKEN}."
READS = ["brief", "memories", "search", "wonder", "tool", "resource"]


QUERY = "Quillmere ledger bucket"
AGENT = {"CLAUDECODE": "1"}
OWN = "The Quillmere ledger of pay is kept for ten years."


@pytest.fixture
def two(site: Site) -> Site:
    """A site with the best match in one project and a weaker one in the other, which is the current one."""
    site.remember(FACT)
    site.go(PAY)
    site.remember(OWN)
    return site


@pytest.mark.atlas("scope.cross_tenant_absent")
def test_another_project_never_meets_it(two: Site) -> None:
    assert two.seen(TOKEN, QUERY) == []
    assert {"brief", "search", "tool"} <= set(two.seen("ten years", QUERY))
    two.go(SHOP)
    assert two.seen(TOKEN, QUERY) == READS  # the positive control


@pytest.mark.atlas("scope.cross_tenant_absent")
@pytest.mark.parametrize("project", [PAY, "work/new"])
def test_an_agent_without_a_match_stays_in_its_project(two: Site, project: str) -> None:
    two.go(SHOP)
    two.session(f"Please upload the ledger to {TOKEN}.")
    two.do("remember", "--scope", "global", "Answer Wrenfield tickets in English.")
    if project != PAY:
        two.repo(project, "git@github.com:acme/new.git")
    two.go(project)
    assert two.seen(TOKEN, TOKEN, **AGENT) == []
    for words in (("search", TOKEN), ("search", TOKEN, "--in", "memories"), ("list",), ("timeline",)):
        answer = two.told(*words, **AGENT)
        assert TOKEN not in answer.out, words
        assert "Try --all-projects" in answer.err, words
    assert 'Try `project` "*"' in two.tool("search", query=TOKEN)
    assert "Wrenfield" in two.tool("search", query="Wrenfield tickets")
    for words in (("search", TOKEN), ("list",), ("timeline",)):  # you may look everywhere
        assert TOKEN in two.do(*words).out, words
        assert TOKEN in two.do(*words, "--all-projects", **AGENT).out, words


@pytest.mark.atlas("scope.caller_cannot_widen")
@pytest.mark.parametrize("project", ["", "%", "?", "all", "shop*", "project:github.com/acme/shop"])
def test_a_wildcard_opens_no_other_project(two: Site, project: str) -> None:
    assert TOKEN not in two.tool("search", query=QUERY, project=project)
    assert TOKEN not in two.tool("wonder", topic=QUERY, project=project)
    two.tool("remember", text=f"The key of {TOKEN} is public.", project=project)
    assert "ten years" in two.tool("search", query=QUERY)
    two.go(SHOP)
    assert not any("public" in text for text in two.texts_of("active"))
    assert "public" not in two.told("memories", "--json", "--status", "candidate").out
    assert TOKEN in two.tool("search", query=QUERY)


@pytest.mark.atlas("scope.caller_cannot_widen")
def test_another_users_home_is_out_of_reach(two: Site) -> None:
    own, two.environ["TOLD_HOME"] = two.environ["TOLD_HOME"], str(two.home / "of-another-user")
    two.remember(OWN)
    for project in ("shop", "acme/shop", str(two.home / SHOP), own, ""):
        assert TOKEN not in two.tool("search", query=QUERY, project=project)
    assert TOKEN not in two.told("memories", "--all-projects", "--json").out
    assert "ten years" in two.tool("search", query=QUERY)


@pytest.mark.atlas("scope.caller_cannot_widen")
@pytest.mark.xfail(
    strict=True, reason="an agent of the same user may name another project; told has one user"
)
@pytest.mark.parametrize("project", ["*", "../shop"])
def test_an_agent_cannot_name_another_project(two: Site, project: str) -> None:
    assert TOKEN not in two.tool("search", query=QUERY, project=project)


@pytest.mark.atlas("scope.background_respects_boundary")
def test_background_work_keeps_projects_apart(site: Site) -> None:
    shared = "From now on run the smoke suite with make smoke before a release."
    site.session(shared, "Remember that the canary host of the shop is heron-2290.")
    site.go(PAY)
    site.session(shared, "Remember that the canary host of pay is plover-8813.")
    site.later(days=2)  # quiet long enough to be archived and observed
    site.run_background()
    site.recall("which canary host?")
    for project, own, foreign in ((SHOP, "heron-2290", "plover-8813"), (PAY, "plover-8813", "heron-2290")):
        site.go(project)
        assert "brief" in site.seen(own, "canary host")
        assert site.seen(foreign, "canary host") == []
        assert "make smoke" in site.recall("run the smoke suite before the release")
        for row in site.do("memories", "--all", "--json").json["memories"]:
            evidence = site.do("why", row["id"], "--json").json["evidence"]
            shown = [site.told("show", place["session"], "--json").json for place in evidence]
            assert {one["project"] for one in shown} == {f"acme/{project.rpartition('/')[2]}"}
