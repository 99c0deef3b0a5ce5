"""What a client concludes of a server, by what that answers to the question which era it is of: never by one code alone."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from mcprotocol.client import Client, ClientSync, Disconnected, HttpError, era
from mcprotocol.client.era import Era, concluded
from mcprotocol.errors import InvalidRequest, McpError, from_wire
from mcprotocol.latest import REVISION, types
from scaffolded import PATIENCE
from wired import Asked, Wire, reply, says, wired

HANDSHAKING = Path(__file__).parent / "servers" / "handshaking.py"
OLD = "2025-11-25"
DISCOVERED: dict[str, Any] = {
    "supportedVersions": [REVISION],
    "capabilities": {},
    "ttlMs": 0,
    "cacheScope": "private",
}


def command(before: str = "-32601") -> list[str]:
    return [sys.executable, str(HANDSHAKING), before]


def within_time(work: Coroutine[Any, Any, None]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(3 * PATIENCE):
            await work

    asyncio.run(bounded())


def said(result: types.CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, types.TextContent)
    return block.text


async def heard(client: Client) -> list[dict[str, Any]]:
    """All that the server has received; of its life since it was last started."""
    messages: list[dict[str, Any]] = json.loads(said(await client.call_tool("heard")))
    return messages


# stdio.


@pytest.mark.parametrize(
    ("before", "first"),
    [
        ("-32601", ["server/discover", "initialize"]),
        ("-32602", ["server/discover", "initialize"]),
        ("-32600", ["server/discover", "initialize"]),
        ("-32603", ["server/discover", "initialize"]),
        ("-32000", ["server/discover", "initialize"]),
        ("-32022", ["server/discover", "initialize"]),
        ("nameless", ["server/discover", "initialize"]),
        ("empty", ["server/discover", "initialize"]),
        ("silence", ["server/discover", "initialize"]),
        ("garbage", ["server/discover", "initialize"]),
        # The child that was asked is gone, and a new one is asked nothing before the handshake.
        ("exit", ["initialize"]),
    ],
)
def test_a_child_that_knows_only_the_handshake_is_used_after_one(
    before: str, first: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # How long silence lasts decides nothing but how long this takes.
    monkeypatch.setattr(era, "SILENCE_SECONDS", 0.5)

    async def scenario() -> None:
        async with Client.stdio(command(before)) as client:
            unknown: tuple[object, object] = (client.era, client.protocol_version)
            assert unknown == (None, None)
            received = await heard(client)
            assert (client.era, client.protocol_version) == ("handshake", OLD)
            methods = [one["method"] for one in received]
            assert methods == [*first, "notifications/initialized", "tools/call"]
            assert (await client.list_tools()).tools[0].name == "heard"

    within_time(scenario())


def test_a_child_that_ends_whatever_it_is_asked_is_gone_and_is_not_started_for_ever() -> None:
    async def scenario() -> None:
        async with Client.stdio([sys.executable, "-c", "input()"]) as client:
            for _ in range(2):
                with pytest.raises(Disconnected, match="exit code 0"):
                    await client.list_tools()

    within_time(scenario())


SLOW = """
import json, sys
def say(message, **what):
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **what}), flush=True)
first = json.loads(sys.stdin.readline())
second = json.loads(sys.stdin.readline())
assert [first["method"], second["method"]] == ["server/discover", "initialize"]
say(first, result={"resultType": "complete", **%r})
say(second, error={"code": -32601, "message": "no"})
for line in sys.stdin:
    say(json.loads(line), result={"resultType": "complete", "content": []})
"""


def test_a_modern_child_that_is_slow_to_begin_stays_modern(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(era, "SILENCE_SECONDS", 0.01)

    async def scenario() -> None:
        async with Client.stdio([sys.executable, "-c", SLOW % DISCOVERED]) as client:
            assert (await client.call_tool("any")).content == []
            assert (client.era, client.protocol_version) == ("modern", REVISION)

    within_time(scenario())


BATCHING = """
import json, sys
def say(message):
    print(json.dumps(message), flush=True)
def answer(message, **what):
    return {"jsonrpc": "2.0", "id": message["id"], **what}
first, second = (json.loads(sys.stdin.readline()) for _ in range(2))
say(answer(first, error={"code": -32601, "message": "no"}))
who = {"name": "old", "version": "1"}
say(answer(second, result={"protocolVersion": "2025-03-26", "capabilities": {"tools": {}}, "serverInfo": who}))
sys.stdin.readline()
for line in sys.stdin:
    call = json.loads(line)
    if call["method"] == "tools/call":
        step = {"progressToken": call["params"]["_meta"]["progressToken"], "progress": 1}
        told = {"jsonrpc": "2.0", "method": "notifications/progress", "params": step}
        asked = {"jsonrpc": "2.0", "id": "alive", "method": "ping"}
        say([told, asked])
        assert json.loads(sys.stdin.readline()) == answer(asked, result={})
        print("[{]", flush=True)
        say([5, answer(call, result={"content": [{"type": "text", "text": "both"}]})])
"""


def test_a_child_of_the_version_that_has_batches_may_say_several_things_at_once() -> None:
    async def scenario() -> None:
        steps: list[types.ProgressNotificationParams] = []
        async with Client.stdio([sys.executable, "-c", BATCHING]) as client:
            assert said(await client.call_tool("any", progress=steps.append)) == "both"
            assert client.protocol_version == "2025-03-26" and len(steps) == 1

    within_time(scenario())


def test_a_child_whose_era_is_given_is_not_asked_for_it() -> None:
    async def scenario() -> None:
        async with Client.stdio(command("exit"), era="handshake") as client:
            assert [one["method"] for one in await heard(client)][0] == "initialize"

    within_time(scenario())


def test_calls_at_once_find_out_the_era_once() -> None:
    async def scenario() -> None:
        async with Client.stdio(command()) as client:
            await asyncio.gather(*(client.list_tools() for _ in range(20)))
            methods = [one["method"] for one in await heard(client)]
            assert methods.count("initialize") == methods.count("server/discover") == 1

    within_time(scenario())


def test_a_call_that_is_given_up_while_the_era_is_found_out_leaves_it_to_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(era, "SILENCE_SECONDS", 1.0)

    async def scenario() -> None:
        async with Client.stdio(command("silence")) as client:
            with pytest.raises(TimeoutError):
                await client.call_tool("heard", timeout=0.01)
            assert [one["method"] for one in await heard(client)].count("initialize") == 1

    within_time(scenario())


def test_a_blocking_client_finds_out_the_era_as_well() -> None:
    with ClientSync.stdio(command()) as client:
        assert client.discover().supported_versions == [OLD]
        assert (client.era, client.protocol_version) == ("handshake", OLD)


# HTTP.

Make = Callable[[Asked], bytes]


def refusal(asked: Asked, code: int, status: int, **data: Any) -> bytes:
    error = {"code": code, "message": "because"} | ({"data": data} if data else {})
    return reply(
        json.dumps({"jsonrpc": "2.0", "id": asked.json()["id"], "error": error}).encode(), status=status
    )


def result(asked: Asked, **members: Any) -> bytes:
    return reply(json.dumps({"jsonrpc": "2.0", "id": asked.json()["id"], "result": members}).encode())


def discovered(asked: Asked) -> bytes:
    return result(asked, **DISCOVERED)


def either(refuse: Make, shakes: bool) -> Make:
    """A server that refuses this question in one way; one that `shakes` takes a handshake."""

    def make(asked: Asked) -> bytes:
        method = asked.json()["method"] if asked.body else None
        if asked.line.startswith("GET"):
            return reply(status=405)
        if method == "server/discover":
            return refuse(asked)
        if method == "initialize":
            who = {"name": "old", "version": "1"}
            if not shakes:
                return refusal(asked, -32601, 404)
            return result(asked, protocolVersion=OLD, capabilities={"tools": {}}, serverInfo=who)
        if method == "notifications/initialized":
            return reply(status=202)
        return result(asked, tools=[])

    return make


def asked_of(wire: Wire) -> list[str]:
    return [one.json()["method"] for one in wire.asked if one.body]


MODERN = ["server/discover", "tools/list"]
SHAKEN = ["server/discover", "initialize", "notifications/initialized", "tools/list"]


ANSWERS: list[tuple[Make, Era, list[str]]] = [
    (lambda one: result(one, **DISCOVERED), "modern", MODERN),
    (lambda one: result(one, **{**DISCOVERED, "supportedVersions": [OLD, REVISION]}), "modern", MODERN),
    (lambda one: result(one, **{**DISCOVERED, "supportedVersions": [OLD]}), "handshake", SHAKEN),
    (lambda one: result(one), "handshake", SHAKEN),
    (lambda one: refusal(one, -32022, 400, supported=[REVISION]), "modern", MODERN),
    (lambda one: refusal(one, -32022, 400, supported=[OLD, REVISION]), "modern", MODERN),
    (lambda one: refusal(one, -32022, 400, supported=[OLD]), "handshake", SHAKEN),
    (lambda one: refusal(one, -32020, 400), "modern", MODERN),
    (lambda one: refusal(one, -32021, 400), "modern", MODERN),
    (lambda one: refusal(one, -32601, 200), "handshake", SHAKEN),
    (lambda one: refusal(one, -32601, 404), "handshake", SHAKEN),
    (lambda one: refusal(one, -32602, 400), "handshake", SHAKEN),
    (lambda one: refusal(one, -32600, 400), "handshake", SHAKEN),
    (lambda one: refusal(one, -32000, 400), "handshake", SHAKEN),
    (lambda one: refusal(one, -32603, 500), "handshake", SHAKEN),
    (lambda one: reply(status=400), "handshake", SHAKEN),
    (lambda one: reply(b"no session", "text/plain", 400), "handshake", SHAKEN),
    (lambda one: reply(b"{]", status=400), "handshake", SHAKEN),
    (lambda one: reply(status=404), "handshake", SHAKEN),
    (lambda one: reply(status=405), "handshake", SHAKEN),
]  # fmt: skip
"""Answers to the question, what is concluded, and what is asked until the call is made."""


@pytest.mark.parametrize(("refuse", "found", "wire"), ANSWERS)
def test_the_answer_over_http_says_which_era_a_server_is_of(
    refuse: Make, found: Era, wire: list[str]
) -> None:
    async def scenario() -> None:
        async with wired(says(either(refuse, shakes=True))) as server, Client.http(server.url) as client:
            for _ in range(2):
                assert (await client.list_tools(fresh=True)).tools == []
            assert client.era == found
            assert client.protocol_version == (REVISION if found == "modern" else OLD)
            assert asked_of(server) == [*wire, "tools/list"]

    within_time(scenario())


NO_EVIDENCE: list[tuple[Make, type[Exception], str]] = [
    (lambda one: reply(status=401), HttpError, "401"),
    (lambda one: reply(status=403), HttpError, "403"),
    (lambda one: reply(status=500), HttpError, "500"),
    (lambda one: reply(status=503), HttpError, "503"),
    (lambda one: reply(b"<p>hello</p>", "text/html"), Disconnected, "text/html"),
    (lambda one: reply(b"{]"), Disconnected, "no answer"),
    (lambda one: b"", Disconnected, "exchange"),
]  # fmt: skip
"""What says nothing of the era of a server, and how it is raised."""


@pytest.mark.parametrize(("refuse", "raised", "words"), NO_EVIDENCE)
def test_what_is_no_evidence_over_http_is_raised_and_asked_anew(
    refuse: Make, raised: type[Exception], words: str
) -> None:
    async def scenario() -> None:
        bad = True

        async def script(asked: Asked, writer: asyncio.StreamWriter) -> None:
            data = either(refuse if bad else discovered, shakes=True)(asked)
            writer.write(data)
            if not data:
                writer.close()

        async with wired(script) as server, Client.http(server.url) as client:
            with pytest.raises(raised, match=words):
                await client.list_tools()
            assert client.era is None and asked_of(server) == ["server/discover"]
            bad = False
            await client.list_tools()
            assert client.era == "modern"

    within_time(scenario())


NEITHER: list[tuple[Make, str]] = [
    (lambda one: reply(status=404), "404"),
    (lambda one: refusal(one, -32602, 400), "-32602"),
    (lambda one: reply(status=405), "405"),
]  # fmt: skip
"""How a server may refuse the question that takes no handshake either, with a word of it."""


@pytest.mark.parametrize(("refuse", "words"), NEITHER)
def test_a_server_of_neither_era_is_told_by_what_it_said_first(refuse: Make, words: str) -> None:
    async def scenario() -> None:
        async with wired(says(either(refuse, shakes=False))) as server, Client.http(server.url) as client:
            with pytest.raises((McpError, HttpError), match=words):
                await client.list_tools()
            assert asked_of(server) == ["server/discover", "initialize"] and client.era is None

    within_time(scenario())


UNSPOKEN: list[tuple[dict[str, Any], str]] = [
    ({}, "does not say which version"),
    ({"protocolVersion": None}, "wants to speak null, of which"),
    ({"protocolVersion": "1999-01-01"}, 'wants to speak "1999-01-01", of which'),
    ({"protocolVersion": {"a": "b" * 1000}}, 'wants to speak {"a":"b{94}, of which'),
]
"""The versions that a server may choose in a handshake and that nobody speaks, with what is said of each."""


@pytest.mark.parametrize(("chosen", "words"), UNSPOKEN)
@pytest.mark.parametrize("known", ["handshake", None])
def test_a_version_that_nobody_speaks_is_told_whatever_was_asked_first(
    chosen: dict[str, Any], words: str, known: Era | None
) -> None:
    def make(asked: Asked) -> bytes:
        if asked.json()["method"] == "server/discover":
            return refusal(asked, -32601, 404)
        return result(asked, **chosen, capabilities={}, serverInfo={"name": "odd", "version": "1"})

    async def scenario() -> None:
        async with wired(says(make)) as server, Client.http(server.url, era=known) as client:
            with pytest.raises(
                InvalidRequest, match=f"{words}.*: after a handshake this client speaks {OLD}, "
            ):
                await client.list_tools()
            assert asked_of(server)[-1] == "initialize"

    within_time(scenario())


def test_silence_over_http_ends_in_the_time_of_the_call_and_is_given_up() -> None:
    async def script(asked: Asked, writer: asyncio.StreamWriter) -> None:
        asked.held = True

    async def scenario() -> None:
        async with wired(script) as server, Client.http(server.url, timeout=0.3) as client:
            with pytest.raises(TimeoutError):
                await client.list_tools()
            # What nobody waits for any more is given up at the server as well.
            await server.asked[0].gone.wait()
            assert client.era is None

    within_time(scenario())


def test_silence_over_http_ends_for_a_call_that_may_take_for_ever_as_well(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(era, "PROBING_SECONDS", 0.3)

    async def script(asked: Asked, writer: asyncio.StreamWriter) -> None:
        asked.held = True

    async def scenario() -> None:
        async with wired(script) as server, Client.http(server.url) as client:
            with pytest.raises(TimeoutError, match="server/discover"):
                await client.list_tools()
            await server.asked[0].gone.wait()
            assert client.era is None and len(server.asked) == 1

    within_time(scenario())


def test_a_modern_server_is_not_doubted_because_a_call_fails() -> None:
    async def scenario() -> None:
        def make(asked: Asked) -> bytes:
            if asked.json()["method"] == "server/discover":
                return result(asked, **DISCOVERED)
            return reply(status=400)

        async with wired(says(make)) as server, Client.http(server.url) as client:
            for _ in range(2):
                with pytest.raises(HttpError):
                    await client.list_tools()
            assert asked_of(server) == ["server/discover", "tools/list", "tools/list"]

    within_time(scenario())


def test_the_question_of_the_caller_is_the_question_for_the_era() -> None:
    async def scenario() -> None:
        make = either(discovered, shakes=True)
        async with wired(says(make)) as server, Client.http(server.url) as client:
            assert (await client.discover()).supported_versions == [REVISION]
            await client.discover(fresh=True)
            assert asked_of(server) == ["server/discover", "server/discover"]

    within_time(scenario())


@pytest.mark.parametrize("code", [-32700, -32600, -32601, -32602, -32603, -32000, -32002, -32042, -1, 1])
@pytest.mark.parametrize("streams", [True, False])
def test_no_code_but_those_of_this_revision_is_modern(code: int, streams: bool) -> None:
    assert concluded(from_wire(code, "no"), streams) == "handshake"
