"""The stream of what a server of the handshake era says unasked, when it cannot simply be taken up where it broke."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from mcprotocol.client import Client, Missed, sessions
from mcprotocol.client.listen import Change, Listening
from mcprotocol.latest import types
from test_client_sessions import Station, event, meet, notice
from wired import STREAM, Asked, Wire, reply

CHANGED = notice("notifications/tools/list_changed")


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a stream taken up at once: how long that takes decides nothing."""
    monkeypatch.setattr(sessions, "FIRST_SECONDS", 0.01)


class Broken:
    """What becomes of those who come back to a stream: one status after the other, and then the stream."""

    def __init__(self, statuses: Sequence[int], id: str | None = None) -> None:
        self._statuses = [*statuses]
        self._id = id
        self.came = 0

    async def __call__(self, station: Station, asked: Asked, writer: asyncio.StreamWriter) -> None:
        assert asked.header("Last-Event-ID") == "one"
        self.came += 1
        if self._statuses:
            writer.write(reply(status=self._statuses.pop(0)))
            return
        asked.held = True
        writer.write(STREAM + event(CHANGED, id="two"))


async def break_off(station: Station) -> None:
    """Say something that has an id, and end the stream."""
    station.unasked[0].write(event(CHANGED, id="one", retry=10))
    await station.unasked[0].drain()


async def past(changes: Listening) -> Change | None:
    """What comes after all that may have been missed."""
    while isinstance(change := await changes.next(), Missed):
        pass
    return change


def test_a_listener_outlives_a_session_that_was_forgotten_while_nobody_called() -> None:
    station = Station()

    async def work(client: Client, wire: Wire) -> None:
        async with client.listen(tools=True) as changes:
            station.ended.append("session-0")
            station.unasked[0].close()
            assert isinstance(await changes.next(), Missed)
            while len(station.unasked) < 2:
                await asyncio.sleep(0.01)
            assert station.live == ["session-1"]
            station.unasked[-1].write(event(CHANGED))
            assert isinstance(await past(changes), types.ToolListChangedNotification)

    meet(station, work)


@pytest.mark.parametrize("status", [400, 404, 405, 409])
def test_what_a_server_has_not_kept_is_known_to_be_missed_and_the_rest_is_heard(status: int) -> None:
    broken = Broken([status])
    # Without sessions a 404 is about the event alone.
    station = Station(broken, named=status != 404)

    async def work(client: Client, wire: Wire) -> None:
        async with client.listen(tools=True) as changes:
            await break_off(station)
            assert isinstance(await changes.next(), types.ToolListChangedNotification)
            station.unasked[0].close()
            assert isinstance(await changes.next(), Missed)
            while len(station.unasked) < 2:
                await asyncio.sleep(0.01)
            station.unasked[1].write(event(CHANGED))
            assert isinstance(await past(changes), types.ToolListChangedNotification)
        assert broken.came == 1

    meet(station, work)


def test_a_server_that_is_busy_for_a_while_loses_nothing() -> None:
    broken = Broken([503, 429, 502])
    station = Station(broken)

    async def work(client: Client, wire: Wire) -> None:
        async with client.listen(tools=True) as changes:
            await break_off(station)
            assert isinstance(await changes.next(), types.ToolListChangedNotification)
            station.unasked[0].close()
            assert isinstance(await changes.next(), types.ToolListChangedNotification)
        assert broken.came == 4

    meet(station, work)


def test_a_stream_that_is_asked_for_in_vain_begins_anew_with_a_handshake() -> None:
    broken = Broken([503] * 100)
    station = Station(broken)

    async def work(client: Client, wire: Wire) -> None:
        async with client.listen(tools=True) as changes:
            await break_off(station)
            assert isinstance(await changes.next(), types.ToolListChangedNotification)
            station.unasked[0].close()
            assert isinstance(await changes.next(), Missed)
            while len(station.unasked) < 2:
                await asyncio.sleep(0.01)
            station.unasked[1].write(event(CHANGED))
            assert isinstance(await past(changes), types.ToolListChangedNotification)
        assert (broken.came, len(station.sessions)) == (sessions.ATTEMPTS - 1, 2)

    meet(station, work)


def test_a_server_that_never_had_such_a_stream_is_not_asked_for_it_again() -> None:
    class Refusing(Station):
        async def _serve(self, method: str, asked: Asked, writer: asyncio.StreamWriter) -> None:
            if method == "GET":
                writer.write(reply(status=500))
            else:
                await super()._serve(method, asked, writer)

    station = Refusing()

    async def work(client: Client, wire: Wire) -> None:
        async with client.listen(tools=True) as changes:
            assert changes.granted == types.SubscriptionFilter()
        assert station.wire.count("GET") == 1

    meet(station, work)


async def pause(place: sessions.Place) -> None:
    """Come back at once, and count it."""
    place.vain += 1


def test_a_stream_that_is_cut_for_being_quiet_is_asked_for_as_often_as_that_happens(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sessions, "LIVED_SECONDS", 0.0)
    monkeypatch.setattr(sessions.Place, "pause", pause)
    station = Station()

    async def work(client: Client, wire: Wire) -> None:
        await client.list_tools()
        for number in range(2 * sessions.ATTEMPTS):
            while len(station.unasked) <= number:
                await asyncio.sleep(0.01)
            station.unasked[number].close()
        assert station.sessions == ["session-0"]

    meet(station, work)


WRONG: list[dict[str, object]] = [
    {},
    {"uri": []},
    {"uri": 1},
    {"uri": None},
    {"_meta": []},
    {"_meta": {"io.modelcontextprotocol/subscriptionId": []}},
    {"level": [], "data": 1},
    {"level": "info"},
    {"progressToken": {}, "progress": "x"},
    {"requestId": {}},
    {"elicitationId": []},
]
"""Params that no notification has."""

METHODS = [
    "notifications/tools/list_changed",
    "notifications/resources/updated",
    "notifications/message",
    "notifications/progress",
    "notifications/cancelled",
    "notifications/elicitation/complete",
    "notifications/tasks/status",
    "notifications/subscriptions/acknowledged",
    "notifications/none",
]


@pytest.mark.parametrize("method", METHODS)
def test_what_is_told_wrongly_is_dropped_and_the_rest_is_heard(method: str) -> None:
    station = Station()

    async def work(client: Client, wire: Wire) -> None:
        async with client.listen(tools=True, resources=["a://b"]) as changes:
            for params in WRONG:
                station.unasked[0].write(event({"jsonrpc": "2.0", "method": method, "params": params}))
            station.unasked[0].write(event(notice("notifications/resources/updated", uri="a://b")))
            while isinstance(change := await changes.next(), types.ToolListChangedNotification):
                pass
            assert isinstance(change, types.ResourceUpdatedNotification) and change.params.uri == "a://b"
        assert len(station.unasked) == 1

    meet(station, work)
