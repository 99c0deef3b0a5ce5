"""A value against a schema: the only room that knows jsonschema.

An invalid value is told once, at the place where it went wrong: inside a union only the arm that the value
means is reported, never every arm that it does not fit.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from jsonschema import Draft7Validator, Draft202012Validator, ValidationError

from .arms import Arms, Distance, Miss
from .facts import escape
from .ir import ABSENT, Json, Schema, is_object
from .shapes import UNIONS


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
        self._arms = Arms(definitions)
        self._validators: dict[str, Json] = {}

    def faults(self, name: str, value: Json) -> Iterator[Fault]:
        """What keeps a value from being a `name`, each place once; nothing when it is one."""
        if name not in self._validators:
            schema = {"$ref": f"#/$defs/{escape(name)}", "$defs": self._definitions}
            self._validators[name] = Draft202012Validator(schema)
        yield from once(
            fault for error in self._validators[name].iter_errors(value) for fault in self._of(error)
        )

    def distance(self, name: str, value: Schema) -> Distance:
        """How far an object is from looking like a `name`, whatever faults it has."""
        return self._arms.distance(self._definitions[name], value)

    def _of(self, error: ValidationError) -> Iterator[Fault]:
        """The faults that an error stands for: its own, or those of the arm that the value means."""
        if error.validator not in UNIONS or not error.context:
            yield _fault(error)
            return
        wanted: Json = error.validator_value
        arms: list[Schema] = wanted
        place, value = _pointer(error), error.instance
        choice = self._arms.meant(arms, value)
        if isinstance(choice, Miss):
            yield _missed(place, choice)
            return
        inside: dict[int, list[Fault]] = {i: [] for i in choice}
        for inner in error.context:
            if inner.schema_path[0] in inside:
                inside[inner.schema_path[0]] += self._of(inner)
        if is_object(value):
            yield from self._nearest(arms, inside, place, value)
        else:
            yield from min(inside.values(), key=len)

    def _nearest(
        self, arms: Sequence[Schema], inside: Mapping[int, list[Fault]], place: str, value: Schema
    ) -> Iterator[Fault]:
        """The faults of the arm that an object comes nearest to; what several lack alike is told once, of all."""
        distances = {i: self._arms.distance(arms[i], value) for i in inside}
        least = min(distances.values())
        near = [i for i in inside if distances[i] == least]
        lacking = [self._arms.lacking(arms[i], value) for i in near]
        shared = lacking[0].intersection(*lacking)
        own = [names - shared for names in lacking]
        best = min(near, key=lambda i: len(inside[i]))
        if not any(own):
            yield from inside[best]
            return
        told = {f"{place}/{escape(name)}" for name in own[near.index(best)]}
        yield from (fault for fault in inside[best] if fault.pointer not in told)
        wanted = dict.fromkeys(" and ".join(sorted(names)) for names in own)
        yield Fault(place, value, f"the members of one of its kinds: {' or '.join(wanted)}")


def once(faults: Iterable[Fault]) -> Iterator[Fault]:
    """The first fault of each place: one value can break several keywords, and be seen by several definitions."""
    seen: set[str] = set()
    for fault in faults:
        if fault.pointer not in seen:
            seen.add(fault.pointer)
            yield fault


def _pointer(error: ValidationError) -> str:
    """Where in the value an error stands."""
    return "".join(f"/{escape(str(part))}" for part in error.absolute_path)


def _missed(place: str, miss: Miss) -> Fault:
    if not miss.member:
        return Fault(place, miss.found, " or ".join(miss.expected))
    return Fault(f"{place}/{escape(miss.member)}", miss.found, _expected("enum", miss.expected))


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
