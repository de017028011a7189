"""The words by which people say what a thing is, and that it is over, in several languages."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _pairs(text: str) -> frozenset[tuple[str, str]]:
    found = [one.split() for one in text.replace("\n", "/").split("/") if one.strip()]
    return frozenset([(first, second) for first, second in found])


BREAK = ","
PAUSES = frozenset((BREAK, ":"))
ARROWS = frozenset(("→", "->", "=>"))
ARTICLES = _words("""
the a an our any all more other der die das den dem unser unsere le la les l el los las un una une o os as
""")
NOW = _words("now jetzt maintenant désormais ahora agora nun today")
EVER = _words("ever always forever immer siempre toujours sempre all alle")
# What stands between a subject and what is said of it.
IS = _words("is are means was were ist sind est sont es son é são :")
IS_ONE = _words("is ist est :")
BY = _words("""
by with through via uses use using over mit per über nutzt nutzen avec par con com usa usan usam por
""")
_TO = _words("to à au aux auf zu zum zur in im en dans into onto em na for on")
_VERBS = _words("""
goes go runs run live lives come comes läuft laufen kommt kommen geht gehen van va corre corren tourne
tournent listens stays sit sits kept made built done liegt liegen written
""")
MOVES = _words("""
switch switched switching move moved moves moving migrate migrated migrates migrating change changed changing
port ported porting wechseln gewechselt wechsel umgestiegen umstieg umgezogen migré migrons passe passé
passent passons passage repasse bascule basculons pasa pasan pasó pasamos cambiamos migramos mudamos trocamos
""")
TURNS = IS | BY | _TO | _VERBS | MOVES
DONE = ("ed", "iert")  # how what is done to a thing ends
# What stands right before a name that is let go of.
NO = _words("""
no not never drop drops dropped dropping ditch ditched remove removed removes kein keine keinen keiner nicht
nie ohne sans jamais sin sem nunca nem ni ningún ninguna nenhum nenhuma não
""")
FOR = _words("""
left quit replace replaces replaced replacing retire retired retires than statt anstatt ersetzt ersetzen
löst remplace remplaçons remplacé reemplaza reemplazamos sustituye substitui substituímos adiós adieu goodbye
""")
INSTEAD = _pairs("""
instead of / no more / rid of / away from / gave up / give up / threw out / anstelle von / plus de / plus d
lieu de / lieu du / lieu d / vez de / lugar de / saímos do / saímos da
""")
FROM = _words("from von vom de desde do da del du")
# What follows it.
GONE = _words("""
gone dropped removed retired dead history deprecated replaced abandoned obsolete cancelled canceled ripped
killed raus weg abgelöst ersetzt abgeschafft abgeschaltet entfernt gestrichen geschichte tot supprimé
supprimée abandonné abandonnée fini finie terminé disparu disparaît dégage remplacé remplacée eliminado
eliminada fuera retirado retirada descartado descartada abandonado acabou removido removida saiu desaparece
""")
NO_LONGER = _pairs("""
no longer / is out / are out / thrown out / ripped out / phased out / is off / are off / switched off /
turned off / shut down / is over / are over / nicht mehr / ya no / est plus
""")
BACK = _words("""
again back wieder zurück retour revient revenons revenir volvemos vuelta regresamos voltamos volta nouveau
nuevo novamente
""")
BECAUSE = _words("since because weil denn car puisque porque pois")
CLAUSES = PAUSES | BECAUSE
AFTER_NO = CLAUSES | _words("and or und oder et ou y o e anymore any mehr")
# What is said of a name that is blamed.
FAILED = _words("""
could couldnt cannot cant was were had lost broke ate ran took made kept did didnt doesnt hung cost konnte
konnten war waren hatte hatten verlor kam ging ne não
""")
FAILED_ENDS = tuple(_words("ed ait aient ía ían aba aban ava avam iam ou ó te ten"))
ONLY = _words("only nur seulement uniquement solo sólo solamente só apenas")
LIMITS = _words("in for inside within under für im unter dans pour para en em on at")
