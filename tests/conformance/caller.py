"""The client of the official suite, on the public surface of `mcprotocol.client`: `python caller.py URL`.

The suite starts it once for each scenario, and says in the environment which one.
"""

# What is deprecated is still part of the revision:
# pyright: reportDeprecated=false

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, TypeAlias

from mcprotocol.client import Client
from mcprotocol.latest import types

Context: TypeAlias = Mapping[str, Any]
"""What the suite tells a scenario beside the URL."""

Scenario: TypeAlias = Callable[[str, Context], Coroutine[Any, Any, None]]


def confirm(form: types.ElicitRequestFormParams) -> types.ElicitResult:
    """Say yes to every form."""
    return types.ElicitResult(action="accept", content={"confirmed": True})


def speak(asked: types.CreateMessageRequestParams) -> types.CreateMessageResult:
    """Be a model of one sentence."""
    return types.CreateMessageResult(
        role="assistant", content=types.TextContent(text="So it is."), model="none"
    )


def able(url: str) -> Client:
    """A client that can do whatever a server may ask for."""
    return Client.http(url, elicit=confirm, sample=speak, roots=list)


async def add(url: str, context: Context) -> None:
    async with able(url) as client:
        await client.list_tools()
        await client.call_tool("add_numbers", {"a": 5, "b": 3})


async def introduce(url: str, context: Context) -> None:
    """The first request is refused for its version: the client chooses again by itself."""
    async with able(url) as client:
        await client.discover()
        await client.list_tools()


async def confirm_calls(url: str, context: Context) -> None:
    async with able(url) as client:
        for kind in ("echo_state", "unrelated", "no_state", "no_result_type"):
            await client.call_tool(f"test_mrtr_{kind}")


async def use_all(url: str, context: Context) -> None:
    """List what there is of each kind, and use the first."""
    async with able(url) as client:
        await client.call_tool((await client.list_tools()).tools[0].name)
        await client.read_resource((await client.list_resources()).resources[0].uri)
        await client.get_prompt((await client.list_prompts()).prompts[0].name)


async def call_as_told(url: str, context: Context) -> None:
    async with able(url) as client:
        await client.list_tools()
        for call in context["toolCalls"]:
            await client.call_tool(call["name"], call["arguments"])


async def call_kept(url: str, context: Context) -> None:
    """Call every tool that the client has not left out."""
    async with able(url) as client:
        for tool in (await client.list_tools()).tools:
            await client.call_tool(tool.name, {name: "x" for name in tool.input_schema.get("properties", {})})


async def list_only(url: str, context: Context) -> None:
    async with able(url) as client:
        await client.list_tools()


async def leave_to_the_form(url: str, context: Context) -> None:
    """Accept a form and fill nothing in: what it has by default is the answer."""

    def accept(form: types.ElicitRequestFormParams) -> types.ElicitResult:
        return types.ElicitResult(action="accept")

    async with Client.http(url, elicit=accept) as client:
        await client.call_tool("test_client_elicitation_defaults")


async def wait_for_the_stream(url: str, context: Context) -> None:
    """Call what is answered only on the stream that is taken up again."""
    async with able(url) as client:
        await client.call_tool("test_reconnection")


async def give_back(url: str, context: Context) -> None:
    """Give a schema back as it was received."""
    async with able(url) as client:
        schemas = {tool.name: tool.input_schema for tool in (await client.list_tools()).tools}
        await client.call_tool("json_schema_echo", {"schema": schemas["json_schema_2020_12_tool"]})


SCENARIOS: Mapping[str, Scenario] = {
    "tools_call": add,
    "initialize": list_only,
    "elicitation-sep1034-client-defaults": leave_to_the_form,
    "sse-retry": wait_for_the_stream,
    "request-metadata": introduce,
    "sep-2322-client-request-state": confirm_calls,
    "http-standard-headers": use_all,
    "http-custom-headers": call_as_told,
    "http-invalid-tool-headers": call_kept,
    "json-schema-ref-no-deref": list_only,
    "json-schema-2020-12-preservation": give_back,
}
"""What is done in each scenario."""


def authorized() -> Mapping[str, Scenario]:
    """What is done in each scenario in which a client has to be authorized."""
    # Only these load what OAuth needs.
    from authorized import SCENARIOS as table

    return table


def main() -> str | None:
    """Play one scenario; what has no row here is said, and played by nobody."""
    name = os.environ["MCP_CONFORMANCE_SCENARIO"]
    table = authorized() if name.startswith("auth/") else SCENARIOS
    if name not in table:
        return f"no scenario of this client is called {name!r}"
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
    asyncio.run(table[name](sys.argv[1], context))
    return None


if __name__ == "__main__":
    sys.exit(main())
