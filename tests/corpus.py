"""Instances of every definition of a revision, valid and invalid, made from the facts alone.

Nothing here knows the generated types, and nothing here says which instance is valid: that is for an oracle.
The same facts give the same instances in the same order, on any machine.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, TypeAlias, cast

from jsonschema import Draft202012Validator
from meetings import Arm, meetings

Json: TypeAlias = Any
Schema: TypeAlias = dict[str, Any]
Definitions: TypeAlias = Mapping[str, Schema]
Named: TypeAlias = tuple[str, Json]
"""Why a value is here, and the value."""

CAP = 200
"""How many instances a definition has, but for meetings; what stands first in `_object` always gets in."""

DEEP = 3
"""How many definitions an instance leads through before its members become as small as they can be."""

REF = "#/$defs/"
BIG = 2**70
STRANGERS: tuple[Json, ...] = (None, True, 0, -1, 1.0, 0.5, BIG, "", "text", [], ["text"], {}, {"x": None})
"""One value or two of each JSON type: most are of the wrong one, wherever they are put."""

ANYTHING: tuple[Json, ...] = (
    *STRANGERS,
    False,
    -0.5,
    1e300,
    "\u2028ü🎉",
    [[], [None]],
    {"": {"a": [1, 1.0]}},
)
TEXTS = (
    "text",
    "",
    "5",
    "null",
    'a "b" \\ \n',
    "ü🎉\u0000",
    "https://example.com",
    "file:///C:/A%20b/ü",
    "aGk=",
)
NUMBERS = (1, 0, -1, 1.0, 0.5, 1e-7, BIG, -(2**63), 1e300)
INTEGERS = (1, 0, -1, 1.0, 0.5, BIG, -(2**63))
UNKNOWN: tuple[tuple[str, Json], ...] = (("com.example/trace", "x"), ("future", [1, None]), ("x", None))
"""Members that no definition has."""

UNKNOWN_TAGS: tuple[Json, ...] = (
    {"type": "hologram", "data": [None]},
    {"type": 5},
    {"type": None},
    {"method": "no/such", "params": {}},
    {"mode": "voice"},
)


@dataclass(frozen=True)
class Instance:
    """One JSON text, made for one definition; `why` says what is special about it."""

    definition: str
    why: str
    text: str


def corpus(definitions: Definitions, python: Mapping[str, Mapping[str, str]]) -> list[Instance]:
    """The instances of every definition; `python` has the Python names of members, which are no wire names."""
    maker = _Maker(definitions, python)
    return [instance for name in definitions for instance in _instances(name, maker)]


def instances(name: str, definitions: Definitions) -> list[Instance]:
    """The instances of one definition; `definitions` are what it refers to."""
    return list(_instances(name, _Maker(definitions, {})))


def oracle(definitions: Definitions, judge: Any = Draft202012Validator) -> Callable[[str, Json], bool]:
    """Whether a value is valid against a definition, as jsonschema sees it."""
    root = judge({"$defs": dict(definitions)})
    validators = {name: root.evolve(schema={"$ref": f"{REF}{name}"}) for name in definitions}
    return lambda name, value: bool(validators[name].is_valid(value))


def canonical(text: str | bytes) -> str:
    """The one text of a JSON value: 1 and 1.0 and true are three texts, as they are not in Python."""
    return json.dumps(json.loads(text), sort_keys=True)


def _instances(name: str, maker: _Maker) -> Iterator[Instance]:
    texts: dict[str, str] = {}
    for why, value in maker.all(name):
        texts.setdefault(json.dumps(value), why)
    first, others = list(texts.items())[: CAP // 2], list(texts.items())[CAP // 2 :]
    room = CAP - len(first)
    step = -(-len(others) // room) if others else 1
    chosen = dict((*first, *others[::step]))
    for why, value in maker.meetings(name):
        chosen.setdefault(json.dumps(value), why)
    for text, why in chosen.items():
        yield Instance(name, why, text)


class _Maker:
    """Makes values for schemas; `depth` counts how many definitions may still be entered."""

    def __init__(self, definitions: Definitions, python: Mapping[str, Mapping[str, str]]) -> None:
        self.definitions = definitions
        self.python = python

    def all(self, name: str) -> Iterator[Named]:
        """Everything for one definition, what matters most first."""
        yield from self.values({"$ref": f"{REF}{name}"}, DEEP)
        yield from _named("stranger", STRANGERS)

    def meetings(self, name: str) -> Iterator[Named]:
        """What the arms of a definition have to be chosen from, if it is a union of objects without a tag."""
        arms = self._objects({"$ref": f"{REF}{name}"})
        if len(arms) < 2 or _tagged(arms):
            return iter(())
        return meetings([Arm(self._least(arm), self._most(arm, 1)) for arm in arms])

    def _objects(self, schema: Schema) -> list[Schema]:
        """The objects that a schema may lead to, each once."""
        schema, _ = self.resolve(schema, 0)
        inner = [found for arm in _arms(schema) for found in self._objects(arm)]
        unique = {id(found): found for found in inner}
        return list(unique.values()) if _arms(schema) else [schema] * ("properties" in schema)

    def plain(self, schema: Schema) -> Json:
        """The smallest valid value."""
        return next(iter(self.values(schema, 0)))[1]

    def full(self, schema: Schema, depth: int) -> Json:
        """A valid value with every member, as far as `depth` reaches."""
        schema, depth = self.resolve(schema, depth)
        arms = _arms(schema)
        if depth < 0:
            return self.plain(schema)
        if arms:
            return self.full(arms[-1], depth)
        if schema.get("properties"):
            return {name: self.full(member, depth) for name, member in schema["properties"].items()}
        if schema.get("type") == "array":
            return [self.full(schema.get("items", {}), depth)]
        if isinstance(schema.get("additionalProperties"), dict):
            return {"key": self.full(schema["additionalProperties"], depth)}
        return self.plain(schema)

    def values(self, schema: Schema, depth: int) -> Iterator[Named]:
        """Values for a schema, the smallest valid one first, then others, valid or not."""
        schema, depth = self.resolve(schema, depth)
        if _arms(schema):
            return self._union(_arms(schema), depth)
        if "const" in schema:
            return _named("constant", (schema["const"], *_others(schema["const"])))
        if "enum" in schema:
            return _named("listed", (*schema["enum"], "unlisted", ""))
        if schema.get("properties"):
            return self._object(schema, depth)
        return self._simple(schema, depth)

    def resolve(self, schema: Schema, depth: int) -> tuple[Schema, int]:
        """The schema that a reference leads to; `depth` is what remains."""
        while "$ref" in schema:
            schema, depth = self.definitions[schema["$ref"].removeprefix(REF)], depth - 1
        return schema, depth

    def _simple(self, schema: Schema, depth: int) -> Iterator[Named]:
        kind = schema.get("type")
        if isinstance(kind, list):
            kinds = cast(list[str], kind)
            return _interleave([self._simple({**schema, "type": one}, depth) for one in kinds])
        if kind == "array":
            return self._array(schema, depth)
        if kind == "object":
            return self._dictionary(schema, depth)
        return {
            "string": lambda: _named("text", TEXTS),
            "integer": lambda: _named("number", (*_bounds(schema, 1), *INTEGERS)),
            "number": lambda: _named("number", (*_bounds(schema, 0.125), *NUMBERS)),
            "boolean": lambda: _named("boolean", (True, False)),
            "null": lambda: _named("null", (None,)),
        }.get(str(kind), lambda: _named("anything", ANYTHING))()

    def _array(self, schema: Schema, depth: int) -> Iterator[Named]:
        items = schema.get("items", {})
        yield "empty", []
        if depth < 0:
            return
        most = schema.get("maxItems")
        if most is not None:
            yield "as many as may be", [self.plain(items)] * most
            yield "one too many", [self.plain(items)] * (most + 1)
        yield "several", [self.full(items, depth), self.plain(items)]
        for why, value in self._with_strangers(items, depth):
            yield f"item {why}", [value]
        yield "one bad item", [self.plain(items), None, self.plain(items)]

    def _dictionary(self, schema: Schema, depth: int) -> Iterator[Named]:
        inner: Json = schema.get("additionalProperties")
        yield "empty", {}
        if depth < 0:
            return
        if inner and inner is not True:
            for why, value in self._with_strangers(inner, depth):
                yield f"value {why}", {"key": value, "io.example/key": self.plain(inner)}
        else:
            yield "open", {"a": None, "b": [1, 1.0, {"c": True}], "type": "x"}

    def _union(self, arms: list[Schema], depth: int) -> Iterator[Named]:
        crowd = {name: value for arm in arms for name, value in self._members(arm)}
        odd = (*_named("unknown tag", UNKNOWN_TAGS), ("all arms at once", crowd))
        yield from _interleave([*(self.values(arm, depth) for arm in arms), iter(odd if depth >= 0 else ())])

    def _members(self, arm: Schema) -> Iterable[tuple[str, Json]]:
        value = self.plain(arm)
        return cast(Schema, value).items() if isinstance(value, dict) else ()

    def _object(self, schema: Schema, depth: int) -> Iterator[Named]:
        members: Mapping[str, Schema] = schema["properties"]
        required, least = schema.get("required", []), self._least(schema)
        yield "minimal", least
        if depth < 0:
            return
        most = self._most(schema, depth)
        yield "maximal", most
        yield "reordered", dict(reversed(most.items()))
        yield from ((f"without {name}", _without(least, name)) for name in required)
        yield from ((f"all but {name}", _without(most, name)) for name in members)
        yield from (
            (f"{name} alone", {**least, name: most[name]}) for name in members if name not in required
        )
        yield from ((f"{name} null", {**least, name: None}) for name in members)
        yield from self._misnamed(schema, least)
        yield from ((f"unknown {name}", {**least, name: value}) for name, value in UNKNOWN)
        yield from _interleave([self._member(least, name, members[name], depth) for name in members])

    def _least(self, schema: Schema) -> Json:
        return {name: self.plain(schema["properties"][name]) for name in schema.get("required", [])}

    def _most(self, schema: Schema, depth: int) -> Json:
        return {name: self.full(member, depth) for name, member in schema["properties"].items()}

    def _member(self, least: Json, name: str, member: Schema, depth: int) -> Iterator[Named]:
        for why, value in self._with_strangers(member, depth):
            yield f"{name} {why}", {**least, name: value}

    def _with_strangers(self, schema: Schema, depth: int) -> Iterator[Named]:
        """Two of what fits for each that most likely does not."""
        fitting = self.values(schema, depth)
        return _interleave([fitting, _named("stranger", STRANGERS)])

    def _misnamed(self, schema: Schema, least: Json) -> Iterator[Named]:
        """The Python name of each member in place of the wire name, or beside it."""
        owner = next((name for name, definition in self.definitions.items() if definition is schema), "")
        for wire, python in self.python.get(owner, {}).items():
            if python not in schema["properties"]:
                value = self.plain(schema["properties"][wire])
                yield f"{python} for {wire}", {**_without(least, wire), python: value}
                yield f"{python} beside {wire}", {**least, wire: value, python: value}


def _named(why: str, values: Iterable[Json]) -> Iterator[Named]:
    return ((why, value) for value in values)


def _others(constant: Json) -> Iterator[Json]:
    yield f"not {constant}"
    if isinstance(constant, int):
        yield from (float(constant), constant + 1)


def _arms(schema: Schema) -> list[Schema]:
    arms: list[Schema] = schema.get("anyOf") or schema.get("oneOf") or []
    return arms


def _tagged(arms: list[Schema]) -> bool:
    """Whether each arm has a value of its own for some member."""
    tags = [{name: s["const"] for name, s in arm["properties"].items() if "const" in s} for arm in arms]
    return any(len({tag.get(name) for tag in tags} - {None}) == len(arms) for name in tags[0])


def _without(value: Mapping[str, Json], name: str) -> Json:
    return {key: inner for key, inner in value.items() if key != name}


def _bounds(schema: Schema, step: float) -> Iterator[Json]:
    """Each bound just met first, since one of them is the smallest valid value, then crossed."""
    low, high = schema.get("minimum"), schema.get("maximum")
    met = [bound for bound in (low, high) if bound is not None]
    yield from met
    yield from (bound - step for bound in (low,) if bound is not None)
    yield from (bound + step for bound in (high,) if bound is not None)


def _interleave(sources: Iterable[Iterator[Named]]) -> Iterator[Named]:
    """One of each source in turn, until all have ended."""
    for turn in zip_longest(*sources):
        yield from (item for item in turn if item is not None)
