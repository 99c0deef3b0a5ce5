"""The client against a server in the same process: both sides of every exchange, in memory."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import pytest
from mcprotocol import jsonrpc
from mcprotocol.client import Client, Disconnected, InputRequired
from mcprotocol.errors import (
    InvalidParams,
    InvalidRequest,
    MethodNotFound,
    MissingRequiredClientCapability,
    RemoteError,
    UnsupportedProtocolVersion,
)
from mcprotocol.latest import REVISION, types
from mcprotocol.server import Context, Server


@pytest.fixture
def server() -> Server:
    made = Server("peer", version="1", title="Peer", instructions="ask")

    @made.tool()
    async def echo(text: str) -> str:
        return text

    @made.tool()
    async def steps(ctx: Context, count: int = 3) -> int:
        for step in range(count):
            await ctx.progress(step, total=count, message=f"step {step}")
        return count

    @made.resource("config://app")
    def config() -> str:
        return "on"

    @made.prompt()
    def greet(name: str) -> str:
        return f"hello {name}"

    return made


def run(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(work())


def test_every_convenience_gives_a_typed_result(server: Server) -> None:
    async def scenario() -> None:
        async with Client.memory(server) as client:
            about = await client.discover()
            assert about.supported_versions == [REVISION] and about.instructions == "ask"
            assert about.meta and about.meta.server_info and about.meta.server_info.title == "Peer"
            assert [tool.name for tool in (await client.list_tools()).tools] == ["echo", "steps"]
            assert (await client.call_tool("echo", {"text": "hi"})).content == [types.TextContent(text="hi")]
            assert (await client.call_tool("steps")).structured_content == 3
            assert [resource.uri for resource in (await client.list_resources()).resources] == [
                "config://app"
            ]
            assert (await client.list_resource_templates()).resource_templates == []
            (contents,) = (await client.read_resource("config://app")).contents
            assert isinstance(contents, types.TextResourceContents) and contents.text == "on"
            assert [prompt.name for prompt in (await client.list_prompts()).prompts] == ["greet"]
            (message,) = (await client.get_prompt("greet", {"name": "Ann"})).messages
            assert message.content == types.TextContent(text="hello Ann")

    run(scenario)


def test_the_exact_calls_take_and_give_the_protocols_own_types(server: Server) -> None:
    async def scenario() -> None:
        async with Client.memory(server) as client:
            params = types.CallToolRequestParams(meta=client.meta(), name="echo", arguments={"text": "hi"})
            result = await client.calls.call_tool(params)
            assert isinstance(result, types.CallToolResult)

    run(scenario)


class Recorder:
    """A server of which only the connection matters: it answers with what it is given and keeps what it got."""

    def __init__(self, *answers: dict[str, Any] | None, before: bytes = b"") -> None:
        self.answers = list(answers)
        self.before = before
        self.got: list[dict[str, Any]] = []

    def connect(self) -> Recorder:
        return self

    async def handle(self, data: bytes, send: Callable[[bytes], Awaitable[None]]) -> bytes | None:
        message = json.loads(data)
        self.got.append(message)
        if self.before:
            await send(self.before)
        answer = self.answers.pop(0) if self.answers else None
        return (
            None
            if answer is None
            else json.dumps({"jsonrpc": "2.0", "id": message.get("id"), **answer}).encode()
        )


DISCOVERED: dict[str, Any] = {
    "result": {"supportedVersions": [], "capabilities": {}, "ttlMs": 0, "cacheScope": "private"}
}


def test_every_request_carries_its_metadata_and_an_id_of_its_own() -> None:
    recorder = Recorder(DISCOVERED, DISCOVERED)
    info = types.Implementation(name="me", version="2")

    async def scenario() -> None:
        async with Client.memory(recorder, info=info) as client:
            await client.discover()
            await client.discover()

    run(scenario)
    first, second = recorder.got
    assert first["params"] == {
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": REVISION,
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "me", "version": "2"},
        }
    }
    assert first["id"] != second["id"]


def test_what_a_caller_leaves_out_is_not_sent() -> None:
    recorder = Recorder({"error": {"code": -32601, "message": "no"}})

    async def scenario() -> None:
        async with Client.memory(recorder) as client:
            await client.call_tool("bare")

    with pytest.raises(MethodNotFound):
        run(scenario)
    assert set(recorder.got[0]["params"]) == {"_meta", "name"}


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (-32600, InvalidRequest),
        (-32601, MethodNotFound),
        (-32602, InvalidParams),
        (-32021, MissingRequiredClientCapability),
        (-32022, UnsupportedProtocolVersion),
        (-32002, RemoteError),
        (17, RemoteError),
    ],
)
def test_an_error_of_the_server_is_raised_as_its_type(code: int, kind: type[Exception]) -> None:
    recorder = Recorder({"error": {"code": code, "message": "because", "data": {"a": [1]}}})

    async def scenario() -> None:
        async with Client.memory(recorder) as client:
            await client.discover()

    with pytest.raises(kind, match="because") as caught:
        run(scenario)
    assert vars(caught.value)["data"] == {"a": [1]}


@pytest.mark.parametrize("result", [{}, {"resultType": "task"}, {**DISCOVERED["result"], "ttlMs": "0"}])
def test_a_result_that_is_none_of_the_method_is_refused(result: dict[str, Any]) -> None:
    recorder = Recorder({"result": result})

    async def scenario() -> None:
        async with Client.memory(recorder) as client:
            await client.discover()

    with pytest.raises(InvalidRequest, match="server/discover"):
        run(scenario)


def test_a_server_that_asks_for_input_is_an_error_that_holds_the_question() -> None:
    asked = {"a": {"method": "roots/list"}}
    recorder = Recorder(
        {"result": {"resultType": "input_required", "requestState": "", "inputRequests": asked}}
    )

    async def scenario() -> None:
        async with Client.memory(recorder) as client:
            await client.call_tool("ask")

    with pytest.raises(InputRequired) as caught:
        run(scenario)
    assert caught.value.result.request_state == ""


def test_progress_is_told_before_the_result_and_only_to_who_asked(server: Server) -> None:
    async def scenario() -> None:
        told: list[tuple[float, float | None, str | None]] = []
        asynchronous: list[float] = []

        async def later(params: types.ProgressNotificationParams) -> None:
            asynchronous.append(params.progress)

        async with Client.memory(server) as client:
            await client.call_tool("steps", progress=lambda p: told.append((p.progress, p.total, p.message)))
            assert told == [(0, 3, "step 0"), (1, 3, "step 1"), (2, 3, "step 2")]
            await client.call_tool("steps", progress=later)
            await client.call_tool("steps")
        assert len(told) == 3 and asynchronous == [0, 1, 2]

    run(scenario)


def test_calls_side_by_side_hear_of_their_own_progress(server: Server) -> None:
    async def scenario() -> None:
        heard: dict[int, list[float]] = {count: [] for count in range(1, 6)}

        def listener(count: int) -> Callable[[types.ProgressNotificationParams], None]:
            return lambda params: heard[count].append(params.progress)

        async with Client.memory(server) as client:
            await asyncio.gather(
                *(client.call_tool("steps", {"count": count}, progress=listener(count)) for count in heard)
            )
        assert heard == {count: list(range(count)) for count in heard}

    run(scenario)


def test_a_listener_that_fails_is_no_fault_of_the_call(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(params: types.ProgressNotificationParams) -> None:
        raise RuntimeError("plain")

    async def fail_later(params: types.ProgressNotificationParams) -> None:
        raise RuntimeError("async")

    async def scenario() -> None:
        async with Client.memory(server) as client:
            for listener in (fail, fail_later):
                assert (
                    await client.call_tool("steps", {"count": 1}, progress=listener)
                ).structured_content == 1

    run(scenario)
    assert "plain" in caplog.text and "async" in caplog.text


@pytest.mark.parametrize(
    "before",
    [
        b"a banner",
        b"[]",
        b'{"jsonrpc":"2.0","method":"codex/event","params":{"x":1}}',
        b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":[]}}',
        b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":99,"progress":1}}',
        b'{"jsonrpc":"2.0","id":77,"result":{}}',
        b'{"jsonrpc":"2.0","id":"1","result":{}}',
        b'{"id":1}',
        b'{"jsonrpc":"2.0","id":5,"method":"roots/list"}',
        b"\xff\xfe",
    ],
)
def test_what_comes_unasked_does_not_disturb_a_call(before: bytes, caplog: pytest.LogCaptureFixture) -> None:
    recorder = Recorder(DISCOVERED, before=before)

    async def scenario() -> None:
        async with Client.memory(recorder) as client:
            await client.discover()

    run(scenario)
    assert len([record for record in caplog.records if record.levelno >= logging.WARNING]) <= 1


def test_an_error_without_an_id_ends_the_only_call_that_waits() -> None:
    error = {"code": -32600, "message": "too long"}
    recorder = Recorder(before=json.dumps({"jsonrpc": "2.0", "error": error}).encode())

    async def scenario() -> None:
        async with Client.memory(recorder) as client:
            await asyncio.wait_for(client.discover(), 1)

    with pytest.raises(InvalidRequest, match="too long"):
        run(scenario)


def test_a_client_is_used_by_one_block_at_a_time_and_by_another_afterwards() -> None:
    async def scenario() -> None:
        client = Client.memory(Server("peer", version="1"))
        for _ in range(2):
            async with client:
                with pytest.raises(RuntimeError, match="in use already"):
                    await client.__aenter__()
                await client.discover(fresh=True)

    run(scenario)


def test_a_server_that_fails_answers_nobody_who_waits(caplog: pytest.LogCaptureFixture) -> None:
    class Failing:
        def connect(self) -> Failing:
            return self

        async def handle(self, data: bytes, send: Callable[[bytes], Awaitable[None]]) -> bytes | None:
            if b"tools/call" in data:
                raise LookupError("by mistake")
            return None

    async def scenario() -> None:
        async with Client.memory(Failing()) as client:
            waiting = asyncio.ensure_future(client.discover())
            await asyncio.sleep(0)
            for call in (client.call_tool("t"), waiting):
                with pytest.raises(Disconnected, match="by mistake"):
                    await call

    run(scenario)
    assert "the server failed" in caplog.text


class Waiting(Server):
    """Waits for ever, and keeps what became of the wait."""

    def __init__(self) -> None:
        super().__init__("waiting", version="1")
        self.ends: list[str] = []

    async def call_tool(self, params: types.CallToolRequestParams, ctx: Context) -> types.CallToolResult:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            self.ends.append("cancelled")
            raise
        raise AssertionError("never")


@pytest.mark.parametrize("way", ["cancel", "timeout of the caller", "timeout of the client"])
def test_a_call_that_is_given_up_ends_at_the_server_too(way: str) -> None:
    server = Waiting()

    async def scenario() -> None:
        async with Client.memory(server, timeout=0.02 if way == "timeout of the client" else None) as client:
            call = asyncio.ensure_future(client.call_tool("wait"))
            if way == "timeout of the caller":
                call = asyncio.ensure_future(asyncio.wait_for(call, 0.02))
            await asyncio.sleep(0.01)
            if way == "cancel":
                call.cancel()
            with pytest.raises(asyncio.CancelledError if way == "cancel" else TimeoutError):
                await call
            await asyncio.sleep(0.01)
            assert server.ends == ["cancelled"]
            assert await client.discover()

    run(scenario)


def test_a_cancellation_names_the_id_as_it_was_sent() -> None:
    recorder = Recorder()

    async def scenario() -> None:
        async with Client.memory(recorder, timeout=0.01) as client:
            with pytest.raises(TimeoutError):
                await client.discover()
            await asyncio.sleep(0.01)

    run(scenario)
    request, cancellation = recorder.got
    assert cancellation["method"] == "notifications/cancelled" and "id" not in cancellation
    assert json.dumps(cancellation["params"]["requestId"]) == json.dumps(request["id"])


def test_calls_end_when_the_client_does_and_none_begin_outside_the_block() -> None:
    server = Waiting()

    async def scenario() -> None:
        client = Client.memory(server)
        with pytest.raises(ConnectionError, match="not connected"):
            await client.discover()
        async with client:
            call = asyncio.ensure_future(client.call_tool("wait"))
            await asyncio.sleep(0.01)
        with pytest.raises(ConnectionError, match="closed"):
            await call
        with pytest.raises(ConnectionError, match="closed"):
            await client.discover()
        assert server.ends == ["cancelled"]
        async with client:
            assert await client.discover()

    run(scenario)


def test_messages_of_eight_mebibytes_go_both_ways(server: Server) -> None:
    async def scenario() -> None:
        async with Client.memory(server) as client:
            long = "ü" * (4 << 20)
            assert (await client.call_tool("echo", {"text": long})).content == [types.TextContent(text=long)]

    run(scenario)


def test_the_bytes_between_client_and_server_are_single_lines(server: Server) -> None:
    seen: list[bytes] = []

    class Tapped:
        def connect(self) -> Tapped:
            self.connection = server.connect()
            return self

        async def handle(self, data: bytes, send: Callable[[bytes], Awaitable[None]]) -> bytes | None:
            answer = await self.connection.handle(data, send)
            seen.extend([data, answer or b""])
            return answer

    async def scenario() -> None:
        async with Client.memory(Tapped()) as client:
            text = 'two\nlines\r\u2028"\\ \x00 読🎉'
            assert (await client.call_tool("echo", {"text": text})).content == [types.TextContent(text=text)]

    run(scenario)
    assert not any(byte in data for data in seen for byte in (b"\n", b"\r"))
    assert all(isinstance(jsonrpc.read_message(data), jsonrpc.Request) for data in seen[::2])


def test_what_a_client_is_and_can_do_is_the_same_in_each_request_whatever_is_done_to_a_copy_of_it() -> None:
    said: list[Any] = []

    class Noting:
        def connect(self) -> Noting:
            return self

        async def handle(self, data: bytes, send: Callable[[bytes], Awaitable[None]]) -> bytes | None:
            message = json.loads(data)
            said.append({**message["params"]["_meta"], "progressToken": None})
            result: dict[str, Any] = {"resultType": "complete", "content": []}
            return json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode()

    async def scenario() -> None:
        given = types.Implementation(name="noted", version="1")
        async with Client.memory(Noting(), info=given) as client:
            await client.call_tool("t")
            mine = client.meta()
            for one in (given, client.info, mine.client_info):
                assert one is not None
                one.name = "changed"
            mine.client_capabilities.roots = {}
            await client.call_tool("t")
            await client.call_tool("t", progress=lambda told: None)
            assert client.info.name == "noted"

    asyncio.run(scenario())
    assert said == [said[0]] * 3
    assert said[0]["io.modelcontextprotocol/clientInfo"] == {"name": "noted", "version": "1"}
