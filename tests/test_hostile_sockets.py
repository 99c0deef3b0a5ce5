"""Hostile connections: requests that are none, that never end or are cut off, beside one that is in order.

What is a request at all is judged by uvicorn; what the application owes is that nobody else notices.
"""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress

from hosted import body, hosted
from malice import Message, Owed
from steady import GROWTH, LIMIT, LINUX, SMALL, Caller, head, resident
from wires import PATIENCE

GOOD = body(1, "tools/call", name="echo", arguments={"text": "hi"})


def sized(length: str, data: bytes = GOOD) -> bytes:
    """A post whose Content-Length says this, right or wrong."""
    return head(GOOD, **{"Content-Length": length}) + data


CHUNKED = {"Content-Length": "", "Transfer-Encoding": "chunked"}

NO_ANSWER = (None,)

RAW: dict[str, tuple[bytes, tuple[int | None, ...]]] = {
    "no request": (b"\x00\xff" * 50 + b"\r\n\r\n", (400,)),
    "another protocol": (b"SSH-2.0-client\r\n\r\n", (400,)),
    "an endless line": (b"POST /" + b"a" * (1 << 17), (400, 404, 431, None)),
    "an endless header": (
        b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * (1 << 17),
        (400, 431, None),
    ),
    "a line without a colon": (b"POST /mcp HTTP/1.1\r\nHost localhost\r\n\r\n", (400,)),
    "a length that is none": (sized("many"), (400,)),
    "a length below nothing": (sized("-1"), (400,)),
    "a length beyond all": (sized("9" * 30), (400, 413)),
    "a length over the limit": (sized(str(LIMIT + 1)), (413,)),
    "a length that is too short": (sized(str(len(GOOD) - 1)), (400,)),
    "a length that is too long": (sized(str(len(GOOD) + 1)), NO_ANSWER),
    "half a head": (head(GOOD)[:60], NO_ANSWER),
    "half a body": (sized(str(len(GOOD)), GOOD[:20]), NO_ANSWER),
    "chunks that are none": (head(GOOD, **CHUNKED) + b"zz\r\n" + GOOD, (400,)),
    "half a chunk": (head(GOOD, **CHUNKED) + b"%x\r\n" % len(GOOD) + GOOD[:10], NO_ANSWER),
    "chunks over the limit": (
        head(GOOD, **CHUNKED) + b"fffff\r\n" + b"x" * 0xFFFFF + b"\r\n0\r\n\r\n",
        (413, None),
    ),
    "chunks in order": (head(GOOD, **CHUNKED) + b"%x\r\n" % len(GOOD) + GOOD + b"\r\n0\r\n\r\n", (200,)),
    "nothing": (b"", NO_ANSWER),
    "all in order": (head(GOOD) + GOOD, (200,)),
}
"""What is sent over a connection that is then closed for writing, and the statuses that may come back first."""


async def raw(url: str, data: bytes) -> int | None:
    """The status of the first response to some bytes and their end; None when there was none."""
    host, _, port = url.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    found = b""
    # A server may close at once what it does not want to read to its end.
    with suppress(OSError):
        writer.write(data)
        writer.write_eof()
    with suppress(OSError):
        found = await reader.readline()
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
    return int(found.split()[1]) if found else None


@LINUX
def test_connections_full_of_malice_do_not_disturb_the_others() -> None:
    async def run() -> None:
        async with hosted(sys.executable, SMALL, "--http") as site:
            good = Caller(site.url)
            warm = 0
            for turn in range(15):
                async with asyncio.timeout(PATIENCE):
                    found = await asyncio.gather(*(raw(site.url, data) for data, _ in RAW.values()))
                    await good.post(Message(GOOD, Owed("1", (None,))))
                answers = dict(zip(RAW, found, strict=True))
                wrong = {
                    name: answers[name] for name, (_, allowed) in RAW.items() if answers[name] not in allowed
                }
                assert wrong == {}
                warm = warm if turn > 3 else resident(site.process.pid)
            assert resident(site.process.pid) - warm < GROWTH
            await good.close()
        assert not any("Traceback" in line for line in site.errors), "".join(site.errors)

    asyncio.run(run())


@LINUX
def test_callers_that_never_come_to_an_end_keep_nobody_waiting_and_are_forgotten() -> None:
    async def run() -> None:
        async with hosted(sys.executable, SMALL, "--http") as site:
            host, _, port = site.url.removeprefix("http://").partition(":")
            good = Caller(site.url)
            warm = 0
            for turn in range(6):
                async with asyncio.timeout(PATIENCE):
                    slow = await asyncio.gather(
                        *(asyncio.open_connection(host, int(port)) for _ in range(100))
                    )
                    for number, (_, writer) in enumerate(slow):
                        writer.write(b"" if number % 4 == 0 else (head(GOOD) + GOOD)[: number * 5 + 1])
                    for byte in GOOD[:20]:
                        for _, writer in slow[1::4]:
                            writer.write(bytes([byte]))
                        await good.post(Message(GOOD, Owed("1", (None,))))
                    for _, writer in slow:
                        writer.transport.abort()
                    await good.post(Message(GOOD, Owed("1", (None,))))
                warm = warm if turn > 1 else resident(site.process.pid)
            assert resident(site.process.pid) - warm < GROWTH
            await good.close()
        assert not any("Traceback" in line for line in site.errors), "".join(site.errors)

    asyncio.run(run())
