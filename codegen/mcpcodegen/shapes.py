"""What schemas look like: plain questions about shape, and the three rewrites that need no names.

Everything here works on the definitions of a Document (references are `#/$defs/NAME`); rewrites are in place.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping

from .facts import PROSE, below, schemas_in, unescape
from .ir import Json, Schema, is_array, is_object

UNIONS = ("anyOf", "oneOf")
REF = "#/$defs/"
OBJECT = frozenset({"properties", "required", "additionalProperties", "patternProperties"})
"""Keywords that speak of objects alone."""


def open_up(node: Json) -> None:
    """Drop what says nothing: an empty `properties`, and `additionalProperties: {}` beside members.

    JSON Schema objects are open by default, and the base model keeps what it does not know; said a second
    time, it would only make the type engine write a different class. A member that is demanded without being
    described is described as anything.
    """
    for schema in nodes(node):
        if schema.get("type") == "object" and schema.get("required"):
            for name in schema["required"]:
                schema.setdefault("properties", {}).setdefault(name, {})
        if not schema.get("properties", True):
            del schema["properties"]
        if schema.get("properties") and schema.get("additionalProperties") in ({}, True):
            del schema["additionalProperties"]


def split(node: Json) -> None:
    """Turn an object that may also be of another type into a union, so that the object can be named."""
    for schema in nodes(node):
        kinds = schema.get("type")
        if is_array(kinds) and "object" in kinds and schema.get("properties"):
            own = {key: schema.pop(key) for key in list(schema) if key not in PROSE}
            rest = {key: value for key, value in own.items() if key not in OBJECT}
            others = [kind for kind in kinds if kind != "object"]
            schema["anyOf"] = [{**own, "type": "object"}, *([{**rest, "type": others}] if others else [])]


def merge(node: Json, definitions: Mapping[str, Schema], opened: frozenset[str] = frozenset()) -> None:
    """Turn each `allOf` into the one schema it means; where its parts cannot be joined it stays.

    `opened` are the definitions copied around `node`: a part that refers to one of them would be copied forever.
    """
    if is_object(node) and "allOf" in node:
        found = _without_all_of(node, definitions, opened)
        if found is None:
            return
        joined, opened = found
        node.clear()
        node.update(copy.deepcopy(joined))
    for _, inner in below(node, ""):
        merge(inner, definitions, opened)


def _without_all_of(
    schema: Schema, definitions: Mapping[str, Schema], opened: frozenset[str]
) -> tuple[Schema, frozenset[str]] | None:
    """The schema that `schema` means, and `opened` with the definitions copied into it; None if there is none."""
    parts: list[Schema] = schema.get("allOf", [])
    joined: Schema = {key: value for key, value in schema.items() if key != "allOf"}
    if len(parts) == 1 and "$ref" in parts[0] and set(joined) <= PROSE:
        return {**parts[0], **joined}, opened
    copied = opened
    for part in parts:
        names = frozenset(_chain(part, definitions))
        found = (
            None
            if names & opened
            else _without_all_of(resolve(part, definitions), definitions, opened | names)
        )
        both = found and _join(joined, found[0])
        if found is None or both is None:
            return None
        joined, copied = both, copied | found[1]
    return joined, copied


def _join(left: Schema, right: Schema) -> Schema | None:
    """Both schemas as one, or None where a keyword says two things; the prose is that of `left`."""
    joined = {**right, **left}
    if set(left) <= PROSE or set(right) <= PROSE:
        return joined
    if not all(_agree(left, right, key) for key in set(joined) - PROSE - {"properties", "required"}):
        return None
    if "required" in joined:
        joined["required"] = sorted({*left.get("required", ()), *right.get("required", ())})
    if "properties" in joined:
        # The later part refines the earlier: its prose is the better one.
        ours, theirs = right.get("properties", {}), left.get("properties", {})
        members = {name: _join(ours.get(name, {}), theirs.get(name, {})) for name in {**theirs, **ours}}
        if None in members.values():
            return None
        joined["properties"] = members
    return joined


def _agree(left: Schema, right: Schema, key: str) -> bool:
    """Whether both may keep their `key`: equal, or said once where it does not depend on what stands beside it."""
    if key in left and key in right:
        return bool(left[key] == right[key])
    return key not in ("additionalProperties", "$ref")


def tag(node: Schema, definitions: Mapping[str, Schema]) -> None:
    """Name the member that tells the arms of a union apart, where every arm requires a text of its own there."""
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
        values = [tags(arm).get(name) for arm in arms]
        if all(isinstance(value, str) for value in values) and len(set(values)) == len(arms):
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
    names = _chain(schema, definitions)
    return definitions[names[-1]] if names else schema


def _chain(schema: Schema, definitions: Mapping[str, Schema]) -> list[str]:
    """The definitions that one reference leads through, each once."""
    names: list[str] = []
    while "$ref" in schema and (name := target(schema["$ref"])) not in names:
        names.append(name)
        schema = definitions[name]
    return names


def target(reference: str) -> str:
    """The definition that a reference leads to."""
    return unescape(reference.removeprefix(REF))


def is_circular(name: str, definitions: Mapping[str, Schema]) -> bool:
    """Whether a definition leads back to itself by references and unions alone, so that it says nothing."""
    seen: set[str] = set()
    ahead = list(_made_of(definitions[name]))
    while ahead:
        found = ahead.pop()
        if found not in seen:
            seen.add(found)
            ahead.extend(_made_of(definitions[found]))
    return name in seen


def _made_of(schema: Schema) -> Iterator[str]:
    if "$ref" in schema:
        yield target(schema["$ref"])
    for keyword in UNIONS:
        for arm in schema.get(keyword, []):
            yield from _made_of(arm)


def has_members(schema: Json) -> bool:
    """Whether a schema is an object with members of its own."""
    return is_object(schema) and bool(schema.get("properties"))


def use_union(node: Schema, definitions: Mapping[str, Schema]) -> None:
    """Let a union that repeats all arms of a tagged one refer to it: `A | B | C | list` becomes `ABC | list`."""
    known = {name: _arm_names(schema) for name, schema in definitions.items() if is_tagged(schema)}
    for schema in nodes(node):
        if "discriminator" in schema:
            continue
        for keyword in UNIONS:
            names = _arm_names(schema, keyword)
            for name, arms in known.items():
                if len(arms) > 1 and arms <= names:
                    rest = [arm for arm in schema[keyword] if target(arm.get("$ref", "")) not in arms]
                    schema[keyword] = [{"$ref": REF + name}, *rest]
                    break


def _arm_names(schema: Schema, keyword: str = "anyOf") -> frozenset[str]:
    return frozenset(target(arm["$ref"]) for arm in schema.get(keyword, []) if "$ref" in arm)


def is_choice(schema: Json) -> bool:
    """Whether a schema is a union of several definitions, or of one and something else than null."""
    if not is_object(schema) or "discriminator" in schema:
        return False
    nulls = ("null", ["null"])
    arms = [arm for keyword in UNIONS for arm in schema.get(keyword, []) if arm.get("type") not in nulls]
    return len(arms) > 1 and any("$ref" in arm for arm in arms)


def is_object_choice(schema: Json, definitions: Mapping[str, Schema]) -> bool:
    """Whether a schema is a choice, and an object with members is among what can be chosen."""
    arms = [resolve(arm, definitions) for key in UNIONS for arm in schema.get(key, [])]
    return is_choice(schema) and any(
        has_members(arm) or is_tagged(arm) or _leads_to_members(arm, definitions) for arm in arms
    )


def _leads_to_members(schema: Schema, definitions: Mapping[str, Schema]) -> bool:
    return any(has_members(resolve(arm, definitions)) for key in UNIONS for arm in schema.get(key, []))


def is_enumeration(schema: Json) -> bool:
    """Whether a schema lists several texts."""
    return (
        is_object(schema)
        and len(schema.get("enum", ())) > 1
        and all(isinstance(v, str) for v in schema["enum"])
    )


def is_basic(schema: Json) -> bool:
    """Whether a schema has numbers or booleans, alone or as an arm: what a careless reader converts."""
    kinds = schema.get("type", ())
    arms = [arm for key in UNIONS for arm in schema.get(key, ())]
    return bool({"integer", "number", "boolean"} & set(kinds if is_array(kinds) else [kinds])) or any(
        is_basic(arm) for arm in arms
    )


def is_untyped(schema: Schema) -> bool:
    """Whether a schema is an object or an array of anything."""
    held = {"object": "additionalProperties", "array": "items"}.get(str(schema.get("type")))
    return held is not None and "properties" not in schema and schema.get(held, {}) in ({}, True)


def nullable_members(schema: Schema, definitions: Mapping[str, Schema]) -> list[str]:
    """The members that may be absent and may be null, which is not the same; not those that may be anything."""
    members: Mapping[str, Schema] = schema.get("properties", {})
    optional = {name: member for name, member in members.items() if name not in schema.get("required", ())}
    return [name for name, member in optional.items() if member and admits_null(member, definitions)]


def admits_null(schema: Schema, definitions: Mapping[str, Schema]) -> bool:
    """Whether null is a value of a schema."""
    if "$ref" in schema:
        return admits_null(resolve(schema, definitions), definitions)
    values = [schema["const"]] if "const" in schema else schema.get("enum", [None])
    kinds = schema.get("type", "null")
    arms = [schema[key] for key in UNIONS if key in schema]
    return (
        None in values
        and "null" in (kinds if is_array(kinds) else [kinds])
        and all(any(admits_null(arm, definitions) for arm in union) for union in arms)
    )


def is_tagged(schema: Json) -> bool:
    """Whether a schema is a union that names its tag."""
    return is_object(schema) and "discriminator" in schema


def nodes(node: Json) -> Iterator[Schema]:
    """Every schema at and below `node`, the outermost first."""
    return (schema for _, schema in schemas_in(node, ""))
