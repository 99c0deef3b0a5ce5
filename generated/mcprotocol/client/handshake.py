"""Handshake: calls of this revision as a server of the handshake era takes them, and what it says as they expect it.

Client and server introduce themselves once (2025-11-25, basic/lifecycle). After that the server may ask by requests
of its own, which the handlers answer that answer input-required results, and tells changes and log messages
unasked. No I/O.
"""

# What is deprecated is still part of the revision:
# pyright: reportDeprecated=false

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Coroutine
from typing import Any, Final

from pydantic_core import from_json, to_json

from ..errors import McpError, MethodNotFound
from ..jsonrpc import (
    Failure,
    Id,
    Notification,
    Params,
    Request,
    RequestMethod,
    Success,
)
from ..latest import methods, types
from .answers import Answers
from .calls import Calls
from .conversions import (
    HANDSHAKES,
    LEVEL,
    LOST_NOTIFICATIONS,
    URIS,
    best,
    concerns,
    discovered,
    failure,
    granted,
    is_change,
    request_params,
    success,
    supported,
    tagged,
    version_of,
)
from .errands import Errands
from .hearing import LEVELS
from .questions import Questions
from .transport import Disconnected, Forgotten, Handshakes, Outgoing, Transport

log = logging.getLogger(__name__)

INITIALIZED: Final = "notifications/initialized"

LATE_SECONDS: Final = 0.1
"""How long a call that hears log messages waits for those before its answer that come on the stream of the session."""


class Handshake:
    """What a client has with one server of the handshake era."""

    def __init__(
        self,
        transport: Transport,
        errands: Errands,
        calls: Calls,
        answers: Answers,
        info: types.Implementation,
    ) -> None:
        """Nothing has been said yet; `errands` and `calls` go by `transport`."""
        self._transport = transport
        self._errands = errands
        self._calls = calls
        self._answers = answers
        self._questions = Questions(answers, calls, transport)
        self._info = info
        self._server: Params = {}
        self._level: str | None = None
        self._sent: dict[Id, RequestMethod[Any, Any]] = {}
        self._subscriptions: dict[Id, tuple[Params, asyncio.Future[None]]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self.version: str | None = None
        self.sessions = 0

    async def shake(self) -> None:
        """Introduce this client to the server, as often as that has forgotten it; raises what the server says."""
        self.lose(Disconnected("the server has forgotten what was subscribed to"))
        session = self._transport if isinstance(self._transport, Handshakes) else None
        if session is not None:
            await session.begin(self._missed)
        try:
            self._server = await self._introduced(HANDSHAKES[0])
            version = version_of(self._server)
            if session is not None:
                session.agreed(version)
            message = to_json({"jsonrpc": "2.0", "method": INITIALIZED})
            await self._transport.notify(INITIALIZED, message)
            if session is not None:
                await session.hear()
        except BaseException:
            if session is not None:
                session.abandon()
            raise
        self.version = version
        self.sessions += 1

    async def _introduced(self, version: str) -> Params:
        params: Params = {
            "protocolVersion": version,
            "capabilities": from_json(self._answers.capabilities().wire_bytes()),
            "clientInfo": from_json(self._info.wire_bytes()),
        }
        try:
            return await self._errands.ask("initialize", params, version)
        except McpError as error:
            # Some refuse a version where they should have named another.
            other = best(supported(error))
            if other is None or other == version:
                raise
        return await self._errands.ask("initialize", {**params, "protocolVersion": other}, other)

    async def carry(self, request: Outgoing) -> None:
        """Take one request to the server, or answer it here where the server has no such method."""
        stream = request.identity if self._transport.streams else None
        if request.method == methods.DISCOVER.name:
            self._calls.take(Success(request.identity, discovered(self._server)), stream)
            return
        params: Params = from_json(request.message).get("params", {})
        if request.method == methods.SUBSCRIPTIONS_LISTEN.name:
            await self._listen(request.identity, params.get("notifications", {}), stream)
            return
        talks = await self._talk(params.get("_meta", {}).get(LEVEL))
        try:
            await self._transport.carry(self._rewritten(request, params))
        except asyncio.CancelledError:
            if self._transport.streams:
                # A stream that is closed is no cancellation there (2025-11-25, basic/transports).
                self._begin(self._cancel(request.identity))
            raise
        if talks and stream is not None and self._hears:
            await asyncio.sleep(LATE_SECONDS)

    async def notify(self, method: str, message: bytes) -> None:
        """Take one notification to the server; the end of a subscription is not one there."""
        if method == methods.CANCELLED_NOTIFICATION.name:
            identity: Id = from_json(message)["params"]["requestId"]
            self._sent.pop(identity, None)
            if identity in self._subscriptions:
                self._unlisten(identity)
                return
        await self._transport.notify(method, message)

    def take(self, message: Success | Failure | Notification | Request, stream: Id | None) -> bool:
        """Take one message of the server; says whether it was the answer to the request that has the stream."""
        if isinstance(message, Success):
            return self._calls.take(success(message, self._sent.pop(message.id, None)), stream)
        if isinstance(message, Failure):
            identity = stream if message.id is None else message.id
            method = None if identity is None else self._sent.pop(identity, None)
            return self._calls.take(failure(message, method), stream)
        if isinstance(message, Request):
            self._questions.take(message, stream)
        else:
            self._heard(message, stream)
        return False

    def lose(self, reason: Disconnected) -> None:
        """Know that the server has forgotten this client: it must be introduced again before it is asked anything."""
        self.version = None
        self._level = None
        self._sent.clear()
        self._unheard(reason)
        self._questions.drop()

    async def end(self) -> None:
        """End what was begun beside the calls."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, self._questions.end(), return_exceptions=True)

    @property
    def _hears(self) -> bool:
        """Whether the server can tell something that belongs to no request."""
        return not isinstance(self._transport, Handshakes) or self._transport.hears

    def _rewritten(self, request: Outgoing, params: Params) -> Outgoing:
        kept = request_params(params)
        message: Params = {"jsonrpc": "2.0", "id": request.identity, "method": request.method}
        if kept is not None:
            message["params"] = kept
        self._sent[request.identity] = methods.REQUESTS[request.method]
        return request._replace(version=self.version or "", message=to_json(message))

    async def _cancel(self, identity: Id) -> None:
        method = methods.CANCELLED_NOTIFICATION.name
        message = to_json({"jsonrpc": "2.0", "method": method, "params": {"requestId": identity}})
        with contextlib.suppress(ConnectionError):
            await self._transport.notify(method, message)

    async def _talk(self, level: str | None) -> bool:
        """Whether the server says log messages; it is told to say those as grave as `level`, if it does not already."""
        if level not in LEVELS or "logging" not in self._server.get("capabilities", {}):
            return False
        if self._level is None or LEVELS.index(level) < LEVELS.index(self._level):
            self._level = level
            await self._errand("logging/setLevel", level=level)
        return True

    async def _errand(self, method: str, **params: Any) -> None:
        """Ask something that nobody waits for: a server that refuses it goes without."""
        try:
            await self._errands.ask(method, params, self.version or "")
        except McpError as error:
            log.warning("the server refused %s: %s", method, error)

    # What the server tells.

    def _heard(self, message: Notification, stream: Id | None) -> None:
        if message.method == methods.CANCELLED_NOTIFICATION.name:
            self._questions.withdraw(message.params)
        elif is_change(message):
            self._changed(message)
        elif message.method not in LOST_NOTIFICATIONS:
            self._calls.take(message, stream)

    def _changed(self, message: Notification) -> None:
        told = [one for one, (wanted, _) in self._subscriptions.items() if concerns(message, wanted)]
        for identity in told:
            self._calls.take(tagged(message, identity), None)
        if not told:
            self._calls.take(message, None)

    # Subscriptions.

    async def _listen(self, identity: Id, asked: Params, stream: Id | None) -> None:
        """Subscribe to what is asked for, as far as the server can tell of it, and acknowledge it here."""
        grant = granted(asked, self._server.get("capabilities", {}), self._hears)
        ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._subscriptions[identity] = {**asked, URIS: grant.get(URIS, [])}, ended
        try:
            for uri in grant.get(URIS, ()):
                await self._errands.ask("resources/subscribe", {"uri": uri}, self.version or "")
        except MethodNotFound:
            self._subscriptions[identity][0][URIS] = []
            del grant[URIS]
        except McpError as error:
            self._unlisten(identity)
            self._calls.take(Failure(identity, error), stream)
            return
        except BaseException:
            self._unlisten(identity)
            raise
        method = methods.SUBSCRIPTIONS_ACKNOWLEDGED_NOTIFICATION.name
        self._calls.take(tagged(Notification(method, {"notifications": grant}), identity), stream)
        if stream is not None:
            try:
                await ended
            finally:
                self._unlisten(identity)

    def _unlisten(self, identity: Id) -> None:
        if identity not in self._subscriptions:
            return
        wanted, ended = self._subscriptions.pop(identity)
        ended.cancel()
        others = {uri for other, _ in self._subscriptions.values() for uri in other[URIS]}
        for uri in wanted[URIS]:
            if uri not in others and self.version is not None:
                self._begin(self._unsubscribe(uri))

    async def _unsubscribe(self, uri: str) -> None:
        with contextlib.suppress(ConnectionError):
            await self._errand("resources/unsubscribe", uri=uri)

    def _missed(self, reason: Disconnected) -> None:
        """Know what was not heard; where that may be so for good, this client is introduced again before the next call."""
        if isinstance(reason, Forgotten):
            self.version, self._level = None, None
        self._unheard(reason)

    def _unheard(self, reason: Disconnected) -> None:
        """End all subscriptions: their listeners open them again, and know that they may have missed something."""
        subscriptions, self._subscriptions = self._subscriptions, {}
        for identity, (_, ended) in subscriptions.items():
            if self._transport.streams and not ended.done():
                ended.set_exception(Disconnected(str(reason), final=reason.final))
            else:
                self._calls.drop(identity, reason)

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
