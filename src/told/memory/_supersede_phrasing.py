"""How a message is phrased, seen from an old statement: its small words, with what it shares and brings."""

from __future__ import annotations

from told.memory._supersede_counts import digits_of, is_number
from told.memory._supersede_grammar import STANDS_FOR
from told.search.kinship import SLOTS, VALUES
from told.search.tokens import BREAKS, key_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from told.memory._supersede_read import Reading

_ASKING = frozenset("?!")
_MOST = 40  # words; what follows seldom tells how the message began


def phrasing(old: Reading, new: Reading, forms: Mapping[str, str]) -> set[str]:
    """Return the small words of a message, and its others as what they are to the old statement.

    S stands for what both say, s for a word that many share, V for another choice, X for what is new; #=, #!
    and # for the same number, another one and a first one.

    Args:
        old: The old statement.
        new: The message.
        forms: Words of the message that are forms of an old one.
    """
    values = frozenset().union(*old.values.values(), *old.rejected.values())
    slots = old.values.keys() | old.rejected.keys()
    numbers = {count.digits for count in old.counts}
    found = set()
    for token in new.text.split()[:_MOST]:
        if token in STANDS_FOR:
            found.add(STANDS_FOR[token])
        elif token in _ASKING:
            found.add(token)
        elif token in BREAKS:
            continue
        elif is_number(token):
            found.add("#=" if digits_of(token) in numbers else "#!" if numbers else "#")
        elif VALUES.get(token, token) in values:
            found.add("S")
        elif any(slot in slots for slot in SLOTS.get(token, ())):
            found.add("V")
        else:
            key = key_of(token)
            weight = old.words.get(forms.get(key, key))
            found.add(("/" if "/" in token else "X") if weight is None else "S" if weight >= 1 else "s")
    return found
