"""The client leg of the official conformance suite passes: no failure, no warning, nothing left out."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest
from caller import SCENARIOS
from suite import Check, Run, run_client, unwell

pytestmark = pytest.mark.conformance

SCORED: Mapping[str, int] = {
    "tools_call": 2,
    "request-metadata": 8,
    "sep-2322-client-request-state": 5,
    "http-standard-headers": 9,
    "http-custom-headers": 18,
    "http-invalid-tool-headers": 12,
    "json-schema-ref-no-deref": 1,
}
"""The scenarios that are scored, each with the number of checks that succeed in it."""

PENDING: Mapping[str, int] = {"json-schema-2020-12-preservation": 9}
"""The scenarios that are run and not scored."""

SKIPPED: Mapping[str, frozenset[str]] = {
    # It looks for the handshake of earlier revisions as well.
    "http-standard-headers": frozenset({"initialize", "notifications/initialized"}),
}
"""What a scenario leaves out with a good reason: a word of each check that is skipped."""

AUTHORIZATION = "auth/"
"""How the names begin of the scenarios in which a client has to be authorized."""

PLAYED: Mapping[str, int] = {**SCORED, **PENDING}


@pytest.fixture(scope="module")
def results(program: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The one run of this leg."""
    return asyncio.run(run_client(program, tmp_path_factory.mktemp("client")))


def test_every_scenario_without_authorization_has_run_and_no_other(results: Run) -> None:
    found = {name for name in results.scenarios if not name.startswith(AUTHORIZATION)}
    assert found == {name for name in PLAYED if not name.startswith(AUTHORIZATION)}, results.output


def test_the_client_plays_what_is_looked_at_here() -> None:
    assert set(SCENARIOS) == set(PLAYED)


@pytest.mark.parametrize(("scenario", "count"), PLAYED.items(), ids=PLAYED)
def test_each_check_of_a_scenario_succeeds(results: Run, scenario: str, count: int) -> None:
    checks = results.scenarios.get(scenario, [])
    assert not unwell([check for check in checks if not excused(scenario, check)])
    assert sum(check.status == "SUCCESS" for check in checks) == count, checks


def excused(scenario: str, check: Check) -> bool:
    """Whether a check was skipped for a reason that is known."""
    words = check.words.split()
    return check.status == "SKIPPED" and any(word in words for word in SKIPPED.get(scenario, ()))
