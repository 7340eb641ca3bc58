"""The response view in the terminal."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console

from tests.commandline import command, sample
from tests.fakes import judgment, response
from tests.show.html.made import nuggets_output, on_nuggets, output
from trecjudge.records import FULL, NONE, AskedNugget, Claim, Failure, Source
from trecjudge.show.terminal import response_view


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the sample data of RAG, judged."""
    folder = tmp_path_factory.mktemp("shown")
    sample("rag", folder, "-q")
    return folder


def lines(text: str) -> list[str]:
    """Return lines with single spaces, those without text left out."""
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def test_sentences_citations_and_evidence(folder: Path) -> None:
    done = command("show", folder, "--run", "careless", "--topic", "12")
    shown = lines(done.out)
    summary = "citation: 5 of 7 no_support, 1 missing document, 1 full_support"
    assert (done.status, shown[:2]) == (0, [summary, "careless on 12"])
    assert shown[2].startswith("1 ✗ Masons from the village of Orvick finished the lighthouse")
    assert shown[4] == "✗ msmarco_v2.1_doc_99_130001#0_230001 no_support (citation)"
    assert shown[5].startswith("18 % of the sentence's weight is in the document; missing:")
    assert any(
        line.startswith("[21-311] “Cinderloaf was founded in February 1998") for line in shown
    )
    assert "∅ 9 missing document (citation)" in shown


def test_claims_failures_and_hostile_text(tmp_path: Path) -> None:
    source = Source("d", 3, 9, "a\npassage")
    judged = [
        judgment("ATTRIBUTED", claim=Claim(0, "A claim.", 0), match="EXACT", sources=(source,)),
        judgment(failure=Failure("parse", "no\x1b[31m label", 3)),
        judgment("fits", sentence_index=None, value=12.5),
    ]
    output(tmp_path, (response(("[b]S\u202e.[/b]", [])), judged), judge="length")
    shown = lines(command("show", tmp_path, "--run", "r", "--topic", "t1").out)
    assert shown[:2] == ["length: 1 of 2 ATTRIBUTED, 1 unjudged", "r on t1"]
    assert shown[2:] == [
        "· fits 12.500 (length)",
        "1 ✓? [b]S\\x202e.[/b]",
        "✓ ATTRIBUTED EXACT (length)",
        "claim: A claim.",
        "[3-9] “a passage”",
        "? unjudged (length)",
        "parse: no\\x1b[31m label",
    ]


def test_each_judge_has_a_sign_of_its_own() -> None:
    failed = judgment(judge="b", failure=Failure("cut", ""))
    judged = [judgment(FULL, judge="a"), judgment(NONE, judge="b"), failed]
    console = Console(width=60)
    with console.capture() as captured:
        console.print(response_view(response(("One.", []), ("Two.", [])), judged))
    shown = [line for line in lines(captured.get()) if line[0] in "s12"]
    assert shown == ["signs by a, b", "1 ✓✗? One.", "2 ·· Two."]


def test_a_response_without_a_sentence(tmp_path: Path) -> None:
    output(tmp_path, (response(), []), judge="length")
    done = command("show", tmp_path, "--run", "r", "--topic", "t1")
    assert lines(done.out) == ["r on t1", "the response has no sentence"]


@pytest.mark.parametrize(
    ("run", "topic", "expected"),
    [
        ("carefull", "12", "unknown run 'carefull'; did you mean 'careful'?"),
        ("careful", "99", "run 'careful' has no response on it: unknown topic '99'"),
    ],
)
def test_the_choices_are_named(run: str, topic: str, expected: str, folder: Path) -> None:
    done = command("show", folder, "--run", run, "--topic", topic)
    assert (done.status, expected in done.err) == (1, True)


def test_nuggets_that_a_response_states_and_lacks(tmp_path: Path) -> None:
    nuggets_output(tmp_path, r="nsc?")
    done = command("show", tmp_path, "--run", "r", "--topic", "t1")
    assert lines(done.out)[:2] == [
        "nuggets: 1 of 4 not stated, 1 contradicted, 1 stated, 1 unjudged",
        "r on t1",
    ]
    assert lines(done.out)[2:] == [
        "1 · Tin lines it.",
        "2 · It was lit in 1871.",
        "nuggets: 1 stated, 1 contradicted, 1 not stated, 1 unjudged",
        "✓ stated (nuggets)",
        "nugget, vital: The tower is 34 m high.",
        "why 2",
        "[24-33] “in 1871.”",
        "in sentence 2",
        "≠ contradicted (nuggets)",
        "nugget, vital: It was lit in 1871.",
        "why 3",
        "✗ not stated (nuggets)",
        "nugget, okay: A keeper lived there.",
        "why 1",
        "? unjudged (nuggets)",
        "nugget, okay: Its lamp burned oil.",
        "parse: no label",
        "why 4",
    ]


def test_a_nugget_cannot_steer_the_terminal(tmp_path: Path) -> None:
    nugget = AskedNugget("1", "[red]\x1b[31mA\u202e", "\x1b[2J", "\x1b[0m")
    output(tmp_path, (response(("S.", [])), on_nuggets("n", [nugget])), judge="nuggets")
    done = command("show", tmp_path, "--run", "r", "--topic", "t1")
    assert "nugget, \\x1b[2J: [red]\\x1b[31mA\\x202e \\x1b[0m" in lines(done.out)
