"""Every statement, key, policy and function of team tables names the team, so that it stays on one shard."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from types import ModuleType

from tests.rooms import trees
from told.store.postgres.database import SCHEMA, Database

ROOM = "store/postgres/"
STATEMENT = re.compile(r"\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b")
# Functions that skip row-level security get the team, or read it from the transaction; see below.
FUNCTIONS = (
    "word_rows", "rank_words", "rank_bm25", "count_turns", "match_turns", "known_words",
    "agent_memory_matches", "queue_publishing",
)  # fmt: skip
NAMES_TEAM = re.compile(r"\bteam = [%${]|\(team, |VALUES ?\(%\(team\)s|\b(" + "|".join(FUNCTIONS) + r")\(")
# Statements without a team, by the beginning of their text, and why.
OF_ALL_TEAMS = {
    "SELECT coalesce(installed_version": "the server itself, before there is a schema",
    "SELECT x.default_version": "the server itself: whether it has an extension",
    "SELECT to_regclass": "whether there is a schema, or an index",
    "SELECT number FROM told.migration": "migrations are the same for all teams",
    "INSERT INTO told.migration": "migrations are the same for all teams",
    "SELECT pg_advisory_xact_lock": "one server migrates at a time",
    "SELECT pg_database_size": "a figure of the whole database",
    "SELECT extversion": "a version",
    "SELECT version()": "a version",
    "SELECT set_config(": "settings of a transaction",
    "SELECT team, name FROM team ORDER BY": "the first start: which team a server is for",
    "INSERT INTO embedding_model": "models are the same for all teams, a reference table",
    "SELECT model": "models are the same for all teams, a reference table",
    "DELETE FROM series_head h USING server_series": "after a backup was restored, of all teams",
    "SELECT NULL::bigint": "no table at all",
    "SELECT t.team, t.person, team.name": "a token's hash says which team it belongs to",
    "SELECT count(*) FROM job WHERE state = 'dead'": "`told health`, on the server's machine",
    "SELECT pg_current_xact_id": "the number of the transaction",
    "SELECT pg_snapshot_xmax": "the number of the next transaction",
    "SELECT pg_total_relation_size": "the size of a table",
    "SELECT current_setting('is_superuser')": "rights of the connection",
    "SELECT NOT EXISTS": "whether a table is empty, after it was rewritten",
    "SELECT c.relname::text, pg_relation_filenode": "files of tables",
    "SELECT pg_relation_filenode": "files of tables",
    "DELETE FROM pg_catalog.pg_statistic": "samples of a table that is empty",
}


class Source:
    """A file of the room: its statements, with what is put into them where the file itself says so."""

    def __init__(self, name: str, tree: ast.AST) -> None:
        self.module: ModuleType = importlib.import_module(
            "told." + name.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
        )
        self.tree = tree
        self.makers: dict[str, list[ast.AST]] = {}  # functions, and what is assigned to local names
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                self.makers.setdefault(node.name, []).append(node)
            elif isinstance(node, ast.Assign | ast.AugAssign):
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    if isinstance(target, ast.Name):
                        self.makers.setdefault(target.id, []).append(node.value)

    def literals(self, node: ast.AST, depth: int = 0) -> Iterator[str]:
        """Yield the texts of strings in a part of the file."""
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str):
                yield node.value
        elif isinstance(node, ast.JoinedStr):
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else self.fill(part, depth)
                for part in node.values
            )
        else:
            for child in ast.iter_child_nodes(node):
                yield from self.literals(child, depth)

    def fill(self, part: ast.AST, depth: int) -> str:
        """Return the texts from which a value in a formatted string is made, as far as they are known."""
        value = part.value if isinstance(part, ast.FormattedValue) else part
        if isinstance(value, ast.Call):
            parts = [value.func, *(one for one in value.args if isinstance(one, ast.Name))]
            return " ".join(self.fill(one, depth) for one in parts)
        name = (
            value.id
            if isinstance(value, ast.Name)
            else value.attr
            if isinstance(value, ast.Attribute)
            else ""
        )
        constant = getattr(self.module, name, None)
        if isinstance(constant, str):
            return constant
        if depth > 3:
            return "{}"
        return (
            " ".join(text for one in self.makers.get(name, ()) for text in self.literals(one, depth + 1))
            or "{}"
        )


def statements() -> Iterator[tuple[str, str]]:
    """Yield each statement of the room, with its file."""
    for name, tree in trees().items():
        if name.startswith(ROOM):
            source = Source(name, tree)
            for text in source.literals(tree):
                if STATEMENT.match(text):
                    yield name, " ".join(text.split())


def test_every_statement_names_the_team() -> None:
    found = list(statements())
    assert len(found) > 150
    texts = [text for _, text in found]
    # The beginning of statements that go on elsewhere is checked there.
    begins = {one for one in texts if any(other.startswith(f"{one} ") for other in texts)}
    without = [one for one in found if not NAMES_TEAM.search(one[1]) and one[1] not in begins]
    unknown = [one for one in without if not one[1].startswith(tuple(OF_ALL_TEAMS))]
    assert unknown == []
    unused = [start for start in OF_ALL_TEAMS if not any(text.startswith(start) for _, text in without)]
    assert unused == []


def test_every_key_and_policy_names_the_team(postgres: Database) -> None:
    with postgres.owning() as connection:
        keys = connection.execute(
            "SELECT i.indrelid::regclass::text, pg_get_indexdef(i.indexrelid) FROM pg_index i"
            " JOIN pg_class c ON c.oid = i.indrelid"
            " WHERE i.indisunique AND c.relnamespace = %s::regnamespace",
            (SCHEMA,),
        ).fetchall()
        assert len(keys) > 40
        apart = {(table, key[key.index("(") :]) for table, key in keys if not re.search(r"\(team[,)]", key)}
        assert apart == {
            ("migration", "(number)"),
            ("embedding_model", "(model)"),  # both are the same on all shards
            ("team", "(name)"),  # one team for each server now
            ("token", "(hash)"),  # who sends a token does not name the team
        }
        tables = connection.execute(
            "SELECT relname::text, relrowsecurity FROM pg_class WHERE relnamespace = %s::regnamespace"
            " AND relkind = 'r'",
            (SCHEMA,),
        ).fetchall()
        assert {name for name, protected in tables if not protected} == {"migration"}
        policies = connection.execute(
            "SELECT qual, with_check FROM pg_policies WHERE schemaname = %s"
            " AND tablename <> 'embedding_model'",
            (SCHEMA,),
        ).fetchall()
        assert len(policies) > 40
        named = ("told.team", "own_team()")
        without = [text for both in policies for text in both if text and not any(n in text for n in named)]
        assert without == []


def test_every_function_that_skips_row_level_security_names_the_team(postgres: Database) -> None:
    with postgres.owning() as connection:
        bodies = connection.execute(
            "SELECT proname::text, prosrc FROM pg_proc WHERE pronamespace = %s::regnamespace AND prosecdef",
            (SCHEMA,),
        ).fetchall()
    assert {name for name, _ in bodies} == set(FUNCTIONS)
    for name, body in bodies:
        assert re.search(r"team = (\$\d|of_team|own_team\(\))|USING \(team", body), name
