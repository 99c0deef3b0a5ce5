"""Credentials: who sent a request, as far as its transport can tell. No I/O.

Whoever started a server over stdio is its only client, and brings nothing but messages. Over HTTP it is the
application around the server that checks tokens and knows users; what it has found is handed on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class Credentials:
    """What a request came with besides its message: here, nothing."""

    @property
    def principal(self) -> str | None:
        """Who asks, by a name that nobody else has; None for anybody."""
        return None

    @property
    def user(self) -> Any:
        """Who asks, as the object that authentication has made, with its claims; None without one."""
        return None

    @property
    def scopes(self) -> Sequence[str]:
        """What the user's token is good for, as authentication has found."""
        return ()

    def header(self, name: str) -> str | None:
        """The value of a header of the HTTP request, the first when it came several times; None without one."""
        return None


ANYBODY = Credentials()
"""Of a transport that checks nothing."""
