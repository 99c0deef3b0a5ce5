"""The command `mcp-codegen`: options, exit codes, and the only place where an error becomes a line of text.

Exit 0 is fine, 1 is a check that found something, 2 is wrong usage or bad input. Data goes to stdout, words to
stderr.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import NoReturn

import click

from . import __version__
from .errors import CodegenError
from .ir import Bundle, Json
from .settings import Settings, overridden, settings

FOUND = 1
BAD_INPUT = 2


class _Group(click.Group):
    """A command group whose commands report a CodegenError as one line and exit code 2."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except CodegenError as error:
            _fail(str(error))
        except BrokenPipeError:
            sys.stderr.close()
            raise SystemExit(BAD_INPUT) from None


def _complain(message: str) -> None:
    click.echo(f"mcp-codegen: {message}", err=True)


def _fail(message: str) -> NoReturn:
    _complain(message)
    raise SystemExit(BAD_INPUT)


class _Folder(click.ParamType[Path]):
    """A folder to write to; an empty text is no folder, but most likely a variable that was not set."""

    name = "folder"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        if not str(value):
            self.fail("an empty text is no folder", param, ctx)
        return Path(str(value))


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", prog_name="mcp-codegen")
def main() -> None:
    """Typed Python for the Model Context Protocol, generated from its published schema."""


_package = click.option("--package", help="Name of the emitted package.  [default: mcprotocol]")
_output = click.option("-o", "--output", type=_Folder(), help="Folder that the package is written into.")
_revision = click.option(
    "--revision",
    "revisions",
    multiple=True,
    metavar="DATE|latest",
    help="A protocol revision; may be given more than once.",
)
_schema = click.option("--schema", metavar="FILE", help="A schema.json instead of a pinned revision.")
_force = click.option(
    "-f", "--force", is_flag=True, help="Overwrite what was edited, or was not made by this command."
)
_json = click.option("--json", "as_json", is_flag=True, help="Print the outcome as JSON.")
_quiet = click.option("-q", "--quiet", is_flag=True, help="Say nothing but errors.")
_dry_run = click.option("--dry-run", is_flag=True, help="Write nothing; say what would be written.")


@main.command()
@_revision
@_schema
@_output
@_package
@click.option(
    "--distribution", is_flag=True, help="Add the pyproject.toml and README of a distribution of its own."
)
@click.option(
    "--check",
    "check_only",
    is_flag=True,
    help="Write nothing; print the difference and exit 1 if there is one.",
)
@_dry_run
@_force
@_json
@_quiet
def generate(
    revisions: tuple[str, ...],
    schema: str | None,
    output: Path | None,
    package: str | None,
    distribution: bool,
    check_only: bool,
    dry_run: bool,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Generate the package of one or more revisions, or of a schema file.

    Without options, what [tool.mcp-codegen] in pyproject.toml says is generated.
    """
    from . import commands, pipeline, sync

    wanted = _settings(output, package, revisions, distribution)
    folder = wanted.output or _fail(
        "where to? pass -o DIR, or set output in [tool.mcp-codegen] of pyproject.toml"
    )
    bundle = commands.bundle(wanted, schema, revisions)
    if check_only:
        _check(bundle, folder, wanted.package, quiet)
        return
    manifest = pipeline.record(wanted.package)
    act = sync.foresee if dry_run else sync.write
    done = act(bundle, folder, manifest, force=force)
    _report(done, folder, as_json, quiet, "would write" if dry_run else "wrote")


@main.command()
@_revision
@_schema
@_output
@_package
@click.option("--distribution", is_flag=True, help="The folder holds a distribution of its own.")
@_quiet
def check(
    revisions: tuple[str, ...],
    schema: str | None,
    output: Path | None,
    package: str | None,
    distribution: bool,
    quiet: bool,
) -> None:
    """Say whether the generated files are current: print the difference and exit 1 if they are not."""
    from . import commands

    wanted = _settings(output, package, revisions, distribution)
    folder = wanted.output or _fail(
        "check what? pass -o DIR, or set output in [tool.mcp-codegen] of pyproject.toml"
    )
    _check(commands.bundle(wanted, schema, revisions), folder, wanted.package, quiet)


@main.command()
@click.argument("name")
@click.option(
    "-o",
    "--output",
    type=_Folder(),
    help="Folder to create the project in.  [default: here]",
)
@click.option(
    "--transport",
    "kind",
    type=click.Choice(["stdio", "http", "both"]),
    default="both",
    help="How the server is reached.  [default: both]",
)
@click.option(
    "--revision",
    "revisions",
    multiple=True,
    metavar="DATE|latest",
    help="A revision that the server answers; may be given more than once.  [default: 2026-07-28 and 2025-11-25]",
)
@_dry_run
@_force
@_json
@_quiet
def scaffold(
    name: str,
    output: Path | None,
    kind: str,
    revisions: tuple[str, ...],
    dry_run: bool,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Write a project NAME: a server that works, with its tests and host configuration."""
    from . import pipeline, project, sync

    wanted = project.project(name, output or Path.cwd(), force=force)
    documents = [pipeline.read(revision=revision) for revision in project.served(revisions)]
    bundle = project.scaffold(wanted, documents, kind)
    act = sync.foresee if dry_run else sync.write
    done = act(bundle, wanted.folder, "", force=force)
    _report(done, wanted.folder, as_json, quiet, "would write" if dry_run else "wrote")
    if not (dry_run or as_json or quiet):
        click.echo("next:", err=True)
        for command in project.next_commands(wanted):
            click.echo(f"  {command}", err=True)


@main.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...|-")
@click.option(
    "--revision", default="latest", metavar="DATE|latest", help="The protocol revision.  [default: latest]"
)
@click.option(
    "--type", "name", metavar="NAME", help="Judge values as a definition, or as the result of a method."
)
@_json
@_quiet
def validate(files: tuple[str, ...], revision: str, name: str | None, as_json: bool, quiet: bool) -> None:
    """Judge messages by the exact schema of a revision.

    A file holds JSON or JSON Lines: a message, or the whole conversation of one connection, whose
    responses are judged by the requests they answer. `-` is standard input. Exit code 1 when something was
    found, 2 when a file could not be read.
    """
    from . import commands

    judge = commands.judging(revision, name)
    found: list[dict[str, Json]] = []
    unread: list[str] = []
    for file in files:
        try:
            found += judge(file)
        except CodegenError as error:
            unread.append(str(error))
    if as_json:
        _print_json(found)
    elif not quiet:
        for row in found:
            place = row["pointer"] or "the whole message"
            click.echo(
                f"{row['file']}:{row['line']}: {place}: found {row['found']}; expected {row['expected']}"
            )
    for words in unread:
        _complain(words)
    if found or unread:
        raise SystemExit(BAD_INPUT if unread else FOUND)


@main.command()
@click.argument("old")
@click.argument("new")
@click.option("--markdown", "as_markdown", is_flag=True, help="Print the outcome as Markdown.")
@click.option(
    "--fail-on",
    type=click.Choice(["breaking", "any"]),
    help="Exit 1 when a change breaks readers or writers, or when there is any.",
)
@_json
def diff(old: str, new: str, as_markdown: bool, fail_on: str | None, as_json: bool) -> None:
    """Say what changed from OLD to NEW, and whom it breaks.

    Each is a protocol revision (a date, or `latest`) or a schema file. A change breaks writers when what they may
    write by OLD is refused by NEW, and readers when what NEW allows is refused by OLD.
    """
    from . import commands, report

    found = commands.difference(old, new)
    if as_json:
        _print_json(report.plain(found))
    else:
        click.echo(report.markdown(found) if as_markdown else report.text(found), nl=False)
    if any(fail_on == "any" or change.breaking for change in found.changes if fail_on):
        raise SystemExit(FOUND)


@main.group()
def schema() -> None:
    """The protocol revisions as data: pins and facts."""


@schema.command("list")
@_json
def schema_list(as_json: bool) -> None:
    """List the pinned revisions."""
    from .revisions import pins

    if as_json:
        _print_json([asdict(pin) for pin in pins()])
        return
    for pin in pins():
        click.echo(
            f"{pin.revision}  {pin.definitions:>3} definitions  facts {pin.facts_sha256[:16]}  commit {pin.commit[:12] or '-'}"
        )


@schema.command("show")
@click.argument("revision")
@click.argument("definition", required=False)
def schema_show(revision: str, definition: str | None) -> None:
    """Print the facts of a revision, or of one DEFINITION of it, as JSON."""
    from . import pinning

    click.echo(pinning.shown(revision, definition), nl=False)


@schema.command("add")
@click.argument("revision")
@click.argument("file")
@click.option(
    "--commit", default="", help="Commit of the specification's repository that the file was published with."
)
@click.option("--path", default="", help="Path of the file in that repository.")
@click.option(
    "-o",
    "--output",
    type=_Folder(),
    help="The schema folder.  [default: the one of this checkout]",
)
@_force
@_quiet
def schema_add(
    revision: str, file: str, commit: str, path: str, output: Path | None, force: bool, quiet: bool
) -> None:
    """Pin FILE as the published schema of REVISION, and record its facts."""
    from . import pinning, resources, sync

    if output is None and not resources.in_checkout():
        _fail("which schema folder? this is no checkout of mcp-codegen; pass -o DIR")
    folder = output or resources.folder("schema")
    pin, files = pinning.pin(revision, file, path=path, commit=commit, schema_folder=folder)
    if not force:
        pinning.check_new(pin, file, folder)
    done = sync.write(files, folder, "", force=True)
    if not quiet:
        click.echo(
            f"{pin.revision}: {pin.definitions} definitions, facts {pin.facts_sha256[:16]}; {_counts(done)} in {folder}",
            err=True,
        )


@schema.command("verify")
@click.argument("revision")
@click.argument("file")
@_json
def schema_verify(revision: str, file: str, as_json: bool) -> None:
    """Prove that FILE is the pinned schema of REVISION, or name the definitions that differ and exit 1."""
    from . import pinning

    verdict = pinning.verify(revision, file)
    if as_json:
        _print_json({"revision": revision, "file": file, **asdict(verdict)})
    elif verdict.same_bytes:
        click.echo(f"{file}: is the pinned {revision}, byte for byte")
    elif verdict.same_facts:
        click.echo(
            f"{file}: has the facts of the pinned {revision} in other bytes (prose or layout); no definition differs"
        )
    else:
        click.echo(f"{file}: is not the pinned {revision}; {len(verdict.differences)} definitions differ")
        for name, places in verdict.differences.items():
            click.echo(f"  {name}: {', '.join(place or 'the whole definition' for place in places)}")
    for place in verdict.expired:
        click.echo(f"the correction at {place} has expired: the file says so itself; drop the row", err=True)
    if not verdict.same_bytes:
        raise SystemExit(FOUND)


def _settings(
    output: Path | None, package: str | None, revisions: Sequence[str], distribution: bool
) -> Settings:
    """The settings of the project, with what the flags say in their place."""
    return overridden(settings(Path.cwd()), output, package, revisions, distribution)


def _check(bundle: Bundle, folder: Path, package: str, quiet: bool) -> None:
    from . import pipeline, sync

    difference = sync.diff(bundle, folder, pipeline.record(package))
    if difference:
        click.echo(difference, nl=False)
        if not quiet:
            click.echo(
                f"mcp-codegen: {folder} is not what is generated now; run mcp-codegen generate"
                " (--force overwrites what was edited)",
                err=True,
            )
        raise SystemExit(FOUND)


def _report(done: Json, folder: Path, as_json: bool, quiet: bool, verb: str) -> None:
    if as_json:
        _print_json({"folder": str(folder), **asdict(done)})
    elif not quiet:
        click.echo(f"{verb} {folder}: {_counts(done)}", err=True)


def _counts(done: Json) -> str:
    parts = [f"{len(paths)} {name}" for name, paths in asdict(done).items() if paths]
    return ", ".join(parts) or "nothing to do"


def _print_json(value: Json) -> None:
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))
