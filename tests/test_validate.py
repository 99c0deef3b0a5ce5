"""`mcp-codegen validate`: messages and conversations judged by the exact schema, each fault once and in its place."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

VERSION = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
META: dict[str, Any] = {VERSION: "2026-07-28", CAPABILITIES: {"elicitation": {}}}
HINTS = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}

Message = dict[str, Any]


def request(identity: object, method: str, **params: object) -> Message:
    return {"jsonrpc": "2.0", "id": identity, "method": method, "params": {"_meta": META, **params}}


def result(identity: object, **members: object) -> Message:
    return {"jsonrpc": "2.0", "id": identity, "result": members}


TEXT = {"type": "text", "text": "12 degrees"}
GOOD: list[Message] = [
    request(1, "server/discover"),
    result(1, supportedVersions=["2026-07-28"], capabilities={"tools": {}}, **HINTS),
    request("two", "tools/list"),
    result("two", tools=[{"name": "forecast", "inputSchema": {"type": "object"}}], **HINTS),
    request(3, "tools/call", name="forecast", arguments={"city": "Oslo"}),
    {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 0, "progress": 0.5}},
    result(3, resultType="input_required", requestState="sealed"),
    request(4, "tools/call", name="forecast", arguments={"city": "Oslo"}, requestState="sealed"),
    result(4, resultType="complete", content=[TEXT], structuredContent=None),
    request(5, "resources/read", uri="config://app"),
    result(5, contents=[{"uri": "config://app", "text": "x"}], **HINTS),
    request(6, "prompts/get", name="plan"),
    {
        "jsonrpc": "2.0",
        "id": 6,
        "error": {"code": -32602, "message": "Unknown prompt", "data": {"name": "plan"}},
    },
    request(3, "tools/list"),
    result(3, tools=[], **HINTS, future={"kept": True}),
]


def without(message: Message, *path: str) -> Message:
    made: Message = json.loads(json.dumps(message))
    holder = made
    for step in path[:-1]:
        holder = holder[step]
    del holder[path[-1]]
    return made


def having(message: Message, value: object, *path: str | int) -> Message:
    made: Message = json.loads(json.dumps(message))
    holder: Any = made
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = value
    return made


PLANTED: list[tuple[str, int, Message, str]] = [
    ("metadata is missing", 3, without(GOOD[2], "params", "_meta"), "/params/_meta"),
    ("the client's capabilities are missing", 3, without(GOOD[2], "params", "_meta", CAPABILITIES),
     "/params/_meta/io.modelcontextprotocol~1clientCapabilities"),
    ("resultType is missing", 9, without(GOOD[8], "result", "resultType"), "/result/resultType"),
    ("a cache hint is missing", 4, without(GOOD[3], "result", "ttlMs"), "/result/ttlMs"),
    ("null stands for an optional", 9, having(GOOD[8], None, "result", "isError"), "/result/isError"),
    ("an id is a fraction", 3, having(GOOD[2], 1.5, "id"), "/id"),
    ("a response answers nothing", 11, having(GOOD[10], 55, "id"), "/id"),
    ("the method is unknown", 3, having(GOOD[2], "tools/lst", "method"), "/method"),
    ("a block lacks its text", 9, having(GOOD[8], [TEXT, {"type": "text"}], "result", "content"),
     "/result/content/1/text"),
    ("a member has the wrong type", 6, having(GOOD[5], "half", "params", "progress"), "/params/progress"),
    ("an error has no message", 13, without(GOOD[12], "error", "message"), "/error/message"),
    ("an interim result asks for nothing", 7, without(GOOD[6], "result", "requestState"), "/result"),
    ("an interim result answers a list", 4, having(GOOD[3], {"resultType": "input_required", "requestState": "s"},
     "result"), "/result/resultType"),
    ("the version of JSON-RPC is missing", 3, without(GOOD[2], "jsonrpc"), "/jsonrpc"),
    ("an id is taken", 4, request("two", "tools/list"), "/id"),
]  # fmt: skip


def validate(*arguments: str, text: str | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mcpcodegen", "validate", *arguments]
    return subprocess.run(command, input=text, capture_output=True, text=True)


def lines(messages: list[Message]) -> str:
    return "".join(json.dumps(message) + "\n" for message in messages)


def findings(messages: list[Message]) -> list[dict[str, Any]]:
    done = validate("--json", "-", text=lines(messages))
    rows: list[dict[str, Any]] = json.loads(done.stdout)
    assert done.returncode == bool(rows)
    return rows


def test_a_good_conversation_is_met_with_silence() -> None:
    done = validate("-", text=lines(GOOD))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("line", "message", "place"), [row[1:] for row in PLANTED], ids=[row[0] for row in PLANTED]
)
def test_a_planted_fault_is_one_finding_in_its_place(line: int, message: Message, place: str) -> None:
    found = findings([*GOOD[: line - 1], message, *GOOD[line:]])
    assert [(row["line"], row["pointer"]) for row in found] == [(line, place)]


def test_a_line_that_is_no_json_is_named_and_the_rest_is_read() -> None:
    done = validate("--json", "-", text=lines(GOOD[:2]) + "{oops\n" + lines(GOOD[2:]))
    (row,) = json.loads(done.stdout)
    assert (row["line"], row["pointer"]) == (3, "")


def test_a_single_message_may_span_lines(tmp_path: Path) -> None:
    file = tmp_path / "message.json"
    file.write_text("\n" + json.dumps(request(1, "tools/list"), indent=2))
    assert validate(str(file)).returncode == 0
    file.write_text("\n" + json.dumps(request(1, "tools/call"), indent=2))
    done = validate(str(file))
    assert done.returncode == 1
    assert done.stdout == f"{file}:6: /params/name: found nothing; expected a required member\n"


def test_a_batch_is_no_message() -> None:
    done = validate("--json", "-", text=lines(GOOD[:2]) + json.dumps(GOOD[2:4]) + "\n")
    assert [(row["line"], row["pointer"]) for row in json.loads(done.stdout)] == [(3, "")]


def test_values_can_be_judged_as_a_definition_or_as_the_result_of_a_method() -> None:
    assert validate("--type", "TextContent", "-", text=json.dumps(TEXT)).returncode == 0
    assert validate("--type", "TextContent", "-", text='{"type":"text"}').returncode == 1
    good: Message = {"contents": [], **HINTS}
    assert validate("--type", "resources/read", "-", text=json.dumps(good)).returncode == 0
    assert validate("--type", "resources/read", "-", text=json.dumps(HINTS)).returncode == 1


def test_what_could_be_read_is_judged_before_the_rest_is_an_error(tmp_path: Path) -> None:
    bad, missing, latin = tmp_path / "bad.json", tmp_path / "missing.json", tmp_path / "latin.json"
    bad.write_text('{"type":"text"}')
    latin.write_bytes(b'"\xff"')
    done = validate("--type", "TextContent", str(missing), str(bad), str(latin), str(bad))
    found = f"{bad}:1: /text: found nothing; expected a required member\n"
    assert (done.returncode, done.stdout) == (2, found * 2)
    first, second = done.stderr.splitlines()
    assert first.startswith(f"mcp-codegen: {missing}: no such file")
    assert second.startswith(f"mcp-codegen: {latin}: not UTF-8 at byte 1")
    as_data = validate("--json", "--type", "TextContent", str(bad), str(missing))
    assert as_data.returncode == 2
    assert [row["pointer"] for row in json.loads(as_data.stdout)] == ["/text"]
    quiet = validate("--quiet", "--type", "TextContent", str(bad), str(missing))
    assert (quiet.returncode, quiet.stdout) == (2, "") and "missing.json" in quiet.stderr


def test_a_good_file_beside_a_missing_one_is_still_an_error(tmp_path: Path) -> None:
    good = tmp_path / "good.json"
    good.write_text(json.dumps(TEXT))
    done = validate("--type", "TextContent", str(good), "no-such-file")
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)


@pytest.mark.parametrize("command", [["validate"], ["schema", "show"], ["generate", "-o", "out"]])
def test_an_unknown_revision_is_met_with_what_the_command_has(command: list[str], tmp_path: Path) -> None:
    arguments = {"validate": ["--revision", "2020", "x"], "schema": ["2020"]}
    more = arguments.get(command[0], ["--revision", "2020"])
    line = [sys.executable, "-m", "mcpcodegen", *command, *more]
    done = subprocess.run(line, capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "known: 2024-11-05, " in done.stderr
    assert ("--schema" in done.stderr) == (command[0] == "generate")


def test_the_help_says_that_a_file_holds_one_connection() -> None:
    assert "the whole conversation of one connection" in " ".join(validate("--help").stdout.split())


def test_another_revision_has_other_rules() -> None:
    legacy: list[Message] = [
        {"jsonrpc": "2.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "id": 1, "result": {}},
        {
            "jsonrpc": "2.0",
            "id": 2,
            "method": "sampling/createMessage",
            "params": {"messages": [], "maxTokens": 1},
        },
    ]
    assert validate("--revision", "2025-11-25", "-", text=lines(legacy)).returncode == 0
    assert validate("--revision", "2026-07-28", "-", text=lines(legacy)).returncode == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["no-such-file"], "no such file"),
        (["--type", "TextContant", "-"], "did you mean TextContent?"),
        (["--revision", "2026-07-29", "-"], "did you mean 2026-07-28?"),
    ],
)
def test_what_cannot_be_judged_is_bad_input(arguments: list[str], said: str) -> None:
    done = validate(*arguments, text="{}")
    assert done.returncode == 2
    assert said in done.stderr and len(done.stderr.splitlines()) == 1


def test_each_side_counts_its_own_ids() -> None:
    asked: Message = {"messages": [], "maxTokens": 1}
    conversation: list[Message] = [
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "ask"}},
        {"jsonrpc": "2.0", "id": 1, "method": "sampling/createMessage", "params": asked},
        {"jsonrpc": "2.0", "id": 1, "result": {"role": "assistant", "model": "m", "content": TEXT}},
        {"jsonrpc": "2.0", "id": 1, "result": {"content": [TEXT]}},
    ]
    assert validate("--revision", "2025-11-25", "-", text=lines(conversation)).stdout == ""


@pytest.mark.parametrize(
    "line",
    [
        "[" * 100_000 + "]" * 100_000,
        '{"jsonrpc":"2.0","method":"x","params":' + '{"a":' * 5000 + "1" + "}" * 5001,
        json.dumps(request(1, "tools/call", name="x", arguments={"a": float("nan")})),
        '{"jsonrpc":"2.0","id":1,"method":"\\ud800"}',
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","result":{}}',
    ],
)
def test_a_line_made_to_hurt_is_one_finding(line: str) -> None:
    done = validate("-", text=line + "\n")
    assert (done.returncode, done.stderr, len(done.stdout.splitlines())) == (1, "", 1)


def test_capabilities_that_nest_deeply_end_in_a_finding() -> None:
    deep: object = {}
    for _ in range(400):
        deep = {"a": deep}
    meta = {**META, CAPABILITIES: {"experimental": {"x": deep}}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}}
    done = validate("-", text=json.dumps(message))
    assert (done.returncode, done.stderr) == (1, "") and "too deep" in done.stdout
