"""Authorization of a client over HTTP: `Client.http(url, auth=login(url))`.

The protocol of it is done by the official package, `mcp`, which only this module and those below it load.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import httpx2

try:
    from mcp.client.auth import OAuthClientProvider
except ImportError as error:
    raise ImportError(f"OAuth needs the official package: install the extra `oauth` ({error})") from error
from mcp.client.auth.extensions.client_credentials import (
    ClientCredentialsOAuthProvider,
    PrivateKeyJWTOAuthProvider,
    SignedJWTParameters,
)
from mcp.client.auth.extensions.identity_assertion import IdentityAssertionOAuthProvider
from mcp.client.auth.utils import is_valid_client_metadata_url
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata
from pydantic import AnyUrl

from .challenge import Unauthorized, members, refusal, safe
from .discovery import Discovered
from .grants import Grant
from .person import Person, Show, Wait, fits
from .redirect import browse
from .shelf import Shelf
from .store import FileStore, Kept, MemoryStore, Session, Store, StoreError

__all__ = [
    "FileStore",
    "Kept",
    "MemoryStore",
    "Registered",
    "Session",
    "Store",
    "StoreError",
    "Unauthorized",
    "assertion",
    "credentials",
    "exchange",
    "login",
    "name_of",
]

LOGIN_SECONDS: Final = 300.0
"""How long a login may take unless told otherwise."""

NOWHERE: Final = AnyUrl("http://localhost/")
"""Stands for where the browser comes back to, which is known when somebody logs in."""

Sign: TypeAlias = Callable[[str], Awaitable[str] | str]
"""Makes a JWT for an audience, which says who the client is; a plain or an async function."""

Vouch: TypeAlias = Callable[[str, str], Awaitable[str] | str]
"""Gets the assertion that an identity provider gives for an issuer and a resource; a plain or an async function."""

TOKEN_TYPE: Final = "urn:ietf:params:oauth:token-type:"
EXCHANGE: Final = "urn:ietf:params:oauth:grant-type:token-exchange"


@dataclass(frozen=True)
class Registered:
    """A client that an authorization server knows already: its secret goes to that server and to no other."""

    issuer: str
    client_id: str
    secret: str | None = field(default=None, repr=False)


def login(
    url: str,
    *,
    store: Store | None = None,
    client: Registered | None = None,
    document: str | None = None,
    name: str = "mcp-client",
    scope: str | None = None,
    port: int = 0,
    seconds: float = LOGIN_SECONDS,
    show: Show = browse,
    wait: Wait | None = None,
    redirect: str | None = None,
) -> httpx2.Auth:
    """Let the user log in when the server at `url` asks for it: the authorization code grant with PKCE.

    Tokens are kept in `store`, a `FileStore` by default, and renewed when they expire, so that the user is asked
    once. The client is known to the authorization server as `client`, or by the `document` at an https URL (its
    client id), or is registered there as `name`. `scope` is asked for where the server names none.

    The page of the login is opened by `show`, in the browser by default, and comes back to a port of this machine:
    `port`, or a free one, for up to `seconds`. Elsewhere, give both `redirect`, an address that comes back to you,
    and `wait`, which returns that address as it was visited, with its query.

    The login is a part of the call that needs it and counts in its timeout. A call raises Unauthorized when the login
    fails and StoreError when tokens cannot be kept. Raises ValueError for arguments that do not fit.
    """
    _check(document, wait, redirect)
    if client is None:
        shelf = Shelf(store or FileStore(), name_of(url))
    else:
        shelf = Shelf(
            store or FileStore(), name_of(url, client.client_id), client.issuer, _information(client)
        )
    person = Person(shelf, show, wait, redirect, port, seconds)
    described = OAuthClientMetadata(client_name=name, redirect_uris=[NOWHERE])
    provider = OAuthClientProvider(url, described, shelf, person.show, person.returned, document)
    return Discovered(provider, shelf, scope, shelf.issuer, person)


def credentials(
    url: str,
    *,
    issuer: str,
    client_id: str,
    secret: str | None = None,
    key: str | None = None,
    algorithm: str = "ES256",
    sign: Sign | None = None,
    scope: str | None = None,
    store: Store | None = None,
) -> httpx2.Auth:
    """Let a program in by what it is itself: the client credentials grant, for which nobody logs in.

    The client proves at `issuer` who it is by exactly one of three: its `secret`; a private `key` in PEM, which signs
    by `algorithm`; or `sign`, which makes the signed JWT elsewhere. A token is kept in memory unless a `store` is
    given. A call raises Unauthorized when no token is granted. Raises ValueError for arguments that do not fit.
    """
    if [secret, key, sign].count(None) != 2:
        raise ValueError("give exactly one of `secret`, `key` and `sign`")
    shelf = Shelf(store or MemoryStore(), name_of(url, client_id), issuer)
    provider: OAuthClientProvider
    if secret is not None:
        provider = ClientCredentialsOAuthProvider(url, shelf, client_id, secret, scope=scope, issuer=issuer)
    else:
        proof = _signed(client_id, key or "", algorithm) if sign is None else _awaited(sign)
        provider = PrivateKeyJWTOAuthProvider(url, shelf, client_id, proof, scope, issuer)
    return Discovered(provider, shelf, scope, issuer)


def assertion(
    url: str,
    *,
    issuer: str,
    client_id: str,
    secret: str,
    vouch: Vouch,
    scope: str | None = None,
    store: Store | None = None,
) -> httpx2.Auth:
    """Let a user of an enterprise in without a login: by the assertion of its identity provider (ID-JAG).

    `vouch` gets an assertion from the identity provider for `issuer` and the server; `exchange` makes one from an id
    token. The client proves at `issuer` who it is by its `secret`. A token is kept in memory unless a `store` is
    given. A call raises Unauthorized when no token is granted.
    """
    shelf = Shelf(store or MemoryStore(), name_of(url, client_id), issuer)

    async def vouched(audience: str, resource: str) -> str:
        outcome = vouch(audience, resource)
        return await outcome if inspect.isawaitable(outcome) else outcome

    provider = IdentityAssertionOAuthProvider(
        url,
        shelf,
        client_id,
        secret,
        issuer,
        vouched,
        scope,
        token_endpoint_auth_method="client_secret_basic",
    )
    return Grant(provider, shelf, scope)


def exchange(endpoint: str, *, client_id: str, id_token: str, secret: str | None = None) -> Vouch:
    """For `assertion`: exchange the id token of a user for assertions, at the token endpoint of the identity provider.

    `client_id`, and `secret` where it has one, are those of the client there. What is returned raises Unauthorized
    when the identity provider gives none. Raises ValueError when the endpoint is not safe.
    """
    if not safe(endpoint):
        raise ValueError(f"endpoint={endpoint!r} must be an https address, or one of this machine")

    async def vouch(audience: str, resource: str) -> str:
        form = {
            "grant_type": EXCHANGE,
            "requested_token_type": f"{TOKEN_TYPE}id-jag",
            "subject_token": id_token,
            "subject_token_type": f"{TOKEN_TYPE}id_token",
            "audience": audience,
            "resource": resource,
            "client_id": client_id,
        } | ({} if secret is None else {"client_secret": secret})
        async with httpx2.AsyncClient() as client:
            answer = await client.post(endpoint, data=form)
        body = members(answer)
        given = body.get("access_token")
        if (
            answer.is_success
            and body.get("issued_token_type") == f"{TOKEN_TYPE}id-jag"
            and isinstance(given, str)
        ):
            return given
        raise Unauthorized(f"{endpoint} gives no assertion for this user: {refusal(answer)}")

    return vouch


def _check(document: str | None, wait: Wait | None, redirect: str | None) -> None:
    if (wait is None) != (redirect is None):
        raise ValueError(
            "give `wait` and `redirect` together: where the login comes back to, and who sees it"
        )
    if redirect is not None and not fits(redirect):
        raise ValueError(f"redirect={redirect!r} must be an https address, or one of this machine")
    if document is not None and not is_valid_client_metadata_url(document):
        raise ValueError(f"document={document!r} must be an https address with a path")


def name_of(url: str, client_id: str | None = None) -> str:
    """By what name a store keeps what is for a server and a client that was registered beforehand."""
    return url if client_id is None else f"{url}#{client_id}"


def _information(client: Registered) -> OAuthClientInformationFull:
    method = "none" if client.secret is None else "client_secret_basic"
    return OAuthClientInformationFull(
        client_id=client.client_id, client_secret=client.secret, token_endpoint_auth_method=method
    )


def _signed(client_id: str, key: str, algorithm: str) -> Callable[[str], Awaitable[str]]:
    parameters = SignedJWTParameters(
        issuer=client_id, subject=client_id, signing_key=key, signing_algorithm=algorithm
    )
    return parameters.create_assertion_provider()


def _awaited(sign: Sign) -> Callable[[str], Awaitable[str]]:
    async def proof(audience: str) -> str:
        outcome = sign(audience)
        return await outcome if inspect.isawaitable(outcome) else outcome

    return proof
