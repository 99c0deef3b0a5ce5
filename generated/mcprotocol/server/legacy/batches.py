"""Batches: several messages in one array, as 2025-03-26 alone has them; their answers come in an array as well. No I/O."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeAlias, cast

from pydantic_core import from_json, to_json

from ...errors import InvalidRequest
from ...jsonrpc import write_error

One: TypeAlias = Callable[[bytes], Coroutine[Any, Any, bytes | None]]
"""Takes one message and returns its answer, or None."""


async def batch(data: bytes, one: One) -> bytes | None:
    """The answers to the messages of an array, each taken in a task of its own; None where none gets any."""
    try:
        parts: Any = from_json(data, allow_inf_nan=False)
    except ValueError:
        return await one(data)  # Which says what is wrong with it.
    if not parts:
        return write_error(None, InvalidRequest("A batch must not be empty"))
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one(to_json(part))) for part in cast(list[Any], parts)]
    answers = [answer for task in tasks if (answer := task.result()) is not None]
    return b"[%b]" % b",".join(answers) if answers else None
