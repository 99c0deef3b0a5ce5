"""How a value finds its type in a union: by its tag, by the members that decide, and open to what is newer.

Each class here annotates an alias of the generated types and shapes the reader that Pydantic builds for it.
A label in the metadata says which rule it was, so that exact reading can undo it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import NoneType
from typing import Any, Final, TypeAlias, cast, get_args, get_origin

from pydantic import GetCoreSchemaHandler, ValidationError
from pydantic_core import CoreSchema, InitErrorDetails, PydanticCustomError, core_schema
from typing_extensions import TypeAliasType

from .faults import UNKNOWN, alternatives
from .finite import checked
from .wire import RULE, WireModel, members

Arm: TypeAlias = Any
"""One arm of a union: a class, an alias or a container type."""

JsonObject: TypeAlias = Mapping[str, Any]

FIRST_ARM: Final = "first arm only"
"""The rule of a union whose other arms are there for what is newer."""

ANY_ARM: Final = "any arm"
"""The rule of a union in which the value chooses the arm."""

ASTRAY: Final = "?astray"
"""The label of the arm for values whose deciding member fits no other arm."""

ABSENT: Final = object()
"""Stands for the value of a member that is not there."""

BASIC: Final[Mapping[str, Mapping[str, bool]]] = {
    "bool": {"strict": True},
    "float": {"strict": True, "allow_inf_nan": False},
    "int": {"strict": True},
    "str": {"strict": True},
}
"""What makes a reader of a basic type take its own values only."""


class Unknown(WireModel):
    """A variant that this revision does not know: its tag, and all its members in `model_extra`.

    Tell it from the others by class (`isinstance`, `match`): as its tag can be any text, a comparison of tags does
    not narrow the union for a type checker.
    """

    type: str


class OpenUnion:
    """A union by `type` whose last arm is `Unknown`: a new tag is kept, a known one must fit its type."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """The tagged union first, so that known values pay nothing for the unknown ones."""
        schema: Any = handler(source)
        tagged, unknown = schema["choices"]
        tags = frozenset(members(arm).tags["type"] for arm in _arms(get_args(source)[0]))

        def newer(value: Any) -> Any:
            if _tag(value) in tags:
                raise PydanticCustomError("known_tag", "Not an unknown type")
            return value

        fallback = core_schema.no_info_before_validator_function(newer, unknown)
        return core_schema.union_schema(
            [tagged, (fallback, UNKNOWN)], mode="left_to_right", metadata={RULE: FIRST_ARM}
        )


class OpenEnumeration:
    """A list of values to which a newer peer may add: any text is kept as it is."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """The listed values first."""
        schema: Any = handler(source)
        return core_schema.union_schema(schema["choices"], mode="left_to_right", metadata={RULE: FIRST_ARM})


class Uncoerced:
    """Values as they are, wherever the alias is used: true is not 1, neither is 1.0, and no number is infinite."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """The same reader, strict in itself: an alias is not under the configuration of the classes that use it."""
        schema: Any = handler(source)
        return checked(_strict(schema))


class Choice:
    """A union without a tag: the arm whose deciding members are there, in whatever order they come."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """A union in which the value chooses, so that only the arm it means can complain."""
        schema: Any = handler(source)
        if schema["type"] == "nullable":
            return core_schema.nullable_schema(self._chosen(schema["schema"], source))
        return self._chosen(schema, source)

    def _chosen(self, schema: Any, source: Any) -> CoreSchema:
        given = [arm for arm in get_args(source) if arm is not NoneType]
        if schema["type"] != "union" or len(schema["choices"]) != len(given):
            return cast(CoreSchema, schema)  # A union that holds itself, or one whose arms became one.
        labels = [f"?{index}" for index in range(len(given))]
        arms = dict(zip(labels, given, strict=True))
        choices = dict(zip(labels, schema["choices"], strict=True))
        if sum(bool(_classes(arm)) for arm in arms.values()) == 1:
            # An object or a list of them: the JSON type decides, and no value has to be looked into.
            labelled: Any = [(choice, label) for label, choice in choices.items()]
            return core_schema.union_schema(labelled, mode="left_to_right")
        chooser = _Chooser(arms)
        choices[ASTRAY] = core_schema.no_info_plain_validator_function(chooser.refuse)
        return core_schema.tagged_union_schema(
            choices, discriminator=chooser.choose, metadata={RULE: ANY_ARM}
        )


class Keys:
    """A dictionary some of whose keys have a type; the others hold anything."""

    def __init__(self, types: Mapping[str, Any], required: tuple[str, ...]) -> None:
        """`types` by key; of these, `required` must be there."""
        self._types = types
        self._required = required

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """A dictionary checked where its keys are known."""
        fields = {
            key: core_schema.typed_dict_field(handler.generate_schema(type_), required=key in self._required)
            for key, type_ in self._types.items()
        }
        config = core_schema.CoreConfig(extra_fields_behavior="allow", strict=True)
        return core_schema.typed_dict_schema(fields, extra_behavior="allow", config=config)


def listed_values(enumeration: Any) -> frozenset[str]:
    """The values that an open enumeration lists."""
    return frozenset(value for arm in _arms(enumeration.__value__) for value in get_args(arm))


def _strict(schema: Any) -> Any:
    """A schema of basic types, arrays, dictionaries and unions of them, in which nothing is converted."""
    inner = {
        key: _strict(schema[key]) for key in ("items_schema", "values_schema", "schema") if key in schema
    }
    if "choices" in schema:
        inner["choices"] = [_strict(arm) for arm in schema["choices"]]
    return {**schema, **inner, **BASIC.get(schema["type"], {})}


def _tag(value: Any) -> str | None:
    tag = cast(JsonObject, value).get("type") if isinstance(value, dict) else None
    return tag if isinstance(tag, str) else None


@dataclass(frozen=True, slots=True)
class _Shape:
    """What tells one class of an arm from others: its tags, and what it and its nested objects must have.

    `listed` are the members that have a few values only, required or not; `tags` those of them that building
    fills in. What has more tags, then what requires more, weighs more.
    """

    label: str
    model: type[WireModel]
    listed: tuple[tuple[str, tuple[Any, ...]], ...]
    tags: frozenset[str]
    required: frozenset[str]
    nested: tuple[tuple[str, tuple[frozenset[str], ...]], ...]
    known: frozenset[str]
    weight: tuple[int, int]

    def fits(self, value: JsonObject) -> bool:
        """Whether nothing that decides is missing or says otherwise."""
        # A loop: to compare sets of keys takes several times as long.
        for wire in self.required:
            if wire not in value:
                return False
        return not (self.contrary(value) or (self.nested and self.hollow(value)))

    def contrary(self, value: JsonObject) -> bool:
        """Whether a member has a value that it never has here."""
        for wire, values in self.listed:
            if wire in value and value[wire] not in values:
                return True
        return False

    def hollow(self, value: JsonObject) -> int:
        """How many nested objects lack what their class requires: in some unions the arms differ in that alone."""
        found = [(value.get(wire), needs) for wire, needs in self.nested]
        return sum(
            isinstance(inner, dict) and not any(need <= inner.keys() for need in needs)
            for inner, needs in found
        )

    def nearness(self, value: JsonObject) -> tuple[int, ...]:
        """No tag that says otherwise, then tags that say so, then little missing, then members that it knows."""
        tagged = sum(1 if wire in value else -1 for wire in self.tags)
        missing = len(self.required - value.keys()) + self.hollow(value)
        known = len(self.known & value.keys())
        return (int(not self.contrary(value)), tagged, -missing, len(self.required), known)


class _Chooser:
    """Names the arm that a value means."""

    def __init__(self, arms: Mapping[str, Arm]) -> None:
        self._arms = arms

    @cached_property
    def _shapes(self) -> list[_Shape]:
        """Those with tags first, then those that require most: that decides against those that require less."""
        models = [(label, model) for label, arm in self._arms.items() for model in _classes(arm)]
        holders = Counter(wire for _, model in models for wire in _wires(model))
        shared = frozenset(wire for wire, count in holders.items() if count > 1)
        return sorted(
            (_shape(*pair, shared) for pair in models), key=lambda shape: shape.weight, reverse=True
        )

    @cached_property
    def _listing(self) -> str | None:
        """A member that has a few values only in every arm, not all the same: its value leaves few arms to look at."""
        listed = [dict(shape.listed) for shape in self._shapes]
        common = set(listed[0]).intersection(*listed[1:])
        return min((wire for wire in common if len({values[wire] for values in listed}) > 1), default=None)

    @cached_property
    def _by_value(self) -> Mapping[Any, list[_Shape]]:
        """The arms that have a value of that member, in their order; under ABSENT those that may lack it."""
        found: dict[Any, list[_Shape]] = {}
        wire = cast(str, self._listing)
        for shape in self._shapes:
            for value in (*dict(shape.listed)[wire], *(() if wire in shape.required else (ABSENT,))):
                found.setdefault(value, []).append(shape)
        return found

    def _candidates(self, value: JsonObject) -> list[_Shape]:
        """The arms that the one member leaves: all where no member decides, none where it has no value it may have."""
        if self._listing is None:
            return self._shapes
        said = value.get(self._listing, ABSENT)
        return self._by_value.get(said, []) if said in (ABSENT, None) or isinstance(said, str) else []

    def _best(self, value: JsonObject, candidates: list[_Shape]) -> list[_Shape]:
        """The weightiest of those that fit."""
        found: list[_Shape] = []
        for shape in candidates:
            if found and shape.weight < found[0].weight:
                break
            if shape.fits(value):
                found.append(shape)
        return found

    def refuse(self, value: JsonObject) -> None:
        """Raise ValidationError for the deciding member of a value: it is missing, or no arm has its value."""
        wire = cast(str, self._listing)
        fault = InitErrorDetails(type="missing", loc=(wire,), input=value)
        if wire in value:
            expected = alternatives([repr(known) for known in self._by_value if known not in (ABSENT, None)])
            fault["type"] = PydanticCustomError(
                "literal_error", "Input should be {expected}", {"expected": expected}
            )
            fault["input"] = value[wire]
        raise ValidationError.from_exception_data("Choice", [fault])

    def choose(self, value: Any) -> str:
        """The label of the arm; there is always one, so that a misfit is told in its terms."""
        if isinstance(value, dict):
            members = cast(JsonObject, value)
            candidates = self._candidates(members)
            if len(candidates) < 2:
                return candidates[0].label if candidates else ASTRAY
            best = self._best(members, candidates)
            if len(best) == 1:
                return best[0].label
            return max(best or candidates, key=lambda shape: shape.nearness(members)).label
        if isinstance(value, WireModel):
            return next((s.label for s in self._shapes if isinstance(value, s.model)), self._shapes[0].label)
        return next((label for label, arm in self._arms.items() if not _classes(arm)), self._shapes[0].label)


def _wires(model: type[WireModel]) -> dict[str, Any]:
    """The types of the members of a class by wire name."""
    return {field.alias or name: field.annotation for name, field in model.model_fields.items()}


def _shape(label: str, model: type[WireModel], shared: frozenset[str]) -> _Shape:
    """`shared` are the members that other classes of the union have too: that they are there decides nothing."""
    facts = members(model)
    wires = _wires(model)
    nested = {
        wire: [members(inner).required for inner in _classes(wires[wire])] for wire in shared & wires.keys()
    }
    return _Shape(
        label=label,
        model=model,
        listed=tuple(facts.listed.items()),
        tags=frozenset(facts.tags),
        required=facts.required,
        nested=tuple((wire, tuple(needs)) for wire, needs in sorted(nested.items()) if needs and all(needs)),
        known=frozenset(wires),
        weight=(len(facts.tags), len(facts.required)),
    )


def _classes(arm: Arm) -> list[type[WireModel]]:
    """The classes that an arm can be, through aliases and unions; none for a container or a primitive."""
    if isinstance(arm, type) and issubclass(arm, WireModel):
        return [arm]
    if isinstance(arm, TypeAliasType):
        return _classes(arm.__value__)
    return [model for inner in _arms(arm) for model in _classes(inner)]


def _arms(union: Any) -> tuple[Arm, ...]:
    """The arms of a union, annotated or not."""
    if hasattr(union, "__metadata__"):
        return _arms(get_args(union)[0])
    origin = get_origin(union)
    return () if origin in (list, dict) else get_args(union)
