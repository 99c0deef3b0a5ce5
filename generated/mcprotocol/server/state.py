"""State: what a handler needs in its next round, sealed, because it travels through the client and back.

What comes back is an attacker's until its seal is checked (basic/patterns/mrtr, Server Requirements). The seal
covers an expiry and the request that the state belongs to; a client can read the state, and cannot change it.
"""

from __future__ import annotations

import base64
import hmac
import json
import logging
import secrets
import time
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final, cast

from ..errors import InvalidParams

log = logging.getLogger(__name__)

LIFETIME: Final = 900.0
"""Seconds in which a person can be expected to answer."""

SHORTEST_KEY: Final = 16
"""Bytes without which a key can be guessed."""

LARGEST: Final = 1 << 18
"""Characters of a state: it goes both ways in every round."""

UNBOUND: Final = frozenset({"_meta", "inputResponses", "requestState"})
"""The params that differ between the rounds of one request."""


class Seal:
    """Seals states with one key, and opens what the same key has sealed."""

    def __init__(self, key: bytes | str | None = None, lifetime: float = LIFETIME) -> None:
        """Without a key a fresh one is made, which no other process knows; raises ValueError for a short one."""
        secret = key.encode() if isinstance(key, str) else key
        if secret is not None and len(secret) < SHORTEST_KEY:
            raise ValueError(f"a state key must have {SHORTEST_KEY} bytes or more")
        self._key = secret
        self._lifetime = lifetime

    def close(self, payload: Mapping[str, Any], bound_to: bytes) -> str:
        """The payload, any JSON object, as text that only `open` with the same key and binding accepts."""
        body = _text(json.dumps([time.time() + self._lifetime, payload]).encode())
        sealed = f"{body}.{self._mark(body, bound_to)}"
        if len(sealed) > LARGEST:
            raise ValueError(f"the state of a request is {len(sealed)} characters long: {LARGEST} at most")
        return sealed

    def open(self, sealed: str, bound_to: bytes) -> dict[str, Any]:
        """The payload; raises InvalidParams when the text was changed, has expired or belongs elsewhere."""
        body, _, mark = sealed.partition(".")
        # The texts are compared, not what they decode to: of one mark there are several spellings.
        if not hmac.compare_digest(mark.encode(), self._mark(body, bound_to).encode()):
            raise _refused()
        expiry, payload = json.loads(base64.urlsafe_b64decode(body))
        if not time.time() < expiry:
            raise _refused()
        return cast(dict[str, Any], payload)

    def _mark(self, body: str, bound_to: bytes) -> str:
        if self._key is None:
            log.warning("no state_key is set: a request that asks for input can only be continued here")
            self._key = secrets.token_bytes(32)
        # The binding has a fixed length, so that nothing can move between it and the body.
        return _text(hmac.digest(self._key, sha256(bound_to).digest() + body.encode(), "sha256"))


def binding(method: str, params: Mapping[str, Any], principal: str | None) -> bytes:
    """What a state belongs to: the method, what the request asks for, and who asks."""
    # A client that writes no arguments in one round and none of them in the next asks for the same.
    asked = {name: value for name, value in params.items() if name not in UNBOUND and value not in (None, {})}
    return json.dumps([method, asked, principal], sort_keys=True).encode()


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode("ascii")


def _refused() -> InvalidParams:
    # One answer for all of it: which check failed is of use to a forger alone.
    return InvalidParams("requestState is not valid, or no longer: ask again without it")
