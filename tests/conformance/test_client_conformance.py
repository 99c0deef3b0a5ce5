"""The client legs of the official conformance suite pass, one of each era: no failure, no warning, nothing left out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import cache
from typing import TypeAlias

import pytest
from caller import SCENARIOS, authorized
from mcprotocol.latest import REVISION
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
    "auth/metadata-default": 18,
    "auth/metadata-var1": 18,
    "auth/metadata-var2": 18,
    "auth/metadata-var3": 18,
    "auth/basic-cimd": 12,
    "auth/scope-from-www-authenticate": 14,
    "auth/scope-from-scopes-supported": 14,
    "auth/scope-omitted-when-undefined": 14,
    "auth/scope-step-up": 23,
    "auth/scope-retry-limit": 17,
    "auth/token-endpoint-auth-basic": 19,
    "auth/token-endpoint-auth-post": 19,
    "auth/token-endpoint-auth-none": 19,
    "auth/pre-registration": 12,
    "auth/resource-mismatch": 2,
    "auth/offline-access-scope": 12,
    "auth/offline-access-not-supported": 14,
    "auth/authorization-server-migration": 27,
    "auth/iss-supported": 14,
    "auth/iss-not-advertised": 14,
    "auth/iss-supported-missing": 8,
    "auth/iss-wrong-issuer": 8,
    "auth/iss-unexpected": 8,
    "auth/iss-normalized": 8,
    "auth/metadata-issuer-mismatch": 3,
}
"""The scenarios that are scored, each with the number of checks that succeed in it."""

PENDING: Mapping[str, int] = {
    "json-schema-2020-12-preservation": 9,
    "auth/client-credentials-jwt": 8,
    "auth/client-credentials-basic": 8,
    "auth/enterprise-managed-authorization": 8,
}
"""The scenarios that are run and not scored."""

HANDSHAKE_SCORED: Mapping[str, int] = {
    "tools_call": 2,
    "initialize": 1,
    "elicitation-sep1034-client-defaults": 5,
    "sse-retry": 3,
    "auth/metadata-default": 19,
    "auth/metadata-var1": 19,
    "auth/metadata-var2": 19,
    "auth/metadata-var3": 19,
    "auth/basic-cimd": 14,
    "auth/scope-from-www-authenticate": 15,
    "auth/scope-from-scopes-supported": 15,
    "auth/scope-omitted-when-undefined": 15,
    "auth/scope-step-up": 21,
    "auth/scope-retry-limit": 16,
    "auth/token-endpoint-auth-basic": 20,
    "auth/token-endpoint-auth-post": 20,
    "auth/token-endpoint-auth-none": 20,
    "auth/pre-registration": 14,
}
"""Those of the last revision with a handshake: the same client, which finds that out."""

HANDSHAKE_PENDING: Mapping[str, int] = {
    "json-schema-2020-12-preservation": 9,
    "auth/client-credentials-jwt": 10,
    "auth/client-credentials-basic": 10,
    "auth/enterprise-managed-authorization": 10,
}
"""Those of it that are run and not scored."""

EXTENSIONS = frozenset({"auth/dpop", "auth/dpop-nonce", "auth/wif-jwt-bearer"})
"""The scenarios of extensions that the client does not have: they run, and are never scored."""

SKIPPED: Mapping[str, frozenset[str]] = {
    # It looks for the handshake of earlier revisions as well.
    "http-standard-headers": frozenset({"initialize", "notifications/initialized"}),
}
"""What a scenario leaves out with a good reason: a word of each check that is skipped."""

LEGS: Mapping[str, Mapping[str, int]] = {
    "2025-11-25": {**HANDSHAKE_SCORED, **HANDSHAKE_PENDING},
    REVISION: {**SCORED, **PENDING},
}
"""What is played for each revision."""

PLAYED = [(revision, scenario, count) for revision, leg in LEGS.items() for scenario, count in leg.items()]

Leg: TypeAlias = Callable[[str], Run]
"""The run of a revision."""


@pytest.fixture(scope="module")
def leg(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Leg:
    """The one run of each leg; npm keeps what it has downloaded in pytest's own cache."""

    @cache
    def run(revision: str) -> Run:
        return asyncio.run(run_client(installed(pytestconfig), tmp_path_factory.mktemp("client"), revision))

    return run


@pytest.mark.parametrize("revision", LEGS)
def test_every_scenario_has_run_and_no_other(leg: Leg, revision: str) -> None:
    assert sorted(leg(revision).scenarios) == sorted({*LEGS[revision], *EXTENSIONS}), leg(revision).output


def test_all_that_is_scored_is_looked_at_here() -> None:
    assert (len(SCORED), len(HANDSHAKE_SCORED)) == (32, 18)


@pytest.mark.parametrize("revision", LEGS)
def test_the_suite_ends_well(leg: Leg, revision: str) -> None:
    assert leg(revision).code == 0, leg(revision).output


def test_the_client_plays_what_is_looked_at_here() -> None:
    assert {*SCENARIOS, *authorized()} == {scenario for leg in LEGS.values() for scenario in leg}


@pytest.mark.parametrize(("revision", "scenario", "count"), PLAYED)
def test_each_check_of_a_scenario_succeeds(leg: Leg, revision: str, scenario: str, count: int) -> None:
    checks = leg(revision).scenarios.get(scenario, [])
    assert not unwell([check for check in checks if not excused(scenario, check)])
    assert sum(check.status == "SUCCESS" for check in checks) == count, checks


def excused(scenario: str, check: Check) -> bool:
    """Whether a check was skipped for a reason that is known."""
    words = check.words.split()
    return check.status == "SKIPPED" and any(word in words for word in SKIPPED.get(scenario, ()))
