"""Log messages to the client: only on request, only at its level, only before the answer."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from mcprotocol.server import Context, Server
from asking import made
from test_dispatch import META, SCHEMA, Peer, ask, request
from test_subscriptions import Connect, connect, listen, run, until_answer
from wires import Wire

LEVEL = "io.modelcontextprotocol/logLevel"
LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]

__all__ = ["connect"]


def call(name: str, level: str | None) -> bytes:
    meta = META if level is None else {**META, LEVEL: level}
    return request("tools/call", "c", meta=meta, name=name)


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        (None, []),
        ("debug", ["debug", "info", "error"]),
        ("info", ["info", "error"]),
        ("error", ["error"]),
        ("critical", []),
    ],
)
def test_a_message_is_sent_at_the_level_of_the_request_or_above(
    connect: Connect, level: str | None, expected: list[str]
) -> None:
    async def scenario(wire: Wire) -> None:
        await wire.send(call("chat", level))
        seen = await until_answer(wire, "c")
        for message in seen:
            validator: Any = Draft202012Validator(
                {"$ref": "#/$defs/LoggingMessageNotification", "$defs": SCHEMA["$defs"]}
            )
            validator.validate(message)
        assert [message["params"] for message in seen] == [
            {"level": level, "logger": "chat", "data": {"level": level}} for level in expected
        ]

    run(connect, scenario)


@pytest.mark.parametrize(("level", "count"), [("warning", 1), ("error", 0)])
def test_a_plain_function_logs_as_well(connect: Connect, level: str, count: int) -> None:
    async def scenario(wire: Wire) -> None:
        await wire.send(call("chat_plainly", level))
        seen = await until_answer(wire, "c")
        assert [message["params"] for message in seen] == [{"level": "warning", "data": "plainly"}] * count

    run(connect, scenario)


def test_nothing_is_logged_on_a_subscription(connect: Connect) -> None:
    async def scenario(wire: Wire) -> None:
        data = listen(1, toolsListChanged=True).replace(
            b'"_meta": {', b'"_meta": {"%b": "debug", ' % LEVEL.encode()
        )
        await wire.send(data)
        assert "acknowledged" in (await wire.receive())["method"]
        await wire.send(call("chat", None))
        assert await until_answer(wire, "c") == []
        assert [message["id"] for message in await wire.end()] == [1]

    run(connect, scenario)


def test_a_level_that_is_unknown_is_refused(connect: Connect) -> None:
    async def scenario(wire: Wire) -> None:
        await wire.send(call("chat", "loud"))
        assert (await wire.receive())["error"]["code"] == -32602

    run(connect, scenario)


def test_every_level_has_its_rank() -> None:
    server = Server("levels", version="1", logging=True)

    @server.tool()
    async def all_levels(ctx: Context) -> None:
        for level in reversed(LEVELS):
            await ctx.log(level, None)

    async def seen(level: str) -> list[str]:
        peer = Peer(server)
        await peer.ask(call("all_levels", level))
        return [json.loads(message)["params"]["level"] for message in peer.sent[:-1]]

    for index, level in enumerate(LEVELS):
        assert asyncio.run(seen(level)) == LEVELS[index:][::-1]


def test_a_server_that_has_not_announced_its_log_cannot_log(caplog: pytest.LogCaptureFixture) -> None:
    silent, loud = made(logging=False), made()
    assert ask(silent, call("chat", None))["result"]["isError"]
    assert "logging=True" in caplog.text
    for server, announced in ((silent, False), (loud, True)):
        found = ask(server, request("server/discover"))["result"]["capabilities"]
        assert ("logging" in found) == announced


def test_what_is_logged_is_any_json_value_and_a_level_is_one_of_eight() -> None:
    server = Server("values", version="1", logging=True)

    @server.tool()
    async def log(ctx: Context) -> None:
        for value in (None, 1.5, "x", [1], {"a": {"b"}}):
            await ctx.log("info", value)

    @server.tool()
    async def loud(ctx: Context) -> str:
        with pytest.raises(ValueError, match="debug, info"):
            ctx.log("loud", 1)
        return "refused"

    async def seen() -> list[Any]:
        peer = Peer(server)
        await peer.ask(call("log", "info"))
        return [json.loads(message)["params"]["data"] for message in peer.sent[:-1]]

    assert asyncio.run(seen()) == [None, 1.5, "x", [1], {"a": ["b"]}]
    assert "refused" in json.dumps(ask(server, call("loud", None)))
