"""What schemas look like: plain questions about shape, and the three rewrites that need no names.

Everything here works on the definitions of a Document (references are `#/$defs/NAME`); rewrites are in place.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping

from .facts import canonical, schemas_in, unescape
from .ir import Json, Schema, is_object

UNIONS = ("anyOf", "oneOf")
REF = "#/$defs/"


def open_up(node: Json) -> None:
    """Drop what says nothing: an empty `properties`, and `additionalProperties: {}` beside members.

    JSON Schema objects are open by default, and the base model keeps what it does not know; said a second
    time, it would only make the type engine write a different class.
    """
    for schema in nodes(node):
        if not schema.get("properties", True):
            del schema["properties"]
        if schema.get("properties") and schema.get("additionalProperties") in ({}, True):
            del schema["additionalProperties"]


def merge(node: Schema, definitions: Mapping[str, Schema]) -> None:
    """Turn `allOf` of objects into the one object it means, where the parts can be joined keyword by keyword."""
    for schema in nodes(node):
        parts = [resolve(part, definitions) for part in schema.get("allOf", [])]
        joined = _join_objects(parts) if parts and all(map(has_members, parts)) else None
        if joined is not None:
            del schema["allOf"]
            schema.update(joined)


def _join_objects(parts: list[Schema]) -> Schema | None:
    properties: dict[str, Schema] = {}
    required: set[str] = set()
    for part in parts:
        if set(part) - {"type", "properties", "required", "description"}:
            return None
        required.update(part.get("required", []))
        for name, schema in part["properties"].items():
            joined = _join(properties.get(name, {}), schema)
            if joined is None:
                return None
            properties[name] = joined
    return copy.deepcopy({"type": "object", "properties": properties, "required": sorted(required)})


def _join(left: Schema, right: Schema) -> Schema | None:
    """Both schemas as one, or None where a keyword says two things."""
    shared = (set(left) & set(right)) - {"description"}
    return {**left, **right} if all(left[key] == right[key] for key in shared) else None


def tag(node: Schema, definitions: Mapping[str, Schema]) -> None:
    """Name the member that tells the arms of a union apart, where every arm requires one of its own value."""
    for schema in nodes(node):
        for keyword in UNIONS:
            arms = [resolve(arm, definitions) for arm in schema.get(keyword, [])]
            name = _shared_tag(arms)
            if name and all("$ref" in arm for arm in schema[keyword]):
                schema["discriminator"] = {"propertyName": name}


def _shared_tag(arms: list[Schema]) -> str | None:
    if len(arms) < 2:
        return None
    for name in sorted(tags(arms[0])):
        values = [canonical(tags(arm)[name]) for arm in arms if name in tags(arm)]
        if len(set(values)) == len(arms):
            return name
    return None


def tags(schema: Schema) -> dict[str, Json]:
    """The members of an object that are required and can have one value only."""
    properties: dict[str, Schema] = schema.get("properties", {})
    return {
        name: properties[name]["const"]
        for name in schema.get("required", [])
        if "const" in properties.get(name, {})
    }


def resolve(schema: Schema, definitions: Mapping[str, Schema]) -> Schema:
    """`schema`, or the definition that it is a reference to."""
    seen: set[str] = set()
    while "$ref" in schema and schema["$ref"] not in seen:
        seen.add(schema["$ref"])
        schema = definitions[target(schema["$ref"])]
    return schema


def target(reference: str) -> str:
    """The definition that a reference leads to."""
    return unescape(reference.removeprefix(REF))


def has_members(schema: Json) -> bool:
    """Whether a schema is an object with members of its own."""
    return is_object(schema) and bool(schema.get("properties"))


def is_tagged(schema: Json) -> bool:
    """Whether a schema is a union that names its tag."""
    return is_object(schema) and "discriminator" in schema


def nodes(node: Json) -> Iterator[Schema]:
    """Every schema at and below `node`, the outermost first."""
    return (schema for _, schema in schemas_in(node, ""))
