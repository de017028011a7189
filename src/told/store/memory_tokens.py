"""Words as the full-text index of memories knows them."""

from __future__ import annotations

import apsw

from told.guard.text import without_placeholders

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

TOKENIZER = "porter unicode61 remove_diacritics 2"


def tokens_with(connection: apsw.Connection) -> Callable[[str], list[str]]:
    """Return what takes a text apart as the index of this database does, but for what stands for secrets."""
    name, *arguments = TOKENIZER.split()
    tokenizer = connection.fts5_tokenizer(name, arguments)

    def tokens(text: str) -> list[str]:
        found: list[str] = tokenizer(  # type: ignore[assignment]
            without_placeholders(text).encode("utf-8", "replace"), apsw.FTS5_TOKENIZE_DOCUMENT, None,
            include_offsets=False, include_colocated=False,
        )  # fmt: skip
        return found

    return tokens
