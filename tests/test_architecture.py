"""The house rules that no reviewer should have to look for: read from the source itself."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import told
from tests.conftest import SLOW_FIRST
from told.agents import all_agents
from told.agents.labels import label

SOURCE = Path(told.__file__).parent
# An import goes down this list, or stays in its room; what stands in one line may not import each other.
ROOMS = (
    ("__main__",), ("cli",), ("serve",), ("setup",), ("hook",), ("memory",), ("ingest",), ("agents",),
    ("sync",), ("journal",), ("search",), ("store",), ("guard",), ("settings",), ("model", "errors"),
    ("record", "snapshot"), ("__init__",),
)  # fmt: skip
LEVEL = {room: level for level, rooms in enumerate(ROOMS) for room in rooms}

# One ingested item (a bad file never stops the others), the entry of a hook, and the handler of a request.
MAY_CATCH_ALL = {
    "ingest/sweep.py", "hook/__init__.py", "serve/worker.py", "serve/mcp/methods.py", "serve/mcp/http.py",
}  # fmt: skip
READS_ENVIRONMENT = ("cli/", "serve/", "hook/")
# Where else the surroundings are read, and why. A line that goes away has to go away here, too.
ENVIRONMENT_EXCEPTIONS = {
    "ingest/identity.py": "git needs the user's own environment, and no project is above the home folder",
    "ingest/locate.py": "no project is above the home folder",
    "settings/__init__.py": "`~` in a path the user wrote down; the variables themselves are handed in",
    "agents/_cursor_transcripts.py": "finds the place of the editor's state beside the transcripts",
}
ENVIRONMENT = {"environ", "environb", "getenv", "expanduser", "expandvars"}
NETWORK = {
    "socket",
    "ssl",
    "http",
    "urllib.request",
    "ftplib",
    "smtplib",
    "socketserver",
    "xmlrpc",
    "asyncio",
}
# Only when the user turns something on that needs it.
MAY_CONNECT = ("serve/", "sync/", "search/_embedder_endpoint.py")
SQL = ("SELECT ", "INSERT ", "UPDATE ", "DELETE ", "PRAGMA ", "CREATE ")
VAGUE = ("utils", "util", "helpers", "helper", "common", "manager")

HOT = ("main", "session", "sessions", "files", "searching", "showing")
TOO_SLOW = (
    "re", "json", "typing", "dataclasses", "datetime", "argparse", "pathlib", "subprocess", "hashlib",
    "logging", "inspect",
)  # fmt: skip


TREES = {
    path.relative_to(SOURCE).as_posix(): ast.parse(path.read_text(encoding="utf-8"), str(path))
    for path in sorted(SOURCE.rglob("*.py"))
}


def room_of(name: str) -> str:
    return name.partition("/")[0].removesuffix(".py")


def imported_rooms(tree: ast.AST) -> list[tuple[int, str]]:
    """Return (line, room) of every import of told's own modules, wherever in the file it stands."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module == "told":
            modules = [f"told.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = ["told.relative" if node.level else node.module or ""]
        else:
            continue
        for module in modules:
            top, _, rest = module.partition(".")
            room = rest.partition(".")[0]
            if top == "told":
                # `from told import __version__` takes a name from the package itself, which is no room.
                known = bool(room) and (room in LEVEL or is_module(room))
                found.append((node.lineno, room if known else "__init__"))
    return found


def is_module(room: str) -> bool:
    return (SOURCE / room).is_dir() or (SOURCE / f"{room}.py").exists() or room == "relative"


def test_every_file_is_in_a_room_of_the_house() -> None:
    assert [name for name in TREES if room_of(name) not in LEVEL] == []


def test_imports_go_down_the_house() -> None:
    wrong = [
        f"{name}:{line} imports {other}"
        for name, tree in TREES.items()
        for line, other in imported_rooms(tree)
        if other != room_of(name) and LEVEL.get(other, -1) <= LEVEL[room_of(name)]
    ]
    assert wrong == []


def test_an_import_is_noticed_wherever_it_stands() -> None:
    written = (
        "def f():\n    from told.cli.main import run\nif TYPE_CHECKING:\n    import told.ingest.sweep\n"
        "from told import settings\nfrom told import __version__\nfrom . import x\n"
    )
    rooms = [room for _, room in sorted(imported_rooms(ast.parse(written)))]
    assert rooms == ["cli", "ingest", "settings", "__init__", "relative"]


def test_a_file_has_at_most_400_lines() -> None:
    lines = {name: len((SOURCE / name).read_text(encoding="utf-8").splitlines()) for name in TREES}
    assert {name: count for name, count in lines.items() if count > 400} == {}


def test_every_module_says_what_it_is_for() -> None:
    assert [name for name, tree in TREES.items() if not (ast.get_docstring(tree) or "").strip()] == []


def test_every_room_is_a_package() -> None:
    folders = {name.rpartition("/")[0] for name in TREES}
    assert [folder for folder in folders if f"{folder}/__init__.py".lstrip("/") not in TREES] == []


def swallows(tree: ast.AST) -> list[int]:
    """Return the lines of the handlers that catch everything and do not raise it again."""
    handlers = [node for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler)]
    return [handler.lineno for handler in handlers if catches_all(handler) and not raises_again(handler)]


def catches_all(handler: ast.ExceptHandler) -> bool:
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(
        kind is None or (isinstance(kind, ast.Name) and kind.id in ("Exception", "BaseException"))
        for kind in kinds
    )


def raises_again(handler: ast.ExceptHandler) -> bool:
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None


def test_no_error_is_swallowed_outside_the_edges() -> None:
    assert {name for name, tree in TREES.items() if swallows(tree)} == MAY_CATCH_ALL
    assert [name for name in MAY_CATCH_ALL if len(swallows(TREES[name])) > 1] == []


@pytest.mark.parametrize(
    "written", ["except:", "except Exception:", "except (OSError, Exception) as e:", "except BaseException:"]
)
def test_a_swallowed_error_is_noticed(written: str) -> None:
    assert swallows(ast.parse(f"try:\n    pass\n{written}\n    pass\n"))
    assert not swallows(ast.parse(f"try:\n    pass\n{written}\n    raise\n"))


def test_sql_is_only_in_the_store() -> None:
    written = [
        f"{name}:{node.lineno} {node.value[:40]!r}"
        for name, tree in TREES.items()
        if room_of(name) != "store"
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if node.value.lstrip().startswith(SQL)
    ]
    assert written == []


def test_no_module_or_class_has_a_name_that_says_nothing() -> None:
    names = [
        *(name.removesuffix(".py").replace("/", "_") for name in TREES),
        *(node.name for tree in TREES.values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)),
    ]
    assert [name for name in names if words_of(name) & set(VAGUE)] == []


def words_of(name: str) -> set[str]:
    spaced = "".join(f"_{letter}" if letter.isupper() else letter for letter in name)
    return set(spaced.lower().split("_"))


def reads_environment(tree: ast.AST) -> bool:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            names = [node.attr]
        elif isinstance(node, ast.ImportFrom):
            names = [alias.name for alias in node.names]
        else:
            continue
        if set(names) & ENVIRONMENT:
            return True
    return False


def test_only_the_edges_read_the_environment() -> None:
    inside = {name: tree for name, tree in TREES.items() if not name.startswith(READS_ENVIRONMENT)}
    assert {name for name, tree in inside.items() if reads_environment(tree)} == set(ENVIRONMENT_EXCEPTIONS)


def test_nothing_else_can_open_a_connection() -> None:
    imports = [
        (name, module)
        for name, tree in TREES.items()
        if not name.startswith(MAY_CONNECT)
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for module in modules_of(node)
    ]
    assert ("agents/continue_dev.py", "urllib.parse") in imports
    assert [found for found in imports if found[1] in NETWORK or found[1].split(".")[0] in NETWORK] == []


def modules_of(node: ast.Import | ast.ImportFrom) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]


def test_what_every_query_imports_stays_small() -> None:
    imports = "".join(f"import told.cli.{name}\n" for name in HOT)
    program = f"import sys\n{imports}print(*(name for name in {TOO_SLOW!r} if name in sys.modules))"
    done = subprocess.run(
        [sys.executable, "-I", "-c", program], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []


def test_labels_are_the_agents_own() -> None:
    assert {name: label(name) for name in all_agents()} == {
        name: agent.label for name, agent in all_agents().items()
    }


def test_labels_are_short_and_differ() -> None:
    labels = [agent.label for agent in all_agents().values()]
    assert len(set(labels)) == len(labels)
    assert all(len(label) <= 9 for label in labels)


def test_the_slow_files_that_begin_are_there() -> None:
    root = Path(__file__).parents[1]
    assert [name for name in SLOW_FIRST if not (root / name).exists()] == []
