"""Fixtures: the official suite, installed once for both of its legs."""

from __future__ import annotations

from pathlib import Path

import pytest
from suite import install, lacking


@pytest.fixture(scope="session")
def program(request: pytest.FixtureRequest) -> Path:
    """The suite; npm keeps what it has downloaded in pytest's own cache."""
    reason = lacking()
    if reason is not None:
        pytest.skip(reason)
    return install(request.config.cache.mkdir("conformance"))
