# `make demo` and `make test` set everything up by themselves; the second run is quick.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# what the command needs, and what developers need
READY := $(VENV)/.ready
INSTALLED := $(VENV)/.installed
DOCUMENTED := $(VENV)/.documented
# the oldest versions that pyproject.toml allows
OLDEST := .venv-oldest
OLDEST_PYTHON ?= python3.11
# what builds and checks releases
RELEASE := .venv-release

# the loop of daily work: all but the tests that take long, start Spark or open a browser, with few made-up examples
FAST := not slow and not spark and not browser and not faults

.PHONY: demo test test-fast test-faults test-oldest docs docs-links dist bench clean
# moments at which each command is hit, and files that are changed at random
MOMENTS ?= 50
MUTATIONS ?= 50000

demo: $(READY)
	$(BIN)/mbauc demo

test: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest

# types are quick where only a few files have changed; who works on the paper's studies adds 'pytest tests/paper'
test-fast: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	EXAMPLES=10 $(BIN)/pytest -m '$(FAST)' --ignore tests/paper tests

# what the daily tests have no time for: signals at any moment, full disks and the like, and made-up files
test-faults: $(INSTALLED)
	$(BIN)/pytest -m faults -n 0 tests/faults --moments $(MOMENTS)
	$(BIN)/python tests/faults/mutate.py --count $(MUTATIONS)

# the fast tests with the oldest versions that pyproject.toml allows; TESTS=tests/solvers is a part of them
TESTS ?= tests
test-oldest: $(OLDEST)/.ready
	EXAMPLES=10 $(OLDEST)/bin/python -m pytest -m '$(FAST)' --ignore tests/paper $(TESTS)

# the sdist and the wheel in dist/, the same bytes each time, tried out with nothing but the newest and the oldest dependencies
dist: $(RELEASE)/.ready
	$(RELEASE)/bin/python .ci/dist.py --oldest-python $(OLDEST_PYTHON)

# the pages of docs/ as a site in docs/_build/html; warnings are errors, and nothing is fetched
docs: $(DOCUMENTED)
	$(BIN)/sphinx-build --fail-on-warning --keep-going --quiet -b html docs docs/_build/html

# addresses outside, which takes a network
docs-links: $(DOCUMENTED)
	DOCS_GALLERY=0 $(BIN)/sphinx-build --fail-on-warning --keep-going --quiet -b linkcheck docs docs/_build/linkcheck

bench: $(INSTALLED)
	$(BIN)/pip install --quiet --editable '.[benchmarks]'
	$(BIN)/python -m benchmarks

$(READY): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet --editable '.[plots,progress,dataframes,completion]'
	touch $@

$(INSTALLED): $(READY)
	$(BIN)/pip install --quiet --editable '.[dev]'
	touch $@

$(DOCUMENTED): $(READY)
	$(BIN)/pip install --quiet --editable '.[docs]'
	touch $@

# pyproject.toml is the only place that says which versions these are
$(OLDEST)/.ready: pyproject.toml
	rm -rf $(OLDEST)
	$(OLDEST_PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/pip install --quiet uv
	$(OLDEST)/bin/uv pip install --quiet --python $(OLDEST)/bin/python --resolution lowest-direct --editable '.[dev,boosting]'
	touch $@

$(RELEASE)/.ready:
	$(PYTHON) -m venv $(RELEASE)
	$(RELEASE)/bin/pip install --quiet build check-wheel-contents twine uv
	touch $@

clean:
	rm -rf $(VENV) $(OLDEST) $(RELEASE) dist .pytest_cache .mypy_cache .ruff_cache .hypothesis mbauc-demo
	rm -rf docs/_build docs/gallery docs/reference/generated docs/_static/generated docs/sg_execution_times.rst
