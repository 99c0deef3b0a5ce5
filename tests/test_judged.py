"""The judge of the servers in these tests sees what is wrong, and looks at every answer."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hosted import post
from judged import ERRORS, NOTIFICATIONS, RESPONSES, Conversation, answers, faults, responses
from mcprotocol.errors import InvalidRequest, ParseError
from mcprotocol.latest import methods, types
from mcprotocol.server import Context, Server
from scaffolded import request

CALLED: dict[str, Any] = {"content": [], "resultType": "complete"}
ASKED: dict[str, Any] = {
    "inputRequests": {"a": {"method": "roots/list", "params": {}}},
    "resultType": "input_required",
}


def answer(**member: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1, **member}).encode()


def test_it_knows_every_request_notification_and_error_of_the_schema() -> None:
    assert set(RESPONSES) == {method.name for method in methods.CLIENT_REQUESTS.values()}
    assert set(NOTIFICATIONS) == {method.name for method in methods.SERVER_NOTIFICATIONS.values()}
    assert sorted(ERRORS) == [-32700, -32603, -32602, -32601, -32600, -32022, -32021, -32020]


@pytest.mark.parametrize(
    ("method", "message"),
    [
        ("tools/call", answer(result=CALLED)),
        ("tools/call", answer(result=ASKED)),
        ("tools/call", answer(error={"code": -32603, "message": "no"})),
        ("tools/call", answer(error={"code": 7, "message": "no", "data": None})),
        (None, b'{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'),
    ],
)
def test_what_is_right_is_let_pass(method: str | None, message: bytes) -> None:
    assert faults(method, message) == []


@pytest.mark.parametrize(
    ("method", "message", "fault"),
    [
        ("tools/call", answer(result={"content": []}), "'resultType' is a required property"),
        ("tools/call", answer(result={"resultType": "complete"}), "CallToolResult: 'content'"),
        ("tools/call", answer(result={**ASKED, "inputRequests": []}), "InputRequiredResult.inputRequests"),
        ("tools/list", answer(result={"tools": [], "resultType": "complete"}), "'ttlMs' is a required"),
        ("tools/call", answer(result={**CALLED, "isError": None}), "CallToolResult.isError: None"),
        ("tools/call", answer(result=CALLED, jsonrpc="1"), "JSONRPCResultResponse.jsonrpc"),
        ("tools/call", answer(error={"code": -32021, "message": "no"}), "'data' is a required property"),
        ("tools/call", answer(error={"code": -32603}), "'message' is a required property"),
        (None, b'{"jsonrpc":"2.0","method":"notifications/progress"}', "'params' is a required property"),
        (None, b'{"jsonrpc":"2.0","method":"notifications/other"}', "ServerNotification"),
    ],
)
def test_what_is_wrong_is_named(method: str | None, message: bytes, fault: str) -> None:
    assert fault in "\n".join(faults(method, message))


def test_only_what_may_ask_for_input_does() -> None:
    with pytest.raises(AssertionError, match="tools/list asks for no input"):
        faults("tools/list", answer(result=ASKED))


def test_an_answer_in_a_stream_is_judged_by_its_request_in_pieces_too() -> None:
    conversation = Conversation()
    conversation.sent(b'no JSON\n{"id":1,"method":"tools/')
    conversation.sent(b'call"}\n{"id":2,"method":"tools/list"}\n')
    conversation.received(answer(result=CALLED))
    with pytest.raises(AssertionError, match="ListToolsResult: 'tools' is a required property"):
        conversation.received(answer(id=2, result=CALLED))


class Careless(Server):
    """Says nothing in particular."""

    async def call_tool(self, params: types.CallToolRequestParams, ctx: Context) -> types.CallToolResult:
        """A result without its content."""
        await ctx.calls.notify_progress(types.ProgressNotificationParams.model_construct(progress=1.0))
        return types.CallToolResult.model_construct()


def test_a_server_cannot_send_a_fault_past_its_test(server_faults: list[str]) -> None:
    async def send(message: bytes) -> None:
        assert b"progress" in message

    data = request(1, "tools/call", name="any", arguments={})
    asyncio.run(Careless("careless", version="1").connect().handle(data, send))
    found = "\n".join(server_faults)
    server_faults.clear()
    assert "CallToolResult: 'content' is a required property" in found
    assert "'progressToken' is a required property" in found


@pytest.mark.parametrize("data", [b"no JSON", b"[]"])
def test_a_server_cannot_send_a_faulty_refusal_past_its_test(
    server_faults: list[str], monkeypatch: pytest.MonkeyPatch, data: bytes
) -> None:
    for error in (ParseError, InvalidRequest):
        monkeypatch.setattr(error, "code", "none")
    application = Careless("careless", version="1").http()
    monkeypatch.setattr("mcprotocol.server.responses.STATUS", {"none": 400})
    answer = post(application, data)
    found = "\n".join(server_faults)
    server_faults.clear()
    assert answer.status == 400
    assert "JSONRPCErrorResponse.error.code: 'none' is not of type 'integer'" in found


def test_a_whole_exchange_is_judged_in_lines_and_in_events() -> None:
    sent = b'{"id":1,"method":"tools/call"}\n{"id":"1","method":"tools/list"}'
    good, bad = answer(result=CALLED), answer(id="1", result=CALLED)
    events = b"data: %b\n\n: comment\n\n" % good
    assert (
        answers(sent, good + b"\n") == responses(sent, "text/event-stream; x", events) == [json.loads(good)]
    )
    assert responses(sent, "application/json", good) == [json.loads(good)]
    assert responses(sent, "", b"") == []
    with pytest.raises(AssertionError, match="'tools' is a required property"):
        answers(sent, good + b"\n" + bad)
    with pytest.raises(AssertionError, match="'tools' is a required property"):
        responses(sent, "text/event-stream", events + b"data: %b\n\n" % bad)
