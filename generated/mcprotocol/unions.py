"""How a value finds its type in a union: by its tag, by the members that decide, and open to what is newer.

Each class here annotates an alias of the generated types and shapes the reader that Pydantic builds for it.
A label in the metadata says which rule it was, so that exact reading can undo it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias, cast, get_args, get_origin

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, core_schema
from typing_extensions import TypeAliasType

from .faults import UNKNOWN
from .wire import RULE, WireModel, members

Arm: TypeAlias = Any
"""One arm of a union: a class, an alias or a container type."""

JsonObject: TypeAlias = Mapping[str, Any]

FIRST_ARM: Final = "first arm only"
"""The rule of a union whose other arms are there for what is newer."""

ANY_ARM: Final = "any arm"
"""The rule of a union in which the value chooses the arm."""


class Unknown(WireModel):
    """A variant that this revision does not know: its tag, and all its members in `model_extra`."""

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


class Choice:
    """A union without a tag: the arm whose deciding members are there, in whatever order they come."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """A union in which the value chooses, so that only the arm it means can complain."""
        schema: Any = handler(source)
        arms = get_args(source)
        labels = [f"?{index}" for index in range(len(arms))]
        return core_schema.tagged_union_schema(
            dict(zip(labels, schema["choices"], strict=True)),
            discriminator=_chooser(dict(zip(labels, arms, strict=True))),
            metadata={RULE: ANY_ARM},
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


def _tag(value: Any) -> Any:
    return cast(JsonObject, value).get("type") if isinstance(value, dict) else None


def _chooser(arms: Mapping[str, Arm]) -> Callable[[Any], str]:
    def choose(value: Any) -> str:
        return max(arms, key=lambda label: _fit(arms[label], value))

    return choose


def _fit(arm: Arm, value: Any) -> tuple[int, ...]:
    """How well a value fits an arm; the greatest is what it means."""
    classes = _classes(arm)
    if isinstance(value, WireModel):
        return (int(isinstance(value, tuple(classes))),)
    if not isinstance(value, dict):
        return (int(not classes),)
    return max((_fit_class(model, cast(JsonObject, value)) for model in classes), default=(-1,))


def _fit_class(model: type[WireModel], value: JsonObject) -> tuple[int, ...]:
    """No tag that says otherwise, then few members missing, then tags that say so, then members that it knows."""
    facts = members(model)
    wires = {field.alias or name: field for name, field in model.model_fields.items()}
    known = [wire for wire in wires if wire in value]
    contrary = any(value.get(wire, tag) != tag for wire, tag in facts.tags.items())
    lacking = sum(wire not in value for wire in facts.required)
    hollow = sum(_lacks(wires[wire].annotation, value[wire]) for wire in known)
    agreeing = sum(wire in value for wire in facts.tags)
    return (int(not contrary), -lacking - hollow, agreeing, len(facts.required), len(known))


def _lacks(annotation: Any, value: Any) -> bool:
    """Whether a nested object lacks what its class requires: in some unions the arms differ in that alone."""
    if not isinstance(value, dict):
        return False
    needs = [members(model).required for model in _classes(annotation)]
    return bool(needs) and all(need - cast(JsonObject, value).keys() for need in needs)


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
