"""One message in, at most one answer out: dispatch by raw bytes, without any transport."""

from __future__ import annotations

import asyncio
import json
import logging
import subprocess
import sys
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from mcprotocol.errors import InvalidParams, MissingRequiredClientCapability
from mcprotocol.latest import REVISION, methods, types
from mcprotocol.server import Context, Server
from mcprotocol.server.dispatch import Dispatcher, Method

VERSION = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
META: dict[str, Any] = {VERSION: "2026-07-28", CAPABILITIES: {}}
SCHEMA = json.loads((Path(__file__).parents[1] / "schema" / "2026-07-28.json").read_text())


def request(method: str, identity: object = 1, meta: Any = META, **params: Any) -> bytes:
    message = {"jsonrpc": "2.0", "id": identity, "method": method, "params": {"_meta": meta, **params}}
    return json.dumps(message).encode()


def notification(method: str, **params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode()


cancelled = partial(notification, "notifications/cancelled")


class Peer:
    """One connection, and everything that came out of it in order."""

    def __init__(self, server: Server) -> None:
        self.dispatcher: Dispatcher = server.connect()
        self.sent: list[bytes] = []

    async def send(self, data: bytes) -> None:
        self.sent.append(data)

    async def ask(self, data: bytes) -> bytes | None:
        answer = await self.dispatcher.handle(data, self.send)
        if answer is not None:
            self.sent.append(answer)
        return answer

    def begin(self, data: bytes) -> asyncio.Task[bytes | None]:
        return asyncio.get_running_loop().create_task(self.ask(data))


def ask(server: Server, data: bytes) -> Any:
    """The answer to one message, read."""
    answer = asyncio.run(Peer(server).ask(data))
    return None if answer is None else json.loads(answer)


def code(server: Server, data: bytes) -> int:
    return int(ask(server, data)["error"]["code"])


@pytest.fixture
def server() -> Server:
    made = Server("probe", version="1")

    @made.tool()
    async def echo(text: str) -> str:
        return text

    @made.tool()
    async def wait(seconds: float) -> str:
        await asyncio.sleep(seconds)
        return "waited"

    return made


CALL = partial(request, "tools/call", name="echo", arguments={"text": "hi"})


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"not json", -32700),
        (b"\xff\xfe", -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":NaN}}', -32700),
        (b"[" * 10_000 + b"]" * 10_000, -32700),
        (b"[]", -32600),
        (b"[" + request("tools/list") + b"]", -32600),
        (b'{"hello":1}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"result":{}}', -32600),
        (b'{"id":1,"method":"tools/list"}', -32600),
        (b'{"jsonrpc":"2.0","id":null,"method":"tools/list"}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}', -32602),
        (request("no/such"), -32601),
        (request("prompts/list"), -32601),
        (request("ping"), -32601),
        (request("initialize"), -32601),
        (request("tools/call"), -32602),
        (request("tools/call", name="echo", arguments=[]), -32602),
        (request("tools/call", name="nope"), -32602),
        (request("tools/list", cursor=""), -32602),
        (request("tools/list", meta={**META, VERSION: "2025-11-25"}), -32022),
        (request("server/discover", meta={**META, VERSION: "2025-11-25"}), -32022),
    ],
)
def test_each_refusal_has_its_code(server: Server, data: bytes, expected: int) -> None:
    assert code(server, data) == expected


@pytest.mark.parametrize(
    ("method", "meta", "params", "expected"),
    [
        ("no/such", {}, {}, -32602),
        ("no/such", {VERSION: "1999-01-01"}, {}, -32602),
        ("no/such", {VERSION: "1999-01-01", CAPABILITIES: 5}, {}, -32602),
        ("no/such", {VERSION: "1999-01-01", CAPABILITIES: {"elicitation": 5}}, {}, -32022),
        ("no/such", {**META, CAPABILITIES: {"elicitation": 5}}, {}, -32602),
        ("no/such", {VERSION: "1999-01-01", CAPABILITIES: {}}, {}, -32022),
        ("no/such", META, {"cursor": 5}, -32601),
        ("tools/list", META, {"cursor": 5}, -32602),
        ("no/such", {**META, "io.modelcontextprotocol/logLevel": "loud"}, {}, -32602),
    ],
)
def test_metadata_is_judged_before_the_revision_before_the_method_before_the_params(
    server: Server, method: str, meta: dict[str, Any], params: dict[str, Any], expected: int
) -> None:
    assert code(server, request(method, meta=meta, **params)) == expected


@pytest.mark.parametrize("key", [VERSION, CAPABILITIES])
def test_metadata_that_is_missing_is_named(server: Server, key: str) -> None:
    meta = {name: value for name, value in META.items() if name != key}
    assert key in ask(server, request("tools/list", meta=meta))["error"]["message"]


@pytest.mark.parametrize("meta", [None, 5, [], "x", {}])
def test_metadata_that_is_no_object_is_missing(server: Server, meta: Any) -> None:
    error = ask(server, request("tools/list", meta=meta))["error"]
    assert error["code"] == -32602
    assert VERSION in error["message"] and CAPABILITIES in error["message"]


def test_metadata_of_the_wrong_type_is_named(server: Server) -> None:
    table: list[tuple[str, Any]] = [
        (VERSION, 5),
        (CAPABILITIES, []),
        (CAPABILITIES, {"sampling": True}),
        ("progressToken", 1.5),
    ]
    for key, value in table:
        error = ask(server, request("tools/list", meta={**META, key: value}))["error"]
        assert error["code"] == -32602
        assert key.replace("/", "~1") in error["message"]


def test_a_fault_in_the_metadata_is_named_before_any_other() -> None:
    server = Server("strict", version="1")

    @server.tool()
    async def echo(text: str) -> str:
        return text

    meta = {**META, "progressToken": 1.5}
    for data in (
        request("tools/call", meta=meta, name=5),
        request("tools/call", meta=meta, name="nope"),
        request("no/such", meta=meta),
    ):
        error = ask(server, data)["error"]
        assert error["code"] == -32602
        assert error["message"].startswith("Invalid params._meta: /progressToken: ")
        assert "/name" not in error["message"]


@pytest.mark.parametrize("method", methods.CLIENT_REQUESTS.values(), ids=lambda method: str(method.name))
def test_the_params_of_every_request_have_the_metadata(method: Method) -> None:
    assert isinstance(method.params, type)
    meta = method.params.model_fields["meta"]
    assert meta.annotation is types.RequestMetaObject and meta.is_required()


def test_a_handler_sees_the_metadata_as_it_came() -> None:
    server = Server("metadata", version="1")

    @server.tool()
    async def show(ctx: Context) -> dict[str, Any]:
        return ctx.meta.model_dump(by_alias=True)

    meta = {**META, "progressToken": 1, "com.example/trace": ["x"]}
    assert ask(server, request("tools/call", meta=meta, name="show"))["result"]["structuredContent"] == meta


def test_params_that_do_not_fit_are_named(server: Server) -> None:
    message = ask(server, request("tools/call", name=5, arguments=[]))["error"]["message"]
    assert "/name" in message and "/arguments" in message


def test_a_client_of_an_older_revision_learns_what_is_served(server: Server) -> None:
    params = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "c", "version": "1"},
    }
    data = json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}).encode()
    answer = ask(server, data)
    assert answer["id"] == 0 and answer["error"]["code"] == -32602
    assert answer["error"]["data"] == {"supported": [REVISION]}
    assert REVISION in answer["error"]["message"]
    assert ask(server, request("initialize"))["error"]["data"] == {"supported": [REVISION]}
    assert "data" not in ask(server, request("tools/list", meta={}))["error"]


def test_an_unsupported_revision_is_answered_with_both_sides(server: Server) -> None:
    error = ask(server, request("tools/list", meta={**META, VERSION: "2027-01-01"}))["error"]
    assert error["data"] == {"supported": [REVISION], "requested": "2027-01-01"}


def test_an_unknown_log_level_spoils_its_own_request_only(server: Server) -> None:
    async def both() -> list[bytes]:
        peer = Peer(server)
        await peer.ask(CALL(1, meta={**META, "io.modelcontextprotocol/logLevel": "trace"}))
        await peer.ask(CALL(2, meta={**META, "io.modelcontextprotocol/logLevel": "debug"}))
        return peer.sent

    refused, served = (json.loads(answer) for answer in asyncio.run(both()))
    assert refused["error"]["code"] == -32602 and "result" in served


@pytest.mark.parametrize(
    "identity", ['"1"', '"007"', "0", "-1", "9007199254740993", "1" + "0" * 40, '"ü"', '""']
)
def test_an_id_comes_back_as_it_was(server: Server, identity: str) -> None:
    data = CALL("ID").replace(b'"ID"', identity.encode())
    answer = asyncio.run(Peer(server).ask(data))
    assert answer is not None
    assert answer.startswith(b'{"jsonrpc":"2.0","id":%b,"result":' % identity.encode())


@pytest.mark.parametrize("method", ["codex/event", "notifications/initialized", "notifications/cancelled"])
def test_a_notification_is_never_answered_and_hardly_mentioned(
    server: Server, method: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG, "mcprotocol"):
        assert ask(server, notification(method, requestId=[1], padding="x" * 10_000)) is None
    assert len(caplog.records) <= 1
    assert all(r.levelno == logging.DEBUG and len(r.getMessage()) < 300 for r in caplog.records)
    assert "result" in ask(server, CALL())


# What is implemented, and announced.

LISTS = {"tools": "tools/list", "resources": "resources/list", "prompts": "prompts/list"}


def announced(server: Server) -> set[str]:
    return set(ask(server, request("server/discover"))["result"]["capabilities"])


def test_a_server_without_anything_can_be_discovered_and_nothing_more() -> None:
    empty = Server("empty", version="1", instructions="none")
    assert announced(empty) == set()
    assert ask(empty, request("server/discover"))["result"]["instructions"] == "none"
    for method in methods.CLIENT_REQUESTS.keys() - {"server/discover"}:
        assert code(empty, request(method)) == -32601


class Overriding(Server):
    """Answers one method of each capability itself."""

    async def call_tool(self, params: types.CallToolRequestParams, ctx: Context) -> types.CallToolResult:
        text = types.TextContent(
            text=f"{params.name} for {(ctx.meta.model_extra or {}).get('com.example/trace')}"
        )
        return types.CallToolResult(content=[text], result_type="complete")

    async def list_resource_templates(
        self, params: types.PaginatedRequestParams, ctx: Context
    ) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(
            resource_templates=[], ttl_ms=5, cache_scope="public", result_type="complete"
        )

    async def get_prompt(self, params: types.GetPromptRequestParams, ctx: Context) -> types.GetPromptResult:
        raise MissingRequiredClientCapability({"elicitation": {}})

    async def complete(self, params: types.CompleteRequestParams, ctx: Context) -> types.CompleteResult:
        raise InvalidParams("no", {"because": object()})


def test_an_overridden_stub_is_answered_and_its_capability_announced() -> None:
    exact = Overriding("exact", version="1")
    assert announced(exact) == {"tools", "resources", "prompts", "completions"}
    for capability, method in LISTS.items():
        assert ask(exact, request(method))["result"][capability] == []
    result = ask(exact, request("tools/call", meta={**META, "com.example/trace": "t"}, name="any"))["result"]
    assert result["content"][0]["text"] == "any for t"


def test_what_is_registered_is_announced_and_nothing_else() -> None:
    def register(server: Server, kind: str) -> None:
        async def function(value: str = "") -> str:
            return value

        {
            "tools": server.tool(),
            "resources": server.resource("config://app"),
            "prompts": server.prompt(),
            "completions": server.completion(prompt="p", argument="value"),
        }[kind](function)

    for kind in ("tools", "resources", "prompts", "completions"):
        one = Server("one", version="1")
        register(one, kind)
        assert announced(one) == {kind}
        for capability, method in LISTS.items():
            assert ("result" in ask(one, request(method))) == (capability == kind)


# What a result carries.


def test_every_result_says_that_it_is_complete_and_whose_it_is(server: Server) -> None:
    for data in (CALL(), request("tools/list"), request("server/discover"), CALL(arguments={"text": 5})):
        result = ask(server, data)["result"]
        assert result["resultType"] == "complete"
        assert result["_meta"]["io.modelcontextprotocol/serverInfo"] == {"name": "probe", "version": "1"}


def test_results_of_a_server_that_does_not_identify_itself_carry_no_name() -> None:
    assert "_meta" not in ask(Server("x", version="1", identify=False), request("server/discover"))["result"]


def test_what_an_author_sets_in_a_result_is_kept() -> None:
    class Proxy(Server):
        async def call_tool(self, params: types.CallToolRequestParams, ctx: Context) -> types.CallToolResult:
            other = types.Implementation(name="upstream", version="9")
            meta = types.ResultMetaObject.model_validate({"com.example/a": 1})
            if params.name == "signed":
                meta.server_info = other
            return types.CallToolResult(content=[], result_type="complete", meta=meta)

    proxy = Proxy("proxy", version="1")
    plain, signed = (
        ask(proxy, request("tools/call", name=name))["result"]["_meta"] for name in ("plain", "signed")
    )
    assert plain["com.example/a"] == signed["com.example/a"] == 1
    assert plain["io.modelcontextprotocol/serverInfo"]["name"] == "proxy"
    assert signed["io.modelcontextprotocol/serverInfo"]["name"] == "upstream"


def test_stamping_leaves_the_authors_own_object_alone() -> None:
    shared = types.CallToolResult(content=[], result_type="complete")

    class Shared(Server):
        async def call_tool(self, params: types.CallToolRequestParams, ctx: Context) -> types.CallToolResult:
            return shared

    assert "_meta" in ask(Shared("a", version="1"), request("tools/call", name="x"))["result"]
    assert shared.meta is None


def test_cache_hints_are_the_authors_or_stale_and_private() -> None:
    class Hinted(Server):
        async def list_tools(
            self, params: types.PaginatedRequestParams, ctx: Context
        ) -> types.ListToolsResult:
            return types.ListToolsResult.model_construct({"tools"}, tools=[])

    assert (
        ask(Hinted("h", version="1"), request("tools/list"))["result"].items()
        >= {
            "ttlMs": 0,
            "cacheScope": "private",
            "resultType": "complete",
        }.items()
    )
    kept = ask(Overriding("o", version="1"), request("resources/templates/list"))["result"]
    assert (kept["ttlMs"], kept["cacheScope"]) == (5, "public")


class Asking(Server):
    """Asks for input where it may, and where it may not."""

    async def read_resource(
        self, params: types.ReadResourceRequestParams, ctx: Context
    ) -> types.ReadResourceResult | types.InputRequiredResult:
        return types.InputRequiredResult(request_state="s")

    async def list_tools(self, params: types.PaginatedRequestParams, ctx: Context) -> Any:
        return types.InputRequiredResult(request_state="s")

    async def list_prompts(self, params: types.PaginatedRequestParams, ctx: Context) -> Any:
        return {"prompts": []}


def test_a_result_that_asks_for_input_has_no_cache_hints() -> None:
    result = ask(Asking("a", version="1"), request("resources/read", uri="x:y"))["result"]
    assert result["resultType"] == "input_required" and result["requestState"] == "s"
    assert "ttlMs" not in result and "cacheScope" not in result


@pytest.mark.parametrize("method", ["tools/list", "prompts/list"])
def test_a_result_that_the_method_does_not_have_is_an_internal_error(method: str) -> None:
    assert code(Asking("a", version="1"), request(method)) == -32603


def test_every_result_keeps_to_the_published_schema() -> None:
    made = Server("whole", version="1", title="Whole", instructions="use it")

    @made.tool(title="T", annotations=types.ToolAnnotations(read_only_hint=True))
    async def numbers(count: int = 2) -> list[int]:
        """Numbers."""
        return list(range(count))

    @made.resource("config://app")
    @made.resource("users://{id}", mime_type="text/plain")
    async def config(id: str = "") -> str:
        """Configuration."""
        return id

    @made.prompt()
    async def greet(name: str) -> str:
        return name

    @made.completion(prompt="greet", argument="name")
    async def names(value: str) -> list[str]:
        return [value]

    ref = {"type": "ref/prompt", "name": "greet"}
    table = {
        "DiscoverResult": request("server/discover"),
        "ListToolsResult": request("tools/list"),
        "ListResourcesResult": request("resources/list"),
        "ListResourceTemplatesResult": request("resources/templates/list"),
        "ListPromptsResult": request("prompts/list"),
        "ReadResourceResult": request("resources/read", uri="users://5"),
        "GetPromptResult": request("prompts/get", name="greet", arguments={"name": "Ann"}),
        "CompleteResult": request("completion/complete", ref=ref, argument={"name": "name", "value": "A"}),
        "CallToolResult": request("tools/call", name="numbers"),
    }
    failing = request("tools/call", name="numbers", arguments={"count": "2"})
    for definition, data in [*table.items(), ("CallToolResult", failing)]:
        schema = {"$ref": f"#/$defs/{definition}", "$defs": SCHEMA["$defs"]}
        result = ask(made, data)["result"]
        validator: Any = Draft202012Validator(schema)
        validator.validate(result)


# What goes wrong in a handler.


class Panic(BaseException):
    """No `Exception`, as extension modules have them."""


class Failing(Server):
    """Fails in every way, by the name of the tool."""

    async def call_tool(self, params: types.CallToolRequestParams, ctx: Context) -> types.CallToolResult:
        failures: dict[str, Callable[[], BaseException]] = {
            "error": lambda: RuntimeError("secret"),
            "exit": lambda: SystemExit(3),
            "panic": lambda: Panic("secret"),
            "closing": GeneratorExit,
            "stray cancellation": asyncio.CancelledError,
            "group": lambda: BaseExceptionGroup("secret", [GeneratorExit()]),
        }
        if params.name in failures:
            raise failures[params.name]()
        value = "\ud800" if params.name == "surrogate" else object()
        return types.CallToolResult(content=[], structured_content=value, result_type="complete")


@pytest.mark.parametrize(
    "name", ["error", "exit", "panic", "closing", "stray cancellation", "group", "surrogate", "object"]
)
def test_an_unexpected_failure_is_an_internal_error_and_says_no_more(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    answer = ask(Failing("f", version="1"), request("tools/call", "id", name=name))
    assert answer == {"jsonrpc": "2.0", "id": "id", "error": {"code": -32603, "message": "Internal error"}}
    assert [record.exc_info is not None for record in caplog.records] == [True]


@pytest.mark.parametrize(
    "left", [KeyboardInterrupt, GeneratorExit, Panic, asyncio.CancelledError, StopIteration]
)
def test_whatever_leaves_a_plain_function_the_request_is_answered(left: type[BaseException]) -> None:
    made = Server("leaving", version="1")

    @made.tool()
    @made.prompt()
    @made.resource("x:a")
    def leave() -> str:
        raise left

    result = ask(made, request("tools/call", name="leave"))["result"]
    assert (result["isError"], result["content"][0]["text"]) == (True, "Tool leave failed")
    assert code(made, request("prompts/get", name="leave")) == -32603
    assert code(made, request("resources/read", uri="x:a")) == -32603


def test_an_interrupt_on_the_event_loop_is_for_who_runs_it() -> None:
    made = Server("interrupted", version="1")

    @made.tool()
    async def interrupt() -> str:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ask(made, request("tools/call", name="interrupt"))


def test_a_coroutine_that_nobody_runs_any_more_is_no_failure(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    work = Peer(server).ask(request("tools/call", name="wait", arguments={"seconds": 30.0}))

    async def begin() -> None:
        work.send(None)

    asyncio.run(begin())
    work.close()
    assert not caplog.records


def test_an_error_that_a_handler_raises_is_the_answer() -> None:
    error = ask(Overriding("o", version="1"), request("prompts/get", name="x"))["error"]
    assert error["code"] == -32021
    assert error["data"] == {"requiredCapabilities": {"elicitation": {}}}


def test_error_data_that_is_no_json_is_an_internal_error() -> None:
    ref = {"type": "ref/prompt", "name": "x"}
    data = request("completion/complete", ref=ref, argument={"name": "a", "value": ""})
    assert code(Overriding("o", version="1"), data) == -32603


# Cancellation.


def run(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(work())


def test_a_cancelled_request_gets_no_answer_and_the_next_one_does(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario() -> None:
        peer = Peer(server)
        task = peer.begin(request("tools/call", 5, name="wait", arguments={"seconds": 30.0}))
        await asyncio.sleep(0.01)
        with caplog.at_level(logging.DEBUG, "mcprotocol"):
            await peer.ask(cancelled(requestId=5, reason="enough" * 1000))
        [record] = caplog.records
        assert "5" in record.getMessage() and "enough" in record.getMessage()
        assert record.levelno == logging.DEBUG and len(record.getMessage()) < 300
        assert await asyncio.wait_for(task, 1) is None
        assert task.cancelling() == 0
        await peer.ask(CALL(5))
        assert [json.loads(data)["id"] for data in peer.sent] == [5]

    run(scenario)


@pytest.mark.parametrize(
    "params", [{"requestId": "5"}, {"requestId": 999}, {"requestId": None}, {"requestId": 5.0}, {}]
)
def test_a_cancellation_of_anything_else_is_ignored(server: Server, params: dict[str, Any]) -> None:
    async def scenario() -> None:
        peer = Peer(server)
        task = peer.begin(request("tools/call", 5, name="wait", arguments={"seconds": 0.02}))
        await asyncio.sleep(0.005)
        assert await peer.ask(cancelled(**params)) is None
        answer = await task
        assert answer is not None and b"waited" in answer

    run(scenario)


def test_a_race_of_answer_and_cancellation_gives_at_most_one_answer(server: Server) -> None:
    async def scenario() -> None:
        peer = Peer(server)
        answered = 0
        for attempt in range(200):
            before = len(peer.sent)
            task = peer.begin(request("tools/call", 5, name="wait", arguments={"seconds": 0.002}))
            await asyncio.sleep(attempt % 20 * 0.0002)
            await peer.ask(cancelled(requestId=5))
            answer = await task
            assert peer.sent[before:] == ([] if answer is None else [answer])
            answered += answer is not None
        assert 0 < answered < 200, "the delays must lie around the end of the handler"
        assert await peer.ask(CALL(5)) is not None

    run(scenario)


def test_a_request_is_cancelled_even_when_the_message_follows_at_once(server: Server) -> None:
    async def scenario() -> None:
        peer = Peer(server)
        tasks = [
            peer.begin(request("tools/call", 5, name="wait", arguments={"seconds": 30.0})),
            peer.begin(cancelled(requestId=5)),
        ]
        assert await asyncio.wait_for(asyncio.gather(*tasks), 1) == [None, None]

    run(scenario)


def test_a_handler_that_will_not_be_cancelled_is_not_heard() -> None:
    class Stubborn(Server):
        async def call_tool(self, params: types.CallToolRequestParams, ctx: Context) -> types.CallToolResult:
            try:
                await asyncio.sleep(30)
            except asyncio.CancelledError:
                await ctx.progress(1)
            return types.CallToolResult(content=[], result_type="complete")

    async def scenario() -> None:
        peer = Peer(Stubborn("s", version="1"))
        task = peer.begin(request("tools/call", 5, name="x"))
        await asyncio.sleep(0.01)
        await peer.ask(cancelled(requestId=5))
        assert await asyncio.wait_for(task, 1) is None
        assert peer.sent == []

    run(scenario)


def test_a_transport_that_ends_its_task_is_not_held_up(server: Server) -> None:
    async def scenario() -> None:
        task = Peer(server).begin(request("tools/call", 5, name="wait", arguments={"seconds": 30.0}))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run(scenario)


def test_an_id_that_is_in_flight_is_refused_and_free_afterwards(server: Server) -> None:
    async def scenario() -> None:
        peer = Peer(server)
        task = peer.begin(request("tools/call", 5, name="wait", arguments={"seconds": 0.02}))
        await asyncio.sleep(0.005)
        refused = await peer.ask(CALL(5))
        assert refused is not None and json.loads(refused)["error"]["code"] == -32600
        other = await peer.ask(CALL("5"))
        assert other is not None and b'"result"' in other
        waited = await task
        assert waited is not None and b"waited" in waited
        again = await peer.ask(CALL(5))
        assert again is not None and b'"result"' in again

    run(scenario)


def test_nothing_follows_the_answer() -> None:
    late: list[Awaitable[None]] = []

    class Late(Server):
        async def call_tool(self, params: types.CallToolRequestParams, ctx: Context) -> types.CallToolResult:
            await ctx.progress(1)
            late.append(ctx.progress(2))
            return types.CallToolResult(content=[], result_type="complete")

    async def scenario() -> None:
        peer = Peer(Late("l", version="1"))
        await peer.ask(request("tools/call", meta={**META, "progressToken": 7}, name="x"))
        await late[0]
        assert [json.loads(data).get("method", "answer") for data in peer.sent] == [
            "notifications/progress",
            "answer",
        ]

    run(scenario)


def test_a_server_imports_no_client_and_none_of_the_libraries_that_it_may_never_need() -> None:
    root = str(Path(sys.modules["mcprotocol"].__file__ or "").parents[1])
    script = "import sys, mcprotocol.server.stdio as s; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env={"PYTHONPATH": root}
    )
    loaded = set(done.stdout.split())
    assert "mcprotocol.server.app" in loaded, done.stderr
    assert not loaded & {"mcprotocol.client", "jsonschema", "referencing", "httpx2", "starlette", "uvicorn"}
