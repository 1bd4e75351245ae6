# Everything a newcomer or a pipeline needs. `make` alone lists the targets.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet
STATIC := app/web/static/vendor/.built

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  %-10s %s\n", $$1, $$2}'

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit("Halve needs Python 3.11 or newer; set PYTHON=python3.x" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)

# The hashed lock first, then the project itself without asking an index again.
$(VENV)/.core: requirements.lock pyproject.toml | $(BIN)/python
	$(PIP) install --require-hashes -r requirements.lock
	$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.test: requirements-test.lock $(VENV)/.core
	$(PIP) install --require-hashes -r requirements-test.lock
	@touch $@

$(STATIC): app/web/assets/package.json app/web/assets/package-lock.json tools/build_assets.py $(VENV)/.core
	$(BIN)/python tools/build_assets.py
	@touch $@

setup: $(VENV)/.core $(STATIC) ## install Halve into .venv and build the front-end files

demo: setup ## a month of a made company's traffic, analysed and served at http://127.0.0.1:8080
	$(BIN)/halve demo

serve: setup ## run the service on the data folder (HALVE_DATA_DIR, default ./data)
	$(BIN)/halve serve

test: $(VENV)/.test $(STATIC) ## install what tests need and run them all
	$(BIN)/pytest -n auto --maxprocesses 4 --dist loadfile

check: $(VENV)/.test ## format, lint, types, layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

validate: $(VENV)/.test ## compare totals on the public data sets (HALVE_DATA) and on the demo with the known truths
	$(BIN)/python tools/validate.py

bench: $(VENV)/.test ## speed and memory of ingest, pricing, replay, analysis and pushes
	$(BIN)/python tools/bench_ingest.py
	$(BIN)/python tools/bench_pricing.py
	$(BIN)/python tools/bench_replay.py
	$(BIN)/python tools/bench_analysis.py
	$(BIN)/python tools/bench_push.py

soak: $(VENV)/.test ## kill the ingest at 50 random moments and compare with an undisturbed run
	HALVE_SOAK=full $(BIN)/pytest -m soak

fuzz: $(VENV)/.test ## an hour of damaged records of every format
	$(BIN)/python tools/fuzz_formats.py --minutes 60

lock: $(VENV)/.test ## resolve the dependencies anew into the hashed lock files
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
		--no-emit-index-url --no-emit-find-links --extra build pyproject.toml -o requirements.lock
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
		--no-emit-index-url --no-emit-find-links --all-extras pyproject.toml -o requirements-test.lock

shots: $(VENV)/.test $(STATIC) ## screenshots of every page of a running service into ./shots
	$(BIN)/python tools/shots.py

.PHONY: help setup demo serve test check validate bench soak fuzz lock shots
