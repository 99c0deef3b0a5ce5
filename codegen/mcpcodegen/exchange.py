"""The requests of one conversation by their ids: which one a response answers, and whether an id is free.

Each side counts its own ids, and a message does not say who sent it; what is told is what holds whoever did. A
message that is wrong itself may have been the counterpart of another, which is then not told to lack one.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, permutations
from typing import TypeAlias, get_args

from .ir import Json, Method, Role

SESSION = "initialize"
"""The request that opens a session. Where a revision has it, an id is used once in a session; where it has not,
an id is free again once it was answered."""

NEAR = 8
"""How many requests are looked at for one that an answer can belong to: of those that were lost, and of those that
wait for one id."""

ROLES: tuple[Role, ...] = get_args(Role)
Senders: TypeAlias = tuple[Role, ...]


@dataclass(frozen=True)
class Asked:
    """A request: its method, None where the revision does not know it; whether it asked for a task, None where
    that cannot be told."""

    method: Method | None
    task: bool | None

    @property
    def senders(self) -> Senders:
        """The roles that can have sent it."""
        return self.method.senders if self.method is not None else ROLES


class Exchange:
    """What has been asked so far."""

    def __init__(self, *, sessions: bool) -> None:
        """`sessions` says whether the revision has sessions."""
        self._sessions = sessions
        self._open: dict[str, dict[Asked, int]] = {}
        self._taken: dict[str, list[Senders]] = {}
        self._lost: list[Asked] = []
        self._lost_answers = 0

    def ask(self, identity: Json, asked: Asked) -> bool:
        """Note a request; False when its sender has taken the id before."""
        if asked.method is not None and asked.method.wire == SESSION:
            self._taken.clear()
        key = _key(identity)
        waiting = self._open.setdefault(key, {})
        waiting[asked] = waiting.pop(asked, 0) + 1
        taken = self._taken.setdefault(key, [])
        if _possible([*taken, asked.senders]):
            taken.append(asked.senders)
            return True
        if not self._sessions and self._lost_answers:
            self._lost_answers -= 1
            return True
        self._lost.append(Asked(None, None))
        return False

    def waiting(self, identity: Json) -> Sequence[Asked]:
        """The unanswered requests of an id, the latest first: two where both sides use it, or it was taken twice.

        Requests that are alike are one here, and so many that no sender can have meant them are cut short.
        """
        return list(islice(reversed(self._open.get(_key(identity), {})), NEAR))

    def answer(self, identity: Json, asked: Asked) -> None:
        """Note that a waiting request was answered."""
        key = _key(identity)
        self._open[key][asked] -= 1
        if not self._open[key][asked]:
            del self._open[key][asked]
        if not self._sessions and asked.senders in self._taken[key]:
            self._taken[key].remove(asked.senders)

    def lose(self) -> None:
        """Note a message that could not be read as the request, or the answer, that it may have been."""
        self.lose_request(Asked(None, None))
        self.lose_answer()

    def lose_request(self, asked: Asked) -> None:
        """Note a request whose id could not be read."""
        self._lost.append(asked)

    def lose_answer(self) -> None:
        """Note an answer that could not be matched."""
        self._lost_answers += 1

    @property
    def lost(self) -> Sequence[Asked]:
        """The latest requests whose ids could not be read; their answers have ids that nothing waits for."""
        return self._lost[-NEAR:]

    def recover(self, asked: Asked) -> None:
        """Note that a lost request was answered."""
        latest = reversed(range(len(self._lost)))
        del self._lost[next(index for index in latest if self._lost[index] == asked)]


def _possible(requests: Sequence[Senders]) -> bool:
    """Whether requests of one id can all have different senders."""
    return any(
        all(role in senders for role, senders in zip(order, requests, strict=True))
        for order in permutations(ROLES, len(requests))
    )


def _key(identity: Json) -> str:
    """An id as a key: 1 and "1" are two ids, 1 and 1.0 are one integer."""
    whole = isinstance(identity, float) and identity.is_integer()
    return json.dumps(int(identity) if whole else identity)
