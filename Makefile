# make demo  — environment, installation, and the main job on real photos
# make test  — environment, installation, all tests
# make check — exactly what CI checks besides the tests
# make docs  — the documentation, into site/
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PIP_QUIET ?= -q

# make examples — every command of the README and the docs, typed as printed
.PHONY: demo test examples check docs format clean

# torch and torchvision come first and together, so that their versions match.
$(VENV)/.installed: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install $(PIP_QUIET) -U pip
	$(BIN)/pip install $(PIP_QUIET) "torch>=2.6,<3" "torchvision>=0.21"
	$(BIN)/pip install $(PIP_QUIET) -e ".[all,demo]" --group test --group lint --group docs
	touch $@

demo: $(VENV)/.installed
	$(BIN)/graticule demo -o demo $(if $(PHOTOS),--photos $(PHOTOS))

test: $(VENV)/.installed
	bash scripts/install_system_packages.sh
	$(BIN)/pytest -n 2 --dist worksteal

examples: $(VENV)/.installed
	GRATICULE_RUN_EXAMPLES=1 $(BIN)/pytest tests/docs tests/cli/test_demo.py

check: $(VENV)/.installed
	$(BIN)/ruff format --check src tests benchmarks scripts examples
	$(BIN)/ruff check src tests benchmarks scripts examples
	$(BIN)/pyright
	$(BIN)/lint-imports

docs: $(VENV)/.installed
	$(BIN)/mkdocs build --strict

format: $(VENV)/.installed
	$(BIN)/ruff format src tests benchmarks scripts examples
	$(BIN)/ruff check --fix src tests benchmarks scripts examples

clean:
	rm -rf $(VENV) demo site
