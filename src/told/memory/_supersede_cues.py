"""The turns of phrase by which people announce a change, insist, add, limit or forbid."""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    """Return the words of a table."""
    return frozenset(text.split())


def _phrases(text: str) -> tuple[str, ...]:
    return tuple(f" {line.strip()} " for part in text.strip().splitlines() for line in part.split("/"))


# Each is looked for between blanks in the lower-case text without apostrophes.
CHANGE = _phrases("""
now / from now on / from today / from here on / going forward / since yesterday / since monday
since last / since v2 / since v3 / switched / switch to / switching / moved / moved to / move to
migrated / migration to / replaced / replaces / became / was renamed / got renamed / renamed to
no longer / any more / anymore / any longer / back at / back on / from v2 on / from v3 on / want
no more / instead of / back to / bumped / bump / raised / lowered / went up / went down / dropped
got rid / ripped out / rip out / is gone / are gone / is out / is history / is dead / is over
shut down / is deprecated / we cancelled / we canceled / was cancelled / changed / change to
changed to / rewrote / rewritten / upgraded / downgraded / swapped / we decided / decided to / is live
was removed / is removed / got removed / has been removed / these days / scratch that / correction
new default / freed / ab jetzt / ab sofort / jetzt / nicht mehr / kein mehr / nur noch / umgestiegen
umgezogen / gewechselt / umgestellt / anstatt / stattdessen / künftig / zukünftig / ab heute
seit gestern / abgeschaltet / abgelöst / ersetzt / ist raus / sind raus / fliegt raus / ist weg
gibt es nicht mehr / gibts nicht mehr / ab v2 / neuerdings / geändert / ab morgen / seit montag
keine mehr / mittlerweile / inzwischen / heißt jetzt / hochgesetzt / désormais / maintenant / dorénavant
à partir de / on est passé / passé à / passe à / plus de / ne plus / migré / remplacé / au lieu de
plutôt que / on a changé / ahora / a partir de ahora / ya no / cambiamos / cambiado / migramos
en vez de / en lugar de / desde hoy / desde ayer / pasamos a / hemos pasado / dejamos / lifted / ported
new law / by law / beschlossen / besteht auf / took over / takes over / übernimmt / was a mistake
for good / from may / from june / from january / from next / ab 2025 / ab 2026 / ab 2027 / doch wieder
subiu / baixou / gibts nicht / gibt es nicht / brauchen wir nicht mehr / not needed / arent needed
isnt needed / agora / a partir de agora / mudamos / em vez de / não mais / acabou / trocamos
passamos a / deixamos
""")
# These only hint at a change: they count where a value differs as well.
HINT = _phrases("""
since / seit / depuis / desde / wants / insists / says / decided / it is / doch / wieder / dont need
dont have to / no need / neednt / musst nicht / nobody / everyone may / actually / instead / left
starting / finished / veut / exige / quiere / verlangt / will nur / gilt / nun / statt / passe / sube
baja / retired / raise / forget / turns out / as of / meanwhile / effective
""")
CHANGE_UNSPACED = (
    "改用", "改成", "改为", "换成", "不再", "以后", "现在", "从今", "今後", "これから", "に変更", "に変わ",
    "もう使わない", "やめ", "移行", "代わりに", "換え", "なくなった", "今は", "になりました", "已经", "迁移",
)  # fmt: skip
# Said of a thing, these say that it has ended.
ENDED = words("""
gone out history dead deprecated removed dropped over retired obsolete cancelled canceled renamed
replaced abandoned raus weg abgeschaltet abgelöst ersetzt geschichte tot abgekündigt gestrichen entfernt
left ripped shut killed fini terminé supprimé abandonné acabou eliminado muerto away banned forbidden
verboten prohibited prohibido proibido interdit disallowed unwanted unnecessary
""")
# A clause that holds one of these speaks against what it names.
BLAME = words("""
expensive pricey slow misleading pain mistake wrong broken broke bit banned closed frozen taken
unreliable flaky useless annoying buggy unsupported unmaintained teuer langsam falsch kaputt ungeeignet
rente geschlossen eingestellt gekündigt cher lent cassé caro lento roto quebrado fermé cerrado fechado
nobody trouble overkill sucks
""")
# What follows these is denied.
DENY = words("""
no not never dont doesnt didnt isnt arent wasnt wont cant cannot shouldnt mustnt neednt without stop
avoid drop dropped dropping remove removed kill forget forbid nor neither cancelled canceled left ripped
rip replaced replaces lose ditch ditched abandon abandoned kein keine keinen keiner keinem keins nicht
nie niemals ohne statt anstatt weder ne pas jamais sans aucun aucune sin nunca jamás nada sem nem não
nao ningún ninguna nenhum nenhuma tampoco ni
""")
# These end what a denial covers.
HALT = words("""
but because since so when if unless until while as except aber weil wenn falls außer sondern damit denn
denen mais car parce quand sauf si pero porque cuando salvo excepto mas quando exceto instead use nur
only just before after
""")
ALLOW = _phrases("""
is fine / are fine / is ok / are ok / is okay / are okay / may / is allowed / are allowed / you can
can be / fine without / ok to / its fine / its ok / is enough / reicht / ist ok / sind ok / darfst
darf / dürfen / erlaubt / in ordnung / ist okay / peut / peuvent / autorisé / puede / pueden / permitido
pode / podem / is permitted / are permitted / okay / no problem / acceptable / allowed / fine here
is optional / are optional / ok if / fine if / genügt
""")
INSIST = _phrases("""
i said / i told / told you / already said / said already / said that / as i said / like i said / as said
how often / how many times / once more / again and again / remember / reminder / as always / like always
as usual / yet again / i repeat / i keep saying / still / you forgot / dont forget / never forget
keep forgetting / second time / third time / as before / please remember / for the last time / as agreed
as discussed / as mentioned / nochmal / noch einmal / wie gesagt / wie oft / hab ich gesagt
schon gesagt / wie immer / denk dran / vergiss nicht / zum letzten mal / erinnerung / wie besprochen
schon wieder / je répète / je lai dit / déjà dit / comme toujours / comme dhabitude / encore une fois
rappel / noublie pas / combien de fois / ya te dije / ya dije / te lo dije / otra vez / como siempre
recuerda / repito / cuántas veces / já disse / de novo / como sempre / lembre / outra vez / eu disse
""")
INSIST_UNSPACED = (
    "说过",
    "再说一遍",
    "记住",
    "提醒",
    "言いました",
    "言った",
    "もう一度",
    "繰り返",
    "忘れないで",
)
ADD = _phrases("""
also / too / as well / plus / additionally / in addition / and also / besides / at most / at least
include / including / with the / e g / for example / namely / auch / zusätzlich / außerdem / und zwar
dazu / höchstens / mindestens / ebenfalls / zudem / inklusive / aussi / également / en plus / et aussi
au plus / au moins / además / también / como máximo / também / além disso / no máximo / inclua
""")
ADD_UNSPACED = ("还要", "也要", "另外", "并且", "も入れ", "も追加", "さらに", "加上", "同时")
EXCEPT = _phrases("""
except / except for / unless / apart from / other than / only if / only when / if / when / as long as
exception / provided / in case / whenever / außer / ausser / es sei denn / nur wenn / sofern / wenn
falls / ausnahme / abgesehen von / sauf / à moins / excepté / si / quand / excepto / salvo / a menos
cuando / menos / exceto / quando / a não ser
""")
EXCEPT_UNSPACED = ("除了", "除非", "例外", "以外", "ただし", "除く", "如果", "場合")
STAYS = _phrases("""
still on / stays / stay / remains / keeps using / keep using / leave it / for now / its still
are still / is still / only for / just for / in here / here we / over there / bleibt / bleiben
weiterhin / nur für / nur im / nur in / dort / hier / reste / restent / on reste / seulement
uniquement / sigue / siguen / solo en / solo para / continua / continuam / apenas / só em
""")
STAYS_UNSPACED = ("仍然", "还是用", "だけ", "のまま", "仅限", "引き続き", "では")
PLACE = words("""
in inside under within for on at im unter für bei beim auf am innerhalb dans pour sous sur chez en para
bajo no na nos nas em dentro of
""")
# Kinds of places, products and audiences a statement can be limited to.
AREA = words("""
repo folder module service site app apps portal package packages project team edition plan fork tool
tools widget page pages tenant tenants customers customer devs developers users clients machines lambda
worker sandbox prototype prototypes legacy vendor admin internal public open-source mobile desktop web
backend frontend firmware simulator newsletter marketing enterprise business print view layer sdk cli
script scripts migration migrations subproject workspace landing embed demo demos example examples
region country us eu uk american european modul teil bereich ordner projekt kunden behörden mandant
mandanten seite anwendung dienst skript skripte gewerbe privat dossier projet équipe application pros
proyecto carpeta módulo equipo aplicación aplicativo projeto pasta cliente clientes
""")
ASKS = _phrases("""
can you / could you / would you / why / what is / how do / thanks / thank you / please run / lets
check why / fix the / have a look / look at / show me / kannst du / könntest du / warum / danke / schau
zeig / peux tu / pourquoi / merci / puedes / por qué / gracias / você pode / por que / obrigado
""")
# An order to do one thing now, not a rule.
ONE_OFF = words("""
add fix delete remove create implement open close rename port transfer grade squash check look show
restart bump upgrade update build make change move write generate lösch lösche mach mache bau baue füge
prüf prüfe schau zeig zeige benenne erstelle ajoute corrige supprime crée montre añade arregla borra
crea muestra adicione corrija apague crie
""")
ONE_THING = words("""
the my this that our last old new den die das dem mal letzten alten neue neuen le la les el los mon ma
mi o
""")
POINTERS = words("""
it them those they that these one ones both there so es sie davon dazu dabei denen eux elles les lo los
ello isso isto eles
""")
# Words that carry no subject: they are left out when two statements are compared.
EMPTY = words("""
a an the this that these those it its there here we our us you your i my me they them their he she his
her one is are was were be been being am do does did done has have had will would shall should must may
might can could need needs needed to of in on at by for from with into onto as per via under within over
about up than then so and or but if when while use uses used using make makes put puts get gets got go
goes going went keep keeps kept let run runs running live lives belongs belong always never no not dont
doesnt only just also too please pls plz every each all any everything everywhere everyone some more
most very really now again yes ok okay fine good new old first last next still yet already ever instead
because since without before after btw fyi hey hi hello well oh anyway thing things way stuff such like
want wants said told say saying how often many times time remember reminder stop forget nothing says
insists bumped raised lifted left seit depuis desde cancelled removed ripped shut changed taken
yesterday today tomorrow gestern heute hier ayer week month sprint january april march june switched
moved move replaced became renamed longer anymore back dropped gone out history deprecated allowed
enough required default mode der die das den dem des ein eine einen einer eines einem und oder aber ist
sind war waren wird werden wurde hat haben hatte nur noch auch nicht kein keine keinen keiner nie
niemals immer bitte ab jetzt mehr wir ihr sie es er ich du man mich mir uns für mit von vom zu zum zur
im um auf aus bei nach vor wie wenn weil dass alle alles jede jeder jedes jedem sollen soll muss müssen
nutzen nutze benutzen verwenden laufen läuft gehen geht gehört statt da dann denn doch mal schon wo dort
zusätzlich außer gesagt oft nochmal unter über ohne zwischen einzigen raus le la les un une de d l et ou
mais est sont été être ont nous vous je tu il elle ils ne pas plus jamais toujours dans pour par sur
sous avec ce cette ces que qui au aux en se sa son ses très tout tous toute chaque désormais maintenant
utilise utiliser utilisons tourne tournent faut doit reste el los las una unos y o pero ser fue nunca
siempre para por con del al su sus lo te mi ya más todo todos cada usa usar usamos van va ahora os uma e
mas é são foi não sempre em na nos nas com dos seu sua já agora
""")
# Verbs and nouns that many unrelated statements share.
COMMON = words("""
write store run call read send show set add give take work start handle change update create support
follow name file code project system data value number line version main need language team api test
tests service app schreiben speichern senden zeigen setzen wert daten zahl datei
""")
