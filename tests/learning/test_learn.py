"""Check compliance of tool calls with memories."""

from __future__ import annotations

import pytest

from told.learning.compliance import is_followed
from told.store.memories.records import FACT, OBSERVATION, RULE, Memory

# Each: the memory, the tool calls after it was shown (parted by " / "), and whether it was followed.
# A call without brackets is a shell command.
CASES = [
    # use X, not Y
    ("Use pnpm, not npm.", "pnpm install", True),
    ("Use pnpm, not npm.", "npm install", False),
    ("Use pnpm, not npm.", "ls -la", None),
    ("Use pnpm, not npm.", "pnpm install / npm test", False),
    ("Use pnpm instead of npm.", "pnpm add zod && pnpm test", True),
    ("Use `pnpm` rather than `npm`", "CI=1 npm ci", False),
    ("Always use pnpm, never npm, because the lockfile is pnpm's.", "pnpm i", True),
    ("Don't use npm, use pnpm.", "pnpm run build", True),
    ("Don't use npm, use pnpm.", "sudo npm i -g x", False),
    ("Prefer rg over grep", "rg foo src", True),
    ("Prefer rg over grep", "grep -r foo src", False),
    ("Use uv, not pip or poetry.", "poetry add httpx", False),
    ("Use uv, not pip or poetry.", "uv add httpx", True),
    ("Use uv, not pip.", "uv pip install httpx", True),
    ("Use uv, not pip.", "python -m pip install httpx", False),
    ("Run `uv run pytest`, not `pytest`.", "uv run pytest -q", True),
    ("Run `uv run pytest`, not `pytest`.", "pytest -q", False),
    ("Run `uv run pytest`, not `pytest`.", "timeout 60 pytest -q", False),
    ("Use `npm ci`, not `npm install`.", "npm ci", True),
    ("Use `npm ci`, not `npm install`.", "npm run build", None),
    ("Use `pytest -n auto`, not plain `pytest`.", "pytest -n auto tests", True),
    ("Use docker compose, not docker-compose.", "docker compose up -d", True),
    ("Use docker compose, not docker-compose.", "docker-compose up -d", False),
    ("We switched from yarn to pnpm.", "pnpm install", True),
    ("We switched from yarn to pnpm.", "yarn install", False),
    # a mention is no use
    ("Use pnpm, not npm.", "echo 'npm install' >> README.md", None),
    ("Use pnpm, not npm.", "git commit -m 'docs: npm install is gone'", None),
    ("Use pnpm, not npm.", "grep -rn npm docs | head", None),
    ("Use pnpm, not npm.", "cat package.json # npm test", None),
    ("Use pnpm, not npm.", "[Write] /home/dev/npm/install.md", None),
    ("Use pnpm, not npm.", "pnpm test && echo npm", True),
    ("Use pnpm, not npm.", "bash -lc 'npm test'", False),
    ("Use pnpm, not npm.", "cat > x.sh <<'EOF' npm test EOF", None),
    ("Use pnpm, not npm.", "npm install / (refused)", None),
    ("Use pnpm, not npm.", "npm install / (failed)", False),
    # never Y
    ("Never use npm here.", "npm test", False),
    ("Never use npm here.", "pnpm test", True),
    ("Never use npm here.", "pytest", None),
    ("Never run `git push --force`.", "git push -f origin x", False),
    ("Never run `git push --force`.", "git push --force-with-lease origin x", True),
    ("Do not run `git add .`", "git add src/cart.py", True),
    ("Do not run `git add .`", "git add .", False),
    ("Don't run `rm -rf`", "rm -r -f build", False),
    ("Never use --no-verify.", "git commit --no-verify -m 'Add a cart'", False),
    ("Never use --no-verify.", "git commit -m 'Add a cart'", True),
    ("Avoid `sed -i`", "sed -i s/a/b/ x.py", False),
    # use X
    ("We use npm for this repo.", "npm install", True),
    ("We use npm for this repo.", "yarn add zod", False),
    ("The tests run with `make test`.", "make test", True),
    ("Run the tests with `make test`.", "pytest -q", False),
    ("Run the tests with `make test`.", "make lint", None),
    ("Run tests with pytest -q", "pytest -q tests/unit", True),
    ("Run tests with `pytest -q`", "pytest tests", None),
    ("Use vitest for tests.", "npx vitest run", True),
    ("Use vitest for tests.", "npx jest", False),
    ("Use `just fmt` to format the code.", "just fmt", True),
    ("Use `just fmt` to format the code.", "black src", False),
    # X before Z
    ("Always run `make lint` before committing.", "make lint / git commit -m 'Add a cart'", True),
    ("Always run `make lint` before committing.", "git commit -m 'Add a cart'", False),
    ("Always run `make lint` before committing.", "make lint", None),
    ("Before every commit, run make lint.", "make lint && git commit -m 'Add a cart'", True),
    ("Run `npm test` before each push", "npm test / git push", True),
    ("Run `npm test` before each push", "npm test / [Edit] a.ts / git push", None),
    ("Run `npm test` before each push", "npm test / (failed) / git push", None),
    # pushing and committing
    ("Never push to main.", "git push origin main", False),
    ("Never push to main.", "git push -u origin feature/cart", True),
    ("Never push to main.", "git push", None),
    ("Never push directly to `main`", "git push origin HEAD:main", False),
    ("Never push to main.", "git push origin maintenance", True),
    ("Never force-push.", "git push --force", False),
    ("Never force push", "git push origin x", True),
    ("Do not push, I do that myself.", "git commit -m 'Add a cart'", True),
    ("Do not push, I do that myself.", "git commit -m 'Add a cart' && git push", False),
    ("Never push without asking me.", "git push", None),
    ("Commit messages must follow Conventional Commits.", "git commit -m 'feat(cart): add coupons'", True),
    ("Commit messages must follow Conventional Commits.", "git commit -m 'Added coupons'", False),
    ("Commit messages must follow Conventional Commits.", "git status", None),
    ("Conventional Commits for commits, without emoji.", "git commit -m 'feat: ✨ add coupons'", False),
    ("Commit subjects start with the ticket, e.g. SHOP-123.", "git commit -m 'SHOP-7 Add coupons'", True),
    ("Commit subjects start with the ticket, e.g. SHOP-123.", "git commit -m 'Add coupons'", False),
    ("Commit subjects have at most 50 characters.", f"git commit -m '{'Add it ' * 10}'", False),
    ("Commits must be signed off.", "git commit -s -m 'Add coupons'", True),
    # places
    ("Do not touch src/generated/.", "[Edit] /home/dev/app/src/generated/api.ts", False),
    ("Do not touch src/generated/.", "[Read] /home/dev/app/src/generated/api.ts", True),
    ("Do not touch src/generated/.", "[Edit] /home/dev/app/src/main.ts", None),
    ("Never edit `package-lock.json` by hand.", "[Edit] /app/package-lock.json", False),
    ("Do not edit src/generated by hand; it comes from openapi.yaml.", "[Edit] src/generated/a.ts", False),
    ("Do not touch vendor/.", "[Edit] vendored/a.c", None),
    ("Do not touch vendor/.", "[Edit] vendor/a.c / (failed)", None),
    ("Put tests under tests/unit/.", "[Write] /app/tests/unit/test_cart.py", True),
    ("Put tests under tests/unit/.", "[Write] /app/src/test_cart.py", False),
    ("Put tests under tests/unit/.", "[Write] /app/src/latest.py", None),
    ("Migrations live in db/migrations/.", "[Write] /app/db/migrations/0001_migration.sql", True),
    ("The parser lives in src/parse/core.py.", "[Read] /app/src/parse/core.py", True),
    ("The parser lives in src/parse/core.py.", "[Read] /app/src/main.py", None),
    ("Do not commit .env files.", "git add .env", False),
    # a rule about another place, or for other times
    ("In web/ use pnpm, not npm.", "cd web && npm test", False),
    ("In web/ use pnpm, not npm.", "cd api && npm test", None),
    ("In web/ use pnpm, not npm.", "npm test", None),
    ("In shopfront use yarn workspaces, never npm.", "npm test", None),
    ("On Windows use npm, not pnpm.", "pnpm test", None),
    ("Use npm for the docs site, pnpm for the rest.", "npm test", None),
    ("Use npm unless pnpm is there.", "pnpm test", None),
    ("If the build fails, run `make clean`.", "make clean", None),
    # what tool calls cannot tell
    ("Use tabs, not spaces.", "npm test", None),
    ("Use date-fns, not moment.", "npm install moment", None),
    ("Answer briefly.", "npm test", None),
    ("`npm ci` breaks the build on Alpine.", "npm ci", None),
    ("No need to run `npm test`.", "npm test", None),
    ("We used to use yarn.", "yarn install", None),
    ("Tests run with pytest.", "npm test", None),
    ("Use bun for installs.", "pip install httpx", None),
    ("The notes must never be versioned in git.", "git add notes.md", None),
    ("The filesystem server runs in Docker.", "docker compose up", None),
    ("CI uses yarn.", "npm install", None),
    ("Tests fail with pytest 9.", "pytest", None),
    ("Never use sudo with npm.", "npm install", None),
    ("Do not edit db/ without asking.", "[Edit] db/schema.sql", None),
    # other languages
    ("Nutze pnpm statt npm.", "pnpm install", True),
    ("Bitte npm nicht verwenden, sondern pnpm.", "npm install", False),
    ("Niemals auf main pushen.", "git push origin main", False),
    ("Utilise pnpm au lieu de npm.", "npm install", False),
    ("N'utilise jamais npm.", "npm install", False),
    ("Usa pnpm en lugar de npm.", "pnpm install", True),
    ("Nunca uses npm.", "npm install", False),
    ("Use pnpm em vez de npm.", "pnpm install", True),
    ("Lance `make lint` avant chaque commit.", "git commit -m 'Add a cart'", False),
    # more of each
    ("The package manager is pnpm.", "pnpm install", True),
    ("Back to npm only: bun broke the Vercel build because the lockfile was not read.", "npm install", True),
    ("Do not edit src/generated by hand; it comes from openapi.yaml with npm run gen.", "npm run gen", None),
    ("Never deploy between 02:45 and 03:30 UTC.", "./deploy.sh", None),
    ("Secrets come from Doppler (doppler run --); no .env files in the repo.", "[Write] /app/.env", None),
    ("Use black for formatting.", "ruff format src", False),
    ("Please always run ruff before you commit", "git commit -m 'Add x y'", False),
    ("Never commit directly to main", "git commit -m 'Add x y'", None),
    ("Don't forget to run `make lint`.", "make lint", True),
    ("Never use sudo with npm.", "sudo npm i -g x", False),
    ("No sudo.", "sudo apt install x", False),
    ("Use python3, not python.", "python a.py", False),
    ("Use `make test` instead of calling pytest directly.", "make test", True),
    ("Use `make test` instead of calling pytest directly.", "python -m pytest tests/x.py", False),
    ("Tests go in tests/, not next to the code.", "[Write] /app/tests/test_x.py", None),
    ("Keep Dockerfile small.", "docker build .", None),
    ("After changing the schema run `npm run gen`.", "npm run gen", None),
    ("Always use `git pull --rebase`.", "git pull", None),
    ("Never use `git commit --amend`.", "git commit -m 'Fix it all'", True),
    ("Don't use git stash.", "git status", None),
    ("Use rg, not grep.", "ps aux | grep node", False),
    ("Install packages with uv add.", "uv add httpx", True),
    ("Install packages with `uv add`.", "uv pip install httpx", None),
    ("Run a single test file, not the whole suite: `pytest tests/test_x.py`", "pytest", None),
    ("Lint with `npm run lint`, never with eslint directly.", "npm run lint", True),
    ("Führe vor jedem Commit `make check` aus.", "git commit -m 'Add x y'", False),
    ("Ne modifie jamais src/gen/.", "[Edit] src/gen/a.ts", False),
    ("Ejecuta `npm test` antes de cada commit.", "npm test / git commit -m 'Add x y'", True),
    ("Nunca faça push para main", "git push origin main", False),
    ("Always write tests.", "pytest", None),
    ("You can use npm or yarn.", "npm i", None),
    ("npm is slow, use bun.", "npm i", False),
    ("The CI uses yarn.", "npm i", None),
    ("The docs say use npm.", "npm i", None),
    ("Never merge into main.", "git push origin main", None),
    ("Do not use pip; everything goes through uv.", "pip install x", False),
    ("Always run tests in watch mode", "pytest", None),
    ("Never run prettier on third_party/", "prettier --write src/x.js", None),
    ("Never run migrations against the production database by hand", "alembic upgrade head", None),
    ("Use bun for installs.", "npm test", None),
    ("Use bun for installs.", "npm install", False),
    ("Run the test suite via tox.", "tox -q", True),
    ("Run the test suite via tox.", "pytest", False),
    ("We test with pytest, please don't use unittest.", "python -m unittest", False),
    ("We test with pytest, please don't use unittest.", "python -m pytest -k x", True),
    ("please stop using npm, we have pnpm", "npm run build", False),
    ("please stop using npm, we have pnpm", "pnpm run build", True),
    ("Never ever run `npm audit fix`", "npm audit", None),
    ("Never ever run `npm audit fix`", "npm audit fix --force", False),
    ("Don't commit before I have looked at it.", "git commit -m 'Add it all'", None),
    ("Do not commit.", "git commit -m 'Add it all'", None),
    ("Commit messages in English, imperative mood.", "git commit -m 'Added it all'", None),
    ("Every commit needs a sign-off (git commit -s).", "git commit -m 'Add it all'", False),
    ("Branches are named feature/TICKET-123.", "git commit -m 'Add it all'", None),
    ("Never rebase shared branches.", "git rebase main", None),
    ("Use git switch, not git checkout.", "git checkout main", False),
    ("Use git switch, not git checkout.", "git switch main", True),
    ("Use `docker compose`, `docker-compose` is gone.", "docker compose ps", True),
    ("Use `docker compose`, `docker-compose` is gone.", "docker-compose ps", None),
    ("Never run docker system prune.", "docker system prune -f", False),
    ("Never run docker system prune.", "docker ps", None),
    ("Do not modify files in vendor/ or third_party/.", "[Edit] third_party/x.c", False),
    ("Leave legacy/ alone.", "[Edit] legacy/x.c", None),
    ("All scripts go in scripts/.", "[Write] scripts/deploy_script.sh", True),
    ("All API routes live under src/routes/.", "[Write] src/routes/cart_route.ts", True),
    ("All API routes live under src/routes/.", "[Write] src/cart_route.ts", False),
    ("Docs live in docs/; write them in Markdown.", "[Edit] docs/guide.md", True),
    ("Config is in config/settings.toml.", "[Read] config/settings.toml", True),
    ("Never write to stdout in src/server.ts", "[Edit] src/server.ts", None),
    ("README.md must stay short.", "[Edit] README.md", None),
    ("Do not create new markdown files.", "[Write] NOTES.md", None),
    ("Use ./scripts/test.sh to run tests", "./scripts/test.sh unit", True),
    ("Use ./scripts/test.sh to run tests", "pytest", False),
    ("Use `./dev test`, not pytest", "./dev test", True),
    ("Use `./dev test`, not pytest", "pytest -x", False),
    ("Use `npm run test:unit` for unit tests", "npm run test:e2e", None),
    ("Always pass --frozen-lockfile to pnpm install.", "pnpm install", None),
    ("Never pass --force to npm install.", "npm install --force", False),
    ("Use `git commit --no-verify` only in emergencies.", "git commit --no-verify -m 'Add it all'", None),
    ("psql is fine, but never run DROP TABLE.", "psql -c 'drop table x'", None),
    ("Bevorzuge rg gegenüber grep", "rg x", None),
    ("Tests immer mit `make test` ausführen, nie direkt mit pytest.", "pytest", False),
    ("Tests immer mit `make test` ausführen, nie direkt mit pytest.", "make test", True),
    ("Toujours lancer les tests avec `npm test`", "npm test", True),
    ("Siempre usa yarn", "npm i", False),
    ("Sempre rode `npm run lint` antes de commitar", "git commit -m 'Add it all'", False),
    ("Nicht auf master pushen!", "git push origin master", False),
    ("Ne pousse jamais sur main", "git push origin main", False),
]  # fmt: skip


def lines(calls: str) -> list[str]:
    return [call if call.startswith(("[", "(")) else f"[Bash] {call}" for call in calls.split(" / ")]


@pytest.mark.parametrize(("text", "calls", "expected"), CASES)
def test_is_followed_judges_tool_calls(text: str, calls: str, expected: bool | None) -> None:
    assert is_followed(Memory("m", text=text, kind=RULE), lines(calls)) is expected


def test_is_followed_returns_none_without_calls() -> None:
    rule = Memory("m", text="Use pnpm, not npm.", kind=RULE)
    assert is_followed(rule, []) is None
    assert is_followed(rule, ["I think npm install is next", ""]) is None


def test_is_followed_ignores_observations() -> None:
    assert is_followed(Memory("m", text="Use pnpm, not npm.", kind=OBSERVATION), ["[Bash] npm i"]) is None


def test_is_followed_accepts_use_of_a_fact() -> None:
    fact = Memory("m", text="The schema lives in src/db/schema.ts.", kind=FACT)
    assert is_followed(fact, ["[read_file] src/db/schema.ts"]) is True


def test_is_followed_survives_hostile_text() -> None:
    for text in (
        "`" * 999,
        "never " * 500,
        "use " + "(" * 500,
        "not not `npm" * 50,
        "a/" * 400,
        "\x00`rm -rf /`",
    ):
        for calls in ('git commit -m "' * 9, "$(" * 200, "<<EOF " * 50, "[" * 300, "git push " + "-" * 300):
            assert is_followed(Memory("m", text=text, kind=RULE), [f"[Bash] {calls}"]) in (None, True, False)
