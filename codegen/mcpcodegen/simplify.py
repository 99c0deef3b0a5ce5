"""Schemas as the type engine shall see them: what it can express without inventing a class, and nothing else.

Prose and annotations never reach the engine, nor do keywords that it would answer with a class of its own
making. What is left out makes a type wider, never narrower: no valid message is refused.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from .escapes import literal
from .facts import kind_of
from .ir import Json, Schema, is_array, is_object
from .shapes import UNIONS, has_members

BOUNDS = {
    "string": ("minLength", "maxLength", "pattern"),
    "integer": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "array": ("minItems", "maxItems"),
}
"""What limits the values of a type; `uniqueItems` is not among them, it would make a set of the list."""


LOOKS = re.compile(r"\(\?<?[=!]|\(\?P=|\\[1-9]")
"""What looks around or refers back in a regular expression."""


def simplify(schema: Schema, *, inner: bool = False) -> Schema:
    """`schema` with the keywords that decide a Python type.

    Bounds are kept on definitions and on members; on what is `inner` (items, values, arms of a union) the engine
    would make them a class.
    """
    if "$ref" in schema:
        return {"$ref": schema["$ref"]}
    if not has_members(schema) and ("const" in schema or "enum" in schema):
        return _values([schema["const"]] if "const" in schema else schema["enum"])
    if not has_members(schema) and any(key in schema for key in UNIONS):
        return _union(schema)
    kinds = "object" if has_members(schema) else schema.get("type")
    plain: Schema = {} if kinds is None else {"type": _kinds(kinds)}
    if isinstance(kinds, str) and not inner:
        plain |= {
            key: schema[key] for key in BOUNDS.get(kinds, ()) if key in schema and _is_kept(schema, key)
        }
    if has_members(schema):
        plain["properties"] = {name: simplify(member) for name, member in schema["properties"].items()}
        plain["required"] = list(schema.get("required", ()))
    for key in ("items", "additionalProperties"):
        value = schema.get(key)
        if is_object(value):
            plain[key] = simplify(value, inner=True)
        elif value is True:  # a closed object is an open one here: what a newer peer adds is kept
            plain[key] = value
    return plain


def _is_kept(schema: Schema, key: str) -> bool:
    """Whether Pydantic can hold a bound: its regular expressions look neither ahead nor behind, nor back."""
    return key != "pattern" or not LOOKS.search(schema[key])


def _kinds(kinds: Json) -> Json:
    """A number may be written `1` or `1.0`: the engine's `float` alone would turn a wire `1` into `1.0`."""
    every = kinds if is_array(kinds) else [kinds]
    return ["integer", *every] if "number" in every and "integer" not in every else kinds


def _union(schema: Schema) -> Schema:
    """A union is its arms alone, of the first keyword that has any."""
    key = next(key for key in UNIONS if key in schema)
    arms = _null_apart([simplify(arm, inner=True) for arm in schema[key]])
    return {key: arms} | ({"discriminator": schema["discriminator"]} if "discriminator" in schema else {})


def _null_apart(arms: list[Schema]) -> list[Schema]:
    """The same union with null as an arm of its own: the engine imports Optional and then spells it otherwise."""
    nullable = [arm for arm in arms if is_array(arm.get("type")) and "null" in arm["type"]]
    rest = [
        {**arm, "type": [kind for kind in arm["type"] if kind != "null"]} if arm in nullable else arm
        for arm in arms
    ]
    return [*rest, {"type": "null"}] if nullable else arms


def _values(values: Sequence[Json]) -> Schema:
    """The type of a fixed list of values: literals where Python has them, else the types that the values are of."""
    literals = [value for value in values if _is_literal(value)]
    wider = sorted({kind_of(value) for value in values if not _is_literal(value)})
    exact = [{"const": value} for value in literals] if len(values) == 1 else [{"enum": literals}]
    arms: list[Schema] = [*(exact if literals else []), *({"type": _kinds(kind)} for kind in wider)]
    return arms[0] if len(arms) == 1 else {"anyOf": arms} if arms else {}


def keys(schema: Schema) -> str:
    """The members of an object that stays a dictionary, as the text of a mapping from name to type.

    Only what such members are in the protocol is told apart: texts, constants, lists of texts, objects.
    """
    return (
        "{"
        + ", ".join(f"{literal(name)}: {_key(member)}" for name, member in schema["properties"].items())
        + "}"
    )


def _key(schema: Schema) -> str:
    if isinstance(schema.get("const"), str):
        return f"typing.Literal[{literal(schema['const'])}]"
    if schema.get("type") == "array":
        return f"list[{_key(schema.get('items', {}))}]"
    if schema.get("type") == "object":
        values = schema.get("additionalProperties")
        return f"dict[str, {_key(values) if is_object(values) else 'typing.Any'}]"
    return {"string": "str", "boolean": "bool", "integer": "int"}.get(str(schema.get("type")), "typing.Any")


def _is_literal(value: Json) -> bool:
    """Whether `Literal` can hold a value: no fraction, array or object, nor what Pydantic's 64 bits cannot compare."""
    return isinstance(value, str) or (isinstance(value, int) and -(2**63) <= value < 2**63)
