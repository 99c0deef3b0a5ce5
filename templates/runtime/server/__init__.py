"""The server side: what an author of a server needs to hold."""

from __future__ import annotations

from .app import Server
from .content import audio, embedded, image
from .context import Context
from .inputs import Accepted, Refused
from .listing import Cache
from .tools import Header, ToolError

__all__ = [
    "Accepted",
    "Cache",
    "Context",
    "Header",
    "Refused",
    "Server",
    "ToolError",
    "audio",
    "embedded",
    "image",
]
