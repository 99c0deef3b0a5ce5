# Deprecated types are still part of the revision:
# pyright: reportDeprecated=false
"""The example messages that the specification publishes: read as the type their folder names, written back equal."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from corpus import canonical, oracle
from mcpcodegen import pipeline
from mcprotocol import exact
from mcprotocol.v2026_07_28 import REVISION, types
from mcprotocol.wire import WireModel
from pydantic import ValidationError

HOW_MANY = 129
IN_FOLDERS = 88

INEXACT: Mapping[str, str] = {
    "ReadResourceResultResponse/read-resource-result-response.json": (
        "its result has no cacheScope and no ttlMs; as published it passes for an InputRequiredResult, "
        "which every complete result does until the schema is corrected"
    ),
}
"""Examples that the corrected facts refuse, each with the reason; default reading takes them all."""


@pytest.fixture(scope="module")
def examples(spec_dir: Path) -> Mapping[str, str]:
    """Each example by its folder and name."""
    root = spec_dir / REVISION / "examples"
    files = sorted(path for path in root.glob("*/*") if path.is_file())
    return {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in files}


def type_of(example: str) -> Any:
    """The type that a folder is named after."""
    return getattr(types, example.partition("/")[0], None)


def written(type_: Any, value: Any) -> str:
    """As a plain `model_dump_json()` writes it; an alias has no such method, so it is written by `exact`."""
    return value.model_dump_json() if isinstance(value, WireModel) else exact.write(type_, value).decode()


def is_exact(example: str, text: str) -> bool:
    try:
        exact.read(type_of(example), text, strict=True)
    except ValidationError:
        return False
    return True


def test_every_folder_is_mapped_to_a_type(examples: Mapping[str, str]) -> None:
    folders = {example.partition("/")[0] for example in examples}
    assert (len(examples), len(folders)) == (HOW_MANY, IN_FOLDERS)
    assert {folder for folder in folders if type_of(folder) is None} == set()
    assert folders <= pipeline.read(revision=REVISION).definitions.keys()


def test_every_example_is_written_back_equal(examples: Mapping[str, str]) -> None:
    back = {
        example: written(type_of(example), exact.read(type_of(example), text))
        for example, text in examples.items()
    }
    assert {
        example for example, text in examples.items() if canonical(back[example]) != canonical(text)
    } == set()
    assert len(back) == HOW_MANY


def test_every_example_of_a_class_is_read_by_the_class_itself(examples: Mapping[str, str]) -> None:
    classes = {example: text for example, text in examples.items() if isinstance(type_of(example), type)}
    apart = {
        example
        for example, text in classes.items()
        if canonical(type_of(example).model_validate_json(text).model_dump_json()) != canonical(text)
    }
    assert apart == set()
    assert {example.partition("/")[0] for example in examples.keys() - classes.keys()} == {
        "InputRequests",
        "InputResponses",
    }


def test_every_example_is_exact_but_for_those_that_are_declared(examples: Mapping[str, str]) -> None:
    assert {example for example, text in examples.items() if not is_exact(example, text)} == INEXACT.keys()


def test_jsonschema_finds_the_same_examples_inexact(examples: Mapping[str, str]) -> None:
    judge = oracle(pipeline.read(revision=REVISION).definitions)
    refused = {e for e, text in examples.items() if not judge(e.partition("/")[0], json.loads(text))}
    assert refused == INEXACT.keys()


def test_the_result_of_reading_a_resource_keeps_its_contents(examples: Mapping[str, str]) -> None:
    text = examples["ReadResourceResultResponse/read-resource-result-response.json"]
    result = types.ReadResourceResultResponse.model_validate_json(text).result
    assert isinstance(result, types.ReadResourceResult)
    assert len(result.contents) == len(json.loads(text)["result"]["contents"]) > 0


def test_a_request_keeps_the_id_that_its_definition_does_not_list(examples: Mapping[str, str]) -> None:
    requests = [text for example, text in examples.items() if example.startswith("ListRootsRequest/")]
    extras = [types.ListRootsRequest.model_validate_json(text).model_extra for text in requests]
    assert extras == [{"id": json.loads(text)["id"]} for text in requests] != []
