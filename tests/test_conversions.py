"""Each row of the conversions between the eras: what goes in, what comes out, and that it fits the revision it is for."""

from __future__ import annotations

import json
from typing import Any

import pytest
from handshakes import NEWEST, VERSIONS, facts
from mcprotocol.errors import InternalError
from mcprotocol.server.legacy import conversions

OLDEST = VERSIONS[-1]
NOTHING: dict[str, Any] = {}
EMPTY: dict[str, Any] = {"type": "object"}
LINK: dict[str, Any] = {"type": "resource_link", "uri": "note://a", "name": "a"}
TEXT: dict[str, Any] = {"type": "text", "text": "hi"}


def same(one: Any, other: Any) -> bool:
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


@pytest.mark.parametrize(
    ("declared", "version", "said"),
    [
        ({}, NEWEST, {}),
        ({"sampling": {}, "experimental": {"x": {}}}, NEWEST, {"sampling": {}, "experimental": {"x": {}}}),
        ({"roots": {"listChanged": True}}, NEWEST, {"roots": {}}),
        ({"elicitation": {}}, NEWEST, {"elicitation": {"form": {}}}),
        ({"elicitation": {"url": {}}}, NEWEST, {"elicitation": {"url": {}}}),
        ({"elicitation": {"form": {}, "url": {}}}, NEWEST, {"elicitation": {"form": {}, "url": {}}}),
        ({"sampling": {"tools": {}, "context": {}}}, NEWEST, {"sampling": {"tools": {}, "context": {}}}),
        ({"tasks": {"list": {}}}, NEWEST, {}),
        ({"roots": {}, "sampling": {"tools": {}}}, "2025-06-18", {"roots": {}, "sampling": {}}),
        ({"elicitation": {"url": {}}}, "2025-06-18", {"elicitation": {"form": {}}}),
        ({"roots": {}, "sampling": {}, "elicitation": {}}, OLDEST, {"roots": {}, "sampling": {}}),
    ],
)
def test_what_a_client_can_do_is_said_as_every_request_says_it(
    declared: Any, version: str, said: Any
) -> None:
    assert same(conversions.capabilities_of_client(declared, version), said)


def test_what_a_server_can_do_is_said_without_extensions() -> None:
    announced: dict[str, Any] = {"tools": {"listChanged": True}, "logging": {}, "extensions": {"a/b": {}}}
    said = conversions.capabilities_of_server(announced)
    assert same(said, {"tools": {"listChanged": True}, "logging": {}})


def tool(**more: Any) -> dict[str, Any]:
    return {"name": "a", "inputSchema": EMPTY} | more


def properties(**named: Any) -> dict[str, Any]:
    return {"type": "object", "properties": named}


FORM: dict[str, Any] = {"message": "Who?", "requestedSchema": {"type": "object", "properties": {}}}
PAGE: dict[str, Any] = {"message": "Sign in", "mode": "url", "url": "https://example.com"}
SPOKEN: dict[str, Any] = {"role": "user", "content": TEXT}


def turned(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def outcome(content: list[Any], **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "toolUseId": "1", "content": content, **more}


@pytest.mark.parametrize(
    ("method", "params", "said"),
    [
        ("elicitation/create", {"mode": "form", **FORM}, FORM),
        ("elicitation/create", FORM, FORM),
        ("elicitation/create", PAGE, {**PAGE, "elicitationId": "one"}),
        ("roots/list", NOTHING, NOTHING),
        (
            "sampling/createMessage",
            {"messages": [SPOKEN], "maxTokens": 1},
            {"messages": [SPOKEN], "maxTokens": 1},
        ),
        (
            "sampling/createMessage",
            {
                "messages": [turned(TEXT, outcome([], structuredContent=[1]))],
                "maxTokens": 1,
                "tools": [tool(inputSchema=properties(b=True))],
            },
            {
                "messages": [turned(TEXT, outcome([text("[1]")]))],
                "maxTokens": 1,
                "tools": [tool(inputSchema=properties(b={}))],
            },
        ),
        (
            "sampling/createMessage",
            {"messages": [{"role": "user", "content": outcome([TEXT], structuredContent=2)}], "maxTokens": 1},
            {"messages": [{"role": "user", "content": outcome([TEXT])}], "maxTokens": 1},
        ),
        (
            "sampling/createMessage",
            {"messages": [turned(outcome([], structuredContent={"a": 1}))], "maxTokens": 1},
            {"messages": [turned(outcome([], structuredContent={"a": 1}))], "maxTokens": 1},
        ),
    ],
)
def test_what_is_asked_for_is_a_request_of_the_server(method: str, params: Any, said: Any) -> None:
    given = json.dumps(params)
    asked = conversions.question(params, "one", NEWEST)
    assert same(asked, said)
    assert json.dumps(params) == given, "what was given stays as it was"
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": asked}
    assert facts(NEWEST).faults(None, message) == []


def form(**fields: Any) -> dict[str, Any]:
    return {"message": "Who?", "requestedSchema": properties(**fields)}


TITLED = {
    "type": "string",
    "oneOf": [{"const": "a", "title": "A"}, {"const": "b", "title": "B"}],
    "default": "b",
}
NAMED = {"type": "string", "enum": ["a", "b"], "enumNames": ["A", "B"], "default": "b"}
PLAIN = {"type": "string", "enum": ["a"]}
SEVERAL = {"type": "array", "items": PLAIN}


@pytest.mark.parametrize(
    ("method", "params", "said"),
    [
        ("elicitation/create", form(a=TITLED, b=PLAIN, c=NAMED), form(a=NAMED, b=PLAIN, c=NAMED)),
        (
            "sampling/createMessage",
            {"messages": [turned(TEXT, text("you")), SPOKEN], "maxTokens": 1},
            {"messages": [SPOKEN, {"role": "user", "content": text("you")}, SPOKEN], "maxTokens": 1},
        ),
    ],
)
def test_what_is_asked_for_is_a_request_of_an_older_revision(method: str, params: Any, said: Any) -> None:
    given = json.dumps(params)
    assert same(conversions.question(params, "one", "2025-06-18"), said)
    assert json.dumps(params) == given, "what was given stays as it was"
    assert (
        facts("2025-06-18").faults(None, {"jsonrpc": "2.0", "id": 1, "method": method, "params": said}) == []
    )
    assert same(conversions.question(params, "one", NEWEST), params)


def test_a_choice_of_several_values_is_not_asked_for_where_no_form_has_one() -> None:
    with pytest.raises(InternalError, match="2025-06-18 .* 'many'"):
        conversions.question(form(one=PLAIN, many=SEVERAL), "one", "2025-06-18")


RESULTS: list[tuple[str, dict[str, Any], str, dict[str, Any]]] = [
    # what every result carries
    ("tools/list", {"tools": [], "ttlMs": 5, "cacheScope": "public"}, NEWEST, {"tools": []}),
    ("tools/list", {"tools": [], "nextCursor": "a"}, NEWEST, {"tools": [], "nextCursor": "a"}),
    (
        "resources/list",
        {"resources": [], "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "a", "version": "1"}}},
        NEWEST,
        {"resources": []},
    ),
    (
        "resources/read",
        {"contents": [], "_meta": {"io.modelcontextprotocol/serverInfo": {}, "mine": 1}},
        NEWEST,
        {"contents": [], "_meta": {"mine": 1}},
    ),
    ("prompts/list", {"prompts": [], "_meta": {"mine": 1}}, NEWEST, {"prompts": [], "_meta": {"mine": 1}}),
    ("completion/complete", {"completion": {"values": ["a"]}}, NEWEST, {"completion": {"values": ["a"]}}),
    # tools
    ("tools/list", {"tools": [tool(title="A")]}, NEWEST, {"tools": [tool(title="A")]}),
    ("tools/list", {"tools": [tool(outputSchema=EMPTY)]}, NEWEST, {"tools": [tool(outputSchema=EMPTY)]}),
    ("tools/list", {"tools": [tool(outputSchema={"type": "array"})]}, NEWEST, {"tools": [tool()]}),
    ("tools/list", {"tools": [tool(outputSchema={})]}, NEWEST, {"tools": [tool()]}),
    (
        "tools/list",
        {"tools": [tool(outputSchema={"type": ["object", "null"]})]},
        NEWEST,
        {"tools": [tool()]},
    ),
    (
        "tools/list",
        {
            "tools": [
                {
                    "name": "a",
                    "inputSchema": properties(x=True, y=False, z={"type": "string"}),
                    "outputSchema": properties(x=True),
                }
            ]
        },
        NEWEST,
        {
            "tools": [
                {
                    "name": "a",
                    "inputSchema": properties(x={}, y={"not": {}}, z={"type": "string"}),
                    "outputSchema": properties(x={}),
                }
            ]
        },
    ),
    # calls
    ("tools/call", {"content": [TEXT], "isError": True}, NEWEST, {"content": [TEXT], "isError": True}),
    (
        "tools/call",
        {"content": [TEXT], "structuredContent": {"a": None}},
        NEWEST,
        {"content": [TEXT], "structuredContent": {"a": None}},
    ),
    ("tools/call", {"content": [TEXT], "structuredContent": [1]}, NEWEST, {"content": [TEXT]}),
    ("tools/call", {"content": [TEXT], "structuredContent": None}, NEWEST, {"content": [TEXT]}),
    (
        "tools/call",
        {"content": [], "structuredContent": [1, "ü"]},
        NEWEST,
        {"content": [text('[1,"ü"]')]},
    ),
    ("tools/call", {"content": [], "structuredContent": None}, NEWEST, {"content": [text("null")]}),
    (
        "tools/call",
        {"content": [], "structuredContent": {"a": 1}},
        NEWEST,
        {"content": [], "structuredContent": {"a": 1}},
    ),
    ("tools/call", {"content": [], "structuredContent": {"a": 1}}, OLDEST, {"content": [text('{"a":1}')]}),
    ("tools/call", {"content": [TEXT], "structuredContent": {"a": 1}}, OLDEST, {"content": [TEXT]}),
    ("tools/call", {"content": [LINK]}, NEWEST, {"content": [LINK]}),
    ("tools/call", {"content": [LINK]}, "2025-06-18", {"content": [LINK]}),
    ("tools/call", {"content": [LINK, TEXT]}, OLDEST, {"content": [text("note://a"), TEXT]}),
    # prompts
    (
        "prompts/get",
        {"messages": [{"role": "user", "content": LINK}]},
        NEWEST,
        {"messages": [{"role": "user", "content": LINK}]},
    ),
    (
        "prompts/get",
        {"description": "d", "messages": [{"role": "user", "content": LINK}]},
        OLDEST,
        {"description": "d", "messages": [{"role": "user", "content": text("note://a")}]},
    ),
]


@pytest.mark.parametrize(("method", "value", "version", "said"), RESULTS)
def test_a_result_is_one_of_the_revision_it_is_for(method: str, value: Any, version: str, said: Any) -> None:
    value = {"resultType": "complete", **value}
    given = json.dumps(value)
    result = conversions.result(method, value, version)
    assert same(result, said)
    assert json.dumps(value) == given, "what was given stays as it was"
    assert facts(version).faults(method, {"jsonrpc": "2.0", "id": 1, "result": result}) == []


def test_every_result_that_is_converted_has_a_row() -> None:
    assert conversions.RESULTS.keys() <= {method for method, *_ in RESULTS}


@pytest.mark.parametrize(
    ("method", "body", "code"),
    [
        ("tools/call", {"code": -32021, "message": "m", "data": {"requiredCapabilities": {}}}, -32602),
        ("tools/call", {"code": -32022, "message": "m", "data": {"supported": []}}, -32602),
        ("tools/call", {"code": -32020, "message": "m"}, -32600),
        ("tools/call", {"code": -32603, "message": "m"}, -32603),
        ("tools/call", {"code": -31000, "message": "m", "data": {"uri": "mine"}}, -31000),
        ("tools/call", {"code": -32602, "message": "m", "data": {"uri": "note://a"}}, -32602),
        ("resources/read", {"code": -32602, "message": "m", "data": {"uri": "note://a"}}, -32002),
        ("resources/read", {"code": -32602, "message": "m", "data": {"other": 1}}, -32602),
        ("resources/read", {"code": -32602, "message": "m", "data": ["uri"]}, -32602),
        ("resources/read", {"code": -32602, "message": "m", "data": "a uri"}, -32602),
        ("resources/read", {"code": -32602, "message": "m", "data": 5}, -32602),
        ("resources/read", {"code": -32602, "message": "m"}, -32602),
    ],
)
def test_an_error_has_the_code_of_its_era_and_keeps_the_rest(method: str, body: Any, code: int) -> None:
    assert same(conversions.error(method, body), {**body, "code": code})


def test_every_code_that_is_converted_is_unknown_to_the_era() -> None:
    assert set(conversions.CODES) == {-32020, -32021, -32022}
