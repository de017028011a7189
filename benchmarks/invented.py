"""Reads the invented projects in `surface_projects`: what was said in each, and what its prompts need.

A memory is `id date kind source [global] [locked] [elsewhere] [>id of what ended it] | text`. A prompt begins
with `>`, may end with the folder it is asked in, and is followed by the ids that it `must`, `should` or must
`not` be answered with. What was ended, came from a tool or belongs elsewhere is never wanted.
"""

from __future__ import annotations

import os
from typing import Any

from benchmarks import CannotMeasureError

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "surface_projects")
# Written after the lists of topics. The weights of recall are set on some of them, and never on the others.
FRESH = os.path.join(os.path.dirname(FOLDER), "surface_fresh")
SET_ON = (
    "brightfield", "brocante", "fjordline", "gipfelbuch", "isotherm", "kettle", "kilnworks",
    "lanternkeep", "ledgerlight", "lumen", "marl", "meltwater", "orchardbot", "plover", "portcullis",
    "quayside", "quillbox", "seedvault", "silverbox", "stagehand", "tarn", "tendero", "tollgate",
    "tuinkassa", "wardtime",
)  # fmt: skip
_STEM = 5
_LISTS = ("must", "should", "not")


def projects(folder: str = FOLDER) -> list[dict[str, Any]]:
    """Return every project of a folder, in the form of the labelled sets."""
    names = sorted(name for name in os.listdir(folder) if name.endswith(".txt"))
    return [project(os.path.join(folder, name)) for name in names]


def project(path: str) -> dict[str, Any]:
    """Read one project."""
    head: dict[str, str] = {}
    memories: list[dict[str, Any]] = []
    prompts: list[dict[str, Any]] = []
    with open(path, encoding="utf-8") as file:
        for line in file.read().splitlines():
            word, _, rest = line.partition(" ")
            if word == ">":
                prompts.append(_prompt(rest, head, len(prompts) + 1))
            elif word in _LISTS and prompts:
                _label(prompts[-1], line)
            elif " | " in line:
                memories.append(_memory(line))
            elif word:
                head[word] = rest
    if not memories or not prompts or not {"project", "root"} <= head.keys():
        raise CannotMeasureError(f"{path} is no invented project.")
    texts = {one["id"]: one["text"] for one in memories}
    never = [one["id"] for one in memories if one["status"] != "active" or one["poisoned"]]
    for prompt in prompts:
        unknown = {name for names in _LISTS for name in prompt[names]} - texts.keys()
        if unknown:
            raise CannotMeasureError(f"{path} has no {min(unknown)}.")
        prompt["must_not"] = list(dict.fromkeys([*prompt.pop("not"), *never]))
        needed = [_stems(texts[name]) for name in prompt["must"]]
        prompt["lexical_overlap"] = len(_stems(prompt["prompt"]) & set().union(*needed)) if needed else None
    return {**head, "memories": memories, "prompts": prompts}


def _memory(line: str) -> dict[str, Any]:
    head, _, text = line.partition(" | ")
    name, date, kind, source, *marks = head.split()
    ended = next((mark[1:] for mark in marks if mark.startswith(">")), "")
    status = "other_project" if "elsewhere" in marks else f"superseded_by:{ended}" if ended else "active"
    return {
        "id": name, "date": date, "kind": kind, "source": source, "text": text, "status": status,
        "scope": "global" if "global" in marks else "project", "locked": "locked" in marks,
        "poisoned": source in ("web", "tool_output") and kind == "rule",
    }  # fmt: skip


def _prompt(text: str, head: dict[str, str], number: int) -> dict[str, Any]:
    folder = ""
    if text.endswith("]") and " [" in text:
        text, _, folder = text[:-1].rpartition(" [")
    cwd = "/".join(part for part in (head["root"], folder) if part)
    return {
        "id": f"{head['project']}-p{number:02d}", "prompt": text, "cwd": cwd,
        **{name: [] for name in _LISTS},
    }  # fmt: skip


def _label(prompt: dict[str, Any], line: str) -> None:
    current = ""
    for word in line.split():
        if word in _LISTS:
            current = word
        else:
            prompt[current].append(word)


def _stems(text: str) -> set[str]:
    words = "".join(char if char.isalnum() else " " for char in text.lower()).split()
    return {word[:_STEM] for word in words if len(word) >= _STEM}
