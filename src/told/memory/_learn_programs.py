"""What told knows of programs: their names, which of them do the same work, and which work that is."""

from __future__ import annotations

from told.memory._observe_shell import Command, plain_words

_NAMES_WORDS = """
alembic ansible apt aws bazel biome black brew buck bun bundle cargo cmake composer conda corepack ctest
curl cypress deno docker docker-compose dotnet eslint fd flake8 flyctl gcloud gh git gofmt golangci-lint
gradle gradlew grep hatch helm isort jest kubectl lerna mise mocha mvn mvnw mypy nox npm npx nvm nx pdm
phpunit pip pip3 pipenv playwright pnpm podman poetry pre-commit prettier prisma psql pylint pyright pytest
python python3 rails rake rg rspec rubocop ruff rustfmt rye sbt sed sudo terraform tofu tox tsc turbo
unittest uv uvx vitest webpack wget yarn yapf
"""
NAMES = frozenset(_NAMES_WORDS.split())
# Words of plain language, too: only with what they do behind them.
_SPOKEN_WORDS = "find go just make mix node task nose time"
SPOKEN = frozenset(_SPOKEN_WORDS.split())
_SUBCOMMANDS_WORDS = """
add amend apply audit branch build check checkout cherry-pick ci clean clone commit compose create
deploy dev diff dlx down env exec fetch fix fmt format generate i image init install lint log logs
merge migrate pip plan prune ps publish pull push rebase release remove reset restore rm run serve
start stash status switch sync system tag test tests up update upgrade verify volume
"""
SUBCOMMANDS = frozenset(_SUBCOMMANDS_WORDS.split())

# Of each of these a project has one: to use another is not to use it.
_FAMILIES = (
    frozenset(("npm", "pnpm", "yarn", "bun")),
    frozenset(("pip", "pip3", "uv", "poetry", "pipenv", "pdm", "conda")),
    frozenset(("docker", "podman")),
    frozenset(("python", "python3")),
    frozenset(("jest", "vitest", "mocha")),
    frozenset(("pytest", "unittest", "nose")),
    frozenset(("rg", "grep")),
    frozenset(("curl", "wget")),
    frozenset(("black", "yapf")),
    frozenset(("gradle", "gradlew", "mvn", "mvnw")),
    frozenset(("terraform", "tofu")),
)
_INSTALLERS_WORDS = "bun cargo conda npm pdm pip pip3 pipenv pnpm poetry uv yarn"
_INSTALLERS = frozenset(_INSTALLERS_WORDS.split())
_INSTALLS = ("install", "add", "i", "ci", "sync", "remove", "uninstall")
_RUNNERS_WORDS = """
bun cargo composer deno dotnet go gradle gradlew just make mix mvn mvnw npm nx pnpm rails rake swift task
turbo yarn
"""
_RUNNERS = frozenset(_RUNNERS_WORDS.split())
_DOES = {
    "test": ("pytest unittest jest vitest mocha tox nox rspec phpunit ctest nose", "test tests test:unit t"),
    "lint": ("eslint flake8 pylint rubocop golangci-lint", "lint lint:fix clippy"),
    "format": ("black prettier yapf gofmt rustfmt", "format fmt"),
    "build": ("webpack cmake", "build compile package"),
    "check": ("mypy pyright tsc", "typecheck type-check check"),
}


_WORLDS = {
    "js": """biome bun cypress deno eslint jest mocha npm npx nx playwright pnpm prettier tsc turbo vitest
        webpack yarn""",
    "python": """black conda flake8 hatch isort mypy nose nox pdm pip pip3 pipenv poetry pylint pyright pytest
        python python3 ruff rye tox unittest uv yapf""",
    "rust": "cargo rustfmt",
    "go": "go gofmt golangci-lint",
    "java": "gradle gradlew mvn mvnw sbt",
    "ruby": "bundle rails rake rspec rubocop",
    "php": "composer phpunit",
}
_WORLD = {name: world for world, names in _WORLDS.items() for name in names.split()}
# Too common to be asked for or forbidden by their bare names, unless against another.
_EVERYWHERE_WORDS = "aws docker gcloud gh git helm kubectl psql python python3 terraform"
EVERYWHERE = frozenset(_EVERYWHERE_WORDS.split())


def may_replace(command: Command, program: str) -> bool:
    """Whether a command could stand in for a program: one of JavaScript's does not for one of Python's."""
    world = _WORLD.get(program)
    return world is None or _WORLD.get(command.layers[-1][0]) == world


def family(program: str) -> frozenset[str]:
    """Return the programs of which a project has only one, this one included."""
    return next((kin for kin in _FAMILIES if program in kin), frozenset((program,)))


def does(command: Command, task: str) -> bool:
    """Whether a command plainly does a kind of work: test, lint, format, build, check or install."""
    return any(_does(plain_words(layer), layer, task) for layer in command.layers)


def _does(plain: list[str], layer: tuple[str, ...], task: str) -> bool:
    if not plain:
        return False
    program, rest = plain[0], [word for word in plain[1:] if word != "run"]
    if task == "install":
        return program in _INSTALLERS and any(word in _INSTALLS for word in rest[:2])
    if program == "ruff":
        return task == ("format" if "format" in rest[:1] else "lint")
    programs, verbs = (words.split() for words in _DOES.get(task, ("", "")))
    if program in programs:
        return "--version" not in layer and "--help" not in layer
    return program in _RUNNERS and any(verb in rest[:1] for verb in verbs)
