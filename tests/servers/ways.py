"""A server whose handlers do all that a handler can do with its client: over stdio, or with `--http` on a free loopback port."""

# Sampling and roots are deprecated, and specified.
# pyright: reportDeprecated=false

from __future__ import annotations

import asyncio
import sys

from mcprotocol.server import Accepted, Context, Server, ToolError
from mcprotocol.server.stdio import run
from pydantic import BaseModel

server = Server("ways", version="1", logging=True)
ended: list[str] = []


class Name(BaseModel):
    """What is asked for."""

    name: str


async def name(ctx: Context, question: str) -> str:
    answer = await ctx.elicit(question, Name)
    if not isinstance(answer, Accepted):
        raise ToolError(f"{question} {answer.action}")
    return answer.content.name


@server.tool()
async def plan(ctx: Context) -> str:
    """Ask in five rounds, the third question depending on the answers before it, and report on the way."""
    await ctx.progress(1, total=3)
    first = await name(ctx, "Who goes?")
    second = await name(ctx, f"Who goes with {first}?")
    third = await name(ctx, f"Who leads {first} and {second}?")
    await ctx.progress(2, total=3)
    reply = await ctx.sample("Where to?")
    roots = await ctx.roots()
    await ctx.progress(3, total=3)
    await ctx.log("info", "planned")
    return f"{third} leads {first} and {second}, {reply.model} says, to {roots[0].uri}"


@server.tool()
async def wait(ctx: Context) -> str:
    """Report once, and wait until nobody wants the answer any more."""
    await ctx.progress(1)
    try:
        await asyncio.Event().wait()
    finally:
        ended.append("waited")
    return "never"


@server.tool()
def count_ended() -> int:
    """How many waits have ended."""
    return len(ended)


@server.tool()
def grow() -> str:
    """Offer one tool more."""
    server.add_tool(count_ended, name="one_more")
    return "grown"


if __name__ == "__main__":
    if "--http" in sys.argv:
        server.serve(port=0)
    else:
        run(lambda: server)
