"""Transactions larger than the index buffer."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import apsw
from told.search.index_text import make_extra_words, make_near_words
from told.store.sessions import write
from told.store.sessions.schema import migrate
from told.store.sessions.schema import find_damage

db = apsw.Connection(":memory:")
assert migrate(db)
write.INDEX_BUFFER = 100_000
db.execute("INSERT INTO turn_words(turn_words, rank) VALUES('hashsize', 100000)")
writer = write.SessionWriter(db, make_extra_words, make_near_words)
for _ in range(2):
    with writer.transaction():
        session = writer.session("codex", "one") or writer.new_session("codex", "one")
        texts = [" ".join(f"w{n}x{m}" for m in range(50)) for n in range(2000)]
        turns = [
            write.TurnText(n, 1_700_000_000_000 + n * 1000, "", one, "", "") for n, one in enumerate(texts)
        ]
        writer.put_turns(session, turns, replace=True)
        writer.close_session(session.id, len(turns), "")
        writer.place_session(session.id, 1, "")
found = db.execute("SELECT count(*) FROM turn_words WHERE turn_words MATCH 'w1999x49'").fetchall()
print(found, find_damage(db))
"""


def test_large_session_is_written_in_one_transaction() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False, timeout=120
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("[(1,)]")
