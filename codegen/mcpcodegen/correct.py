"""Document to Document: known defects of published files put right, each asserted against what the file says.

A correction that no longer describes its file stops the run: the file moved, and somebody must look.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from dataclasses import replace

from .errors import CorrectionError
from .facts import canonical, facts, unescape
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
    return [row for row in corrections if _found(document.definitions, row.pointer) == row.now]


def _correct(definitions: dict[str, Schema], row: Correction, document: Document, strict: bool) -> None:
    found = _found(definitions, row.pointer)
    if found == row.was:
        _put(definitions, row.pointer, row.now)
    elif strict and found != row.now:
        shown = "nothing" if found is ABSENT else " ".join(canonical(found).split())
        raise CorrectionError(
            f"a correction matches nothing: found {shown}",
            remedy="compare the file with its pin (schema verify) or mend the row in corrections.toml",
            source=document.source,
            pointer=row.pointer,
        )


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
