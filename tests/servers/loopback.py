"""A server on a free loopback port, with tools that wait, report and remember what was cancelled.

With `--mounted` it stands in a host application that never reaches its lifespan; with `--port` on a given port.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import time
from collections import Counter
from typing import Annotated

from mcprotocol.server import Context, Header, Server
from starlette.applications import Starlette
from starlette.routing import Mount

server = Server("loopback", version="1")
seen: Counter[str] = Counter()


@server.tool()
async def echo(text: str) -> str:
    """Give back a text."""
    return text


@server.tool()
async def regional(region: Annotated[str, Header("Region")]) -> str:
    """Take an argument that is repeated in a header."""
    return region


@server.tool()
async def wait(seconds: float, *, ctx: Context) -> str:
    """Report, wait, and count how it ended."""
    await ctx.progress(1)
    seen["started"] += 1
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        seen["cancelled"] += 1
        raise
    seen["finished"] += 1
    return "waited"


@server.tool()
async def stay(way: str, *, ctx: Context) -> None:
    """Report, and never end: not when cancelled, not letting anybody else run, or in a thread that is waited for."""
    await ctx.progress(1)
    while way == "stubborn":
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(600)
    if way == "blocking":
        time.sleep(600)
    await asyncio.to_thread(time.sleep, 600)


@server.tool()
async def counts() -> dict[str, int]:
    """How the waits have ended."""
    return dict(seen)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--mounted", action="store_true")
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    inner = server.http()
    server.serve(
        port=options.port,
        application=Starlette(routes=[Mount("/", inner)]) if options.mounted else inner,
    )
