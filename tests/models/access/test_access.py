"""How endpoints let requests in: headers, queries, proxies, redirects, certificates."""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from tests.endpoint import Answer, Endpoint, attesting, in_turn, running
from tests.models.clients import KEY, ask, ask_many, client_to, kinds
from tests.models.clock import run
from tests.models.test_transport import all_texts
from trecjudge.errors import ModelError
from trecjudge.models.access.access import Proxy
from trecjudge.models.settings import llm_settings

AZURE = "/openai/deployments/D/chat/completions"
SECRET = "a-secret-of-the-gateway-0123"


def server(certificate: tuple[Path, Path]) -> ssl.SSLContext:
    """Return the context of a server that shows the certificate."""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(*certificate)
    return tls


async def once(where: Endpoint | str, folder: Path, **settings: Any) -> Any:
    """Ask once; return what came of it."""
    async with client_to(where, folder, tries=1, patience=0.0, **settings) as client:
        (found,) = await ask_many(client, 1)
        return found


def test_azure(tmp_path: Path) -> None:
    async def asked() -> Endpoint:
        async with running(attesting(), path=AZURE) as endpoint:
            base = endpoint.url.removesuffix("/v1") + AZURE.removesuffix("/chat/completions")
            await once(f"{base}?api-version=V", tmp_path)
            return endpoint

    endpoint = run(asked())
    assert endpoint.targets == [f"{AZURE}?api-version=V"]
    assert endpoint.headers[0]["api-key"] == KEY
    assert endpoint.headers[0]["Authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    ("headers", "sent"),
    [
        pytest.param({}, {"Authorization": f"Bearer {KEY}"}, id="the key"),
        pytest.param({"X-Api-Key": "${GATE}"}, {"X-Api-Key": SECRET}, id="one more"),
        pytest.param(
            {"authorization": "Token ${GATE}"}, {"authorization": f"Token {SECRET}"}, id="instead"
        ),
        pytest.param({"X-Project": 17}, {"X-Project": "17"}, id="a number"),
    ],
)
def test_headers(
    headers: dict[str, str],
    sent: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GATE", SECRET)

    async def asked() -> dict[str, str]:
        async with running(attesting()) as endpoint:
            await once(endpoint, tmp_path, headers=headers)
            return endpoint.headers[0]

    got = {name.lower(): value for name, value in run(asked()).items()}
    assert {name: got.get(name.lower()) for name in sent} == sent


def test_offline_needs_no_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Any] = {"headers": {"X-Gate": "${GATE}"}, "query": {"key": "${GATE}"}}

    async def twice() -> list[str]:
        async with running(attesting()) as endpoint:
            monkeypatch.setenv("GATE", SECRET)
            asked = await once(endpoint, tmp_path, **given)
            monkeypatch.delenv("GATE")
            return kinds([asked, await once(endpoint, tmp_path, offline=True, **given)])

    assert run(twice()) == ["ok", "ok"]


def test_organisation_and_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-1")

    async def asked() -> dict[str, str]:
        async with running(attesting()) as endpoint:
            await once(endpoint, tmp_path)
            return endpoint.headers[0]

    got = run(asked())
    assert (got["OpenAI-Organization"], got["OpenAI-Project"]) == ("org-1", "proj-1")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"headers": {"X": "${NOT_THERE}"}}, "llm.headers: the environment has no NOT_THERE"),
        ({"query": {"key": "${NOT_THERE}"}}, "llm.query: the environment has no NOT_THERE"),
        ({"headers": {"X": "a\nY: b"}}, "X holds characters that cannot be sent"),
        ({"headers": {"X Y": "b"}}, "'X Y' is not the name of a header"),
        ({"key_file": "k.pem"}, "llm.key_file: needs llm.cert_file"),
        ({"cert_file": "/no/such.pem"}, "llm.cert_file '/no/such.pem': no such file"),
    ],
)
def test_access_that_cannot_be(settings: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=message):
        run(once("http://127.0.0.1:9/v1", tmp_path, **settings))


@pytest.mark.parametrize(
    "answer",
    [
        *(Answer(status=s, raw=f"no {SECRET}, no".encode()) for s in (200, 400, 401, 429, 500)),
        Answer(status=307, headers={"Location": f"http://b/?k={SECRET}"}),
        Answer(drop=True),
        Answer(SECRET),
    ],
    ids=str,
)
def test_secrets_of_the_environment_are_in_no_message_and_no_file(
    answer: Answer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv("GATE", SECRET)
    caplog.set_level(logging.DEBUG)

    async def asked() -> str:
        given: dict[str, Any] = {"headers": {"X-Gate": "${GATE}"}, "query": {"key": "${GATE}"}}
        async with (
            running(in_turn(answer)) as endpoint,
            client_to(endpoint, tmp_path, tries=1, patience=0.0, **given) as client,
        ):
            (found,) = await ask_many(client, 1)
            assert SECRET in endpoint.targets[0]
            assert isinstance(found, Exception)
            return all_texts(found) + repr(client.settings) + repr(client.record())

    assert SECRET not in run(asked()) + caplog.text
    assert not [p for p in tmp_path.rglob("*") if p.is_file() and b"gateway" in p.read_bytes()]


def test_a_key_in_the_address_is_in_no_message(tmp_path: Path) -> None:
    async def asked() -> str:
        async with running(in_turn(Answer(status=404))) as endpoint:
            try:
                await ask_one(f"{endpoint.url}?key={SECRET}", tmp_path)
            except ModelError as error:
                return all_texts(error)
        return SECRET

    assert SECRET not in run(asked())


async def ask_one(url: str, folder: Path) -> None:
    async with client_to(url, folder, tries=1, structured="never") as client:
        await ask(client)


@asynccontextmanager
async def forwarding() -> AsyncIterator[tuple[str, list[tuple[str, str]]]]:
    """Run a forward proxy for plain HTTP; yield its address and what came through it."""
    came: list[tuple[str, str]] = []

    async def forward(request: web.BaseRequest) -> web.Response:
        came.append((str(request.url), request.headers.get("Proxy-Authorization", "")))
        kept = {n: v for n, v in request.headers.items() if not n.startswith("Proxy-")}
        async with (
            aiohttp.ClientSession(headers=kept) as session,
            session.post(request.url, data=await request.read()) as answer,
        ):
            return web.Response(body=await answer.read(), content_type="application/json")

    runner = web.ServerRunner(web.Server(forward), shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    try:
        yield f"{host}:{port}", came
    finally:
        await runner.cleanup()


@pytest.mark.parametrize(
    ("variables", "through"),
    [
        pytest.param({"HTTP_PROXY": "http://{}"}, True, id="HTTP_PROXY"),
        pytest.param({"http_proxy": "{}"}, True, id="http_proxy without a scheme"),
        pytest.param({"ALL_PROXY": "http://{}"}, True, id="ALL_PROXY"),
        pytest.param({"HTTPS_PROXY": "http://{}"}, False, id="for https only"),
        pytest.param({"HTTP_PROXY": "http://{}", "NO_PROXY": "a, 127.0.0.1"}, False, id="NO_PROXY"),
    ],
)
def test_a_proxy(
    variables: dict[str, str], through: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def asked() -> tuple[list[str], list[tuple[str, str]]]:
        async with running(attesting()) as endpoint, forwarding() as (proxy, came):
            for name, value in variables.items():
                monkeypatch.setenv(name, value.format(proxy))
            return kinds([await once(endpoint, tmp_path)]), came

    found, came = run(asked())
    assert found == ["ok"]
    assert len(came) == through


def test_a_proxy_that_wants_a_password(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def asked() -> tuple[list[tuple[str, str]], dict[str, str]]:
        async with running(attesting()) as endpoint, forwarding() as (proxy, came):
            monkeypatch.setenv("HTTP_PROXY", f"http://me:s%20t@{proxy}")
            await once(endpoint, tmp_path)
            return came, endpoint.headers[0]

    came, headers = run(asked())
    assert [allowed for _, allowed in came] == ["Basic bWU6cyB0"]
    assert "Proxy-Authorization" not in headers


@asynccontextmanager
async def tunnelling(allows: bool = True) -> AsyncIterator[tuple[str, list[str]]]:
    """Run a proxy that opens tunnels; yield its address and what it was asked."""
    came: list[str] = []

    async def tunnel(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        came.append(head)
        if not allows:
            writer.write(b"HTTP/1.1 407 Who are you\r\nContent-Length: 0\r\n\r\n")
            writer.close()
            return
        host, _, port = head.split()[1].rpartition(":")
        far_reader, far_writer = await asyncio.open_connection(host, int(port))
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        await asyncio.gather(passed_on(reader, far_writer), passed_on(far_reader, writer))

    async with await asyncio.start_server(tunnel, "127.0.0.1", 0) as server:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}", came


async def passed_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
    writer.close()


@pytest.mark.parametrize("allows", [True, False], ids=["open", "denied"])
def test_a_tunnel_for_https_sees_no_key(
    allows: bool,
    certificate: tuple[Path, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def asked() -> tuple[Any, list[str]]:
        async with (
            running(attesting(), server(certificate)) as endpoint,
            tunnelling(allows) as (proxy, came),
        ):
            monkeypatch.setenv("HTTPS_PROXY", f"http://me:word@{proxy}")
            ca_file = str(certificate[0])
            return await once(endpoint, tmp_path / "c", ca_file=ca_file), came

    found, came = run(asked())
    assert (kinds([found]) == ["ok"]) is allows
    assert allows or "check HTTP(S)_PROXY" in str(found)
    assert "Proxy-Authorization: Basic bWU6d29yZA==" in came[0]
    assert KEY not in "".join(came)


def test_a_dead_proxy_shows_no_password(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", f"http://me:{SECRET}@127.0.0.1:9")

    async def asked() -> str:
        return all_texts(await once("http://127.0.0.1:9/v1", tmp_path))

    said = run(asked())
    assert "127.0.0.1" in said
    assert SECRET not in said


@pytest.mark.parametrize(
    ("exceptions", "direct"),
    [
        ("h.example.org", True),
        ("example.org", True),
        (".example.org", True),
        ("*.example.org", True),
        ("h.example.org:8000", True),
        ("h.example.org:1", False),
        ("ample.org", False),
        ("*", True),
        ("a,b", False),
    ],
)
def test_no_proxy(exceptions: str, direct: bool) -> None:
    environment = {"HTTP_PROXY": "http://p:1", "no_proxy": exceptions}
    found = Proxy.of("http://h.example.org:8000/v1", environment)
    assert (found is None) is direct


@pytest.mark.parametrize(("network", "direct"), [("10.0.0.0/8", True), ("10.1.0.0/16", False)])
def test_no_proxy_for_a_network(network: str, direct: bool) -> None:
    environment = {"HTTP_PROXY": "http://p:1", "NO_PROXY": network}
    assert (Proxy.of("http://10.0.0.7/v1", environment) is None) is direct


def test_a_proxy_of_another_kind() -> None:
    with pytest.raises(ModelError, match="HTTP_PROXY: a proxy must be http"):
        Proxy.of("http://a/v1", {"HTTP_PROXY": "socks5://p:1"})


def moving(status: int, location: str) -> Any:
    """Return a script that redirects and, where asked there, attests."""
    return Answer(status=status, headers={"Location": location})


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_to_the_same_host_is_followed(status: int, tmp_path: Path) -> None:
    answers = in_turn(moving(status, "/v1/chat/completions?moved=1"), Answer())

    async def asked() -> tuple[list[str], Endpoint]:
        async with running(answers) as endpoint:
            return kinds([await once(endpoint, tmp_path)]), endpoint

    found, endpoint = run(asked())
    assert found == ["ok"]
    assert endpoint.targets == ["/v1/chat/completions", "/v1/chat/completions?moved=1"]
    assert endpoint.requests[0] == endpoint.requests[1]


def test_what_moved_for_good_is_asked_there(tmp_path: Path) -> None:
    answers = in_turn(moving(308, "/v1/chat/completions?moved=1"), Answer())

    async def asked() -> list[str]:
        async with running(answers) as endpoint, client_to(endpoint, tmp_path) as client:
            await ask(client, "One.")
            await ask(client, "Two.")
            return endpoint.targets

    assert [target.endswith("moved=1") for target in run(asked())] == [False, True, True]


def test_the_key_goes_to_no_other_host(tmp_path: Path) -> None:
    async def asked() -> tuple[Any, Endpoint]:
        async with running(attesting()) as other:
            here = in_turn(moving(307, f"{other.url}/chat/completions"))
            async with running(here) as endpoint:
                return await once(endpoint, tmp_path), other

    found, other = run(asked())
    assert isinstance(found, ModelError)
    assert "redirects to" in str(found)
    assert other.requests == []


def test_a_redirect_in_circles_ends(tmp_path: Path) -> None:
    def circle(body: dict[str, Any], number: int) -> Answer:
        return moving(307, f"/v1/chat/completions?n={number}")

    async def asked() -> Any:
        async with running(circle) as endpoint:
            return await once(endpoint, tmp_path)

    assert isinstance(run(asked()), ModelError)


def test_an_upgrade_to_https_is_followed(certificate: tuple[Path, Path], tmp_path: Path) -> None:
    async def asked() -> list[str]:
        async with running(attesting(), server(certificate)) as safe:
            plain = in_turn(moving(301, f"{safe.url}/chat/completions"))
            async with running(plain) as endpoint:
                ca_file = str(certificate[0])
                return kinds([await once(endpoint, tmp_path / "c", ca_file=ca_file)])

    assert run(asked()) == ["ok"]


@pytest.mark.parametrize("shown", [True, False], ids=["shown", "not shown"])
def test_a_certificate_of_the_client(
    shown: bool, certificate: tuple[Path, Path], tmp_path: Path
) -> None:
    tls = server(certificate)
    tls.verify_mode = ssl.CERT_REQUIRED
    tls.load_verify_locations(certificate[0])
    own = {"cert_file": str(certificate[0]), "key_file": str(certificate[1])} if shown else {}

    async def asked() -> list[str]:
        async with running(attesting(), tls) as endpoint:
            found = await once(endpoint, tmp_path / "c", ca_file=str(certificate[0]), **own)
            await asyncio.sleep(0)
            return kinds([found])

    assert (run(asked()) == ["ok"]) is shown


def test_a_key_that_wants_a_password_is_an_error_and_asks_no_terminal(
    certificate: tuple[Path, Path],
) -> None:
    workflow = {
        "base_url": "https://a/v1",
        "cert_file": str(certificate[0]),
        "key_file": str(certificate[1].with_name("locked.pem")),
    }
    with pytest.raises(ModelError, match=r"llm\.cert_file"):
        llm_settings(workflow, {"OPENAI_MODEL": "m", "OPENAI_API_KEY": "k"})


def test_a_proxy_that_is_no_address() -> None:
    with pytest.raises(ModelError, match="a proxy must be http"):
        Proxy.of("http://a.example/v1", {"ALL_PROXY": "headers={Authorization: Bearer x}"})
