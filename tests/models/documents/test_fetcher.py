"""What replies of a service mean: a document, none there, or nothing that is known."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections import Counter
from pathlib import Path
from typing import Any

import aiohttp
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.document_service import TOKEN, Reply, missing, serving_documents
from tests.endpoint import attesting, in_a_thread, running
from tests.models.clock import run
from tests.models.documents.outcomes import Library
from trecjudge.findings import ignore
from trecjudge.inputs.collections.kept import KeptDocuments
from trecjudge.models.documents.fetcher import Fetcher, NotTaken, document_in
from trecjudge.models.documents.service import DocumentApi

KEYS = ("docid", "id", "doc", "text", "contents", "raw", "error", "status", "_source", "candidates")
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(0, 9), st.sampled_from(["x", "y", "", "{}"]),
              st.text(max_size=20), st.sampled_from(['{"text": "A."}', "{", '{"docid": "y"}'])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(KEYS), inner, max_size=4)
    ),
    max_leaves=12,
)  # fmt: skip


@given(VALUES, st.sampled_from(["", "doc.text", "doc", "text"]))
def test_any_json_is_a_document_or_not_taken(value: Any, path: str) -> None:
    try:
        found = document_in(orjson.dumps(value), "x", path, unreported_field)
    except NotTaken as reply:
        assert str(reply)
    else:
        assert (found.doc_id, found.complete) == ("x", True)


@given(st.binary(max_size=60))
def test_any_bytes_are_a_document_or_not_taken(payload: bytes) -> None:
    try:
        assert document_in(payload, "x", "", unreported_field).doc_id == "x"
    except NotTaken as reply:
        assert str(reply)


def unreported_field(name: str) -> None:
    ignore(name)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"docid": "y", "text": "A."}, "is of another document: 'y'"),
        ({"doc": {"id": 7, "text": "A."}}, "is of another document: '7'"),
        ({"error": {"message": "down"}}, "is an error: {'message': 'down'}"),
        ({"took": 3, "version": "2"}, "has no text under a known name: keys ['took', 'version']"),
        (7, "holds no document: 7"),
        ({"a": [[]] * 100_001}, "has more than 100,000 entries (--limit entries)"),
    ],
    ids=["another", "another inside", "an error", "no text", "a number", "too many"],
)
def test_why_a_reply_is_not_taken(value: Any, reason: str) -> None:
    with pytest.raises(NotTaken) as caught:
        document_in(orjson.dumps(value), "x", "", unreported_field)
    assert str(caught.value) == reason


def test_secrets_are_hidden_before_anything_is_quoted() -> None:
    secret = "k" * 70 + "-0123456789"
    with pytest.raises(NotTaken) as caught:
        document_in(
            orjson.dumps({"docid": f"at {secret}"}), "x", "", unreported_field,
            lambda text: text.replace(secret, "***"),
        )  # fmt: skip
    assert str(caught.value) == "is of another document: 'at ***'"


HELD = {f"d{number}": {"contents": f"Text {number}."} for number in range(20)}
SEGMENT = "msmarco_v2.1_doc_00_0#1_2"
PAGE = b"<html><body><h1>Please log in</h1></body></html>"


def of(doc_id: str, doc: Any) -> Reply:
    return Reply({"docid": doc_id, "doc": doc})


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        pytest.param(of("x", {"segment": "A."}), "found: A.", id="an object"),
        pytest.param(of("x", "A."), "found: A.", id="a text"),
        pytest.param(of("x", '{"contents": "A."}'), "found: A.", id="JSON in a text"),
        pytest.param(of("x", {"id": "x", "raw": '{"body": "A."}'}), "found: A.", id="Lucene raw"),
        pytest.param(Reply({"id": "x", "text": "A."}), "found: A.", id="no inner document"),
        pytest.param(
            Reply({"_id": "x", "found": True, "_source": {"text": "A."}}), "found: A.", id="Elastic"
        ),
        pytest.param(Reply({"title": "T", "abstract": "A."}), "found: A.", id="without an id"),
        pytest.param(Reply({"pmid": 7, "id": "x", "text": "A."}), "found: A.", id="two ids"),
        pytest.param(Reply("A."), "found: A.", id="a JSON text"),
        pytest.param(Reply({"id": "x", "text": "A."}, packed=True), "found: A.", id="gzip"),
        pytest.param(of("x", {"contents": ""}), "found: ", id="an empty text"),
        pytest.param(of("y", {"contents": "A."}), "unknown", id="another document"),
        pytest.param(Reply(PAGE), "unknown", id="a page"),
        pytest.param(Reply(b""), "unknown", id="nothing"),
        pytest.param(Reply([{"id": "x", "text": "A."}]), "unknown", id="a list"),
        pytest.param(Reply({"error": "The index is being built at the moment, wait."}), "unknown",
                     id="an error with 200"),
        pytest.param(Reply({"docid": "x", "doc": None, "error": "no"}), "unknown", id="null"),
        pytest.param(Reply({"status": "The index is being built at the moment, wait."}), "unknown",
                     id="a message with 200"),
        pytest.param(Reply(b"[" * 1000 + b"]" * 1000), "unknown", id="too deep"),
        pytest.param(Reply(b'{"a": "' + b"a" * (17 << 20)), "unknown", id="too large"),
        pytest.param(Reply(b'"' + b"a" * (20 << 20) + b'"', packed=True), "unknown",
                     id="too large when unpacked"),
        pytest.param(missing("x"), "not there", id="404"),
        pytest.param(Reply(PAGE, 404), "not there", id="404 with a page"),
        pytest.param(Reply(b"", 410), "not there", id="410"),
        pytest.param(Reply({"error": "bad"}, 400), "unknown", id="400"),
        pytest.param(Reply(b"", 403), "unknown", id="403"),
        pytest.param(Reply(b"", 405), "unknown", id="405"),
        pytest.param(Reply(b"", 414), "unknown", id="414"),
        pytest.param(Reply(b"", 500), "unknown", id="500"),
        pytest.param(Reply(PAGE, 204), "unknown", id="204"),
        pytest.param(Reply(b'{"docid": "x", "doc"', cut=True), "unknown", id="cut"),
        pytest.param(Reply(drop=True), "unknown", id="closed"),
        pytest.param(Reply(b'{"docid": "x"', endless=True), "unknown", id="never ends"),
        pytest.param(Reply(delay=100.0), "unknown", id="slow"),
        pytest.param(Reply(b"no gzip", headers={"Content-Encoding": "gzip"}), "unknown",
                     id="no gzip"),
        pytest.param(Reply(b"", 302, {"Location": "/v1/books/doc/x"}), "unknown", id="to itself"),
        pytest.param(Reply(b"", 302, {"Location": "http://127.0.0.1:9/x"}), "unknown",
                     id="elsewhere"),
        pytest.param(Reply(b"", 301, {"Location": "d1"}), "unknown", id="to another document"),
        pytest.param(Reply(b"", 302, {"Location": "/log/in"}), "unknown", id="to no page"),
        pytest.param(Reply(b"", 302, {"Location": "y"}), "unknown", id="to what is not there"),
    ],
)  # fmt: skip
def test_what_a_reply_means(reply: Reply, outcome: str, tmp_path: Path) -> None:
    done = Library(tmp_path).ask(["d1", "x", "d2", "d3"], HELD, {"x": [reply]})
    assert done.raised == ""
    assert [done.of(i) for i in ("d1", "d2", "d3")] == [f"found: Text {n}." for n in (1, 2, 3)]
    assert done.of("x") == outcome
    assert ("'x'" in done.messages) == (outcome == "unknown")


def several(count: int) -> list[str]:
    return [f"z{number}" for number in range(count)]


@pytest.mark.parametrize(
    ("replies", "requests"),
    [
        pytest.param([Reply(b"", 429, {"Retry-After": "7"})], 2, id="429 with seconds"),
        pytest.param(
            [Reply(b"", 429, {"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"})], 2, id="with a date"
        ),
        pytest.param([Reply(b"", 429)] * 3, 4, id="429 three times"),
        pytest.param([Reply(b"", 503)], 2, id="503"),
        pytest.param([Reply(PAGE, 502)] * 4, 5, id="502 four times"),
        pytest.param([Reply({"error": "oops"}, 500)] * 3, 4, id="500 three times"),
        pytest.param([Reply(b"{", cut=True), Reply(drop=True)], 3, id="cut, then closed"),
        pytest.param([Reply(delay=100.0)], 2, id="slow once"),
    ],
)
def test_what_may_pass_is_asked_again(replies: list[Reply], requests: int, tmp_path: Path) -> None:
    done = Library(tmp_path).ask(HELD, HELD, {"d3": [*replies, None]})
    assert {done.of(doc_id) for doc_id in HELD} == {f"found: Text {n}." for n in range(20)}
    assert (done.server.asked["d3"], done.server.asked.total()) == (requests, 19 + requests)
    assert done.findings == []


def test_a_wait_that_is_asked_for_holds_all_requests(tmp_path: Path) -> None:
    rude = {"*": [Reply(b"", 429, {"Retry-After": "30"}), None]}
    done = Library(tmp_path, {"at_once": 1}).ask(["d1"], HELD, rude)
    first, second = done.server.times
    assert second - first >= 30
    assert "waiting for" in done.notices[0] and "HTTP 429" in done.notices[0]


def test_a_limit_that_is_used_up_is_kept_to(tmp_path: Path) -> None:
    spent = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "20s"}
    done = Library(tmp_path, {"at_once": 1}).ask(
        ["d1", "d2"], HELD, {"*": [Reply("A.", headers=spent)]}
    )
    first, second = done.server.times
    assert second - first >= 20


def test_few_requests_are_under_way_at_once(tmp_path: Path) -> None:
    slow = {doc_id: [Reply({"docid": doc_id, "doc": "A."}, delay=1.0)] for doc_id in HELD}
    done = Library(tmp_path, {"at_once": 3}).ask(HELD, HELD, slow)
    assert (done.server.most_at_once, done.fetcher.found) == (3, 20)


def test_a_service_that_goes_down_is_waited_for_and_then_left(tmp_path: Path) -> None:
    rude = {doc_id: [Reply(PAGE, 502)] for doc_id in several(50)}
    held = dict.fromkeys(several(100), "A.")
    done = Library(tmp_path, {"patience": 300.0}).ask(held, held, rude)
    states = [done.of(doc_id) for doc_id in held]
    assert states[50:].count("found: A.") + states[50:].count("unknown") == 50
    assert "not there" not in states and "found: A." in states
    assert "waited for 300 s in vain: HTTP 502" in done.messages
    assert "run the same command again to go on" in done.messages
    assert any("waiting for http://127.0.0.1" in notice for notice in done.notices)
    assert done.server.asked.total() < 150
    again = Library(tmp_path).ask(held, held)
    assert {again.of(doc_id) for doc_id in held} == {"found: A."}
    assert again.server.asked.total() == states.count("unknown")


def test_where_nothing_listens_the_job_goes_on_with_nothing_known(tmp_path: Path) -> None:
    done = Library(tmp_path).ask(["d1", "d2"], HELD, path="http://127.0.0.1:1/{docid}")
    assert [done.of("d1"), done.of("d2"), done.raised] == ["unknown", "unknown", ""]
    assert "2 documents not fetched: waited for 60 s in vain" in done.messages


def test_documents_that_always_fail_hold_nothing_up(tmp_path: Path) -> None:
    rude = {"d1": [Reply(b"", 500)], "d2": [Reply({"error": "too odd"}, 400)]}
    rude |= {"d3": [Reply(b"", 503)]}
    done = Library(tmp_path).ask(HELD, HELD, rude)
    assert {done.of(f"d{number}") for number in range(1, 4)} == {"unknown"}
    assert [done.server.asked[f"d{number}"] for number in range(1, 4)] == [5, 1, 5]
    assert (done.fetcher.found, done.fetcher.ended) == (17, "")
    assert "1 document not fetched ('d2'): HTTP 400: too odd" in done.messages


def test_a_reply_that_is_late_is_told_in_plain_words(tmp_path: Path) -> None:
    done = Library(tmp_path).ask(["x", "d1"], HELD, {"x": [Reply(delay=100.0)]})
    assert "1 document not fetched ('x'): no whole reply within 60 s (timeout)" in done.messages


def test_where_nothing_at_all_is_there_nothing_is_settled(tmp_path: Path) -> None:
    done = Library(tmp_path).ask(several(30), HELD)
    assert {done.of(doc_id) for doc_id in several(30)} == {"unknown"}
    assert "HTTP 404: Document not found: z" in done.messages
    assert "no document at all was there: is the address right?" in done.messages
    assert done.findings[0].place.path == done.server.pattern


def test_a_wrong_path_is_asked_no_more_than_a_thousand_times(tmp_path: Path) -> None:
    done = Library(tmp_path).ask(several(1500), HELD, path="/v2/{docid}")
    assert {done.of(doc_id) for doc_id in several(1500)} == {"unknown"}
    assert done.server.asked.total() == 0
    assert "1,000 are not there, and no document comes; is the address right?" in done.messages


def test_a_document_proves_what_was_not_there_before_it(tmp_path: Path) -> None:
    ids = [*several(30), "d1"]
    done = Library(tmp_path).ask(ids, HELD)
    assert [done.of("z0"), done.of("z29"), done.of("d1")] == ["not there"] * 2 + ["found: Text 1."]
    again = Library(tmp_path).ask(ids, HELD)
    assert again.server.asked.total() == 0


def test_documents_of_an_earlier_job_prove_it_if_they_are_still_there(tmp_path: Path) -> None:
    Library(tmp_path).ask(["d1"], HELD)
    gone = Library(tmp_path).ask(["z0"], {})
    assert gone.of("z0") == "unknown"
    there = Library(tmp_path).ask(["z0"], HELD)
    assert (there.of("z0"), there.server.asked) == ("not there", {"z0": 1, "d1": 1})


def page_404(count: int) -> list[Reply | None]:
    return [None] * count + [Reply(PAGE, 404)]


def test_a_gateway_that_stands_in_midway_makes_no_document_disappear(tmp_path: Path) -> None:
    rude = {doc_id: page_404(int(doc_id == "d1")) for doc_id in HELD}
    done = Library(tmp_path).ask(HELD, HELD, rude)
    assert {done.of(doc_id) for doc_id in HELD} == {"unknown", "found: Text 1."}
    assert "19 documents not fetched" in done.messages
    assert "HTTP 404: Please log in; no document came after it: is the" in done.messages
    assert done.server.asked.total() == 21


@pytest.mark.parametrize(
    ("replies", "outcome", "requests"),
    [
        pytest.param([missing("x")], "not there", 1, id="named"),
        pytest.param([Reply({"_id": "x", "found": False}, 404)], "not there", 1, id="in a field"),
        pytest.param([Reply({"detail": "Not Found"}, 404)], "not there", 2, id="a message"),
        pytest.param([Reply({"path": "/v1/doc/x"}, 404)], "not there", 2, id="the address"),
        pytest.param([Reply(b"x", 404)], "not there", 2, id="plain text"),
        pytest.param([Reply(PAGE, 404), None], "found: A.", 2, id="there after all"),
        pytest.param([Reply(PAGE, 404), Reply(b"", 400)], "unknown", 2, id="then refused"),
    ],
)
def test_what_is_not_named_is_asked_for_once_more(
    replies: list[Reply | None], outcome: str, requests: int, tmp_path: Path
) -> None:
    done = Library(tmp_path).ask(["d1", "x"], HELD | {"x": "A."}, {"x": replies})
    assert (done.of("x"), done.server.asked["x"]) == (outcome, requests)


def test_one_document_proves_all_replies_that_name_what_is_not_there(tmp_path: Path) -> None:
    Library(tmp_path).ask(["d1"], HELD)
    done = Library(tmp_path).ask(several(500), HELD, {"d1": [None, None, *page_404(0)]})
    states = Counter(done.of(doc_id) for doc_id in several(500))
    assert (states, done.server.asked["d1"]) == ({"not there": 500}, 1)


def test_other_sources_name_what_may_prove_it(tmp_path: Path) -> None:
    done = Library(tmp_path, proofs=["y", "d1", "d2"]).ask(["z0"], HELD)
    assert (done.of("z0"), done.server.asked) == ("not there", {"z0": 1, "y": 1, "d1": 1})
    assert (done.fetcher.done, done.fetcher.total, done.messages) == (1, 1, "")


def test_jobs_at_the_same_time_share_what_is_to_be_asked_for(tmp_path: Path) -> None:
    async def asked() -> tuple[int, int]:
        slow = {doc_id: [Reply({"docid": doc_id, "doc": "A."}, delay=1.0)] for doc_id in HELD}
        async with serving_documents(HELD, slow) as server:
            service = DocumentApi(server.pattern, at_once=2)
            stores = [KeptDocuments.open(tmp_path, "library") for _ in range(2)]
            jobs = [Fetcher(service, k, ignore, seed=str(n)) for n, k in enumerate(stores)]
            await asyncio.gather(*(job.run(list(HELD)) for job in jobs))
            assert [job.done for job in jobs] == [job.found for job in jobs] == [20, 20]
            return server.asked.total(), len(server.asked)

    total, different = run(asked())
    assert total < 30 and different == 20


def test_a_certificate_that_is_not_trusted_ends_it_at_once(
    certificate: tuple[Path, Path], tmp_path: Path
) -> None:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(*certificate)
    with in_a_thread(running(attesting(), tls)) as server:
        done = Library(tmp_path).ask(["d1", "d2"], HELD, path=f"{server.url}/{{docid}}")
    assert done.raised.startswith(f"InputError: {server.url}/{{docid}}: the certificate of 127.0")
    why = (
        "is not trusted (self-signed certificate); SSL_CERT_FILE may name a file of those that are"
    )
    assert done.raised.endswith(why)


def test_variables_in_an_address_are_sent_and_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIBRARY_TOKEN", f"{TOKEN}:/&")
    path = "/v1/books/doc/{docid}?key=${LIBRARY_TOKEN}"
    rude = {"d2": [Reply({"error": f"No key {TOKEN}:/&"}, 400)]}
    done = Library(tmp_path).ask(["d1", "d2"], HELD, rude, path=path)
    assert f"/v1/books/doc/d1?key={TOKEN}:%2F%26" in done.server.targets
    assert "HTTP 400: No key ***" in done.messages
    assert done.kept.source_of("d1").endswith("/doc/d1?key=${LIBRARY_TOKEN}")
    assert TOKEN not in done.messages + repr(done.fetcher)


def test_a_wrong_index_ends_the_asking_after_a_few(tmp_path: Path) -> None:
    done = Library(tmp_path).ask(several(100), HELD, path="/v1/bocks/doc/{docid}")
    assert {done.of(doc_id) for doc_id in several(100)} == {"unknown"}
    assert (
        "10 in a row were refused: HTTP 400: Unknown index: bocks; is the address right?"
        in done.messages
    )
    assert done.server.asked.total() < 20


def test_pages_in_place_of_documents_end_the_asking_after_a_few(tmp_path: Path) -> None:
    done = Library(tmp_path).ask(several(100), HELD, {"*": [Reply(PAGE)]})
    assert "refused: the reply is not JSON: 'Please log in'" in done.messages
    assert done.server.asked.total() < 20


@pytest.mark.parametrize(
    ("headers", "hint"),
    [
        pytest.param(
            {}, "set TRECJUDGE_DOCUMENTS_HEADERS to HEADER=VARIABLE, for its token", id="none"
        ),
        pytest.param(
            {"Authorization": "Bearer ${LIBRARY_TOKEN}"},
            "check LIBRARY_TOKEN (header Authorization)",
            id="wrong",
        ),
    ],
)
def test_a_token_that_is_not_taken_ends_it_at_the_first_answer(
    headers: dict[str, str], hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIBRARY_TOKEN", "another-token-0123456789")
    done = Library(tmp_path, {"headers": headers}).ask(HELD, HELD, token=TOKEN)
    assert done.raised.startswith(f"InputError: {done.server.pattern}: HTTP 401: ")
    assert done.raised.endswith(hint)
    assert done.server.asked.total() <= 2


def test_a_service_that_forbids_everything_ends_it_after_three(tmp_path: Path) -> None:
    done = Library(tmp_path, {"at_once": 1}).ask(HELD, HELD, {"*": [Reply(b"", 403)]})
    assert "InputError" in done.raised and "HTTP 403" in done.raised
    assert done.server.asked.total() == 3


def test_one_document_that_is_forbidden_and_no_other(tmp_path: Path) -> None:
    assert "HTTP 403" in Library(tmp_path).ask(["x"], HELD, {"x": [Reply(b"", 403)]}).raised


@pytest.mark.parametrize("variable", [TOKEN, f"Bearer {TOKEN}"], ids=["token", "with Bearer"])
def test_a_token_is_sent_and_reaches_nothing_that_is_kept(
    variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIBRARY_TOKEN", variable)
    echo = {
        "d1": [Reply({"docid": "d1", "title": TOKEN, "text": f"You sent {TOKEN}."})],
        "d2": [Reply({"error": f"x{TOKEN}x"}, 400)],
        "d3": [Reply({"docid": TOKEN, "text": TOKEN})],
        "d4": [Reply(f"<p>{'long ' * 12}{TOKEN}".encode())],
        "d5": [Reply(b"", 302, {"Location": f"http://127.0.0.2/{TOKEN}"})],
        "d6": [
            Reply(b'{"docid": "d6", "error": "' + TOKEN.replace("-", "\\u002d").encode() + b'"}')
        ],
        "d7": [Reply({"docid": "d7", "doc": json.dumps({"text": TOKEN})})],
    }
    settings = {"headers": {"Authorization": "Bearer ${LIBRARY_TOKEN}"}}
    done = Library(tmp_path, settings).ask(HELD, HELD, echo, TOKEN)
    assert done.of("d1") == "found: You sent ***."
    assert done.of("d7") == "found: ***"
    assert done.fetcher.found == 15
    assert all(headers["Authorization"] == f"Bearer {TOKEN}" for headers in done.server.headers)
    written = [path.read_bytes().decode(errors="replace") for path in tmp_path.iterdir()]
    everything = [*written, done.messages, repr(done.fetcher), *done.notices, done.raised]
    assert not [text for text in everything if TOKEN[:9] in text]


@pytest.mark.parametrize(
    "doc_id",
    [SEGMENT, "a/b", "../secret", "a?b=c", "a%2Fb", "é Ω", "a\nb", "x" * 2000, "a+b", "{docid}"],
    ids=lambda text: text[:12],
)
def test_an_id_is_sent_whole(doc_id: str, tmp_path: Path) -> None:
    done = Library(tmp_path).ask([doc_id], {doc_id: {"contents": "A."}})
    assert done.of(doc_id) == "found: A."
    assert dict(done.server.asked) == {doc_id: 1}


def test_an_address_with_the_id_in_its_query(tmp_path: Path) -> None:
    path = "/v1/books/doc/d1?parse=false&x={docid}"
    done = Library(tmp_path).ask(["d1"], HELD, path=path)
    assert done.of("d1") == "found: Text 1."
    assert done.server.targets == ["/v1/books/doc/d1?parse=false&x=d1"]


def test_a_redirect_on_the_same_host_is_followed(tmp_path: Path) -> None:
    rude = {"d1": [Reply(b"", 301, {"Location": "/v1/books/doc/old-d1"})]}
    done = Library(tmp_path).ask(["d1"], HELD, rude | {"old-d1": [Reply({"text": "A."})]})
    assert done.of("d1") == "found: A."


@pytest.mark.parametrize(
    ("path", "outcome"),
    [
        ("doc.passage.words", "found: A."),
        ("doc.packed.words", "found: B."),
        ("doc.lines", "found: C.\nD."),
        ("doc.empty", "found: "),
        ("doc.other", "unknown"),
        ("doc.number", "unknown"),
    ],
)
def test_the_text_lies_where_it_is_named(path: str, outcome: str, tmp_path: Path) -> None:
    doc = {
        "passage": {"words": "A."}, "packed": '{"words": "B."}', "lines": ["C.", "D."],
        "empty": None, "number": 3, "text": "never", "title": "T",
    }  # fmt: skip
    done = Library(tmp_path, {"text": path}).ask(["x"], {"x": doc})
    assert done.of("x") == outcome
    assert ("`text` of the service" in done.messages) == (outcome == "unknown")


def test_a_text_under_a_name_that_is_not_known_is_told(tmp_path: Path) -> None:
    words = "One sentence is here. And another one is here, too."
    done = Library(tmp_path).ask(["x"], {"x": {"id": "x", "prose": words}})
    assert done.of("x") == f"found: {words}"
    assert [finding.kind for finding in done.findings] == ["text_field_guessed"]


def test_one_document_with_a_bad_word_in_its_id_does_not_end_it(tmp_path: Path) -> None:
    """Endpoints of models say so where there is no money left; here it is the id that says it."""
    doc_id = "insufficient_quota billing"
    rude = {doc_id: [Reply({"error": f"Bad id: {doc_id}"}, 400)]}
    done = Library(tmp_path).ask([doc_id, *HELD], HELD, rude)
    assert (done.of(doc_id), done.fetcher.found, done.fetcher.ended) == ("unknown", 20, "")


def test_a_few_that_are_forbidden_are_not_all(tmp_path: Path) -> None:
    closed = {doc_id: [Reply(b"", 403)] for doc_id in several(2)}
    done = Library(tmp_path).ask([*several(2), "gone"], HELD, closed)
    assert (done.raised, done.of("z0"), done.of("gone")) == ("", "unknown", "unknown")


def test_documents_of_an_earlier_job_that_cannot_be_asked_for_prove_nothing(tmp_path: Path) -> None:
    Library(tmp_path).ask(["d1"], HELD)
    down = Library(tmp_path).ask(["z0"], {}, {"d1": [Reply(b"", 500)]})
    assert (down.of("z0"), down.of("d1")) == ("unknown", "found: Text 1.")


def test_an_address_that_has_moved_is_told(tmp_path: Path) -> None:
    away = {"*": [Reply(b"", 301, {"Location": "https://127.0.0.2/docs"})]}
    done = Library(tmp_path).ask(several(30), HELD, away)
    assert "HTTP 301: redirects to 'https://127.0.0.2/docs'; set --documents to it" in done.messages


def test_the_service_describes_itself(tmp_path: Path) -> None:
    """The test's own service has the shape of the tracks' one."""

    async def described() -> Any:
        async with (
            serving_documents({}) as server,
            aiohttp.ClientSession() as session,
            session.get(f"{server.url}/openapi.json") as reply,
        ):
            return await reply.json()

    assert list(run(described())["paths"]) == ["/v1/{index}/doc/{docid}"]


def test_a_proxy_of_the_environment_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def asked() -> tuple[str, list[str]]:
        async with serving_documents(HELD) as proxy:
            monkeypatch.setenv("HTTP_PROXY", proxy.url)
            kept = KeptDocuments.open(tmp_path, "library")
            service = DocumentApi("http://library.invalid/v1/books/doc/{docid}")
            await Fetcher(service, kept, ignore).run(["d1"])
            return kept.state_of("d1"), proxy.targets

    assert run(asked()) == ("found", ["http://library.invalid/v1/books/doc/d1"])
