"""Kills the writing of an update over and over, each time at another moment, and prints what trees were found then.

python tests/killing.py PROJECT REVISION TIMES
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sys
import time
from pathlib import Path

from projects import files

from mcpcodegen import commands, update
from mcpcodegen.swap import recover


def restore(project: Path, content: dict[str, bytes]) -> None:
    """Make a project hold this and nothing else."""
    shutil.rmtree(project)
    for path, data in content.items():
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_bytes(data)


def killed(done: update.Update, after: float) -> None:
    """Write an update in another process, which is killed after so many seconds."""
    child = os.fork()
    if not child:
        update.write(done)
        os._exit(0)
    time.sleep(after)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def main(project: Path, revision: str, times: int) -> dict[str, object]:
    """How often the old tree was found, how often the new one, which others; and how often neither was there until it was undone."""
    place = update.place(project)
    done = update.update(place, commands.for_update(place, [revision], None))
    old = files(project)
    begun = time.monotonic()
    update.write(done)
    whole = time.monotonic() - begun
    new = files(project)
    chance = random.Random(20260728)
    found: list[str] = []
    undone = 0
    for _ in range(times):
        restore(project, old)
        killed(done, chance.uniform(0, 1.5) * whole)
        undone += files(project) not in (old, new)
        recover(project)
        now = files(project)
        found.append("old" if now == old else "new" if now == new else str(sorted({*now} ^ {*old})))
    others = [one for one in found if one not in ("old", "new")]
    return {"old": found.count("old"), "new": found.count("new"), "other": others, "undone": undone}


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))))
