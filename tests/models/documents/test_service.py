"""Which texts and files name a service of documents, and what may be shown of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from trecjudge.errors import InputError, ModelError, TrecJudgeError
from trecjudge.models.access.addresses import NAMED
from trecjudge.models.documents.fetcher import access_to
from trecjudge.models.documents.service import HEADERS, address_of, can_be_asked, service_of

URL = "https://library.example/v1/books/doc/{docid}"
SECRET = "s3cret-word-of-the-library"


def test_an_address_is_a_service() -> None:
    service = service_of(Path(URL))
    assert service is not None
    assert (service.url, service.name, service.at_once, service.headers) == (URL, URL, 8, {})
    assert address_of(URL, "a#b/c") == "https://library.example/v1/books/doc/a%23b%2Fc"


@pytest.mark.parametrize(
    "written",
    [
        pytest.param(f"http://h:8081/d/{{docid}}?key={SECRET}", id="a key"),
        pytest.param(f"https://me:{SECRET}@h/d?id={{docid}}", id="a password"),
    ],
)
def test_secrets_of_an_address_are_not_shown(written: str) -> None:
    service = service_of(Path(written))
    assert service is not None and service.url == written
    shown = [service.name, service.public_address("x"), repr(service)]
    shown += [repr(access_to(service, {})), access_to(service, {}).mask(written)]
    assert [text for text in shown if SECRET in text] == []
    assert "x" in service.public_address("x")


@pytest.mark.parametrize(
    "path", ["docs.jsonl", "irds:msmarco", "no/such.yml", "postgresql://h/d", "/tmp", "a{docid}"]
)
def test_other_paths_are_none(path: str) -> None:
    assert service_of(Path(path)) is None


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("https://h/v1/books/doc/", "needs {docid} in its path"),
        ("https://h/v1#{docid}", "needs {docid} in its path"),
        ("https://{docid}.h/v1", "needs {docid} in its path"),
        ("https://{docid}@h/{docid}", "needs {docid} in its path"),
        ("https://:80/{docid}", "is no address of a service"),
        ("https://h:port/{docid}", "is no address of a service"),
        ("https://h:99999/{docid}", "is no address of a service"),
        ("https://h/a\nb/{docid}", "is no address of a service"),
        ("https://[h/{docid}", "is no address of a service"),
        ("https://h/é/{docid}", "is no address of a service"),
    ],
)
def test_an_address_that_cannot_be_used(written: str, message: str) -> None:
    with pytest.raises(InputError, match="; give https://HOST/v1/INDEX/doc/") as caught:
        service_of(Path(written))
    assert message in str(caught.value)


def test_a_file_names_a_service(write: Callable[..., Path]) -> None:
    text = f"""
url: {URL}
headers: {{Authorization: "Bearer ${{LIBRARY_TOKEN}}", X-Part: 7}}
text: doc.contents
at_once: 4
only_cited: yes
"""
    service = service_of(write(text, "service.yml"))
    assert service is not None
    assert (service.text, service.at_once, service.only_cited) == ("doc.contents", 4, True)
    assert service.name == f"{URL} (doc.contents)"
    access = access_to(service, {"LIBRARY_TOKEN": SECRET})
    assert access.headers["Authorization"] == f"Bearer {SECRET}"
    assert access.headers["X-Part"] == "7"
    assert "LIBRARY_TOKEN" in NAMED
    with pytest.raises(ModelError, match="the environment has no LIBRARY_TOKEN"):
        access_to(service, {})


def test_variables_in_the_address_of_a_file(write: Callable[..., Path]) -> None:
    text = "url: https://me:${LIBRARY_TOKEN}@${LIBRARY_HOST}/{docid}?key=${LIBRARY_TOKEN}"
    service = service_of(write(text, "service.yml"))
    assert service is not None and {"LIBRARY_HOST", "LIBRARY_TOKEN"} <= NAMED
    access = access_to(service, {"LIBRARY_TOKEN": "a@b{docid}", "LIBRARY_HOST": "h:80"})
    word = "a%40b%7Bdocid%7D"
    assert access.url == f"https://me:{word}@h:80/{{docid}}?key={word}"
    assert "a@b" not in access.mask("a@b{docid}") + access.mask(access.url)
    with pytest.raises(ModelError, match="the environment has no LIBRARY_"):
        access_to(service, {})


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        pytest.param("url: U", "url: U\nat_once: 2", True, id="another pace"),
        pytest.param("url: U", "url: U\ntext: a", False, id="another text"),
        pytest.param("url: U?index=a", "url: U?index=b", False, id="another query"),
        pytest.param("url: 'U?key=${A}'", "url: 'U?key=${B}'", False, id="another variable"),
        pytest.param("url: https://a@h/{docid}", "url: https://b@h/{docid}", False, id="user"),
        pytest.param("url: 'https://a:${A}@h/{docid}'", "url: 'https://a:${B}@h/{docid}'", True,
                     id="another password"),
        pytest.param("url: U\nheaders: {X-Index: a}", "url: U\nheaders: {X-Index: b}", False,
                     id="another header"),
        pytest.param("url: U\nheaders: {X: 1, Y: '${A}'}", "url: U\nheaders: {Y: '${A}', X: '1'}",
                     True, id="the same headers"),
    ],
)  # fmt: skip
def test_what_documents_are_kept_under(
    one: str, other: str, same: bool, write: Callable[..., Path]
) -> None:
    services = [service_of(write(text.replace("U", URL, 1), "s.yml")) for text in (one, other)]
    keys = {service.key for service in services if service is not None}
    assert len(keys) == (1 if same else 2)


@pytest.mark.parametrize("text", ["", "a: 1", "- url", "documents: [a]"])
def test_other_files_are_none(text: str, write: Callable[..., Path]) -> None:
    assert service_of(write(text, "x.yml")) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("url: https://h/x", "service.yml: url: 'https://h/x' needs {docid}"),
        ("url: ftp://h/{docid}", "is no address of a service"),
        ("url: 'h/{docid}'", "is no address of a service"),
        ("headers: {A: b}", "service.yml: has no url; give url: https"),
        ("url: [a]", "has no url"),
        (f"url: {URL}\nat_onec: 3", "unknown key 'at_onec'; did you mean 'at_once'?"),
        (f"url: {URL}\nat_once: 0", "at_once: 0 is too small; give a whole number from 1 to 64"),
        (f"url: {URL}\ntext: 3", "text: 3 is not text"),
        (f"url: {URL}\nheaders: {SECRET}", "headers: give a mapping"),
        (f"url: {URL}\nheaders: {{Authorization: [{SECRET}]}}", "'Authorization' is not text"),
        (f"url: {URL}\nheaders: {{X-A: {SECRET}, X-B: true}}", "headers: 'X-B' is not text; put"),
        (f"url: {URL}?api_key={SECRET}", "url: api_key looks like a secret"),
        (f"url: https://me:{SECRET}@h/{{docid}}", "url: password looks like a secret"),
        (f"url: {URL}\nheaders: {{Authorization: {SECRET}}}", "looks like a secret"),
        (f"url: https://u:{SECRET}@h/{{docid}}\nheaders: {{authorization: 'x ${{Y}}'}}", "or the"),
        (f"url: {URL}\nurl: {URL}", "service.yml:2: key 'url' is given twice"),
        ("url: {docid", "service.yml:2: is not YAML"),
    ],
)
def test_a_file_that_cannot_be_used(text: str, message: str, write: Callable[..., Path]) -> None:
    with pytest.raises(TrecJudgeError) as caught:
        service_of(write(text, "service.yml"))
    assert message in str(caught.value)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ("Authorization=LIBRARY_TOKEN", {"Authorization": f"Bearer {SECRET}"}),
        ("authorization = LIBRARY_TOKEN ,", {"authorization": f"Bearer {SECRET}"}),
        ("X-Key=LIBRARY_TOKEN,X-B=B", {"X-Key": SECRET, "X-B": "b"}),
        ("X-Key=B@other.example,X-B=B@library.example", {"X-B": "b"}),
        ("X-B=B@Library.Example,X-B=LIBRARY_TOKEN", {"X-B": "b"}),
        ("X-B=B@example,X-C=B@library.example:443,X-D=B@library", {}),
    ],
)
def test_headers_of_the_environment(
    written: str, sent: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(HEADERS, written)
    service = service_of(Path(URL))
    assert service is not None
    access = access_to(service, {"LIBRARY_TOKEN": SECRET, "B": "b"})
    assert access.headers == {"Accept": "application/json"} | sent


@pytest.mark.parametrize(
    "written",
    [
        f"Authorization={SECRET}",
        "Authorization",
        "=A",
        f"Bearer {SECRET}",
        "A=" + "A1" * 20,
        f"A={SECRET}@h",
    ],
)
def test_a_token_in_the_place_of_its_variable_is_not_shown(
    written: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(HEADERS, written)
    with pytest.raises(InputError, match=f"{HEADERS}: give HEADER=VARIABLE") as caught:
        service_of(Path(URL))
    assert SECRET not in str(caught.value) and "A1A1" not in str(caught.value)


@pytest.mark.parametrize(
    ("doc_id", "can"),
    [("a#b", True), ("../a", True), ("", False), (".", False), ("..", False),
     ("x" * 2000, True), ("x" * 2001, False)],
    ids=["plain", "inside", "empty", "dot", "dots", "long", "too long"],
)  # fmt: skip
def test_which_ids_can_be_asked_for(doc_id: str, can: bool) -> None:
    assert can_be_asked(doc_id) is can
