"""Says what kind of work a sentence about it tells of: an observation's label."""

from __future__ import annotations

from told.memory._observe_words import any_of
from told.snapshot import IGNORECASE, pattern

BUGFIX, FEATURE, REFACTOR = "bugfix", "feature", "refactor"
DISCOVERY, CHANGE, DECISION = "discovery", "change", "decision"

_TYPE = pattern(r"(\w+)(?:\([^)]{0,60}\))?!?:\s")
_TYPES = {
    FEATURE: "feat feature add",
    BUGFIX: "fix bugfix hotfix",
    REFACTOR: "refactor style cleanup",
    CHANGE: "perf docs doc chore build ci test tests revert deps release",
}
_OF_TYPE = {name: label for label, names in _TYPES.items() for name in names.split()}

# A word that ends in * goes on with any letters. The first of these labels that fits is an answer's.
_WORDS = {
    BUGFIX: """fix fixes fixed fixing bug bugs crash* broken regression* repair* resolved behoben korrigiert
        corrig* corregi* arregl* conserta*""",
    DISCOVERY: """found cause caused causes because discover* turns_out turned_out ursache gefunden trouvé*
        causa encontr*""",
    REFACTOR: """refactor* renam* extract* simplif* clean cleaned cleanup move moved moves split dedup* inlin*
        umbenannt verschoben renomm* déplac* renombr* refatora* renomea*""",
    DECISION: "decid* chose opted switch switched instead entschieden stattdessen décid*",
    FEATURE: """add adds added adding implement* introduc* support* creat* new hinzugefügt erstellt neu neue
        neuer neues ajout* créé* créer añadi* agreg* cread* adicion* criei criado criada""",
}


_LABELS = [(label, pattern(rf"\b{any_of(words)}\b", IGNORECASE)) for label, words in _WORDS.items()]
_UNSPACED = (
    (BUGFIX, ("修复", "修正")), (REFACTOR, ("重构", "重命名", "リファクタ", "改名")),
    (DISCOVERY, ("原因", "发现", "発見")), (FEATURE, ("添加", "新增", "追加", "实现", "実装")),
)  # fmt: skip


def label_of(text: str, *, is_commit: bool = False) -> str:
    """Return the label of a commit's subject or of an answer's sentence."""
    typed = _TYPE.match(text) if is_commit else None
    if typed and typed[1].lower() in _OF_TYPE:
        return _OF_TYPE[typed[1].lower()]
    first = [
        (found.start(), at, label)
        for at, (label, words) in enumerate(_LABELS)
        if (found := words.search(text))
    ]
    if first:
        # A commit says first what it does; an answer is about a fault whenever it names one.
        return min(first)[2] if is_commit else min(first, key=lambda found: found[1])[2]
    return next((label for label, words in _UNSPACED if any(word in text for word in words)), CHANGE)
