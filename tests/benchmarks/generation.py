"""How long one revision takes, from a cold start to written files, beside the bare type engine on the same file.

    python tests/benchmarks/generation.py SCHEMA [--rounds N]

Both are whole processes: `mcp-codegen generate`, which writes types, methods, stubs, server and client, against
`datamodel-codegen` with its default formatters, which writes types. Rounds are interleaved, so that a busy
machine weighs on both alike. The budget is twice the bare engine; this measures and does not judge.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

BUDGET = 2.0
"""What a generation may take, as a multiple of the bare engine."""

ENGINE = "datamodel-codegen"
OURS = "mcp-codegen generate"


def commands(schema: Path, folder: Path) -> dict[str, list[str]]:
    """What is compared; each writes below `folder`, which does not exist yet."""
    scripts = Path(sys.executable).parent
    return {
        ENGINE: [str(scripts / "datamodel-codegen"), "--input", str(schema), "--output", str(folder / "types.py")],
        OURS: [str(scripts / "mcp-codegen"), "generate", "--quiet", "--schema", str(schema), "-o", str(folder)],
    }  # fmt: skip


def seconds(command: Sequence[str], directory: Path) -> float:
    """Wall-clock time of one process, from `directory`; raises CalledProcessError when it fails."""
    start = time.perf_counter()
    subprocess.run(command, cwd=directory, check=True, capture_output=True)
    return time.perf_counter() - start


def measure(schema: Path, rounds: int) -> dict[str, list[float]]:
    """The times of each command, after one round that warms the disk and is not counted."""
    times: dict[str, list[float]] = {ENGINE: [], OURS: []}
    for number in range(rounds + 1):
        for name in times:
            with tempfile.TemporaryDirectory() as place:
                spent = seconds(commands(schema.absolute(), Path(place))[name], Path(place))
            if number:
                times[name].append(spent)
    return times


def table(times: Mapping[str, Sequence[float]]) -> str:
    """The medians, the spread and the ratio."""
    bare = statistics.median(times[ENGINE])
    rows = [f"{'':<22}{'median':>9}{'fastest':>9}{'slowest':>9}{'ratio':>8}"]
    for name, spent in times.items():
        median = statistics.median(spent)
        rows.append(f"{name:<22}{median:>8.2f}s{min(spent):>8.2f}s{max(spent):>8.2f}s{median / bare:>7.2f}x")
    rows.append(f"{len(times[OURS])} rounds; budget {BUDGET:.2f}x")
    return "\n".join(rows)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("schema", type=Path, help="a published schema.json")
    parser.add_argument("--rounds", type=int, default=7, help="how often each command runs (default 7)")
    arguments = parser.parse_args()
    try:
        times = measure(arguments.schema, max(1, arguments.rounds))
    except subprocess.CalledProcessError as error:
        sys.exit(f"{Path(error.cmd[0]).name} failed: {error.stderr.decode(errors='replace').strip()}")
    print(table(times))


if __name__ == "__main__":
    main()
