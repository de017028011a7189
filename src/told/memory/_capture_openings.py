"""The words that a sentence begins with, by what they say about it."""

from __future__ import annotations

from told.memory._capture_plain import spellings
from told.snapshot import kept

# A sentence that begins with one of these asks for work that is done once.
_TASK_VERBS_WORDS = """
add address adjust analyse analyze apply ask build bump check clean close combine commit compare compile
complete consider continue convert copy create debug delete deploy describe diagnose display do document
draft drop edit enable evaluate examine execute expand explain explore extract fetch figure fill find
finish fix format generate get give go help hide identify implement import improve include increase
initialize insert inspect install integrate investigate launch list load look merge migrate modify move
open optimize organize pinpoint place plan prepare proceed provide publish pull push put read rebase
recheck redo refactor reindex remove rename reorganize replace report reproduce rerun research reset
resolve restart restore revert review rewrite run scan search see send set setup show simplify split
stage start stash suggest summarize swap take tell test triple trim try tweak undo uninstall update
upgrade validate verify view walk write baue behebe erkläre erstelle füge finde gib implementiere lies
lösche mach mache prüfe schau schreibe starte teste zeig zeige öffne ändere entferne affiche ajoute
ajoutes analyse améliore change commence continue corrige crée cree déplace enlève enleve explique fais
faites génère installe lance liste lis mets modifie montre ouvre passe propose refais regarde relance
remplace reprends reviens scanne supprime termine vérifie écris agrega añade actualiza analiza abre
arregla borra busca cambia comprueba continua continúa corrige crea dame dime elimina elimínalo ejecuta
encuentra escribe explica explícame genera haz hazlo instala intenta lanza lee mira modifica mueve
muestra pon prueba quita refactoriza revisa sube termina verifica adicione analise altere atualize
busque corrija crie delete encontre escreva explique execute faça gere instale mostre mova mude procure
remova renomeie rode teste verifique veja dodaj usuń sprawdź napraw zrób stwórz zmień uruchom
"""
TASK_VERBS = kept(
    "told.memory._capture_openings:task_verbs",
    lambda: frozenset(spellings(" ".join(_TASK_VERBS_WORDS.split()), " ")),
)

# A sentence that begins with one of these more often says how work is done here.
_POLICY_VERBS_WORDS = """
always avoid call ensure favor favour follow keep leave limit maintain name never only periodically
prefer preserve remember respect restrict stick stop store target treat use benutze nutze verwende halte
vermeide nenne behalte utilise utilisez garde gardez évite évitez respecte préfère privilégie nomme usa
usad usar utiliza mantén mantener evita prefiere respeta use utilize mantenha evite prefira siga używaj
unikaj trzymaj
"""
POLICY_VERBS = kept(
    "told.memory._capture_openings:policy_verbs",
    lambda: frozenset(spellings(" ".join(_POLICY_VERBS_WORDS.split()), " ")),
)

# Openings that carry no meaning of their own.
FILLERS = (
    "ok", "okay", "okey", "k", "mmk", "mmmk", "yes", "yeah", "yep", "yup", "no", "nope", "nah", "hmm", "hmmm",
    "uh", "uhh", "uhhh", "um", "oh", "ah", "well", "so", "btw", "by the way", "also", "and", "but", "however",
    "dude", "man", "great", "perfect", "nice", "cool", "thanks", "thank you", "good", "right", "sure", "hey",
    "hi", "hello", "actually", "please", "fyi", "note", "remember", "important", "plus", "then", "anyway",
    "wait", "sorry", "look", "listen", "oops", "again", "really", "tbh", "honestly", "wth", "moreover",
    "unfortunately", "finally", "additionally", "ja", "nein", "aber", "und", "bitte", "übrigens", "danke",
    "achtung", "super", "gut", "oui", "non", "bon", "ben", "donc", "mais", "et", "alors", "merci", "en fait",
    "d'accord", "du coup", "cependant", "par ailleurs", "sí", "si", "no no", "vale", "bueno", "pero", "y",
    "gracias", "ojo", "entonces", "sim", "não", "mas", "e", "então", "obrigado", "obrigada", "por favor",
    "tak", "nie", "ale",
)  # fmt: skip

# A sentence that begins with one of these lays down a rule.
_ABSOLUTE_WORDS = "never always niemals immer jamais nunca siempre sempre nigdy zawsze"
ABSOLUTE = frozenset(_ABSOLUTE_WORDS.split())
