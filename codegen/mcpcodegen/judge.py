"""A value against a schema: the only room that knows jsonschema.

An invalid value is told once, at the place where it went wrong: inside a union only the arm that the value
means is reported, never every arm that it does not fit.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from jsonschema import Draft7Validator, Draft202012Validator, ValidationError

from .facts import escape
from .ir import ABSENT, Json, Schema

UNIONS = ("anyOf", "oneOf")


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong with a value: where (a JSON pointer), what stands there, and what should."""

    pointer: str
    found: Json
    expected: str


def schema_fault(root: Json, *, draft_07: bool) -> tuple[str, str] | None:
    """Where and how a document breaks the rules of JSON Schema itself; None when it keeps them.

    The deepest error is the one that names the place; the outer ones only say that something inside is wrong.
    """
    kind = Draft7Validator if draft_07 else Draft202012Validator
    checker: Json = kind(kind.META_SCHEMA)
    errors: list[ValidationError] = list(checker.iter_errors(root))
    if not errors:
        return None
    worst = max(errors, key=lambda error: len(error.absolute_path))
    return _pointer(worst), worst.message


class Judge:
    """The definitions of one document, as something to measure values against."""

    def __init__(self, definitions: Mapping[str, Schema]) -> None:
        """Judge by `definitions`, whose references are `#/$defs/NAME`."""
        self._definitions = dict(definitions)
        self._validators: dict[str, Json] = {}

    def faults(self, name: str, value: Json) -> Iterator[Fault]:
        """What keeps a value from being a `name`; nothing when it is one."""
        if name not in self._validators:
            schema = {"$ref": f"#/$defs/{escape(name)}", "$defs": self._definitions}
            self._validators[name] = Draft202012Validator(schema)
        for error in self._validators[name].iter_errors(value):
            yield from map(_fault, _leaves(error))


def _pointer(error: ValidationError) -> str:
    """Where in the value an error stands."""
    return "".join(f"/{escape(str(part))}" for part in error.absolute_path)


def _leaves(error: ValidationError) -> Iterator[ValidationError]:
    """The errors behind one: itself, or those of the arm that comes nearest to the value."""
    context: list[ValidationError] = list(error.context or ())
    if error.validator not in UNIONS or not context:
        yield error
        return
    arms: dict[Json, list[ValidationError]] = {}
    for inner in context:
        arms.setdefault(inner.schema_path[0], []).append(inner)
    for inner in min(arms.values(), key=_distance):
        yield from _leaves(inner)


def _distance(errors: list[ValidationError]) -> tuple[int, int, int]:
    """How far a value is from an arm: a wrong tag is far, a wrong type of the whole value farther, depth is near."""
    depths = [len(error.path) for error in errors]
    tags = sum(error.validator in ("const", "enum") and len(error.path) == 1 for error in errors)
    whole = sum(error.validator == "type" and not error.path for error in errors)
    return (2 * whole + tags, sum(error.validator == "required" for error in errors), -max(depths))


def _fault(error: ValidationError) -> Fault:
    keyword, place = str(error.validator), _pointer(error)
    wanted: Json = error.validator_value
    if keyword == "required":
        missing = next(name for name in wanted if error.message.startswith(repr(name)))
        return Fault(f"{place}/{escape(missing)}", ABSENT, "a required member")
    return Fault(place, error.instance, _expected(keyword, wanted))


def _expected(keyword: str, wanted: Json) -> str:
    if keyword == "type":
        return " or ".join([wanted] if isinstance(wanted, str) else wanted)
    if keyword in ("const", "enum"):
        return " or ".join(json.dumps(value) for value in ([wanted] if keyword == "const" else wanted))
    return f"{keyword} {json.dumps(wanted)}"
