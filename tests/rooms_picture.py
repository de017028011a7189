"""Draw docs/rooms.svg from the imports of the source: `python -m tests.rooms_picture`."""

from __future__ import annotations

from html import escape
from pathlib import Path

from tests.rooms import LEVEL, SOURCE, edges

PICTURE = Path(__file__).parents[1] / "docs" / "rooms.svg"
BANDS = (
    ("entry points", ("cli", "mcp", "service", "hook", "install")),
    ("Python API", ("api", "app")),
    ("policy", ("audit", "reasoning", "checkpoints", "learning", "onboard")),
    ("", ("retention", "recall", "memories", "conflict", "capture")),
    ("agents' files", ("ingest", "agents")),
    ("storage", ("journal", "search", "store")),
    ("base", ("redact", "settings", "fence", "files", "text", "jsontext", "model", "errors")),
)
STYLE = """
text { font-family: system-ui, sans-serif }
.room { fill: #eef3fb; stroke: #5b7db1 }
.name { font-size: 13px; font-weight: 600; text-anchor: middle; fill: #1d2f4a }
.band { font-size: 11px; fill: #6b7687 }
.import { fill: none; stroke: #8aa0bf; stroke-width: 1.2; opacity: .75 }
"""
WIDTH, LEFT, BOX, HEIGHT, BAND = 900, 110, 92, 28, 72


def draw() -> str:
    """Return the picture: a box for each room, a line for each import, without implied ones."""
    counts = edges()
    places = {}
    parts = []
    for row, (title, rooms) in enumerate(BANDS):
        shown = [room for room in rooms if _exists(room)]
        step = min(BOX + 60, (WIDTH - LEFT - 20) / max(1, len(shown)))
        top = 24 + row * BAND
        if title:
            parts.append(f'<text class="band" x="14" y="{top + 24}">{escape(title)}</text>')
        for number, room in enumerate(shown):
            places[room] = (LEFT + number * step, top)
    lines = []
    for above, below in sorted(_reduced(set(counts))):
        if above in places and below in places:
            (x1, y1), (x2, y2) = places[above], places[below]
            x1, x2 = x1 + BOX / 2, x2 + BOX / 2
            if y1 == y2:  # beside each other: an arc below
                y1 = y2 = y1 + HEIGHT
                path = f"M{x1:.0f},{y1} C{x1:.0f},{y1 + 26} {x2:.0f},{y2 + 26} {x2:.0f},{y2}"
            else:
                y1 += HEIGHT
                path = f"M{x1:.0f},{y1} C{x1:.0f},{y1 + 34} {x2:.0f},{y2 - 34} {x2:.0f},{y2}"
            title = f"{above} imports {below}"
            lines.append(f'<path class="import" d="{path}"><title>{title}</title></path>')
    for room, (x, y) in places.items():
        parts.append(
            f'<rect class="room" x="{x:.0f}" y="{y}" width="{BOX}" height="{HEIGHT}" rx="6"/>'
            f'<text class="name" x="{x + BOX / 2:.0f}" y="{y + 19}">{room}</text>'
        )
    height = 24 + len(BANDS) * BAND
    return "\n".join((
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}">',
        "<title>The rooms of told's source; imports go down</title>",
        f"<style>{STYLE}</style>",
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
        *lines, *parts, "</svg>\n",
    ))  # fmt: skip


def _exists(room: str) -> bool:
    return (SOURCE / room).is_dir() or (SOURCE / f"{room}.py").exists()


def _reduced(pairs: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """Leave out imports that a path through other rooms implies."""
    pairs = {(one, two) for one, two in pairs if LEVEL[one] < LEVEL[two]}
    below = {room: {two for one, two in pairs if one == room} for room in LEVEL}

    def reaches(start: str, goal: str) -> bool:
        return goal in below[start] or any(reaches(room, goal) for room in below[start])

    return {
        (one, two) for one, two in pairs if not any(room != two and reaches(room, two) for room in below[one])
    }


if __name__ == "__main__":
    PICTURE.write_text(draw(), encoding="utf-8")
