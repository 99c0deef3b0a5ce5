"""The command `mcp-codegen`: what can be typed, and what is done then."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from . import __version__
from .cli_schema import schema
from .console import (
    BAD_INPUT,
    FOUND,
    each_file,
    Folder,
    Group,
    complain,
    fail,
    one_of,
    print_json,
    report_plan,
    with_dry_run,
    with_force,
    with_json,
    with_output,
    with_package,
    with_quiet,
    with_revision,
    with_schema,
)
from .ir import Bundle
from .settings import Settings, overridden, settings


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", prog_name="mcp-codegen")
def main() -> None:
    """Typed Python for the Model Context Protocol, generated from its published schema."""


main.add_command(schema)


@main.command()
@with_revision
@with_schema
@with_output
@with_package
@click.option(
    "--distribution", is_flag=True, help="Add the pyproject.toml and README of a distribution of its own."
)
@click.option(
    "--check",
    "check_only",
    is_flag=True,
    help="Write nothing; print the difference and exit 1 if there is one.",
)
@with_dry_run
@with_force
@with_json
@with_quiet
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
    """Generate the package of one or more revisions, or of a schema file or address.

    Without options, what [tool.mcp-codegen] in pyproject.toml says is generated.
    """
    from . import commands, pipeline, sync

    wanted = _settings(output, package, revisions, distribution)
    folder = wanted.output or fail(
        "where to? pass -o DIR, or set output in [tool.mcp-codegen] of pyproject.toml"
    )
    bundle = commands.bundle(wanted, schema, revisions)
    _undo(folder)
    if check_only:
        _check(bundle, folder, wanted.package, quiet)
        return
    manifest = pipeline.record(wanted.package)
    act = sync.foresee if dry_run else sync.write
    done = act(bundle, folder, manifest, force=force)
    report_plan(done, folder, as_json, quiet, "would write" if dry_run else "wrote")


@main.command()
@with_revision
@with_schema
@with_output
@with_package
@click.option("--distribution", is_flag=True, help="The folder holds a distribution of its own.")
@with_quiet
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
    folder = wanted.output or fail(
        "check what? pass -o DIR, or set output in [tool.mcp-codegen] of pyproject.toml"
    )
    bundle = commands.bundle(wanted, schema, revisions)
    _undo(folder)
    _check(bundle, folder, wanted.package, quiet)


@main.command()
@click.argument("name")
@click.option(
    "-o",
    "--output",
    type=Folder(),
    help="Folder to create the project in.  [default: here]",
)
@click.option(
    "--transport",
    "kind",
    type=click.Choice(["stdio", "http", "both", "none"]),
    default="both",
    help="How the server is reached; none makes handlers on the stubs of any revision.  [default: both]",
)
@click.option(
    "--revision",
    "revisions",
    multiple=True,
    metavar="DATE|latest",
    help="A revision that the server answers; may be given more than once.  [default: 2026-07-28 and 2025-11-25]",
)
@with_schema
@with_dry_run
@with_force
@with_json
@with_quiet
def scaffold(
    name: str,
    output: Path | None,
    kind: str,
    revisions: tuple[str, ...],
    schema: str | None,
    dry_run: bool,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Write a project NAME: a server that works, with its tests and host configuration."""
    from . import commands, project, sync

    wanted = project.project(name, output or Path.cwd(), force=force)
    documents = commands.for_project(revisions, schema, kind)
    bundle = project.scaffold(wanted, documents, kind)
    act = sync.foresee if dry_run else sync.write
    done = act(bundle, wanted.folder, "", force=force)
    report_plan(done, wanted.folder, as_json, quiet, "would write" if dry_run else "wrote")
    if not (dry_run or as_json or quiet):
        click.echo("next:", err=True)
        for command in project.next_commands(wanted):
            click.echo(f"  {command}", err=True)


@main.command()
@click.argument("folder", required=False, type=Folder())
@with_revision
@with_schema
@click.option("--diff", "as_diff", is_flag=True, help="Write nothing; print the difference.")
@with_dry_run
@click.option("--allow-dirty", is_flag=True, help="Go on although there are changes that are not committed.")
@click.option("-f", "--force", is_flag=True, help="Overwrite generated files that were edited by hand.")
@with_json
@with_quiet
def update(
    folder: Path | None,
    revisions: tuple[str, ...],
    schema: str | None,
    as_diff: bool,
    dry_run: bool,
    allow_dirty: bool,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Bring a project along: to another revision, or to what this mcp-codegen makes of the same one.

    What is generated is made anew, your own files are merged with what has changed in those that they began as.
    Where both changed the same lines, both stand between conflict markers, and the exit code is 1; so it is when
    your code uses what is gone, or something that is no text stands where something new is written. FOLDER is the project, or a folder in it.  [default: here]
    """
    from . import commands, outcome, update

    one_of(json=as_json, diff=as_diff)
    project = update.place((folder or Path.cwd()).resolve())
    if project.undone:
        complain(f"{project.root}: undid a run that was interrupted")
    writes = not (dry_run or as_diff)
    if writes and not allow_dirty:
        commands.check_committed(project)
    done = update.update(project, commands.for_update(project, revisions, schema), force=force)
    if as_diff:
        click.echo(update.difference(done), nl=False)
    if writes:
        update.write(done, force=force)
    if as_json:
        print_json(outcome.plain(done))
    elif not quiet:
        click.echo(outcome.text(done, "updated" if writes else "would update"), nl=False, err=True)
    if done.conflicts or done.dangling or done.opaque:
        raise SystemExit(FOUND)


@main.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...|-")
@click.option(
    "--revision", default="latest", metavar="DATE|latest", help="The protocol revision.  [default: latest]"
)
@click.option(
    "--type", "name", metavar="NAME", help="Judge values as a definition, or as the result of a method."
)
@with_json
@with_quiet
def validate(files: tuple[str, ...], revision: str, name: str | None, as_json: bool, quiet: bool) -> None:
    """Judge messages by the exact schema of a revision.

    A file holds JSON or JSON Lines: a message, or the whole conversation of one connection, whose
    responses are judged by the requests they answer. `-` is standard input. Exit code 1 when something was
    found, 2 when a file could not be read.
    """
    from . import commands

    found, unread = each_file(files, commands.judging(revision, name))
    if as_json:
        print_json(found)
    elif not quiet:
        for row in found:
            place = row["pointer"] or "the whole message"
            click.echo(
                f"{row['file']}:{row['line']}: {place}: found {row['found']}; expected {row['expected']}"
            )
    for words in unread:
        complain(words)
    if found or unread:
        raise SystemExit(BAD_INPUT if unread else FOUND)


@main.command()
@click.argument("old")
@click.argument("new")
@click.option("--markdown", "as_markdown", is_flag=True, help="Print the outcome as Markdown.")
@click.option("--html", "as_html", is_flag=True, help="Print the outcome as one page to open in a browser.")
@click.option(
    "--fail-on",
    type=click.Choice(["breaking", "any"]),
    help="Exit 1 when a change breaks readers or writers, or when there is any.",
)
@with_json
def diff(old: str, new: str, as_markdown: bool, as_html: bool, fail_on: str | None, as_json: bool) -> None:
    """Say what changed from OLD to NEW, and whom it breaks.

    Each is a protocol revision (a date, or `latest`), a schema file or the address of one. A change breaks writers when what they may
    write by OLD is refused by NEW, and readers when what NEW allows is refused by OLD.
    """
    from . import commands, report

    one_of(json=as_json, markdown=as_markdown, html=as_html)
    found = commands.difference(old, new)
    if as_json:
        print_json(report.plain(found))
    elif as_html:
        from . import page

        click.echo(page.page(found), nl=False)
    else:
        click.echo(report.markdown(found) if as_markdown else report.text(found), nl=False)
    if any(fail_on == "any" or change.breaking for change in found.changes if fail_on):
        raise SystemExit(FOUND)


def _settings(
    output: Path | None, package: str | None, revisions: Sequence[str], distribution: bool
) -> Settings:
    """The settings of the project, with what the flags say in their place."""
    return overridden(settings(Path.cwd()), output, package, revisions, distribution)


def _undo(folder: Path) -> None:
    """Bring a folder back to what it was before a run that did not come to its end."""
    from . import swap

    if swap.recover(folder):
        complain(f"{folder}: undid a run that was interrupted")


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
