"""Schemas that nobody would write, and messages that they admit, for property tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hostile import TEXTS
from hypothesis import strategies as st

NAMES = (
    *("Da", "Db", "Dc", "Dd", "Tool", "class", "Any", "Field", "str", "WireModel", "List", "a/b", "../x", "Optional"),
    *("Union", "None", "Ünï", "名前", "A B", "x-y", "Role", "role", "_x", "__init__", "9lives", "DaX", "types", "wire"),
)  # fmt: skip
MEMBERS = (
    *("type", "kind", "x", "y", "a-b", "a.b", "a_b", "aB", "class", "list", "dict", "str", "copy", "json", "_meta"),
    *("model_config", "model_dump", "wire_tags", "self", "None", "Any", "role", "Role", "items", "get", "{{ x }}", '"""'),
    *('a"b', "new\nline", "back\\slash\\", "é", "名", "9", "$ref", "properties", "enum", "const", "description", "Da"),
)  # fmt: skip
KINDS = ("string", "integer", "number", "boolean", "null", "object", "array")

texts = st.sampled_from([text for text in TEXTS.values() if len(text) < 100])
scalars = st.one_of(texts, st.sampled_from([0, 1, -3, 10**20, True, False, None, 0.5, ""]))
values = st.one_of(scalars, st.sampled_from([[1], {"a": 1}, [], {}]))
prose = st.one_of(st.just({}), st.builds(lambda text: {"description": text}, texts))
extras = st.sampled_from([
    *[{}] * 12,
    *({"minLength": 1}, {"minimum": 1}, {"maximum": 2.5}, {"maxItems": 1}, {"pattern": "a\"'"}, {"format": "date"}),
    *({"title": "class"}, {"uniqueItems": True}, {"multipleOf": 2}, {"default": "x"}, {"deprecated": True}),
    *({"examples": ["{{ x }}"]}, {"not": {"type": "null"}}, {"minProperties": 1}, {"patternProperties": {"^q": {}}}),
])  # fmt: skip


@st.composite
def definitions(draw: st.DrawFn) -> dict[str, Any]:
    """Up to five definitions that refer to each other."""
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=5, unique=True))
    return {name: draw(st.one_of(objects(names), objects(names), schemas(names))) for name in names}


def schemas(names: list[str], depth: int = 0) -> st.SearchStrategy[Any]:
    """A schema of any kind."""
    leaf = st.one_of(
        st.builds(lambda kind: {"type": kind}, st.sampled_from(KINDS)),
        st.builds(
            lambda kinds: {"type": kinds},
            st.lists(st.sampled_from(KINDS), min_size=1, max_size=3, unique=True),
        ),
        st.builds(refer, st.sampled_from(names)),
        st.builds(lambda value: {"const": value}, values),
        st.builds(
            lambda several: {"enum": several}, st.lists(values, min_size=1, max_size=4, unique_by=repr)
        ),
    )
    if depth > 2:
        return decorated(leaf)
    inner = st.deferred(lambda: schemas(names, depth + 1))
    return decorated(
        st.one_of(
            leaf,
            st.builds(lambda items: {"type": "array", "items": items}, inner),
            st.builds(lambda value: {"type": "object", "additionalProperties": value}, inner),
            st.builds(lambda arms: {"anyOf": arms}, st.lists(inner, min_size=1, max_size=3)),
            st.builds(lambda arms: {"oneOf": arms}, st.lists(inner, min_size=1, max_size=3)),
            st.builds(lambda parts: {"allOf": parts}, st.lists(inner, min_size=1, max_size=2)),
            objects(names, depth),
        )
    )


def decorated(schema: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    """A schema with prose and with keywords that may or may not bear on it."""
    return st.builds(lambda one, words, more: {**more, **one, **words}, schema, prose, extras)


@st.composite
def objects(draw: st.DrawFn, names: list[str], depth: int = 0) -> dict[str, Any]:
    """An object with members, some of them tags, some of them required."""
    members = draw(st.lists(st.sampled_from(MEMBERS), max_size=4, unique=True))
    made: dict[str, Any] = {
        "type": draw(st.sampled_from(["object", "object", "object", ["object", "null"]])),
        "properties": {name: draw(schemas(names, depth + 1)) for name in members},
        "required": [name for name in members if draw(st.booleans())],
    }
    if "type" in members and draw(st.booleans()):
        made["properties"]["type"] = {"type": "string", "const": draw(texts)}
    return made | draw(
        st.sampled_from([{}, {}, {}, {"additionalProperties": False}, {"additionalProperties": {}}])
    )


def refer(name: str) -> dict[str, str]:
    """A reference to a definition."""
    return {"$ref": "#/$defs/" + name.replace("~", "~0").replace("/", "~1")}


@st.composite
def messages(draw: st.DrawFn, schema: Mapping[str, Any], known: Mapping[str, Any], depth: int = 0) -> Any:
    """A value that `schema` was made for; what it admits is for a validator to say."""
    if "$ref" in schema:
        return draw(messages(known[schema["$ref"].removeprefix("#/$defs/")], known, depth + 1))
    if "const" in schema or "enum" in schema:
        return draw(st.sampled_from(schema.get("enum", [schema.get("const")])))
    arms = schema.get("anyOf", schema.get("oneOf"))
    if arms and not schema.get("properties"):
        return draw(messages(draw(st.sampled_from(arms)), known, depth + 1))
    kinds = schema.get("type", "object" if "properties" in schema else "string")
    kind = kinds if isinstance(kinds, str) else draw(st.sampled_from(kinds))
    if depth > 8 or kind not in ("object", "array"):
        return draw(PRIMITIVES.get(kind, st.none()))
    if kind == "array":
        several = draw(st.integers(0, 2))
        return [draw(messages(schema.get("items", {}), known, depth + 1)) for _ in range(several)]
    chosen = {
        name: member
        for name, member in schema.get("properties", {}).items()
        if name in schema.get("required", ()) or draw(st.booleans())
    }
    more = schema.get("additionalProperties")
    if more is not False and draw(st.booleans()):
        chosen["un-known"] = more if isinstance(more, dict) else {}
    return {name: draw(messages(member, known, depth + 1)) for name, member in chosen.items()}


PRIMITIVES: Mapping[str, st.SearchStrategy[Any]] = {
    "string": st.one_of(texts, st.just("")),
    "integer": st.sampled_from([0, 1, -5, 10**20]),
    "number": st.sampled_from([0, 2, 0.5, -1.25]),
    "boolean": st.booleans(),
}
