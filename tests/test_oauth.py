"""Authorization of the client: what it does when a server, an authorization server or a user goes wrong."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import httpx2
import pytest
from granting import ISSUER, REDIRECT, URL, Form, World, connected, described, logging_in
from mcprotocol.client.challenge import bearer, safe
from mcprotocol.client.oauth import (
    MemoryStore,
    Registered,
    StoreError,
    Unauthorized,
    assertion,
    credentials,
    exchange,
    login,
    name_of,
)
from mcprotocol.latest import types
from mcprotocol.server import Server
from starlette.responses import JSONResponse, Response


def read(world: World, auth: httpx2.Auth, *tools: str) -> None:
    """Call tools, one after the other, in one connection."""

    async def work() -> None:
        async with connected(world, auth) as client:
            for tool in tools or ("read",):
                assert not (await client.call_tool(tool)).is_error

    asyncio.run(work())


def refused(world: World, auth: httpx2.Auth, *tools: str) -> str:
    """Why a call is refused."""
    with pytest.raises(Unauthorized) as caught:
        read(world, auth, *tools)
    return str(caught.value)


def test_a_user_logs_in_once_and_all_calls_are_authorized() -> None:
    world = World()
    read(world, logging_in(world), "read", "write", "read")
    assert len(world.pages) == len(world.forms("/register")) == len(world.forms("/token")) == 1
    assert world.pages[0]["resource"] == world.forms("/token")[0]["resource"] == URL
    assert world.pages[0]["redirect_uri"] == world.forms("/token")[0]["redirect_uri"] == REDIRECT


def test_a_client_registers_itself_as_what_it_is() -> None:
    world = World()
    read(world, logging_in(world, name="me"))
    (said,) = world.forms("/register")
    assert said["client_name"] == "me" and said["application_type"] == "native"
    assert said["token_endpoint_auth_method"] == "none" and "refresh_token" in said["grant_types"]


def test_many_calls_at_once_lead_to_one_login() -> None:
    world = World()

    async def work() -> None:
        async with connected(world, logging_in(world)) as client:
            results = await asyncio.gather(*(client.call_tool("read") for _ in range(20)))
            assert all(result.content == [types.TextContent(text="read")] for result in results)

    asyncio.run(work())
    assert len(world.pages) == 1


def test_a_slow_call_holds_up_no_other() -> None:
    begun, let = asyncio.Event(), asyncio.Event()
    server = Server("peer", version="1")

    @server.tool()
    async def slow() -> str:
        begun.set()
        await let.wait()
        return "at last"

    @server.tool()
    async def release() -> str:
        let.set()
        return "now"

    world = World(server)

    async def work() -> None:
        async with asyncio.timeout(20), connected(world, logging_in(world)) as client:
            waiting = asyncio.ensure_future(client.call_tool("slow"))
            await begun.wait()
            await client.call_tool("release")
            assert (await waiting).content == [types.TextContent(text="at last")]

    asyncio.run(work())


def test_calls_that_have_waited_for_a_login_that_fails_do_not_begin_another() -> None:
    world = World(returned=lambda query: {**query, "state": "another"})

    async def work() -> list[Any]:
        async with connected(world, logging_in(world)) as client:
            return await asyncio.gather(*(client.call_tool("read") for _ in range(5)), return_exceptions=True)

    outcomes = asyncio.run(work())
    assert [type(outcome) for outcome in outcomes] == [Unauthorized] * 5
    assert len(world.pages) == 1


def without(name: str) -> Callable[[Form], Form]:
    return lambda query: {key: value for key, value in query.items() if key != name}


def instead(**members: str) -> Callable[[Form], Form]:
    return lambda query: {**query, **members}


def failing(**members: str) -> Callable[[Form], Form]:
    return lambda query: {"state": query["state"], **members}


@pytest.mark.parametrize(
    ("returned", "words"),
    [
        (instead(state="another"), "the login that came back is not the one that was begun: its `state` differs"),
        (without("state"), "the login that came back is not the one that was begun: its `state` differs"),
        (instead(iss="https://evil.test"), f"the login came back from another issuer than {ISSUER}"),
        (instead(iss=f"{ISSUER}/"), f"the login came back from another issuer than {ISSUER}"),
        (instead(iss=f"{ISSUER}:443"), f"the login came back from another issuer than {ISSUER}"),
        (without("iss"), f"the login came back without the `iss` that {ISSUER} promises"),
        (without("code"), "the login came back without a code"),
        (
            failing(error="access_denied", error_description="no\nthanks", iss=ISSUER),
            "the login failed: access_denied: no thanks",
        ),
        (
            failing(error="go to https://evil.test", iss="https://evil.test"),
            f"the login came back from another issuer than {ISSUER}",
        ),
    ],
)  # fmt: skip
def test_a_login_that_comes_back_wrong_is_not_used(returned: Callable[[Form], Form], words: str) -> None:
    world = World(returned=returned)
    assert refused(world, logging_in(world)) == words
    assert world.forms("/token") == []


def test_an_issuer_that_was_not_promised_must_be_right_all_the_same() -> None:
    world = World(returned=instead(iss="https://evil.test"))
    del world.metadata["authorization_response_iss_parameter_supported"]
    assert refused(world, logging_in(world)) == f"the login came back from another issuer than {ISSUER}"
    world.returned = without("iss")
    read(world, logging_in(world))


def test_an_issuer_is_compared_as_it_is_spelled() -> None:
    spelled = "https://AS.test:443"
    world = World(
        protected={"resource": URL, "authorization_servers": [spelled]},
        metadata={**described(ISSUER), "issuer": spelled},
        returned=instead(iss=spelled),
    )
    read(world, logging_in(world))
    world.returned = instead(iss=ISSUER)
    assert refused(world, logging_in(world)) == f"the login came back from another issuer than {spelled}"


def test_a_parameter_given_twice_is_not_used() -> None:
    world = World()
    came: list[str] = []
    auth = login(
        URL,
        store=MemoryStore(),
        show=lambda address: came.append(f"{world.browse(address)}&code=another"),
        wait=came.pop,
        redirect=REDIRECT,
    )
    assert refused(world, auth) == "the login came back with a parameter given twice; nothing of it was used"


@pytest.mark.parametrize(
    ("protected", "metadata", "words"),
    [
        (
            {"resource": "https://evil.test/mcp"},
            {},
            f"{URL} says that it is https://evil.test/mcp; no token is sought for that",
        ),
        (
            {},
            {"issuer": "https://evil.test"},
            f"the authorization server calls itself https://evil.test, not {ISSUER}",
        ),
        ({}, {"issuer": f"{ISSUER}/"}, f"the authorization server calls itself {ISSUER}/, not {ISSUER}"),
        (
            {},
            {"code_challenge_methods_supported": ["plain"]},
            f"{ISSUER} does not say that it supports PKCE with S256, without which no login is safe",
        ),
        (
            {},
            {"code_challenge_methods_supported": None},
            f"{ISSUER} does not say that it supports PKCE with S256, without which no login is safe",
        ),
        (
            {},
            {"registration_endpoint": None},
            f"{ISSUER} does not know this client and registers none: register one by hand, and give it as `client`",
        ),
        (
            {},
            {"registration_endpoint": "http://as.test/register"},
            "http://as.test is to take part in the login: only https is safe, or this machine",
        ),
        (
            {"authorization_servers": ["http://as.test"]},
            {},
            "http://as.test is to take part in the login: only https is safe, or this machine",
        ),
        (
            {},
            {"authorization_endpoint": "http://as.test/authorize"},
            "http://as.test/authorize is no page to log in at: only https is",
        ),
    ],
)  # fmt: skip
def test_metadata_that_cannot_be_trusted_ends_the_login(
    protected: dict[str, Any], metadata: dict[str, Any], words: str
) -> None:
    world = World()
    world.protected |= protected
    world.metadata |= metadata
    assert refused(world, logging_in(world)) == words
    assert (world.pages, world.forms("/token")) == ([], [])


def always(said: object) -> Callable[[Form], Response]:
    return lambda form: JSONResponse(said)


@pytest.mark.parametrize("value", [None, 5, "x", "", [5], [], {}, True, "https://[", ["http://["]], ids=repr)
def test_whatever_metadata_says_a_call_succeeds_or_is_refused(value: Any) -> None:
    worlds: list[World] = []
    for name in (*described(ISSUER), "scopes_supported"):
        worlds.append(World(metadata={**described(ISSUER), name: value}))
    for name in ("resource", "authorization_servers", "scopes_supported"):
        worlds.append(World(protected={**World().protected, name: value}))
    for name in ("client_id", "client_secret", "token_endpoint_auth_method", "redirect_uris"):
        registration = {"client_id": "known", "redirect_uris": [REDIRECT], name: value}
        worlds.append(World(registered=partial(JSONResponse, registration, 201)))
    for name in ("access_token", "token_type", "expires_in", "refresh_token", "scope"):
        worlds.append(World(granted=always({"access_token": "given", "token_type": "Bearer", name: value})))
    for world in worlds:
        with contextlib.suppress(Unauthorized):
            read(world, logging_in(world))
        assert world.asked


def test_a_server_without_metadata_ends_the_login_before_anything_is_sent() -> None:
    world = World(protected={}, metadata={})
    words = refused(world, logging_in(world))
    assert words == f"{URL} names no authorization server that can be used"
    assert [address for method, address, _ in world.asked if method == "POST"] == [URL]


def test_a_registration_that_is_refused_is_told_with_its_reason() -> None:
    reason = {"error": "invalid_redirect_uri", "error_description": "no loopback here"}
    world = World(registered=lambda: JSONResponse(reason, 400))
    assert refused(world, logging_in(world)) == (
        f"{ISSUER}/register registers no client: 400: invalid_redirect_uri: no loopback here;"
        " register one by hand, and give it as `client`"
    )
    assert world.pages == []


def test_a_secret_that_is_registered_without_a_method_is_used() -> None:
    world = World(registered=lambda: JSONResponse({"client_id": "known", "client_secret": "hush"}, 201))
    del world.metadata["token_endpoint_auth_methods_supported"]
    read(world, logging_in(world))
    assert world.forms("/token")[0]["authorization"] == "Basic a25vd246aHVzaA=="


def test_nobody_finishes_the_login() -> None:
    world = World()

    async def never() -> str:
        await asyncio.Event().wait()
        return ""

    words = refused(world, logging_in(world, wait=never, seconds=0.01))
    assert words == "nobody has finished the login within 0.01 seconds; call again to log in"


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (
            JSONResponse({"error": "invalid_grant"}, 400),
            f"{ISSUER}/token grants no token: 400: invalid_grant",
        ),
        (JSONResponse({"refresh_token": "hush"}), f"{ISSUER}/token grants no token: what it sent is none"),
        (Response("hush"), f"{ISSUER}/token grants no token: what it sent is none"),
        (Response("hush", 503), f"{ISSUER}/token answers 503; try again later"),
        (
            JSONResponse({"access_token": "hush", "token_type": "DPoP"}),
            f"{ISSUER}/token grants no token: what it sent is none",
        ),
    ],
)
def test_what_is_no_token_is_told_without_what_it_is(
    answer: Response, words: str, caplog: pytest.LogCaptureFixture
) -> None:
    world = World(granted=lambda form: answer)
    with caplog.at_level(logging.DEBUG):
        assert refused(world, logging_in(world)) == words
    assert "hush" not in caplog.text


def test_a_token_that_has_expired_is_renewed() -> None:
    world = World(lasting=[0])
    read(world, logging_in(world), "read", "read")
    first, second = world.forms("/token")
    assert (first["grant_type"], second["grant_type"]) == ("authorization_code", "refresh_token")
    assert second["refresh_token"] in world.secrets and second["resource"] == URL
    assert len(world.pages) == 1


def test_a_token_that_is_refused_before_its_time_is_renewed_before_anybody_logs_in() -> None:
    world = World()

    async def work() -> None:
        async with connected(world, logging_in(world)) as client:
            await client.call_tool("read")
            world.spoiled()
            await client.call_tool("read")

    asyncio.run(work())
    assert [form["grant_type"] for form in world.forms("/token")] == ["authorization_code", "refresh_token"]
    assert len(world.pages) == 1


def test_a_token_is_renewed_after_a_restart_where_it_was_granted() -> None:
    world, store = World(lasting=[0]), MemoryStore()
    read(world, logging_in(world, store))
    read(world, logging_in(world, store))
    assert [form["grant_type"] for form in world.forms("/token")] == ["authorization_code", "refresh_token"]
    assert len(world.pages) == len(world.forms("/register")) == 1


def test_a_token_is_used_after_a_restart_and_the_server_is_asked_nothing_else() -> None:
    world, store = World(), MemoryStore()
    read(world, logging_in(world, store))
    world.asked.clear()
    read(world, logging_in(world, store))
    assert {address for _, address, _ in world.asked} == {URL}


def test_a_renewal_that_is_refused_leads_to_a_login() -> None:
    world, store = World(lasting=[0]), MemoryStore()
    world.granted = lambda form: (
        JSONResponse({"error": "invalid_grant"}, 400) if form["grant_type"] == "refresh_token" else None
    )
    read(world, logging_in(world, store), "read", "read", "read")
    assert len(world.pages) == 2
    assert len(world.forms("/register")) == 1
    assert [form["grant_type"] for form in world.forms("/token")] == [
        "authorization_code",
        "refresh_token",
        "authorization_code",
    ]


def test_a_renewal_that_brings_no_token_leads_to_a_login_and_is_not_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    world = World(lasting=[0])
    world.granted = lambda form: (
        JSONResponse({"refresh_token": "hush"}) if form["grant_type"] == "refresh_token" else None
    )
    with caplog.at_level(logging.DEBUG):
        read(world, logging_in(world), "read", "read")
    assert len(world.pages) == 2
    assert "hush" not in caplog.text


def test_a_login_that_has_failed_stands_in_the_way_of_nothing() -> None:
    world = World(needed={"write": "more"})

    async def work() -> None:
        async with connected(world, logging_in(world)) as client:
            await client.call_tool("read")
            world.returned = instead(state="another")
            with pytest.raises(Unauthorized, match="its `state` differs"):
                await client.call_tool("write")
            world.spoiled()
            await client.call_tool("read")

    asyncio.run(work())
    assert [form["grant_type"] for form in world.forms("/token")] == [
        "authorization_code",
        "refresh_token",
    ]


def test_a_renewal_that_fails_for_the_moment_keeps_the_token() -> None:
    world, store = World(lasting=[0]), MemoryStore()
    read(world, logging_in(world, store))
    world.granted = lambda form: Response(status_code=503)
    assert refused(world, logging_in(world, store)) == f"{ISSUER}/token answers 503; try again later"
    world.granted = lambda form: None
    read(world, logging_in(world, store))
    assert len(world.pages) == 1


def test_a_token_that_another_process_has_renewed_is_taken() -> None:
    world, store = World(lasting=[0]), MemoryStore()

    async def work() -> None:
        async with connected(world, logging_in(world, store)) as one:
            await one.call_tool("read")
            async with connected(world, logging_in(world, store)) as other:
                await other.call_tool("read")
            await one.call_tool("read")

    asyncio.run(work())
    assert [form["grant_type"] for form in world.forms("/token")] == ["authorization_code", "refresh_token"]


def test_a_wider_scope_is_granted_on_top_of_the_first() -> None:
    world = World(challenge='Bearer scope="base"', needed={"write": "more"})
    read(world, logging_in(world), "read", "write", "write", "read")
    assert [page["scope"] for page in world.pages] == ["base", "base more"]


def test_a_wider_scope_keeps_the_first_after_a_restart() -> None:
    world, store = World(challenge='Bearer scope="base"', needed={"write": "more"}), MemoryStore()
    read(world, logging_in(world, store))
    read(world, logging_in(world, store), "write")
    assert [page["scope"] for page in world.pages] == ["base", "base more"]
    assert len(world.forms("/register")) == 1


def test_a_scope_that_is_asked_for_again_and_again_is_refused() -> None:
    world = World(needed={"write": "more"}, permitted="")
    words = "the server asks for the scope more again, which was granted: this user may not do that"

    async def work() -> None:
        async with connected(world, logging_in(world)) as client:
            for _ in range(2):
                with pytest.raises(Unauthorized) as caught:
                    await client.call_tool("write")
                assert str(caught.value) == words
            await client.call_tool("read")

    asyncio.run(work())
    assert len(world.pages) == 2


def test_a_token_that_is_refused_at_once_ends_the_call() -> None:
    world = World()
    world.granted = lambda form: JSONResponse({"access_token": "unknown", "token_type": "Bearer"})
    assert refused(world, logging_in(world)) == "the server refuses a token that was just granted: 401"
    assert len(world.pages) == 1


def test_scopes_of_the_authorization_server_are_not_asked_for() -> None:
    world = World()
    world.metadata["scopes_supported"] = ["all", "offline_access"]
    read(world, logging_in(world))
    assert "scope" not in world.pages[0]


def test_a_scope_of_ones_own_is_asked_for_where_the_server_names_none() -> None:
    world = World()
    world.metadata["scopes_supported"] = ["all", "offline_access"]
    read(world, logging_in(world, scope="mine"))
    assert world.pages[0]["scope"] == "mine offline_access"
    world.challenge = 'Bearer scope="theirs"'
    read(world, logging_in(world, scope="mine"))
    assert world.pages[1]["scope"] == "theirs offline_access"


def test_a_client_that_is_registered_uses_its_secret_there_and_nowhere_else() -> None:
    world = World()
    mine = Registered(ISSUER, "mine", "hush")
    read(world, logging_in(world, client=mine))
    assert world.forms("/register") == []
    assert world.pages[0]["client_id"] == "mine"
    assert world.forms("/token")[0]["authorization"].startswith("Basic ")
    assert "hush" not in repr(mine)
    world.protected["authorization_servers"] = ["https://evil.test"]
    assert refused(world, logging_in(world, client=mine)) == (
        f"this client is registered at {ISSUER}, but {URL} trusts https://evil.test"
    )


def test_a_client_that_is_registered_finds_its_server_among_several() -> None:
    world = World()
    world.protected["authorization_servers"] = ["https://other.test", ISSUER]
    read(world, logging_in(world, client=Registered(ISSUER, "mine")))
    assert world.pages[0]["client_id"] == "mine"
    assert world.forms("/token")[0]["authorization"] == ""


def test_a_registration_that_is_not_known_any_more_is_forgotten() -> None:
    world, store = World(), MemoryStore()
    world.granted = lambda form: JSONResponse({"error": "invalid_client"}, 401)
    refused(world, logging_in(world, store))
    world.granted = lambda form: None
    read(world, logging_in(world, store))
    assert len(world.forms("/register")) == 2


def test_a_document_is_the_client_id_where_that_is_supported() -> None:
    world = World()
    world.metadata["client_id_metadata_document_supported"] = True
    read(world, logging_in(world, document="https://me.test/client.json"))
    assert world.pages[0]["client_id"] == "https://me.test/client.json"
    assert world.forms("/register") == []


def test_a_server_that_moves_to_another_issuer_is_followed_with_a_new_registration() -> None:
    world, store = World(), MemoryStore()
    read(world, logging_in(world, store))
    world.spoiled()
    moved = "https://moved.test"
    world.protected["authorization_servers"] = [moved]
    world.metadata = described(moved)
    world.returned = instead(iss=moved)
    world.granted = lambda form: (
        JSONResponse({"error": "invalid_grant"}, 400) if form["grant_type"] == "refresh_token" else None
    )
    read(world, logging_in(world, store))
    assert [address for _, address, _ in world.asked if "/register" in address] == [
        f"{ISSUER}/register",
        f"{moved}/register",
    ]

    async def kept() -> set[str]:
        found = await store.load(URL)
        assert found is not None and found.issuer == moved
        return set(found.sessions)

    assert asyncio.run(kept()) == {ISSUER, moved}


def test_an_endpoint_with_a_query_keeps_it() -> None:
    world = World()
    world.metadata["authorization_endpoint"] = f"{ISSUER}/authorize?policy=a"
    read(world, logging_in(world))
    assert world.pages[0]["policy"] == "a" and world.pages[0]["response_type"] == "code"


def test_no_secret_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    world = World(lasting=[0])
    world.registered = lambda: JSONResponse({"client_id": "known", "client_secret": "hush"}, 201)
    world.secrets.append("hush")
    with caplog.at_level(logging.DEBUG):
        read(world, logging_in(world), "read", "read")
        world.returned = instead(state="wrong")
        refused(world, logging_in(world))
    assert len(world.secrets) > 4
    assert [secret for secret in world.secrets if secret in caplog.text] == []
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR] == []


def test_what_is_kept_and_cannot_be_used_is_one_clear_error() -> None:
    world, store = World(), MemoryStore()
    read(world, logging_in(world, store))

    async def spoil() -> None:
        await store.update(URL, lambda kept: kept.session(ISSUER).__setattr__("tokens", {"access_token": 5}))

    asyncio.run(spoil())
    with pytest.raises(StoreError) as caught:
        read(world, logging_in(world, store))
    assert str(caught.value) == (
        f"what is kept for {URL} cannot be used: OAuthToken: /access_token:"
        " Input should be a valid string; `forget` it and log in again"
    )


def test_a_program_gets_in_by_its_secret() -> None:
    world = World()
    del world.metadata["code_challenge_methods_supported"]
    read(world, credentials(URL, issuer=ISSUER, client_id="me", secret="hush", scope="mine"))
    (form,) = world.forms("/token")
    assert form["grant_type"] == "client_credentials" and form["authorization"].startswith("Basic ")
    assert form["resource"] == URL and form["scope"] == "mine" and "client_secret" not in form


def test_a_program_sends_its_secret_as_the_server_takes_it() -> None:
    world = World()
    world.metadata["token_endpoint_auth_methods_supported"] = ["client_secret_post"]
    read(world, credentials(URL, issuer=ISSUER, client_id="me", secret="hush"))
    (form,) = world.forms("/token")
    assert form["client_secret"] == "hush" and form["authorization"] == ""


def test_a_program_sends_its_secret_to_its_own_issuer_only() -> None:
    world = World()
    world.protected["authorization_servers"] = ["https://evil.test"]
    words = refused(world, credentials(URL, issuer=ISSUER, client_id="me", secret="hush"))
    assert words == f"this client is registered at {ISSUER}, but {URL} trusts https://evil.test"
    assert all("/token" not in address for _, address, _ in world.asked)


def test_a_program_signs_for_the_issuer() -> None:
    world = World()
    heard: list[str] = []

    def sign(audience: str) -> str:
        heard.append(audience)
        return "signed"

    read(world, credentials(URL, issuer=ISSUER, client_id="me", sign=sign))
    assert heard == [ISSUER]
    assert world.forms("/token")[0]["client_assertion"] == "signed"


def test_a_user_of_an_enterprise_gets_in_by_an_assertion() -> None:
    world = World()
    heard: list[tuple[str, str]] = []

    async def vouch(audience: str, resource: str) -> str:
        heard.append((audience, resource))
        return "vouched"

    auth = assertion(URL, issuer=ISSUER, client_id="me", secret="hush", vouch=vouch)
    read(world, auth, "read", "read")
    assert heard == [(ISSUER, URL)]
    (form,) = world.forms("/token")
    assert form["assertion"] == "vouched" and form["authorization"].startswith("Basic ")
    assert world.pages == []


def test_an_assertion_that_is_not_taken_is_told() -> None:
    world = World(granted=lambda form: JSONResponse({"error": "invalid_grant"}, 400))
    auth = assertion(
        URL, issuer=ISSUER, client_id="me", secret="hush", vouch=lambda audience, resource: "vouched"
    )
    assert refused(world, auth) == f"{ISSUER}/token grants no token: 400: invalid_grant"


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: login(URL, wait=lambda: ""), "give `wait` and `redirect` together"),
        (lambda: login(URL, redirect=REDIRECT), "give `wait` and `redirect` together"),
        (lambda: login(URL, redirect="http://a.test/", wait=lambda: ""), "must be an https address"),
        (lambda: login(URL, document="http://a.test/x"), "must be an https address with a path"),
        (lambda: credentials(URL, issuer=ISSUER, client_id="me"), "give exactly one of"),
        (lambda: credentials(URL, issuer=ISSUER, client_id="me", secret="a", key="b"), "give exactly one of"),
        (lambda: exchange("http://idp.test/token", client_id="me", id_token="x"), "must be an https address"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_at_once(make: Callable[[], object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make()


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (["Bearer"], {}),
        (['Bearer realm="a, b", scope="x y"'], {"realm": "a, b", "scope": "x y"}),
        (['bearer error=invalid_token,scope="x"'], {"error": "invalid_token", "scope": "x"}),
        (['Basic realm="b", Bearer scope="x"'], {"scope": "x"}),
        (['Basic realm="b"', 'Bearer scope="x"'], {"scope": "x"}),
        (['Bearer scope="x", DPoP scope="y"'], {"scope": "x"}),
        (['Bearer error_description="say scope=\\"all\\" to me"'], {"error_description": 'say scope="all" to me'}),
        (["Negotiate abc==", "Bearer scope=x"], {"scope": "x"}),
        (['DPoP scope="y"'], {}),
        ([], {}),
    ],
)  # fmt: skip
def test_the_challenge_for_a_bearer_is_read_among_others(lines: list[str], found: dict[str, str]) -> None:
    headers = [("www-authenticate", line) for line in lines]
    assert bearer(httpx2.Response(401, headers=headers)) == found


@pytest.mark.parametrize(
    ("address", "is_safe"),
    [
        ("https://a.test/x", True),
        ("http://localhost:1/x", True),
        ("http://127.0.0.2/x", True),
        ("http://[::1]:1/x", True),
        ("http://a.localhost/", True),
        ("http://a.test/", False),
        ("http://localhost.a.test/", False),
        ("http://10.0.0.1/", False),
        ("javascript:alert(1)", False),
        ("file:///etc/passwd", False),
        ("https://", False),
        ("https://[", False),
        ("", False),
        ("http://[", False),
    ],
)
def test_only_https_and_this_machine_are_safe(address: str, is_safe: bool) -> None:
    assert safe(address) is is_safe


def test_names_of_a_store_tell_clients_apart() -> None:
    assert name_of(URL) == URL
    assert len({name_of(URL), name_of(URL, "a"), name_of(URL, "b")}) == 3


def test_the_official_package_is_not_loaded_before_it_is_needed() -> None:
    words = "import sys, mcprotocol.client, mcprotocol.client.http; print('mcp' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
