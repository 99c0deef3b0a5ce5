"""The base of every generated type: what a message keeps, how it is built, and what is written back.

A tag (a member that can have one value only: `type`, `method`, `jsonrpc`) is filled in when a value is built,
and demanded when one is read. Nothing is coerced, nothing unknown is lost, and what was absent stays absent.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from operator import is_
from types import UnionType
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, Self, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, InitErrorDetails, PydanticCustomError, core_schema, from_json
from typing_extensions import TypeAliasType

from .faults import clean
from .finite import checked, finite, holds_documents, refuse_constants
from .namesakes import aside, tell_apart

RULE: Final = "wire"
"""Where the metadata of a core schema says which rule of ours shaped it; exact reading undoes them by name."""

OPTIONAL: Final = "absent or null"
"""The rule of a member that may be absent: null counts as absent, and neither is written."""

FILLED: Final = "absent or filled"
"""The rule of a member that building fills in: in what older peers sent it may be absent."""

building: Final = threading.RLock()
"""Held while readers and writers are built, which happens at the first use of a type, in whatever thread."""

_is_none: Final[Callable[[Any], bool]] = partial(is_, None)


class Nullable:
    """Marks a member that may be absent and may be null, which is not the same: null is kept and written."""


@dataclass(frozen=True)
class Members:
    """The members of a class that reading and building treat in a way of their own.

    `wires` has the wire name by the names that building takes. `filled` has the wire name and value of what
    building fills in, by Python name; `tags` those of them that have no other value, by wire name. `required`
    are the wire names without which reading fails, `nullable` the Python names of optional members that may be
    null, and `listed` the values of members that have no others, by wire name. `mistakable` are the Python names
    that are not wire names, of members that are written or not by whether they were set.
    """

    wires: Mapping[str, str]
    filled: Mapping[str, tuple[str, Any]]
    tags: Mapping[str, Any]
    required: frozenset[str]
    nullable: frozenset[str]
    listed: Mapping[str, tuple[Any, ...]]
    mistakable: frozenset[str]


class WireModel(BaseModel):
    """One object of the protocol.

    Members are set by their Python name or their wire name and written under the wire name; a member that was
    not set is not written. What is read goes by wire names alone, and unknown members are kept in `model_extra`
    and written back. Building refuses a keyword that is no member, unless no keyword can be spelled like it (a
    vendor's `com.example/key`, passed by `**`); `model_copy(update=...)` and `model_validate` add any other.

    As a member of a class that is not of these, a value is written by that class: dump it with `exclude_unset`, so
    that an absent member that may be null (`structuredContent`) stays absent there too.
    """

    model_config = ConfigDict(
        strict=True,
        extra="allow",
        validate_by_alias=True,
        serialize_by_alias=True,
        allow_inf_nan=False,
        defer_build=True,
        validate_assignment=True,
        protected_namespaces=(),
    )

    wire_documents: ClassVar[bool] = False
    """Whether most of a value is documents of any shape, which are parsed faster before they are read than while."""

    def __init__(self, /, **data: Any) -> None:
        """Build a value from members; raises `pydantic.ValidationError` when one does not fit its type."""
        facts = members(type(self))
        wires = facts.wires
        given = {wires[name]: value for name, value in data.items() if name in wires}
        if len(given) != len(data):
            given = _by_wire_names(type(self), data)
        for wire, value in facts.filled.values():
            given.setdefault(wire, value)
        try:
            # What BaseModel does, without passing every member as a keyword once more.
            self.__pydantic_validator__.validate_python(given, self_instance=self)
        except ValidationError as error:
            raise clean(error, type(self).__pydantic_core_schema__) from None

    # Without this mark pydantic-core would call __init__ for nested values too, and tags would no longer be demanded.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]  # pyright: ignore[reportFunctionMemberAccess]

    if not TYPE_CHECKING:  # A checker that saw this would let every attribute be set.

        def __setattr__(self, name: str, value: Any) -> None:
            """Set a member; raises AttributeError for what is none, ValidationError for what does not fit."""
            known = (
                name in type(self).model_fields or name.startswith("_") or name in (self.model_extra or ())
            )
            if not known:
                raise AttributeError(_unknown(name, type(self)))
            try:
                with aside(self):
                    super().__setattr__(name, value)
            except ValidationError as error:
                raise clean(error, type(self).__pydantic_core_schema__) from None

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: type[BaseModel], handler: GetCoreSchemaHandler, /
    ) -> CoreSchema:
        """Make the defaults what they are: a tag has none in reading, null is absence, absence is not written."""
        schema = handler(source)
        facts = members(cls)
        inside = _model_fields(schema)
        if cls.model_config.get("extra") == "allow":
            inside["extras_schema"] = core_schema.no_info_after_validator_function(
                finite, core_schema.any_schema()
            )
        for name, field in inside["fields"].items():
            default = field["schema"] = _of_one_kind(checked(field["schema"]))
            if default["type"] != "default":
                continue
            if name not in facts.filled:
                if name not in facts.nullable:
                    field["serialization_exclude_if"] = _is_none
                    field.setdefault("metadata", {})[RULE] = OPTIONAL
            elif facts.filled[name][0] in facts.tags:
                field["schema"] = default["schema"]
            else:
                field.setdefault("metadata", {})[RULE] = FILLED
        tell_apart(schema, facts.mistakable)
        return schema

    @classmethod
    def model_rebuild(cls, **options: Any) -> bool | None:
        """Build the reader and writer of the class now; the first use of the class does it too, in any thread."""
        with building:
            return super().model_rebuild(**options)

    @classmethod
    def model_validate(cls, obj: Any, **options: Any) -> Self:
        """The value that Python data holds; raises `pydantic.ValidationError`, one fault for each member."""
        try:
            if options:
                return super().model_validate(obj, **options)
            # Straight to the reader where nothing special is asked for: a small message takes a third less time.
            value: Self = cls.__pydantic_validator__.validate_python(obj)
            return value
        except ValidationError as error:
            raise clean(error, cls.__pydantic_core_schema__) from None

    @classmethod
    def model_validate_json(cls, json_data: str | bytes | bytearray, **options: Any) -> Self:
        """The value that JSON text holds; raises `pydantic.ValidationError`, one fault for each member."""
        try:
            if not (options or _has_documents(cls)):
                value: Self = cls.__pydantic_validator__.validate_json(json_data)
                return value
            refuse_constants(json_data)
            if options:
                return super().model_validate_json(json_data, **options)
            value = cls._read_parsed(json_data)
            return value
        except ValidationError as error:
            raise clean(error, cls.__pydantic_core_schema__, cls.__name__) from None

    @classmethod
    def _read_parsed(cls, data: str | bytes | bytearray) -> Any:
        if not cls.wire_documents:
            return cls.__pydantic_validator__.validate_json(data)
        try:
            parsed: Any = from_json(data)
        except (ValueError, TypeError):
            # The reader says what is wrong in its own terms.
            return cls.__pydantic_validator__.validate_json(data)
        return cls.__pydantic_validator__.validate_python(parsed)

    def model_dump(self, **options: Any) -> dict[str, Any]:
        """The value as `BaseModel.model_dump` gives it, without the members that were not set."""
        options.setdefault("exclude_unset", True)
        return super().model_dump(**options)

    def model_dump_json(self, **options: Any) -> str:
        """The value as `BaseModel.model_dump_json` gives it, without the members that were not set."""
        options.setdefault("exclude_unset", True)
        return super().model_dump_json(**options)

    def wire_bytes(self, *, without: set[str] | None = None) -> bytes:
        """The value as compact UTF-8 JSON, as it travels, `without` the members of these Python names."""
        return self.__pydantic_serializer__.to_json(self, by_alias=True, exclude_unset=True, exclude=without)


@cache
def _has_documents(model: type[BaseModel]) -> bool:
    if not model.__pydantic_complete__:
        # Only what is built can be looked at.
        model.model_rebuild()
    return holds_documents(model.__pydantic_core_schema__)


@cache
def members(model: type[BaseModel]) -> Members:
    """What is special about the members of a generated class: in these, only filled members have a default."""
    fields = model.model_fields
    wires = {name: field.alias or name for name, field in fields.items()}
    optional = {name: field for name, field in fields.items() if not field.is_required()}
    filled = {
        name: (wires[name], field.default)
        for name, field in optional.items()
        if field.default is not None and field.default_factory is None
    }
    listed = {wires[name]: values for name, field in fields.items() if (values := _listed(field.annotation))}
    tags = {wire: value for wire, value in filled.values() if listed.get(wire) == (value,)}
    required = {wires[name] for name in fields if name not in optional}
    nullable = frozenset(name for name, field in optional.items() if _may_be_null(field))
    by_being_set = nullable | {name for name, (wire, _) in filled.items() if wire not in tags}
    return Members(
        wires=wires | {wire: wire for wire in wires.values()},
        filled=filled,
        tags=tags,
        required=frozenset({*required, *tags}),
        nullable=nullable,
        listed=listed,
        mistakable=by_being_set - set(wires.values()),
    )


def _listed(annotation: Any) -> tuple[Any, ...]:
    """The values of a member that has no others, optional or not."""
    if isinstance(annotation, TypeAliasType):
        return _listed(annotation.__value__)
    if get_origin(annotation) is Literal:
        return get_args(annotation)
    arms = [arm for arm in get_args(annotation) if arm is not type(None)]
    optional = len(arms) == 1 and get_origin(annotation) in (Union, UnionType)
    return (*values, None) if optional and (values := _listed(arms[0])) else ()


def _may_be_null(field: FieldInfo) -> bool:
    """Whether null is a value of an optional member: one that may be anything, or one that is marked."""
    anything = Any in (field.annotation, *get_args(field.annotation))
    return anything or any(isinstance(mark, Nullable) for mark in field.metadata)


def _by_wire_names(model: type[BaseModel], data: Mapping[str, Any]) -> dict[str, Any]:
    """What is built of these keywords; raises ValidationError for each that is no member, or names one again."""
    wires = members(model).wires
    named = [wires[name] for name in data if name in wires]
    faults = {name: "named twice" for name in data if named.count(wires.get(name, "")) > 1}
    faults |= {name: _unknown(name, model) for name in data if name not in wires and name.isidentifier()}
    if faults:
        details = [
            InitErrorDetails(
                type=PydanticCustomError("keyword", "{what}", {"what": what}), loc=(name,), input=data[name]
            )
            for name, what in faults.items()
        ]
        raise ValidationError.from_exception_data(model.__name__, details)
    return {wires.get(name, name): value for name, value in data.items()}


def _unknown(name: str, model: type[BaseModel]) -> str:
    import difflib

    near = difflib.get_close_matches(name, model.model_fields, n=1)
    return f"{model.__name__} has no such member" + "".join(f"; did you mean {found}?" for found in near)


def _of_one_kind(schema: Any) -> Any:
    """A schema whose constants take their own JSON type only: to Pydantic true and 1.0 are the constant 1 as well."""
    if schema["type"] == "literal" and not all(isinstance(value, str) for value in schema["expected"]):
        return core_schema.no_info_before_validator_function(_Kinds(schema["expected"]).check, schema)
    return {**schema, "schema": _of_one_kind(schema["schema"])} if "schema" in schema else schema


@dataclass(frozen=True)
class _Kinds:
    """The types of some constants."""

    constants: Sequence[Any]

    def check(self, value: Any) -> Any:
        """The value, if a constant is of its type."""
        if type(value) not in map(type, self.constants):
            expected = " or ".join(map(repr, self.constants))
            raise PydanticCustomError("literal_error", "Input should be {expected}", {"expected": expected})
        return value


def _model_fields(schema: Any) -> dict[str, Any]:
    """What holds the fields, inside the layers that pydantic wraps around it."""
    while schema["type"] != "model-fields":
        if "schema" not in schema:
            return {"fields": {}}
        schema = schema["schema"]
    inside: dict[str, Any] = schema
    return inside
