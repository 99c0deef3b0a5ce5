"""A server that does no work: one answer for every request, over HTTP on a free port or over stdio.

    python bare_server.py http      prints its URL, and serves until it is ended
    python bare_server.py stdio     serves its standard input

It finds the id of a request with a regular expression and writes an answer around it, so that what is measured is
the client.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys

TOOL = (
    b'{"name":"forecast","description":"The weather.","inputSchema":{"type":"object","properties":'
    b'{"city":{"type":"string"},"days":{"type":"integer"}},"required":["city"]}}'
)
CACHE = b'"resultType":"complete","ttlMs":0,"cacheScope":"private"'
RESULTS = {
    b"server/discover": b"{" + CACHE + b',"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}',
    b"tools/list": b"{" + CACHE + b',"tools":[' + TOOL + b"]}",
    b"tools/call": b'{"resultType":"complete","content":[{"type":"text","text":"12 degrees and rain"}]}',
}

IDENTITY = re.compile(rb'"id": ?([0-9]+|"[^"]*")')
METHOD = re.compile(rb'"method": ?"([^"]+)"')
LENGTH = re.compile(rb"content-length: *([0-9]+)", re.IGNORECASE)


def answer(message: bytes) -> bytes | None:
    """The answer to a request; None to a notification."""
    identity, method = IDENTITY.search(message), METHOD.search(message)
    if identity is None or method is None:
        return None
    return b'{"jsonrpc":"2.0","id":' + identity[1] + b',"result":' + RESULTS[method[1]] + b"}"


class Http(asyncio.Protocol):
    """One connection, kept open."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._data = b""

    def data_received(self, data: bytes) -> None:
        """Answer each request that is whole."""
        self._data += data
        while (end := self._data.find(b"\r\n\r\n")) >= 0:
            length = LENGTH.search(self._data, 0, end)
            size = end + 4 + (int(length[1]) if length else 0)
            if len(self._data) < size:
                return
            body, self._data = self._data[end + 4 : size], self._data[size:]
            said = answer(body)
            status = b"202 Accepted" if said is None else b"200 OK\r\ncontent-type: application/json"
            head = b"HTTP/1.1 %b\r\ncontent-length: %d\r\n\r\n" % (status, len(said or b""))
            self._transport.write(head + (said or b""))


async def http() -> None:
    """Serve on a free port."""
    server = await asyncio.get_running_loop().create_server(Http, "127.0.0.1", 0)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp", flush=True)
    await server.serve_forever()


def stdio() -> None:
    """Serve the standard input: all that has come is answered by one write."""
    rest = b""
    while chunk := os.read(0, 1 << 16):
        *lines, rest = (rest + chunk).split(b"\n")
        said = b"".join(one + b"\n" for one in map(answer, lines) if one is not None)
        while said:
            said = said[os.write(1, said) :]


if __name__ == "__main__":
    asyncio.run(http()) if sys.argv[1] == "http" else stdio()
