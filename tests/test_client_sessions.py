"""The client over HTTP with servers of the handshake era: sessions, the stream of what is said unasked, streams that break."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from bridged import bridge
from mcprotocol.client import Client, Disconnected, HttpError, Missed, handshake
from mcprotocol.client.sessions import ATTEMPTS
from mcprotocol.errors import InvalidParams
from mcprotocol.latest import types
from mcprotocol.server import Server
from scaffolded import PATIENCE
from test_client_era import said, within_time
from wired import STREAM, Asked, Wire, chunk, reply, wired

OLD = "2025-11-25"
TEXT: dict[str, Any] = {"content": [{"type": "text", "text": "hi"}]}

Tool = Callable[["Station", Asked, asyncio.StreamWriter], Awaitable[None]]


class Station:
    """A server of 2025-11-25 with one tool: what that does with a call is what a test wants to see."""

    def __init__(
        self, tool: Tool | None = None, *, hears: bool = True, named: bool = True, unknown: int = 404
    ) -> None:
        self.tool = tool
        self.unknown = unknown
        self.hears = hears
        self.named = named
        self.sessions: list[str] = []
        self.ended: list[str] = []
        self.unasked: list[asyncio.StreamWriter] = []
        self.answers: list[Any] = []
        self.answered = asyncio.Event()
        self.wire: list[str] = []

    async def __call__(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        verb = asked.line.partition(" ")[0]
        message: dict[str, Any] = asked.json() if asked.body else {}
        method = message.get("method", "answer" if asked.body else verb)
        self.wire.append(method)
        assert asked.header("Mcp-Method") is asked.header("Mcp-Name") is None or method == "server/discover"
        if method == "server/discover":
            writer.write(reply(status=400))
        elif method == "initialize":
            self._introduce(asked, writer)
        elif self.named and asked.header("MCP-Session-Id") not in self.live:
            writer.write(reply(status=self.unknown if asked.header("MCP-Session-Id") else 400))
        else:
            assert asked.header("MCP-Protocol-Version") == OLD
            await self._serve(method, asked, writer)

    @property
    def live(self) -> list[str]:
        return [name for name in self.sessions if name not in self.ended]

    def _introduce(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        assert asked.header("MCP-Session-Id") is None
        self.sessions.append(f"session-{len(self.sessions)}")
        capabilities = {"tools": {"listChanged": True}, "resources": {"subscribe": True}, "logging": {}}
        who = {"name": "station", "version": "1"}
        result = {"protocolVersion": OLD, "capabilities": capabilities, "serverInfo": who}
        named = {"mcp_session_id": self.sessions[-1]} if self.named else dict[str, str]()
        writer.write(reply(answer(asked, result), "application/json", 200, **named))

    async def _serve(self, method: str, asked: Asked, writer: asyncio.StreamWriter) -> None:
        match method:
            case "GET" if asked.header("Last-Event-ID") is not None and self.tool is not None:
                await self.tool(self, asked, writer)
            case "GET" if self.hears:
                self.unasked.append(writer)
                asked.held = True
                writer.write(STREAM)
            case "GET":
                writer.write(reply(status=405))
            case "DELETE":
                self.ended.append(asked.header("MCP-Session-Id") or "")
                writer.write(reply(status=200))
            case "answer":
                self.answers.append(asked.json())
                self.answered.set()
                writer.write(reply(status=202))
            case "tools/call" if self.tool is not None:
                await self.tool(self, asked, writer)
            case "tools/list":
                writer.write(reply(answer(asked, {"tools": []})))
            case "resources/subscribe" | "resources/unsubscribe":
                writer.write(reply(answer(asked, {})))
            case _:
                writer.write(reply(status=202) if "id" not in asked.json() else reply(answer(asked, TEXT)))


def answer(asked: Asked, result: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": asked.json()["id"], "result": result}).encode()


def event(message: Any = None, *, id: str | None = None, retry: int | None = None) -> bytes:
    """An event of a stream; without a message it is there for its id."""
    data = b"" if message is None else message if isinstance(message, bytes) else json.dumps(message).encode()
    lines = [b"data: " + data]
    lines += [] if id is None else [f"id: {id}".encode()]
    lines += [] if retry is None else [f"retry: {retry}".encode()]
    return chunk(b"\n".join(lines) + b"\n\n")


def notice(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": method, "params": params}


def meet(station: Station, work: Callable[[Client, Wire], Awaitable[None]], **options: Any) -> None:
    async def scenario() -> None:
        async with wired(station) as wire, Client.http(wire.url, **options) as client:
            await work(client, wire)

    within_time(scenario())


@pytest.mark.parametrize("hears", [True, False])
def test_a_session_is_named_in_every_request_and_ended_in_the_end(hears: bool) -> None:
    station = Station(hears=hears)

    async def work(client: Client, wire: Wire) -> None:
        for _ in range(2):
            assert said(await client.call_tool("any")) == "hi"
        assert client.protocol_version == OLD

    meet(station, work)
    assert station.wire == [
        *("server/discover", "initialize", "notifications/initialized", "GET"),
        *("tools/call", "tools/call", "DELETE"),
    ]
    assert station.ended == ["session-0"]


def test_a_server_without_sessions_has_none_ended() -> None:
    station = Station(named=False, hears=False)

    async def work(client: Client, wire: Wire) -> None:
        await client.list_tools()

    meet(station, work)
    assert station.wire[-1] == "tools/list"


@pytest.mark.parametrize("unknown", [404, 400])
def test_a_session_that_the_server_has_forgotten_is_begun_anew_once_for_all_calls(unknown: int) -> None:
    station = Station(unknown=unknown, hears=False)

    async def work(client: Client, wire: Wire) -> None:
        await client.list_tools()
        station.ended.append("session-0")
        await asyncio.gather(*(client.call_tool("any") for _ in range(10)))
        assert station.sessions == ["session-0", "session-1"]

    meet(station, work)
    assert station.ended == ["session-0", "session-1"]


def test_a_session_that_is_forgotten_again_at_once_is_not_begun_for_ever() -> None:
    async def forget(station: Station, asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(reply(status=404))

    station = Station(forget)

    async def work(client: Client, wire: Wire) -> None:
        with pytest.raises(Disconnected, match="session"):
            await client.call_tool("any")
        assert len(station.sessions) == 2

    meet(station, work)


def test_a_request_that_is_refused_in_a_session_that_lives_is_an_error_and_the_session_goes_on() -> None:
    async def refuse(station: Station, asked: Asked, writer: asyncio.StreamWriter) -> None:
        error = {"code": -32602, "message": "no such tool"}
        data = {"jsonrpc": "2.0", "id": asked.json()["id"], "error": error}
        writer.write(reply(json.dumps(data).encode(), status=400))

    station = Station(refuse, hears=False)

    async def work(client: Client, wire: Wire) -> None:
        with pytest.raises(InvalidParams, match="no such tool"):
            await client.call_tool("any")
        await client.list_tools()
        assert station.sessions == ["session-0"]

    meet(station, work)
    assert station.wire[3:] == ["GET", "tools/call", "ping", "tools/list", "DELETE"]


@pytest.mark.parametrize("named", [True, False])
def test_a_server_that_was_replaced_by_a_newer_one_is_found_out_and_the_call_is_made(named: bool) -> None:
    old = Station(hears=False, named=named)
    new = Server("new", version="1")
    new.add_tool(lambda: "hi", name="any")
    newer = bridge(new.http(stateless=True))
    replaced = False

    async def script(asked: Asked, writer: asyncio.StreamWriter) -> None:
        if not replaced:
            await old(asked, writer)
        elif asked.header("MCP-Protocol-Version") == OLD or asked.header("Mcp-Method") is None:
            writer.write(reply(status=400))  # As one that knows nothing of the handshake.
        else:
            await newer(asked, writer)

    async def scenario() -> None:
        nonlocal replaced
        async with wired(script) as wire, Client.http(wire.url) as client:
            await client.list_tools()
            replaced = True
            assert said(await client.call_tool("any")) == "hi"
            assert client.era == "modern"

    within_time(scenario())


def test_a_404_without_a_session_is_an_error() -> None:
    async def refuse(station: Station, asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(reply(status=404))

    station = Station(refuse, named=False)

    async def work(client: Client, wire: Wire) -> None:
        with pytest.raises(HttpError, match="404"):
            await client.call_tool("any")
        assert len(station.sessions) == 1

    meet(station, work)


FORM: dict[str, Any] = {"type": "object", "properties": {"name": {"type": "string", "default": "Ann"}}}
ASKED = {
    "jsonrpc": "2.0",
    "id": 7,
    "method": "elicitation/create",
    "params": {"message": "Who?", "requestedSchema": FORM},
}


def accept(form: types.ElicitRequestFormParams) -> types.ElicitResult:
    return types.ElicitResult(action="accept")


@pytest.mark.parametrize("unasked", [True, False])
def test_what_the_server_asks_on_either_stream_is_answered_by_a_post(unasked: bool) -> None:
    async def ask(station: Station, asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM)
        (station.unasked[0] if unasked else writer).write(event(ASKED))
        await station.answered.wait()
        writer.write(event(answer(asked, TEXT)) + chunk(b""))

    station = Station(ask)

    async def work(client: Client, wire: Wire) -> None:
        assert said(await client.call_tool("any")) == "hi"
        expected = {"jsonrpc": "2.0", "id": 7, "result": {"action": "accept", "content": {"name": "Ann"}}}
        assert station.answers == [expected]

    meet(station, work, elicit=accept)


@pytest.mark.parametrize("named", [[], {}, None, True, 1.5, "7", 8])
def test_a_cancellation_of_no_question_changes_nothing(named: object) -> None:
    async def cancel(station: Station, asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM + event({**ASKED, "id": 1}))
        writer.write(event(notice("notifications/cancelled", requestId=named)))
        await station.answered.wait()
        writer.write(event(answer(asked, TEXT)) + chunk(b""))

    station = Station(cancel)

    async def work(client: Client, wire: Wire) -> None:
        assert said(await client.call_tool("any")) == "hi"
        assert [one["id"] for one in station.answers] == [1]

    meet(station, work, elicit=accept)


def test_a_stream_that_ends_before_the_result_is_taken_up_where_it_ended() -> None:
    async def broken(station: Station, asked: Asked, writer: asyncio.StreamWriter) -> None:
        last = asked.header("Last-Event-ID")
        if last is None:
            station.answers.append(answer(asked, TEXT))
            writer.write(STREAM + event(id="one", retry=20) + chunk(b""))
        elif last == "one":
            token = json.loads(station.answers[0])["id"]
            told = notice("notifications/progress", progressToken=token, progress=1)
            # This time in the midst of an event, whose id does not count.
            writer.write(STREAM + event(told, id="two") + chunk(b"id: three\ndata: {"))
            writer.close()
        else:
            assert last == "two"
            writer.write(STREAM + event(station.answers[0], id="three") + chunk(b""))

    station = Station(broken)
    steps: list[float] = []

    async def work(client: Client, wire: Wire) -> None:
        assert said(await client.call_tool("any", progress=lambda told: steps.append(told.progress))) == "hi"
        assert steps == [1]
        assert station.wire.count("tools/call") == 1

    meet(station, work)


def test_a_stream_that_its_server_ends_again_and_again_is_taken_up_for_as_long_as_it_says() -> None:
    async def poll(station: Station, asked: Asked, writer: asyncio.StreamWriter) -> None:
        first = asked.line.startswith("POST")
        again = station.wire.count("GET") - 1  # The first is for what is said unasked.
        told = event(id="one", retry=1) if first else b""
        if again == 2 * ATTEMPTS:
            told = event({"jsonrpc": "2.0", "id": identity[0], "result": TEXT})
        if first:
            identity.append(asked.json()["id"])
        writer.write(STREAM + told + chunk(b""))

    identity: list[int] = []
    station = Station(poll)

    async def work(client: Client, wire: Wire) -> None:
        assert said(await client.call_tool("any")) == "hi"

    meet(station, work)


def test_a_stream_without_ids_that_breaks_loses_its_call_which_is_not_made_again() -> None:
    async def broken(station: Station, asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM + event(notice("notifications/message", level="info", data=1)) + chunk(b""))

    station = Station(broken)

    async def work(client: Client, wire: Wire) -> None:
        with pytest.raises(Disconnected, match="ended before the result"):
            await client.call_tool("any")
        assert station.wire.count("tools/call") == 1

    meet(station, work)


@pytest.mark.parametrize("status", [400, 404, 405])
def test_a_stream_that_cannot_be_taken_up_loses_its_call_which_is_not_made_again(status: int) -> None:
    async def broken(station: Station, asked: Asked, writer: asyncio.StreamWriter) -> None:
        if asked.header("Last-Event-ID") is None:
            writer.write(STREAM + event(id="one", retry=1) + chunk(b""))
        else:
            writer.write(reply(status=status))

    station = Station(broken)

    async def work(client: Client, wire: Wire) -> None:
        with pytest.raises(Disconnected, match="cannot be taken up"):
            await client.call_tool("any")
        assert station.wire.count("tools/call") == 1 and len(station.sessions) == 1

    meet(station, work)


def test_a_call_that_is_given_up_is_cancelled_by_a_notification() -> None:
    async def wait(station: Station, asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM)
        asked.held = True

    station = Station(wait)

    async def work(client: Client, wire: Wire) -> None:
        with pytest.raises(TimeoutError):
            await client.call_tool("any", timeout=0.3)
        while "notifications/cancelled" not in station.wire:
            await asyncio.sleep(0.01)
        (call,) = [one.json() for one in wire.asked if b"tools/call" in one.body]
        (cancelled,) = [one.json() for one in wire.asked if b"notifications/cancelled" in one.body]
        assert cancelled["params"] == {"requestId": call["id"]}

    meet(station, work)


def test_a_stream_that_goes_on_behind_the_answer_is_closed_by_the_call_itself() -> None:
    left: list[str] = []

    async def open_ended(station: Station, asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM + event(answer(asked, TEXT)))
        asked.held = True

    async def work(client: Client, wire: Wire) -> None:
        sys.set_asyncgen_hooks(finalizer=lambda one: left.append(repr(one)))
        assert said(await client.call_tool("any")) == "hi"

    meet(Station(open_ended), work)
    # What httpx2 leaves of its own is its own matter.
    assert [one for one in left if " Response." in one] == []


def test_changes_come_on_the_stream_of_what_is_said_unasked() -> None:
    station = Station()

    async def work(client: Client, wire: Wire) -> None:
        async with client.listen(tools=True, resources=["a://b"]) as changes:
            assert changes.granted.tools_list_changed is True
            station.unasked[0].write(event(notice("notifications/tools/list_changed")))
            assert isinstance(await changes.next(), types.ToolListChangedNotification)
            station.unasked[0].write(event(notice("notifications/resources/updated", uri="a://b")))
            assert isinstance(await changes.next(), types.ResourceUpdatedNotification)
            assert "resources/unsubscribe" not in station.wire
        while "resources/unsubscribe" not in station.wire:
            await asyncio.sleep(0.01)

    meet(station, work)


def test_a_call_hears_what_is_said_beside_it_a_moment_after_its_answer() -> None:
    async def speak(station: Station, asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(reply(answer(asked, TEXT)))
        await writer.drain()
        station.unasked[0].write(event(notice("notifications/message", level="info", data="beside")))

    station = Station(speak)
    heard: list[object] = []

    async def work(client: Client, wire: Wire) -> None:
        await client.call_tool("any", messages=lambda told: heard.append(told.data))
        assert heard == ["beside"]

    meet(station, work)


def test_a_call_whose_time_ends_after_its_answer_has_that_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handshake, "LATE_SECONDS", 3 * PATIENCE)
    station = Station()

    async def work(client: Client, wire: Wire) -> None:
        await client.list_tools()
        assert said(await client.call_tool("any", messages=lambda told: None, timeout=2)) == "hi"
        assert "notifications/cancelled" not in station.wire

    meet(station, work)


def test_a_listener_is_told_what_it_may_have_missed_when_that_stream_breaks() -> None:
    station = Station()

    async def work(client: Client, wire: Wire) -> None:
        async with client.listen(resources=["a://b"]) as changes:
            station.unasked[0].close()
            assert isinstance(await changes.next(), Missed)
            while len(station.unasked) < 2:
                await asyncio.sleep(0.01)
            station.unasked[1].write(event(notice("notifications/resources/updated", uri="a://b")))
            assert isinstance(await changes.next(), types.ResourceUpdatedNotification)

    meet(station, work)


def test_that_stream_is_taken_up_where_it_broke_and_then_nothing_was_missed() -> None:
    async def again(station: Station, asked: Asked, writer: asyncio.StreamWriter) -> None:
        assert asked.header("Last-Event-ID") == "one"
        asked.held = True
        writer.write(STREAM + event(notice("notifications/resources/updated", uri="a://b"), id="two"))

    station = Station(again)

    async def work(client: Client, wire: Wire) -> None:
        async with client.listen(tools=True, resources=["a://b"]) as changes:
            station.unasked[0].write(event(notice("notifications/tools/list_changed"), id="one", retry=10))
            assert isinstance(await changes.next(), types.ToolListChangedNotification)
            station.unasked[0].close()
            assert isinstance(await changes.next(), types.ResourceUpdatedNotification)

    meet(station, work)


def test_a_server_that_says_nothing_unasked_grants_no_changes() -> None:
    station = Station(hears=False)

    async def work(client: Client, wire: Wire) -> None:
        async with client.listen(tools=True, resources=["a://b"]) as changes:
            assert changes.granted == types.SubscriptionFilter()
        assert "resources/subscribe" not in station.wire

    meet(station, work)


def test_a_listener_outlives_a_session_that_was_forgotten() -> None:
    station = Station()

    async def work(client: Client, wire: Wire) -> None:
        async with client.listen(tools=True) as changes:
            station.ended.append("session-0")
            await client.list_tools(fresh=True)
            assert isinstance(await changes.next(), Missed)
            station.unasked[-1].write(event(notice("notifications/tools/list_changed")))
            assert isinstance(await changes.next(), types.ToolListChangedNotification)

    meet(station, work)
