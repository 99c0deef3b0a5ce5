"""Calls: requests out, results back, matched by id; what comes unasked is told apart and never breaks a call.

No I/O: messages go to a transport and come from it. A call that its caller gives up is cancelled at the server,
and an answer that still arrives is dropped (basic/patterns/cancellation).
"""

# What is deprecated is still part of the revision:
# pyright: reportDeprecated=false

from __future__ import annotations

import asyncio
import contextlib
import inspect
import itertools
import logging
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, TypeVar, cast

from ..errors import McpError
from ..headers import Parameters
from ..jsonrpc import (
    Failure,
    Id,
    Notification,
    NotificationMethod,
    P,
    Params,
    R,
    RequestMethod,
    Success,
    read_params,
    read_reply,
    write_notification,
    write_request,
)
from ..latest import REVISION, methods, types
from ..latest import client as stubs
from ..outcomes import read_result
from ..wire import WireModel
from .transport import Disconnected, Outgoing, Transport

log = logging.getLogger(__name__)

N = TypeVar("N", contravariant=True)

Progress: TypeAlias = Callable[[types.ProgressNotificationParams], Awaitable[None] | None]
"""What is told of the progress of a call: a plain or an async function."""

Messages: TypeAlias = Callable[[types.LoggingMessageNotificationParams], Awaitable[None] | None]
"""What is told the log messages of a call: a plain or an async function."""

SUBSCRIPTION: Final = "io.modelcontextprotocol/subscriptionId"
"""The key in the metadata of a notification that names the request that asked for it."""


@dataclass(frozen=True, slots=True)
class Hearing:
    """Who hears what comes before the result of a call.

    `progress` and `messages` are told of progress and log messages, of these only what is as grave as `level`.
    `changes` gets each notification of a subscription, in order.
    """

    progress: Progress | None = None
    messages: Messages | None = None
    level: types.LoggingLevel = "info"
    changes: Callable[[Notification], None] | None = None


NOBODY: Final = Hearing()


@dataclass(slots=True)
class _Call:
    """A call under way."""

    waiter: asyncio.Future[Params]
    hearing: Hearing


class Calls:
    """The calls of one client that are under way: the channel for the generated stubs."""

    def __init__(self, transport: Transport, timeout: float | None) -> None:
        """Carry messages by `transport`. A call may take `timeout` seconds."""
        self._transport = transport
        self._timeout = timeout
        self._ids = itertools.count(1)
        self._under_way: dict[Id, _Call] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._lost: Exception | None = Disconnected("the client is not connected: use it as `async with`")

    def fresh(self) -> Id:
        """An id that no request of this client has had."""
        return next(self._ids)

    async def request(self, method: RequestMethod[P, R], params: P) -> R:
        """The result of one request, as `ask` gives it."""
        return await self.ask(method, params, self.fresh())

    async def ask(
        self,
        method: RequestMethod[P, R],
        params: P,
        identity: Id,
        hearing: Hearing = NOBODY,
        *,
        version: str = REVISION,
        parameters: Parameters | None = None,
    ) -> R:
        """The result of one request; raises the McpError of the server, or Disconnected when it is gone.

        One that takes too long raises TimeoutError; like one that is cancelled, it ends at the server too. A
        subscription may take as long as it likes.
        """
        if self._lost is not None:
            raise Disconnected(str(self._lost))
        sent = cast(WireModel | None, params)
        message = write_request(identity, method.name, sent)
        waiter: asyncio.Future[Params] = asyncio.get_running_loop().create_future()
        self._under_way[identity] = _Call(waiter, hearing)
        try:
            async with asyncio.timeout(None if hearing.changes else self._timeout):
                outgoing = Outgoing(identity, method.name, version, sent, message, parameters or {})
                await self._transport.carry(outgoing)
                return read_result(method, await waiter)
        except (asyncio.CancelledError, TimeoutError):
            if not self._transport.streams:
                # Beside the caller, who shall not wait for a server that does not even read.
                self._begin(self._cancel(identity))
            raise
        finally:
            del self._under_way[identity]
            if waiter.done() and not waiter.cancelled():
                waiter.exception()  # It is known, or no matter after a failure to send.

    async def notify(self, method: NotificationMethod[N], params: N) -> None:
        """Send one notification."""
        message = write_notification(method.name, cast(WireModel | None, params))
        await self._transport.notify(method.name, message)

    def begin(self) -> None:
        """Allow calls: there is a server now."""
        self._lost = None

    def receive(self, data: bytes, stream: Id | None) -> bool:
        """Take one message of the server, and say whether it was the answer to the request that has the stream.

        One that cannot be read is logged and skipped.
        """
        try:
            message = read_reply(data)
        except McpError as error:
            log.warning("skipped what is no message: %.200r (%s)", data[:200], error.message)
            return False
        if isinstance(message, Success | Failure):
            return self._answered(message, stream)
        if isinstance(message, Notification):
            self._notified(message, stream)
        else:
            log.warning("dropped a request of the server: %.200r", message.method)
        return False

    def lose(self, reason: Exception) -> None:
        """End all calls: no answer can come any more."""
        self._lost = reason
        for call in self._under_way.values():
            if not call.waiter.done():
                call.waiter.set_exception(Disconnected(str(reason)))

    async def end(self) -> None:
        """End all calls, and what was begun beside them."""
        self.lose(Disconnected("the client is closed"))
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _answered(self, message: Success | Failure, stream: Id | None) -> bool:
        call = self._concerned(message, stream)
        if call is None or call.waiter.done():
            log.debug("dropped an answer: %.200r", message)
            return False
        if isinstance(message, Success):
            call.waiter.set_result(message.result)
        else:
            call.waiter.set_exception(message.error)
        return True

    def _concerned(self, message: Success | Failure, stream: Id | None) -> _Call | None:
        """The call that an answer is for; an error without an id is about one that could not be read."""
        identity = message.id
        if stream is not None:
            return self._under_way.get(stream) if identity is None or _same(identity, stream) else None
        if identity is not None:
            return self._under_way.get(identity)
        log.warning("the server could not read a message")
        return next(iter(self._under_way.values())) if len(self._under_way) == 1 else None

    def _notified(self, message: Notification, stream: Id | None) -> None:
        try:
            if message.method == methods.PROGRESS_NOTIFICATION.name:
                self._progressed(read_params(types.ProgressNotificationParams, message.params))
            elif message.method == methods.LOGGING_MESSAGE_NOTIFICATION.name:
                self._said(read_params(types.LoggingMessageNotificationParams, message.params), stream)
            else:
                self._changed(message)
        except McpError as error:
            log.debug("dropped a notification: %s", error.message)

    def _progressed(self, params: types.ProgressNotificationParams) -> None:
        call = self._under_way.get(params.progress_token)
        if call is not None and call.hearing.progress is not None:
            self._tell(call.hearing.progress, params)

    def _said(self, params: types.LoggingMessageNotificationParams, stream: Id | None) -> None:
        """Tell a log message: on a pipe nothing says whose it is, so that only a call that is alone hears it."""
        hearing = [call.hearing for call in self._under_way.values() if call.hearing.messages is not None]
        if stream is not None:
            call = self._under_way.get(stream)
            hearing = [call.hearing] if call is not None else []
        if len(hearing) == 1 and hearing[0].messages is not None:
            self._tell(hearing[0].messages, params)
        else:
            log.debug("dropped a log message: %.200r", params)

    def _changed(self, message: Notification) -> None:
        meta = (message.params or {}).get("_meta")
        subscription: Any = cast(Params, meta).get(SUBSCRIPTION) if isinstance(meta, dict) else None
        call = self._under_way.get(subscription) if isinstance(subscription, int | str) else None
        if call is not None and call.hearing.changes is not None:
            call.hearing.changes(message)
        else:
            log.debug("dropped a notification: %.200r", message.method)

    def _tell(self, told: Callable[[M], Awaitable[None] | None], params: M) -> None:
        """Tell a listener; one that fails is no fault of the call."""
        try:
            outcome = told(params)
        except Exception:
            log.exception("a callback failed")
            return
        if inspect.isawaitable(outcome):
            self._begin(_logged(outcome))

    def _begin(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _cancel(self, identity: Id) -> None:
        params = types.CancelledNotificationParams(request_id=identity)
        with contextlib.suppress(ConnectionError):
            await stubs.ClientCalls(self).notify_cancelled(params)


M = TypeVar("M")


async def _logged(outcome: Awaitable[None]) -> None:
    try:
        await outcome
    except Exception:
        log.exception("a callback failed")


def _same(one: Id, other: Id) -> bool:
    """Whether two ids are one: 1 and "1" are two, and so are 1 and true."""
    return type(one) is type(other) and one == other
