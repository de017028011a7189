"""`told scopes`: shared scopes, and what is private."""

from __future__ import annotations

from told.cli.arguments import Arguments
from told.cli.context import UNDO_HINT, Context, MemoryView, memory_count
from told.cli.memories import waiting_note
from told.errors import NotFoundError, UsageError
from told.journal.registry import find_project_journal
from told.memories.change import change
from told.memories.move import move_to_scope
from told.memories.scopes import create_scope, list_shared_scopes, subscribe
from told.store.memories.records import GLOBAL, PRIVATE, PROJECT, Memory, is_private, project_key
from told.text import clean

_WORDS = {"create": 1, "subscribe": 1, "unsubscribe": 1, "share": 2, PRIVATE: 1}
_USAGE = (
    "Use `told scopes`, `told scopes create NAME`, `subscribe NAME`, `unsubscribe NAME`, `share ID NAME`"
    " or `private ID`."
)


def scopes(context: Context, arguments: Arguments) -> None:
    """List, create, subscribe to or share in shared scopes; make a memory private."""
    words = arguments.operands
    with MemoryView(context) as view:
        if not words:
            _list_scopes(view)
            return
        if _WORDS.get(words[0]) != len(words) - 1:
            raise UsageError(_USAGE)
        if words[0] == PRIVATE:
            _make_private(view, view.find_one(words[1]))
            return
        view.require_user("change what projects share")
        said = _change_scope(view, words[0], words[1:])
        context.report(said, {"action": words[0], "name": words[-1], "done": said})


def _make_private(view: MemoryView, memory: Memory) -> None:
    """Make a memory private, and say what that does not undo; an agent proposes it."""
    context = view.context
    proposal = ""
    if is_private(memory):
        said = f"{memory.id} is already private."
    else:
        done = change(view.writer, PRIVATE, memory)
        memory, proposal = done.memory, done.proposal
        said = f"Only you can make memories private. {waiting_note([proposal])}" if proposal else ""
    if not said:
        copies = "Copies that were shared, synced or exported before are not recalled."
        place = find_project_journal(view.home, memory)
        copies += f" Its text is still in {clean(place.journal)}." if place else ""
        said = f"Private from now on: {view.row(memory)}\n{copies}\n{UNDO_HINT}"
    context.report(said, view.json(memory) | {"proposals": [proposal] if proposal else []})


def _share(view: MemoryView, given: str, name: str) -> str:
    """Move a memory to a wider scope; a private one gets a public copy."""
    memory = view.find_one(given)
    own = PROJECT + project_key(memory.scope) if project_key(memory.scope) else view.project
    if own == GLOBAL and name != GLOBAL:
        raise UsageError("This folder belongs to no project. Go to one of its folders first.")
    scope = view.named_scope(name, own)
    if is_private(scope):
        raise UsageError(f"Sharing makes a memory public. Use `told scopes private {memory.id}`.")
    if view.context.redact(memory.text) != memory.text:
        raise UsageError(f"{memory.id} contains a secret, which is never shared. Correct it first.")
    moved = move_to_scope(view.writer, memory, scope)
    said = f"Shared in {name}: {view.row(moved)}"
    if moved.id != memory.id:
        said += f"\nIt is a new memory: {memory.id} and its history stay private."
    return f"{said}\n{UNDO_HINT}"


def _change_scope(view: MemoryView, action: str, words: list[str]) -> str:
    name = words[-1]
    if action == "create":
        if view.context.redact(name) != name:
            raise UsageError("That looks like a secret, which told does not store. Choose another name.")
        if create_scope(view.writer, name):
            use = f"`told scopes subscribe {name}` applies it to a project."
            return f"Created the shared scope {name}. {use} {UNDO_HINT}"
        return f"The shared scope {name} already exists."
    if action == "share":
        return _share(view, words[0], name)
    if view.project == GLOBAL:
        raise UsageError("This folder belongs to no project. Go to one of its folders first.")
    subscribes = action == "subscribe"
    changed = subscribe(view.writer, name, view.project, on=subscribes)
    verb = "applies" if subscribes else "does not apply"
    already = " already" if subscribes and not changed else ""
    hint = f" {UNDO_HINT}" if changed else ""
    return f"The scope {name} {verb} to {view.scope_name(view.project)}{already}.{hint}"


def _list_scopes(view: MemoryView) -> None:
    context = view.context
    found = list_shared_scopes(view.memories)
    if context.as_json:
        rows = [
            {
                "name": one.name, "memories": one.memories, "holds_here": view.project in one.projects,
                "projects": [name.removeprefix(PROJECT) for name in one.projects],
            }
            for one in found
        ]  # fmt: skip
        context.print_json({"count": len(rows), "scopes": rows}, found=rows)
        return
    if not found:
        raise NotFoundError("There are no shared scopes yet. `told scopes create NAME` creates one.")
    for one in found:
        projects = ", ".join(view.scope_name(name) for name in one.projects) or "no project"
        mark = " (here)" if view.project in one.projects else ""
        context.print(f"{one.name}{mark}: {memory_count(one.memories)}; applies to {projects}")
