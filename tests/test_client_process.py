"""The client over stdio against scripted peers: child processes that say what a server must not, or nothing, or die."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import os
import re
import signal
import sys
import textwrap
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mcprotocol.client import Client, Disconnected, Missed
from mcprotocol.errors import InvalidRequest
from mcprotocol.latest import types

PATIENCE = 20.0

PRELUDE = """
import json, os, random, sys, time

def answer(message, **result):
    say({"jsonrpc": "2.0", "id": message["id"], "result": {"resultType": "complete", **result}})

def text(message, what):
    answer(message, content=[{"type": "text", "text": what}])

def say(message):
    raw(json.dumps(message) + "\\n")

def raw(what):
    sys.stdout.write(what)
    sys.stdout.flush()

def messages():
    for line in sys.stdin:
        yield json.loads(line)

"""


@pytest.fixture
def script(tmp_path: Path) -> Callable[[str], list[str]]:
    """The command of a peer that runs a script, in which there are `messages`, `answer`, `text`, `say` and `raw`."""

    def written(body: str) -> list[str]:
        file = tmp_path / f"peer{len(list(tmp_path.iterdir()))}.py"
        file.write_text(PRELUDE + textwrap.dedent(body))
        return [sys.executable, str(file)]

    return written


Scripted = Callable[[str], list[str]]


def run(work: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(PATIENCE):
            await work()

    asyncio.run(bounded())
    gc.collect()  # What was not closed says so now, and fails the test.


def said(result: types.CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, types.TextContent)
    return block.text


def alive(pid: int) -> bool:
    """Whether a process runs: one that nobody has taken note of is still there, but runs no more."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def test_a_banner_is_reported_and_skipped(script: Scripted, caplog: pytest.LogCaptureFixture) -> None:
    command = script("""
        raw("Welcome to the server!\\n\\n  [info] {ready}\\n")
        for message in messages():
            text(message, "hi")
        """)

    async def scenario() -> None:
        async with Client.stdio(command, era="modern") as client:
            assert said(await client.call_tool("echo")) == "hi"

    run(scenario)
    assert "Welcome to the server!" in caplog.text


def test_what_a_server_says_as_it_starts_is_read_in_its_order(
    script: Scripted, caplog: pytest.LogCaptureFixture
) -> None:
    command = script("""
        for number in range(3000):
            raw(f"<{number}")
            raw(">\\n")
        for message in messages():
            text(message, "hi")
        """)

    async def scenario() -> None:
        async with Client.stdio(command, era="modern") as client:
            assert said(await client.call_tool("echo")) == "hi"

    run(scenario)
    assert re.findall(r"b'(<.*?)'", caplog.text) == [f"<{number}>" for number in range(3000)]


def test_answers_to_nobody_and_second_answers_are_dropped(script: Scripted) -> None:
    command = script("""
        for message in messages():
            for identity in (str(message["id"]), 999, "x", -1, 0):
                say({"jsonrpc": "2.0", "id": identity, "result": {"resultType": "complete", "content": []}})
            for what in ("first", "second"):
                text(message, what)
        """)

    async def scenario() -> None:
        async with Client.stdio(command, era="modern") as client:
            for _ in range(3):
                assert said(await client.call_tool("echo")) == "first"

    run(scenario)


def test_500_calls_answered_in_any_order_get_their_own_answers(script: Scripted) -> None:
    command = script("""
        waiting = []
        for message in messages():
            waiting.append(message)
            if len(waiting) == 500:
                random.Random(7).shuffle(waiting)
                for one in waiting:
                    text(one, one["params"]["name"])
        """)

    async def scenario() -> None:
        async with Client.stdio(command, era="modern") as client:
            results = await asyncio.gather(*(client.call_tool(f"tool{n}") for n in range(500)))
        assert [said(result) for result in results] == [f"tool{n}" for n in range(500)]

    run(scenario)


def test_a_response_that_never_comes_ends_in_its_timeout_and_is_cancelled(script: Scripted) -> None:
    command = script("""
        asked = []
        for message in messages():
            if message["method"] == "notifications/cancelled":
                asked.append(message["params"]["requestId"])
            elif message["params"]["name"] == "which":
                text(message, json.dumps(asked))
        """)

    async def scenario() -> None:
        async with Client.stdio(command, era="modern") as client:
            with pytest.raises(TimeoutError, match=r"no answer to tools/call in 0\.05 seconds"):
                await client.call_tool("never", timeout=0.05)
            while said(await client.call_tool("which")) != "[1]":
                pass  # The cancellation goes beside the calls, and must come.

    run(scenario)


def test_a_last_line_that_is_whole_counts_without_its_end_and_a_part_of_one_does_not(
    script: Scripted, caplog: pytest.LogCaptureFixture
) -> None:
    command = script("""
        first, second = (next(messages()) for _ in range(2))
        line = json.dumps({"jsonrpc": "2.0", "id": first["id"], "result": {"resultType": "complete", "content": []}})
        raw(line if first["params"]["name"] == "whole" else line[:-3])
        """)

    async def scenario() -> None:
        async with Client.stdio(command, era="modern") as client:
            whole, lost = await asyncio.gather(
                client.call_tool("whole"), client.call_tool("other"), return_exceptions=True
            )
            assert isinstance(whole, types.CallToolResult)
            assert isinstance(lost, Disconnected)
        async with Client.stdio(command, era="modern") as client:
            outcomes = await asyncio.gather(
                client.call_tool("part"), client.call_tool("other"), return_exceptions=True
            )
            assert [type(outcome) for outcome in outcomes] == [Disconnected, Disconnected]

    run(scenario)
    assert "skipped a line that was cut off" in caplog.text


DYING = """
    for message in messages():
        if message["method"] != "tools/call":
            continue
        if message["params"]["name"] == "pid":
            text(message, str(os.getpid()))
        elif message["params"]["name"] == "die":
            os._exit(3)
"""


def test_calls_under_way_fail_alike_when_the_server_is_killed_and_so_do_later_ones(script: Scripted) -> None:
    async def scenario() -> None:
        async with Client.stdio(script(DYING), era="modern") as client:
            pid = int(said(await client.call_tool("pid")))
            calls = [asyncio.ensure_future(client.call_tool("wait")) for _ in range(20)]
            await client.call_tool("pid")
            os.kill(pid, signal.SIGKILL)
            outcomes = await asyncio.gather(*calls, return_exceptions=True)
            assert {(type(one), str(one)) for one in outcomes} == {
                (Disconnected, "the server has ended with exit code -9")
            }
            with pytest.raises(Disconnected, match="exit code -9"):
                await client.call_tool("pid")
            assert not Path(f"/proc/{pid}").exists()

    run(scenario)


def test_a_server_that_has_died_is_started_again_by_the_next_call(
    script: Scripted, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario() -> None:
        async with Client.stdio(script(DYING), restart=True, era="modern") as client:
            before = said(await client.call_tool("pid"))
            with pytest.raises(Disconnected, match="exit code 3"):
                await client.call_tool("die")
            outcomes = await asyncio.gather(*(client.call_tool("pid") for _ in range(5)))
            (after,) = {said(outcome) for outcome in outcomes}
            assert after != before
        with pytest.raises(Disconnected, match="closed"):
            await client.call_tool("pid")

    run(scenario)
    assert caplog.text.count("started again") == 1


def test_a_call_that_is_to_start_the_server_again_is_not_lost_with_those_before_it(
    script: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcprotocol.client.process.DRAIN_SECONDS", 1.0)
    command = script("""
        import subprocess
        for message in messages():
            if message["params"]["name"] == "pid":
                text(message, str(os.getpid()))
            else:
                # What it has started holds its output open, so that more could still come.
                subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
                os._exit(3)
        """)

    async def scenario() -> None:
        async with Client.stdio(command, restart=True, era="modern") as client:
            before = said(await client.call_tool("pid"))
            dying = asyncio.ensure_future(client.call_tool("die"))
            session: Any = client._session  # pyright: ignore[reportPrivateUsage]
            child = session.eras._transport._child
            while child.usable:
                await asyncio.sleep(0.001)
            assert not dying.done()
            assert said(await client.call_tool("pid")) != before
            with pytest.raises(Disconnected, match="exit code 3"):
                await dying

    run(scenario)


def test_a_start_that_is_given_up_disturbs_nobody_and_leaves_nothing(script: Scripted) -> None:
    async def scenario() -> None:
        async with Client.stdio(script(DYING), restart=True, era="modern") as client:
            for turns in (*range(12), 20, 50):
                with pytest.raises(Disconnected):
                    await client.call_tool("die")
                starting = asyncio.ensure_future(client.call_tool("pid"))
                for _ in range(turns):
                    await asyncio.sleep(0)
                starting.cancel()
                others = [asyncio.ensure_future(client.call_tool("pid")) for _ in range(3)]
                assert len({said(await other) for other in others}) == 1
                await asyncio.gather(starting, return_exceptions=True)
        assert Path(f"/proc/self/task/{os.getpid()}/children").read_text() == ""

    run(scenario)


LISTENED = """
    for message in messages():
        if message["method"] == "tools/call":
            os._exit(3)
        tag = {"_meta": {"io.modelcontextprotocol/subscriptionId": message["id"]}}
        say({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged",
             "params": {**tag, "notifications": message["params"]["notifications"]}})
        say({"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": tag})
"""


def test_a_listener_comes_back_with_the_server_and_is_told_that_it_may_have_missed_something(
    script: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcprotocol.client.listen.FIRST_SECONDS", 0.01)

    async def scenario() -> None:
        async with Client.stdio(script(LISTENED), restart=True, era="modern") as client:
            async with client.listen(tools=True) as changes:
                for _ in range(3):
                    assert isinstance(await changes.next(), types.ToolListChangedNotification)
                    with pytest.raises(Disconnected):
                        await client.call_tool("die")
                    assert isinstance(await changes.next(), Missed)

    run(scenario)


def test_a_listener_is_told_when_the_server_does_not_come_back(script: Scripted) -> None:
    async def scenario() -> None:
        async with (
            Client.stdio(script(LISTENED), era="modern") as client,
            client.listen(tools=True) as changes,
        ):
            await changes.next()
            with pytest.raises(Disconnected):
                await client.call_tool("die")
            with pytest.raises(Disconnected, match="exit code 3"):
                await changes.next()

    run(scenario)


@pytest.mark.parametrize("restart", [False, True])
def test_a_server_that_closes_its_output_answers_nobody_any_more(script: Scripted, restart: bool) -> None:
    command = script("""
        for message in messages():
            if message["params"]["name"] == "close":
                os.close(1)
            else:
                text(message, "hi")
        """)

    async def scenario() -> None:
        async with Client.stdio(command, restart=restart, era="modern") as client:
            with pytest.raises(Disconnected, match="closed its output"):
                await client.call_tool("close")
            if restart:
                assert said(await client.call_tool("echo")) == "hi"

    run(scenario)


PARENT = """
    import subprocess
    stubborn = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"
    quiet = "import time; time.sleep(60)"
    for message in messages():
        if message["params"]["name"] == "die":
            os._exit(3)
        code = stubborn if message["params"]["name"] == "stubborn" else quiet
        child = subprocess.Popen([sys.executable, "-c", code])
        time.sleep(0.3)
        text(message, str(child.pid))
    if len(sys.argv) > 1:
        time.sleep(60)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no process groups")
@pytest.mark.parametrize("way", ["end", "die", "hang"])
@pytest.mark.parametrize("child", ["quiet", "stubborn"])
def test_what_a_server_has_started_ends_with_it(
    script: Scripted, way: str, child: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcprotocol.client.process.EXIT_SECONDS", 0.2)
    monkeypatch.setattr("mcprotocol.client.process.FORCE_SECONDS", 0.2)

    async def scenario() -> None:
        async with Client.stdio(
            [*script(PARENT), *(["hang"] if way == "hang" else [])], era="modern"
        ) as client:
            pid = int(said(await client.call_tool(child)))
            assert alive(pid)
            if way == "die":
                with pytest.raises(Disconnected, match="exit code 3"):
                    await client.call_tool("die")
        while alive(pid):
            await asyncio.sleep(0.01)

    run(scenario)


def test_a_server_that_ignores_its_end_is_killed(script: Scripted, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcprotocol.client.process.EXIT_SECONDS", 0.1)
    monkeypatch.setattr("mcprotocol.client.process.FORCE_SECONDS", 0.1)
    command = script("""
        import signal
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        for message in messages():
            text(message, str(os.getpid()))
        time.sleep(60)
        """)

    async def scenario() -> None:
        async with Client.stdio(command, era="modern") as client:
            pid = int(said(await client.call_tool("pid")))
        assert not Path(f"/proc/{pid}").exists()

    run(scenario)


def test_a_server_that_does_not_read_holds_up_no_end(
    script: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcprotocol.client.process.EXIT_SECONDS", 0.1)

    async def scenario() -> None:
        async with Client.stdio(script("time.sleep(60)"), era="modern") as client:
            with pytest.raises(TimeoutError):
                await client.call_tool("echo", {"text": "x" * (8 << 20)}, timeout=0.1)

    run(scenario)


def test_a_command_that_cannot_be_started_is_one_error_that_says_why(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("no program")
    cases: list[tuple[dict[str, Any], str]] = [
        ({"command": ["no-such-program-here"]}, "'no-such-program-here'.*No such file.*on the PATH"),
        ({"command": [plain]}, "plain'.*Permission denied.*executed"),
        ({"command": [sys.executable], "cwd": tmp_path / "gone"}, "gone'.*no such folder"),
    ]

    async def scenario(options: dict[str, Any], reason: str) -> None:
        client = Client.stdio(**options, era="modern")
        with pytest.raises(Disconnected, match=reason):
            async with client:
                pass
        with pytest.raises(Disconnected, match="not connected"):
            await client.discover()

    for options, reason in cases:
        run(lambda: scenario(options, reason))


@pytest.mark.parametrize("command", [[], "python server.py"])
def test_a_command_is_a_list(command: Any) -> None:
    with pytest.raises(ValueError, match="is a list"):
        Client.stdio(command, era="modern")


@pytest.mark.parametrize("first", ["id", "result"])
def test_an_answer_that_is_too_long_fails_its_call_and_no_other(
    script: Scripted, first: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("process", "stdio"):
        monkeypatch.setattr(f"mcprotocol.client.{module}.MAX_ANSWER_BYTES", 4000)
    command = script("""
        held = []
        for message in messages():
            if message["method"] != "tools/call":
                continue
            if message["params"]["name"] == "long":
                result = {"content": [{"type": "text", "text": '"id":7,{[' * 1000}]}
                envelope = {"jsonrpc": "2.0", "id": message["id"]}
                both = [{"result": result}, envelope]
                say({**both[FIRST], **both[1 - FIRST]})
                say({"jsonrpc": "2.0", "method": "notifications/x", "params": {"id": 1, "x": "x" * 5000}})
                raw('{"jsonrpc":"2.0","method":"roots/list","params":{"x":"%s"},"id":1}\\n' % ("x" * 5000))
            elif message["params"]["name"] == "held":
                held.append(message)
            else:
                for one in [*held, message]:
                    text(one, "hi")
        """.replace("FIRST", "1" if first == "id" else "0"))

    async def scenario() -> None:
        async with Client.stdio(command, era="modern") as client:
            held = asyncio.ensure_future(client.call_tool("held"))
            for _ in range(2):
                with pytest.raises(InvalidRequest, match="more than 4000 bytes"):
                    await client.call_tool("long")
            assert said(await client.call_tool("echo")) == said(await held) == "hi"

    run(scenario)


def test_a_line_that_is_too_long_is_skipped_and_the_next_one_read(
    script: Scripted, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("mcprotocol.client.process.MAX_ANSWER_BYTES", 1000)
    command = script("""
        for message in messages():
            raw("x" * 5000 + "\\n")
            text(message, "hi")
        """)

    async def scenario() -> None:
        async with Client.stdio(command, era="modern") as client:
            assert said(await client.call_tool("echo")) == "hi"

    run(scenario)
    assert [record.levelno for record in caplog.records if "skipped an answer" in record.message] == [
        logging.ERROR
    ]


def test_the_environment_and_folder_of_a_server_can_be_given(script: Scripted, tmp_path: Path) -> None:
    command = script("""
        for message in messages():
            text(message, json.dumps([os.environ["MINE"], bool(os.environ["PATH"]), os.getcwd()]))
        """)

    async def scenario() -> None:
        async with Client.stdio(command, env={"MINE": "yes"}, cwd=tmp_path, era="modern") as client:
            assert json.loads(said(await client.call_tool("where"))) == ["yes", True, str(tmp_path.resolve())]

    run(scenario)
