"""``graticule annotate``: from predictions to questions, from people's answers to labels."""

from __future__ import annotations

from importlib import import_module

import click

COMMANDS: dict[str, tuple[str, str]] = {
    "candidates": (
        "graticule.cli.annotate_candidates:candidates",
        "Images and predictions → labels worth asking about; with answers, the few that are worth choosing among.",
    ),
    "tasks": ("graticule.cli.annotate_tasks:tasks", "Candidates → grids (CONTAINS) or images (CLASSIFY) for workers."),
    "quality": (
        "graticule.cli.annotate_quality:quality",
        "Answers → those that can be trusted, and why not the others.",
    ),
    "aggregate": (
        "graticule.cli.annotate_aggregate:aggregate",
        "Answers → labels with probabilities, and workers' skills.",
    ),
    "import": (
        "graticule.cli.annotate_exchange:import_answers",
        "CSV, JSON Lines, Label Studio or ReaL JSON → a table.",
    ),
    "export": (
        "graticule.cli.annotate_exchange:export_answers",
        "A table → CSV, JSON Lines, Label Studio or ReaL JSON.",
    ),
}
"""Sub-command → where it is, and its line in ``graticule annotate --help``."""


class AnnotateGroup(click.Group):
    """The sub-commands, imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the sub-commands' names in the order of the work."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the sub-command, imported now; None if there is none of that name."""
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        return getattr(import_module(module), attribute)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the sub-command that was typed, or say which one is nearest."""
        if args and args[0] not in COMMANDS:
            from graticule.errors import unknown_choice

            raise unknown_choice("command", args[0], COMMANDS, where="graticule annotate")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the sub-commands and their lines without importing any of them."""
        with formatter.section("Commands, in the order of the work"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.group(cls=AnnotateGroup)
def annotate() -> None:
    """Find out what people really see in each image.

    \b
    From models' predictions to labels that people accept:
      graticule annotate candidates images.parquet --predictions a.parquet b.parquet -o candidates.parquet
      graticule annotate tasks candidates.parquet --kind contains --overlap 9 -o tasks.parquet
      graticule annotate quality answers.parquet --controls controls.parquet -o kept.parquet
      graticule annotate aggregate kept.parquet --method dawid_skene -o labels.parquet

    Inputs may be Parquet, CSV, TSV, JSON or JSON Lines, compressed or not.
    """
