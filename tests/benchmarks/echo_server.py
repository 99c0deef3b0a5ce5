"""The servers that `server_speed.py` compares: one echo tool each, over stdio or HTTP.

    python tests/benchmarks/echo_server.py {ours,official} {stdio,PORT}

Both are written as their documentation shows, and a process imports only what its subject needs. Over HTTP both
answer in JSON and keep no session, and uvicorn runs both with the same options.
"""

from __future__ import annotations

import sys
from typing import Any


def ours() -> Any:
    """The server on the author's surface of the generated package."""
    from mcprotocol.server import Server

    server = Server("echo", version="1")

    @server.tool()
    async def echo(text: str) -> str:
        return text

    return server


def official() -> Any:
    """The same on the author's surface of the official package."""
    from mcp.server.mcpserver import MCPServer

    server = MCPServer("echo", version="1", log_level="WARNING")

    @server.tool()
    async def echo(text: str) -> str:
        return text

    return server


def stdio(subject: str) -> None:
    """Serve over stdin and stdout until they end."""
    if subject == "ours":
        from mcprotocol.server.stdio import run

        run(ours)
    else:
        official().run("stdio")


def http(subject: str, port: int) -> None:
    """Serve over HTTP on a loopback port until killed."""
    import uvicorn

    application = (
        ours().http()
        if subject == "ours"
        else official().streamable_http_app(json_response=True, stateless_http=True)
    )
    uvicorn.run(application, port=port, log_level="warning", access_log=False, ws="none")


def main() -> None:
    """Serve what the arguments say."""
    _, subject, transport = sys.argv
    if transport == "stdio":
        stdio(subject)
    else:
        http(subject, int(transport))


if __name__ == "__main__":
    main()
