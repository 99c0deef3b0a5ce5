"""The generated client beside the official one, against the same bare server: calls per second, and ratios.

    python tests/benchmarks/client_speed.py [ROUNDS]

Each row runs its subjects in turn, round after round, on connections that are open, and prints the median of each
and the ratio of ours to theirs: calls of a tool over HTTP and over stdio, by one caller and by 32 side by side. The
last row is the import of each client in a fresh process. It measures and does not judge; needs the extra `dev` (the
official client).
"""

from __future__ import annotations

import asyncio
import gc
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from collections.abc import Generator
from pathlib import Path
from typing import TypeAlias

from mcp import Client as Official
from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client
from types_speed import imports

from mcprotocol.client import Client
from mcprotocol.latest import REVISION

SERVER = (sys.executable, str(Path(__file__).parent / "bare_server.py"))
ARGUMENTS = {"city": "Oslo", "days": 3}
CALLERS = (1, 32)
CALLS = 640
"""How many calls a round is."""

Call: TypeAlias = Callable[[], Awaitable[object]]


@contextmanager
def site() -> Generator[str, None, None]:
    """The URL of the bare server."""
    with subprocess.Popen([*SERVER, "http"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


@asynccontextmanager
async def subjects(url: str | None) -> AsyncGenerator[list[Call], None]:
    """A call of each client, ours first; over stdio where there is no URL."""
    async with AsyncExitStack() as stack:
        ours = await stack.enter_async_context(
            Client.http(url) if url is not None else Client.stdio([*SERVER, "stdio"])
        )
        program = StdioServerParameters(command=SERVER[0], args=[SERVER[1], "stdio"])
        theirs = await stack.enter_async_context(
            Official(url if url is not None else stdio_client(program), mode=REVISION)
        )
        yield [lambda: ours.call_tool("forecast", ARGUMENTS), lambda: theirs.call_tool("forecast", ARGUMENTS)]


async def rate(call: Call, callers: int) -> float:
    """Calls per second."""

    async def caller() -> None:
        for _ in range(CALLS // callers):
            await call()

    begun = time.perf_counter()
    await asyncio.gather(*(caller() for _ in range(callers)))
    return CALLS / (time.perf_counter() - begun)


async def rates(url: str | None, callers: int, rounds: int) -> list[float]:
    """The median calls per second of each client, interleaved."""
    async with subjects(url) as calls:
        found: list[list[float]] = [[] for _ in calls]
        for turn in range(rounds + 1):
            for index, call in enumerate(calls):
                speed = await rate(call, callers)
                if turn:  # The first is to get warm.
                    found[index].append(speed)
            gc.collect()
    return [statistics.median(speeds) for speeds in found]


def main() -> None:
    """Print the table."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    print(f"{'':40} {'ours':>12} {'official':>12} {'ratio':>7}")
    gc.disable()
    with site() as url:
        for name, where in (("HTTP", url), ("stdio", None)):
            for callers in CALLERS:
                ours, theirs = asyncio.run(rates(where, callers, rounds))
                title = (
                    f"{name}, {callers} side by side, calls/s"
                    if callers > 1
                    else f"{name}, one caller, calls/s"
                )
                print(f"{title:40} {ours:12.0f} {theirs:12.0f} {ours / theirs:6.2f}x of theirs")
    ours, theirs = imports(["import mcprotocol.client", "import mcp"], rounds)
    print(f"{'import in a fresh process, us':40} {ours:12.0f} {theirs:12.0f} {ours / theirs:6.2f}x of theirs")


if __name__ == "__main__":
    main()
