"""What users have reported of servers, each with the values that are right: over a real pipe and on a real port."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

import httpx2
import pytest
from hosted import COMMON, body, headers_for, hosted
from judged import answers, faults, responses
from mcp.client import Client
from mcp_types import TextContent
from scaffolded import META
from steady import Caller, head
from wires import PACKAGES, PATIENCE, Pipe

REPORTED = Path(__file__).parent / "servers" / "reported.py"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"


class Peer(Protocol):
    """A server at the end of a transport."""

    async def ask(self, data: bytes) -> list[Any]:
        """Send a request; the notifications that came before its answer, and then that."""
        ...

    async def cancel(self, data: bytes, after: float) -> list[Any]:
        """Send a request and cancel it after some seconds; what came back, if anything did."""
        ...


class Piped:
    """Over stdio, where a notification cancels."""

    def __init__(self, wire: Pipe) -> None:
        self._wire = wire

    async def ask(self, data: bytes) -> list[Any]:
        await self._wire.send(data)
        found = [await self._wire.receive()]
        while "method" in found[-1]:
            found.append(await self._wire.receive())
        return found

    async def cancel(self, data: bytes, after: float) -> list[Any]:
        await self._wire.send(data)
        await asyncio.sleep(after)
        await self.note(json.loads(data)["id"])
        # Whatever there is to come of the request has come before the answer to the next one.
        await self._wire.send(body("next", "server/discover"))
        found = [await self._wire.receive()]
        while found[-1].get("id") != "next":
            found.append(await self._wire.receive())
        return found[:-1]

    async def note(self, identity: object) -> None:
        """Send a cancellation, right or wrong."""
        await self._wire.send(cancellation(identity))


class Posted:
    """Over HTTP, where leaving cancels, and a notification never does."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._client = httpx2.AsyncClient(base_url=url, timeout=PATIENCE, trust_env=False)

    async def ask(self, data: bytes) -> list[Any]:
        answer = await self._client.post("/mcp", content=data, headers=headers_for(data))
        return responses(data, answer.headers["content-type"], answer.content)

    async def cancel(self, data: bytes, after: float) -> list[Any]:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(self._url.rpartition(":")[2]))
        writer.write(head(data) + data)
        await asyncio.sleep(after)
        writer.write_eof()
        found = await reader.read()
        writer.close()
        await writer.wait_closed()
        return answers(data, found.partition(b"\r\n\r\n")[2])

    async def close(self) -> None:
        await self._client.aclose()


def cancellation(identity: object) -> bytes:
    return json.dumps(
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": identity}}
    ).encode()


@asynccontextmanager
async def piped() -> AsyncGenerator[Piped, None]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, str(REPORTED)),
        stdin=PIPE,
        stdout=PIPE,
        stderr=DEVNULL,
        env={**os.environ, "PYTHONPATH": PACKAGES},
    )
    wire = Pipe(process)
    try:
        yield Piped(wire)
        assert await wire.end() == [], "nothing was left to say"
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


@asynccontextmanager
async def posted() -> AsyncGenerator[Posted, None]:
    async with hosted(sys.executable, REPORTED, "--http") as site:
        peer = Posted(site.url)
        try:
            yield peer
        finally:
            await peer.close()


Connect = Callable[[], AbstractAsyncContextManager[Any]]


@pytest.fixture(params=[piped, posted], ids=["pipe", "port"])
def connect(request: pytest.FixtureRequest) -> Connect:
    """Each transport in turn."""
    made: Connect = request.param
    return made


def run(connect: Connect, work: Callable[[Any], Awaitable[None]]) -> None:
    async def connected() -> None:
        async with connect() as peer:
            await work(peer)

    asyncio.run(connected())


def call(tool: str, identity: object = 1, meta: Any = META, **arguments: Any) -> bytes:
    return body(identity, "tools/call", meta, name=tool, arguments=arguments)


def said(answer: Any) -> str:
    return str(answer["result"]["content"][0]["text"])


# B25: strings that look like other things.


def test_b25_a_string_is_not_read_and_nothing_else_is_made_of_one(connect: Connect) -> None:
    async def scenario(peer: Peer) -> None:
        for given in ("01234", '{"a":1}', "true", "null", "1e5", "", " 5 "):
            [answer] = await peer.ask(call("take", text=given, number=5, flag=True))
            assert json.loads(said(answer)) == [["str", given], ["int", 5], ["bool", True]]
            assert "isError" not in answer["result"]
        for argument, wrong, named in (
            ("number", "5", "/number: Input should be a valid integer"),
            ("number", True, "/number: Input should be a valid integer"),
            ("flag", "yes", "/flag: Input should be a valid boolean"),
            ("text", 5, "/text: Input should be a valid string"),
        ):
            [answer] = await peer.ask(call("take", **{argument: wrong}))
            assert answer["result"]["isError"] is True, (argument, wrong)
            assert named in said(answer)

    run(connect, scenario)


# B29: a cancellation that races the answer.


def test_b29_at_most_one_answer_and_none_to_what_is_not_in_flight(connect: Connect) -> None:
    async def scenario(peer: Peer) -> None:
        answered = 0
        for attempt in range(200):
            found = await peer.cancel(call("wait", 5, seconds=0.004), attempt % 20 * 0.0006)
            assert [one["id"] for one in found] in ([], [5])
            answered += len(found)
        assert 0 < answered < 200, "the delays must lie around the end of the handler"
        [answer] = await peer.ask(call("wait", 5, seconds=0.0))
        assert (answer["id"], said(answer)) == (5, "waited")

    run(connect, scenario)


def test_b29_a_cancellation_of_something_else_cancels_nothing() -> None:
    async def over_a_pipe(peer: Piped) -> None:
        waiting = asyncio.create_task(peer.ask(call("wait", 5, seconds=0.1)))
        await asyncio.sleep(0.02)
        for other in (999, "5", None, 5.0, [5], True):
            await peer.note(other)
        assert [(one["id"], said(one)) for one in await waiting] == [(5, "waited")]

    run(piped, over_a_pipe)


def test_b29_over_http_a_notification_cancels_nobodys_request() -> None:
    async def scenario() -> None:
        async with hosted(sys.executable, REPORTED, "--http") as site:
            first, second = Caller(site.url), Caller(site.url)
            data = call("wait", 5, seconds=0.2)
            waiting = asyncio.create_task(first.exchange(head(data) + data))
            await asyncio.sleep(0.05)
            for identity in (5, "5", 999):
                note = cancellation(identity)
                assert await second.exchange(head(note) + note) == (202, b"")
            status, answer = await waiting
            assert (status, said(json.loads(answer))) == (200, "waited")
            await first.close()
            await second.close()

    asyncio.run(scenario())


# B30: progress token 0.


def test_b30_a_progress_token_comes_back_as_it_was(connect: Connect) -> None:
    async def scenario(peer: Peer) -> None:
        for token in (0, "0", "", 7, -1):
            *reports, answer = await peer.ask(call("three", meta={**META, "progressToken": token}))
            assert [one["method"] for one in reports] == ["notifications/progress"] * 3
            assert [one["params"] for one in reports] == [
                {"progressToken": token, "progress": step, "total": 3, "message": f"step {step}"}
                for step in (1, 2, 3)
            ]
            assert {type(one["params"]["progressToken"]) for one in reports} == {type(token)}
            assert said(answer) == "done"

    run(connect, scenario)


def test_b30_without_a_token_there_is_no_progress_and_a_bad_one_is_refused(connect: Connect) -> None:
    async def scenario(peer: Peer) -> None:
        for meta in (META, {**META, "progressToken": None}):
            [answer] = await peer.ask(call("three", meta=meta))
            assert said(answer) == "done"
        for token in json.loads("[true, 1.5, [], {}]"):
            [refusal] = await peer.ask(call("three", meta={**META, "progressToken": token}))
            assert refusal["error"]["code"] == -32602, token

    run(connect, scenario)


# B32: result types and cache hints.

EVERY_METHOD: list[tuple[bytes, bool]] = [
    (body(1, "server/discover"), True),
    (body(1, "tools/list"), True),
    (body(1, "resources/list"), True),
    (body(1, "resources/templates/list"), True),
    (body(1, "resources/read", uri="note://a"), True),
    (body(1, "prompts/list"), True),
    (body(1, "prompts/get", name="plain"), False),
    (
        body(
            1,
            "completion/complete",
            ref={"type": "ref/prompt", "name": "plain"},
            argument={"name": "name", "value": "a"},
        ),
        False,
    ),
    (call("take"), False),
    (call("fail"), False),
    (call("take", number="5"), False),
]
"""A request of every method that has an answer of its own, and whether its result may be cached."""


def test_b32_every_result_has_its_type_its_hints_and_the_shape_of_its_definition(connect: Connect) -> None:
    async def scenario(peer: Peer) -> None:
        for data, cached in EVERY_METHOD:
            method = json.loads(data)["method"]
            [answer] = await peer.ask(data)
            assert faults(method, json.dumps(answer).encode()) == []
            result = answer["result"]
            assert result["resultType"] == "complete", method
            hints = {name: result[name] for name in ("ttlMs", "cacheScope") if name in result}
            assert hints == ({"ttlMs": 0, "cacheScope": "private"} if cached else {}), method
            assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "asking"

    run(connect, scenario)


# B33: arguments that nobody knows.


def test_b33_a_misspelt_argument_fails_the_call_by_its_name(connect: Connect) -> None:
    async def scenario(peer: Peer) -> None:
        for tool, known in (("search", "topic"), ("take", "text")):
            [answer] = await peer.ask(call(tool, **{known[:-1]: "x"}))
            assert answer["result"]["isError"] is True
            assert repr(known[:-1])[1:-1] in said(answer)
            assert "structuredContent" not in answer["result"]
        [answer] = await peer.ask(call("search_freely", topci="x"))
        assert json.loads(said(answer)) == {"topci": "x"} and "isError" not in answer["result"]
        [answer] = await peer.ask(call("search", topic="x"))
        assert json.loads(said(answer)) == {"topic": "x"}
        [answer] = await peer.ask(call("nope"))
        assert answer["error"]["code"] == -32602 and "nope" in answer["error"]["message"]

    run(connect, scenario)


# B34: rounds.


def test_b34_a_state_comes_back_as_it_was_and_is_absent_where_none_was_given(connect: Connect) -> None:
    async def scenario(peer: Peer) -> None:
        meta: Any = {**META, CAPABILITIES: {"roots": {}}}

        def own(identity: int, **params: Any) -> bytes:
            return body(identity, "tools/call", meta, name="own", arguments={}, **params)

        [first] = await peer.ask(own(1))
        assert first["id"] == 1 and first["result"]["requestState"] == ""
        assert "inputRequests" not in first["result"]
        [second] = await peer.ask(own(2, requestState=""))
        assert second["id"] == 2 and second["result"]["requestState"] == " ü "
        [third] = await peer.ask(own(3, requestState=" ü "))
        assert third["id"] == 3 and "requestState" not in third["result"]
        assert third["result"]["inputRequests"] == {"roots": {"method": "roots/list"}}
        [last] = await peer.ask(own(4, inputResponses={"roots": {"roots": []}}))
        assert last["id"] == 4 and said(last) == "done" and last["result"]["resultType"] == "complete"
        assert {one["result"]["resultType"] for one in (first, second, third)} == {"input_required"}

    run(connect, scenario)


def test_b34_what_a_client_does_not_declare_it_is_not_asked_for(connect: Connect) -> None:
    async def scenario(peer: Peer) -> None:
        poor: list[dict[str, Any]] = [{}, {"sampling": {}}, {"elicitation": {"url": {}}}]
        for declared in poor:
            [answer] = await peer.ask(call("greet", meta={**META, CAPABILITIES: declared}))
            assert answer["error"]["code"] == -32021
            assert answer["error"]["data"] == {"requiredCapabilities": {"elicitation": {"form": {}}}}

    run(connect, scenario)


def test_b34_rounds_come_to_an_end(connect: Connect) -> None:
    async def scenario(peer: Peer) -> None:
        meta: Any = {**META, CAPABILITIES: {"elicitation": {}}}
        more: dict[str, Any] = {}
        for identity in range(10):
            [answer] = await peer.ask(call_again(identity, meta, **more))
            [key] = answer["result"]["inputRequests"]
            given = {key: {"action": "accept", "content": {"name": "Ann"}}}
            more = {"requestState": answer["result"]["requestState"], "inputResponses": given}
        [answer] = await peer.ask(call_again(10, meta, **more))
        assert answer["id"] == 10 and answer["error"]["code"] == -32603

    def call_again(identity: int, meta: Any, **more: Any) -> bytes:
        return body(identity, "tools/call", meta, name="stubborn", arguments={}, **more)

    run(connect, scenario)


# B42: mirrored headers.


def test_b42_a_name_in_the_header_is_that_of_the_body_whatever_it_looks_like() -> None:
    data = call("take")
    good = headers_for(data)
    encoded = {"世界": "=?base64?5LiW55WM?=", "=?base64?eA==?=": "=?base64?PT9iYXNlNjQ/ZUE9PT89?="}

    async def scenario() -> None:
        async with (
            hosted(sys.executable, REPORTED, "--http") as site,
            httpx2.AsyncClient(base_url=site.url, timeout=PATIENCE, trust_env=False) as client,
        ):
            absent = {name: value for name, value in good.items() if name != "Mcp-Name"}
            for headers, status, code in (
                (absent, 400, -32020),
                ({**good, "Mcp-Name": "fail"}, 400, -32020),
                ({**good, "Mcp-Name": "TAKE"}, 400, -32020),
                ({**absent, "mCP-nAME": "take"}, 200, None),
                ({**absent, "MCP-NAME": "take"}, 200, None),
            ):
                answer = await client.post("/mcp", content=data, headers=headers)
                assert answer.status_code == status, headers
                assert answer.json().get("error", {}).get("code") == code
                assert answer.json()["id"] == 1
            for name, header in encoded.items():
                odd = call(name)
                assert headers_for(odd)["Mcp-Name"] == header
                answer = await client.post("/mcp", content=odd, headers=headers_for(odd))
                assert (answer.status_code, said(answer.json())) == (200, "found")
                raw = httpx2.Headers({**headers_for(odd), "Mcp-Name": name}, encoding="utf-8")
                bare = await client.post("/mcp", content=odd, headers=raw)
                assert (bare.status_code, bare.json()["error"]["code"]) == (400, -32020)

    asyncio.run(scenario())


def test_b42_the_official_client_calls_tools_with_odd_names() -> None:
    async def scenario() -> None:
        async with hosted(sys.executable, REPORTED, "--http") as site, Client(f"{site.url}/mcp") as client:
            for name in ("世界", "=?base64?eA==?="):
                result = await client.call_tool(name, {})
                assert isinstance(result.content[0], TextContent) and result.content[0].text == "found"

    asyncio.run(scenario())


# B44: who may call.


def test_b44_strangers_are_kept_out_without_any_configuration() -> None:
    data = call("take")

    async def scenario() -> None:
        async with (
            hosted(sys.executable, REPORTED, "--http") as site,
            httpx2.AsyncClient(base_url=site.url, timeout=PATIENCE, trust_env=False) as client,
        ):
            for headers, status in (
                ({}, 200),
                ({"Origin": "https://evil.example"}, 403),
                ({"Origin": "http://localhost.evil.example"}, 403),
                ({"Origin": "null"}, 403),
                ({"Origin": "http://localhost:5173"}, 200),
                ({"Host": "evil.example"}, 403),
            ):
                answer = await client.post("/mcp", content=data, headers={**headers_for(data), **headers})
                assert answer.status_code == status, headers
                assert status == 200 or "error" in answer.json() and "id" not in answer.json()
            for method in ("GET", "DELETE"):
                modern = {**COMMON, "MCP-Protocol-Version": "2026-07-28"}
                answer = await client.request(method, "/mcp", headers=modern)
                assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
                stranger = {**COMMON, "Origin": "https://evil.example"}
                assert (await client.request(method, "/mcp", headers=stranger)).status_code == 403

    asyncio.run(scenario())


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere 127.0.0.1 is the only address of the loopback")
def test_b44_the_server_is_bound_to_one_loopback_address() -> None:
    async def scenario() -> None:
        async with hosted(sys.executable, REPORTED, "--http") as site:
            host, _, port = site.url.removeprefix("http://").partition(":")
            assert host == "127.0.0.1"
            with pytest.raises(ConnectionRefusedError):
                await asyncio.open_connection("127.0.0.2", int(port))

    asyncio.run(scenario())
