"""What default reading forgives and what it decides, each as a row: a rewriting of the facts, with its reason.

Facts rewritten by all rows say exactly what default reading accepts; jsonschema is the judge of both.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, TypeAlias

from choices import CHOICES, Rank
from corpus import REF, Definitions, Json, Schema
from jsonschema import Draft202012Validator, validators
from mcpcodegen.ir import is_object


@dataclass(frozen=True)
class Declared:
    """The lists that the rows go by.

    `choices` says how a value finds its arm in a union without a tag: by the first rank in which a condition holds.
    """

    choices: Mapping[str, Sequence[Rank]]
    open_unions: tuple[str, ...]
    closed_enumerations: tuple[str, ...]
    dictionaries: tuple[str, ...]
    left_out: tuple[str, ...]


Rewrite: TypeAlias = Callable[[Definitions, Declared], dict[str, Schema]]


@dataclass(frozen=True)
class Row:
    """One difference between default reading and the facts."""

    name: str
    reason: str
    rewrite: Rewrite


DECLARED = Declared(
    choices=CHOICES,
    open_unions=("ContentBlock", "SamplingMessageContentBlock"),
    closed_enumerations=("NumberSchemaType",),
    dictionaries=("ToolInputSchema", "ToolOutputSchema"),
    left_out=("resultType", "ttlMs", "cacheScope"),
)


def removals(definitions: Definitions) -> Iterator[tuple[str, Declared]]:
    """The lists without one of the entries that these definitions know, for each entry, and which one it is."""
    members = {name for definition in definitions.values() for name in definition.get("required", ())}
    known: dict[str, Container[str]] = {
        "open_unions": definitions,
        "closed_enumerations": definitions,
        "dictionaries": definitions,
        "left_out": members,
    }
    for field in known:
        entries: tuple[str, ...] = getattr(DECLARED, field)
        for entry in (entry for entry in entries if entry in known[field]):
            fewer: Any = tuple(other for other in entries if other != entry)
            yield f"{field}: {entry}", replace(DECLARED, **{field: fewer})
    for union, ranks in _choices(definitions):
        for rank, case in ((rank, case) for rank in ranks for case in rank):
            others = tuple(other for other in rank if other is not case)
            yield f"{union}: {case[1]}", _choosing(union, [others if r is rank else r for r in ranks])


def reorderings(definitions: Definitions) -> Iterator[tuple[str, Declared]]:
    """The choices of these definitions with two neighbours exchanged: ranks that can meet, and cases of one rank."""
    for union, ranks in _choices(definitions):
        for before, after in ((before, after) for before, after in pairwise(ranks) if _meet(before, after)):
            swapped = {id(before): after, id(after): before}
            label = f"{union}: the rank of {before[0][1]} after that of {after[0][1]}"
            yield label, _choosing(union, [swapped.get(id(r), r) for r in ranks])
        for rank, place in ((rank, place) for rank in ranks for place in range(len(rank) - 1)):
            first, second = rank[place : place + 2]
            turned = (*rank[:place], second, first, *rank[place + 2 :])
            label = f"{union}: {first[1]} after {second[1]}"
            yield label, _choosing(union, [turned if r is rank else r for r in ranks])


def _meet(before: Rank, after: Rank) -> bool:
    """Whether one value can meet conditions of both: not if they ask for different values of a member."""
    return any(not _exclusive(_borne(one), _borne(other)) for one, _ in before for other, _ in after)


def _exclusive(one: Mapping[str, set[str]], other: Mapping[str, set[str]]) -> bool:
    return any(one[name].isdisjoint(other[name]) for name in one.keys() & other.keys())


def _borne(condition: Schema) -> dict[str, set[str]]:
    return {
        name: set(member["enum"])
        for part in condition.get("allOf", [condition])
        for name, member in part["properties"].items()
        if "enum" in member
    }


def _choices(definitions: Definitions) -> Iterator[tuple[str, list[Rank]]]:
    for union in (union for union in CHOICES if "anyOf" in definitions.get(union, {})):
        known = [tuple(case for case in rank if case[1] in definitions) for rank in CHOICES[union]]
        yield union, [rank for rank in known if rank]


def _choosing(union: str, ranks: Sequence[Rank]) -> Declared:
    return replace(DECLARED, choices={**CHOICES, union: ranks})


def null_is_absence(definitions: Definitions, declared: Declared) -> dict[str, Schema]:
    """An optional member may be null, but for those of documents that stay dictionaries."""
    return {
        name: schema if name in declared.dictionaries else _with_members(schema, _or_null)
        for name, schema in definitions.items()
    }


def any_text_is_listed(definitions: Definitions, declared: Declared) -> dict[str, Schema]:
    """A list of several texts lists any text."""
    return {
        name: (
            {"type": "string"}
            if len(schema.get("enum", ())) > 1 and name not in declared.closed_enumerations
            else schema
        )
        for name, schema in definitions.items()
    }


def any_type_is_content(definitions: Definitions, declared: Declared) -> dict[str, Schema]:
    """A block of a type that no arm has is a block."""
    return {
        name: _open(schema, definitions) if name in declared.open_unions else schema
        for name, schema in definitions.items()
    }


def older_results_are_results(definitions: Definitions, declared: Declared) -> dict[str, Schema]:
    """Members that are younger than some peers are not required."""
    return {name: _without_required(schema, declared.left_out) for name, schema in definitions.items()}


def members_decide(definitions: Definitions, declared: Declared) -> dict[str, Schema]:
    """A value is held to the one arm that it means, even if another would take it."""
    return {
        name: (
            _chosen(declared.choices[name], definitions)
            if name in declared.choices and "anyOf" in schema
            else schema
        )
        for name, schema in definitions.items()
    }


ROWS = (
    Row(
        "null for an absent optional",
        "peers in languages without absence write null; it is read as absence and not written back",
        null_is_absence,
    ),
    Row(
        "an unlisted value",
        "a newer peer may use a role, a level or an action that this revision does not list",
        any_text_is_listed,
    ),
    Row(
        "an unknown content type",
        "a newer peer may send a block of a new type; the blocks beside it must still be read",
        any_type_is_content,
    ),
    Row(
        "an absent resultType or cache hint",
        "older servers do not send them: absent means complete, stale at once and not shared (basic/index, ResultType)",
        older_results_are_results,
    ),
    Row(
        "the members decide",
        "objects are open, so a malformed result is a valid empty one and a request with id null a notification",
        members_decide,
    ),
)


def forgiving(definitions: Definitions, declared: Declared = DECLARED, *, without: str = "") -> Definitions:
    """The facts as default reading takes them, for `Forgiving` to judge by; `without` leaves out one row."""
    for row in ROWS:
        if row.name != without:
            definitions = row.rewrite(definitions, declared)
    return definitions


def _is_integer(_: Any, value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _const(validator: Any, constant: Any, value: Any, _: Any) -> Any:
    yield from Draft202012Validator.VALIDATORS["const"](validator, constant, value, {})
    if isinstance(value, float) and isinstance(constant, int):
        yield from validator.descend(value, {"not": {}})


_jsonschema: Any = validators

StrictIntegers: Any = _jsonschema.extend(
    Draft202012Validator,
    validators={"const": _const},
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine("integer", _is_integer),
)
"""jsonschema with one row of representation: what is written with a point is no integer."""


def _choose(validator: Any, ranks: Sequence[Sequence[Mapping[str, Any]]], value: Json, _: Any) -> Any:
    for rank in ranks:
        held = [case for case in rank if validator.evolve(schema=case["if"]).is_valid(value)]
        if held and is_object(value):
            meant = _nearest(held, value)
            yield from validator.descend(value, meant["then"])
            return
    yield from validator.descend(value, {"not": {}})


def _nearest(cases: Sequence[Mapping[str, Any]], value: Mapping[str, Json]) -> Mapping[str, Any]:
    return max(cases, key=lambda case: len(value.keys() & case["members"]))


Forgiving: Any = _jsonschema.extend(StrictIntegers, validators={"choose": _choose})
"""The same with one keyword more, for what members decide."""


def _with_members(schema: Schema, change: Callable[[Schema], Schema]) -> Schema:
    optional = schema.get("properties", {}).keys() - set(schema.get("required", ()))
    changed = {
        name: change(member) if name in optional else member
        for name, member in schema.get("properties", {}).items()
    }
    return {**schema, "properties": changed} if changed else schema


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]} if schema else schema


def _without_required(schema: Schema, left_out: Sequence[str]) -> Schema:
    required = [
        name
        for name in schema.get("required", ())
        if name not in left_out or "const" in schema["properties"][name]
    ]
    return {**schema, "required": required} if "required" in schema else schema


def _open(union: Schema, definitions: Definitions) -> Schema:
    arms = [definitions[arm["$ref"].removeprefix(REF)] for arm in union["anyOf"]]
    known = [arm["properties"]["type"]["const"] for arm in arms]
    newer = {
        "type": "object",
        "required": ["type"],
        "properties": {"type": {"type": "string", "not": {"enum": known}}},
    }
    return {"anyOf": [*union["anyOf"], newer]}


def _chosen(ranks: Sequence[Rank], definitions: Definitions) -> Schema:
    """The ranks, with the definitions that the revision has."""
    return {
        "choose": [
            [
                {
                    "if": condition,
                    "then": {"$ref": f"{REF}{name}"},
                    "members": {*definitions[name]["properties"]},
                }
                for condition, name in rank
                if name in definitions
            ]
            for rank in ranks
        ]
    }
