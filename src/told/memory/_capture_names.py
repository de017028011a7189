"""Finds the names in a statement, and from them when it applies."""

from __future__ import annotations

from told.guard.text import without_placeholders
from told.memory._capture_cues import is_unspaced, plain
from told.memory.capture import Trigger
from told.snapshot import pattern

_TICKED = pattern(r"`([^`\n]{1,120})`")
_PATH = pattern(
    r"(?<![\w/.:@-])(?:@?(?:~|\.{1,2})?/?(?:[\w.*@+-]+/)+[\w.*+-]*"
    r"|\.?[\w*][\w.*-]*\.(?:py|pyi|js|jsx|ts|tsx|mjs|go|rs|rb|php|java|kt"
    r"|swift|c|cc|cpp|h|hpp|cs|sql|md|mdx|txt|json|jsonl|ya?ml|toml|ini|cfg|env|lock|sh|css|scss|html|vue|svelte|xml|db"
    r"|ipynb|gradle|tf|proto|csv)\b|\.env\b|\.gitignore\b|Makefile\b|Dockerfile\b)"
)
_SYMBOL = pattern(
    r"(?<![\w`/.-])(?:[A-Za-z]\w*_\w+|[a-z]+[A-Z]\w*|(?:[A-Z][a-z0-9]+){2,}|[A-Za-z]\w*\(\))"
    r"(?![\w/])"
)
_NAME = pattern(r"[\w.+]+")
_FLAG = pattern(r"(?<![\w-])--[a-z][\w-]+")
_PROGRAMS_WORDS = """
apt bash black brew bun cargo clang cmake composer conda curl deno docker dotnet eslint fly flyctl
flutter gh git go gradle helm java jest just kubectl make mvn mypy node npm npx nx phpunit pip pipenv
playwright pnpm poetry prettier psql pytest python python3 rails rake ruff rustc sbt sh ssh swift task
terraform tox tsc uv vite vitest yarn wrangler
"""
_PROGRAMS = frozenset(_PROGRAMS_WORDS.split())
_TOOL_WORDS = """
airflow angular ansible aws azure celery chrome claude codex copilot cursor cypress django electron
express fastapi figma firebase firefox flask github gitlab graphql grafana heroku jira jquery kafka
kubernetes laravel linux macos mongodb mysql next.js nginx nuxt okta openai oracle pandas postgres
postgresql prisma pydantic pytorch rabbitmq react redis redux rust safari selenium sentry slack slog
spring sqlite stripe supabase svelte tailwind typescript ubuntu vault vercel vue webpack windows zod
zustand
"""
_TOOLS = _PROGRAMS | frozenset(_TOOL_WORDS.split())
_TASKS = {
    "commit": "commit commits committing committe committer commite commiten commita コミット 提交",
    "push": "push pushing pushe pousser 推送 プッシュ",
    "review": "review reviews pr prs revue revisión revisão 审查 レビュー",
    "release": "release releases publish changelog veröffentlichen publier publicar 发布 リリース",
    "deploy": (
        "deploy deployment deploys staging production prod deployen déployer desplegar "
        "implantar 部署 デプロイ"
    ),
    "test": ("test tests testing coverage pytest spec teste testen tester prueba pruebas testes 测试 テスト"),
    "comment": (
        "comment comments docstring docstrings kommentare commentaire commentaires "
        "comentarios comentários 注释 コメント"
    ),
    "document": "docs documentation readme dokumentation documentación documentação 文档 ドキュメント",
    "name": "naming name names rename named prefix suffix nommer nombre nombres nomes 命名 名前",
    "database": "database migration migrations schema sql query table datenbank 数据库 データベース",
    "log": "logging logger logs log 日志 ログ",
    "install": (
        "dependency dependencies install package packages abhängigkeit dépendance "
        "dépendances dependencia 依赖 依存"
    ),
    "answer": (
        "answer answers reply respond talk explain antworte sprich parle parles réponds "
        "habla responde fale 回答 回复 答えて"
    ),
    "plan": "plan plans planning 计划 計画",
    "refactor": "refactor refactoring 重构 リファクタ",
    "secure": "secret secrets password passwords token credentials .env 密码 秘密",
}
_TASK_OF = {word: task for task, words in _TASKS.items() for word in words.split()}
_MOST = 12


def entities(text: str) -> tuple[str, ...]:
    """Return the files, commands, tools, packages and identifiers that a statement names, in its order."""
    text = without_placeholders(text)
    found: list[tuple[int, str]] = []
    for kind in (_PATH, _SYMBOL, _FLAG):
        found += [(match.start(), match.group().lstrip("@").rstrip(".,")) for match in kind.finditer(text)]
    found += [(match.start(1), match.group(1).strip()) for match in _TICKED.finditer(text)]
    found += [
        (match.start(), match.group().rstrip("."))
        for match in _NAME.finditer(text)
        if match.group().lower().rstrip(".")
        in _TOOLS - {"go", "make", "just", "task", "next", "cursor", "express"}
    ]
    return tuple(dict.fromkeys(name for _, name in sorted(found) if len(name) > 1))[:_MOST]


def triggers(text: str) -> tuple[Trigger, ...]:
    """Return when a statement applies: the paths, commands and kinds of task it speaks of."""
    text = without_placeholders(text)
    found = [Trigger("path", match.group().lstrip("@").rstrip(".,")) for match in _PATH.finditer(text)]
    for match in _TICKED.finditer(text):
        words = match.group(1).split()
        if words and words[0] in _PROGRAMS and not _PATH.fullmatch(match.group(1)):
            found.append(Trigger("command", match.group(1).strip()))
    bare = plain(_PATH.sub(" ", text))
    spoken = [_TASK_OF[word] for word in bare.split() if word in _TASK_OF]
    if is_unspaced(text):
        spoken += [task for word, task in _TASK_OF.items() if not word.isascii() and word in text]
    found += [Trigger("task", task) for task in spoken]
    return tuple(dict.fromkeys(found))[:_MOST]
