"""The generated client beside the official one, against the same bare server: calls per second, and ratios.

    python tests/benchmarks/client_speed.py [ROUNDS]

Each row runs its subjects in turn, round after round, on connections that are open, and prints the median of each
and the ratio of ours to theirs: calls of a tool over HTTP and over stdio, by one caller and by 32 side by side, as
calls per second of the clock and as CPU time of the client for each call, which a busy machine changes less. The
last row is the import of each client in a fresh process. It measures and does not judge; needs the extra `dev` (the
official client).
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
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


async def measured(call: Call, callers: int) -> tuple[float, float]:
    """Calls per second, and the CPU microseconds of each."""

    async def caller() -> None:
        for _ in range(CALLS // callers):
            await call()

    clock, used = time.perf_counter(), time.process_time()
    await asyncio.gather(*(caller() for _ in range(callers)))
    return CALLS / (time.perf_counter() - clock), (time.process_time() - used) / CALLS * 1e6


async def compared(url: str | None, callers: int, rounds: int) -> list[tuple[float, float]]:
    """The median rate and CPU time of each client, interleaved."""
    async with subjects(url) as calls:
        found: list[list[tuple[float, float]]] = [[] for _ in calls]
        for turn in range(rounds + 1):
            for index, call in enumerate(calls):
                one = await measured(call, callers)
                if turn:  # The first is to get warm.
                    found[index].append(one)
            gc.collect()
    return [(statistics.median(r for r, _ in each), statistics.median(c for _, c in each)) for each in found]


def row(title: str, ours: float, theirs: float, ratio: str) -> None:
    """Print one row."""
    print(f"{title:40} {ours:12.0f} {theirs:12.0f}   {ratio}", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rounds", nargs="?", type=int, default=9, help="how often each subject runs")
    rounds: int = parser.parse_args().rounds
    print(f"{'':40} {'ours':>12} {'official':>12}")
    gc.disable()
    with site() as url:
        for name, where in (("HTTP", url), ("stdio", None)):
            for callers in CALLERS:
                (our_rate, our_time), (their_rate, their_time) = asyncio.run(compared(where, callers, rounds))
                title = f"{name}, {callers} side by side" if callers > 1 else f"{name}, one caller"
                row(f"{title}, calls/s", our_rate, their_rate, f"{our_rate / their_rate:.2f}x faster")
                row(f"{title}, CPU us a call", our_time, their_time, f"{their_time / our_time:.2f}x less")
    ours, theirs = imports(["import mcprotocol.client", "import mcp"], rounds)
    row("import in a fresh process, CPU us", ours, theirs, f"{ours / theirs:.2f}x of theirs")


if __name__ == "__main__":
    main()
