"""For which folder a memory speaks, and whether a prompt is about that folder."""

from __future__ import annotations

from told.memory._recall_structure import is_path
from told.search.topics import spoken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.memory._recall_structure import Structure
    from told.store.memory_records import Memory

_BEFORE_WORDS = "in under inside within below for unter im dans sous en bajo em dentro para für"
_BEFORE = frozenset(_BEFORE_WORDS.split())
_SHORTEST = 3  # words of a statement
_ARTICLE_WORDS = "the der die das den dem le la el o a folder directory ordner"
_ARTICLES = frozenset(_ARTICLE_WORDS.split())
_ALL_WORDS = """
all every everything everywhere each any alle alles jede jeder jedes überall tous toutes tout toute chaque
partout todos todas todo toda cada
"""
_ALL = frozenset(_ALL_WORDS.split())
_BUT = frozenset(
    ("but", "except", "außer", "ausser", "bis", "sauf", "excepté", "excepto", "salvo", "menos", "exceto")
)
_AND = frozenset(
    ("and", "or", "for", "und", "oder", "et", "ou", "y", "o", "e", "auf", "les", "los", "os", "las", "as")
)
_OPENING = 12  # words


def places_in(memory: Memory) -> tuple[str, ...]:
    """Return the folders and files that a memory names, in its text or as a trigger."""
    named = [one.value.lower().strip("/*") for one in memory.triggers if one.kind == "path"]
    if "/" in memory.text or "." in memory.text[:-1]:
        words = [word for word in spoken(memory.text) if "/" in word or "." in word]
        named += [word.strip("/*") for word in words if is_path(word)]
    own = own_place(memory.text)
    return tuple(dict.fromkeys([*([own] if own else []), *(one for one in named if one)]))


def own_place(text: str) -> str:
    """Return the folder that a statement is limited to by how it begins: `In src/legacy keep …`."""
    first, _, rest = text.lstrip()[:200].partition(" ")
    if first.lower() not in _BEFORE:
        return ""
    words = [first, *spoken(rest)]
    if len(words) < _SHORTEST:
        return ""
    at = 2 if words[1] in _ARTICLES else 1
    place = words[at]
    written = rest.split()[at - 1 : at]  # with the sign at its end that says that it is a folder
    is_folder = "_" in place or bool(written and written[0].strip("`'\",:").endswith("/"))
    return place.strip("/*") if is_path(place) or is_folder else ""


def applies_at(place: str, prompt: Structure) -> float:
    """Tell how surely a prompt is about a place: 1 inside it, less when the place is only far around it."""
    for path in prompt.paths:
        if path == place or path.startswith(f"{place}/") or path.endswith(f"/{place}"):
            return 1.0
    folder = prompt.folder
    if not folder:
        return 0.0
    if folder == place or folder.startswith(f"{place}/") or folder.endswith(f"/{place}"):
        depth = folder.count("/") - place.count("/")
        return max(0.5, 1.0 - 0.2 * depth)
    return 0.0


def left_out(text: str) -> list[str]:
    """Return what a statement about all of something leaves out: `All modules but legacy are …`."""
    words = spoken(text[:200])[:_OPENING]
    if not words or words[0] not in _ALL:
        return []
    at = next((at for at, word in enumerate(words) if at and word in _BUT), len(words))
    found = []
    for before, word in zip(words[at:], words[at + 1 :], strict=False):
        if word in _BEFORE or word in _ARTICLES or word in _AND:
            continue
        if not (before in _BUT or before in _BEFORE or before in _ARTICLES or before in _AND):
            break
        found.append(word.strip("/*"))
    return found


def is_elsewhere(text: str, prompt: Structure) -> bool:
    """Tell whether a statement is for another folder than the one that the prompt is about."""
    if any(applies_at(place, prompt) for place in left_out(text)):
        return True
    place = own_place(text)
    if not place or applies_at(place, prompt):
        return False
    return bool(prompt.folder) or any("/" in path for path in prompt.paths)
