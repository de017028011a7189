"""`told scopes`: what is shared between projects."""

from __future__ import annotations

from told.cli.memory_changes import only_user
from told.cli.memory_desk import Desk, memory_count
from told.cli.output import to_json
from told.errors import NotFoundError, UsageError
from told.memory.scopes import create, share, shared_scopes, subscribe
from told.store.memory_records import GLOBAL, PROJECT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.cli.arguments import Arguments
    from told.cli.context import Context

_ACTIONS = {"create": 1, "subscribe": 1, "unsubscribe": 1, "share": 2}
_USE = (
    "Use `told scopes`, `told scopes create NAME`, `subscribe NAME`, `unsubscribe NAME` or `share ID NAME`."
)


def scopes(context: Context, arguments: Arguments) -> int:
    """List shared scopes, or make one, subscribe to it, share a memory in it."""
    words = arguments.operands
    with Desk(context) as desk:
        if not words:
            return _list(desk, as_json=arguments.flag("json"))
        if _ACTIONS.get(words[0]) != len(words) - 1:
            raise UsageError(_USE)
        only_user(desk, "change what projects share")
        said = _do(desk, words[0], words[1:])
        context.rows = 1
        if arguments.flag("json"):
            context.print(to_json({"action": words[0], "name": words[-1], "done": said}))
        else:
            context.print(said)
    return 0


def _do(desk: Desk, action: str, words: list[str]) -> str:
    name = words[-1]
    if action == "create":
        if desk.context.redactor().redact(name) != name:
            raise UsageError("That looks like a secret, which told does not keep. Choose another name.")
        new = create(desk.pen, name)
        return (
            f"Made the shared scope {name}. `told scopes subscribe {name}` lets it hold in a project."
            if new
            else f"There is a shared scope {name} already."
        )
    if desk.project == GLOBAL:
        raise UsageError("This folder belongs to no project. Go to one of its folders first.")
    here = desk.scope_name(desk.project)
    if action == "share":
        memory = desk.one(words[0])
        share(desk.pen, memory, name, desk.project)
        return f"Shared in {name}: {desk.row(desk.pen.read(memory.id))}"
    on = action == "subscribe"
    changed = subscribe(desk.pen, name, desk.project, on=on)
    holds = "holds" if on else "does not hold"
    return f"What is in {name} {holds} in {here}{'' if changed else ' already' if on else ''}."


def _list(desk: Desk, *, as_json: bool) -> int:
    context = desk.context
    found = shared_scopes(desk.memories)
    context.rows = len(found)
    if as_json:
        rows = [
            {
                "name": one.name, "memories": one.memories, "holds_here": desk.project in one.projects,
                "projects": [name.removeprefix(PROJECT) for name in one.projects],
            }
            for one in found
        ]  # fmt: skip
        context.print(to_json({"count": len(rows), "scopes": rows}))
        return 0 if rows else 1
    if not found:
        raise NotFoundError("Nothing is shared between projects yet. `told scopes create NAME` begins it.")
    for one in found:
        projects = ", ".join(desk.scope_name(name) for name in one.projects) or "no project"
        mark = " (here)" if desk.project in one.projects else ""
        context.print(f"{one.name}{mark}: {memory_count(one.memories)}; holds in {projects}")
    return 0
