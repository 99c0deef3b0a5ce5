"""A number that JSON does not have, or that no float holds, in every place of every type: refused, never written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from corpus import Json, corpus
from mcprotocol import exact
from pydantic import ValidationError
from readings import TYPES, document

HOLE = "?hole"
LATER = "com.example/later"
DOCUMENTS = {"inputSchema", "outputSchema", "ToolInputSchema", "ToolOutputSchema"}
"""JSON Schema documents are not looked through: in them the words alone are refused."""


def places(value: Json, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place of a value where a number may stand, and in each object one under an unknown member."""
    kind = value.__class__
    if kind is dict:
        yield (*path, LATER)
    if kind is dict or kind is list:
        for step in value if kind is dict else range(len(value)):
            yield from places(value[step], (*path, step))
    else:
        yield path


def holed(value: Json, path: tuple[Any, ...]) -> Json:
    """The value with a hole at a place."""
    if not path:
        return HOLE
    step, *rest = path
    copy = value.copy()
    copy[step] = holed(None if step == LATER else value[step], tuple(rest))
    return copy


def holes(revision: str) -> dict[tuple[str, tuple[Any, ...]], str]:
    """For each definition and each place in its valid instances, one text with a hole there."""
    found: dict[tuple[str, tuple[Any, ...]], str] = {}
    facts = document(revision)
    for instance in corpus(facts.definitions, facts.python):
        value = json.loads(instance.text)
        for path in places(value):
            if (instance.definition, path) not in found and reads(
                revision, instance.definition, instance.text
            ):
                found[instance.definition, path] = json.dumps(holed(value, path))
    return found


def reads(revision: str, definition: str, text: str) -> bool:
    try:
        exact.read(getattr(TYPES[revision], definition), text)
    except ValidationError:
        return False
    return True


@pytest.mark.parametrize("revision", TYPES)
def test_no_place_holds_a_number_that_is_not_finite(revision: str) -> None:
    texts = holes(revision)
    assert len(texts) > 3_000
    for number in ("1e400", "NaN"):
        held = {
            key: text
            for key, text in texts.items()
            if reads(revision, key[0], text.replace(f'"{HOLE}"', number))
        }
        documents = {key for key in held if DOCUMENTS & {key[0], *key[1]}}
        assert held.keys() - documents == set()
        assert bool(documents) == (number == "1e400")
