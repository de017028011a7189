"""Which prompts need nothing that is remembered: thanks, general questions, work on the text at hand."""

# ruff: noqa: RUF001 - words and signs of many languages are the subject
from __future__ import annotations

from told.search.unspaced import is_unspaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_CHAT_WORDS = """
thanks thank thx ty cheers great nice good perfect cool awesome wonderful lovely ok okay yes yep yeah no
nope sure fine done bye hello hi hey morning evening night welcome sorry please you looks look works
worked well very so much that's thats it's its it is that this all for today now then lgtm go ahead
continue proceed on keep going correct right exactly agreed got understood i see us a lot tomorrow later
the we are do danke dankeschön super prima passt gut sehr bitte ja nein weiter genau alles klar tschüss
hallo moin für heute das war's wars ist schön toll merci bien parfait oui non salut bonjour génial très ça
marche beaucoup gracias perfecto vale sí si hola muchas genial listo obrigado obrigada valeu perfeito sim
olá beleza ótimo muito tudo certo funciona funktioniert job work stuff one sweet neat wow yay excellent
fantastic brilliant amazing alright appreciated nicely sounds kudos bravo love dank vielen besten merci
"""
_CHAT = frozenset(_CHAT_WORDS.split())
_THANKS_WORDS = """
thanks thank thx ty ta cheers danke dankeschön dank merci gracias obrigado obrigada valeu grazie bedankt tack
takk tak kiitos dzięki dziękuję díky děkuji ďakujem hvala köszi köszönöm mulțumesc teşekkürler ευχαριστώ
спасибо дякую благодаря shukran shukriya dhanyavaad asante arigato arigatou salamat kamsahamnida
"""
_THANKS = frozenset(_THANKS_WORDS.split())
_WHOLE_THANKS = 4  # words
_CHAT_UNSPACED = ("谢谢", "好的", "很好", "可以了", "ありがとう", "了解", "オッケー", "お疲れ")
# What is asked of the world and not of this project.
_MEANS = (
    "what does", "what do", "what is", "what's", "whats", "what are", "what was", "explain what",
    "was heißt", "was bedeutet", "was ist", "was macht", "was sind", "wofür steht", "que signifie",
    "c'est quoi", "qu'est-ce que", "que veut dire", "qué significa", "que significa", "qué es",
    "o que é", "o que significa", "what’s", "define", "definition of", "meaning of", "how does",
    "was bewirkt", "what would", "why is it called", "wie funktioniert", "comment fonctionne",
    "cómo funciona", "como funciona", "explain", "erkläre", "erklär mir", "explique", "explica",
)  # fmt: skip
# These also begin questions about a project.
_OPEN = frozenset((
    "what is", "what's", "whats", "what are", "was ist", "was sind", "how does", "what was", "explain",
    "erkläre", "erklär mir", "explique", "explica", "wie funktioniert", "comment fonctionne", "cómo funciona",
    "como funciona",
))  # fmt: skip
_MEANS_ENDS = (" mean", " stand for", " do", " means", " short for", " für", " steht", " bedeutet", " does")
_MEANS_UNSPACED = ("是什么意思", "是什么", "什么是", "とは", "って何", "の意味")
_OUR_WORDS = """
we our us here this my repo project these those unser unsere wir hier dieses diese notre nos nous ici nuestro
nuestra aquí nosso nossa aqui days currently still again go put live run use used keep
"""
_OURS = frozenset(_OUR_WORDS.split())
# Work on what stands in the prompt or on the screen: any agent can do it without knowing the project.
_SMALL = (
    " typo", " tippfehler", " rechtschreibfehler", " faute de frappe", " errata", " misspell",
    " spelling mistake", " better name for", " a better name", " another name for", " besserer name",
    " besseren namen", " un meilleur nom", " mejor nombre", " nome melhor", " rename this variable",
    " a regex", " regex for", " regex that", " regexp for", " regular expression",
    " regulären ausdruck", " expression régulière", " expresión regular", " expressão regular",
    " markdown table", " into a table", " as a table", " into a list", " bullet list", " to decimal",
    " to hex", " in hex", " to binary", " in dezimal", " to json", " to yaml", " sort this list",
    " sort these", " alphabetically", " alphabetisch", " translate this", " übersetze das",
    " übersetz das", " rephrase", " reword this", " shorten this", " pretty print", " pretty-print",
    " one-liner", " one liner", " ascii art", " a joke", " witz", " synonym", " what time is it",
    " haiku", " git command to", " which git command", " how do i undo", " big-o", " big o ",
    " difference between", " unterschied zwischen", " différence entre", " diferencia entre",
    " diferença entre", " convert this", " turn this", " ins englische", " leap year", " lorem ipsum",
    " cheat sheet", " add two numbers", " syntax for", " syntax of", " what's the syntax",
    " example of", " beispiel für", " exemple de", " ejemplo de", " how do i exit", " how to exit",
    " explain like", " in one sentence", " in einem satz", " who invented", " how many bytes",
    " how many seconds", " uppercase this", " lowercase this", " reverse this", " sort the following",
    " summarise this", " summarize this", " fasse das zusammen", " resume esto", " résume ce",
    " add a docstring", " rename x", " rename the variable", " rename this", " benenne die variable",
    " remove the blank", " trailing whitespace", " blank line", " leerzeile", " unused import",
    " pronounce", " capitalize", " to snake case", " to camel case", " in python?",
    " in sql?", " in bash?", " in javascript?", " in rust?", " in go?", " in c?", " shortcut for",
    " tastenkürzel für", " keyboard shortcut for", " ascii code", " epoch to", " unix timestamp to",
    " celsius to", " to celsius", " to csv format", " nicer name", " good name for", " wie nenne ich",
    " name für die variable", " how is it spelled", " wie schreibt man", " proofread", " what day is",
    " factorial", " fizzbuzz", " fibonacci", " swap two", " rename variable", " rename the parameter",
    " to something nicer", " to something better", " to something clearer", " to something shorter",
    " a nicer word", " another word for", " ein anderes wort", " un autre mot", " otra palabra",
    " bullet points", " into bullets", " as bullets", " eine aufzählung", " eine liste daraus",
    " une liste à puces", " en una lista", " em uma lista", " fix the grammar", " grammar mistake",
    " fix the indentation of this", " remove the extra comma", " missing semicolon here", " a poem",
    " a limerick", " gedicht", " un poème", " un poema", " translate the word", " translate '",
    ' translate "', " traduis", " traduisez", " traduce ", " traduz ", " übersetze '", ' übersetze "',
    " auf englisch",
    " auf deutsch heißt", " en anglais", " en inglés", " em inglês", " in plain english", " percent of ",
    " square root", " round this", " what's 2", " how do you say", " wie sagt man", " comment dit-on",
    " cómo se dice", " como se diz", " ten year old", " five year old", " like i'm five",
)  # fmt: skip
# What is asked of a language and not of a project: `how do i reverse a string`.
_HOW = (
    "how do i", "how do you", "how to", "how can i", "how would i", "what's the way to", "wie kann ich",
    "wie mache ich", "wie geht", "comment faire", "comment on", "cómo puedo", "cómo se", "como faço",
    "como se",
)  # fmt: skip
_THING_WORDS = """
string strings list lists array arrays vector vectors dict dictionary dictionaries hashmap tuple tuples enum
struct loop loops variable variables ternary lambda closure closures integer integers float boolean char chars
regex pointer pointers comment comments heredoc generator decorator promise callback switch while foreach
zeichenkette variablen schleife chaîne tableau boucle cadena arreglo bucle lista listas vetor std::vector
slice std::string std::map substring iterator numbers
"""
_THINGS = frozenset(_THING_WORDS.split())
_GENERALLY = (
    " usually?", " generally?", " in general?", " normally?", " typically?", " by convention?",
    " normalerweise?", " üblicherweise?", " en général?", " normalmente?", " geralmente?",
)  # fmt: skip
_CONVERTS = (" convert ", " umrechnen ", " rechne ", " convertis ", " convierte ", " converta ")
_STARTS_HOW = tuple(f" {start} " for start in _HOW)
_WHOLE_HOW = 10  # words
_SHORT = 6  # words
_LONG = 16  # words; a longer prompt has something of its own to say


def quiet(text: str, words: Sequence[str]) -> str:
    """Return why a prompt needs nothing, in a word; empty if it may need something."""
    if not words:
        return "empty"
    if all(word in _CHAT for word in words) or (
        is_unspaced(text[0]) and len(text) < 20 and any(word in text for word in _CHAT_UNSPACED)
    ):
        return "talk"
    if len(words) > _LONG:
        return ""
    bare = f" {' '.join(words)} "
    if _asks_for_meaning(text, bare, words):
        return "general question"
    lower = f" {text.lower().replace(' ?', '?')} "
    if any(sign in bare or sign in lower for sign in _SMALL) or (
        bare.startswith(_CONVERTS) and any(word[0].isdigit() for word in words)
    ):
        return "work on the text at hand"
    if _OURS.isdisjoint(words) and (
        any(sign in lower for sign in _GENERALLY)
        or (len(words) <= _WHOLE_HOW and bare.startswith(_STARTS_HOW) and not _THINGS.isdisjoint(words))
    ):
        return "general question"
    return ""


def is_thanks(words: Sequence[str]) -> bool:
    """Tell whether a prompt is no more than thanks, if it names nothing that is known."""
    return 0 < len(words) <= _WHOLE_THANKS and words[0] in _THANKS


def _asks_for_meaning(text: str, bare: str, words: Sequence[str]) -> bool:
    if any(sign in text for sign in _MEANS_UNSPACED if not text.isascii()):
        return len(text) < 30
    start = next((sign for sign in _MEANS if bare.startswith(f" {sign} ")), "")
    if not start or not _OURS.isdisjoint(words):
        return False
    return start not in _OPEN or len(words) <= _SHORT or bare.rstrip().endswith(_MEANS_ENDS)
