"""The handshake era (2025-11-25 and before), answered by the handlers that answer 2026-07-28."""

from __future__ import annotations

from .conversation import Conversation

__all__ = ["Conversation"]
