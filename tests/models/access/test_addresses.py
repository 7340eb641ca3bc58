"""Base URLs in every spelling, and what of them is a secret."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from trecjudge.errors import ModelError
from trecjudge.models.access.addresses import is_azure, same_origin, split_addresses
from trecjudge.models.settings import llm_settings

ENVIRONMENT = {"OPENAI_MODEL": "m", "OPENAI_API_KEY": "k"}
AZURE = "https://x.openai.azure.com/openai/deployments/D"


@pytest.mark.parametrize(
    ("base_url", "url"),
    [
        ("http://a/v1", "http://a/v1/chat/completions"),
        ("http://a/v1/", "http://a/v1/chat/completions"),
        ("http://a/v1//", "http://a/v1/chat/completions"),
        ("http://a/v1/chat/completions", "http://a/v1/chat/completions"),
        ("http://a/v1/chat/completions/", "http://a/v1/chat/completions"),
        ("http://a:11434", "http://a:11434/v1/chat/completions"),
        ("http://a:11434/", "http://a:11434/v1/chat/completions"),
        ("http://a/openai", "http://a/openai/chat/completions"),
        (f"{AZURE}?api-version=V", f"{AZURE}/chat/completions?api-version=V"),
        (f"{AZURE}/?api-version=V", f"{AZURE}/chat/completions?api-version=V"),
        (f"{AZURE}/chat/completions?api-version=V", f"{AZURE}/chat/completions?api-version=V"),
        ("http://a?v=1", "http://a/v1/chat/completions?v=1"),
        ("http://a/v1#part", "http://a/v1/chat/completions"),
        ("http://[::1]:8000", "http://[::1]:8000/v1/chat/completions"),
        (" http://a/v1 ", "http://a/v1/chat/completions"),
    ],
)
def test_every_spelling(base_url: str, url: str) -> None:
    assert llm_settings({}, ENVIRONMENT | {"OPENAI_BASE_URL": base_url}).url == url


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        pytest.param({"api-version": "V"}, "?api-version=V", id="in clear"),
        pytest.param({"a b": "c&d"}, "?a%20b=c%26d", id="quoted"),
        pytest.param({"key": "${MY_KEY}"}, "?key=***", id="of the environment"),
    ],
)
def test_a_query_is_added(query: dict[str, str], shown: str) -> None:
    settings = llm_settings({"base_url": "http://a/v1", "query": query}, ENVIRONMENT)
    assert settings.url == f"http://a/v1/chat/completions{shown}"


@pytest.mark.parametrize(
    "given", ["http://a/v1,http://b/v1", "http://a/v1  http://b/v1", ["http://a/v1", "http://b/v1"]]
)
def test_several(given: str | list[str]) -> None:
    assert split_addresses(given) == ["http://a/v1", "http://b/v1"]


def test_one_place_in_two_spellings_is_one() -> None:
    given = {"OPENAI_BASE_URL": "http://a http://b/v1 http://a/v1/"}
    settings = llm_settings({}, ENVIRONMENT | given)
    assert settings.urls == tuple(f"http://{h}/v1/chat/completions" for h in "ab")
    assert settings.public()["base_url"] == ["http://a", "http://b/v1"]


def test_a_list_in_the_workflow_and_in_the_environment_are_the_same() -> None:
    listed = llm_settings({"base_url": ["http://a", "http://b"]}, ENVIRONMENT)
    written = llm_settings({}, ENVIRONMENT | {"OPENAI_BASE_URL": "http://a, http://b"})
    assert listed.urls == written.urls == tuple(f"http://{h}/v1/chat/completions" for h in "ab")


@pytest.mark.parametrize(
    ("base_url", "message"),
    [
        ("http://a/v1, ftp://b/v1", "'ftp://b/v1': must begin with http"),
        ("http://a:port/v1", "is not a valid address"),
        ("http://", "is not a valid address"),
        (" , ", "no base_url"),
        ("http://me:word@a/v1", "give no name and password"),
    ],
)
def test_addresses_that_cannot_be(base_url: str, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        llm_settings({}, ENVIRONMENT | {"OPENAI_BASE_URL": base_url})


@pytest.mark.parametrize(
    ("url", "azure"),
    [
        (f"{AZURE}/chat/completions", True),
        ("http://127.0.0.1:1/openai/deployments/D/chat/completions?api-version=V", True),
        ("http://a/v1/chat/completions?version=1", False),
        ("http://azure.com.evil.org/v1/chat/completions", False),
    ],
)
def test_who_takes_the_key_as_azure_does(url: str, azure: bool) -> None:
    assert is_azure(url) is azure


@pytest.mark.parametrize(
    ("there", "followed"),
    [
        ("http://a/v2/chat/completions", True),
        ("http://a:80/v1/chat/completions/", True),
        ("https://a/v1/chat/completions", True),
        ("https://a:8443/v1/chat/completions", True),
        ("http://b/v1/chat/completions", False),
        ("http://a:8080/v1/chat/completions", False),
        ("ftp://a/v1", False),
        ("http://a:port/", False),
    ],
)
def test_where_a_redirect_may_lead(there: str, followed: bool) -> None:
    assert same_origin("http://a/v1/chat/completions", there) is followed


def test_a_redirect_never_leads_from_https_to_http() -> None:
    assert not same_origin("https://a/v1", "http://a/v1")


@pytest.mark.parametrize("where", ["headers", "query"])
@pytest.mark.parametrize(
    ("name", "value", "refused"),
    [
        ("X-Api-Key", "abc", True),
        ("apikey", "abc", True),
        ("Authorization", "Basic abc", True),
        ("X-Auth-Token", "hush", True),
        ("X-Team", "sk-proj-0123456789abcdef0123", True),
        ("X-Team", "Bearer abc", True),
        ("X-Team", "0123456789abcdef0123456789abcdef", True),
        ("X-Api-Key", "${MY_KEY}", False),
        ("Authorization", "Bearer ${MY_KEY}", False),
        ("OpenAI-Organization", "org-0123456789", False),
        ("X-Team", "123e4567-e89b-12d3-a456-426614174000", False),
        ("X-Title", "My evaluation of the year 2025", False),
        ("anthropic-beta", "max-tokens-3-5-sonnet-2024-07-15", False),
    ],
)
def test_a_secret_does_not_stand_in_a_workflow(
    where: str, name: str, value: str, refused: bool
) -> None:
    workflow: dict[str, Any] = {"base_url": "http://a/v1", where: {name: value}}
    if not refused:
        llm_settings(workflow, ENVIRONMENT)
        return
    with pytest.raises(ModelError, match=rf"llm.{where}: {name} looks like a secret") as raised:
        llm_settings(workflow, ENVIRONMENT)
    assert value not in str(raised.value)


def test_a_secret_in_the_address_of_a_workflow() -> None:
    with pytest.raises(ModelError, match=r"llm.base_url: its query holds") as raised:
        llm_settings({"base_url": ["http://a/v1?key=hush-hush"]}, ENVIRONMENT)
    assert "hush" not in str(raised.value)


def test_a_secret_in_the_address_of_the_environment_is_hidden() -> None:
    given = ENVIRONMENT | {"OPENAI_BASE_URL": "http://a/v1?api-version=V&code=1&key=hush%2Dhush"}
    settings = llm_settings({}, given)
    assert settings.url == "http://a/v1/chat/completions?api-version=V&code=1&key=***"
    assert "hush" not in f"{settings!r} {settings.public()!r}"


def test_a_date_is_a_version() -> None:
    query = {"api-version": date(2024, 10, 21)}
    settings = llm_settings({"base_url": "http://a/v1", "query": query}, ENVIRONMENT)
    assert settings.url.endswith("?api-version=2024-10-21")
