"""The words by which agents say that something is left to do, ask the user, or only speak politely.

A line is one expression; they are matched with straight apostrophes, and in any case.
"""

from __future__ import annotations

from told.snapshot import IGNORECASE, pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

# A line of its own, or what stands before a colon: what follows is still to be done.
_HEADING = r"""
(?:suggested |recommended |possible |proposed |the |some )?next steps?
what(?:'s| is) (?:next|left|missing|still open)
(?:what )?(?:still )?remain(?:s|ing)?(?: (?:work|tasks?|items?|steps?|todos?))?
still (?:to do|open|missing|pending|left)
to[ -]?dos?
left to do
not (?:yet )?(?:done|implemented|covered|finished)(?: yet)?
open (?:items|points|tasks|work|ends|todos)
outstanding(?: \w+)?
follow-?ups?
pending(?: \w+)?
nächste schritte
noch (?:offen|zu tun)
offen(?:e punkte)?
ausstehend
prochaines étapes
(?:il )?reste à faire
à faire
próximos pasos
pendientes?
falta(?: por hacer)?
próximos passos
下一步
待办
剩余
未完成
次のステップ
残り(?:の作業)?
"""
_LEFT = r"""
\bnext steps? (?:is|are|would|will)\b
\bthe next (?:thing|task|step|piece|part|commit|pr)\b
\bnext,? (?:i|we)(?:'ll| will| need| should| have| can| am|'m)\b
\bstill (?:needs?|missing|fails?|failing|open|pending|broken|left|to do|to be|outstanding|red)\b
\bstill (?:has|have) to\b
\b(?:is|are|has|have|was|were)(?: not|n't)(?: been)? (?:yet|done|implemented|tested|wired|migrated)\b
\b(?:is|are|has|have|was|were)(?: not|n't)(?: been)? (?:covered|handled|verified|run|fixed|finished)\b
\b(?:is|are|has|have|was|were)(?: not|n't)(?: been)? (?:started|updated|committed|pushed|deployed)\b
\bhave(?: not|n't) (?:run|tested|verified|checked|touched|finished|updated|migrated|committed|pushed)\b
\bnot yet\b
(?:\bnot|n't)(?: been)? \w+ yet\b
\byet to (?:be|do)\b
\bremains? (?:to|open|unfixed|undone)\b
\bremaining(?: \w+){0,3}:
\bremaining (?:work|steps?|tasks?|items?|todos?|issues?|failures?|problems?|pieces?|parts?)\b
\bleft (?:to do|undone)\b
\b(?:needs? to|must|to) be (?:done|implemented|tested|migrated|fixed|added|updated|decided|run)\b
\btodo\b
\bdid(?: not|n't) (?:run|test|verify|check|touch|finish|get|update|migrate|commit|push)\b
\b(?:i|we) (?:could(?: not|n't)|(?:was|were|am)(?: not|n't) able to|(?:was|were|am) unable to)\b
\b(?:i|we) (?:cannot|can't) (?:run|test|verify|push|access|reach|install|check)\b
^\W*(?:could(?: not|n't)|unable to)\b
\bblocked (?:on|by)\b
\bwaiting (?:for|on)\b
\byou(?:'ll| will)? (?:still )?(?:need|have) to\b
\bnoch (?:nicht|offen|zu|fehlt|fehlen)\b
\b(?:fehlt|steht) noch\b
\bpas encore\b
\b(?:il )?reste à\b
\btodavía (?:no|falta)\b
\bfaltan?\b
\baún no\b
\bainda (?:não|falta)\b
还没|尚未|未完成|下一步|まだ|残って
"""
_NOTHING = r"""
\b(?:no|nothing|none|without|zero|0)(?: \w+){0,2} (?:remain\w*|left|missing|pending|outstanding|open|todo)\b
\b(?:no|nothing|none)(?: \w+){0,3} needs? to be\b
\bno longer\b
\bremaining [\w ]{1,40}\b(?:pass\w*|succeed\w*|work|are (?:done|green|fixed))\b
\bnothing (?:else|remains)\b
\bnichts mehr\b
\bkeine? \w+ mehr\b
\brien (?:ne|à)\b
\bnada (?:más|por)\b
"""
# Politeness, and offers that bind nobody.
_OFFERS = r"""
let me know
feel free
if (?:you|there|that|this|so|it)\b
(?:i(?:'m| am) |i(?:'d| would) be )?(?:happy|glad|ready) (?:to|for|when)
just (?:say|ask|tell)
tell me
say the word
(?:sag|falls|wenn du)\b
n'hésite
si (?:tu|vous|quieres)\b
avísame
"""
# Questions that only offer to do more.
_OFFERED = r"""
(?:would|do) you (?:like|want)(?: me)? to\b
(?:do you )?want me to\b
(?:shall|should|can|may|could) i (?:also|go ahead|proceed|continue|commit|push|open|now)\b
(?:soll|möchtest) (?:ich|du)\b
(?:veux-tu|voulez-vous|quieres que|quer que)\b
"""
# Questions that belong to no work.
_SMALL_TALK = r"""
(?:how|what|where|which)\b[^?]{0,20}\b(?:can|may|should|shall|could) (?:i|we)\b[^?]{0,20}\b(?:help|assist)\b
(?:how|what|where|which)\b[^?]{0,20}\b(?:do|would|will) you\b[^?]{0,12}\b(?:like|want|need)(?: me)?(?: to)?
what should (?:i|we) (?:do|work on|tackle|start with)
what(?:'s)? next
anything (?:else|more)
(?:is|was) there anything
need anything
(?:does|did|is) (?:that|this|it) (?:help|work for you|make sense|okay?|fine|clear|what you)
sounds? good
make sense
(?:all )?(?:right|okay|ok|good)
any (?:other )?questions
womit kann ich
wie kann ich
sonst noch
comment puis-je
autre chose
(?:en qué|cómo) puedo
algo más
como posso
"""
# What an agent says before it does something; a promise for all time is none.
_NARRATING = r"""
(?:now |next,? |then )?i(?:'ll| will) (?!remember|keep|note|be\b|wait|use|always|never|make sure|avoid|stop)
(?:now |next,? |first,? |then )?(?:i(?:'m| am) going to|let me|let's)\b
(?:now )?(?:running|checking|looking|reading|updating|adding|fixing|writing|moving on) (?!\w+ (?:is|was))
ich (?:werde|prüfe|schaue)\b
lass mich\b
je vais\b
voy a\b
vou\b
我来|让我|我将
"""


def _any(lines: str, form: str = "{}") -> re.Pattern[str]:
    return pattern(form.format("|".join(lines.strip().splitlines())), IGNORECASE)


HEADING = _any(_HEADING, "(?:{})")
LEFT = _any(_LEFT)
NOTHING_LEFT = _any(_NOTHING)
OFFER = _any(_OFFERS, r"\W*(?:{})")
OFFERED = _any(_OFFERED, r"\W*(?:{})")
SMALL_TALK = _any(
    _SMALL_TALK, r"\W*(?:(?:so|and|hi|hello|hey|okay|great|well|now)\b\W*)*(?:{})[^?]{{0,60}}\?+\W*"
)
NARRATION = _any(_NARRATING, r"\W*(?:{})")
