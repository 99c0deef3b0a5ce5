"""Input required: what a handler asks, what comes back, and that it runs again; in memory and over a real pipe."""

# Sampling and roots are deprecated, and specified.
# pyright: reportDeprecated=false

from __future__ import annotations

import asyncio
import datetime
import enum
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, Optional

import pytest
from jsonschema import Draft202012Validator
from judged import Conversation
from mcprotocol.errors import InvalidParams
from mcprotocol.latest import types
from mcprotocol.server import Accepted, Context, Server, ToolError
from mcprotocol.server.inputs import Form
from mcprotocol.server.rounds import MOST_ROUNDS
from pydantic import BaseModel, Field, RootModel
from asking import Name, made
from test_dispatch import CAPABILITIES, META, SCHEMA, ask, request

ALL: dict[str, Any] = {"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}}
ANN = {"action": "accept", "content": {"name": "Ann"}}
SAMPLE = {"role": "assistant", "content": {"type": "text", "text": "Paris"}, "model": "m"}
ROOTS = {"roots": [{"uri": "file:///a"}]}
ASKING = Path(__file__).parent / "asking.py"
PACKAGES = str(Path(sys.modules["mcprotocol"].__file__ or "").parents[1])

Ask = Callable[[bytes], Any]
"""How a message is answered."""


@pytest.fixture(params=["memory", "pipe"], scope="module")
def peer(request: pytest.FixtureRequest) -> Iterator[Ask]:
    """The same server at the end of each transport."""
    if request.param == "memory":
        server = made()
        yield lambda data: ask(server, data)
        return
    with subprocess.Popen(
        [sys.executable, str(ASKING)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": PACKAGES},
    ) as process:
        assert process.stdin and process.stdout
        stdin, stdout = process.stdin, process.stdout
        conversation = Conversation()

        def exchange(data: bytes) -> Any:
            conversation.sent(data + b"\n")
            stdin.write(data + b"\n")
            stdin.flush()
            line = stdout.readline()
            conversation.received(line)
            return json.loads(line)

        yield exchange
        stdin.close()
        assert process.wait(20) == 0


def meta(capabilities: Any = ALL) -> dict[str, Any]:
    return {**META, CAPABILITIES: capabilities}


def tool(name: str, capabilities: Any = ALL, **params: Any) -> bytes:
    return request("tools/call", meta=meta(capabilities), name=name, **params)


def required(answer: Any) -> Any:
    """The result of an answer that asks for input, which keeps to the schema."""
    result = answer["result"]
    validator: Any = Draft202012Validator({"$ref": "#/$defs/InputRequiredResult", "$defs": SCHEMA["$defs"]})
    validator.validate(result)
    assert result["resultType"] == "input_required"
    assert "ttlMs" not in result and "content" not in result
    assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"]
    return result


def text(answer: Any) -> str:
    result = answer["result"]
    assert result["resultType"] == "complete" and not result.get("isError"), result
    return str(result["content"][0]["text"])


def retried(peer: Ask, name: str, answers: dict[str, Any], capabilities: Any = ALL, **params: Any) -> Any:
    """The answer to a second round."""
    state = required(peer(tool(name, capabilities, **params)))["requestState"]
    return peer(tool(name, capabilities, inputResponses=answers, requestState=state, **params))


# One question.


@pytest.mark.parametrize("name", ["greet", "greet_plainly"])
def test_a_form_is_asked_for_and_its_answer_ends_the_call(peer: Ask, name: str) -> None:
    asked = required(peer(tool(name)))["inputRequests"]
    assert asked == {
        "user_name": {
            "method": "elicitation/create",
            "params": {
                "mode": "form",
                "message": "What is your name?",
                "requestedSchema": {
                    "type": "object",
                    "properties": {"name": {"type": "string", "minLength": 1}},
                    "required": ["name"],
                },
            },
        }
    }
    assert text(retried(peer, name, {"user_name": ANN})) == "Hello, Ann!"


@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_no_is_an_answer(peer: Ask, action: str) -> None:
    assert text(retried(peer, "greet", {"user_name": {"action": action}})) == action


def test_prompts_and_resources_ask_as_well(peer: Ask) -> None:
    table: list[tuple[str, dict[str, Any], str]] = [
        ("prompts/get", {"name": "introduction"}, "user_context"),
        ("resources/read", {"uri": "asked://name"}, "user_name"),
    ]
    for method, params, key in table:
        state = required(peer(request(method, meta=meta(), **params)))["requestState"]
        again = {**params, "inputResponses": {key: ANN}, "requestState": state}
        result = peer(request(method, meta=meta(), **again))["result"]
        assert result["resultType"] == "complete" and "Hello, Ann!" in json.dumps(result)


def test_a_url_is_asked_for_and_brings_no_content(peer: Ask) -> None:
    params = required(peer(tool("visit")))["inputRequests"]["visit"]["params"]
    assert params == {"mode": "url", "message": "Sign in", "url": "https://example.com/in"}
    assert text(retried(peer, "visit", {"visit": {"action": "accept"}})) == "accept"


def test_an_answer_may_come_unasked_and_what_nobody_asked_is_ignored(peer: Ask) -> None:
    answers = {"user_name": ANN, "other": ANN, "more": ROOTS}
    assert text(peer(tool("greet", inputResponses=answers))) == "Hello, Ann!"


@pytest.mark.parametrize("answers", [{}, {"wrong_key": ANN}, None])
def test_what_is_missing_is_asked_again(peer: Ask, answers: Any) -> None:
    assert list(required(peer(tool("greet", inputResponses=answers)))["inputRequests"]) == ["user_name"]
    if answers is not None:
        assert list(required(retried(peer, "greet", answers))["inputRequests"]) == ["user_name"]


@pytest.mark.parametrize(
    "answer",
    [
        12345,
        "Ann",
        None,
        [],
        {},
        {"action": "maybe"},
        {"action": "accept"},
        {"action": "accept", "content": {}},
        {"action": "accept", "content": {"name": ""}},
        {"action": "accept", "content": {"name": 5}},
        {"action": "accept", "content": []},
        ROOTS,
        SAMPLE,
    ],
)
def test_an_answer_that_does_not_fit_is_an_error_of_the_params(peer: Ask, answer: Any) -> None:
    assert peer(tool("greet", inputResponses={"user_name": answer}))["error"]["code"] == -32602


# State.


def test_the_state_of_another_call_or_a_changed_one_is_refused(peer: Ask) -> None:
    state = required(peer(tool("travel", arguments={"where": "Rome"})))["requestState"]
    trip = {"trip": {"action": "accept", "content": {"city": "Rome"}}}
    table: list[tuple[str, str, str]] = [
        ("travel", "Rome", state + "-TAMPERED"),
        ("travel", "Rome", ""),
        ("travel", "Oslo", state),
        ("travel", "Rome", state.swapcase()),
    ]
    for name, where, sent in table:
        data = tool(name, arguments={"where": where}, inputResponses=trip, requestState=sent)
        assert peer(data)["error"]["code"] == -32602
    assert peer(tool("greet", requestState=state))["error"]["code"] == -32602
    good = tool("travel", arguments={"where": "Rome"}, inputResponses=trip, requestState=state)
    assert text(peer(good)) == "3 days"


def test_any_replica_with_the_key_serves_the_retry_and_no_other() -> None:
    state = required(ask(made(), tool("greet")))["requestState"]
    again = tool("greet", inputResponses={"user_name": ANN}, requestState=state)
    assert text(ask(made(), again)) == "Hello, Ann!"
    assert ask(made(state_key="another key of some length"), again)["error"]["code"] == -32602


def test_a_state_expires() -> None:
    server = made(state_seconds=-1)
    state = required(ask(server, tool("greet")))["requestState"]
    assert ask(server, tool("greet", requestState=state))["error"]["code"] == -32602


class Known(Server):
    """Knows who asks before the tools do."""

    async def call_tool(self, params: types.CallToolRequestParams, ctx: Context) -> Any:
        ctx.principal = (ctx.meta.model_extra or {}).get("com.example/user")
        return await super().call_tool(params, ctx)


def test_a_state_belongs_to_who_asked() -> None:
    server = Known("known", version="1")

    @server.tool()
    async def hello(ctx: Context) -> str:
        return str(await ctx.elicit("Name?", {"type": "object", "properties": {}}, key="k"))

    def sent(user: str, **params: Any) -> bytes:
        return request("tools/call", meta={**meta(), "com.example/user": user}, name="hello", **params)

    state = required(ask(server, sent("ann")))["requestState"]
    answers = {"k": {"action": "decline"}}
    assert ask(server, sent("bob", inputResponses=answers, requestState=state))["error"]["code"] == -32602
    assert "decline" in text(ask(server, sent("ann", inputResponses=answers, requestState=state)))


# Several questions, several rounds.


def test_several_are_asked_at_once(peer: Ask) -> None:
    asked = required(peer(tool("everything")))["inputRequests"]
    assert {key: request["method"] for key, request in asked.items()} == {
        "name": "elicitation/create",
        "capital": "sampling/createMessage",
        "roots": "roots/list",
    }
    assert asked["capital"]["params"]["maxTokens"] == 100
    answers: dict[str, Any] = {"name": ANN, "capital": SAMPLE, "roots": ROOTS}
    assert text(retried(peer, "everything", answers)) == "Hello, Ann! m file:///a"


def test_answers_that_come_one_by_one_are_kept(peer: Ask) -> None:
    second = required(retried(peer, "everything", {"name": ANN}))
    assert set(second["inputRequests"]) == {"capital", "roots"}
    answers = {"capital": SAMPLE, "roots": ROOTS, "name": {"action": "decline"}}
    last = tool("everything", inputResponses=answers, requestState=second["requestState"])
    assert text(peer(last)) == "Hello, Ann! m file:///a", "what was answered before is settled"


@pytest.mark.parametrize("grouped", [False, True])
def test_tasks_ask_side_by_side(peer: Ask, grouped: bool) -> None:
    arguments = {"grouped": grouped}
    asked = required(peer(tool("side_by_side", arguments=arguments)))["inputRequests"]
    assert set(asked) == {"first", "second"}
    both = {"first": ANN, "second": {"action": "cancel"}}
    assert text(retried(peer, "side_by_side", both, arguments=arguments)) == "Hello, Ann!cancel"


def test_rounds_follow_each_other_and_what_is_remembered_survives_them(peer: Ask) -> None:
    first = required(peer(tool("two_rounds")))
    (key,) = first["inputRequests"]
    data = tool("two_rounds", inputResponses={key: ANN}, requestState=first["requestState"])
    second = required(peer(data))
    (other,) = second["inputRequests"]
    assert key != other and first["requestState"] != second["requestState"]
    blue = {other: {"action": "accept", "content": {"colour": "blue"}}}
    data = tool("two_rounds", inputResponses=blue, requestState=second["requestState"])
    assert text(peer(data)) == "Ann blue 3"
    bad = {other: {"action": "accept", "content": {"colour": 5}}}
    data = tool("two_rounds", inputResponses=bad, requestState=second["requestState"])
    assert peer(data)["error"]["code"] == -32602, "a schema is kept to as a model is"


def test_a_handler_that_asks_forever_is_stopped(peer: Ask) -> None:
    answer, rounds = peer(tool("stubborn")), 0
    while "result" in answer:
        rounds += 1
        result = required(answer)
        answers = dict.fromkeys(result["inputRequests"], ANN)
        answer = peer(tool("stubborn", inputResponses=answers, requestState=result["requestState"]))
    assert (rounds, answer["error"]["code"]) == (MOST_ROUNDS, -32603)


def test_a_handler_cannot_take_asking_for_a_fault(peer: Ask) -> None:
    assert required(peer(tool("swallow")))


def accepting(answer: Any) -> tuple[dict[str, Any], dict[str, str]]:
    """The params of a retry that says yes to all that is asked, and each message by its key."""
    result = required(answer)
    asked = result["inputRequests"]
    params = {"inputResponses": dict.fromkeys(asked, ANN), "requestState": result["requestState"]}
    return params, {key: question["params"]["message"] for key, question in asked.items()}


def deleting(world: list[str], key: str | None = None) -> Server:
    """A server that asks before it deletes what is newest in a world that others change."""
    server = Server("world", version="1", state_key=b"k" * 16)

    @server.tool()
    async def delete(ctx: Context) -> str:
        newest = world[-1]
        first = await ctx.elicit(f"Delete {newest}?", Name, key=key)
        if key is not None:
            await ctx.elicit("Sure?", Name, key=f"{key}_again_1")
        return f"deleted {newest}" if isinstance(first, Accepted) else first.action

    return server


def test_an_answer_counts_for_the_question_that_was_asked_and_no_other() -> None:
    world = ["A"]
    retry, messages = accepting(ask(deleting(world), tool("delete")))
    assert messages == {"elicitation_1": "Delete A?"}
    world.append("B")
    answers = [ask(deleting(world), tool("delete", **retry)) for _ in range(2)]
    (again, messages), (_, others) = map(accepting, answers)
    assert messages == others == {"elicitation_1_again_1": "Delete B?"}, "replicas ask under one key"
    stale = {**again, "inputResponses": retry["inputResponses"]}
    assert accepting(ask(deleting(world), tool("delete", **stale)))[1] == messages
    assert text(ask(deleting(world), tool("delete", **again))) == "deleted B"
    world.pop()
    _, messages = accepting(ask(deleting(world), tool("delete", **again)))
    assert messages == {"elicitation_1": "Delete A?"}, "yes to B is no answer to A"


def test_a_settled_answer_is_unsettled_when_its_question_changes() -> None:
    world = ["A"]
    retry, _ = accepting(ask(deleting(world, "k"), tool("delete")))
    retry, messages = accepting(ask(deleting(world, "k"), tool("delete", **retry)))
    assert messages == {"k_again_1": "Sure?"}
    world.append("B")
    retry, messages = accepting(ask(deleting(world, "k"), tool("delete", **retry)))
    assert messages == {"k_again_2": "Delete B?"}, "a key that another question has is passed over"
    retry, messages = accepting(ask(deleting(world, "k"), tool("delete", **retry)))
    assert messages == {"k_again_1": "Sure?"}
    assert text(ask(deleting(world, "k"), tool("delete", **retry))) == "deleted B"


def test_two_questions_of_the_same_words_have_answers_of_their_own() -> None:
    server, words = Server("words", version="1"), ["Now?"]

    @server.tool()
    async def twice(ctx: Context) -> str:
        await ctx.elicit(words[0], Name, key="k")
        return (await ctx.elicit("Sure?", Name, key="k_again_1")).action

    retry, _ = accepting(ask(server, tool("twice")))
    retry, messages = accepting(ask(server, tool("twice", **retry)))
    assert messages == {"k_again_1": "Sure?"}
    words[0] = "Sure?"
    assert accepting(ask(server, tool("twice", **retry)))[1] == {"k_again_2": "Sure?"}


def test_with_a_state_only_what_was_asked_is_answered() -> None:
    retry, _ = accepting(ask(deleting(["A"], "k"), tool("delete")))
    retry["inputResponses"] = {"k": ANN, "k_again_1": ANN}
    assert accepting(ask(deleting(["A"], "k"), tool("delete", **retry)))[1] == {"k_again_1": "Sure?"}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"type": "string"}, {"type": "string", "title": "t"}),
        ({"type": "string", "enum": ["name", "a"]}, {"type": "string", "enum": ["a", "name"]}),
    ],
)
def test_a_form_is_a_part_of_its_question(before: Any, after: Any) -> None:
    member = before
    server = Server("form", version="1")

    @server.tool()
    async def fill(ctx: Context) -> str:
        return str(await ctx.elicit("m", {"type": "object", "properties": {"name": member}}))

    retry, _ = accepting(ask(server, tool("fill")))
    member = after
    assert accepting(ask(server, tool("fill", **retry)))[1] == {"elicitation_1_again_1": "m"}


def test_a_round_survives_a_handler_that_gathers_the_ends_of_its_tasks() -> None:
    server = Server("gather", version="1")

    @server.tool()
    async def both(ctx: Context) -> list[str]:
        questions = (ctx.elicit(key, Name, key=key) for key in ("first", "second"))
        tasks = [asyncio.wait_for(question, 10) for question in questions]
        answers = await asyncio.gather(*tasks, return_exceptions=True)
        return [type(answer).__name__ for answer in answers]

    retry, messages = accepting(ask(server, tool("both")))
    assert messages == {"first": "first", "second": "second"}
    result = ask(server, tool("both", **retry))["result"]
    assert result["structuredContent"] == ["Accepted", "Accepted"]


def test_a_failure_beside_a_question_is_the_result() -> None:
    server = Server("failing", version="1")

    @server.tool()
    async def fail(ctx: Context) -> str:
        await asyncio.gather(asyncio.wait_for(ctx.roots(), 10), return_exceptions=True)
        raise ValueError("broken")

    assert ask(server, tool("fail"))["result"]["isError"]


# Capabilities.


@pytest.mark.parametrize(
    ("name", "declared", "needed"),
    [
        ("greet", {}, {"elicitation": {"form": {}}}),
        ("greet", {"elicitation": {"url": {}}}, {"elicitation": {"form": {}}}),
        ("visit", {"elicitation": {}}, {"elicitation": {"url": {}}}),
        ("visit", {"elicitation": {"form": {}}, "sampling": {}}, {"elicitation": {"url": {}}}),
        ("raw", {"sampling": {}}, {"elicitation": {"form": {}}, "roots": {}}),
    ],
)
def test_a_call_that_cannot_proceed_names_what_it_needs(
    peer: Ask, name: str, declared: Any, needed: Any
) -> None:
    error = peer(tool(name, declared))["error"]
    assert (error["code"], error["data"]) == (-32021, {"requiredCapabilities": needed})


@pytest.mark.parametrize("declared", [{"elicitation": {}}, {"elicitation": {"form": {}}}])
def test_elicitation_of_nothing_in_particular_means_forms(peer: Ask, declared: Any) -> None:
    assert required(peer(tool("greet", declared)))


@pytest.mark.parametrize(
    ("declared", "asked"), [({"sampling": {}}, {"capital"}), ({"roots": {}, "elicitation": {"url": {}}}, {"roots"})]
)  # fmt: skip
def test_what_a_client_cannot_be_asked_is_left_out_where_the_rest_will_do(
    peer: Ask, declared: Any, asked: set[str]
) -> None:
    assert set(required(peer(tool("everything", declared)))["inputRequests"]) == asked
    answers: dict[str, Any] = {"name": ANN, "capital": SAMPLE, "roots": ROOTS}
    result = text(retried(peer, "everything", {key: answers[key] for key in asked}, declared))
    assert result.count("no") == 2


def test_a_call_that_can_do_without_answers_at_once(peer: Ask) -> None:
    assert text(peer(tool("everything", {}))) == "nobody no model no roots"
    assert text(peer(tool("swallow", {}))) == "without: -32021"


def test_sampling_with_tools_needs_a_client_that_has_them() -> None:
    server = Server("s", version="1")

    @server.tool()
    async def use(context: bool, ctx: Context) -> str:
        params: dict[str, Any] = {"messages": [], "maxTokens": 5}
        params |= {"includeContext": "thisServer"} if context else {"toolChoice": {"mode": "auto"}}
        return (await ctx.sample(types.CreateMessageRequestParams.model_validate(params))).model

    for context, inner in [(False, "tools"), (True, "context")]:
        arguments = {"context": context}
        error = ask(server, tool("use", {"sampling": {}}, arguments=arguments))["error"]
        assert error["data"] == {"requiredCapabilities": {"sampling": {inner: {}}}}
        assert required(ask(server, tool("use", {"sampling": {inner: {}}}, arguments=arguments)))


# The exact level.


def test_a_result_that_a_handler_makes_itself_is_filtered_and_checked(peer: Ask) -> None:
    assert set(required(peer(tool("raw")))["inputRequests"]) == {"form", "roots"}
    assert set(required(peer(tool("raw", {"roots": {}})))["inputRequests"]) == {"roots"}
    assert peer(tool("raw", arguments={"empty": True}))["error"]["code"] == -32603


def test_a_state_of_the_handlers_own_travels_untouched(peer: Ask) -> None:
    answer = peer(tool("own"))
    for state in ("", " ü "):
        result = required(answer)
        assert result["requestState"] == state and "inputRequests" not in result
        answer = peer(tool("own", requestState=state))
    result = required(answer)
    assert "requestState" not in result and list(result["inputRequests"]) == ["roots"]
    assert text(peer(tool("own", inputResponses={"roots": ROOTS}))) == "done"


@pytest.mark.parametrize("answers", [[], "x", 5, {"k": 5}])
def test_answers_that_are_none_are_an_error_of_the_params(peer: Ask, answers: Any) -> None:
    assert peer(tool("greet", inputResponses=answers))["error"]["code"] == -32602


def test_only_tools_prompts_and_resources_ask(caplog: pytest.LogCaptureFixture) -> None:
    server = made()

    @server.completion(prompt="introduction", argument="x")
    async def complete(value: str, ctx: Context) -> list[str]:
        await ctx.roots()
        return []

    data = request(
        "completion/complete",
        meta=meta(),
        ref={"type": "ref/prompt", "name": "introduction"},
        argument={"name": "x", "value": ""},
    )
    assert ask(server, data)["error"]["code"] == -32603
    assert "completion/complete cannot ask" in caplog.text


def test_two_questions_with_one_key_are_the_authors_fault(caplog: pytest.LogCaptureFixture) -> None:
    server = Server("twice", version="1")

    @server.tool()
    async def twice(ctx: Context) -> None:
        ctx.roots(key="a")
        ctx.roots(key="a")

    assert ask(server, tool("twice"))["result"]["isError"]
    assert "'a' was used before" in caplog.text


GROUP = request("prompts/get", meta={**META, CAPABILITIES: ALL}, name="group")


def grouped(*failures: BaseException) -> Server:
    """A server whose tool and prompt fail in the tasks of a group, beside a task that asks."""
    server = Server("group", version="1")

    async def fail(failure: BaseException) -> None:
        raise failure

    @server.tool()
    @server.prompt()
    async def group(ctx: Context) -> str:
        async with asyncio.TaskGroup() as tasks, asyncio.TaskGroup() as inner:
            tasks.create_task(asyncio.wait_for(ctx.roots(), 10))
            for failure in failures:
                inner.create_task(fail(failure))
        return "done"

    return server


def test_a_group_that_fails_beside_a_question_fails(caplog: pytest.LogCaptureFixture) -> None:
    result = ask(grouped(ValueError("broken")), tool("group"))["result"]
    assert (result["isError"], result["content"][0]["text"]) == (True, "Tool group failed")
    assert "broken" in caplog.text
    assert ask(grouped(ValueError("broken")), GROUP)["error"]["code"] == -32603


@pytest.mark.parametrize("beside", [[], [ValueError("broken")], [InvalidParams("later")]])
def test_what_a_tool_says_in_a_group_is_said(
    beside: list[Exception], caplog: pytest.LogCaptureFixture
) -> None:
    result = ask(grouped(ToolError("say this"), *beside), tool("group"))["result"]
    assert (result["isError"], result["content"][0]["text"]) == (True, "say this")
    assert ("broken" in caplog.text) == (str(beside) == "[ValueError('broken')]")


@pytest.mark.parametrize("data", [tool("group"), GROUP])
def test_a_protocol_error_in_a_group_is_the_error_of_the_request(data: bytes) -> None:
    error = ask(grouped(InvalidParams("not like this")), data)["error"]
    assert (error["code"], error["message"]) == (-32602, "not like this")


# Forms.


class Size(enum.Enum):
    """A size."""

    SMALL = "small"
    LARGE = "large"


class Wide(BaseModel):
    name: str = Field(
        "John Doe", title="Your name", description="As on the card", max_length=20, pattern="J.*"
    )
    mail: str = Field(json_schema_extra={"format": "email"})
    age: int = Field(30, ge=0, le=150)
    score: float = 95.5
    agreed: bool = True
    status: Literal["active", "inactive"] = "active"
    only: Literal["one"] = "one"
    size: Size = Size.SMALL
    colours: list[Literal["red", "blue"]] = Field([], max_length=2)
    sizes: set[Size] = set()
    born: Optional[datetime.date] = None
    nick: Annotated[str | None, Field(min_length=2)] = None
    code: str = Field("a", json_schema_extra={"format": "uuid"})


def test_a_model_becomes_a_flat_form_of_primitives() -> None:
    schema = Form[Wide](Wide).schema
    assert schema == {
        "type": "object",
        "properties": {
            "name": {"type": "string", "title": "Your name", "description": "As on the card", "maxLength": 20, "default": "John Doe"},
            "mail": {"type": "string", "format": "email"},
            "age": {"type": "integer", "minimum": 0, "maximum": 150, "default": 30},
            "score": {"type": "number", "default": 95.5},
            "agreed": {"type": "boolean", "default": True},
            "status": {"type": "string", "enum": ["active", "inactive"], "default": "active"},
            "only": {"type": "string", "enum": ["one"], "default": "one"},
            "size": {"type": "string", "enum": ["small", "large"], "description": "A size.", "default": "small"},
            "colours": {"type": "array", "items": {"type": "string", "enum": ["red", "blue"]}, "maxItems": 2, "default": []},
            "sizes": {"type": "array", "items": {"type": "string", "enum": ["small", "large"]}, "default": []},
            "born": {"type": "string", "format": "date"},
            "nick": {"type": "string", "minLength": 2},
            "code": {"type": "string", "default": "a"},
        },
        "required": ["mail"],
    }  # fmt: skip
    definition = SCHEMA["$defs"]["ElicitRequestFormParams"]["properties"]["requestedSchema"]
    validator: Any = Draft202012Validator({**definition, "$defs": SCHEMA["$defs"]})
    validator.validate(schema)


def test_the_content_of_an_answer_becomes_the_model_again() -> None:
    content = {"mail": "a@b", "size": "large", "score": 1.5, "born": "2020-02-03", "sizes": ["small"]}
    read = Form[Wide](Wide).read(content)
    assert (read.size, read.score, read.born) == (Size.LARGE, 1.5, datetime.date(2020, 2, 3))
    assert read.name == "John Doe" and read.sizes == {Size.SMALL}


class Spoken(BaseModel):
    city: Annotated[str, "Where to"]
    size: Annotated[Size, "How large"] = Size.LARGE


def test_words_describe_the_members_of_a_form() -> None:
    assert Form[Spoken](Spoken).schema["properties"] == {
        "city": {"type": "string", "description": "Where to"},
        "size": {
            "type": "string",
            "enum": ["small", "large"],
            "description": "How large",
            "default": "large",
        },
    }


class Nested(BaseModel):
    inner: Wide


class Lists(BaseModel):
    texts: list[str]


class Numbers(BaseModel):
    values: list[Literal[1, 2]]


class Either(BaseModel):
    value: int | str


@pytest.mark.parametrize("model", [Nested, Lists, Numbers, Either])
def test_a_form_that_is_not_flat_is_refused(model: type[BaseModel]) -> None:
    with pytest.raises(TypeError, match="form member"):
        Form[Any](model)


@pytest.mark.parametrize(
    "shape", [{"type": "array"}, {"type": ["object", "null"]}, {"type": None}, RootModel[list[str]]]
)
def test_a_form_of_no_object_is_refused(shape: Any) -> None:
    with pytest.raises(ValueError, match="must be of type 'object'"):
        Form[Any](shape)


def test_titled_choices_of_a_schema_are_asked_as_they_are() -> None:
    choices = [{"const": "r", "title": "Red"}]
    properties: dict[str, Any] = {
        "one": {"type": "string", "oneOf": choices},
        "many": {"type": "array", "items": {"anyOf": choices}, "minItems": 1},
    }
    assert Form[Any]({"type": "object", "properties": properties}).schema["properties"] == properties


def test_what_a_schema_says_beyond_the_protocol_is_judged_here_alone() -> None:
    form = Form[Any]({"properties": {"a": {"type": "string", "pattern": "^x"}}, "required": ["a"]})
    assert form.schema == {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    assert form.read({"a": "xy"}) == {"a": "xy"}
    with pytest.raises(InvalidParams, match="/a"):
        form.read({"a": "y"})
