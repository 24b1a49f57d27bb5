"""Every command in the README and the docs is typed as it is printed, in the folder that ``graticule demo`` makes.

A fenced block named ``console`` is run line by line; a fenced block with a title (``yaml title="labels.yaml"``) becomes
that file. Lines that install or that need a hub of models are told apart by what they say, and the latter must either
work or end with the clear error about the hub.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^```", re.MULTILINE | re.DOTALL)
NOT_RUN = ("pip ", "make ", "cd ", "python ", "git ", "sudo ", "apt", "docker ", "torchrun ")
HUB = ("open_clip/", "hf/", "timm/resnet", "timm/vit", "torchvision/", "timm/convnext", "timm/mobilenet")
LONGEST_RUN_S = 1200
SWITCH = "GRATICULE_RUN_EXAMPLES"

pytestmark = [
    pytest.mark.skipif(
        SWITCH not in os.environ, reason=f"takes many minutes; `make examples` sets {SWITCH} and runs it"
    ),
    pytest.mark.timeout(7200),
]


def _commands(text: str) -> list[str]:
    lines = text.replace("\\\n", " ").splitlines()
    return [line.strip().removeprefix("$ ") for line in lines if line.strip() and not line.strip().startswith("#")]


@pytest.fixture(scope="module")
def demo_folder(tmp_path_factory, shared):
    """Run the demo once, on the photos that the examples speak of."""
    signs = shared("images/signs_de_it")
    folder = tmp_path_factory.mktemp("demo")
    run = subprocess.run(
        [sys.executable, "-m", "graticule.cli.main", "demo", "--offline", "-o", str(folder)],
        capture_output=True,
        text=True,
        check=False,
        timeout=LONGEST_RUN_S,
        env={**os.environ, "GRATICULE_SHARED": str(signs.parents[1])},
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_example_on_the_page_runs_as_printed(page, demo_folder):
    for kind, title, body in BLOCK.findall(page.read_text("utf-8")):
        if title:
            (demo_folder / title).write_text(body, encoding="utf-8")
        if kind == "python" and not title:
            _run([sys.executable, "-c", body], demo_folder, shown=body, needs_hub=any(name in body for name in HUB))
        if kind != "console":
            continue
        for line in _commands(body):
            if line.startswith(NOT_RUN):
                continue
            words = shlex.split(line, comments=True)
            assert words[0] == "graticule", f"{page.name}: a console block runs '{words[0]}'"
            needs_hub = any(name in line for name in HUB)
            _run([sys.executable, "-m", "graticule.cli.main", *words[1:]], demo_folder, shown=line, needs_hub=needs_hub)


def _run(command: list[str], folder: Path, *, shown: str, needs_hub: bool) -> None:
    run = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=folder, timeout=LONGEST_RUN_S, env=dict(os.environ)
    )
    if needs_hub and run.returncode != 0:
        assert "hub" in run.stderr, f"{shown}\n{run.stdout}{run.stderr}"
        return
    gate = "--fail-if" in shown and run.returncode == 1 and "Failed:" in run.stderr
    assert run.returncode == 0 or gate, f"{shown}\n{run.stdout}{run.stderr}"
