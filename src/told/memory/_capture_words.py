"""Cue words of languages that put spaces between words, by what they say about a sentence.

A phrase matches whole words; one that ends in `*` matches words that begin so. The languages are English,
German, French, Spanish and Portuguese, with a few words of Italian and Polish.
"""

from __future__ import annotations

CUES = {
    "never": ("never|at no time|under no circumstances|nie|niemals|nie wieder|jamais|nunca|jamás|mai|nigdy"),
    "always": (
        "always|every time|each time|every single time|at all times|by default|periodically"
        "|consistently|everywhere|immer|stets|jedes mal|jedesmal|grundsätzlich|überall|toujours"
        "|systématiquement|à chaque fois|partout|siempre|cada vez|en todas partes|sempre|toda vez"
        "|em todo lugar|zawsze"
    ),
    "henceforth": (
        "from now on|going forward|from here on|in the future|in future|henceforth|as a rule"
        "|ab jetzt|ab sofort|von nun an|künftig|zukünftig|in zukunft|dorénavant|désormais"
        "|à l' avenir|à partir de maintenant|en adelante|a partir de ahora|de ahora en|a futuro"
        "|en el futuro|daqui para frente|daqui em diante|de agora em diante|a partir de agora"
        "|d' ora in poi|od teraz|na przyszłość"
    ),
    "must": (
        "must|have to|has to|need to|needs to|needed|required|mandatory|imperative|necessary"
        "|supposed to|are to be|is to be|muss|müssen|musst|zwingend|doit|doivent|il faut|faut"
        "|impérati*|obligatoire*|debe|deben|debes|hay que|tiene que|tienen que|obligatori*|deve|devem"
        "|precisa|precisam|tem que|têm que|tem de|musi|trzeba|należy"
    ),
    "should": (
        "should|ought to|shall|supposed|sollte|sollten|soll|sollen|devrait|devraient|debería|deberian"
        "|deberían|deberia|deveria|deveriam|powinien|powinno|powinna"
    ),
    "must_not": (
        "must not|mustn't|should not|shouldn't|shouldnt|can't have|cannot have|can not|not allowed"
        "|forbidden|no need|should never|must never|darf nicht|dürfen nicht|sollte nicht"
        "|sollten nicht|soll nicht|darf kein*|verboten|ne doit pas|ne doivent pas|ne doit jamais"
        "|il ne faut pas|ne faut pas|interdit*|no debe|no deben|no debes|no debería|no se debe"
        "|prohibid*|não deve|não devem|não pode|não podem|proibid*|nie może|nie wolno"
    ),
    "dont": (
        "don't|do not|dont|avoid|refrain|stop|quit|without|no more|leave out|nicht|kein|keine|keinen"
        "|vermeide|ohne|ne pas|n' utilise*|évite|évitez|ne fais|ne mets|arrête|arrêtez|sans|no uses"
        "|no hagas|no pongas|evita|evitar|deja de|sin|não|evite|pare de|sem|nie|unikaj|bez"
    ),
    "dont_want": (
        "don't want|do not want|dont want|don't need|do not need|dont need|didn't need|won't need"
        "|don't like|do not like|dont like|no desire|not a goal|won't|will not|we're not|we are not"
        "|want no|will keine*|wollen keine*|brauchen keine*|mag keine*|mag nicht|ne veux pas"
        "|ne voulons pas|pas besoin|n' aime pas|no quiero|no queremos|no necesit*|no me gusta"
        "|não quero|não queremos|não precis*|não gosto|nie chcę|nie potrzebuj*"
    ),
    "want": (
        "we want|i want|i would like|i'd like|we'd like|i need|we need|want to|want them|want it"
        "|want all|ich will|ich möchte|wir wollen|je veux|je voudrais|je souhaite|je souhaiterais"
        "|j' aimerais|on veut|quiero|queremos|quisiera|me gustaría|quero|gostaria|voglio|vorrei|chcę"
        "|chciałbym"
    ),
    "want_that": (
        "je veux que|je souhaite que|je voudrais que|quiero que|quero que|i want you to"
        "|i'd like you to|i need you to|ich möchte dass|ich will dass"
    ),
    "prefer": (
        "prefer|prefers|preferred|preferably|preference|favor|favour|rather have|would rather"
        "|i'd rather|lean|leaning|bevorzuge|bevorzugen|bevorzugt|lieber|am liebsten|préfère|préférer"
        "|préfér*|de préférence|prefiero|preferimos|preferentemente|prefer*|prefiro|wolę"
    ),
    "taste": (
        "hate|i like|i love|love it|can't stand|annoying|annoys|sick of|tired of|easier to|cleaner"
        "|simpler|hasse|nervt|déteste|j' aime|odio|detesto|me molesta|odeio|eu gosto"
    ),
    "contrast": (
        "instead of|rather than|instead|not just|over the|as opposed to|in favor of|in place of|statt"
        "|anstatt|anstelle|sondern|plutôt que|plutôt|au lieu de|à la place|en lugar de|en vez de|sino"
        "|em vez de|ao invés|zamiast"
    ),
    "universal": (
        "all|every|each|any|anything|everything|whole|entire|throughout|all of|no one|nobody|nothing"
        "|any of|alle|allen|jede|jeder|jedes|jeden|sämtliche|tous|toutes|toute|tout|chaque|aucun*"
        "|todos|todas|todo|toda|cada|ningún|ninguna|cualquier|nenhum*|qualquer|ogni|tutti|wszystkie"
        "|każdy|każda"
    ),
    "only": (
        "only|just|solely|exclusively|nothing but|except|unless|nur|ausschließlich|außer|seulement"
        "|uniquement|exclusivement|sauf|solo|sólo|solamente|únicamente|excepto|salvo|só|somente"
        "|apenas|exceto|tylko"
    ),
    "reason": (
        "because|cause|since|so that|so it|so they|so we|so the|so users|so as to|otherwise"
        "|in order to|due to|the reason|that's why|to avoid|to prevent|which means|this means"
        "|means that|would be|as it|as they|ends up|this prevents|it's important|is important|weil"
        "|damit|sonst|denn|um zu|wegen|parce que|car|afin|sinon|pour que|puisque|pour éviter|porque"
        "|para que|ya que|sino se|así|pues|pois|senão|já que|ponieważ|żeby|bo"
    ),
    "actually": (
        "actually|in fact|in reality|eigentlich|tatsächlich|en fait|en réalité|en realidad|de hecho"
        "|na verdade|in realtà|właściwie"
    ),
    "wrong": (
        "wrong|incorrect|not right|not correct|that's not|thats not|that isn't|mistake|misunderst*"
        "|falsch|stimmt nicht|faux|pas bon|erreur de|incorrect*|equivocad*|no es así|errad*|incorret*"
        "|źle"
    ),
    "meant": (
        "i meant|i mean|i said|i told you|i suggested|i asked|as i said|we said|we decided|we agreed"
        "|is meant to|are meant to|meant to be|we discussed|ich meinte|ich sagte|je voulais dire"
        "|j' ai dit|je parlais|quise decir|me refería|me referia|te dije|eu quis dizer|eu disse"
        "|miałem na myśli"
    ),
    "convention": (
        "convention|conventions|standard|standards|pattern|patterns|policy|policies|guideline"
        "|guidelines|rule|rules|style|naming|source of truth|best practice|best practices|idiomatic"
        "|philosophy|principle|principles|approach|workflow|architecture|design|konvention*"
        "|richtlinie*|regel|regeln|règle|règles|bonne pratique|bonnes pratiques|regla|reglas|norma"
        "|normas|convención|regra|regras|convenção|padrão|zasad*"
    ),
    "we_do": (
        "we use|we're using|we are using|we do|we have|we always|we never|we don't|we're|we are"
        "|we keep|we only|we just|we should|like we do|as we do|our|ours|wir|unser*|wir nutzen"
        "|wir verwenden|nous|on utilise|notre|nos|nosotros|usamos|nuestro|nuestra|nuestras|nuestros"
        "|tenemos|nós|nosso|nossa|nossos|temos|używamy|nasz*"
    ),
    "we_will": (
        "we'll|we will|we're going to|we are going to|going to|gonna|won't|let's keep|let's use"
        "|let's go with|go with|stick with|stick to|keep it|we decided|decided|decision|let's not"
        "|i think we should|we should|settled|is better|wir werden|bleiben bei|entschieden|on va"
        "|nous allons|gardons|décidé|vamos a|decidimos|hemos decidido|vamos usar|usaremos"
    ),
    "abandon": (
        "abandon|abandoned|drop support|deprecated|deprecate|deferred|defer|postpone|out of scope"
        "|later phase|get rid|no longer|not anymore|anymore|any more|for later|aufgeben|verschieben|veraltet"
        "|abandonner|reporter|plus tard|ne plus|abandonar|descartar|más adelante|obsolet*|adiar"
        "|mais tarde"
    ),
    "define": (
        "means|mean that|is defined as|defined as|refers to|is considered|considered|counts as"
        "|count as|is called|stands for|is used to|is used for|used to store|is for|are for|is what"
        "|is where|the idea is|idea is|the goal|goal is|purpose|responsible for|authority|bedeutet"
        "|gilt als|heißt|signifie|veut dire|désigne|objectif|significa|se llama|se considera"
        "|quiere decir|objetivo|quer dizer|é considerado|oznacza"
    ),
    "is_a": (
        "this is a|this is an|it's a|it is a|is not a|isn't a|is an|is the|are the|is our|is my|i am"
        "|i'm a|is me|das ist ein*|ist ein*|ich bin|c' est un|c' est une|est un|est une|je suis|es un"
        "|es una|soy|yo estoy|estoy|é um|é uma|sou|estou"
    ),
    "place": (
        "lives in|look in|look at|it's in|live in|located|is in|are in|belongs in|belong in|goes in"
        "|go in|stored in|placed|runs on|run on|running in|runs in|running on|deployed|hosted"
        "|installed|listens|available at|found in|sits in|inside of|liegt in|läuft|installiert"
        "|befindet sich|se trouve|situé|tourne sur|tournent|installé|hébergé|está en|se encuentra"
        "|vive en|instalad*|corre en|fica em|está em|roda em|roda no|znajduje się"
    ),
    "env": (
        "production|prod|staging|docker|container|windows|macos|mac|linux|ubuntu|server|servers"
        "|database|port|localhost|ci|deploy|deployment|account|environment|browser|chrome|node|python"
        "|version|license|licence|repo|repository|oss|open source|private|public|api key|credentials"
        "|produktion|datenbank|umgebung|serveur|base de données|navigateur|environnement|dépôt"
        "|servidor|base de datos|bases de datos|entorno|banco de dados|ambiente|versión|versão"
    ),
    "warn": (
        "careful|beware|warning|gotcha|caution|watch out|caveat|breaks|break|will break|crash|crashes"
        "|failure to|leak|leaks|lose|lost|corrupt*|dangerous|wipe|wiped|expensive"
        "|achtung|vorsicht|aufpassen|attention|prudence|danger*|ojo|cuidado|peligro*"
        "|atenção|perigo*|uwaga|ostrożnie"
    ),
    "note": (
        "important|remember|keep in mind|bear in mind|note that|please note|fyi|for context"
        "|for reference|btw|by the way|crucial|critical|be aware|be sure|make sure|ensure|point out"
        "|don't forget|reminder|wichtig|denk daran|beachte|merk*|hinweis|übrigens|n' oublie pas"
        "|rappel*|à noter|note bien|retiens|important*|recuerda|ten en cuenta|asegúrate|asegurate"
        "|importante|por cierto|lembre*|certifique*|pamiętaj|ważne"
    ),
    "one_off": (
        "for now|right now|this time|yet|today|tomorrow|at the moment|at this point|currently"
        "|temporarily|again|now|next|first|then|here|above|below|following|previous|last|latest"
        "|just this|this one|still|jetzt|gerade|heute|nochmal|noch|diesmal|zuerst|dann|maintenant"
        "|pour l' instant|pour le moment|encore|actuellement|aujourd'hui|toujours pas|ci dessus|ahora"
        "|por ahora|todavía|hoy|otra vez|de nuevo|luego|sigue|agora|por enquanto|ainda|hoje|de novo"
        "|depois|teraz|jeszcze"
    ),
    "progress": (
        "i've|i have|done|merged|added|finished|completed|updated|changed|created|moved|fixed"
        "|committed|implemented|works|working|worked|is now|are now|started|made|got|habe|fertig"
        "|gemacht|geändert|j' ai|fini|terminé|fonctionne|marche|ajouté|corrigé|modifié|he hecho"
        "|ya está|funciona|terminado|listo|agregado|fiz|pronto|feito|terminei|adicionei|zrobione"
        "|działa"
    ),
    "stuck": (
        "still not|still no|still the same|still doesn't|still isn't|still broken|still getting"
        "|still see|nothing happens|no longer works|not showing|doesn't show|does not show|immer noch"
        "|toujours pas|toujours plus|n' est toujours|ne sont toujours|sont toujours|est toujours"
        "|reste vide|n' arrive pas|n' apparaît pas|n' apparait pas|ne marche|ne fonctionne|on ne voit"
        "|ne voit plus|sigue igual|sigue sin|no se ven|no se ha|no se han|no ha|todavía no|aún no"
        "|ainda não|continua sem|nadal nie"
    ),
    "bug": (
        "error|errors|fails|failing|failed|failure|broken|doesn't work|does not work|not working"
        "|issue|issues|bug|bugs|exception|weird|missing|wrong|doesn't|isn't|not showing|problem"
        "|undefined|null|seems|fehler|kaputt|geht nicht|funktioniert nicht|erreur|ne marche pas"
        "|ne fonctionne pas|n' apparaît|n' apparait|problème|bogue|ne s' affiche|pas visible|fallo"
        "|falla|no funciona|no se ve|problema|erro|não funciona|falha|quebrado|błąd|nie działa"
    ),
    "polite": (
        "please|pls|plz|kindly|thanks|thank you|bitte|danke|s' il te plaît|s' il vous plaît|merci|stp"
        "|svp|por favor|gracias|obrigad*|proszę|dziękuję"
    ),
    "ask": (
        "can you|could you|would you|will you|can we|could we|should we|do we|do you|does it|is it"
        "|is there|are there|can i|should i|what|why|how|where|which|who|when will|let me know"
        "|tell me|explain|thoughts|suggestions|kannst du|könntest du|können sie|können wir|warum"
        "|wieso|wie|was|wo|welche|gibt es|peux tu|pouvez vous|peut on|pourrais tu|est ce que|pourquoi"
        "|comment|quel|quelle|quels|où|y a t il|qu' est ce|puedes|podrías|podemos|qué|por qué|cómo"
        "|dónde|cuál|hay algún|pode|poderia|o que|por que|como|onde|qual|czy|dlaczego|jak|gdzie"
    ),
    "lets": (
        "let's|lets|let us|i want you to|i need you to|i'd like you to|lass uns|faisons|allons|on va"
        "|vamos|venga|vamos lá|bora"
    ),
    "user_word": (
        "user|users|customer|customers|client|clients|people|maintainers|developers|nutzer|benutzer"
        "|kunden|utilisateur|utilisateurs|usuario|usuarios|cliente|clientes|usuário|usuários"
    ),
    "i_way": (
        "i will|i'll|i always|i never|i prefer|i use|i work|i test|i run|i review|myself|i don't"
        "|i am not|my own|i hate|i'm using|ich werde|ich nutze|ich arbeite|ich teste|selbst|selber"
        "|je vais|je travaille|j' utilise|je teste|je testerai|moi même|je ferai|yo mismo|yo uso"
        "|yo voy|yo me|uso|trabajo|yo lo|yo estoy|eu mesmo|eu uso|eu vou|trabalho|sam zrobię"
    ),
    "you_agent": (
        "you never|you always|you should|you must|you can|you keep|you don't|you need|when you|if you"
        "|you are|your|tell me|talk to me|answer|answers|reply|replies|respond|responses|ask me|wait for"
        "|du|dir|antworte|sprich|frag mich|tu|me parles|parle|parle moi|réponds|répond|demande moi"
        "|te demande|respóndeme|responde|háblame|habla|pregúntame|explícame|você|fale|responda|pergunte"
    ),
    "language": (
        "english|german|french|spanish|portuguese|chinese|japanese|englisch|deutsch|auf deutsch"
        "|français|francais|anglais|en français|castellano|español|inglés|ingles|português|inglês"
        "|po polsku|polski|en francés|in english|in german|in french|in spanish|en anglais|auf englisch"
    ),
    "condition": (
        "when|whenever|if|unless|once|before|after|while|as long as|wenn|sobald|bevor|nachdem|falls"
        "|quand|lorsque|si|avant de|après|dès que|cuando|antes de|después de|siempre que|quando|se|ao"
        "|jeśli|gdy"
    ),
    "demonstrative": (
        "this|that|these|those|it|them|they|dies*|das|ce|cet|cette|ces|ça|cela|esto|este|esta|eso|ese"
        "|esa|estos|isso|isto|esse|essa"
    ),
    "past": (
        "was|were|did|had|been|went|saw|ran|tried|noticed|war|hatte|wurde|était|avait|c' était|fue"
        "|era|estaba|foi|estava|był"
    ),
    "limits": (
        "only for|only when|only if|only used|only works|only applies|only in|only on|not for|at most"
        "|at least|no more than|exactly one|one per|in one place|in all places|across the|across all"
        "|for all|for every|for each|even if|even when|even though|no matter|regardless|until|as long as"
        "|nur für|nur wenn|nur in|für alle|auch wenn|egal ob|seulement si|uniquement|pour tous"
        "|pour chaque|même si|jusqu' à|solo si|solo cuando|para todos|para cada|aunque|hasta que"
        "|apenas se|mesmo que|até que"
    ),
    "values": (
        "just noise|noise|not a goal|a goal|don't care|doesn't matter|matters|matters more|important"
        "|more important|the point|whole point|main use case|use case|primary|main|main goal|priority"
        "|worth it|not worth|fine with|okay with|ok with|good enough|simple|simplest|simplicity"
        "|straightforward|consistent|readable|clean|wichtiger|hauptsache|einfach|le but|l' objectif"
        "|plus important|lo importante|lo principal|sencillo|mais importante|simples"
    ),
    "hold_off": (
        "any changes|no changes|making changes|make changes|take action|taking action|taking any action"
        "|any code|no code|change anything|do anything|anything yet|just tell me|just show me"
        "|just explain|just list|just want to understand|before you start|before starting|my approval"
        "|my ok|wait for my|let me know|report back|ask me any|ask any questions|any questions"
        "|noch nichts|nichts ändern|rien modifier|rien changer|sans modifier|ne change rien"
        "|ne modifie rien|no cambies nada|sin cambiar|sin tocar|no toques nada|sem alterar|não mude nada"
        "|não altere nada"
    ),
    "guess": (
        "presumably|apparently|seems|seem|seemed|suspect|i bet|appears|may not|may be|must be|unclear"
        "|recall|wonder|theory|theorizing|assume|assuming|guessing|suppose|i see|i saw|i notice"
        "|i noticed|i find|il semble|on dirait|j' ai l' impression|parece|scheint|anscheinend|vermute"
        "|vermutlich|parece que"
    ),
    "hedge": (
        "maybe|perhaps|possibly|probably|might|could|i think|i guess|i wonder|not sure|unclear"
        "|i believe|sounds|looks|vielleicht|wahrscheinlich|ich glaube|ich denke|peut être|je pense"
        "|je crois|je ne sais pas|quizás|tal vez|creo que|talvez|acho que|może"
    ),
    "code_thing": (
        "comment|comments|test|tests|commit|commits|branch|file|files|folder|folders|directory"
        "|function|functions|module|modules|class|classes|code|config|docs|documentation|docstring"
        "|docstrings|message|messages|names|type|types|log|logs|logging|kommentar*|datei*|ordner"
        "|commentaire*|fichier*|dossier*|fonction*|comentario*|archivo*|carpeta*|código|codigo"
        "|mensaje*|prueba*|arquivo*|pasta*|mensag*|teste*"
    ),
    "ui": (
        "button|buttons|icon|color|colour|page|screen|column|menu|header|footer|tab|modal|click|text"
        "|font|width|height|left|right|top|bottom|label|table|dialog|knopf|farbe|seite|spalte|bouton"
        "|boutons|couleur|colonne|colonnes|écran|barre|fenêtre|carte|onglet|onglets|botón|boton"
        "|botones|ventana|pantalla|columna|texto|caja|campo|fila|botão|janela|tela|coluna"
    ),
    "you_task": (
        "i want you to|i need you to|i would like you to|i'd like you to|can you|could you"
        "|je veux que tu|je voudrais que tu|je souhaite que tu|j' aimerais que tu|je veux que vous"
        "|peux tu|pouvez vous|quiero que lo|quiero que la|quiero que me|quiero que hagas|puedes"
        "|kannst du|könntest du|você pode"
    ),
    "purpose": (
        "so that|so it|so they|so we|so the|so users|so you|so people|so nobody|so no|so i"
        "|in order to|to avoid|to prevent|to retain|to keep|to ensure|to make it|otherwise|or else"
        "|this prevents|afin de|afin que|pour que|pour éviter|damit|para que|para evitar|żeby"
    ),
    "compare": (
        "better|easier|simpler|cleaner|faster|more|less|worse|too|besser|einfacher|mieux|plus simple"
        "|mejor|más fácil|melhor|mais fácil|lepiej"
    ),
    "not_this": (
        "isn't|is not|aren't|are not|not a|ist nicht|n' est pas|ne sont pas|no es|no está|não é"
        "|não está|nie jest"
    ),
    "generic": (
        "whether or not|in general|generally|usually|typically|normally|by convention|no matter"
        "|regardless|in practice|at any time|on purpose|intentional|intentionally"
        "|by design|everywhere else|in all places|generell|normalerweise|üblicherweise"
        "|en général|généralement|normalement|en general|normalmente|por diseño|em geral|geralmente"
        "|zwykle"
    ),
    "kind_of_work": (
        "repo|repository|project|codebase|code base|app|application|library|tool|product|package"
        "|service|team|company|prototype|poc|mvp|internal|personal|open source|oss|enterprise|projekt"
        "|anwendung|bibliothek|intern|projet|dépôt|appli|bibliothèque|produit|équipe|interne|proyecto"
        "|aplicación|aplicacion|biblioteca|producto|equipo|interno|projeto|aplicativo|aplicação"
        "|produto|time|aplikacja"
    ),
    "precede": (
        "take precedence|takes precedence|precedence|override|overrides|overridden|source of truth"
        "|take priority|takes priority|priority over|belongs to|belong to|belongs in|belong in"
        "|responsible for|is the authority|that's what|rely on|relies on|depends on|depend on"
        "|hat vorrang|gehört in|gehören in|priorité|prime sur|source de vérité|appartient|prioridad"
        "|tiene prioridad|fuente de verdad|pertenece|prioridade|fonte da verdade|pertence|zależy od"
    ),
    "like": (
        "like we|like the other|same as|consistent|consistency|consistently|match|matches|mirror"
        "|analogous|exactly|similar|einheitlich|konsistent|genauso|comme les autres|cohérent*"
        "|identique|igual que|consistente|coherente|igual a|consistência"
    ),
}
