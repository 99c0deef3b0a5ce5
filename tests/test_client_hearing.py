"""What a call tells while it is under way is heard in order before its result, however slow the one who hears it is."""

# What is deprecated is still part of the revision:
# pyright: reportDeprecated=false

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import pytest
from mcprotocol.client import Client, Disconnected, hearing
from mcprotocol.errors import InvalidParams
from mcprotocol.latest import types
from scaffolded import PATIENCE


class Talker:
    """A server that tells of progress, and says as much in log messages, before it answers or refuses."""

    def __init__(self, count: int, refuses: bool = False) -> None:
        self._count = count
        members: dict[str, Any] = {
            "content": [],
            "contents": [],
            "messages": [],
            "ttlMs": 0,
            "cacheScope": "private",
        }
        self._end: dict[str, Any] = {"result": {"resultType": "complete", **members}}
        if refuses:
            self._end = {"error": {"code": -32602, "message": "no"}}

    def connect(self) -> Talker:
        return self

    async def handle(self, data: bytes, send: Callable[[bytes], Awaitable[None]]) -> bytes | None:
        identity = json.loads(data).get("id")
        if identity is None:
            return None
        for number in range(self._count):
            progress = {"progressToken": identity, "progress": number}
            said = {"level": "info", "data": number}
            for method, params in (("progress", progress), ("message", said)):
                notice = {"jsonrpc": "2.0", "method": f"notifications/{method}", "params": params}
                await send(json.dumps(notice).encode())
        return json.dumps({"jsonrpc": "2.0", "id": identity, **self._end}).encode()


def run(work: Coroutine[Any, Any, None]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(PATIENCE):
            await work

    asyncio.run(bounded())


@pytest.mark.parametrize("refuses", [False, True])
def test_an_async_callback_has_heard_everything_in_order_when_the_call_ends(refuses: bool) -> None:
    heard: dict[str, list[Any]] = {"progress": [], "messages": []}

    async def progress(told: types.ProgressNotificationParams) -> None:
        await asyncio.sleep(0.01 if told.progress % 2 else 0)
        heard["progress"].append(told.progress)

    async def messages(told: types.LoggingMessageNotificationParams) -> None:
        await asyncio.sleep(0)
        heard["messages"].append(told.data)

    async def scenario() -> None:
        async with Client.memory(Talker(10, refuses)) as client:
            call = client.call_tool("t", progress=progress, messages=messages)
            (outcome,) = await asyncio.gather(call, return_exceptions=True)
        assert isinstance(outcome, InvalidParams if refuses else types.CallToolResult)

    run(scenario())
    assert heard == {"progress": [*range(10)], "messages": [*range(10)]}


def test_a_callback_that_is_too_slow_hears_the_newest_and_is_one_task(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(hearing, "MAX_WAITING", 5)
    heard: list[float] = []
    tasks: list[int] = []

    async def scenario() -> None:
        talker = Talker(0)
        go_on = asyncio.Event()

        async def slow(told: types.ProgressNotificationParams) -> None:
            heard.append(told.progress)
            await go_on.wait()

        async def handle(data: bytes, send: Callable[[bytes], Awaitable[None]]) -> bytes | None:
            before = len(asyncio.all_tasks())
            answer = await Talker(100).handle(data, send)
            tasks.append(len(asyncio.all_tasks()) - before)
            go_on.set()
            return answer

        monkeypatch.setattr(talker, "handle", handle)
        async with Client.memory(talker) as client:
            await client.call_tool("t", progress=slow)

    run(scenario())
    assert heard == [0, 95, 96, 97, 98, 99]
    assert tasks == [1]
    assert [record.message for record in caplog.records] == [
        "a callback is too slow: it is not told everything"
    ]


def test_an_async_callback_that_fails_is_no_fault_of_the_call_and_hears_the_rest() -> None:
    heard: list[float] = []

    async def failing(told: types.ProgressNotificationParams) -> None:
        heard.append(told.progress)
        await asyncio.sleep(0)
        raise LookupError

    async def scenario() -> None:
        async with Client.memory(Talker(3)) as client:
            assert not (await client.call_tool("t", progress=failing)).is_error

    run(scenario())
    assert heard == [0, 1, 2]


@pytest.mark.parametrize("refuses", [False, True])
def test_a_callback_that_never_ends_takes_no_answer_away(refuses: bool) -> None:
    async def never(told: types.ProgressNotificationParams) -> None:
        await asyncio.Event().wait()

    async def scenario() -> None:
        async with Client.memory(Talker(3, refuses)) as client:
            call = client.call_tool("t", progress=never, timeout=0.05)
            (outcome,) = await asyncio.gather(call, return_exceptions=True)
        assert isinstance(outcome, InvalidParams if refuses else types.CallToolResult)

    run(scenario())


def test_a_call_whose_callback_is_still_at_it_takes_no_message_of_the_next_one() -> None:
    heard: list[Any] = []

    async def scenario() -> None:
        begun, go_on = asyncio.Event(), asyncio.Event()

        async def slow(told: types.LoggingMessageNotificationParams) -> None:
            begun.set()
            await go_on.wait()

        async with Client.memory(Talker(2)) as client:
            first = asyncio.ensure_future(client.call_tool("t", messages=slow))
            await begun.wait()
            await client.call_tool("t", messages=lambda told: heard.append(told.data))
            assert not first.done()
            go_on.set()
            await first

    run(scenario())
    assert heard == [0, 1]


def test_a_callback_that_the_end_of_the_client_comes_before_leaves_nothing() -> None:
    async def unheard(told: types.ProgressNotificationParams) -> None:
        raise AssertionError("the client was closed before")

    async def scenario() -> None:
        begun = asyncio.Event()

        class Endless(Talker):
            async def handle(self, data: bytes, send: Callable[[bytes], Awaitable[None]]) -> bytes | None:
                begun.set()
                await super().handle(data, send)
                await asyncio.Event().wait()
                return None

        async with Client.memory(Endless(1)) as client:
            call = asyncio.ensure_future(client.call_tool("t", progress=unheard))
            await begun.wait()
        (outcome,) = await asyncio.gather(call, return_exceptions=True)
        assert isinstance(outcome, Disconnected)

    run(scenario())
    gc.collect()  # What was never awaited says so now, and fails the test.


CALLS = {"call_tool": "t", "read_resource": "a://b", "get_prompt": "p"}
"""The calls that a server may be at for a while, with what each is for."""


@pytest.mark.parametrize("name", CALLS)
def test_whatever_a_server_may_be_at_for_a_while_tells_of_it(name: str) -> None:
    heard: list[Any] = []
    asked: list[Any] = []

    class Resourceful(Talker):
        async def handle(self, data: bytes, send: Callable[[bytes], Awaitable[None]]) -> bytes | None:
            asked.append(json.loads(data)["params"]["_meta"].get("io.modelcontextprotocol/logLevel"))
            return await super().handle(data, send)

    def progress(told: types.ProgressNotificationParams) -> None:
        heard.append(told.progress)

    def messages(told: types.LoggingMessageNotificationParams) -> None:
        heard.append((told.level, told.data))

    async def scenario() -> None:
        async with Client.memory(Resourceful(2)) as client:
            call = getattr(client, name)
            await call(CALLS[name], progress=progress, messages=messages)
            await call(CALLS[name], messages=messages, level="error")

    run(scenario())
    assert heard == [0, ("info", 0), 1, ("info", 1)]
    assert asked == ["info", "error"]
