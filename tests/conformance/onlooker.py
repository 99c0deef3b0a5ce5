"""The everything server of the official Python package, with an onlooker: `python onlooker.py FILE [--stdio]`.

The server is run as it was published: the onlooker changes no request and no answer, and writes to the file which
requests were cancelled while they were under way. Without the flag it serves HTTP on a free port.
"""

from __future__ import annotations

import sys
from asyncio import CancelledError
from importlib import import_module
from pathlib import Path
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext


async def watch(context: ServerRequestContext[Any], proceed: CallNext) -> HandlerResult:
    """Let a request be answered; note down the one that nobody wants any more."""
    try:
        return await proceed(context)
    except CancelledError:
        with Path(sys.argv[1]).open("a", encoding="utf-8") as file:
            file.write(f"{context.method}\n")
        raise


if __name__ == "__main__":
    everything: Any = import_module("mcp_everything_server.server")
    everything.mcp.middleware.append(watch)
    if sys.argv[2:] == ["--stdio"]:
        everything.mcp.run("stdio")
    else:
        everything.main(["--port", "0"])
