"""List all routes with their fields on a page that loads nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

router = APIRouter(include_in_schema=False)

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1.0">
<title>{title}</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 56rem; margin: 2rem auto; padding: 0 1rem; }}
code {{ font: 0.9em ui-monospace, monospace; }}
summary {{ cursor: pointer; padding: 0.2rem 0; }}
td {{ padding: 0 1rem 0.2rem 0; vertical-align: top; }}
</style>
</head>
<body>
<h1>{title} {version}</h1>
<p>Send a token: <code>Authorization: Bearer TOKEN</code>.
<a href="openapi.json">openapi.json</a> is for programs.</p>
{parts}
</body>
</html>
"""


@router.get("/docs")
def docs(request: Request) -> HTMLResponse:
    """Show the routes."""
    described: dict[str, Any] = request.app.openapi()
    by_tag: dict[str, list[str]] = {}
    for path, methods in described["paths"].items():
        for method, route in methods.items():
            tag = route.get("tags", ["other"])[0]
            by_tag.setdefault(tag, []).append(_describe_route(f"{method.upper()} {path}", route, described))
    parts = "\n".join(f"<h2>{escape(tag)}</h2>\n" + "\n".join(rows) for tag, rows in sorted(by_tag.items()))
    info = described["info"]
    return HTMLResponse(_PAGE.format(title=info["title"], version=escape(info["version"]), parts=parts))


def _describe_route(name: str, route: Mapping[str, Any], described: Mapping[str, Any]) -> str:
    fields = [*_list_parameters(route), *_list_fields(route, described)]
    rows = "".join(
        f"<tr><td><code>{escape(field)}</code></td><td>{escape(says)}</td></tr>" for field, says in fields
    )
    text = escape(route.get("description") or route.get("summary", ""))
    return f"<details><summary><code>{escape(name)}</code> {text}</summary><table>{rows}</table></details>"


def _list_parameters(route: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for one in route.get("parameters", ()):
        yield (
            one["name"],
            f"{one['in']}, {_describe(one['schema'])}{', required' * bool(one.get('required'))}",
        )


def _list_fields(route: Mapping[str, Any], described: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    content = route.get("requestBody", {}).get("content", {}).get("application/json", {})
    schema = content.get("schema", {})
    schema = next((one for one in schema.get("anyOf", ()) if "$ref" in one), schema)
    if "$ref" in schema:
        schema = described["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    for name, one in schema.get("properties", {}).items():
        needed = ", required" * (name in schema.get("required", ()))
        says = f": {one['description']}" if "description" in one else ""
        yield name, f"body, {_describe(one)}{needed}{says}"


def _describe(schema: Mapping[str, Any]) -> str:
    """Return the type of a value: its name, or what may be given."""
    if "enum" in schema:
        return " | ".join(filter(None, map(str, schema["enum"])))
    if "anyOf" in schema:
        return " or ".join(_describe(one) for one in schema["anyOf"])
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2])
    if schema.get("type") == "array":
        return f"list of {_describe(schema.get('items', {}))}"
    return str(schema.get("const", schema.get("type", "any")))
