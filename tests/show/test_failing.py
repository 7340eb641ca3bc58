"""The responses behind a gate's rules, as JUnit has them."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.cli.jobs import BAD, GOOD, job, partly_judged
from tests.commandline import command
from trecjudge.show import failing

# As the schema of Jenkins' xUnit plugin has them (junit-10.xsd): required, and allowed besides.
ATTRIBUTES = {
    "testsuite": ({"name", "tests", "failures", "errors"}, {"skipped", "time"}),
    "testcase": ({"name"}, {"classname", "time"}),
    "failure": (set(), {"message", "type"}),
    "error": (set(), {"message", "type"}),
    "skipped": (set(), {"message", "type"}),
}
DROP = ("--max-drop", "0.02")


def suite_of(now: Path, *options: str | Path) -> ElementTree.Element:
    """Return the JUnit suite that the gate writes; its form and its counts are right."""
    path = now.parent / "gate.xml"
    status = command("gate", now, *options, "--junit", path, "-q").status
    suite = ElementTree.parse(path).getroot()
    for element in suite.iter():
        needed, allowed = ATTRIBUTES[element.tag]
        assert needed <= set(element.attrib) <= needed | allowed
    counts = {"failures": "failure", "errors": "error", "skipped": "skipped"}
    for attribute, tag in counts.items():
        assert int(suite.get(attribute, "0")) == len(list(suite.iter(tag)))
    assert int(suite.attrib["tests"]) == len(suite)
    assert (status == 0) == (suite.find("*/failure") is None)
    return suite


def cases(suite: ElementTree.Element) -> dict[str, ElementTree.Element]:
    """Return what each case of a response has: a failure, or that it was skipped."""
    return {case.attrib["name"]: case[0] for case in suite if case.attrib["name"][:6] == "topic "}


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return a good job, one with two bad responses of eight, and one with one."""
    folder = tmp_path_factory.mktemp("jobs")
    return {
        name: job(folder, name, {"r": [BAD] * bad + [GOOD] * (8 - bad)})
        for name, bad in (("good", 0), ("one", 1), ("two", 2))
    }


def test_a_response_that_got_worse_is_a_case_with_its_sentence(jobs: dict[str, Path]) -> None:
    found = cases(suite_of(jobs["two"], "--baseline", jobs["good"], *DROP))
    assert list(found) == ["topic 1", "topic 2"]
    assert found["topic 1"].tag == "failure"
    start = (
        'EXPECTED_CITATION_SUPPORT got worse: from 0.9308 to 0.0142. sentence 1 "The kettle was'
        ' invented in Lyon in 1894."; no_support (before: full_support); document k; '
    )
    assert found["topic 1"].attrib["message"].startswith(start)
    assert (found["topic 1"].text or "").count("Lyon") == 2  # the reason names what is missing


def test_below_a_bound_too_and_only_skipped_where_the_run_keeps_it(jobs: dict[str, Path]) -> None:
    found = cases(suite_of(jobs["two"], "--min", "CITATION_SUPPORT=0.8"))
    assert {name: case.tag for name, case in found.items()} == {
        "topic 1": "failure",
        "topic 2": "failure",
    }
    assert (
        found["topic 2"]
        .attrib["message"]
        .startswith("CITATION_SUPPORT is 0, must be at least 0.8. sentence 1 ")
    )
    kept = cases(suite_of(jobs["two"], "--min", "CITATION_SUPPORT=0.5"))
    assert [case.tag for case in kept.values()] == ["skipped"] * 2
    flipped = cases(suite_of(jobs["one"], "--baseline", jobs["good"], "--max-drop", "0.2"))
    assert {name: case.tag for name, case in flipped.items()} == {"topic 1": "skipped"}


def test_what_was_as_bad_before_is_no_case(jobs: dict[str, Path]) -> None:
    found = cases(suite_of(jobs["two"], "--baseline", jobs["one"], *DROP))
    assert list(found) == ["topic 2"]


def test_a_verdict_that_flipped_is_a_case_though_the_value_is_as_before(tmp_path: Path) -> None:
    old = job(tmp_path, "old", {"r": [f"{GOOD}, {BAD}"] * 2})
    new = job(tmp_path, "new", {"r": [f"{BAD}, {GOOD}", f"{GOOD}, {BAD}"]})
    found = cases(suite_of(new, "--baseline", old, *DROP))
    assert list(found) == ["topic 1"]
    start = 'EXPECTED_CITATION_SUPPORT is no worse, but a verdict is. sentence 1 "The kettle was'
    assert found["topic 1"].attrib["message"].startswith(start)
    assert found["topic 1"].tag == "skipped"


def test_without_judgments_a_case_has_its_values(jobs: dict[str, Path], tmp_path: Path) -> None:
    for name in ("good", "two"):
        plain = f"{name}.leaderboard.jsonl"
        (tmp_path / plain).write_bytes((jobs[name].parent / plain).read_bytes())
    drop = ("--max-drop", "CITATION_SUPPORT=0.02")
    found = cases(suite_of(tmp_path / "two", "--baseline", tmp_path / "good", *drop))
    messages = {case.attrib["message"] for case in found.values()}
    assert messages == {"CITATION_SUPPORT got worse: from 1 to 0"}


def test_a_response_with_unjudged_items_fails_a_rule_that_they_break(tmp_path: Path) -> None:
    path = partly_judged(tmp_path)
    suite = suite_of(path, "--min", "CITATION_SUPPORT=0.9")
    messages = [
        case[0].attrib["message"]
        for case in suite
        if case.attrib["classname"] == "b" and case.attrib["name"] == "topic 1"
    ]
    assert messages == [
        'CITATION_SUPPORT has 1 of 1 items unjudged. sentence 1 "Steam forced through a narrow gap'
        ' makes a kettle whistle."; unjudged; document k; no label is given for'
        " ('1', 'b', 0, 'k')"
    ]


def test_a_missing_response_is_said_to_be_one(tmp_path: Path, jobs: dict[str, Path]) -> None:
    topics = tmp_path / "topics.jsonl"
    topics.write_text("".join(f'{{"id": "{t}", "title": "kettles"}}\n' for t in range(1, 9)))
    gone = job(tmp_path, "gone", {"r": [GOOD] * 7}, "--rag-topics", topics)
    found = cases(suite_of(gone, "--baseline", jobs["good"], *DROP))
    assert found["topic 8"].attrib["message"] == (
        "EXPECTED_CITATION_SUPPORT got worse: from 0.9308 to 0. the run has no response on this"
        " topic"
    )


def test_hostile_text_is_inert(tmp_path: Path, jobs: dict[str, Path]) -> None:
    text = json.dumps('</failure>]]> <b>&"\x00\x1b[2J\u202e\ufffe' + "x" * 5000)
    sentence = f'{{"text": {text}, "citations": ["k"]}}'
    found = cases(
        suite_of(job(tmp_path, "x", {"r": [sentence] * 8}), "--min", "CITATION_SUPPORT=1")
    )
    message = found["topic 1"].attrib["message"]
    assert r'</failure>]]> <b>&"\x00\x1b[2J\x202e' in message
    assert len(message) < 1000


def test_a_report_is_bounded(jobs: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failing, "MOST_RESPONSES", 1)
    suite = suite_of(jobs["two"], "--min", "CITATION_SUPPORT=0.8")
    assert list(cases(suite)) == ["topic 1"]
    assert suite[-1][0].attrib["message"] == "1 more responses fall short of a rule"


def test_a_bound_on_items_too(tmp_path: Path) -> None:
    path = job(tmp_path, "x", {"r": [", ".join([BAD] * 9)]})
    found = cases(suite_of(path, "--min", "CITATION_SUPPORT=0.8"))
    lines = (found["topic 1"].text or "").splitlines()
    assert (len(lines), lines[-1]) == (7, "and 4 more of 9 judgments")


def test_a_measure_that_one_side_lacks_blames_no_response(tmp_path: Path) -> None:
    paths = [
        job(tmp_path, judge, {"r": [f"{GOOD}, {BAD}"]}, "--judge", judge)
        for judge in ("citation", "grounding")
    ]
    suite = suite_of(paths[0], "--baseline", paths[1], *DROP, "--min", "CITATION_SUPPORT=0.8")
    assert [case[0].attrib["message"][:24] for case in suite] == [
        "is 0.5, must be at least",
        "is gone: the baseline ha",
        "CITATION_SUPPORT of cita",
    ]


def test_times_are_those_of_the_log(jobs: dict[str, Path]) -> None:
    calls = [
        {"event": "MODEL_CALL", "run_id": "r", "topic_id": "1", "seconds": s, "cached": cached}
        for s, cached in ((1.5, False), (0.25, False), (9.0, True))
    ]
    log = Path(f"{jobs['two']}.log")
    kept = log.read_bytes()
    log.write_bytes(
        kept + b"".join(json.dumps(c, separators=(",", ":")).encode() + b"\n" for c in calls)
    )
    suite = suite_of(jobs["two"], "--min", "CITATION_SUPPORT=0.8")
    log.write_bytes(kept)
    times = {case.attrib["name"]: case.get("time") for case in suite}
    assert (times["topic 1"], times["topic 2"]) == ("1.750", None)
    assert float(suite.attrib["time"]) > 0


def test_an_answer_to_a_question_that_is_new_did_not_get_worse(tmp_path: Path) -> None:
    old = job(tmp_path, "old", {"r": [GOOD] * 4})
    new = job(tmp_path, "new", {"r": [GOOD] * 4 + [BAD] * 4})
    assert cases(suite_of(new, "--baseline", old, *DROP)) == {}
    assert len(cases(suite_of(new, "--baseline", old, *DROP, "--min", "CITATION_SUPPORT=0.4"))) == 4
