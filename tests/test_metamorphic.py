"""What must not change a value, and what Python does with one: keys in any order, unknown members, absence, copies."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from corpus import Json, canonical
from mcpcodegen import pipeline
from mcpcodegen.ir import is_array, is_object
from mcprotocol import exact, v2025_11_25, v2026_07_28
from mcprotocol.v2025_11_25 import types as older
from mcprotocol.v2026_07_28 import types
from pydantic import TypeAdapter, model_validator


def back(type_: Any, value: Json, *, strict: bool = False) -> str:
    """What is written of a value that was read, canonically."""
    return canonical(exact.write(type_, exact.read(type_, json.dumps(value), strict=strict)))


TOOL_RESULT: Json = {
    "_meta": {
        "io.modelcontextprotocol/serverInfo": {"name": "s", "version": "1", "icons": [{"src": "data:,"}]}
    },
    "content": [
        {"type": "text", "text": "a", "annotations": {"audience": ["user"], "priority": 1}},
        {
            "type": "resource",
            "resource": {"uri": "file:///a", "blob": "aGk=", "mimeType": "x/y"},
            "_meta": {},
        },
        {
            "type": "resource_link",
            "name": "n",
            "uri": "urn:x",
            "size": 0,
            "icons": [{"src": "u", "theme": "dark"}],
        },
    ],
    "isError": False,
    "resultType": "complete",
    "structuredContent": {"a": [1, None]},
}
REQUESTS: Json = {
    "resultType": "input_required",
    "inputRequests": {
        "form": {
            "method": "elicitation/create",
            "params": {
                "mode": "form",
                "message": "m",
                "requestedSchema": {
                    "type": "object",
                    "properties": {
                        "a": {"type": "string", "enum": ["x"], "title": "A"},
                        "b": {"type": "number"},
                    },
                    "required": ["a"],
                },
            },
        },
        "ask": {
            "method": "sampling/createMessage",
            "params": {
                "maxTokens": 5,
                "messages": [{"role": "user", "content": {"type": "text", "text": "t"}}],
            },
        },
    },
    "requestState": "s",
}
VALUES = [(types.CallToolResult, TOOL_RESULT), (types.InputRequiredResult, REQUESTS)]
OPTIONAL = {
    "_meta",
    "annotations",
    "icons",
    "isError",
    "requestState",
    "required",
    "title",
    "mode",
    "size",
    "theme",
}


NAMED = {"inputRequests", "properties"}
"""Members that hold others by name: what is added to them is not unknown but one more."""


def objects(value: Json) -> Iterator[dict[str, Json]]:
    """Every object in a value, itself included, whose members have names of the protocol."""
    if is_object(value):
        yield value
        for name, inner in value.items():
            yield from (found for found in objects(inner) if not (name in NAMED and found is inner))
    elif is_array(value):
        yield from (found for item in value for found in objects(item))


def changed(value: Json, change: Callable[[dict[str, Json]], object]) -> Iterator[Json]:
    """The value once for each of its objects, with that one changed."""
    for index in range(len(list(objects(value)))):
        copied = copy.deepcopy(value)
        change(list(objects(copied))[index])
        yield copied


def reverse(value: dict[str, Json]) -> None:
    items = list(reversed(value.items()))
    value.clear()
    value.update(items)


@pytest.mark.parametrize(("type_", "value"), VALUES)
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(("name", "member"), [("com.example/x", {"a": None}), ("future", [1.0])])
def test_an_unknown_member_anywhere_survives(
    type_: Any, value: Json, strict: bool, name: str, member: Json
) -> None:
    others = list(changed(value, lambda found: found.setdefault(name, member)))
    assert len(others) >= 10
    assert [back(type_, other, strict=strict) for other in others] == [
        canonical(json.dumps(o)) for o in others
    ]


@pytest.mark.parametrize(("type_", "value"), VALUES)
def test_the_order_of_keys_changes_nothing(type_: Any, value: Json) -> None:
    same = exact.read(type_, json.dumps(value))
    for other in changed(value, reverse):
        assert exact.read(type_, json.dumps(other)) == same
        assert back(type_, other) == canonical(json.dumps(value))


@pytest.mark.parametrize(("type_", "value"), VALUES)
def test_an_absent_optional_is_absent_when_written(type_: Any, value: Json) -> None:
    dropped = 0
    for name in sorted(OPTIONAL):
        for other in changed(value, lambda found: found.pop(name, None)):
            dropped += other != value
            assert back(type_, other) == canonical(json.dumps(other))
    assert dropped >= 4


# Python's own ways with values.


DUPLICATES: Mapping[str, Callable[[Any], Any]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda value: pickle.loads(pickle.dumps(value)),
    "model_copy": lambda value: value.model_copy(),
    "model_copy, deep": lambda value: value.model_copy(deep=True),
    "dump and read": lambda value: types.CallToolResult.model_validate(value.model_dump()),
    "dump and build": lambda value: types.CallToolResult(**value.model_dump()),
}


@pytest.mark.parametrize("duplicate", DUPLICATES.values(), ids=DUPLICATES)
def test_a_duplicate_is_equal_and_writes_the_same(duplicate: Callable[[Any], Any]) -> None:
    value = types.CallToolResult.model_validate(
        {**TOOL_RESULT, "structuredContent": None, "content": [{"type": "hologram", "x": 1}]}
    )
    other = duplicate(value)
    assert other is not value
    assert other == value
    assert other.model_dump_json() == value.model_dump_json()


# Unknown members that are spelled like the Python name of a known one.


NAMESAKES: Json = {
    "content": [],
    "resultType": "complete",
    "structured_content": 1,
    "is_error": "x",
    "result_type": None,
    "meta": [],
}


def test_an_unknown_member_with_a_python_name_sets_nothing() -> None:
    value = types.CallToolResult.model_validate_json(json.dumps(NAMESAKES))
    assert (value.structured_content, value.is_error, value.meta) == (None, None, None)
    assert "structured_content" not in value.model_fields_set
    assert canonical(json.dumps(value.model_dump())) == canonical(json.dumps(NAMESAKES))
    assert canonical(value.model_dump_json()) == canonical(json.dumps(NAMESAKES))
    assert canonical(copy.deepcopy(value).model_dump_json()) == canonical(json.dumps(NAMESAKES))


def test_setting_a_member_leaves_unknown_ones_with_python_names_alone() -> None:
    value = types.CallToolResult.model_validate(NAMESAKES)
    value.is_error = True
    value.structured_content = None
    assert canonical(value.model_dump_json()) == canonical(
        json.dumps({**NAMESAKES, "isError": True, "structuredContent": None})
    )


def test_a_member_that_refuses_a_value_leaves_unknown_ones_with_python_names_alone() -> None:
    value = types.CallToolResult.model_validate(NAMESAKES)
    with pytest.raises(ValueError, match="is_error"):
        setattr(value, "is_error", 5)
    assert canonical(value.model_dump_json()) == canonical(json.dumps(NAMESAKES))


def test_building_by_a_python_name_sets_the_member() -> None:
    built = types.CallToolResult(content=[], structured_content=1)
    assert built.model_dump() == {"content": [], "resultType": "complete", "structuredContent": 1}


def test_a_subclass_with_a_check_of_its_own_tells_namesakes_apart_too() -> None:
    class Checked(types.CallToolResult):
        @model_validator(mode="after")
        def check(self) -> Checked:
            return self

    written = Checked.model_validate(NAMESAKES).model_dump_json()
    assert canonical(written) == canonical(json.dumps(NAMESAKES))


def test_values_that_can_change_have_no_hash() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        hash(types.TextContent(text="x"))


@pytest.mark.parametrize(
    ("revision", "module"), [(v2025_11_25.REVISION, older), (v2026_07_28.REVISION, types)]
)
def test_every_type_can_describe_itself(revision: str, module: Any) -> None:
    names = pipeline.read(revision=revision).definitions
    described = {name: TypeAdapter(getattr(module, name)).json_schema() for name in names}
    assert all(isinstance(schema, dict) for schema in described.values())
    assert described["Icon"]["required"] == ["src"]
