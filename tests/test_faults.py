# Deprecated types are still part of the revision:
# pyright: reportDeprecated=false
"""What a failed reading says: each fault once, at its place in the value, of the arm that was meant alone."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import pytest
from choices import CHOICES
from corpus import REF, Json, canonical, corpus
from forgiven import StrictIntegers
from mcprotocol import exact, jsonrpc
from mcprotocol.errors import InvalidParams
from mcprotocol.unions import Unknown
from mcprotocol.v2025_11_25 import types as older
from mcprotocol.v2026_07_28 import messages, methods, types
from pydantic import ValidationError
from readings import TYPES, document

Place: TypeAlias = tuple[int | str, ...]

META: Mapping[str, Json] = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
EVERY_THIRD = 3
"""Of the corpus, for the tests that look at every fault; the others say the same of their neighbours."""


def faults(type_: Any, value: Json, *, strict: bool = False) -> list[Place]:
    """The places of the faults of a value, in order; none when it is read."""
    try:
        exact.read(type_, json.dumps(value), strict=strict)
    except ValidationError as error:
        return [fault["loc"] for fault in error.errors()]
    return []


def result(*blocks: Json) -> dict[str, Json]:
    return {"resultType": "complete", "content": list(blocks)}


TEXT = {"type": "text", "text": "a"}
HOLOGRAM: Json = {"type": "hologram", "data": [None, 1.0], "text": 5, "_meta": {}}


@pytest.mark.parametrize("type_", [types.CallToolResult, types.CallToolResultResponseResult])
def test_an_unknown_content_type_is_kept_between_known_ones(type_: Any) -> None:
    value = result(TEXT, HOLOGRAM, TEXT)
    read = exact.read(type_, json.dumps(value))
    assert [type(block) for block in read.content] == [types.TextContent, Unknown, types.TextContent]
    assert (read.content[1].type, read.content[1].model_extra["data"]) == ("hologram", [None, 1.0])
    assert canonical(exact.write(type_, read)) == canonical(json.dumps(value))
    assert faults(type_, value, strict=True) == [("content", 1, "type")]


@pytest.mark.parametrize(
    ("block", "place"),
    [
        ({"type": "text"}, ("text",)),
        ({"type": "text", "text": 5}, ("text",)),
        ({"type": "text", "text": None}, ("text",)),
        ({"type": "text", "text": "a", "annotations": {"priority": 2}}, ("annotations", "priority")),
        ({"type": "text", "text": "a", "_meta": 5}, ("_meta",)),
        ({"type": "image", "data": "", "mimeType": 1}, ("mimeType",)),
        ({"type": "resource", "resource": {"uri": "u", "text": 5}}, ("resource", "text")),
        ({"type": "resource", "resource": {"blob": "", "mimeType": "x"}}, ("resource", "uri")),
        ({"type": "resource", "resource": {"resource": {"uri": 5}, "text": "x"}}, ("resource", "uri")),
        ({"type": "resource", "resource": {"uri": "u", "text": "x", "?unknown": 1, "mimeType": 1}}, ("resource", "mimeType")),
        ({"type": "resource_link", "name": "n", "uri": "u", "icons": [{"src": "a"}, {}]}, ("icons", 1, "src")),
        ({"type": 5}, ("type",)),
        ({"type": {}}, ("type",)),
        ({"type": None, "text": "a"}, ("type",)),
        ({"text": "a"}, ("type",)),
        ({}, ("type",)),
        ("text", ()),
        (None, ()),
    ],
)  # fmt: skip
@pytest.mark.parametrize("strict", [False, True])
def test_a_malformed_block_is_one_fault_that_names_the_block_and_the_member(
    block: Json, place: Place, strict: bool
) -> None:
    assert faults(types.CallToolResult, result(TEXT, block, TEXT), strict=strict) == [("content", 1, *place)]
    data = json.dumps(result(TEXT, block, TEXT))
    with pytest.raises(ValidationError) as error:
        types.CallToolResult.model_validate_json(data)
    assert [fault["loc"] for fault in error.value.errors()] == [("content", 1, *place)]
    assert error.value.title == "CallToolResult"


def test_each_fault_of_several_blocks_is_told_once() -> None:
    value = {**result({"type": "text"}, HOLOGRAM, {"type": "image"}), "isError": "no"}
    assert faults(types.CallToolResult, value) == [
        ("content", 0, "text"),
        ("content", 2, "data"),
        ("content", 2, "mimeType"),
        ("isError",),
    ]


ENVELOPE = {"jsonrpc": "2.0"}
ASKED = {"resultType": "input_required"}
HINTS = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}

MALFORMED: list[tuple[str, Json, list[Place]]] = [
    ("JSONRPCMessage", {**ENVELOPE, "id": 1, "method": 5}, [("method",)]),
    ("JSONRPCMessage", {**ENVELOPE, "id": None, "method": "m"}, [("id",)]),
    ("JSONRPCMessage", {**ENVELOPE, "method": "m", "params": []}, [("params",)]),
    ("JSONRPCMessage", {**ENVELOPE, "id": 1, "result": []}, [("result",)]),
    ("JSONRPCMessage", {**ENVELOPE, "id": 1, "error": {"code": "1"}}, [("error", "code"), ("error", "message")]),
    ("JSONRPCMessage", {"id": 1, "method": "m"}, [("jsonrpc",)]),
    ("JSONRPCResponse", {**ENVELOPE, "id": 1.5, "result": {}}, [("id",)]),
    ("JSONRPCResponse", {**ENVELOPE, "error": {"code": 1, "message": None}}, [("error", "message")]),
    ("EmbeddedResourceResource", {"text": 5, "uri": "u"}, [("text",)]),
    ("EmbeddedResourceResource", {"blob": "b"}, [("uri",)]),
    ("ReadResourceResultContents", {"blob": "b", "uri": None}, [("uri",)]),
    ("ReadResourceResultContents", {"uri": "u", "text": "t", "mimeType": 1}, [("mimeType",)]),
    ("CallToolResultResponseResult", {**ASKED, "inputRequests": []}, [("inputRequests",)]),
    ("CallToolResultResponseResult", {**ASKED, "content": 5, "requestState": 1}, [("requestState",)]),
    ("CallToolResultResponseResult", {"resultType": "complete"}, [("content",)]),
    ("CallToolResultResponseResult", {"resultType": "complete", "content": [{}]}, [("content", 0, "type")]),
    ("GetPromptResultResponseResult", {"messages": [{"role": "user"}]}, [("messages", 0, "content")]),
    ("GetPromptResultResponseResult", {**ASKED, "_meta": 1}, [("_meta",)]),
    ("ReadResourceResultResponseResult", {**HINTS, "contents": [{"uri": "u", "text": 1}]}, [("contents", 0, "text")]),
    ("ReadResourceResultResponseResult", {**HINTS, "ttlMs": -1, "contents": []}, [("ttlMs",)]),
    ("ElicitRequestParams", {"mode": "url", "message": "m"}, [("url",)]),
    ("ElicitRequestParams", {"mode": "url", "message": 5, "url": "u", "requestedSchema": {}}, [("message",)]),
    ("ElicitRequestParams", {"message": "m"}, [("requestedSchema",)]),
    (
        "ElicitRequestParams",
        {"mode": "form", "message": "m", "requestedSchema": {"type": "object", "properties": {"a": {"type": "string", "enum": [1]}}}},
        [("requestedSchema", "properties", "a", "enum", 0)],
    ),
    ("InputResponse", {"action": 5}, [("action",)]),
    ("InputResponse", {"action": "accept", "content": {"a": {}}}, [("content", "a")]),
    ("InputResponse", {"action": "accept", "content": {"a": ["x", 1]}}, [("content", "a", 1)]),
    ("InputResponse", {"roots": [{}]}, [("roots", 0, "uri")]),
    ("InputResponse", {"role": "user", "model": "m", "content": [TEXT, {"type": "image"}]}, [("content", 1, "data"), ("content", 1, "mimeType")]),
    ("InputResponse", {"role": "user", "content": TEXT}, [("model",)]),
    ("PrimitiveSchemaDefinition", {"type": "string", "maxLength": "5"}, [("maxLength",)]),
    ("PrimitiveSchemaDefinition", {"type": "number", "minimum": "5"}, [("minimum",)]),
    ("PrimitiveSchemaDefinition", {"type": "boolean", "default": 1}, [("default",)]),
    ("PrimitiveSchemaDefinition", {"type": "string", "enum": ["a", 1]}, [("enum", 1)]),
    ("PrimitiveSchemaDefinition", {"type": "string", "oneOf": [{"const": "a"}]}, [("oneOf", 0, "title")]),
    ("PrimitiveSchemaDefinition", {"type": "string", "enum": ["a"], "enumNames": [1]}, [("enumNames", 0)]),
    ("PrimitiveSchemaDefinition", {"type": "array", "items": {"enum": [1], "type": "string"}}, [("items", "enum", 0)]),
    ("PrimitiveSchemaDefinition", {"type": "array", "items": {"anyOf": [{}]}, "maxItems": "1"}, [("items", "anyOf", 0, "const"), ("items", "anyOf", 0, "title"), ("maxItems",)]),
    ("EnumSchema", {"type": "string", "enum": [], "default": 5}, [("default",)]),
    ("EnumSchema", {"type": "array", "items": {"anyOf": 5}}, [("items", "anyOf")]),
    ("SingleSelectEnumSchema", {"type": "string", "oneOf": {}}, [("oneOf",)]),
    ("SingleSelectEnumSchema", {"type": "array", "enum": []}, [("type",)]),
    ("MultiSelectEnumSchema", {"type": "array", "items": {"anyOf": [{"const": 1, "title": "t"}]}}, [("items", "anyOf", 0, "const")]),
    ("ServerResult", {**ASKED, "inputRequests": {"a": {"method": "roots/list", "params": 5}}}, [("inputRequests", "a", "params")]),
    ("ServerResult", {**HINTS, "tools": [{"name": "t", "inputSchema": {}}]}, [("tools", 0, "inputSchema", "type")]),
    ("ServerResult", {**HINTS, "completion": {"values": 5}}, [("completion", "values")]),
    ("ServerResult", {"resultType": 5}, [("resultType",)]),
]  # fmt: skip
"""For each choice: a value, and the faults of the arm that it means."""

MALFORMED_BEFORE: list[tuple[str, Json, list[Place]]] = [
    ("ClientResult", {"roots": 5}, [("roots",)]),
    ("ClientResult", {"action": "accept", "content": []}, [("content",)]),
    ("ClientResult", {"model": 5, "role": "user", "content": TEXT}, [("model",)]),
    ("ServerResult", {"tools": [{"inputSchema": {"type": "object"}}]}, [("tools", 0, "name")]),
    (
        "ServerResult",
        {"protocolVersion": "v", "capabilities": {}, "serverInfo": {"name": "n"}},
        [("serverInfo", "version")],
    ),
    ("ElicitRequestParams", {"mode": "url", "message": "m", "url": "u"}, [("elicitationId",)]),
]


@pytest.mark.parametrize(("name", "value", "places"), MALFORMED)
def test_a_malformed_arm_of_a_choice_is_told_in_its_own_terms(
    name: str, value: Json, places: list[Place]
) -> None:
    assert sorted(faults(getattr(types, name), value), key=str) == sorted(places, key=str)


@pytest.mark.parametrize(("name", "value", "places"), MALFORMED_BEFORE)
def test_a_malformed_arm_of_a_choice_of_the_revision_before(
    name: str, value: Json, places: list[Place]
) -> None:
    assert faults(getattr(older, name), value) == places


def test_every_choice_has_a_malformed_arm() -> None:
    assert {name for name, _, _ in (*MALFORMED, *MALFORMED_BEFORE)} == CHOICES.keys()


@pytest.mark.parametrize(
    ("message", "place"),
    [
        ({"method": "tools/call", "params": {"_meta": META}}, ("params", "name")),
        ({"method": "tools/call", "params": {"_meta": META, "name": "t", "arguments": []}}, ("params", "arguments")),
        ({"method": "tools/call", "params": {"_meta": {**META, "progressToken": 1.5}, "name": "t"}}, ("params", "_meta", "progressToken")),
        ({"method": "tools/call"}, ("params",)),
        ({"method": "resources/read", "params": {"_meta": META, "uri": 5}}, ("params", "uri")),
        ({"method": "completion/complete", "params": {"_meta": META, "ref": {"type": "ref/prompt"}, "argument": {"name": "a", "value": ""}}}, ("params", "ref", "name")),
        ({"method": "tools/list", "params": {"_meta": META, "cursor": 5}}, ("params", "cursor")),
        ({"method": "no/such", "params": {"_meta": META}}, ("method",)),
        ({"method": 5, "params": {"_meta": META}}, ("method",)),
        ({"params": {"_meta": META}}, ("method",)),
    ],
)  # fmt: skip
@pytest.mark.parametrize("strict", [False, True])
def test_wrong_params_are_faults_of_their_own_method(message: Json, place: Place, strict: bool) -> None:
    request = {"jsonrpc": "2.0", "id": 1, **message}
    assert faults(types.ClientRequest, request, strict=strict) == [place]
    with pytest.raises(ValidationError) as error:
        messages.parse_request(json.dumps(request), strict=strict)
    assert [fault["loc"] for fault in error.value.errors()] == [place]


def test_a_server_refuses_wrong_params_by_name() -> None:
    params = methods.CALL_TOOL.params
    assert params is types.CallToolRequestParams
    with pytest.raises(InvalidParams) as error:
        jsonrpc.read_params(params, {"_meta": {**META, "progressToken": True}})
    assert error.value.message == (
        "Invalid params: /_meta/progressToken: Input should be a valid string or a valid integer; "
        "/name: Field required"
    )


def test_all_that_is_said_of_one_place_is_one_fault() -> None:
    with pytest.raises(ValidationError) as error:
        exact.read(types.ElicitResult, '{"action":"accept","content":{"a":null}}')
    (fault,) = error.value.errors()
    assert fault["loc"] == ("content", "a")
    assert fault["msg"].startswith("Input should be a valid array or a valid ")
    assert fault["input"] is None


def test_a_fault_may_hold_braces() -> None:
    with pytest.raises(ValidationError) as error:
        exact.read(types.ClientRequest, '{"jsonrpc":"2.0","id":1,"method":"{x} {{y}}","params":{}}')
    (fault,) = error.value.errors()
    assert (fault["loc"], fault["input"]) == (("method",), "{x} {{y}}")


def test_a_tag_that_is_missing_or_unknown_is_told_at_the_tag_with_what_was_expected() -> None:
    expected = "Input should be 'sampling/createMessage', 'roots/list' or 'elicitation/create'"
    for request, kind, message in [
        ({}, "missing", "Field required"),
        ({"method": 1}, "union_tag_invalid", expected),
    ]:
        with pytest.raises(ValidationError) as error:
            exact.read(types.InputRequiredResult, json.dumps({**ASKED, "inputRequests": {"a": request}}))
        (fault,) = error.value.errors()
        assert (fault["loc"], fault["type"], fault["msg"]) == (
            ("inputRequests", "a", "method"),
            kind,
            message,
        )


def rejected(revision: str) -> Iterator[tuple[str, Json, list[Any]]]:
    """Of the instances that strict reading refuses: the definition, the value and the faults."""
    for instance in corpus(document(revision).definitions, document(revision).python)[::EVERY_THIRD]:
        try:
            exact.read(getattr(TYPES[revision], instance.definition), instance.text, strict=True)
        except ValidationError as error:
            yield instance.definition, json.loads(instance.text), error.errors()


@pytest.mark.parametrize("revision", TYPES)
def test_every_fault_has_a_place_of_its_own_that_leads_through_the_value(revision: str) -> None:
    seen = 0
    for definition, value, found in rejected(revision):
        places = [fault["loc"] for fault in found]
        assert len(set(places)) == len(places), (definition, value, places)
        for fault in found:
            seen += 1
            assert leads(value, fault["loc"], missing=fault["type"] == "missing"), (definition, value, fault)
    assert seen > 4_000


def leads(value: Json, place: Place, *, missing: bool) -> bool:
    """Whether a place is in a value; of a missing member, whether the object is that lacks it."""
    *path, last = place or ("",)
    for step in (*path, *([] if missing or not place else [last])):
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return False
    return not missing or (isinstance(value, dict) and last not in value)


@pytest.mark.parametrize("revision", TYPES)
def test_the_faults_are_those_that_jsonschema_finds(revision: str) -> None:
    definitions = document(revision).definitions
    judge = StrictIntegers({"$defs": dict(definitions)})
    seen = 0
    for definition, value, found in rejected(revision):
        errors = list(judge.evolve(schema={"$ref": f"{REF}{definition}"}).iter_errors(value))
        if not any(error.context for error in errors):  # what a union refuses, jsonschema tells of every arm
            seen += 1
            wanted = {place for error in errors for place in _places(error)}
            assert {fault["loc"] for fault in found} == wanted, (definition, value)
    assert seen > 3_000


def _places(error: Any) -> Iterator[Place]:
    place = tuple(error.absolute_path)
    if error.validator == "required":
        yield from ((*place, name) for name in error.validator_value if name not in error.instance)
    else:
        yield place
