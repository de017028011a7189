"""Makes a store as the present version does, for the tests of later ones: `python -m tests.store.older`.

Run it before `VERSION` grows: what a later told makes of the file shows whether a user's store lives on.
"""

from __future__ import annotations

import gzip
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from told.store.sessions.schema import VERSION

if TYPE_CHECKING:
    from tests.ingest.box import Box

STORES = Path(__file__).parents[1] / "data" / "stores"


def stored(version: int) -> Path:
    """Return where the store of a version is, compressed."""
    return STORES / f"sessions-{version}.db.gz"


def history(box: Box) -> None:
    """Write two sessions with what sessions have: a title, a file, a ref, a note, a bad line."""
    first = box.claude("first").title("The port of the gateway")
    first.turn("Which port does the gateway use?", "It listens on 8443.")
    first.tool("Edit", file_path="/gone/shop/gateway.py")
    first.turn("Never open a second one.", "Noted, see https://github.com/acme/shop/pull/7")
    first.compacted("What was done about the gateway: it has one port.").write()
    second = box.claude("second").turn("Why is the zebra crossing slow?", "The query has no index.")
    with second.write().open("a") as file:
        file.write('{"type":"user", broken\n')


def main() -> int:
    """Write the store of the present version."""
    from tests.ingest.box import Box

    with tempfile.TemporaryDirectory() as folder:
        box = Box(Path(folder))
        history(box)
        box.index()
        connection = apsw.Connection(str(box.store))
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        connection.close()
        stored(VERSION).write_bytes(gzip.compress(box.store.read_bytes(), mtime=0))
    return 0


if __name__ == "__main__":
    sys.exit(main())
