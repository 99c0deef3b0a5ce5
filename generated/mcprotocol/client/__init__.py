"""The client side: what a caller of a server needs to hold."""

from __future__ import annotations

from .client import Client, InputRequired

__all__ = ["Client", "InputRequired"]
