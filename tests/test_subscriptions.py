"""`subscriptions/listen`: acknowledged first, tagged, told once, and ended in good order; in memory and over a pipe."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from mcprotocol.latest import types
from mcprotocol.server import Context, Server
from mcprotocol.server.dispatch import Dispatcher
from mcprotocol.server.streams import Change, LocalBus, Stream
from asking import made
from test_dispatch import SCHEMA, Peer, ask, cancelled, request
from wires import Wire, memory, pipe

TAG = "io.modelcontextprotocol/subscriptionId"
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
TOOLS = {"toolsListChanged": True}

Connect = Callable[[], AbstractAsyncContextManager[Wire]]


@pytest.fixture(params=["memory", "pipe"])
def connect(request: pytest.FixtureRequest) -> Connect:
    return pipe if request.param == "pipe" else lambda: memory(made)


def read(id: str) -> str:
    return id


def listen(identity: object, **notifications: Any) -> bytes:
    return request("subscriptions/listen", identity, notifications=notifications)


def call(identity: object, name: str, **arguments: Any) -> bytes:
    return request("tools/call", identity, name=name, arguments=arguments)


def run(connect: Connect, work: Callable[[Wire], Awaitable[None]]) -> None:
    async def connected() -> None:
        async with connect() as wire:
            await work(wire)

    asyncio.run(connected())


def keeps(definition: str, value: Any) -> None:
    validator: Any = Draft202012Validator({"$ref": f"#/$defs/{definition}", "$defs": SCHEMA["$defs"]})
    validator.validate(value)


async def until_answer(wire: Wire, identity: object) -> list[Any]:
    """The notifications before an answer."""
    seen: list[Any] = []
    while (message := await wire.receive()).get("id") != identity:
        seen.append(message)
    return seen


def test_the_capabilities_say_what_can_be_listened_to() -> None:
    found = ask(made(), request("server/discover"))["result"]["capabilities"]
    assert found == {
        "tools": {"listChanged": True},
        "prompts": {"listChanged": True},
        "resources": {"listChanged": True, "subscribe": True},
        "logging": {},
    }
    keeps("ServerCapabilities", found)


@pytest.mark.parametrize("identity", [0, 7, "7", ""])
def test_changes_bear_the_id_of_the_request_in_its_own_type(connect: Connect, identity: object) -> None:
    async def scenario(wire: Wire) -> None:
        await wire.send(listen(identity, **TOOLS, promptsListChanged=False))
        first = await wire.receive()
        assert first["method"] == ACKNOWLEDGED and "id" not in first
        assert first["params"]["notifications"] == TOOLS
        keeps("SubscriptionsAcknowledgedNotification", first)
        await wire.send(call("c", "change"))
        # Two changes: they are told together or one by one, before the answer or after it.
        told = await until_answer(wire, "c")
        changed, *more = told or [await wire.receive()]
        assert all(message == changed for message in more)
        assert changed["method"] == "notifications/tools/list_changed"
        keeps("ToolListChangedNotification", changed)
        last = (await wire.end())[-1]
        keeps("SubscriptionsListenResultResponse", last)
        assert last["id"] == identity and last["result"]["resultType"] == "complete"
        assert last["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "asking"
        for meta in (first["params"]["_meta"], changed["params"]["_meta"], last["result"]["_meta"]):
            assert meta[TAG] == identity and type(meta[TAG]) is type(identity)

    run(connect, scenario)


def test_each_stream_gets_what_it_asked_for_and_nothing_else(connect: Connect) -> None:
    async def scenario(wire: Wire) -> None:
        await wire.send(listen(1, promptsListChanged=True))
        await wire.send(listen(2, resourceSubscriptions=["a:1", "a:2"]))
        await wire.send(listen(3))
        acknowledged = [await wire.receive() for _ in range(3)]
        assert {m["params"]["_meta"][TAG]: m["params"]["notifications"] for m in acknowledged} == {
            1: {"promptsListChanged": True},
            2: {"resourceSubscriptions": ["a:1", "a:2"]},
            3: {},
        }
        await wire.send(call("a", "change"))
        assert await until_answer(wire, "a") == []
        await wire.send(call("b", "update", uri="a:3"))
        assert await until_answer(wire, "b") == []
        await wire.send(call("c", "update", uri="a:2"))
        seen = await until_answer(wire, "c") + await wire.end()
        updates = [message for message in seen if "method" in message]
        assert updates == [
            {
                "jsonrpc": "2.0",
                "method": "notifications/resources/updated",
                "params": {"_meta": {TAG: 2}, "uri": "a:2"},
            }
        ]
        assert sorted(message["id"] for message in seen if "id" in message) == [1, 2, 3]

    run(connect, scenario)


def test_a_stream_that_is_cancelled_ends_in_silence(connect: Connect) -> None:
    async def scenario(wire: Wire) -> None:
        await wire.send(listen(1, **TOOLS))
        assert (await wire.receive())["method"] == ACKNOWLEDGED
        await wire.send(cancelled(requestId="1"))
        await wire.send(cancelled(requestId=1))
        await wire.send(call("c", "change"))
        assert await until_answer(wire, "c") == []
        assert await wire.end() == []

    run(connect, scenario)


def test_only_what_is_offered_is_acknowledged_and_nothing_is_not_found() -> None:
    empty = Server("e", version="1")
    assert ask(empty, listen(1))["error"]["code"] == -32601

    async def scenario() -> list[Any]:
        server = Server("t", version="1")
        server.add_tool(lambda: None, name="t")
        peer = Peer(server)
        task = peer.begin(listen(1, **TOOLS, promptsListChanged=True, resourceSubscriptions=["a:b"], x=5))
        await asyncio.sleep(0)
        peer.dispatcher.close()
        await task
        return [json.loads(message) for message in peer.sent]

    acknowledgement, last = asyncio.run(scenario())
    assert acknowledgement["params"]["notifications"] == TOOLS and last["id"] == 1


@pytest.mark.parametrize("notifications", [None, [], {"toolsListChanged": 1}, {"resourceSubscriptions": "a"}])
def test_a_filter_that_does_not_fit_is_refused(notifications: Any) -> None:
    data = request("subscriptions/listen", notifications=notifications)
    assert ask(made(), data)["error"]["code"] == -32602


def test_every_kind_of_change_is_announced_from_any_thread() -> None:
    def changes(server: Server) -> list[Callable[[], None]]:
        return [
            lambda: server.add_tool(lambda: "x", name="x"),
            lambda: server.remove_tool("x"),
            lambda: server.add_prompt(lambda: "x", name="x"),
            lambda: server.remove_prompt("x"),
            lambda: server.add_resource(lambda: "x", "x:y"),
            lambda: server.remove_resource("x:y"),
            lambda: server.add_resource(read, "x:{id}"),
            lambda: server.remove_resource("x:{id}"),
        ]

    async def scenario() -> list[str]:
        server = made()
        peer = Peer(server)
        wanted = {f"{kind}ListChanged": True for kind in ("tools", "prompts", "resources")}
        task = peer.begin(listen(1, **wanted))
        await asyncio.sleep(0)
        for change in changes(server):
            thread = threading.Thread(target=change)
            thread.start()
            thread.join()
            await asyncio.sleep(0.01)
        await server.notify_list_changed("tools")
        await asyncio.sleep(0.01)
        peer.dispatcher.close()
        await task
        return [json.loads(message).get("method", "").split("/")[1:2][0] for message in peer.sent[1:-1]]

    kinds = ["tools"] * 2 + ["prompts"] * 2 + ["resources"] * 4 + ["tools"]
    assert asyncio.run(scenario()) == kinds


def test_lists_change_and_a_list_that_is_empty_is_still_a_list() -> None:
    server = Server("t", version="1")
    server.add_tool(lambda: "x", name="x")
    server.remove_tool("x")
    assert ask(server, request("tools/list"))["result"]["tools"] == []
    assert ask(server, call(1, "x"))["error"]["code"] == -32602
    assert "tools" in ask(server, request("server/discover"))["result"]["capabilities"]
    for remove in (server.remove_tool, server.remove_prompt, server.remove_resource):
        with pytest.raises(KeyError, match="not registered"):
            remove("x")
    server.add_tool(lambda: "again", name="x")
    assert ask(server, call(1, "x"))["result"]["content"][0]["text"] == "again"


def test_a_slow_reader_is_told_once_and_keeps_nobody_waiting() -> None:
    async def scenario() -> list[Any]:
        server = made()
        dispatcher: Dispatcher = server.connect()
        gate, sent = asyncio.Event(), list[Any]()

        async def send(data: bytes) -> None:
            sent.append(json.loads(data))
            await gate.wait()

        data = listen(1, **TOOLS, resourceSubscriptions=["a:1", "a:2"])
        task = asyncio.get_running_loop().create_task(dispatcher.handle(data, send))
        await asyncio.sleep(0)
        for index in range(10_000):
            await server.notify_resource_updated(f"a:{index % 5}")
            await server.notify_list_changed("tools")
        assert len(sent) == 1, "nothing goes before the acknowledgement has gone"
        gate.set()
        dispatcher.close()
        await task
        return sent

    told = [(m["method"], m["params"].get("uri")) for m in asyncio.run(scenario())]
    assert told == [
        (ACKNOWLEDGED, None),
        ("notifications/tools/list_changed", None),
        ("notifications/resources/updated", "a:1"),
        ("notifications/resources/updated", "a:2"),
    ]


def test_a_listener_is_woken_once_for_all_that_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        loop = asyncio.get_running_loop()
        schedule, woken = loop.call_soon_threadsafe, list[object]()

        def counted(callback: Callable[..., object], *args: Any, **options: Any) -> asyncio.Handle:
            woken.append(callback)
            return schedule(callback, *args, **options)

        monkeypatch.setattr(loop, "call_soon_threadsafe", counted)
        stream = Stream(lambda change: True)
        changes = stream.changes()
        for expected in (1, 2):
            for index in range(1000):
                stream.put(Change("resources", f"a:{index % 2}"))
            assert len(woken) == expected
            uris = [(await anext(changes)).uri for _ in range(2)]
            assert uris == ["a:0", "a:1"]
        for _ in range(1000):
            stream.put(Change("tools"))
        assert len(woken) == 3, "what comes while the listener is busy wakes it once more"
        assert await anext(changes) == Change("tools")
        waiting = loop.create_task(anext(changes))
        await asyncio.sleep(0)
        thread = threading.Thread(target=stream.put, args=[Change("prompts")])
        thread.start()
        thread.join()
        assert await asyncio.wait_for(waiting, 10) == Change("prompts")

    asyncio.run(scenario())


def test_a_listener_hears_every_change_of_many_threads() -> None:
    async def scenario() -> set[str | None]:
        stream = Stream(lambda change: True)
        heard = set[str | None]()

        def publish(thread: int) -> None:
            for index in range(200):
                stream.put(Change("resources", f"{thread}:{index}"))

        async def hear() -> None:
            async for change in stream.changes():
                heard.add(change.uri)
                await asyncio.sleep(0)

        listener = asyncio.get_running_loop().create_task(hear())
        await asyncio.gather(*(asyncio.to_thread(publish, thread) for thread in range(4)))
        async with asyncio.timeout(30):
            while len(heard) < 800:
                await asyncio.sleep(0)
        stream.end()
        await asyncio.wait_for(listener, 10)
        return heard

    assert asyncio.run(scenario()) == {f"{thread}:{index}" for thread in range(4) for index in range(200)}


def test_a_stream_that_begins_after_the_end_ends_at_once() -> None:
    async def scenario() -> list[bytes]:
        peer = Peer(made())
        peer.dispatcher.close()
        await asyncio.wait_for(peer.ask(listen(1, **TOOLS)), 10)
        return peer.sent

    assert [json.loads(message).get("id") for message in asyncio.run(scenario())] == [None, 1]


def test_whoever_has_left_is_forgotten() -> None:
    class Counting(LocalBus):
        listeners = 0

        def subscribe(self, take: Callable[[Change], None]) -> Callable[[], None]:
            self.listeners += 1
            leave = super().subscribe(take)

            def left() -> None:
                self.listeners -= 1
                leave()

            return left

    bus = Counting()

    async def scenario() -> None:
        peer = Peer(made(bus=bus))
        task = peer.begin(listen(1, **TOOLS))
        await asyncio.sleep(0)
        assert bus.listeners == 1
        await peer.ask(cancelled(requestId=1))
        assert await task is None

    asyncio.run(scenario())
    assert bus.listeners == 0


def test_a_bus_of_ones_own_joins_replicas() -> None:
    bus = LocalBus()

    async def scenario() -> list[bytes]:
        one, other = made(bus=bus), made(bus=bus)
        peer = Peer(one)
        task = peer.begin(listen(1, **TOOLS))
        await asyncio.sleep(0)
        await other.notify_list_changed("tools")
        await asyncio.sleep(0.01)
        peer.dispatcher.close()
        await task
        return peer.sent

    assert b"tools/list_changed" in asyncio.run(scenario())[1]


def test_a_change_after_the_loop_of_a_listener_has_ended_is_nobodys() -> None:
    async def stream() -> Stream:
        return Stream(lambda change: True)

    asyncio.run(stream()).put(Change("tools"))


class Exact(Server):
    """Answers its lists itself, and announces them all the same."""

    async def list_tools(self, params: types.PaginatedRequestParams, ctx: Context) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[], ttl_ms=0, cache_scope="private", result_type="complete")


def test_a_list_that_a_subclass_answers_can_be_listened_to() -> None:
    found = ask(Exact("x", version="1"), request("server/discover"))["result"]["capabilities"]
    assert found == {"tools": {"listChanged": True}}

    async def scenario() -> Any:
        peer = Peer(Exact("x", version="1"))
        task = peer.begin(listen(1, **TOOLS))
        await asyncio.sleep(0)
        peer.dispatcher.close()
        await task
        return json.loads(peer.sent[0])

    assert asyncio.run(scenario())["params"]["notifications"] == TOOLS
