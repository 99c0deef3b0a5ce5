"""Authorization of many calls at once by the official package, which sees to one at a time.

Around its flow stands what it leaves to others: a request in good standing waits for no other; a token is renewed
before anybody is asked to log in; each address is safe; nothing secret is logged; and what a server asks again and
again is refused in the end (basic/authorization).
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import parse_qs

import httpx2
from mcp.client.auth import OAuthFlowError
from mcp.shared.auth import OAuthToken
from pydantic import ValidationError

from .challenge import Unauthorized, bearer, members, refusal, safe, words
from .shelf import Shelf

AUTHORIZATION: Final = "authorization"

MOST_GRANTS: Final = 3
"""How often one request may lead to a new token."""


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
        self._failure = Unauthorized("")
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
            raise Unauthorized(str(self._failure), final=self._failure.final)
        scope = self._meet(turn)
        try:
            yield self._challenge(turn, scope)
        except (Unauthorized, OAuthFlowError) as error:
            self._failures += 1
            self._failure = error if isinstance(error, Unauthorized) else Unauthorized(words(str(error)))
            raise self._failure from None
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
            said = bearer(turn.answer)
            why = words(str(turn.answer.status_code), said.get("error"), said.get("error_description"))
            raise Unauthorized(f"the server refuses a token that was just granted: {why}")
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
            raise Unauthorized(f"{place(request)} answers {answer.status_code}; try again later", final=False)
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
            f"{place(request)} grants no token: {'what it sent is none' if answer.is_success else refusal(answer)}"
        )

    async def _forgotten(self) -> None:
        """The authorization server does not know the client."""


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


def place(request: httpx2.Request) -> str:
    """The address of a request without what it asks there."""
    return str(request.url.copy_with(query=None, fragment=None))
