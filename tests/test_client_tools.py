"""Tools as the client knows them: headers of arguments, lists asked again, and results that are what they promise."""

from __future__ import annotations

import asyncio
import datetime
import json
import logging
import socket
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from mcprotocol.client import BrokenSchema, Client, InvalidOutput, ToolFailed
from mcprotocol.errors import HeaderMismatch
from mcprotocol.headers import SAFE_INTEGER
from mcprotocol.latest import types
from pydantic import BaseModel, ConfigDict, TypeAdapter
from wired import Wire, answers, wired

Outcome = Mapping[str, Any]
Table = Callable[[str, Mapping[str, Any]], Outcome]
"""Answers a request by its method and params."""

DONE: Outcome = {"result": {"resultType": "complete", "content": []}}
REFUSED: Outcome = {"error": {"code": -32020, "message": "Mcp-Param-Region is missing"}}


def listed(*tools: Mapping[str, Any], following: str | None = None) -> Outcome:
    """One page of tools."""
    more = {} if following is None else {"nextCursor": following}
    return {"result": {"resultType": "complete", "ttlMs": 0, "cacheScope": "private", "tools": tools, **more}}


def tool(name: str, output: Any = None, **properties: Any) -> dict[str, Any]:
    """A tool with these properties, and an output schema if there is one."""
    made: dict[str, Any] = {"name": name, "inputSchema": {"type": "object", "properties": properties}}
    return made if output is None else {**made, "outputSchema": output}


def header(name: object, kind: object = "string") -> dict[str, Any]:
    """The schema of an argument that goes into a header."""
    return {"type": kind, "x-mcp-header": name}


def over_http(table: Table, work: Callable[[Client, Wire], Coroutine[Any, Any, None]]) -> None:
    """Have a client of a scripted server over HTTP."""

    async def scenario() -> None:
        async with wired(answers(table)) as wire, Client.http(wire.url, era="modern") as client:
            await work(client, wire)

    asyncio.run(scenario())


class Peer:
    """A scripted server in memory; it counts the calls."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.calls = 0

    def connect(self) -> Peer:
        return self

    async def handle(self, data: bytes, send: Callable[[bytes], Awaitable[None]]) -> bytes | None:
        message = json.loads(data)
        self.calls += message["method"] == "tools/call"
        outcome = self.table(message["method"], message["params"])
        return json.dumps({"jsonrpc": "2.0", "id": message["id"], **outcome}).encode()


def in_memory(table: Table, work: Callable[[Client, Peer], Coroutine[Any, Any, None]]) -> None:
    """Have a client of a scripted server in memory."""

    async def scenario() -> None:
        peer = Peer(table)
        async with Client.memory(peer) as client:
            await work(client, peer)

    asyncio.run(scenario())


def methods(wire: Wire) -> list[str]:
    return [asked.json()["method"] for asked in wire.asked]


# Arguments that go into headers.

EVERY = tool(
    "every",
    region=header("Region"),
    count=header("Count", "integer"),
    on=header("On", "boolean"),
    plain={"type": "string"},
    deep={"type": "object", "properties": {"er": header("Deeper")}},
)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"region": "us west 1", "plain": "x"}, {"Region": "us west 1"}),
        ({"region": ""}, {"Region": ""}),
        ({"region": " padded "}, {"Region": "=?base64?IHBhZGRlZCA=?="}),
        ({"region": "日本語"}, {"Region": "=?base64?5pel5pys6Kqe?="}),
        ({"region": "a\r\nX-Evil: 1"}, {"Region": "=?base64?YQ0KWC1FdmlsOiAx?="}),
        ({"region": "=?base64?eA==?="}, {"Region": "=?base64?PT9iYXNlNjQ/ZUE9PT89?="}),
        ({"region": None, "count": None, "on": None}, {}),
        ({"count": -7, "on": True}, {"Count": "-7", "On": "true"}),
        ({"count": 42.0, "on": False}, {"Count": "42", "On": "false"}),
        ({"count": SAFE_INTEGER}, {"Count": str(SAFE_INTEGER)}),
        ({"deep": {"er": "here"}}, {"Deeper": "here"}),
        ({"deep": "no object"}, {}),
        ({"region": ["no", "string"]}, {}),
        ({}, {}),
    ],
)
@pytest.mark.parametrize("exact", [False, True])
def test_arguments_go_into_their_headers(
    arguments: dict[str, Any], expected: Mapping[str, str], exact: bool
) -> None:
    async def work(client: Client, wire: Wire) -> None:
        if exact:
            await client.calls.list_tools(types.PaginatedRequestParams(meta=client.meta()))
            params = types.CallToolRequestParams(meta=client.meta(), name="every", arguments=arguments)
            await client.calls.call_tool(params)
        else:
            await client.list_tools()
            await client.call_tool("every", arguments)
        call = wire.asked[-1]
        sent = {name: value for name, value in call.headers if name.startswith("mcp-param-")}
        assert sent == {f"mcp-param-{name.lower()}": value for name, value in expected.items()}
        assert call.json()["params"]["arguments"] == arguments

    over_http(lambda method, params: listed(EVERY) if method == "tools/list" else DONE, work)


@pytest.mark.parametrize("value", [SAFE_INTEGER + 1, -SAFE_INTEGER - 1, 1e300, 10**400])
def test_an_integer_that_peers_would_read_differently_is_not_sent(value: float) -> None:
    async def work(client: Client, wire: Wire) -> None:
        await client.list_tools()
        with pytest.raises(ValueError, match="argument count of tool 'every'"):
            await client.call_tool("every", {"count": value})
        assert methods(wire) == ["tools/list"]

    over_http(lambda method, params: listed(EVERY), work)


BAD = {
    "empty": (header(""), "''"),
    "space": (header("a b"), "'a b'"),
    "line": (header("a\r\nb"), "no header"),
    "number": (header("A", "number"), "type"),
    "several": (header("A", ["string", "null"]), "type"),
    "nothing": ({"x-mcp-header": "A"}, "type"),
    "no_text": (header(5), "5"),
    "item": ({"type": "array", "items": header("A")}, "reached through"),
    "choice": ({"anyOf": [header("A")]}, "reached through"),
}


def test_a_tool_with_headers_that_cannot_be_is_left_out_and_named(caplog: pytest.LogCaptureFixture) -> None:
    bad = [tool(name, a=schema) for name, (schema, _) in BAD.items()]
    twice = tool("twice", a=header("Same"), b=header("SAME"))

    async def work(client: Client, wire: Wire) -> None:
        assert [one.name for one in (await client.list_tools()).tools] == ["every", "last"]
        (page,) = [await client.calls.list_tools(types.PaginatedRequestParams(meta=client.meta()))]
        assert [one.name for one in page.tools] == ["every", "last"]

    over_http(lambda method, params: listed(EVERY, *bad, twice, tool("last")), work)
    warnings = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    for name, reason in {**{name: reason for name, (_, reason) in BAD.items()}, "twice": "same"}.items():
        assert any(f"'{name}'" in warning and reason in warning for warning in warnings), name
    assert not any("'every'" in warning or "'last'" in warning for warning in warnings)


def test_a_tool_is_left_out_only_where_arguments_go_into_headers() -> None:
    async def work(client: Client, peer: Peer) -> None:
        assert [one.name for one in (await client.list_tools()).tools] == ["bad"]

    in_memory(lambda method, params: listed(tool("bad", a=header(""))), work)


class Changing:
    """A server whose tool wants a header from the nth list on, and refuses calls without it."""

    def __init__(self, lists: int) -> None:
        self.lists = lists

    def __call__(self, method: str, params: Mapping[str, Any]) -> Outcome:
        if method == "tools/list":
            if "cursor" not in params:
                self.lists -= 1
                return listed(tool("other"), following="2")
            return listed(tool("go", region=header("Region") if self.lists <= 0 else {"type": "string"}))
        return REFUSED


def test_a_call_is_repeated_once_with_the_headers_of_a_new_list() -> None:
    async def work(client: Client, wire: Wire) -> None:
        accepting.append(wire)
        assert (await client.call_tool("go", {"region": "here"})).content == []
        assert methods(wire) == ["tools/call", "tools/list", "tools/list", "tools/call"]
        first, last = wire.asked[0], wire.asked[-1]
        assert first.header("mcp-param-region") is None and last.header("mcp-param-region") == "here"
        assert first.json()["id"] != last.json()["id"]
        assert first.json()["params"] == last.json()["params"]

    accepting: list[Wire] = []
    changing = Changing(1)

    def table(method: str, params: Mapping[str, Any]) -> Outcome:
        there = method == "tools/call" and accepting[0].asked[-1].header("mcp-param-region") is not None
        return DONE if there else changing(method, params)

    over_http(table, work)


def test_a_list_that_was_known_and_has_changed_is_asked_again() -> None:
    async def work(client: Client, wire: Wire) -> None:
        async for _ in client.tools():
            pass
        with pytest.raises(HeaderMismatch):
            await client.call_tool("go", {"region": "here"})
        assert methods(wire)[2:] == ["tools/call", "tools/list", "tools/list", "tools/call"]
        assert wire.asked[-1].header("mcp-param-region") == "here"

    over_http(Changing(2), work)


def test_a_mismatch_that_no_list_explains_is_raised() -> None:
    async def work(client: Client, wire: Wire) -> None:
        with pytest.raises(HeaderMismatch):
            await client.call_tool("go", {"region": "here"})
        assert methods(wire) == ["tools/call", "tools/list", "tools/list"]
        wire.asked.clear()
        with pytest.raises(HeaderMismatch):
            await client.get_prompt("go")
        assert methods(wire) == ["prompts/get"]

    over_http(Changing(9), work)


# What a tool returns.


def returning(output: Any, **members: Any) -> Table:
    """A server of one tool, with an output schema, that answers every call with these members."""
    result = {"resultType": "complete", "content": [{"type": "text", "text": "so it is"}], **members}
    return lambda method, params: listed(tool("go", output)) if method == "tools/list" else {"result": result}


NUMBERS = {"type": "array", "items": {"$ref": "#/$defs/number"}, "$defs": {"number": {"type": "number"}}}


@pytest.mark.parametrize(
    ("output", "members"),
    [
        (NUMBERS, {"structuredContent": []}),
        (NUMBERS, {"structuredContent": [1, 2.5]}),
        ({"type": "integer"}, {"structuredContent": 0}),
        ({"type": "boolean"}, {"structuredContent": False}),
        ({"type": "null"}, {"structuredContent": None}),
        ({"type": "string"}, {"structuredContent": ""}),
        ({"type": "object"}, {"structuredContent": {"a": 1}}),
        ({}, {"structuredContent": None}),
        ({"type": "string"}, {"isError": True}),
        ({"type": "string"}, {"isError": True, "structuredContent": 5}),
        (None, {"structuredContent": 5}),
        (None, {}),
        ({"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "null"}]},
         {"structuredContent": [None]}),
    ],
)  # fmt: skip
def test_a_result_that_is_as_promised_is_given(output: Any, members: dict[str, Any]) -> None:
    async def work(client: Client, peer: Peer) -> None:
        await client.list_tools()
        result = await client.call_tool("go")
        assert ("structured_content" in result.model_fields_set) == ("structuredContent" in members)
        assert result.structured_content == members.get("structuredContent")

    in_memory(returning(output, **members), work)


@pytest.mark.parametrize(
    ("output", "members", "reason"),
    [
        (NUMBERS, {"structuredContent": [1, "2"]}, "/1: '2' is not of type"),
        (NUMBERS, {"structuredContent": None}, "None is not of type"),
        (NUMBERS, {}, "no structuredContent"),
        ({"type": "null"}, {}, "no structuredContent"),
        ({"type": "integer"}, {"structuredContent": True, "isError": False}, "True is not of type"),
        ({"type": "object", "required": ["a"]}, {"structuredContent": {}}, "'a' is a required property"),
    ],
)
def test_a_result_that_is_not_as_promised_is_an_error_that_holds_it(
    output: Any, members: dict[str, Any], reason: str
) -> None:
    async def work(client: Client, peer: Peer) -> None:
        unchecked = await client.call_tool("go")  # The schema is not known yet.
        await client.list_tools()
        with pytest.raises(InvalidOutput, match="'go'") as caught:
            await client.call_tool("go")
        assert reason in str(caught.value)
        assert caught.value.tool == "go" and caught.value.result == unchecked

    in_memory(returning(output, **members), work)


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        ({"$ref": "#/$defs/gone"}, r"\$ref '#/\$defs/gone'"),
        ({"$ref": "LISTENER"}, r"nothing is fetched"),
        ({"properties": {"a": {"$dynamicRef": "LISTENER#a"}}}, r"nothing is fetched"),
        ({"$ref": "file:///etc/passwd"}, r"nothing is fetched"),
        ({"$schema": "LISTENER"}, "dialect"),
        ({"type": "strng"}, "not a valid schema"),
        ({"type": "string", "pattern": "("}, "not a valid schema"),
    ],
)
def test_a_broken_schema_spoils_its_own_tool_only_and_fetches_nothing(output: Any, reason: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"http://127.0.0.1:{listener.getsockname()[1]}/schema.json"
        broken = json.loads(json.dumps(output).replace("LISTENER", address))

        def table(method: str, params: Mapping[str, Any]) -> Outcome:
            if method == "tools/list":
                return listed(tool("good", NUMBERS), tool("broken", broken), tool("plain"))
            return {"result": {"resultType": "complete", "content": [], "structuredContent": [1]}}

        async def work(client: Client, peer: Peer) -> None:
            tools = (await client.list_tools()).tools
            assert [one.name for one in tools] == ["good", "broken", "plain"]
            assert tools[1].output_schema == broken
            for name in ("good", "plain"):
                assert (await client.call_tool(name)).structured_content == [1]
            with pytest.raises(BrokenSchema, match=f"'broken'.*{reason}") as caught:
                await client.call_tool("broken")
            assert caught.value.tool == "broken" and peer.calls == 2
            params = types.CallToolRequestParams(meta=client.meta(), name="broken")
            assert isinstance(await client.calls.call_tool(params), types.CallToolResult)

        in_memory(table, work)
        listener.settimeout(0.05)
        with pytest.raises(TimeoutError):
            listener.accept()


def test_a_schema_that_is_replaced_is_the_one_that_counts() -> None:
    output: dict[str, Any] = {"type": "string"}

    async def work(client: Client, peer: Peer) -> None:
        await client.list_tools()
        with pytest.raises(InvalidOutput):
            await client.call_tool("go")
        output["type"] = "integer"
        await client.list_tools(fresh=True)
        assert (await client.call_tool("go")).structured_content == 5

    in_memory(returning(output, structuredContent=5), work)


class Forecast(BaseModel):
    """What a caller wants of a tool."""

    model_config = ConfigDict(strict=True)

    city: str
    day: datetime.date


@dataclass
class Point:
    """The same without Pydantic."""

    x: float
    y: float


def test_structured_content_is_given_as_what_the_caller_asks_for() -> None:
    async def work(client: Client, peer: Peer) -> None:
        made = await client.call_tool("go", returns=Forecast)
        assert made == Forecast(city="Oslo", day=datetime.date(2026, 7, 28))

    in_memory(returning(None, structuredContent={"city": "Oslo", "day": "2026-07-28"}), work)

    async def points(client: Client, peer: Peer) -> None:
        assert await client.call_tool("go", returns=list[Point]) == [Point(1.0, 2.0)]
        assert await client.call_tool("go", returns=TypeAdapter(tuple[Point])) == (Point(1.0, 2.0),)

    in_memory(returning(None, structuredContent=[{"x": 1, "y": 2}]), points)

    async def nothing(client: Client, peer: Peer) -> None:
        assert await client.call_tool("go", returns=TypeAdapter(int | None)) is None

    in_memory(returning(None, structuredContent=None), nothing)


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({"structuredContent": {"city": "Oslo", "day": "never"}}, "/day: "),
        ({"structuredContent": {"city": 5, "day": "2026-07-28"}}, "/city: "),
        ({"structuredContent": None}, "/: "),
        ({}, "no structuredContent"),
    ],
)
def test_what_is_not_what_the_caller_asks_for_is_an_error(members: dict[str, Any], reason: str) -> None:
    async def work(client: Client, peer: Peer) -> None:
        with pytest.raises(InvalidOutput, match=reason):
            await client.call_tool("go", returns=Forecast)

    in_memory(returning(None, **members), work)


def test_a_tool_that_fails_has_nothing_to_return() -> None:
    async def work(client: Client, peer: Peer) -> None:
        with pytest.raises(ToolFailed, match="'go' failed: so it is") as caught:
            await client.call_tool("go", returns=Forecast)
        assert caught.value.tool == "go" and caught.value.result.is_error

    in_memory(returning(NUMBERS, isError=True), work)
