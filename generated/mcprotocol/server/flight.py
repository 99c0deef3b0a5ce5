"""Requests in flight: each is known by its id until it is answered, and may be cancelled until then. No I/O."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Any, TypeVar

from ..errors import InvalidRequest, McpError
from ..jsonrpc import Id, Notification, read_params
from ..latest import methods, types

log = logging.getLogger(__name__)

T = TypeVar("T")


@dataclass(slots=True)
class Call:
    """A request that is being handled."""

    task: asyncio.Task[Any]
    cancelled: bool = False


class Flight:
    """The requests of one client that are being handled."""

    def __init__(self) -> None:
        self._calls: dict[Id, Call] = {}

    def check(self, identity: Id) -> None:
        """Raise InvalidRequest for an id that is in flight already."""
        if identity in self._calls:
            raise InvalidRequest("A request with this id is in flight")

    async def run(self, identity: Id, work: Awaitable[T]) -> T | None:
        """What the work under this id comes to, None when it was cancelled meanwhile, whatever it then does."""
        task = asyncio.current_task()
        assert task is not None, "a message is handled in a task"
        call = self._calls[identity] = Call(task)
        try:
            outcome = await work
        except asyncio.CancelledError:
            if not call.cancelled or task.cancelling() > 1:
                raise  # Not only the client has had enough: the transport ends as well.
            outcome = None
        finally:
            if self._calls.get(identity) is call:
                del self._calls[identity]
        if call.cancelled:
            task.uncancel()
            return None
        return outcome

    def notice(self, notification: Notification) -> None:
        """Take a notification: it cancels a request in flight, or it is dropped; nobody answers it."""
        if notification.method != methods.CANCELLED_NOTIFICATION.name:
            log.debug("dropped a notification: %.200r", notification.method)
            return
        try:
            params = read_params(types.CancelledNotificationParams, notification.params)
        except McpError as error:
            log.debug("dropped a notification: %.200r", error.message)
            return
        call = self._calls.pop(params.request_id, None)
        if call is not None:
            log.debug("request %.200r is cancelled: %.200r", params.request_id, params.reason)
            call.cancelled = True
            call.task.cancel()
