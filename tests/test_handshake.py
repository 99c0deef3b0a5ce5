"""The handshake era as one client hears it, message by message, in this process.

Whatever the server says is judged by the schema of the revision that was agreed on, and so is each conversation as a
whole, the part of the client included.
"""

# What is deprecated is still part of the revision:
# pyright: reportDeprecated=false

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from typing import Any, Literal

import pytest
from both import made
from handshakes import (
    NEWEST,
    VERSIONS,
    Message,
    Talk,
    answer,
    call,
    initialize,
    notice,
    refusal,
    request,
)
from mcprotocol.errors import InvalidParams
from mcprotocol.latest import types
from mcprotocol.server import Context, Server
from mcprotocol.server.legacy import asking, conversions
from mcprotocol.v2025_11_25 import methods
from pydantic import BaseModel
from scaffolded import META, PATIENCE

Scenario = Callable[[Talk], Awaitable[None]]


class Name(BaseModel):
    """A form."""

    name: str


def play(
    scenario: Scenario, server: Server | None = None, version: str = NEWEST, *, whole: bool = True
) -> None:
    """Play a scenario on a fresh conversation; `whole` judges all of it as a record too."""

    async def bounded() -> None:
        async with asyncio.timeout(PATIENCE):
            talk = Talk(made() if server is None else server, version)
            await scenario(talk)
            assert await talk.end() == []
            if whole:
                talk.record.judge()

    asyncio.run(bounded())


def said(reply: Message) -> str:
    return "".join(block["text"] for block in reply["result"]["content"])


def code(reply: Message) -> int:
    return int(reply["error"]["code"])


def modern(identity: object, method: str, /, **params: Any) -> bytes:
    """A request of 2026-07-28."""
    message = request(identity, method, _meta=META, **params)
    return json.dumps(message).encode()


# The handshake.


@pytest.mark.parametrize("version", VERSIONS)
def test_a_version_that_is_served_is_agreed_on(version: str) -> None:
    async def scenario(talk: Talk) -> None:
        assert (await talk.open(version))["protocolVersion"] == version
        assert said(await talk.ask(call(1, "steps", count=1))) == "1"

    play(scenario, version=version)


@pytest.mark.parametrize("asked", ["2024-11-05", "2026-07-28", "2099-01-01", "", "a"])
def test_any_other_version_is_answered_with_the_newest(asked: str) -> None:
    async def scenario(talk: Talk) -> None:
        assert (await talk.open(asked))["protocolVersion"] == NEWEST

    play(scenario)


def test_the_server_says_what_it_is_and_offers() -> None:
    async def scenario(talk: Talk) -> None:
        about = await talk.open()
        assert about["serverInfo"] == {"name": "both", "version": "1", "title": "Both sides"}
        assert about["instructions"] == "ask"
        await talk.send_bytes(modern(1, "server/discover"))
        discovered = await talk.receive_any()
        assert about["capabilities"] == discovered["result"]["capabilities"]
        assert {"tools", "prompts", "resources", "completions", "logging"} == about["capabilities"].keys()

    play(scenario)


def test_a_server_that_signs_nothing_still_says_its_name_in_the_handshake() -> None:
    async def scenario(talk: Talk) -> None:
        about = await talk.open()
        assert about["serverInfo"] == {"name": "plain", "version": "2"}
        assert about["capabilities"] == {} and "instructions" not in about

    play(scenario, Server("plain", version="2", identify=False))


@pytest.mark.parametrize("absent", ["protocolVersion", "capabilities", "clientInfo"])
def test_a_malformed_handshake_is_refused_and_a_good_one_may_follow(absent: str) -> None:
    async def scenario(talk: Talk) -> None:
        spoiled = initialize(1)
        del spoiled["params"][absent]
        await talk.send_bytes(json.dumps(spoiled).encode())
        refused = await talk.receive()
        assert (code(refused), refused["error"]["data"]) == (-32602, {"supported": list(VERSIONS)})
        assert absent in refused["error"]["message"]
        assert (await talk.open())["protocolVersion"] == NEWEST

    play(scenario, whole=False)


def test_a_second_handshake_is_refused_and_the_first_one_counts() -> None:
    async def scenario(talk: Talk) -> None:
        await talk.open("2025-06-18", {})
        assert code(await talk.ask(initialize(1))) == -32600
        assert code(await talk.ask(call(2, "greet"))) == -32602, "nothing was declared"

    play(scenario, version="2025-06-18")


class Slow(Server):
    """A server that takes its time to say what it is."""

    async def discover(self, params: types.RequestParams, ctx: Context) -> types.DiscoverResult:
        await asyncio.sleep(0)
        return await super().discover(params, ctx)


def test_of_two_handshakes_at_once_one_counts_and_each_change_is_told_once() -> None:
    server = Slow("slow", version="1")
    server.add_tool(lambda: "", name="first")

    async def scenario(talk: Talk) -> None:
        await talk.send(initialize("one", "2025-06-18"))
        await talk.send(initialize("other"))
        answers = {heard["id"]: heard for heard in [await talk.receive(), await talk.receive()]}
        assert answers["one"]["result"]["protocolVersion"] == "2025-06-18"
        assert code(answers["other"]) == -32600
        server.add_tool(lambda: "", name="second")
        assert (await talk.receive())["method"] == "notifications/tools/list_changed"
        assert await talk.silent()

    play(scenario, server, "2025-06-18")


def test_a_ping_is_answered_before_the_handshake_and_after_it() -> None:
    async def scenario(talk: Talk) -> None:
        assert (await talk.ask(request(1, "ping")))["result"] == {}
        await talk.open()
        assert (await talk.ask(request(2, "ping")))["result"] == {}

    play(scenario, whole=False)  # A record of a session begins with its handshake.


@pytest.mark.parametrize(
    "method", ["tools/list", "resources/subscribe", "logging/setLevel", "server/discover", "none"]
)
def test_before_the_handshake_a_request_is_refused_in_the_words_of_the_newest_revision(method: str) -> None:
    async def scenario(talk: Talk) -> None:
        refused = await talk.ask(request(1, method))
        assert code(refused) == -32602 and "params._meta must have" in refused["error"]["message"]
        await talk.open()
        assert "result" in await talk.ask(request(2, "tools/list"))

    play(scenario, whole=False)  # What was refused belongs to neither era.


def test_answers_to_nothing_before_the_handshake_are_no_messages() -> None:
    async def scenario(talk: Talk) -> None:
        await talk.send_bytes(b'{"jsonrpc":"2.0","id":1,"result":{}}')
        assert code(await talk.receive()) == -32600
        assert (await talk.open())["protocolVersion"] == NEWEST

    play(scenario)


@pytest.mark.parametrize(
    "method", ["server/discover", "subscriptions/listen", "tasks/list", "tasks/get", "none"]
)
def test_a_method_of_another_era_or_of_none_is_not_found(method: str) -> None:
    async def scenario(talk: Talk) -> None:
        await talk.open()
        refused = await talk.ask(request(1, method))
        assert code(refused) == -32601 and method in refused["error"]["message"]

    play(scenario, whole=False)  # Nor does the schema know them all.


@pytest.mark.parametrize(
    "line", [b"{", b"[]", b"5", b'{"jsonrpc":"2.0","id":1}', b'{"jsonrpc":"2.0","id":null,"method":"ping"}']
)
def test_what_is_no_message_spoils_itself_only(line: bytes) -> None:
    async def scenario(talk: Talk) -> None:
        await talk.open()
        await talk.send_bytes(line)
        assert code(await talk.receive()) in (-32700, -32600)
        assert (await talk.ask(request(1, "ping")))["result"] == {}

    play(scenario, whole=False)


# Both eras on one pipe.


def test_a_handshake_with_the_metadata_of_the_newest_revision_is_no_method_of_it() -> None:
    async def scenario(talk: Talk) -> None:
        await talk.send_bytes(modern(1, "initialize", **initialize(1)["params"]))
        refused = await talk.receive_any()
        assert code(refused) == -32601 and refused["error"]["data"] == {"supported": ["2026-07-28"]}
        assert (await talk.open())["protocolVersion"] == NEWEST

    play(scenario)


def test_requests_of_both_eras_are_told_apart_one_by_one() -> None:
    async def scenario(talk: Talk) -> None:
        await talk.open()
        # The same id on both sides: neither takes it for its own.
        await talk.send(call(1, "greet"))
        question = await talk.receive()
        await talk.send_bytes(modern(1, "tools/list"))
        listed = (await talk.receive_any())["result"]
        assert (listed["resultType"], listed["ttlMs"], len(listed["tools"])) == ("complete", 60_000, 3)
        await talk.send_bytes(modern(2, "tools/call", name="greet", arguments={}))
        assert code(await talk.receive_any()) == -32021, "it declares nothing, whatever the session did"
        for method in ("ping", "logging/setLevel", "resources/subscribe"):
            await talk.send_bytes(modern(3, method))
            assert code(await talk.receive_any()) == -32601
        await talk.send(answer(question, action="decline"))
        assert said(await talk.receive()) == "decline"

    play(scenario)


# Every method.


@pytest.mark.parametrize("version", VERSIONS)
def test_every_method_is_answered_by_the_handlers_of_the_newest_revision(version: str) -> None:
    async def scenario(talk: Talk) -> None:
        await talk.open(version)
        first = (await talk.ask(request(1, "tools/list")))["result"]
        assert [tool["name"] for tool in first["tools"]] == ["echo", "steps", "speak"]
        more = (await talk.ask(request(2, "tools/list", cursor=first["nextCursor"])))["result"]
        assert [tool["name"] for tool in more["tools"]] == ["refuse", "fail", "wait"]
        assert said(await talk.ask(call(3, "steps", count=2))) == "2"
        assert (await talk.ask(call(4, "fail")))["result"]["isError"] is True
        (resource,) = (await talk.ask(request(5, "resources/list")))["result"]["resources"]
        (contents,) = (await talk.ask(request(6, "resources/read", uri=resource["uri"])))["result"][
            "contents"
        ]
        assert contents["text"] == "on"
        (template,) = (await talk.ask(request(7, "resources/templates/list")))["result"]["resourceTemplates"]
        assert template["uriTemplate"] == "users://{id}"
        (prompt,) = (await talk.ask(request(8, "prompts/list")))["result"]["prompts"]
        got = await talk.ask(request(9, "prompts/get", name=prompt["name"], arguments={"name": "Ann"}))
        assert got["result"]["messages"][0]["content"]["text"] == "hello Ann"
        ref = {"type": "ref/prompt", "name": "hello"}
        completed = await talk.ask(
            request(10, "completion/complete", ref=ref, argument={"name": "name", "value": "An"})
        )
        assert completed["result"]["completion"]["values"] == ["Ann", "Anna"]
        assert (await talk.ask(request(11, "logging/setLevel", level="error")))["result"] == {}
        for number, method in enumerate(("resources/subscribe", "resources/unsubscribe")):
            assert (await talk.ask(request(12 + number, method, uri="config://app")))["result"] == {}

    play(scenario, version=version)


@pytest.mark.parametrize(
    "value", [None, True, 0, -1.5, "", 'two\nlines "\\ \x00 読🎉', [[1, "1"]], {"a": {"b": None}}]
)
def test_structured_content_is_an_object_or_comes_as_text(value: Any) -> None:
    async def scenario(talk: Talk) -> None:
        await talk.open()
        result = (await talk.ask(call(1, "echo", value=value)))["result"]
        if isinstance(value, dict):
            assert json.dumps(result["structuredContent"]) == json.dumps(value)
        else:
            assert "structuredContent" not in result
            assert json.dumps(json.loads(result["content"][0]["text"])) == json.dumps(value)

    play(scenario)


ERRORS = {
    **{-32700: -32700, -32600: -32600, -32601: -32601, -32602: -32602, -32603: -32603, -31000: -31000},
    **{-32020: -32600, -32021: -32602, -32022: -32602},
}


@pytest.mark.parametrize("given", ERRORS)
def test_an_error_of_a_handler_has_a_code_of_the_era(given: int) -> None:
    async def scenario(talk: Talk) -> None:
        await talk.open()
        assert code(await talk.ask(call(1, "refuse", code=given))) == ERRORS[given]

    play(scenario)


def test_a_resource_that_does_not_exist_has_the_code_that_this_era_has_for_it() -> None:
    async def scenario(talk: Talk) -> None:
        await talk.open()
        missing = (await talk.ask(request(1, "resources/read", uri="config://nowhere")))["error"]
        assert (missing["code"], missing["data"]) == (-32002, {"uri": "config://nowhere"})

    play(scenario)


@pytest.mark.parametrize("data", [None, 5, "a uri", ["uri"], {"uri": 5}])
def test_an_error_may_say_anything_besides(data: Any) -> None:
    server = Server("reading", version="1")

    @server.resource("note://{name}")
    def note(name: str) -> str:
        raise InvalidParams("not this one", data)

    async def scenario(talk: Talk) -> None:
        await talk.open()
        refused = (await talk.ask(request(1, "resources/read", uri="note://a")))["error"]
        assert refused["message"] == "not this one" and refused.get("data") == data

    play(scenario, server)


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/call", {}),
        ("tools/call", {"name": 5}),
        ("tools/call", {"name": "steps", "_meta": 5}),
        ("tools/call", {"name": "steps", "_meta": None}),
        ("tools/call", {"name": "steps", "_meta": {"progressToken": {}}}),
        ("resources/read", {"uri": None}),
        ("resources/subscribe", {}),
        ("resources/unsubscribe", {"uri": 1}),
        ("logging/setLevel", {}),
        ("logging/setLevel", {"level": "loud"}),
        ("logging/setLevel", {"level": 1}),
    ],
)
def test_params_that_do_not_fit_are_refused(method: str, params: Any) -> None:
    async def scenario(talk: Talk) -> None:
        await talk.open()
        assert code(await talk.ask({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})) == -32602
        assert (await talk.ask(request(2, "ping")))["result"] == {}

    play(scenario, whole=False)  # Its part is spoiled on purpose.


@pytest.mark.parametrize(
    "method", ["logging/setLevel", "resources/subscribe", "resources/unsubscribe", "prompts/list"]
)
def test_what_the_server_has_not_announced_is_not_found(method: str) -> None:
    async def scenario(talk: Talk) -> None:
        await talk.open()
        assert code(await talk.ask(request(1, method))) == -32601

    play(scenario, Server("plain", version="1"), whole=False)


def test_a_request_for_a_task_is_answered_as_any_other() -> None:
    async def scenario(talk: Talk) -> None:
        await talk.open()
        wanted = call(1, "steps", count=3)
        wanted["params"]["task"] = {"ttl": 1000}
        assert said(await talk.ask(wanted)) == "3"

    play(scenario)


def test_handlers_see_the_client_as_it_has_introduced_itself() -> None:
    server = Server("seeing", version="1")

    @server.tool()
    async def seen(ctx: Context) -> list[Any]:
        assert ctx.client_info is not None
        declared = ctx.client_capabilities
        return [
            ctx.client_info.name,
            declared.sampling is not None,
            ctx.meta.model_extra,
            ctx.meta.protocol_version,
        ]

    async def scenario(talk: Talk) -> None:
        await talk.open(capabilities={"sampling": {}})
        wanted = call(1, "seen")
        wanted["params"]["_meta"] = {"mine": [1], "io.modelcontextprotocol/protocolVersion-not": "x"}
        name, sampling, extra, version = json.loads(said(await talk.ask(wanted)))
        assert (name, sampling, version) == ("handshakes", True, "2026-07-28")
        assert extra == {"mine": [1], "io.modelcontextprotocol/protocolVersion-not": "x"}

    play(scenario, server)


# What is told on the way.


def test_progress_is_reported_to_who_asks_for_it() -> None:
    async def scenario(talk: Talk) -> None:
        await talk.open()
        await talk.ask(call(1, "steps", count=3))
        assert talk.heard == []
        wanted = call(2, "steps", count=3)
        wanted["params"]["_meta"] = {"progressToken": "t"}
        await talk.ask(wanted)
        assert [one["method"] for one in talk.heard] == ["notifications/progress"] * 3
        assert [one["params"]["progress"] for one in talk.heard] == [0, 1, 2]
        assert {one["params"]["progressToken"] for one in talk.heard} == {"t"}

    play(scenario)


@pytest.mark.parametrize(
    ("level", "heard"),
    [(None, ["info", "error"]), ("debug", ["debug", "info", "error"]), ("error", ["error"])],
)
def test_the_level_that_was_set_counts_for_every_request_after_it(
    level: str | None, heard: list[str]
) -> None:
    async def scenario(talk: Talk) -> None:
        await talk.open()
        if level is not None:
            await talk.ask(request(1, "logging/setLevel", level=level))
        for identity in (2, 3):
            await talk.ask(call(identity, "speak"))
        assert [one["params"]["level"] for one in talk.heard] == heard * 2
        assert {one["method"] for one in talk.heard} == {"notifications/message"}

    play(scenario)


@pytest.mark.parametrize("kind", ["tools", "prompts", "resources"])
def test_a_list_that_changes_is_told_unasked(kind: str) -> None:
    async def scenario(talk: Talk) -> None:
        await talk.open()
        await talk.send(call(1, "change", what=kind))
        messages = [await talk.receive(), await talk.receive()]
        assert {"jsonrpc": "2.0", "method": f"notifications/{kind}/list_changed"} in messages

    play(scenario)


def test_nothing_is_told_before_the_handshake_or_of_lists_that_were_not_announced() -> None:
    server = Server("plain", version="1")

    async def scenario(talk: Talk) -> None:
        server.add_prompt(lambda: "", name="one")
        assert await talk.silent()
        await talk.open()
        server.add_tool(lambda: "", name="one")
        assert await talk.silent(), "tools were not announced"
        server.add_prompt(lambda: "", name="two")
        assert (await talk.receive())["method"] == "notifications/prompts/list_changed"

    play(scenario, server)


def test_a_resource_is_told_of_from_its_subscription_on_until_it_ends() -> None:
    server = made()

    async def scenario(talk: Talk) -> None:
        await talk.open()
        await server.notify_resource_updated("config://app")
        assert await talk.silent()
        await talk.ask(request(1, "resources/subscribe", uri="config://app"))
        await talk.ask(request(2, "resources/subscribe", uri="config://app"))
        await server.notify_resource_updated("users://7")
        await server.notify_resource_updated("config://app")
        told = await talk.receive()
        assert (told["method"], told["params"]) == (
            "notifications/resources/updated",
            {"uri": "config://app"},
        )
        await talk.ask(request(3, "resources/unsubscribe", uri="config://app"))
        await talk.ask(request(4, "resources/unsubscribe", uri="config://app"))
        await server.notify_resource_updated("config://app")
        assert await talk.silent()

    play(scenario, server)


def test_sessions_are_told_what_they_asked_for_and_nothing_of_each_other() -> None:
    server = made()

    async def scenario(talk: Talk) -> None:
        other = Talk(server)
        await talk.open()
        await other.open()
        await talk.ask(request(1, "resources/subscribe", uri="config://app"))
        await other.ask(request(1, "logging/setLevel", level="error"))
        await server.notify_resource_updated("config://app")
        assert (await talk.receive())["params"] == {"uri": "config://app"}
        assert await other.silent()
        await talk.ask(call(2, "speak"))
        assert [one["params"]["level"] for one in talk.heard] == ["info", "error"]
        assert await other.end() == []

    play(scenario, server)


# Questions.


class Script:
    """Answers what a server asks, by the message of each question."""

    def __init__(self, talk: Talk, **answers: Any) -> None:
        self._talk = talk
        self._answers = answers
        self.asked: list[Message] = []

    async def until(self, wanted: Message) -> Message:
        """Send a request and answer every question until its own answer has come."""
        await self._talk.send(wanted)
        while True:
            heard = await self._talk.receive()
            if "method" not in heard:
                assert heard["id"] == wanted["id"]
                return heard
            self.asked.append(heard)
            await self._talk.send(answer(heard, **self._answers[heard["method"].replace("/", "_")]))


ANSWERS: dict[str, Any] = {
    "elicitation_create": {"action": "accept", "content": {"name": "Ann", "times": 2}},
    "sampling_createMessage": {
        "role": "assistant",
        "model": "m",
        "content": {"type": "text", "text": "Paris"},
    },
    "roots_list": {"roots": [{"uri": "file:///home"}, {"uri": "file:///tmp", "name": "t"}]},
}


def test_each_kind_of_question_is_a_request_to_the_client() -> None:
    async def scenario(talk: Talk) -> None:
        await talk.open()
        script = Script(talk, **ANSWERS)
        assert said(await script.until(call(1, "greet"))) == "Ann Ann"
        assert said(await script.until(call(2, "capital"))) == "m"
        assert json.loads(said(await script.until(call(3, "folders")))) == ["file:///home", "file:///tmp"]
        assert said(await script.until(call(4, "visit"))) == "accept"
        greet, _, _, visit = (one["params"] for one in script.asked)
        assert "mode" not in greet and greet["requestedSchema"]["required"] == ["name"]
        assert visit["mode"] == "url" and len(visit["elicitationId"]) > 16
        assert len({json.dumps(one["id"]) for one in script.asked}) == 4

    play(scenario)


class Sizes(BaseModel):
    """A form with a choice of several values."""

    sizes: list[Literal["small", "large"]]


def several() -> Server:
    server = Server("several", version="1")

    @server.tool()
    async def rounds(count: int, ctx: Context) -> list[str]:
        names: list[str] = []
        for number in range(count):
            found = await ctx.elicit(f"Name {number}?", Name)
            names.append(getattr(getattr(found, "content", None), "name", found.action))
        return names

    @server.tool()
    async def together(ctx: Context) -> list[str]:
        name, reply, roots = await ctx.ask(ctx.elicit("Who?", Name), ctx.sample("Say it"), ctx.roots())
        return [name.action, reply.model, *(root.uri for root in roots)]

    @server.tool()
    async def choose(ctx: Context) -> str:
        return (await ctx.elicit("Which?", Sizes)).action

    @server.tool()
    async def forever(ctx: Context) -> types.InputRequiredResult:
        return types.InputRequiredResult(request_state="again")

    @server.tool()
    async def reporting(ctx: Context) -> str:
        await ctx.progress(1)
        await ctx.progress(2)
        first = await ctx.elicit("First?", Name)
        await ctx.progress(3)
        second = await ctx.elicit("Second?", Name)
        await ctx.progress(3.5)
        return f"{first.action} {second.action}"

    @server.prompt()
    async def about(ctx: Context) -> str:
        return (await ctx.elicit("About what?", Name)).action

    @server.resource("asked://{name}")
    async def asked(name: str, ctx: Context) -> str:
        return (await ctx.elicit("May I?", Name)).action

    return server


def test_progress_only_grows_though_a_handler_begins_again_in_each_round() -> None:
    async def scenario(talk: Talk) -> None:
        await talk.open()
        wanted = call(1, "reporting")
        wanted["params"]["_meta"] = {"progressToken": 5}
        await talk.send(wanted)
        reports: list[float] = []
        while "result" not in (heard := await talk.receive()):
            if "id" in heard:
                await talk.send(answer(heard, action="decline"))
            else:
                reports.append(heard["params"]["progress"])
        assert (said(heard), reports) == ("decline decline", [1, 2, 3, 3.5])

    play(scenario, several())


@pytest.mark.parametrize("count", [1, 3, 10])
def test_one_request_may_ask_in_several_rounds(count: int) -> None:
    async def scenario(talk: Talk) -> None:
        await talk.open()
        script = Script(talk, **ANSWERS)
        assert json.loads(said(await script.until(call(1, "rounds", count=count)))) == ["Ann"] * count
        assert [one["params"]["message"] for one in script.asked] == [f"Name {n}?" for n in range(count)]

    play(scenario, several())


def test_a_request_that_asks_without_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "PAUSE_SECONDS", 0)

    async def scenario(talk: Talk) -> None:
        await talk.open()
        script = Script(talk, **ANSWERS)
        failed = await script.until(call(1, "rounds", count=11))
        assert code(failed) == -32603 and len(script.asked) == 10
        refused = await talk.ask(call(2, "forever"))
        assert code(refused) == -32603 and "10 times" in refused["error"]["message"]

    play(scenario, several())


def test_a_request_that_asks_for_nothing_but_to_be_repeated_is_so_after_a_pause(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(asking, "PAUSE_SECONDS", 3600)

    async def scenario(talk: Talk) -> None:
        await talk.open()
        await talk.send(call(1, "forever"))
        assert await talk.silent()
        await talk.send(notice("cancelled", requestId=1))

    play(scenario, several())


def test_several_questions_are_asked_at_once_and_answered_in_any_order() -> None:
    async def scenario(talk: Talk) -> None:
        await talk.open()
        await talk.send(call(1, "together"))
        questions = [await talk.receive() for _ in range(3)]
        assert {one["method"].replace("/", "_") for one in questions} == ANSWERS.keys()
        for one in reversed(questions):
            assert await talk.silent()
            await talk.send(answer(one, **ANSWERS[one["method"].replace("/", "_")]))
        found = json.loads(said(await talk.receive()))
        assert found == ["accept", "m", "file:///home", "file:///tmp"]

    play(scenario, several())


def test_prompts_and_resources_ask_as_tools_do() -> None:
    async def scenario(talk: Talk) -> None:
        await talk.open()
        script = Script(talk, **ANSWERS)
        prompt = await script.until(request(1, "prompts/get", name="about"))
        assert prompt["result"]["messages"][0]["content"]["text"] == "accept"
        resource = await script.until(request(2, "resources/read", uri="asked://a"))
        assert resource["result"]["contents"][0]["text"] == "accept"

    play(scenario, several())


def test_what_no_form_of_an_older_revision_has_is_an_error_of_the_request_and_not_asked() -> None:
    async def scenario(talk: Talk) -> None:
        await talk.open("2025-06-18")
        refused = await talk.ask(call(1, "choose"))
        assert code(refused) == -32603 and "'sizes'" in refused["error"]["message"]
        assert talk.heard == []

    play(scenario, several(), "2025-06-18")


def test_two_requests_that_ask_have_each_its_own_answer() -> None:
    async def scenario(talk: Talk) -> None:
        await talk.open()
        await talk.send(call(1, "greet"))
        first = await talk.receive()
        await talk.send(call(2, "greet"))
        second = await talk.receive()
        await talk.send(answer(second, action="accept", content={"name": "Bob", "times": 1}))
        assert ((reply := await talk.receive())["id"], said(reply)) == (2, "Bob")
        await talk.send(answer(first, action="cancel"))
        assert ((reply := await talk.receive())["id"], said(reply)) == (1, "cancel")

    play(scenario)


@pytest.mark.parametrize(
    ("tool", "lacking"),
    [
        ("greet", {"elicitation": {"url": {}}}),
        ("visit", {"elicitation": {}}),
        ("capital", {"elicitation": {}}),
        ("folders", {"sampling": {}}),
    ],
)
def test_what_a_client_has_not_declared_is_not_asked(tool: str, lacking: dict[str, Any]) -> None:
    async def scenario(talk: Talk) -> None:
        await talk.open(capabilities=lacking)
        assert code(await talk.ask(call(1, tool))) == -32602
        assert talk.heard == []

    play(scenario)


@pytest.mark.parametrize(
    ("version", "tool"), [("2025-03-26", "greet"), ("2025-03-26", "visit"), ("2025-06-18", "visit")]
)
def test_what_the_agreed_revision_does_not_have_is_not_asked_whatever_was_declared(
    version: str, tool: str
) -> None:
    async def scenario(talk: Talk) -> None:
        await talk.open(version)
        assert code(await talk.ask(call(1, tool))) == -32602
        assert talk.heard == []

    play(scenario, version=version, whole=False)


def test_an_error_of_the_client_ends_the_request_with_it() -> None:
    async def scenario(talk: Talk) -> None:
        await talk.open()
        await talk.send(call(1, "capital"))
        await talk.send(refusal(await talk.receive(), -1, "the user said no"))
        error = (await talk.receive())["error"]
        assert error["code"] == -32603 and "the user said no" in error["message"]
        assert error["data"] == {"code": -1, "message": "the user said no"}
        assert said(await talk.ask(call(2, "steps", count=1))) == "1"

    play(scenario)


def test_an_error_for_one_of_several_questions_withdraws_the_others() -> None:
    async def scenario(talk: Talk) -> None:
        await talk.open()
        await talk.send(call(1, "together"))
        first, *others = [await talk.receive() for _ in range(3)]
        await talk.send(refusal(first, -32601, "not here"))
        withdrawn = [await talk.receive(), await talk.receive()]
        assert {one["method"] for one in withdrawn} == {"notifications/cancelled"}
        assert {one["params"]["requestId"] for one in withdrawn} == {one["id"] for one in others}
        failed = await talk.receive()
        assert code(failed) == -32603 and failed["error"]["data"]["code"] == -32601
        for one in others:
            await talk.send(answer(one, action="accept", content={}))
        assert await talk.silent(), "what comes too late is dropped"

    play(scenario, several(), whole=False)  # An answer that comes too late may be of any kind.


def test_an_answer_that_does_not_fit_is_refused() -> None:
    async def scenario(talk: Talk) -> None:
        await talk.open()
        await talk.send(call(1, "greet"))
        await talk.send(answer(await talk.receive(), action="accept", content={"name": 5}))
        assert code(await talk.receive()) == -32602

    play(scenario)


@pytest.mark.parametrize("spoilt", [{"result": []}, {"result": None}, {"error": "no"}, {}])
def test_an_answer_that_cannot_be_read_ends_the_request_and_is_itself_not_answered(spoilt: Any) -> None:
    async def scenario(talk: Talk) -> None:
        await talk.open()
        await talk.send(call("it", "greet"))
        question = await talk.receive()
        await talk.send_bytes(json.dumps({"jsonrpc": "2.0", "id": question["id"], **spoilt}).encode())
        failed = await talk.receive()
        assert (failed["id"], code(failed)) == ("it", -32603)
        assert await talk.silent(), "the id of a question is none of the client's"

    play(scenario, whole=False)


@pytest.mark.parametrize("identity", [999, "1", None, 1.5, True])
def test_an_answer_to_no_question_is_dropped(identity: Any) -> None:
    async def scenario(talk: Talk) -> None:
        await talk.open()
        await talk.send(call(1, "greet"))
        question = await talk.receive()
        for outcome in ({"result": {"action": "decline"}}, {"error": {"code": 1, "message": "m"}}):
            message = {"jsonrpc": "2.0", "id": identity, **outcome}
            await talk.send_bytes(json.dumps(message).encode())
        refused: list[Any] = []
        while not await talk.silent():
            refused.append(await talk.receive())
        assert all(code(one) == -32600 for one in refused), "a response without a readable id is none"
        await talk.send(answer(question, action="decline"))
        assert said(await talk.receive()) == "decline"
        await talk.send_bytes(json.dumps(answer(question, action="accept")).encode())
        assert await talk.silent(), "the first answer counts"

    play(scenario)


# Cancellation.


def test_a_request_that_is_cancelled_is_not_answered() -> None:
    async def scenario(talk: Talk) -> None:
        await talk.open()
        wanted = call(1, "wait", number=7)
        wanted["params"]["_meta"] = {"progressToken": 1}
        await talk.send(wanted)
        await talk.receive()
        await talk.send(notice("cancelled", requestId=1, reason="enough"))
        assert json.loads(said(await talk.ask(call(2, "ended")))) == [7]
        assert talk.heard == [] and await talk.silent()

    play(scenario)


def test_a_question_of_a_request_that_is_cancelled_is_withdrawn() -> None:
    async def scenario(talk: Talk) -> None:
        await talk.open()
        await talk.send(call(1, "together"))
        questions = [await talk.receive() for _ in range(3)]
        await talk.send(notice("cancelled", requestId=1))
        withdrawn = [await talk.receive() for _ in range(3)]
        assert {one["method"] for one in withdrawn} == {"notifications/cancelled"}
        assert {one["params"]["requestId"] for one in withdrawn} == {one["id"] for one in questions}
        assert await talk.silent()
        # The id is free again.
        assert json.loads(said(await Script(talk, **ANSWERS).until(call(2, "rounds", count=1)))) == ["Ann"]

    play(scenario, several())


def test_what_is_cancelled_in_the_next_round_is_not_answered() -> None:
    async def scenario(talk: Talk) -> None:
        await talk.open()
        await talk.send(call(1, "rounds", count=2))
        await talk.send(answer(await talk.receive(), **ANSWERS["elicitation_create"]))
        second = await talk.receive()
        await talk.send(notice("cancelled", requestId=1))
        assert (await talk.receive())["params"]["requestId"] == second["id"]
        assert await talk.silent()

    play(scenario, several())


@pytest.mark.parametrize(
    "params", [{}, {"requestId": 999}, {"requestId": "1"}, {"requestId": None}, {"requestId": []}]
)
def test_a_cancellation_of_nothing_is_dropped(params: Any) -> None:
    async def scenario(talk: Talk) -> None:
        await talk.open()
        await talk.send(call(1, "greet"))
        question = await talk.receive()
        cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
        await talk.send_bytes(json.dumps(cancelled).encode())
        assert await talk.silent()
        await talk.send(answer(question, action="decline"))
        assert said(await talk.receive()) == "decline"

    play(scenario)


def test_an_id_in_flight_is_refused_and_free_once_it_is_answered() -> None:
    async def scenario(talk: Talk) -> None:
        await talk.open()
        await talk.send(call(1, "greet"))
        question = await talk.receive()
        await talk.send_bytes(json.dumps(call(1, "steps", count=1)).encode())
        assert code(await talk.receive()) == -32600
        await talk.send(answer(question, action="decline"))
        assert said(await talk.receive()) == "decline"
        assert said(await talk.ask(call("1", "steps", count=1))) == "1"

    play(scenario, whole=False)


@pytest.mark.parametrize("method", ["initialized", "roots/list_changed", "progress", "unheard/of"])
def test_a_notification_is_never_answered(method: str) -> None:
    async def scenario(talk: Talk) -> None:
        await talk.open()
        await talk.send_bytes(json.dumps(notice(method)).encode())
        assert await talk.silent()

    play(scenario)


# Batches: they are no part of a record, which is of messages.

OLDEST = VERSIONS[-1]


async def batch(talk: Talk, *messages: Any) -> None:
    await talk.send_bytes(json.dumps(messages).encode())


def test_a_batch_is_answered_by_a_batch() -> None:
    async def scenario(talk: Talk) -> None:
        await talk.open(OLDEST)
        await batch(
            talk,
            request(1, "ping"),
            call("a", "steps", count=1),
            notice("roots/list_changed"),
            5,
            request(2, "no"),
        )
        answers = await talk.receive_any()
        by_id = {one.get("id"): one for one in answers}
        assert len(answers) == 4 and by_id.keys() == {1, "a", None, 2}
        assert by_id[1]["result"] == {} and said(by_id["a"]) == "1"
        assert (code(by_id[None]), code(by_id[2])) == (-32600, -32601)

    play(scenario, version=OLDEST, whole=False)


def test_a_batch_that_asks_nothing_is_not_answered_and_an_empty_one_is_refused() -> None:
    async def scenario(talk: Talk) -> None:
        await talk.open(OLDEST)
        await batch(talk, notice("roots/list_changed"), notice("cancelled", requestId=5))
        assert await talk.silent()
        await batch(talk)
        assert code(await talk.receive()) == -32600
        await talk.send_bytes(b"[{")
        assert code(await talk.receive()) == -32700

    play(scenario, version=OLDEST, whole=False)


def test_answers_and_cancellations_come_in_batches_as_well() -> None:
    async def scenario(talk: Talk) -> None:
        await talk.open(OLDEST)
        await batch(talk, *[call(number, "capital") for number in (1, 2, 3)])
        questions = [await talk.receive() for _ in range(3)]
        spoken = [answer(one, **ANSWERS["sampling_createMessage"]) for one in questions[:2]]
        await batch(talk, *spoken, notice("cancelled", requestId=3))
        withdrawn = await talk.receive()
        assert withdrawn["params"]["requestId"] == questions[2]["id"]
        assert [(one["id"], said(one)) for one in await talk.receive_any()] == [(1, "m"), (2, "m")]

    play(scenario, version=OLDEST, whole=False)


def test_there_is_no_handshake_within_a_batch() -> None:
    async def scenario(talk: Talk) -> None:
        await batch(talk, initialize(1, OLDEST))
        assert code(await talk.receive()) == -32600
        await talk.open(OLDEST)
        await batch(talk, initialize(1, OLDEST), [request(2, "ping")])
        assert [code(one) for one in await talk.receive_any()] == [-32600, -32600]

    play(scenario, version=OLDEST, whole=False)


@pytest.mark.parametrize("version", [one for one in VERSIONS if one != OLDEST])
def test_other_revisions_have_no_batches(version: str) -> None:
    async def scenario(talk: Talk) -> None:
        await talk.open(version)
        await batch(talk, request(1, "ping"), request(2, "ping"))
        assert code(await talk.receive_any()) == -32600
        assert (await talk.ask(request(3, "ping")))["result"] == {}

    play(scenario, version=version)


# The end.


def test_the_end_in_the_middle_of_a_question_is_an_error_and_nothing_after_it() -> None:
    async def scenario() -> None:
        server = several()
        talk = Talk(server)
        await talk.open()
        await talk.send(call(1, "together"))
        assert len([await talk.receive() for _ in range(3)]) == 3
        await talk.send(request(2, "resources/subscribe", uri="asked://a"))
        await talk.receive()
        [ended] = await talk.end()
        assert (ended["id"], ended["error"]["code"]) == (1, -32603)
        server.add_tool(lambda: "", name="late")
        await server.notify_resource_updated("asked://a")
        assert await talk.silent()

    asyncio.run(scenario())


def test_who_asks_after_the_end_has_no_answer_to_wait_for() -> None:
    async def scenario() -> None:
        talk = Talk(several())
        await talk.open()
        await talk.end()
        assert code(await talk.ask(call(1, "rounds", count=1))) == -32603

    asyncio.run(scenario())


def test_a_conversation_that_never_shook_hands_ends_as_well() -> None:
    async def scenario(talk: Talk) -> None:
        await talk.send_bytes(modern(1, "server/discover"))
        assert "result" in await talk.receive_any()

    play(scenario, whole=False)


def test_the_names_of_what_may_come_first_are_those_of_the_table() -> None:
    assert (conversions.INITIALIZE, conversions.PING) == (methods.INITIALIZE.name, methods.PING.name)


def test_the_types_of_the_era_wait_for_a_client_that_needs_them() -> None:
    program = (
        "import sys\n"
        "from mcprotocol.server import Server\n"
        "server = Server('lazy', version='1')\n"
        "talk, application = server.converse(print), server.http()\n"
        "assert 'mcprotocol.v2026_07_28.types' in sys.modules\n"
        "print('mcprotocol.v2025_11_25.types' in sys.modules)\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout == "False\n"
