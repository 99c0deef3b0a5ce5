"""A session of the handshake era: what its client said at the beginning counts for every request after it. No I/O.

Handlers see none of it: each request is handed on as one of 2026-07-28, with the facts of the handshake as its
metadata. What it asks of the user goes to the client as requests of the server, and the request is then made again
with the answers, as a client of 2026-07-28 would.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias, cast

from pydantic_core import from_json, to_json

from ...errors import InternalError, InvalidParams, InvalidRequest, McpError, MethodNotFound
from ...jsonrpc import (
    Failure,
    Id,
    Notification,
    Params,
    Request,
    Success,
    read_params,
    write_error,
    write_success,
)
from ...latest import REVISION, methods, types
from ...v2025_11_25 import methods as legacy
from ...v2025_11_25 import types as spoken
from ..credentials import ANYBODY, Credentials
from ..dispatch import CAPABILITIES_KEY, LEVEL_KEY, LEVELS, VERSION_KEY, Dispatcher, HangUp, Outlet, Send
from ..flight import Flight
from ..rounds import MOST_ROUNDS
from . import conversions
from .asking import Questions, Rounds
from .news import News, Push
from .relay import Relay

INFO_KEY: Final = types.RequestMetaObject.model_fields["client_info"].alias or ""

Own: TypeAlias = Callable[[Request], Awaitable[Params]]
"""Answers a request that only this era has."""


class Way(NamedTuple):
    """How a request came, and where what goes before its answer is sent."""

    send: Send
    credentials: Credentials
    hang_up: HangUp | None


class Session:
    """One client of the handshake era."""

    def __init__(
        self, dispatcher: Dispatcher, info: types.Implementation, relay: Relay, push: Push | None
    ) -> None:
        """Answer by the handlers of `dispatcher`; what changes is told by `relay`, and sent by `push`, on the event loop.

        Without `push` the session lasts for one message: what needs a longer memory is not announced.
        """
        self._dispatcher = dispatcher
        self._info = info
        self._flight = Flight()
        self._questions = Questions()
        self._news = None if push is None else News(relay, push)
        self._level: str | None = None if push is None else "info"
        self._announced: Mapping[str, Any] = {}
        self._meta: Params = {}
        self.version = ""
        """The revision that was agreed on; empty before the handshake."""
        self._own: Mapping[str, Own] = {
            legacy.INITIALIZE.name: self._initialize,
            legacy.PING.name: self._ping,
            legacy.SET_LEVEL.name: self._set_level,
            legacy.SUBSCRIBE.name: self._subscribe,
            legacy.UNSUBSCRIBE.name: self._unsubscribe,
        }

    def close(self) -> None:
        """End: nothing is told any more, and no answer is waited for."""
        if self._news is not None:
            self._news.close()
        self._questions.close()

    def assume(self, version: str) -> None:
        """Be past the handshake, of which nothing is known but this."""
        self._meta = {VERSION_KEY: REVISION, CAPABILITIES_KEY: {}}
        self.version = version

    async def take(
        self,
        message: Request | Notification | Success | Failure,
        send: Send,
        credentials: Credentials = ANYBODY,
        hang_up: HangUp | None = None,
    ) -> bytes | None:
        """Take one message and return its answer, or None when it gets none.

        Run in a task of its own. `send` takes what goes before the answer: notifications, and questions. `hang_up`
        has the client come back for the rest.
        """
        if isinstance(message, Success | Failure):
            self._questions.answered(message)
            return None
        if isinstance(message, Notification):
            self._flight.notice(message)
            return None
        try:
            self._flight.check(message.id)
        except McpError as error:
            return write_error(message.id, error)
        way = Way(send, credentials, hang_up)
        if message.method in (legacy.INITIALIZE.name, legacy.PING.name):
            return await self._answer(message, way)  # Neither can be cancelled.
        return await self._flight.run(message.id, self._answer(message, way))

    async def _answer(self, request: Request, way: Way) -> bytes:
        own = self._own.get(request.method)
        try:
            if own is not None:
                return write_success(request.id, to_json(await own(request)))
            if request.method not in legacy.CLIENT_REQUESTS:
                raise MethodNotFound(request.method)
            if not self.version:
                raise InvalidRequest("The first request must be initialize")
            return await self._handed_on(request, way)
        except McpError as error:
            return write_error(request.id, error)

    async def _handed_on(self, request: Request, way: Way) -> bytes:
        """The answer of a handler, which runs again for each round of questions."""
        params = self._modern(request.params)
        outlet = Rounds(way.send, way.hang_up)
        asked = 0
        try:
            while True:
                reply = await self._dispatcher.reply(
                    Request(request.id, request.method, params), outlet, way.credentials
                )
                answer: Params = from_json(reply.data)
                if "error" in answer:
                    return to_json({**answer, "error": conversions.error(request.method, answer["error"])})
                result: Params = answer["result"]
                if result.get("resultType") != "input_required":
                    said = conversions.result(request.method, result, self.version)
                    return write_success(request.id, to_json(said))
                if asked == MOST_ROUNDS:
                    raise InternalError(f"The request has asked for input {asked} times and is not complete")
                params = {**params, **await self._questions.ask(result, way.send)}
                asked += 1
        finally:
            outlet.open = False

    def _modern(self, params: Params | None) -> Params:
        """The params of a request with the metadata that 2026-07-28 wants; the caller's own stays in it."""
        given = {} if params is None else params
        own = given.get("_meta", {})
        if not isinstance(own, dict):
            raise InvalidParams("params._meta must be an object")
        level = {} if self._level is None else {LEVEL_KEY: self._level}
        # Tasks are not served: a request for one is answered as any other is.
        kept = {name: value for name, value in given.items() if name != "task"}
        return {**kept, "_meta": {**cast(Params, own), **self._meta, **level}}

    async def _initialize(self, request: Request) -> Params:
        try:
            params = read_params(spoken.InitializeRequestParams, request.params)
        except InvalidParams as error:
            raise InvalidParams(error.message, {"supported": list(conversions.SERVED)}) from None
        if self.version:
            raise InvalidRequest("The session is initialized already")
        given: Params = request.params or {}
        asked = params.protocol_version
        version = asked if asked in conversions.SERVED else conversions.SERVED[0]
        self._meta = {
            VERSION_KEY: REVISION,
            CAPABILITIES_KEY: conversions.capabilities_of_client(given["capabilities"], version),
            INFO_KEY: given["clientInfo"],
        }
        self._announced = await self._discovered(request.id)
        self.version = version
        if self._news is None:
            self._announced = conversions.brief(self._announced)
        else:
            self._news.open(self._announced)
        said: Params = {
            "protocolVersion": self.version,
            "capabilities": conversions.capabilities_of_server(self._announced["capabilities"]),
            "serverInfo": from_json(self._info.wire_bytes()),
        }
        instructions = self._announced.get("instructions")
        return said if instructions is None else {**said, "instructions": instructions}

    async def _discovered(self, identity: Id) -> Params:
        request = Request(identity, methods.DISCOVER.name, {"_meta": self._meta})
        reply = await self._dispatcher.reply(request, Outlet(_nowhere))
        if reply.error is not None:
            raise reply.error
        result: Params = from_json(reply.data)["result"]
        return result

    async def _ping(self, request: Request) -> Params:
        return {}

    async def _set_level(self, request: Request) -> Params:
        self._require("logging", request.method)
        params = read_params(spoken.SetLevelRequestParams, request.params)
        if params.level not in LEVELS:
            raise InvalidParams(f"Unknown log level: {params.level!r}")
        self._level = params.level
        return {}

    async def _subscribe(self, request: Request) -> Params:
        watched = self._watched(request)
        watched.add(read_params(spoken.SubscribeRequestParams, request.params).uri)
        return {}

    async def _unsubscribe(self, request: Request) -> Params:
        watched = self._watched(request)
        watched.discard(read_params(spoken.UnsubscribeRequestParams, request.params).uri)
        return {}

    def _watched(self, request: Request) -> set[str]:
        self._require("resources", request.method)
        if self._news is None:
            raise MethodNotFound(request.method)
        return self._news.uris

    def _require(self, capability: str, method: str) -> None:
        if capability not in self._announced.get("capabilities", {}):
            raise MethodNotFound(method)


async def _nowhere(_: bytes) -> None:
    """Nobody listens to a handshake."""
