"""Requests in batches: gathered, answered together, resumed, and all that can go wrong."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.batch_endpoint import BatchEndpoint, batching
from tests.endpoint import Answer, Script, attestation, attesting, running, text_of
from tests.models.clients import ask_many, client_to, kinds
from tests.models.clock import now, run
from trecjudge.errors import ModelError
from trecjudge.models.cache.upkeep import batches_under_way
from trecjudge.models.client import Client
from trecjudge.models.spending import Budget, Prices


def batched(
    tmp_path: Path,
    script: Script,
    count: int = 20,
    options: dict[str, Any] | None = None,
    **settings: Any,
) -> tuple[list[str], list[int], BatchEndpoint, Client]:
    """Return what became of so many questions, and the sizes of the batches."""

    async def all_of_them() -> tuple[list[str], list[int], BatchEndpoint, Client]:
        async with (
            batching(script, **options or {}) as endpoint,
            client_to(endpoint.url, tmp_path, batch=True, **settings) as client,
        ):
            found = kinds(await ask_many(client, count))
            return found, [len(batch.lines) for batch in endpoint.batches], endpoint, client

    return run(all_of_them())  # fmt: skip


def claim(body: dict[str, Any]) -> int:
    """Return the number of the claim that a request is about."""
    return int(text_of(body).rpartition("Claim ")[2].partition(".")[0])


def test_all_that_is_asked_is_one_batch(tmp_path: Path) -> None:
    found, sizes, endpoint, client = batched(tmp_path, attesting())
    assert (found, sizes) == (["ok"] * 20, [20])
    spent = client.spent()
    assert [spent["calls"], spent["prompt_tokens"], spent["completion_tokens"]] == [20, 200, 100]
    assert endpoint.tokens == [200, 100]
    assert batches_under_way(tmp_path) == []
    again, sizes, _, _ = batched(tmp_path, attesting(), 20)
    assert again == ["ok"] * 20


def test_a_batch_that_began_without_a_word_of_it_is_not_begun_again(tmp_path: Path) -> None:
    found, sizes, endpoint, _ = batched(tmp_path, attesting(), options={"loses": 1})
    assert (found, sizes, len(endpoint.asked)) == (["ok"] * 20, [20], 20)


def test_the_size_of_a_batch_is_bounded(tmp_path: Path) -> None:
    found, sizes, _, _ = batched(tmp_path, attesting(), batch_size=8)
    assert (found, sizes) == (["ok"] * 20, [8, 8, 4])


@pytest.mark.parametrize(
    ("bad", "kind", "asked"),
    [
        pytest.param(Answer("hm"), "ok", 23, id="unreadable once"),
        pytest.param(Answer("hm", finish_reason="length"), "ok", 23, id="cut once"),
        pytest.param(Answer(status=500), "ok", 23, id="an error once"),
        pytest.param(
            Answer(status=400, raw=b'{"error": {"code": "content_filter"}}'), "filtered", 20,
            id="filtered",
        ),
        pytest.param(
            Answer(status=400, raw=b'{"error": {"code": "context_length_exceeded"}}'), "too_long",
            20, id="too long",
        ),
    ],
)  # fmt: skip
def test_what_goes_wrong_with_some(bad: Answer, kind: str, asked: int, tmp_path: Path) -> None:
    seen: set[int] = set()

    def script(body: dict[str, Any], number: int) -> Answer:
        first = claim(body) not in seen
        seen.add(claim(body))
        return bad if first and claim(body) % 7 == 3 else Answer(attestation(body))

    found, sizes, endpoint, client = batched(tmp_path, script)
    assert [k for n, k in enumerate(found) if n % 7 == 3] == [kind] * 3
    assert found.count("ok") == 20 if kind == "ok" else 17
    assert (len(endpoint.asked), sizes) == (asked, [20, 3][: 1 + (asked > 20)])
    if bad.content == "hm" and bad.finish_reason == "stop":
        assert all("could not be read" in str(body) for body in endpoint.asked[20:])
    assert client.spent()["prompt_tokens"] == endpoint.tokens[0]


def test_a_form_that_is_not_taken_is_left_for_all(tmp_path: Path) -> None:
    def script(body: dict[str, Any], number: int) -> Answer:
        return Answer(status=400) if "response_format" in body else Answer(attestation(body))

    found, sizes, _, client = batched(tmp_path, script, 80)
    assert (found, sizes) == (["ok"] * 80, [80, 80])
    assert client.replies.capabilities.forms == {"attest": "chat"}


def test_a_parameter_that_is_not_taken_is_left_for_all(tmp_path: Path) -> None:
    message = b'{"error": {"message": "Unsupported parameter: temperature is not supported"}}'

    def script(body: dict[str, Any], number: int) -> Answer:
        bad = "temperature" in body
        return Answer(status=400, raw=message) if bad else Answer(attestation(body))

    found, sizes, _, _ = batched(tmp_path, script, 80)
    assert (found, sizes) == (["ok"] * 80, [80, 80])


@pytest.mark.parametrize("content", ["hm", ""])
def test_where_nothing_succeeds_it_ends(content: str, tmp_path: Path) -> None:
    found, sizes, _, _ = batched(tmp_path, lambda body, number: Answer(content), 80)
    assert "ok" not in found
    assert len(sizes) <= 2


def test_of_many_failures_none_are_in_a_row_where_others_succeed(tmp_path: Path) -> None:
    def script(body: dict[str, Any], number: int) -> Answer:
        good = claim(body) == 50
        return Answer(attestation(body)) if good else Answer("", finish_reason="content_filter")

    found, sizes, _, _ = batched(tmp_path, script, 120)
    assert (found.count("ok"), found.count("filtered"), sizes) == (1, 119, [120])


def test_an_expired_batch_gives_what_it_has(tmp_path: Path) -> None:
    found, sizes, endpoint, _ = batched(tmp_path, attesting(), options={"expires": {0: 12}})
    assert (found, sizes, len(endpoint.asked)) == (["ok"] * 20, [20, 8], 20)


def test_what_always_expires_is_given_up(tmp_path: Path) -> None:
    options = {"expires": dict.fromkeys(range(40), 0)}
    found, sizes, _, _ = batched(tmp_path, attesting(), 4, options, tries=1)
    assert (found, sizes) == (["transport"] * 4, [4, 4, 4])


def test_a_batch_that_was_cancelled_is_not_asked_again(tmp_path: Path) -> None:
    options = {"expires": {0: 12}, "ends": "cancelled"}
    found, sizes, _, _ = batched(tmp_path, attesting(), options=options)
    assert (found.count("ok"), found.count("stopped"), sizes) == (12, 8, [20])


def test_a_batch_that_is_too_much_at_the_moment_is_halved(tmp_path: Path) -> None:
    full = {"code": "token_limit_exceeded", "message": "Enqueued token limit reached for stub"}
    found, sizes, _, _ = batched(tmp_path, attesting(), options={"fails": {0: full}})
    assert (found, sizes) == (["ok"] * 20, [20, 10, 10])


def test_a_batch_that_fails_for_the_account_ends_the_asking(tmp_path: Path) -> None:
    broke = {"code": "billing_hard_limit_reached", "message": "Billing hard limit reached"}
    found, _, _, _ = batched(tmp_path, attesting(), options={"fails": {0: broke}})
    assert found == ["account"] * 20


@pytest.mark.parametrize("path", ["POST files", "POST batches", "GET batches", "GET files"])
@pytest.mark.parametrize("status", [500, 503, 429])
def test_an_outage_is_waited_out(path: str, status: int, tmp_path: Path) -> None:
    options = {"refuse": {path: [status] * 4}}
    found, sizes, _, _ = batched(tmp_path, attesting(), options=options)
    assert (found, sizes) == (["ok"] * 20, [20])


@pytest.mark.parametrize("path", ["POST files", "POST batches", "GET batches"])
@pytest.mark.parametrize("status", [503, 429])
def test_no_wait_that_is_asked_for_is_longer_than_the_patience(
    path: str, status: int, tmp_path: Path
) -> None:
    refusal = "Please try again in 3600 seconds."

    async def asked() -> tuple[list[Any], float]:
        async with (
            batching(attesting(), refuse={path: [status] * 99}, refusal=refusal) as endpoint,
            client_to(endpoint.url, tmp_path, batch=True, patience=20.0) as client,
        ):
            began = now()
            return await ask_many(client, 3), now() - began

    found, seconds = run(asked())
    assert kinds(found) == ["stopped"] * 3
    assert "waited for 20 s (llm.patience) in vain: HTTP" in str(found[0])
    assert "(it asks to wait 3600 s)" in str(found[0])
    assert 20 <= seconds < 23


def test_nor_one_that_the_answers_in_a_batch_ask_for(tmp_path: Path) -> None:
    busy = Answer(status=429, raw=b'{"error": {"message": "Try again in 3600 seconds."}}')

    async def asked() -> tuple[list[Any], float]:
        async with (
            batching(lambda body, number: busy) as endpoint,
            client_to(endpoint.url, tmp_path, batch=True, patience=20.0) as client,
        ):
            began = now()
            return await ask_many(client, 3), now() - began

    found, seconds = run(asked())
    assert set(kinds(found)) <= {"transport", "stopped"}
    assert 20 <= seconds < 40


def test_a_file_that_is_too_large_is_sent_in_halves(tmp_path: Path) -> None:
    options = {"refuse": {"POST files": [413, 413]}}
    found, sizes, _, _ = batched(tmp_path, attesting(), options=options)
    assert (found, sum(sizes), max(sizes)) == (["ok"] * 20, 20, 10)


def test_an_endpoint_without_batches(tmp_path: Path) -> None:
    async def asked() -> list[str]:
        async with (
            running(attesting()) as endpoint,
            client_to(endpoint, tmp_path, batch=True) as client,
        ):
            found = await ask_many(client, 3)
            assert all("no Batch API" in str(error) for error in found)
            assert isinstance(found[0], ModelError)
            return kinds(found)

    assert run(asked()) == ["ModelError"] * 3


def test_a_key_that_is_wrong(tmp_path: Path) -> None:
    found, _, _, _ = batched(tmp_path, attesting(), options={"refuse": {"POST files": [401] * 9}})
    assert found == ["ModelError"] * 20


def test_a_budget_of_calls_holds(tmp_path: Path) -> None:
    found, sizes, _, _ = batched(tmp_path, attesting(), budget=Budget(max_calls=7))
    assert (found.count("ok"), found.count("budget"), sizes) == (7, 13, [7])


def test_a_budget_of_money_holds_and_what_waits_for_room_comes_in_later_batches(
    tmp_path: Path,
) -> None:
    budget = Budget(max_cost=0.006)
    found, sizes, _, _ = batched(
        tmp_path, lambda body, number: Answer(attestation(body), usage=(200, 100)), 60,
        budget=budget, prices=Prices(1.0, 1.0),
    )  # fmt: skip
    assert 18 <= found.count("ok") <= 21
    assert budget.cost <= 0.0063
    assert len(sizes) > 1


@pytest.mark.parametrize(
    ("held", "known", "sizes"),
    [
        pytest.param(True, True, [20], id="under way"),
        pytest.param(True, False, [20, 20], id="lost by the endpoint"),
    ],
)
def test_a_batch_of_an_earlier_command_is_found_again(
    held: bool, known: bool, sizes: list[int], tmp_path: Path
) -> None:
    async def twice() -> tuple[list[str], list[int]]:
        import asyncio

        async with batching(attesting(), held=held) as endpoint:
            async with client_to(endpoint.url, tmp_path, batch=True) as client:
                asked = asyncio.create_task(ask_many(client, 20))
                await asyncio.sleep(60)
                assert len(endpoint.batches) == 1
                asked.cancel()
            assert [batch.requests for batch in batches_under_way(tmp_path)] == [20]
            endpoint.held = False
            all_sizes = [len(batch.lines) for batch in endpoint.batches]
            if not known:
                endpoint.batches[0].id = "gone"
            async with client_to(endpoint.url, tmp_path, batch=True) as client:
                found = kinds(await ask_many(client, 20))
            all_sizes += [len(batch.lines) for batch in endpoint.batches[1:]]
            assert batches_under_way(tmp_path) == []
            return found, all_sizes

    assert run(twice()) == (["ok"] * 20, sizes)


def test_answers_that_are_asked_for_later_are_kept(tmp_path: Path) -> None:
    async def twice() -> tuple[int, list[str], int]:
        import asyncio

        async with batching(attesting(), held=True) as endpoint:
            async with client_to(endpoint.url, tmp_path, batch=True) as client:
                asked = asyncio.create_task(ask_many(client, 20))
                await asyncio.sleep(60)
                asked.cancel()
            endpoint.held = False
            async with client_to(endpoint.url, tmp_path, batch=True) as client:
                await ask_many(client, 5)
                del endpoint.files[endpoint.batches[0].files["output_file_id"]]
                found = kinds(await ask_many(client, 20))
            return len(endpoint.asked), found, len(endpoint.batches)

    assert run(twice()) == (20, ["ok"] * 20, 1)


def test_half_the_price(tmp_path: Path) -> None:
    from tests.models.clients import settings_for

    plain = settings_for("http://a/v1", prices={"input": 1.0, "output": 2.0}, batch=True)
    assert plain.pricing == Prices(0.5, 1.0)


def test_a_batch_that_several_jobs_want_is_sent_once(tmp_path: Path) -> None:
    async def at_once() -> tuple[list[list[str]], list[int]]:
        import asyncio

        async with (
            batching(attesting()) as endpoint,
            client_to(endpoint.url, tmp_path, batch=True) as first,
            client_to(endpoint.url, tmp_path, batch=True) as second,
            client_to(endpoint.url, tmp_path, batch=True) as third,
        ):
            asked = (ask_many(client, 20) for client in (first, second, third))
            found = await asyncio.gather(*asked)
            assert batches_under_way(tmp_path) == []
            return [kinds(each) for each in found], [len(b.lines) for b in endpoint.batches]

    assert run(at_once()) == ([["ok"] * 20] * 3, [20])


def test_of_a_batch_that_expires_the_rest_is_sent_once(tmp_path: Path) -> None:
    async def at_once() -> tuple[list[list[str]], int]:
        import asyncio

        async with (
            batching(attesting(), expires={0: 12}) as endpoint,
            client_to(endpoint.url, tmp_path, batch=True) as first,
            client_to(endpoint.url, tmp_path, batch=True) as second,
        ):
            found = await asyncio.gather(ask_many(first, 20), ask_many(second, 25))
            return [kinds(each) for each in found], len(endpoint.asked)

    assert run(at_once()) == ([["ok"] * 20, ["ok"] * 25], 25)


def only(number: int, odd: Answer) -> Script:
    """Return a script that answers one claim in a way of its own."""
    return lambda body, _: odd if claim(body) == number else Answer(attestation(body))


@pytest.mark.parametrize(
    "odd",
    [
        pytest.param(Answer("x" * 100_000), id="long"),
        pytest.param(Answer(status=500, raw=b'{"a": "%s"}' % (b"x" * 100_000)), id="long error"),
        pytest.param(Answer(status=500, raw=b'{"a": ' * 300 + b"1" + b"}" * 300), id="deep"),
    ],
)
def test_a_reply_that_is_too_large_is_its_items_fault(odd: Answer, tmp_path: Path) -> None:
    found, sizes, endpoint, _ = batched(tmp_path, only(3, odd), most_bytes=50_000)
    assert found == ["ok"] * 3 + ["too_large"] + ["ok"] * 16
    assert (sizes, len(endpoint.asked)) == ([20], 20)


@pytest.mark.parametrize(
    "after",
    [
        pytest.param(b" " * 1000, id="a line"),
        pytest.param(b'{"custom_id": "x", "response": {"body": {}}}\n' * 20, id="answers"),
        pytest.param(b"\n" * 1000, id="blank lines"),
    ],
)
def test_of_a_file_without_end_what_is_there_is_read(after: bytes, tmp_path: Path) -> None:
    options = {"after": after, "expires": {0: 15}, "ends": "expired"}
    found, sizes, _, _ = batched(tmp_path, attesting(), options=options, most_bytes=20_000)
    assert found == ["ok"] * 15 + ["too_large"] * 5
    assert sizes == [20]


def test_answers_are_not_held_together(tmp_path: Path) -> None:
    long = Answer(None, usage=None)
    padded = lambda body, number: replace(long, content=attestation(body) + " " * 400_000)  # noqa: E731
    found, _, _, _ = batched(tmp_path, padded, 60)
    assert found == ["ok"] * 60
