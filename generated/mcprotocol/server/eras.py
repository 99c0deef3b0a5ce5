"""The eras that a server of this package answers: 2026-07-28, and the handshake era before it."""

from __future__ import annotations

from .legacy import Conversation

__all__ = ["Conversation"]
