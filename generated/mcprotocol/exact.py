"""Exact reading: the types accept what the schema accepts, and nothing else.

By default the types forgive what newer and older peers do (`wire`, `unions`). Here every such rule is undone by
its name in the core schema, so that both readings come from the same classes and give the same values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, cast

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic_core import CoreConfig, SchemaValidator

from .faults import clean
from .unions import ANY_ARM, FIRST_ARM
from .wire import FILLED, OPTIONAL, RULE, WireModel

NO_COERCION = CoreConfig(strict=True)


def read(type_: Any, data: str | bytes, *, strict: bool = False) -> Any:
    """The value of a type, class or alias, that JSON text holds.

    With `strict` exactly what the schema allows is accepted. Raises `pydantic.ValidationError`, one fault for
    each member, each with its path through the value.
    """
    validator = strict_validator(type_) if strict else _validator(type_)
    try:
        return validator.validate_json(data)
    except ValidationError as error:
        raise clean(error, data) from None


def read_value(type_: Any, value: Any) -> Any:
    """The value of a type, class or alias, that Python data holds; raises as `read` does."""
    try:
        return _validator(type_).validate_python(value)
    except ValidationError as error:
        raise clean(error, value) from None


@cache
def strict_validator(type_: Any) -> SchemaValidator:
    """The exact reader of a type."""
    schema = type_.__pydantic_core_schema__ if _built(type_) else _adapter(type_).core_schema
    # Without the last argument pydantic-core would put the forgiving readers of nested classes into the exact one.
    return SchemaValidator(_exact(schema), NO_COERCION, False)


@cache
def _validator(type_: Any) -> Any:
    return type_.__pydantic_validator__ if _built(type_) else _adapter(type_).validator


@cache
def _adapter(type_: Any) -> TypeAdapter[Any]:
    # A class brings its own configuration; an alias has none, and what it names would be coerced.
    return TypeAdapter(type_, config=ConfigDict(strict=True))


def _built(type_: Any) -> bool:
    """Whether a type is a class, which is then ready to be used."""
    if not (isinstance(type_, type) and issubclass(type_, WireModel)):
        return False
    model: type[WireModel] = type_
    model.model_rebuild()
    return True


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
    """A union whose arms are tried in turn, as `anyOf` says."""
    kept = {"ref": choice["ref"]} if "ref" in choice else {}
    return {"type": "union", "mode": "left_to_right", "choices": list(choice["choices"].values()), **kept}


_UNDO: dict[Any, Callable[[dict[str, Any]], dict[str, Any]]] = {
    FILLED: _demanded,
    OPTIONAL: _never_null,
    FIRST_ARM: _first_arm,
    ANY_ARM: _any_arm,
}
