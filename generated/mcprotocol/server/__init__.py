"""The server side: what an author of a server needs to hold."""

from __future__ import annotations

from .app import Server
from .context import Context
from .tools import ToolError

__all__ = ["Context", "Server", "ToolError"]
