"""JSON Schemas that somebody wrote: judged when they are first met, then values by them.

2020-12 unless `$schema` names another dialect; one that is unknown is refused. Nothing is ever fetched, so a
reference that leads out of the schema is refused as well (basic/index, JSON Schema Usage).
"""

from __future__ import annotations

from itertools import islice
from typing import Any, TypeAlias

from jsonschema import Draft202012Validator, SchemaError, ValidationError
from jsonschema.exceptions import (
    best_match,  # pyright: ignore[reportUnknownVariableType]  # the stub leaves its result open
)
from jsonschema.validators import validator_for
from referencing import Specification
from referencing.exceptions import Unresolvable
from referencing.jsonschema import EMPTY_REGISTRY, UnknownDialect, specification_with

from .jsonrpc import pointer

Schema: TypeAlias = dict[str, Any]
"""A JSON Schema object."""

SHOWN = 5
"""How many faults a complaint names."""


class Judge:
    """One schema, and what it says about values."""

    def __init__(self, schema: Schema) -> None:
        """Take a schema; raises ValueError when it is none that can be kept to."""
        specification = _specification(schema)
        dialect = validator_for(schema, default=Draft202012Validator)
        try:
            dialect.check_schema(schema)
        except SchemaError as error:
            raise ValueError(f"not a valid schema: {_fault(error)}") from None
        _check_references(schema, specification)
        self._validator = dialect(schema, registry=EMPTY_REGISTRY)

    def complaint(self, value: Any) -> str:
        """What is wrong with a value, as `pointer: what was expected`; empty when nothing is."""
        try:
            errors = list(islice(self._validator.iter_errors(value), SHOWN))
        except RecursionError:
            return "/: nested too deep to be checked"
        decisive: list[ValidationError] = [best_match([error]) for error in errors]
        return "; ".join(map(_fault, decisive))


def judge_arguments(schema: Schema) -> Judge:
    """The judge of arguments; raises ValueError when the schema is none for an object, or cannot be kept to."""
    if schema.get("type") != "object":
        raise ValueError('an input schema must say type: "object"')
    return Judge(schema)


def _specification(schema: Schema) -> Specification[Any]:
    dialect = str(schema.get("$schema", Draft202012Validator.META_SCHEMA["$schema"]))
    try:
        return specification_with(dialect)
    except UnknownDialect:
        raise ValueError(f"the dialect {dialect!r} is not supported") from None


def _check_references(schema: Schema, specification: Specification[Any]) -> None:
    """Raise ValueError unless every reference leads to a place inside the schema."""
    root = specification.create_resource(schema)
    parts = [(root, EMPTY_REGISTRY.resolver_with_root(root))]
    while parts:
        part, resolver = parts.pop()
        parts += [(inner, resolver.in_subresource(inner)) for inner in part.subresources()]
        if isinstance(part.contents, bool):
            continue
        for keyword in ("$ref", "$dynamicRef"):
            try:
                resolver.lookup(str(part.contents.get(keyword, "#")))
            except Unresolvable:
                raise ValueError(
                    f"{keyword} {part.contents[keyword]!r} leads out of the schema; nothing is fetched"
                ) from None


def _fault(error: ValidationError | SchemaError) -> str:
    # The message repeats the value that was sent, which may be long.
    message = (
        error.message if len(error.message) <= 300 else f"{error.message[:200]} [...] {error.message[-80:]}"
    )
    return f"{pointer(list(error.absolute_path))}: {message}"
