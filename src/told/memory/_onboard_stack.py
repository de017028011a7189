"""What a project is made of: languages, package managers, the versions and tools that its files ask for."""

from __future__ import annotations

import re

from told.memory._onboard_data import below, json_of, toml_of
from told.memory._onboard_learned import STACK, WHAT, Learned, from_line, ticked
from told.memory._onboard_tasks import package_manager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from told.memory._onboard_files import Tree

_LANGUAGE_WORDS = """
py Python,pyi Python,js JavaScript,mjs JavaScript,cjs JavaScript,jsx JavaScript,ts TypeScript,mts TypeScript
tsx TypeScript,go Go,rs Rust,rb Ruby,php PHP,java Java,kt Kotlin,kts Kotlin,swift Swift,c C,h C,cc C++,cpp C++
hpp C++,cxx C++,cs C#,fs F#,scala Scala,ex Elixir,exs Elixir,erl Erlang,hs Haskell,ml OCaml,clj Clojure
dart Dart,lua Lua,pl Perl,r R,jl Julia,sh Shell,bash Shell,sql SQL,vue Vue,svelte Svelte,zig Zig,tf Terraform
ipynb Jupyter,sol Solidity,nim Nim,elm Elm,css CSS,scss CSS,html HTML,md Markdown,rst Markdown
"""
LANGUAGES: dict[str, str] = {
    ending: language
    for line in _LANGUAGE_WORDS.split("\n")
    for ending, _, language in (pair.partition(" ") for pair in line.split(","))
    if ending
}
_NOT_CODE = frozenset(("Markdown", "HTML", "CSS"))
_VENDORED = ("node_modules/", "vendor/", "third_party/", "dist/", "build/", ".venv/")
# A file in the project's own folder, and what it says about how packages are managed.
_MANAGERS = (
    ("uv.lock", "uv"), ("poetry.lock", "Poetry"), ("pdm.lock", "PDM"), ("Pipfile", "Pipenv"),
    ("environment.yml", "conda"), ("requirements.txt", "pip"), ("Cargo.toml", "Cargo"),
    ("go.mod", "Go modules"), ("Gemfile", "Bundler"), ("composer.json", "Composer"), ("pom.xml", "Maven"),
    ("build.gradle", "Gradle"), ("build.gradle.kts", "Gradle"), ("mix.exs", "Mix"),
    ("Package.swift", "Swift Package Manager"), ("pubspec.yaml", "pub"), ("build.sbt", "sbt"),
    ("stack.yaml", "Stack"), ("CMakeLists.txt", "CMake"), ("meson.build", "Meson"),
    ("MODULE.bazel", "Bazel"), ("flake.nix", "Nix"), ("deno.json", "Deno"),
)  # fmt: skip
_VERSIONS = (
    (".nvmrc", "Node"), (".node-version", "Node"), (".python-version", "Python"), (".ruby-version", "Ruby"),
    (".java-version", "Java"), ("rust-toolchain", "Rust"),
)  # fmt: skip
_VERSION = re.compile(r"[\w.*+/~^<>=| -]{1,40}$")
_GO = re.compile(r"(go|module)\s+(\S{1,200})\s*$")
_TOOLS = frozenset((
    "black", "ruff", "mypy", "pyright", "pytest", "isort", "flake8", "pylint", "coverage", "tox", "hatch",
    "poetry", "pdm", "setuptools", "towncrier", "commitizen", "bandit", "pyrefly", "ty",
))  # fmt: skip
_FEW = 5  # files that a language needs to be worth a word


def learn_stack(tree: Tree) -> Iterator[Learned]:
    """Yield languages, package managers, versions, tools and the name under which it is published."""
    yield from _languages(tree)
    yield from _node(tree)
    yield from _python(tree)
    yield from _cargo_and_go(tree)
    present = set(tree.top())
    for name, manager in _MANAGERS:
        if name in present and tree.document(name) is not None:
            yield Learned(STACK, f"packages {manager}", f"Packages are managed with {manager} ({name})", name)
    for name, what in _VERSIONS:
        document = tree.document(name)
        said = document.quote(1) if document else ""
        if document and said and _VERSION.match(said):
            yield from_line(STACK, "version", f"{what} version: {said} ({name})", document, 1)


def languages_of(paths: list[str] | tuple[str, ...]) -> list[tuple[str, int]]:
    """Return how many of some files are written in each language, the most first."""
    counts: dict[str, int] = {}
    for path in paths:
        name, dot, ending = path.rpartition("/")[2].rpartition(".")
        language = LANGUAGES.get(ending.lower()) if dot and name else None
        if language and not path.startswith(_VENDORED):
            counts[language] = counts.get(language, 0) + 1
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))


def _languages(tree: Tree) -> Iterator[Learned]:
    counts = [pair for pair in languages_of(tree.files) if pair[0] not in _NOT_CODE]
    total = sum(many for _, many in counts)
    if not total:
        return
    main = [name for name, many in counts if many * 3 >= total] or [counts[0][0]]
    some = [name for name, many in counts if many * 12 >= total and many >= _FEW and name not in main]
    text = f"Written mostly in {' and '.join(sorted(main))}"
    text += f", with some {' and '.join(sorted(some))}" if some else ""
    yield Learned(STACK, "languages", text, ".")


def _node(tree: Tree) -> Iterator[Learned]:
    document = tree.document("package.json")
    values = json_of(document)
    if document is None or not values:
        return
    named = values.get("packageManager")
    manager = package_manager(tree)
    line = document.line_with('"packageManager"') if named else 0
    version = f" {str(named).partition('@')[2].partition('+')[0]}" if isinstance(named, str) else ""
    text = f"Packages are managed with {manager}{version.rstrip()} (package.json)"
    yield from_line(STACK, "packages node", text, document, line)
    description = values.get("description")
    if isinstance(description, str) and len(description.split()) > 2:
        line = document.line_with('"description"')
        text = f"package.json says of the project: {description}"
        yield from_line(WHAT, "description", text, document, line)
    engines = values.get("engines")
    for name, wanted in (engines if isinstance(engines, dict) else {}).items():
        if isinstance(wanted, str) and _VERSION.match(wanted) and name.isalnum():
            begin = document.line_with('"engines"')
            line = document.line_with(f'"{name}"', begin)
            text = f"Needs {name} {wanted} (package.json)"
            yield from_line(STACK, f"engine {name}", text, document, line)
    spaces = values.get("workspaces")
    spaces = below(spaces, "packages") if isinstance(spaces, dict) else spaces
    if isinstance(spaces, list) and spaces:
        names = ", ".join(ticked(str(one)) for one in spaces[:12])
        text = f"A workspace of several packages: {names} (package.json)"
        yield from_line(STACK, "workspaces", text, document, document.line_with('"workspaces"'))


def _python(tree: Tree) -> Iterator[Learned]:
    document = tree.document("pyproject.toml")
    values = toml_of(document)
    if document is None or not values:
        return
    wanted = below(values, "project", "requires-python")
    if isinstance(wanted, str) and _VERSION.match(wanted):
        line = document.line_with("requires-python")
        yield from_line(STACK, "python", f"Needs Python {wanted} (pyproject.toml)", document, line)
    description = below(values, "project", "description") or below(values, "tool", "poetry", "description")
    if isinstance(description, str) and len(description.split()) > 2:
        line = document.line_with("description")
        text = f"pyproject.toml says of the project: {description}"
        yield from_line(WHAT, "description", text, document, line)
    scripts = below(values, "project", "scripts")
    if isinstance(scripts, dict) and scripts:
        line = document.line_with("[project.scripts]")
        names = ", ".join(ticked(name) for name in list(scripts)[:12])
        yield from_line(STACK, "scripts", f"Installs the commands {names} (pyproject.toml)", document, line)
    tools = below(values, "tool")
    known = sorted(_TOOLS & set(tools)) if isinstance(tools, dict) else []
    if known:
        line = document.line_with(f"[tool.{known[0]}")
        text = f"Settings for {', '.join(known)} are in pyproject.toml"
        yield from_line(STACK, "tools", text, document, line)


def _cargo_and_go(tree: Tree) -> Iterator[Learned]:
    cargo = tree.document("Cargo.toml")
    values = toml_of(cargo)
    for key, said in (("edition", "Rust edition"), ("rust-version", "Needs Rust")):
        value = below(values, "package", key) or below(values, "workspace", "package", key)
        if cargo is not None and isinstance(value, str) and _VERSION.match(value):
            yield from_line(STACK, key, f"{said} {value} (Cargo.toml)", cargo, cargo.line_with(key))
    members = below(values, "workspace", "members")
    if cargo is not None and isinstance(members, list) and members:
        names = ", ".join(ticked(str(one)) for one in members[:12])
        text = f"A workspace of several crates: {names} (Cargo.toml)"
        yield from_line(STACK, "workspaces", text, cargo, cargo.line_with("members"))
    module = tree.document("go.mod")
    for number, line in enumerate(module.lines if module else ()):
        found = _GO.match(line)
        if found and module is not None:
            said = "Needs Go" if found.group(1) == "go" else "The Go module is"
            text = f"{said} {found.group(2)} (go.mod)"
            yield from_line(STACK, found.group(1), text, module, number + 1)
