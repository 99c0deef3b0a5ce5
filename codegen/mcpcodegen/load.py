"""Bytes to Document: the only door by which a schema enters.

What comes out is valid against its meta-schema, speaks one dialect (`definitions` of draft-07 have become
`$defs`) and refers to nothing outside itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from urllib.parse import unquote

from .errors import SchemaError
from .facts import MAPS, digest, escape, parse, schemas_in, unescape
from .ir import Document, Json, Schema, is_array, is_object
from .judge import schema_fault
from .revisions import pins

DRAFT_07 = "http://json-schema.org/draft-07/schema"
DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema"
ARMS = ("anyOf", "oneOf", "allOf", "prefixItems")
CONTAINERS = {DRAFT_07: "definitions", DRAFT_2020: "$defs"}
"""The keyword for definitions, by dialect."""


def load(data: bytes, *, source: str, revision: str = "") -> Document:
    """Read a published schema.

    `data` is the file's bytes, `source` its name for messages, `revision` the protocol revision it is meant to
    be (empty for none that is known). Raises SchemaError with the JSON pointer of the first thing that is wrong.
    """
    root = parse(data, source)
    dialect, container = _dialect(root, source)
    definitions = root.get(container)
    if not is_object(definitions) or not definitions:
        raise SchemaError(
            f"no definitions under {container!r}",
            remedy="pass the schema.json of a protocol revision",
            source=source,
            pointer="",
        )
    mark = digest(root)
    if mark not in {pin.facts_sha256 for pin in pins()}:  # what is pinned was valid when it was pinned
        _check_meta_schema(root, dialect, source)
    local = {
        name: _local(schema, container, definitions, f"/{container}/{escape(name)}", source)
        for name, schema in definitions.items()
    }
    return Document(revision, source, mark, container, local)


def _dialect(root: Schema, source: str) -> tuple[str, str]:
    found = root.get("$schema")
    if found is None:
        return DRAFT_2020, "definitions" if "definitions" in root and "$defs" not in root else "$defs"
    name = found.rstrip("#") if isinstance(found, str) else ""
    if name not in CONTAINERS:
        raise SchemaError(
            f"unknown dialect {found!r}", remedy="use draft-07 or 2020-12", source=source, pointer="/$schema"
        )
    return name, CONTAINERS[name]


def _check_meta_schema(root: Schema, dialect: str, source: str) -> None:
    fault = schema_fault(root, draft_07=dialect == DRAFT_07)
    if fault is not None:
        pointer, message = fault
        raise SchemaError(
            f"not a valid schema: {message}",
            remedy=f"mend it to satisfy {dialect}",
            source=source,
            pointer=pointer,
        )


def _local(schema: Json, container: str, names: Mapping[str, Json], pointer: str, source: str) -> Schema:
    """One definition with its references checked and spelled `#/$defs/NAME`."""
    if not is_object(schema):
        raise SchemaError(
            f"found {json.dumps(schema)}, not a schema object",
            remedy="write an object",
            source=source,
            pointer=pointer,
        )
    _spell_out(schema)
    _check_patterns(schema, pointer, source)
    for place, node in schemas_in(schema, pointer):
        if "$ref" in node:
            node["$ref"] = _target(node["$ref"], container, names, f"{place}/$ref", source)
    return schema


def _check_patterns(schema: Schema, pointer: str, source: str) -> None:
    """Refuse a pattern that is no regular expression; a meta-schema only asks that it be a text."""
    for place, node in schemas_in(schema, pointer):
        try:
            re.compile(node.get("pattern", ""))
        except re.error as error:
            raise SchemaError(
                f"not a regular expression ({error})",
                remedy="mend the pattern",
                source=source,
                pointer=f"{place}/pattern",
            ) from None


def _spell_out(schema: Schema) -> None:
    """Write `true` and `false` where a schema is meant as the objects they stand for, `{}` and `{"not": {}}`.

    `additionalProperties` keeps its boolean: there it is the usual spelling.
    """
    for _, node in schemas_in(schema, ""):
        for key in (*MAPS, *ARMS):
            inside = node.get(key)
            if is_object(inside):
                node[key] = {name: _as_object(value) for name, value in inside.items()}
            elif is_array(inside):
                node[key] = [_as_object(value) for value in inside]
        if "items" in node:
            node["items"] = _as_object(node["items"])


def _as_object(schema: Json) -> Json:
    if not isinstance(schema, bool):
        return schema
    return Schema() if schema else {"not": Schema()}


def _target(reference: Json, container: str, names: Mapping[str, Json], pointer: str, source: str) -> str:
    prefix = f"#/{container}/"
    local = isinstance(reference, str) and reference.startswith(prefix)
    name = unescape(unquote(reference.removeprefix(prefix))) if local else ""
    if not local or name not in names:
        raise SchemaError(
            f"unresolvable reference {reference!r}",
            remedy=f"refer to a definition of this file as {prefix}NAME",
            source=source,
            pointer=pointer,
        )
    return f"#/$defs/{escape(name)}"
