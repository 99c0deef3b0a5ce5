"""Where a browser comes back to after a login: one page on the loopback interface, and the browser that goes there."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import webbrowser
from typing import Final

PATH: Final = "/callback"
"""The path that the browser is sent back to."""

PAGE: Final = b"<!doctype html><title>Login</title><p>You may close this page and go back to the program."

HEAD_SECONDS: Final = 10.0
"""How long a connection may take to say what it wants."""


async def browse(address: str) -> None:
    """Show the user a page: in the browser, and as an address for where there is none."""
    print(f"To log in, open this address: {address}", file=sys.stderr, flush=True)
    await asyncio.to_thread(webbrowser.open, address)


class Listener:
    """Listens on the loopback interface until a browser comes to `PATH`."""

    def __init__(self) -> None:
        self._visits: set[asyncio.Task[None]] = set()
        self._servers: list[asyncio.Server] = []

    async def open(self, port: int = 0) -> str:
        """Listen on a port, or on a free one, and return the address; raises OSError when the port is taken."""
        self._came: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._servers.append(await asyncio.start_server(self._serve, "127.0.0.1", port))
        self._port = int(self._servers[0].sockets[0].getsockname()[1])
        # A browser may take `localhost` for either of the two; not every system has the second.
        with contextlib.suppress(OSError):
            self._servers.append(await asyncio.start_server(self._serve, "::1", self._port))
        return f"http://localhost:{self._port}{PATH}"

    async def came(self) -> str:
        """Wait for the browser, and return the address that it was sent to."""
        return await self._came

    async def close(self) -> None:
        """Stop listening, and end what is under way."""
        for server in self._servers:
            server.close()
        for visit in self._visits:
            visit.cancel()
        await asyncio.gather(*self._visits, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        visit = asyncio.current_task()
        assert visit is not None
        self._visits.add(visit)
        try:
            # `close` cancels, and asks for no more than the end.
            with contextlib.suppress(
                asyncio.CancelledError, TimeoutError, OSError, EOFError, asyncio.LimitOverrunError
            ):
                async with asyncio.timeout(HEAD_SECONDS):
                    head = await reader.readuntil(b"\r\n\r\n")
                    await self._answer(head, writer)
        finally:
            self._visits.discard(visit)
            writer.close()

    async def _answer(self, head: bytes, writer: asyncio.StreamWriter) -> None:
        method, _, rest = head.partition(b"\r\n")[0].decode("latin-1").partition(" ")
        target = rest.partition(" ")[0]
        found = method == "GET" and target.partition("?")[0] == PATH
        page, status = (PAGE, "200 OK") if found else (b"", "404 Not Found")
        writer.write(
            f"HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {len(page)}\r\n"
            "cache-control: no-store\r\nreferrer-policy: no-referrer\r\nconnection: close\r\n\r\n".encode()
            + page
        )
        await writer.drain()
        if found and not self._came.done():
            self._came.set_result(f"http://localhost:{self._port}{target}")
