"""Windsurf: its conversations are encrypted, so it is wired and not read."""

from __future__ import annotations

from told.agents._wiring_forms import hook_entries, mcp, shell_line, wanted
from told.agents._wiring_places import below
from told.agents.base import Agent
from told.agents.wiring import OWN, PROJECT_SCOPE, PROMPT, Block, OwnFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.agents.wiring import Change, Place

_RULE_HEAD = f"---\n# {OWN}\ntrigger: always_on\n---\n\n"


def wire(place: Place) -> tuple[Change, ...]:
    """Return what told writes into Windsurf's files."""
    in_project = place.scope == PROJECT_SCOPE
    folder = (
        below(place, place.project, ".windsurf")
        if in_project
        else below(place, place.home, ".codeium", "windsurf")
    )

    def hook(event: str) -> dict[str, object]:
        return {"command": shell_line(place, AGENT.name, event), "show_output": False}

    # It cannot give Cascade anything, but it sees what the user says, which nothing else of told's does.
    prompt = (("pre_user_prompt", PROMPT),)
    hooks = hook_entries(below(place, folder, "hooks.json"), wanted(place, prompt, prompt[0])[:1], hook)
    if in_project:
        return (*hooks, OwnFile(below(place, folder, "rules", "told.md"), _RULE_HEAD + place.guide + "\n"))
    rules = below(place, folder, "memories", "global_rules.md")
    return (*hooks, *mcp(place, below(place, folder, "mcp_config.json")), Block(rules, place.guide))


AGENT = Agent(
    name="windsurf",
    title="Windsurf",
    label="windsurf",
    wire=wire,
    programs=("windsurf",),
    present=("~/.codeium/windsurf",),
    limits="Its hooks cannot brief it: it asks told because its rules say so.",
)
