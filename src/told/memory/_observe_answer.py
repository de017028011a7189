"""Finds the sentences of an agent's closing answer that say what was done or found out."""

from __future__ import annotations

from told.memory._observe_words import any_of
from told.snapshot import IGNORECASE, pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_FENCE = pattern(r"^\s*(?:```|~~~)")
_MARKS = pattern(r"^\s*(?:#{1,6}\s+|[-*+•]\s+|\d{1,3}[.)]\s+|>\s*)+")
# How a sentence begins that only says what comes next …
_NARRATES = """
i'll i_will i'm_going_to i_am_going_to let_me let's now_i now_let next_i next,_i first_i
first,_i running checking looking reading ich_werde lass_mich ich_prüfe ich_schaue je_vais voy_a
déjame vou deixe 我来 让我 我将
"""
# … or that is polite, or speaks to the user.
_POLITE = """
sure great perfect excellent absolutely certainly of_course you're_right you're_welcome sorry
apologies i_apologize thanks thank_you good_catch good_point good_question got_it okay ok
alright understood happy_to glad feel_free let_me_know please if_you would_you do_you shall_i
should_i want_me you_can you_may note_that next_step next_steps here's here_is here_are summary
klar gerne entschuldigung danke wenn_du falls sag bien_sûr désolé merci si_tu si_vous n'hésite
n'hésitez claro perdón gracias si_quieres avísame desculpe obrigado se_quiser me_avise 好的 抱歉 如果
はい すみません
"""
# A word that says what was done or found; one that ends in * goes on with any letters.
_TELLS = """
added adds fixed fixes created creates renamed renames updated updates removed removes changed
changes implemented implements refactored moved moves replaced replaces extracted introduced
migrated deleted rewrote rewritten converted wrote written bumped upgraded configured enabled
disabled split merged reverted wired resolved cause caused causes because found turns_out
turned_out no_longer is_now are_now now_uses now_handles now_returns now_works now_has now_reads
now_writes was_missing were_missing pass passes passed committed pushed done hinzugefügt behoben
geändert erstellt umbenannt entfernt ersetzt aktualisiert verschoben angepasst ursache ajouté*
corrigé* créé* renommé* supprimé* modifié* remplacé* déplacé* mis_à_jour añadid* agregad*
agregué añadí corregid* corregí creado* creada* creé renombrad* eliminad* actualizad* actualicé
cambié cambiad* adicionad* adicionei corrigid* corrigi criado* criada* criei renomead* renomeei
removid* removi atualizad* atualizei alterad* alterei
"""


_NARRATION = pattern(rf"{any_of(_NARRATES)}(?![a-z])", IGNORECASE)
_POLITENESS = pattern(rf"{any_of(_POLITE)}(?![a-z])", IGNORECASE)
_NEWS = pattern(rf"\b{any_of(_TELLS)}\b|已|修复|添加|更新|重命名|しました|修正|追加", IGNORECASE)
_END_WIDE = "\u3002\uff01\uff1f"  # full stop, exclamation and question mark of Chinese and Japanese
_SENTENCE = pattern(
    rf"[^.!?{_END_WIDE}]*(?:[.!?](?!\s|$)[^.!?{_END_WIDE}]*)*(?:[.!?]+(?=\s|$)|[{_END_WIDE}]+|$)"
)
_QUESTION_WIDE = "\uff1f"
_TOO_LONG = 2_000
_SHORTEST = 12  # bytes, which do justice to languages that need few characters


def telling(answer: str, width: int, *, of_work: bool = False) -> str:
    """Return the exact words of the first sentences that say what was done; nothing where none does.

    Args:
        answer: What the agent said at last.
        width: At most so many characters.
        of_work: Something was changed before: then whatever it says first is about that.
    """
    chosen = ""
    paragraphs = list(_paragraphs(answer))
    last_plan = max((at for at, words in enumerate(paragraphs) if _narrates(_straight(words))), default=-1)
    for paragraph in paragraphs[last_plan + 1 :]:
        end = 0
        for found in _SENTENCE.finditer(paragraph[:_TOO_LONG]):
            sentence = found.group().strip()
            if not sentence:
                continue
            if chosen:
                # What comes next belongs to it only if it follows at once and says something, too.
                between = paragraph[end : found.end()]
                if len(chosen) + len(between) > width or not _says(sentence, of_work=of_work):
                    return chosen
                chosen += between.rstrip()
            elif _says(sentence, of_work=of_work):
                chosen = sentence
            end = found.end()
        if chosen:
            return chosen
    return ""


def _narrates(paragraph: str) -> bool:
    return _NARRATION.match(paragraph) is not None and not _POLITENESS.match(paragraph)


def _says(sentence: str, *, of_work: bool) -> bool:
    return (
        len(sentence.encode("utf-8", "replace")) > _SHORTEST
        and not sentence.endswith(("?", _QUESTION_WIDE, ":"))
        and not _POLITENESS.match(_straight(sentence))
        and (of_work or _NEWS.search(sentence) is not None)
    )


def _straight(sentence: str) -> str:
    """Return a sentence without marks before it, and with the apostrophe that a keyboard has."""
    return sentence.lstrip("*_` ").replace("\u2019", "'")


def _paragraphs(answer: str) -> Iterator[str]:
    """Yield the lines of prose, without code, tables and the marks of lists and headings."""
    in_code = False
    for line in answer.splitlines():
        if _FENCE.match(line):
            in_code = not in_code
        elif not in_code and (words := _MARKS.sub("", line).strip()) and not words.startswith("|"):
            yield words
