"""A server that asks, logs, tells of changes and shows its lists in pages: over a real pipe, and in memory."""

# Sampling and roots are deprecated, and specified.
# pyright: reportDeprecated=false

from __future__ import annotations

import asyncio
from typing import Any

from mcprotocol.errors import McpError
from mcprotocol.latest import types
from mcprotocol.server import Accepted, Cache, Context, Refused, Server
from mcprotocol.server.stdio import run
from pydantic import BaseModel, Field

KEY = b"0123456789abcdef0123456789abcdef"


class Name(BaseModel):
    name: str = Field(min_length=1)


class Trip(BaseModel):
    city: str
    days: int = 3


def said(answer: Accepted[Name] | Refused) -> str:
    return f"Hello, {answer.content.name}!" if isinstance(answer, Accepted) else answer.action


def made(**options: Any) -> Server:
    """The server, with a key that its replicas share."""
    settings: dict[str, Any] = {"state_key": KEY, "logging": True, "page_size": 4, **options}
    server = Server("asking", version="1", **settings)
    server.tool()(greet)
    server.tool()(greet_plainly)
    server.tool()(everything)
    server.tool()(side_by_side)
    server.tool()(two_rounds)
    server.tool()(travel)
    server.tool()(stubborn)
    server.tool()(swallow)
    server.tool()(visit)
    server.tool()(raw)
    server.tool()(own)
    server.tool()(wait)
    server.tool()(steps)
    server.tool()(chat)
    server.tool()(chat_plainly)
    server.prompt()(introduction)
    server.resource("asked://name", ttl_ms=60_000, cache_scope="public")(greet)

    @server.tool()
    def change() -> str:
        server.add_tool(lambda: "new", name="new")
        server.remove_tool("new")
        return "changed"

    @server.tool()
    async def update(uri: str) -> str:
        await server.notify_resource_updated(uri)
        return "updated"

    return server


async def greet(ctx: Context) -> str:
    return said(await ctx.elicit("What is your name?", Name, key="user_name"))


def greet_plainly(ctx: Context) -> str:
    return said(ctx.elicit("What is your name?", Name, key="user_name").result())


async def everything(ctx: Context) -> str:
    name, text, roots = await ctx.ask(
        ctx.elicit("Name?", Name, key="name").optional(),
        ctx.sample("What is the capital of France?", max_tokens=100, key="capital").optional(),
        ctx.roots(key="roots").optional(),
    )
    return " ".join(
        [
            said(name) if name else "nobody",
            text.model if text else "no model",
            ",".join(root.uri for root in roots) if roots is not None else "no roots",
        ]
    )


async def side_by_side(ctx: Context, grouped: bool) -> str:
    if not grouped:
        first, second = await asyncio.gather(ask(ctx, "first"), ask(ctx, "second"))
        return first + second
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(ask(ctx, key)) for key in ("first", "second")]
    return "".join(task.result() for task in tasks)


async def ask(ctx: Context, key: str) -> str:
    return said(await ctx.elicit(key, Name, key=key))


async def two_rounds(ctx: Context) -> str:
    runs = ctx.recall("runs", 0) + 1
    ctx.remember("runs", runs)
    first = await ctx.elicit("Name?", Name)
    second = await ctx.elicit("Colour?", {"type": "object", "properties": {"colour": {"type": "string"}}})
    assert isinstance(first, Accepted) and isinstance(second, Accepted)
    return f"{first.content.name} {second.content['colour']} {runs}"


async def travel(ctx: Context, where: str) -> str:
    answer = await ctx.elicit(f"How long in {where}?", Trip, key="trip")
    return f"{answer.content.days} days" if isinstance(answer, Accepted) else answer.action


async def stubborn(ctx: Context) -> str:
    while True:
        await ctx.elicit("Again?", Name)


async def swallow(ctx: Context) -> str:
    try:
        return said(await ctx.elicit("Name?", Name, key="name"))
    except McpError as error:
        return f"without: {error.code}"
    except Exception:
        return "swallowed"


async def visit(ctx: Context) -> str:
    return (await ctx.elicit_url("Sign in", "https://example.com/in", key="visit")).action


async def raw(ctx: Context, empty: bool = False) -> types.InputRequiredResult:
    if empty:
        return types.InputRequiredResult()
    form = types.ElicitRequestFormParams.model_validate(
        {"message": "m", "requestedSchema": {"type": "object", "properties": {}}}
    )
    return types.InputRequiredResult(
        input_requests={"form": types.ElicitRequest(params=form), "roots": types.ListRootsRequest()}
    )


async def own(ctx: Context) -> str | types.InputRequiredResult:
    """Keeps a state of its own, of which one is empty and the next absent."""
    if "roots" in ctx.input_responses:
        return "done"
    if ctx.request_state is None:
        return types.InputRequiredResult(request_state="")
    if ctx.request_state == "":
        return types.InputRequiredResult(request_state=" \u00fc ")
    return types.InputRequiredResult(input_requests={"roots": types.ListRootsRequest()})


async def wait(seconds: float) -> str:
    await asyncio.sleep(seconds)
    return "waited"


async def steps(ctx: Context) -> str:
    for step in (0, 1, 1, 0.5, 2):
        await ctx.progress(step, total=2)
    return "done"


async def chat(ctx: Context) -> str:
    for level in ("debug", "info", "error"):
        await ctx.log(level, {"level": level}, logger="chat")
    return "said"


def chat_plainly(ctx: Context) -> str:
    ctx.log("warning", "plainly")
    return "said"


async def introduction(ctx: Context) -> str:
    return said(await ctx.elicit("Who?", Name, key="user_context"))


if __name__ == "__main__":
    run(lambda: made(cache=Cache(1000)))
