"""Small outputs of jobs, written as a job writes them, for reports on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from trecjudge.records import Judgment, Response
from trecjudge.results.judgments import Header, JudgmentsWriter
from trecjudge.results.outputs import Outputs
from trecjudge.show.html.writing import Wanted, Written, write_report

Judged = tuple[Response, Sequence[Judgment]]


def output(
    folder: Path,
    *judged: Judged,
    judge: str = "citation",
    name: str = "x",
    log: Sequence[dict[str, Any]] = (),
    topics: Sequence[str] | None = None,
) -> Outputs:
    """Write the judgments, and the log where events are given; `judge` is whose they are."""
    outputs = Outputs(folder, name)
    outputs.prepare()
    with outputs.judgments.open("wb") as file:
        writer = JudgmentsWriter(file)
        writer.header(Header({judge: {}}, topics=tuple(topics) if topics else None))
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
    return write_report(Wanted(outputs, **wanted))
