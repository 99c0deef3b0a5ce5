"""The order of the stages, in a page: what goes in by path or revision comes out as a Bundle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from . import __version__
from .errors import RevisionError
from .correct import correct
from .hoist import hoist
from .ir import Bundle, Document, Spec
from .load import load
from .lower import lower
from .moved import Moved, moved
from .escapes import docstring, literal
from .facts import facts, sums
from .render import render, runtime
from .resources import read_file, read_schema
from .revisions import corrections, facts_file, find, pins, words
from .sync import manifest
from .views import FACES, ErasView, RevisionView, documented, retired, view

RECORD = "emitted.json"
"""The manifest inside an emitted package: how it was made, and a hash per file."""

RUNTIME_REVISION = "2026-07-28"
"""The revision that the static server and client speak; others get types, methods and stubs."""

HANDSHAKE_REVISION = "2025-11-25"
"""The revision before it, which they speak as well where a package has both."""

HANDSHAKES = frozenset(
    f"client/{name}.py" for name in ("conversions", "errands", "handshake", "questions", "sessions")
)
"""The modules of the client that only servers of that revision need; those of the server have a folder."""


def read(*, revision: str = "", schema: str = "") -> Document:
    """The document of a pinned revision (default: the newest) or of a schema file, named.

    A file whose facts are those of a pinned revision is that revision, unless `revision` says which it is
    meant to be. The corrections of a revision must hold; for a file of no known revision those that fit are
    applied.
    """
    document = load_file(schema, revision) if schema else load_pinned(revision or "latest")
    rows = [row for row in corrections() if not document.revision or document.revision in row.revisions]
    return hoist(correct(document, rows, strict=bool(document.revision)))


def load_file(schema: str, revision: str = "") -> Document:
    """A schema file as it stands, under the revision it is (by its facts) or is said to be."""
    document = load(read_schema(schema), source=schema, revision=find(revision).revision if revision else "")
    known = {pin.facts_sha256: pin.revision for pin in pins()}
    if document.digest not in known:
        told = {name: facts(schema) for name, schema in document.definitions.items()}
        return replace(document, sums=sums(told))
    return document if revision else replace(document, revision=known[document.digest])


def load_pinned(revision: str, schema_folder: Path | None = None) -> Document:
    """The facts of a pinned revision, which must be the ones that the pin was made for."""
    pin = find(revision, schema_folder)
    file = facts_file(pin, schema_folder)
    document = load(read_file(str(file)), source=file.name, revision=pin.revision)
    if document.digest != pin.facts_sha256:
        raise RevisionError(
            "the facts are not the pinned ones",
            remedy="restore the file, or pin it anew with schema add",
            source=file.name,
        )
    return document


def emit(documents: Sequence[Document], name: str, *, distribution: bool = False) -> Bundle:
    """The package `name` for some named documents, with its manifest, ready to be written.

    With `distribution` it comes with the `pyproject.toml` and README of a distribution of its own.
    """
    # Here and below: reading a document needs neither the engine nor black, which take most of a second to import.
    from .tidy import tidy

    specs = [(document, lower(document, words(document.revision))) for document in documents]
    views = [view(spec) for _, spec in specs]
    bundle = _root(views)
    for (document, spec), rev in zip(specs, views, strict=True):
        bundle |= {f"{rev.module}/{path}": text for path, text in _revision(document, spec, rev).items()}
    # The static modules are what they are; only what was laid out is formatted.
    done = {f"{name}/{path}": text for path, text in {**tidy(bundle), **_static(views)}.items()}
    if distribution:
        done |= _distribution(views, name)
    recipe = {
        "generator": f"mcpcodegen {__version__}",
        "package": name,
        "distribution": distribution,
        "revisions": {rev.revision or rev.module: rev.digest for rev in views},
        **_unpinned(documents, views),
    }
    return {**done, record(name): manifest(done, recipe)}


def _unpinned(documents: Sequence[Document], views: Sequence[RevisionView]) -> dict[str, object]:
    """What is recorded of a schema that is no pinned one: a hash of each definition, to tell later what became of it."""
    found = {
        rev.revision or rev.module: dict(document.sums)
        for document, rev in zip(documents, views, strict=True)
        if document.sums
    }
    return {"definitions": found} if found else {}


def record(name: str) -> str:
    """Where the manifest of the package `name` lies in its bundle."""
    return f"{name}/{RECORD}"


def _static(views: Sequence[RevisionView]) -> dict[str, str]:
    """The modules that are copied: a server and a client only where their revision is there."""
    named = {rev.revision for rev in views}
    files = runtime("runtime")
    if RUNTIME_REVISION not in named:
        return {path: text for path, text in files.items() if "/" not in path}
    if HANDSHAKE_REVISION in named:
        return {**files, "server/eras.py": runtime("eras")["both.py"]}
    alone = {path: text for path, text in files.items() if "/legacy/" not in path and path not in HANDSHAKES}
    return {
        **alone,
        "server/eras.py": runtime("eras")["latest.py"],
        "client/era.py": runtime("eras")["client.py"],
    }


def _root(views: Sequence[RevisionView]) -> dict[str, str]:
    """What the revisions of a package share."""
    context = {
        "header": _header(""),
        "revisions": views,
        "modules": [rev.module for rev in views],
        "latest": max(rev.revision for rev in views),
    }
    root = {"__init__.py": render("package.py.jinja", context), "py.typed": ""}
    eras = ErasView(handshake=any(rev.revision == HANDSHAKE_REVISION for rev in views))
    for rev in views:
        if rev.revision == RUNTIME_REVISION:
            root["latest.py"] = render("latest.py.jinja", {"header": _header(""), "rev": rev})
            root |= {
                f"client/{module}.py": render(
                    "client/face.py.jinja", {"header": _header(""), "face": face, "eras": eras}
                )
                for module, face in FACES.items()
            }
    return root


def _revision(document: Document, spec: Spec, rev: RevisionView) -> Mapping[str, str]:
    from .models import Told, models

    header = _header(f" from {rev.title} (facts sha256 {rev.digest[:16]})")
    prose = documented(spec.definitions)
    aliases = {definition.name for definition in spec.definitions if definition.shape == "alias"}
    docs = {
        owner: {key: docstring(text, 0 if owner in aliases else 4) for key, text in texts.items()}
        for owner, texts in prose.items()
    }
    names = _moved(document)
    told = Told(
        docs=docs,
        retired={name: literal(text) for name, text in retired(spec.definitions).items()},
        moved={
            owner: {new: (row.old, literal(row.notice)) for new, row in rows.items()}
            for owner, rows in names.members.items()
        },
        leads=bool(names.definitions),
    )
    context = {"header": header, "rev": rev}
    below = render("moved.py.jinja", {"names": names.definitions}) if names.definitions else ""
    return {
        "__init__.py": render("revision.py.jinja", context),
        "types.py": models(document, told, header=render("types_header.jinja", context)) + below,
        "methods.py": render("methods.py.jinja", context),
        "messages.py": render("messages.py.jinja", context),
        "server.py": render("side.py.jinja", {**context, "side": rev.server}),
        "client.py": render("side.py.jinja", {**context, "side": rev.client}),
    }


def _moved(document: Document) -> Moved:
    """What a revision has under other names than those before it; of an unreleased schema nobody can say."""
    before = [pin.revision for pin in pins() if pin.revision < document.revision]
    return moved([_before(revision) for revision in before], document)


@cache
def _before(revision: str) -> Document:
    return read(revision=revision)


def _distribution(views: Sequence[RevisionView], name: str) -> dict[str, str]:
    context = {"name": name, "version": __version__, "revisions": views, "latest": views[-1]}
    return {file: render(f"distribution/{file}.jinja", context) for file in ("pyproject.toml", "README.md")}


def _header(source: str) -> str:
    return f"# Generated by mcp-codegen {__version__}{source}. Regenerate instead of editing."
