"""Document to Document: known defects of published files put right, each asserted against what the file says.

A correction that no longer describes its file stops the run: the file moved, and somebody must look.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from .errors import CorrectionError
from .facts import canonical, facts, same, unescape
from .ir import ABSENT, Document, Json, Schema, is_array, is_object
from .revisions import Correction


def correct(document: Document, rows: Iterable[Correction], *, strict: bool = True) -> Document:
    """Apply the rows to a document as it was loaded.

    When `strict`, a row whose `was` is gone raises CorrectionError, unless its `now` already stands there;
    otherwise (a file that is no pinned revision) rows that do not fit are passed over.
    """
    definitions = copy.deepcopy(dict(document.definitions))
    for row in rows:
        _correct(definitions, row, document, strict)
    return replace(document, definitions=definitions)


def expired(document: Document, corrections: Iterable[Correction]) -> list[Correction]:
    """The rows that `document` no longer needs: what they would write already stands there."""
    return [row for row in corrections if _says(document.definitions, row.pointer, row.now)]


@dataclass(frozen=True)
class Carried:
    """What becomes of the corrections when a revision arrives.

    `standing` are the rows whose defect it still has, `adopted` those that upstream has put right, and `unclear`
    those that fit neither.
    """

    standing: tuple[Correction, ...]
    adopted: tuple[Correction, ...]
    unclear: tuple[Correction, ...]


def carried(document: Document, rows: Iterable[Correction], basis: str) -> Carried:
    """Sort the rows by what a new document says at their places.

    A defect that stands is one whichever revision its row was made for; adopted or unclear can only be a row
    that held for `basis`, the revision from which the document comes.
    """
    definitions = document.definitions
    standing = tuple(row for row in rows if _fits(definitions, row))
    held = [row for row in rows if basis in row.revisions and row not in standing]
    adopted = tuple(row for row in held if _says(definitions, row.pointer, row.now))
    return Carried(standing, adopted, tuple(row for row in held if row not in adopted))


def _correct(definitions: dict[str, Schema], row: Correction, document: Document, strict: bool) -> None:
    if _fits(definitions, row):
        _put(definitions, row.pointer, row.now)
    elif strict and not _says(definitions, row.pointer, row.now):
        found = _found(definitions, row.pointer)
        shown = "nothing" if found is ABSENT else " ".join(canonical(found).split())
        raise CorrectionError(
            f"a correction matches nothing: found {shown}",
            remedy="compare the file with its pin (schema verify) or mend the row in corrections.toml",
            source=document.source,
            pointer=row.pointer,
        )


def _fits(definitions: Mapping[str, Schema], row: Correction) -> bool:
    """Whether the defect of a row stands in the definitions: nothing can be absent from what is not there."""
    if row.was is ABSENT:
        parent = _found(definitions, row.pointer.rpartition("/")[0])
        return is_object(parent) and _found(definitions, row.pointer) is ABSENT
    return _says(definitions, row.pointer, row.was)


def _says(definitions: Mapping[str, Schema], pointer: str, value: Json) -> bool:
    found = _found(definitions, pointer)
    return found is not ABSENT and same(found, value)


def _found(definitions: Mapping[str, Schema], pointer: str) -> Json:
    node: Json = {"$defs": dict(definitions)}
    for token in map(unescape, pointer.split("/")[1:]):
        if is_array(node) and token.isdigit() and int(token) < len(node):
            node = node[int(token)]
        elif is_object(node) and token in node:
            node = node[token]
        else:
            return ABSENT
    return facts(node)


def _put(definitions: dict[str, Schema], pointer: str, value: Json) -> None:
    *path, last = map(unescape, pointer.split("/")[1:])
    node: Json = {"$defs": definitions}
    for token in path:
        node = node[int(token) if is_array(node) else token]
    node[int(last) if is_array(node) else last] = copy.deepcopy(value)
