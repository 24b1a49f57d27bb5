"""A group of sub-commands that are imported when they are called, so that ``--help`` stays fast."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

import click


def lazy_group(commands: Mapping[str, tuple[str, str]], *, name: str) -> type[click.Group]:
    """Return the class of a group whose sub-commands are listed in a plain dict.

    Parameters
    ----------
    commands
        Sub-command → where it is, as ``module:attribute``, and its line in ``--help``. Read at every call, so that a
        line added later counts.
    name
        The whole name of the group, as in ``graticule curate``, for messages.
    """

    class SubCommands(click.Group):
        def list_commands(self, ctx: click.Context) -> list[str]:
            return list(commands)

        def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
            if cmd_name not in commands:
                return None
            module, _, attribute = commands[cmd_name][0].partition(":")
            return getattr(import_module(module), attribute)

        def resolve_command(
            self, ctx: click.Context, args: list[str]
        ) -> tuple[str | None, click.Command | None, list[str]]:
            if args and args[0] not in commands:
                from graticule.errors import unknown_choice

                raise unknown_choice("command", args[0], commands, where=name)
            return super().resolve_command(ctx, args)

        def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
            if commands:
                with formatter.section("Commands, in the order of the work"):
                    formatter.write_dl([(command, line) for command, (_, line) in commands.items()])

    return SubCommands
