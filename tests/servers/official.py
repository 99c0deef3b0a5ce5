"""A server on the official package of both eras, for the plays of the handshake era: `official.py stdio|streamable-http`."""

# What is deprecated is still part of the revision:
# pyright: reportDeprecated=false

from __future__ import annotations

import asyncio
import sys
import warnings
from typing import Any

import mcp_types as types
from mcp import MCPDeprecationWarning
from mcp.server import ServerRequestContext
from mcp.server.elicitation import AcceptedElicitation
from mcp.server.mcpserver import Context, MCPServer
from pydantic import BaseModel

server = MCPServer("official", instructions="ask")
cancelled: list[str] = []
levels: list[str] = []
subscribed: list[str] = []

Told = Context[Any, Any]


class Name(BaseModel):
    name: str
    times: int = 2


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
async def ask(message: str, ctx: Told) -> str:
    """Put a form to the user."""
    answer = await ctx.elicit(message, Name)
    return answer.data.name * answer.data.times if isinstance(answer, AcceptedElicitation) else answer.action


@server.tool()
async def link(url: str, ctx: Told) -> str:
    """Send the user to a URL."""
    return (await ctx.elicit_url("Go there", url, elicitation_id="one")).action


@server.tool()
async def sample(ctx: Told) -> str:
    """Ask a model."""
    said = types.SamplingMessage(role="user", content=types.TextContent(type="text", text="hi"))
    content = (await ctx.session.create_message([said], max_tokens=5)).content
    return content.text if isinstance(content, types.TextContent) else content.type


@server.tool()
async def roots(ctx: Told) -> list[str]:
    """Ask for the roots."""
    return [str(root.uri) for root in (await ctx.session.list_roots()).roots]


@server.tool()
async def ping(ctx: Told) -> str:
    """Ask whether the client is there."""
    await ctx.session.send_ping()
    return "pong"


@server.tool()
async def steps(ctx: Told) -> str:
    """Tell of progress."""
    for step in (1, 2):
        await ctx.report_progress(step, 2, f"step {step}")
    return "done"


@server.tool()
async def speak(ctx: Told) -> str:
    """Say something of each level."""
    spoken: tuple[types.LoggingLevel, ...] = ("debug", "info", "error")
    for level in spoken:
        await ctx.log(level, level)
    return "said"


@server.tool()
async def wait() -> str:
    """Last longer than anybody waits."""
    try:
        await asyncio.sleep(600)
    except asyncio.CancelledError:
        cancelled.append("wait")
        raise
    return "never"


@server.tool()
async def noted() -> dict[str, list[str]]:
    """What was noted."""
    return {"cancelled": cancelled, "levels": levels, "subscribed": subscribed}


@server.tool()
async def change(ctx: Told) -> str:
    """Change all that there is, and tell of it."""
    server.add_tool(lambda: "new", name="extra", description="Come late")
    await ctx.session.send_tool_list_changed()
    await ctx.session.send_prompt_list_changed()
    await ctx.session.send_resource_list_changed()
    await ctx.session.send_resource_updated("config://app")
    return "changed"


@server.resource("config://app")
def config() -> str:
    """Text."""
    return "on"


@server.resource("image://dot", mime_type="image/png")
def dot() -> bytes:
    """Bytes."""
    return b"\x00\xffdot"


@server.resource("users://{id}")
def user(id: str) -> str:
    """One of many."""
    return f"user {id}"


@server.prompt()
def hello(name: str) -> str:
    """Greet somebody."""
    return f"hello {name}"


async def complete(
    ref: types.PromptReference | types.ResourceTemplateReference,
    argument: types.CompletionArgument,
    context: types.CompletionContext | None,
) -> types.Completion:
    """Complete anything."""
    return types.Completion(values=[f"{argument.value}nna"])


async def set_level(ctx: ServerRequestContext[Any], params: types.SetLevelRequestParams) -> types.EmptyResult:
    """Note a level."""
    levels.append(params.level)
    return types.EmptyResult()


async def subscribe(
    ctx: ServerRequestContext[Any], params: types.SubscribeRequestParams
) -> types.EmptyResult:
    """Note a subscription."""
    subscribed.append(f"+{params.uri}")
    return types.EmptyResult()


async def unsubscribe(
    ctx: ServerRequestContext[Any], params: types.UnsubscribeRequestParams
) -> types.EmptyResult:
    """Note the end of one."""
    subscribed.append(f"-{params.uri}")
    return types.EmptyResult()


if __name__ == "__main__":
    warnings.simplefilter("ignore", MCPDeprecationWarning)
    complete_by: Any = server.completion  # Which says nothing of its type.
    complete_by()(complete)
    low = server._lowlevel_server  # pyright: ignore[reportPrivateUsage]  # There is no other way.
    low.add_request_handler("logging/setLevel", types.SetLevelRequestParams, set_level)
    low.add_request_handler("resources/subscribe", types.SubscribeRequestParams, subscribe)
    low.add_request_handler("resources/unsubscribe", types.UnsubscribeRequestParams, unsubscribe)
    if sys.argv[1] == "stdio":
        server.run("stdio")
    else:
        server.run("streamable-http", port=0)
