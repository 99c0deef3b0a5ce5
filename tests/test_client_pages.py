"""Pages that are followed to the end, and results that are kept: for as long as a server allows, and for whom."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import pytest
from mcprotocol.client import Cache, Client
from mcprotocol.client.cache import LONGEST_MS
from mcprotocol.errors import InvalidParams, InvalidRequest
from mcprotocol.latest import types
from mcprotocol.server import Server

Result = Mapping[str, Any]


class Peer:
    """A server that answers by a function of method and params, and counts what it is asked."""

    def __init__(self, answer: Callable[[str, Mapping[str, Any]], Result]) -> None:
        self.answer = answer
        self.asked: list[tuple[str, Any]] = []
        self.notices: list[Mapping[str, Any]] = []

    def connect(self) -> Peer:
        return self

    async def handle(self, data: bytes, send: Callable[[bytes], Awaitable[None]]) -> bytes | None:
        message = json.loads(data)
        params = {key: value for key, value in message["params"].items() if key != "_meta"}
        self.asked.append((message["method"], params))
        for notice in self.notices:
            await send(json.dumps({"jsonrpc": "2.0", **notice}).encode())
        self.notices = []
        body = self.answer(message["method"], params)
        outcome = body if "error" in body else {"result": {"resultType": "complete", **body}}
        return json.dumps({"jsonrpc": "2.0", "id": message["id"], **outcome}).encode()


class Clock:
    """Seconds that pass when they are told to."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


def run(work: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(20):
            await work()

    asyncio.run(bounded())


def paged(cursors: Sequence[str | None]) -> Callable[[str, Mapping[str, Any]], Result]:
    """Pages of one tool each: page n is named by its number, and leads on by the nth cursor."""
    pages = {cursor: number + 1 for number, cursor in reversed([*enumerate(cursors)])}

    def answer(method: str, params: Mapping[str, Any]) -> Result:
        number = pages[params["cursor"]] if "cursor" in params else 0
        cursor = cursors[number]
        tool = {"name": str(number), "inputSchema": {"type": "object"}}
        return {"tools": [tool], **({} if cursor is None else {"nextCursor": cursor})}

    return answer


def test_an_empty_cursor_leads_to_a_page_as_any_other() -> None:
    peer = Peer(paged(["", "0", None]))

    async def scenario() -> None:
        async with Client.memory(peer) as client:
            assert [tool.name async for tool in client.tools()] == ["0", "1", "2"]

    run(scenario)
    assert [params for _, params in peer.asked] == [{}, {"cursor": ""}, {"cursor": "0"}]


@pytest.mark.parametrize(("cursors", "again"), [(["a", "a"], "'a'"), (["", "b", ""], "''")])
def test_a_cursor_that_comes_again_is_an_error(cursors: list[str], again: str) -> None:
    seen: list[str] = []

    async def scenario() -> None:
        async with Client.memory(Peer(paged(cursors))) as client:
            async for tool in client.tools():
                seen.append(tool.name)

    with pytest.raises(InvalidRequest, match=f"tools/list with the cursor {again} twice"):
        run(scenario)
    assert seen == [str(number) for number in range(len(cursors))]


def test_pages_without_end_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcprotocol.client.pages.MAX_PAGES", 5)

    def answer(method: str, params: Mapping[str, Any]) -> Result:
        return {"tools": [], "nextCursor": params.get("cursor", "") + "x"}

    async def scenario() -> None:
        async with Client.memory(Peer(answer)) as client:
            assert [tool async for tool in client.tools()] == []

    with pytest.raises(InvalidRequest, match="5 pages and no end"):
        run(scenario)


def test_each_list_of_a_server_is_followed() -> None:
    server = Server("peer", version="1", page_size=2)

    def user(id: str) -> str:
        return id

    for number in range(5):
        server.add_tool(lambda: "", name=f"t{number}")
        server.prompt(f"p{number}")(lambda: "")
        server.resource(f"r://{number}", name=f"r{number}")(lambda: "")
        server.resource(f"t{number}://{{id}}", name=f"t{number}")(user)

    async def scenario() -> None:
        async with Client.memory(server) as client:
            assert [one.name async for one in client.tools()] == [f"t{n}" for n in range(5)]
            assert [one.name async for one in client.prompts()] == [f"p{n}" for n in range(5)]
            assert [one.uri async for one in client.resources()] == [f"r://{n}" for n in range(5)]
            assert [one.name async for one in client.resource_templates()] == [f"t{n}" for n in range(5)]

    run(scenario)


def hinted(method: str, params: Mapping[str, Any], **hints: Any) -> Result:
    """A result of any cacheable method, with these hints."""
    return {
        "supportedVersions": [],
        "capabilities": {},
        "tools": [],
        "prompts": [],
        "resources": [],
        "resourceTemplates": [],
        "contents": [],
        **hints,
    }


CALLS: Mapping[str, Callable[[Client], Awaitable[Any]]] = {
    "server/discover": lambda client: client.discover(),
    "tools/list": lambda client: client.list_tools(),
    "prompts/list": lambda client: client.list_prompts(),
    "resources/list": lambda client: client.list_resources(),
    "resources/templates/list": lambda client: client.list_resource_templates(),
    "resources/read": lambda client: client.read_resource("a://b"),
}


@pytest.mark.parametrize("method", CALLS)
@pytest.mark.parametrize(
    ("hints", "kept"),
    [
        ({"ttlMs": 1000, "cacheScope": "private"}, True),
        ({"ttlMs": 1000, "cacheScope": "public"}, True),
        ({"ttlMs": 1000, "cacheScope": "newer"}, True),
        ({"ttlMs": 1000}, True),
        ({"ttlMs": 10**400}, True),
        ({"ttlMs": 0}, False),
        ({"ttlMs": -5}, False),
        ({"cacheScope": "public"}, False),
        ({}, False),
    ],
)
def test_a_result_is_kept_while_it_is_fresh(method: str, hints: dict[str, Any], kept: bool) -> None:
    peer = Peer(lambda method, params: hinted(method, params, **hints))
    clock = Clock()

    async def scenario() -> None:
        async with Client.memory(peer, cache=Cache(clock=clock)) as client:
            first = await CALLS[method](client)
            clock.now += 0.999
            assert (await CALLS[method](client)).model_dump_json() == first.model_dump_json()
            assert len(peer.asked) == (1 if kept else 2)
            clock.now += 0.001 if hints.get("ttlMs", 0) < LONGEST_MS else LONGEST_MS / 1000
            await CALLS[method](client)
            assert len(peer.asked) == (2 if kept else 3)

    run(scenario)


def fresh(method: str, params: Mapping[str, Any]) -> Result:
    return hinted(method, params, ttlMs=60_000)


def test_what_is_kept_is_bypassed_on_demand_and_not_kept_at_all_when_off() -> None:
    async def scenario() -> None:
        peer = Peer(fresh)
        async with Client.memory(peer) as client:
            await client.list_tools()
            await client.list_tools(fresh=True)
            await client.list_tools()
            assert len(peer.asked) == 2
            assert client.cache is not None
            client.cache.clear()
            await client.list_tools()
            assert len(peer.asked) == 3
        off = Peer(fresh)
        async with Client.memory(off, cache=False) as client:
            await client.list_tools()
            await client.list_tools()
            assert len(off.asked) == 2 and client.cache is None

    run(scenario)


def test_other_params_are_another_result_and_a_caller_may_change_its_own_copy() -> None:
    def answer(method: str, params: Mapping[str, Any]) -> Result:
        return {"contents": [{"uri": params["uri"], "text": params["uri"]}], "ttlMs": 60_000}

    async def scenario() -> None:
        async with Client.memory(Peer(answer)) as client:
            for _ in range(2):
                for uri in ("a://1", "a://2"):
                    result = await client.read_resource(uri)
                    assert [content.uri for content in result.contents] == [uri]
                    result.contents.clear()

    run(scenario)


def test_what_is_public_is_shared_by_clients_and_what_is_private_is_not() -> None:
    def answer(method: str, params: Mapping[str, Any]) -> Result:
        scope = "public" if method == "tools/list" else "private"
        return hinted(method, params, ttlMs=60_000, cacheScope=scope)

    peer = Peer(answer)
    shared = Cache()

    async def scenario() -> None:
        for _ in range(2):
            async with Client.memory(peer, cache=shared) as client:
                for _ in range(2):
                    await client.list_tools()
                    await client.list_prompts()

    run(scenario)
    assert sorted(method for method, _ in peer.asked) == ["prompts/list", "prompts/list", "tools/list"]


CHANGES: Mapping[str, tuple[Mapping[str, Any], set[str]]] = {
    "tools": ({"method": "notifications/tools/list_changed"}, {"tools/list"}),
    "prompts": ({"method": "notifications/prompts/list_changed"}, {"prompts/list"}),
    "resources": (
        {"method": "notifications/resources/list_changed"},
        {"resources/list", "resources/templates/list"},
    ),
    "resource": (
        {"method": "notifications/resources/updated", "params": {"uri": "a://b"}},
        {"resources/read"},
    ),
    "part of the resource": (
        {"method": "notifications/resources/updated", "params": {"uri": "a://b/part"}},
        {"resources/read"},
    ),
    "another resource": ({"method": "notifications/resources/updated", "params": {"uri": "a://"}}, set()),
    "no resource": ({"method": "notifications/resources/updated", "params": {"uri": [1]}}, set()),
    "another thing": ({"method": "notifications/else"}, set()),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_notification_makes_stale_what_it_says_has_changed(change: str) -> None:
    notice, stale = CHANGES[change]
    peer = Peer(fresh)

    async def scenario() -> None:
        async with Client.memory(peer) as client:
            for call in CALLS.values():
                await call(client)
            peer.notices = [notice]
            await client.complete("a", "", prompt="p")
            peer.asked.clear()
            for call in CALLS.values():
                await call(client)

    def answer(method: str, params: Mapping[str, Any]) -> Result:
        return {"completion": {"values": []}} if method == "completion/complete" else fresh(method, params)

    peer.answer = answer
    run(scenario)
    assert {method for method, _ in peer.asked} == stale


def test_a_result_that_was_on_its_way_when_it_changed_is_not_kept() -> None:
    peer = Peer(fresh)

    async def scenario() -> None:
        async with Client.memory(peer) as client:
            peer.notices = [{"method": "notifications/tools/list_changed"}]
            await client.list_tools()
            await client.list_tools()
            await client.list_tools()
            assert len(peer.asked) == 2

    run(scenario)


def test_interim_results_and_those_of_repeated_calls_are_never_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcprotocol.client.driver.PAUSE_SECONDS", 0)

    def answer(method: str, params: Mapping[str, Any]) -> Result:
        if "requestState" in params:
            return {"contents": [], "ttlMs": 60_000, "cacheScope": "public"}
        return {"resultType": "input_required", "requestState": "", "ttlMs": 60_000}

    peer = Peer(answer)

    async def scenario() -> None:
        async with Client.memory(peer) as client:
            for _ in range(2):
                await client.read_resource("a://b")
            assert client.cache is not None and len(client.cache) == 0

    run(scenario)
    assert len(peer.asked) == 4


def test_a_cache_is_bounded_and_lets_go_of_what_was_not_asked_for_the_longest() -> None:
    def answer(method: str, params: Mapping[str, Any]) -> Result:
        text = "x" * (5000 if params["uri"] == "a://big" else 1)
        return {"contents": [{"uri": params["uri"], "text": text}], "ttlMs": 60_000}

    peer = Peer(answer)
    cache = Cache(entries=3, size=4000)

    async def scenario() -> None:
        async with Client.memory(peer, cache=cache) as client:
            for uri in ("a://1", "a://2", "a://3", "a://1", "a://4"):
                await client.read_resource(uri)
            assert len(cache) == 3
            peer.asked.clear()
            for uri in ("a://1", "a://3", "a://4", "a://2"):
                await client.read_resource(uri)
            assert [params["uri"] for _, params in peer.asked] == ["a://2"]
            await client.read_resource("a://big")
            assert len(cache) == 0

    run(scenario)


def test_a_page_that_leads_nowhere_any_more_is_forgotten() -> None:
    gone: list[str] = []

    def answer(method: str, params: Mapping[str, Any]) -> Result:
        if params.get("cursor") in gone:
            return {"error": {"code": -32602, "message": "unknown cursor"}}
        more = {} if "cursor" in params else {"nextCursor": "new" if gone else "old"}
        return {"tools": [], "ttlMs": 60_000 if not params else 0, **more}

    peer = Peer(answer)

    async def scenario() -> None:
        async with Client.memory(peer) as client:
            assert [tool async for tool in client.tools()] == []
            gone.append("old")
            with pytest.raises(InvalidParams, match="unknown cursor"):
                assert [tool async for tool in client.tools()] == []
            assert [tool async for tool in client.tools()] == []

    run(scenario)
    assert peer.asked[-1] == ("tools/list", {"cursor": "new"})


def test_what_a_client_keeps_is_what_the_server_said_to_the_letter() -> None:
    said: Result = {
        "tools": [{"name": "t", "inputSchema": {"type": "object", "x": None}, "more": [1.0]}],
        "else": {},
    }

    async def scenario() -> None:
        async with Client.memory(Peer(lambda method, params: {**said, "ttlMs": 60_000})) as client:
            first, second = [await client.list_tools() for _ in range(2)]
            assert first is not second and first == second
            assert isinstance(second, types.ListToolsResult)
            kept = json.loads(second.model_dump_json())["tools"]
            assert json.dumps(kept, sort_keys=True) == json.dumps(said["tools"], sort_keys=True)

    run(scenario)
