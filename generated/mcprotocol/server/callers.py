"""Callers: the credentials of an HTTP request, as the application around the server has checked them.

Nothing is checked here. Middleware that authenticates leaves its findings in the ASGI scope, as Starlette's
does: `user`, and `auth` with the scopes of the token.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

from ..headers import Headers
from .asgi import Scope
from .credentials import Credentials

Principal: TypeAlias = Callable[[Scope], str | None]
"""Names who sent a request, by what middleware has put in its scope; None for anybody."""


class Caller(Credentials):
    """Who sent one HTTP request; nothing is looked up before it is asked for."""

    def __init__(self, scope: Scope, named: Principal) -> None:
        """Of the request with this scope, whose sender is `named` so."""
        self._scope = scope
        self._named = named

    @property
    def principal(self) -> str | None:
        """Who asks, by the name that the application gives them."""
        return self._named(self._scope)

    @property
    def user(self) -> Any:
        """What the middleware of the application has made of who asks."""
        return self._scope.get("user")

    @property
    def scopes(self) -> Sequence[str]:
        """The scopes that the middleware of the application has found."""
        return tuple(getattr(self._scope.get("auth"), "scopes", ()))

    def header(self, name: str) -> str | None:
        """The value of a header, the first when it came several times."""
        values = Headers(self._scope["headers"]).all(name.lower().encode())
        return values[0].decode("latin-1") if values else None


def authenticated(scope: Scope) -> str | None:
    """The identity of the user that middleware has authenticated, None where there is none.

    Raises LookupError for a user that is authenticated and has no identity: nobody must pass for anybody.
    """
    user = scope.get("user")
    if user is None or not getattr(user, "is_authenticated", True):
        return None
    with suppress(NotImplementedError):
        identity = getattr(user, "identity", None)
        if identity is not None:
            return str(identity)
    raise LookupError(f"a user of type {type(user).__name__} has no identity: say by http(principal=...)")
