"""A server with the habits that spoil a stream: it prints, logs to stdout, starts children, sleeps and hangs."""

from __future__ import annotations

import asyncio
import sys
import time
from typing import Any

from mcprotocol.server.stdio import run


def load() -> Any:
    """The server, built where its author's module would be imported."""
    import logging
    import subprocess

    from mcprotocol.server import Server

    print("printed at import")
    logging.basicConfig(stream=sys.stdout, level=logging.INFO)
    server = Server("habits", version="1")

    @server.tool()
    async def echo(text: str) -> str:
        return text

    @server.tool()
    async def repeat(text: str, times: int) -> str:
        return text * times

    @server.tool()
    def sleep(seconds: float) -> str:
        time.sleep(seconds)
        return "slept"

    @server.tool()
    async def block(seconds: float) -> str:
        time.sleep(seconds)
        return "blocked"

    @server.tool()
    async def hang(seconds: float) -> str:
        await asyncio.to_thread(time.sleep, seconds)
        return "hung"

    @server.tool()
    async def wait(seconds: float) -> str:
        await asyncio.sleep(seconds)
        return "waited"

    @server.tool()
    def noise() -> str:
        print("printed in a handler \u8aad\n", end="")
        logging.getLogger("author").warning("logged to stdout")
        subprocess.run(["echo", "printed by a child"], check=True)
        return repr(subprocess.run(["cat"], stdout=subprocess.PIPE, check=True, timeout=5).stdout)

    @server.tool()
    async def crash() -> str:
        raise RuntimeError("for the log")

    return server


if __name__ == "__main__":
    run(load, max_message_bytes=int(sys.argv[1]) if len(sys.argv) > 1 else 16 << 20, drain_seconds=1.0)
