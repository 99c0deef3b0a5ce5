"""Calls: requests out, results back, matched by id; what comes unasked is told apart and never breaks a call.

No I/O: bytes go to a transport and come from it. A call that its caller gives up is cancelled at the server,
and an answer that still arrives is dropped (basic/patterns/cancellation).
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import itertools
import logging
from collections.abc import Awaitable, Callable, Coroutine, Generator
from typing import Any, Protocol, TypeAlias, TypeVar, cast

from ..errors import McpError
from ..jsonrpc import (
    Failure,
    Id,
    Notification,
    NotificationMethod,
    P,
    R,
    RequestMethod,
    Success,
    read_params,
    read_reply,
    write_notification,
    write_request,
)
from ..latest import client as stubs
from ..latest import methods, types
from ..outcomes import read_result
from ..wire import WireModel

log = logging.getLogger(__name__)

N = TypeVar("N", contravariant=True)

Progress: TypeAlias = Callable[[types.ProgressNotificationParams], Awaitable[None] | None]
"""What is told of the progress of a call: a plain or an async function."""


class Transport(Protocol):
    """Carries messages to a server and back."""

    async def open(self, receive: Callable[[bytes], None], lost: Callable[[Exception], None]) -> None:
        """Begin: `receive` gets each message from the server, `lost` is told when no more can come."""
        ...

    async def send(self, message: bytes) -> None:
        """Take one message; raises ConnectionError when the server cannot get it."""
        ...

    async def close(self) -> None:
        """End, and free what the transport holds."""
        ...


class Calls:
    """The calls of one client that are under way: the channel for the generated stubs."""

    def __init__(self, send: Callable[[bytes], Awaitable[None]], timeout: float | None) -> None:
        """Send messages by `send`; `receive` takes what comes back. A call may take `timeout` seconds."""
        self._send = send
        self._timeout = timeout
        self._ids = itertools.count(1)
        self._waiting: dict[Id, asyncio.Future[dict[str, Any]]] = {}
        self._progress: dict[Id, Progress] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._lost: Exception | None = ConnectionError("the client is not connected: use it as `async with`")

    async def request(self, method: RequestMethod[P, R], params: P) -> R:
        """The result of one request; raises the McpError of the server, or ConnectionError when it is gone.

        One that takes too long raises TimeoutError; like one that is cancelled, it ends at the server too.
        """
        if self._lost is not None:
            raise ConnectionError(str(self._lost))
        identity = next(self._ids)
        waiter = self._waiting[identity] = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(self._timeout):
                await self._send(write_request(identity, method.name, cast(WireModel | None, params)))
                return read_result(method, await waiter)
        except (asyncio.CancelledError, TimeoutError):
            # Beside the caller, who shall not wait for a server that does not even read.
            self._begin(self._cancel(identity))
            raise
        finally:
            del self._waiting[identity]
            if waiter.done() and not waiter.cancelled():
                waiter.exception()  # It is known, or no matter after a failure to send.

    async def notify(self, method: NotificationMethod[N], params: N) -> None:
        """Send one notification."""
        await self._send(write_notification(method.name, cast(WireModel | None, params)))

    @contextlib.contextmanager
    def progress(self, told: Progress | None) -> Generator[Id | None, None, None]:
        """The token under which `told` hears of a call made inside the block; None without a `told`."""
        if told is None:
            yield None
            return
        token = next(self._ids)
        self._progress[token] = told
        try:
            yield token
        finally:
            del self._progress[token]

    def begin(self) -> None:
        """Allow calls: there is a server now."""
        self._lost = None

    def receive(self, data: bytes) -> None:
        """Take one message of the server; one that cannot be read is logged and skipped."""
        try:
            message = read_reply(data)
        except McpError as error:
            log.warning("skipped what is no message: %.200r (%s)", data[:200], error.message)
            return
        if isinstance(message, Success | Failure):
            self._answered(message)
        elif isinstance(message, Notification):
            self._notified(message)
        else:
            log.debug("dropped a request of the server: %.200r", message.method)

    def lose(self, reason: Exception) -> None:
        """End all calls: no answer can come any more."""
        self._lost = reason
        for waiter in self._waiting.values():
            if not waiter.done():
                waiter.set_exception(ConnectionError(str(reason)))

    def _answered(self, message: Success | Failure) -> None:
        waiter = self._concerned(message.id)
        if waiter is None or waiter.done():
            log.debug("dropped an answer: %.200r", message)
            return
        if isinstance(message, Success):
            waiter.set_result(message.result)
        else:
            waiter.set_exception(message.error)

    def _concerned(self, identity: Id | None) -> asyncio.Future[dict[str, Any]] | None:
        """The call that an answer is for; an error without an id is about one that could not be read."""
        if identity is not None:
            return self._waiting.get(identity)
        log.warning("the server could not read a message")
        return next(iter(self._waiting.values())) if len(self._waiting) == 1 else None

    def _notified(self, message: Notification) -> None:
        if message.method != methods.PROGRESS_NOTIFICATION.name:
            log.debug("dropped a notification: %.200r", message.method)
            return
        try:
            params = read_params(types.ProgressNotificationParams, message.params)
        except McpError as error:
            log.debug("dropped a notification: %s", error.message)
            return
        told = self._progress.get(params.progress_token)
        if told is not None:
            self._tell(told, params)

    def _tell(self, told: Progress, params: types.ProgressNotificationParams) -> None:
        """Tell of progress; a listener that fails is no fault of the call."""
        try:
            outcome = told(params)
        except Exception:
            log.exception("a progress callback failed")
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


async def _logged(outcome: Awaitable[None]) -> None:
    try:
        await outcome
    except Exception:
        log.exception("a progress callback failed")
