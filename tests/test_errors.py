"""What an error holds beside its words is there by name and type, whoever raised it and whatever its data are."""

from __future__ import annotations

from typing import Any

import pytest
from mcprotocol.errors import (
    MethodNotFound,
    MissingRequiredClientCapability,
    UnsupportedProtocolVersion,
    from_wire,
)

ROOTS: dict[str, Any] = {"roots": {}, "elicitation": {"form": {}}}


@pytest.mark.parametrize(
    ("data", "required"),
    [
        ({"requiredCapabilities": ROOTS}, ROOTS),
        ({"requiredCapabilities": {}}, {}),
        ({"requiredCapabilities": ["roots"]}, {}),
        ({}, {}),
        ("roots", {}),
        (None, {}),
    ],
)
def test_what_a_client_has_to_declare_is_read_from_what_came(data: Any, required: Any) -> None:
    error = from_wire(-32021, "no", data)
    assert isinstance(error, MissingRequiredClientCapability)
    assert error.required == required


@pytest.mark.parametrize(
    ("data", "requested", "supported"),
    [
        ({"requested": "a", "supported": ["b", "c"]}, "a", ["b", "c"]),
        ({"requested": 5, "supported": "b"}, None, []),
        ([], None, []),
        (None, None, []),
    ],
)
def test_the_versions_of_both_sides_are_read_from_what_came(
    data: Any, requested: str | None, supported: list[str]
) -> None:
    error = from_wire(-32022, "no", data)
    assert isinstance(error, UnsupportedProtocolVersion)
    assert (error.requested, error.supported) == (requested, supported)


def test_what_was_raised_here_says_the_same() -> None:
    assert MissingRequiredClientCapability(ROOTS).required == ROOTS
    refused = UnsupportedProtocolVersion("a", ("b", "c"))
    assert (refused.requested, refused.supported) == ("a", ["b", "c"])
    assert MethodNotFound("tools/cal").method == "tools/cal"


def test_a_method_that_a_peer_refused_is_known_from_its_words_alone() -> None:
    error = from_wire(-32601, "Method not found: tools/cal")
    assert isinstance(error, MethodNotFound)
    assert error.method is None
    assert str(error) == "Method not found: tools/cal (-32601)"
