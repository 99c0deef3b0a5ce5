"""The base of every generated type: what a message keeps, how it is built, and what is written back.

A tag (a member that can have one value only: `type`, `method`, `jsonrpc`) is filled in when a value is built,
and demanded when one is read. Nothing is coerced, nothing unknown is lost, and what was absent stays absent.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any, ClassVar, get_args

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler
from pydantic_core import CoreSchema


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

    wire_tags: ClassVar[Mapping[str, tuple[str, Any]]] = {}
    """The members that have one value: Python name to wire name and value."""

    wire_optional: ClassVar[Set[str]] = frozenset()
    """The members that may be absent and are never null, under both names: built with None they are absent."""

    def __init__(self, /, **data: Any) -> None:
        """Build a value from members; raises `pydantic.ValidationError` when one does not fit its type."""
        for name, (wire, value) in type(self).wire_tags.items():
            if name not in data:
                data.setdefault(wire, value)
        for name in [name for name, value in data.items() if value is None and name in self.wire_optional]:
            del data[name]
        super().__init__(**data)

    # Without this mark pydantic-core would call __init__ for nested values too, and tags would no longer be demanded.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]  # pyright: ignore[reportFunctionMemberAccess]

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        """Remember the tags of a new class: in generated types, the only members with a default other than None."""
        super().__pydantic_init_subclass__(**kwargs)
        defaults = {name: field for name, field in cls.__pydantic_fields__.items() if not field.is_required()}
        cls.wire_tags = {
            name: (field.alias or name, field.default)
            for name, field in defaults.items()
            if field.default is not None
        }
        cls.wire_optional = {
            spelling
            for name, field in defaults.items()
            if field.default is None and Any not in (field.annotation, *get_args(field.annotation))
            for spelling in (name, field.alias or name)
        }

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: type[BaseModel], handler: GetCoreSchemaHandler, /
    ) -> CoreSchema:
        """Take the default from the tags: it is there for building, and must not excuse an absent tag in reading."""
        schema = handler(source)
        fields = _model_fields(schema)
        for name in cls.wire_tags:
            if fields and fields[name]["schema"]["type"] == "default":
                fields[name]["schema"] = fields[name]["schema"]["schema"]
        return schema

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


def _model_fields(schema: Any) -> dict[str, Any] | None:
    """The fields inside the layers that pydantic wraps around them."""
    while schema is not None and schema["type"] != "model-fields":
        schema = schema.get("schema")
    return None if schema is None else schema["fields"]
