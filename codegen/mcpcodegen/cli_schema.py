"""The commands `mcp-codegen schema ...`: the protocol revisions as data."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from .console import (
    FOUND,
    Folder,
    fail,
    print_json,
    with_dry_run,
    with_force,
    with_json,
    with_output,
    with_package,
    with_quiet,
)
from .resources import SPECIFICATION

with_pins = click.option(
    "--pins",
    type=Folder(),
    metavar="DIR",
    help="The schema folder whose pins are meant.  [default: the one of mcp-codegen]",
)


@click.group()
def schema() -> None:
    """The protocol revisions as data: pins and facts."""


@schema.command("list")
@with_json
def schema_list(as_json: bool) -> None:
    """List the pinned revisions."""
    from .revisions import pins

    if as_json:
        print_json([asdict(pin) for pin in pins()])
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
@click.argument("file", required=False, metavar="[FILE|URL]")
@click.option(
    "--commit", default="", help="Commit of the specification's repository that the file was published with."
)
@click.option("--path", default="", help="Path of the file in that repository.")
@click.option(
    "-o",
    "--output",
    type=Folder(),
    help="The schema folder.  [default: the one of this checkout]",
)
@with_dry_run
@with_force
@with_json
@with_quiet
def schema_add(
    revision: str,
    file: str | None,
    commit: str,
    path: str,
    output: Path | None,
    dry_run: bool,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Pin a published schema as REVISION, with what is known that still holds.

    FILE or URL is the published schema.json; without it, the one that the specification publishes is fetched.
    Says what changed since the nearest known revision, which corrections hold, are dropped or need a look, and
    prints the rows of words.toml that are missing, to be filled in.
    """
    from . import adding, swap, sync, tidings

    source = f"{SPECIFICATION}/schema/{revision}/schema.json" if file is None else file
    folder = output or _own_folder()
    swap.recover(folder)
    made = adding.arrival(revision, source, path=path, commit=commit, schema_folder=folder, force=force)
    done = (sync.foresee if dry_run else sync.write)(made.files, folder, "", force=True)
    if as_json:
        print_json({**tidings.arrival_plain(made), "folder": str(folder), "files": asdict(done)})
        return
    if not quiet:
        wrote = "would write" if dry_run else "wrote"
        files = ", ".join((*done.created, *done.changed))
        head = f"{revision}: {made.pin.definitions} definitions, facts {made.pin.facts_sha256[:16]}"
        click.echo(f"{head}; {f'{wrote} {files}' if files else 'nothing to write'} in {folder}", err=True)
        for line in tidings.of_arrival(made, source):
            click.echo(line, err=True)
        click.echo(adding.skeleton(made), nl=False)


def _own_folder() -> Path:
    from . import resources

    if not resources.in_checkout():
        fail("which schema folder? this is no checkout of mcp-codegen; pass -o DIR")
    return resources.folder("schema")


@schema.command("verify")
@click.argument("revision")
@click.argument("file", metavar="FILE|URL")
@with_pins
@with_json
def schema_verify(revision: str, file: str, pins: Path | None, as_json: bool) -> None:
    """Prove that a file is the pinned schema of REVISION, or name the definitions that differ and exit 1."""
    from . import pinning, tidings

    verdict = pinning.verify(revision, file, pins)
    if as_json:
        print_json({"revision": revision, "file": file, **asdict(verdict)})
    else:
        for line in tidings.of_verdict(revision, file, verdict):
            click.echo(line)
    for place in verdict.expired:
        click.echo(f"the correction at {place} has expired: the file says so itself; drop the row", err=True)
    if not verdict.same_bytes:
        raise SystemExit(FOUND)


@schema.command("outdated")
@click.argument("source", default=SPECIFICATION, metavar="[DIR|URL]")
@click.option(
    "--draft",
    "drafts",
    multiple=True,
    metavar="FILE|URL",
    help="A draft that something was generated from; may be given more than once.",
)
@with_pins
@with_output
@with_package
@with_json
@with_quiet
def schema_outdated(
    source: str,
    drafts: tuple[str, ...],
    pins: Path | None,
    output: Path | None,
    package: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Say what is stale: pins, drafts, and the emitted package; exit 1 when anything is.

    DIR is a checkout of the specification, URL the address of its raw files (by default, where it publishes
    them). Told are a released file that was edited in place, with the definitions that differ, a draft that
    has since been released, and a newer revision. The package is that of [tool.mcp-codegen] in pyproject.toml,
    or the one in -o.
    """
    from . import commands, settings, tidings

    known = settings.overridden(settings.settings(Path.cwd()), output, package, (), distribution=False)
    place, found = commands.outlook(source, drafts, pins, known, named=output is not None)
    stale, left = any(one.stale for one in found), list(tidings.unchecked(place, found))
    if as_json:
        rows = [{**asdict(one), "stale": one.stale} for one in found]
        print_json({"source": place.place, "stale": stale, "findings": rows, "unchecked": left})
    elif not quiet:
        for line in (line for one in found for line in tidings.of_finding(one)):
            click.echo(line)
        for words in left:
            click.echo(words, err=True)
    if stale:
        raise SystemExit(FOUND)
