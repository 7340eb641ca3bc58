"""`gate` on real jobs: exit status, one line a broken rule, JUnit, unjudged items."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.cli.jobs import BAD, GOOD, RECORD, as_json, job, moved, partly_judged
from tests.commandline import command
from tests.reading import Write


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return a good job, a worse one of the same run, and one with unjudged items."""
    folder = tmp_path_factory.mktemp("jobs")
    labels = folder / "labels.jsonl"
    labels.write_text(
        "".join(
            f'{{"topic_id": "{t}", "run_id": "r", "sentence_index": 0, "doc_id": "k",'
            ' "label": "full"}\n'
            for t in range(1, 8)
        )
    )
    given = ("--judgments-from", labels)
    return {
        "good": job(folder, "good", {"r": [GOOD] * 8}),
        "worse": job(folder, "worse", {"r": [GOOD] * 2 + [BAD] * 6}),
        "mixed": job(folder, "mixed", {"r": [GOOD] * 4 + [BAD] * 4}),
        "wobbly": job(folder, "wobbly", {"r": [BAD] * 4 + [GOOD] * 3 + [BAD]}),
        "less": job(folder, "less", {"r": [GOOD] * 7 + [BAD]}),
        "open": job(folder, "open", {"r": [GOOD] * 8}, *given, status=3),
        "many": job(folder, "many", {"r": [f"{GOOD}, {GOOD}"] * 8}),
        "few": job(folder, "few", {"r": [GOOD] * 8}),
        "none": job(folder, "none", {"r": [GOOD.replace('"k"', "")] * 8}),
    }


MIN = "CITATION_SUPPORT="


@pytest.mark.parametrize(
    ("arguments", "status", "lines"),
    [
        pytest.param("{good} --min S=0.8", 0, ["gate: 1 of 1 rules kept"], id="kept"),
        pytest.param(
            "{worse} --min S=0.8 --max C=2",
            1,
            ["r: CITATION_SUPPORT is 0.25, must be at least 0.8", "gate: 1 of 2 rules kept"],
            id="too low",
        ),
        pytest.param(
            "{open} --min S=0.9",
            1,
            [
                "r: CITATION_SUPPORT is 1, but 1 of 8 items are unjudged: it could be 0.875,"
                " must be at least 0.9",
                "gate: 0 of 1 rules kept",
            ],
            id="unjudged items could change it",
        ),
        pytest.param("{open} --min S=0.8", 0, ["gate: 1 of 1 rules kept"], id="or could not"),
        pytest.param(
            "{worse} --baseline {good} --max-drop S=0.02",
            1,
            [
                "r: CITATION_SUPPORT fell by 0.75 from 1 to 0.25, p 0.0312 over 8 topics; may fall"
                " by 0.02",
                "gate: 0 of 1 rules kept",
            ],
            id="a drop",
        ),
        pytest.param(
            "{wobbly} --baseline {mixed} --max-drop S=0.02",
            0,
            ["gate: 1 of 1 rules kept"],
            id="a drop that may be noise",
        ),
        pytest.param(
            "{wobbly} --baseline {mixed} --max-drop S=0.02 --strict",
            1,
            [
                "r: CITATION_SUPPORT fell by 0.125 from 0.5 to 0.375, p 1 over 8 topics; may fall"
                " by 0.02",
                "gate: 0 of 1 rules kept",
            ],
            id="counts if strict",
        ),
        pytest.param(
            "{less} --baseline {good} --max-drop S=0.02",
            1,
            [
                "r: CITATION_SUPPORT fell by 0.125 from 1 to 0.875, p 1 over 8 topics, too few"
                " changes to test; may fall by 0.02",
                "gate: 0 of 1 rules kept",
            ],
            id="a drop on so few topics that no test could find it",
        ),
        pytest.param(
            "{good} --baseline {open} --max-drop S=0.02",
            0,
            ["gate: 1 of 1 rules kept"],
            id="a baseline with unjudged items that was no better",
        ),
        pytest.param(
            "{less} --baseline {open} --max-drop S=0.1",
            1,
            [
                "r: CITATION_SUPPORT fell by 0 from 1 to 1, but of the baseline 1 of 8 items are"
                " unjudged: it could be 0.125; may fall by 0.1",
                "gate: 0 of 1 rules kept",
            ],
            id="a baseline with unjudged items that was better",
        ),
        pytest.param(
            "{open} --baseline {good} --max-drop S=0.1",
            1,
            [
                "r: CITATION_SUPPORT fell by 0 from 1 to 1, but 1 of 8 items are unjudged: it could"
                " be 0.125; may fall by 0.1",
                "gate: 0 of 1 rules kept",
            ],
            id="a topic that is unjudged is in neither mean",
        ),
        pytest.param(
            "{good} --baseline {worse} --max-drop 0.02",
            0,
            ["gate: 1 of 1 rules kept"],
            id="the ranking measure where none is named",
        ),
        pytest.param(
            "{good} --baseline {worse} --min C=0.5 --max-drop 0.02",
            0,
            ["gate: 2 of 2 rules kept"],
            id="whatever the other rules name",
        ),
        pytest.param(
            "{few} --baseline {many} --max-drop 0.02",
            0,
            ["gate: 1 of 1 rules kept"],
            id="a count that is neither good nor bad",
        ),
        pytest.param(
            "{few} --baseline {many} --max-drop C=0.02",
            1,
            [
                "r: AVG_CITATIONS fell by 1 from 2 to 1, p 0.00781 over 8 topics; may fall by 0.02",
                "gate: 0 of 1 rules kept",
            ],
            id="unless it is named",
        ),
        pytest.param(
            "{open} --baseline {open} --max-drop 0.02",
            0,
            ["gate: 1 of 1 rules kept"],
            id="the same unjudged items on both sides",
        ),
        pytest.param(
            "{none} --min S=0",
            1,
            [
                "r: CITATION_SUPPORT is 0, but nothing was judged: 0 of 0 items",
                "gate: 0 of 1 rules kept",
            ],
            id="nothing was judged",
        ),
        pytest.param(
            "{none} --baseline {none} --max-drop 0.02",
            0,
            ["gate: 1 of 1 rules kept"],
            id="nothing was judged before either",
        ),
    ],
)
def test_gate(arguments: str, status: int, lines: list[str], jobs: dict[str, Path]) -> None:
    full = arguments.replace("S=", MIN).replace("C=", "AVG_CITATIONS=").format(**jobs)
    done = command("gate", *full.split())
    assert (done.status, done.out.splitlines()) == (status, lines)
    notes = [line for line in done.err.splitlines() if ": items of 1 runs are unjudged" not in line]
    nothing = "--max-drop" in arguments and "0 of 0 items judged in every run"
    told = [note for note in notes if nothing and nothing in note]
    assert len(told) == ("{none} --baseline" in arguments)
    assert all(": with its statistics, " in note for note in notes if note not in told), notes


def test_junit(jobs: dict[str, Path], tmp_path: Path) -> None:
    path = tmp_path / "gate.xml"
    done = command("gate", jobs["worse"], "--min", f"{MIN}0.8", "--junit", path, "-q")
    assert (done.status, len(done.out.splitlines())) == (1, 1)
    suite = ElementTree.parse(path).getroot()
    # The rule, and the six responses below it.
    assert (suite.attrib["tests"], suite.attrib["failures"]) == ("7", "7")


def test_json(jobs: dict[str, Path]) -> None:
    status, found = as_json("gate", jobs["good"], "--min", f"{MIN}0.8")
    assert (status, found["passed"]) == (0, True)
    assert found["checks"] == [
        {
            "run_id": "r",
            "rule": {
                "kind": "min",
                "measure": "CITATION_SUPPORT",
                "limit": 0.8,
                "lower_is_better": False,
                "judge": "",
            },
            "broken": "",
            "no_rule": "",
        }
    ]


def test_a_high_value_is_bad_where_a_rule_says_so(jobs: dict[str, Path]) -> None:
    rules = ("--max", f"{MIN}1", "--max-drop", "0.02", "--baseline")
    lower = ("--lower-is-better", f"EXPECTED_{MIN[:-1]}")
    assert command("gate", jobs["good"], *rules, jobs["worse"]).status == 0
    done = command("gate", jobs["good"], *rules, jobs["worse"], *lower)
    assert done.status == 1
    assert "r: EXPECTED_CITATION_SUPPORT rose by 0.68" in done.out
    assert done.out.splitlines()[0].endswith("; may rise by 0.02")
    assert command("gate", jobs["worse"], *rules, jobs["good"]).status == 1
    assert command("gate", jobs["worse"], *rules, jobs["good"], *lower).status == 0


def test_without_judgments_all_measures_but_counts_are_held_and_it_is_said(
    jobs: dict[str, Path], tmp_path: Path
) -> None:
    for name in ("many", "few"):
        plain = f"{name}.leaderboard.jsonl"
        (tmp_path / plain).write_bytes((jobs[name].parent / plain).read_bytes())
    paths = (tmp_path / "few", "--baseline", tmp_path / "many", "--max-drop")
    done = command("gate", *paths, "0.02")
    assert done.status == 0
    held = "it is not known which measure ranks; all but counts are held: CITATION_ACCURACY"
    assert held in done.err
    assert command("gate", *paths, "AVG_CITATIONS=0.02").status == 1
    assert command("gate", jobs["few"], *paths[1:], "0.02").status == 0


def test_a_measure_without_a_value_on_both_sides_is_no_rule(tmp_path: Path) -> None:
    path = job(tmp_path, "x", {"r": [GOOD] * 3}, "--judge", "grounding")
    drop = ("gate", path, "--baseline", path, "--max-drop")
    done = command(*drop, "FACTUALITY_RATE=0.1", "RETRIEVAL_HIT_3=0.1")
    assert (done.status, done.out) == (0, "gate: 1 of 1 rules kept\n")
    assert "RETRIEVAL_HIT_3 has no value here or in the baseline: no rule" in done.err
    done = command(*drop, "RETRIEVAL_HIT_3=0.1")
    assert (done.status, "no rule is left: RETRIEVAL_HIT_3 has no value" in done.err) == (1, True)


def test_the_complement_of_a_measure_is_no_second_rule(tmp_path: Path) -> None:
    good = job(tmp_path, "good", {"r": [GOOD] * 8}, "--judge", "grounding")
    bad = job(tmp_path, "bad", {"r": [BAD] * 8}, "--judge", "grounding")
    drop = ("gate", bad, "--baseline", good, "--max-drop")
    done = command(*drop, "FACTUALITY_RATE=2", "HALLUCINATION_RATE=0.1")
    assert done.out.splitlines() == [
        "r: FACTUALITY_RATE fell by 1 from 1 to 0, p 0.00781 over 8 topics; may fall by 0.1",
        "gate: 0 of 1 rules kept",
    ]
    said = "HALLUCINATION_RATE falls just where FACTUALITY_RATE does, in all rows: one rule"
    assert said in done.err
    assert "HALLUCINATION_RATE rose by 1 " in command(*drop, "HALLUCINATION_RATE=0.1").out


def test_each_rule_names_its_judge_where_there_are_several(tmp_path: Path) -> None:
    judges = ("--judge", "citation,grounding")
    good = job(tmp_path, "good", {"r": [GOOD] * 8}, *judges)
    bad = job(tmp_path, "bad", {"r": [BAD] * 8}, *judges)
    done = command("gate", bad, "--baseline", good, "--max-drop", "0.05")
    assert "r: EXPECTED_CITATION_SUPPORT of citation fell by 0.9166 " in done.out
    assert "r: EXPECTED_FACTUALITY of grounding fell by 0.9094 " in done.out
    assert done.out.endswith("gate: 0 of 2 rules kept\n")


def test_a_bare_number_is_no_rule_for_a_measure_without_a_better_side(tmp_path: Path) -> None:
    both = ("--judge", "citation,length")
    old = job(tmp_path, "old", {"r": [f"{GOOD}, {GOOD}"] * 8}, *both)
    new = job(tmp_path, "new", {"r": [GOOD] * 8}, *both)
    assert command("gate", new, "--baseline", old, "--max-drop", "0.05").status == 0
    assert command("gate", new, "--baseline", old, "--max-drop", "LENGTH=0.05").status == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("5%", "--max-drop '5%': give MEASURE=NUMBER", id="no number"),
        pytest.param("-0.05", "--max-drop '-0.05': give how far", id="a number below 0"),
    ],
)
def test_a_drop_is_named_as_it_was_written(text: str, message: str, jobs: dict[str, Path]) -> None:
    drop = ("--baseline", jobs["good"], f"--max-drop={text}")
    assert command("gate", jobs["good"], *drop).err.startswith(f"error: {message}")


def test_without_statistics_it_is_said_which_way_is_taken_to_be_up(write: Write) -> None:
    old, new = write("r all M 0.5\n", "old.txt"), write("r all M 0.9\n", "new.txt")
    drop = ("gate", new, "--baseline", old, "--max-drop", "M=0.1")
    done = command(*drop, "-q")
    assert (done.status, "assumed so for M (else --lower-is-better)" in done.err) == (0, True)
    done = command(*drop, "--lower-is-better", "M")
    assert (done.status, "higher is better" in done.err) == (1, False)


def test_a_leaderboard_without_statistics_is_said_to_be_one(write: Write) -> None:
    path = write("r all M 1\n", "lb.txt")
    done = command("gate", path, "--min", "M=0.5", "-q")
    message = f"{path}: no statistics (NAME.leaderboard.jsonl) beside it: unjudged items cannot be"
    assert (done.status, done.err) == (0, f"warning: {message} seen\n")
    _, found = as_json("gate", path, "--min", "M=0.5")
    assert [finding["kind"] for finding in found["findings"]] == ["unjudged_unseen"]


def test_a_leaderboard_without_statistics_tells_what_is_unjudged(tmp_path: Path) -> None:
    path = partly_judged(tmp_path)
    done = command("gate", moved(path), "--min", f"{MIN}0.1", "-q")
    assert (done.status, done.err) == (1, "")
    assert done.out.splitlines() == [
        "b: CITATION_SUPPORT is 1, but 4 items are unjudged: it could be anything, must be at least"
        " 0.1",
        "e: CITATION_SUPPORT has no value: nothing of it was judged",
    ]
    drop = ("--baseline", path, "--max-drop", f"{MIN}0.1")
    assert "b: CITATION_SUPPORT fell by 0 from 1" in command("gate", moved(path), *drop).out


def test_statistics_of_another_leaderboard_are_not_taken(write: Write) -> None:
    statistics = (
        '{"run_id": "r", "measure": "M", "mean": 0.9, "lowest": 0.9, "highest": 0.9, "judged": 1,'
        ' "expected": 1, "lower_is_better": false}\n'
    )
    write(statistics, "x.leaderboard.jsonl")
    done = command("gate", write("r all M 0.1\n", "x.leaderboard.txt"), "--min", "M=0.05")
    assert done.status == 1
    assert "has mean 0.9, the leaderboard 0.1: they are of two jobs" in done.err


def test_a_row_that_cannot_be_read_does_not_pass(write: Write) -> None:
    path = write("r all M 1\ns all M nan\n", "lb.txt")
    done = command("gate", path, "--min", "M=0.5")
    assert done.status == 1
    assert "lb.txt:2: has value 'nan', not a number" in done.err
    assert done.out == "gate: 1 of 1 rules kept; 1 rows could not be read: it does not pass\n"
    junit = ("--junit", write("", "gate.xml"), "-q")
    command("gate", path, "--min", "M=0.5", *junit)
    suite = ElementTree.parse(junit[1]).getroot()
    assert [suite.attrib[name] for name in ("tests", "failures", "errors")] == ["2", "0", "1"]


TOPICS = "".join(f"r t{i} M 1\n" for i in range(3)) + "r all M 1\n"


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        pytest.param(
            "r t0 M 1\nr all M 1\n",
            "M has no value on 2 of 3 topics of the baseline: 't1', 't2'",
            id="some",
        ),
        pytest.param("r q0 M 1\nr all M 1\n", "M has no value on 3 of 3 topics", id="all"),
        pytest.param("r all M 1\n", "M has no value on 3 of 3 topics", id="no topics at all"),
        pytest.param(
            TOPICS.replace("all M 1", "all M 0.3"),
            "M fell by 0.7 from 1 to 0.3 in the `all` rows; may fall by 0.02",
            id="only the all row",
        ),
        pytest.param(
            TOPICS.replace("all M 1", "all M 0.5"),
            "M fell by 0.5 from 1 to 0.5 in the `all` rows; may fall by 0.02",
            id="an all row over topics that nobody answered",
        ),
        pytest.param(TOPICS.replace("M", "N"), "M is gone: the baseline has this measure", id="M"),
    ],
)
def test_what_vanished_does_not_pass(new: str, expected: str, write: Write) -> None:
    paths = (write(new, "new.txt"), "--baseline", write(TOPICS, "old.txt"))
    done = command("gate", *paths, "--max-drop", "0.02", "--all-rows", "given", "-q")
    assert (done.status, done.out.startswith(f"r: {expected}")) == (1, True)


def test_a_run_that_stops_answering_does_not_pass(tmp_path: Path) -> None:
    everything = job(tmp_path, "full", {"r": [GOOD] * 3})
    topics = tmp_path / "topics.jsonl"
    topics.write_text("".join(f'{{"id": "{t}", "title": "kettles"}}\n' for t in (1, 2, 3)))
    given = ("--rag-topics", topics)
    gone = job(tmp_path, "gone", {"r": [GOOD]}, *given)
    drop = ("gate", gone, "--baseline", everything, "--max-drop", f"{MIN}0.02")
    done = command(*drop, "-q")
    assert done.status == 1
    assert done.out.startswith("r: CITATION_SUPPORT fell by 0.6667 from 1 to 0.3333")
    status, found = as_json("compare", everything, gone, "--measure", MIN[:-1])
    (one,) = found["differences"]
    assert (status, one["topics"], one["difference"]) == (0, 3, -0.666667)
    done = command("judges", "meta", gone, "--truth", gone, "--on-missing", "common")
    assert "the `all` row is" not in done.err


@pytest.mark.parametrize(
    ("text", "expected", "option"),
    [
        ("r t0 M 1\nr all M 0.4\n", "the `all` row is 0.4, its topics give 1", "--rows all="),
        (
            "r all M 1\nr all M 0.4\n",
            "gives run 'r', topic 'all', M a second",
            "--rows duplicates=",
        ),
    ],
)
def test_rows_that_contradict_each_other_do_not_pass(
    text: str, expected: str, option: str, write: Write
) -> None:
    path = write(text, "lb.txt")
    done = command("gate", path, "--min", "M=0.5", "-q")
    assert (done.status, expected in done.err, option in done.err) == (1, True, True)
    statuses = {
        "--rows all=": {"error": 1, "given": 1, "recomputed": 0, "checked": 0},
        "--rows duplicates=": {"error": 1, "last": 1, "first": 0},
    }[option]
    for choice, status in statuses.items():
        assert (
            command("gate", path, "--min", "M=0.5", *f"{option}{choice}".split(), "-q").status
            == status
        )


def test_a_run_of_which_nothing_was_judged_does_not_pass(tmp_path: Path) -> None:
    labels = tmp_path / "labels.jsonl"
    label = '{"topic_id": "1", "run_id": "r", "sentence_index": 0, "doc_id": "k", "label": "full"}'
    labels.write_text(label)
    out = job(tmp_path, "x", {"r": [GOOD], "s": [GOOD]}, "--judgments-from", labels, status=3)
    done = command("gate", out, "--min", f"{MIN}0.5")
    assert (done.status, "s: CITATION_SUPPORT has no value: nothing" in done.out) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("{good}", "give a rule: --min, --max, or --baseline with --max-drop"),
        ("{good} --max-drop 0.1", "--baseline and --max-drop go together"),
        ("{good} --baseline {good}", "--baseline and --max-drop go together"),
        ("{good} --min X=1", "unknown measure 'X'; there are: AVG_CITATIONS"),
        ("{good} --min X", "--min 'X': give MEASURE=NUMBER"),
        ("{folder} --min X=1", "there are 9 leaderboards in it; give one of"),
    ],
)
def test_bad_input_is_one_line(arguments: str, message: str, jobs: dict[str, Path]) -> None:
    if "{folder}" in arguments:
        # Each job lies in the one output folder.
        arguments = arguments.replace("{folder}", str(jobs["good"].parent))
    done = command("gate", *arguments.format(**jobs).split())
    assert (done.status, len(done.err.splitlines())) == (1, 1)
    assert message in done.err


def test_what_a_run_is_called_is_no_command_to_a_server_and_no_line_of_ours(tmp_path: Path) -> None:
    called = "::error::x:on:\\ngate: 1 of 1 rules kept ##[error]"
    done = command("gate", job_of_one(tmp_path, called), "--min", "CITATION_SUPPORT=0.8")
    assert done.out.splitlines() == [
        r"\x3a:error::x:on:\x0agate: 1 of 1 rules kept \x23#[error]: CITATION_SUPPORT is 0,"
        " must be at least 0.8",
        "gate: 0 of 1 rules kept",
    ]


def job_of_one(folder: Path, run_id: str) -> Path:
    """Judge a run of this id whose sentences are not supported; return the job."""
    runs = folder / "runs"
    runs.mkdir()
    lines = (RECORD.format(run=run_id, topic=topic, sentences=BAD) for topic in range(1, 7))
    (runs / "r.jsonl").write_text("\n".join(lines))
    command(
        "--judge", "citation", "--rag-responses", runs, "--out-dir", folder, "--name", "x", "-q"
    )
    return folder / "x"
