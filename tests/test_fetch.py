"""A schema by its address: fetched whole or refused in one line, from https or this machine and nowhere else."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from http.client import HTTPMessage
from io import BytesIO
from pathlib import Path
from urllib.request import Request

import pytest
from addresses import Answer, served
from click.testing import CliRunner, Result
from emitted import ROOT

from mcpcodegen import fetch as fetching
from mcpcodegen import resources
from mcpcodegen.cli import main
from mcpcodegen.errors import SchemaError
from mcpcodegen.fetch import Redirects, fetch
from mcpcodegen.resources import read_schema

FACTS = (ROOT / "schema/2026-07-28.json").read_bytes()


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [*map(str, arguments)])


def refusal(address: str) -> SchemaError:
    with pytest.raises(SchemaError) as caught:
        read_schema(address)
    assert caught.value.source == address
    return caught.value


@pytest.mark.parametrize(
    "arguments",
    [
        ("diff", "2026-07-28", "{}", "--fail-on", "any"),
        ("generate", "--schema", "{}", "-o", "out", "--package", "made", "--dry-run"),
    ],
)
def test_an_address_goes_through_the_same_door_as_a_file(arguments: tuple[str, ...]) -> None:
    with served({"/schema.json": FACTS}) as base:
        done = run(*(word.format(f"{base}/schema.json") for word in arguments))
    assert done.exit_code == 0, done.stderr


def test_verify_takes_an_address() -> None:
    with served({"/schema.json": FACTS}) as base:
        done = run("schema", "verify", "2026-07-28", f"{base}/schema.json")
    assert done.exit_code == 1
    assert f"{base}/schema.json: has the facts of the pinned 2026-07-28 in other bytes" in done.stdout


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Answer(status=404), "nothing is there"),
        (Answer(status=410), "nothing is there"),
        (Answer(status=403), "answered 403 Forbidden"),
        (Answer(status=500), "answered 500"),
        (Answer(status=204), "answered 204"),
        (Answer(status=302), "answered 302"),
        (Answer(status=302, headers={"Location": "file:///etc/passwd"}), "file:///etc/passwd"),
        (Answer(status=302, headers={"Location": "ftp://127.0.0.1/x"}), "redirects to ftp://127.0.0.1/x"),
        (Answer(status=302, headers={"Location": "http://192.0.2.1/x"}), "redirects to http://192.0.2.1/x"),
        (Answer(status=302, headers={"Location": "/schema.json"}), "answered 302"),
        (Answer(b"<html></html>", headers={"Content-Type": "text/html; charset=utf-8"}), "a page of HTML"),
        (Answer(b"{", announced=10 * 1024**3), f"over {resources.LARGEST} bytes"),
        (Answer(b"{", announced=100), "ended 99 bytes early"),
        (Answer(b"zz\r\n", headers={"Transfer-Encoding": "chunked"}), "cannot be fetched"),
    ],
)  # fmt: skip
def test_what_is_no_whole_answer_is_refused(answer: Answer, said: str) -> None:
    with served({"/schema.json": answer}) as base:
        error = refusal(f"{base}/schema.json")
    assert said in str(error)


def test_a_body_without_an_end_is_read_to_the_limit_and_no_further() -> None:
    body = Answer(b"10\r\n" + b" " * 16 + b"\r\n10\r\n", headers={"Transfer-Encoding": "chunked"})
    with served({"/": body}) as base, pytest.raises(SchemaError) as caught:
        fetch(f"{base}/", 15)
    assert caught.value.problem == "over 15 bytes"


def test_a_body_that_drips_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetching, "LONGEST", -1.0)
    with served({"/": b"{}"}) as base:
        assert "not whole after" in refusal(f"{base}/").problem


def test_a_server_that_says_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetching, "PATIENCE", 0.05)
    with served({"/": Answer(b"{", announced=2)}) as base, pytest.raises(SchemaError) as caught:
        fetch(f"{base}/", 100)
    assert "1 bytes early" in caught.value.problem or "timed out" in caught.value.problem


def test_a_redirect_within_this_machine_is_followed() -> None:
    with served({"/old": Answer(status=301, headers={"Location": "/new"}), "/new": b"{}"}) as base:
        assert read_schema(f"{base}/old") == b"{}"


def test_a_redirect_from_https_back_to_http_is_refused() -> None:
    asked = Request("https://example.com/schema.json")
    with pytest.raises(SchemaError) as caught:
        Redirects().redirect_request(asked, BytesIO(), 302, "Found", HTTPMessage(), "http://127.0.0.1/x")
    assert "redirects to http://127.0.0.1/x" in str(caught.value)
    followed = Redirects().redirect_request(
        asked, BytesIO(), 302, "Found", HTTPMessage(), "https://127.0.0.1/x"
    )
    assert followed is not None and followed.full_url == "https://127.0.0.1/x"


@pytest.mark.parametrize(
    "address",
    [
        "http://example.com/schema.json",
        "ftp://127.0.0.1/schema.json",
        "file:///etc/passwd",
        "https:///schema.json",
        "https://[::1/schema.json",
        "https://127.0.0.1:99999/schema.json",
        "http://127.0.0.1.example.com/schema.json",
    ],
)
def test_an_address_that_is_not_fetched_is_refused_before_anything_is_sent(address: str) -> None:
    assert "pass an https address, or a path" in str(refusal(address))


def test_a_password_in_an_address_is_refused_and_not_repeated() -> None:
    with pytest.raises(SchemaError) as caught:
        read_schema("https://me:secret@127.0.0.1/schema.json")
    assert "a user or a password" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_where_nobody_listens_is_one_line() -> None:
    with served({}) as base:
        pass
    assert "cannot be fetched (Connection refused)" in str(refusal(f"{base}/schema.json"))


def test_what_this_machine_serves_is_asked_for_without_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    proxies: Mapping[str, str] = {"http_proxy": "http://192.0.2.1:9", "no_proxy": ""}
    for name, value in proxies.items():
        monkeypatch.setitem(os.environ, name, value)
    with served({"/schema.json": b"{}"}) as base:
        assert read_schema(f"{base}/schema.json") == b"{}"


@pytest.mark.parametrize("body", [b"", b"{oops", b"[]", json.dumps({"$defs": {}}).encode()])
def test_what_is_no_schema_is_refused_by_its_address(body: bytes) -> None:
    with served({"/schema.json": body}) as base:
        done = run("generate", "--schema", f"{base}/schema.json", "-o", "out", "--dry-run")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(f"mcp-codegen: {base}/schema.json#")
    assert done.stderr.count("\n") == 1
