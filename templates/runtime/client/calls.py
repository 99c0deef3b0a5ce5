"""Calls: requests out, results back, matched by id; what comes unasked is told apart and never breaks a call.

No I/O: messages go to a transport and come from it. A call that its caller gives up is cancelled at the server,
and an answer that still arrives is dropped (basic/patterns/cancellation).
"""

# What is deprecated is still part of the revision:
# pyright: reportDeprecated=false

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
from collections.abc import Callable, Coroutine
from contextvars import Context
from typing import Any, Final, TypeVar, cast

from ..errors import InvalidRequest, McpError
from ..headers import NONE, Parameters
from ..jsonrpc import (
    Failure,
    Id,
    Notification,
    NotificationMethod,
    P,
    Params,
    R,
    Request,
    RequestMethod,
    Success,
    meant_for,
    read_params,
    read_reply,
    write_notification,
    write_request,
)
from ..latest import REVISION, methods, types
from ..latest import client as stubs
from ..outcomes import read_result
from ..wire import WireModel
from .hearing import NOBODY, Call, Hearing
from .transport import Disconnected, Outgoing, Transport

log = logging.getLogger(__name__)

N = TypeVar("N", contravariant=True)

SUBSCRIPTION: Final = "io.modelcontextprotocol/subscriptionId"
"""The key in the metadata of a notification that names the request that asked for it."""

LASTING: Final = (methods.SUBSCRIPTIONS_LISTEN.name,)
"""The requests that are answered only when they are to end."""


class Calls:
    """The calls of one client that are under way: the channel for the generated stubs."""

    def __init__(
        self,
        transport: Transport,
        timeout: float | None,
        heard: Callable[[Notification], None] = lambda notification: None,
    ) -> None:
        """Carry messages by `transport`. A call may take `timeout` seconds; `heard` is told of each change."""
        self._transport = transport
        self._timeout = timeout
        self._heard = heard
        self.fresh: Callable[[], Id] = itertools.count(1).__next__
        """Gives an id that no request of this client has had."""
        self._under_way: dict[Id, Call] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._lost: Disconnected | None = Disconnected(
            "the client is not connected: use it as `async with`", final=True
        )

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
        parameters: Parameters = NONE,
        meta: bytes | None = None,
    ) -> R:
        """The result of one request; raises the McpError of the server, or Disconnected when it is gone.

        One that takes too long raises TimeoutError; like one that is cancelled, it ends at the server too. A
        subscription may take as long as it likes, and progress is a sign of life. `meta`: as in `write_request`.
        """
        if self._lost is not None:
            raise Disconnected(str(self._lost), final=True)
        sent: Any = params
        message = write_request(identity, method.name, sent, meta)
        streams = self._transport.streams
        call = self._under_way[identity] = Call(hearing, method.name in LASTING, self._timeout, streams)
        try:
            outgoing = Outgoing(identity, method.name, version, sent, message, parameters)
            if call.limit is None:
                return read_result(method, await self._answer(call, outgoing))
            async with call.limit:
                return read_result(method, await self._answer(call, outgoing))
        except (asyncio.CancelledError, TimeoutError) as error:
            if call.has_outcome(error):
                return read_result(method, call.waiter.result())
            if not streams:
                # Beside the caller, who shall not wait for a server that does not even read.
                self._begin(self._cancel(identity))
            if call.is_late:
                raise TimeoutError(f"no answer to {method.name} in {call.seconds} seconds") from None
            raise
        finally:
            del self._under_way[identity]

    async def _answer(self, call: Call, outgoing: Outgoing) -> Params:
        await self._transport.carry(outgoing)
        call.carried = True
        try:
            result = await call.waiter
        except McpError:
            await call.heard()
            raise
        if call.progress is not None or call.messages is not None:
            await call.heard()
        return _alive(result) if "ttlMs" in result else result

    async def notify(self, method: NotificationMethod[N], params: N) -> None:
        """Send one notification."""
        message = write_notification(method.name, cast(WireModel | None, params))
        await self._transport.notify(method.name, message)

    def begin(self) -> None:
        """Allow calls: there is a server now."""
        self._lost = None

    def receive(self, data: bytes, stream: Id | None) -> bool:
        """Take one message of the server, and say whether the request that has the stream is answered by it.

        One that cannot be read is logged and skipped, after it has failed the calls that it was meant to answer.
        """
        try:
            message = read_reply(data)
        except McpError as error:
            return any([self._answered(failure, stream) for failure in unreadable(data, error)])
        return self.take(message, stream)

    def take(self, message: Success | Failure | Notification | Request, stream: Id | None) -> bool:
        """Take one message of the server that was read, as `receive` does."""
        if isinstance(message, (Success, Failure)):
            return self._answered(message, stream)
        if isinstance(message, Notification):
            self._notified(message, stream)
            return stream is not None and self._settled(stream)
        log.warning("dropped a request of the server: %.200r", message.method)
        return False

    def lose(self, reason: Disconnected) -> None:
        """End the calls whose answers cannot come any more; after a final loss there are no others.

        A call that is still on its way out hears of it from the transport, which may yet find another way.
        """
        if reason.final:
            self._lost = reason
        for call in self._under_way.values():
            if call.carried or reason.final:
                call.lose(reason)

    def drop(self, identity: Id, reason: Disconnected) -> None:
        """End one call, whose answer cannot come any more."""
        call = self._under_way.get(identity)
        if call is not None:
            call.lose(reason)

    def context(self, stream: Id | None) -> Context | None:
        """The context of the call that has a stream, or of the newest one; None where none is waited for."""
        waiting = {identity: call for identity, call in self._under_way.items() if not call.hearing.changes}
        if stream in waiting:
            return waiting[stream].context
        return waiting[next(reversed(waiting))].context if waiting else None

    async def end(self) -> None:
        """End all calls, and what was begun beside them."""
        self.lose(Disconnected("the client is closed", final=True))
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _answered(self, message: Success | Failure, stream: Id | None) -> bool:
        identity = message.id
        if identity is None:
            call = self._blamed(stream)
        else:
            own = stream is None or _same(identity, stream)
            call = self._under_way.get(identity) if own else None
        if call is None or call.waiter.done():
            log.debug("dropped an answer: %.200r", message)
            return False
        if isinstance(message, Success):
            call.waiter.set_result(message.result)
        else:
            call.fail(message.error)
        return True

    def _blamed(self, stream: Id | None) -> Call | None:
        """The call that an error without an id is for: it is about one that could not be read."""
        if stream is not None:
            return self._under_way.get(stream)
        log.warning("the server could not read a message")
        return next(iter(self._under_way.values())) if len(self._under_way) == 1 else None

    def _notified(self, message: Notification, stream: Id | None) -> None:
        try:
            if message.method == methods.PROGRESS_NOTIFICATION.name:
                self._progressed(read_params(types.ProgressNotificationParams, message.params))
            elif message.method == methods.LOGGING_MESSAGE_NOTIFICATION.name:
                self._said(read_params(types.LoggingMessageNotificationParams, message.params), stream)
            elif message.method == methods.CANCELLED_NOTIFICATION.name:
                self._withdrawn(read_params(types.CancelledNotificationParams, message.params), stream)
            else:
                self._changed(message)
        except McpError as error:
            log.debug("dropped a notification: %s", error.message)

    def _settled(self, identity: Id) -> bool:
        """Whether a call has its answer, which may be that the server has withdrawn it."""
        call = self._under_way.get(identity)
        return call is None or call.waiter.done()

    def _progressed(self, params: types.ProgressNotificationParams) -> None:
        call = self._under_way.get(params.progress_token)
        if call is not None and call.progress is not None:
            call.goes_on()
            call.progress.tell(params, self._begin)

    def _said(self, params: types.LoggingMessageNotificationParams, stream: Id | None) -> None:
        """Tell a log message: on a pipe nothing says whose it is, so that only a call that is alone hears it."""
        calls = [call for call in self._under_way.values() if call.messages is not None and not call.over]
        if stream is not None:
            own = self._under_way.get(stream)
            calls = [own] if own is not None else []
        if len(calls) == 1 and calls[0].messages is not None and calls[0].hearing.wants(params.level):
            calls[0].messages.tell(params, self._begin)
        else:
            log.debug("dropped a log message: %.200r", params)

    def _withdrawn(self, params: types.CancelledNotificationParams, stream: Id | None) -> None:
        """End a subscription in good order: a server may say so, of nothing else, by a cancellation."""
        own = stream is None or _same(params.request_id, stream)
        call = self._under_way.get(params.request_id) if own else None
        if call is not None and call.lasting and not call.waiter.done():
            tag: Params = {SUBSCRIPTION: params.request_id}
            call.waiter.set_result({"resultType": "complete", "_meta": tag})

    def _changed(self, message: Notification) -> None:
        self._heard(message)
        meta = (message.params or {}).get("_meta")
        subscription: Any = cast(Params, meta).get(SUBSCRIPTION) if isinstance(meta, dict) else None
        named = isinstance(subscription, int | str) and not isinstance(subscription, bool)
        call = self._under_way.get(subscription) if named else None
        if call is not None and call.hearing.changes is not None:
            call.hearing.changes(message)
        else:
            log.debug("dropped a notification: %.200r", message.method)

    def _begin(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _cancel(self, identity: Id) -> None:
        params = types.CancelledNotificationParams(request_id=identity)
        with contextlib.suppress(ConnectionError):
            await stubs.ClientCalls(self).notify_cancelled(params)


def _alive(result: Params) -> Params:
    """A result without a negative time to live, which is to be read as none (server/utilities/caching)."""
    ttl = result["ttlMs"]
    return {**result, "ttlMs": 0} if isinstance(ttl, int) and ttl < 0 else result


def unreadable(data: bytes, error: McpError) -> list[Failure]:
    """The ends of the calls whose answer this is, which cannot be read: no other will come. It is logged."""
    log.warning("skipped what is no message: %.200r (%s)", data[:200], error.message)
    refusal = InvalidRequest(f"The peer sent an unreadable answer: {error.message}")
    return [Failure(identity, refusal) for identity in meant_for(data)]


def _same(one: Id, other: Id) -> bool:
    """Whether two ids are one: 1 and "1" are two, and so are 1 and true."""
    return type(one) is type(other) and one == other
