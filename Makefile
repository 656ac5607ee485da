# Everything a machine with Python (3.11 or later) and make needs.
#   make demo        set up, play 1,000,000 deals of each game, tables in out/, a summary on the screen
#   make test        set up, pass every check and test
#   make test-long   the tests that take longer than a developer waits
#   make fuzz        what may stand in files and options, at random, for some ten minutes (EXAMPLES=5000 for each kind)
#   make bench       measure against C and other programs (some ten minutes, an idle machine): benchmarks/report/

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
WORKERS ?= 2
# BENCH=--quick for rough figures in about three minutes
BENCH ?=
EXAMPLES ?= 5000

.PHONY: all demo test test-long fuzz bench lint regen clean

all: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $(STAMP)

demo: $(STAMP)
	$(BIN)/simcore simulate elections --deals 1000000 --seed 1 --rounds --out out/elections --overwrite
	$(BIN)/simcore simulate showcase --deals 1000000 --seed 1 --out out/showcase --overwrite
	@echo "The tables are in out/elections and out/showcase."

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

test: lint
	$(BIN)/simcore warm --quiet
	$(BIN)/python -m pytest -q -n $(WORKERS) --dist loadfile -m "not long"

test-long: $(STAMP)
	$(BIN)/python -m pytest -q -m "long"

fuzz: $(STAMP)
	$(BIN)/simcore warm --quiet
	SIMCORE_FUZZ_EXAMPLES=$(EXAMPLES) $(BIN)/python -m pytest -q tests/test_fuzz.py

bench: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[bench]'
	$(BIN)/simcore warm --quiet
	$(BIN)/python -m benchmarks.report $(BENCH)

regen: $(STAMP)
	$(BIN)/python -m pytest -q tests/test_cli.py -k golden --regen
	$(BIN)/python -m pytest -q tests/test_perft.py -k made --regen

clean:
	rm -rf $(VENV) out build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
