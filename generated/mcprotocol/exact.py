"""Exact reading: the types accept what the schema accepts, and nothing else; and aliases, read and written as classes are.

By default the types forgive what newer and older peers do (`wire`, `unions`). Here every such rule is undone by
its name in the core schema, so that both readings come from the same classes and give the same values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, TypeVar, cast, overload

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic_core import SchemaValidator
from pydantic_core.core_schema import CoreConfig

from .faults import UNKNOWN, clean
from .finite import finite, holds_documents, refuse_constants
from .unions import ANY_ARM, ASTRAY, FIRST_ARM
from .wire import FILLED, OPTIONAL, RULE, WireModel, building

M = TypeVar("M", bound=WireModel)


@overload
def read(type_: type[M], data: str | bytes, *, strict: bool = False) -> M: ...


@overload
def read(type_: Any, data: str | bytes, *, strict: bool = False) -> Any: ...


def read(type_: Any, data: str | bytes, *, strict: bool = False) -> Any:
    """The value of a type, class or alias, that JSON text holds.

    With `strict` exactly what the schema allows is accepted. Raises `pydantic.ValidationError`, one fault for
    each member, each with its path through the value.
    """
    schema, validator, documents = _reader(type_, strict)
    try:
        if documents:
            refuse_constants(data)
        return validator.validate_json(data)
    except ValidationError as error:
        raise clean(error, schema, getattr(type_, "__name__", str(type_))) from None


def read_value(type_: Any, value: Any) -> Any:
    """The value of a type, class or alias, that Python data holds; raises as `read` does."""
    schema, validator, _ = _reader(type_, False)
    try:
        return validator.validate_python(value)
    except ValidationError as error:
        raise clean(error, schema, getattr(type_, "__name__", str(type_))) from None


def write(type_: Any, value: Any) -> bytes:
    """A value of a type, class or alias, as compact UTF-8 JSON; members that were not set are not written.

    Raises `pydantic.ValidationError` for a number that JSON does not have.
    """
    return _adapter(type_).dump_json(finite(value), by_alias=True, exclude_unset=True)


@cache
def _reader(type_: Any, strict: bool) -> tuple[Any, Any, bool]:
    """The core schema of a type, what reads by it, and whether there are documents in what it reads."""
    adapter = _adapter(type_)
    documents = holds_documents(adapter.core_schema)
    if not strict:
        return adapter.core_schema, adapter.validator, documents
    schema = _exact(adapter.core_schema)
    # Without the last argument pydantic-core would put the forgiving readers of nested classes into the exact one.
    return schema, SchemaValidator(schema, CoreConfig(strict=True, allow_inf_nan=False), False), documents


@cache
def _adapter(type_: Any) -> TypeAdapter[Any]:
    # An alias has no configuration of its own, and Pydantic refuses to be told that of a class.
    config = None if isinstance(type_, type) else ConfigDict(strict=True, allow_inf_nan=False)
    with building:
        adapter = TypeAdapter(type_, config=config)
        adapter.rebuild()
        return adapter


def _exact(schema: Any) -> Any:
    """A core schema with our rules undone, from the outside in."""
    if isinstance(schema, list):
        return list(map(_exact, _parts(schema)))
    if isinstance(schema, tuple):
        return tuple(map(_exact, _parts(schema)))
    if not isinstance(schema, dict):
        return schema
    node = cast(dict[str, Any], schema)
    rule = node.get("metadata", {}).get(RULE) if isinstance(node.get("metadata"), dict) else None
    undo = _UNDO.get(rule)
    return {key: _exact(value) for key, value in (undo(node) if undo else node).items()}


def _parts(schema: Any) -> Iterable[Any]:
    yield from schema


def _demanded(field: dict[str, Any]) -> dict[str, Any]:
    """A member that must be there: without its default."""
    return {**field, "metadata": {}, "schema": field["schema"]["schema"]}


def _never_null(field: dict[str, Any]) -> dict[str, Any]:
    """A member that may be absent, and is not null when it is there."""
    default = field["schema"]
    return {**field, "metadata": {}, "schema": {**default, "schema": default["schema"]["schema"]}}


def _first_arm(union: dict[str, Any]) -> dict[str, Any]:
    """An open union or enumeration, closed."""
    first = union["choices"][0]
    return {**first, "ref": union["ref"]} if "ref" in union and "ref" not in first else first


def _any_arm(choice: dict[str, Any]) -> dict[str, Any]:
    """The arm that the value means, else any other, as `anyOf` says."""
    kept = {"ref": choice["ref"]} if "ref" in choice else {}
    meant = {key: value for key, value in choice.items() if key not in ("metadata", "ref")}
    others = {
        "type": "union",
        "mode": "left_to_right",
        "choices": [_nameless(arm) for label, arm in choice["choices"].items() if label != ASTRAY],
    }
    return {"type": "union", "mode": "left_to_right", "choices": [meant, (others, UNKNOWN)], **kept}


def _nameless(schema: dict[str, Any]) -> dict[str, Any]:
    """A copy that nothing refers to; the schema itself keeps its name."""
    return {key: value for key, value in schema.items() if key != "ref"}


_UNDO: dict[Any, Callable[[dict[str, Any]], dict[str, Any]]] = {
    FILLED: _demanded,
    OPTIONAL: _never_null,
    FIRST_ARM: _first_arm,
    ANY_ARM: _any_arm,
}
