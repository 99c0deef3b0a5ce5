"""What a client does when it is asked before a call is complete: rounds, answers that fit, handlers that fail."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import pytest
from mcprotocol.client import Client, InputRequired
from mcprotocol.client.forms import filled
from mcprotocol.latest import types
from test_client_pages import Peer, run

DONE: Mapping[str, Any] = {"content": []}


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcprotocol.client.driver.PAUSE_SECONDS", 0)


def asks(requests: Mapping[str, Any] | None = None, **state: str) -> dict[str, Any]:
    """A result that asks for input."""
    asked = {} if requests is None else {"inputRequests": requests}
    return {"resultType": "input_required", **asked, **state}


def form(properties: Mapping[str, Any], *required: str) -> dict[str, Any]:
    """A request for a form."""
    schema = {"type": "object", "properties": properties, "required": [*required]}
    return {"method": "elicitation/create", "params": {"message": "Who?", "requestedSchema": schema}}


class Rounds:
    """A server that gives one result after the other, and keeps what it is asked; the last one it gives for ever."""

    def __init__(self, *results: Mapping[str, Any]) -> None:
        self._results = [*results]
        self.asked: list[dict[str, Any]] = []

    def connect(self) -> Rounds:
        return self

    async def handle(self, data: bytes, send: Callable[[bytes], Awaitable[None]]) -> bytes | None:
        message = json.loads(data)
        self.asked.append(message)
        result = self._results.pop(0) if len(self._results) > 1 else self._results[0]
        return json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode()


def test_state_is_echoed_to_the_letter_and_not_when_there_is_none() -> None:
    accept = types.ElicitResult(action="decline")
    question = {"q": form({})}
    peer = Rounds(
        asks(requestState=""), asks(question), asks(question, requestState='{"x": "\u2028ü"} '), asks(requestState="0"), DONE
    )  # fmt: skip

    async def scenario() -> None:
        async with Client.memory(peer, elicit=lambda asked: accept) as client:
            await client.call_tool("t", {"a": [1, None]})

    run(scenario)
    rounds = [message["params"] for message in peer.asked]
    for params in rounds:
        del params["_meta"]
    call = {"name": "t", "arguments": {"a": [1, None]}}
    declined = {"inputResponses": {"q": {"action": "decline"}}}
    assert rounds == [
        call,
        {**call, "requestState": ""},
        {**call, **declined},
        {**call, **declined, "requestState": '{"x": "\u2028ü"} '},
        {**call, "requestState": "0"},
    ]
    assert len({json.dumps(message["id"]) for message in peer.asked}) == 5


@pytest.mark.parametrize("result", [asks(requestState="x"), asks({"q": form({})})])
def test_rounds_have_an_end(result: dict[str, Any]) -> None:
    peer = Rounds(result)

    async def scenario() -> None:
        async with Client.memory(peer, elicit=lambda asked: types.ElicitResult(action="cancel")) as client:
            with pytest.raises(InputRequired, match="after 10 rounds"):
                await client.get_prompt("p")

    run(scenario)
    assert len(peer.asked) == 11


def test_all_answers_are_gathered_side_by_side_before_the_call_is_repeated() -> None:
    both = threading.Barrier(2, timeout=10)
    asked: dict[str, Any] = {
        "a": form({"name": {"type": "string"}}),
        "b": {
            "method": "elicitation/create",
            "params": {"mode": "url", "message": "m", "url": "https://a.b"},
        },
        "c": {"method": "roots/list"},
        "d": {"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 5}},
    }
    peer = Rounds(asks(asked), DONE)

    async def entered(asked: types.ElicitRequestFormParams) -> types.ElicitResult:
        await asyncio.to_thread(both.wait)
        return types.ElicitResult(action="accept", content={"name": "Ann"})

    async def visited(asked: types.ElicitRequestURLParams) -> types.ElicitResult:
        await asyncio.to_thread(both.wait)
        return types.ElicitResult(action="accept", content={"none": "of this"})

    async def scenario() -> None:
        client = Client.memory(
            peer,
            elicit=entered,
            elicit_url=visited,
            roots=lambda: [types.Root(uri="file:///x")],  # pyright: ignore[reportDeprecated]
            sample=lambda asked: types.CreateMessageResult(  # pyright: ignore[reportDeprecated]
                role="assistant", content=types.TextContent(text="hi"), model="m"
            ),
        )
        async with client:
            await client.call_tool("t")

    run(scenario)
    assert peer.asked[1]["params"]["inputResponses"] == {
        "a": {"action": "accept", "content": {"name": "Ann"}},
        "b": {"action": "accept"},
        "c": {"roots": [{"uri": "file:///x"}]},
        "d": {"role": "assistant", "content": {"type": "text", "text": "hi"}, "model": "m"},
    }


MEMBERS: Mapping[str, Any] = {
    "name": {"type": "string", "minLength": 2, "maxLength": 4, "default": "Ann"},
    "age": {"type": "integer", "minimum": 0, "maximum": 150},
    "height": {"type": "number"},
    "sure": {"type": "boolean", "default": False},
    "size": {"type": "string", "enum": ["S", "M"], "default": "M"},
    "colour": {"type": "string", "oneOf": [{"const": "r", "title": "Red"}]},
    "days": {
        "type": "array",
        "items": {"type": "string", "enum": ["mo", "tu"]},
        "minItems": 1,
        "maxItems": 2,
    },
    "tags": {"type": "array", "items": {"anyOf": [{"const": "x", "title": "X"}]}, "default": []},
    "mail": {"type": "string", "format": "email"},
    "site": {"type": "string", "format": "uri"},
    "day": {"type": "string", "format": "date"},
    "moment": {"type": "string", "format": "date-time"},
    "old": {"type": "string", "enum": ["a"], "enumNames": ["A"]},
}
DEFAULTS: Mapping[str, Any] = {"name": "Ann", "sure": False, "size": "M", "tags": []}


def schema(*required: str) -> types.ElicitRequestFormParamsRequestedSchema:
    return types.ElicitRequestFormParamsRequestedSchema.model_validate(
        {"type": "object", "properties": MEMBERS, "required": [*required]}
    )


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"name": "Bo", "age": 0},
        {"name": "🎉🎉🎉🎉", "age": 150, "height": -1.5},
        {"height": 3},
        {"age": 7.0},
        {"sure": True, "size": "S", "colour": "r", "days": ["mo", "tu"], "tags": ["x"]},
        {"mail": "a@b", "site": "https://x.y/z", "day": "2026-02-28", "moment": "2026-02-28T10:00:00.5Z"},
        {"old": "a", "moment": "2026-02-28T10:00:00+01:00"},
        {"age": None},
    ],
)
def test_an_answer_that_fits_gets_the_defaults_of_what_was_left_out(content: dict[str, Any]) -> None:
    entered = {name: value for name, value in content.items() if value is not None}
    assert json.dumps(filled(schema(), content), sort_keys=True) == json.dumps(
        {**DEFAULTS, **entered}, sort_keys=True
    )


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ({"name": "B"}, "name must keep to minLength 2, maxLength 4, and is 'B'"),
        ({"name": "Bobby"}, "name must keep to"),
        ({"name": 5}, "name must be of type string, and is 5"),
        ({"age": True}, "age must be of type integer"),
        ({"age": "7"}, "age must be of type integer"),
        ({"age": 1.5}, "age must be of type integer"),
        ({"age": -1}, "age must keep to minimum 0, maximum 150, and is -1"),
        ({"age": 151}, "age must keep to"),
        ({"height": False}, "height must be of type number"),
        ({"sure": 1}, "sure must be of type boolean"),
        ({"size": "L"}, "size must be one of 'S', 'M', and is 'L'"),
        ({"colour": "Red"}, "colour must be one of 'r'"),
        ({"old": "A"}, "old must be one of 'a'"),
        ({"days": []}, "days must keep to minItems 1"),
        ({"days": ["mo", "tu", "mo"]}, "days must keep to"),
        ({"days": ["we"]}, "days must be one of 'mo', 'tu', and is 'we'"),
        ({"days": "mo"}, "days must be of type array"),
        ({"tags": ["y"]}, "tags must be one of 'x'"),
        ({"mail": "a b@c"}, "mail must be a valid email"),
        ({"site": "x y"}, "site must be a valid uri"),
        ({"day": "2026-02-30"}, "day must be a valid date"),
        ({"day": "20260228"}, "day must be a valid date"),
        ({"moment": "2026-02-28 10:00"}, "moment must be a valid date-time"),
        ({"moment": "2026-02-31T10:00:00Z"}, "moment must be a valid date-time"),
        ({"else": "x"}, "else is not in the form"),
        ({"name": "B", "age": "7"}, "name must .*; age must"),
    ],
)
def test_an_answer_that_does_not_fit_names_each_misfit(content: dict[str, Any], fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        filled(schema(), content)


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ({"type": "string", "enum": ["x"], "minLength": "5", "maxLength": None, "format": ["email"]}, "x"),
        ({"type": "string", "oneOf": [{"const": "x", "title": "X"}], "format": {}}, "x"),
        ({"type": "boolean", "oneOf": 5, "format": "email", "anyOf": {"const": False}}, True),
        ({"type": "boolean", "oneOf": [5, {}, {"const": True}]}, True),
        ({"type": "integer", "format": "email", "enum": 5}, 7),
        ({"type": "array", "items": {"type": "string", "enum": ["x"]}, "format": "uri"}, ["x"]),
    ],
)
def test_a_keyword_that_makes_no_sense_says_nothing_of_the_answer(member: dict[str, Any], value: Any) -> None:
    schema = types.ElicitRequestFormParamsRequestedSchema.model_validate(
        {"type": "object", "properties": {"a": member}}
    )
    assert filled(schema, {"a": value}) == {"a": value}


def test_what_is_required_and_has_no_default_must_be_there() -> None:
    assert filled(schema("name"), {})["name"] == "Ann"
    with pytest.raises(ValueError, match="age is missing; day is missing"):
        filled(schema("age", "name", "day"), {})


def test_defaults_are_sent_and_what_does_not_fit_is_not() -> None:
    question = form({"name": {"type": "string", "default": "Ann"}, "age": {"type": "integer"}})
    good, bad = Rounds(asks({"q": question}), DONE), Rounds(asks({"q": question}), DONE)

    async def scenario() -> None:
        async with Client.memory(good, elicit=lambda asked: types.ElicitResult(action="accept")) as client:
            await client.call_tool("t")
        answer = types.ElicitResult(action="accept", content={"age": "7"})
        async with Client.memory(bad, elicit=lambda asked: answer) as client:
            with pytest.raises(
                ValueError, match="'Who\\?' does not fit its form: age must be of type integer"
            ):
                await client.call_tool("t")

    run(scenario)
    answers = good.asked[1]["params"]["inputResponses"]
    assert answers == {"q": {"action": "accept", "content": {"name": "Ann"}}}
    assert len(bad.asked) == 1


@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_a_refusal_is_an_answer_without_content(action: str) -> None:
    peer = Rounds(asks({"q": form({"age": {"type": "integer"}})}), DONE)
    answer = types.ElicitResult(action=action, content={"age": "draft"})

    async def scenario() -> None:
        async with Client.memory(peer, elicit=lambda asked: answer) as client:
            await client.call_tool("t")

    run(scenario)
    assert peer.asked[1]["params"]["inputResponses"] == {"q": {"action": action}}


ROOTS: Mapping[str, Any] = {"q": {"method": "roots/list"}}
SAMPLE: Mapping[str, Any] = {"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 5}}
TOOLS: Mapping[str, Any] = {**SAMPLE, "params": {"messages": [], "maxTokens": 5, "tools": []}}


def never(asked: object) -> Any:
    raise AssertionError("nobody is asked")


@pytest.mark.parametrize(
    ("asked", "options", "reason"),
    [
        (ROOTS, {}, "roots/list, which this client did not declare"),
        ({"q": SAMPLE}, {}, "sampling/createMessage, which"),
        ({"q": TOOLS}, {"sample": never}, "sampling/createMessage, which"),
        ({"q": form({})}, {"elicit_url": never}, "elicitation/create, which"),
        ({"a": form({}), **ROOTS}, {"elicit": never}, "roots/list, which"),
    ],
)
def test_what_was_not_declared_is_not_answered(
    asked: dict[str, Any], options: dict[str, Any], reason: str
) -> None:
    peer = Rounds(asks(asked), DONE)

    async def scenario() -> None:
        async with Client.memory(peer, **options) as client:
            with pytest.raises(InputRequired, match=reason) as caught:
                await client.call_tool("t")
            assert set(caught.value.result.input_requests or ()) == set(asked)

    run(scenario)
    assert len(peer.asked) == 1


def test_roots_are_files_and_actions_are_those_there_are() -> None:
    async def scenario() -> None:
        roots = [types.Root(uri="https://x.y")]  # pyright: ignore[reportDeprecated]
        async with Client.memory(Rounds(asks(ROOTS), DONE), roots=lambda: roots) as client:
            with pytest.raises(ValueError, match="file:// URI, and 'https://x.y'"):
                await client.call_tool("t")
        answer = types.ElicitResult(action="maybe")
        async with Client.memory(Rounds(asks({"q": form({})}), DONE), elicit=lambda asked: answer) as client:
            with pytest.raises(ValueError, match="not 'maybe'"):
                await client.call_tool("t")

    run(scenario)


@pytest.mark.parametrize("way", ["another fails", "the call is cancelled"])
def test_handlers_end_with_their_call(way: str) -> None:
    ends: list[str] = []
    begun = asyncio.Event()

    async def waits(asked: types.ElicitRequestFormParams) -> types.ElicitResult:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ends.append("ended")
        raise AssertionError("never")

    async def fails() -> list[Any]:
        await begun.wait()
        raise LookupError("no roots today")

    both = {"a": form({}), **(ROOTS if way == "another fails" else {})}

    async def scenario() -> None:
        async with Client.memory(Rounds(asks(both), DONE), elicit=waits, roots=fails) as client:
            call = asyncio.ensure_future(client.call_tool("t"))
            await begun.wait()
            if way == "the call is cancelled":
                call.cancel()
            outcome = (await asyncio.gather(call, return_exceptions=True))[0]
            assert isinstance(outcome, asyncio.CancelledError if "cancelled" in way else LookupError)
            await asyncio.sleep(0)
            assert ends == ["ended"]

    run(scenario)


def test_the_time_of_a_user_is_not_the_time_of_a_request() -> None:
    async def entered(asked: types.ElicitRequestFormParams) -> types.ElicitResult:
        await asyncio.sleep(0.6)
        return types.ElicitResult(action="decline")

    async def scenario() -> None:
        async with Client.memory(Rounds(asks({"q": form({})}), DONE), elicit=entered) as client:
            await client.call_tool("t", timeout=0.5)

    run(scenario)


class Slow:
    """A server that never answers: it tells of progress, so many times, each after so many seconds."""

    def __init__(self, times: int, seconds: float) -> None:
        self.times, self.seconds = times, seconds
        self.told = 0

    def connect(self) -> Slow:
        return self

    async def handle(self, data: bytes, send: Callable[[bytes], Awaitable[None]]) -> bytes | None:
        message = json.loads(data)
        if "id" not in message:
            return None
        for number in range(self.times):
            await asyncio.sleep(self.seconds)
            params = {"progressToken": message["id"], "progress": number}
            notice = {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}
            await send(json.dumps(notice).encode())
            self.told += 1
        return json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": DONE}).encode()


def test_progress_is_a_sign_of_life_for_whoever_asked_for_it_but_not_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def scenario() -> None:
        async with Client.memory(Slow(25, 0.05), timeout=1.0) as client:
            assert await client.call_tool("t", progress=lambda params: None)
            with pytest.raises(TimeoutError):
                await client.call_tool("t")
        monkeypatch.setattr("mcprotocol.client.hearing.LONGEST", 2)
        async with Client.memory(Slow(1000, 0.01), timeout=0.1) as client:
            with pytest.raises(TimeoutError, match="tools/call"):
                await client.call_tool("t", progress=lambda params: None)

    run(scenario)


TIMED: list[Callable[[Client], Awaitable[Any]]] = [
    lambda client: client.discover(timeout=0.01),
    lambda client: client.list_tools(timeout=0.01),
    lambda client: client.list_prompts(timeout=0.01),
    lambda client: client.list_resources(timeout=0.01),
    lambda client: client.list_resource_templates(timeout=0.01),
    lambda client: client.call_tool("t", timeout=0.01),
    lambda client: client.read_resource("a://b", timeout=0.01),
    lambda client: client.get_prompt("p", timeout=0.01),
    lambda client: client.complete("a", "", prompt="p", timeout=0.01),
    lambda client: anext(client.tools(timeout=0.01)),
]
"""Each call, with a timeout of its own."""


@pytest.mark.parametrize("call", TIMED)
def test_each_call_has_a_timeout_of_its_own(call: Callable[[Client], Awaitable[Any]]) -> None:
    async def scenario() -> None:
        async with Client.memory(Slow(1, 60), timeout=50) as client:
            with pytest.raises(TimeoutError, match="no answer to .* in 0.01 seconds"):
                await call(client)

    run(scenario)


def test_a_call_may_take_longer_than_the_others() -> None:
    async def scenario() -> None:
        async with Client.memory(Slow(1, 0.05), timeout=0.01) as client:
            assert await client.call_tool("t", timeout=float("inf"))

    run(scenario)


def test_a_cancelled_call_is_not_answered_by_the_next_one() -> None:
    late: list[bytes] = []

    class Late(Peer):
        async def handle(self, data: bytes, send: Callable[[bytes], Awaitable[None]]) -> bytes | None:
            message = json.loads(data)
            if message.get("params", {}).get("name") == "late":
                late.append(data)
                return None
            for one in late:
                identity = json.loads(one)["id"]
                await send(json.dumps({"jsonrpc": "2.0", "id": identity, "result": DONE}).encode())
            return await super().handle(data, send) if "id" in message else None

    async def scenario() -> None:
        text = {"content": [{"type": "text", "text": "mine"}]}
        async with Client.memory(Late(lambda method, params: text)) as client:
            with pytest.raises(TimeoutError):
                await client.call_tool("late", timeout=0.01)
            assert (await client.call_tool("now")).content == [types.TextContent(text="mine")]

    run(scenario)
