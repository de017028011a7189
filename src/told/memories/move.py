"""Move memories between scopes; a private one leaves its scope only as a new memory."""

from __future__ import annotations

from told.conflict.compare import compare_statement
from told.memories.change import change
from told.memories.journal_writer import JournalWriter
from told.memories.remember import NewMemory, add_memory
from told.memories.scopes import share, subscribe
from told.store.memories.records import PRIVATE, PROJECT, SHARED, Memory, is_private, project_key


def move_to_scope(writer: JournalWriter, memory: Memory, scope: str) -> Memory:
    """Move a memory to another scope for the user; return it, or its public copy."""
    if memory.scope == scope:
        return memory
    if is_private(memory) and not is_private(scope):
        return _publish(writer, memory, scope)
    if is_private(scope) and not is_private(memory):
        change(writer, PRIVATE, memory)
        memory = writer.read(memory.id)
    if scope.startswith(SHARED):
        own = memory.scope if memory.scope.startswith(PROJECT) else ""
        share(writer, memory, scope.removeprefix(SHARED), own)
    elif memory.scope != scope:
        writer.add("share", memory.id, scope=scope)
        writer.write()
    return writer.read(memory.id)


def _publish(writer: JournalWriter, memory: Memory, scope: str) -> Memory:
    """Write a new memory with the text of a private one, whose operations stay private.

    The link between them is an operation on the private one. Each is written alone: a batch of both would
    show in the public one's journal.
    """
    if scope.startswith(SHARED) and project_key(memory.scope):
        subscribe(writer, scope.removeprefix(SHARED), PROJECT + project_key(memory.scope))
    known = compare_statement(writer.memories, memory.text, scope, writer.now).repeats
    if known:
        public = known[0].id
    else:
        new = NewMemory(
            memory.text, scope, memory.kind, locked=memory.locked, trust=memory.trust, quote=memory.text,
            marks=memory.marks, context=memory.context,
        )  # fmt: skip
        public = add_memory(writer, new)
        writer.write()
    writer.add("supersede", memory.id, by=public, why="made public")
    writer.write()
    return writer.read(public)
