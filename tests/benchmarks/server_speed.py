"""The generated server beside the official one: what an echo takes, how soon it is there, what it holds.

    python tests/benchmarks/server_speed.py [--rounds N] [--seconds S] [--only http|stdio|start]

Every subject is a process that serves one echo tool (`echo_server.py`). Each round measures all subjects, one
after the other, in an order that rotates; the table has the median of each and the ratio of ours to the
official one. `ours again` is a second process of ours: how far its ratio is from 1 is what the figures may be
off. Rates depend on who else uses the machine; the CPU time of a request much less, and both are measured
within the same seconds. HTTP load comes from another process over bare sockets (`http_load.py`), stdio
load from here over bare pipes, both with requests that were written before.

Needs Linux and the extra `bench`: the official package `mcp`, uvicorn, and uvloop and httptools, which uvicorn
uses for both where they are installed. It measures and does not judge.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, TypeAlias

HERE: Final = Path(__file__).parent
VERSION: Final = "2026-07-28"
TEXT: Final = "hello"
META: Final = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
}

SUBJECTS: Final = {"ours": "ours", "ours again": "ours", "official": "official"}
"""What is compared, and which server it is."""

Times: TypeAlias = Mapping[str, Mapping[str, Sequence[float]]]
"""What was measured, by the row of the table and the subject."""


def message(identity: object, method: str, **params: Any) -> bytes:
    """One request as compact JSON."""
    params["_meta"] = META
    body = {"jsonrpc": "2.0", "id": identity, "method": method, "params": params}
    return json.dumps(body, separators=(",", ":")).encode()


DISCOVER: Final = message(0, "server/discover")
CALL: Final = message("%d", "tools/call", name="echo", arguments={"text": TEXT}).replace(b'"%d"', b"%d")
"""A call of the tool, without its id."""


def post(port: int) -> bytes:
    """The call as an HTTP request."""
    body = CALL % 7
    headers = (
        "POST /mcp HTTP/1.1",
        f"Host: 127.0.0.1:{port}",
        "Accept: application/json, text/event-stream",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        f"MCP-Protocol-Version: {VERSION}",
        "Mcp-Method: tools/call",
        "Mcp-Name: echo",
    )
    return "\r\n".join([*headers, "", ""]).encode() + body


def check(answer: bytes) -> None:
    """Raise ValueError unless this is an answer that echoes the text."""
    try:
        content = json.loads(answer)["result"]["content"]
    except (ValueError, KeyError):
        content = None
    if content != [{"type": "text", "text": TEXT}]:
        raise ValueError(f"not the answer: {answer[:500]!r}")


def cpu_seconds(process: subprocess.Popen[bytes]) -> float:
    """The CPU time that the threads of a process have used so far, to the nanosecond, as `stat` has it not."""
    threads = Path(f"/proc/{process.pid}/task").iterdir()
    return sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads) / 1e9


def resident(process: subprocess.Popen[bytes]) -> float:
    """The memory that a process holds, in MB."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


@contextmanager
def started(server: str, transport: str) -> Generator[subprocess.Popen[bytes], None, None]:
    """A server process, which ends with the block."""
    pipe = subprocess.PIPE if transport == "stdio" else None
    command = [sys.executable, str(HERE / "echo_server.py"), server, transport]
    # All start from compiled modules, as what is installed does.
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, bufsize=0, env=environment)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


class Pipes:
    """The client end of a server's pipes."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None and process.stdout is not None
        self._in, self._out = process.stdin.fileno(), process.stdout.fileno()
        self._sent = 0

    def ask(self, request: bytes) -> bytes:
        """The answer to one message."""
        os.write(self._in, request + b"\n")
        answer = b""
        while not answer.endswith(b"\n"):
            answer += self._read()
        return answer

    def sequential(self, seconds: float) -> int:
        """Call for so long, each time after the answer; returns the number of calls."""
        return self._calls(1, seconds)

    def together(self, seconds: float) -> int:
        """Call for so long, with 32 calls in flight; returns the number of calls."""
        return self._calls(32, seconds)

    def _calls(self, most: int, seconds: float) -> int:
        until = time.perf_counter() + seconds
        self._send(most)
        answered, flying = 0, most
        while flying:
            ended = self._read().count(b"\n")
            answered += ended
            flying -= ended
            if time.perf_counter() < until:
                self._send(ended)
                flying += ended
        return answered

    def _send(self, number: int) -> None:
        lines = b"".join([CALL % (self._sent + index) + b"\n" for index in range(number)])
        self._sent += number
        os.write(self._in, lines)

    def _read(self) -> bytes:
        chunk = os.read(self._out, 1 << 16)
        if not chunk:
            raise EOFError("the server ended")
        return chunk


class Bench:
    """What was measured so far."""

    def __init__(self, rounds: int, seconds: float) -> None:
        self._rounds = rounds
        self._seconds = seconds
        self.found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))

    def start(self) -> None:
        """Cold start and idle memory over stdio."""
        for subject in self._turns(warm=True):
            begun = time.perf_counter()
            with started(SUBJECTS[subject], "stdio") as process:
                answer = Pipes(process).ask(DISCOVER)
                spent = time.perf_counter() - begun
                if "result" not in json.loads(answer):
                    raise ValueError(f"no answer to server/discover: {answer!r}")
                self.found["stdio, cold start to discover's answer, ms"][subject].append(spent * 1e3)
                self.found["stdio, CPU of that, ms"][subject].append(cpu_seconds(process) * 1e3)
                time.sleep(0.2)
                self.found["stdio, idle memory, MB"][subject].append(resident(process))

    def stdio(self) -> None:
        """Calls over pipes."""
        with ExitStack() as stack:
            processes = {
                subject: stack.enter_context(started(server, "stdio")) for subject, server in SUBJECTS.items()
            }
            pipes = {subject: Pipes(process) for subject, process in processes.items()}
            for client in pipes.values():
                check(client.ask(CALL % 7))
                client.together(0.5)
            for subject in self._turns():
                for title, calls in (
                    ("1 in flight", pipes[subject].sequential),
                    ("32 in flight", pipes[subject].together),
                ):
                    before, begun = cpu_seconds(processes[subject]), time.perf_counter()
                    number = calls(self._seconds)
                    spent = time.perf_counter() - begun
                    self._note(f"stdio, {title}", subject, number / spent, processes[subject], before, number)

    def http(self) -> None:
        """Calls over HTTP."""
        with ExitStack() as stack:
            ports = {subject: free_port() for subject in SUBJECTS}
            processes = {
                subject: stack.enter_context(started(server, str(ports[subject])))
                for subject, server in SUBJECTS.items()
            }
            for port in ports.values():
                check(first_answer(port))
                load(port, 4, 0.5)
            for subject in self._turns():
                for connections in (1, 32):
                    before = cpu_seconds(processes[subject])
                    number, spent = load(ports[subject], connections, self._seconds)
                    title = f"HTTP, {connections} connection{'s' * (connections > 1)}"
                    self._note(title, subject, number / spent, processes[subject], before, int(number))
            for subject, process in processes.items():
                self.found["HTTP, memory after the load, MB"][subject].append(resident(process))

    def _note(
        self, row: str, subject: str, rate: float, process: subprocess.Popen[bytes], before: float, calls: int
    ) -> None:
        self.found[f"{row}, calls/s"][subject].append(rate)
        self.found[f"{row}, CPU us/call"][subject].append((cpu_seconds(process) - before) / calls * 1e6)

    def _turns(self, *, warm: bool = False) -> Iterator[str]:
        """Every subject in every round; the first of them changes."""
        if warm:
            for server in set(SUBJECTS.values()):
                with started(server, "stdio") as process:
                    Pipes(process).ask(DISCOVER)
        subjects = list(SUBJECTS)
        for number in range(self._rounds):
            first = number % len(subjects)
            yield from subjects[first:] + subjects[:first]


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def first_answer(port: int) -> bytes:
    """The body of the answer to one call, as soon as the server is there."""
    deadline = time.monotonic() + 30
    while True:
        try:
            connection = socket.create_connection(("127.0.0.1", port), timeout=10)
            break
        except ConnectionRefusedError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
    with connection:
        connection.sendall(post(port).replace(b"\r\n", b"\r\nConnection: close\r\n", 1))
        return b"".join(iter(lambda: connection.recv(1 << 16), b"")).partition(b"\r\n\r\n")[2]


def load(port: int, connections: int, seconds: float) -> tuple[float, float]:
    """The number of calls that were answered, and the time."""
    command = [sys.executable, str(HERE / "http_load.py"), str(port), str(connections), str(seconds)]
    done = subprocess.run(command, input=post(port), stdout=subprocess.PIPE, check=True, timeout=seconds + 30)
    number, spent = map(float, done.stdout.split())
    return number, spent


def table(found: Times) -> str:
    """The medians, and their ratios to the official server and to our own second process."""
    rows = [f"{'':<44}" + "".join(f"{subject:>12}" for subject in SUBJECTS) + f"{'ratio':>9}{'A/A':>7}"]
    for row, by_subject in found.items():
        medians = {subject: statistics.median(values) for subject, values in by_subject.items()}
        shown = "".join(f"{medians[subject]:>12.1f}" for subject in SUBJECTS)
        ratio, noise = (medians["ours"] / medians[other] for other in ("official", "ours again"))
        rows.append(f"{row:<44}{shown}{ratio:>8.2f}x{noise:>7.2f}")
    return "\n".join(rows)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9, help="how often each subject runs (default 9)")
    parser.add_argument("--seconds", type=float, default=1.0, help="length of one load (default 1)")
    parser.add_argument("--only", choices=("start", "stdio", "http"), help="a part of the table")
    arguments = parser.parse_args()
    bench = Bench(max(1, arguments.rounds), arguments.seconds)
    for part in ("start", "stdio", "http"):
        if arguments.only in (None, part):
            getattr(bench, part)()
    print(table(bench.found))
    here = [name for name in ("uvloop", "httptools") if find_spec(name)]
    average = " ".join(f"{one:.1f}" for one in os.getloadavg())
    print(
        f"{arguments.rounds} rounds; uvicorn with {' and '.join(here) or 'h11'}; load average now {average}"
    )


if __name__ == "__main__":
    main()
