"""A server as a process: raw bytes through real pipes, and the generated client at the other end."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

import judged
import pytest
from mcprotocol.client import Client
from mcprotocol.errors import InvalidRequest
from mcprotocol.latest import types
from mcprotocol.lines import KEPT, Lines, TooLong

META: dict[str, Any] = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
HABITS = Path(__file__).parent / "servers" / "habits.py"
COMMAND = [sys.executable, str(HABITS)]
PACKAGES = str(Path(sys.modules["mcprotocol"].__file__ or "").parents[1])
ENV = {**os.environ, "PYTHONPATH": PACKAGES}


def request(identity: object, method: str, **params: Any) -> bytes:
    message = {"jsonrpc": "2.0", "id": identity, "method": method, "params": {"_meta": META, **params}}
    return json.dumps(message, ensure_ascii=False).encode() + b"\n"


def call(identity: object, tool: str, **arguments: Any) -> bytes:
    return request(identity, "tools/call", name=tool, arguments=arguments)


def cancelled(identity: object) -> bytes:
    params = {"requestId": identity}
    return (
        json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}).encode() + b"\n"
    )


def piped(data: bytes, *options: str, env: Mapping[str, str] = ENV) -> subprocess.CompletedProcess[bytes]:
    """A whole run with `data` as its input."""
    done = subprocess.run([*COMMAND, *options], input=data, capture_output=True, env=env, timeout=10)
    assert done.returncode == 0, done.stderr
    judged.answers(data, done.stdout)
    return done


def answers(done: subprocess.CompletedProcess[bytes], data: bytes | None = None) -> list[Any]:
    """Every line of the output, read: one that is no message fails here, and is judged by the input if that is given."""
    assert b"\r" not in done.stdout and (not done.stdout or done.stdout.endswith(b"\n"))
    if data is not None:
        judged.answers(data, done.stdout)
    return [json.loads(line) for line in done.stdout.splitlines()]


def said(answer: Any) -> str:
    return str(answer["result"]["content"][0]["text"])


def stream(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    return pipe


@contextmanager
def serving(*options: str) -> Generator[subprocess.Popen[bytes], None, None]:
    with subprocess.Popen(
        [*COMMAND, *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=ENV,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def ask(process: subprocess.Popen[bytes], data: bytes) -> Any:
    stream(process.stdin).write(data)
    stream(process.stdin).flush()
    return answered(process, data)


def answered(process: subprocess.Popen[bytes], data: bytes) -> Any:
    """The answer to what was sent."""
    [answer] = judged.answers(data, stream(process.stdout).readline())
    return answer


# What goes to which stream.


def test_stdout_holds_messages_and_stderr_the_rest() -> None:
    done = piped(
        call(1, "noise") + call(2, "crash") + call(3, "echo", text="読🎉"),
        env={**ENV, "PYTHONIOENCODING": "ascii"},
    )
    by_id = {answer["id"]: answer for answer in answers(done)}
    assert said(by_id[1]) == "b''", "a child reads nothing of the protocol"
    assert said(by_id[2]) == "Tool crash failed" and said(by_id[3]) == "読🎉"
    for text in (
        b"printed at import",
        b"printed in a handler \\u8aad",
        b"logged to stdout",
        b"by a child",
        b"for the log",
    ):
        assert text in done.stderr


def test_the_input_is_utf_8_lines_with_either_end_and_a_bad_one_spoils_itself_only() -> None:
    lines = [
        request(1, "server/discover").replace(b"\n", b"\r\n"),
        b"\n  \r\n",
        b"\xff\xfe\n",
        b"not json\n",
        call(2, "echo", text="読🎉"),
        b'{"jsonrpc":"2.0","method":"codex/event"}\n' * 100,
        request(3, "server/discover").rstrip(),
    ]
    done = answers(piped(b"".join(lines)))
    assert sorted(answer["error"]["code"] for answer in done if "error" in answer) == [-32700, -32700]
    assert sorted(answer["id"] for answer in done if "result" in answer) == [1, 2, 3]


def test_a_line_may_come_byte_by_byte() -> None:
    with serving() as process:
        data = call(1, "echo", text="読🎉")
        for byte in data:
            os.write(stream(process.stdin).fileno(), bytes([byte]))
        assert said(answered(process, data)) == "読🎉"


# Large messages.


def test_eight_mebibytes_go_both_ways_in_time_that_grows_no_faster_than_they_do() -> None:
    def seconds(process: subprocess.Popen[bytes], mebibytes: int) -> float:
        started = time.perf_counter()
        assert len(said(ask(process, call(1, "echo", text="x" * (mebibytes << 20))))) == mebibytes << 20
        return time.perf_counter() - started

    with serving() as process:
        small = min(seconds(process, 1) for _ in range(3))
        assert seconds(process, 8) < max(40 * small, 1.0), "quadratic work would take 64 times as long"
        assert said(ask(process, call(2, "echo", text="still here"))) == "still here"


def test_a_message_over_the_limit_is_refused_and_forgotten() -> None:
    limit = 4096
    fitting = call(1, "echo", text="")
    fitting = call(1, "echo", text="x" * (limit - len(fitting) + 1))
    lines = [
        fitting,
        fitting.replace(b"xx", b"xxx", 1),
        b"y" * (64 << 20) + b"\n",
        call(2, "echo", text="after"),
    ]
    done = answers(piped(b"".join(lines), str(limit)))
    errors = [answer for answer in done if "error" in answer]
    assert [(error["error"]["code"], "id" in error) for error in errors] == [(-32600, False)] * 2
    assert str(limit) in errors[0]["error"]["message"]
    assert sorted(answer["id"] for answer in done if "result" in answer) == [1, 2]


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the memory of a process from /proc")
def test_a_message_over_the_limit_takes_no_memory() -> None:
    def peak(process: subprocess.Popen[bytes]) -> int:
        status = Path(f"/proc/{process.pid}/status").read_text()
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))

    with serving("65536") as process:
        ask(process, call(1, "echo", text="warm"))
        before = peak(process)
        assert ask(process, b"z" * (64 << 20) + b"\n")["error"]["code"] == -32600
        assert peak(process) - before < 8 << 10


# Side by side.


def test_a_slow_handler_keeps_nobody_waiting() -> None:
    with serving() as process:
        ask(process, request(0, "server/discover"))
        slow = call(1, "sleep", seconds=0.6)
        stream(process.stdin).write(slow)
        started = time.perf_counter()
        assert ask(process, request(2, "server/discover"))["id"] == 2
        assert time.perf_counter() - started < 0.5
        assert answered(process, slow)["id"] == 1


def test_what_is_cancelled_is_not_answered() -> None:
    lines = [call(5, "wait", seconds=0.3), call("5", "wait", seconds=0.3), call(6, "sleep", seconds=0.3)]
    done = answers(
        piped(b"".join([*lines, cancelled(5), cancelled(6), cancelled(999), call(7, "echo", text="a")]))
    )
    assert sorted(str(answer["id"]) for answer in done) == ["5", "7"]
    assert [answer["id"] for answer in done if str(answer["id"]) == "5"] == ["5"]


def test_many_answers_are_whole_lines_and_each_request_has_one() -> None:
    done = answers(piped(b"".join(call(index, "repeat", text="ü", times=index * 7) for index in range(500))))
    assert sorted((answer["id"], len(said(answer))) for answer in done) == [(i, i * 7) for i in range(500)]


def test_a_client_that_reads_late_gets_everything() -> None:
    with serving() as process:
        data = b"".join(call(index, "repeat", text="x", times=1 << 20) for index in range(8))
        stream(process.stdin).write(data)
        stream(process.stdin).close()
        time.sleep(0.5)
        late = judged.answers(data, stream(process.stdout).read())
        assert sorted(answer["id"] for answer in late) == list(range(8))
        assert process.wait(5) == 0


# The end.


def test_the_end_of_the_input_leaves_time_for_the_answers_that_are_due() -> None:
    lines = [call(1, "sleep", seconds=0.3), call(2, "wait", seconds=0.2), call(3, "echo", text="a").rstrip()]
    assert sorted(answer["id"] for answer in answers(piped(b"".join(lines)))) == [1, 2, 3]


def test_a_handler_that_does_not_end_does_not_keep_the_process() -> None:
    with ExitStack() as stack:
        processes = {tool: stack.enter_context(serving()) for tool in ("sleep", "wait", "hang", "block")}
        for tool, process in processes.items():
            assert said(ask(process, call(1, "echo", text="a"))) == "a"
            stream(process.stdin).write(call(2, tool, seconds=60))
            stream(process.stdin).close()
        started = time.perf_counter()
        assert {tool: process.wait(5) for tool, process in processes.items()} == dict.fromkeys(processes, 0)
        assert 0.5 < time.perf_counter() - started < 4


def test_a_process_without_input_ends_at_once() -> None:
    redirections = ["</dev/null", "<&-", "2>&- </dev/null", "<&- 2>&-", ">&- </dev/null"]
    started = [
        subprocess.Popen(
            f'exec "{sys.executable}" "{HABITS}" {redirection}',
            shell=True,
            env=ENV,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        for redirection in redirections
    ]
    ended = [(process.communicate(timeout=10)[0], process.returncode) for process in started]
    assert dict(zip(redirections, ended, strict=True)) == dict.fromkeys(redirections, (b"", 0))


def test_a_closed_stderr_does_not_disturb_the_messages() -> None:
    script = f'"{sys.executable}" "{HABITS}" 2>&-'
    data = call(1, "noise") + call(2, "crash")
    done = subprocess.run(script, shell=True, env=ENV, input=data, capture_output=True, timeout=5)
    assert sorted(answer["id"] for answer in answers(done, data)) == [1, 2]


def test_a_file_can_be_the_input(tmp_path: Path) -> None:
    data = call(1, "sleep", seconds=0.1) + call(2, "echo", text="a")
    (tmp_path / "in").write_bytes(data)
    with (tmp_path / "in").open("rb") as file:
        done = subprocess.run(COMMAND, stdin=file, capture_output=True, env=ENV, timeout=5)
    assert sorted(answer["id"] for answer in answers(done, data)) == [1, 2]


def test_a_server_that_nobody_hears_ends_quietly() -> None:
    with subprocess.Popen(
        COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENV
    ) as process:
        stream(process.stdout).close()
        stream(process.stdin).write(call(1, "echo", text="a") + call(2, "wait", seconds=60))
        stream(process.stdin).flush()
        assert process.wait(5) == 0
        assert b"Traceback" not in stream(process.stderr).read()


def test_an_interrupt_ends_the_process_quietly() -> None:
    with subprocess.Popen(
        COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENV
    ) as process:
        ask(process, call(1, "echo", text="a"))
        stream(process.stdin).write(call(2, "sleep", seconds=60))
        stream(process.stdin).flush()
        process.send_signal(signal.SIGINT)
        assert process.wait(5) == 130
        assert b"Traceback" not in stream(process.stderr).read()


# Lines.


def test_lines_do_not_depend_on_the_chunks_they_come_in() -> None:
    data = b'\n{"a":1}\r\n \n' + b"x" * 50 + b"\ny" + b"z" * 9 + b"\n" + "ü".encode()
    whole = Lines(20)
    expected = [*whole.feed(data), *whole.close()]
    assert expected == [b'{"a":1}\r', TooLong(b"x" * 20, b"x" * 50), b"y" + b"z" * 9, "ü".encode()]
    for size in (1, 2, 3, 7, 20, 21, 50):
        lines = Lines(20)
        found = [
            line for start in range(0, len(data), size) for line in lines.feed(data[start : start + size])
        ]
        assert found + lines.close() == expected


def test_of_a_line_that_is_too_long_both_ends_are_kept() -> None:
    data = bytes(range(65, 91)) * 1000
    for size in (1000, 1500, 4999, 50_000):
        lines = Lines(5000)
        for start in range(0, len(data), size):
            assert lines.feed(data[start : start + size]) == []
        assert lines.close() == [TooLong(data[:KEPT], data[-KEPT:])]


def test_the_limit_is_the_longest_line_that_passes() -> None:
    for chunks in ([b"12345\n123456\n"], [b"123", b"45\n12", b"3456\n"], [b"12345", b"\n", b"123456", b"\n"]):
        lines = Lines(5)
        assert [line for chunk in chunks for line in lines.feed(chunk)] == [
            b"12345",
            TooLong(b"12345", b"123456"),
        ]
        assert lines.close() == []


# The client at the other end.


def child(script: str) -> Client:
    return Client.stdio([sys.executable, "-c", script])


def run(work: Callable[[Client], Any], client: Client) -> None:
    async def connected() -> None:
        async with client:
            await work(client)

    asyncio.run(connected())


def test_the_generated_client_speaks_to_the_generated_server(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(client: Client) -> None:
        assert (await client.discover()).supported_versions == ["2026-07-28"]
        long = "ü" * (4 << 20)
        assert (await client.call_tool("echo", {"text": long})).content == [types.TextContent(text=long)]
        calls = (client.call_tool("repeat", {"text": "x", "times": times}) for times in range(50))
        lengths = [len(vars(result.content[0])["text"]) for result in await asyncio.gather(*calls)]
        assert lengths == list(range(50))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(client.call_tool("wait", {"seconds": 60}), 0.05)
        with pytest.raises(InvalidRequest, match="16777216"):
            await client.call_tool("echo", {"text": "x" * (17 << 20)})
        assert await client.discover()

    started = time.perf_counter()
    run(scenario, Client.stdio(COMMAND, env={"PYTHONPATH": PACKAGES}))
    assert time.perf_counter() - started < 5, "the cancelled call must not hold up the end"
    assert "could not read a message" in caplog.text


BANNER = f"""
import sys
print("Welcome!", flush=True)
print(flush=True)
sys.path.insert(0, {PACKAGES!r})
from mcprotocol.server import Server
Server("late", version="1").run()
"""


def test_a_banner_is_reported_and_skipped(caplog: pytest.LogCaptureFixture) -> None:
    run(lambda client: client.discover(), child(BANNER))
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    assert "Welcome!" in caplog.text


def test_calls_fail_at_once_when_the_server_dies() -> None:
    async def scenario(client: Client) -> None:
        with pytest.raises(ConnectionError, match="exit code 3"):
            await asyncio.wait_for(client.discover(), 5)
        with pytest.raises(ConnectionError, match="exit code 3"):
            await client.discover()

    run(scenario, child("import sys; sys.stdin.readline(); sys.exit(3)"))


def test_a_server_that_will_not_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcprotocol.client.process.EXIT_SECONDS", 0.2)
    monkeypatch.setattr("mcprotocol.client.process.FORCE_SECONDS", 0.2)
    script = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"

    async def scenario(client: Client) -> None:
        await asyncio.sleep(0.3)

    started = time.perf_counter()
    run(scenario, child(script))
    assert time.perf_counter() - started < 5


def test_a_command_that_is_not_there_is_one_error_that_names_it() -> None:
    with pytest.raises(ConnectionError, match="'/no/such/server' cannot be started"):
        run(lambda client: client.discover(), Client.stdio(["/no/such/server"]))


def test_environment_and_folder_of_a_server_can_be_given(tmp_path: Path) -> None:
    script = "import os, sys; open('seen', 'w').write(os.environ['GIVEN'] + str('PATH' in os.environ)); sys.stdin.read()"

    async def scenario(client: Client) -> None:
        while not (tmp_path / "seen").exists():
            await asyncio.sleep(0.01)

    run(scenario, Client.stdio([sys.executable, "-c", script], env={"GIVEN": "yes "}, cwd=tmp_path))
    assert (tmp_path / "seen").read_text() == "yes True"
