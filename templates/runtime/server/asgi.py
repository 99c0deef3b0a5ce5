"""ASGI: the shapes in which HTTP reaches an application (version 3), by the names that everybody gives them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeAlias

Scope: TypeAlias = MutableMapping[str, Any]
"""What is known of a request before its body, and what middleware has found out about it."""

Message: TypeAlias = MutableMapping[str, Any]
"""An event: a part of a request or of a response."""

Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
ASGIApp: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]
