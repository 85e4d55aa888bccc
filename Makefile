# `make help` lists the targets. Needs bash and a python3 (3.11 or newer) that has venv and pip; everything
# else goes into .venv at the versions in constraints.txt. Another interpreter: make PYTHON=python3.12 ...

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
MAKEFLAGS += --no-builtin-rules
.DEFAULT_GOAL := help

PYTHON ?= python3
TEST_WORKERS ?= 2
FUZZ_COUNT ?= 200000
FUZZ_SEED ?= 1

VENV := .venv
BIN := $(VENV)/bin
PIP_INSTALL := $(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt

# One stamp per set-up and interpreter, so that make PYTHON=... rebuilds a .venv made by another version.
CORE := $(VENV)/.core-$(notdir $(PYTHON))
FULL := $(VENV)/.full-$(notdir $(PYTHON))

.PHONY: help lemma3 certificates ledger check test lint bench fuzz clean

help: ## List the targets
	@sed -n 's/^\([a-z0-9]*\):.*## \(.*\)/\1\t\2/p' $(firstword $(MAKEFILE_LIST)) | \
	while IFS=$$'\t' read -r name text; do printf '%-14s%s\n' "$$name" "$$text"; done

# --- set-up -------------------------------------------------------------------------------------------------

MINOR := import sys; print(sys.version_info[:2])

$(CORE): pyproject.toml constraints.txt
	@wanted=$$($(PYTHON) -c '$(MINOR)'); \
	if [ "$$($(BIN)/python -c 'import pip; $(MINOR)' 2>/dev/null || true)" != "$$wanted" ]; then \
		echo "set-up: creating $(VENV) with $(PYTHON)"; \
		$(PYTHON) -m venv --clear $(VENV); \
	fi
	@echo "set-up: installing proofcheck and its core dependencies into $(VENV)"
	@$(PIP_INSTALL) -e .
	@rm -f $(VENV)/.core-* && touch $@

# After CORE, never beside it: two pips must not write to one environment at the same time.
$(FULL): $(CORE) pyproject.toml constraints.txt
	@echo "set-up: adding the extras dev, search, report, cross and libraries"
	@$(PIP_INSTALL) -e '.[dev,search,report,cross,libraries]'
	@rm -f $(VENV)/.full-* && touch $@

# --- results ------------------------------------------------------------------------------------------------

lemma3: $(CORE) ## Check Lemma 3 by machine and write its certificates
	$(BIN)/python -m proofcheck lemma3

# A status of 3 says that a named theorem of mathematics is assumed, or (paper) what no certificate covers.
certificates: lemma3 ## Regenerate certificates/ with the commands that produce it, and docs/rstar.* from its ledger
	$(BIN)/python -m proofcheck paper || [ $$? -eq 3 ]
	$(BIN)/python -m proofcheck bound --exponents --grid || [ $$? -eq 3 ]
	$(BIN)/python -m proofcheck transcript collide --out certificates/transcripts
	$(BIN)/python -m proofcheck transcript collide --layers 1 --heads 1 -r 2 --dv 1 --out certificates/transcripts
	$(BIN)/python -m proofcheck transcript bound -m 64 -n 4096 --out certificates/transcripts
	cp certificates/lemma3/gap-domination-symbolic.json certificates/lemma4/approximate-identity.json \
		certificates/domination/domination-*.json certificates/theorem1/softmin.json proofcheck/theorems/foundations/
	mkdir -p docs
	$(BIN)/python -m proofcheck bound --ledger --all > docs/rstar.md || [ $$? -eq 3 ]
	$(BIN)/python -m proofcheck bound --ledger --all --json > docs/rstar.json || [ $$? -eq 3 ]

# The ledger keeps what is best: nothing found before is lost. Most of an hour.
ledger: $(CORE) ## Look for better bounds on r*(m,n), and keep the improvements in certificates/rstar*
	$(BIN)/python -m proofcheck bound --update 1:32 --thorough || [ $$? -eq 3 ]
	$(BIN)/python -m proofcheck bound --update 1:6 -n 4 --thorough || [ $$? -eq 3 ]
	$(BIN)/python -m proofcheck bound --update 1:6 --eps 1/4 --thorough || [ $$? -eq 3 ]
	$(BIN)/python -m proofcheck bound --update 33:128 || [ $$? -eq 3 ]

# Standard library only, no .venv: every file under certificates/ must be a certificate that verifies with nothing
# assumed, except that those in *-assuming/ may assume a theorem of mathematics, which is printed. One run over the
# folder, since certificates rest on each other. Asked for together with their producers, the certificates are checked
# after they are written.
check: | $(filter certificates lemma3,$(MAKECMDGOALS)) ## Check all files under certificates/ with the kernel alone
	@if find certificates ! -type d ! -name '*.json' | grep .; then echo "check: not certificates" >&2; exit 1; fi
	@log=$$(mktemp); trap 'rm -f "$$log"' EXIT; status=0; \
	echo "$(PYTHON) -S -m proofcheck.kernel certificates"; \
	$(PYTHON) -S -m proofcheck.kernel certificates > "$$log" || status=$$?; \
	grep -v '^verified' "$$log"; \
	if grep -q 'not supplied' "$$log" || grep '^conditional' "$$log" | grep -qv -- '-assuming/'; then exit 1; fi; \
	[ "$$status" -eq 0 ] || [ "$$status" -eq 3 ]

# --- development --------------------------------------------------------------------------------------------

# pytest exits 5 when it collects no test, which is no failure for the slow ones.
test: $(FULL) ## Run the whole test suite, the quick tests first
	$(BIN)/python -m pytest -n $(TEST_WORKERS) -m "not slow"
	$(BIN)/python -m pytest -n $(TEST_WORKERS) -m slow || [ $$? -eq 5 ]

lint: $(FULL) ## ruff check, ruff format --check, mypy
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m mypy

bench: $(FULL) ## Run the benchmarks
	$(BIN)/python -m benchmarks

fuzz: $(FULL) ## Throw mutated certificates at the kernel
	$(BIN)/python -m tests.kernel.mutate --count $(FUZZ_COUNT) --seed $(FUZZ_SEED)

clean: ## Remove .venv, caches and build output (certificates stay)
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis *.egg-info
	find . -name .git -prune -o -type d -name __pycache__ -prune -exec rm -rf {} +
