# What a developer, a user and CI run.  Every target may be called again: finished steps are skipped.
#
#   make demo    set up, then turn a real library into tasks and play one, in the terminal
#   make test    set up, start what the tests need, run them, stop what was started
#   make check   lint, format, types, floors        make setup   the virtual environment only
#   make bench   times of reset, step and grading    make lock    compile requirements/ again
#   make wheel   build the wheel, install it in an empty environment and play from there
#   make suites  generate the shipped tasks again and verify them

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip
INSTALL := $(PIP) install -qq --disable-pip-version-check --require-hashes
SYSTEM := sh scripts/system_packages.sh

.PHONY: setup demo test check bench wheel suites lock clean
.DELETE_ON_ERROR:

setup: $(VENV)/.runtime
	@$(SYSTEM) bwrap:bubblewrap mmdebstrap:mmdebstrap

demo: setup
	@$(BIN)/codeenv demo

test: $(VENV)/.training
	@$(SYSTEM) bwrap:bubblewrap mmdebstrap:mmdebstrap dockerd:docker.io docker:docker-cli iptables:iptables \
	  chromium:chromium tmux:tmux
	@$(BIN)/python scripts/with_docker.py env CI=$${CI:-true} $(BIN)/python -m pytest

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: setup
	@$(BIN)/python harness/benchmarks/latency.py
	@$(BIN)/python harness/benchmarks/boxes.py
	@$(BIN)/python harness/benchmarks/episodes.py
	@$(BIN)/python harness/benchmarks/grading.py

wheel: $(VENV)/.test
	@bash scripts/check_wheel.sh

suites: setup
	@sh scripts/suites.sh

lock:
	@PYTHON=$(PYTHON) sh scripts/lock.sh

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage

$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "error: $(PYTHON) is older than 3.11" >&2; \
	  echo "hint: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)" >&2; exit 2; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || $(SYSTEM) --need python3-venv
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.runtime: requirements/runtime.txt pyproject.toml $(VENV)/.created
	@echo "installing the pinned requirements into $(VENV)" >&2
	@$(INSTALL) -r $<
	@$(PIP) install -qq --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.test: requirements/test.txt $(VENV)/.runtime
	@$(INSTALL) -r $<
	@touch $@

$(VENV)/.dev: requirements/dev.txt $(VENV)/.runtime
	@$(INSTALL) -r $<
	@touch $@

$(VENV)/.training: requirements/training.txt requirements/torch-cpu.txt requirements/torch.txt \
    requirements/agents.txt scripts/install_torch.sh $(VENV)/.test
	@echo "installing torch and what the training tests need" >&2
	@sh scripts/install_torch.sh $(BIN)/python
	@$(INSTALL) -r $<
	@$(BIN)/python -W ignore -c 'import torch, transformers, trl'
	@$(INSTALL) --no-deps -r requirements/agents.txt
	@touch $@
