"""Where things are in a project: its folders, its tests."""

from __future__ import annotations

from told.memory._onboard_learned import LAYOUT, Learned, from_line
from told.memory._onboard_readme import first_sentence
from told.memory._onboard_stack import languages_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from told.memory._onboard_files import Tree

_TEST_FOLDERS = ("tests", "test", "spec", "specs", "__tests__", "e2e", "testing", "t")
_MOST_FOLDERS = 24
_TEST_NAMES = (
    ("test_", ".py", "test_*.py"), ("", "_test.py", "*_test.py"), ("", "_test.go", "*_test.go"),
    ("", ".test.ts", "*.test.ts"), ("", ".test.tsx", "*.test.tsx"), ("", ".test.js", "*.test.js"),
    ("", ".spec.ts", "*.spec.ts"), ("", ".spec.js", "*.spec.js"), ("", "_spec.rb", "*_spec.rb"),
    ("", "_test.rb", "*_test.rb"), ("", "Test.java", "*Test.java"), ("", "Test.kt", "*Test.kt"),
    ("", "Tests.cs", "*Tests.cs"), ("", "Test.php", "*Test.php"), ("", "_test.exs", "*_test.exs"),
)  # fmt: skip


def learn_layout(tree: Tree) -> Iterator[Learned]:
    """Yield what each top folder holds, and where the tests are."""
    folders: dict[str, list[str]] = {}
    for path in tree.files:
        top, slash, _ = path.partition("/")
        if slash and not top.startswith("."):
            folders.setdefault(top, []).append(path)
    largest = sorted(folders, key=lambda name: (-len(folders[name]), name))[:_MOST_FOLDERS]
    for name in sorted(largest):
        yield from _folder(tree, name, folders[name])
    yield from _tests(tree)


def _folder(tree: Tree, name: str, paths: list[str]) -> Iterator[Learned]:
    readme = tree.first(f"{name}/README.md", f"{name}/readme.md")
    said = first_sentence(readme, pointing=False) if readme else None
    if readme and said:
        yield from_line(LAYOUT, "folder", f"{name}/: {said[1]}", readme, said[0])
        return
    counts = languages_of(paths)
    total = sum(many for _, many in counts)
    inner = sorted({path.split("/")[1] for path in paths if path.count("/") > 1})
    named = f"{', '.join(f'{one}/' for one in inner[:8])}{' …' if len(inner) > 8 else ''}"
    if total * 2 >= len(paths):
        text = f"{name}/ holds mostly {counts[0][0]}{f', in {named}' if inner else ''}"
    elif inner:
        text = f"{name}/ has {named}"
    else:
        return
    yield Learned(LAYOUT, "folder", text, f"{name}/")


def _tests(tree: Tree) -> Iterator[Learned]:
    places: dict[str, int] = {}
    names: dict[str, int] = {}
    for path in tree.files:
        folder, _, name = path.rpartition("/")
        form = next((
            shown for head, tail, shown in _TEST_NAMES
            if name.startswith(head) and name.endswith(tail) and len(name) > len(head) + len(tail)
        ), "")  # fmt: skip
        if not form:
            continue
        parts = folder.split("/") if folder else []
        deepest = next((n for n, part in enumerate(parts) if part.lower() in _TEST_FOLDERS), -1)
        place = "/".join(parts[: deepest + 1]) + "/" if deepest >= 0 else "beside the code"
        places[place] = places.get(place, 0) + 1
        names[form] = names.get(form, 0) + 1
    if not places:
        return
    best = sorted(places, key=lambda one: (-places[one], one))[:4]
    forms = sorted(names, key=lambda one: (-names[one], one))[:2]
    where = " and ".join(one if one == "beside the code" else f"in {one}" for one in best)
    yield Learned(LAYOUT, "tests", f"Tests are {where}, named {' or '.join(forms)}", ".")
