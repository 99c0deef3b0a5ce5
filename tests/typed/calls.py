"""Every call of the client and of its blocking twin as a type checker sees it; checked by mypy and pyright, never run."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Iterator
from typing import Literal, assert_type

from mcprotocol.client import Cache, Client, ClientSync, Missed
from mcprotocol.latest import client as stubs
from mcprotocol.latest import types
from mcprotocol.server import Server
from pydantic import TypeAdapter

Change = (
    types.ToolListChangedNotification
    | types.PromptListChangedNotification
    | types.ResourceListChangedNotification
    | types.ResourceUpdatedNotification
    | Missed
)


def made(server: Server) -> None:
    assert_type(Client.memory(server, timeout=5), Client)
    assert_type(Client.stdio(["server"], restart=True, cache=False), Client)
    assert_type(Client.http("http://localhost/mcp", cache=Cache()), Client)
    assert_type(ClientSync.memory(server, timeout=5), ClientSync)
    assert_type(ClientSync.stdio(["server"], restart=True, cache=False), ClientSync)
    assert_type(ClientSync.http("http://localhost/mcp", cache=Cache()), ClientSync)


async def awaited(client: Client) -> None:
    async with client as inside:
        assert_type(inside, Client)
    assert_type(await client.open(), Client)
    assert_type(client.meta(), types.RequestMetaObject)
    assert_type(client.cache, Cache | None)
    assert_type(client.info, types.Implementation)
    assert_type(client.era, Literal["modern", "handshake"] | None)
    assert_type(client.protocol_version, str | None)
    assert_type(client.calls, stubs.ClientCalls)
    assert_type(await client.discover(fresh=True), types.DiscoverResult)
    assert_type(await client.list_tools(), types.ListToolsResult)
    assert_type(await client.list_prompts(), types.ListPromptsResult)
    assert_type(await client.list_resources(), types.ListResourcesResult)
    assert_type(await client.list_resource_templates(), types.ListResourceTemplatesResult)
    assert_type(client.tools(), AsyncIterator[types.Tool])
    assert_type(client.prompts(), AsyncIterator[types.Prompt])
    assert_type(client.resources(), AsyncIterator[types.Resource])
    assert_type(client.resource_templates(), AsyncIterator[types.ResourceTemplate])
    assert_type([tool async for tool in client.tools()], list[types.Tool])
    assert_type(await client.call_tool("a", timeout=5), types.CallToolResult)
    assert_type(await client.call_tool("a", returns=TypeAdapter(dict[str, int])), dict[str, int])
    assert_type(await client.read_resource("a://b"), types.ReadResourceResult)
    assert_type(await client.get_prompt("a", {"b": "c"}), types.GetPromptResult)
    assert_type(await client.complete("a", "b", prompt="c"), types.CompleteResult)
    async with client.listen(tools=True, resources=["a://b"]) as changes:
        assert_type(changes.granted, types.SubscriptionFilter)
        assert_type(await changes.next(), Change | None)
        async for change in changes:
            assert_type(change, Change)


async def exact(client: Client, page: types.PaginatedRequestParams) -> None:
    calls = client.calls
    assert_type(await calls.discover(types.RequestParams(meta=client.meta())), types.DiscoverResult)
    assert_type(await calls.list_tools(page), types.ListToolsResult)
    assert_type(await calls.list_prompts(page), types.ListPromptsResult)
    assert_type(await calls.list_resources(page), types.ListResourcesResult)
    assert_type(await calls.list_resource_templates(page), types.ListResourceTemplatesResult)
    read = types.ReadResourceRequestParams(meta=client.meta(), uri="a://b")
    assert_type(await calls.read_resource(read), types.ReadResourceResult | types.InputRequiredResult)
    get = types.GetPromptRequestParams(meta=client.meta(), name="a")
    assert_type(await calls.get_prompt(get), types.GetPromptResult | types.InputRequiredResult)
    call = types.CallToolRequestParams(meta=client.meta(), name="a")
    assert_type(await calls.call_tool(call), types.CallToolResult | types.InputRequiredResult)
    typed = types.CompleteRequestParams(
        meta=client.meta(),
        ref=types.PromptReference(name="a"),
        argument=types.CompleteRequestParamsArgument(name="b", value="c"),
    )
    assert_type(await calls.complete(typed), types.CompleteResult)
    asked = types.SubscriptionsListenRequestParams(
        meta=client.meta(), notifications=types.SubscriptionFilter(tools_list_changed=True)
    )
    assert_type(await calls.subscriptions_listen(asked), types.SubscriptionsListenResult)
    told: Awaitable[None] = calls.notify_cancelled(types.CancelledNotificationParams(request_id=1))
    await told


def waited_for(client: ClientSync, call: types.CallToolRequestParams) -> None:
    with client as inside:
        assert_type(inside, ClientSync)
    assert_type(client.open(), ClientSync)
    assert_type(client.meta(), types.RequestMetaObject)
    assert_type(client.cache, Cache | None)
    assert_type(client.info, types.Implementation)
    assert_type(client.era, Literal["modern", "handshake"] | None)
    assert_type(client.protocol_version, str | None)
    assert_type(client.calls, stubs.ClientCalls)
    assert_type(client.discover(fresh=True), types.DiscoverResult)
    assert_type(client.list_tools(), types.ListToolsResult)
    assert_type(client.list_prompts(), types.ListPromptsResult)
    assert_type(client.list_resources(), types.ListResourcesResult)
    assert_type(client.list_resource_templates(), types.ListResourceTemplatesResult)
    assert_type(client.tools(), Iterator[types.Tool])
    assert_type(client.prompts(), Iterator[types.Prompt])
    assert_type(client.resources(), Iterator[types.Resource])
    assert_type(client.resource_templates(), Iterator[types.ResourceTemplate])
    assert_type(client.call_tool("a", timeout=5), types.CallToolResult)
    assert_type(client.call_tool("a", returns=list[int]), list[int])
    assert_type(client.read_resource("a://b"), types.ReadResourceResult)
    assert_type(client.get_prompt("a", {"b": "c"}), types.GetPromptResult)
    assert_type(client.complete("a", "b", prompt="c"), types.CompleteResult)
    assert_type(client.run(client.calls.call_tool(call)), types.CallToolResult | types.InputRequiredResult)
    with client.listen(tools=True, resources=["a://b"]) as changes:
        assert_type(changes.granted, types.SubscriptionFilter)
        for change in changes:
            assert_type(change, Change)
