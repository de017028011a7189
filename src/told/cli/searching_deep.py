"""`told search --deep`: a model of the user's looks at the first results again."""

from __future__ import annotations

from told.errors import MissingError
from told.record import replaced
from told.search.excerpt import excerpt
from told.search.rank import grouped
from told.search.reranker import Reranker, reranked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.cli.context import Context
    from told.search.rank import Ranked
    from told.search.sessions import Found

_ASKED, _ANSWERED = 400, 800  # characters that such a model reads, around the words that were searched for


def reranker_of(context: Context) -> Reranker:
    """Return the user's model for a second look.

    Raises:
        MissingError: there is none, or it cannot be used.
    """
    folder = context.settings.reranker
    if not folder:
        raise MissingError(
            "--deep needs a model of yours that looks at results again: `told config set reranker FOLDER`."
            " docs/models.md says which."
        )
    return Reranker(folder)


def looked_at_again(context: Context, model: Reranker, found: Found, question: str, limit: int) -> Found:
    """Return what was found, in the order of both looks."""

    def text_of(hit: Ranked) -> str:
        turn = context.reading.turn(hit.session, hit.n)
        texts = ((turn.asked, _ASKED), (turn.answered, _ANSWERED)) if turn else ()
        return "\n".join(excerpt(text, found.query.words, room)[0] for text, room in texts if text)

    turns = reranked(found.turns, text_of, lambda texts: model.scores(question, texts))
    return replaced(found, turns=tuple(turns), sessions=tuple(grouped(turns, limit)))
