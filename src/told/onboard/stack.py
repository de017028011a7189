"""Read languages, package managers, layout and history of a project."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from itertools import islice
from typing import Any

from told.onboard.files import (
    HISTORY,
    LAYOUT,
    STACK,
    WHAT,
    Document,
    ProjectFact,
    ProjectFiles,
    fact_from_line,
    get_nested,
    load_names,
    load_pattern,
    parse_json,
    parse_toml,
    quote_command,
    shorten,
)
from told.onboard.instructions import first_sentence
from told.onboard.tasks import package_manager
from told.pattern import lazy_pattern
from told.store.memories.records import OBSERVATION

_LANGUAGES = {
    ending: language for language, endings in load_names()["languages"].items() for ending in endings.split()
}
_NOT_CODE = frozenset(("Markdown", "HTML", "CSS"))
_VENDORED = ("node_modules/", "vendor/", "third_party/", "dist/", "build/", ".venv/")
_VERSION = lazy_pattern(r"[\w.*+/~^<>=| -]{1,40}$")
_GO = lazy_pattern(r"(go|module)\s+(\S{1,200})\s*$")
_TOOLS = frozenset((
    "black", "ruff", "mypy", "pyright", "pytest", "isort", "flake8", "pylint", "coverage", "tox", "hatch",
    "poetry", "pdm", "setuptools", "towncrier", "commitizen", "bandit", "pyrefly", "ty",
))  # fmt: skip
_MIN_LANGUAGE_FILES = 5
_MAX_ITEMS = 12  # of a list


def learn_stack(tree: ProjectFiles) -> Iterator[ProjectFact]:
    """Yield languages, package managers, versions and tools."""
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
    yield from _description(document, values.get("description"), '"description"')
    engines = values.get("engines")
    for name, wanted in (engines if isinstance(engines, dict) else {}).items():
        if isinstance(wanted, str) and _VERSION.match(wanted) and name.isalnum():
            line = document.find_line(f'"{name}"', document.find_line('"engines"'))
            text = f"Needs {name} {wanted} (package.json)"
            yield fact_from_line(STACK, f"engine {name}", text, document, line)
    members = values.get("workspaces")
    members = get_nested(members, "packages") if isinstance(members, dict) else members
    yield from _workspace(document, members, "packages", '"workspaces"')


def _python(tree: ProjectFiles) -> Iterator[ProjectFact]:
    document = tree.document("pyproject.toml")
    values = parse_toml(document)
    if document is None or not values:
        return
    wanted = get_nested(values, "project", "requires-python")
    if isinstance(wanted, str) and _VERSION.match(wanted):
        line = document.find_line("requires-python")
        yield fact_from_line(STACK, "python", f"Needs Python {wanted} (pyproject.toml)", document, line)
    poetry = get_nested(values, "tool", "poetry", "description")
    description = get_nested(values, "project", "description") or poetry
    yield from _description(document, description, "description")
    scripts = get_nested(values, "project", "scripts")
    if isinstance(scripts, dict) and scripts:
        text = f"Installs the commands {_quote_all(scripts)} (pyproject.toml)"
        yield fact_from_line(STACK, "scripts", text, document, document.find_line("[project.scripts]"))
    tools = get_nested(values, "tool")
    known = sorted(_TOOLS & set(tools)) if isinstance(tools, dict) else []
    if known:
        text = f"Settings for {', '.join(known)} are in pyproject.toml"
        yield fact_from_line(STACK, "tools", text, document, document.find_line(f"[tool.{known[0]}"))


def _rust_and_go(tree: ProjectFiles) -> Iterator[ProjectFact]:
    cargo = tree.document("Cargo.toml")
    values = parse_toml(cargo) if cargo else {}
    for key, label in (("edition", "Rust edition"), ("rust-version", "Needs Rust")):
        value = get_nested(values, "package", key) or get_nested(values, "workspace", "package", key)
        if cargo and isinstance(value, str) and _VERSION.match(value):
            yield fact_from_line(STACK, key, f"{label} {value} (Cargo.toml)", cargo, cargo.find_line(key))
    if cargo:
        yield from _workspace(cargo, get_nested(values, "workspace", "members"), "crates", "members")
    module = tree.document("go.mod")
    for number, line in enumerate(module.lines if module else (), 1):
        found = _GO.match(line)
        if found and module:
            label = "Needs Go" if found.group(1) == "go" else "The Go module is"
            text = f"{label} {found.group(2)} (go.mod)"
            yield fact_from_line(STACK, found.group(1), text, module, number)


def _description(document: Document, text: Any, key: str) -> Iterator[ProjectFact]:
    if isinstance(text, str) and len(text.split()) > 2:
        text = f"{document.path} says of the project: {text}"
        yield fact_from_line(WHAT, "description", text, document, document.find_line(key))


def _workspace(document: Document, members: Any, what: str, key: str) -> Iterator[ProjectFact]:
    if isinstance(members, list) and members:
        text = f"A workspace of several {what}: {_quote_all(members)} ({document.path})"
        yield fact_from_line(STACK, "workspaces", text, document, document.find_line(key))


def _quote_all(items: Iterable[Any]) -> str:
    return ", ".join(quote_command(str(one)) for one in islice(items, _MAX_ITEMS))


_TEST_FOLDERS = ("tests", "test", "spec", "specs", "__tests__", "e2e", "testing", "t")
_BESIDE = "beside the code"


def learn_layout(tree: ProjectFiles) -> Iterator[ProjectFact]:
    """Yield what folders are for, as their READMEs say, and where the tests are."""
    folders = dict.fromkeys(path.partition("/")[0] for path in tree.files if "/" in path)
    said = {name: text for name in folders if (text := _describe_folder(tree, name))}
    if said:
        text = "; ".join(f"{name}/: {text}" for name, text in islice(said.items(), _MAX_ITEMS))
        yield ProjectFact(LAYOUT, "folders", shorten(f"Folders: {text}"), ".")
    yield from _tests(tree)


def _describe_folder(tree: ProjectFiles, name: str) -> str:
    readme = None if name.startswith(".") else tree.first(f"{name}/README.md", f"{name}/readme.md")
    said = first_sentence(readme, pointing=False) if readme else None
    return said[1].rstrip(".") if said else ""


def _tests(tree: ProjectFiles) -> Iterator[ProjectFact]:
    places, names = Counter[str](), Counter[str]()
    for path in tree.files:
        folder, _, name = path.rpartition("/")
        patterns = load_names()["test_files"]
        pattern = next((one for one in patterns if fnmatchcase(name, one) and len(name) >= len(one)), "")
        if not pattern:
            continue
        parts = folder.split("/") if folder else []
        top = next((n for n, part in enumerate(parts, 1) if part.lower() in _TEST_FOLDERS), 0)
        places["/".join(parts[:top]) + "/" if top else _BESIDE] += 1
        names[pattern] += 1
    if not places:
        return
    where = " and ".join(one if one == _BESIDE else f"in {one}" for one in _most_frequent(places, 4))
    forms = _most_frequent(names, 2)
    yield ProjectFact(LAYOUT, "tests", f"Tests are {where}, named {' or '.join(forms)}", ".")


_HISTORY_PATH = ".git"
_MAX_COMMITS = 200
_MIN_COMMITS = 10
_MIN_SHARE = 0.6  # of commits or branches that follow a convention
_CONVENTIONAL = load_pattern("conventional")
_TICKET = lazy_pattern(r"\[?([A-Z][A-Z0-9]{1,9})-\d{1,6}\b")
_EMOJI = lazy_pattern(r":[a-z_]{2,30}: ")
_BRANCH_PREFIX = load_pattern("branch_prefix")
_MIN_BRANCHES = 5
_MAX_HOT_FILES = 8
_MIN_CHANGES = 5
_GENERATED = lazy_pattern(
    r"(?i)(^|/)(CHANGELOG[^/]*|[^/]*\.lock|package-lock\.json|pnpm-lock\.yaml|.*\.snap)$"
)


def learn_history(tree: ProjectFiles) -> Iterator[ProjectFact]:
    """Yield conventions and hot files from commits and branches."""
    git = tree.git
    branch = git.default_branch()
    if branch:
        yield ProjectFact(HISTORY, "default branch", f"The default branch is {branch}", _HISTORY_PATH)
    commits = git.commits(_MAX_COMMITS)
    yield from _commit_convention([subject for subject, _ in commits])
    yield from _branch_convention([name for name in git.branches() if name != branch])
    present = set(tree.files)
    counts = Counter(path for _, paths in commits for path in set(paths) & present)
    frequent = {path: times for path, times in counts.items() if times >= _MIN_CHANGES}
    hot = [path for path in _most_frequent(frequent) if not _GENERATED.search(path)][:_MAX_HOT_FILES]
    if hot:
        # Sorted by name: the ranking changes with every commit, the set rarely does.
        text = f"Changed most often lately: {', '.join(sorted(hot))}"
        yield ProjectFact(HISTORY, "hot files", text, _HISTORY_PATH, kind=OBSERVATION)


def _commit_convention(subjects: list[str]) -> Iterator[ProjectFact]:
    if len(subjects) < _MIN_COMMITS:
        return
    need = _MIN_SHARE * len(subjects)
    types = Counter(found[1] for subject in subjects if (found := _CONVENTIONAL.match(subject)))
    tickets = Counter(found[1] for subject in subjects if (found := _TICKET.match(subject)))
    text = ""
    if types.total() >= need:
        named = ", ".join(f"{one}:" for one in sorted(_most_frequent(types, 4)))
        text = f"Commit messages follow Conventional Commits, such as {named}"
    elif tickets.total() >= need:
        named = " or ".join(f"{one}-123" for one in _most_frequent(tickets, 2))
        text = f"Commit messages begin with a ticket, such as {named}"
    elif sum(bool(_EMOJI.match(subject)) for subject in subjects) >= need:
        text = "Commit messages begin with an emoji code such as :bug:"
    if text:
        example = next(
            one for one in subjects if _CONVENTIONAL.match(one) or _TICKET.match(one) or _EMOJI.match(one)
        )
        yield ProjectFact(
            HISTORY, "commit messages", text, _HISTORY_PATH, quote=example[:200], kind=OBSERVATION
        )


def _branch_convention(branches: list[str]) -> Iterator[ProjectFact]:
    counts = Counter(found[1] for name in branches if (found := _BRANCH_PREFIX.match(name)))
    if len(branches) >= _MIN_BRANCHES and counts.total() >= _MIN_SHARE * len(branches):
        usual = _most_frequent(counts, 3)
        text = f"Branches are named {', '.join(f'{one}/…' for one in sorted(usual))}"
        yield ProjectFact(HISTORY, "branch names", text, _HISTORY_PATH, kind=OBSERVATION)
