"""Read languages, package managers and versions of a project."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from told.onboard.files import (
    STACK,
    ProjectFact,
    ProjectFiles,
    fact_from_line,
    get_nested,
    load_names,
    parse_json,
    parse_toml,
    quote_command,
)
from told.onboard.tasks import package_manager
from told.pattern import lazy_pattern

_LANGUAGES = {
    ending: language for language, endings in load_names()["languages"].items() for ending in endings.split()
}
_NOT_CODE = frozenset(("Markdown", "HTML", "CSS"))
_VENDORED = ("node_modules/", "vendor/", "third_party/", "dist/", "build/", ".venv/")
_VERSION = lazy_pattern(r"[\w.*+/~^<>=| -]{1,40}$")
_GO = lazy_pattern(r"(go|module)\s+(\S{1,200})\s*$")
_MIN_LANGUAGE_FILES = 5
_MAX_ITEMS = 12  # of a list


def learn_stack(tree: ProjectFiles) -> Iterator[ProjectFact]:
    """Yield languages, package managers, versions and commands."""
    yield from _languages(tree)
    yield from _node(tree)
    yield from _python(tree)
    yield from _rust_and_go(tree)
    present = set(tree.list_root())
    for name, manager in load_names()["package_managers"].items():
        if name in present and tree.document(name) is not None:
            text = f"Packages are managed with {manager} ({name})"
            yield ProjectFact(STACK, f"packages {manager}", text, name)
    for name, language in load_names()["version_files"].items():
        document = tree.document(name)
        version = document.quote(1) if document else ""
        if document and version and _VERSION.match(version):
            yield fact_from_line(STACK, "version", f"{language} version: {version} ({name})", document, 1)


def _count_languages(paths: Iterable[str]) -> list[tuple[str, int]]:
    counts = Counter[str]()
    for path in paths:
        name, dot, ending = path.rpartition("/")[2].rpartition(".")
        language = _LANGUAGES.get(ending.lower()) if dot and name else None
        if language and not path.startswith(_VENDORED):
            counts[language] += 1
    return [(name, counts[name]) for name in _most_frequent(counts)]


def _most_frequent(counts: Mapping[str, int], limit: int | None = None) -> list[str]:
    return sorted(counts, key=lambda name: (-counts[name], name))[:limit]


def _languages(tree: ProjectFiles) -> Iterator[ProjectFact]:
    counts = {name: many for name, many in _count_languages(tree.files) if name not in _NOT_CODE}
    total = sum(counts.values())
    if not total:
        return
    main = [name for name, many in counts.items() if many * 3 >= total] or list(counts)[:1]
    least = max(total / 12, _MIN_LANGUAGE_FILES)
    some = [name for name, many in counts.items() if many >= least and name not in main]
    text = f"Written mostly in {' and '.join(sorted(main))}"
    text += f", with some {' and '.join(sorted(some))}" if some else ""
    yield ProjectFact(STACK, "languages", text, ".")


def _node(tree: ProjectFiles) -> Iterator[ProjectFact]:
    document = tree.document("package.json")
    values = parse_json(document)
    if document is None or not values:
        return
    named = values.get("packageManager")
    version = f" {str(named).partition('@')[2].partition('+')[0]}" if isinstance(named, str) else ""
    text = f"Packages are managed with {package_manager(tree)}{version.rstrip()} (package.json)"
    line = document.find_line('"packageManager"') if named else 0
    yield fact_from_line(STACK, "packages node", text, document, line)
    engines = values.get("engines")
    for name, wanted in (engines if isinstance(engines, dict) else {}).items():
        if isinstance(wanted, str) and _VERSION.match(wanted) and name.isalnum():
            line = document.find_line(f'"{name}"', document.find_line('"engines"'))
            text = f"Needs {name} {wanted} (package.json)"
            yield fact_from_line(STACK, f"engine {name}", text, document, line)


def _python(tree: ProjectFiles) -> Iterator[ProjectFact]:
    document = tree.document("pyproject.toml")
    values = parse_toml(document)
    if document is None or not values:
        return
    wanted = get_nested(values, "project", "requires-python")
    if isinstance(wanted, str) and _VERSION.match(wanted):
        line = document.find_line("requires-python")
        yield fact_from_line(STACK, "python", f"Needs Python {wanted} (pyproject.toml)", document, line)
    scripts = get_nested(values, "project", "scripts")
    if isinstance(scripts, dict) and scripts:
        text = f"Installs the commands {_quote_all(scripts)} (pyproject.toml)"
        yield fact_from_line(STACK, "scripts", text, document, document.find_line("[project.scripts]"))


def _rust_and_go(tree: ProjectFiles) -> Iterator[ProjectFact]:
    cargo = tree.document("Cargo.toml")
    values = parse_toml(cargo) if cargo else {}
    for key, label in (("edition", "Rust edition"), ("rust-version", "Needs Rust")):
        value = get_nested(values, "package", key) or get_nested(values, "workspace", "package", key)
        if cargo and isinstance(value, str) and _VERSION.match(value):
            yield fact_from_line(STACK, key, f"{label} {value} (Cargo.toml)", cargo, cargo.find_line(key))
    module = tree.document("go.mod")
    for number, line in enumerate(module.lines if module else (), 1):
        found = _GO.match(line)
        if found and module:
            label = "Needs Go" if found.group(1) == "go" else "The Go module is"
            text = f"{label} {found.group(2)} (go.mod)"
            yield fact_from_line(STACK, found.group(1), text, module, number)


def _quote_all(items: Iterable[Any]) -> str:
    return ", ".join(quote_command(str(one)) for one in islice(items, _MAX_ITEMS))
