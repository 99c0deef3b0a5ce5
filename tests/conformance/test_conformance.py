"""The server leg of the official conformance suite passes whole: no failure, no warning, nothing left out."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping

import pytest
from judged import faults
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


@pytest.fixture(scope="module")
def results(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The one run of this leg."""
    return asyncio.run(run_server(installed(pytestconfig), tmp_path_factory.mktemp("server")))


def test_every_scenario_has_run_and_no_other(results: Run) -> None:
    assert sorted(results.scenarios) == sorted({*SCORED, *PENDING, *TASKS}), results.output


def test_the_suite_ends_well(results: Run) -> None:
    assert results.code == 0, results.output


@pytest.mark.parametrize(("scenario", "count"), [*SCORED.items(), *PENDING.items()], ids=[*SCORED, *PENDING])
def test_each_check_of_a_scenario_succeeds(results: Run, scenario: str, count: int) -> None:
    checks = results.scenarios.get(scenario, [])
    assert not unwell(checks)
    assert sum(check.status == "SUCCESS" for check in checks) == count, checks


def test_every_message_of_the_run_is_what_the_schema_says(results: Run) -> None:
    found = [
        f"{fault}\n  {text}\n  in answer to {exchange['request']}"
        for exchange in results.exchanges
        for text in exchange["messages"]
        for fault in faults(method(exchange["request"]), text.encode())
    ]
    assert not found, "\n".join(found)
    kinds = {
        next(key for key in ("method", "error", "result") if key in json.loads(text))
        for text in said(results)
    }
    assert kinds == {"method", "error", "result"}


def said(results: Run) -> list[str]:
    return [text for exchange in results.exchanges for text in exchange["messages"]]


def method(request: str) -> str | None:
    """The method of a request that the suite has sent; what it sends without a body has none."""
    return str(json.loads(request)["method"]) if request else None
