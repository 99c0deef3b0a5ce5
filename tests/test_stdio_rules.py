"""The rules of the specification that can be seen over stdio, played over real pipes in every framing."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from asking import made
from piped import FRAMINGS, Heard, Row, Some, Stage, asked, call, compare, fits, notice, said
from scaffolded import Process
from stdio_patterns import CACHES, CANCELLATION, LOGGING, PAGES, PROGRESS, SUBSCRIPTIONS
from stdio_rounds import ANN, ROUNDS
from stdio_rules import ALL, RULES, TRANSPORT, UNSEEN
from wires import PACKAGES

FOLDER = Path(__file__).parent
CONFORMANCE = FOLDER / "conformance"
COMMANDS = {
    "everything": ["-c", "from everything import server; server.run()"],
    "asking": [str(FOLDER / "asking.py")],
}


def replica() -> str:
    """The state that another process with the same key gives."""

    async def ask() -> str:
        dispatcher = made().connect()
        data = await dispatcher.handle(json.dumps(call(1, "greet", ALL)).encode(), _nowhere)
        state: str = json.loads(data or b"")["result"]["requestState"]
        return state

    return asyncio.run(ask())


async def _nowhere(_: bytes) -> None:
    raise AssertionError("nothing is sent before the answer")


REPLICAS = [
    Row(
        "MR-14",
        "any process with the same key takes the next round",
        [
            lambda _: [
                call(2, "greet", ALL, again={"requestState": replica(), "inputResponses": {"user_name": ANN}})
            ]
        ],
        [said(2, "Hello, Ann!")],
        server="asking",
    )
]

TABLE = [
    *(TRANSPORT + ROUNDS + REPLICAS + SUBSCRIPTIONS + CANCELLATION),
    *(PROGRESS + LOGGING + PAGES + CACHES),
]


def start(server: str) -> Process:
    path = os.pathsep.join([PACKAGES, str(CONFORMANCE), str(FOLDER)])
    return Process([sys.executable, *COMMANDS[server]], {**os.environ, "PYTHONPATH": path}, FOLDER)


@pytest.fixture(scope="module")
def idle() -> Generator[dict[str, Process], None, None]:
    """The servers that wait for a row, by their names: no row leaves anything to the next, and one that fails none at all."""
    waiting: dict[str, Process] = {}
    yield waiting
    codes = [process.close() for process in waiting.values()]
    assert codes == [0] * len(codes) and all(process.silent() for process in waiting.values())


_markers = itertools.count()


@pytest.mark.parametrize("framing", FRAMINGS)
@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row.rules}: {row.what}")
def test_a_rule_is_kept(idle: dict[str, Process], row: Row, framing: str) -> None:
    process = None if row.ends else idle.pop(row.server, None)
    stage = Stage(process or start(row.server), FRAMINGS[framing])
    stage.play(row, f"marker {next(_markers)}")
    compare(row, stage.heard)
    if not row.ends:
        idle[row.server] = stage.process


def test_every_rule_is_in_the_table_or_cannot_be_seen() -> None:
    rules = [f"{kind}-{number + 1}" for kind, count in RULES.items() for number in range(count)]
    shown = {rule for row in TABLE for rule in row.rules.split()}
    assert shown | UNSEEN.keys() == set(rules)
    assert not shown & UNSEEN.keys()
    assert all(UNSEEN.values())


A: Heard = [{"id": 1, "result": {"resultType": "complete", "content": [{"type": "text", "text": "a"}]}}]
PROGRESS_1 = {"method": "notifications/progress", "params": {"progressToken": 1, "progress": 1}}


@pytest.mark.parametrize(
    ("came", "heard", "fault"),
    [
        ([said(1, "a")], [], "did not come"),
        ([], A, "came unasked"),
        ([said(1, "a")], A + A, "came unasked"),
        ([said(1, "b")], A, "came unasked"),
        ([said("1", "a")], A, "came unasked"),
        ([said(1, "a"), said(1, "a")], A, "did not come"),
        ([asked(1, key={})], A, "came unasked"),
        ([said(1, "a"), Some(notice("progress", progressToken=1))], A, "did not come"),
        ([notice("progress", progressToken=True)], [PROGRESS_1], "came unasked"),
        ([said(1, "a"), Some(notice("progress"))], [PROGRESS_1, *A], "came in another order"),
    ],
)
def test_a_row_that_is_not_kept_fails(came: list[Any], heard: Heard, fault: str) -> None:
    with pytest.raises(AssertionError, match=fault):
        compare(Row("", "", [], came, ordered=True), heard)


def test_a_pattern_knows_types_and_absence() -> None:
    assert not fits({"a": 1}, {"a": True}) and not fits({"a": 1}, {"a": 1.0}) and not fits([1], [1, 2])
    assert fits({"a": 1}, {"a": 1, "b": 2}) and not fits({"a": None}, {})
