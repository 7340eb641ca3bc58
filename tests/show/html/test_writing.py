"""Writing the report: its parts, what it costs, and what it says on real runs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.commandline import SAMPLES, command, judge, sample
from tests.fakes import judgment, response
from tests.show.html.browser import Browser
from tests.show.html.made import output, report
from tests.show.html.test_blocks import unpacked
from trecjudge.records import FULL, LEFT_OUT, NONE, Evidence, Fact, Failure, Source
from trecjudge.results.leaderboards.writing import LAYOUTS
from trecjudge.results.outputs import Outputs

LICENSED = "Electricity reached the headland"
BLOCK = re.compile(rb'<script type="text/plain" id="([\w-]+)">([^<]*)</script>')


def blocks_of(page: Path) -> dict[str, list[dict[str, object]]]:
    """Return the blocks of a page, decoded."""
    found = BLOCK.findall(page.read_bytes())
    return {name.decode(): unpacked(block) for name, block in found}


def everything(page: Path) -> str:
    """Return all that a page holds, decoded."""
    return page.read_text() + json.dumps(blocks_of(page), ensure_ascii=False)


def test_the_main_job_writes_it_and_says_so(tmp_path: Path) -> None:
    done = sample("rag", tmp_path, "--report", "--json")
    assert json.loads(done.out)["files"]["report"] == str(tmp_path / "x.report.html")
    blocks = blocks_of(tmp_path / "x.report.html")
    assert {len(blocks[f"topic-{n}"]) for n in range(3)} == {3}
    assert LICENSED in everything(tmp_path / "x.report.html")


def test_the_command_writes_the_same_file(tmp_path: Path) -> None:
    sample("rag", tmp_path, "-q", "--report")
    before = (tmp_path / "x.report.html").read_bytes()
    done = command("report", tmp_path)
    assert done.status == 0
    assert f"report: {tmp_path / 'x.report.html'} (0.3 MB)" in done.out
    assert (tmp_path / "x.report.html").read_bytes() == before


@pytest.mark.parametrize("when", ["in the job", "in the report"])
def test_licensed_text_stays_out(when: str, tmp_path: Path) -> None:
    flag = "--no-document-text"
    sample("rag", tmp_path, "-q", *([flag] if when == "in the job" else []))
    done = command("report", tmp_path, *([flag] if when == "in the report" else []))
    assert "note: text of documents is left out, as requested" in done.out
    assert LICENSED not in everything(tmp_path / "x.report.html")
    assert "reached the headland" not in everything(tmp_path / "x.report.html").replace(
        "electricity reached the headland in 1938", ""  # the run itself says so
    )  # fmt: skip


SECRET = "words of the document"


def secretive(folder: Path) -> Outputs:
    """Write an output that quotes a document wherever something can quote one."""
    by_model = judgment(
        NONE, doc_id="d", citation="d", exists=True, attester="llm", reason=f"It says {SECRET}.",
        evidence=Evidence(0, len(SECRET), SECRET), facts=(Fact(SECRET, 0, 5, True),),
        sources=(Source("d", 0, 5, SECRET, title=SECRET),),
    )  # fmt: skip
    failed = judgment(doc_id="e", citation="e", failure=Failure("parse", f"not {SECRET!r}", 3))
    call = {"event": "MODEL_CALL", "run_id": "r", "topic_id": "t1", "reply": SECRET}
    finding = {"event": "FINDING", "kind": "instruction_like_text", "severity": "note",
               "message": f"cites 'd', which says {SECRET!r}, like an instruction", "value": SECRET,
               "sentence": None, "place": "r.jsonl:1"}  # fmt: skip
    judged = (response(("S.", ["d", "e"])), [by_model, failed])
    return output(folder, judged, log=[call, finding])


@pytest.mark.parametrize("there", [FULL, NONE])
def test_whatever_quotes_a_document_stays_out(there: str, tmp_path: Path) -> None:
    outputs = secretive(tmp_path / "here")
    unsure = judgment(there, doc_id="d", citation="d", attester="llm", reason=f"No, {SECRET}.")
    other = output(tmp_path / "there", (response(("S.", ["d", "e"])), [unsure]))
    assert SECRET in everything(report(outputs, compare=other).path)
    bare = report(outputs, compare=other, document_text=False).path
    assert SECRET not in everything(bare)
    (finding,) = blocks_of(bare)["findings"]
    assert finding["message"] == f"cites 'd', which says {LEFT_OUT}"


def test_a_job_without_text_may_be_shown_with_it(tmp_path: Path) -> None:
    sample("rag", tmp_path, "-q", "--no-document-text")
    command("report", tmp_path, "-q", "--document-text")
    assert LICENSED in everything(tmp_path / "x.report.html")


def test_inputs_that_moved_are_noted_and_can_be_given(tmp_path: Path) -> None:
    sample("rag", tmp_path, "-q")
    config = tmp_path / "x.config.yml"
    config.write_text(config.read_text().replace(str(SAMPLES), "/gone"))
    done = command("report", tmp_path)
    assert "/gone/rag/topics.jsonl: no such topic file; give --rag-topics" in done.out
    assert LICENSED not in everything(tmp_path / "x.report.html").replace("the headland in", "")
    folder = SAMPLES / "rag"
    given = ("--rag-topics", folder / "topics.jsonl", "--rag-responses", folder / "runs")
    done = command("report", tmp_path, *given, "--documents", folder / "documents.jsonl")
    assert "note:" not in done.out
    assert LICENSED in everything(tmp_path / "x.report.html")
    refused = command("report", tmp_path, "--rag-topics", "/gone")
    assert (refused.status, "/gone: no such topic file" in refused.err) == (1, True)


def test_without_log_and_config_it_does_without_and_says_so(tmp_path: Path) -> None:
    outputs = output(tmp_path, (response(("S.", ["d"])), [judgment(FULL, doc_id="d", exists=True)]))
    written = report(outputs)
    assert [note.split(":")[0] for note in written.notes] == [
        "no text of documents", "no log beside the judgments",
    ]  # fmt: skip
    assert blocks_of(written.path)["head"][0]["logged"] is False


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "x.leaderboard.jsonl:1: "),
        ("[1]", "x.leaderboard.jsonl:1: "),
        ('{"run_id": "r"}', "x.leaderboard.jsonl:1: a record without 'measure'"),
    ],
)
def test_statistics_that_are_none_are_refused(line: str, message: str, tmp_path: Path) -> None:
    outputs = output(tmp_path, (response(("S.", [])), []))
    outputs.statistics.write_text(line)
    done = command("report", tmp_path)
    assert (done.status, message in done.err) == (1, True)


def test_prompts_are_kept_with_their_topic(tmp_path: Path) -> None:
    call = {"event": "MODEL_CALL", "run_id": "r", "topic_id": "t1", "program": "attest",
            "messages": [{"role": "user", "content": "Is it?"}], "reply": "yes"}  # fmt: skip
    judged = (response(("S.", ["d"])), [judgment(FULL, doc_id="d", exists=True)])
    outputs = output(tmp_path, judged, log=[call])
    (kept,) = blocks_of(report(outputs).path)["calls-0"]
    assert (kept["run"], kept["reply"], kept["program"]) == ("r", "yes", "attest")
    assert "calls-0" not in blocks_of(report(outputs, document_text=False).path)


def test_what_a_gate_marked_is_in_it(tmp_path: Path) -> None:
    workflow = tmp_path / "w.yml"
    workflow.write_text("judge: citation\ngate: {reject_unless: CITATION_SUPPORT >= 0.5}\n")
    sample("rag", tmp_path, "-q", "--report", "--workflow", workflow)
    first = blocks_of(tmp_path / "x.report.html")["reviews"][0]
    assert first == {
        "run": "careless", "topic": "11", "status": "REJECTED",
        "rules": ["CITATION_SUPPORT >= 0.5: broken"],
    }  # fmt: skip
    (tmp_path / "x.review.jsonl").write_text("{}\n")
    done = command("report", tmp_path)
    assert "x.review.jsonl:1: is not a response to review: 'run_id'" in done.err


def test_past_a_size_detail_goes_beside_the_file(tmp_path: Path) -> None:
    sample("rag", tmp_path, "-q", "--report")
    whole = blocks_of(tmp_path / "x.report.html")
    done = command("report", tmp_path, "--max-size", "0.001")
    assert f"and 8 files in {tmp_path / 'x.report'}" in done.out
    names = {path.name.split(".")[0] for path in (tmp_path / "x.report").iterdir()}
    assert names == whole.keys() - {"head"}
    assert set(blocks_of(tmp_path / "x.report.html")) == {"head"}
    command("report", tmp_path, "-q")
    assert not (tmp_path / "x.report").exists()


def test_a_truth_must_have_something_in_common(tmp_path: Path) -> None:
    sample("rag", tmp_path, "-q")
    truth = tmp_path / "truth.txt"
    truth.write_text("careful\tall\tNDCG\t0.5\n")
    done = command("report", tmp_path, "--truth", truth)
    assert "has rows of NDCG, none of CITATION_ACCURACY, CITATION_SUPPORT," in done.err
    assert "name it with --truth FILE measure=OURS=THEIRS" in done.err
    truth.write_text("nobody\tall\tCITATION_SUPPORT\t0.5\n")
    done = command("report", tmp_path, "--truth", truth)
    assert "has no row of any of these runs, such as 'careful'; it has 'nobody'" in done.err
    truth.write_text("careful\tall\tCITATION_SUPPORT\t0.5\n")
    assert command("report", tmp_path, "--truth", truth).status == 0
    assert "CITATION_SUPPORT, compared with truth.txt" in (tmp_path / "x.report.html").read_text()


@pytest.mark.parametrize("name", [*LAYOUTS, "header"])
def test_a_truth_may_be_of_any_format(name: str, tmp_path: Path) -> None:
    sample("rag", tmp_path, "-q")
    truth = tmp_path / "given" / "truth"
    truth.parent.mkdir()
    if name == "header":
        lines = (tmp_path / "x.leaderboard.txt").read_text().splitlines()
        cells = [line.split("\t") for line in lines]
        rows = (f"{value}\t{run}\t{metric}\t{topic}\n" for run, topic, metric, value in cells)
        truth.write_text("score\tsystem\tmetric\tqid\n" + "".join(rows))
    else:
        assert command("job", "convert", tmp_path / "x", truth, "--to", name).status == 0
    done = command("report", tmp_path / "x", "--truth", truth)
    assert (done.status, done.err) == (0, "")
    page = (tmp_path / "x.report.html").read_text()
    assert re.search(r"<title>careful: ([.\d]+) in x, \1 in truth</title>", page)


def test_a_truth_whose_format_nothing_tells(tmp_path: Path) -> None:
    sample("rag", tmp_path, "-q")
    truth = tmp_path / "truth.txt"
    truth.write_text("12\tcareful\tCITATION_SUPPORT\t0.5\n")
    done = command("report", tmp_path, "--truth", truth)
    assert (done.status, "show its format; give one of ir_measures" in done.err) == (1, True)
    done = command("report", tmp_path, "--truth", truth, "--truth-format", "rag4reports")
    assert (done.status, done.err) == (0, "")


@pytest.mark.parametrize(
    ("given", "title"),
    [
        (["STRICT"], "EXPECTED_CITATION_SUPPORT, compared with STRICT of truth.txt"),
        (["SENTENCE_SUPPORT=STRICT"], "SENTENCE_SUPPORT, compared with STRICT of truth.txt"),
    ],
)
def test_a_truth_may_call_our_measure_otherwise(
    given: list[str], title: str, tmp_path: Path
) -> None:
    sample("rag", tmp_path, "-q")
    truth = tmp_path / "truth.txt"
    truth.write_text("careful\tall\tSTRICT\t0.5\ncareful\tall\tCITATION_SUPPORT\t0.5\n")
    flags = [word for name in given for word in ("--truth-measure", name)]
    assert command("report", tmp_path, "-q", "--truth", truth, *flags).status == 0
    page = (tmp_path / "x.report.html").read_text()
    assert re.findall(r"<b>(.*compared with.*)</b>", page) == [title]


def test_a_measure_of_a_truth_wants_a_truth_and_a_measure_of_ours(tmp_path: Path) -> None:
    sample("rag", tmp_path, "-q")
    done = command("report", tmp_path, "--truth-measure", "STRICT")
    assert "give the leaderboard that has the measure, --truth FILE measure=NAME" in done.err
    (tmp_path / "truth.txt").write_text("careful\tall\tSTRICT\t0.5\n")
    for given, message in {
        "CITATION_SUPORT=STRICT": "did you mean 'CITATION_SUPPORT'?",
        "LOOSE": "truth.txt: has rows of STRICT, none of LOOSE\n",
    }.items():
        flags = ("--truth", tmp_path / "truth.txt", "--truth-measure", given)
        assert message in command("report", tmp_path, *flags).err
    twice = ("--truth-measure", "STRICT", "--truth-measure", "LOOSE")
    done = command("report", tmp_path, "--truth", tmp_path / "truth.txt", *twice)
    assert "measure=LOOSE: EXPECTED_CITATION_SUPPORT is compared with STRICT already" in done.err


def test_a_page_tells_of_no_folder(tmp_path: Path) -> None:
    folder = tmp_path / "secret"
    sample("rag", folder / "here", "-q")
    sample("rag", folder / "there", "-q")
    config = folder / "here" / "x.config.yml"
    config.write_text(config.read_text().replace(str(SAMPLES), str(folder / "gone")))
    command("report", folder / "here/x", "-q", "--compare", folder / "there" / "x")
    page = folder / "here" / "x.report.html"
    text = everything(page)
    assert [path for path in (str(folder), str(SAMPLES)) if path in text] == []
    assert "topics.jsonl: no such topic file" in text
    places = {str(finding["place"]) for finding in blocks_of(page)["findings"]}
    assert {place.split(":")[0] for place in places} == {"careless.jsonl"}
    assert blocks_of(page)["head"][0]["compared"]["name"] == "there/x"  # type: ignore[index]


def test_nothing_is_left_of_a_report_that_failed(tmp_path: Path) -> None:
    path = tmp_path / "x.judgments.jsonl"
    path.write_text('{"record": "header", "format": 2, "judges": {"citation": {}}}\n')
    done = command("report", tmp_path)
    assert (done.status, "is cut: its last record is missing" in done.err) == (1, True)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_every_variant_has_a_report_of_its_own(tmp_path: Path) -> None:
    workflow = SAMPLES.parent / "workflows" / "citation.yml"
    sample("rag", tmp_path, "-q", "--report", "--workflow", workflow, "--sweep", "partial")
    assert len(list(tmp_path.glob("x.partial-*.report.html"))) == 5


SUPPORT = Path("data/rag25_support")


def test_evidence_stands_in_the_documents(
    shared: Path, tmp_path: Path, open_page: Callable[..., Browser]
) -> None:
    runs, topics = shared / SUPPORT / "runs", shared / SUPPORT / "topics.jsonl"
    options = ("--judge", "support", "--max-runs", "8", "--report", "-q", "--no-check")
    assert judge(runs, tmp_path, *options, topics=topics).status == 0
    page = tmp_path / "x.report.html"
    blocks = blocks_of(page)
    found = 0
    for number in range(len(blocks["head"][0]["topics"])):
        texts = [document["text"] for document in blocks[f"documents-{number}"]]
        for entry in blocks[f"topic-{number}"]:
            for judged in entry["judgments"]:
                if (evidence := judged.get("evidence")) is None:
                    continue
                text = texts[entry["documents"][judged["doc_id"]]]
                assert text[evidence["start"] : evidence["end"]] == evidence["quote"]
                found += 1
    assert found > 500
    assert page.stat().st_size < 2_000_000
    browser = open_page(page, "#/heat")
    cells = browser.run("return [...document.querySelectorAll('td[data-run]')].map(c => c.dataset)")
    assert len(cells) == 64
    browser.find(
        f"td[data-run={json.dumps(cells[9]['run'])}][data-topic='{cells[9]['topic']}']"
    ).click()
    assert browser.text(".document mark")
