"""`told brief` and `told explain`: what an agent is handed, and why."""

from __future__ import annotations

import os

from told.cli.memory_desk import Desk
from told.cli.output import iso, to_json
from told.errors import UsageError
from told.guard.names import plain_id
from told.guard.text import tokens
from told.memory._recall_structure import below
from told.memory.brief import Brief, prompt_brief, shown_payload
from told.memory.recall import Ask
from told.settings import in_project
from told.store.reading import Filter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.cli.arguments import Arguments
    from told.cli.context import Context
    from told.store.projects import Project


def brief(context: Context, arguments: Arguments) -> int:
    """Print what a session or a prompt should know; nothing, with exit code 1, when nothing fits."""
    prompt = arguments.text("prompt")
    if prompt and arguments.flag("start"):
        raise UsageError("Give --start or --prompt TEXT, not both.")
    project = _project(context)
    settings = in_project(context.settings, project.root if project else "")
    usual = settings.brief_tokens if prompt else settings.brief_start_tokens
    budget = arguments.number("budget", usual)
    session = arguments.text("session")
    session = session and plain_id(session, context.redactor().redact, lambda: context.key)
    with Desk(context) as desk:
        if prompt:
            made = prompt_brief(
                desk.memories, _ask(desk, prompt, tools=arguments.flag("tools")), context.fence,
                budget=budget, session=session, since=context.now + 1 if arguments.flag("again") else 0,
            )  # fmt: skip
        else:
            from told.ingest.checkpoint_rows import cleaned
            from told.memory._brief_start import start_brief

            home = context.settings.home
            wanted = Filter(project.id if project else 0, helpers=False)
            made = start_brief(
                desk.memories, context.reading, wanted, desk.scopes, context.fence,
                now=context.now, budget=budget,
                clean_one=lambda one: cleaned(one, home, context.redactor().redact),
            )  # fmt: skip
        if session and made.memories:
            desk.pen.note("show", "", **shown_payload(made, session))
            desk.pen.write()
    return _print(context, made, as_json=arguments.flag("json"))


def explain(context: Context, arguments: Arguments) -> int:
    """Print what each layer of recall says of a prompt, and why each memory is in or out."""
    from told.memory.explain import explain as explained
    from told.memory.explain import head
    from told.memory.recall import recall

    with Desk(context) as desk:
        found = recall(desk.memories, _ask(desk, " ".join(arguments.operands)))
        rows = explained(found)
        context.rows = len(rows)
        if arguments.flag("json"):
            context.print(to_json({
                "understood": head(found), "topics": dict(sorted(found.structure.topics.items())),
                "memories": [
                    {
                        "id": one.recalled.memory.id, "in": not one.recalled.against, "why": one.verdict,
                        "score": one.recalled.score, "layers": one.recalled.parts,
                        "text": desk.text(one.recalled.memory),
                    }
                    for one in rows
                ],
            }))  # fmt: skip
            return 0 if rows else 1
        context.print(head(found))
        for one in rows:
            mark = "out" if one.recalled.against else "in "
            context.print(f"{mark} {one.recalled.score:.2f} {desk.row(one.recalled.memory)}")
            reason = f"{one.verdict}; " if one.recalled.against else ""
            context.print(f"    {reason}{' · '.join(one.layers) or 'no layer knows it'}")
        if not rows:
            context.print("No memory has anything to do with it.")
    return 0 if rows else 1


def _ask(desk: Desk, prompt: str, *, tools: bool = False) -> Ask:
    project = _project(desk.context)
    folder = below(project.root, desk.context.cwd) if project else ""
    return Ask(prompt, desk.scopes, desk.context.now, folder, tools)


def _project(context: Context) -> Project | None:
    if context.cwd and context.cwd == os.path.realpath(context.environ.get("HOME", "")):
        return None
    return context.project()


def _print(context: Context, made: Brief, *, as_json: bool) -> int:
    context.rows = len(made.lines)
    if as_json:
        context.print(to_json({
            "tokens": tokens(made.text),
            "lines": [
                {"zone": line.zone, "id": line.memory or None, "at": iso(line.at), "text": line.text}
                for line in made.lines
            ],
        }))  # fmt: skip
    elif made.lines:
        context.print(made.text)
    return 0 if made.lines else 1
