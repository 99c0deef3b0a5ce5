"""Authorization by the server that the protected one names: what each says of itself, and whether it may be believed.

Issuers are compared letter for letter, and what one of them has given is not shown to another (basic/authorization).
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from typing import Any, Final
from urllib.parse import parse_qs

import httpx2
from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import TokenEndpointAuthMethod
from mcp.shared.auth_utils import check_resource_allowed, resource_url_from_server_url

from .challenge import Unauthorized, bearer, members, refusal, safe, words
from .grants import Grant, Turn, place
from .person import Person
from .shelf import Shelf

METHODS: Final[tuple[TokenEndpointAuthMethod, ...]] = ("none", "client_secret_basic", "client_secret_post")
"""How a client can authenticate itself to a token endpoint, the best first."""


class Discovered(Grant):
    """Authorizes by the authorization server that the server names."""

    def __init__(
        self,
        provider: OAuthClientProvider,
        shelf: Shelf,
        scope: str | None,
        issuer: str | None = None,
        person: Person | None = None,
    ) -> None:
        """`issuer` is the one authorization server that may be used, `person` who logs in."""
        super().__init__(provider, shelf, scope)
        self._context = shelf.context = provider.context
        self._issuer = issuer
        self._person = person
        self._named: list[str] = []
        self._scoped = False

    async def _shared(self) -> None:
        tokens = self._context.current_tokens
        if tokens is None or self._context.is_token_valid():
            return
        other = await self._shelf.other(tokens)
        if other is not None and self._context.current_tokens is tokens:
            self._context.current_tokens, self._context.token_expiry_time = other

    async def _renewable(self, turn: Turn) -> bool:
        assert turn.answer is not None
        tokens = self._context.current_tokens
        if tokens is None or turn.answer.status_code != 401 or turn.met:
            return False
        # Whatever was said of its time, it is over.
        self._context.token_expiry_time = 1.0
        await self._shared()
        return self._context.current_tokens is not tokens or self._context.can_refresh_token()

    @contextlib.asynccontextmanager
    async def _granting(self, turn: Turn) -> AsyncGenerator[httpx2.Response]:
        assert turn.answer is not None
        self._named, self._scoped = [], "scope" in bearer(turn.answer) or self._scope is not None
        async with super()._granting(turn) as challenge:
            if self._person is None:
                yield challenge
                return
            try:
                await self._person.begin(self._context)
                yield challenge
            finally:
                await self._person.end()

    def _allowed(self, request: httpx2.Request) -> httpx2.Request:
        if self._person is not None and self._person.refused is not None:
            raise self._person.refused
        metadata = self._context.oauth_metadata
        if request.method == "POST" and metadata is None:
            raise Unauthorized(f"{self._context.server_url} names no authorization server that can be used")
        if request.method == "POST" and "grant_type" not in parse_qs(request.content.decode()):
            if metadata is None or metadata.registration_endpoint is None or self._shelf.client is not None:
                raise Unauthorized(
                    f"{self._shelf.issuer} does not know this client and registers none:"
                    " register one by hand, and give it as `client`"
                )
        return super()._allowed(request)

    async def _judged(self, request: httpx2.Request, answer: httpx2.Response) -> httpx2.Response:
        answer = await super()._judged(request, answer)
        if request.method == "POST" and "grant_type" not in parse_qs(request.content.decode()):
            return self._registered(request, answer)
        if request.method != "GET" or answer.status_code != 200:
            return answer
        body = members(answer)
        if isinstance(body.get("authorization_servers"), list):
            return _again(answer, self._protected(body))
        if isinstance(body.get("issuer"), str):
            return _again(answer, self._authorizing(body))
        return answer

    def _protected(self, body: dict[str, Any]) -> dict[str, Any]:
        """The metadata of the protected server, with the authorization server that is wanted as the only one."""
        server = resource_url_from_server_url(self._context.server_url)
        resource = str(body.get("resource"))
        if not safe(resource) or not check_resource_allowed(server, resource):
            raise Unauthorized(f"{server} says that it is {words(resource)}; no token is sought for that")
        self._named = _texts(body, "authorization_servers")
        if self._issuer is not None and self._issuer not in self._named:
            raise Unauthorized(
                f"this client is registered at {self._issuer}, but {server} trusts {words(', '.join(self._named))}"
            )
        return body if self._issuer is None else {**body, "authorization_servers": [self._issuer]}

    def _authorizing(self, body: dict[str, Any]) -> dict[str, Any]:
        """The metadata of the authorization server, without scopes where the server names none for itself."""
        issuer = str(body["issuer"])
        if self._named and issuer not in self._named or self._issuer not in (None, issuer):
            raise Unauthorized(
                f"the authorization server calls itself {words(issuer)}, not {words(', '.join(self._named))}"
            )
        if self._person is not None and "S256" not in _texts(body, "code_challenge_methods_supported"):
            raise Unauthorized(
                f"{issuer} does not say that it supports PKCE with S256, without which no login is safe"
            )
        self._shelf.issuer = issuer
        self._choose(_texts(body, "token_endpoint_auth_methods_supported"))
        protected = self._context.protected_resource_metadata
        if self._scoped or protected is not None and protected.scopes_supported is not None:
            return body
        return {name: value for name, value in body.items() if name != "scopes_supported"}

    def _choose(self, taken: list[str]) -> None:
        """Choose how the client authenticates itself to the token endpoint: as that one says that it can."""
        known: list[TokenEndpointAuthMethod] = [one for one in METHODS if one in taken]
        secret = [one for one in known if one != "none"]
        self._context.client_metadata.token_endpoint_auth_method = known[0] if known else None
        client = self._context.client_info
        if self._issuer is not None and client is not None and client.client_secret is not None:
            client.token_endpoint_auth_method = secret[0] if secret else "client_secret_basic"

    def _registered(self, request: httpx2.Request, answer: httpx2.Response) -> httpx2.Response:
        """The registration; one that does not say how the client authenticates itself means what was asked for."""
        body = members(answer)
        if not answer.is_success or not isinstance(body.get("client_id"), str):
            raise Unauthorized(
                f"{place(request)} registers no client: {refusal(answer)};"
                " register one by hand, and give it as `client`"
            )
        default = "client_secret_basic" if body.get("client_secret") else "none"
        asked = self._context.client_metadata.token_endpoint_auth_method
        method = body.get("token_endpoint_auth_method") or asked or default
        return _again(answer, {**body, "token_endpoint_auth_method": method})

    async def _forgotten(self) -> None:
        if self._issuer is None:
            self._context.client_info = None
            await self._shelf.drop(client=True)


def _again(answer: httpx2.Response, body: dict[str, Any]) -> httpx2.Response:
    return httpx2.Response(answer.status_code, json=body, request=answer.request)


def _texts(body: dict[str, Any], name: str) -> list[str]:
    """The texts in a list that a server has written, if it is one."""
    return [one for one in body[name] if isinstance(one, str)] if isinstance(body.get(name), list) else []
