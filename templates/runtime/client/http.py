"""Streamable HTTP: each request is a POST of its own, answered by one JSON object or by a stream of events.

To close the stream cancels the request; a stream that ends too soon loses its answer
(basic/transports/streamable-http).
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import aclosing, asynccontextmanager, contextmanager
from typing import Any, Final

import httpx2
from httpx2 import URL, AsyncClient, Auth, Request, Response

from ..headers import METHOD, NAME, PARAMETER, VERSION, mirror
from ..jsonrpc import Id
from ..latest import REVISION
from ..wire import WireModel
from .events import Events, TooLong
from .transport import Disconnected, HttpError, Lost, Outgoing, Receive

__all__ = ["AsyncClient", "Auth", "Http"]

MAX_ANSWER_BYTES: Final = 64 * 1024 * 1024
"""The longest message that is taken from a server."""

JSON: Final = "application/json"
EVENTS: Final = "text/event-stream"

FIXED: Final = {"accept": f"{JSON}, {EVENTS}", "content-type": JSON}
"""The headers that every request has."""

CONNECT_SECONDS: Final = 30.0
"""How long it may take to reach the server; the answer may take as long as the call may."""

IDLE_SECONDS: Final = 2.0
"""How long a connection is kept for the next request: servers close theirs after 5, even as a request comes."""

REDIRECTS: Final = 5
"""How often in a row one request is sent elsewhere."""

SAME_METHOD: Final = (307, 308)
"""The redirects that repeat a POST as it was."""

SHOWN: Final = 200
"""How much of a body is shown that is no message."""

SECRET: Final = re.compile(r"(?<=//)[^/?#]*@|[?#].*", re.DOTALL)
"""The parts of a URL that may be: who asks, with a password, and a query."""

ADVICE: Final = {
    400: "it does not say what is wrong with the request",
    401: "it wants to know who asks: give `auth`",
    403: "what `auth` stands for may not do this",
    404: "there is no endpoint at this URL",
    405: "the endpoint takes no POST: is this the URL of a server of this protocol?",
    413: "the request is too long for it",
    429: "it has had too many requests",
}
"""What an error status most likely means, where the answer itself does not say."""


class Http:
    """The transport to an endpoint.

    What httpx2 does by default is done here: proxies come from the environment (`HTTP_PROXY`, `HTTPS_PROXY`,
    `ALL_PROXY`, `NO_PROXY`), and each address of a name is tried until one answers.
    """

    streams = True
    mirrors = True

    def __init__(
        self,
        url: str,
        auth: Auth | None,
        headers: Mapping[str, str] | None,
        client: AsyncClient | None,
    ) -> None:
        """Connect to nothing yet. `client` makes the requests where it is given, and is not closed here."""
        self._url = url
        self._auth = auth
        self._headers = FIXED | {name: value for name, value in (headers or {}).items() if not _ours(name)}
        self._given = client
        self._fixed: Request | None = None

    def __repr__(self) -> str:
        """The URL without what may be secret in it."""
        return SECRET.sub("", self._url)

    async def open(self, receive: Receive, lost: Lost) -> None:
        """Begin; there is no connection to lose but that of each request."""
        self._receive = receive
        self._client = self._given or AsyncClient(
            timeout=httpx2.Timeout(None, connect=CONNECT_SECONDS),
            limits=httpx2.Limits(
                max_connections=None, max_keepalive_connections=100, keepalive_expiry=IDLE_SECONDS
            ),
        )

    async def carry(self, request: Outgoing) -> None:
        """Post one request and read its answer; raises Disconnected when there is none, HttpError by its status."""
        headers = mirror(request.method, _members(request.params), request.version, request.parameters)
        with failures():
            async with self._posted(request.message, headers) as response:
                kind = content_type(response)
                if kind == EVENTS:
                    if not await self._streamed(response, request.identity):
                        raise refused(response, kind, b"")
                    return
                body = await read_body(response)
                if kind != JSON or not body or not self._receive(body, request.identity):
                    raise refused(response, kind, body)

    async def notify(self, method: str, message: bytes) -> None:
        """Post one notification, which the server need not answer but may refuse."""
        with failures():
            async with self._posted(message, mirror(method, {}, REVISION, {})) as response:
                body = await read_body(response)
                if response.status_code >= 300:
                    raise refused(response, content_type(response), body)

    async def close(self) -> None:
        """Close all connections."""
        if self._given is None:
            await self._client.aclose()

    @asynccontextmanager
    async def _posted(
        self, message: bytes, headers: Mapping[str, str], verb: str = "POST"
    ) -> AsyncGenerator[Response, None]:
        """The response to a POST (or to another verb), wherever in the same origin the server sends it."""
        options: dict[str, Any] = {} if self._auth is None else {"auth": self._auth}
        request = self._request(message, headers, verb)
        for turn in range(REDIRECTS + 1):
            response = await self._client.send(request, stream=True, follow_redirects=False, **options)
            try:
                target = _elsewhere(request.url, response) if turn < REDIRECTS else None
                if target is None:
                    yield response
                    return
                request.url = target
            finally:
                await response.aclose()

    def _request(self, message: bytes, headers: Mapping[str, str], verb: str) -> Request:
        """A request, with the headers that are its own."""
        if self._given is not None:
            return self._given.build_request(
                verb, self._url, content=message, headers={**self._headers, **headers}
            )
        if self._fixed is None:
            # All that requests have in common: to work it out each time takes longer than all the rest of a call.
            self._fixed = self._client.build_request("POST", self._url, headers=self._headers)
            del self._fixed.headers["content-length"]
        return Request(
            verb,
            self._fixed.url,
            headers=[
                *self._fixed.headers.raw,
                *((_ascii(name), _ascii(value)) for name, value in headers.items()),
            ],
            content=message,
            cookies=self._client.cookies,
            extensions=self._fixed.extensions,
        )

    async def _streamed(self, response: Response, identity: Id) -> bool:
        """Whether the result or error came, in an event of the stream."""
        events = Events(MAX_ANSWER_BYTES)
        # Closed here, and not by a task that Python begins when nobody holds what was left unread.
        async with aclosing(response.aiter_bytes()) as chunks:
            async for chunk in chunks:
                for data in events.feed(chunk):
                    if self._receive(data, identity):
                        return True
        return False


@contextmanager
def failures() -> Generator[None, None, None]:
    """What httpx2 raises, as what this client raises."""
    try:
        yield
    except (httpx2.ReadTimeout, httpx2.WriteTimeout, httpx2.PoolTimeout) as error:
        raise TimeoutError(
            f"the `client` that makes the requests gave up ({type(error).__name__})"
        ) from error
    except httpx2.ConnectError as error:
        raise Disconnected(f"the server cannot be reached: {error or type(error).__name__}") from error
    except (httpx2.RequestError, httpx2.InvalidURL) as error:
        raise Disconnected(f"the exchange with the server failed: {error or type(error).__name__}") from error
    except TooLong as error:
        raise Disconnected(str(error)) from None


async def read_body(response: Response) -> bytes:
    body = bytearray()
    async with aclosing(response.aiter_bytes()) as chunks:
        async for chunk in chunks:
            body += chunk
            if len(body) > MAX_ANSWER_BYTES:
                raise TooLong(f"the answer has more than {MAX_ANSWER_BYTES} bytes")
    return bytes(body)


def refused(response: Response, kind: str, body: bytes) -> Disconnected:
    """Why a response is no answer."""
    status = response.status_code
    if status < 300:
        if kind == EVENTS:
            return Disconnected("the stream ended before the result came")
        if not body:
            return Disconnected(f"the server answered {status} with nothing, where a result was due")
        if kind == JSON:
            return Disconnected(f"the server answered with what is no answer to the request: {_shown(body)}")
        return Disconnected(
            f"the server answered with {kind or 'content of no type'}, which holds no result: is the URL right?"
        )
    reason = ADVICE.get(status, response.reason_phrase)
    if status < 400:
        target = response.headers.get("location", "nowhere")
        reason = f"it sends the request to {target}, where it was not taken: use that URL if you trust it"
    elif body and (kind == JSON or kind == "text/plain"):
        reason = f"{reason} ({_shown(body)})"
    return HttpError(status, reason, response.headers)


def _elsewhere(url: URL, response: Response) -> URL | None:
    """Where else in the same origin a request is to go; None where it has arrived, or would leave the origin."""
    location = response.headers.get("location")
    if response.status_code not in SAME_METHOD or not location:
        return None
    target = url.join(location)
    return target if _origin(target) == _origin(url) else None


def _origin(url: URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


def content_type(response: Response) -> str:
    """The content type, without its parameters."""
    return str(response.headers.get("content-type", "")).partition(";")[0].strip().lower()


def _shown(body: bytes) -> str:
    text = body[:SHOWN].decode(errors="replace").strip()
    return text if len(body) <= SHOWN else f"{text} [...]"


def _ours(name: str) -> bool:
    """Whether a header repeats what a request says, so that no one else may set it."""
    lower = name.lower()
    return lower in (VERSION.lower(), METHOD.lower(), NAME.lower()) or lower.startswith(PARAMETER.lower())


def _ascii(text: str) -> bytes:
    return text.encode("ascii")


def _members(params: WireModel | None) -> dict[str, Any]:
    return {name: getattr(params, name, None) for name in ("name", "uri", "arguments")}
