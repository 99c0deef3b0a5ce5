"""Schemas that nobody would write, and messages that they admit, for property tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from hostile import TEXTS
from hypothesis import strategies as st

NAMES = (
    *("Da", "Db", "Dc", "Dd", "Tool", "class", "Any", "Field", "str", "WireModel", "List", "a/b", "../x", "Optional"),
    *("Union", "None", "Ünï", "名前", "A B", "x-y", "Role", "role", "_x", "__init__", "9lives", "DaX", "types", "wire"),
    *("ContentBlock", "ToolInputSchema", "Choice", "Unknown"),  # what the generator knows by name
)  # fmt: skip
MEMBERS = (
    *("type", "kind", "x", "y", "a-b", "a.b", "a_b", "aB", "class", "list", "dict", "str", "copy", "json", "_meta"),
    *("model_config", "model_dump", "wire_tags", "self", "None", "Any", "role", "Role", "items", "get", "{{ x }}", '"""'),
    *('a"b', "new\nline", "back\\slash\\", "é", "名", "9", "$ref", "properties", "enum", "const", "description", "Da"),
    *("resultType", "ttlMs", "required"),
)  # fmt: skip
KINDS = ("string", "integer", "number", "boolean", "null", "object", "array")

Schema: TypeAlias = dict[str, Any]

NOTHING: Schema = {}
EXTRAS: list[Schema] = [
    *[NOTHING] * 12,
    *(
        {"minLength": 1},
        {"minimum": 1},
        {"maximum": 2.5},
        {"maxItems": 1},
        {"pattern": "a\"'"},
        {"format": "date"},
    ),
    *({"title": "class"}, {"uniqueItems": True}, {"multipleOf": 2}, {"default": "x"}, {"deprecated": True}),
    *({"examples": ["{{ x }}"]}, {"not": {"type": "null"}}, {"minProperties": 1}),
    {"patternProperties": {"^q": NOTHING}},
]
CLOSED: list[Schema] = [*[NOTHING] * 3, {"additionalProperties": False}, {"additionalProperties": NOTHING}]
VALUES: list[Any] = [0, 1, -3, 10**20, True, False, None, 0.5, "", [1], {"a": 1}, [], NOTHING]

texts = st.sampled_from([text for text in TEXTS.values() if len(text) < 100])
kinds = st.sampled_from(KINDS)
values = st.one_of(texts, st.sampled_from(VALUES))


@st.composite
def definitions(draw: st.DrawFn) -> Schema:
    """Up to five definitions that refer to each other."""
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=5, unique=True))
    return {name: draw(objects(names)) if draw(st.integers(0, 2)) else draw(schemas(names)) for name in names}


@st.composite
def schemas(draw: st.DrawFn, names: list[str], depth: int = 0) -> Schema:
    """A schema of any kind, with prose and with keywords that may or may not bear on it."""
    inner = schemas(names, depth + 1)
    match draw(st.integers(0, 4 if depth > 2 else 10)):
        case 0:
            made: Schema = {"type": draw(kinds)}
        case 1:
            made = {"type": draw(st.lists(kinds, min_size=1, max_size=3, unique=True))}
        case 2:
            made = refer(draw(st.sampled_from(names)))
        case 3:
            made = {"const": draw(values)}
        case 4:
            made = {"enum": draw(st.lists(values, min_size=1, max_size=4, unique_by=repr))}
        case 5:
            made = {"type": "array", "items": draw(inner)}
        case 6:
            made = {"type": "object", "additionalProperties": draw(inner)}
        case 7:
            made = {draw(st.sampled_from(["anyOf", "oneOf"])): draw(st.lists(inner, min_size=1, max_size=3))}
        case 8:
            made = {"allOf": draw(st.lists(inner, min_size=1, max_size=2))}
        case _:
            made = draw(objects(names, depth))
    prose = {"description": draw(texts)} if draw(st.booleans()) else NOTHING
    return {**draw(st.sampled_from(EXTRAS)), **made, **prose}


@st.composite
def objects(draw: st.DrawFn, names: list[str], depth: int = 0) -> Schema:
    """An object with members, some of them tags, some of them required."""
    members = draw(st.lists(st.sampled_from(MEMBERS), max_size=4, unique=True))
    properties = {name: draw(schemas(names, depth + 1)) for name in members}
    if "type" in members and draw(st.booleans()):
        properties["type"] = {"type": "string", "const": draw(texts)}
    return {
        "type": "object" if draw(st.integers(0, 3)) else ["object", "null"],
        "properties": properties,
        "required": [name for name in members if draw(st.booleans())],
        **draw(st.sampled_from(CLOSED)),
    }


def refer(name: str) -> Schema:
    """A reference to a definition."""
    return {"$ref": "#/$defs/" + name.replace("~", "~0").replace("/", "~1")}


@st.composite
def messages(draw: st.DrawFn, schema: Schema, known: Mapping[str, Schema], depth: int = 0) -> Any:
    """A value that `schema` was made for; what it admits is for a validator to say."""
    if "$ref" in schema:
        return draw(messages(known[schema["$ref"].removeprefix("#/$defs/")], known, depth + 1))
    if "const" in schema or "enum" in schema:
        return draw(st.sampled_from(schema.get("enum", [schema.get("const")])))
    arms = schema.get("anyOf", schema.get("oneOf"))
    if arms and not schema.get("properties"):
        return draw(messages(draw(st.sampled_from(arms)), known, depth + 1))
    given: str | list[str] = schema.get("type", "object" if "properties" in schema else "string")
    kind = given if isinstance(given, str) else draw(st.sampled_from(given))
    if depth > 8 or kind not in ("object", "array"):
        return draw(PRIMITIVES.get(kind, st.none()))
    if kind == "array":
        several = draw(st.integers(0, 2))
        return [draw(messages(schema.get("items", {}), known, depth + 1)) for _ in range(several)]
    chosen: Schema = {
        name: member
        for name, member in schema.get("properties", {}).items()
        if name in schema.get("required", ()) or draw(st.booleans())
    }
    more = schema.get("additionalProperties", NOTHING)
    if more is not False and draw(st.booleans()):
        chosen["un-known"] = more or NOTHING
    return {name: draw(messages(member, known, depth + 1)) for name, member in chosen.items()}


PRIMITIVES: Mapping[str, st.SearchStrategy[Any]] = {
    "string": st.one_of(texts, st.just("")),
    "integer": st.sampled_from([0, 1, -5, 10**20]),
    "number": st.sampled_from([0, 2, 0.5, -1.25]),
    "boolean": st.booleans(),
}
