"""Raw bytes through a pipe against a scaffolded server: the faults that users of other servers reported."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from scaffolded import META, Process, call, request, run, scaffold, start

AUTHOR = '''
"""A server with the habits that broke others."""

import logging
import subprocess
import sys
import time

from ._mcp.server import Server

print("printed at import")
sys.stdout.flush()
logging.basicConfig(stream=sys.stdout, level=logging.INFO, force=True)

server = Server("habits", version="1")


@server.tool()
async def echo(text: str) -> str:
    """Give back a text."""
    return text


@server.tool()
def slow(seconds: float) -> str:
    """Wait, as a plain function does."""
    time.sleep(seconds)
    return "slept"


@server.tool()
def noisy() -> str:
    """Print, log, and let a child print and read."""
    print("printed in a handler")
    print("unprintable \\u8aad")
    logging.warning("logged to stdout")
    child = "import sys; print('a child printed', flush=True); print(repr(sys.stdin.read()), file=sys.stderr)"
    subprocess.run([sys.executable, "-c", child], check=True)
    return "done"
'''


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = scaffold("habits", tmp_path_factory.mktemp("a folder"))
    (made / "src/habits/server.py").write_text(AUTHOR)
    return made


@pytest.fixture
def server(project: Path, tmp_path: Path) -> Iterator[Process]:
    with start(project, tmp_path) as process:
        yield process


def code(message: dict[str, Any]) -> int:
    found: int = message["error"]["code"]
    return found


@pytest.mark.parametrize("identity", ["null", "1.5", "true", "1.0", "[]", "{}"])
def test_an_id_that_is_no_string_and_no_integer_is_an_invalid_request(server: Process, identity: str) -> None:
    message = server.ask(request(0, "tools/list").replace(b'"id": 0', f'"id": {identity}'.encode()))
    assert code(message) == -32600
    assert "id" not in message


@pytest.mark.parametrize(
    "identity", ['"1"', '"007"', "0", "-3", "9007199254740993", "36893488147419103232", '""']
)
def test_an_id_comes_back_with_its_type_and_text(server: Process, identity: str) -> None:
    server.send(request(0, "tools/list").replace(b'"id": 0', f'"id": {identity}'.encode()))
    assert f'"id":{identity},' in server.line().decode()


def test_an_unknown_log_level_fails_its_own_request_only(server: Process) -> None:
    bad = {**META, "io.modelcontextprotocol/logLevel": "trace"}
    open_ended = {**META, "io.modelcontextprotocol/clientCapabilities": {"future": {"x": 1}}}
    assert code(server.ask(request(1, "tools/list", bad))) == -32602
    assert "result" in server.ask(request(2, "tools/list"))
    assert "result" in server.ask(request(3, "tools/list", open_ended))


def test_each_bad_envelope_gets_its_code_and_the_next_message_is_served(server: Process) -> None:
    valid = request(7, "tools/list")
    table: list[tuple[bytes, int]] = [
        (b"not json\n", -32700),
        (b"[]\n", -32600),
        (b"[" + valid.strip() + b"]\n", -32600),
        (b'{"hello":1}\n', -32600),
        (valid.replace(b'"jsonrpc": "2.0", ', b""), -32600),
        (request(8, "no/such"), -32601),
    ]
    assert [code(server.ask(line)) for line, _ in table] == [expected for _, expected in table]
    assert server.ask(valid)["id"] == 7


def test_errors_echo_the_id_wherever_it_could_be_read(server: Process) -> None:
    valid = request("a", "tools/list")
    assert server.ask(valid.replace(b'"jsonrpc": "2.0", ', b""))["id"] == "a"
    assert server.ask(valid.replace(b"tools/list", b"no/such"))["id"] == "a"
    assert server.ask(b'{"jsonrpc":"2.0","id":"a","method":5}\n')["id"] == "a"
    assert server.ask(b'{"jsonrpc":"2.0","id":"a","method":"tools/list","params":[]}\n')["id"] == "a"
    assert server.ask(request("a", "tools/list", {}))["id"] == "a"


@pytest.mark.parametrize("missing", list(META))
def test_metadata_that_a_request_lacks_is_named(server: Process, missing: str) -> None:
    message = server.ask(request(1, "tools/list", {key: META[key] for key in META if key != missing}))
    assert code(message) == -32602
    assert missing in message["error"]["message"]


def test_a_revision_that_is_not_served_is_answered_with_those_that_are(server: Process) -> None:
    message = server.ask(
        request(1, "no/such", {**META, "io.modelcontextprotocol/protocolVersion": "2999-01-01"})
    )
    assert message["error"]["code"] == -32022
    assert message["error"]["data"] == {"supported": ["2026-07-28"], "requested": "2999-01-01"}


def test_unknown_and_malformed_notifications_are_met_with_silence(server: Process) -> None:
    server.send(b'{"jsonrpc":"2.0","method":"codex/event","params":{"x":1}}\n' * 100)
    for params in (b"{}", b"[]", b'{"requestId":[]}', b'{"requestId":999}', b'{"requestId":null}', b"7"):
        server.send(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":' + params + b"}\n")
    assert server.ask(request(1, "tools/list"))["id"] == 1
    assert server.close() == 0
    assert len(server.raw) == 1
    assert len(server.errors) <= 106 + 5


def test_a_slow_plain_function_holds_up_nobody(server: Process) -> None:
    server.ask(request(0, "server/discover"))  # the server has started
    server.send(call("slow", "slow", seconds=2))
    begun = time.monotonic()
    assert server.ask(request("quick", "server/discover"))["id"] == "quick"
    assert time.monotonic() - begun < 0.5  # the bound that the report asks for
    assert server.answer()["id"] == "slow"


def test_standard_output_carries_messages_and_nothing_else(server: Process) -> None:
    assert server.ask(call(1, "noisy"))["result"]["content"][0]["text"] == "done"
    assert server.close() == 0
    assert [json.loads(line)["id"] for line in server.raw] == [1]
    stray = b"".join(server.errors).decode()
    for text in ("printed at import", "printed in a handler", "logged to stdout", "a child printed", "''"):
        assert text in stray


def test_bytes_go_through_untouched_whatever_the_locale_says(project: Path, tmp_path: Path) -> None:
    with start(project, tmp_path, PYTHONIOENCODING="ascii", LC_ALL="C", PYTHONUTF8="0") as server:
        line = call(1, "echo", text="読🎉")
        assert server.ask(line)["result"]["content"][0]["text"] == "読🎉"
        assert server.ask(line.replace(b"\n", b"\r\n"))["result"]["content"][0]["text"] == "読🎉"
        assert code(server.ask(b"\xff\xfe\n")) == -32700
        for byte in call(2, "echo", text="読🎉"):
            server.send(bytes([byte]))
        assert server.answer()["result"]["content"][0]["text"] == "読🎉"
        assert code(server.ask(call(3, "echo", text="x").replace(b'"x"', b'"\xff"'))) == -32700
        assert server.ask(call(4, "noisy"))["id"] == 4
        assert server.close() == 0
    assert not any(b"\r" in line for line in server.raw)


def test_line_breaks_inside_a_text_do_not_break_the_line(server: Process) -> None:
    text = "one\ntwo\r\nthree\u2028four"
    assert server.ask(call(1, "echo", text=text))["result"]["content"][0]["text"] == text


def test_blank_lines_are_no_messages(server: Process) -> None:
    server.send(b"\n\r\n  \n" + request(1, "tools/list"))
    assert server.answer()["id"] == 1
    assert server.silent()


def test_a_message_of_eight_mebibytes_is_served(server: Process) -> None:
    text = "x" * (8 * 1024 * 1024)
    assert server.ask(call(1, "echo", text=text))["result"]["content"][0]["text"] == text
    assert server.ask(call(2, "echo", text="small"))["id"] == 2


def test_a_message_over_the_limit_is_refused_and_the_next_one_served(server: Process) -> None:
    from mcprotocol.lines import MAX_MESSAGE_BYTES

    message = server.ask(b"x" * (MAX_MESSAGE_BYTES + 1) + b"\n")
    assert code(message) == -32600
    assert str(MAX_MESSAGE_BYTES) in message["error"]["message"]
    assert server.ask(request(1, "tools/list"))["id"] == 1


def test_time_grows_in_step_with_the_length_of_a_message(server: Process) -> None:
    server.ask(call(0, "echo", text="warm"))

    def seconds(size: int) -> float:
        begun = time.perf_counter()
        server.ask(call(1, "echo", text="x" * size))
        return time.perf_counter() - begun

    one, eight = (min(seconds(size) for _ in range(3)) for size in (1024 * 1024, 8 * 1024 * 1024))
    assert eight / one < 32  # linear is 8, quadratic is 64; between them room for a noisy machine


def test_everything_accepted_is_answered_before_the_server_ends(project: Path, tmp_path: Path) -> None:
    lines = tmp_path / "requests"
    lines.write_bytes(
        call(1, "echo", text="a") + call(2, "slow", seconds=0.3) + request(3, "tools/list").strip()
    )
    done = run(project, lines)
    assert done.returncode == 0
    assert sorted(json.loads(line)["id"] for line in done.stdout.splitlines()) == [1, 2, 3]


def test_no_input_at_all_ends_the_server(project: Path) -> None:
    begun = time.monotonic()
    assert run(project, Path("/dev/null")).returncode == 0
    assert time.monotonic() - begun < 5  # the bound that the report asks for


def test_a_handler_that_hangs_does_not_keep_the_server_alive(project: Path, tmp_path: Path) -> None:
    lines = tmp_path / "requests"
    lines.write_bytes(call(1, "echo", text="a") + call(2, "slow", seconds=60))
    begun = time.monotonic()
    done = run(project, lines)
    assert (
        time.monotonic() - begun < 6
    )  # three seconds of grace, and the start of a process on a slow machine
    assert done.returncode == 0
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [1]
