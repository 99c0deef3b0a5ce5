"""Types are built at their first use, in whatever thread that is: sixteen threads at once, in processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import race
from emitted import ROOT

PROCESSES = int(os.environ.get("MCP_RACES", "12"))
"""How many processes race; 200 in a long run."""

AT_ONCE = 2
SECONDS = 60


def outcome(number: int) -> tuple[int, str]:
    """How one race ended: the exit code, and all that was printed."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "generated")}
    command = [sys.executable, "-W", "error", str(Path(race.__file__)), str(number)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=SECONDS)
    return done.returncode, done.stdout + done.stderr


def test_the_first_use_of_a_type_may_come_from_many_threads_at_once() -> None:
    with ThreadPoolExecutor(AT_ONCE) as pool:
        outcomes = list(pool.map(outcome, range(PROCESSES)))
    assert PROCESSES > len(race.USES)
    assert [ended for ended in outcomes if ended != (0, "")] == []


def test_a_race_that_is_lost_is_told() -> None:
    numbers: Iterator[int] = iter(range(race.THREADS))
    assert len(race.race([lambda: str(next(numbers))])["<lambda>"]) == race.THREADS
    with pytest.raises(ZeroDivisionError):
        race.race([lambda: str(1 // 0)])


def test_nothing_is_built_before_it_is_used() -> None:
    code = (
        "from mcprotocol.v2026_07_28 import types\n"
        "from mcprotocol.wire import WireModel\n"
        "made = [t for t in vars(types).values() if isinstance(t, type) and issubclass(t, WireModel)]\n"
        "print(len(made) > 100, [t.__name__ for t in made if t.__pydantic_complete__ and t is not WireModel])"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "generated")}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("True []\n", "")
