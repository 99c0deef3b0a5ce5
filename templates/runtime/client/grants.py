"""Authorization of many calls at once by the official package, which sees to one at a time.

Around its flow stands what it leaves to others: a request in good standing waits for no other; a token is renewed
before anybody is asked to log in; each address is safe, each issuer is compared letter for letter; and what a
server asks again and again is refused in the end (basic/authorization).
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import parse_qs

import httpx2
from mcp.client.auth import OAuthClientProvider, OAuthFlowError
from mcp.shared.auth import OAuthToken, TokenEndpointAuthMethod
from mcp.shared.auth_utils import check_resource_allowed, resource_url_from_server_url
from pydantic import ValidationError

from .challenge import Unauthorized, bearer, members, refusal, safe, words
from .person import Person
from .shelf import Shelf

AUTHORIZATION: Final = "authorization"

MOST_GRANTS: Final = 3
"""How often one request may lead to a new token."""


METHODS: Final[tuple[TokenEndpointAuthMethod, ...]] = ("none", "client_secret_basic", "client_secret_post")
"""How a client can authenticate itself to a token endpoint, the best first."""


@dataclass
class Turn:
    """One request: the token that it was last sent with, the answer, and the challenges that it has met."""

    request: httpx2.Request
    failures: int = 0
    used: str | None = None
    answer: httpx2.Response | None = None
    met: list[str | None] = field(default_factory=list[str | None])

    @property
    def refused(self) -> bool:
        """Whether the newest token is the one that was refused."""
        return self.answer is not None and self.request.headers.get(AUTHORIZATION) == self.used


class Grant(httpx2.Auth):
    """Authorizes requests by a provider of the official package."""

    def __init__(self, provider: httpx2.Auth, shelf: Shelf, scope: str | None = None) -> None:
        """`scope` is what to ask for where a server does not say."""
        self._provider = provider
        self._shelf = shelf
        self._scope = scope
        self._failures = 0
        self._failure = ""
        self._stepped = set[str | None]()

    async def async_auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """Send a request with a token, which is renewed or granted where it must be; raises Unauthorized."""
        turn = Turn(request, self._failures)
        while True:
            await self._shared()
            request.headers.pop(AUTHORIZATION, None)
            async with contextlib.aclosing(self._provider.async_auth_flow(request)) as flow:
                # The provider holds its lock from here on, and may begin by renewing a token.
                outgoing = await anext(flow)
                while outgoing is not request:
                    outgoing = await flow.asend(await self._judged(outgoing, (yield self._allowed(outgoing))))
                if turn.refused and not await self._renewable(turn):
                    async with self._granting(turn) as challenge:
                        outgoing = await flow.asend(challenge)
                        while outgoing is not request:
                            answer = yield self._allowed(outgoing)
                            outgoing = await flow.asend(await self._judged(outgoing, answer))
                elif turn.refused:
                    continue
            turn.failures, turn.used = self._failures, request.headers.get(AUTHORIZATION)
            turn.answer = yield request
            if not challenges(turn.answer):
                return

    async def _shared(self) -> None:
        """Take a token that another process has renewed."""

    async def _renewable(self, turn: Turn) -> bool:
        """Whether a new token can be had without a new grant: the next round has it."""
        return False

    @contextlib.asynccontextmanager
    async def _granting(self, turn: Turn) -> AsyncGenerator[httpx2.Response]:
        """The time in which a new grant is sought, which begins with a challenge as the provider can read it."""
        if self._failures > turn.failures:
            # The grant that this request has waited for has failed; it does not ask again at once.
            raise Unauthorized(self._failure)
        scope = self._meet(turn)
        try:
            yield self._challenge(turn, scope)
        except (Unauthorized, OAuthFlowError) as error:
            self._failures += 1
            self._failure = str(error)
            raise error if isinstance(error, Unauthorized) else Unauthorized(words(str(error))) from None
        if scope is None:
            self._stepped.clear()
        else:
            self._stepped.add(scope)

    def _meet(self, turn: Turn) -> str | None:
        """The scope that is asked for beyond the token, None for a new token; raises when it was given before."""
        assert turn.answer is not None
        asked = bearer(turn.answer).get("scope", "") if turn.answer.status_code == 403 else None
        if asked is not None and (asked in self._stepped or asked in turn.met):
            raise Unauthorized(
                f"the server asks for the scope {words(asked) or 'it has not named'} again,"
                " which was granted: this user may not do that"
            )
        if asked in turn.met or len(turn.met) >= MOST_GRANTS:
            raise Unauthorized(
                f"the server refuses a token that was just granted: {words(refusal(turn.answer))}"
            )
        turn.met.append(asked)
        return asked

    def _challenge(self, turn: Turn, scope: str | None) -> httpx2.Response:
        assert turn.answer is not None
        said = bearer(turn.answer)
        found = {"error": said.get("error"), "scope": said.get("scope") or self._scope}
        if safe(said.get("resource_metadata", "")):
            found["resource_metadata"] = said["resource_metadata"]
        line = ", ".join(
            f'{name}="{value}"'
            for name, value in found.items()
            if value and value.isprintable() and value.isascii() and not set('"\\') & set(value)
        )
        headers = {"www-authenticate": f"Bearer {line}"}
        return httpx2.Response(turn.answer.status_code, headers=headers, request=turn.request)

    def _allowed(self, request: httpx2.Request) -> httpx2.Request:
        """A request of the provider's own, when it may be made."""
        if not safe(str(request.url)):
            raise Unauthorized(
                f"{request.url.scheme}://{request.url.netloc.decode()} is to take part in the login:"
                " only https is safe, or this machine"
            )
        return request

    async def _judged(self, request: httpx2.Request, answer: httpx2.Response) -> httpx2.Response:
        """The answer to a request of the provider's own, as it may see it; raises what it would log with secrets."""
        await answer.aread()
        if answer.status_code >= 500 or answer.status_code == 429:
            raise Unauthorized(f"{_place(request)} answers {answer.status_code}; try again later")
        if request.method != "POST" or 300 <= answer.status_code < 400:
            return answer
        form = parse_qs(request.content.decode())
        if "grant_type" not in form:
            return answer
        if answer.is_success and _is_token(answer):
            return answer
        if form["grant_type"] == ["refresh_token"]:
            await self._shelf.drop(tokens=True)
            return httpx2.Response(400, request=request)
        if members(answer).get("error") == "invalid_client":
            await self._forgotten()
        raise Unauthorized(
            f"{_place(request)} grants no token: {'what it sent is none' if answer.is_success else refusal(answer)}"
        )

    async def _forgotten(self) -> None:
        """The authorization server does not know the client."""


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
        if not check_resource_allowed(server, str(body.get("resource"))):
            raise Unauthorized(
                f"{server} says that it is {words(str(body.get('resource')))}; no token is sought for that"
            )
        self._named = [one for one in body["authorization_servers"] if isinstance(one, str)]
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
        if self._person is not None and "S256" not in (body.get("code_challenge_methods_supported") or []):
            raise Unauthorized(
                f"{issuer} does not say that it supports PKCE with S256, without which no login is safe"
            )
        self._shelf.issuer = issuer
        self._choose(body.get("token_endpoint_auth_methods_supported"))
        protected = self._context.protected_resource_metadata
        if self._scoped or protected is not None and protected.scopes_supported is not None:
            return body
        return {name: value for name, value in body.items() if name != "scopes_supported"}

    def _choose(self, supported: object) -> None:
        """Choose how the client authenticates itself to the token endpoint: as that one says that it can."""
        known = [one for one in METHODS if isinstance(supported, list) and one in supported]
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
                f"{_place(request)} registers no client: {refusal(answer)};"
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


def challenges(answer: httpx2.Response) -> bool:
    """Whether an answer asks for a token, or for one that permits more."""
    if answer.status_code == 403:
        return bearer(answer).get("error") == "insufficient_scope"
    return answer.status_code == 401


def _is_token(answer: httpx2.Response) -> bool:
    try:
        return bool(OAuthToken.model_validate_json(answer.content).access_token)
    except ValidationError:
        return False


def _again(answer: httpx2.Response, body: dict[str, Any]) -> httpx2.Response:
    return httpx2.Response(answer.status_code, json=body, request=answer.request)


def _place(request: httpx2.Request) -> str:
    return str(request.url.copy_with(query=None, fragment=None))
