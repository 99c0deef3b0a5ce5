"""The client leg of the official conformance suite passes: no failure, no warning, nothing left out."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest
from caller import SCENARIOS, authorized
from suite import Check, Run, installed, run_client, unwell

pytestmark = pytest.mark.conformance

SCORED: Mapping[str, int] = {
    "tools_call": 2,
    "request-metadata": 8,
    "sep-2322-client-request-state": 5,
    "http-standard-headers": 9,
    "http-custom-headers": 18,
    "http-invalid-tool-headers": 12,
    "json-schema-ref-no-deref": 1,
    "auth/metadata-default": 17,
    "auth/metadata-var1": 17,
    "auth/metadata-var2": 17,
    "auth/metadata-var3": 17,
    "auth/basic-cimd": 11,
    "auth/scope-from-www-authenticate": 13,
    "auth/scope-from-scopes-supported": 13,
    "auth/scope-omitted-when-undefined": 13,
    "auth/scope-step-up": 22,
    "auth/scope-retry-limit": 17,
    "auth/token-endpoint-auth-basic": 18,
    "auth/token-endpoint-auth-post": 18,
    "auth/token-endpoint-auth-none": 18,
    "auth/pre-registration": 11,
    "auth/resource-mismatch": 2,
    "auth/offline-access-scope": 11,
    "auth/offline-access-not-supported": 13,
    "auth/authorization-server-migration": 26,
    "auth/iss-supported": 13,
    "auth/iss-not-advertised": 13,
    "auth/iss-supported-missing": 8,
    "auth/iss-wrong-issuer": 8,
    "auth/iss-unexpected": 8,
    "auth/iss-normalized": 8,
    "auth/metadata-issuer-mismatch": 3,
}
"""The scenarios that are scored, each with the number of checks that succeed in it."""

PENDING: Mapping[str, int] = {
    "json-schema-2020-12-preservation": 9,
    "auth/client-credentials-jwt": 7,
    "auth/client-credentials-basic": 7,
    "auth/enterprise-managed-authorization": 7,
}
"""The scenarios that are run and not scored."""

EXTENSIONS = frozenset({"auth/dpop", "auth/dpop-nonce", "auth/wif-jwt-bearer"})
"""The scenarios of extensions that the client does not have: they run, and are never scored."""

SKIPPED: Mapping[str, frozenset[str]] = {
    # It looks for the handshake of earlier revisions as well.
    "http-standard-headers": frozenset({"initialize", "notifications/initialized"}),
}
"""What a scenario leaves out with a good reason: a word of each check that is skipped."""

PLAYED: Mapping[str, int] = {**SCORED, **PENDING}


@pytest.fixture(scope="module")
def results(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The one run of this leg; npm keeps what it has downloaded in pytest's own cache."""
    return asyncio.run(run_client(installed(pytestconfig), tmp_path_factory.mktemp("client")))


def test_every_scenario_has_run_and_no_other(results: Run) -> None:
    assert sorted(results.scenarios) == sorted({*PLAYED, *EXTENSIONS}), results.output


def test_all_that_is_scored_is_looked_at_here() -> None:
    assert len(SCORED) == 32


def test_the_suite_ends_well(results: Run) -> None:
    assert results.code == 0, results.output


def test_the_client_plays_what_is_looked_at_here() -> None:
    assert {*SCENARIOS, *authorized()} == set(PLAYED)


@pytest.mark.parametrize(("scenario", "count"), PLAYED.items(), ids=PLAYED)
def test_each_check_of_a_scenario_succeeds(results: Run, scenario: str, count: int) -> None:
    checks = results.scenarios.get(scenario, [])
    assert not unwell([check for check in checks if not excused(scenario, check)])
    assert sum(check.status == "SUCCESS" for check in checks) == count, checks


def excused(scenario: str, check: Check) -> bool:
    """Whether a check was skipped for a reason that is known."""
    words = check.words.split()
    return check.status == "SKIPPED" and any(word in words for word in SKIPPED.get(scenario, ()))
