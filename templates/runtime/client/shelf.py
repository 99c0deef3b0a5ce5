"""What the official package stores and reads again, laid into a store of ours: apart for each authorization server."""

from __future__ import annotations

import time
from typing import Any, TypeVar

from mcp.client.auth.oauth2 import OAuthContext
from mcp.shared.auth import OAuthClientInformationFull, OAuthMetadata, OAuthToken, ProtectedResourceMetadata
from pydantic import BaseModel, ValidationError

from .store import Kept, Record, Session, Store, StoreError, reason

M = TypeVar("M", bound=BaseModel)


class Shelf:
    """The place of one server in a store, as `TokenStorage` of the official package.

    `issuer` is the authorization server in use. With its tokens a provider's `context` is given back what it does
    not store itself: when they expire, and where they can be renewed.
    """

    def __init__(
        self,
        store: Store,
        server: str,
        issuer: str | None = None,
        client: OAuthClientInformationFull | None = None,
    ) -> None:
        """`issuer` is the only one to use, `client` the registration there, where they are known beforehand."""
        self.context: OAuthContext | None = None
        self.issuer = issuer
        self._only = issuer
        self.client = client
        self._store = store
        self._server = server

    async def get_tokens(self) -> OAuthToken | None:
        self.issuer, session = await self._in_use()
        tokens = self._read(OAuthToken, session.tokens)
        metadata = self._read(OAuthMetadata, session.metadata)
        if tokens is not None and session.expires is not None:
            tokens.expires_in = int(session.expires - time.time())
        if self.context is not None and tokens is not None:
            if metadata is None:
                # Nothing says where it may go.
                tokens.refresh_token = None
            self.context.token_expiry_time = session.expires
            self.context.oauth_metadata, self.context.auth_server_url = metadata, self.issuer
            self.context.protected_resource_metadata = self._read(ProtectedResourceMetadata, session.resource)
        return tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        expires = None if tokens.expires_in is None else time.time() + tokens.expires_in
        metadata = None if self.context is None else _record(self.context.oauth_metadata)
        resource = None if self.context is None else _record(self.context.protected_resource_metadata)
        issuer = self.issuer or ""

        def edit(kept: Kept) -> None:
            session = kept.session(issuer)
            session.tokens, session.expires = _record(tokens), expires
            session.metadata, session.resource = metadata, resource
            kept.issuer = issuer

        await self._store.update(self._server, edit)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        if self.client is not None:
            return self.client
        client = self._read(OAuthClientInformationFull, (await self._in_use())[1].client)
        until = client.client_secret_expires_at if client is not None else None
        return None if until and until <= time.time() else client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        issuer = self.issuer or ""

        def edit(kept: Kept) -> None:
            kept.session(issuer).client = _record(client_info)
            kept.issuer = issuer

        await self._store.update(self._server, edit)

    async def other(self, than: OAuthToken) -> tuple[OAuthToken, float | None] | None:
        """A token that somebody else has stored meanwhile and that is still good, and when it expires."""
        _, session = await self._in_use()
        tokens = self._read(OAuthToken, session.tokens)
        if tokens is None or tokens.access_token == than.access_token:
            return None
        return (tokens, session.expires) if (session.expires or time.time() + 1) > time.time() else None

    async def drop(self, *, tokens: bool = False, client: bool = False) -> None:
        """Keep the tokens, or the registration, of the issuer in use no more."""
        issuer = self.issuer or ""

        def edit(kept: Kept) -> None:
            session = kept.session(issuer)
            if tokens:
                session.tokens = session.expires = None
            if client:
                session.client = None

        await self._store.update(self._server, edit)

    async def _in_use(self) -> tuple[str | None, Session]:
        """The issuer in use, and what it has given."""
        kept = await self._store.load(self._server) or Kept(server=self._server)
        issuer = self._only or kept.issuer
        return issuer, kept.sessions.get(issuer or "", Session())

    def _read(self, model: type[M], record: Record | None) -> M | None:
        if record is None:
            return None
        try:
            return model.model_validate(record)
        except ValidationError as error:
            raise StoreError(
                f"what is kept for {self._server} cannot be used: {model.__name__}: {reason(error)};"
                " `forget` it and log in again"
            ) from None


def _record(model: BaseModel | None) -> Any:
    return None if model is None else model.model_dump(mode="json", exclude_none=True)
