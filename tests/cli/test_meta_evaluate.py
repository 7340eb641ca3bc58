"""`meta-evaluate`, `agree`, `label-next` and `convert` from the command line."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.cli.jobs import as_json, moved, partly_judged
from tests.commandline import command, sample
from tests.reading import Write

HUMAN = "r1\tall\tH\t0.9\nr2\tall\tH\t0.7\nr3\tall\tH\t0.5\nr4\tall\tH\t0.3\nr5\tall\tH\t0.1\n"
JUDGE = "r2\tall\tS\t0.4\nr3\tall\tS\t0.3\nr4\tall\tS\t0.2\nr5\tall\tS\t0.1\n"
NAN = "r1\tall\tH\t0.9\nr2\tall\tH\t0.8\nr3\tall\tH\t0.7\nr4\tall\tH\t0.6\n"
TAU = ("--correlation", "kendall")


def tau(found: dict[str, object]) -> float | None:
    (pair,) = found["pairs"]  # type: ignore[misc]
    value: float | None = pair["correlations"]["kendall"]["value"]
    return value


def test_a_run_on_one_side_only_is_no_perfect_correlation(write: Write) -> None:
    paths = (write(JUDGE, "judge.txt"), "--truth", write(HUMAN, "truth.txt"))
    done = command("judges", "meta", *paths)
    assert done.status == 1
    assert "has no scores of 1 run: 'r1'; --rows missing=common leaves them out" in done.err
    status, found = as_json("meta-evaluate", *paths, *TAU, "--on-missing", "zero")
    assert (status, tau(found)) == (0, 0.2)
    assert found["findings"][0]["kind"] == "run_one_sided"
    status, found = as_json("meta-evaluate", *paths, *TAU, "--on-missing", "common")
    assert (status, tau(found), found["pairs"][0]["runs"]) == (0, 1.0, 4)


def test_a_header_is_recognised(write: Write) -> None:
    header = write("run topic measure value\nr1\tt1\tS\t1.0\n", "lb.txt")
    done = command("job", "convert", header, header.with_name("new"), "--to", "ir_measures")
    assert (done.status, done.err) == (0, f"leaderboard: {header.with_name('new')}\n")
    assert header.with_name("new").read_text() == "r1\tt1\tS\t1.0\n"


def test_topic_1_is_topic_1_whatever_its_type(write: Write) -> None:
    record = '{"run_id": "r%d", "topic_id": %s, "measure": "S", "value": %s}\n'
    judge = "".join(record % (r, t, (11 - 2 * r) / 10) for r in range(1, 6) for t in (1, 2))
    truth = "".join(f"r{r}\t{t}\tH\t{(11 - 2 * r) / 10}\n" for r in range(1, 6) for t in (1, 2))
    sides = (write(judge, "judge.jsonl"), "--truth", write(truth, "truth.txt"))
    more = ("--truth-format", "ir_measures")
    status, found = as_json("meta-evaluate", *sides, *TAU, *more, "--all-rows", "recomputed")
    assert (status, tau(found), found["pairs"][0]["topics"]) == (0, 1.0, 2)


def test_nan_is_found_and_never_written(write: Write) -> None:
    judge = write("r1\tall\tS\tnan\nr2\tall\tS\t0.5\nr3\tall\tS\t0.4\nr4\tall\tS\t0.3\n", "lb.txt")
    sides = (judge, "--truth", write(NAN, "truth.txt"))
    done = command("judges", "meta", *sides)
    assert (done.status, "'r1'" in done.err) == (1, True)
    status, found = as_json("meta-evaluate", *sides, "--on-missing", "common")
    assert status == 3  # a row was left out
    assert "lb.txt:1: has value 'nan', not a number" in found["findings"][0]["message"]
    assert "NaN" not in json.dumps(found)


def test_what_was_left_out_is_told_before_an_error_too(write: Write) -> None:
    done = command("judges", "meta", write("r all M x\n", "a"), "--truth", write(NAN, "t"))
    assert done.status == 1
    first, last = done.err.splitlines()
    assert first.endswith("a:1: has value 'x', not a number")
    assert last.endswith("a: no scores in it; give a leaderboard")


def test_nothing_to_convert(write: Write, tmp_path: Path) -> None:
    done = command("job", "convert", write("", "a"), tmp_path / "b", "--to", "csv")
    assert (done.status, "no scores in it" in done.err) == (1, True)
    assert not (tmp_path / "b").exists()


def test_qrels_with_a_topic_without_relevant_documents(write: Write) -> None:
    truth = write("t1 0 d1 1\nt1 0 d2 0\n t2 0 d1 0\n", "truth.qrels")
    predicted = write("t1 0 d1 1\nt1 0 d3 1\nt2 0 d1 0\n", "pred.qrels")
    status, found = as_json("agree", "--truth", truth, "--predicted", predicted)
    precision = next(f for f in found["figures"] if f["figure"] == "precision")
    assert (status, precision["by_topic"]) == (0, {"t1": 1.0, "t2": 1.0})
    done = command("labels", "agree", "--truth", truth, "--predicted", predicted, "--by-topic")
    assert "agreement: 2 items of 2 topics; 1 only in the truth" in done.out


@pytest.mark.parametrize(
    ("case", "judge", "status", "expected"),
    [
        (
            "40_missing_run_meta",
            "judge.txt",
            1,
            "has no scores of 1 run: 'r1'; --rows missing=common",
        ),
        ("45_jsonl_int_topic", "judge.jsonl", 0, "run 'r1', HUMAN: the `all` row is 0.9, its"),
        ("47_nan_value", "lb.txt", 1, "has no scores of 1 run: 'r1'; --rows missing=common"),
    ],
)
def test_the_cases_of_the_folder(
    case: str, judge: str, status: int, expected: str, shared: Path
) -> None:
    folder = shared / "cases" / case
    done = command("judges", "meta", folder / judge, "--truth", folder / "truth.txt")
    assert (done.status, expected in done.err) == (status, True)


def opposed(name: str, upside_down: bool) -> str:
    """Return five runs on six topics, the first the best; their `all` rows may say the reverse."""
    rows = ""
    for run in range(1, 6):
        values = [(6 - run) / 10 + topic / 100 for topic in range(6)]
        rows += "".join(f"r{run}\tt{t}\t{name}\t{value}\n" for t, value in enumerate(values))
        rows += f"r{run}\tall\t{name}\t{run / 10 + 0.5 if upside_down else sum(values) / 6}\n"
    return rows


def only_all(text: str) -> str:
    return "".join(line for line in text.splitlines(keepends=True) if "\tall\t" in line)


@pytest.mark.parametrize("name", ["ir_measures", "tot", "trec_eval", "rag4reports", "jsonl", "csv"])
@pytest.mark.parametrize(
    ("judge", "truth"),
    [
        pytest.param(opposed("S", True), opposed("H", False), id="judge"),
        pytest.param(opposed("S", False), opposed("H", True), id="truth"),
        pytest.param(opposed("S", True), opposed("H", True), id="both"),
        pytest.param(opposed("S", True), only_all(opposed("H", False)), id="truth without topics"),
    ],
)
def test_all_rows_that_topics_contradict_score_nothing(
    judge: str, truth: str, name: str, write: Write, tmp_path: Path
) -> None:
    sides = write(judge, "judge.txt"), write(truth, "truth.txt")
    for side in sides:
        command("job", "convert", side, tmp_path / f"{side.name}.{name}", "--to", name)
    paths = (tmp_path / f"judge.txt.{name}", "--truth", tmp_path / f"truth.txt.{name}")
    status, found = as_json("meta-evaluate", *paths)
    (pair,) = found["pairs"]
    values = {n: c["value"] for n, c in pair["correlations"].items()}
    assert (status, set(values.values())) == (0, {1.0})
    assert "all_row_differs" in {f["kind"] for f in found["findings"]}
    _, again = as_json("meta-evaluate", *paths, *TAU, "--all-rows", "recomputed")
    assert again["pairs"] == [pair | {"correlations": {"kendall": pair["correlations"]["kendall"]}}]
    _, given = as_json("meta-evaluate", *paths, *TAU, "--all-rows", "given")
    assert tau(given) == (1.0 if "all\tH\t0.6" in truth and "all\tS\t0.6" in judge else -1.0)
    refused = command("judges", "meta", *paths, "--all-rows", "error")
    assert (refused.status, "its topics give" in refused.err) == (1, True)


@pytest.mark.parametrize(("duplicates", "wanted"), [("first", 1.0), ("last", 1.0)])
def test_nor_where_a_second_all_row_contradicts_them(
    duplicates: str, wanted: float, write: Write
) -> None:
    judge = opposed("S", False) + only_all(opposed("S", True))
    sides = write(judge, "judge.txt"), "--truth", write(opposed("H", False), "truth.txt")
    _, found = as_json("meta-evaluate", *sides, *TAU, "--duplicates", duplicates)
    assert tau(found) == wanted


def test_means_and_sums_in_one_measure_contradict_each_other(write: Write) -> None:
    means = "".join(f"r{r}\t{t}\tS\t{r / 10}\n" for r in range(1, 5) for t in (1, 2))
    means += "".join(f"r{r}\tall\tS\t{r / 10}\n" for r in range(2, 5)) + "r1\tall\tS\t0.2\n"
    truth = "".join(f"r{r}\tall\tH\t{r}\n" for r in range(1, 5))
    status, found = as_json("meta-evaluate", write(means, "j"), "--truth", write(truth, "t"), *TAU)
    assert (status, tau(found)) == (0, 1.0)
    assert [f["kind"] for f in found["findings"] if "r1" in f["message"]] == ["all_row_differs"]


AGGREGATES = {"max": max, "min": min, "sum": sum, "mean_of_floats": lambda v: sum(v) / len(v)}


@pytest.mark.parametrize("how", AGGREGATES)
@pytest.mark.parametrize("all_rows", ["checked", "recomputed"])
def test_statistics_show_how_topics_make_a_mean(how: str, all_rows: str, write: Write) -> None:
    topics = {"a": [0.9, 0.1, 0.2], "b": [0.8, 0.7, 0.0], "c": [0.3, 0.3, 0.6]}
    plain, lines = "", ""
    for run, values in topics.items():
        mean = round(AGGREGATES[how](values), 6)
        by_topic = {f"t{place}": value for place, value in enumerate(values)}
        plain += "".join(f"{run}\t{topic}\tM\t{v}\n" for topic, v in by_topic.items())
        plain += f"{run}\tall\tM\t{mean}\n"
        record = {"run_id": run, "measure": "M", "mean": mean, "lowest": mean, "highest": mean}
        more = {"judged": 3, "expected": 3, "lower_is_better": False, "by_topic": by_topic}
        lines += json.dumps(record | more | {"aggregate": how}) + "\n"
    write(lines, "x.leaderboard.jsonl")
    judge = write(plain, "x.leaderboard.txt")
    truth = write("".join(f"{run}\tall\tH\t{i}\n" for i, run in enumerate("cba")), "t")
    sides = (judge, "--truth", truth, *TAU, "--all-rows", all_rows)
    _, found = as_json("meta-evaluate", *sides)
    means = {one["run_id"]: one["predicted"] for one in found["pairs"][0]["means"]}
    assert means == {run: pytest.approx(AGGREGATES[how](v), abs=1e-6) for run, v in topics.items()}
    assert "all_row_differs" not in {f["kind"] for f in found["findings"]}
    assert found["statistics"][str(judge.parent / "x")] == str(judge.parent / "x.leaderboard.jsonl")


def test_what_is_unjudged_is_said(tmp_path: Path) -> None:
    path = partly_judged(tmp_path)
    truth = tmp_path / "truth.txt"
    truth.write_text("".join(f"{run}\tall\tH\t{i}\n" for i, run in enumerate("edcba")))
    wanted = ("--measure", "CITATION_SUPPORT", *TAU, "--on-missing", "common")
    for judge, of_b in (
        (path, {"items": 4, "expected": 6, "lowest": 0.333333, "highest": 1.0}),
        (moved(path), {"items": 4, "expected": None, "lowest": None, "highest": None}),
    ):
        out = ("--output", tmp_path / "o.jsonl", "--svg", tmp_path / "svg")
        status, found = as_json("meta-evaluate", judge, "--truth", truth, *wanted, *out)
        (pair,) = found["pairs"]
        assert (status, pair["measure"], pair["runs"]) == (0, "CITATION_SUPPORT", 4)
        assert pair["unjudged"] == {"truth": None, "predicted": 4}
        assert next(m for m in pair["means"] if m["run_id"] == "b")["unjudged"]["predicted"] == of_b
        assert json.loads((tmp_path / "o.jsonl").read_text()) == pair
        assert {"items_unjudged", "run_one_sided"} <= {f["kind"] for f in found["findings"]}
        for picture in (tmp_path / "svg").iterdir():
            assert "items of the run are unjudged" in picture.read_text()
            assert "unjudged 4" in picture.read_text()
    done = command("judges", "meta", path, "--truth", truth, *wanted)
    table = done.out.splitlines()
    assert table[0].startswith("CITATION_SUPPORT by ") and "orders 4 runs as H does" in table[0]
    assert table[-1].split()[-2:] == ["4", "n/a"]  # unjudged, and unjudged in the truth
    assert "CITATION_SUPPORT: items of 2 runs are unjudged: 'b' 4 of 6 (0.3333 to 1)" in done.err
    assert f"note: {path}: with its statistics, {path}.leaderboard.jsonl" in done.err


def test_a_constant_judge_is_no_agreement(write: Write) -> None:
    constant = "".join(f"r{i}\tall\tS\t1\n" for i in range(1, 6))
    sides = (write(constant, "judge.txt"), "--truth", write(HUMAN, "truth.txt"))
    status, found = as_json("meta-evaluate", *sides, *TAU)
    assert (status, tau(found)) == (0, None)
    done = command("judges", "meta", *sides, *TAU, "--strict")
    assert (done.status, "S is the same for all 5 runs" in done.err) == (1, True)
    assert "n/a" in done.out


@pytest.fixture
def doubled(write: Write) -> tuple[Path, str, Path]:
    """Return a judge with two values of one run, and a truth without."""
    judge = HUMAN.replace("H", "S") + "r1\tall\tS\t0\n"
    return write(judge, "judge.txt"), "--truth", write(HUMAN, "truth.txt")


@pytest.mark.parametrize(("duplicates", "wanted"), [("first", 1.0), ("last", 0.2)])
def test_which_of_two_values_counts(
    duplicates: str, wanted: float, doubled: tuple[Path, str, Path]
) -> None:
    _, found = as_json("meta-evaluate", *doubled, *TAU, "--duplicates", duplicates)
    assert tau(found) == wanted
    assert [f["kind"] for f in found["findings"]] == ["row_duplicate"]


def test_a_duplicate_can_be_an_error(doubled: tuple[Path, str, Path]) -> None:
    done = command("judges", "meta", *doubled, "--duplicates", "error")
    assert (done.status, "judge.txt:6: gives run 'r1'" in done.err) == (1, True)


def test_plots_and_lines(write: Write, tmp_path: Path) -> None:
    judge = write(HUMAN.replace("H", "a/../b"), "judge.txt")
    sides = (judge, "--truth", write(HUMAN, "truth.txt"))
    into = ("--svg", tmp_path / "svg", "--output", tmp_path / "meta.jsonl")
    done = command("judges", "meta", *sides, *into)
    assert done.status == 0
    pictures = sorted((tmp_path / "svg").iterdir())
    assert [p.name for p in pictures] == [
        "01-judge.txt-a_.._b-H.bump.svg",
        "01-judge.txt-a_.._b-H.scatter.svg",
    ]
    assert all(ElementTree.parse(p).getroot().tag.endswith("svg") for p in pictures)
    (line,) = (tmp_path / "meta.jsonl").read_text().splitlines()
    assert json.loads(line)["correlations"]["tauap_b"]["value"] == 1.0


def test_a_job_is_evaluated_by_its_folder(tmp_path: Path) -> None:
    sample("rag", tmp_path, "-q")
    status, found = as_json("meta-evaluate", tmp_path, "--truth", tmp_path / "x", *TAU)
    taus = {
        p["measure"]: p["correlations"]["kendall"]["value"]
        for p in found["pairs"]
        if p["measure"] == p["truth_measure"]
    }
    assert (status, len(found["pairs"])) == (0, 36)
    assert set(taus.values()) <= {1.0, None}


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        ("--correlation kendal", 1, "unknown correlation 'kendal'; did you mean 'kendall'"),
        ("--truth-measure X", 1, "unknown measure 'X'; there are: H"),
        ("--measure X", 1, "unknown measure 'X'; there are: S"),
        ("--on-missing skip", 2, "unknown value 'skip'; there are: common, error, zero"),
        ("--svg {file}/x", 1, "cannot be made"),
    ],
)
def test_bad_input(arguments: str, status: int, message: str, write: Write) -> None:
    judge = write(HUMAN.replace("H", "S"), "judge.txt")
    truth = write(HUMAN, "truth.txt")
    options = arguments.format(file=judge).split()
    done = command("judges", "meta", judge, "--truth", truth, *options)
    assert done.status == status
    assert message in " ".join(done.err.replace("│", " ").split())


def test_what_to_label_next_can_be_filled_in(tmp_path: Path) -> None:
    sample("rag", tmp_path, "-q", "--judge", "support")
    path = tmp_path / "next.jsonl"
    done = command("labels", "next", tmp_path, "--budget", "4", "--output", path)
    *table, gain, last = done.out.splitlines()
    assert (done.status, len(table)) == (0, 5)
    assert gain == "gain: on WEIGHTED_PRECISION of judge support; --measure names another"
    assert last.startswith("what their labels would buy is not known: give those")
    records = [json.loads(line) for line in path.read_text().splitlines()]
    assert {record["label"] for record in records} == {None}
    filled = "".join(json.dumps(r | {"label": "full"}) + "\n" for r in records)
    path.write_text(filled)
    done = command("job", "rescore", tmp_path / "x.judgments.jsonl", "--human", path)
    assert "labels of people: 4 given, 4 of them on judged items" in done.out
    status, found = as_json("label-next", tmp_path, "--human", path)
    assert (status, len(found["items"])) == (0, 29)


def test_what_to_label_for_calibration(tmp_path: Path) -> None:
    sample("rag", tmp_path, "-q", "--judge", "support")
    path = tmp_path / "next.jsonl"
    asked = ("label-next", tmp_path, "--for", "calibration", "--budget", "4")
    done = command(*asked, "--output", path)
    assert (done.status, done.out.splitlines()[0].split()[-1]) == (0, "expected")
    records = [json.loads(line) for line in path.read_text().splitlines()]
    assert [r["label"] for r in records] == [None] * 4
    assert all(0 <= r["expected"] <= 1 and r["doc_id"] and r["text"] for r in records)
    assert "--measure and --by random are for the ranking" in command(*asked, "--random").err


@pytest.mark.parametrize("name", ["ir_measures", "tot", "rag4reports", "jsonl", "csv"])
def test_a_leaderboard_in_another_format_and_back(name: str, tmp_path: Path) -> None:
    sample("rag", tmp_path, "-q")
    command("job", "convert", tmp_path, tmp_path / "there", "--to", name)
    command("job", "convert", tmp_path / "there", tmp_path / "back", "--to", "csv")
    command("job", "convert", tmp_path, tmp_path / "direct", "--to", "csv")
    assert (tmp_path / "back").read_text() == (tmp_path / "direct").read_text()
    assert len((tmp_path / "back").read_text().splitlines()) == 71


@pytest.mark.parametrize("name", ["ir_measures", "tot", "trec_eval", "rag4reports", "jsonl", "csv"])
def test_what_is_unjudged_is_kept_by_every_format(name: str, tmp_path: Path) -> None:
    path = partly_judged(tmp_path)
    done = command("job", "convert", path, tmp_path / "there", "--to", name)
    assert "items of 2 runs are unjudged: 'b' 4 of 6 (0.3333 to 1), 'e' 6 of 6" in done.err
    done = command("job", "convert", tmp_path / "there", tmp_path / "back", "--to", "ir_measures")
    assert "rows of MEASURE.unjudged count what is unjudged; no bounds are known" in done.err
    rows = (tmp_path / "back").read_text().splitlines()
    assert "b\tall\tCITATION_SUPPORT.unjudged\t4.0" in rows
    assert "e\tall\tCITATION_SUPPORT.unjudged\t6.0" in rows
    plain = Path(f"{path}.leaderboard.txt").read_text().splitlines()
    assert len(rows) == len(plain)


def test_statistics_cover_rows_that_have_no_companions(tmp_path: Path) -> None:
    path = partly_judged(tmp_path)
    plain = Path(f"{path}.leaderboard.txt")
    whole = plain.read_text().splitlines(keepends=True)
    plain.write_text("".join(line for line in whole if ".unjudged" not in line))
    assert command("job", "convert", path, tmp_path / "c", "--to", "ir_measures").status == 0
    assert "e\tall\tCITATION_SUPPORT.unjudged\t6.0\n" in (tmp_path / "c").read_text()
    plain.unlink()
    command("job", "convert", path, tmp_path / "d", "--to", "ir_measures")
    assert "e\tall\tCITATION_SUPPORT.unjudged\t6.0\n" in (tmp_path / "d").read_text()


OF_A_TOOL = """user_input,response,retrieved_contexts,faithfulness
When did it open?,It opened in 2021.,['The tram opened in 2021.'],1.0
Who paid?,The Duke of Norland paid for it.,['The council paid.'],0.0
How long is it?,It is 3 km long. It has nine wheels.,['The line is 3 km long.'],0.5
Is it fast?,It runs at 30 km an hour.,['It runs at 30 km an hour.'],
"""


def test_scores_of_another_tool_are_compared_answer_by_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("theirs.csv").write_text(OF_A_TOOL)
    assert (
        command("judge", "theirs.csv", "--judge", "grounding", "--name", "ours", "-q").status == 0
    )
    asked = ("judges", "meta", "out/ours", "--truth", "theirs.csv", "measure=faithfulness")
    done = command(*asked, "--by", "answer", "--measure", "FACTUALITY_RATE", "--json")
    (pair,), findings = (json.loads(done.out)[name] for name in ("pairs", "findings"))
    assert "is-it-fast" in findings[0]["message"]
    assert pair["runs"] == 3
    assert pair["correlations"]["kendall"]["value"] == 1
