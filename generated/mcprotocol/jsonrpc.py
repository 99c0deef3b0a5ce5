"""Envelopes: bytes to one typed message and back. No I/O, no revision, no opinion about methods.

Each message is judged alone. A request id keeps its JSON type (`1` is not `"1"`), a notification has none, and
whatever is neither request nor notification nor response is refused by name (basic/index, Messages).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import (
    Any,
    ClassVar,
    Final,
    Generic,
    Literal,
    NamedTuple,
    Protocol,
    TypeAlias,
    TypeVar,
    cast,
    overload,
)

from pydantic import ValidationError
from pydantic_core import from_json, to_json
from typing_extensions import TypeAliasType

from .errors import InvalidParams, InvalidRequest, McpError, MethodNotFound, ParseError, from_wire
from .exact import read_value
from .shallow import read_outlines, read_shallow
from .wire import WireModel

Id: TypeAlias = int | str
"""A request id: an integer or a string, never null, never a fraction."""

Role: TypeAlias = Literal["client", "server"]
"""Who sends a message."""

Params: TypeAlias = dict[str, Any]

Json: TypeAlias = Params | list[Any] | str | float | None
"""Any value that JSON has; a float may be an integer, or one of the two truths."""

META: Final = {"meta"}

P = TypeVar("P", contravariant=True)
R = TypeVar("R", covariant=True)
N = TypeVar("N", contravariant=True)
M = TypeVar("M", bound=WireModel)


class Request(NamedTuple):
    """A call that must be answered."""

    id: Id
    method: str
    params: Params | None


class Notification(NamedTuple):
    """A message that must not be answered."""

    method: str
    params: Params | None


class Success(NamedTuple):
    """A response with a result."""

    id: Id
    result: Params


class Failure(NamedTuple):
    """A response with an error; `id` is None when the peer could not read the request's."""

    id: Id | None
    error: McpError


@dataclass(frozen=True)
class RequestMethod(Generic[P, R]):
    """One request of a revision: its params type `P` and the union `R` of its results.

    `name` is the method on the wire, `python` the name of its functions. `results` has the complete result
    first; the others are the interim one if it may be `input_required`, or the creation of a task if it may be
    `task_augmented`. `capability` is the member of the receiver's capabilities that announces it (None: always there).
    """

    kind: ClassVar[Literal["request"]] = "request"

    name: str
    python: str
    senders: tuple[Role, ...]
    params: type[WireModel] | TypeAliasType | None
    params_required: bool
    results: tuple[type[WireModel], ...]
    capability: str | None = None
    paginated: bool = False
    cacheable: bool = False
    input_required: bool = False
    task_augmented: bool = False


@dataclass(frozen=True)
class NotificationMethod(Generic[N]):
    """One notification of a revision, with its params type `N`.

    `capability` is the member of the sender's capabilities that announces it, or of the receiver's where the sender
    has none of that name (None: always there).
    """

    kind: ClassVar[Literal["notification"]] = "notification"

    name: str
    python: str
    senders: tuple[Role, ...]
    params: type[WireModel] | TypeAliasType | None
    params_required: bool
    capability: str | None = None


class Channel(Protocol):
    """How a generated stub sends: something that carries requests to the peer and brings back results."""

    async def request(self, method: RequestMethod[P, R], params: P) -> R:
        """Send one request and return its result; raises `McpError` when the peer answers with an error."""
        ...

    async def notify(self, method: NotificationMethod[N], params: N) -> None:
        """Send one notification."""
        ...


def read_message(data: bytes) -> Request | Notification:
    """What a peer asks: one request or notification.

    Raises ParseError or InvalidRequest; `request_id` of the raised error is the id to answer with, or None.
    """
    message = _object(data)
    method, identity = message.get("method"), _readable_id(message)
    if message.get("jsonrpc") != "2.0" or not isinstance(method, str):
        raise _no_message(message, identity)
    if "id" in message and identity is None:
        raise InvalidRequest("A request id must be a string or an integer")
    params: Any = message.get("params")
    usable = isinstance(params, dict)
    if identity is None:
        # A notification is never answered, so one whose params are unusable is read as having none.
        return Notification(method, cast("Params", params) if usable else None)
    if not usable and "params" in message:
        raise _refused("params must be an object", identity)
    return Request(identity, method, params)


def read_reply(data: bytes) -> Success | Failure | Notification | Request:
    """What a peer sends back: a response, a notification, or (before 2026-07-28) a request of its own."""
    message = _object(data)
    if "method" in message:
        return read_message(data)
    identity = _readable_id(message)
    result: Json = message.get("result")
    error: Json = message.get("error")
    if isinstance(error, dict):
        code, text = error.get("code"), error.get("message")
        if isinstance(code, int) and isinstance(text, str):
            return Failure(identity, from_wire(code, text, error.get("data")))
    elif identity is not None and isinstance(result, dict):
        return Success(identity, result)
    raise _refused("A response must have an id and a result object, or an error object", identity)


def meant_for(data: bytes, tail: bytes = b"") -> list[Id]:
    """The ids of the requests that were to be answered by what `read_reply` has refused, as far as can be told.

    Of what is too long to be read, the beginning is enough, and the `tail`.
    """
    outlines = (
        one for one in read_outlines(data, tail) if one.get("jsonrpc") == "2.0" and "method" not in one
    )
    return [identity for identity in map(_readable_id, outlines) if identity is not None]


def write_request(identity: Id, method: str, params: WireModel | None, meta: bytes | None = None) -> bytes:
    """The bytes of a request; `meta` is the metadata of its params, where that is written already."""
    return b'{"jsonrpc":"2.0","id":%b,"method":%b%b}' % (
        to_json(identity),
        to_json(method),
        _params(params, meta),
    )


def write_notification(method: str, params: WireModel | None) -> bytes:
    """The bytes of a notification."""
    return b'{"jsonrpc":"2.0","method":%b%b}' % (to_json(method), _params(params))


def write_success(identity: Id, result: bytes, besides: Sequence[bytes] = ()) -> bytes:
    """The bytes of a successful response; `besides` are members that the result lacks, as they are written."""
    if besides:
        members = [*besides, result[1:-1]] if len(result) > len(b"{}") else besides
        result = b"{" + b",".join(members) + b"}"
    return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (to_json(identity), result)


def write_error(identity: Id | None, error: McpError) -> bytes:
    """The bytes of an error response; without an id when the request's could not be read."""
    body: Params = {"jsonrpc": "2.0"}
    if identity is not None:
        body["id"] = identity
    body["error"] = {"code": error.code, "message": error.message}
    if error.data is not None:
        body["error"]["data"] = error.data
    return to_json(body)


@overload
def read_params(type_: type[M], params: Params | None) -> M: ...
@overload
def read_params(type_: TypeAliasType, params: Params | None) -> Any: ...
def read_params(type_: Any, params: Params | None) -> Any:
    """The params as their type; raises InvalidParams that names each member that does not fit (at most five)."""
    try:
        return read_value(type_, {} if params is None else params)
    except ValidationError as error:
        raise InvalidParams(f"Invalid params: {explain(error)}") from None


def find_method(table: Mapping[str, RequestMethod[Any, Any]], name: str) -> RequestMethod[Any, Any]:
    """The row of a request; raises MethodNotFound when the table has none of that name."""
    if name not in table:
        raise MethodNotFound(name)
    return table[name]


def explain(error: ValidationError) -> str:
    """The first five faults as `pointer: what was expected`, joined by semicolons."""
    faults = error.errors(include_url=False, include_context=False, include_input=False)
    shown = [f"{pointer(fault['loc'])}: {fault['msg']}" for fault in faults[:5]]
    return "; ".join(shown + ([f"and {len(faults) - 5} more"] if len(faults) > 5 else []))


def pointer(location: Sequence[int | str]) -> str:
    """A place in a JSON value as a JSON pointer (RFC 6901)."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in location) or "/"


def _no_message(message: Params, identity: Id | None) -> InvalidRequest:
    if "method" not in message and ("result" in message or "error" in message):
        return InvalidRequest("A response answers a request, and none was sent")
    if message.get("jsonrpc") != "2.0":
        return _refused('A message must say jsonrpc: "2.0"', identity)
    return _refused("A message must name its method", identity)


def _refused(message: str, identity: Id | None) -> InvalidRequest:
    error = InvalidRequest(message)
    error.request_id = identity
    return error


def _object(data: bytes) -> Params:
    try:
        message: Json = from_json(data, allow_inf_nan=False)
    except ValueError as error:
        message = _beyond(data, str(error))
    if isinstance(message, dict):
        return message
    if isinstance(message, list):
        raise InvalidRequest("A message must be one object; batches are not supported")
    raise InvalidRequest("A message must be one object")


def _beyond(data: bytes, problem: str) -> Params:
    """What is left of a message that cannot be held, unless it is a request: that is refused by its id."""
    message = read_shallow(data, problem)
    if message is None:
        raise ParseError(f"Not JSON: {problem}") from None
    if "method" in message and "id" in message:
        raise _refused(f"A message that cannot be held: {problem}", _readable_id(message)) from None
    return message


def _readable_id(message: Params) -> Id | None:
    identity = message.get("id")
    # Of what JSON holds: true is none.
    return identity if type(identity) is int or type(identity) is str else None


def _params(params: WireModel | None, meta: bytes | None = None) -> bytes:
    if params is None:
        return b""
    if meta is None:
        return b',"params":' + params.wire_bytes()
    others = params.wire_bytes(without=META)
    return b',"params":{"_meta":%b%b%b' % (meta, b"" if others == b"{}" else b",", others[1:])
