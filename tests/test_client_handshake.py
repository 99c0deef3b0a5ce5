"""The client with a server of the handshake era: every call does what it does with a newer one."""

# What is deprecated is still part of the revision:
# pyright: reportDeprecated=false

from __future__ import annotations

import json
from typing import Any

import pytest
from mcprotocol.client import Client, ClientSync, Disconnected, Missed
from mcprotocol.errors import InvalidParams
from mcprotocol.latest import types
from test_client_era import command, heard, said, within_time


def fill(form: types.ElicitRequestFormParams) -> types.ElicitResult:
    return types.ElicitResult(action="accept", content={"name": "Ann"})


def misfill(form: types.ElicitRequestFormParams) -> types.ElicitResult:
    return types.ElicitResult(action="accept", content={"name": 1})


def visit(at: types.ElicitRequestURLParams) -> types.ElicitResult:
    return types.ElicitResult(action="accept")


def speak(params: types.CreateMessageRequestParams) -> types.CreateMessageResult:
    return types.CreateMessageResult(role="assistant", model="none", content=types.TextContent(text="hello"))


def home() -> list[types.Root]:
    return [types.Root(uri="file:///home")]


def broken() -> list[types.Root]:
    raise LookupError


CAPABLE: dict[str, Any] = {"elicit": fill, "elicit_url": visit, "sample": speak, "roots": home}
"""A client that can be asked anything."""


def old(**options: Any) -> Client:
    return Client.stdio(command(), timeout=60, **options)


async def answer(client: Client, tool: str) -> Any:
    """What the server got for what it asked in a call."""
    message = json.loads(said(await client.call_tool(tool)))
    assert message.pop("jsonrpc") == "2.0" and message.pop("id") == "q"
    return message


def test_what_a_server_is_told_is_what_that_era_has() -> None:
    async def scenario() -> None:
        async with old(**CAPABLE) as client:
            await client.list_tools()
            first, second, third, *rest = await heard(client)
            assert first["method"] == "server/discover"
            assert second["params"] == {
                "protocolVersion": "2025-11-25",
                "capabilities": {"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}},
                "clientInfo": {"name": "mcp-client", "version": "2026-07-28"},
            }
            assert third == {"jsonrpc": "2.0", "method": "notifications/initialized"}
            assert rest[0] == {"jsonrpc": "2.0", "id": rest[0]["id"], "method": "tools/list"}
            assert rest[1]["params"] == {"name": "heard"}

    within_time(scenario())


def test_the_handshake_is_what_a_server_says_of_itself() -> None:
    async def scenario() -> None:
        async with old() as client:
            found = await client.discover()
            assert found.meta is not None and found.meta.server_info is not None
            assert (found.instructions, found.meta.server_info.name) == ("ask", "handshaking")
            assert found.supported_versions == ["2025-11-25"]
            assert found.capabilities.tools is not None and found.capabilities.tools.list_changed is True
            # Tasks of that era are not what the extension calls so.
            assert "tasks" not in found.capabilities.model_dump()
            assert (found.ttl_ms, found.cache_scope) == (0, "private")

    within_time(scenario())


@pytest.mark.parametrize(
    ("tool", "expected"),
    [
        ("ask", {"result": {"action": "accept", "content": {"name": "Ann"}}}),
        ("visit", {"result": {"action": "accept"}}),
        (
            "sample",
            {"result": {"role": "assistant", "model": "none", "content": {"type": "text", "text": "hello"}}},
        ),
        ("roots", {"result": {"roots": [{"uri": "file:///home"}]}}),
        ("ping", {"result": {}}),
    ],
)
def test_what_a_server_asks_is_answered_by_the_same_handlers(tool: str, expected: Any) -> None:
    async def scenario() -> None:
        async with old(**CAPABLE) as client:
            assert await answer(client, tool) == expected

    within_time(scenario())
    with ClientSync.stdio(command(), **CAPABLE) as client:
        assert json.loads(said(client.call_tool(tool))) == {"jsonrpc": "2.0", "id": "q", **expected}


REFUSED: list[tuple[str, dict[str, Any], int]] = [
    ("ask", {}, -32601),
    ("ask", {"elicit_url": visit}, -32602),
    ("visit", {"elicit": fill}, -32602),
    ("sample", {}, -32601),
    ("roots", {}, -32601),
    ("odd", CAPABLE, -32601),
    ("ask", {"elicit": misfill}, -32603),
    ("roots", {"roots": broken}, -32603),
]
"""What a server asks, of whom, and the code of the error that it gets."""


@pytest.mark.parametrize(("tool", "options", "code"), REFUSED)
def test_what_cannot_be_answered_is_an_error_for_the_server(
    tool: str, options: dict[str, Any], code: int
) -> None:
    async def scenario() -> None:
        async with old(**options) as client:
            assert (await answer(client, tool))["error"]["code"] == code

    within_time(scenario())


def test_a_call_that_is_refused_until_a_url_was_opened_is_made_again() -> None:
    async def scenario() -> None:
        seen: list[str] = []

        def noted(at: types.ElicitRequestURLParams) -> types.ElicitResult:
            seen.append(at.url)
            return types.ElicitResult(action="accept")

        async with old(elicit_url=noted) as client:
            assert said(await client.call_tool("url_first")) == "in"
            calls = [one["params"] for one in await heard(client) if one.get("method") == "tools/call"]
            assert seen == ["https://example.com/in"]
            assert calls[:2] == [{"name": "url_first"}, {"name": "url_first"}]

    within_time(scenario())


def test_progress_is_told_by_the_token_of_the_call() -> None:
    async def scenario() -> None:
        steps: list[float] = []
        async with old() as client:
            await client.call_tool("progress", progress=lambda told: steps.append(told.progress))
            assert steps == [1, 2]

    within_time(scenario())


def test_the_level_of_a_call_is_set_for_the_session_and_kept_for_each_call() -> None:
    async def scenario() -> None:
        said: list[object] = []
        async with old() as client:
            for level in ("info", "error", "debug", "info"):
                await client.call_tool("log", messages=lambda told: said.append(told.data), level=level)
                said.append(level.upper())
            await client.call_tool("log")
            received = [one for one in await heard(client) if one.get("method") == "logging/setLevel"]
            assert [one["params"] for one in received] == [{"level": "info"}, {"level": "debug"}]
        assert said == [
            *("info", "error", "INFO"),
            *("error", "ERROR"),
            *("debug", "info", "error", "DEBUG"),
            *("info", "error", "INFO"),
        ]

    within_time(scenario())


def test_a_resource_that_is_not_there_is_an_invalid_param_as_in_this_revision() -> None:
    async def scenario() -> None:
        async with old() as client:
            with pytest.raises(InvalidParams, match="Not found") as caught:
                await client.read_resource("a://b")
            assert caught.value.data == {"uri": "a://b"}
            with pytest.raises(InvalidParams, match="Unknown tool"):
                await client.call_tool("none")

    within_time(scenario())


def test_what_a_result_calls_its_type_there_means_nothing() -> None:
    async def scenario() -> None:
        async with old() as client:
            assert await client.call_tool("typed", returns=dict[str, int]) == {"a": 1}

    within_time(scenario())


def test_changes_are_heard_by_the_same_listeners() -> None:
    async def scenario() -> None:
        async with old() as client:
            async with (
                client.listen(tools=True, prompts=True, resources=["a://"]) as changes,
                client.listen(resources=["a://", "b://1"]) as others,
            ):
                # Of its prompts the server tells no changes.
                assert changes.granted == types.SubscriptionFilter(
                    tools_list_changed=True, resource_subscriptions=["a://"]
                )
                await client.call_tool("change")
                assert isinstance(await changes.next(), types.ToolListChangedNotification)
                updated = await changes.next()
                assert (
                    isinstance(updated, types.ResourceUpdatedNotification) and updated.params.uri == "a://1"
                )
                found = [await others.next(), await others.next()]
                assert [
                    one.params.uri for one in found if isinstance(one, types.ResourceUpdatedNotification)
                ] == [
                    "a://1",
                    "b://1",
                ]
            told = [
                (one["method"].partition("/")[2], one["params"]["uri"]) for one in await subscribed(client)
            ]
            assert told[:3] == [("subscribe", "a://"), ("subscribe", "a://"), ("subscribe", "b://1")]
            assert sorted(told[3:]) == [("unsubscribe", "a://"), ("unsubscribe", "b://1")]

    within_time(scenario())


async def subscribed(client: Client) -> list[dict[str, Any]]:
    return [one for one in await heard(client) if str(one.get("method")).startswith("resources/")]


def test_a_call_that_is_given_up_is_cancelled_at_the_server() -> None:
    async def scenario() -> None:
        async with old() as client:
            await client.list_tools()
            with pytest.raises(TimeoutError):
                await client.call_tool("wait", timeout=0.2)
            # The cancellation is sent beside the caller, who does not wait for it.
            await client.list_tools()
            received = await heard(client)
            (waited,) = [one["id"] for one in received if one.get("params", {}).get("name") == "wait"]
            (cancelled,) = [one for one in received if one["method"] == "notifications/cancelled"]
            assert cancelled["params"] == {"requestId": waited}

    within_time(scenario())


def test_a_server_that_is_started_again_is_introduced_again_and_not_asked_its_era() -> None:
    async def scenario() -> None:
        async with old(restart=True) as client, client.listen(tools=True) as changes:
            with pytest.raises(Disconnected, match="exit code 4"):
                await client.call_tool("end")
            assert isinstance(await changes.next(), Missed)
            methods = [one["method"] for one in await heard(client)]
            assert methods[:2] == ["initialize", "notifications/initialized"]
            await client.call_tool("change")
            assert isinstance(await changes.next(), types.ToolListChangedNotification)

    within_time(scenario())


def test_the_exact_calls_go_the_same_way() -> None:
    async def scenario() -> None:
        async with old() as client:
            params = types.CallToolRequestParams(meta=client.meta(), name="progress", arguments={})
            params.meta.progress_token = "mine"
            result = await client.calls.call_tool(params)
            assert isinstance(result, types.CallToolResult) and said(result) == "done"
            *_, call, _ = await heard(client)
            assert call["params"] == {"name": "progress", "arguments": {}, "_meta": {"progressToken": "mine"}}

    within_time(scenario())
