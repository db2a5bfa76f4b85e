# The commands for development; `make help` lists them. They need Python 3.11+ and Node.js 20.19+ on PATH, and nothing else.

SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

VENV := .venv
BIN := $(VENV)/bin
APP := schedviz/web/static/app
REPORT := schedviz/experiments/report/built

# Variables of `make demo`.
PORT ?= 8777
LISTEN ?=
TLS_CERT ?=
TLS_KEY ?=
DATA ?=
DEMO_FLAGS ?=
# Of `make pictures`.
ACCEPT ?=
# Of `make lock`.
KEEP ?=

# Marker files: a step runs again when one of its sources is newer than its marker.
INSTALLED := $(VENV)/.installed
PACKAGES := frontend/node_modules/.installed
BUILT := $(APP)/.vite/manifest.json

FRONTEND_SOURCES := $(shell find frontend \( -name node_modules -o -name __pycache__ -o -name tests -o -name scripts \) -prune -o \
    -type f -not -name '*.md' -print 2>/dev/null)

.PHONY: help setup demo test quick check e2e pictures bench bench-docs gen docs lock dist audit sbom clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# ---------------------------------------------------------------------------------------------------------------- setup

setup: $(INSTALLED) $(PACKAGES) $(BUILT) ## Create .venv, install the packages, build the front end

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

demo: setup ## Run schedviz on this machine (PORT=8777 DATA=folder; on the network: LISTEN=0.0.0.0 TLS_CERT=file TLS_KEY=file)
	@exec $(BIN)/schedviz up --port $(PORT) $(if $(DATA),--data "$(DATA)") $(if $(LISTEN),--listen "$(LISTEN)") \
	    $(if $(TLS_CERT),--tls-cert "$(TLS_CERT)") $(if $(TLS_KEY),--tls-key "$(TLS_KEY)") $(DEMO_FLAGS)

bench: setup ## Measure scheduling cycles
	$(BIN)/schedviz bench

bench-docs: setup ## Run all measurements and write docs/performance.md (an hour)
	$(BIN)/python -m tests.bench --write

# ---------------------------------------------------------------------------------------------------------------- tests

test: setup ## Run everything that CI runs: all checks and tests
	@$(BIN)/python tests/run_all.py all

quick: setup ## Run format, lint, types, retired words, engine and front-end unit tests, in under a minute
	@$(BIN)/python tests/run_all.py quick

check: setup ## Check format, lint, types, retired words, import rules, generated files
	@$(BIN)/python tests/run_all.py check

e2e: setup ## Run the browser tests
	$(BIN)/python -m pytest tests/e2e

pictures: setup ## Take pictures of every view into build/pictures and compare 40 with their references (ACCEPT=1: replace the references)
	$(BIN)/python -m tests.pictures $(if $(ACCEPT),--accept)

# ------------------------------------------------------------------------------------------------------ generated files

gen: setup ## Write the generated files: JSON Schemas of wire and editor, the front end's types, glossary, synchronous client, thumbnails of cases
	$(BIN)/python -m schedviz.web.wire_schema
	$(BIN)/python -m frontend.scripts.generate_types
	$(BIN)/python -m frontend.scripts.generate_schema
	$(BIN)/python -m frontend.scripts.generate_glossary
	$(BIN)/python tools/unasync.py
	$(BIN)/python tools/case_thumbnails.py

docs: setup ## Build the documentation site in site/, with a search that works offline
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict
	@echo "Open site/index.html"

lock: ## Write the lock files from pyproject.toml with the newest versions (KEEP=1: keep the locked versions)
	@tools/lock $(if $(KEEP),--keep)

dist: setup ## Build sdist and wheel into dist/
	rm -rf dist
	$(BIN)/python -m hatchling build --directory dist

audit: ## List the locked packages with known vulnerabilities (needs the network)
	@tools/audit

sbom: ## Write the software bill of materials (CycloneDX) into dist/
	@tools/sbom

clean: ## Remove everything that make created, but not your data
	rm -rf $(VENV) .venv-audit frontend/node_modules $(APP) $(REPORT) dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
