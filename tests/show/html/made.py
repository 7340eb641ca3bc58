"""Small outputs of jobs, written as a job writes them, for reports on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from tests.fakes import judgment, response
from trecjudge.records import AskedNugget, Evidence, Failure, Judgment, Response
from trecjudge.results.judgments import Header, JudgmentsWriter
from trecjudge.results.outputs import Outputs
from trecjudge.show.html.writing import ReportOptions, Written, write_report

Judged = tuple[Response, Sequence[Judgment]]


def output(
    folder: Path,
    *judged: Judged,
    judge: str = "citation",
    name: str = "x",
    log: Sequence[dict[str, Any]] = (),
    topics: Sequence[str] | None = None,
    also: Sequence[str] = (),
) -> Outputs:
    """Write the judgments, and the log where events are given; `judge` is whose they are.

    The judges in `also` are of the job too, and found nothing to judge.
    """
    outputs = Outputs(folder, name)
    outputs.prepare()
    with outputs.judgments.open("wb") as file:
        writer = JudgmentsWriter(file)
        writer.header(
            Header({name: {} for name in (judge, *also)}, topics=tuple(topics) if topics else None)
        )
        for response, judgments in judged:
            own = [
                replace(j, run_id=response.run_id, topic_id=response.topic_id) for j in judgments
            ]
            writer.response(response, [(judge, judgment) for judgment in own])
        writer.end()
    if log:
        outputs.log.write_bytes(b"".join(orjson.dumps(event) + b"\n" for event in log))
    return outputs


def report(outputs: Outputs, **wanted: Any) -> Written:
    """Write the report of such an output."""
    return write_report(ReportOptions(outputs, **wanted))


TEXTS = ("Tin lines it.", "It was lit in 1871.")
NUGGETS = (
    AskedNugget("1", "A keeper lived there.", "okay"),
    AskedNugget("2", "The tower is 34 m high.", "vital"),
    AskedNugget("3", "It was lit in 1871.", "vital"),
    AskedNugget("4", "Its lamp burned oil.", "okay"),
)


def on_nuggets(labels: str, nuggets: Sequence[AskedNugget] = NUGGETS) -> list[Judgment]:
    """Return a judgment for each letter: s, p, n, c, or ? for an unjudged one."""
    names = {"s": "support", "p": "partial_support", "n": "not_support", "c": "contradicts"}
    unread = Failure("parse", "no label", 3)
    return [
        judgment(
            names.get(letter),
            sentence_index=None,
            nugget=nugget,
            attester="lexical",
            reason=f"why {nugget.nugget_id}",
            failure=None if letter in names else unread,
            evidence=Evidence(24, 33, "in 1871.") if letter == "s" else None,
        )
        for letter, nugget in zip(labels, nuggets, strict=True)
    ]


def nuggets_output(folder: Path, **labels: str) -> Outputs:
    """Write the output of the nuggets judge: runs by their labels on t1; t2 has no bank."""
    runs = labels or {"high": "nnsp", "low": "np?c", "worst": "nnnn"}
    no_bank = judgment(sentence_index=None, failure=Failure("not_given", "no bank"))
    judged: list[Judged] = []
    for run, letters in runs.items():
        answer = response(*((text, ["d"]) for text in TEXTS), run_id=run)
        judged.append((answer, on_nuggets(letters)))
        judged.append((replace(answer, topic_id="t2"), [no_bank]))
    judged.append((response(("S.", []), run_id="silent", topic_id="t2"), [no_bank]))
    return output(folder, *judged, judge="nuggets")
