"""Generated client against generated server: each method, notification and error code, over each transport alike."""

# What is deprecated is still part of the revision:
# pyright: reportDeprecated=false

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest
from both import ERRORS, WITHDRAWN, made
from emitted import ROOT
from hosted import hosted
from mcpcodegen.ir import is_array, is_object
from mcprotocol import errors
from mcprotocol.client import Client, ToolFailed
from mcprotocol.client.session import Options
from mcprotocol.jsonrpc import Notification, read_reply
from mcprotocol.latest import REVISION, methods, types

SERVER = ROOT / "tests/both.py"
PATIENCE = 60.0

Scenario = Callable[[Client], Awaitable[None]]
Run = Callable[..., None]


def environment() -> dict[str, Any]:
    roots = os.pathsep.join(str(ROOT / folder) for folder in ("generated", "tests"))
    return {**os.environ, "PYTHONPATH": roots}


@asynccontextmanager
async def reached(transport: str, **options: Any) -> AsyncGenerator[Client, None]:
    """A client of the server, by one of the transports."""
    options = {"timeout": 20.0, **options}
    if transport == "memory":
        async with Client.memory(made(), **options) as client:
            yield client
    elif transport == "stdio":
        async with Client.stdio([sys.executable, SERVER], env=environment(), **options) as client:
            yield client
    else:
        async with hosted(sys.executable, SERVER, "http", **environment()) as site:
            async with Client.http(f"{site.url}/mcp", **options) as client:
                yield client


@pytest.fixture(params=["memory", "stdio", "http"])
def run(request: pytest.FixtureRequest) -> Run:
    """Runs a scenario with a client of the server that has these options."""

    def with_client(scenario: Scenario, **options: Any) -> None:
        async def bounded() -> None:
            async with asyncio.timeout(PATIENCE), reached(request.param, **options) as client:
                await scenario(client)

        asyncio.run(bounded())

    return with_client


def text(result: types.CallToolResult) -> str:
    return "".join(block.text for block in result.content if isinstance(block, types.TextContent))


VALUES: list[Any] = [
    None,
    True,
    0,
    -1.5,
    "",
    'two\nlines\r\u2028"\\ \x00 読🎉',
    [],
    [[1, "1"]],
    {"a": {"b": None}},
]


def test_every_method_is_asked_and_answered(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: set[str] = set()

    async def scenario(client: Client) -> None:
        ask = client._session._calls.ask  # pyright: ignore[reportPrivateUsage]

        async def noted(method: Any, *rest: Any, **more: Any) -> Any:
            asked.add(method.name)
            return await ask(method, *rest, **more)

        monkeypatch.setattr(client._session._calls, "ask", noted)  # pyright: ignore[reportPrivateUsage]
        about = await client.discover()
        assert about.supported_versions == [REVISION] and about.instructions == "ask"
        assert about.meta and about.meta.server_info and about.meta.server_info.title == "Both sides"
        assert about.capabilities.tools is not None and about.capabilities.completions is not None
        assert [tool.name async for tool in client.tools()][:3] == ["echo", "steps", "speak"]
        for value in VALUES:
            result = await client.call_tool("echo", {"value": value})
            assert json.dumps(result.structured_content) == json.dumps(value)
        assert [resource.uri async for resource in client.resources()] == ["config://app"]
        templates = [template.uri_template async for template in client.resource_templates()]
        assert templates == ["users://{id}"]
        for uri, said in (("config://app", "on"), ("users://7", "user 7")):
            (contents,) = (await client.read_resource(uri)).contents
            assert isinstance(contents, types.TextResourceContents) and contents.text == said
        assert [prompt.name async for prompt in client.prompts()] == ["hello"]
        (message,) = (await client.get_prompt("hello", {"name": "Ann"})).messages
        assert message.content == types.TextContent(text="hello Ann")
        assert (await client.complete("name", "An", prompt="hello")).completion.values == ["Ann", "Anna"]
        chosen = await client.complete("id", "x", resource="users://{id}", chosen={"a": "b"})
        assert chosen.completion.values == ["xa"]
        async with client.listen(tools=True) as changes:
            assert changes.granted.tools_list_changed

    run(scenario)
    assert asked == set(methods.CLIENT_REQUESTS)


def test_the_exact_calls_are_answered_alike(run: Run) -> None:
    async def scenario(client: Client) -> None:
        params = types.CallToolRequestParams(meta=client.meta(), name="echo", arguments={"value": 1})
        result = await client.calls.call_tool(params)
        assert isinstance(result, types.CallToolResult) and result.structured_content == 1
        asked = await client.calls.call_tool(
            types.CallToolRequestParams(
                meta=client.meta().model_copy(
                    update={"client_capabilities": types.ClientCapabilities(roots={})}
                ),
                name="folders",
            )
        )
        assert isinstance(asked, types.InputRequiredResult) and asked.request_state
        assert [request.method for request in (asked.input_requests or {}).values()] == ["roots/list"]

    run(scenario)


EXACT: Mapping[str, dict[str, Any]] = {
    "server/discover": {},
    "tools/list": {"cursor": None},
    "resources/list": {},
    "resources/templates/list": {},
    "prompts/list": {},
    "tools/call": {"name": "echo", "arguments": {"value": [1]}},
    "resources/read": {"uri": "users://7"},
    "prompts/get": {"name": "hello", "arguments": {"name": "Ann"}},
    "completion/complete": {
        "ref": types.PromptReference(name="hello"),
        "argument": types.CompleteRequestParamsArgument(name="name", value="B"),
    },
    "subscriptions/listen": {"notifications": types.SubscriptionFilter(resource_subscriptions=[WITHDRAWN])},
}
"""The params of one request of each method, without their metadata; the server itself ends the subscription."""


def test_every_exact_call_gives_the_result_of_its_method(run: Run) -> None:
    async def scenario(client: Client) -> None:
        for name, method in methods.CLIENT_REQUESTS.items():
            call = getattr(client.calls, method.python)
            kind: Any = method.params
            assert type(await call(kind(meta=client.meta(), **EXACT[name]))) is method.results[0]

    assert set(EXACT) == set(methods.CLIENT_REQUESTS)
    run(scenario)


def test_progress_and_log_messages_come_to_their_call_before_its_result(run: Run) -> None:
    async def scenario(client: Client) -> None:
        heard: dict[int, list[float]] = {count: [] for count in range(1, 8)}

        def listener(count: int) -> Callable[[types.ProgressNotificationParams], None]:
            return lambda params: heard[count].append(params.progress)

        calls = (client.call_tool("steps", {"count": n}, progress=listener(n)) for n in heard)
        assert [result.structured_content for result in await asyncio.gather(*calls)] == [*heard]
        assert heard == {count: list(range(count)) for count in heard}
        said: list[tuple[str, Any]] = []
        await client.call_tool("speak", messages=lambda params: said.append((params.level, params.data)))
        assert said == [("info", {"level": "info"}), ("error", {"level": "error"})]
        await client.call_tool(
            "speak", messages=lambda params: said.append((params.level, params.logger)), level="error"
        )
        assert said[2:] == [("error", "both")]

    run(scenario)


CHANGES: Mapping[str, type[Any]] = {
    "tools": types.ToolListChangedNotification,
    "prompts": types.PromptListChangedNotification,
    "resources": types.ResourceListChangedNotification,
    "config://app": types.ResourceUpdatedNotification,
}


def test_every_change_is_told_to_who_listens_for_it_and_to_nobody_else(run: Run) -> None:
    async def scenario(client: Client) -> None:
        all_of_it: dict[str, Any] = {
            "tools": True,
            "prompts": True,
            "resource_list": True,
            "resources": ["config://app"],
        }
        async with client.listen(**all_of_it) as changes, client.listen(prompts=True) as prompts:
            assert changes.granted == types.SubscriptionFilter(
                tools_list_changed=True,
                prompts_list_changed=True,
                resources_list_changed=True,
                resource_subscriptions=["config://app"],
            )
            assert prompts.granted == types.SubscriptionFilter(prompts_list_changed=True)
            for what, kind in CHANGES.items():
                await client.call_tool("change", {"what": "other://uri"})
                await client.call_tool("change", {"what": what})
                change = await changes.next()
                assert type(change) is kind
                if isinstance(change, types.ResourceUpdatedNotification):
                    assert change.params.uri == what
            assert type(await prompts.next()) is types.PromptListChangedNotification

    run(scenario)


def test_every_notification_of_a_server_comes_to_who_it_is_for(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    came = noted_notifications(monkeypatch)
    heard: set[str] = set()

    async def scenario(client: Client) -> None:
        await client.call_tool("steps", {"count": 1}, progress=lambda told: heard.add("progress"))
        await client.call_tool("speak", messages=lambda told: heard.add("message"))
        async with client.listen(resources=[WITHDRAWN]) as changes:
            assert changes.granted.resource_subscriptions == [WITHDRAWN]
            assert [change async for change in changes] == []
        everything: dict[str, Any] = {"tools": True, "prompts": True, "resource_list": True}
        async with client.listen(**everything, resources=["config://app"]) as changes:
            for what in CHANGES:
                await client.call_tool("change", {"what": what})
            assert {type(await changes.next()) for _ in CHANGES} == set(CHANGES.values())

    run(scenario)
    assert heard == {"progress", "message"}
    assert came == set(methods.SERVER_NOTIFICATIONS)


def noted_notifications(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The methods of the notifications that come to clients from now on."""
    came: set[str] = set()

    def noted(data: bytes) -> Any:
        message = read_reply(data)
        if isinstance(message, Notification):
            came.add(message.method)
        return message

    monkeypatch.setattr("mcprotocol.client.calls.read_reply", noted)
    return came


def test_every_notification_of_a_client_is_sent_and_taken(run: Run) -> None:
    async def scenario(client: Client) -> None:
        for name, method in methods.CLIENT_NOTIFICATIONS.items():
            send = getattr(client.calls, f"notify_{method.python}")
            await send(NOTIFICATIONS[name])
        assert await client.call_tool("echo", {"value": 1}, returns=int) == 1

    assert set(NOTIFICATIONS) == set(methods.CLIENT_NOTIFICATIONS)
    run(scenario)


NOTIFICATIONS = {
    "notifications/cancelled": types.CancelledNotificationParams(request_id=999, reason="nobody asked")
}
"""What a client can say without asking; that it ends a call is another test's matter."""


def test_what_is_kept_is_fresh_until_it_changes(run: Run) -> None:
    async def scenario(client: Client) -> None:
        cache = client.cache
        assert cache is not None
        assert [prompt.name async for prompt in client.prompts()] == ["hello"]
        assert len(cache) == 1
        async with client.listen(prompts=True) as changes:
            await client.call_tool("change", {"what": "prompts"})
            await changes.next()
        assert len(cache) == 0

    run(scenario)


@pytest.mark.parametrize("way", ["cancel", "timeout"])
def test_a_call_that_is_given_up_ends_at_the_server(run: Run, way: str) -> None:
    async def scenario(client: Client) -> None:
        begun = asyncio.Event()
        call = asyncio.ensure_future(
            client.call_tool(
                "wait",
                {"number": 7},
                progress=lambda params: begun.set(),
                timeout=2 if way == "timeout" else 50,
            )
        )
        await begun.wait()
        if way == "cancel":
            call.cancel()
        (outcome,) = await asyncio.gather(call, return_exceptions=True)
        assert isinstance(outcome, TimeoutError if way == "timeout" else asyncio.CancelledError)
        while await client.call_tool("ended", returns=list[int]) != [7]:
            await asyncio.sleep(0.01)

    run(scenario)


KINDS = {
    kind.code: kind
    for kind in (
        errors.ParseError,
        errors.InvalidRequest,
        errors.MethodNotFound,
        errors.InvalidParams,
        errors.InternalError,
        errors.HeaderMismatch,
        errors.MissingRequiredClientCapability,
        errors.UnsupportedProtocolVersion,
    )
}


def test_no_error_is_left_out() -> None:
    every = {
        kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.McpError)
    }
    assert every == {*KINDS.values(), errors.McpError, errors.RemoteError}
    assert set(KINDS) <= set(ERRORS)
    facts = json.loads((ROOT / "schema" / f"{REVISION}.json").read_text())
    assert set(codes(facts)) == set(KINDS)


def codes(schema: Any) -> Iterator[int]:
    """The codes of errors that a schema names."""
    if is_array(schema):
        for item in schema:
            yield from codes(item)
    if is_object(schema):
        code: Any = schema["code"] if is_object(schema.get("code")) else {}
        yield from [code["const"]] if "const" in code else []
        for member in schema.values():
            yield from codes(member)


@pytest.mark.parametrize("code", ERRORS)
def test_every_error_is_raised_as_its_type_with_its_data(run: Run, code: int) -> None:
    meant = ERRORS[code]

    async def scenario(client: Client) -> None:
        with pytest.raises(errors.McpError) as caught:
            await client.call_tool("refuse", {"code": code})
        assert type(caught.value) is KINDS.get(code, errors.RemoteError)
        assert (caught.value.message, caught.value.data) == (meant.message, meant.data)
        assert getattr(caught.value, "remote_code", caught.value.code) == code
        assert await client.call_tool("echo", {"value": 1}, returns=int) == 1

    run(scenario)


def test_errors_of_the_protocol_are_those_of_the_specification(run: Run) -> None:
    async def scenario(client: Client) -> None:
        with pytest.raises(errors.InvalidParams, match="no such"):
            await client.call_tool("no such")
        with pytest.raises(errors.InvalidParams):
            await client.read_resource("no://such")
        with pytest.raises(errors.InvalidParams):
            await client.get_prompt("hello", {})
        with pytest.raises(errors.InvalidParams, match="cursor"):
            await client.list_tools("never given out")
        with pytest.raises(errors.MissingRequiredClientCapability) as missing:
            await client.call_tool("greet")
        assert missing.value.data == {"requiredCapabilities": {"elicitation": {"form": {}}}}
        old = client.meta().model_copy(update={"protocol_version": "2020-01-01"})
        with pytest.raises((errors.UnsupportedProtocolVersion, errors.HeaderMismatch)):
            await client.calls.discover(types.RequestParams(meta=old))
        failed = await client.call_tool("fail")
        assert failed.is_error and "not for clients" not in text(failed)
        with pytest.raises(ToolFailed):
            await client.call_tool("fail", returns=str)
        wrong = await client.call_tool("steps", {"count": "many"})
        assert wrong.is_error and "count" in text(wrong)

    run(scenario)


def test_every_question_is_answered(run: Run) -> None:
    sampled = types.CreateMessageResult(role="assistant", content=types.TextContent(text="Paris"), model="m1")
    entered = types.ElicitResult(action="accept", content={"name": "Ann"})
    options: Options = {
        "elicit": lambda asked: entered,
        "elicit_url": lambda asked: types.ElicitResult(action="decline"),
        "sample": lambda asked: sampled,
        "roots": lambda: [types.Root(uri="file:///x"), types.Root(uri="file:///y")],
    }

    async def scenario(client: Client) -> None:
        assert text(await client.call_tool("greet")) == "Ann Ann"
        assert text(await client.call_tool("visit")) == "decline"
        assert text(await client.call_tool("capital")) == "m1"
        assert await client.call_tool("folders", returns=list[str]) == ["file:///x", "file:///y"]
        results = await asyncio.gather(*(client.call_tool("greet") for _ in range(20)))
        assert {text(result) for result in results} == {"Ann Ann"}

    run(scenario, **options)


def test_large_messages_go_both_ways(run: Run) -> None:
    async def scenario(client: Client) -> None:
        long = "ü" * (1 << 20)
        assert await client.call_tool("echo", {"value": long}, returns=str) == long

    run(scenario)
