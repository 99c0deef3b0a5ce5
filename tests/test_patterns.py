"""Cancellation and progress, in memory and over a real pipe."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from test_dispatch import META, cancelled, request
from test_subscriptions import Connect, connect, run, until_answer
from wires import Wire

__all__ = ["connect"]


def call(identity: object, name: str, meta: Any = META, **arguments: Any) -> bytes:
    return request("tools/call", identity, meta, name=name, arguments=arguments)


def test_a_cancellation_that_races_the_end_leaves_one_answer_or_none(connect: Connect) -> None:
    async def scenario(wire: Wire) -> None:
        answered = 0
        for attempt in range(200):
            await wire.send(call(5, "wait", seconds=0.004))
            await wire.send(cancelled(requestId=999))
            await wire.send(cancelled(requestId="5"))
            await asyncio.sleep(attempt * 0.00004)
            await wire.send(cancelled(requestId=5))
            await wire.send(call("next", "wait", seconds=0.004))
            before = await until_answer(wire, "next")
            assert [message["id"] for message in before] in ([], [5])
            answered += len(before)
        assert answered < 200, "some must be cancelled in time"
        assert await wire.end() == []

    run(connect, scenario)


@pytest.mark.parametrize("token", [0, "0", 7, "", None])
def test_progress_bears_the_token_in_its_own_type_and_only_increases(
    connect: Connect, token: int | str | None
) -> None:
    async def scenario(wire: Wire) -> None:
        meta = META if token is None else {**META, "progressToken": token}
        await wire.send(call("c", "steps", meta))
        seen = [message["params"] for message in await until_answer(wire, "c")]
        expected = [{"progressToken": token, "progress": step, "total": 2} for step in (0, 1, 2)]
        assert seen == ([] if token is None else expected)
        assert all(type(params["progressToken"]) is type(token) for params in seen)
        assert await wire.end() == []

    run(connect, scenario)
