"""Which definitions and members have a new name only: recognised by what they are and where they stand.

A definition is renamed when one that is gone and one that is new have the same shape and no third has it, or
when each reference to the one has become a reference to the other. The answer is the same from either side.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping

from .facts import key, same
from .ir import Json, Schema, is_array, is_object
from .shapes import REF, nodes, target

ALIKE = 0.5
"""How alike the names of two members must look, of 1, to be taken for one member."""


def renamed(old: Mapping[str, Schema], new: Mapping[str, Schema]) -> dict[str, str]:
    """The new name of each definition that has one, by its old name."""
    names: dict[str, str] = {}
    # One name found may be all that hid the next: what refers to it has the same shape only under the new name.
    while found := _renamed(with_names(old, names), new):
        names |= found
    return names


def _renamed(old: Mapping[str, Schema], new: Mapping[str, Schema]) -> dict[str, str]:
    gone = {name: old[name] for name in old if name not in new}
    come = {name: new[name] for name in new if name not in old}
    found = _only(_by_shape(gone, come))
    used = _only([(a, b) for a, b in _by_use(old, new) if a in gone and b in come])
    return {**{a: b for a, b in used.items() if a not in found and b not in found.values()}, **found}


def renamed_members(old: Schema, new: Schema) -> dict[str, str]:
    """The new wire name of each member of an object that has one: of the same schema, and called alike."""
    ours, theirs = old.get("properties", {}), new.get("properties", {})
    gone = [name for name in ours if name not in theirs]
    come = [name for name in theirs if name not in ours]
    pairs = [
        (a, b)
        for a in gone
        for b in come
        if same(ours[a], theirs[b])
        and (a in old.get("required", ())) == (b in new.get("required", ()))
        and difflib.SequenceMatcher(None, *sorted((a, b))).ratio() >= ALIKE
    ]
    return _only(pairs)


def with_names(definitions: Mapping[str, Schema], names: Mapping[str, str]) -> dict[str, Schema]:
    """The definitions under their new names, and every reference to them."""
    return {names.get(name, name): _refer(schema, names) for name, schema in definitions.items()}


def _refer(node: Json, names: Mapping[str, str]) -> Json:
    if is_array(node):
        return [_refer(item, names) for item in node]
    if not is_object(node):
        return node
    if "$ref" in node and isinstance(node["$ref"], str) and target(node["$ref"]) in names:
        return {**node, "$ref": REF + names[target(node["$ref"])]}
    return {key: _refer(value, names) for key, value in node.items()}


def _only(pairs: list[tuple[str, str]]) -> dict[str, str]:
    """The pairs whose either side is in no other pair."""
    ours, theirs = [a for a, _ in pairs], [b for _, b in pairs]
    return {a: b for a, b in pairs if ours.count(a) == 1 and theirs.count(b) == 1}


def _by_shape(gone: Mapping[str, Schema], come: Mapping[str, Schema]) -> list[tuple[str, str]]:
    """The pairs of equal definitions with something to be known by: members, values or alternatives."""
    known: dict[str, list[str]] = {}
    for name, schema in come.items():
        known.setdefault(key(schema), []).append(name)
    return [
        (a, b)
        for a, schema in gone.items()
        if {"properties", "enum", "anyOf"} & set(schema)
        for b in known.get(key(schema), ())
    ]


def _by_use(old: Mapping[str, Schema], new: Mapping[str, Schema]) -> list[tuple[str, str]]:
    """The pairs of definitions that are referred to from the same places, each pair once."""
    ours, theirs = _uses(old), _uses(new)
    return sorted({(a, theirs[place]) for place, a in ours.items() if theirs.get(place, a) != a})


def _uses(definitions: Mapping[str, Schema]) -> dict[str, str]:
    """The definition that each member refers to, by the place of the reference."""
    return dict(_places(definitions))


def _places(definitions: Mapping[str, Schema]) -> Iterator[tuple[str, str]]:
    for name, schema in definitions.items():
        for wire, member in schema.get("properties", {}).items():
            for depth, node in enumerate(nodes(member)):
                if "$ref" in node:
                    yield key([name, wire, depth]), target(node["$ref"])
