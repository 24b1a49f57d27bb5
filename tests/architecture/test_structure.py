"""The rules of the house that a program can hold: sizes, names, imports, light help, documented commands and tables."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from graticule.cli.main import COMMANDS
from graticule.data.tables import TABLES

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
LONGEST_FILE_LINES = 400
HIDING_NAMES = {"utils", "util", "common", "helpers", "helper", "misc", "base"}
HEAVY = {
    *("torch", "torchvision", "timm", "sklearn", "scipy", "polars", "numpy", "PIL", "matplotlib", "jinja2", "ray"),
    *("open_clip", "transformers", "onnxruntime", "openvino", "pandas", "nltk", "yaml", "jaxtyping"),
}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT / "src")))
def test_no_file_is_too_long_or_hides_what_it_holds(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST_FILE_LINES
    assert path.stem not in HIDING_NAMES
    assert not HIDING_NAMES & set(path.relative_to(ROOT / "src").parts)


def test_every_module_says_what_it_is():
    silent = [path for path in SOURCES if not path.read_text(encoding="utf-8").lstrip().startswith(('"""', 'r"""'))]
    assert not silent


def test_help_imports_nothing_heavy():
    program = (
        "import sys\nfrom graticule.cli.main import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "print('\\n@' + ','.join(sorted({name.partition('.')[0] for name in sys.modules})))"
    )
    output = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    loaded = set(output.rpartition("@")[2].strip().split(","))
    assert "graticule" in loaded
    assert not loaded & HEAVY


def test_imports_point_down():
    tool = Path(sys.executable).parent / "lint-imports"
    if not tool.exists():
        pytest.skip("import-linter is not installed here (it is in the group 'lint')")
    run = subprocess.run([str(tool), "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout


def test_nothing_names_a_private_place():
    """Only the tests may name the folder of real data, and only as a default that the environment overrides."""
    pattern = re.compile(r"/work/|/root/|localhost:\d|10\.\d+\.\d+\.\d+")
    folders = ["src", "docs", "examples", "scripts", "benchmarks", "README.md", "Makefile", "pyproject.toml"]
    files = [
        path for name in folders for path in ([ROOT / name] if (ROOT / name).is_file() else (ROOT / name).rglob("*"))
    ]
    text = {".py", ".md", ".toml", ".yaml", ".sh", ".html", ".css", ".js", ""}
    named = [
        str(path)
        for path in files
        if path.is_file()
        and path.suffix in text
        and "__pycache__" not in path.parts
        and pattern.search(path.read_text("utf-8"))
    ]
    assert not named


def test_every_command_has_help_that_shows_an_example():
    for name in COMMANDS:
        run = subprocess.run(
            [sys.executable, "-m", "graticule.cli.main", name, "--help"],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "COLUMNS": "120"},
        )
        assert run.returncode == 0, run.stderr
        assert f"graticule {name}" in run.stdout, f"{name} --help shows no example"


def test_every_command_and_table_is_in_the_reference():
    commands = (ROOT / "docs" / "reference" / "commands.md").read_text("utf-8")
    tables = (ROOT / "docs" / "reference" / "tables.md").read_text("utf-8")
    assert [name for name in COMMANDS if f"## graticule {name}" not in commands] == []
    assert [name for name in TABLES if f"## {name}" not in tables] == []


def test_the_reference_is_what_the_code_says_now():
    run = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "generate_reference.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
