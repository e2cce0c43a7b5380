# Everything runs in .venv, built here with the versions of constraints.txt; nothing outside this folder changes.

PYTHON ?= python3.11 python3
BIN := .venv/bin
PEERS := .venv-peers/bin
INSTALL_INTO := python -m pip install -qq --disable-pip-version-check --no-build-isolation --constraint constraints.txt
INSTALL := $(BIN)/$(INSTALL_INTO)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test lint deep coverage bench peers reality certify diagnose pages clean

# Starting fast is a feature of the tool, so its bytecode is kept whatever the caller's shell says.
unexport PYTHONDONTWRITEBYTECODE

help: ## Say what can be made
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' Makefile

demo: .venv/.runtime ## Pose an exercise, submit a wrong answer and a right one
	@$(BIN)/python scripts/demo.py

test: lint ## Run all that decides whether a change is fit to land: lint, types and every test
	@HYPOTHESIS_PROFILE=ci $(BIN)/python -m pytest --numprocesses auto --dist worksteal

lint: .venv/.test ## Check style, layout and types
	@$(BIN)/ruff check --quiet
	@$(BIN)/ruff format --check --quiet
	@$(BIN)/mypy --no-error-summary

# What starts commands or writes files is left out: more of the same examples would take hours and show nothing new.
DEEP := tests/spec tests/serving tests/problems tests/conformance tests/reality \
    tests/grader/test_reading_*.py tests/grader/test_judging*.py tests/meta/test_kills.py

deep: .venv/.test ## Run each sentence on 10,000 examples, all else on three times as many, families on 2,000 seeds (long)
	@HYPOTHESIS_PROFILE=deep $(BIN)/python -m pytest --numprocesses auto --dist worksteal $(DEEP)

coverage: .venv/.test ## List the lines that no test reaches
	@HYPOTHESIS_PROFILE=ci $(BIN)/coverage run -m pytest --quiet
	@$(BIN)/coverage report

bench: .venv/.bench ## Measure the speed side by side with the peers
	@$(BIN)/python -m bench

reality: .venv-reality/.made ## Build tiny models with transformers and compare parameters and caches (fetches 300 MB)
	@HF_HUB_OFFLINE=1 HYPOTHESIS_PROFILE=ci .venv-reality/bin/python -m pytest tests/live

peers: .venv-peers/.made ## Hold public packages against the laws, beside each other (long)
	@$(PEERS)/python -W ignore examples/candidates/run.py
	@$(PEERS)/python -W ignore -c "import os; from bench import peers; print(peers.run(), flush=True); os._exit(0)"

certify: .venv/.runtime ## Compute the certificate of every family again, and what practice chooses by
	@$(BIN)/python -m grader.certify
	@$(BIN)/python -m grader.practising

TABLE ?= tests/data/mistakes.tsv

diagnose: .venv/.test ## Diagnose published numbers, the same typed in as answers, and simulated learners: TABLE=FILE
	@$(BIN)/python tests/diagnose_table.py $(TABLE)
	@echo; $(BIN)/python tests/diagnose_answers.py $(TABLE)
	@echo; $(BIN)/python tests/diagnose_learners.py

pages: .venv/.runtime ## Write the pages that are made from the laws
	@$(BIN)/python -m spec.handbook > .page && mv .page spec/README.md
	@$(BIN)/python -m spec.conformance > .page && mv .page spec/conformance/README.md

clean: ## Remove what make and the tests made
	@rm -rf .venv .venv-peers .venv-reality .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache build dist
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# One empty file per finished step: a second make installs nothing until the versions change.
.venv/.made:
	@for python in $(PYTHON); do \
	    "$$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue; \
	    "$$python" -m venv .venv && touch $@ && exit; \
	done; \
	echo "No Python 3.11 or newer with venv and pip found among: $(PYTHON). Name one with: make PYTHON=/path/to/python3" >&2; \
	exit 1

.venv/.runtime: .venv/.made pyproject.toml constraints.txt
	@$(INSTALL) hatchling
	@$(INSTALL) --editable .
	@$(BIN)/python -m compileall -q spec grader problems
	@touch $@

.venv/.test: .venv/.runtime
	@$(INSTALL) --editable '.[test,lint]'
	@touch $@

.venv/.bench: .venv/.runtime
	@$(INSTALL) --editable '.[bench]'
	@touch $@

# A folder of its own: it takes a gigabyte, and nothing else needs it.
.venv-reality/.made: .venv/.made pyproject.toml constraints.txt
	@$(BIN)/python -m venv .venv-reality
	@.venv-reality/bin/$(INSTALL_INTO) hatchling
	@.venv-reality/bin/$(INSTALL_INTO) --editable '.[reality]'
	@touch $@

# Their own bounds contradict each other, so nothing is resolved: the list names all that is needed.
.venv-peers/.made: .venv/.made examples/candidates/requirements.txt
	@$(BIN)/python -m venv .venv-peers
	@$(PEERS)/python -m pip install -qq --disable-pip-version-check --no-deps --requirement examples/candidates/requirements.txt
	@touch $@
