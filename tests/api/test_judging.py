"""Judging from Python: as the command does, in a running loop, and nothing left behind."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import trecjudge
from tests.commandline import ROOT, SAMPLES, sample
from tests.endpoint import Endpoint, attesting, serving
from trecjudge import (
    InputError,
    Item,
    Judgment,
    LeaderboardSpec,
    MeasureSpec,
    ModelError,
    OutputError,
    PluginError,
    Progress,
    Response,
    Result,
    Topic,
    WorkflowError,
    judgment_of,
)
from trecjudge.judges.citation import CitationJudge
from trecjudge.judges.length import LengthJudge

SAME = ("leaderboard", "statistics", "qrels", "judgments")


def asked(dataset: str = "rag") -> dict[str, Any]:
    """Return the sample data of a dataset as arguments."""
    folder = SAMPLES / dataset
    return {
        "runs": folder / "runs",
        "topics": folder / "topics.jsonl",
        "documents": folder / "documents.jsonl",
    }


def written(result: Result) -> dict[str, bytes]:
    return {what: result.files[what].read_bytes() for what in SAME}


@pytest.mark.parametrize("dataset", ["rag", "ragtime", "dragun"])
def test_the_files_are_those_of_the_command(dataset: str, tmp_path: Path) -> None:
    assert sample(dataset, tmp_path / "command").status == 0
    result = trecjudge.judge(**asked(dataset), out_dir=tmp_path / "out", name="x")
    apart = trecjudge.judge(**asked(dataset)).write(tmp_path / "apart", "x")
    for what in SAME:
        theirs = (tmp_path / "command" / result.files[what].name).read_bytes()
        assert result.files[what].read_bytes() == apart[what].read_bytes() == theirs
    assert sorted(p.name for p in (tmp_path / "apart").iterdir()) == sorted(
        p.name for p in (tmp_path / "command").iterdir()
    )


def test_without_out_dir_nothing_is_left(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    result = trecjudge.judge(**asked())
    assert len(list(result.judgments())) == 39
    del result
    gc.collect()
    assert list(tmp_path.iterdir()) == []


async def in_a_loop() -> list[Result]:
    both = await asyncio.gather(
        trecjudge.ajudge(**asked(), judges="citation"),
        trecjudge.ajudge(**asked(), judges="length"),
    )
    return [*both, trecjudge.judge(**asked(), judges="citation")]


def test_in_a_running_loop() -> None:
    together = asyncio.run(in_a_loop())
    apart = [trecjudge.judge(**asked(), judges=name) for name in ("citation", "length")]
    assert [written(r) for r in together] == [written(r) for r in (*apart, apart[0])]


def test_two_calls_at_once_take_turns() -> None:
    order: list[str] = []

    async def both() -> None:
        calls = (
            trecjudge.ajudge(**asked(), progress=lambda now, n=name: order.append(n))  # type: ignore[misc]
            for name in "ab"
        )
        await asyncio.gather(*calls)

    asyncio.run(both())
    assert order[:4] == ["a", "b", "a", "b"]


def process_state() -> list[Any]:
    handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    return [*handlers, gc.get_threshold(), gc.isenabled(), threading.active_count(), os.getcwd()]


def test_the_process_is_left_as_it_was() -> None:
    before = [*process_state(), list(sys.path)]
    trecjudge.judge(**asked())
    asyncio.run(in_a_loop())
    assert [*process_state(), list(sys.path)] == before


def test_importing_it_imports_nothing_else() -> None:
    code = "import sys, trecjudge; print([m for m in sys.modules if m.startswith('trecjudge.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"


def test_every_name_that_is_exported_is_there() -> None:
    for name in dir(trecjudge):
        assert getattr(trecjudge, name) is not None
    with pytest.raises(AttributeError, match="no_such_name"):
        trecjudge.no_such_name  # noqa: B018


def test_a_module_of_the_same_name_does_not_hide_a_function() -> None:
    __import__("trecjudge.judging.judge")
    assert callable(trecjudge.judge)


@dataclass(frozen=True)
class Words:
    """How many words a response has, less so many."""

    less: int = 0

    @property
    def measures(self) -> LeaderboardSpec:
        return LeaderboardSpec((MeasureSpec("WORDS", lambda response, found: found[0].value),))

    def pool(self, topic: Topic, response: Response) -> Iterator[Item]:
        yield Item(topic, response.run_id, response.text)

    async def judge(self, item: Item, model: object) -> Judgment:
        return judgment_of(item, value=float(len(item.text.split()) - self.less))


@pytest.mark.parametrize(
    ("judges", "names"),
    [
        pytest.param("length", ["length"], id="a name"),
        pytest.param("length,citation", ["citation", "length"], id="names by commas"),
        pytest.param(["length", CitationJudge()], ["citation", "length"], id="a name, an object"),
        pytest.param(LengthJudge(unit="characters"), ["length"], id="an object of a known judge"),
        pytest.param((), ["citation"], id="none"),
    ],
)
def test_judges_by_name_and_by_object(judges: Any, names: list[str]) -> None:
    assert list(trecjudge.judge(**asked(), judges=judges).judges) == names


def test_a_judge_that_only_the_caller_has() -> None:
    @dataclass(frozen=True)
    class Fewer(Words):
        less: int = 1

    plain, fewer = (trecjudge.judge(**asked(), judges=one) for one in (Words(), Fewer()))
    both = zip(plain.scores, fewer.scores, strict=True)
    assert {a.value - b.value for a, b in both if a.value and b.value} == {1.0}
    assert list(fewer.judges.values()) == [{"less": 1}]


@dataclass(frozen=True)
class Odd(Words):
    key: Callable[[], int] = lambda: 0


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        pytest.param({"judges": "citatoin"}, PluginError, "did you mean 'citation'", id="a typo"),
        pytest.param({"judges": Words}, PluginError, r"is a class: .* Words\(\)", id="a class"),
        pytest.param({"judges": 5}, PluginError, "cannot be used: it lacks", id="no judge"),
        pytest.param({"judges": Odd()}, PluginError, "its setting key is", id="no data"),
        pytest.param(
            {"judges": [Words(1), Words(2)]}, WorkflowError, "given twice", id="two of one class"
        ),
        pytest.param(
            {"judges": LengthJudge(), "settings": {"limit": 3}},
            WorkflowError,
            "is given as an object",
            id="settings beside an object",
        ),
        pytest.param({"settings": {"partail": 1}}, WorkflowError, "partail", id="a setting"),
        pytest.param({"workflow": {"judgge": "x"}}, WorkflowError, "judgge", id="a workflow"),
        pytest.param({"runs": "nowhere"}, InputError, "nowhere", id="no runs"),
        pytest.param({"runs": []}, InputError, "there are none", id="no records"),
        pytest.param({"topics": []}, InputError, "^topics.jsonl: no topics", id="no topics"),
        pytest.param({"only_topics": ["99"]}, InputError, "unknown topic '99'", id="a topic"),
        pytest.param({"max_calls": 3}, WorkflowError, "only with --use-env-llm", id="no model"),
        pytest.param({"use_env_llm": True}, ModelError, "OPENAI", id="no endpoint"),
        pytest.param({"name": "a/b"}, OutputError, "a/b", id="a name"),
        pytest.param({"strict": True}, InputError, "--strict", id="strict"),
    ],
)
def test_errors_say_what_the_command_says(
    given: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message) as caught:
        trecjudge.judge(**asked() | given)
    assert tempfile.gettempdir() not in str(caught.value).replace(str(ROOT), "")


def test_two_calls_do_not_write_the_same_files(tmp_path: Path) -> None:
    async def both() -> list[Any]:
        calls = (trecjudge.ajudge(**asked(), out_dir=tmp_path) for _ in range(2))
        return await asyncio.gather(*calls, return_exceptions=True)

    first, second = asyncio.run(both())
    assert isinstance(first, Result)
    assert isinstance(second, OutputError)
    assert "is writing there" in str(second)


def test_a_result_whose_files_were_replaced_says_so(tmp_path: Path) -> None:
    first = trecjudge.judge(**asked(), out_dir=tmp_path)
    trecjudge.judge(**asked(), judges="length", out_dir=tmp_path)
    with pytest.raises(InputError, match="another job has written"):
        list(first.judgments())
    with pytest.raises(InputError, match="another job has written"):
        first.write(tmp_path / "elsewhere")
    assert first.scores


def test_progress_is_told() -> None:
    seen: list[Progress] = []
    trecjudge.judge(**asked(), progress=seen.append)
    assert [p.judged for p in seen] == list(range(1, 10))
    assert all(p.expected is None or p.expected >= p.judged for p in seen)
    assert seen[-1].expected == 9
    assert seen[-1].items == 39


def test_a_variant_and_settings_of_a_workflow() -> None:
    workflow = {"judge": "length", "variants": {"c": {"unit": "characters"}}}
    plain, varied = (
        trecjudge.judge(**asked(), workflow=workflow, variant=v, settings={"limit": 9})
        for v in (None, "c")
    )
    assert [r.judges["length"]["unit"] for r in (plain, varied)] == ["words", "characters"]
    assert varied.judges["length"]["limit"] == 9
    shipped = trecjudge.judge(**asked("ragtime"), workflow="citation_ragtime")
    assert shipped.name == "default"


PAIRS = 60


def many(count: int = PAIRS) -> list[dict[str, Any]]:
    return [
        {
            "metadata": {"run_id": "r", "topic_id": str(n)},
            "responses": [{"text": f"Fact {n}.", "citations": [f"d{n}"]}],
            "documents": {f"d{n}": {"text": f"Fact number {n}."}},
        }
        for n in range(count)
    ]


def with_model(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    for name, value in endpoint.environment().items():
        monkeypatch.setenv(name, value)
    return {"runs": many(), "judges": "citation", "use_env_llm": True}


def test_cancelled_it_leaves_the_cache_and_no_task(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async def cancelled(options: dict[str, Any], endpoint: Endpoint) -> int:
        task = asyncio.create_task(trecjudge.ajudge(**options, out_dir=tmp_path))
        while len(endpoint.requests) < 20:
            await asyncio.sleep(0.005)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert asyncio.all_tasks() == {asyncio.current_task()}
        return len(endpoint.requests)

    with serving(attesting(delay=0.02)) as endpoint:
        options = with_model(endpoint, monkeypatch) | {"settings": {"llm.in_flight": 4}}
        begun = asyncio.run(cancelled(options, endpoint))
        assert begun < PAIRS
        assert not [path for path in tmp_path.iterdir() if "judgments" in path.name]
        result = trecjudge.judge(**options)
        assert result.complete
        assert result.spent["cached"] >= 20 - 4
        assert len(endpoint.requests) <= PAIRS + 4


INTERRUPTED = """
import asyncio, json, sys, threading, trecjudge
def call():
    runs = json.load(open(sys.argv[1]))
    trecjudge.judge(runs, "citation", use_env_llm=True, settings={"llm.in_flight": 4})
async def cell():
    call()
try:
    %s
except KeyboardInterrupt:
    print("interrupted", threading.active_count(), flush=True)
"""


@pytest.mark.parametrize(
    "call",
    [
        pytest.param("call()", id="no loop"),
        pytest.param(
            "asyncio.run(cell())",
            id="in a loop",
            marks=pytest.mark.slow("trecjudge/api", "trecjudge/job/process.py"),
        ),
        pytest.param(
            "asyncio.new_event_loop().run_until_complete(cell())",
            id="in a loop of others, as a notebook's",
        ),
    ],
)
def test_interrupted_it_goes_on_from_the_cache(
    call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "runs.json").write_text(json.dumps(many()))
    with serving(attesting(delay=0.05)) as endpoint:
        options = with_model(endpoint, monkeypatch)
        process = subprocess.Popen(
            [sys.executable, "-c", INTERRUPTED % call, tmp_path / "runs.json"],
            env=os.environ | {"PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        until = time.monotonic() + 60
        while len(endpoint.requests) < 20 and time.monotonic() < until:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
        assert out == "interrupted 1\n"
        assert 20 <= len(endpoint.requests) < PAIRS
        assert trecjudge.judge(**options).complete
        assert len(endpoint.requests) <= PAIRS + 4


def test_the_log_is_written_as_the_command_writes_it(tmp_path: Path) -> None:
    result = trecjudge.judge(**asked(), out_dir=tmp_path, debug_log=True)
    events = [json.loads(line)["event"] for line in result.files["log"].read_text().splitlines()]
    assert (events[0], events[-1]) == ("session_start", "session_end")
    assert "log" not in trecjudge.judge(**asked(), debug_log=False).files
