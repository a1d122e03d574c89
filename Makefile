# `make demo` and `make test` set everything up by themselves; the second run is quick.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# what the command needs, and what developers need
READY := $(VENV)/.ready
INSTALLED := $(VENV)/.installed

.PHONY: demo test bench clean

demo: $(READY)
	$(BIN)/mbauc demo

test: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest

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

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis mbauc-demo
