"""Answers of a batch service that cannot be believed, and waits for it that would never end."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.batch_endpoint import BatchEndpoint, batching
from tests.endpoint import Answer, Script, attestation, attesting, completion, text_of
from tests.models.clients import ask_many, client_to, kinds
from tests.models.clock import now, run
from trecjudge.errors import JudgmentFailed
from trecjudge.models.cache.upkeep import batches_under_way
from trecjudge.models.client import Client

Entries = list[dict[str, Any]]
Mix = Callable[[Entries], Entries]


def asked(
    tmp_path: Path, script: Script | None = None, count: int = 20, again: bool = False, **given: Any
) -> tuple[list[Any], BatchEndpoint, list[str], Client, float]:
    """Return what became of questions in batches, and what was said; settings stand in `llm`."""
    notices: list[str] = []

    async def once() -> tuple[list[Any], BatchEndpoint, list[str], Client, float]:
        llm = given.pop("llm", {})
        async with batching(script or attesting(), **given) as endpoint:
            began = now()
            opened = client_to(endpoint.url, tmp_path, batch=True, notify=notices.append, **llm)
            async with opened as client:
                found = await ask_many(client, count)
            seconds = now() - began
            if again:
                endpoint.stays, endpoint.tells = "", {}
                endpoint.batches[0].status = "validating"
                async with client_to(endpoint.url, tmp_path, batch=True) as client:
                    found = await ask_many(client, count)
            return found, endpoint, notices, client, seconds

    return run(once())


def other(entry: dict[str, Any], label: str = "no_support") -> dict[str, Any]:
    """Return an entry with another reply."""
    body = completion(Answer(json.dumps({"evidence": "", "label": label})))
    return entry | {"response": {"status_code": 200, "body": body}}


def failed(entry: dict[str, Any], code: str = "server_error") -> dict[str, Any]:
    """Return an entry with an error."""
    return entry | {"response": None, "error": {"code": code, "message": "no"}}


def in_body(entry: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return an entry with something added to its reply."""
    response = entry["response"]
    return entry | {"response": response | {"body": response["body"] | more}}


def at(number: int, change: Callable[[dict[str, Any]], Entries]) -> Mix:
    """Return what changes one entry of a file; it may become several, or none."""
    return lambda entries: [
        new
        for n, entry in enumerate(entries)
        for new in (change(entry) if n == number else [entry])
    ]


MIXED: dict[str, Mix] = {
    "two that differ": at(3, lambda e: [e, other(e)]),
    "the other one first": at(3, lambda e: [other(e), e]),
    "three": at(3, lambda e: [e, other(e), e]),
    "a reply and an error": at(3, lambda e: [e, failed(e)]),
    "an error and a reply": at(3, lambda e: [failed(e), e]),
    "a reply and not asked": at(3, lambda e: [e, failed(e, "batch_expired")]),
    "another id inside": at(3, lambda e: [in_body(e, custom_id="x")]),
    "another request repeated": at(3, lambda e: [e | {"body": {"messages": []}}]),
    "another model": lambda entries: [
        in_body(e, model="gpt-9" if n == 3 else "org/stub-2026-01-01")
        for n, e in enumerate(entries)
    ],
}


@pytest.mark.parametrize("mix", MIXED.values(), ids=MIXED)
def test_an_answer_that_may_be_of_another_request_is_none(mix: Mix, tmp_path: Path) -> None:
    found, endpoint, notices, client, _ = asked(tmp_path, mix=mix, llm={"tries": 1})
    assert sorted(kinds(found)) == ["mixed_up", *["ok"] * 19]
    (error,) = [f for f in found if isinstance(f, JudgmentFailed)]
    assert "the batch is not believed: it" in str(error)
    said = [n for n in notices if "mixed up" in n]
    assert len(said) == 1 and endpoint.url in said[0]
    assert "answers to 1 requests are mixed up" in said[0]
    assert client.spent()["calls"] == 20


def test_a_reply_that_says_there_was_no_error_is_one(tmp_path: Path) -> None:
    def first(entry: dict[str, Any]) -> dict[str, Any]:
        body = {"error": None, "padding": "x" * 70_000} | entry["response"]["body"]
        return entry | {"response": entry["response"] | {"body": body}}

    found, endpoint, *_ = asked(tmp_path, mix=lambda entries: [*map(first, entries)])
    assert (kinds(found), len(endpoint.batches)) == (["ok"] * 20, 1)


def test_it_is_asked_again_as_any_failed_item(tmp_path: Path) -> None:
    mix = at(3, lambda e: [e, other(e)])
    batches: list[int] = []

    def first_only(entries: Entries) -> Entries:
        batches.append(len(entries))
        return mix(entries) if batches.count(20) == 1 and len(entries) == 20 else entries

    found, endpoint, _, client, _ = asked(tmp_path, mix=first_only)
    assert kinds(found) == ["ok"] * 20
    assert [len(batch.lines) for batch in endpoint.batches] == [20, 1]
    assert client.spent()["prompt_tokens"] == 10 * 22  # both answers were paid for


def test_two_for_each_of_all_are_no_label(tmp_path: Path) -> None:
    double: Mix = lambda entries: [new for e in entries for new in (other(e), e)]  # noqa: E731
    found, endpoint, _, _, _ = asked(tmp_path, mix=double, count=24)
    assert set(kinds(found)) <= {"mixed_up", "stopped"}  # so many failures in a row end the asking
    assert len(endpoint.asked) <= 3 * 24


FINE: dict[str, Mix] = {
    "two equal ones": at(3, lambda e: [e, e]),
    "two equal ones of other ids": at(3, lambda e: [e, e | {"id": "x"}]),
    "ids that were not asked": lambda entries: [
        *entries, other(entries[0] | {"custom_id": "x" * 64}), {"custom_id": "y"},
    ],
    "ids of another type": lambda entries: [
        *entries, *({"custom_id": odd} for odd in (5, None, ["x"], {"a": 1}, True)), {},
    ],
    "another name of the model": lambda entries: [in_body(e, model="alias") for e in entries],
    "versions of the model": lambda entries: [
        in_body(e, model=f"stub-{n % 2}") for n, e in enumerate(entries)
    ],
}  # fmt: skip


@pytest.mark.parametrize("mix", FINE.values(), ids=FINE)
def test_what_is_beside_good_answers_is_counted(mix: Mix, tmp_path: Path) -> None:
    found, endpoint, notices, _, _ = asked(tmp_path, mix=mix)
    assert (kinds(found), len(endpoint.batches)) == (["ok"] * 20, 1)
    odd = [n for n in notices if "were not in it" in n or "cannot be read" in n]
    assert len(odd) == (mix in (FINE["ids that were not asked"], FINE["ids of another type"]))


def test_answers_of_another_batch_are_not_taken(tmp_path: Path) -> None:
    first: Entries = []

    def swapped(entries: Entries) -> Entries:
        first.extend(entries)
        return entries if len(first) == len(entries) else [*entries, other(first[0])]

    found, endpoint, notices, _, _ = asked(tmp_path, mix=swapped, llm={"batch_size": 10})
    assert (kinds(found), len(endpoint.batches)) == (["ok"] * 20, 2)
    assert sum("1 answers to requests that were not in it" in n for n in notices) == 1


def test_a_file_that_breaks_off(tmp_path: Path) -> None:
    def cut(entries: Entries) -> Entries:
        return entries[:12] if len(entries) == 20 else entries

    found, endpoint, _, _, _ = asked(tmp_path, mix=cut)
    assert kinds(found) == ["ok"] * 20
    assert [len(batch.lines) for batch in endpoint.batches] == [20, 8]


def repeating_codes(body: dict[str, Any], number: int) -> Answer:
    """Answer as a model does that repeats the code it is given."""
    fields = json.loads(attestation(body))
    schema = body["response_format"]["json_schema"]["schema"]["properties"]
    code = {"code": schema["code"]["enum"][0]} if "code" in schema else {}
    assert all(c in text_of(body) for c in code.values())
    return Answer(json.dumps(code | fields))


def shifted(entries: Entries) -> Entries:
    """Give each request the answer of the next one."""
    return [
        e | {"response": entries[(n + 1) % len(entries)]["response"]} for n, e in enumerate(entries)
    ]


@pytest.mark.parametrize("share", [0.02, 0.5, 1.0])
def test_answers_shifted_against_their_ids_are_noticed(share: float, tmp_path: Path) -> None:
    llm = {"batch_nonce": share}
    found, endpoint, notices, client, _ = asked(tmp_path, repeating_codes, mix=shifted, llm=llm)
    count = max(1, round(20 * share))
    assert kinds(found) == ["mixed_up"] * 20
    assert f"{count} of {count} replies do not repeat their code (llm.batch_nonce)" in notices[-1]
    assert (len(endpoint.asked), client.spent()["prompt_tokens"]) == (20, 200)
    assert batches_under_way(tmp_path) == []
    assert run_again(tmp_path, endpoint) == 20


def run_again(tmp_path: Path, endpoint: BatchEndpoint) -> int:
    """Return how many replies a later command has to ask for."""
    found, again, _, _, _ = asked(tmp_path / "other", repeating_codes, llm={"batch_nonce": 0.1})
    assert kinds(found) == ["ok"] * 20
    return len(again.asked)


def test_a_nonce_changes_no_key(tmp_path: Path) -> None:
    async def twice() -> tuple[list[str], int, list[Any]]:
        async with batching(repeating_codes) as endpoint:
            async with client_to(endpoint.url, tmp_path, batch=True, batch_nonce=1.0) as client:
                found = await ask_many(client, 5)
                logged = [f.call.messages for f in found if not isinstance(f, BaseException)]
            async with client_to(endpoint.url, tmp_path, batch=True) as client:
                found = await ask_many(client, 5)
            return kinds(found), len(endpoint.asked), logged

    found, calls, logged = run(twice())
    assert (found, calls) == (["ok"] * 5, 5)
    assert all("Give `code` as " in str(messages) for messages in logged)


def test_a_nonce_in_a_reply_by_field_markers(tmp_path: Path) -> None:
    def script(body: dict[str, Any], number: int) -> Answer:
        code = body["messages"][-1]["content"].rpartition("`code: ")[2].partition("`")[0]
        return Answer(f"code: {code}\n{attestation(body)}")

    llm = {"batch_nonce": 1.0, "structured": "never"}
    found, _, _, _, _ = asked(tmp_path, script, llm=llm)
    assert kinds(found) == ["ok"] * 20


@pytest.mark.parametrize("status", ["queued", "\x1b[2Jdone", "in progress", "SUCCEEDED"])
def test_a_status_that_nobody_knows(status: str, tmp_path: Path) -> None:
    found, endpoint, notices, _, seconds = asked(tmp_path, stays=status)
    assert kinds(found) == ["stopped"] * 20
    assert 900 <= seconds < 1100
    assert notices[1].startswith(f"waiting for batch batch_0 at {endpoint.url}/chat/completions: ")
    assert "(a status that is not known), 0 of 20 requests done, for 5 s" in notices[1]
    assert "waited for 900 s (llm.patience) in vain; the same command goes on" in notices[-1]
    assert all(notice.isprintable() for notice in notices)


@pytest.mark.parametrize(
    ("stays", "tells", "llm", "least", "most", "setting"),
    [
        ("in_progress", {"expires_at": 2000}, {}, 2600, 3000, "llm.batch_wait"),
        ("validating", {}, {"batch_wait": 60.0}, 60, 130, "llm.batch_wait"),
        ("finalizing", {"expires_at": 1}, {}, 900, 1000, "llm.batch_wait"),
        ("cancelling", {}, {"patience": 100.0}, 100, 200, "llm.patience"),
        ("completed", {"request_counts": {"completed": 20, "total": 20}}, {}, 900, 1100,
         "llm.patience"),
    ],
)  # fmt: skip
def test_no_wait_for_a_batch_is_without_end(
    stays: str, tells: dict[str, Any], llm: dict[str, Any], least: float, most: float,
    setting: str, tmp_path: Path,
) -> None:  # fmt: skip
    if tells.get("expires_at", 0) > 1:  # seconds from now on
        tells = {"expires_at": int(time.time()) + tells["expires_at"]}
    given = {"stays": stays, "tells": tells, "llm": llm}
    found, endpoint, notices, _, seconds = asked(tmp_path, again=True, **given)
    assert least <= seconds < most
    assert sum(f"({setting}) in vain" in notice for notice in notices) == 1
    assert kinds(found) == ["ok"] * 20  # taken up again
    assert (len(endpoint.batches), len(endpoint.asked)) == (1, 20)
    assert batches_under_way(tmp_path) == []


def test_a_file_that_is_never_there(tmp_path: Path) -> None:
    found, endpoint, notices, _, seconds = asked(tmp_path, refuse={"GET files": [404] * 999})
    assert kinds(found) == ["stopped"] * 20
    assert 900 <= seconds < 1100
    assert "waited for 900 s (llm.patience) in vain: HTTP 404: file file-1" in str(found[0])
    assert f"waiting for {endpoint.url}/chat/completions: HTTP 404" in "".join(notices)
    assert [batch.requests for batch in batches_under_way(tmp_path)] == [20]


def test_a_file_that_is_late(tmp_path: Path) -> None:
    found, endpoint, _, _, _ = asked(tmp_path, refuse={"GET files": [404] * 5})
    assert (kinds(found), len(endpoint.batches)) == (["ok"] * 20, 1)


def test_after_a_wait_in_vain_nothing_more_is_sent(tmp_path: Path) -> None:
    llm = {"batch_size": 5}
    found, endpoint, notices, _, seconds = asked(tmp_path, stays="paused", llm=llm)
    assert kinds(found) == ["stopped"] * 20
    assert (len(endpoint.batches), seconds < 1100) == (4, True)
    assert sum("in vain" in notice for notice in notices) == 1


def test_the_state_of_another_batch_is_none(tmp_path: Path) -> None:
    tells = {"id": "batch_7", "request_counts": {"completed": "many", "total": None}}
    found, _, _, _, _ = asked(tmp_path, stays="in_progress", tells=tells, llm={"patience": 20.0})
    assert kinds(found) == ["stopped"] * 20
