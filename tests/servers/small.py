"""A server that takes small messages only: over stdio, or with `--http` on a free loopback port."""

from __future__ import annotations

import sys
from typing import Any

from mcprotocol.server import Server
from mcprotocol.server.stdio import run

LIMIT = 1 << 16
"""The longest message, in bytes."""

server = Server("small", version="1", page_size=2)


@server.tool()
async def echo(text: str, more: Any = None) -> str:
    """Give back a text."""
    return text


@server.tool()
def count(numbers: list[int]) -> int:
    """Add up."""
    return sum(numbers)


@server.tool()
async def fail() -> str:
    """Fail for a reason of its own."""
    raise RuntimeError("for the log")


@server.prompt()
def greeting(name: str) -> str:
    """Greet."""
    return f"Hello, {name}!"


@server.resource("note://{name}")
def note(name: str) -> str:
    """A note."""
    return name


if __name__ == "__main__":
    if "--http" in sys.argv:
        server.serve(port=0, application=server.http(max_body_bytes=LIMIT))
    else:
        run(lambda: server, max_message_bytes=LIMIT)
