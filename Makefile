# Everything runs in .venv, built from the locks. Paths are relative, so a folder with a space in its name works.

PYTHON ?= python3
NOTEBOOK_TESTS = --nbval --nbval-current-env --nbval-sanitize-with tests/nbval.cfg
VENV := .venv
PY := $(VENV)/bin/python
STAMP := $(VENV)/.stamp

# The stamp holds the folder it was built in: scripts and the editable install name it, so a moved checkout is built anew.
ifneq ($(shell cat $(STAMP) 2>/dev/null),$(shell pwd -P))
.PHONY: $(STAMP)
MOVED := --clear
endif

# The same figures byte for byte, and no file or setting of the user's home in them.
export JUPYTER_PREFER_ENV_PATH := 1
export SOURCE_DATE_EPOCH := 1451606400
export PYTHONHASHSEED := 0
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
export MPLCONFIGDIR := $(CURDIR)/$(VENV)/matplotlib
export IPYTHONDIR := $(CURDIR)/$(VENV)/ipython
# The same numbers to the last digit on every x86 processor: none uses wider vectors than those of AVX2.
ifneq ($(shell grep -m1 -ow avx2 /proc/cpuinfo 2>/dev/null),)
export OPENBLAS_CORETYPE := Haswell
export NPY_DISABLE_CPU_FEATURES := X86_V4 AVX512_ICL AVX512_SPR
endif
# Not MPLBACKEND: with it, notebooks lose their inline figures.
unexport MPLBACKEND PYTHONPATH PYTHONHOME

.DEFAULT_GOAL := help
.PHONY: help setup figures test lint notebooks site lab verify fuzz claim bench lock clean distclean

help:  ## List the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

setup: $(STAMP)  ## Build .venv from the lock files (the other targets do it when needed)

figures: $(STAMP)  ## Draw the figures and tables that changed into figures/ (ALL=1: all of them)
	@$(VENV)/bin/privacy-distortion figures $(if $(ALL),--all)

test: lint  ## Check style and types, run the tests, and compare every notebook with its stored outputs
	@echo "pytest"
	@$(PY) -m pytest -q -n 2 --dist loadfile
	@echo "notebooks against their stored outputs"
	@JUPYTER_DEFAULT_PROVISIONER_NAME=forked $(PY) -m pytest -q $(NOTEBOOK_TESTS) notebooks

lint: $(STAMP)  ## Check style and types
	@echo "ruff, mypy"
	@$(PY) -m ruff check --quiet .
	@$(PY) -m ruff format --check --quiet . || { echo "not formatted: run $(VENV)/bin/ruff format ." >&2; exit 1; }
	@$(PY) -m mypy --no-error-summary

notebooks: $(STAMP)  ## Run the notebooks again and store their outputs
	@$(VENV)/bin/privacy-distortion notebooks

site: $(STAMP)  ## Build the site into build/site: notebooks, ledger, gallery, explorer, reference
	@echo "site"
	@$(PY) -m docs.build_site

lab: $(STAMP)  ## Open the notebooks in JupyterLab (in a container: LAB='--allow-root --no-browser --ip=0.0.0.0')
	@$(PY) -m jupyter lab $(LAB) notebooks

verify: $(STAMP)  ## Check every entry of the ledger again (INSTANCES=1000 SCHEDULER=tcp://... RECORD=1)
	@$(VENV)/bin/privacy-distortion verify $(if $(INSTANCES),--instances $(INSTANCES)) $(if $(SCHEDULER),--scheduler $(SCHEDULER)) $(if $(RECORD),--record)

fuzz: $(STAMP)  ## Check optima of random problems by independent methods (N=1000 SEED=0 ONLY=tiny/Renyi JOBS=1)
	@$(PY) -m tests.fuzz $(if $(N),-n $(N)) $(if $(SEED),--seed $(SEED)) $(if $(ONLY),--only '$(ONLY)') $(if $(JOBS),--jobs $(JOBS))

claim: $(STAMP)  ## Write the skeleton of a new ledger entry (NAME=paper.function MODULE=paper_section)
	@$(PY) -m paper_repro.claims.skeleton $(NAME) $(MODULE)

bench: $(STAMP)  ## Time the library
	@$(PY) -m pytest -q -o addopts= --benchmark-only tests/benchmarks

# The requirements format, which pip reads too; uv.lock would carry download addresses.
COMPILE = $(VENV)/bin/uv pip compile --quiet --universal --python-version 3.11 --fork-strategy fewest \
	--no-header --no-emit-index-url --no-emit-find-links --generate-hashes $(if $(UPGRADE),--upgrade)

lock: $(STAMP)  ## Resolve the lock files again (UPGRADE=1 takes the newest versions)
	@echo "bootstrap.lock"
	@echo uv | $(COMPILE) - --output-file bootstrap.lock
	@echo "requirements.lock"
	@printf 'editables\nhatchling\n' | $(COMPILE) --extra all --extra site --extra test pyproject.toml - --output-file requirements.lock

clean:  ## Remove the files that other targets build, but not .venv, figures/ or your own files in build/
	@rm -rf build/docs build/explorer build/fuzz build/notebooks build/site build/verify dist .benchmarks .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	@find . -path ./$(VENV) -prune -o -type d \( -name __pycache__ -o -name .ipynb_checkpoints \) -exec rm -rf {} +

distclean: clean  ## Remove .venv too
	@rm -rf $(VENV)

# uv is the fast way; pip reads the same lock where uv has no build or cannot reach the index.
$(STAMP): bootstrap.lock requirements.lock pyproject.toml
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "Python 3.11 or newer is needed; $(PYTHON) is $$("$(PYTHON)" --version 2>/dev/null || echo missing). Name another: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@echo "creating $(VENV)"
	@"$(PYTHON)" -m venv $(MOVED) $(VENV)
	@echo "installing the locked packages"
	@if $(PY) -m pip install --quiet --disable-pip-version-check --require-hashes -r bootstrap.lock && $(VENV)/bin/uv --version >/dev/null \
		&& $(VENV)/bin/uv pip install --quiet --python $(PY) --require-hashes -r requirements.lock; then :; else \
		echo "uv did not work here: installing with pip, which takes longer"; \
		$(PY) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock; fi
	@echo "installing paper_repro"
	@$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@pwd -P > $@
