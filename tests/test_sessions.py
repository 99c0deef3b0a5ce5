"""Sessions over HTTP: how they begin and end, whom they belong to, and what each of them alone hears."""

from __future__ import annotations

import asyncio
import gc
import json
import sys
from collections.abc import Callable, Coroutine
from types import FrameType
from typing import Any

import pytest
from guests import BARE, NEWEST, Guest, initialize, message, messages, soon, within
from hosted import COMMON, Post, Response, body
from mcprotocol.server import Accepted, Context, Server
from mcprotocol.server.application import Application
from mcprotocol.server.legacy.sessions import Visitor
from pydantic import BaseModel
from scaffolded import META, PATIENCE

Scenario = Callable[[], Coroutine[Any, Any, None]]

LIST = message(1, "tools/list")

SHORT = 3.0
"""Seconds after which a session is idle for too long: far more than lies between two requests, on slow machines too."""


class Name(BaseModel):
    name: str


class House(Server):
    """A server whose tools wait at gates."""

    def __init__(self) -> None:
        super().__init__("house", version="1", logging=True, state_key=b"k" * 32)
        self.gates: dict[str, asyncio.Event] = {}
        self.notes: list[str] = []

    def gate(self, name: str) -> asyncio.Event:
        return self.gates.setdefault(name, asyncio.Event())


@pytest.fixture
def house() -> House:
    made = House()

    @made.tool()
    async def echo(text: str, ctx: Context) -> str:
        return f"{text} for {ctx.principal}"

    @made.tool()
    async def wait(name: str, ctx: Context, report: bool = False) -> str:
        if report:
            await ctx.log("info", f"{name} waits")
        made.notes.append(f"{name} began")
        try:
            await made.gate(name).wait()
        except asyncio.CancelledError:
            made.notes.append(f"{name} cancelled")
            raise
        made.notes.append(f"{name} ended")
        return name

    @made.tool()
    async def greet(who: str, ctx: Context) -> str:
        answer = await ctx.elicit(f"{who}, what is your name?", Name)
        return f"{who} is {answer.content.name if isinstance(answer, Accepted) else 'nobody'}"

    @made.resource("note://a")
    async def note() -> str:
        return "a"

    return made


@pytest.fixture
def application(house: House) -> Application:
    return house.http(principal=sender)


def sender(scope: Any) -> str | None:
    """Who has sent a request, by a header that stands for a token."""
    found: bytes | None = dict(scope["headers"]).get(b"x-user")
    return None if found is None else found.decode()


def visitors() -> int:
    """How many sessions are in memory."""
    gc.collect()
    return sum(isinstance(one, Visitor) for one in gc.get_objects())


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not true():
            await asyncio.sleep(0.01)


def play(scenario: Scenario) -> None:
    asyncio.run(scenario())


def test_a_session_begins_with_initialize_and_ends_with_delete(application: Application) -> None:
    async def scenario() -> None:
        guest = Guest(application)
        result = await guest.open()
        assert (result["protocolVersion"], result["serverInfo"]["name"]) == (NEWEST, "house")
        identity = guest.headers["MCP-Session-Id"]
        assert len(identity) >= 32 and all(0x21 <= ord(character) <= 0x7E for character in identity)
        answer = await guest.say(LIST)
        assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
        assert "mcp-session-id" not in answer.headers
        assert [tool["name"] for tool in answer.json()["result"]["tools"]] == ["echo", "wait", "greet"]
        assert "resultType" not in answer.json()["result"]
        assert (await guest.leave()).status == 204
        for gone in (await guest.say(LIST), await within(guest.get()), await guest.leave()):
            assert (gone.status, gone.code()) == (404, -32600)

    play(scenario)


@pytest.mark.parametrize("version", ["2025-11-25", "2025-06-18", "2025-03-26"])
@pytest.mark.parametrize("said", [True, False], ids=["with its header", "without"])
def test_each_revision_of_the_era_is_spoken(application: Application, version: str, said: bool) -> None:
    async def scenario() -> None:
        guest = Guest(application, version)
        assert (await guest.open())["protocolVersion"] == version
        if not said:
            guest.headers["MCP-Protocol-Version"] = ""
        assert (await guest.ask(1, "ping"))["result"] == {}
        assert (await guest.ask("1", "no/such"))["error"]["code"] == -32601

    play(scenario)


def test_a_version_that_is_not_spoken_is_answered_with_one_that_is(application: Application) -> None:
    async def scenario() -> None:
        for asked in ("2024-11-05", "2026-07-28", "v999"):
            answer = await Guest(application).say(initialize(asked))
            assert answer.json()["result"]["protocolVersion"] == NEWEST
            assert "mcp-session-id" in answer.headers

    play(scenario)


@pytest.mark.parametrize("version", ["", "2025-11-25", "2025-03-26", "2024-11-05"])
def test_initialize_works_under_a_header_of_its_era_or_none(application: Application, version: str) -> None:
    async def scenario() -> None:
        answer = await Guest(application).say(initialize(), **{"MCP-Protocol-Version": version})
        assert (answer.status, "mcp-session-id" in answer.headers) == (200, True)

    play(scenario)


def test_a_handshake_that_fails_begins_no_session(application: Application) -> None:
    async def scenario() -> None:
        answer = await Guest(application).say(message(0, "initialize", protocolVersion=1))
        assert (answer.status, answer.code(), "mcp-session-id" in answer.headers) == (200, -32602, False)

    before = visitors()
    play(scenario)
    assert visitors() == before


def test_a_second_handshake_in_a_session_is_an_error_that_changes_nothing(application: Application) -> None:
    async def scenario() -> None:
        guest = Guest(application)
        await guest.open()
        assert (await guest.say(initialize())).code() == -32600
        assert (await guest.say(LIST)).status == 200

    play(scenario)


REFUSED: list[tuple[str, bytes, dict[str, str], int, int]] = [
    ("no session", LIST, {"MCP-Session-Id": ""}, 400, -32600),
    ("no session and no version", LIST, {"MCP-Session-Id": "", "MCP-Protocol-Version": ""}, 400, -32020),
    ("a session that never was", LIST, {"MCP-Session-Id": "x" * 43}, 404, -32600),
    ("a notification to it", message(None, "notifications/initialized"), {"MCP-Session-Id": "x"}, 404, -32600),
    ("an answer to it", b'{"jsonrpc":"2.0","id":1,"result":{}}', {"MCP-Session-Id": "x"}, 404, -32600),
    ("a version that nobody knows", LIST, {"MCP-Protocol-Version": "v999"}, 400, -32600),
    ("a handshake under it", initialize(), {"MCP-Protocol-Version": "v999"}, 400, -32600),
    ("an old version and no session", LIST, {"MCP-Session-Id": "", "MCP-Protocol-Version": "2024-11-05"}, 400, -32600),
    ("an old version that is not spoken", LIST, {"MCP-Protocol-Version": "2024-11-05"}, 400, -32600),
    ("no JSON", b"{", {}, 400, -32700),
    ("no message", b"{}", {}, 400, -32600),
    ("a batch", b"[%b]" % LIST, {}, 400, -32600),
    ("a request of the later era", body(1, "tools/list"), {}, 400, -32020),
    ("one form of an answer", LIST, {"Accept": "application/json"}, 406, -32600),
    ("another form of a message", LIST, {"Content-Type": "text/plain"}, 415, -32600),
    ("another host", LIST, {"Host": "evil.example"}, 403, -32600),
    ("another origin", LIST, {"Origin": "https://evil.example"}, 403, -32600),
]  # fmt: skip


@pytest.mark.parametrize(
    ("data", "headers", "status", "code"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED]
)
def test_what_is_not_in_order_is_refused(
    application: Application, data: bytes, headers: dict[str, str], status: int, code: int
) -> None:
    async def scenario() -> None:
        guest = Guest(application)
        await guest.open()
        answer = await guest.say(data, **headers)
        assert (answer.status, answer.code()) == (status, code)
        assert (await guest.say(LIST)).status == 200

    play(scenario)


@pytest.mark.parametrize("method", ["GET", "DELETE"])
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"MCP-Session-Id": ""}, 400),
        ({"MCP-Session-Id": "x"}, 404),
        ({"MCP-Protocol-Version": "v999"}, 400),
        ({"MCP-Protocol-Version": "2026-07-28"}, 405),
        ({"Host": "evil.example"}, 403),
        ({"Origin": "https://evil.example"}, 403),
    ],
)
def test_get_and_delete_are_judged_as_posts_are(
    application: Application, method: str, headers: dict[str, str], status: int
) -> None:
    async def scenario() -> None:
        guest = Guest(application)
        await guest.open()
        answer = await within(Post(application, b"", {**guest.headers, **headers}, method=method))
        assert answer.status == status
        assert (await guest.say(LIST)).status == 200

    play(scenario)


def test_a_stream_is_for_those_who_take_one(application: Application) -> None:
    async def scenario() -> None:
        guest = Guest(application)
        await guest.open()
        plain = {**guest.headers, "Accept": "application/json"}
        assert (await within(Post(application, b"", plain, method="GET"))).status == 406
        odd = Post(application, b"", guest.headers, more=[("MCP-Session-Id", "x")], method="GET")
        assert (await within(odd)).status == 404

    play(scenario)


def test_both_eras_are_answered_side_by_side(application: Application) -> None:
    async def scenario() -> None:
        guest = Guest(application)
        await guest.open()
        for headers in ({}, {"Mcp-Session-Id": guest.headers["MCP-Session-Id"]}, {"Mcp-Session-Id": "x"}):
            later = await within(Post(application, body(1, "tools/list"), headers))
            assert later.json()["result"]["resultType"] == "complete"
            assert (await guest.say(LIST)).status == 200
        refused = await within(Post(application, body(1, "initialize"), COMMON))
        assert (refused.status, refused.code()) == (404, -32601)

    play(scenario)


def test_a_session_belongs_to_whoever_has_opened_it(application: Application) -> None:
    async def scenario() -> None:
        guest = Guest(application, headers={"X-User": "ann"})
        await guest.open()
        for other in ("bob", ""):
            assert (await guest.say(LIST, **{"X-User": other})).status == 404
            stranger = Guest(application, headers={**guest.headers, "X-User": other})
            assert (await within(stranger.get())).status == 404
            assert (await stranger.leave()).status == 404
        assert messages(await within(guest.call(1, "echo", text="hi")))[0]["result"]["content"] == [
            {"type": "text", "text": "hi for ann"}
        ]

    play(scenario)


def test_questions_ride_on_the_stream_of_the_call_and_answers_are_posted(application: Application) -> None:
    async def scenario() -> None:
        guest = Guest(application)
        await guest.open(elicitation={})
        call = guest.call(1, "greet", who="she")
        task = call.begin()
        await call.until(b"elicitation/create")
        [question] = messages(call.response)
        content = {"action": "accept", "content": {"name": "ann"}}
        answer = json.dumps({"jsonrpc": "2.0", "id": question["id"], "result": content}).encode()
        posted = await guest.say(answer)
        assert (posted.status, posted.body) == (202, b"")
        assert messages(await soon(task))[-1]["result"]["content"][0]["text"] == "she is ann"

    play(scenario)


@pytest.mark.parametrize("report", [False, True], ids=["whole", "as a stream"])
def test_a_call_that_is_cancelled_gets_no_answer(
    house: House, application: Application, report: bool
) -> None:
    async def scenario() -> None:
        guest = Guest(application)
        await guest.open()
        task = guest.call(7, "wait", name="it", report=report).begin()
        await until(lambda: "it began" in house.notes)
        cancel = message(None, "notifications/cancelled", requestId=7)
        other = Guest(application)
        await other.open()
        assert (await other.say(cancel)).status == 202
        assert "it cancelled" not in house.notes
        assert (await guest.say(cancel)).status == 202
        answer = await soon(task)
        assert answer.status == (200 if report else 202)
        assert [one["method"] for one in messages(answer)] == ["notifications/message"] * report
        assert house.notes == ["it began", "it cancelled"]

    play(scenario)


def test_an_answer_that_cannot_be_read_is_refused_and_ends_the_call(application: Application) -> None:
    async def scenario() -> None:
        guest = Guest(application)
        await guest.open(elicitation={})
        call = guest.call(1, "greet", who="she")
        task = call.begin()
        await call.until(b"elicitation/create")
        [question] = messages(call.response)
        refused = await guest.say(
            json.dumps({"jsonrpc": "2.0", "id": question["id"], "result": None}).encode()
        )
        assert (refused.status, refused.code(), "id" in refused.json()) == (400, -32600, False)
        assert messages(await soon(task))[-1]["error"]["code"] == -32603

    play(scenario)


def test_a_call_goes_on_when_its_client_goes_away(house: House, application: Application) -> None:
    async def scenario() -> None:
        guest = Guest(application)
        await guest.open()
        call = guest.call(1, "wait", name="it")
        task = call.begin()
        await until(lambda: "it began" in house.notes)
        call.leave()
        assert (await soon(task)).chunks == []
        house.gate("it").set()
        await until(lambda: "it ended" in house.notes)

    play(scenario)


def test_the_end_of_a_session_ends_its_calls_and_streams(house: House, application: Application) -> None:
    async def scenario() -> None:
        guest = Guest(application)
        await guest.open()
        calls = [
            guest.call(number, "wait", name=f"{number}", report=bool(number)).begin() for number in (0, 1)
        ]
        stream = guest.get().begin()
        await until(lambda: {"0 began", "1 began"} <= {*house.notes})
        assert (await guest.leave()).status == 204
        whole, streamed = [await soon(call) for call in calls]
        assert (whole.status, whole.json()["error"]["message"]) == (503, "The session has ended")
        assert (messages(streamed)[-1]["id"], messages(streamed)[-1]["error"]["code"]) == (1, -32603)
        assert (await soon(stream)).ended
        assert {"0 cancelled", "1 cancelled"} <= {*house.notes}

    play(scenario)


def test_an_idle_session_expires_with_all_that_it_holds(house: House) -> None:
    async def scenario() -> None:
        guest = Guest(house.http(session_seconds=SHORT))
        await guest.open()
        call = guest.call(1, "wait", name="it")
        task = call.begin()
        await until(lambda: "it began" in house.notes)
        call.leave()
        await soon(task)
        await until(lambda: "it cancelled" in house.notes)
        assert (await guest.say(LIST)).status == 404

    before = visitors()
    play(scenario)
    assert visitors() == before


def test_a_session_is_not_idle_while_a_request_of_it_is_open(house: House) -> None:
    async def scenario() -> None:
        guest, idle = (Guest(house.http(session_seconds=SHORT)) for _ in range(2))
        await guest.open()
        stream = guest.get()
        task = stream.begin()
        await until(lambda: stream.response.status == 200)
        await idle.open()
        await asyncio.sleep(SHORT)
        while (await idle.say(LIST)).status == 200:
            await asyncio.sleep(SHORT)
        await house.notify_list_changed("tools")
        await stream.until(b"notifications/tools/list_changed")
        stream.leave()
        await soon(task)

    play(scenario)


def test_where_there_are_too_many_sessions_the_one_idle_longest_gives_way(house: House) -> None:
    async def scenario() -> None:
        application = house.http(max_sessions=3)
        guests = [Guest(application) for _ in range(5)]
        for guest in guests[:3]:
            await guest.open()
        stream = guests[0].get()
        streaming = stream.begin()
        assert (await guests[1].say(LIST)).status == 200  # So the third is idle longest.
        await guests[3].open()
        assert [(await guest.say(LIST)).status for guest in guests[:4]] == [200, 200, 404, 200]
        others = [guest.get() for guest in (guests[1], guests[3])]
        tasks = [streaming, *(other.begin() for other in others)]
        await until(lambda: all(one.response.status == 200 for one in (stream, *others)))
        full = await guests[4].say(initialize())
        assert (full.status, full.headers["retry-after"]) == (503, "1")
        for one in (stream, *others):
            one.leave()
        for task in tasks:
            await soon(task)
        await guests[4].open()

    play(scenario)


def test_ten_thousand_sessions_that_are_abandoned_leave_nothing_behind(house: House) -> None:
    async def wave(count: int) -> int:
        application = house.http(session_seconds=1)
        for _ in range(count):
            answer = await Post(application, initialize(), BARE).run()
            assert answer.status == 200
        async with asyncio.timeout(PATIENCE):
            while visitors() > before:
                await asyncio.sleep(0.5)
        return sys.getallocatedblocks()

    before = visitors()
    first = asyncio.run(wave(100))
    # One block of each session would be ten thousand; what the interpreter keeps for itself differs by some.
    assert asyncio.run(wave(10_000)) - first < 2_000


def test_a_change_reaches_no_session_that_has_ended(house: House) -> None:
    async def scenario() -> None:
        guest = Guest(house.http())
        await guest.open()
        await guest.leave()
        assert visitors() == before
        await house.notify_list_changed("tools")

    before = visitors()
    play(scenario)


def test_the_end_of_the_server_ends_sessions_in_good_order(house: House, application: Application) -> None:
    async def scenario() -> None:
        guest = Guest(application)
        await guest.open(elicitation={})
        stream = guest.get().begin()
        waiting = guest.call(1, "wait", name="it").begin()
        call = guest.call(2, "greet", who="she")
        asking = call.begin()
        await call.until(b"elicitation/create")
        await until(lambda: "it began" in house.notes)
        application.close()
        assert (await soon(stream)).ended
        assert messages(await soon(asking))[-1]["error"]["code"] == -32603
        assert (await Guest(application).say(initialize())).status == 503
        house.gate("it").set()
        await application.end()
        assert (await soon(waiting)).json()["result"]["content"][0]["text"] == "it"
        assert (await guest.say(LIST)).status == 404

    play(scenario)


def test_a_batch_is_answered_in_the_revision_that_has_them(application: Application) -> None:
    async def scenario() -> None:
        guest = Guest(application, "2025-03-26")
        await guest.open()
        notice = message(None, "notifications/cancelled", requestId=99)
        answer = await guest.say(b"[%b,%b,%b]" % (LIST, notice, message(2, "ping")))
        assert (answer.status, sorted(one["id"] for one in answer.json())) == (200, [1, 2])
        assert (await guest.say(b"[%b]" % notice)).status == 202

    play(scenario)


def test_without_sessions_any_message_stands_alone(house: House) -> None:
    async def scenario() -> None:
        application = house.http(stateless=True)
        guest = Guest(application)
        opened = await guest.say(initialize(elicitation={}))
        assert "mcp-session-id" not in opened.headers
        capabilities = opened.json()["result"]["capabilities"]
        assert capabilities == {"resources": {}, "tools": {}}
        for version in ("2025-11-25", "2025-06-18", "2025-03-26", ""):
            guest.headers["MCP-Protocol-Version"] = version
            assert (await guest.say(message(None, "notifications/initialized"))).status == 202
            assert (await guest.ask(1, "tools/list"))["result"]["tools"]
            answer = await guest.say(message(2, "tools/call", name="echo", arguments={"text": "hi"}))
            assert answer.json()["result"]["content"][0]["text"] == "hi for None"
            for method in ("resources/subscribe", "resources/unsubscribe"):
                assert (await guest.ask(3, method, uri="note://a"))["error"]["code"] == -32601
            assert (await guest.ask(4, "logging/setLevel", level="info"))["error"]["code"] == -32601
            asked = await guest.ask(5, "tools/call", name="greet", arguments={"who": "she"})
            assert asked["error"]["code"] == -32602
        assert (await within(guest.get())).status == 405
        assert (await guest.leave()).status == 405
        assert (await within(Post(application, body(1, "tools/list")))).status == 200

    play(scenario)


def test_without_sessions_what_goes_before_an_answer_has_no_id(house: House) -> None:
    async def scenario() -> None:
        guest = Guest(house.http(stateless=True), headers={"MCP-Protocol-Version": NEWEST})
        house.gate("it").set()
        meta = {"progressToken": 1}
        data = message(1, "tools/call", name="wait", arguments={"name": "it", "report": True}, _meta=meta)
        answer = await guest.say(data)
        assert b"id: " not in answer.body
        assert messages(answer)[-1]["result"]["content"][0]["text"] == "it"

    play(scenario)


def test_a_familiar_request_of_the_later_era_never_meets_the_earlier_one(application: Application) -> None:
    def watch(frame: FrameType, event: str, _: object) -> None:
        if "legacy" in frame.f_code.co_filename:
            met.append(frame.f_code.co_name)

    async def scenario() -> None:
        data = body(1, "tools/call", META, name="echo", arguments={"text": "hi"})
        assert (await within(Post(application, data))).status == 200
        sys.setprofile(watch)
        try:
            answer: Response = await Post(application, data).run()
        finally:
            sys.setprofile(None)
        assert answer.status == 200

    met: list[str] = []
    play(scenario)
    assert met == []
