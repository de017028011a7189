# On a fresh machine: `make demo` shows what told does, `make test` checks all of it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: install demo test check bench clean

install: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable . --group dev
	@touch $@

check: install
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

test: check
	@$(BIN)/pytest

demo: install
	@$(BIN)/python -m demo

# `make bench BENCH=--quick` takes a smaller size; docs/benchmarks.md says what is measured.
bench: install
	@$(BIN)/python -m benchmarks ingest $(BENCH)
	@$(BIN)/python -m benchmarks recall $(BENCH)

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
