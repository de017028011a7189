"""Rules of the source that no reviewer should have to check, read from the source itself."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable

import pytest

from benchmarks import house
from tests.rooms import LEVEL, SOURCE, imported_rooms, nodes, room_of, trees
from tests.rooms_picture import PICTURE, draw
from told.agents import all_agents, label

# One ingested item (a bad file never stops the others), the entry of a hook, and the handler of a request.
MAY_CATCH_ALL = {
    "cli/main.py", "hook/client.py", "ingest/sweep.py", "mcp/server.py", "recall/recall.py",
    "server/jobs.py", "service/calls.py", "service/commands.py", "service/process.py", "service/worker.py",
}  # fmt: skip
READS_ENVIRONMENT = ("cli/", "mcp/", "service/", "hook/", "app/", "api.py")
# Where else the environment is read, and why.
ENVIRONMENT_EXCEPTIONS = {
    "ingest/projects.py": "git needs the user's own environment, and no project is above the home folder",
    "settings/__init__.py": "`~` in a path the user wrote down; the variables themselves are handed in",
    "agents/cursor/__init__.py": "finds the editor's state beside the transcripts",
    "sync/stores/agent_memory.py": "pg_dump needs the user's own environment, and gets the password in it",
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
MAY_CONNECT = ("hook/client.py", "service/", "sync/", "endpoint.py", "server/")
SQL = ("SELECT ", "INSERT ", "UPDATE ", "DELETE ", "PRAGMA ", "CREATE ")
VAGUE = ("utils", "util", "helpers", "helper", "common", "manager")


def test_every_file_is_in_a_known_room() -> None:
    assert [name for name in trees() if room_of(name) not in LEVEL] == []


def test_imports_go_down_the_rooms() -> None:
    wrong = [
        f"{name}:{line} imports {other}"
        for name, imports in nodes(ast.Import, ast.ImportFrom).items()
        for line, other in imported_rooms(imports)
        if other != room_of(name) and LEVEL.get(other, -1) <= LEVEL[room_of(name)]
    ]
    assert wrong == []


def test_imports_are_seen_anywhere_in_a_file() -> None:
    written = (
        "def f():\n    from told.cli.main import run\nif TYPE_CHECKING:\n    import told.ingest.sweep\n"
        "from told import settings\nfrom told import __version__\nfrom . import x\n"
    )
    rooms = [room for _, room in sorted(imported_rooms(ast.walk(ast.parse(written))))]
    assert rooms == ["cli", "ingest", "settings", "__init__", "relative"]


def test_a_file_has_at_most_400_lines() -> None:
    lines = {name: len((SOURCE / name).read_text(encoding="utf-8").splitlines()) for name in trees()}
    assert {name: count for name, count in lines.items() if count > 400} == {}


def test_a_folder_has_at_most_30_files() -> None:
    counts = Counter(name.rpartition("/")[0] for name in trees())
    assert {folder: count for folder, count in counts.items() if count > 30} == {}


def test_no_module_imports_private_names_of_another_room() -> None:
    private = [
        found
        for name, imports in nodes(ast.ImportFrom).items()
        for found in house.private_imports(name, imports)
    ]
    assert private == []


def test_data_lives_in_data_files() -> None:
    long = [
        found
        for name, assigned in nodes(ast.Assign, ast.AnnAssign).items()
        for found in house.long_literals(name, assigned)
    ]
    assert long == []


def test_no_module_hides_its_imports_from_run_time() -> None:
    assert [
        name for name in trees() if "\nTYPE_CHECKING = False" in (SOURCE / name).read_text(encoding="utf-8")
    ] == []


def test_every_module_says_what_it_is_for() -> None:
    assert [name for name, tree in trees().items() if not (ast.get_docstring(tree) or "").strip()] == []


def test_every_room_is_a_package() -> None:
    folders = {name.rpartition("/")[0] for name in trees()}
    assert [folder for folder in folders if f"{folder}/__init__.py".lstrip("/") not in trees()] == []


def swallows(handlers: Iterable[ast.ExceptHandler]) -> list[int]:
    """Return the lines of the handlers that catch everything and do not raise it again."""
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
    handlers = nodes(ast.ExceptHandler)
    assert {name for name, inside in handlers.items() if swallows(inside)} == MAY_CATCH_ALL
    assert [name for name in MAY_CATCH_ALL if len(swallows(handlers[name])) > 1] == []


@pytest.mark.parametrize(
    "written", ["except:", "except Exception:", "except (OSError, Exception) as e:", "except BaseException:"]
)
def test_a_swallowed_error_is_noticed(written: str) -> None:
    for end, is_noticed in (("pass", True), ("raise", False)):
        (block,) = ast.parse(f"try:\n    pass\n{written}\n    {end}\n").body
        assert isinstance(block, ast.Try)
        assert bool(swallows(block.handlers)) == is_noticed


def test_sql_is_only_in_the_store() -> None:
    written = [
        f"{name}:{node.lineno} {node.value[:40]!r}"
        for name, constants in nodes(ast.Constant).items()
        if room_of(name) != "store"
        for node in constants
        if isinstance(node.value, str)
        if node.value.lstrip().startswith(SQL)
    ]
    assert written == []


def test_no_module_or_class_has_a_name_that_says_nothing() -> None:
    names = [
        *(name.removesuffix(".py").replace("/", "_") for name in trees()),
        *(node.name for classes in nodes(ast.ClassDef).values() for node in classes),
    ]
    assert [name for name in names if words_of(name) & set(VAGUE)] == []


def words_of(name: str) -> set[str]:
    spaced = "".join(f"_{letter}" if letter.isupper() else letter for letter in name)
    return set(spaced.lower().split("_"))


def reads_environment(node: ast.Attribute | ast.ImportFrom) -> bool:
    names = [node.attr] if isinstance(node, ast.Attribute) else [alias.name for alias in node.names]
    return not ENVIRONMENT.isdisjoint(names)


def test_only_the_edges_read_the_environment() -> None:
    reading = {
        name
        for name, inside in nodes(ast.Attribute, ast.ImportFrom).items()
        if not name.startswith(READS_ENVIRONMENT) and any(map(reads_environment, inside))
    }
    assert reading == set(ENVIRONMENT_EXCEPTIONS)


def test_nothing_else_can_open_a_connection() -> None:
    imports = [
        (name, module)
        for name, inside in nodes(ast.Import, ast.ImportFrom).items()
        if not name.startswith(MAY_CONNECT)
        for node in inside
        for module in modules_of(node)
    ]
    assert ("store/foreign.py", "urllib.parse") in imports
    assert [found for found in imports if found[1] in NETWORK or found[1].split(".")[0] in NETWORK] == []


def modules_of(node: ast.Import | ast.ImportFrom) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]


def test_labels_are_the_agents_own() -> None:
    assert {name: label(name) for name in all_agents()} == {
        name: agent.label for name, agent in all_agents().items()
    }


def test_labels_are_short_and_differ() -> None:
    labels = [agent.label for agent in all_agents().values()]
    assert len(set(labels)) == len(labels)
    assert all(len(label) <= 9 for label in labels)


def test_picture_of_the_rooms_is_up_to_date() -> None:
    assert PICTURE.read_text(encoding="utf-8") == draw(), "run `python -m tests.rooms_picture`"
