"""Write learned weights as JSON that is readable in a diff."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

SOURCES = Path(__file__).resolve().parent.parent / "src" / "told"
_WIDTH = 110


def write_weights(path: str | Path, values: Mapping[str, Any]) -> int:
    """Write values as JSON and return its size in characters."""
    parts = [f'"{name}": {_format(value)}' for name, value in values.items()]
    return Path(path).write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")


def update_weights(path: str | Path, values: Mapping[str, Any]) -> int:
    """Replace some tables of a file of weights."""
    known = json.loads(Path(path).read_text(encoding="utf-8")) if Path(path).exists() else {}
    return write_weights(path, {**known, **values})


def _format(value: Any) -> str:
    if not isinstance(value, Mapping):
        return json.dumps(value, ensure_ascii=False)
    lines = [""]
    for name, one in value.items():
        entry = f"{json.dumps(name, ensure_ascii=False)}: {json.dumps(one, ensure_ascii=False)},"
        if len(lines[-1]) + len(entry) >= _WIDTH:
            lines.append("")
        lines[-1] += f" {entry}" if lines[-1] else f"  {entry}"
    return "{\n" + "\n".join(lines).rstrip(",") + "\n}"
