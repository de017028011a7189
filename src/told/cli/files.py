"""`told files`: what was worked on, file by file."""

from __future__ import annotations

from told.cli.output import count, cut, iso, short_path, to_json, when
from told.cli.sessions import about, beyond, here_or_everywhere, nothing, unread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.cli.arguments import Arguments
    from told.cli.context import Context

# Bytes of ten rows: what they may cost an agent is 150 tokens.
_FILES_BYTES = 565
_LEAST_PATH = 24


def files(context: Context, arguments: Arguments) -> int:
    """Print touched files, each once, the latest first."""
    limit = arguments.number("limit", 10)
    scope, found, widened = here_or_everywhere(
        context, arguments, lambda wanted: context.reading.touches(wanted, limit)
    )
    if arguments.flag("json"):
        rows = [
            {"path": context.fence.inline(row.path), "how": row.how, "at": iso(row.at),
             "session": row.session, "agent": row.agent,
             "project": context.name(row.project) or None, "trust": "agent"}
            for row in found
        ]  # fmt: skip
        context.print(to_json(about(context, scope, widened) | {"files": rows}))
        return 0 if found else 1
    if not found:
        return nothing(context, "No files were touched", scope)
    header = f"{count(len(found), 'file')}, {scope.name}{beyond(widened)}"
    room = max(_LEAST_PATH, context.width - 40)
    if limit <= 10:
        fixed = sum(len(f"{when(row.at, context.now)} {row.how}  {row.session}\n") for row in found)
        room = max(_LEAST_PATH, min(room, (_FILES_BYTES - len(header) - fixed) // len(found)))
    lines = []
    for row in found:
        path = short_path(row.path, row.root, room)
        place = f" {cut(row.project, 24)}" if scope.project is None and row.project and limit > 10 else ""
        lines.append(f"{when(row.at, context.now)} {row.how} {path} {row.session}{place}")
    context.print(header)
    context.print(context.fence.block("\n".join(lines)))
    unread(context)
    return 0
