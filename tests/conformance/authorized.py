"""How the client of the official suite gets in where a server asks for authorization: a table, scenario by scenario."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any, TypeAlias
from urllib.parse import urlsplit

import httpx2
from mcprotocol.client import Client
from mcprotocol.client.oauth import (
    MemoryStore,
    Registered,
    Unauthorized,
    assertion,
    credentials,
    exchange,
    login,
)

Context: TypeAlias = Mapping[str, Any]
"""What the suite tells a scenario beside the URL."""

Authorize: TypeAlias = Callable[[str, Context], Awaitable[httpx2.Auth]]

DOCUMENT = "https://conformance-test.local/client-metadata.json"
"""Where the suite takes it that the client describes itself."""

REDIRECT = "http://localhost:3000/callback"


class Browser:
    """A browser whose user agrees to everything, and that goes to no address which it is sent back to."""

    def __init__(self) -> None:
        self._location = ""

    async def show(self, address: str) -> None:
        async with httpx2.AsyncClient() as client:
            answer = await client.get(address)
        self._location = answer.headers["location"]

    def wait(self) -> str:
        return self._location


async def by_login(url: str, context: Context) -> httpx2.Auth:
    return logged_in(url, None)


async def as_registered(url: str, context: Context) -> httpx2.Auth:
    return logged_in(url, Registered(context["issuer"], context["client_id"], context["client_secret"]))


def logged_in(url: str, client: Registered | None) -> httpx2.Auth:
    browser = Browser()
    return login(
        url,
        store=MemoryStore(),
        client=client,
        document=DOCUMENT,
        show=browser.show,
        wait=browser.wait,
        redirect=REDIRECT,
    )


async def by_key(url: str, context: Context) -> httpx2.Auth:
    return credentials(
        url,
        issuer=await issuer_of(url),
        client_id=context["client_id"],
        key=context["private_key_pem"],
        algorithm=context["signing_algorithm"],
    )


async def by_secret(url: str, context: Context) -> httpx2.Auth:
    return credentials(
        url, issuer=await issuer_of(url), client_id=context["client_id"], secret=context["client_secret"]
    )


async def by_enterprise(url: str, context: Context) -> httpx2.Auth:
    return assertion(
        url,
        issuer=await issuer_of(url),
        client_id=context["client_id"],
        secret=context["client_secret"],
        vouch=exchange(
            context["idp_token_endpoint"],
            client_id=context["idp_client_id"],
            id_token=context["idp_id_token"],
        ),
    )


async def issuer_of(url: str) -> str:
    """The authorization server of a server, which whoever registers a program there knows from elsewhere."""
    parts = urlsplit(url)
    address = f"{parts.scheme}://{parts.netloc}/.well-known/oauth-protected-resource{parts.path}"
    async with httpx2.AsyncClient() as client:
        answer = await client.get(address)
    return str(answer.json()["authorization_servers"][0])


def admitted(authorize: Authorize) -> Callable[[str, Context], Coroutine[Any, Any, None]]:
    """Get in, and use what there is."""

    async def play(url: str, context: Context) -> None:
        async with Client.http(url, auth=await authorize(url, context)) as client:
            for tool in (await client.list_tools()).tools:
                await client.call_tool(tool.name)

    return play


def refused(authorize: Authorize) -> Callable[[str, Context], Coroutine[Any, Any, None]]:
    """Notice that something is wrong."""

    async def play(url: str, context: Context) -> None:
        try:
            await admitted(authorize)(url, context)
        except Unauthorized:
            return
        raise RuntimeError("the client has got in")

    return play


SCENARIOS: Mapping[str, Callable[[str, Context], Coroutine[Any, Any, None]]] = {
    "auth/metadata-default": admitted(by_login),
    "auth/metadata-var1": admitted(by_login),
    "auth/metadata-var2": admitted(by_login),
    "auth/metadata-var3": admitted(by_login),
    "auth/basic-cimd": admitted(by_login),
    "auth/scope-from-www-authenticate": admitted(by_login),
    "auth/scope-from-scopes-supported": admitted(by_login),
    "auth/scope-omitted-when-undefined": admitted(by_login),
    "auth/scope-step-up": admitted(by_login),
    "auth/scope-retry-limit": refused(by_login),
    "auth/token-endpoint-auth-basic": admitted(by_login),
    "auth/token-endpoint-auth-post": admitted(by_login),
    "auth/token-endpoint-auth-none": admitted(by_login),
    "auth/pre-registration": admitted(as_registered),
    "auth/resource-mismatch": refused(by_login),
    "auth/offline-access-scope": admitted(by_login),
    "auth/offline-access-not-supported": admitted(by_login),
    "auth/authorization-server-migration": admitted(by_login),
    "auth/iss-supported": admitted(by_login),
    "auth/iss-not-advertised": admitted(by_login),
    "auth/iss-supported-missing": refused(by_login),
    "auth/iss-wrong-issuer": refused(by_login),
    "auth/iss-unexpected": refused(by_login),
    "auth/iss-normalized": refused(by_login),
    "auth/metadata-issuer-mismatch": refused(by_login),
    "auth/client-credentials-jwt": admitted(by_key),
    "auth/client-credentials-basic": admitted(by_secret),
    "auth/enterprise-managed-authorization": admitted(by_enterprise),
}
"""What is done in each scenario: how to get in, and whether that is to succeed."""
