"""Read languages, package managers and versions of a project."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from itertools import islice

from told.onboard.files import (
    STACK,
    ProjectFact,
    ProjectFiles,
    fact_from_line,
    get_nested,
    load_names,
    parse_manifest,
    quote_command,
)
from told.onboard.tasks import package_manager
from told.pattern import lazy_pattern

_LANGUAGES = {
    ending: language for language, endings in load_names()["languages"].items() for ending in endings.split()
}
_NOT_CODE = frozenset(("Markdown", "HTML", "CSS"))
_VENDORED = ("node_modules/", "vendor/", "third_party/", "dist/", "build/", ".venv/")
# Versions in manifests: the file, the keys of the version, the topic and what they say.
_VERSIONS = (
    ("pyproject.toml", "project.requires-python", "python", "Needs Python"),
    ("Cargo.toml", "package.edition", "edition", "Rust edition"),
    ("Cargo.toml", "workspace.package.edition", "edition", "Rust edition"),
    ("Cargo.toml", "package.rust-version", "rust-version", "Needs Rust"),
    ("Cargo.toml", "workspace.package.rust-version", "rust-version", "Needs Rust"),
)
_VERSION = lazy_pattern(r"[\w.*+/~^<>=| -]{1,40}$")
_GO = lazy_pattern(r"(go|module)\s+(\S{1,200})\s*$")
_MIN_LANGUAGE_FILES = 5
_MAX_ITEMS = 12  # of a list


def learn_stack(tree: ProjectFiles) -> Iterator[ProjectFact]:
    """Yield languages, package managers, versions and commands."""
    yield from _find_languages(tree)
    yield from _read_package_json(tree)
    for path, keys, topic, label in _VERSIONS:
        document = tree.document(path)
        wanted = get_nested(parse_manifest(document), *keys.split("."))
        if document and isinstance(wanted, str) and _VERSION.match(wanted):
            line = document.find_line(keys.rpartition(".")[2])
            yield fact_from_line(STACK, topic, f"{label} {wanted} ({path})", document, line)
    yield from _find_commands(tree)
    module = tree.document("go.mod")
    for number, row in enumerate(module.lines if module else (), 1):
        found = _GO.match(row)
        if found and module:
            label = "Needs Go" if found.group(1) == "go" else "The Go module is"
            yield fact_from_line(STACK, found.group(1), f"{label} {found.group(2)} (go.mod)", module, number)
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


def _find_languages(tree: ProjectFiles) -> Iterator[ProjectFact]:
    endings = (os.path.splitext(path)[1][1:].lower() for path in tree.files if not path.startswith(_VENDORED))
    counts = Counter(_LANGUAGES[one] for one in endings if _LANGUAGES.get(one, "HTML") not in _NOT_CODE)
    total = counts.total()
    ordered = sorted(counts, key=lambda name: (-counts[name], name))
    main = [name for name in ordered if counts[name] * 3 >= total] or ordered[:1]
    least = max(total / 12, _MIN_LANGUAGE_FILES)
    some = [name for name in ordered if counts[name] >= least and name not in main]
    text = f"Written mostly in {' and '.join(sorted(main))}"
    text += f", with some {' and '.join(sorted(some))}" if some else ""
    if total:
        yield ProjectFact(STACK, "languages", text, ".")


def _read_package_json(tree: ProjectFiles) -> Iterator[ProjectFact]:
    document = tree.document("package.json")
    values = parse_manifest(document)
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


def _find_commands(tree: ProjectFiles) -> Iterator[ProjectFact]:
    document = tree.document("pyproject.toml")
    scripts = get_nested(parse_manifest(document), "project", "scripts")
    if document and isinstance(scripts, dict) and scripts:
        names = ", ".join(map(quote_command, islice(scripts, _MAX_ITEMS)))
        text = f"Installs the commands {names} (pyproject.toml)"
        yield fact_from_line(STACK, "scripts", text, document, document.find_line("[project.scripts]"))
