# The commands of the project. A fresh machine needs Python 3.11, make and git; then `make run`.
.DEFAULT_GOAL := help
SHELL := /bin/bash
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
KEDRO := $(BIN)/kedro
export KEDRO_DISABLE_TELEMETRY := 1
export MLFLOW_DISABLE_TELEMETRY := true
export DO_NOT_TRACK := true

.PHONY: help run test lint types tests coverage format benchmark viz viz-build mlflow sample record lock check-312 clean

help: ## List the commands
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(STAMP): requirements.lock pyproject.toml
	@echo "Making $(VENV) from requirements.lock (a few minutes the first time)"
	@$(PYTHON) -c 'import sys; sys.exit(0 if (3, 11) <= sys.version_info[:2] < (3, 13) else "Python 3.11 or 3.12 is needed, this is " + sys.version.split()[0] + ": make PYTHON=python3.11")'
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.lock
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $(STAMP)

run: $(STAMP) ## Run every pipeline on the sample collection
	@echo "Running every pipeline on the sample collection (kedro run)"
	@$(KEDRO) run

test: lint types tests ## Run lint, types and tests

lint: $(STAMP) ## Check style (ruff)
	@echo "Checking style"
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check

types: $(STAMP) ## Check types (mypy)
	@echo "Checking types"
	@$(BIN)/mypy

tests: $(STAMP) ## Run the tests
	@echo "Running the tests"
	@$(BIN)/pytest --numprocesses 2 --dist loadfile

coverage: $(STAMP) ## Run the tests with their coverage, which takes nearly twice as long
	@echo "Running the tests, with coverage"
	@$(BIN)/pytest --numprocesses 2 --dist loadfile --cov --cov-report term:skip-covered

format: $(STAMP) ## Format the code
	@$(BIN)/ruff check --fix
	@$(BIN)/ruff format

benchmark: $(STAMP) ## Run the benchmarks (not part of the tests)
	@echo "Running the benchmarks"
	@$(BIN)/pytest tests/benchmarks --override-ini addopts=--import-mode=importlib -s

viz: $(STAMP) ## Browse the lineage in Kedro-Viz
	@$(KEDRO) viz run

viz-build: $(STAMP) ## Make a static site of the lineage in build/
	@echo "Making the static site in build/ (serve it: python3 -m http.server -d build)"
	@$(KEDRO) viz build --include-previews

mlflow: $(STAMP) ## Browse the tracked runs in MLflow
	@$(KEDRO) mlflow ui

sample: $(STAMP) ## Make the sample collection again from its generator
	@echo "Writing data/01_raw/sample"
	@$(BIN)/python -m tests.sample_collection

record: $(STAMP) ## Record the sample's replies again (from a server at 127.0.0.1:8080, see README)
	@echo "Recording the replies of smollm2-135m-instruct"
	@$(KEDRO) run --env record --pipelines ingestion,human_qrels,llm_judging
	@$(KEDRO) replies export data/01_raw/sample/replies/smollm2-135m-instruct.jsonl --env record

lock: $(STAMP) ## Resolve the dependencies anew into requirements.lock
	@echo "Resolving the dependencies into requirements.lock"
	@$(BIN)/pip-compile --quiet --all-extras --upgrade --strip-extras --no-header --no-annotate \
	    --no-emit-index-url --no-emit-find-links --no-emit-trusted-host \
	    --allow-unsafe --output-file requirements.lock pyproject.toml
	@sed -i -E '/^(nvidia-|triton|cuda-|pip==|#|$$)/d; s/\+cpu$$//' requirements.lock

check-312: $(STAMP) ## Check that the lock also resolves for Python 3.12
	@echo "Resolving requirements.lock for Python 3.12"
	@$(BIN)/uv pip compile --quiet --python-version 3.12 requirements.lock > /dev/null

clean: ## Remove what runs have made; the raw data stays
	rm -rf data/0[2-8]_* build .viz mlflow.db mlartifacts
