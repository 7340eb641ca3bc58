"""Secrets in texts: what is hidden, and what is shown as it is."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.secret_matrix import FORMS, SECRET
from trecjudge.errors import InputError
from trecjudge.text.credentials import HIDDEN, learn, public, shareable, without_typed


@pytest.fixture(autouse=True)
def nothing_typed() -> Iterator[None]:
    """Forget what was typed before, and what the test types."""
    learn((), {})
    yield
    learn((), {})


@pytest.mark.parametrize("form", FORMS)
def test_a_secret_is_in_no_text(form: str) -> None:
    text = FORMS[form]
    as_path = text.replace("//", "/")  # as the path of a file has it
    for told in (text, repr(text), f"{text}: no such file", f"/srv/{as_path}:3: bad", f"({text})"):
        assert SECRET not in public(told)
        assert HIDDEN in public(told)


def test_the_rest_stays_readable() -> None:
    expected = {
        "postgresql://ann:secret@db:5432/docs?x=1": "postgresql://***@db:5432/docs?x=1",
        "https://a/b?Api-Key=geheim&page=2#top": "https://a/b?Api-Key=***&page=2#top",
        "http://a:b@c:1,http://d:e@f:2": "http://***@c:1,http://***@f:2",
        "host=h password='a b' port=1": "host=h password=*** port=1",
        "git@github.com:org/repo.git": "***@github.com:org/repo.git",
        "https%3A%2F%2Fann%3Asecret%40host%2Fa": "https%3A%2F%2F***@host%2Fa",
        "{'url': 'https://a/?token=t0ken', 'n': 1}": "{'url': 'https://a/?token=***', 'n': 1}",
        "llm: {api_key: zw31geheim}": "llm: {api_key: ***}",
        '{"password": "geheim", "n": 1}': '{"password": ***, "n": 1}',
        "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY----- x": "*** x",
    }
    assert {text: public(text) for text in expected} == expected


def test_what_is_no_secret_is_shown() -> None:
    cases = [
        "runs/a.jsonl:17: sentence 3 cites 9, references has 5",
        "run team@uni.edu: has no topic 7",
        "msmarco_v2.1_doc_01_1#4_5@2, https://medium.com/@user/post",
        "http://host:8000/v1: cannot be reached; write to me@x.org",
        "http://localhost:8080/a@b",
        "--set key=value, judge.key=value; sorted(found, key=len); max_tokens=512",
        "set llm.headers: Authorization: ${MY_KEY}",
        "sha256 4f0c9a8b7d6e5f4f0c9a8b7d6e5f4f0c9a8b7d6e5f4f0c9a8b7d6e5f12345678",
        "OPENAI_API_KEY: holds characters that no key has; llm.api_key: keys do not belong here",
        "mailto:me@x.org",
    ]
    wrong = [text for text in cases if public(text) != text]
    assert not wrong


def test_a_file_that_is_there_is_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = ["team@uni.jsonl", "a=b.jsonl", "token=7.jsonl", "me:you@uni.edu", "my token=7.jsonl"]
    assert public("token=7.jsonl:3: not JSON") == "token=***:3: not JSON"
    for name in names:
        Path(name).touch()
        learn([name], {})
        for told in (name, f"{name}:3: not JSON", f"{tmp_path / name}: {name!r}"):
            assert public(told) == told


def test_a_typed_secret_is_found_in_any_text() -> None:
    word = "--index=postgresql://ann:p%40ss/w0rd@db/docs"
    learn([word, "password=zw31geheim"], {"MY_TOKEN": "an-own-token", "HOME": "/home/ann"})
    told = 'failed for "p@ss/w0rd" and p%40ss/w0rd, of zw31geheim; an-own-token in /home/ann'
    assert without_typed(told) == 'failed for "***" and ***, of ***; *** in /home/ann'
    honest = ["--run", "Team1@uni.edu", "http://host:8000/Docs@2", "judge.key=Topic1", "a:b@c"]
    own = {"API_KEY": "EMPTY", "MAIL": "Team1@uni.edu", "PS1": "\\u@\\h:\\w"}
    learn(["postgresql://postgres:postgres@db/docs", *honest], own)
    told = (
        "postgres in a postgresql database: EMPTY, Team1@uni.edu, http://host:8000/Docs@2, Topic1"
    )
    assert without_typed(told) == told


def test_what_is_chosen_by_name_is_printed_as_it_is_there() -> None:
    learn(["show", "out", "--run", "password=Hunter2", "sk-abcdefghijklmnop12", "--index=a"], {})
    assert without_typed("password=Hunter2 on sk-abcdefghijklmnop12") == (
        "password=Hunter2 on sk-abcdefghijklmnop12"
    )
    learn(["--text=x", "--index", "password=Hunter2"], {})
    assert without_typed("Hunter2") == HIDDEN


def test_no_secret_is_in_an_error_or_what_it_came_from() -> None:
    where = FORMS["postgres"]
    with pytest.raises(InputError) as raised:
        try:
            try:
                Path(where).read_text()
            except OSError as error:
                raise ValueError(f"unusable: {where}") from error
        except ValueError as error:
            raise InputError(f"{where}: cannot be read") from error
    trace = traceback.format_exception(raised.value)
    assert SECRET not in "".join(line for one in trace for line in one.splitlines())
    assert str(raised.value) == "postgresql://***@127.0.0.1:1/db: cannot be read"


def test_a_value_for_a_file_has_no_secret() -> None:
    given = {"base_url": ["http://a:b@c"], "api_key": "x", "key": 1, "password": "${MINE}"}
    shown = {"base_url": ["http://***@c"], "api_key": "***", "key": 1, "password": "${MINE}"}
    assert shareable(given) == shown
