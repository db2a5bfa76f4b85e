# What a developer does here. `make help` lists it. Needs Python 3.11+ and Node.js 20+ on PATH, and nothing else.

SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

VENV := .venv
BIN := $(VENV)/bin
APP := schedviz/web/static/app

# For `make demo`.
PORT ?= 8777
LISTEN ?=
TLS_CERT ?=
TLS_KEY ?=
DATA ?=
DEMO_FLAGS ?=
# For `make pictures`.
ACCEPT ?=
# For `make lock`.
KEEP ?=

# Files that say "this step is done"; each is older than what it was made from when the step is due again.
INSTALLED := $(VENV)/.installed
PACKAGES := frontend/node_modules/.installed
BUILT := $(APP)/.vite/manifest.json

FRONTEND_SOURCES := $(shell find frontend \( -name node_modules -o -name __pycache__ -o -name tests -o -name scripts \) -prune -o \
    -type f -not -name '*.md' -print 2>/dev/null)

.PHONY: help setup demo test check e2e pictures bench bench-docs gen docs lock dist audit sbom clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# ---------------------------------------------------------------------------------------------------------------- setup

setup: $(INSTALLED) $(PACKAGES) $(BUILT) ## Make .venv, install what is needed, build the front end

$(INSTALLED): requirements.lock pyproject.toml
	@echo "Installing the Python packages of requirements.lock into $(VENV)"
	@python="$$(tools/find-python)" && { [ -x $(BIN)/python ] || "$$python" -m venv $(VENV); }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

$(PACKAGES): frontend/package.json frontend/package-lock.json
	@echo "Installing the packages of frontend/package-lock.json"
	@tools/find-node
	@cd frontend && npm ci --no-audit --no-fund --loglevel=error
	@touch $@

$(BUILT): $(PACKAGES) $(FRONTEND_SOURCES)
	@echo "Building the page"
	@cd frontend && npm run --silent build -- --logLevel=warn
	@touch $@

# ------------------------------------------------------------------------------------------------------------------ run

demo: setup ## Run everything on this machine (PORT=8777 DATA=folder; for others: LISTEN=0.0.0.0 TLS_CERT=file TLS_KEY=file)
	@exec $(BIN)/schedviz up --port $(PORT) $(if $(DATA),--data "$(DATA)") $(if $(LISTEN),--listen "$(LISTEN)") \
	    $(if $(TLS_CERT),--tls-cert "$(TLS_CERT)") $(if $(TLS_KEY),--tls-key "$(TLS_KEY)") $(DEMO_FLAGS)

bench: setup ## Measure scheduling cycles
	$(BIN)/schedviz bench

bench-docs: setup ## Measure everything and write docs/performance.md (an hour)
	$(BIN)/python -m tests.bench --write

# ---------------------------------------------------------------------------------------------------------------- tests

test: setup ## Everything that must hold before a change lands
	@$(BIN)/python tests/run_all.py all

check: setup ## Format, lint, types, import rules, generated files
	@$(BIN)/python tests/run_all.py check

e2e: setup ## The browser tests
	$(BIN)/python -m pytest tests/e2e

pictures: setup ## Take pictures of every view into build/pictures, compare 40 with their references (ACCEPT=1: take these anew)
	$(BIN)/python -m tests.pictures $(if $(ACCEPT),--accept)

# ------------------------------------------------------------------------------------------------------ files made of files

gen: setup ## Write the generated files again: the wire's JSON Schema, the front end's types
	$(BIN)/python -m schedviz.web.wire_schema
	$(BIN)/python -m frontend.scripts.generate_types
	$(BIN)/python -m frontend.scripts.generate_schema

docs: setup ## Build the documentation as a site in site/, searchable without a network
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict
	@echo "Open site/index.html"

lock: ## Write the lock files again from pyproject.toml: newest versions (KEEP=1: those that are locked already)
	@tools/lock $(if $(KEEP),--keep)

dist: setup ## Build sdist and wheel into dist/
	rm -rf dist
	$(BIN)/python -m hatchling build --directory dist

audit: ## Ask which locked packages are known to be vulnerable (needs the network)
	@tools/audit

sbom: ## Write what schedviz is made of (CycloneDX) into dist/
	@tools/sbom

clean: ## Remove everything that was made here, but not your data
	rm -rf $(VENV) .venv-audit frontend/node_modules $(APP) dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
