"""Two files of labels brought together: qrels, judgments, labels of people."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.commandline import SAMPLES, command, judge, sample
from tests.reading import Write
from tests.show.html.made import nuggets_output
from trecjudge.errors import InputError
from trecjudge.evaluation.agreement import (
    Agreement,
    AgreementOptions,
    OneSidedItems,
    agree,
    agreements,
)
from trecjudge.evaluation.people import PeopleAgreement
from trecjudge.findings import Finding, ignore
from trecjudge.records import Place


def agreed(
    truth: Path, predicted: Path, threshold: int = 1, on_missing: OneSidedItems = "common"
) -> Agreement:
    findings: list[Finding] = []
    found = agree(truth, predicted, findings.append, AgreementOptions(threshold, on_missing))
    assert findings == []
    return found


def figure(found: Agreement, name: str) -> float | None:
    return {f.name: f.pooled for f in found.figures}[name]


@pytest.fixture
def qrels(write: Write) -> tuple[Path, Path]:
    """Return the qrels of the case where a topic has no relevant document."""
    return (
        write("t1 0 d1 1\nt1 0 d2 0\n t2 0 d1 0\n", "truth.qrels"),
        write("t1 0 d1 1\nt1 0 d3 1\nt2 0 d1 0\n", "pred.qrels"),
    )


def test_documents_of_both_sides_are_compared(qrels: tuple[Path, Path]) -> None:
    found = agreed(*qrels)
    assert (found.items, found.topics, found.only_truth, found.only_predicted) == (2, 2, 1, 1)
    assert (found.labels, found.confusion) == (["0", "1"], [[1, 0], [0, 1]])


def test_qrels_of_json_are_qrels(qrels: tuple[Path, Path], write: Write) -> None:
    path = write('{"t1": {"d1": 1, "d3": 1}, "t2": {"d1": 0}}', "pred.json")
    assert agreed(qrels[0], path).confusion == agreed(*qrels).confusion


def test_a_topic_without_relevant_documents_stays_in_the_mean(qrels: tuple[Path, Path]) -> None:
    precision = next(f for f in agreed(*qrels).figures if f.name == "precision")
    assert precision.by_topic == {"t1": 1.0, "t2": 1.0}
    assert (precision.mean, precision.topics_defined) == (1.0, 2)


def test_a_document_of_one_side_can_count_as_not_relevant(qrels: tuple[Path, Path]) -> None:
    found = agreed(*qrels, on_missing="zero")
    assert (found.items, found.confusion) == (4, [[2, 1], [0, 1]])
    precision = next(f for f in found.figures if f.name == "precision")
    assert precision.by_topic == {"t1": 0.5, "t2": 1.0}


def test_or_be_an_error(qrels: tuple[Path, Path]) -> None:
    with pytest.raises(InputError, match=r"1 items are only in .*truth.qrels, 1 only in .*pred"):
        agreed(*qrels, on_missing="error")


def test_nothing_in_common(write: Write) -> None:
    with pytest.raises(InputError, match=r"no item in common: there such as \('t', 'd'\), here"):
        agreed(write("t 0 d 1\n", "a"), write("u 0 d 1\n", "b"))


def test_grades_that_nobody_gave_keep_their_distance(write: Write) -> None:
    found = agreed(write("t 0 a 0\nt 0 b 3\n", "a"), write("t 0 a 0\nt 0 b 2\n", "b"))
    assert found.labels == ["0", "1", "2", "3"]


def test_qrels_that_name_runs_are_compared_by_run(write: Write) -> None:
    text = "t r1 d 2\nt r2 d 0\n"
    by_run = agreed(write(text, "a"), write(text, "b"))
    assert by_run.items == 2
    pooled = agreed(write(text, "a"), write("t 0 d 2\n", "b"))
    assert (pooled.items, figure(pooled, "accuracy")) == (1, 1.0)


@pytest.mark.parametrize(("threshold", "precision"), [(1, 0.5), (2, 1.0)])
def test_from_which_grade_on_a_document_is_relevant(
    threshold: int, precision: float, write: Write
) -> None:
    sides = write("t 0 a 2\nt 0 b 0\n", "a"), write("t 0 a 2\nt 0 b 1\n", "b")
    assert figure(agreed(*sides, threshold=threshold), "precision") == precision


def test_grades_far_apart_are_only_ordered(write: Write) -> None:
    found = agreed(write("t 0 a 0\nt 0 b 1e30\n", "a"), write("t 0 a 7\nt 0 b 1e30\n", "b"))
    assert found.labels == ["0", "7", str(int(1e30))]


def test_decimal_grades_give_an_auc(write: Write) -> None:
    truth = write("t 0 a 2\nt 0 b 0\nt 0 c 1\nu 0 a 0\n", "truth.qrels")
    predicted = write("t 0 a 1.9\nt 0 b 0.45\nt 0 c 0.5\nu 0 a 0.7\n", "pred.qrels")
    found = agreed(truth, predicted)
    assert found.labels == ["0", "1", "2"]
    assert found.confusion == [[1, 1, 0], [0, 1, 0], [0, 0, 1]]
    assert figure(found, "auc") == 0.75  # 1.9 and 0.5 against 0.45 and 0.7


def test_whole_grades_give_none(write: Write) -> None:
    found = agreed(write("t 0 a 1\nt 0 b 0\n", "a"), write("t 0 a 1.0\nt 0 b 2\n", "b"))
    assert "auc" not in {f.name for f in found.figures}


def test_a_grade_that_is_none_is_found(write: Write) -> None:
    findings: list[Finding] = []
    sides = write("t 0 a 1\nt 0 b nan\nt 0 c x\n", "a"), write("t 0 a 1\n", "b")
    assert agree(*sides, findings.append).items == 1
    assert [str(f).rpartition("/")[2] for f in findings] == [
        "a:2: has grade 'nan'",
        "a:3: has grade 'x'",
    ]


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the citation judge on sample data."""
    folder = tmp_path_factory.mktemp("job")
    sample("rag", folder, "-q")
    return folder


LABELS = SAMPLES / "rag" / "labels.jsonl"


@pytest.mark.parametrize("name", ["", "x", "x.judgments.jsonl"])
def test_judgments_against_labels_of_people(job: Path, name: str) -> None:
    found = agreed(LABELS, job / name)
    assert (found.items, found.topics, found.only_truth, found.only_predicted) == (38, 3, 0, 1)
    assert found.labels == ["no_support", "partial_support", "full_support"]
    accuracy = figure(found, "accuracy")
    assert accuracy is not None and accuracy > 0.9


def test_judgments_against_qrels(job: Path, tmp_path: Path) -> None:
    found = agreed(job / "x.qrels", job / "x")
    assert figure(found, "accuracy") == 1.0
    assert found.only_truth == found.only_predicted == 0


def label(index: int, text: str) -> str:
    return (
        f'{{"topic_id": "t", "run_id": "r", "sentence_index": {index}, "doc_id": "d",'
        f' "label": "{text}"}}\n'
    )


def test_labels_may_be_one_array(write: Write) -> None:
    lines = (label(0, "full").strip(), label(1, "none").strip())
    for text in (f"[{', '.join(lines)}]", "[\n" + ",\n".join(lines) + "\n]\n"):
        path = write(text, "labels.json")
        assert agreed(path, path).items == 2


def test_labels_that_are_no_grades(write: Write) -> None:
    truth = write(label(0, "ATTRIBUTED") + label(1, "CONTRADICTED"), "a.jsonl")
    predicted = write(label(0, "ATTRIBUTED") + label(1, "AMBIGUOUS"), "b.jsonl")
    found = agreed(truth, predicted)
    assert found.labels == ["AMBIGUOUS", "ATTRIBUTED", "CONTRADICTED"]
    assert [f.name for f in found.figures] == ["accuracy", "kappa", "alpha_nominal"]
    with pytest.raises(InputError, match="label 'ATTRIBUTED' is no grade; qrels hold grades"):
        agreed(truth, write("t 0 d 1\n", "q"))


def test_verdicts_that_only_look_like_labels_of_support_stay_as_they_are(write: Write) -> None:
    truth = write(label(0, "yes") + label(1, "no"), "a.jsonl")
    assert agreed(truth, truth).labels == ["no", "yes"]
    with pytest.raises(InputError, match="--rows missing=zero: no, yes are no grades"):
        agreed(truth, truth, on_missing="zero")


def test_the_words_of_others_for_support_are_known(write: Write) -> None:
    truth = write(label(0, "FULL") + label(1, "No Support"), "a.jsonl")
    predicted = write(label(0, "full_support") + label(1, "partial"), "b.jsonl")
    found = agreed(truth, predicted)
    assert found.confusion == [[0, 1, 0], [0, 0, 0], [0, 0, 1]]


@pytest.mark.parametrize(
    ("labels", "bad", "message"),
    [
        (("full", "None", "partial"), "maybe", "'maybe' is no label of support (full, partial, no"),
        (("2", "0", "1"), "?", "'?' is no grade"),
    ],
)
def test_one_label_that_cannot_be_used_is_named_and_left_out(
    labels: tuple[str, ...], bad: str, message: str, write: Write
) -> None:
    findings: list[Finding] = []
    good = [label(i, text) for i, text in enumerate(labels)]
    sides = (
        write("".join([*good, label(3, bad)]), "a"),
        write("".join([*good, label(3, labels[0])]), "b"),
    )
    found = agree(*sides, findings.append)
    assert (found.items, figure(found, "accuracy")) == (3, 1.0)
    assert "kappa_linear" in {one.name for one in found.figures}
    (finding,) = findings
    assert (finding.place, message in finding.message) == (Place(str(sides[0]), 4), True)


def test_an_item_of_one_side_counts_0_even_where_nobody_gave_0(write: Write) -> None:
    truth, predicted = write("t 0 a 1\nt 0 b 2\n", "a"), write("t 0 a 1\n", "b")
    found = agreed(truth, predicted, on_missing="zero")
    assert (found.labels, found.confusion[2]) == (["0", "1", "2"], [1, 0, 0])
    truth = write(label(0, "full") + label(1, "partial"), "c")
    found = agreed(truth, write(label(0, "full"), "d"), on_missing="zero")
    assert found.labels == ["no_support", "partial_support", "full_support"]
    assert found.confusion[1] == [1, 0, 0]


def test_claims_of_one_sentence_are_items_of_their_own(tmp_path: Path) -> None:
    sample("rag", tmp_path, "-q", "--judge", "attribution")
    text = (tmp_path / "x.judgments.jsonl").read_text()
    found = agreed(tmp_path, tmp_path)
    assert found.items == text.count('"record":"judgment"')


def test_of_several_claims_with_one_label_key_most_labels_count(
    tmp_path: Path,
) -> None:
    sample("rag", tmp_path, "-q", "--judge", "attribution")
    path = tmp_path / "x.judgments.jsonl"
    records = [json.loads(line) for line in path.read_text().splitlines()]
    judged = [record for record in records if record["record"] == "judgment"]
    for place, record in enumerate(judged):
        record["label"] = "ATTRIBUTED" if place % 2 else "AMBIGUOUS"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    labels = (json.dumps(record) + "\n" for record in judged)
    (tmp_path / "labels.jsonl").write_text("".join(labels))
    findings: list[Finding] = []
    found = agree(tmp_path / "labels.jsonl", path, findings.append)
    keys = {(r["topic_id"], r["run_id"], r["sentence_index"], r["doc_id"]) for r in judged}
    assert found.items == len(keys) - found.tied[0] < len(judged)
    files = {finding.place.path for finding in findings if finding.kind == "labels_tied"}
    assert files == {str(tmp_path / "labels.jsonl")}


def test_an_item_on_which_people_are_divided_is_left_out(write: Write) -> None:
    findings: list[Finding] = []
    truth = write(label(0, "full") + label(1, "none") + label(0, "none"), "a.jsonl")
    found = agree(truth, write(label(0, "full") + label(1, "none"), "b.jsonl"), findings.append)
    assert (found.items, found.only_predicted, found.tied) == (1, 1, (1, 0))
    assert [(one.kind, one.place.line) for one in findings] == [
        ("people_unnamed", None),
        ("labels_tied", 3),
    ]


def test_of_an_item_that_is_judged_twice_the_first_judgment_counts(
    job: Path, tmp_path: Path
) -> None:
    lines = (job / "x.judgments.jsonl").read_text().splitlines()
    at = next(i for i, line in enumerate(lines) if '"label":"full_support"' in line)
    lines.insert(at + 1, lines[at].replace("full_support", "no_support"))
    end = json.loads(lines[-1])
    lines[-1] = json.dumps(end | {"judgments": end["judgments"] + 1})
    path = tmp_path / "twice.judgments.jsonl"
    path.write_text("\n".join(lines) + "\n")
    findings: list[Finding] = []
    found = agree(job, path, findings.append)
    assert figure(found, "accuracy") == 1.0
    (finding,) = findings
    assert (finding.kind, finding.place) == ("label_duplicate", Place(str(path), at + 2))
    assert f"{path}:{at + 1} labels it 'full_support': the first counts" in finding.message


def test_what_is_measured_of_a_response_is_no_label_of_it(tmp_path: Path) -> None:
    sample("rag", tmp_path, "-q", "--judge", "citation_score")
    assert agreed(tmp_path, tmp_path).items == 27


def test_a_document_that_is_graded_twice_has_its_highest_grade(write: Write) -> None:
    findings: list[Finding] = []
    truth = write("t 0 a 2\nt 0 b 0\nt 0 a 0\n", "a")
    found = agree(truth, write("t 0 a 2\nt 0 b 0\n", "b"), findings.append)
    assert figure(found, "accuracy") == 1.0
    (finding,) = findings
    assert (finding.kind, finding.place) == ("grade_duplicate", Place(str(truth), 3))
    assert f"'a' 0, {truth}:1 gives it 2: the highest counts" in finding.message


def test_a_score_of_the_judge_gives_an_auc(tmp_path: Path) -> None:
    sample("rag", tmp_path, "-q", "--judge", "direct_prompt")
    lines = (tmp_path / "x.judgments.jsonl").read_text().splitlines()
    assert any('"value":0.' in line for line in lines)
    truth = tmp_path / "labels.jsonl"
    truth.write_text(
        "".join(
            f'{{"topic_id": "{t}", "run_id": "{r}", "label": "{g}"}}\n'
            for t in ("11", "12", "13")
            for r, g in (("careful", 3), ("uncited", 0))
        )
    )
    found = agreed(truth, tmp_path)
    assert found.items == 6
    assert figure(found, "auc") is not None


def nuggets(folder: Path, **labels: str) -> Path:
    nuggets_output(folder, **labels)
    return folder


def test_nuggets_of_one_response_are_items_of_their_own(tmp_path: Path) -> None:
    truth, predicted = nuggets(tmp_path / "a", r="sspn"), nuggets(tmp_path / "b", r="snp?")
    found = agreed(truth, predicted)
    assert found.labels == ["not_support", "partial_support", "support"]
    assert (found.items, found.only_truth) == (3, 1)
    assert found.confusion == [[0, 0, 0], [0, 1, 0], [1, 0, 1]]
    assert figure(found, "kappa_linear") is not None
    assert agreed(truth, predicted, on_missing="zero").confusion[0] == [1, 0, 0]


@pytest.mark.parametrize("labels", ["ppps", "nppp", "cpps"])
def test_labels_of_nuggets_stand_for_themselves(labels: str, tmp_path: Path) -> None:
    job = nuggets(tmp_path, r=labels)
    found = agreed(job, job)
    assert (found.items, figure(found, "accuracy")) == (4, 1.0)


def nugget_label(name: str, text: str) -> str:
    return f'{{"topic_id": "t1", "run_id": "r", {name} "label": "{text}"}}\n'


@pytest.mark.parametrize(
    ("name", "items"),
    [
        pytest.param('"nugget_id": "2",', 1, id="by id"),
        pytest.param('"nugget": "2",', 1, id="by id under the other key"),
        pytest.param('"nugget": "The tower  is 34 M high.",', 1, id="by text"),
        pytest.param('"nugget": "The tower",', 0, id="by another text"),
        pytest.param("", 0, id="on the whole response"),
    ],
)
def test_a_label_is_on_the_nugget_that_it_names(
    name: str, items: int, tmp_path: Path, write: Write
) -> None:
    labels = write(nugget_label(name, "partial_support"), "labels.jsonl")
    job = nuggets(tmp_path / "job", r="spnn")
    if items:
        found = agreed(labels, job)
        assert (found.items, figure(found, "accuracy"), found.only_predicted) == (1, 1.0, 3)
    else:
        with pytest.raises(InputError, match="no item in common"):
            agreed(labels, job)


CITED = """{"metadata": {"team_id": "t", "run_id": "r", "topic_id": "%s"}, "responses": [
{"text": "Steam makes the whistle.", "citations": ["a"]},
{"text": "Poets praised it.", "citations": ["a"]}, {"text": "It is old.", "citations": ["z"]}],
"documents": {"a": {"text": "A whistle is made by steam."}}}
"""


def test_the_expected_weight_of_words_gives_an_auc(write: Write, tmp_path: Path) -> None:
    runs = write("".join(" ".join((CITED % t).split()) + "\n" for t in "12"), "runs/r.jsonl")
    judge(runs.parent, tmp_path / "out", "-q")
    # The third cites a document that is not there: it counts 0, and the figure stays.
    labels = "".join(
        f'{{"topic_id": "{t}", "run_id": "r", "sentence_index": {i}, "doc_id": "{d}",'
        f' "label": "{label}"}}\n'
        for t in "12"
        for i, d, label in ((0, "a", "full"), (1, "a", "none"), (2, "z", "none"))
    )
    found = agreed(write(labels, "labels.jsonl"), tmp_path / "out")
    assert (found.items, figure(found, "auc")) == (6, 1.0)
    qrels = write("1 0 a 2\n1 0 z 0\n2 0 a 2\n2 0 z 0\n", "truth.qrels")
    assert figure(agreed(qrels, tmp_path / "out" / "x.judgments.jsonl"), "auc") == 1.0


SUPPORTED = ("full_support", "partial_support", "no_support")


@pytest.mark.parametrize(
    ("words", "called"),
    [
        (("supported", "partially_supported", "not_supported"), SUPPORTED),
        (("FULL", "PARTIAL", "NONE"), SUPPORTED),
        (("2", "1", "0"), SUPPORTED),
        (("1", "0.5", "0"), SUPPORTED),
        (("entailment", "neutral", "contradiction"), ("full_support", "no_support", "no_support")),
        (("Yes", "no", "No"), ("full_support", "no_support", "no_support")),
        (("1", "0", "0"), ("full_support", "no_support", "no_support")),
        (("true", "false", "false"), ("full_support", "no_support", "no_support")),
        (
            ("faithful", "hallucinated", "hallucinated"),
            ("full_support", "no_support", "no_support"),
        ),
        (
            ("Attributable", "not attributable", "Contradictory"),
            ("full_support", "no_support", "no_support"),
        ),
    ],
    ids=lambda words: words[0],
)
def test_other_words_and_numbers_for_support_are_called_as_the_judge_calls_them(
    words: tuple[str, ...], called: tuple[str, ...], write: Write
) -> None:
    findings: list[Finding] = []
    truth = write("".join(label(i, word) for i, word in enumerate(words)), "a.jsonl")
    predicted = write("".join(label(i, name) for i, name in enumerate(SUPPORTED)), "b.jsonl")
    found = agree(truth, predicted, findings.append)
    places = [found.labels.index(name) for name in called]
    assert [found.confusion[place][2 - i] for i, place in enumerate(places)].count(0) == 0
    assert {f.kind for f in findings} <= {"labels_called"}
    assert found.maps[str(truth)] == {
        word: name for word, name in zip(words, called, strict=True) if word.casefold() not in TRACK
    }


TRACK = ("full", "partial", "none", "no")


def test_people_are_called_as_the_judge_whichever_side_they_are(tmp_path: Path) -> None:
    rag = SAMPLES / "rag"
    sample("rag", tmp_path, "--judge", "support", "-q")
    words = {"full_support": "Yes", "partial_support": "Partly", "no_support": "No"}
    text = (rag / "labels.jsonl").read_text()
    people = tmp_path / "people.jsonl"
    people.write_text(re.sub("|".join(words), lambda found: words[found[0]], text))
    figures = [
        figure(agree(*sides, ignore), "accuracy")
        for sides in ((people, tmp_path / "x"), (tmp_path / "x", people), (people, people))
    ]
    assert figures == [1.0, 1.0, 1.0]
    assert agree(people, people, ignore).labels == [
        "no_support",
        "partial_support",
        "full_support",
    ]


def test_two_labels_of_people_beside_three_of_a_judge_are_told(write: Write) -> None:
    findings: list[Finding] = []
    truth = write(label(0, "Yes") + label(1, "No"), "a.jsonl")
    predicted = write(label(0, "full_support") + label(1, "partial_support"), "b.jsonl")
    found = agree(truth, predicted, findings.append)
    assert found.confusion == [[0, 1, 0], [0, 0, 0], [0, 0, 1]]
    (finding,) = findings
    said = "Yes -> full_support; partial_support is none of them, and agrees with none"
    assert finding.message == said


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (("good", "bad"), ("full_support", "no_support")),
        (("good", "bad"), ("fine", "poor")),
        (("0", "3"), ("full_support", "no_support")),
        (("relevant", "off topic"), ("3", "0")),
    ],
)
def test_words_that_nobody_knows_stop_with_both_lists(
    theirs: tuple[str, str], ours: tuple[str, str], write: Write
) -> None:
    truth = write(label(0, theirs[0]) + label(1, theirs[1]), "a.jsonl")
    predicted = write(label(0, ours[0]) + label(1, ours[1]), "b.jsonl")
    with pytest.raises(InputError, match="--map") as stopped:
        agree(truth, predicted, pytest.fail)
    assert all(word in str(stopped.value) for word in (*theirs, "0" if "3" in ours else ours[1]))
    words = dict(zip(theirs, ours, strict=True))
    assert figure(agree(truth, predicted, ignore, AgreementOptions(words=words)), "accuracy") == 1.0


def test_judges_that_disagree_with_people_on_everything_are_no_other_words(write: Write) -> None:
    truth = write(label(0, "full") + label(1, "none"), "a.jsonl")
    predicted = write(label(0, "none") + label(1, "full"), "b.jsonl")
    assert figure(agree(truth, predicted, pytest.fail), "kappa") == -1.0


@pytest.mark.parametrize(("grade", "right"), [("1\n", 1.0), ("2\n", 0.0)], ids=["two", "three"])
def test_yes_is_the_highest_grade_of_qrels_of_two(grade: str, right: float, write: Write) -> None:
    truth = write(label(0, "Yes"), "a.jsonl")
    qrels = write(f"t r d {grade}u r d 0\n", "q.qrels")
    found = agree(truth, qrels, lambda _: None)
    assert figure(found, "accuracy") == (1.0 if right or grade == "2\n" else 0.0)


JUDGES = ("citation", "direct_prompt", "length")


def test_each_judge_has_its_figures_whatever_the_order(tmp_path: Path) -> None:
    made = []
    for names in (JUDGES, JUDGES[::-1]):
        sample("rag", tmp_path / names[0], "-q", "--judge", ",".join(names))
        told: list[str] = []
        found = agreements(LABELS, tmp_path / names[0], ignore, notify=told.append)
        made.append([one.as_dict() | {"predicted": ""} for one in found])
        assert [one.judge for one in found] == ["citation"]
        assert [line.partition(":")[0] for line in told] == ["judge direct_prompt", "judge length"]
    assert made[0] == made[1]
    with pytest.raises(InputError, match="citation, direct_prompt, length; name one"):
        agree(LABELS, tmp_path / "citation", ignore)
    named = AgreementOptions(judge="citation")
    assert agree(LABELS, tmp_path / "citation", ignore, named).judge == "citation"
    with pytest.raises(InputError, match="unknown judge 'x'; there are: citation, direct_prompt"):
        agree(LABELS, tmp_path / "citation", ignore, AgreementOptions(judge="x"))


def test_two_jobs_of_several_judges_are_compared_by_name(tmp_path: Path) -> None:
    for names in ("citation,support", "support,citation"):
        sample("rag", tmp_path / names, "-q", "--judge", names)
    found = agreements(tmp_path / "citation,support", tmp_path / "support,citation", ignore)
    assert [(one.judge, figure(one, "accuracy")) for one in found] == [
        ("citation", 1.0),
        ("support", 1.0),
    ]


# Rows of items, columns of people, - for no label.
OF_PEOPLE = {"p": "01100", "q": "0110-", "r": "0011-"}
WORDS = {"0": "no_support", "1": "full_support"}


def records(said: dict[str, str], **keys: str) -> str:
    return "".join(
        json.dumps(
            {"topic_id": "t", "run_id": "r", "sentence_index": i, "doc_id": "d"}
            | {"label": WORDS[one]}
            | dict.fromkeys(keys, person)
        )
        + "\n"
        for person, row in said.items()
        for i, one in enumerate(row)
        if one != "-"
    )


def compared(
    write: Write, said: dict[str, str], judge: str, key: str = "annotator"
) -> PeopleAgreement:
    truth = write(records(said, **({key: ""} if key else {})), "truth.jsonl")
    found = agree(truth, write(records({"j": judge}), "judged.jsonl"), ignore)
    assert found.people is not None
    return found.people


@pytest.mark.parametrize("key", ["annotator", "assessor_id", "rater", "WorkerId", "labeled_by"])
def test_people_among_themselves(key: str, write: Write) -> None:
    found = compared(write, OF_PEOPLE, "01100", key)
    assert (found.items, found.several, found.tied) == (5, 4, 0)
    # By hand: of 12 labels 6 are 1; 2 of 4 items are alike; 1 - (11 * 4) / (2 * 6 * 6).
    assert found.alpha == pytest.approx(1 - 11 * 4 / 72, abs=1e-6)
    assert [(a, b, both.items, both.accuracy) for a, b, both in found.pairs] == [
        ("p", "q", 4, 1.0),
        ("p", "r", 4, 0.5),
        ("q", "r", 4, 0.5),
    ]


def test_the_judge_beside_each_person_and_the_rest(write: Write) -> None:
    found = compared(write, OF_PEOPLE, "00110")
    persons = {one.name: one for one in found.persons}
    assert (persons["p"].with_judge.items, persons["p"].with_judge.accuracy) == (5, 0.6)
    assert persons["r"].with_judge.accuracy == 1.0
    # Without r the others say 0110; without p they are divided on the second and the fourth item.
    assert (persons["r"].with_rest.items, persons["r"].with_rest.accuracy) == (4, 0.5)
    assert (persons["r"].judge_with_rest.items, persons["r"].judge_with_rest.accuracy) == (4, 0.5)
    assert (persons["p"].with_rest.items, persons["p"].with_rest.accuracy) == (2, 1.0)


def test_people_without_names_are_in_alpha_only(write: Write) -> None:
    found = compared(write, OF_PEOPLE, "01100", key="")
    assert (found.several, found.pairs, found.persons) == (4, [], [])
    assert found.alpha == pytest.approx(1 - 11 * 4 / 72, abs=1e-6)


def test_one_person_is_no_people(write: Write) -> None:
    truth = write(records({"p": "010"}, annotator=""), "truth.jsonl")
    assert agree(truth, truth, ignore).people is None


def test_how_long_each_person_took(tmp_path: Path) -> None:
    folder = tmp_path / "people"
    folder.mkdir()
    lines = [
        {"run_id": "r", "topic_id": str(n), "label": "1", "labeller": "anna", "seconds": seconds}
        for n, seconds in enumerate([10, 20.5, 60, "nan", -1, None])
    ]
    skipped = {"run_id": "r", "topic_id": "9", "skipped": "unclear", "labeller": "anna"}
    text = "\n".join(
        map(json.dumps, [*lines, skipped | {"seconds": 30}, lines[0] | {"seconds": 4}])
    )
    (folder / "anna.jsonl").write_text(text)
    (folder / "ben.csv").write_text("topic_id,run_id,label,seconds\n1,r,1,90\n2,r,0,30.5\n3,r,1,\n")
    (folder / "cai.jsonl").write_text('{"run_id": "r", "topic_id": "1", "label": "1"}')
    found = agree(folder, folder / "anna.jsonl", ignore)
    assert [one.as_dict() for one in found.time] == [
        {"person": "anna", "items": 4, "seconds": 120.5, "median": 25.2},
        {"person": "ben", "items": 2, "seconds": 120.5, "median": 60.2},
    ]
    done = command("labels", "agree", "--labels", folder, folder / "anna.jsonl")
    assert "time: anna 2.0 min on 4 items, median 25.2 s" in done.out
    assert "time:" not in command("labels", "agree", "--labels", folder / "cai.jsonl", folder).out


def test_a_column_of_second_labels_is_a_second_person(shared: Path) -> None:
    labels = shared / "data/rag25_support/labels.jsonl"
    found = agree(labels, labels, ignore)
    assert found.people is not None
    (pair,) = found.people.pairs
    assert (*pair[:2], pair[2].items) == ("label", "label_2", 511)
    assert (found.items, found.tied) == (4515, (20, 20))
