"""What needs Node: the official programs, installed once."""

from __future__ import annotations

from pathlib import Path

import pytest
from suite import install, lacking


@pytest.fixture(scope="session")
def installed(request: pytest.FixtureRequest) -> Path:
    """Where npm has installed them; it keeps what it has downloaded in pytest's own cache."""
    reason = lacking()
    if reason is not None:
        pytest.skip(reason)
    return install(request.config.cache.mkdir("conformance"))
