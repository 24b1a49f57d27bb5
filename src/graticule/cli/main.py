"""The command ``graticule``: its sub-commands, imported when they are called, and how errors are shown."""

from __future__ import annotations

import sys
from importlib import import_module

import click

from graticule import __version__
from graticule.errors import GraticuleError

EXIT_BAD_INPUT = 2

COMMANDS: dict[str, tuple[str, str]] = {
    "scan": ("graticule.cli.scan:scan", "Photos in folders, tables or archives → images table."),
    "locate": ("graticule.cli.locate:locate", "GPS or country names → country and region of each image."),
    "curate": ("graticule.cli.curate:curate", "Images → a fair benchmark: filtered, balanced and split, with reasons."),
    "embed": ("graticule.cli.embed:embed", "Images and a model → feature vectors."),
    "predict": ("graticule.cli.predict:predict", "Images and a model → scores for each label."),
    "probe": ("graticule.cli.probe:probe", "Features and a training query → predictions of a linear probe."),
    "adapt": ("graticule.cli.adapt:adapt", "Features of a source and a target → predictions adapted to the target."),
    "benchmark": ("graticule.cli.benchmark:benchmark", "Many adaptations: data sets × algorithms × seeds → tables."),
    "annotate": ("graticule.cli.annotate:annotate", "Predictions → questions for people; their answers → labels."),
    "audit": ("graticule.cli.audit:audit", "Images and predictions → where the model fails, as a page and tables."),
    "explain": ("graticule.cli.explain:explain", "Two regions → why one fails: label shares, backgrounds, designs."),
    "compare-models": ("graticule.cli.compare_models:compare_models", "Many models → which is better, and where."),
    "value": ("graticule.cli.value:value", "What images are worth: data sets compared, mixes, and what to buy next."),
    "demo": ("graticule.cli.demo:demo", "The main job, step by step, on real photos that can be had here."),
}
"""Command → where it is, and its line in ``graticule --help``."""


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called, so that ``--help`` is fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands' names in the order of the work."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command, imported now; None if there is none of that name."""
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        return getattr(import_module(module), attribute)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that was typed, or say which one is nearest."""
        if args and args[0] not in COMMANDS:
            from graticule.errors import unknown_choice

            raise unknown_choice("command", args[0], COMMANDS)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands and their lines without importing any of them."""
        with formatter.section("Commands, in the order of the work"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="graticule")
@click.option("--debug", is_flag=True, help="Show the whole trace of an error.")
def cli(*, debug: bool) -> None:
    """Find out where in the world an image model fails.

    \b
    From photos and a model to a page:
      graticule audit PHOTOS --layout '{region}/{label}' --model timm/tf_efficientnet_lite0 -o report/
    From a table of images and a table of predictions:
      graticule audit images.csv --predictions top1.csv --by country -o report/

    Every stage reads and writes Parquet files, so you can enter anywhere.
    """
    del debug


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit: 0 when all went well, 1 when a gate failed, 2 on bad input."""
    given = sys.argv[1:] if arguments is None else arguments
    debug = "--debug" in given
    try:
        code = cli.main(args=given, standalone_mode=False)
    except GraticuleError as error:
        if debug:
            raise
        click.echo(f"Error: {error}", err=True)
        sys.exit(EXIT_BAD_INPUT)
    except click.ClickException as error:
        error.show()
        sys.exit(EXIT_BAD_INPUT)
    except (click.Abort, KeyboardInterrupt):
        click.echo("Stopped. Run the same command again to go on where it stopped.", err=True)
        sys.exit(130)
    sys.exit(code if isinstance(code, int) else 0)


if __name__ == "__main__":
    main()
