"""Credentials: what authentication around a server has found reaches its calls, and what is sealed is for one alone."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from hosted import Response, body, post
from mcprotocol.server import Context, Server
from mcprotocol.server.asgi import ASGIApp, Receive, Scope, Send
from mcprotocol.server.callers import Principal, authenticated
from scaffolded import META
from starlette.applications import Starlette
from starlette.authentication import (
    AuthCredentials,
    AuthenticationBackend,
    AuthenticationError,
    BaseUser,
    SimpleUser,
    UnauthenticatedUser,
)
from starlette.middleware import Middleware
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.requests import HTTPConnection
from starlette.routing import Mount
from test_dispatch import ask

ASKED: dict[str, Any] = {**META, "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}
NOD: Any = {"nod": {"action": "accept", "content": {}}}
TOKENS = {"a": "ann", "b": "bob"}


class Claims(SimpleUser):
    """A user with the claims of a token."""

    def __init__(self, username: str, claims: Mapping[str, str]) -> None:
        super().__init__(username)
        self.claims = claims


class Bearer(AuthenticationBackend):
    """Knows two tokens; a request without one is from anybody."""

    async def authenticate(self, conn: HTTPConnection) -> tuple[AuthCredentials, BaseUser] | None:
        token = conn.headers.get("authorization", "").removeprefix("Bearer ")
        if not token:
            return None
        if token not in TOKENS:
            raise AuthenticationError("unknown token")
        name = TOKENS[token]
        return AuthCredentials(["read", "write"]), Claims(name, {"sub": f"{name}@example.com"})


@pytest.fixture
def server() -> Server:
    made = Server("vault", version="1")

    @made.tool()
    async def who(ctx: Context) -> list[Any]:
        credentials = ctx.credentials
        claims = getattr(credentials.user, "claims", None)
        return [ctx.principal, claims, [*credentials.scopes], credentials.header("X-Tenant")]

    @made.tool()
    def who_plainly(ctx: Context) -> str:
        return str(ctx.principal)

    @made.tool()
    async def open_safe(ctx: Context) -> str:
        await ctx.elicit("Open?", {"type": "object", "properties": {}}, key="nod")
        return f"opened for {ctx.principal}"

    return made


def guarded(server: Server, principal: Principal | None = None) -> ASGIApp:
    """The server in a host application that authenticates."""
    return Starlette(
        routes=[Mount("/", server.http(principal=principal))],
        middleware=[Middleware(AuthenticationMiddleware, backend=Bearer())],
    )


def call(
    application: ASGIApp, tool: str, token: str | None = None, more: Any = (), **params: Any
) -> Response:
    data = body(1, "tools/call", ASKED, name=tool, arguments={}, **params)
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return post(application, data, headers, more=more)


def value(answer: Response) -> Any:
    return answer.json()["result"]["structuredContent"]


def text(answer: Response) -> str:
    return str(answer.json()["result"]["content"][0]["text"])


def test_a_call_knows_whom_the_host_has_authenticated(server: Server) -> None:
    application = guarded(server)
    ann = ["ann", {"sub": "ann@example.com"}, ["read", "write"], None]
    assert value(call(application, "who", "a")) == ann
    assert text(call(application, "who_plainly", "b")) == "bob"


def test_who_has_no_token_is_anybody(server: Server) -> None:
    assert value(call(guarded(server), "who")) == [None, None, [], None]
    assert value(call(server.http(), "who")) == [None, None, [], None]


def test_what_the_host_refuses_reaches_no_tool(server: Server) -> None:
    answer = call(guarded(server), "who", "stolen")
    assert (answer.status, answer.body) == (400, b"unknown token")


def test_a_header_is_read_by_any_spelling_and_the_first_of_several_counts(server: Server) -> None:
    more = [("x-tenant", "north"), ("X-TENANT", "south")]
    assert value(call(server.http(), "who", more=more))[3] == "north"


def test_an_author_says_who_asks(server: Server) -> None:
    def subject(scope: Scope) -> str | None:
        return scope["user"].claims["sub"] if scope["user"].is_authenticated else None

    application = guarded(server, subject)
    assert text(call(application, "who_plainly", "a")) == "ann@example.com"
    assert text(call(application, "who_plainly")) == "None"


def test_a_state_is_for_who_asked_and_for_nobody_else(server: Server) -> None:
    application = guarded(server)
    state = call(application, "open_safe", "a").json()["result"]["requestState"]
    answered: Any = {"inputResponses": NOD, "requestState": state}
    for token in ("b", None):
        taken = call(application, "open_safe", token, **answered)
        assert (taken.status, taken.code()) == (400, -32602)
    assert text(call(application, "open_safe", "a", **answered)) == "opened for ann"


def test_what_anybody_began_nobody_in_particular_takes_over(server: Server) -> None:
    application = guarded(server)
    state = call(application, "open_safe").json()["result"]["requestState"]
    answered: Any = {"inputResponses": NOD, "requestState": state}
    assert call(application, "open_safe", "a", **answered).code() == -32602
    assert text(call(application, "open_safe", **answered)) == "opened for None"


class Nameless(BaseUser):
    """Authenticated, but as whom?"""

    @property
    def is_authenticated(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("user", "name"),
    [
        (None, None),
        (UnauthenticatedUser(), None),
        (SimpleUser("ann"), "ann"),
        (SimpleNamespace(is_authenticated=True, identity=7), "7"),
        (SimpleNamespace(identity="ann"), "ann"),
    ],
)
def test_the_identity_of_an_authenticated_user_is_who_asks(user: object, name: str | None) -> None:
    assert authenticated({"user": user}) == name
    assert authenticated({}) is None


@pytest.mark.parametrize(
    "user", [Nameless(), SimpleNamespace(is_authenticated=True, identity=None), "ann", {"sub": "ann"}]
)
def test_a_user_without_an_identity_never_passes_for_anybody(
    server: Server, user: object, caplog: pytest.LogCaptureFixture
) -> None:
    inner = server.http()

    async def host(scope: Scope, receive: Receive, send: Send) -> None:
        await inner({**scope, "user": user}, receive, send)

    answer = call(host, "open_safe").json()
    assert answer["error"] == {"code": -32603, "message": "Internal error"}
    assert f"a user of type {type(user).__name__} has no identity: say by http(principal=...)" in caplog.text


def test_over_other_transports_there_are_no_credentials(server: Server) -> None:
    line = body(1, "tools/call", name="who", arguments={}) + b"\n"
    assert ask(server, line)["result"]["structuredContent"] == [None, None, [], None]
