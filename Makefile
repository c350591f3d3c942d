# One definition of "good": people, hooks and CI call the same targets.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

DOCS := dist/docs-env

.PHONY: help demo test browser docs soak bench repeat lint fmt typecheck lock clean images kind-load operators e2e

help: ## this text
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(READY): requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "GPUYard needs Python 3.11 or newer: make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

demo: $(READY) ## one scenario of each topic on the embedded cluster
	$(BIN)/gpuyard demo

test: $(READY) ## everything that needs no Docker
	$(BIN)/pytest tests/

browser: $(READY) ## the live yard in a real browser (Debian's chromium)
	GPUYARD_BROWSER=1 $(BIN)/pytest -q tests/e2e/browser

repeat: $(READY) ## every example 20 times on steps and embedded, with the same answer
	for i in $$(seq 20); do $(BIN)/pytest -q tests/e2e/test_examples.py -k on_embedded_with_just || exit 1; done

soak: $(READY) ## 2,000 random events against a kubelet, 500 gangs in a storm: nothing held for nobody, nobody forgotten
	GPUYARD_SOAK_EVENTS=2000 GPUYARD_SOAK_GANGS=500 $(BIN)/pytest -q tests/e2e/test_soak.py tests/e2e/test_gang_soak.py

bench: $(READY) ## measure; ONLY=extender for one part
	$(BIN)/python -m benchmarks.$(or $(ONLY),extender)

lint: $(READY) ## style and import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

fmt: $(READY) ## mend style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

typecheck: $(READY) ## mypy --strict
	$(BIN)/mypy

docs: $(DOCS)/.ready ## the documentation as a site in dist/site, every link checked
	NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs build --strict --quiet
	@echo "dist/site/index.html; to read it: $(PYTHON) -m http.server --directory dist/site"

$(DOCS)/.ready: docs/requirements.lock
	$(PYTHON) -m venv $(DOCS)
	$(DOCS)/bin/pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

lock: ## pin the newest versions that pyproject.toml allows (needs uv)
	uv pip compile pyproject.toml --extra test --generate-hashes --no-emit-index-url --no-emit-find-links \
	  --no-header --no-annotate --universal --python-version 3.11 -o requirements.lock
	uv pip compile docs/requirements.in --generate-hashes --no-emit-index-url --no-emit-find-links \
	  --no-header --no-annotate --universal --python-version 3.11 -o docs/requirements.lock

clean:
	rm -rf .venv dist

images: $(READY) ## the components' container images (BASE= names another base image)
	kind/images.sh build

kind-load: ## load the images into the kind cluster (CLUSTER=gpuyard)
	kind/images.sh load $(or $(CLUSTER),gpuyard)

operators: $(READY) ## operators of others, unmodified, on embedded clusters (needs Go)
	kind/operators.sh

e2e: $(READY) ## examples and cases on a real kind cluster of its own (KEEP=1 keeps it), and `operators`
	kind/e2e.sh
