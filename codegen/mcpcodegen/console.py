"""What every command of `mcp-codegen` shares: how an error becomes a line of text, options, and how an outcome is told.

Exit 0 is fine, 1 is a check that found something, 2 is wrong usage or bad input. Data goes to stdout, words to
stderr.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import NoReturn

import click

from .errors import CodegenError
from .ir import Json

FOUND = 1
BAD_INPUT = 2


class Group(click.Group):
    """A command group whose commands report a CodegenError as one line and exit code 2."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except CodegenError as error:
            fail(str(error))
        except BrokenPipeError:
            sys.stderr.close()
            raise SystemExit(BAD_INPUT) from None


def complain(message: str) -> None:
    click.echo(f"mcp-codegen: {message}", err=True)


def fail(message: str) -> NoReturn:
    complain(message)
    raise SystemExit(BAD_INPUT)


class Folder(click.ParamType[Path]):
    """A folder to write to; an empty text is no folder, but most likely a variable that was not set."""

    name = "folder"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        if not str(value):
            self.fail("an empty text is no folder", param, ctx)
        return Path(str(value))


with_package = click.option("--package", help="Name of the emitted package.  [default: mcprotocol]")
with_output = click.option("-o", "--output", type=Folder(), help="Folder that the package is written into.")
with_revision = click.option(
    "--revision",
    "revisions",
    multiple=True,
    metavar="DATE|latest",
    help="A protocol revision; may be given more than once.",
)
with_schema = click.option("--schema", metavar="FILE|URL", help="A schema.json instead of a pinned revision.")
with_force = click.option(
    "-f", "--force", is_flag=True, help="Overwrite what was edited, or was not made by this command."
)
with_json = click.option("--json", "as_json", is_flag=True, help="Print the outcome as JSON.")
with_quiet = click.option("-q", "--quiet", is_flag=True, help="Say nothing but errors.")
with_dry_run = click.option("--dry-run", is_flag=True, help="Write nothing; say what would be written.")


def each_file(
    files: Sequence[str], judge: Callable[[str], list[dict[str, Json]]]
) -> tuple[list[dict[str, Json]], list[str]]:
    """The rows that were found in all files, and the errors of those that could not be read, which spoil no other."""
    found: list[dict[str, Json]] = []
    unread: list[str] = []
    for file in files:
        try:
            found += judge(file)
        except CodegenError as error:
            unread.append(str(error))
    return found, unread


def one_of(**flags: bool) -> None:
    """Refuse flags of which each asks for another form of the same outcome."""
    given = [f"--{name}" for name, is_given in flags.items() if is_given]
    if len(given) > 1:
        fail(f"{' and '.join(given)} each ask for another form of the outcome; pass one of them")


def report_plan(done: Json, folder: Path, as_json: bool, quiet: bool, verb: str) -> None:
    if as_json:
        print_json({"folder": str(folder), **asdict(done)})
    elif not quiet:
        click.echo(f"{verb} {folder}: {counts(done)}", err=True)
        for path in done.removed:
            click.echo(f"  {path}: no longer generated, removed", err=True)
        for path in done.strangers:
            click.echo(f"  {path}: not generated, left as it is", err=True)


def counts(done: Json) -> str:
    parts = [f"{len(paths)} {name}" for name, paths in asdict(done).items() if paths and name != "strangers"]
    return ", ".join(parts) or "nothing to do"


def print_json(value: Json) -> None:
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))
