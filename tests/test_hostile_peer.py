"""A hostile peer: thousands of bad messages to a running server, each of which gets exactly what it is owed.

Nothing crashes, nothing hangs, no memory is lost, and the next good request is answered.
"""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from hosted import body, hosted
from judged import Conversation
from malice import Message, Owed, messages, owed
from scaffolded import request
from steady import ENV, GROWTH, LIMIT, LINUX, SMALL, Caller, resident
from wires import PATIENCE

COUNT = 10_000
WARM = 2_000
"""So many messages to begin with may make the process grow: caches fill, pools of threads and memory are made."""

BURST = 50
"""Messages that are on their way at the same time."""


def bursts(seed: int) -> Iterator[Sequence[Message]]:
    made = list(messages(seed, COUNT, LIMIT))
    return (made[start : start + BURST] for start in range(0, COUNT, BURST))


def test_the_messages_are_of_every_kind_and_the_same_each_time() -> None:
    made = list(messages(1, 3000, LIMIT))
    assert made == list(messages(1, 3000, LIMIT)) != list(messages(2, 3000, LIMIT))
    kinds = Counter(message.kind for message in made)
    assert len(kinds) == 14 and min(kinds.values()) > 20
    assert all(b"\n" not in message.data and not message.data.isspace() for message in made)
    identities = [message.owed.identity for message in made if message.owed and message.owed.identity]
    assert len(identities) > 1000 and len(set(identities)) > 0.99 * len(identities)
    for kind in ("deep", "unheld", "mutated"):
        assert {message.owed is None for message in made if message.kind == kind} >= {False}
    assert {message.kind for message in made if message.owed is None} >= {"notice", "deep", "unheld"}


# Over a pipe.


class Piped:
    """A server at the end of a pipe, and what it still owes."""

    def __init__(self, process: Process) -> None:
        assert process.stdin and process.stdout
        self.process, self._stdin, self._stdout = process, process.stdin, process.stdout
        self._conversation = Conversation()

    async def settle(self, burst: Sequence[Message]) -> None:
        """Send messages all at once, and take the answers that they are owed, each with its id."""
        data = b"".join(message.data + b"\n" for message in burst)
        self._conversation.sent(data)
        self._stdin.write(data)
        due = Counter(message.owed.identity for message in burst if message.owed)
        answers = [await self._answer() for _ in range(due.total())]
        compare(due, answers, burst)

    async def end(self) -> bytes:
        self._stdin.close()
        rest = await self._stdout.read()
        assert await self.process.wait() == 0
        return rest

    async def _answer(self) -> dict[str, Any]:
        line = await self._stdout.readline()
        self._conversation.received(line)
        answer: dict[str, Any] = json.loads(line)
        return answer


def compare(due: Counter[str | None], answers: Sequence[dict[str, Any]], burst: Sequence[Message]) -> None:
    found = Counter(owed(answer)[0] for answer in answers)
    assert found == due, (found - due, due - found, [message for message in burst])
    codes = {message.owed.identity: message for message in burst if message.owed and message.owed.identity}
    for identity, code in map(owed, answers):
        message = codes.get(identity or "")
        assert message is None or message.owed is None or code in message.owed.codes, (message, code)
    nameless = Counter(message.owed.codes for message in burst if message.owed and not message.owed.identity)
    allowed = Counter(code for codes in nameless.elements() for code in codes)
    assert not Counter(code for identity, code in map(owed, answers) if identity is None) - allowed


@LINUX
def test_a_pipe_full_of_malice_is_answered_message_by_message() -> None:
    async def run() -> bytes:
        process = await asyncio.create_subprocess_exec(
            sys.executable, str(SMALL), stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env=ENV, limit=1 << 20
        )
        try:
            piped, warm = Piped(process), 0
            for number, burst in enumerate(bursts(2026)):
                async with asyncio.timeout(PATIENCE):
                    await piped.settle(burst)
                if number == WARM // BURST:
                    warm = resident(process.pid)
            assert warm and resident(process.pid) - warm < GROWTH
            async with asyncio.timeout(PATIENCE):
                await piped.settle([Message(request(0, "tools/list").strip(), Owed("0", (None,)))])
                return await piped.end()
        finally:
            with suppress(ProcessLookupError):
                process.kill()

    assert asyncio.run(run()) == b"", "nothing but what was owed"


# Over HTTP.


@LINUX
def test_posts_full_of_malice_are_answered_one_by_one() -> None:
    async def run() -> None:
        async with hosted(sys.executable, SMALL, "--http") as site:
            callers = [Caller(site.url) for _ in range(8)]

            async def call(caller: Caller, burst: Sequence[Message]) -> None:
                for message in burst:
                    await caller.post(message)

            warm = 0
            for number, burst in enumerate(bursts(728)):
                async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as group:
                    for index, caller in enumerate(callers):
                        group.create_task(call(caller, burst[index :: len(callers)]))
                if number == WARM // BURST:
                    warm = resident(site.process.pid)
            assert warm and resident(site.process.pid) - warm < GROWTH
            await callers[0].post(Message(body(0, "tools/list"), Owed("0", (None,))))
            for caller in callers:
                await caller.close()
        assert not any("Traceback" in line and "for the log" not in line for line in site.errors)

    asyncio.run(run())
