"""The client side: what a caller of a server needs to hold."""

from __future__ import annotations

from .answers import InputRequired
from .cache import Cache
from .client import Client
from .listen import Missed
from .sync import ClientSync
from .tools import BrokenSchema, InvalidOutput, ToolFailed
from .transport import Disconnected, HttpError

__all__ = [
    "BrokenSchema",
    "Cache",
    "Client",
    "ClientSync",
    "Disconnected",
    "HttpError",
    "InputRequired",
    "InvalidOutput",
    "Missed",
    "ToolFailed",
]
