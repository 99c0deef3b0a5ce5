"""The commands `mcp-codegen schema ...`: the protocol revisions as data."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from .console import FOUND, Folder, counts, fail, print_json, with_force, with_json, with_quiet


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
@click.argument("file")
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
@with_force
@with_quiet
def schema_add(
    revision: str, file: str, commit: str, path: str, output: Path | None, force: bool, quiet: bool
) -> None:
    """Pin FILE as the published schema of REVISION, and record its facts."""
    from . import pinning, resources, sync

    if output is None and not resources.in_checkout():
        fail("which schema folder? this is no checkout of mcp-codegen; pass -o DIR")
    folder = output or resources.folder("schema")
    pin, files = pinning.pin(revision, file, path=path, commit=commit, schema_folder=folder)
    if not force:
        pinning.check_new(pin, file, folder)
    done = sync.write(files, folder, "", force=True)
    if not quiet:
        click.echo(
            f"{pin.revision}: {pin.definitions} definitions, facts {pin.facts_sha256[:16]}; {counts(done)} in {folder}",
            err=True,
        )


@schema.command("verify")
@click.argument("revision")
@click.argument("file")
@with_json
def schema_verify(revision: str, file: str, as_json: bool) -> None:
    """Prove that FILE is the pinned schema of REVISION, or name the definitions that differ and exit 1."""
    from . import pinning

    verdict = pinning.verify(revision, file)
    if as_json:
        print_json({"revision": revision, "file": file, **asdict(verdict)})
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
