"""The requests of one conversation by their ids: which one a response answers, and whether an id is free.

Each side counts its own ids, and a message does not say who sent it; what is told is what holds whoever did.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import TypeAlias, get_args

from .ir import Json, Method, Role

SESSION = "initialize"
"""The request that opens a session. Where a revision has it, an id is used once in a session; where it has not,
an id is free again once it was answered."""

ROLES: tuple[Role, ...] = get_args(Role)
Senders: TypeAlias = tuple[Role, ...]


@dataclass(frozen=True)
class Asked:
    """A request: its method, None where the revision does not know it, and the definition of its result."""

    method: Method | None
    result: str

    @property
    def senders(self) -> Senders:
        """The roles that can have sent it."""
        return self.method.senders if self.method is not None else ROLES


class Exchange:
    """What has been asked so far."""

    def __init__(self, *, sessions: bool) -> None:
        """`sessions` says whether the revision has sessions."""
        self._sessions = sessions
        self._open: dict[str, list[Asked]] = {}
        self._taken: dict[str, list[Senders]] = {}
        self._unread = 0

    def ask(self, identity: Json, asked: Asked) -> bool:
        """Note a request; False when its sender has taken the id before."""
        if asked.method is not None and asked.method.wire == SESSION:
            self._taken.clear()
        key = _key(identity)
        self._open.setdefault(key, []).append(asked)
        taken = self._taken.setdefault(key, [])
        free = _possible([*taken, asked.senders])
        if free:
            taken.append(asked.senders)
        return free

    def waiting(self, identity: Json) -> Sequence[Asked]:
        """The unanswered requests of an id: two where both sides use it, or where it was taken twice."""
        return self._open.get(_key(identity), ())

    def answer(self, identity: Json, asked: Asked) -> None:
        """Note that a waiting request was answered."""
        key = _key(identity)
        self._open[key].remove(asked)
        if not self._sessions and asked.senders in self._taken[key]:
            self._taken[key].remove(asked.senders)

    def miss(self) -> None:
        """Note a message that could not be read as the request that it may have been."""
        self._unread += 1

    def excused(self) -> bool:
        """Whether a response without a request may answer one that could not be read; each excuses one."""
        excused = self._unread > 0
        self._unread -= excused
        return excused


def _possible(requests: Sequence[Senders]) -> bool:
    """Whether requests of one id can all have different senders."""
    return any(
        all(role in senders for role, senders in zip(order, requests, strict=True))
        for order in permutations(ROLES, len(requests))
    )


def _key(identity: Json) -> str:
    """An id as a key: 1 and "1" are two ids."""
    return json.dumps(identity)
