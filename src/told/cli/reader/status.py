"""Say which reader is on, or how to turn one on."""

from __future__ import annotations

from told.cli.context import Context
from told.errors import ToldError

READER_HINT = (
    "No reader is on, so told keeps only what you say explicitly."
    " `told config set reader.mode agent` lets your agent read finished sessions."
)


def describe_reader(context: Context) -> str:
    """Say in one line which reader is on, what it used today, and why its last call failed."""
    settings = context.settings
    if not settings.reads_sessions:
        return READER_HINT if settings.learn else "Learning is off."
    from told.reader.ledger import Ledger  # noqa: PLC0415 - only with a reader
    from told.reader.models import open_reader  # noqa: PLC0415

    try:
        reader = open_reader(settings, context.environ)
    except ToldError as error:
        return f"Reader: {error}"
    ledger = Ledger(context.home, settings.reader_daily_tokens)
    used = f"{ledger.today(context.now).tokens:,} of {settings.reader_daily_tokens:,} tokens today"
    problem = ledger.last_problem()
    failed = f"; the last call failed: {problem}" if problem else ""
    return f"Reader: {reader.title if reader else settings.reader_mode}, {used}{failed}"
