"""How a change gets to many sessions: by one listener for all of them, and none of them holds up another."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from functools import partial

import pytest
from guests import Guest, messages, soon
from hosted import Post
from mcprotocol.server import Server
from mcprotocol.server.asgi import Message, Receive, Scope, Send
from mcprotocol.server.legacy import relay as relays
from mcprotocol.server.legacy.relay import Relay
from mcprotocol.server.streams import Change, LocalBus
from scaffolded import PATIENCE

TOOLS = Change("tools")
PROMPTS = Change("prompts")


class Counted(LocalBus):
    """A bus that knows how many listen to it."""

    def __init__(self) -> None:
        super().__init__()
        self.listening = 0
        self.ever = 0

    def subscribe(self, take: Callable[[Change], None]) -> Callable[[], None]:
        leave = super().subscribe(take)
        self.listening += 1
        self.ever += 1

        def left() -> None:
            self.listening -= 1
            leave()

        return left


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not true():
            await asyncio.sleep(0)


def test_one_listener_serves_all_sessions_and_leaves_with_the_last() -> None:
    async def scenario() -> None:
        bus = Counted()
        relay = Relay(bus)
        heard: list[tuple[int, Change]] = []

        def hear(number: int, change: Change) -> None:
            heard.append((number, change))

        leave = [relay.subscribe(partial(hear, number)) for number in range(3)]
        assert bus.listening == 1
        bus.publish(TOOLS)
        bus.publish(PROMPTS)
        bus.publish(TOOLS)
        await until(lambda: len(heard) == 6)
        assert heard == [
            *((number, TOOLS) for number in range(3)),
            *((number, PROMPTS) for number in range(3)),
        ]
        leave[0]()
        leave[0]()
        leave[1]()
        assert bus.listening == 1
        leave[2]()
        assert bus.listening == 0
        relay.subscribe(lambda change: None)
        assert (bus.listening, bus.ever) == (1, 2)

    asyncio.run(scenario())


def test_sessions_are_told_on_their_loop_whoever_publishes() -> None:
    async def scenario() -> None:
        bus = LocalBus()
        where: list[int] = []
        Relay(bus).subscribe(lambda change: where.append(threading.get_ident()))
        await asyncio.to_thread(bus.publish, TOOLS)
        await until(lambda: bool(where))
        assert where == [threading.get_ident()]

    asyncio.run(scenario())


def test_one_that_cannot_be_told_is_logged_and_the_others_are(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        bus = LocalBus()
        relay = Relay(bus)
        heard: list[Change] = []

        async def publish(number: int) -> None:
            bus.publish(TOOLS)
            await until(lambda: len(heard) == number)

        def fail(change: Change) -> None:
            raise LookupError("it is gone")

        relay.subscribe(fail)
        relay.subscribe(heard.append)
        await publish(1)
        await publish(2)

    with caplog.at_level(logging.ERROR):
        asyncio.run(scenario())
    assert [record.message for record in caplog.records] == ["a session could not be told of a change"] * 2


def test_one_that_leaves_while_others_are_told_is_told_no_more() -> None:
    async def scenario() -> None:
        bus = LocalBus()
        relay = Relay(bus)
        heard: list[str] = []
        leave: list[Callable[[], None]] = []

        def first(change: Change) -> None:
            heard.append("first")
            leave[0]()

        relay.subscribe(first)
        leave.append(relay.subscribe(lambda change: heard.append("second")))
        relay.subscribe(lambda change: heard.append("third"))
        bus.publish(TOOLS)
        await until(lambda: "third" in heard)
        assert heard == ["first", "third"]

    asyncio.run(scenario())


def test_what_else_goes_on_has_its_turn_while_many_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relays, "TURN", 10)

    async def scenario() -> None:
        bus = LocalBus()
        relay = Relay(bus)
        heard: list[Change] = []
        for _ in range(100):
            relay.subscribe(heard.append)
        bus.publish(TOOLS)
        turns: list[int] = []
        while len(heard) < 100:
            await asyncio.sleep(0)
            turns.append(len(heard))
        assert {*range(10, 101, 10)} <= {*turns}

    asyncio.run(scenario())


def test_a_loop_that_has_ended_keeps_nobody_from_being_told() -> None:
    bus = LocalBus()
    relay = Relay(bus)
    heard: list[str] = []

    async def leave_it() -> None:
        relay.subscribe(lambda change: heard.append("gone"))

    async def scenario() -> None:
        relay.subscribe(lambda change: heard.append("here"))
        bus.publish(TOOLS)
        await until(lambda: bool(heard))

    asyncio.run(leave_it())
    asyncio.run(scenario())
    assert heard == ["here"]


def house() -> Server:
    server = Server("house", version="1")

    @server.tool()
    async def nothing() -> str:
        return ""

    return server


def test_a_session_that_is_idle_has_no_task() -> None:
    async def scenario() -> None:
        server = house()
        application = server.http()
        guests = [Guest(application) for _ in range(50)]
        for guest in guests:
            await guest.open()
        assert asyncio.all_tasks() == {asyncio.current_task()}
        await server.notify_list_changed("tools")
        for guest in guests:
            stream = guest.get()
            task = stream.begin()
            await stream.until(b"notifications/tools/list_changed")
            assert len(messages(stream.response)) == 1
            await guest.leave()
            await soon(task)

    asyncio.run(scenario())


def test_a_session_whose_client_reads_nothing_holds_up_no_other() -> None:
    async def scenario() -> None:
        server = house()
        application = server.http()
        slow, quick = Guest(application), Guest(application)
        await slow.open()
        await quick.open()
        written = asyncio.Event()

        async def stuck(scope: Scope, receive: Receive, send: Send) -> None:
            async def write(event: Message) -> None:
                if b"list_changed" in event.get("body", b""):
                    written.set()
                    await asyncio.Event().wait()
                await send(event)

            await application(scope, receive, write)

        held = Post(stuck, b"", slow.headers, method="GET").begin()
        stream = quick.get()
        task = stream.begin()

        async def told(times: int) -> None:
            await server.notify_list_changed("tools")
            await until(lambda: stream.response.body.count(b"list_changed") == times)

        await told(1)
        await written.wait()
        await told(2)
        await told(3)
        stream.leave()
        await soon(task)
        assert not held.done()
        held.cancel()
        await asyncio.wait([held])

    asyncio.run(scenario())
