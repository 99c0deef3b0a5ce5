"""What the commands do, apart from how they are typed: files in, plain values out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from .diff import diff
from .entries import Report
from .errors import CodegenError
from .facts import definitions_of, facts, parse, sums
from .ir import Bundle, Document, Json, is_object
from .lower import lower
from .origin import Origin, origin
from .outdated import Draft, Finding, drafted, emitted, pinned
from .pipeline import emit, read, record
from .pinning import DATE, Published, reworded
from .project import served
from .recipe import NONE
from .resources import is_url, read_file
from .revisions import facts_file, find, kept_sums, nearest, pins, words
from .settings import Settings
from .update import Place
from .validate import Validator
from .worktree import uncommitted


def bundle(wanted: Settings, schema_file: str | None, flags: Sequence[str]) -> Bundle:
    """The package that is wanted; with a schema file the revisions of the settings do not count.

    `flags` are the revisions that the command line names.
    """
    if "" in flags:
        raise CodegenError("--revision '' names no revision", remedy="see schema list")
    if schema_file is not None:
        documents = [_of_file(schema_file, flags)]
    else:
        instead = "pass the file itself with --schema"
        pinned = [find(revision, otherwise=instead) for revision in wanted.revisions or ("latest",)]
        documents = [read(revision=pin.revision) for pin in pinned]
    return emit(documents, wanted.package, distribution=wanted.distribution)


def for_project(flags: Sequence[str], schema_file: str | None, kind: str) -> list[Document]:
    """The documents that a project is for: of the revisions named, or of a schema file."""
    if schema_file is None:
        return [read(revision=revision) for revision in served(flags, kind)]
    if kind != NONE:
        raise CodegenError(
            f"a server cannot be made for a schema file ({schema_file})",
            remedy=f"pass --transport {NONE} for handlers on its stubs, or --revision",
        )
    return [_of_file(schema_file, flags)]


def for_update(project: Place, flags: Sequence[str], schema_file: str | None) -> list[Document]:
    """The documents that a project is brought to: named, or those that it says it is for."""
    if schema_file is not None:
        return for_project(flags, schema_file, project.kind)
    known = project.recorded.recipe.revisions if project.recorded else ()
    named = flags or project.settings.revisions or known
    if known == ("",) and not (flags or project.settings.revisions):
        raise CodegenError(
            "this project is for a schema of no known revision",
            remedy="say what it is brought to: --revision DATE, or --schema FILE",
            source=str(project.root),
        )
    return [read(revision=revision) for revision in served(named, project.kind)]


def check_committed(project: Place) -> None:
    """Refuse to write over what no version control could bring back."""
    changed = uncommitted(project.root)
    if changed:
        more = f" (and {len(changed) - 1} more)" if len(changed) > 1 else ""
        raise CodegenError(
            f"{changed[0]} has changes that are not committed{more}",
            remedy="commit them, or pass --allow-dirty",
            source=str(project.root),
        )


def judging(revision: str, name: str | None) -> Callable[[str], list[dict[str, Json]]]:
    """What finds the faults of one file of messages, each as a row; `-` is standard input."""
    document = read(revision=revision)
    validator = Validator(document, lower(document))
    if name is not None and name not in validator.types:
        near = nearest(name, validator.types)
        raise CodegenError(
            f"{document.revision} has no definition and no method {name!r}", remedy=f"did you mean {near}?"
        )

    def judge(file: str) -> list[dict[str, Json]]:
        text = _text(file)
        findings = validator.conversation(text) if name is None else validator.values(text, name)
        return [{"file": file, **asdict(finding)} for finding in findings]

    return judge


def difference(old: str, new: str) -> Report:
    """What changed from one revision to another; each is a date, `latest`, or a schema file."""
    documents = [_document(old), _document(new)]
    specs = [lower(document, words(document.revision)) for document in documents]
    names = [document.revision or document.source for document in documents]
    changes = diff(specs[0], specs[1])
    return Report(names[0], names[1], changes, reworded(_published(old), _published(new)))


def outlook(
    source: str, drafts: Sequence[str], schema_folder: Path | None, package: Settings, *, named: bool
) -> tuple[Origin, list[Finding]]:
    """What the specification has published since: for each pin, for drafts, and for an emitted package.

    When the package is `named` by the one who asks, it must be there.
    """
    if not source:
        raise CodegenError("'' names no place", remedy="pass a checkout of the specification")
    known = [pin.revision for pin in pins(schema_folder)]
    if not known:
        raise CodegenError(
            "no revision is pinned here",
            remedy="pass a folder that schema add has written",
            source=str(schema_folder),
        )
    place = origin(source, known)
    found = [*pinned(place, schema_folder), *(drafted(file, place) for file in drafts)]
    return place, [*found, *emitted(package.package, _recorded(package, named=named), place)]


def _recorded(package: Settings, *, named: bool) -> dict[str, Draft]:
    """What a package has recorded of the schema of each of its revisions; nothing when there is no package."""
    file = package.output and package.output / record(package.package)
    if file is None or not (named or file.is_file()):
        return {}
    manifest = parse(read_file(str(file)), str(file))
    revisions, definitions = manifest.get("revisions"), manifest.get("definitions", {})
    if not (is_object(revisions) and is_object(definitions) and all(map(is_object, definitions.values()))):
        raise CodegenError(
            "not a manifest of generated files",
            remedy="restore it, or generate the package anew",
            source=str(file),
        )
    return {
        name: Draft(str(digest), {key: str(sum) for key, sum in definitions.get(name, {}).items()})
        for name, digest in revisions.items()
    }


def _of_file(schema_file: str, flags: Sequence[str]) -> Document:
    if len(flags) > 1:
        raise CodegenError("--schema is one revision", remedy="pass at most one --revision with it")
    return read(schema=schema_file, revision="".join(flags))


def _published(name: str) -> Published:
    """A revision, or a schema file, as it was published; nothing is fetched a second time for it."""
    if is_url(name):
        return Published({}, {})
    if not _is_revision(name):
        root = parse(read_file(name), name)
        return Published(definitions_of(facts(root)), sums(definitions_of(root)))
    pin = find(name)
    root = parse(read_file(str(facts_file(pin))), pin.revision)
    return Published(definitions_of(root), kept_sums(pin) or {})


def _is_revision(name: str) -> bool:
    return name == "latest" or DATE.fullmatch(name) is not None


def _document(name: str) -> Document:
    if not name:
        raise CodegenError("'' names no revision and no file", remedy="see schema list")
    if _is_revision(name):
        return read(revision=find(name, otherwise="pass the file itself").revision)
    return read(schema=name)


def _text(file: str) -> str:
    data = sys.stdin.buffer.read() if file == "-" else read_file(file)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CodegenError(f"not UTF-8 at byte {error.start}", remedy="pass JSON text", source=file) from None
