"""The ASGI application around the endpoint: its one path, and its end in good order."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.routing import Route

from .asgi import Receive, Scope, Send
from .callers import Principal
from .gate import Gate
from .http import Endpoint, Past, Serves

DRAIN_SECONDS = 3
"""How long accepted requests may take after the server was told to end."""


class Application(Starlette):
    """The ASGI application: what `Server.http` returns; other routes and middleware may be added to it."""

    def __init__(
        self,
        server: Serves,
        *,
        path: str,
        hosts: Sequence[str],
        origins: Sequence[str],
        max_body_bytes: int,
        keep_alive_seconds: float,
        principal: Principal,
        past: Past | None,
    ) -> None:
        """Serve at `path`; see `Server.http` for the rest."""
        gate = Gate(hosts, origins)
        self._endpoint = Endpoint(server, gate, max_body_bytes, keep_alive_seconds, principal, past)
        self._path = path
        self._route = Route(path, self._endpoint)
        super().__init__(routes=[self._route], lifespan=self._life)
        # There is exactly one path; a redirect would also repeat a Host that nobody has looked at.
        self.router.redirect_slashes = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or the lifespan."""
        # The layers around a route take as long as a short call does. Where nobody has put anything around or
        # before the endpoint they would do nothing but pass the request on, and are left out.
        if scope["type"] == "http" and scope["path"] == self._path and self._is_bare(scope):
            await self._endpoint(scope, receive, send)
        else:
            await super().__call__(scope, receive, send)

    def _is_bare(self, scope: Scope) -> bool:
        """Whether the endpoint alone answers a request for its path."""
        around = (
            scope.get("root_path")
            or self.user_middleware
            or self.exception_handlers
            or getattr(self, "max_body_size", None)  # Older releases have none.
        )
        return not around and self.router.routes[0] is self._route

    def close(self) -> None:
        """Say that the end has come: each subscription gets its closing result, calls go on to their ends.

        To be called on the event loop, before an ASGI server waits for its open responses.
        """
        self._endpoint.close()

    async def end(self) -> None:
        """End in good order: after `close` the calls in flight get some seconds before they are cancelled.

        `Server.serve` does this at its end, and so does the lifespan of this application.
        """
        await self._endpoint.end(DRAIN_SECONDS)

    @asynccontextmanager
    async def _life(self, _: Starlette) -> AsyncGenerator[None, None]:
        self._endpoint.open()
        yield
        await self.end()
