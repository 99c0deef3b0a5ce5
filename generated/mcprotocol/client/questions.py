"""Questions: what a server of the handshake era asks by a request of its own, and the answer or error it gets.

They are answered by the handlers that answer input-required results (2025-11-25, client/*). No I/O.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from contextvars import Context
from typing import Final

from pydantic import ValidationError

from ..errors import InternalError, InvalidParams, McpError, MethodNotFound
from ..jsonrpc import Id, Params, Request, explain, read_params, write_error, write_success
from ..latest import types
from .answers import Answers, InputRequired
from .calls import Calls
from .transport import Transport

log = logging.getLogger(__name__)

PING: Final = "ping"

ASKED: Final = ("elicitation/create", "sampling/createMessage", "roots/list")
"""What a server may ask, where the client has declared it."""

KEY: Final = "asked"


class Questions:
    """The questions of one server that are being answered, each in a task of its own."""

    def __init__(self, answers: Answers, calls: Calls, transport: Transport) -> None:
        """Answer by the handlers of `answers`, each in the context of one of `calls`, and send it by `transport`."""
        self._answers = answers
        self._calls = calls
        self._transport = transport
        self._answering: dict[Id, asyncio.Task[None]] = {}

    def take(self, request: Request, stream: Id | None) -> None:
        """Answer one, which came on the stream of a call or on none."""
        if request.id in self._answering:
            log.debug("dropped a request that is being answered: %.200r", request)
            return
        # A handler belongs to a call: a blocking client runs it in the thread that waits for that.
        context = self._calls.context(stream) or Context()
        task = asyncio.get_running_loop().create_task(self._answer(request), context=context)
        self._answering[request.id] = task
        task.add_done_callback(lambda _: self._answering.pop(request.id, None))

    def withdraw(self, params: Params | None) -> None:
        """Answer the one no more that a cancellation names, if it names one."""
        try:
            named = read_params(types.CancelledNotificationParams, params).request_id
        except McpError as error:
            log.debug("dropped a cancellation: %s", error.message)
            return
        task = self._answering.get(named)
        if task is not None:
            task.cancel()

    def drop(self) -> None:
        """Answer none of them any more."""
        for task in self._answering.values():
            task.cancel()

    async def end(self) -> None:
        """Answer none of them any more, and wait until that is so."""
        tasks = [*self._answering.values()]
        self.drop()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _answer(self, request: Request) -> None:
        try:
            message = write_success(request.id, await replied(self._answers, request))
        except McpError as error:
            message = write_error(request.id, error)
        except Exception:
            log.exception("a handler failed")
            message = write_error(request.id, InternalError("The client could not answer"))
        with contextlib.suppress(ConnectionError):
            await self._transport.notify(request.method, message)


async def replied(answers: Answers, request: Request) -> bytes:
    """The result of a request of the server; raises McpError where it has none, and what a handler raises."""
    if request.method == PING:
        return b"{}"
    if request.method not in ASKED:
        raise MethodNotFound(request.method)
    asked = {"method": request.method, "params": request.params or {}}
    try:
        question = types.InputRequiredResult.model_validate(
            {"resultType": "input_required", "inputRequests": {KEY: asked}}
        )
    except ValidationError as error:
        raise InvalidParams(f"Invalid params: {explain(error)}") from None
    try:
        given = await answers.all(question)
    except InputRequired as error:
        raise _undeclared(answers, request) from error
    return given[KEY].wire_bytes()


def _undeclared(answers: Answers, request: Request) -> McpError:
    """The error for what the client has not declared: the method altogether, or what it is asked for by it."""
    declared = answers.capabilities()
    partly = {ASKED[0]: declared.elicitation, ASKED[1]: declared.sampling}.get(request.method)
    if partly is None:
        return MethodNotFound(request.method)
    return InvalidParams(f"This client has not declared that it can do {request.method} in this way")
