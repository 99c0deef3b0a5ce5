"""Errands: the requests that a client makes for itself, to learn what its server is and to set it up.

Their answers are matched by id, before those of the calls, which never see them. No I/O.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from pydantic_core import to_json

from ..jsonrpc import Failure, Id, Params, Success
from .transport import Disconnected, Outgoing, Transport


class Errands:
    """The errands of one client that are under way."""

    def __init__(self, transport: Transport, fresh: Callable[[], Id]) -> None:
        """Carry them by `transport`, each under a `fresh` id."""
        self._transport = transport
        self._fresh = fresh
        self._under_way: dict[Id, asyncio.Future[Params]] = {}

    async def ask(self, method: str, params: Params, version: str) -> Params:
        """The result of one request; raises the McpError of the server, or Disconnected when there is no answer."""
        identity = self._fresh()
        message = to_json({"jsonrpc": "2.0", "id": identity, "method": method, "params": params})
        waiter: asyncio.Future[Params] = asyncio.get_running_loop().create_future()
        self._under_way[identity] = waiter
        try:
            await self._transport.carry(Outgoing(identity, method, version, None, message, {}))
            return await waiter
        finally:
            del self._under_way[identity]
            if waiter.done() and not waiter.cancelled():
                waiter.exception()  # It is known, or no matter after a failure to send.

    def take(self, message: Success | Failure, stream: Id | None) -> bool:
        """Take an answer, if it is to one of these, and say whether it was."""
        waiter = self._concerned(message.id, stream)
        if waiter is None or waiter.done():
            return False
        if isinstance(message, Success):
            waiter.set_result(message.result)
        else:
            waiter.set_exception(message.error)
        return True

    def lose(self, reason: Disconnected) -> None:
        """End those under way, whose answers cannot come any more."""
        for waiter in self._under_way.values():
            if not waiter.done():
                waiter.set_exception(Disconnected(str(reason), final=reason.final))

    def _concerned(self, identity: Id | None, stream: Id | None) -> asyncio.Future[Params] | None:
        """The one that an answer is for; an error without an id is about one that could not be read."""
        if identity is None and stream is None and len(self._under_way) == 1:
            return next(iter(self._under_way.values()))
        known = stream if identity is None else identity
        if known is None or isinstance(known, bool) or stream is not None and stream != known:
            return None
        return self._under_way.get(known)
