"""Whether one schema admits everything that another does: the question behind every grade that is not in the names.

The schemas belong to two revisions, each with its definitions. A reference to a definition of the same name on
both sides counts as equal: what happened inside is a change of its own. The answer is no where nothing shows
that it is yes. `oneOf` is read as `anyOf`: no value is taken to be refused because two arms admit it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .facts import key, kind_of, same
from .ir import ABSENT, Json, Schema, is_array, is_object
from .shapes import UNIONS, resolve

ALL_KINDS = ("object", "array", "string", "number", "boolean", "null")
LOW = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
HIGH = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")
BOUNDS = (*LOW, *HIGH)
"""Keywords whose value bounds what is admitted, from below and from above."""

NOTES = frozenset(
    "$id $schema contentEncoding contentMediaType default deprecated discriminator examples format readOnly title"
    " writeOnly".split()
)
"""Keywords that refuse nothing."""

SHAPES = frozenset(
    {"$ref", "type", "const", "enum", "properties", "required", "items", "additionalProperties"}
)
"""Keywords that say what a value is made of; with bounds, unions and notes, all that is understood here."""


EVERYTHING: Schema = {}
NOTHING: Schema = {"not": {}}


def kinds_of(schema: Schema) -> tuple[str, ...]:
    """The JSON types that a schema names; all of them where it names none."""
    kinds = schema.get("type", list(ALL_KINDS))
    return tuple(kinds) if is_array(kinds) else (kinds,)


def values_of(schema: Schema) -> list[Json] | None:
    """The values that a schema lists; None when it lists none."""
    return [schema["const"]] if "const" in schema else schema.get("enum")


def arms_of(schema: Schema) -> list[Schema] | None:
    """The alternatives of a schema that is a union; None when it is none."""
    return next((schema[word] for word in UNIONS if word in schema), None)


def inside(schema: Schema, keyword: str) -> Schema:
    """The schema of items, or of members without a name; where nothing is said, the one that admits everything."""
    found = schema.get(keyword, True)
    return found if is_object(found) else EVERYTHING if found else NOTHING


def looser(keyword: str, one: Json, other: Json) -> bool:
    """Whether the bound `one` admits at least what the bound `other` does; None is no bound."""
    if one is None or other is None:
        return one is None
    return bool(one <= other if keyword in LOW else one >= other)


@dataclass(frozen=True)
class Admission:
    """Asks of an `outer` and an `inner` schema, with the definitions that each belongs to."""

    outer: Mapping[str, Schema]
    inner: Mapping[str, Schema]

    def admits(self, outer: Schema, inner: Schema, asked: frozenset[str] = frozenset()) -> bool:
        """Whether `outer` admits every value of `inner`; `asked` are the questions that this one is part of."""
        if same(outer, inner):
            return True
        if "$ref" in outer or "$ref" in inner:  # only references can lead back here
            question = key([outer, inner])
            if question in asked:
                return True
            asked |= {question}
        outer, inner = resolve(outer, self.outer), resolve(inner, self.inner)
        if inner == NOTHING:
            return True
        parts = self._parts(inner)
        if parts is not None:
            return all(self.admits(outer, part, asked) for part in parts)
        arms = arms_of(outer)
        if arms is not None:
            rest = {word: value for word, value in outer.items() if word not in UNIONS}
            return any(self.admits(arm, inner, asked) for arm in arms) and self._plain(rest, inner, asked)
        return self._plain(outer, inner, asked)

    def _parts(self, inner: Schema) -> Sequence[Schema] | None:
        """What `inner` falls into: alternatives, values, types; None when it is of one piece."""
        arms = arms_of(inner)
        if arms is not None:
            return arms
        values = values_of(inner)
        if values is not None:
            return [{"const": value} for value in values] if len(values) > 1 else None
        kinds = kinds_of(inner)
        return [{**inner, "type": kind} for kind in kinds] if len(kinds) > 1 else None

    def _plain(self, outer: Schema, inner: Schema, asked: frozenset[str]) -> bool:
        values, value = values_of(outer), values_of(inner)
        strange = [word for word in outer if word not in SHAPES and word not in NOTES and word not in BOUNDS]
        if any(not same(outer[word], inner.get(word, ABSENT)) for word in strange):
            return False
        if value is not None:
            known = values is None or any(same(one, value[0]) for one in values)
            return known and _is_of(value[0], kinds_of(outer)) and not set(BOUNDS) & set(outer)
        kind = kinds_of(inner)[0]
        kinds = kinds_of(outer)
        return (
            values is None
            and (kind in kinds or (kind == "integer" and "number" in kinds))
            and all(looser(word, outer[word], inner.get(word)) for word in BOUNDS if word in outer)
            and (kind != "array" or self.admits(inside(outer, "items"), inside(inner, "items"), asked))
            and (kind != "object" or self._object(outer, inner, asked))
        )

    def _object(self, outer: Schema, inner: Schema, asked: frozenset[str]) -> bool:
        ours: Mapping[str, Schema] = outer.get("properties", {})
        theirs: Mapping[str, Schema] = inner.get("properties", {})
        others = inside(outer, "additionalProperties")
        return (
            set(outer.get("required", ())) <= set(inner.get("required", ()))
            and all(self.admits(ours.get(name, others), member, asked) for name, member in theirs.items())
            and self.admits(others, inside(inner, "additionalProperties"), asked)
        )


def _is_of(value: Json, kinds: Sequence[str]) -> bool:
    kind = kind_of(value)
    return kind in kinds or (isinstance(value, int) and kind == "number" and "integer" in kinds)
