"""A server that is killed and comes back, over stdio and HTTP alike: calls fail, listeners stay, nothing leaks."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import signal
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from emitted import ROOT
from hosted import hosted
from mcprotocol.client import Client, Disconnected, Missed
from mcprotocol.latest import types

SERVER = ROOT / "tests/both.py"
PATIENCE = 120.0

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/fd").is_dir(), reason="needs /proc, to count descriptors"
)

ENVIRONMENT: dict[str, Any] = {
    **os.environ,
    "PYTHONPATH": os.pathsep.join(str(ROOT / folder) for folder in ("generated", "tests")),
}


class Mortal:
    """A client of a server that can be killed and started again."""

    def __init__(self, client: Client, revive: Callable[[], Awaitable[None]]) -> None:
        self.client = client
        self.revive = revive

    async def process(self) -> int:
        return await self.client.call_tool("process", returns=int)

    async def kill(self) -> None:
        os.kill(await self.process(), signal.SIGKILL)


@asynccontextmanager
async def over_stdio() -> AsyncGenerator[Mortal, None]:
    """A server that the client itself starts again."""

    async def revive() -> None:
        with contextlib.suppress(Disconnected):  # The one who still found the old server.
            await client.discover(fresh=True)
        await client.discover(fresh=True)

    async with Client.stdio(
        [sys.executable, SERVER], env=ENVIRONMENT, restart=True, timeout=PATIENCE
    ) as client:
        yield Mortal(client, revive)


@asynccontextmanager
async def over_http() -> AsyncGenerator[Mortal, None]:
    """A server that somebody starts again at the same place."""
    async with AsyncExitStack() as stack:
        site = await stack.enter_async_context(hosted(sys.executable, SERVER, "http", **ENVIRONMENT))
        port = site.url.rpartition(":")[2]

        async def revive() -> None:
            await stack.enter_async_context(hosted(sys.executable, SERVER, "http", port, **ENVIRONMENT))

        async with Client.http(f"{site.url}/mcp", timeout=PATIENCE) as client:
            yield Mortal(client, revive)


Play = Callable[[Callable[[Mortal], Awaitable[None]]], None]


@pytest.fixture(params=[over_stdio, over_http])
def play(request: pytest.FixtureRequest) -> Play:
    """Plays a scenario; what it leaves open fails the test."""

    def bounded(scenario: Callable[[Mortal], Awaitable[None]]) -> None:
        async def whole() -> None:
            async with asyncio.timeout(PATIENCE):
                async with request.param() as mortal:
                    await scenario(mortal)
                while len(asyncio.all_tasks()) > 1:
                    await asyncio.sleep(0.01)  # Until nothing is left that runs.

        asyncio.run(asyncio.sleep(0))  # What a first loop opens for good is open now.
        before = descriptors()
        asyncio.run(whole())
        gc.collect()  # What was not closed says so now, and fails the test.
        assert descriptors() == before
        assert children() == []

    return bounded


def descriptors() -> list[str]:
    return sorted(os.listdir("/proc/self/fd"))


def children() -> list[str]:
    """The child processes of this one, among them those that have ended and that nobody has taken note of."""
    return Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()


async def begun(client: Client, count: int) -> list[asyncio.Task[Any]]:
    """Calls that the server is at, and will not end."""
    told = asyncio.Semaphore(0)
    calls = [
        asyncio.create_task(
            client.call_tool("wait", {"number": number}, progress=lambda params: told.release())
        )
        for number in range(count)
    ]
    for _ in calls:
        await told.acquire()
    return calls


def test_calls_fail_with_one_error_and_later_ones_are_answered_again(play: Play) -> None:
    async def scenario(mortal: Mortal) -> None:
        for _ in range(2):
            before = await mortal.process()
            calls = await begun(mortal.client, 20)
            await mortal.kill()
            outcomes = await asyncio.gather(*calls, return_exceptions=True)
            assert {type(outcome) for outcome in outcomes} == {Disconnected}
            assert len({str(outcome) for outcome in outcomes}) == 1
            await mortal.revive()
            assert await mortal.process() != before

    play(scenario)


def test_a_listener_hears_again_of_changes_after_it_was_told_that_it_may_have_missed_some(play: Play) -> None:
    async def scenario(mortal: Mortal) -> None:
        client = mortal.client
        async with client.listen(tools=True) as tools, client.listen(prompts=True) as prompts:
            for _ in range(2):
                await client.call_tool("change", {"what": "tools"})
                assert isinstance(await tools.next(), types.ToolListChangedNotification)
                await mortal.kill()
                await mortal.revive()
                for changes in (tools, prompts):
                    assert isinstance(await changes.next(), Missed)
            await client.call_tool("change", {"what": "prompts"})
            assert isinstance(await prompts.next(), types.PromptListChangedNotification)
            assert tools.granted.tools_list_changed and prompts.granted.prompts_list_changed

    play(scenario)


def test_while_the_server_is_away_calls_over_http_fail_at_once_and_what_was_kept_is_stale() -> None:
    async def scenario() -> None:
        async with over_http() as mortal:
            client = mortal.client
            assert [prompt.name async for prompt in client.prompts()] == ["hello"]
            async with client.listen(prompts=True) as changes:
                await mortal.kill()
                with pytest.raises(Disconnected):
                    await client.discover(fresh=True)
                while client.cache:
                    await asyncio.sleep(0.01)
                await mortal.revive()
                assert isinstance(await changes.next(), Missed)

    async def bounded() -> None:
        async with asyncio.timeout(PATIENCE):
            await scenario()

    asyncio.run(bounded())
