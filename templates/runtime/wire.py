"""The base of every generated type: what a message keeps, how it is built, and what is written back.

A tag (a member that can have one value only: `type`, `method`, `jsonrpc`) is filled in when a value is built,
and demanded when one is read. Nothing is coerced, nothing unknown is lost, and what was absent stays absent.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from operator import is_
from typing import Any, ClassVar, Final, Literal, Self, get_args, get_origin

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, ValidationError
from pydantic_core import CoreSchema, from_json

from .faults import clean

RULE: Final = "wire"
"""Where the metadata of a core schema says which rule of ours shaped it; exact reading undoes them by name."""

OPTIONAL: Final = "absent or null"
"""The rule of a member that may be absent: null counts as absent, and neither is written."""

FILLED: Final = "absent or filled"
"""The rule of a member that building fills in: in what older peers sent it may be absent."""

_is_none: Final[Callable[[Any], bool]] = partial(is_, None)
_building: Final = threading.RLock()


@dataclass(frozen=True)
class Members:
    """The members of a class that reading and building treat in a way of their own.

    `filled` has the wire name and value of what building fills in, by Python name; `tags` those of them that have
    no other value, by wire name. `required` are the wire names without which reading fails.
    """

    filled: Mapping[str, tuple[str, Any]]
    tags: Mapping[str, Any]
    required: frozenset[str]


class WireModel(BaseModel):
    """One object of the protocol.

    Members are set by their Python name or their wire name and written under the wire name; a member that was
    not set is not written. Unknown members are kept in `model_extra` and written back.
    """

    model_config = ConfigDict(
        strict=True,
        extra="allow",
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
        defer_build=True,
        protected_namespaces=(),
    )

    wire_documents: ClassVar[bool] = False
    """Whether most of a value is documents of any shape, which are parsed faster before they are read than while."""

    def __init__(self, /, **data: Any) -> None:
        """Build a value from members; raises `pydantic.ValidationError` when one does not fit its type."""
        for name, (wire, value) in members(type(self)).filled.items():
            if name not in data:
                data.setdefault(wire, value)
        super().__init__(**data)

    # Without this mark pydantic-core would call __init__ for nested values too, and tags would no longer be demanded.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]  # pyright: ignore[reportFunctionMemberAccess]

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: type[BaseModel], handler: GetCoreSchemaHandler, /
    ) -> CoreSchema:
        """Make the defaults what they are: a tag has none in reading, null is absence, absence is not written."""
        schema = handler(source)
        facts = members(cls)
        for name, field in _model_fields(schema).items():
            default = field["schema"]
            if default["type"] != "default":
                continue
            if name not in facts.filled:
                if default["schema"]["type"] == "nullable" and default["schema"]["schema"]["type"] != "any":
                    field["serialization_exclude_if"] = _is_none
                    field.setdefault("metadata", {})[RULE] = OPTIONAL
            elif facts.filled[name][0] in facts.tags:
                field["schema"] = default["schema"]
            else:
                field.setdefault("metadata", {})[RULE] = FILLED
        return schema

    @classmethod
    def model_rebuild(cls, **options: Any) -> bool | None:
        """Build the reader and writer of the class now; the first use of the class does it too, in any thread."""
        # Pydantic defers building, and does not guard it against threads that come at the same time.
        with _building:
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
            raise clean(error, obj) from None

    @classmethod
    def model_validate_json(cls, json_data: str | bytes | bytearray, **options: Any) -> Self:
        """The value that JSON text holds; raises `pydantic.ValidationError`, one fault for each member."""
        try:
            if options:
                return super().model_validate_json(json_data, **options)
            value: Self = cls._read(json_data)
            return value
        except ValidationError as error:
            raise clean(error, json_data) from None

    @classmethod
    def _read(cls, data: str | bytes | bytearray) -> Any:
        if cls.wire_documents:
            try:
                parsed: Any = from_json(data)
            except ValueError:
                pass  # The reader says what is wrong in its own terms.
            else:
                return cls.__pydantic_validator__.validate_python(parsed)
        return cls.__pydantic_validator__.validate_json(data)

    def model_dump(self, **options: Any) -> dict[str, Any]:
        """The value as `BaseModel.model_dump` gives it, without the members that were not set."""
        options.setdefault("exclude_unset", True)
        return super().model_dump(**options)

    def model_dump_json(self, **options: Any) -> str:
        """The value as `BaseModel.model_dump_json` gives it, without the members that were not set."""
        options.setdefault("exclude_unset", True)
        return super().model_dump_json(**options)

    def wire_bytes(self) -> bytes:
        """The value as compact UTF-8 JSON, as it travels."""
        return self.__pydantic_serializer__.to_json(self, by_alias=True, exclude_unset=True)


@cache
def members(model: type[BaseModel]) -> Members:
    """What is special about the members of a generated class: in these, only filled members have a default."""
    fields = {name: field for name, field in model.model_fields.items()}
    defaults = {name: field for name, field in fields.items() if not field.is_required()}
    filled = {
        name: (field.alias or name, field.default)
        for name, field in defaults.items()
        if field.default is not None
    }
    tags = {wire: value for name, (wire, value) in filled.items() if _is_tag(fields[name].annotation)}
    required = {field.alias or name for name, field in fields.items() if field.is_required()}
    return Members(filled, tags, frozenset({*required, *tags}))


def _is_tag(annotation: Any) -> bool:
    return get_origin(annotation) is Literal and len(get_args(annotation)) == 1


def _model_fields(schema: Any) -> dict[str, Any]:
    """The fields inside the layers that pydantic wraps around them."""
    while schema["type"] != "model-fields":
        if "schema" not in schema:
            return {}
        schema = schema["schema"]
    fields: dict[str, Any] = schema["fields"]
    return fields
