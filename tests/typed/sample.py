"""The public surface as a type checker sees it; checked by mypy and pyright, never run."""

from __future__ import annotations

from typing import Any, assert_type

from mcprotocol.client import Client
from mcprotocol.jsonrpc import RequestMethod
from mcprotocol.server import Context, Server
from mcprotocol.unions import Unknown
from mcprotocol.v2025_11_25 import messages as legacy_messages
from mcprotocol.v2025_11_25 import types as legacy
from mcprotocol.v2026_07_28 import client, messages, methods, types
from pydantic import BaseModel

Block = (
    types.TextContent
    | types.ImageContent
    | types.AudioContent
    | types.ResourceLink
    | types.EmbeddedResource
    | Unknown
)


def results_by_method(data: bytes) -> None:
    called = messages.parse_result("tools/call", data)
    assert_type(called, types.CallToolResult | types.InputRequiredResult)
    assert_type(messages.parse_result("tools/list", data), types.ListToolsResult)
    assert_type(messages.parse_result("server/discover", data), types.DiscoverResult)
    assert_type(legacy_messages.parse_result("ping", data), legacy.Result)


def rows_by_method() -> None:
    assert_type(
        messages.request_method("prompts/get"),
        RequestMethod[types.GetPromptRequestParams, types.GetPromptResult | types.InputRequiredResult],
    )
    assert_type(methods.LIST_TOOLS, RequestMethod[types.PaginatedRequestParams, types.ListToolsResult])


def requests_by_method(data: bytes) -> str | None:
    request = messages.parse_request(data)
    if request.method == "tools/call":
        assert_type(request, types.CallToolRequest)
        return request.params.name
    return None


def members(result: types.CallToolResult, tool: types.Tool, meta: types.RequestMetaObject) -> None:
    block: Block = result.content[0]
    assert_type(block, Block)
    assert_type(result.is_error, bool | None)
    assert_type(tool.input_schema, dict[str, Any])
    assert_type(meta.protocol_version, str)
    assert_type(meta.progress_token, int | str | None)


async def calls(sender: client.ClientCalls, params: types.CallToolRequestParams) -> None:
    assert_type(await sender.call_tool(params), types.CallToolResult | types.InputRequiredResult)


class Exact(Server):
    """The exact level: a stub overridden with its own types."""

    async def call_tool(
        self, params: types.CallToolRequestParams, ctx: Context
    ) -> types.CallToolResult | types.InputRequiredResult:
        """Answer every call alike."""
        return types.CallToolResult(content=[types.TextContent(text=params.name)])


class Forecast(BaseModel):
    """What a caller wants of a tool."""

    city: str


async def returned(client: Client) -> None:
    assert_type(await client.call_tool("a"), types.CallToolResult)
    assert_type(await client.call_tool("a", {"b": 1}, returns=Forecast), Forecast)
    assert_type(await client.call_tool("a", returns=list[int]), list[int])
