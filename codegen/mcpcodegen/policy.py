"""What the schema does not say about its types, as rows: which unions and values newer peers may add to, what a builder may leave out.

The schema closes what the protocol leaves open; each row here is a rule of the specification, with its reason.
"""

from __future__ import annotations

from collections.abc import Mapping

from .ir import Json, Schema
from .shapes import has_members, is_enumeration, is_tagged, resolve, target

OPEN_UNIONS: Mapping[str, str] = {
    "ContentBlock": "a newer peer may send a block of a new type; the blocks beside it must still be read",
    "PromptMessageContent": "the content of a prompt until 2025-03-26, before the block had a name",
    "SamplingMessageContent": "likewise in sampling, until 2025-06-18",
    "SamplingMessageContentBlock": "the blocks of a conversation with a model, likewise",
}
"""Unions in which an unknown tag is kept as a value of unknown type."""

CLOSED_ENUMERATIONS: Mapping[str, str] = {
    "NumberSchemaType": "it tells a number schema from others, as a tag does",
}
"""Lists of values that are not open; in all others a newer peer may use a value that is not listed."""

DICTIONARIES: Mapping[str, str] = {
    "ToolInputSchema": "a JSON Schema document: people write and read it as one, whatever keywords it has",
    "ToolOutputSchema": "likewise",
}
"""Objects that stay dictionaries in Python, with the members that the schema names checked."""

FILLED: Mapping[str, tuple[Json, str]] = {
    "resultType": ("complete", "an absent resultType means complete (basic/index, ResultType)"),
    "ttlMs": (0, "an absent hint means stale at once (server/utilities/caching)"),
    "cacheScope": ("private", "without a hint nothing may be shared (server/utilities/caching)"),
}
"""Required members that building fills in, and whose absence in what an older peer sent means the same."""


def is_open_union(name: str, schema: Schema) -> bool:
    """Whether a definition is a union that keeps what it does not know."""
    return name in OPEN_UNIONS and is_tagged(schema)


def is_open_enumeration(name: str, schema: Schema) -> bool:
    """Whether a definition lists values to which others may be added."""
    return is_enumeration(schema) and name not in CLOSED_ENUMERATIONS


def is_dictionary(name: str, schema: Schema) -> bool:
    """Whether an object stays a dictionary."""
    return name in DICTIONARIES and has_members(schema)


def holds_documents(schema: Schema, definitions: Mapping[str, Schema]) -> bool:
    """Whether an object carries dictionaries of ours, or has a list of what does: a tool, or a list of tools."""
    items = [resolve(member["items"], definitions) for member in _members(schema) if "items" in member]
    named = [member.get("$ref", "") for owner in (schema, *items) for member in _members(owner)]
    return any(target(reference) in DICTIONARIES for reference in named)


def _members(schema: Schema) -> list[Schema]:
    return list(schema.get("properties", {}).values())


def filled(schema: Schema) -> dict[str, Json]:
    """The members of an object that building fills in, by wire name, with what it fills in."""
    members = schema.get("properties", {})
    required = [
        name for name in schema.get("required", ()) if name in FILLED and "const" not in members[name]
    ]
    return {name: FILLED[name][0] for name in required}
