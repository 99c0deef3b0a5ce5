"""The ASGI application around the endpoint: its one path, and its end in good order."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.routing import Route

from .asgi import Receive, Scope, Send
from .callers import Principal
from .gate import Gate
from .hosting import DRAIN_SECONDS
from .http import Endpoint, Serves


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
    ) -> None:
        """Serve at `path`; see `Server.http` for the rest."""
        gate = Gate(hosts, origins)
        self._endpoint = Endpoint(server, gate, max_body_bytes, keep_alive_seconds, principal)
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

        To be called on the event loop. A host that reaches the lifespan of this application needs it only where
        it waits for open responses before it says there that it ends, as uvicorn does; `Server.serve` calls it.
        """
        self._endpoint.close()

    @asynccontextmanager
    async def _life(self, _: Starlette) -> AsyncGenerator[None, None]:
        self._endpoint.open()
        yield
        self._endpoint.close()
        await self._endpoint.drain(DRAIN_SECONDS)
