"""Dispatch: one message in, at most one answer out. No I/O, no transport, no memory of earlier requests.

A request is judged in the order of the specification (its metadata, the revision, the method, the params) and
then handed to its handler. Whatever goes wrong becomes the one answer; what was cancelled gets none.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar, cast

from pydantic import ValidationError
from pydantic_core import to_json

from ..errors import (
    InternalError,
    InvalidParams,
    McpError,
    MethodNotFound,
    UnsupportedProtocolVersion,
)
from ..jsonrpc import (
    Channel,
    Id,
    Notification,
    NotificationMethod,
    P,
    R,
    Request,
    RequestMethod,
    explain,
    read_message,
    read_params,
    write_error,
    write_notification,
    write_success,
)
from ..latest import REVISION, methods, types
from ..latest import server as stubs
from ..unions import listed_values
from ..wire import WireModel
from .context import Context, Means
from .credentials import ANYBODY, Credentials
from .failures import is_end
from .flight import Flight
from .rounds import InputNeeded, permitted
from .streams import Streams

log = logging.getLogger(__name__)

N = TypeVar("N", contravariant=True)

Method: TypeAlias = RequestMethod[Any, Any]
"""A row of the method table."""

Send: TypeAlias = Callable[[bytes], Awaitable[None]]
"""How a transport takes a message that is no answer."""

HangUp: TypeAlias = Callable[[], None]
"""How a transport ends a stream early whose client will come back for the rest."""

SUPPORTED: Final = (REVISION,)
"""The revisions that requests may ask for."""

META_KEYS: Final = tuple(
    field.alias or name for name, field in types.RequestMetaObject.model_fields.items() if field.is_required()
)
"""The members without which no request is valid."""

VERSION_KEY: Final = types.RequestMetaObject.model_fields["protocol_version"].alias or ""
CAPABILITIES_KEY: Final = types.RequestMetaObject.model_fields["client_capabilities"].alias or ""
LEVEL_KEY: Final = types.RequestMetaObject.model_fields["log_level"].alias or ""

LEVELS: Final = listed_values(types.LoggingLevel)
"""The log levels that requests may ask for (server/utilities/logging)."""

LEVELS_OR_NONE: Final = (None, *LEVELS)

COMPLETE: Final = {"result_type": b'"resultType":"complete"'}
"""What every result carries, by its Python name, as it is written."""

UNCACHED: Final = {**COMPLETE, "ttl_ms": b'"ttlMs":0', "cache_scope": b'"cacheScope":"private"'}
"""The hints of a result whose author gave none: stale at once, and nobody else's."""


Tell: TypeAlias = Callable[[types.CallToolRequestParams, Context], Awaitable[WireModel | str]]
"""How a tool is called: the result, or the one text that it is of."""

TEXT: Final = b'{"content":[{"text":%b,"type":"text"}],"resultType":"complete"}'
"""The finished result of one text, as the writer of the types has it in three times as long."""


class Reply(NamedTuple):
    """The bytes of an answer, and the error that they carry, if they carry one."""

    data: bytes
    error: McpError | None = None


class Outlet:
    """The channel of one request: carries notifications until the request is answered."""

    def __init__(self, send: Send, hang_up: HangUp | None = None) -> None:
        self._send = send
        self._hang_up = hang_up
        self.open = True

    def hang_up(self) -> None:
        """End the stream early, where its client comes back for the rest."""
        if self._hang_up is not None and self.open:
            self._hang_up()

    async def request(self, method: RequestMethod[P, R], params: P) -> R:
        """Servers ask nothing in this revision: what they need they return as an InputRequiredResult."""
        raise MethodNotFound(method.name)

    async def notify(self, method: NotificationMethod[N], params: N) -> None:
        """Send one notification; nothing follows the answer."""
        if self.open:
            await self._send(write_notification(method.name, cast(WireModel | None, params)))


class Dispatcher:
    """The requests of one connection, each handled alone; the ids in flight are all they share."""

    def __init__(
        self,
        handlers: stubs.ServerHandlers[Context],
        implements: Callable[[Method], bool],
        info: types.Implementation | None,
        means: Means,
        tell: Tell | None = None,
    ) -> None:
        """Hand requests to `handlers`, refuse what they do not implement, and sign results with `info`.

        Tools are called by `tell` instead, if it is given: most give back a text, which is soon written.
        """
        self._tell = tell
        self._means = means
        self._streams = Streams()
        self._handlers = handlers
        self._implements = implements
        self._info = info
        meta = b"" if info is None else types.ResultMetaObject(server_info=info).wire_bytes()
        self._signed = () if info is None else (b'"_meta":%b' % meta,)
        self._flight = Flight()
        self._answered: dict[str, Method] = {}

    async def handle(self, data: bytes, send: Send) -> bytes | None:
        """Take one message and return its answer, or None when it gets none.

        Run in a task of its own, so that a later message can cancel it. `send` takes the notifications that
        come before the answer.
        """
        try:
            message = read_message(data)
        except McpError as error:
            return write_error(error.request_id, error)
        return await self.take(message, send)

    async def take(self, message: Request | Notification, send: Send) -> bytes | None:
        """Take one message that was read already, as `handle` does."""
        if isinstance(message, Notification):
            self._flight.notice(message)
            return None
        try:
            self._flight.check(message.id)
        except McpError as error:
            return write_error(message.id, error)
        outlet = Outlet(send)
        try:
            reply = await self._flight.run(message.id, self.reply(message, outlet))
        finally:
            outlet.open = False
        return None if reply is None else reply.data

    def close(self) -> None:
        """End what would never end by itself: every subscription gets its closing result."""
        self._streams.close()

    async def reply(self, request: Request, channel: Channel, credentials: Credentials = ANYBODY) -> Reply:
        """The answer to one request, whatever becomes of it: all it raises is that it was cancelled itself.

        Other requests, their ids too, do not matter: a transport whose requests come alone needs no more.
        """
        context = None
        try:
            try:
                if not is_served(request):
                    read_meta(request)
                method = self._method(request.method)
                context = Context(request, method, channel, self._streams, self._means, credentials)
                result = await self._result(method, request, context)
                return Reply(self._written(request.id, method, result))
            except McpError as error:
                told = _told(request, error)
                return Reply(write_error(request.id, told), told)
        except BaseException as error:
            if is_end(error):
                raise
            log.exception("%s failed", request.method)
            internal = InternalError("Internal error")
            return Reply(write_error(request.id, internal), internal)
        finally:
            if context is not None:
                context.over = True

    def _method(self, name: str) -> Method:
        # What is answered stays answered: a list that becomes empty is still a list.
        method = self._answered.get(name)
        if method is None:
            method = methods.CLIENT_REQUESTS.get(name)
            if method is None or not self._implements(method):
                raise MethodNotFound(name, _supported_by(name))
            self._answered[name] = method
        return method

    async def _result(self, method: Method, request: Request, context: Context) -> WireModel | str:
        """What the handler has made of a request; raises TypeError when that is no result of the method."""
        tell = self._tell if method.name == methods.CALL_TOOL.name else None
        outcome: WireModel | str
        try:
            if tell is None:
                outcome = await stubs.answer(self._handlers, method.name, request.params, context)
            else:
                outcome = await tell(read_params(types.CallToolRequestParams, request.params), context)
            result = context.settled(outcome)
        except (InputNeeded, BaseExceptionGroup) as ending:
            result = context.rounds.ended(ending)
        if isinstance(result, str) and tell is not None:
            return result
        if not isinstance(result, method.results):
            raise TypeError(f"{method.python} must not return {type(result).__name__}")
        if isinstance(result, types.InputRequiredResult):
            result = permitted(result, context.client_capabilities)
        return result

    def _written(self, identity: Id, method: Method, result: WireModel | str) -> bytes:
        """The answer; what every result carries is added where its author left it out (basic/index, Results)."""
        if isinstance(result, str):
            return write_success(identity, TEXT % to_json(result), self._signed)
        hinted = method.cacheable and isinstance(result, method.results[0])
        due = UNCACHED if hinted else COMPLETE
        given = result.model_fields_set
        absent = [member for name, member in due.items() if name not in given]
        meta: types.ResultMetaObject | None = getattr(result, "meta", None)
        if meta is None:
            absent += self._signed
        elif self._info is not None and meta.server_info is None:
            signed = meta.model_copy(update={"server_info": self._info})
            result = result.model_copy(update={"meta": signed})
        return write_success(identity, result.wire_bytes(), absent)


def is_served(request: Request) -> bool:
    """Whether a request asks for a version that is served, and for no log level that is none."""
    keys = meta_of(request)
    return keys.get(VERSION_KEY) in SUPPORTED and keys.get(LEVEL_KEY) in LEVELS_OR_NONE


def _told(request: Request, error: McpError) -> McpError:
    """What is wrong with a request: metadata is read with the params, but a fault in it goes before any other."""
    if isinstance(error, (MethodNotFound, InvalidParams)):
        try:
            read_meta(request)
        except McpError as earlier:
            return earlier
    return error


def read_meta(request: Request) -> types.RequestMetaObject:
    """The metadata that a request must bring; raises InvalidParams, or UnsupportedProtocolVersion."""
    keys = meta_of(request)
    missing = [key for key in META_KEYS if key not in keys]
    if missing:
        raise _malformed(request.method, f"params._meta must have {' and '.join(missing)}")
    version = keys[VERSION_KEY]
    if version not in SUPPORTED and isinstance(version, str) and isinstance(keys[CAPABILITIES_KEY], dict):
        # Before the rest is read: another revision may well give the other keys another shape.
        raise UnsupportedProtocolVersion(version, SUPPORTED)
    try:
        meta = types.RequestMetaObject.model_validate(keys)
    except ValidationError as error:
        raise _malformed(request.method, f"Invalid params._meta: {explain(error)}") from None
    if meta.log_level is not None and meta.log_level not in LEVELS:
        # The types keep a level that a newer client may know; a server that cannot rank it must refuse it.
        raise InvalidParams(f"Unknown log level: {meta.log_level!r}")
    return meta


def meta_of(request: Request) -> dict[str, Any]:
    """The metadata of a request as it came, empty where it has none."""
    given = (request.params or {}).get("_meta")
    return cast(dict[str, Any], given) if isinstance(given, dict) else {}


def _malformed(method: str, problem: str) -> InvalidParams:
    return InvalidParams(*naming(method, problem))


def naming(method: str, problem: str) -> tuple[str, dict[str, Any] | None]:
    """What is wrong with a request, and its data: who says `initialize` learns in both what it could speak instead."""
    supported = _supported_by(method)
    return f"{problem}; served here: {', '.join(SUPPORTED)}" if supported else problem, supported


def _supported_by(method: str) -> dict[str, Any] | None:
    """What a refusal says besides, to a client from before 2026-07-28: what it could speak here."""
    return {"supported": list(SUPPORTED)} if method == "initialize" else None
