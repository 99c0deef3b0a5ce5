"""A protected server and an authorization server, in this process, and a user with a browser."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

import httpx2
from mcprotocol.client import Client
from mcprotocol.client.oauth import MemoryStore, Store, login
from mcprotocol.server import Server
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

URL = "http://localhost:8000/mcp"
ISSUER = "https://as.test"
REDIRECT = "http://localhost:3000/callback"

Form = dict[str, str]


def peer() -> Server:
    server = Server("peer", version="1")

    @server.tool()
    async def read() -> str:
        return "read"

    @server.tool()
    async def write() -> str:
        return "written"

    return server


@dataclass
class World:
    """Both servers, as they can be made to misbehave, and all that they were asked."""

    server: Server = field(default_factory=peer)
    protected: dict[str, Any] = field(
        default_factory=lambda: {"resource": URL, "authorization_servers": [ISSUER]}
    )
    metadata: dict[str, Any] = field(default_factory=lambda: described(ISSUER))
    challenge: str = "Bearer"
    needed: dict[str, str] = field(default_factory=dict[str, str])
    """The scope that each tool needs."""
    lasting: list[int] = field(default_factory=list[int])
    """How long each token lasts in turn; an hour when none is left."""
    registered: Callable[[], Response] | None = None
    granted: Callable[[Form], Response | None] = lambda form: None
    """The answer of the token endpoint where it is not the usual one."""
    returned: Callable[[Form], Form] = lambda query: query
    """What the browser comes back with."""
    permitted: str | None = None
    """The scope of each token, where it is not what was asked for."""
    asked: list[tuple[str, str, Form]] = field(default_factory=list[tuple[str, str, Form]])
    """What each request was: its method, its address, and its form or object."""
    pages: list[Form] = field(default_factory=list[Form])
    """The query of each login that was shown."""
    tokens: dict[str, str] = field(default_factory=dict[str, str])
    """The scope of each token that the server takes."""
    secrets: list[str] = field(default_factory=list[str])
    """All that nobody else may see."""

    def application(self) -> ASGIApp:
        inner = self.server.http()
        outer = Starlette(
            routes=[
                Route("/.well-known/oauth-protected-resource/mcp", self._protected),
                Route("/.well-known/oauth-authorization-server", self._metadata),
                Route("/register", self._register, methods=["POST"]),
                Route("/token", self._token, methods=["POST"]),
            ]
        )

        async def serve(scope: Scope, receive: Receive, send: Send) -> None:
            request = Request(scope)
            if scope["path"] != "/mcp":
                await outer(scope, receive, send)
            elif (refusal := self._guarded(request)) is not None:
                await refusal(scope, receive, send)
            else:
                await inner(scope, receive, send)

        return serve

    def browse(self, address: str) -> str:
        """Log in, and return where the browser is sent."""
        query = dict(parse_qsl(urlsplit(address).query))
        self.pages.append(query)
        code = f"code-{len(self.pages)}"
        self.secrets.append(code)
        answer = self.returned({"code": code, "state": query["state"], "iss": ISSUER})
        return f"{query['redirect_uri']}?{urlencode(answer)}"

    def forms(self, path: str) -> list[Form]:
        """What was sent to a path of the authorization server."""
        return [form for _, address, form in self.asked if address == f"{ISSUER}{path}"]

    def spoiled(self) -> None:
        """Take no token any more that was granted so far."""
        self.tokens.clear()

    def _guarded(self, request: Request) -> Response | None:
        self._note(request, {"authorization": request.headers.get("authorization", "")})
        scope = self.tokens.get(request.headers.get("authorization", "").removeprefix("Bearer "))
        if scope is None:
            return Response(status_code=401, headers={"www-authenticate": self.challenge})
        needed = self.needed.get(request.headers.get("mcp-name", ""), "")
        if needed and needed not in scope.split():
            more = f'Bearer error="insufficient_scope", scope="{needed}"'
            return Response(status_code=403, headers={"www-authenticate": more})
        return None

    async def _protected(self, request: Request) -> Response:
        self._note(request, {})
        return JSONResponse(self.protected)

    async def _metadata(self, request: Request) -> Response:
        self._note(request, {})
        return JSONResponse(self.metadata)

    async def _register(self, request: Request) -> Response:
        self._note(request, json.loads(await request.body()))
        if self.registered is not None:
            return self.registered()
        return JSONResponse({**self.asked[-1][2], "client_id": "known"}, 201)

    async def _token(self, request: Request) -> Response:
        form = {name: values[0] for name, values in parse_qs((await request.body()).decode()).items()}
        self._note(request, form | {"authorization": request.headers.get("authorization", "")})
        unusual = self.granted(form)
        if unusual is not None:
            return unusual
        if form["grant_type"] == "authorization_code":
            digest = hashlib.sha256(form["code_verifier"].encode()).digest()
            assert base64.urlsafe_b64encode(digest).decode().rstrip("=") == self.pages[-1]["code_challenge"]
        asked = self.pages[-1].get("scope", "") if self.pages else ""
        number = len(self.tokens) + len(self.secrets)
        token, renewal = f"token-{number}", f"renewal-{number}"
        self.tokens[token] = asked if self.permitted is None else self.permitted
        self.secrets += [token, renewal]
        lasting = self.lasting.pop(0) if self.lasting else 3600
        return JSONResponse(
            {"access_token": token, "token_type": "bearer", "refresh_token": renewal, "expires_in": lasting}
        )

    def _note(self, request: Request, form: Form) -> None:
        self.asked.append((request.method, str(request.url), form))


def described(issuer: str) -> dict[str, Any]:
    """The metadata of a good authorization server."""
    return {
        "issuer": issuer,
        "authorization_endpoint": f"{issuer}/authorize",
        "token_endpoint": f"{issuer}/token",
        "registration_endpoint": f"{issuer}/register",
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": True,
        "token_endpoint_auth_methods_supported": ["none", "client_secret_basic"],
    }


def logging_in(world: World, store: Store | None = None, **options: Any) -> httpx2.Auth:
    """Authorization by a user who agrees."""
    came: list[str] = []

    def show(address: str) -> None:
        came.append(world.browse(address))

    usual: dict[str, Any] = {
        "store": store or MemoryStore(),
        "show": show,
        "wait": came.pop,
        "redirect": REDIRECT,
    }
    return login(URL, **(usual | options))


@asynccontextmanager
async def connected(world: World, auth: httpx2.Auth) -> AsyncGenerator[Client]:
    """A client of the protected server."""
    transport = httpx2.ASGITransport(world.application())
    async with (
        httpx2.AsyncClient(transport=transport) as requests,
        # Asked nothing but what a test asks: some count the requests until a token has run out.
        Client.http(URL, auth=auth, client=requests, era="modern") as client,
    ):
        yield client
