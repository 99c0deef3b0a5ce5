"""Which arm of a union a value means: the one of its JSON type, of its tag, and of the members that it has.

A tag is a member that has a constant in one arm and other values in the rest (`type`, `method`, `mode`). An enum
that only one arm knows is no tag: a wrong value of it is an ordinary fault of that arm.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from .facts import kind_of
from .ir import ABSENT, Json, Schema, is_object
from .shapes import UNIONS, target

ALL_KINDS = ("object", "array", "string", "boolean", "number", "null")
"""The types of JSON, as `kind_of` names them."""


@dataclass(frozen=True)
class Miss:
    """A value that means no arm: `member` is the tag that is wrong, or empty for the whole value."""

    member: str
    found: Json
    expected: tuple[Json, ...]


@dataclass(frozen=True, order=True)
class Distance:
    """How far an object is from an arm: fewer members of the arm that it has, then more that it lacks.

    Those of the objects inside count as well: two arms may differ only in what one of their members holds.
    """

    unlike: int
    lacking: int


class Arms:
    """The unions of one document."""

    def __init__(self, definitions: Mapping[str, Schema]) -> None:
        """`definitions` are what the references of arms name."""
        self._definitions = definitions

    def meant(self, arms: Sequence[Schema], value: Json) -> Miss | list[int]:
        """The arms that a value can mean, by index, or what shows that it means none."""
        fitting = [i for i, arm in enumerate(arms) if kind_of(value) in self._kinds(arm)]
        if not fitting:
            kinds = (kind for arm in arms for kind in self._kinds(arm))
            return Miss("", value, tuple(dict.fromkeys(kinds)))
        if not is_object(value):
            return fitting
        for tag in self._tags([arms[i] for i in fitting]):
            values = {i: self._values(arms[i], tag) for i in fitting}
            left = self._tagged(arms, values, tag, value)
            if not left:
                known = (one for i in fitting for one in values[i] or ())
                return Miss(tag, value.get(tag, ABSENT), tuple(dict.fromkeys(known)))
            fitting = left
        return fitting

    def distance(self, arm: Schema, value: Schema) -> Distance:
        """How far an object is from an arm."""
        return min(self._apart(one, value) for one in self._flat(arm))

    def lacking(self, arm: Schema, value: Schema) -> frozenset[str]:
        """The required members of an arm that an object has not."""
        return min((_lacking(one, value) for one in self._flat(arm)), key=len)

    def _apart(self, schema: Schema, value: Schema) -> Distance:
        """How far an object is from a schema that is no union."""
        shared = {name: one for name, one in schema.get("properties", {}).items() if name in value}
        inner = [self.distance(one, value[name]) for name, one in shared.items() if is_object(value[name])]
        return Distance(
            sum(one.unlike for one in inner) - len(shared),
            sum(one.lacking for one in inner) + len(_lacking(schema, value)),
        )

    def _tagged(
        self, arms: Sequence[Schema], values: Mapping[int, list[Json] | None], tag: str, value: Schema
    ) -> list[int]:
        """The arms whose tag an object has: by the very value, else those that leave the tag open."""
        if tag in value:
            named = [
                i for i, known in values.items() if known and any(_same(value[tag], one) for one in known)
            ]
            return named or [i for i, known in values.items() if known is None]
        if None in values.values():
            return list(values)
        return [i for i in values if all(tag not in one.get("required", ()) for one in self._flat(arms[i]))]

    def _tags(self, arms: Sequence[Schema]) -> Iterator[str]:
        """The members that tell these arms apart by a constant."""
        flat = [one for arm in arms for one in self._flat(arm)]
        for name in dict.fromkeys(name for one in flat for name in one.get("properties", ())):
            constant = any("const" in self._member(one, name) for one in flat)
            values = [self._values(one, name) for one in flat]
            if constant and any(one != values[0] for one in values):
                yield name

    def _values(self, arm: Schema, member: str) -> list[Json] | None:
        """The values that an arm admits for a member; None when it leaves it open."""
        found: list[Json] = []
        for one in self._flat(arm):
            schema = self._member(one, member)
            if "const" not in schema and "enum" not in schema:
                return None
            found += [schema["const"]] if "const" in schema else schema["enum"]
        return found

    def _kinds(self, arm: Schema) -> tuple[str, ...]:
        """The JSON types that an arm admits, as `kind_of` names them."""
        found: list[str] = []
        for one in self._flat(arm):
            kinds = one.get("type", ALL_KINDS)
            found += [kinds] if isinstance(kinds, str) else kinds
        return tuple(dict.fromkeys("number" if kind == "integer" else kind for kind in found))

    def _flat(self, arm: Schema) -> Iterator[Schema]:
        """The schemas behind an arm, through references and unions inside it."""
        schema = self._resolved(arm)
        inner = next((schema[key] for key in UNIONS if key in schema and "type" not in schema), None)
        if inner is None:
            yield schema
        else:
            for one in inner:
                yield from self._flat(one)

    def _member(self, schema: Schema, name: str) -> Schema:
        return self._resolved(schema.get("properties", {}).get(name, {}))

    def _resolved(self, schema: Schema) -> Schema:
        while "$ref" in schema:
            schema = self._definitions[target(schema["$ref"])]
        return schema


def _lacking(schema: Schema, value: Schema) -> frozenset[str]:
    return frozenset(schema.get("required", ())) - set(value)


def _same(one: Json, other: Json) -> bool:
    """Equal as JSON: `true` is not 1."""
    return type(one) is type(other) and bool(one == other)
