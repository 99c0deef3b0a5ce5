"""The server legs of the official conformance suite pass whole: no failure, no warning, nothing left out."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import judged
import judged_before
import pytest
from suite import Run, installed, run_server, unwell

pytestmark = pytest.mark.conformance

SCORED: Mapping[str, int] = {
    "server-stateless": 30,
    "completion-complete": 2,
    "tools-list": 4,
    "tools-call-simple-text": 2,
    "tools-call-image": 2,
    "tools-call-audio": 2,
    "tools-call-embedded-resource": 2,
    "tools-call-mixed-content": 2,
    "tools-call-error": 2,
    "tools-call-with-progress": 2,
    "server-sse-multiple-streams": 1,
    "resources-list": 2,
    "resources-read-text": 2,
    "resources-read-binary": 2,
    "resources-templates-read": 2,
    "sep-2164-resource-not-found": 4,
    "prompts-list": 2,
    "prompts-get-simple": 2,
    "prompts-get-with-args": 2,
    "prompts-get-embedded-resource": 2,
    "prompts-get-with-image": 2,
    "dns-rebinding-protection": 2,
    "caching": 8,
    "input-required-result-basic-elicitation": 3,
    "input-required-result-basic-sampling": 3,
    "input-required-result-basic-list-roots": 3,
    "input-required-result-request-state": 3,
    "input-required-result-multiple-input-requests": 3,
    "input-required-result-multi-round": 4,
    "input-required-result-missing-input-response": 2,
    "input-required-result-non-tool-request": 3,
    "input-required-result-result-type": 2,
    "input-required-result-unsupported-methods": 2,
    "input-required-result-tampered-state": 2,
    "input-required-result-capability-check": 2,
    "input-required-result-ignore-extra-params": 2,
    "input-required-result-validate-input": 3,
}
"""The scenarios that are scored, each with the number of checks that succeed in it."""

PENDING: Mapping[str, int] = {
    "json-schema-2020-12": 8,
    "http-header-validation": 14,
    "http-custom-header-server-validation": 10,
}
"""The scenarios that are run and not scored yet."""

TASKS = frozenset(
    {
        "tasks-lifecycle",
        "tasks-capability-negotiation",
        "tasks-wire-fields",
        "tasks-request-state-removal",
        "tasks-mrtr-input",
        "tasks-request-headers",
        "tasks-dispatch-and-envelope",
        "tasks-status-notifications",
        "tasks-required-task-error",
        "tasks-mrtr-composition",
    }
)
"""The scenarios of an extension that the server does not announce: they run, and are never scored."""


BEFORE: Mapping[str, int] = {
    "server-initialize": 3,
    "logging-set-level": 2,
    "ping": 2,
    "completion-complete": 2,
    "tools-list": 3,
    "tools-call-simple-text": 2,
    "tools-call-image": 2,
    "tools-call-audio": 2,
    "tools-call-embedded-resource": 2,
    "tools-call-mixed-content": 2,
    "tools-call-with-logging": 2,
    "tools-call-error": 2,
    "tools-call-with-progress": 2,
    "tools-call-sampling": 2,
    "tools-call-elicitation": 2,
    "elicitation-sep1034-defaults": 6,
    "elicitation-sep1330-enums": 6,
    "server-sse-multiple-streams": 1,
    "resources-list": 2,
    "resources-read-text": 2,
    "resources-read-binary": 2,
    "resources-templates-read": 2,
    "resources-subscribe": 2,
    "resources-unsubscribe": 2,
    "prompts-list": 2,
    "prompts-get-simple": 2,
    "prompts-get-with-args": 2,
    "prompts-get-embedded-resource": 2,
    "prompts-get-with-image": 2,
    "dns-rebinding-protection": 2,
}
"""The scenarios of 2025-11-25 that are scored, each with the number of checks that succeed in it."""

BEFORE_PENDING: Mapping[str, int] = {
    "server-session-lifecycle": 3,
    "json-schema-2020-12": 8,
    "server-sse-polling": 3,
}
"""Those that are run and not scored."""


@dataclass(frozen=True)
class Leg:
    """What is asked of the server in the terms of one revision."""

    counts: Mapping[str, int]
    besides: frozenset[str]
    faults: Callable[[str | None, bytes], list[str]]


LEGS = {
    "2026-07-28": Leg({**SCORED, **PENDING}, TASKS, judged.faults),
    "2025-11-25": Leg({**BEFORE, **BEFORE_PENDING}, frozenset(), judged_before.faults),
}

SCENARIOS = [(revision, name) for revision, leg in LEGS.items() for name in leg.counts]


@pytest.fixture(scope="module")
def results(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Run]:
    """The one run of each leg, one after the other against the same server."""
    runs = asyncio.run(run_server(installed(pytestconfig), tmp_path_factory.mktemp("server"), [*LEGS]))
    return dict(zip(LEGS, runs, strict=True))


@pytest.mark.parametrize("revision", LEGS)
def test_every_scenario_has_run_and_no_other(results: Mapping[str, Run], revision: str) -> None:
    run, leg = results[revision], LEGS[revision]
    assert sorted(run.scenarios) == sorted({*leg.counts, *leg.besides}), run.output


@pytest.mark.parametrize("revision", LEGS)
def test_the_suite_ends_well(results: Mapping[str, Run], revision: str) -> None:
    assert results[revision].code == 0, results[revision].output


@pytest.mark.parametrize(("revision", "scenario"), SCENARIOS)
def test_each_check_of_a_scenario_succeeds(results: Mapping[str, Run], revision: str, scenario: str) -> None:
    checks = results[revision].scenarios.get(scenario, [])
    assert not unwell(checks)
    assert sum(check.status == "SUCCESS" for check in checks) == LEGS[revision].counts[scenario], checks
    assert any(check.status == "SUCCESS" and check.id != "wire-schema-valid" for check in checks)


@pytest.mark.parametrize("revision", LEGS)
def test_every_message_of_the_run_is_what_the_schema_says(results: Mapping[str, Run], revision: str) -> None:
    exchanges = results[revision].exchanges
    found = [
        f"{fault}\n  {text}\n  in answer to {exchange['request']}"
        for exchange in exchanges
        for text in exchange["messages"]
        for fault in LEGS[revision].faults(method(exchange["request"]), text.encode())
    ]
    assert not found, "\n".join(found)
    said = [text for exchange in exchanges for text in exchange["messages"]]
    kinds = {next(key for key in ("method", "error", "result") if key in json.loads(text)) for text in said}
    assert kinds == {"method", "error", "result"}


def method(request: str) -> str | None:
    """The method of what the suite has sent; an answer of its own, or a request without a body, has none."""
    found = json.loads(request).get("method") if request else None
    return None if found is None else str(found)
