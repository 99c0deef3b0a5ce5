"""What the types of a revision do: build with tags, read without coercion, write back what came in."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest
from emitted import ROOT, top_level_names
from mcprotocol import v2025_11_25, v2026_07_28
from mcprotocol.v2025_11_25 import types as older
from mcprotocol.v2026_07_28 import types
from mcprotocol.wire import WireModel
from pydantic import TypeAdapter, ValidationError

MODULES = sorted(ROOT.glob("generated/mcprotocol/v*/types.py"))


def written(value: WireModel) -> Any:
    return json.loads(value.model_dump_json())


def nested(depth: int) -> Any:
    value: Any = None
    for _ in range(depth):
        value = [value]
    return value


def test_tags_are_filled_in_when_a_value_is_built() -> None:
    assert written(types.TextContent(text="hi")) == {"type": "text", "text": "hi"}
    assert types.TextContent(text="hi").type == "text"


@pytest.mark.parametrize(
    "message", [{"text": "hi"}, {"type": "image", "text": "hi"}, {"type": None, "text": "hi"}]
)
def test_tags_are_demanded_when_a_value_is_read(message: dict[str, Any]) -> None:
    with pytest.raises(ValidationError) as caught:
        types.TextContent.model_validate(message)
    assert [error["loc"] for error in caught.value.errors()] == [("type",)]


def test_tags_are_demanded_of_what_is_nested_too() -> None:
    prompt = {"role": "user", "content": {"text": "hi"}}
    with pytest.raises(ValidationError):
        types.PromptMessage.model_validate(prompt)
    assert (
        types.PromptMessage.model_validate({**prompt, "content": {"type": "text", "text": "hi"}}).role
        == "user"
    )


def test_members_go_by_both_names_and_are_written_under_the_one_of_the_wire() -> None:
    by_python = types.ImageContent(data="AA==", mime_type="image/png")
    by_wire = types.ImageContent.model_validate({"type": "image", "data": "AA==", "mimeType": "image/png"})
    assert by_python == by_wire
    assert written(by_python) == {"type": "image", "data": "AA==", "mimeType": "image/png"}


@pytest.mark.parametrize(
    "message",
    [
        {"type": "text", "text": "hi", "x-new": {"a": [1, None]}},
        {"type": "text", "text": "hi", "annotations": {"priority": 1, "later": True}},
        {"type": "text", "text": "hi", "_meta": {"com.example/a": 0.5}},
    ],
)
def test_unknown_members_are_kept_and_written_back(message: dict[str, Any]) -> None:
    assert written(types.TextContent.model_validate(message)) == message


def test_what_is_absent_stays_absent() -> None:
    message = {"type": "text", "text": "hi"}
    read = types.TextContent.model_validate(message)
    assert read.annotations is None
    assert written(read) == message
    assert read.model_dump() == message
    assert written(types.TextContent(text="hi", annotations=None)) == message


def test_a_null_that_the_schema_admits_is_told_from_absence() -> None:
    message: dict[str, Any] = {"content": [], "resultType": "complete"}
    with_null = types.CallToolResult.model_validate({**message, "structuredContent": None})
    without = types.CallToolResult.model_validate(message)
    assert with_null.structured_content is without.structured_content is None
    assert written(with_null) == {**message, "structuredContent": None}
    assert written(without) == message


PROGRESS = {"progressToken": "t", "progress": 1}


@pytest.mark.parametrize(
    "member",
    [{"progressToken": 5}, {"progressToken": "5"}, {"progress": 0}, {"progress": 0.5}, {"total": 10**20}, {"progress": -1.0}],
)  # fmt: skip
def test_a_value_keeps_its_json_type(member: dict[str, Any]) -> None:
    message = {**PROGRESS, **member}
    text = types.ProgressNotificationParams.model_validate(message).model_dump_json()
    (name,) = member
    assert repr(json.loads(text)[name]) == repr(member[name])


@pytest.mark.parametrize(
    "member",
    [
        {"progressToken": True},
        {"progressToken": None},
        {"progressToken": 1.5},
        {"progress": "1"},
        {"progress": True},
        {"progress": None},
        {"message": 5},
        {"total": [1]},
    ],
)
def test_nothing_is_coerced(member: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        types.ProgressNotificationParams.model_validate({**PROGRESS, **member})


@pytest.mark.parametrize(
    "uri", ["https://example.com", "file:///C:/A%20b/ü", "urn:isbn:0451450523", "config:app/x"]
)
def test_a_uri_is_carried_as_it_is(uri: str) -> None:
    read = types.TextResourceContents.model_validate({"uri": uri, "text": ""})
    assert written(read) == {"uri": uri, "text": ""}


@pytest.mark.parametrize(
    "value", [{"ratio": 0.5, "none": None, "deep": [1, {"x": None}]}, nested(2), nested(50)]
)
def test_any_json_is_a_json_value(value: Any) -> None:
    adapter: TypeAdapter[Any] = TypeAdapter(types.JSONValue)
    assert adapter.validate_python(value) == value
    assert adapter.validate_json(json.dumps(value)) == value


def test_what_is_nested_too_deeply_is_an_error_like_any_other() -> None:
    adapter: TypeAdapter[Any] = TypeAdapter(types.JSONValue)
    with pytest.raises(ValidationError):
        adapter.validate_python(nested(10_000))
    with pytest.raises(ValidationError):
        adapter.validate_json("[" * 10_000 + "]" * 10_000)


def test_two_revisions_stand_side_by_side() -> None:
    assert (v2025_11_25.REVISION, v2026_07_28.REVISION) == ("2025-11-25", "2026-07-28")
    assert not isinstance(older.TextContent(text="hi"), types.TextContent)
    assert written(older.TextContent(text="hi")) == written(types.TextContent(text="hi"))
    assert hasattr(older, "InitializeRequest") and not hasattr(types, "InitializeRequest")


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.parent.name)
def test_no_name_is_numbered(module: Path) -> None:
    source = module.read_text(encoding="utf-8")
    members = {
        node.target.id
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }
    names = top_level_names(source) | members
    assert len(names) > 200
    assert {name for name in names if name[-1].isdigit()} == set()
