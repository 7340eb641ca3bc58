"""What a job left, read again: its config, its log."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

from trecjudge.errors import InputError
from trecjudge.show.html.job import Config, ReportInputs, read_config, read_log

Write = Callable[..., Path]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("written: now\n", Config("now")),
        ("model: null\ninputs: null\n", Config()),
        ("model: {model: m, base_url: u}\n", Config(model="m")),
        (
            "inputs: {topics: t, runs: [a, b], documents: [d], dataset: rag, document_text: false}",
            Config(
                inputs=ReportInputs(Path("t"), (Path("a"), Path("b")), (Path("d"),), "rag", False)
            ),
        ),
        ("inputs: {own_documents: true}", Config(inputs=ReportInputs(own_documents=True))),
        ("counts: {findings: {bad_utf8: 2}}\n", Config(findings={"bad_utf8": 2})),
    ],
)
def test_a_config(text: str, expected: Config, write: Write) -> None:
    assert read_config(write(text, "x.config.yml")) == expected


@pytest.mark.parametrize(
    "text", ["[1]", "inputs: 5", "a: [", "a: 1\na: 2", "!!python/object:os.system {}"]
)
def test_what_is_no_config_is_said(text: str, write: Write) -> None:
    with pytest.raises(InputError, match=r"x\.config\.yml(:\d)?: is not the config of a job"):
        read_config(write(text, "x.config.yml"))


def test_no_config_is_an_empty_one(tmp_path: Path) -> None:
    assert read_config(tmp_path / "x.config.yml") == Config()


def test_a_log_gives_the_events_that_are_asked_for(write: Write) -> None:
    events: list[dict[str, Any]] = []
    log = write(
        '{"event":"FINDING","n":1}\n{"event":"OTHER","n":2}\n{"event":"FINDING","n":3}\n'
        '{"event":"FINDING","n":4',  # of a job that broke off
        "x.log",
    )
    assert read_log(log, {"FINDING": events.append})
    assert [event["n"] for event in events] == [1, 3]
    assert not read_log(log.parent / "none.log", {"FINDING": events.append})


def test_a_packed_log_is_read_and_one_that_is_cut_is_an_error(write: Write) -> None:
    events: list[dict[str, Any]] = []
    packed = zstandard.compress(b'{"event":"FINDING","n":1}\n{"event":"FINDING","n":2}\n')
    log = write(packed, "x.log.zst")
    for path in (log, log.with_suffix("")):
        assert read_log(path, {"FINDING": events.append})
    assert [event["n"] for event in events] == [1, 2, 1, 2]
    log.write_bytes(packed[:-4])
    with pytest.raises(InputError, match=r"x\.log\.zst: cannot be read.*; it is cut or damaged: "):
        read_log(log, {"FINDING": events.append})
