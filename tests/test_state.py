"""Sealed state: what was changed, has expired or belongs to something else is refused, with one answer for all."""

from __future__ import annotations

import base64
import json
import logging
from typing import Any

import pytest
from mcprotocol.errors import InvalidParams
from mcprotocol.server.state import LARGEST, Seal, binding

KEY = b"k" * 32
BOUND = binding("tools/call", {"name": "a", "arguments": {"x": 1}}, None)
PAYLOAD: dict[str, Any] = {"round": 1, "kept": {"ü": [1, None, "x"]}}


def refused(seal: Seal, text: str, bound_to: bytes = BOUND) -> str:
    with pytest.raises(InvalidParams) as caught:
        seal.open(text, bound_to)
    return str(caught.value)


def test_what_was_sealed_is_opened_by_any_replica_that_has_the_key() -> None:
    sealed = Seal(KEY).close(PAYLOAD, BOUND)
    assert Seal(KEY).open(sealed, BOUND) == Seal(KEY.decode()).open(sealed, BOUND) == PAYLOAD


def test_every_change_of_a_character_is_refused() -> None:
    seal = Seal(KEY)
    sealed = seal.close(PAYLOAD, BOUND)
    for index, old in enumerate(sealed):
        for new in "A_=.\x00é" if old != "A" else "B":
            if new != old:
                refused(seal, sealed[:index] + new + sealed[index + 1 :])


@pytest.mark.parametrize("change", ["{}-TAMPERED", "{}=", "{}\n", " {}", "", ".", "a", "a.b", "{}.{}", "é.é"])
def test_text_that_nobody_sealed_is_refused(change: str) -> None:
    seal = Seal(KEY)
    refused(seal, change.replace("{}", seal.close(PAYLOAD, BOUND)))


def test_an_unsealed_payload_with_a_later_expiry_is_refused() -> None:
    seal = Seal(KEY)
    body, _, mark = seal.close(PAYLOAD, BOUND).partition(".")
    expiry, payload = json.loads(base64.urlsafe_b64decode(body))
    forged = base64.urlsafe_b64encode(json.dumps([expiry + 1, payload]).encode()).decode()
    refused(seal, f"{forged}.{mark}")


@pytest.mark.parametrize(
    "other",
    [
        binding("prompts/get", {"name": "a", "arguments": {"x": 1}}, None),
        binding("tools/call", {"name": "b", "arguments": {"x": 1}}, None),
        binding("tools/call", {"name": "a", "arguments": {"x": 2}}, None),
        binding("tools/call", {"name": "a", "arguments": {"x": True}}, None),
        binding("tools/call", {"name": "a"}, None),
        binding("tools/call", {"name": "a", "arguments": {"x": 1}}, "ann"),
    ],
)
def test_a_state_is_good_for_its_own_request_and_principal_only(other: bytes) -> None:
    seal = Seal(KEY)
    refused(seal, seal.close(PAYLOAD, BOUND), other)
    assert seal.open(seal.close(PAYLOAD, other), other) == PAYLOAD


def test_what_differs_between_the_rounds_of_a_request_does_not_bind() -> None:
    first = binding("tools/call", {"_meta": {"a": 1}, "name": "a"}, "ann")
    again: dict[str, Any] = {
        "name": "a",
        "arguments": {},
        "inputResponses": {"k": {}},
        "requestState": "s",
        "_meta": {},
    }
    assert binding("tools/call", again, "ann") == first


def test_the_order_of_members_does_not_bind() -> None:
    assert binding("m", {"a": {"x": 1, "y": 2}, "b": 1}, None) == binding(
        "m", {"b": 1, "a": {"y": 2, "x": 1}}, None
    )


def test_a_state_expires(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = 1000.0
    monkeypatch.setattr("mcprotocol.server.state.time.time", lambda: clock)
    seal = Seal(KEY, 10)
    sealed = seal.close(PAYLOAD, BOUND)
    clock = 1009.9
    assert seal.open(sealed, BOUND) == PAYLOAD
    clock = 1010.0
    expired = refused(seal, sealed)
    assert expired == refused(seal, "x.y") == refused(Seal(b"o" * 32), sealed), "a forger learns nothing"


def test_without_a_key_one_is_made_with_one_warning_when_it_is_needed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    one, other = Seal(), Seal()
    assert not caplog.records
    sealed = one.close(PAYLOAD, BOUND)
    assert one.open(sealed, BOUND) == PAYLOAD
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    assert "state_key" in caplog.text
    refused(other, sealed)


@pytest.mark.parametrize("key", [b"", "", b"short", "x" * 15])
def test_a_key_that_can_be_guessed_is_refused(key: bytes | str) -> None:
    with pytest.raises(ValueError, match="16 bytes"):
        Seal(key)


def test_a_state_that_is_too_large_is_the_authors_fault() -> None:
    with pytest.raises(ValueError, match=str(LARGEST)):
        Seal(KEY).close({"a": "x" * LARGEST}, BOUND)
