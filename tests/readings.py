"""Every instance of the corpus, judged by jsonschema and read by the types: the figures of the tests beside it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any, TypeAlias

from corpus import Definitions, Instance, Json, canonical, corpus, oracle
from forgiven import StrictIntegers
from mcpcodegen import pipeline
from mcpcodegen.correct import correct
from mcpcodegen.ir import Document, is_array, is_object
from mcpcodegen.revisions import corrections
from mcprotocol import exact, v2025_11_25, v2026_07_28
from mcprotocol.v2025_11_25 import types as types_2025
from mcprotocol.v2026_07_28 import types as types_2026
from pydantic import ValidationError

TYPES: Mapping[str, ModuleType] = {v2025_11_25.REVISION: types_2025, v2026_07_28.REVISION: types_2026}
Judge: TypeAlias = Callable[[str, Json], bool]


@dataclass(frozen=True)
class Reading:
    """One instance, what jsonschema says of it, and what became of it.

    `valid` is the verdict of the facts, `integral` the same with integers that are written as such. A text is
    what was written back; None is a refusal. `equal` says that both readings gave equal values.
    """

    instance: Instance
    value: Json
    valid: bool
    integral: bool
    strict: str | None
    default: str | None
    python: str | None
    equal: bool


@cache
def document(revision: str) -> Document:
    return pipeline.read(revision=revision)


@cache
def published(revision: str) -> Definitions:
    """The corrected facts as the file has them, before anything was named."""
    rows = [row for row in corrections() if revision in row.revisions]
    return correct(pipeline.load_pinned(revision), rows).definitions


@cache
def readings(revision: str) -> Sequence[Reading]:
    """Every instance of a revision, judged and read."""
    named = document(revision).definitions
    judges = oracle({**named, **published(revision)}), oracle(named, StrictIntegers)
    return [
        _read(getattr(TYPES[revision], instance.definition), instance, *judges)
        for instance in corpus(named, document(revision).python)
    ]


def _read(type_: Any, instance: Instance, judge: Judge, integral: Judge) -> Reading:
    value = json.loads(instance.text)
    valid = judge(instance.definition, value)
    strict, default, python = (
        attempt(how, type_, instance.text, value) for how in (strictly, _openly, _data)
    )
    return Reading(
        instance=instance,
        value=value,
        valid=valid,
        integral=integral(instance.definition, value) if ".0" in instance.text else valid,
        strict=_written(type_, strict),
        default=_written(type_, default),
        python=_written(type_, python),
        equal=strict == default,
    )


def _written(type_: Any, read: tuple[Any] | None) -> str | None:
    return None if read is None else exact.write(type_, read[0]).decode()


def attempt(how: Callable[[Any, str, Json], Any], type_: Any, text: str, value: Json) -> tuple[Any] | None:
    try:
        return (how(type_, text, value),)
    except ValidationError:
        return None


def strictly(type_: Any, text: str, _: Json) -> Any:
    return exact.read(type_, text, strict=True)


def _openly(type_: Any, text: str, _: Json) -> Any:
    return exact.read(type_, text)


def _data(type_: Any, _: str, value: Json) -> Any:
    return exact.read_value(type_, value)


Difference: TypeAlias = tuple[str, str, Json, Json]
"""What happened to a member (`omitted`, `added`, `changed`), its name, and the object as read and as written."""


def same(reading: Reading, text: str) -> bool:
    return canonical(reading.instance.text) == canonical(text)


def differences(read: Json, written: Json) -> Iterator[Difference]:
    """Where two values differ: members of objects, at any depth."""
    if is_object(read) and is_object(written):
        yield from (("omitted", name, read, written) for name in read if name not in written)
        yield from (("added", name, read, written) for name in written if name not in read)
        for name in read.keys() & written.keys():
            yield from differences(read[name], written[name])
    elif is_array(read) and is_array(written) and len(read) == len(written):
        for before, after in zip(read, written, strict=True):
            yield from differences(before, after)
    elif json.dumps(read) != json.dumps(written):
        yield "changed", "", read, written
