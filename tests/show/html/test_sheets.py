"""The sheet of a team: its own in full, and of the others three values a topic and nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.commandline import command, sample
from tests.fakes import judgment, response
from tests.show.html.browser import Browser
from tests.show.html.made import output, report
from tests.show.html.test_writing import BLOCK, blocks_of, everything
from trecjudge.records import FULL, NONE, PARTIAL
from trecjudge.results.outputs import Outputs
from trecjudge.show.html.writing import ReportOptions, write_sheets

HOSTILE = "zz<script>alert(1)</script>'\"&../../\u202eelse"
OTHERS = HOSTILE, "zz-quoted", "zzünïcode/..\\x"
TEXTS = "Only the first rival says this sentence.", "The second rival says own-a is bad."


def field(folder: Path) -> Outputs:
    """Write a job of two runs of ours and three of others, and a log that speaks of all."""
    labels = {"own-a": (FULL, NONE), "own-b": (NONE, NONE), HOSTILE: (FULL, FULL),
              "zz-quoted": (FULL, FULL), OTHERS[2]: (PARTIAL, NONE)}  # fmt: skip
    said = {"own-a": "We beat zz-quoted here.", HOSTILE: TEXTS[0], "zz-quoted": TEXTS[1]}
    judged = [
        (
            replace(response((said.get(run, "Ours."), ["d"]), run_id=run, topic_id=topic),
                    team_id=f"team-of-{run[:2]}"),
            [judgment(label, doc_id="d", citation="d", exists=label != NONE, reason=f"{run} so")],
        )
        for run, own in labels.items()
        for topic, label in zip(("t1", "t2"), own, strict=True)
    ]  # fmt: skip
    log: list[dict[str, Any]] = [
        {"event": "MODEL_CALL", "run_id": run, "topic_id": "t1", "program": "p", "reply": run,
         "messages": [{"role": "system", "content": f"of {run}"}]}
        for run in reversed(labels)
    ]  # fmt: skip
    log += [
        {"event": "FINDING", "kind": "run_id_alike", "severity": "note", "place": "own-a.jsonl",
         "message": "run 'own-a' looks like run 'zz-quoted'; they count as two", "run_id": "own-a"},
        {"event": "FINDING", "kind": "file_not_a_run", "severity": "note", "place": "zz-quoted.txt",
         "message": "is no run of zz-quoted", "run_id": ""},
        {"event": "FINDING", "kind": "team_id_missing", "severity": "note", "place": "zz:1",
         "message": "zz has no team", "run_id": HOSTILE},
    ]  # fmt: skip
    outputs = output(folder, *judged, log=log, topics=["t1", "t2"])
    outputs.config.write_text(
        "command_line: [run, zz-quoted.jsonl]\njudges: {citation: {}}\n"
        "inputs_sha256: {zz-quoted.jsonl: abc}\ninputs: {runs: [/gone/zz-quoted.jsonl]}\n"
        "counts: {findings: {team_id_missing: 7}}\n"
    )
    lines = [{"run_id": run, "topic_id": "t1", "status": "rejected", "rules": []} for run in labels]
    outputs.review.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return outputs


def sheets(outputs: Outputs, *runs: str, each: Path | None = None) -> list[Path]:
    """Write sheets; return their pages."""
    return [one.path for one in write_sheets(ReportOptions(outputs, runs=runs, sheets=each))]


def legible(page: Path) -> str:
    """Return all that a page holds, its blocks only as they are unpacked."""
    return BLOCK.sub(b"", page.read_bytes()).decode() + str(blocks_of(page))


def test_nothing_of_another_team_is_in_a_sheet(tmp_path: Path) -> None:
    outputs = field(tmp_path)
    assert "zzünïcode" in everything(report(outputs).path)
    (page,) = sheets(outputs, "own-a", "own-b")
    for text in (legible(page), page.with_suffix(".json").read_text()):
        assert "We beat zz-quoted here." in text
        rest = text.replace("We beat zz-quoted here.", "")
        assert [
            word for word in ("zz-", "zz<", "zz&", "zzü", "rival", "alert(1)") if word in rest
        ] == []
    (head,) = blocks_of(page)["head"]
    assert [run["id"] for run in head["runs"]] == ["own-a", "own-b"]  # type: ignore[attr-defined]
    assert {len(of_measure) for of_measure in head["scores"]} == {2}  # type: ignore[attr-defined]
    assert [c["run"] for c in blocks_of(page)["calls-0"]] == ["own-b", "own-a"]
    assert {one["run"] for one in blocks_of(page)["reviews"]} == {"own-a", "own-b"}


def test_places_and_three_values_are_of_all_runs(tmp_path: Path) -> None:
    (page,) = sheets(field(tmp_path), "own-b", "own-a")
    found = json.loads(page.with_suffix(".json").read_text())
    assert [(one["run"], one["place"], one["of"]) for one in found["runs"]] == [
        ("own-a", 3, 5),
        ("own-b", 4, 5),
    ]
    first = found["topics"][0]
    named = {name: first[name] for name in ("topic", "best", "median", "worst", "own")}
    assert named == {
        "topic": "t1", "best": 1.0, "median": 1.0, "worst": 0.0,
        "own": {"own-a": 1.0, "own-b": 0.0},
    }  # fmt: skip
    own_a, own_b = found["runs"]
    assert (own_a["nowhere"], own_a["citations"]) == (1, 2)
    assert own_b["lost_most"] == [{"topic": "t1", "value": 0.0, "median": 1.0}]
    assert [one["topic"] for one in own_b["worst_sentences"]] == ["t1", "t2"]


def test_each_run_has_a_page_of_a_safe_name(tmp_path: Path) -> None:
    pages = sheets(field(tmp_path), each=tmp_path / "each")
    assert [page.name for page in pages] == [
        "own-a.sheet.html",
        "own-b.sheet.html",
        "zz-quoted.sheet.html",
        "zz_script_alert_1_script_.._.._else.sheet.html",
        "zzünïcode_.._x.sheet.html",
    ]
    assert {path.parent for path in pages} == {tmp_path / "each"}
    by_name = {page.name: everything(page) for page in pages}
    assert "own-b" not in by_name["own-a.sheet.html"]
    assert TEXTS[0] in by_name[pages[3].name]
    assert TEXTS[0] not in by_name[pages[2].name]


def test_names_that_a_file_system_takes_for_one_stay_apart(tmp_path: Path) -> None:
    judged = [
        (response(("S.", ["d"]), run_id=run), [judgment(FULL, doc_id="d", citation="d")])
        for run in ("a b", "A_b", "a/b", "..", "x" * 300)
    ]
    pages = sheets(output(tmp_path, *judged), each=tmp_path / "each")
    names = ["run", "A_b", "a_b+", "a_b++", "x" * 40]
    assert [page.name for page in pages] == [f"{name}.sheet.html" for name in names]


def test_the_sheets_of_a_job_with_texts(tmp_path: Path) -> None:
    sample("rag", tmp_path, "-q", "--report")
    done = command("report", tmp_path, "--each-run", tmp_path / "each", "--json")
    named = [Path(one["report"]).name for one in json.loads(done.out)["sheets"]]
    assert named == ["careful.sheet.html", "careless.sheet.html", "uncited.sheet.html"]
    text = everything(tmp_path / "each" / "careful.sheet.html")
    assert "Electricity reached the headland" in text
    assert "careless" not in text
    assert command("report", tmp_path, "-q", "--for-run", "careful").status == 0
    again = everything(tmp_path / "x.careful.sheet.html")
    assert (
        blocks_of(tmp_path / "x.careful.sheet.html").keys()
        == blocks_of(tmp_path / "each" / "careful.sheet.html").keys()
    )
    assert "careless" not in again


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--for-run", "carefull"), "--run 'carefull': unknown run 'carefull'; did you mean"),
        (("--for-run", "careful", "--compare", "."), "--against: shows all runs; a sheet of"),
    ],
)
def test_what_a_sheet_cannot_be_of(flags: tuple[str, ...], message: str, tmp_path: Path) -> None:
    sample("rag", tmp_path, "-q")
    flags = tuple(str(tmp_path) if flag == "." else flag for flag in flags)
    done = command("report", tmp_path, *flags)
    assert (done.status, message in done.err) == (1, True)


def test_a_sheet_in_a_browser(open_page: Callable[..., Browser], tmp_path: Path) -> None:
    (page,) = sheets(field(tmp_path), "own-b")
    shown = open_page(page).text("#home")
    assert "4 of 5" in shown
    assert "Topics furthest behind the median" in shown
    run = open_page(page, "#/run/own-b").text("#screen")
    assert "median CITATION_SUPPORT" in run
