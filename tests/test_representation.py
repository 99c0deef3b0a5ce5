"""How numbers and texts are written: what comes back letter for letter, what as the same value, and what is refused.

Every open object of a revision is read with each of these as an unknown member, by default and strictly.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import pytest
from corpus import corpus
from mcprotocol import exact
from mcprotocol.v2026_07_28 import types
from mcprotocol.wire import WireModel
from pydantic import ValidationError
from readings import TYPES, document

KEPT = (
    "-0.0",
    "5e-324",
    "1.7976931348623157e+308",
    "9" * 4300,
    "-" + "9" * 4300,
    r'"\u0000"',
    '"\U0001f389\u2028"',
    '"\ufffe"',
)
"""JSON texts that are written as they were read."""

SAME_VALUE: Mapping[str, tuple[str, str]] = {
    "0.1000000000000000055511151231257827": (
        "0.1",
        "a fraction is the nearest double, in its shortest spelling",
    ),
    "123456789012345678901234567890.5": ("1.2345678901234568e+29", "likewise"),
    "1e-400": ("0.0", "likewise: nothing is nearer than zero"),
    "1E2": ("100.0", "an exponent makes a number a fraction, as a point does"),
    "-0": ("0", "an integer has one zero"),
    r'"\ud83c\udf89\/"': ('"\U0001f389/"', "an escape stands for its character"),
}
"""JSON texts that are written in another way, how, and why; Python's own reader takes both for one value."""

REFUSED: Mapping[str, str] = {
    "9" * 4301: "number out of range",
    "9" * 5000: "number out of range",
    r'"\ud800"': "Invalid JSON: .*hex escape",
    r'"\udc00\ud800"': "Invalid JSON: lone .*surrogate",
    '{"\\ud800":1}': "Invalid JSON: .*hex escape",
}
"""JSON texts that Python has no value for, and what the one fault says."""

every_revision = pytest.mark.parametrize("revision", TYPES)
either = pytest.mark.parametrize("strict", [False, True])


@cache
def holders(revision: str) -> Sequence[tuple[Any, str]]:
    """Each definition that keeps unknown members, and the start of a text of it: the last member is missing."""
    return list(_holders(revision))


def _holders(revision: str) -> Iterator[tuple[Any, str]]:
    named = document(revision).definitions
    for instance in corpus(named, document(revision).python):
        if instance.why == "unknown future" and "properties" in named[instance.definition]:
            value = json.loads(instance.text)
            del value["future"]
            start = json.dumps(value, separators=(",", ":")).removesuffix("}")
            yield getattr(TYPES[revision], instance.definition), start + "," * bool(value) + '"future":'


@every_revision
@either
def test_texts_come_back_as_they_were_or_as_declared(revision: str, strict: bool) -> None:
    wanted = {text: text for text in KEPT} | {text: written for text, (written, _) in SAME_VALUE.items()}
    assert len(holders(revision)) > 100
    for type_, start in holders(revision):
        for text, expected in wanted.items():
            written = exact.write(type_, exact.read(type_, f"{start}{text}}}", strict=strict)).decode()
            assert f'"future":{expected}' in written


@pytest.mark.parametrize(("text", "written"), [(text, row[0]) for text, row in SAME_VALUE.items()])
def test_what_is_written_in_another_way_is_the_same_value_in_another_text(text: str, written: str) -> None:
    assert text != written
    assert repr(json.loads(text)) == repr(json.loads(written))


@every_revision
@either
@pytest.mark.parametrize("text", REFUSED, ids=lambda text: text[:10])
def test_what_python_cannot_hold_is_refused_with_one_fault(revision: str, strict: bool, text: str) -> None:
    for type_, start in holders(revision):
        with pytest.raises(ValidationError, match=REFUSED[text]) as caught:
            exact.read(type_, f"{start}{text}}}", strict=strict)
        assert caught.value.error_count() == 1


def test_a_typed_number_comes_back_as_the_nearest_double() -> None:
    read = types.Annotations.model_validate_json('{"priority":0.1000000000000000055511151231257827}')
    assert read.model_dump_json() == '{"priority":0.1}'


@pytest.mark.parametrize(
    "value",
    [
        types.TextContent(text="\ud800"),
        types.CallToolResult(content=[], structured_content={"a": "\ud800"}),
    ],
)
def test_half_a_surrogate_pair_that_python_data_held_is_refused_when_written(value: WireModel) -> None:
    for write in (value.model_dump_json, value.wire_bytes):
        with pytest.raises(ValueError, match="surrogates not allowed"):
            write()


def test_half_a_surrogate_pair_in_the_name_of_a_member_is_refused_when_read() -> None:
    with pytest.raises(ValidationError, match="unicode"):
        types.CallToolResult.model_validate({"content": [], "resultType": "complete", "\ud800": 1})
