"""Revisions in and out of the schema folder: pin a published file, and prove or refute another against its pin."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from .correct import expired
from .errors import RevisionError
from .facts import canonical, definitions_of, escape, facts, parse, same, sums
from .ir import Bundle, Json, is_object
from .load import load
from .resources import is_url, read_file, read_schema
from .revisions import Pin, corrections, facts_file, find, kept_sums, nearest, pins, pins_text, sums_name

DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
COMMIT = re.compile(r"/([0-9a-f]{40})/")


@dataclass(frozen=True)
class Verdict:
    """What a file is, measured against a pin.

    `differences` maps a definition to the pointers at which its facts differ; `prose` names the definitions of
    which nothing but prose does (None where that cannot be told: the pin keeps no hash of each, or the file has no
    prose at all); `expired` has the pointers of corrections that the file no longer needs.
    """

    same_bytes: bool
    same_facts: bool
    differences: Mapping[str, tuple[str, ...]]
    prose: tuple[str, ...] | None
    expired: tuple[str, ...]


def pin(revision: str, file: str, *, path: str, commit: str, schema_folder: Path) -> tuple[Pin, Bundle]:
    """The pin of a published file, and the files that record it, relative to the schema folder."""
    if not DATE.fullmatch(revision):
        raise RevisionError(f"{revision!r} names no revision", remedy="write its date, such as 2026-07-28")
    data = read_schema(file)
    load(data, source=file)
    root = parse(data, file)
    text = canonical(facts(root))
    known = {known.revision: known for known in pins(schema_folder)}
    sha256 = hashlib.sha256(data).hexdigest()
    was = known.get(revision)
    same = was if was is not None and was.sha256 == sha256 else None
    made = Pin(
        revision=revision,
        path=path or (same.path if same else f"schema/{revision}/schema.json"),
        commit=commit or (same.commit if same else _commit(file)),
        sha256=sha256,
        facts_sha256=hashlib.sha256(text.encode()).hexdigest(),
        definitions=len(definitions_of(root)),
    )
    return made, {
        f"{revision}.json": text,
        sums_name(revision): canonical(sums(definitions_of(root))),
        "revisions.toml": pins_text(tuple((known | {revision: made}).values())),
    }


def shown(revision: str, definition: str | None) -> str:
    """The canonical facts of a revision, or of one definition of it."""
    file = facts_file(find(revision))
    known = parse(file.read_bytes(), file.name)
    if definition is None:
        return canonical(known)
    definitions = definitions_of(known)
    if definition not in definitions:
        near = nearest(definition, definitions)
        raise RevisionError(f"{revision} has no definition {definition!r}", remedy=f"did you mean {near}?")
    return canonical(definitions[definition])


def check_new(made: Pin, file: str, schema_folder: Path) -> None:
    """Refuse to change what a released revision is: raises RevisionError when it is pinned to other facts."""
    known = {known.revision: known for known in pins(schema_folder)}.get(made.revision)
    if known is not None and known.facts_sha256 != made.facts_sha256:
        raise RevisionError(
            f"{made.revision} is pinned to other facts",
            remedy=f"see schema verify {made.revision} {file}, then pass --force to pin this file instead",
            source=file,
        )


def verify(revision: str, file: str, schema_folder: Path | None = None) -> Verdict:
    """Compare a file with the pin of a revision, by bytes first and by facts then."""
    return measured(find(revision, schema_folder), read_schema(file), file, schema_folder)


def whole(known: Pin, schema_folder: Path | None = None) -> bool:
    """Whether the facts of a pin lie there as they were pinned; what is damaged can be pinned anew."""
    file = facts_file(known, schema_folder)
    data = file.read_bytes().replace(b"\r\n", b"\n") if file.is_file() else b""
    return hashlib.sha256(data).hexdigest() == known.facts_sha256


def retold(known: Pin, files: Bundle, schema_folder: Path) -> tuple[str, ...]:
    """The definitions of a pin of which nothing but prose differs in the files that are to take its place."""
    kept = kept_sums(known, schema_folder) or {}
    file = facts_file(known, schema_folder)
    sides = file.read_bytes(), files[f"{known.revision}.json"].encode()
    ours, theirs = (definitions_of(parse(data, file.name)) for data in sides)
    apart, now = differences(ours, theirs), parse(files[sums_name(known.revision)].encode(), file.name)
    return tuple(name for name in sorted(now) if name not in apart and kept.get(name, now[name]) != now[name])


def measured(known: Pin, data: bytes, source: str, schema_folder: Path | None = None) -> Verdict:
    """What the bytes of a file are, compared with a pin; `source` names the file in errors."""
    document = load(data, source=source)
    published = parse(data, source)
    root = facts(published)
    rows = [row for row in corrections(schema_folder) if known.revision in row.revisions]
    file = facts_file(known, schema_folder)
    if not whole(known, schema_folder):
        raise RevisionError(
            "the facts are not the pinned ones",
            remedy="restore the file, or pin it anew with schema add",
            source=file.name,
        )
    pinned = parse(read_file(str(file)), file.name)
    found = differences(definitions_of(pinned), definitions_of(root))
    kept = kept_sums(known, schema_folder)
    return Verdict(
        same_bytes=hashlib.sha256(data).hexdigest() == known.sha256,
        same_facts=hashlib.sha256(canonical(root).encode()).hexdigest() == known.facts_sha256,
        differences=found,
        prose=None if kept is None or root == published else _retold(kept, published, found),
        expired=tuple(row.pointer for row in expired(document, rows)),
    )


def _retold(kept: Mapping[str, str], published: Json, found: Mapping[str, object]) -> tuple[str, ...]:
    """The definitions that are published in other words, and differ in nothing else."""
    return tuple(
        name
        for name, total in sorted(sums(definitions_of(published)).items())
        if name not in found and kept.get(name) != total
    )


def _commit(source: str) -> str:
    """The commit that an address of published files names; empty when it names none."""
    found = COMMIT.search(source) if is_url(source) else None
    return found[1] if found else ""


@dataclass(frozen=True)
class Published:
    """The definitions of a published file: their facts, and a hash of each whole text as far as it is known."""

    facts: Mapping[str, Json]
    sums: Mapping[str, str]


def reworded(old: Published, new: Published) -> tuple[str, ...]:
    """The definitions whose facts are the same in both, and whose published texts are not."""
    return tuple(
        name
        for name in sorted(old.sums.keys() & new.sums.keys())
        if old.sums[name] != new.sums[name]
        and name in old.facts
        and name in new.facts
        and same(old.facts[name], new.facts[name])
    )


def differences(ours: Mapping[str, Json], theirs: Mapping[str, Json]) -> dict[str, tuple[str, ...]]:
    """The definitions that differ, each with the JSON pointers (inside it) of the places that do."""
    both = {name: tuple(_places(schema, theirs[name], "")) for name, schema in ours.items() if name in theirs}
    found = both | dict.fromkeys(set(ours) ^ set(theirs), ("",))
    return {name: found[name] for name in sorted(found) if found[name]}


def _places(ours: Json, theirs: Json, pointer: str) -> Iterator[str]:
    if is_object(ours) and is_object(theirs):
        for key in sorted({*ours, *theirs}):
            place = f"{pointer}/{escape(key)}"
            if key in ours and key in theirs:
                yield from _places(ours[key], theirs[key], place)
            else:
                yield place
    elif canonical(ours) != canonical(theirs):
        yield pointer
