"""Asking: what a handler asks of the user, as requests of the server, and the answers by their ids. No I/O.

The request that asks is one to its client, however often its handler runs.
"""

from __future__ import annotations

import asyncio
import itertools
import math
import secrets
from collections.abc import Mapping
from typing import Final, TypeVar

from pydantic_core import to_json

from ...errors import InternalError, InvalidRequest, McpError, RemoteError
from ...jsonrpc import Failure, Id, NotificationMethod, Params, Success, meant_for, write_notification
from ...latest import methods, types
from ..dispatch import HangUp, Outlet, Send
from ..failures import first
from . import conversions

N = TypeVar("N", contravariant=True)

PAUSE_SECONDS: Final = 0.25
"""How long a request that asked for nothing but to be repeated waits for that, as a client of 2026-07-28 has it wait."""


class Rounds(Outlet):
    """The channel of one request through all its rounds: progress that an earlier round has reported is not repeated."""

    def __init__(self, send: Send, hang_up: HangUp | None) -> None:
        super().__init__(send, hang_up)
        self._reached = -math.inf

    async def notify(self, method: NotificationMethod[N], params: N) -> None:
        """Send one notification, unless it reports no progress."""
        if isinstance(params, types.ProgressNotificationParams):
            if params.progress <= self._reached:
                return
            self._reached = params.progress
        await super().notify(method, params)


class Questions:
    """The requests that were sent to one client and have no answer yet."""

    def __init__(self) -> None:
        self._ids = itertools.count(1)
        self._waiting: dict[Id, asyncio.Future[Success | Failure]] = {}
        self._closed = False

    def answered(self, message: Success | Failure) -> None:
        """Take an answer; one to no question is dropped."""
        waiter = None if message.id is None else self._waiting.get(message.id)
        if waiter is not None and not waiter.done():
            waiter.set_result(message)

    def failed(self, data: bytes, error: McpError) -> bool:
        """Whether what cannot be read was meant as the answer to a question: no other will come."""
        meant = [identity for identity in meant_for(data) if identity in self._waiting]
        for identity in meant:
            self.answered(Failure(identity, InvalidRequest(f"The answer cannot be read: {error.message}")))
        return bool(meant)

    def close(self) -> None:
        """Fail the questions that are open, and those to come."""
        self._closed = True
        for waiter in self._waiting.values():
            if not waiter.done():
                waiter.set_exception(InternalError("The session has ended"))

    async def ask(self, result: Params, send: Send, version: str) -> Params:
        """The answers to what an `input_required` result asks, as params of the next round.

        Raises InternalError when the client has none for one of them, with its error as data. The others are then
        withdrawn, as all are on cancellation.
        """
        requests: Mapping[str, Params] = result.get("inputRequests") or {}
        if not requests:
            await asyncio.sleep(PAUSE_SECONDS)
        try:
            async with asyncio.TaskGroup() as group:
                tasks = {
                    key: group.create_task(self._one(one, send, version)) for key, one in requests.items()
                }
        except BaseExceptionGroup as failed:
            raise first(failed, McpError) or failed from None
        following: Params = {"inputResponses": {key: task.result() for key, task in tasks.items()}}
        if "requestState" in result:
            following["requestState"] = result["requestState"]
        return following

    async def _one(self, request: Params, send: Send, version: str) -> Params:
        if self._closed:
            raise InternalError("The session has ended")
        params = conversions.question(request.get("params") or {}, secrets.token_urlsafe(16), version)
        identity = next(self._ids)
        waiter = self._waiting[identity] = _future()
        message = {"jsonrpc": "2.0", "id": identity, "method": request["method"], "params": params}
        try:
            await send(to_json(message))
            return _result(request["method"], await waiter)
        except asyncio.CancelledError:
            withdrawn = types.CancelledNotificationParams(request_id=identity)
            await send(write_notification(methods.CANCELLED_NOTIFICATION.name, withdrawn))
            raise
        finally:
            del self._waiting[identity]


def _future() -> asyncio.Future[Success | Failure]:
    return asyncio.get_running_loop().create_future()


def _result(method: str, outcome: Success | Failure) -> Params:
    if isinstance(outcome, Success):
        return outcome.result
    # Its code would be taken for one about the request that waits: -32601, say, for a tool call that is unknown.
    error = outcome.error
    told: Params = {"code": error.remote_code if isinstance(error, RemoteError) else error.code}
    told["message"] = error.message
    if error.data is not None:
        told["data"] = error.data
    raise InternalError(f"The client has answered {method} with an error: {error.message}", told)
