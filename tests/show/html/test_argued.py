"""ARGUE's way to its verdict on a sentence: in `show`, in the page's data, in a browser."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.commandline import command
from tests.fakes import judgment, response
from tests.show.html.argued import ANSWERED, JUDGED, LINES
from tests.show.html.browser import Open
from tests.show.html.made import output, report
from trecjudge.records import LEFT_OUT, Failure, Judgment
from trecjudge.show.html.entries import Entries
from trecjudge.show.tones import paths_by_judge

ARGUED = [replace(j, judge="argue") for j in JUDGED]


def own(judgments: list[Judgment], judge: str = "argue") -> list[Judgment]:
    """Return judgments as those of a judge."""
    return [replace(j, judge=judge) for j in judgments]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the report on a response with a sentence for each way."""
    made = output(tmp_path_factory.mktemp("argued"), (ANSWERED, JUDGED), judge="argue")
    return report(made).path


@pytest.mark.parametrize(("index", "line"), list(enumerate(LINES)), ids=LINES)
def test_the_way_of_a_sentence_in_a_line(index: int, line: str) -> None:
    assert paths_by_judge(ANSWERED, ARGUED)["argue"][index].line == line


def test_show_has_a_line_for_each_sentence(tmp_path: Path) -> None:
    output(tmp_path, (ANSWERED, JUDGED), judge="argue")
    done = command("show", tmp_path, "--run", "r", "--topic", "t1")
    shown = [" ".join(line.split()) for line in done.out.splitlines()]
    assert [line for line in shown if " → " in line] == LINES
    assert shown[shown.index(LINES[0]) - 1] == "1 ✓ It is 34 m, or 112 feet, high."
    assert shown[shown.index("12 · It is far.") + 1] == "· CUT (argue)"


def test_one_answer_and_no_bank() -> None:
    run = response(("It is high.", ["d1"]), ("It is high.", ["d1"]))
    no_bank = judgment(sentence_index=None, failure=Failure("not_given", "no bank"))
    cited = [j for j in ARGUED if j.doc_id == "d1" and j.sentence_index == 0]
    stated = next(j for j in ARGUED if j.nugget and j.nugget.answer == "34 m")
    (one, other) = paths_by_judge(run, [*cited, stated])["argue"]
    assert one.line == "cited → attested by all → states 1 answer → rewarded"
    assert other.line == "cited → attested by all? → unjudged"
    (one, _) = paths_by_judge(run, own([*cited, no_bank]))["argue"]
    assert one.line == "cited → attested by all → states an answer? → unjudged"
    assert one.as_dict()["steps"][-1] == ["states", None, "no bank"]


@pytest.mark.parametrize(
    ("judge", "has_paths"),
    [("argue", True), ("trecjudge.judges.argue:ArgueJudge", True), ("nuggets", False), ("", False)],
)
def test_only_argue_has_paths(judge: str, has_paths: bool) -> None:
    assert list(paths_by_judge(ANSWERED, own(JUDGED, judge))) == [judge] * has_paths
    assert ("paths" in Entries().response(ANSWERED, own(JUDGED, judge), {})) == has_paths


def test_the_data_of_the_page() -> None:
    others = own(JUDGED[:2], "citation")
    found = Entries().response(ANSWERED, [*others, *ARGUED], {})["paths"]
    assert [path["sentence"] for path in found["argue"]] == list(range(11))
    assert found["argue"][0] == {
        "sentence": 0,
        "outcome": "reward",
        "steps": [["cited", True], ["attested", True], ["states", True]],
        "stated": [17, 18],
    }
    assert found["argue"][3]["steps"][1] == ["attested", None, "d2: <b>no label</b>"]
    assert found["argue"][8] == {
        "sentence": 8,
        "outcome": "ignore",
        "steps": [
            ["cited", False],
            ["negative", False],
            ["needs_citation", True, "sentence 0 says so"],
            ["first", False, "sentence 0 says so"],
        ],
    }


def test_without_document_text_no_reason_of_a_model_is_kept() -> None:
    bare = Entries(document_text=False).response(ANSWERED, ARGUED, {})["paths"]["argue"]
    assert bare[1]["steps"][1] == ["attested", False, f"d2: {LEFT_OUT}"]
    assert bare[3]["steps"][1] == ["attested", None, f"d2: {LEFT_OUT}"]


def test_a_path_opens_where_it_is_asked_for(page: Path, open_page: Open) -> None:
    browser = open_page(page, "#/response/r/t1")
    assert len(browser.all(".path summary")) == 11
    assert browser.all(".path ol") == []
    browser.find("[data-sentence='0'] .path summary").click()
    assert browser.text("[data-sentence='0'] .path").splitlines() == [
        "how it was judged",
        "Does it cite anything? yes",
        "Does everything that it cites attest it? yes",
        "Does it state an answer to a nugget? yes",
        "How high is it? answer: 34 m",
        "How high is it? answer: 112 feet",
        "→ ✓ rewarded",
    ]


def test_a_chosen_sentence_shows_its_path(page: Path, open_page: Open) -> None:
    browser = open_page(page, "#/response/r/t1/6")
    assert browser.text("[data-sentence='3'] .path").splitlines()[1:] == [
        "Does it cite anything? yes",
        "Does everything that it cites attest it? ? unjudged d2: <b>no label</b>",
        "→ ? unjudged",
    ]
    assert len(browser.all(".path ol")) == 1
    browser.go_to_judgment(12)
    (shown,) = browser.all(".path[open]")
    assert shown.text.splitlines()[1:] == [
        "Does it cite anything? no",
        "Does it say that something is not so, or not known? no",
        "Does it need a citation? yes it claims something",
        "Is it the first to say so? yes it claims something",
        "→ ✗ penalised",
    ]


def test_a_path_that_a_reader_opened_stays_open(page: Path, open_page: Open) -> None:
    browser = open_page(page, "#/response/r/t1")
    browser.find("[data-sentence='2'] .path summary").click()
    browser.go_to_judgment(4)
    browser.go_to_judgment(12)
    opened = "[...document.querySelectorAll('.path[open]')]"
    indexes = f"return {opened}.map((path) => path.closest('li').dataset.sentence)"
    assert browser.run(indexes) == ["2", "9"]
    assert browser.text("[data-sentence='2'] .path").endswith("→ · ignored")


def test_a_job_without_argue_has_no_path(nuggets_page: Path, open_page: Open) -> None:
    browser = open_page(nuggets_page, "#/response/high/t1")
    assert browser.find(".sentences") and browser.all(".path") == []
