"""The day a revision comes: its file is pinned, compared with what is known, and given the rows that still hold.

Everything is decided here and written by somebody else: what arrives is a value, the files among it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .correct import Carried, carried, correct
from .diff import Change, diff
from .edits import row_text, with_revisions, with_words
from .entries import Report
from .facts import key, unescape
from .hoist import hoist
from .ir import Bundle, Document, Spec
from .load import load
from .lower import lower
from .pinning import check_new, pin, retold, whole
from .pipeline import load_pinned
from .revisions import Correction, Pin, Words, corrections, pins, words

CORRECTIONS = "corrections.toml"
WORDS = "words.toml"


@dataclass(frozen=True)
class Arrival:
    """A revision that comes in.

    `files` go into the schema folder. `difference` is that to the nearest known revision, None when none is known,
    and `retold` names what is pinned already and has nothing but other prose now;
    `corrections` are sorted by what the new file says; `renamed` are the definitions whose words were copied, the
    new name by the old one, and `bare` are the definitions and members that have no words, by table of words.toml.
    """

    pin: Pin
    files: Bundle
    difference: Report | None
    retold: Sequence[str]
    corrections: Carried
    renamed: Mapping[str, str]
    bare: Mapping[str, Sequence[str]]


def arrival(
    revision: str, file: str, *, path: str, commit: str, schema_folder: Path, force: bool = False
) -> Arrival:
    """What pinning a published file brings; raises RevisionError for other facts of a pinned one, unless `force`."""
    made, files = pin(revision, file, path=path, commit=commit, schema_folder=schema_folder)
    if not force:
        check_new(made, file, schema_folder)
    document = load(files[f"{revision}.json"].encode(), source=file, revision=revision)
    basis = nearest(document, schema_folder)
    rows = corrections(schema_folder)
    sorted_rows = carried(document, rows, basis)
    known = words(revision, schema_folder)
    spec = _spec(document, sorted_rows.standing, known)
    before = words(basis, schema_folder)
    changes = _changes(basis, spec, rows, before, schema_folder) if basis else []
    names = {change.old: change.new for change in changes if change.kind == "definition-renamed"}
    copied = _copied(spec, known, before, names, _members(changes))
    texts = {
        CORRECTIONS: _corrections(revision, rows, sorted_rows, schema_folder),
        WORDS: with_words(text, copied, WORDS) if (text := _text(schema_folder, WORDS)) else "",
    }
    return Arrival(
        pin=made,
        files={**files, **{name: text for name, text in texts.items() if text}},
        difference=Report(basis, revision, changes) if basis else None,
        retold=_retold(revision, files, schema_folder),
        corrections=sorted_rows,
        renamed={old: new for old, new in names.items() if _touches(new, copied)},
        bare=_bare(spec, copied),
    )


def nearest(document: Document, schema_folder: Path) -> str:
    """The known revision to compare with: itself when it is pinned already, else that with the fewest definitions
    that differ, and the newest of several; empty when none is known.
    """
    known = _whole(schema_folder)
    if document.revision in known:
        return document.revision
    ours = _keys(document)
    apart = {
        name: len(set(ours.items()) ^ set(_keys(load_pinned(name, schema_folder)).items())) for name in known
    }
    return min(reversed(known), key=lambda name: apart[name], default="")


def skeleton(arrival: Arrival) -> str:
    """The rows of words.toml that are missing, ready to be filled in; empty when none is."""
    tables = [
        f"[{table}]\n" + "".join(f"{row_text(name, '')}\n" for name in names)
        for table, names in arrival.bare.items()
        if names
    ]
    return "\n".join(tables)


def _spec(document: Document, rows: Sequence[Correction], known: Words) -> Spec:
    return lower(hoist(correct(document, rows, strict=False)), known)


def _changes(
    basis: str, spec: Spec, rows: Sequence[Correction], known: Words, schema_folder: Path
) -> list[Change]:
    held = [row for row in rows if basis in row.revisions]
    return diff(_spec(load_pinned(basis, schema_folder), held, known), spec)


def _retold(revision: str, files: Bundle, schema_folder: Path) -> tuple[str, ...]:
    known = _whole(schema_folder)
    return retold(known[revision], files, schema_folder) if revision in known else ()


def _whole(schema_folder: Path) -> dict[str, Pin]:
    """The pins to compare with, the oldest first: those whose facts are undamaged."""
    return {one.revision: one for one in pins(schema_folder) if whole(one, schema_folder)}


def _keys(document: Document) -> dict[str, str]:
    return {name: key(schema) for name, schema in document.definitions.items()}


def _corrections(revision: str, rows: Sequence[Correction], done: Carried, schema_folder: Path) -> str:
    """The table with this revision in the rows that stand, and out of those that upstream has adopted."""
    now = [_revisions(revision, row, done) for row in rows]
    if all(row.revisions == after for row, after in zip(rows, now, strict=True)):
        return ""
    return with_revisions(_text(schema_folder, CORRECTIONS), now, CORRECTIONS)


def _revisions(revision: str, row: Correction, done: Carried) -> tuple[str, ...]:
    if row in done.standing and revision not in row.revisions:
        return tuple(sorted((*row.revisions, revision)))
    return tuple(one for one in row.revisions if one != revision or row not in done.adopted)


def _members(changes: Sequence[Change]) -> dict[str, str]:
    """The old key of each member that has a new name only, by its new one (`Tool.title`)."""
    found: dict[str, str] = {}
    for change in changes:
        _, *tokens = change.pointer.split("/")
        if change.kind.endswith("member-renamed") and len(tokens) == 2:
            found[f"{change.definition}.{unescape(tokens[1])}"] = f"{change.definition}.{change.old}"
    return found


def _copied(
    spec: Spec, known: Words, before: Words, names: Mapping[str, str], members: Mapping[str, str]
) -> dict[str, dict[str, str]]:
    """The rows that say of what has a new name what was said of it under the old one."""
    old = {new: old for old, new in names.items()}
    rows: dict[str, dict[str, str]] = {"definitions": {}, "members": {}}
    for one in spec.definitions:
        was = old.get(one.name, one.name)
        if was != one.name and not known.definition(one.name) and before.definition(was):
            rows["definitions"][one.name] = before.definition(was)
        for member in one.members:
            name = f"{one.name}.{member.wire}"
            former = members.get(name, name)
            words_of_it = before.members.get(f"{was}.{former.removeprefix(f'{one.name}.')}", "")
            if not member.doc and words_of_it:
                rows["members"][name] = words_of_it
    return {table: more for table, more in rows.items() if more}


def _touches(name: str, copied: Mapping[str, Mapping[str, str]]) -> bool:
    return any(row == name or row.startswith(f"{name}.") for rows in copied.values() for row in rows)


def _bare(spec: Spec, copied: Mapping[str, Mapping[str, str]]) -> dict[str, list[str]]:
    wanting = {
        "definitions": [one.name for one in spec.definitions if not one.doc],
        "members": [f"{one.name}.{m.wire}" for one in spec.definitions for m in one.members if not m.doc],
    }
    return {
        table: [name for name in names if name not in copied.get(table, {})]
        for table, names in wanting.items()
    }


def _text(schema_folder: Path, name: str) -> str:
    """The text of a table as it lies there, line ends and all; empty when there is none."""
    file = schema_folder / name
    return file.read_bytes().decode("utf-8") if file.is_file() else ""
