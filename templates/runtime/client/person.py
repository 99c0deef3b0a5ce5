"""The part of a login that a person does: a page is shown, and what the browser comes back with is examined."""

from __future__ import annotations

import asyncio
import inspect
import secrets
from collections.abc import Awaitable, Callable
from typing import TypeAlias
from urllib.parse import parse_qsl, urlsplit

import httpx2
from mcp.client.auth import AuthorizationCodeResult
from mcp.client.auth.oauth2 import OAuthContext
from mcp.shared.auth import OAuthMetadata
from pydantic import AnyUrl

from .challenge import Unauthorized, safe, words
from .redirect import Listener
from .shelf import Shelf

Show: TypeAlias = Callable[[str], Awaitable[None] | None]
"""Shows the user the page at an address; a plain or an async function."""

Wait: TypeAlias = Callable[[], Awaitable[str] | str]
"""Waits until the browser was sent back, and returns the whole address; a plain or an async function."""


class Person:
    """The user, as the official package calls for him.

    It would log what we raise where it calls, with all of it; so a login that fails here ends by a `refused`,
    for which there is never a request of a token.
    """

    def __init__(
        self, shelf: Shelf, show: Show, wait: Wait | None, redirect: str | None, port: int, seconds: float
    ) -> None:
        self._shelf = shelf
        self._show = show
        self._wait = wait
        self._redirect = redirect
        self._port = port
        self._seconds = seconds
        self._listener: Listener | None = None
        self.refused: Unauthorized | None = None

    async def begin(self, context: OAuthContext) -> None:
        """Know where the browser is to come back to: a client that is registered with another place is so no more."""
        self.refused = None
        known = (context.client_info.redirect_uris if context.client_info is not None else None) or []
        address = AnyUrl(self._redirect or await self._listen(known[0].port if known else None))
        if known and address not in known:
            context.client_info = None
        context.client_metadata.redirect_uris = [address]

    async def end(self) -> None:
        """Listen no more."""
        if self._listener is not None:
            await self._listener.close()
            self._listener = None
        self.refused = None

    async def show(self, address: str) -> None:
        """Show the user the page of the authorization server."""
        # The official package puts its own question mark behind one that an endpoint may already have.
        endpoint, _, asked = address.rpartition("?")
        self._address = f"{endpoint}{'&' if '?' in endpoint else '?'}{asked}"
        if not safe(self._address):
            self.refused = Unauthorized(f"{words(endpoint)} is no page to log in at: only https is")
            return
        outcome = self._show(self._address)
        if inspect.isawaitable(outcome):
            await outcome

    async def returned(self) -> AuthorizationCodeResult:
        """What the browser came back with, when it may be used."""
        asked = dict(parse_qsl(urlsplit(self._address).query))
        code = ""
        if self.refused is None:
            try:
                code = self._code(await self._came(), asked["state"])
            except Unauthorized as error:
                self.refused = error
        metadata = self._metadata()
        # The two were compared letter for letter above; the official package has its own spelling of an issuer.
        issuer = None if metadata is None else str(metadata.issuer)
        return AuthorizationCodeResult(code=code or "none", state=asked["state"], iss=issuer)

    async def _listen(self, known: int | None) -> str:
        """Listen on the port that was asked for, or else on the known one, or on any where that is taken."""
        self._listener = Listener()
        try:
            return await self._listener.open(self._port or known or 0)
        except OSError as error:
            if self._port:
                raise Unauthorized(f"the login needs port {self._port}: {error.strerror}") from None
        return await self._listener.open()

    async def _came(self) -> str:
        try:
            async with asyncio.timeout(self._seconds):
                if self._listener is not None:
                    return await self._listener.came()
                assert self._wait is not None
                outcome = self._wait()
                return await outcome if inspect.isawaitable(outcome) else outcome
        except TimeoutError:
            raise Unauthorized(
                f"nobody has finished the login within {self._seconds:g} seconds; call again to log in"
            ) from None

    def _code(self, address: str, state: str) -> str:
        """The code in an address; whose it is comes first, for what another says is not to be shown."""
        pairs = parse_qsl(urlsplit(address).query, keep_blank_values=True)
        found = dict(pairs)
        if len(found) < len(pairs):
            raise Unauthorized("the login came back with a parameter given twice; nothing of it was used")
        if not secrets.compare_digest(found.get("state", "").encode(), state.encode()):
            raise Unauthorized("the login that came back is not the one that was begun: its `state` differs")
        self._check_issuer(found.get("iss"))
        if "error" in found:
            raise Unauthorized(f"the login failed: {words(found['error'], found.get('error_description'))}")
        if not found.get("code"):
            raise Unauthorized("the login came back without a code")
        return found["code"]

    def _check_issuer(self, named: str | None) -> None:
        """Refuse an answer of another issuer: letter for letter, nothing is normalized (RFC 9207, 2.4)."""
        metadata = self._metadata()
        promised = metadata is not None and metadata.authorization_response_iss_parameter_supported
        if named is None and promised:
            raise Unauthorized(f"the login came back without the `iss` that {self._shelf.issuer} promises")
        if named is not None and named != self._shelf.issuer:
            raise Unauthorized(f"the login came back from another issuer than {self._shelf.issuer}")

    def _metadata(self) -> OAuthMetadata | None:
        return None if self._shelf.context is None else self._shelf.context.oauth_metadata


def fits(address: str) -> bool:
    """Whether a browser may be sent back to an address: https, or this machine."""
    return safe(address) and not httpx2.URL(address).fragment
