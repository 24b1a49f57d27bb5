"""Write the reference pages (commands, tables, metrics, Python interface) from the code.

``--check`` writes nothing and exits with 1 when a page on disk is not what the code says.
"""

from __future__ import annotations

import argparse
import inspect
import sys
from pathlib import Path

import click

import graticule
from graticule.cli.main import COMMANDS, cli
from graticule.data.tables import TABLES, VECTOR, Column

PAGES = Path(__file__).parents[1] / "docs" / "reference"
WIDTH = 100


def main() -> int:
    """Write or check every page; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare only")
    check = parser.parse_args().check
    stale: list[str] = []
    for name, text in {"commands.md": commands(), "tables.md": tables(), "python.md": python()}.items():
        path = PAGES / name
        if path.is_file() and path.read_text("utf-8") == text:
            continue
        stale.append(name)
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    if check and stale:
        print(f"Stale: {', '.join(stale)}. Run: python scripts/generate_reference.py")
        return 1
    return 0


def commands() -> str:
    """Return the page of commands: what ``--help`` prints for each."""
    parts = ["# Commands\n\nWhat `--help` prints. Generated from the code.\n"]
    for name in COMMANDS:
        command = cli.get_command(click.Context(cli), name)
        if command is None:
            continue
        parts.append(f"## graticule {name}\n\n{_help(command, f'graticule {name}')}")
        if isinstance(command, click.Group):
            for sub in command.list_commands(click.Context(command)):
                inner = command.get_command(click.Context(command), sub)
                if inner is not None:
                    parts.append(f"### graticule {name} {sub}\n\n{_help(inner, f'graticule {name} {sub}')}")
    return "\n".join(parts)


def _help(command: click.Command, name: str) -> str:
    context = click.Context(command, info_name=name, max_content_width=WIDTH, terminal_width=WIDTH)
    return f"```text\n{command.get_help(context)}\n```\n"


def tables() -> str:
    """Return the page of tables: a row is what, and every column."""
    parts = [
        "# Tables\n\nThe files between the stages. Columns that are not declared are kept. Generated from the code.\n"
    ]
    for table in TABLES.values():
        key = f" Named by {', '.join(f'`{name}`' for name in table.key)}." if table.key else ""
        parts.append(f"## {table.name}\n\nA row is {table.row}.{key}\n")
        parts.append("| column | type | unit | required | meaning |\n|---|---|---|---|---|")
        parts.extend(_row(name, column) for name, column in table.columns.items())
        parts.append("")
    return "\n".join(parts)


def _row(name: str, column: Column) -> str:
    kind = "fixed-size list of floats" if column.dtype == VECTOR else str(column.dtype)
    limits = "" if column.low is None and column.high is None else f" ({_limit(column.low)} to {_limit(column.high)})"
    return f"| `{name}` | {kind} | {column.unit}{limits} | {'yes' if column.required else ''} | {column.meaning} |"


def _limit(value: float | None) -> str:
    return "any" if value is None else f"{value:g}"


def python() -> str:
    """Return the page of the public Python interface: signature and docstring of each name."""
    parts = ["# Python\n\nThe public names of `graticule`. Generated from the code.\n"]
    for name in graticule.__all__:
        if name.startswith("_"):
            continue
        thing = getattr(graticule, name)
        signature = "" if inspect.isclass(thing) else str(inspect.signature(thing))
        text = inspect.getdoc(thing) or ""
        parts.append(f"## graticule.{name}\n\n```python\n{name}{signature}\n```\n\n```text\n{text}\n```\n")
    return "\n".join(parts)


if __name__ == "__main__":
    sys.exit(main())
