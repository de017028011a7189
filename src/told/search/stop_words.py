"""Words that say nothing about what is looked for."""

from __future__ import annotations

_ENGLISH = """
a about above after again against all am an and any are as at be because been before being below between
both but by can cannot could did do does doing done down during each either else ever every few for from
further had has have having he her here hers herself him himself his how i if in into is it its itself just
me might more most must my myself neither no nor not now of off on once one only or other ought our ours
ourselves out over own per quite rather same shall she should since so some such than that the their theirs
them themselves then there these they this those though through thus to too under until up upon us very was
we were what whatever when where whether which while who whom whose why will with within without would yet
you your yours yourself yourselves also many much get gets got getting let us please tell remind know im ive
dont didnt doesnt cant wont isnt
"""

# Words that are something else in English (die, war, pour, son, con, todo, os, mit) are left out.
_GERMAN = """
aber als auch auf aus bei bis da dann dass dem den der des dich dir du ein eine einem einen einer eines er
es habe haben hatte ich ihm ihn ihr im ist kann kein keine mein meine mich mir nach nicht noch nur oder ob
sich sie sind soll um und uns unser vom von vor warum wegen weil welche wenn wer werden wie wieder wir wird
wo wurde zu zum zur ueber über
"""
_FRENCH = """
au aux avec avons ce ces cette dans de du elle elles est et étaient était ete été eu fait il ils je la le
les leur lui ma mais mes moi mon même ne nos notre nous ont ou où par pas que quel quelle qui sa ses sont
sur ta te tes tu un une vos votre vous pourquoi quand
"""
_SPANISH = """
al algo como cómo cual cuando cuándo de del donde dónde el ella ellos en era es esa ese eso esta está este
esto fue ha hay hemos hizo la las le lo los más mi muy nos nosotros para pero porque por qué que quien se
según si sobre su sus también te tiene un una uno unos y ya yo
"""
_PORTUGUESE = """
ao aos às até com da das de dele dela depois dos e ela ele em entre era essa esse esta este eu foi há isso
isto já mais mas meu minha na não nas nem nos nós o onde ou para pela pelo por porque qual quando que quem
se sem seu são só sua também tem tinha um uma você
"""

STOP_WORDS = frozenset((_ENGLISH + _GERMAN + _FRENCH + _SPANISH + _PORTUGUESE).split())

# What is left of don't, we're, they'll … behind the apostrophe.
CONTRACTIONS = frozenset(("d", "ll", "m", "re", "s", "t", "ve"))

# What stands before the apostrophe of l'index, d'abord, qu'elle.
ELISIONS = frozenset(("c", "d", "j", "l", "m", "n", "qu", "s", "t"))

# Parts that most addresses and paths have.
ADDRESS_WORDS = frozenset(("com", "home", "http", "https", "org", "users", "usr", "www"))
