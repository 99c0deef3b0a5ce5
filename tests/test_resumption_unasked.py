"""Resumption of the stream of what a session is told unasked: cut at every event, it loses none and doubles none."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from bridged import Cut, bridge
from guests import Guest, events, soon
from hosted import Post
from mcprotocol.client import Client, Missed
from mcprotocol.client.listen import Change
from mcprotocol.server import Context, Server
from mcprotocol.server.asgi import ASGIApp, Receive, Scope, Send
from mcprotocol.server.legacy import endpoint
from mcprotocol.server.legacy import events as kept
from scaffolded import PATIENCE
from wired import wired

URIS = [f"note://{number}" for number in range(4)]

LISTS = ["tools", "prompts", "resources"]

TOLD = [
    *(f"notifications/{kind}/list_changed" for kind in LISTS),
    *(f"notifications/resources/updated {uri}" for uri in URIS),
]
"""What is told, in order."""


class House(Server):
    """A server whose every list may change, and whose notes are watched."""

    def __init__(self) -> None:
        super().__init__("house", version="1", logging=True, state_key=b"k" * 32)
        self.resource("note://{name}")(self.note)
        self.prompt()(self.hello)
        self.add_tool(self.speak)

    async def note(self, name: str) -> str:
        """A note."""
        return name

    async def hello(self) -> str:
        """A prompt."""
        return "hello"

    async def speak(self, ctx: Context) -> str:
        """Log something, on the stream of the call."""
        await ctx.log("info", "beside")
        return "spoken"

    async def tell(self, place: int) -> None:
        """Publish one change."""
        if place < len(LISTS):
            await self.notify_list_changed(LISTS[place])  # type: ignore[arg-type]
        else:
            await self.notify_resource_updated(URIS[place - len(LISTS)])


def name(said: Any) -> str:
    """A notification in a word or two."""
    uri = said.get("params", {}).get("uri")
    return f"{said['method']} {uri}" if uri else str(said["method"])


async def opened(application: ASGIApp, version: str) -> Guest:
    """A session that is subscribed to all notes."""
    guest = Guest(application, version)
    await guest.open()
    for uri in URIS:
        assert (await guest.ask(1, "resources/subscribe", uri=uri))["result"] == {}
    return guest


@pytest.mark.parametrize("version", ["2025-11-25", "2025-06-18"])
@pytest.mark.parametrize("before", range(len(TOLD) + 1))
def test_a_stream_that_is_cut_at_any_event_goes_on_after_the_last_that_came(
    version: str, before: int
) -> None:
    """Some are told before it is cut, and the rest while nobody listens."""

    # The head of the response is a piece, and so is the event that primes newer clients.
    whole = 1 + (version == "2025-11-25") + before

    async def once(pieces: int) -> None:
        house = House()
        guest = await opened(house.http(), version)
        cut = Cut(guest.application, pieces)
        first = Post(cut, b"", guest.headers, method="GET")
        task = first.begin()
        await publish(house, range(before))
        await until(lambda: cut.was or cut.came == whole)
        assert cut.was == (pieces < whole)
        cut.leave()
        got = events(await soon(task))
        await publish(house, range(before, len(TOLD)))
        rest = guest.get(got[-1].id if got else "")
        task = rest.begin()
        await until(lambda: TOLD[-1].split()[1].encode() in first.response.body + rest.response.body)
        rest.leave()
        got += events(await soon(task))
        said = [event for event in got if event.message is not None]
        assert [name(event.message) for event in said] == TOLD
        assert [event.id for event in said] == [f"0-{place}" for place in range(1, len(TOLD) + 1)]

    async def scenario() -> None:
        for pieces in range(1, whole + 1):
            await once(pieces)

    asyncio.run(scenario())


async def publish(house: House, places: Sequence[int]) -> None:
    for place in places:
        await house.tell(place)


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not true():
            await asyncio.sleep(0)


class Cutting:
    """A way to an application on which each stream of what is told unasked is cut as `lengths` say, as long as they do."""

    def __init__(self, application: ASGIApp, lengths: Sequence[int], *, torn: bool) -> None:
        self._application = application
        self._lengths = [*lengths]
        self._torn = torn
        self.cuts = 0
        self.resumed: list[str] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "GET":
            await self._application(scope, receive, send)
            return
        self.resumed += [value.decode() for name, value in scope["headers"] if name == b"last-event-id"]
        if not self._lengths:
            await self._application(scope, receive, send)
            return
        cut = Cut(self._application, self._lengths.pop(0), torn=self._torn)
        await cut(scope, receive, send)
        self.cuts += cut.was


def hear(lengths: Sequence[int], *, torn: bool = False, paced: bool = True) -> Cutting:
    """Have a client hear all that is told, through such cuts; what is told comes one by one, or all at once."""
    house = House()
    cutting = Cutting(house.http(), lengths, torn=torn)

    async def scenario() -> None:
        async with asyncio.timeout(PATIENCE), wired(bridge(cutting)) as wire:
            async with Client.http(wire.url, era="handshake") as client:
                await listen(client)
        assert cutting.cuts == len(lengths)

    async def listen(client: Client) -> None:
        wanted: Any = {"tools": True, "prompts": True, "resource_list": True, "resources": URIS}
        async with client.listen(**wanted) as changes:
            heard: list[Change | None] = []
            if not paced:
                await publish(house, range(len(TOLD)))
            for place in range(len(TOLD)):
                if paced:
                    await house.tell(place)
                heard.append(await changes.next())
            assert [name(dumped(change)) for change in heard] == TOLD
            # Whatever came twice would come before this.
            await house.tell(0)
            assert name(dumped(await changes.next())) == TOLD[0]

    asyncio.run(scenario())
    return cutting


def dumped(change: Change | None) -> Any:
    assert change is not None and not isinstance(change, Missed), change
    return change.model_dump()


@pytest.fixture
def soon_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have clients come back at once."""
    monkeypatch.setattr(endpoint, "RETRY_MILLISECONDS", 10)


EVERY = range(2, 2 + len(TOLD))
"""After which piece of the response a stream can be cut, beyond its head and the event that primes it."""


@pytest.mark.usefixtures("soon_again")
@pytest.mark.parametrize("torn", [False, True], ids=["between events", "within one"])
@pytest.mark.parametrize("paced", [False, True], ids=["all at once", "one by one"])
@pytest.mark.parametrize("pieces", EVERY)
def test_a_client_whose_stream_is_cut_at_any_event_hears_each_once(
    pieces: int, torn: bool, paced: bool
) -> None:
    cutting = hear([pieces], torn=torn, paced=paced)
    assert cutting.resumed == [f"0-{pieces - 2}"]


@pytest.mark.usefixtures("soon_again")
@pytest.mark.parametrize("torn", [False, True], ids=["between events", "within one"])
def test_a_client_whose_stream_is_cut_at_each_event_hears_each_once(torn: bool) -> None:
    # One that goes on has no event that primes it.
    cutting = hear([2, *[2] * (len(TOLD) - 1)], torn=torn)
    assert cutting.resumed == [f"0-{place}" for place in range(len(TOLD))]


@pytest.mark.usefixtures("soon_again")
def test_a_client_that_comes_back_too_late_knows_that_it_missed_some_and_hears_what_comes_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kept, "MOST_EVENTS", 2)
    house = House()
    cutting = Cutting(house.http(), [3], torn=False)

    async def scenario() -> None:
        async with (
            asyncio.timeout(PATIENCE),
            wired(bridge(cutting)) as wire,
            Client.http(wire.url, era="handshake") as client,
            client.listen(tools=True, resources=URIS) as changes,
        ):
            await house.tell(0)
            assert name(dumped(await changes.next())) == TOLD[0]
            await publish(house, range(len(LISTS), len(TOLD)))
            # What is still kept may come before the listener is back, who is told only then.
            while not isinstance(await changes.next(), Missed):
                pass
            await house.tell(0)
            while (change := await changes.next()) is None or name(dumped(change)) != TOLD[0]:
                pass

    asyncio.run(scenario())
    assert cutting.resumed == ["0-1"]
