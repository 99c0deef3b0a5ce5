"""The client as a listener: what was granted, what has changed, streams that break, and their end."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import pytest
from mcprotocol.client import Client, Disconnected, Missed
from mcprotocol.client.transport import Lost, Outgoing, Receive
from mcprotocol.errors import InternalError, MethodNotFound
from mcprotocol.latest import types
from mcprotocol.server import Server

TAG = "io.modelcontextprotocol/subscriptionId"


def run(work: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(20):
            await work()

    asyncio.run(bounded())


class Station:
    """A transport whose requests have streams of their own, each of which a test plays by hand."""

    streams = True
    mirrors = False

    def __init__(self, play: Callable[[Stream], Awaitable[None]]) -> None:
        self._play = play
        self.sent: list[Outgoing] = []
        self.ended = 0

    async def open(self, receive: Receive, lost: Lost) -> None:
        self.receive = receive

    async def carry(self, request: Outgoing) -> None:
        self.sent.append(request)
        try:
            await self._play(Stream(self, request))
        finally:
            self.ended += 1

    async def notify(self, method: str, message: bytes) -> None:
        raise AssertionError("a stream is closed, not cancelled")

    async def close(self) -> None:
        pass


class Stream:
    """One of those streams."""

    def __init__(self, station: Station, request: Outgoing) -> None:
        self._station = station
        self.id = request.identity
        self.method = request.method
        self.number = len(station.sent)

    def say(self, message: Mapping[str, Any]) -> None:
        self._station.receive(json.dumps({"jsonrpc": "2.0", **message}).encode(), self.id)

    def tell(self, method: str, **params: Any) -> None:
        self.say({"method": f"notifications/{method}", "params": {"_meta": {TAG: self.id}, **params}})

    def grant(self, **granted: Any) -> None:
        self.tell("subscriptions/acknowledged", notifications=granted)

    def end(self) -> None:
        self.say({"id": self.id, "result": {"resultType": "complete", "_meta": {TAG: self.id}}})


def test_changes_come_typed_in_order_and_once() -> None:
    async def play(stream: Stream) -> None:
        stream.grant(toolsListChanged=True, resourceSubscriptions=["a://b"])
        stream.tell("tools/list_changed")
        for uri in ("a://b", "a://b/c", "a://b"):
            stream.tell("resources/updated", uri=uri)
        stream.tell("tools/list_changed")
        stream.tell("resources/updated", uri=5)
        stream.tell("tasks", taskId="x")
        stream.tell("prompts/list_changed")
        stream.tell("resources/list_changed")
        stream.end()

    heard: list[Any] = []

    async def scenario() -> None:
        async with (
            Client(Station(play), era="modern") as client,
            client.listen(tools=True, prompts=True, resources=["a://b", "c://d"]) as changes,
        ):
            assert changes.granted.model_dump() == {
                "toolsListChanged": True,
                "resourceSubscriptions": ["a://b"],
            }
            async for change in changes:
                heard.append(change)
            assert await changes.next() is None

    run(scenario)
    assert [type(change) for change in heard] == [
        types.ToolListChangedNotification,
        types.ResourceUpdatedNotification,
        types.ResourceUpdatedNotification,
        types.PromptListChangedNotification,
        types.ResourceListChangedNotification,
    ]
    assert [change.params.uri for change in heard[1:3]] == ["a://b", "a://b/c"]


@pytest.mark.parametrize(
    ("asked", "filter"),
    [
        ({"tools": True}, {"toolsListChanged": True}),
        ({"prompts": True}, {"promptsListChanged": True}),
        ({"resource_list": True}, {"resourcesListChanged": True}),
        ({"resources": ["a://b"]}, {"resourceSubscriptions": ["a://b"]}),
    ],
)
def test_what_is_asked_for_is_sent_and_nothing_else(asked: dict[str, Any], filter: dict[str, Any]) -> None:
    async def play(stream: Stream) -> None:
        stream.grant()
        stream.end()

    station = Station(play)

    async def scenario() -> None:
        async with Client(station, era="modern") as client, client.listen(**asked) as changes:
            assert [change async for change in changes] == []

    run(scenario)
    assert json.loads(station.sent[0].message)["params"]["notifications"] == filter


@pytest.mark.parametrize("asked", [{}, {"resources": "a://b"}, {"resources": []}])
def test_a_listener_says_what_it_listens_for(asked: dict[str, Any]) -> None:
    async def play(stream: Stream) -> None:
        raise AssertionError("nothing is sent")

    client = Client(Station(play), era="modern")
    with pytest.raises(ValueError, match="listen for|list of URIs"):
        client.listen(**asked)


def test_a_refused_subscription_raises_where_it_is_opened() -> None:
    async def play(stream: Stream) -> None:
        stream.say({"id": stream.id, "error": {"code": -32601, "message": "no"}})

    async def scenario() -> None:
        async with Client(Station(play), era="modern") as client:
            with pytest.raises(MethodNotFound):
                async with client.listen(tools=True):
                    pass
            changes = client.listen(tools=True)
            with pytest.raises(RuntimeError, match="async with"):
                await changes.next()

    run(scenario)


def test_a_subscription_that_is_not_acknowledged_in_time_is_given_up() -> None:
    async def play(stream: Stream) -> None:
        stream.tell("tools/list_changed")  # Nothing may come before the acknowledgement.
        await asyncio.Event().wait()

    station = Station(play)

    async def scenario() -> None:
        async with Client(station, era="modern") as client:
            with pytest.raises(TimeoutError):
                async with client.listen(tools=True, timeout=0.05):
                    pass

    run(scenario)
    assert station.ended == 1


def broken(times: int) -> Callable[[Stream], Awaitable[None]]:
    """Streams of which so many break after the first change."""

    async def play(stream: Stream) -> None:
        stream.grant(toolsListChanged=True)
        if stream.number <= times:
            stream.tell("tools/list_changed")
            await asyncio.sleep(0)
            raise Disconnected("cut")
        stream.end()

    return play


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Streams are opened again at once."""
    monkeypatch.setattr("mcprotocol.client.listen.FIRST_SECONDS", 0.0)


@pytest.mark.usefixtures("hasty")
def test_a_stream_that_breaks_is_opened_again_under_a_new_id_and_the_listener_is_told() -> None:
    station = Station(broken(2))
    heard: list[Any] = []

    async def scenario() -> None:
        async with Client(station, era="modern") as client, client.listen(tools=True) as changes:
            async for change in changes:
                heard.append(type(change))

    run(scenario)
    change = types.ToolListChangedNotification
    assert heard == [change, Missed, change, Missed] or heard == [change, change, Missed]
    assert len({request.identity for request in station.sent}) == 3


@pytest.mark.usefixtures("hasty")
def test_a_break_makes_all_that_was_kept_stale() -> None:
    listed = 0

    async def play(stream: Stream) -> None:
        nonlocal listed
        if stream.method == "tools/list":
            listed += 1
            stream.say({"id": stream.id, "result": {"tools": [], "ttlMs": 60_000}})
            return
        stream.grant(toolsListChanged=True)
        await cut.wait()
        if broke:
            stream.end()
        else:
            broke.append(True)
            raise Disconnected("cut")

    broke: list[bool] = []
    cut = asyncio.Event()

    async def scenario() -> None:
        async with Client(Station(play), era="modern") as client, client.listen(tools=True) as changes:
            await client.list_tools()
            await client.list_tools()
            assert listed == 1
            cut.set()
            assert [type(change) async for change in changes] == [Missed]
            await client.list_tools()
            assert listed == 2

    run(scenario)


@pytest.mark.usefixtures("hasty")
def test_a_stream_that_cannot_be_opened_again_is_given_up_after_some_attempts() -> None:
    async def play(stream: Stream) -> None:
        if stream.number == 1:
            stream.grant(toolsListChanged=True)
            await asyncio.sleep(0)
        raise Disconnected(f"cut {stream.number}")

    station = Station(play)

    async def scenario() -> None:
        async with Client(station, era="modern") as client, client.listen(tools=True) as changes:
            with pytest.raises(Disconnected, match="cut 9"):
                await changes.next()

    run(scenario)
    assert len(station.sent) == 9


@pytest.mark.usefixtures("hasty")
def test_a_server_that_refuses_the_second_stream_ends_the_iteration_with_its_error() -> None:
    async def play(stream: Stream) -> None:
        if stream.number == 1:
            stream.grant(toolsListChanged=True)
            await asyncio.sleep(0)
            raise Disconnected("cut")
        stream.say({"id": stream.id, "error": {"code": -32603, "message": "down"}})

    async def scenario() -> None:
        async with Client(Station(play), era="modern") as client, client.listen(tools=True) as changes:
            with pytest.raises(InternalError, match="down"):
                await changes.next()

    run(scenario)


def test_a_first_stream_that_breaks_is_not_opened_again() -> None:
    async def play(stream: Stream) -> None:
        raise Disconnected("cut")

    station = Station(play)

    async def scenario() -> None:
        async with Client(station, era="modern") as client:
            with pytest.raises(Disconnected, match="cut"):
                async with client.listen(tools=True):
                    pass

    run(scenario)
    assert len(station.sent) == 1


def test_more_changes_than_can_wait_are_told_as_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcprotocol.client.listen.MAX_WAITING", 3)

    async def play(stream: Stream) -> None:
        stream.grant(resourceSubscriptions=["a://b"])
        for number in range(10):
            stream.tell("resources/updated", uri=f"a://b/{number}")
        stream.end()

    async def scenario() -> None:
        async with (
            Client(Station(play), era="modern") as client,
            client.listen(resources=["a://b"]) as changes,
        ):
            heard = [type(change) async for change in changes]
        assert heard == [types.ResourceUpdatedNotification] * 3 + [Missed]

    run(scenario)


@pytest.mark.parametrize("identity", [True, "1", None, 1.0, 2])
def test_what_bears_the_tag_of_another_is_not_heard(identity: Any) -> None:
    async def play(stream: Stream) -> None:
        stream.grant(toolsListChanged=True)
        assert stream.id == 1
        params = {"_meta": {TAG: identity}}
        stream.say({"method": "notifications/tools/list_changed", "params": params})
        stream.end()

    async def scenario() -> None:
        async with Client(Station(play), era="modern") as client, client.listen(tools=True) as changes:
            assert [change async for change in changes] == []

    run(scenario)


def test_a_cancellation_by_the_server_is_a_good_end_of_a_subscription_and_of_nothing_else() -> None:
    async def play(stream: Stream) -> None:
        if stream.method == "subscriptions/listen":
            stream.grant(toolsListChanged=True)
            stream.say({"method": "notifications/cancelled", "params": {"requestId": stream.id}})
        else:
            stream.say({"method": "notifications/cancelled", "params": {"requestId": stream.id}})
            stream.say({"id": stream.id, "result": {"tools": []}})

    async def scenario() -> None:
        async with Client(Station(play), era="modern") as client:
            async with client.listen(tools=True) as changes:
                assert [change async for change in changes] == []
            assert (await client.list_tools()).tools == []

    run(scenario)


def test_a_subscription_is_opened_once() -> None:
    async def play(stream: Stream) -> None:
        stream.grant(toolsListChanged=True)
        stream.end()

    async def scenario() -> None:
        async with Client(Station(play), era="modern") as client:
            changes = client.listen(tools=True)
            async with changes:
                pass
            with pytest.raises(RuntimeError, match="opened once"):
                await changes.__aenter__()

    run(scenario)


def test_a_stream_ends_no_subscription_but_its_own() -> None:
    async def play(stream: Stream) -> None:
        stream.grant(toolsListChanged=True)
        if stream.number == 1:
            await ending.wait()
            stream.tell("tools/list_changed")
            stream.end()
        else:
            stream.tell("cancelled", requestId=stream.id - 1 if isinstance(stream.id, int) else None)
            stream.end()

    ending = asyncio.Event()

    async def scenario() -> None:
        async with Client(Station(play), era="modern") as client, client.listen(tools=True) as first:
            async with client.listen(tools=True) as second:
                assert [change async for change in second] == []
            ending.set()
            changes = [change async for change in first]
            assert [type(change) for change in changes] == [types.ToolListChangedNotification]

    run(scenario)


def test_an_exact_subscription_lasts_longer_than_a_call_may() -> None:
    async def play(stream: Stream) -> None:
        stream.grant(toolsListChanged=True)
        await asyncio.sleep(0.1)
        stream.end()

    async def scenario() -> None:
        async with Client(Station(play), timeout=0.01, era="modern") as client:
            params = types.SubscriptionsListenRequestParams(
                meta=client.meta(), notifications=types.SubscriptionFilter(tools_list_changed=True)
            )
            assert (await client.calls.subscriptions_listen(params)).result_type == "complete"

    run(scenario)


def test_a_listener_that_leaves_ends_the_subscription_at_the_server() -> None:
    server = Server("peer", version="1")
    server.add_tool(lambda: "", name="t")
    subscribed: list[str] = []

    class Watched(Server):
        async def subscriptions_listen(self, params: Any, ctx: Any) -> types.SubscriptionsListenResult:
            try:
                return await super().subscriptions_listen(params, ctx)
            finally:
                subscribed.append("ended")
                ended.set()

    ended = asyncio.Event()
    server = Watched("peer", version="1")
    server.add_tool(lambda: "", name="t")

    async def scenario() -> None:
        async with Client.memory(server) as client:
            async with client.listen(tools=True) as one, client.listen(tools=True) as two:
                server.add_tool(lambda: "", name="u")
                assert isinstance(await one.next(), types.ToolListChangedNotification)
                assert isinstance(await two.next(), types.ToolListChangedNotification)
                assert subscribed == []
            while len(subscribed) < 2:
                ended.clear()
                await ended.wait()
            assert len((await client.list_tools()).tools) == 2

    run(scenario)


def test_a_client_that_closes_ends_its_listeners() -> None:
    async def play(stream: Stream) -> None:
        stream.grant(toolsListChanged=True)
        await asyncio.Event().wait()

    station = Station(play)

    async def scenario() -> None:
        client = Client(station, era="modern")
        async with client:
            changes = await client.listen(tools=True).__aenter__()
            waiting = asyncio.ensure_future(changes.next())
            await asyncio.sleep(0)
        with pytest.raises(Disconnected, match="closed"):
            await waiting

    run(scenario)
