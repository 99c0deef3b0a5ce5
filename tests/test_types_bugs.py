# Deprecated types are still part of the revision:
# pyright: reportDeprecated=false
"""What users reported of types like ours, each as the exact right values."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, cast

import pytest
from corpus import Json, canonical, oracle
from mcpcodegen import pipeline
from mcpcodegen.revisions import corrections
from mcprotocol import exact
from mcprotocol.v2025_11_25 import types as older
from mcprotocol.v2026_07_28 import messages, types
from mcprotocol.wire import WireModel
from pydantic import TypeAdapter, ValidationError, create_model
from pydantic_core import PydanticSerializationError

META: Mapping[str, Json] = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
HINTS: Mapping[str, Json] = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}


def back(type_: Any, value: Json, *, strict: bool = False) -> str:
    """What is written of a value that was read, canonically."""
    return canonical(exact.write(type_, exact.read(type_, json.dumps(value), strict=strict)))


def faults(type_: Any, value: Json) -> list[tuple[tuple[int | str, ...], str]]:
    """The places and kinds of the faults of a value."""
    with pytest.raises(ValidationError) as error:
        exact.read(type_, json.dumps(value))
    return [(fault["loc"], fault["type"]) for fault in error.value.errors()]


# B01: the published schema is narrower than its own source.


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(
    "value", [{"ratio": 0.5, "none": None, "deep": [1, {"x": None}]}, {}, {"big": 10**30}]
)
def test_any_json_object_is_a_json_object(value: Json, strict: bool) -> None:
    assert back(types.JSONObject, value, strict=strict) == canonical(json.dumps(value))
    capabilities = {"experimental": {"com.example/x": value}}
    assert back(types.ClientCapabilities, capabilities, strict=strict) == canonical(json.dumps(capabilities))


@pytest.mark.parametrize("module", [older, types])
def test_the_answer_of_a_form_may_be_a_fraction(module: Any) -> None:
    answer = {"action": "accept", "content": {"a": 1.5, "b": 1, "c": True, "d": "1", "e": ["x"]}}
    assert back(module.ElicitResult, answer, strict=True) == canonical(json.dumps(answer))


def test_each_widening_is_a_row_with_its_reason_that_is_asserted_against_the_file() -> None:
    rows = [row for row in corrections() if "2026-07-28" in row.revisions]
    assert {row.pointer.split("/")[2] for row in rows} == {"JSONValue", "ElicitResult", "InputRequiredResult"}
    assert all(row.reason and row.evidence and row.was != row.now for row in rows)


# B03: the first match swallows another result type.

QUESTIONS: Json = {"resultType": "input_required", "requestState": "s", "_meta": {"com.example/a": 1}}
CONTENTS: Json = {"resultType": "complete", "contents": [{"uri": "file:///a", "text": "t"}]}


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(
    "union",
    [types.CallToolResultResponseResult, types.GetPromptResultResponseResult, types.ServerResult],
    ids=lambda union: union.__name__,
)
def test_result_type_decides_that_input_is_required(union: Any, strict: bool, backwards: bool) -> None:
    members = list(QUESTIONS.items())
    read = exact.read(union, json.dumps(dict(members[::-1] if backwards else members)), strict=strict)
    assert type(read) is types.InputRequiredResult
    assert canonical(exact.write(union, read)) == canonical(json.dumps(QUESTIONS))


@pytest.mark.parametrize("payload", [{"content": []}, {"contents": []}, {"messages": []}])
def test_result_type_decides_even_beside_the_members_of_a_complete_result(payload: Json) -> None:
    value = json.dumps({**payload, **QUESTIONS})
    for union in (
        types.CallToolResultResponseResult,
        types.ReadResourceResultResponseResult,
        types.ServerResult,
    ):
        assert type(exact.read(union, value)) is types.InputRequiredResult


@pytest.mark.parametrize("value", [CONTENTS, {**CONTENTS, **HINTS}, {"contents": CONTENTS["contents"]}])
@pytest.mark.parametrize("union", [types.ReadResourceResultResponseResult, types.ServerResult])
def test_a_complete_result_keeps_its_contents_also_without_result_type(union: Any, value: Json) -> None:
    read = exact.read(union, json.dumps(value))
    assert type(read) is types.ReadResourceResult
    assert isinstance(read.contents[0], types.TextResourceContents)
    assert (read.result_type, read.ttl_ms, read.cache_scope) == ("complete", 0, "private")
    assert canonical(exact.write(union, read)) == canonical(json.dumps(value))


def test_an_empty_result_is_a_complete_one_that_lacks_its_content() -> None:
    assert faults(types.CallToolResultResponseResult, {}) == [(("content",), "missing")]


# B05: messages are told apart, ids keep their type.


@pytest.mark.parametrize("identity", ['"1"', '"007"', "0", "-1", "9007199254740993", '""', str(10**30)])
@pytest.mark.parametrize("union", [types.JSONRPCMessage, types.ClientRequest])
def test_an_id_keeps_its_type_and_its_digits(union: Any, identity: str) -> None:
    text = (
        f'{{"jsonrpc":"2.0","id":{identity},"method":"tools/list","params":{{"_meta":{json.dumps(META)}}}}}'
    )
    for strict in (False, True):
        written = exact.write(union, exact.read(union, text, strict=strict))
        assert canonical(written) == canonical(text)
        assert f'"id":{identity}'.encode() in written


@pytest.mark.parametrize("identity", [None, 1.5, 1.0, True, [], {}])
@pytest.mark.parametrize("union", [types.JSONRPCMessage, types.ClientRequest, older.JSONRPCMessage])
def test_a_message_with_an_unusable_id_is_a_bad_request_and_no_notification(
    union: Any, identity: Json
) -> None:
    message = {"jsonrpc": "2.0", "id": identity, "method": "tools/list", "params": {"_meta": META}}
    assert [place for place, _ in faults(union, message)] == [("id",)]


@pytest.mark.parametrize("identity", ["true", "1.0", "1.5", "null", "[]"])
@pytest.mark.parametrize("alias", [types.RequestId, types.ProgressToken])
def test_an_id_is_not_coerced_wherever_its_alias_is_used(alias: Any, identity: str) -> None:
    foreign = create_model("Foreign", id=alias)
    with pytest.raises(ValidationError):
        exact.read(alias, identity)
    with pytest.raises(ValidationError):
        TypeAdapter(alias).validate_json(identity)
    with pytest.raises(ValidationError):
        foreign.model_validate_json(f'{{"id":{identity}}}')


@pytest.mark.parametrize(
    ("message", "class_"),
    [
        ({"id": 1, "method": "x"}, types.JSONRPCRequest),
        ({"method": "x"}, types.JSONRPCNotification),
        ({"id": "a", "result": {"resultType": "complete"}}, types.JSONRPCResultResponse),
        ({"id": "a", "error": {"code": -1, "message": "m"}}, types.JSONRPCErrorResponse),
        ({"error": {"code": -1, "message": "m"}}, types.JSONRPCErrorResponse),
        ({"id": None, "error": {"code": -1, "message": "m"}}, types.JSONRPCErrorResponse),
    ],
)
def test_a_message_is_what_its_members_say_in_any_order(message: Json, class_: type) -> None:
    for value in ({"jsonrpc": "2.0", **message}, {**message, "jsonrpc": "2.0"}):
        assert type(exact.read(types.JSONRPCMessage, json.dumps(value))) is class_


# B06: unknown members are kept.


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        (types.RequestMetaObject, {**META, "com.example/trace": "x", "traceparent": "00-1", "x": None}),
        (types.Implementation, {"name": "n", "version": "1", "future": 1}),
        (types.Result, {"resultType": "complete", "skills": [1]}),
        (types.MetaObject, {"com.example/a": {"b": [None, 0.5]}}),
        (
            types.Tool,
            {"name": "t", "inputSchema": {"type": "object", "$defs": {"A": {}}, "x-mcp-header": "H"}},
        ),
        (
            types.Tool,
            {"name": "t", "inputSchema": {"type": "object"}, "outputSchema": {"type": "array", "x": 1}},
        ),
        (older.GetTaskPayloadResult, {"content": [], "anything": None}),
        (types.ClientCapabilities, {"later": {"x": 1}}),
    ],
)
@pytest.mark.parametrize("strict", [False, True])
def test_unknown_members_are_kept(type_: Any, value: Json, strict: bool) -> None:
    assert back(type_, value, strict=strict) == canonical(json.dumps(value))


def test_reserved_keys_have_attributes_and_vendor_keys_are_in_model_extra() -> None:
    meta = types.RequestMetaObject.model_validate(
        {**META, "progressToken": 0, "io.modelcontextprotocol/logLevel": "trace", "com.example/trace": "x"}
    )
    assert (meta.protocol_version, meta.progress_token, meta.log_level) == ("2026-07-28", 0, "trace")
    assert isinstance(meta.client_capabilities, types.ClientCapabilities)
    assert meta.client_info is None
    assert meta.model_extra == {"com.example/trace": "x"}


# B07 is `test_published_examples`, and the minimal and maximal instances of `test_corpus`.

# B08: tags and narrowed members.


@pytest.mark.parametrize("code", [-32603, -32020.0, "-32020", True, None])
def test_a_narrowed_error_code_takes_its_own_value_only(code: Json) -> None:
    good = {"jsonrpc": "2.0", "error": {"code": -32020, "message": "m"}}
    assert back(types.HeaderMismatchError, good) == canonical(json.dumps(good))
    bad = {"jsonrpc": "2.0", "error": {"code": code, "message": "m"}}
    assert [place for place, _ in faults(types.HeaderMismatchError, bad)] == [("error", "code")]


def test_a_tag_is_filled_in_and_always_written_and_demanded_when_read() -> None:
    block = types.TextContent(text="x")
    full = {"type": "text", "text": "x"}
    assert block.model_dump() == full
    assert block.model_dump(exclude_unset=True, exclude_defaults=False) == full
    assert json.loads(block.model_dump_json(exclude_unset=True)) == full
    assert json.loads(block.model_copy(update={"text": "x"}).model_dump_json()) == full
    assert faults(types.TextContent, {"text": "x"}) == [(("type",), "missing")]


# B10: recursion.


def nested(depth: int, *, arrays: bool = False) -> Json:
    value: Json = {"leaf": [None, 0.5]}
    for _ in range(depth):
        value = [value] if arrays else {"x": value}
    return value


@pytest.mark.parametrize("arrays", [False, True])
@pytest.mark.parametrize("depth", [2, 50])
def test_data_nested_deep_is_read_and_written(depth: int, arrays: bool) -> None:
    value = nested(depth, arrays=arrays)
    assert back(types.JSONValue, value) == canonical(json.dumps(value))
    assert back(types.JSONObject, {"x": value}) == canonical(json.dumps({"x": value}))
    result: Json = {**HINTS, "content": [], "structuredContent": value}
    assert back(types.CallToolResult, result) == canonical(json.dumps(result))


SCHEMA_WITH_ITSELF = {
    "type": "object",
    "$defs": {"Node": {"properties": {"kids": {"type": "array", "items": {"$ref": "#/$defs/Node"}}}}},
    "$ref": "#/$defs/Node",
}


def test_a_schema_that_holds_itself_is_carried_as_it_is() -> None:
    tool = {"name": "t", "inputSchema": {"type": "object"}, "outputSchema": SCHEMA_WITH_ITSELF}
    assert back(types.Tool, tool) == canonical(json.dumps(tool))


TOO_DEEP = 10_000
DEEP_TEXT = "[" * TOO_DEEP + "]" * TOO_DEEP


@pytest.mark.parametrize(
    ("type_", "text"),
    [
        (types.JSONValue, DEEP_TEXT),
        (types.JSONObject, f'{{"x":{DEEP_TEXT}}}'),
        (types.CallToolResult, f'{{"resultType":"complete","content":[],"structuredContent":{DEEP_TEXT}}}'),
        (types.ContentBlock, '{"type":"text","text":"x","_meta":' * TOO_DEEP + "{}" + "}" * TOO_DEEP),
    ],
)
@pytest.mark.parametrize("strict", [False, True])
def test_json_text_nested_too_deep_is_one_error(type_: Any, text: str, strict: bool) -> None:
    with pytest.raises(ValidationError) as error:
        exact.read(type_, text, strict=strict)
    assert [(fault["loc"], fault["type"]) for fault in error.value.errors()] == [((), "json_invalid")]


@pytest.mark.parametrize("type_", [types.JSONValue, types.JSONObject])
def test_data_nested_too_deep_is_one_error(type_: Any) -> None:
    with pytest.raises(ValidationError) as error:
        exact.read_value(type_, nested(TOO_DEEP))
    (fault,) = error.value.errors()
    assert "depth" in fault["msg"]


def test_data_nested_too_deep_where_anything_may_stand_is_one_error_when_it_is_written() -> None:
    result = types.CallToolResult(content=[], structured_content=nested(TOO_DEEP))
    for write in (result.model_dump_json, result.wire_bytes):
        with pytest.raises(PydanticSerializationError):
            write()


# B11: URIs and base64 are text.


@pytest.mark.parametrize(
    "uri",
    [
        "https://example.com",
        "file:///C:/A%20b/ü",
        "urn:isbn:0451450523",
        "config:app/x",
        "users://{id}",
        "HTTP://EX.com:80/../a",
        "",
        "not a uri",
    ],
)
def test_a_uri_is_carried_untouched(uri: str) -> None:
    for type_, value in (
        (types.ReadResourceRequestParams, {"_meta": META, "uri": uri}),
        (types.ResourceLink, {"type": "resource_link", "name": "n", "uri": uri}),
        (types.Icon, {"src": uri}),
        (types.ResourceTemplate, {"name": "n", "uriTemplate": uri}),
    ):
        assert back(type_, value, strict=True) == canonical(json.dumps(value))


@pytest.mark.parametrize("data", ["aGk=", "aGk", "_-8", " a G k = ", "", "***"])
def test_base64_is_carried_untouched(data: str) -> None:
    for value in ({"type": "image", "data": data, "mimeType": "image/png"}, {"uri": "u", "blob": data}):
        type_ = types.ImageContent if "type" in value else types.BlobResourceContents
        assert back(type_, value, strict=True) == canonical(json.dumps(value))


# B14: names on the wire and in Python.


def test_each_member_is_set_by_either_name_and_written_under_its_wire_name() -> None:
    info = types.Implementation(name="n", version="1")
    by_python = types.RequestMetaObject(
        protocol_version="v", client_capabilities=types.ClientCapabilities(), client_info=info
    )
    by_wire = types.RequestMetaObject.model_validate(json.loads(by_python.model_dump_json()))
    assert by_python == by_wire
    assert by_wire.client_info == info
    assert json.loads(by_python.model_dump_json())["io.modelcontextprotocol/clientInfo"] == {
        "name": "n",
        "version": "1",
    }
    built = cast(Any, types.ElicitRequestFormParamsRequestedSchema)
    assert json.loads(built(schema_="s", properties={}).model_dump_json()) == {
        "$schema": "s",
        "properties": {},
        "type": "object",
    }
    assert built(**{"$schema": "s"}, properties={}) == built(schema_="s", properties={})


def test_an_argument_of_any_name_reaches_the_wire() -> None:
    params = types.CallToolRequestParams.model_validate(
        {"_meta": META, "name": "t", "arguments": {"_input": 1, "$x": 2}}
    )
    assert params.arguments == {"_input": 1, "$x": 2}
    assert json.loads(params.model_dump_json())["arguments"] == {"_input": 1, "$x": 2}


@pytest.mark.parametrize(
    ("build", "keywords", "named", "meant"),
    [
        (types.TextContent, {"txt": "x"}, "txt", "text"),
        (types.CallToolResult, {"content": [], "is_eror": True}, "is_eror", "is_error"),
        (types.CallToolResult, {"content": [], "isErorr": True}, "isErorr", "is_error"),
        (types.CallToolResult, {"content": [], "_Meta": {}}, "_Meta", "meta"),
        (types.Result, {"zzzzzz": 1}, "zzzzzz", ""),
    ],
)
def test_a_misspelt_keyword_is_an_error_that_names_it(
    build: Any, keywords: Json, named: str, meant: str
) -> None:
    with pytest.raises(ValidationError) as error:
        build(**keywords)
    (fault,) = error.value.errors()
    assert fault["loc"] == (named,)
    assert fault["msg"].endswith(f"did you mean {meant}?" if meant else "has no such member")


def test_a_member_that_is_named_twice_is_an_error() -> None:
    build = cast(Any, types.CallToolResult)
    with pytest.raises(ValidationError) as error:
        build(content=[], isError=True, is_error=False)
    assert {fault["loc"] for fault in error.value.errors()} == {("isError",), ("is_error",)}


def test_vendor_members_are_added_when_building() -> None:
    build = cast(Any, types.RequestMetaObject)
    meta = build(protocol_version="v", client_capabilities={}, **{"com.example/trace": "x"})
    assert meta.model_extra == {"com.example/trace": "x"}
    traced = meta.model_copy(update={"traceparent": "00-1"})
    assert json.loads(traced.model_dump_json())["traceparent"] == "00-1"
    assert types.Result.model_validate({"resultType": "complete", "skills": [1]}).model_extra == {
        "skills": [1]
    }


def test_what_is_read_goes_by_wire_names_alone() -> None:
    value = {"type": "image", "data": "", "mimeType": "image/png", "mime_type": 5, "meta": None}
    image = types.ImageContent.model_validate(value)
    assert (image.mime_type, image.model_extra) == ("image/png", {"mime_type": 5, "meta": None})
    assert back(types.ImageContent, value) == canonical(json.dumps(value))
    assert faults(types.ImageContent, {"type": "image", "data": "", "mime_type": "image/png"}) == [
        (("mimeType",), "missing")
    ]


@pytest.mark.parametrize(
    ("name", "value"), [("text", 5), ("type", "image"), ("annotations", {"priority": 2})]
)
def test_what_is_assigned_must_fit(name: str, value: Json) -> None:
    block = types.TextContent(text="x")
    with pytest.raises(ValidationError):
        setattr(block, name, value)
    assert block == types.TextContent(text="x")


def test_what_is_assigned_is_written_and_a_misspelt_attribute_is_an_error() -> None:
    result = types.CallToolResult(content=[])
    result.is_error = True
    assert json.loads(result.model_dump_json()) == {"content": [], "resultType": "complete", "isError": True}
    result.is_error = None
    result.structured_content = None
    assert json.loads(result.model_dump_json()) == {
        "content": [],
        "resultType": "complete",
        "structuredContent": None,
    }
    with pytest.raises(AttributeError, match="is_error"):
        setattr(result, "is_eror", True)


# B22: absence and null.


@pytest.mark.parametrize(
    ("built", "expected"),
    [
        (types.PaginatedResult(next_cursor=None), {"resultType": "complete"}),
        (types.ListToolsResult(tools=[], next_cursor=None, meta=None), {**HINTS, "tools": []}),
        (types.Annotations(priority=None), {}),
        (types.Error(code=1, message="m"), {"code": 1, "message": "m"}),
        (types.Error(code=1, message="m", data=None), {"code": 1, "message": "m", "data": None}),
        (
            types.CallToolResult(content=[], structured_content=None),
            {"content": [], "resultType": "complete", "structuredContent": None},
        ),
    ],
)
def test_what_is_not_set_is_not_written_and_null_is_where_it_may_be(built: WireModel, expected: Json) -> None:
    assert canonical(built.model_dump_json()) == canonical(json.dumps(expected))
    assert canonical(built.wire_bytes()) == canonical(json.dumps(expected))
    assert built.model_dump() == expected
    assert oracle(pipeline.read(revision="2026-07-28").definitions)(type(built).__name__, expected)


def test_nulls_in_open_dictionaries_are_kept() -> None:
    for type_, value in (
        (types.CallToolRequestParams, {"_meta": {**META, "x": None}, "name": "t", "arguments": {"a": None}}),
        (types.ToolUseContent, {"type": "tool_use", "id": "1", "name": "n", "input": {"a": None}}),
        (types.Tool, {"name": "t", "inputSchema": {"type": "object", "default": None}}),
        (types.LoggingMessageNotificationParams, {"level": "info", "data": None}),
        (types.JSONRPCRequest, {"jsonrpc": "2.0", "id": 1, "method": "m", "params": {"a": None}}),
    ):
        assert back(type_, value, strict=True) == canonical(json.dumps(value))


def test_a_required_member_may_be_null_where_the_schema_says_so() -> None:
    task = {"taskId": "t", "status": "working", "createdAt": "a", "lastUpdatedAt": "b", "ttl": None}
    assert back(older.Task, task, strict=True) == canonical(json.dumps(task))
    del task["ttl"]
    assert faults(older.Task, task) == [(("ttl",), "missing")]


def test_an_optional_member_may_be_null_where_the_schema_says_so(generated_from: Callable[..., Any]) -> None:
    text = {"type": "string"}
    module = generated_from({
        "Alias": {"anyOf": [text, {"type": "null"}]},
        "Held": {
            "type": "object",
            "properties": {
                "either": {"type": ["string", "null"]},
                "named": {"$ref": "#/$defs/Alias"},
                "never": text,
            },
        },
    }).types  # fmt: skip
    held = module.Held.model_validate({"either": None, "named": None, "never": None})
    assert json.loads(held.model_dump_json()) == {"either": None, "named": None}
    assert json.loads(module.Held(never=None, either=None).model_dump_json()) == {"either": None}
    assert json.loads(module.Held().model_dump_json()) == {}


# Numbers.


@pytest.mark.parametrize("number", ["1", "1.0", "0.5", "-0.0", "1e3", "1e-7", "1180591620717411303424", "0"])
def test_a_number_stays_as_it_was_written(number: str) -> None:
    text = f'{{"progressToken":"t","progress":{number}}}'
    progress = types.ProgressNotificationParams.model_validate_json(text)
    assert canonical(progress.model_dump_json()) == canonical(text)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_no_number_is_infinite_or_none(number: str) -> None:
    text = f'{{"progressToken":"t","progress":{number}}}'
    with pytest.raises(ValidationError):
        types.ProgressNotificationParams.model_validate_json(text)


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_a_constant_that_json_does_not_have_is_refused_where_anything_may_stand(constant: str) -> None:
    text = f'{{"resultType":"complete","content":[],"structuredContent":[{constant}]}}'
    for data in (text, text.encode()):
        with pytest.raises(ValidationError) as error:
            types.CallToolResult.model_validate_json(data)
        faults = [(fault["loc"], fault["type"]) for fault in error.value.errors()]
        assert faults == [(("structuredContent", 0), "finite_number")]
    quoted = text.replace(constant, f'"{constant}"')
    assert types.CallToolResult.model_validate_json(quoted).structured_content == [constant]


@pytest.mark.parametrize("number", ["1e400", "-1e999", "1" * 400 + ".5"])
@pytest.mark.parametrize(
    ("member", "place"),
    [
        ('"structuredContent":{}', ("structuredContent",)),
        ('"structuredContent":{{"a":[1,{}]}}', ("structuredContent", "a", 1)),
        ('"later":[{{"a":{}}}]', ("later", 0, "a")),
        ('"_meta":{{"com.example/a":{}}}', ("_meta", "com.example/a")),
        ('"content":[{{"type":"text","text":"","later":{}}}]', ("content", 0, "later")),
    ],
)
@pytest.mark.parametrize("strict", [False, True])
def test_a_number_that_no_float_holds_is_refused_where_anything_may_stand(
    number: str, member: str, place: tuple[Any, ...], strict: bool
) -> None:
    text = f'{{"content":[],"resultType":"complete",{member.format(number)}}}'
    with pytest.raises(ValidationError) as error:
        exact.read(types.CallToolResult, text, strict=strict)
    assert [(fault["loc"], fault["type"]) for fault in error.value.errors()] == [(place, "finite_number")]


def test_a_number_that_no_float_holds_is_refused_in_an_unknown_variant() -> None:
    text = '{"content":[{"type":"hologram","data":1e400},{"type":"later"}],"resultType":"complete"}'
    with pytest.raises(ValidationError) as error:
        exact.read(types.CallToolResult, text)
    assert [fault["loc"] for fault in error.value.errors()] == [("content", 0, "data")]
    with pytest.raises(ValidationError) as error:
        exact.read(types.CallToolResult, text, strict=True)
    assert [fault["loc"] for fault in error.value.errors()] == [
        ("content", 0, "type"),
        ("content", 1, "type"),
    ]


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_no_value_is_built_with_or_written_as_a_number_that_json_does_not_have(number: float) -> None:
    result = types.CallToolResult(content=[])
    for build in (
        lambda: types.CallToolResult(content=[], structured_content=number),
        lambda: types.CallToolResult(content=[], structured_content={"a": [number]}),
        lambda: types.CallToolResult(content=[], structured_content={"a": (1, number)}),
        lambda: types.Result.model_validate({"resultType": "complete", "com.example/a": number}),
        lambda: types.CallToolRequestParams.model_validate({"name": "t", "arguments": {"a": number}}),
        lambda: setattr(result, "structured_content", number),
        lambda: exact.write(types.JSONValue, number),
        lambda: exact.write(types.JSONObject, {"a": [number]}),
    ):
        with pytest.raises(ValidationError, match="finite number"):
            build()
    assert result.model_dump_json() == '{"content":[],"resultType":"complete"}'


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_a_constant_that_json_does_not_have_is_refused_in_a_document(constant: str) -> None:
    tool = f'{{"name":"t","inputSchema":{{"type":"object","default":[{constant}]}}}}'
    hints = '"resultType":"complete","ttlMs":0,"cacheScope":"private"'
    request = (
        f'{{"method":"sampling/createMessage","params":{{"maxTokens":1,"messages":[],"tools":[{tool}]}}}}'
    )
    for type_, text in (
        (types.Tool, tool),
        (types.ListToolsResult, f'{{{hints},"tools":[{tool}]}}'),
        (types.ServerResult, f'{{{hints},"tools":[{tool}]}}'),
        (types.InputRequest, request),
        (types.CreateMessageRequest, request),
    ):
        readers: list[Callable[[], object]] = [partial(exact.read, type_, text)]
        if isinstance(type_, type):
            readers.append(partial(type_.model_validate_json, text))
        for read in readers:
            with pytest.raises(ValidationError) as error:
                read()
            assert [fault["type"] for fault in error.value.errors()] == ["json_invalid"]


def test_half_a_surrogate_pair_is_refused_beside_a_constant_too() -> None:
    for read in (
        lambda: exact.read(types.CallToolResult, '{"later":"\ud800 NaN"}'),
        lambda: types.Tool.model_validate_json('{"name":"\ud800","inputSchema":{"type":"object"}}'),
        lambda: messages.parse_result("tools/call", '{"content":"\ud800"}'),
        lambda: messages.parse_request('{"method":"\ud800"}'),
    ):
        with pytest.raises(ValidationError, match="unicode"):
            read()
