"""What leaves a server to a client of the handshake era, judged by the facts of 2025-11-25 and jsonschema alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

from emitted import ROOT
from jsonschema import Draft202012Validator

FACTS: dict[str, Any] = json.loads((ROOT / "schema/2025-11-25.json").read_text(encoding="utf-8"))["$defs"]


def _arms(union: str) -> dict[str, str]:
    """The definitions of a union by their methods."""
    names = [arm["$ref"].rpartition("/")[2] for arm in FACTS[union]["anyOf"]]
    return {FACTS[name]["properties"]["method"]["const"]: name for name in names}


SAID = {**_arms("ServerNotification"), **_arms("ServerRequest")}
"""What a server may say of its own accord, by method."""

RESULTS = {
    method: result if (result := name.replace("Request", "Result")) in FACTS else "EmptyResult"
    for method, name in _arms("ClientRequest").items()
}
"""What the result of a request must be, by its method."""


def faults(method: str | None, data: bytes) -> list[str]:
    """What is wrong with one message of a server; `method` is that of the request it answers, where that is known."""
    message: dict[str, Any] = json.loads(data)
    if "method" in message:
        return [*_faults(SAID.get(message["method"], "ServerNotification"), message)]
    if "error" in message:
        return [*_faults("JSONRPCErrorResponse", message)]
    result = RESULTS.get(method or "", "Result")
    return [*_faults("JSONRPCResultResponse", message), *_faults(result, message["result"])]


def _faults(name: str, value: Any) -> Iterator[str]:
    for error in _validator(name).iter_errors(value):
        yield f"{name}{error.json_path[1:]}: {error.message}"


@cache
def _validator(name: str) -> Any:
    return Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": FACTS})
