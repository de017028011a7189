"""Says what kind of statement a sentence is, and whether it holds for one project or everywhere."""

from __future__ import annotations

from told.memory._capture_weights import KIND_WEIGHTS, KINDS
from told.snapshot import IGNORECASE, pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_MEANT = pattern(
    r"\b(?:i meant|i (?:said|suggested|told you)|we (?:decided|agreed) on|you(?:'re| are) wrong"
    r"|wrong (?:file|folder|place|branch|one)|ich meinte|ich sagte|je voulais dire|j'ai dit|quise decir"
    r"|te dije|me refería|eu quis dizer|eu disse)\b"
    r"|^\W*(?:no|nope|nein|non|não)?\W*(?:actually|eigentlich|en fait|en realidad|na verdade)\b"
    r"|我的意思|我是说|不对|错了|違います|違う|間違|のことです",
    IGNORECASE,
)
_PREFER = pattern(
    r"\b(?:prefer|i(?:'d| would)? (?:rather|lean)|myself|i (?:hate|like|love|don't like)|lieber|bevorzuge"
    r"|je préfère|prefiero|prefiro)\b"
    r"|更喜欢|偏好|のほうが好き|の方が好き",
    IGNORECASE,
)
_WARN = pattern(
    r"^\W*(?:careful|beware|warning|watch out|caution|achtung|vorsicht|attention|ojo|cuidado|atenção"
    r"|小心|当心|注意)",
    IGNORECASE,
)
_PERSON = pattern(
    r"\b(?:i am|i'm) (?:a|an|new|not a|used|certified)\b|\b(?:soy|yo estoy|je suis|ich bin|eu sou)\b",
    IGNORECASE,
)
_NOT_A_FACT = frozenset(
    (
        "not_this",
        "wrong",
        "actually",
        "meant",
        "opened",
        "must",
        "should",
        "must_not",
        "dont",
        "policy",
        "want",
        "warn",
    )
)


def kind_of(features: Mapping[str, float], text: str = "") -> str:
    """Return the kind of a sentence: what is plain from its words, else what the weights say."""
    if _WARN.search(text):
        return "warning"
    if _MEANT.search(text):
        return "correction"
    if _PERSON.match(text) or ("place" in features and not features.keys() & _NOT_A_FACT):
        return "fact"
    if _PREFER.search(text) and not features.keys() & {"must", "must_not", "never"}:
        return "preference"
    totals = [0.0] * len(KINDS)
    for name, value in (*features.items(), ("", 1.0)):
        for column, weight in enumerate(KIND_WEIGHTS.get(name, ())):
            totals[column] += weight * value
    return KINDS[max(range(len(KINDS)), key=lambda column: (totals[column], -column))]


def scope_of(features: Mapping[str, float], text: str) -> str:
    """Return `global` for what is about the person or the agent's ways anywhere, else `project`."""
    known = features.keys()
    if known & {"named", "we_do", "kind_of_work"}:
        return "project"
    speaks = "language" in known and "you_agent" in known and "code_thing" not in known
    manners = known >= {"policy", "you_agent"} and not known & {"code_thing", "env", "place"}
    habit = "c:agent_habit" in known and not known & {"env", "place", "digit"}
    if (
        speaks
        or manners
        or habit
        or ("i_way" in known and "c:always_policy" in known)
        or _PERSON.search(text)
    ):
        return "global"
    return "project"
