"""What npm installs, the conformance suite and the TypeScript packages: one version of each, from whatever registry there is."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PROGRAMS = {
    "@modelcontextprotocol/conformance",
    "@modelcontextprotocol/client",
    "@modelcontextprotocol/server",
    "@modelcontextprotocol/node",
    "@modelcontextprotocol/inspector",
    "@modelcontextprotocol/sdk",
    "zod",
}


def packages() -> dict[str, Any]:
    lock = json.loads((HERE / "package-lock.json").read_text(encoding="utf-8"))
    return {name: package for name, package in lock["packages"].items() if name}


def test_each_program_is_of_one_exact_version() -> None:
    asked = json.loads((HERE / "package.json").read_text(encoding="utf-8"))["dependencies"]
    assert asked == {name: packages()[f"node_modules/{name}"]["version"] for name in PROGRAMS}


def test_each_package_is_known_by_its_contents_and_by_no_address() -> None:
    assert len(packages()) > 100
    for name, package in packages().items():
        assert re.fullmatch(r"sha512-[A-Za-z0-9+/]{86}==", package["integrity"]), name
        assert "resolved" not in package, name
