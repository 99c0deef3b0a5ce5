"""A server that does all that a server can: every method, every notification, every error code; over stdio or HTTP."""

# What is deprecated is still part of the revision:
# pyright: reportDeprecated=false

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any

from mcprotocol.errors import (
    HeaderMismatch,
    InternalError,
    InvalidParams,
    InvalidRequest,
    McpError,
    MethodNotFound,
    MissingRequiredClientCapability,
    ParseError,
    UnsupportedProtocolVersion,
)
from mcprotocol.latest import types
from mcprotocol.server import Accepted, Cache, Context, Server
from mcprotocol.server.stdio import run
from pydantic import BaseModel


class Own(McpError):
    """An error that only this server has."""

    code = -31000


ERRORS: dict[int, McpError] = {
    -32700: ParseError("because"),
    -32600: InvalidRequest("because", {"a": [1]}),
    -32601: MethodNotFound("because"),
    -32602: InvalidParams("because", ["x"]),
    -32603: InternalError("because"),
    -32020: HeaderMismatch("because"),
    -32021: MissingRequiredClientCapability({"sampling": {"tools": {}}}),
    -32022: UnsupportedProtocolVersion("2020-01-01", ["2099-01-01"]),
    -31000: Own("because", {"of": "mine"}),
}
"""An error of each code."""


class Name(BaseModel):
    """A form."""

    name: str
    times: int = 2


WITHDRAWN = "withdrawn://"
"""A resource that can be listened to only until the server has said so."""


class Both(Server):
    """A server that also ends subscriptions by itself."""

    async def subscriptions_listen(
        self, params: types.SubscriptionsListenRequestParams, ctx: Context
    ) -> types.SubscriptionsListenResult:
        if params.notifications.resource_subscriptions != [WITHDRAWN]:
            return await super().subscriptions_listen(params, ctx)
        tag = types.NotificationMetaObject(subscription_id=ctx.request_id)
        await ctx.calls.notify_subscriptions_acknowledged(
            types.SubscriptionsAcknowledgedNotificationParams(meta=tag, notifications=params.notifications)
        )
        await ctx.calls.notify_cancelled(
            types.CancelledNotificationParams(meta=tag, request_id=ctx.request_id)
        )
        await asyncio.sleep(60)
        raise AssertionError("nobody is left to be told")


def made() -> Server:
    server = Both(
        "both",
        version="1",
        title="Both sides",
        instructions="ask",
        logging=True,
        page_size=3,
        cache=Cache(60_000, "public"),
        state_key="a key that is not a secret, and long enough",
    )
    cancelled: list[int] = []

    @server.tool()
    async def echo(value: Any) -> types.CallToolResult:
        return types.CallToolResult(content=[], structured_content=value)

    @server.tool()
    async def steps(count: int, ctx: Context) -> int:
        for step in range(count):
            await ctx.progress(step, total=count, message=f"step {step}")
        return count

    @server.tool()
    async def speak(ctx: Context) -> str:
        for level in ("debug", "info", "error"):
            await ctx.log(level, {"level": level}, logger="both")
        return "said"

    @server.tool()
    async def refuse(code: int) -> str:
        raise ERRORS[code]

    @server.tool()
    async def fail() -> str:
        raise LookupError("not for clients")

    @server.tool()
    async def wait(number: int, ctx: Context) -> str:
        await ctx.progress(1)
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.append(number)
            raise
        return "waited"

    @server.tool()
    def process() -> int:
        return os.getpid()

    @server.tool()
    async def ended() -> list[int]:
        return cancelled

    @server.tool()
    async def greet(ctx: Context) -> str:
        answer = await ctx.elicit("Who?", Name, key="name")
        return (
            " ".join([answer.content.name] * answer.content.times)
            if isinstance(answer, Accepted)
            else answer.action
        )

    @server.tool()
    async def visit(ctx: Context) -> str:
        return (await ctx.elicit_url("Sign in", "https://example.com/in", key="visit")).action

    @server.tool()
    async def capital(ctx: Context) -> str:
        return (await ctx.sample("The capital of France?", max_tokens=10, key="capital")).model

    @server.tool()
    async def folders(ctx: Context) -> list[str]:
        return [root.uri for root in await ctx.roots(key="roots")]

    @server.tool()
    async def change(what: str) -> str:
        if what == "tools":
            server.add_tool(lambda: "", name="more")
            server.remove_tool("more")
        elif what == "prompts":
            server.add_prompt(lambda: "", name="more")
            server.remove_prompt("more")
        elif what == "resources":
            server.add_resource(lambda: "", uri="more://", name="more")
            server.remove_resource("more://")
        else:
            await server.notify_resource_updated(what)
        return what

    @server.resource("config://app")
    def config() -> str:
        return "on"

    @server.resource("users://{id}")
    def user(id: str) -> str:
        return f"user {id}"

    @server.prompt()
    def hello(name: str) -> str:
        return f"hello {name}"

    @server.completion(prompt="hello", argument="name")
    def names(value: str) -> list[str]:
        return [name for name in ("Ann", "Anna", "Bob") if name.startswith(value)]

    @server.completion(resource="users://{id}", argument="id")
    def ids(value: str, chosen: dict[str, str]) -> list[str]:
        return [value + one for one in chosen]

    return server


if __name__ == "__main__":
    if "http" in sys.argv:
        made().serve(port=int(sys.argv[-1]) if sys.argv[-1].isdigit() else 0)
    else:
        run(made)
