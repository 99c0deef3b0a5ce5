"""The client side: what a caller of a server needs to hold."""

from __future__ import annotations

from .answers import InputRequired
from .client import Client
from .tools import BrokenSchema, InvalidOutput, ToolFailed

__all__ = ["BrokenSchema", "Client", "InputRequired", "InvalidOutput", "ToolFailed"]
