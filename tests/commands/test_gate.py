"""`gate` on real jobs: exit status, one line a broken rule, JUnit, unjudged items."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.commandline import command
from tests.commands.jobs import BAD, GOOD, as_json, job
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
        "wobbly": job(folder, "wobbly", {"r": [GOOD] * 7 + [BAD]}),
        "open": job(folder, "open", {"r": [GOOD] * 8}, *given, status=3),
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
            "{wobbly} --baseline {good} --max-drop S=0.02",
            0,
            ["gate: 1 of 1 rules kept"],
            id="a drop that may be noise",
        ),
        pytest.param(
            "{wobbly} --baseline {good} --max-drop S=0.02 --strict",
            1,
            [
                "r: CITATION_SUPPORT fell by 0.125 from 1 to 0.875, p 1 over 8 topics; may fall by"
                " 0.02",
                "gate: 0 of 1 rules kept",
            ],
            id="counts if strict",
        ),
        pytest.param(
            "{good} --baseline {worse} --max-drop 0.02",
            0,
            ["gate: 5 of 5 rules kept"],
            id="all measures where none is named",
        ),
        pytest.param(
            "{good} --baseline {worse} --min S=0.5 --max-drop 0.02",
            0,
            ["gate: 2 of 2 rules kept"],
            id="those of the other rules",
        ),
    ],
)
def test_gate(arguments: str, status: int, lines: list[str], jobs: dict[str, Path]) -> None:
    full = arguments.replace("S=", MIN).replace("C=", "AVG_CITATIONS=").format(**jobs)
    done = command("gate", *full.split())
    assert (done.status, done.out.splitlines(), done.err) == (status, lines, "")


def test_junit(jobs: dict[str, Path], tmp_path: Path) -> None:
    path = tmp_path / "gate.xml"
    done = command("gate", jobs["worse"], "--min", f"{MIN}0.8", "--junit", path, "-q")
    assert (done.status, len(done.out.splitlines())) == (1, 1)
    suite = ElementTree.parse(path).getroot()
    assert (suite.attrib["tests"], suite.attrib["failures"]) == ("1", "1")


def test_json(jobs: dict[str, Path]) -> None:
    status, found = as_json("gate", jobs["good"], "--min", f"{MIN}0.8")
    assert (status, found["passed"]) == (0, True)
    assert found["checks"] == [
        {
            "run_id": "r",
            "rule": {"kind": "min", "measure": "CITATION_SUPPORT", "limit": 0.8},
            "broken": "",
        }
    ]


def test_a_high_value_is_bad_where_a_rule_says_so(jobs: dict[str, Path]) -> None:
    rules = ("--max", f"{MIN}1", "--max-drop", "0.02", "--baseline", jobs["worse"])
    done = command("gate", jobs["good"], *rules)
    assert done.status == 1
    assert "r: CITATION_SUPPORT rose by 0.75" in done.out


def test_a_leaderboard_without_statistics_is_said_to_be_one(write: Write) -> None:
    done = command("gate", write("r all M 1\n", "lb.txt"), "--min", "M=0.5")
    assert done.status == 0
    assert "no statistics (NAME.leaderboard.jsonl) beside it: unjudged items cannot" in done.out


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
    done = command("gate", write("r all M 1\ns all M nan\n", "lb.txt"), "--min", "M=0.5")
    assert done.status == 1
    assert "lb.txt:2: has value 'nan', not a number" in done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("{good}", "give a rule: --min, --max, or --baseline with --max-drop"),
        ("{good} --max-drop 0.1", "--baseline and --max-drop go together"),
        ("{good} --baseline {good}", "--baseline and --max-drop go together"),
        ("{good} --min X=1", "unknown measure 'X'; there are: AVG_CITATIONS"),
        ("{good} --min X", "--min 'X': give MEASURE=NUMBER"),
        ("{folder} --min X=1", "there are 4 leaderboards in it; give one of"),
    ],
)
def test_bad_input_is_one_line(arguments: str, message: str, jobs: dict[str, Path]) -> None:
    if "{folder}" in arguments:
        # Each job lies in the one output folder.
        arguments = arguments.replace("{folder}", str(jobs["good"].parent))
    done = command("gate", *arguments.format(**jobs).split())
    assert (done.status, len(done.err.splitlines())) == (1, 1)
    assert message in done.err
