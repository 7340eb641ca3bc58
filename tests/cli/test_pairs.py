"""`pairs` from the command line: verdicts, figures, a model, what is wrong with the input."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.commandline import Done, command
from tests.endpoint import attesting, serving
from tests.reading import lines_of

Write = Callable[..., Path]
DOCUMENT = "Masons built the old bridge in 1820. It burned down in the war."
PAIRS = [
    {"claim": "Masons built the old bridge.", "document": DOCUMENT, "label": "FULL", "id": "a"},
    {"claim": "Masons built the bridge and a mill.", "document": DOCUMENT, "label": "PARTIAL"},
    {"claim": "Poets praised the harbour.", "document": DOCUMENT, "label": "NONE"},
]
THREE = [record | {"topic": f"t{n}"} for n in range(8) for record in PAIRS]


def judged(path: Path, *flags: str | Path) -> tuple[Done, list[dict[str, Any]]]:
    """Return what the command ended with, and its verdicts."""
    out = path.with_name("out.jsonl")
    done = command("judges", "pairs", path, "--output", out, *flags)
    return done, [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []


def test_verdicts(write: Write) -> None:
    done, (first, second, third) = judged(write(lines_of(*PAIRS), "p.jsonl"))
    assert done.status == 0
    assert (first["id"], first["line"], second["id"], third["line"]) == ("a", 1, "2", 3)
    assert [v["label"] for v in (first, third)] == ["full_support", "no_support"]
    assert first["p_supported"] >= first["p_full"] > 0.5 > third["p_supported"]
    assert first["expected"] == pytest.approx(
        (first["p_full"] + first["p_supported"]) / 2, abs=1e-3
    )
    assert DOCUMENT[first["evidence"]["start"] : first["evidence"]["end"]].startswith("Masons")
    assert (first["attester"], first["failure"], first["human"]) == ("lexical", None, "FULL")
    assert "missing: 'Poets', 'praised', 'harbour'" in third["reason"]


def test_figures_with_intervals_over_groups(write: Write) -> None:
    done, verdicts = judged(write(lines_of(*THREE), "p.jsonl"), "--json")
    found = json.loads(done.out)
    assert (found["pairs"], found["labelled"], found["unjudged"], len(verdicts)) == (24, 24, {}, 24)
    whole = found["figures"]
    assert (whole["pairs"], whole["groups"], whole["intervals_over"]) == (24, 8, "groups")
    by_name = {figure["name"]: figure for figure in whole["figures"]}
    assert by_name["AUC, full against the rest"]["value"] == 1.0
    assert set(by_name) >= {"balanced accuracy, full", "calibration error, P(supported)"}
    assert (found["by_group"], found["groups_without_row"]) == ([], 8)
    assert [part["name"] for part in found["by_length"]] == ["up to 100 words"]


def test_the_tables(write: Write) -> None:
    path = write(
        lines_of(*(r | {"topic": "ab"[n % 2]} for n, r in enumerate(THREE * 2))), "p.jsonl"
    )
    done, _ = judged(path)
    assert done.out.splitlines()[0].split() == ["48", "labels", "all", "95", "%", "over", "pairs"]
    rows = [line.split()[:2] for line in done.out.splitlines() if line[:2] in ("a ", "b ")]
    assert rows[:2] == [["a", "24"], ["b", "24"]]
    assert "pairs: 48, 48 judged, 48 labelled\n" in done.out
    assert done.out.endswith(f"verdicts: {path.with_name('out.jsonl')}\n")


def test_a_calibration_changes_them(write: Write, tmp_path: Path) -> None:
    full = {"claim": "The bridge was built by masons.", "document": DOCUMENT, "label": "FULL"}
    three = [full, *PAIRS[1:]]
    mine = tmp_path / "c.json"
    path = write(
        lines_of(*(r | {"document": f"{n}. {DOCUMENT}"} for n in range(24) for r in three)),
        "p.jsonl",
    )
    assert command("judges", "calibrate", "--labels", path, "--out", mine).status == 0
    (_, before), (_, after) = judged(path), judged(path, "--calibration", mine)
    assert before[1]["expected"] != after[1]["expected"]


def test_packed_and_without_labels(tmp_path: Path) -> None:
    path = tmp_path / "p.json.gz"
    path.write_bytes(
        gzip.compress(json.dumps([{"text": "A mill.", "passage": "A mill."}]).encode())
    )
    done, (verdict,) = judged(path)
    assert (done.status, verdict["human"]) == (0, None)
    assert done.out.splitlines()[0] == "pairs: 1, 1 judged, 0 labelled"


@pytest.mark.parametrize(
    ("record", "kind"),
    [
        ({"claim": "Masons built it.", "document": " "}, "no_document_text"),
        ({"claim": "Каменщики построили мост.", "document": DOCUMENT}, "script"),
    ],
)
def test_what_cannot_be_judged_is_unjudged_and_in_no_figure(
    record: dict[str, str], kind: str, write: Write
) -> None:
    done, verdicts = judged(
        write(lines_of(*PAIRS, record | {"label": "FULL"}), "p.jsonl"), "--json"
    )
    assert done.status == 3
    assert (verdicts[3]["label"], verdicts[3]["failure"]["kind"]) == (None, kind)
    assert (json.loads(done.out)["unjudged"], json.loads(done.out)["figures"]["pairs"]) == (
        {kind: 1},
        3,
    )


def test_a_sentence_without_text_is_the_systems_doing(write: Write) -> None:
    done, (verdict,) = judged(write(lines_of({"claim": "", "document": DOCUMENT}), "p.jsonl"))
    assert (done.status, verdict["label"], verdict["reason"]) == (
        0,
        "no_support",
        "the sentence has no text",
    )


def test_a_sentence_that_states_nothing_is_in_no_figure(write: Write) -> None:
    record = {"claim": "Here is a summary:", "document": DOCUMENT, "label": "NONE"}
    done, verdicts = judged(write(lines_of(*PAIRS, record), "p.jsonl"), "--json")
    found = json.loads(done.out)
    assert (done.status, verdicts[3]["label"]) == (0, "nothing_to_check")
    assert (found["nothing_to_check"], found["figures"]["pairs"]) == (1, 3)


def test_strictly_it_is_full_support_or_none(write: Write) -> None:
    _, verdicts = judged(write(lines_of(*PAIRS), "p.jsonl"), "--set", "attester=strict")
    labels = ["full_support" if v["p_full"] >= 0.5 else "no_support" for v in verdicts]
    assert [v["label"] for v in verdicts] == labels
    assert {v["attester"] for v in verdicts} == {"strict"}


def test_a_label_that_is_none_leaves_its_pair_judged(write: Write) -> None:
    path = write(lines_of(*PAIRS, PAIRS[0] | {"label": "good"}), "p.jsonl")
    done, verdicts = judged(path)
    assert (done.status, verdicts[3]["label"]) == (3, "full_support")
    assert f"{path}:4: label 'good' is none of full, partial, none; supported, " in done.err
    assert "pairs: 4, 4 judged, 3 labelled" in done.out


def test_labels_that_are_numbers_are_said_to_be_read_so(write: Write) -> None:
    numbered = [r | {"label": n} for n, r in zip((2, 1, 0), PAIRS, strict=True)]
    done, _ = judged(write(lines_of(*numbered), "p.jsonl"))
    assert "labels that are numbers: 2 is taken for full support, 0 for none" in done.out


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--output", "p.jsonl"], "is one of the files to judge"),
        (["--field", "sentense=x"], "did you mean 'sentence'"),
        (["--plan"], "--plan: only with --use-env-llm"),
        (["--set", "attester=llm"], "its settings ask for a model: add --use-env-llm"),
        (["--calibration", "none.json"], "none.json: cannot be read"),
        (["--field", "sentence=nowhere"], "no pairs in it"),
    ],
)
def test_what_is_refused(
    flags: list[str], message: str, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(lines_of(*PAIRS), "p.jsonl")
    monkeypatch.chdir(path.parent)
    done = command("judges", "pairs", path, *flags)
    assert (done.status, message in done.err) == (1, True), done.err
    assert path.read_text() == lines_of(*PAIRS)
    assert not (path.parent / "verdicts.jsonl").exists()


def test_a_model_is_asked_once_a_pair_and_its_replies_are_kept(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(lines_of(*PAIRS), "p.jsonl")
    with serving(attesting("partial_support", "It burned down"), monkeypatch) as endpoint:
        plan = command("judges", "pairs", path, "--use-env-llm", "--plan", "--json")
        assert json.loads(plan.out)["calls"] == 3
        done, verdicts = judged(path, "--use-env-llm")
        again, _ = judged(path, "--use-env-llm", "--offline", "--json")
    assert (done.status, again.status, len(endpoint.requests)) == (0, 0, 3)
    start = DOCUMENT.index("It burned")
    assert verdicts[0]["evidence"] == {"start": start, "end": start + len("It burned down")}
    assert [(v["label"], v["attester"], v["p_full"]) for v in verdicts] == [
        ("partial_support", "llm", None)
    ] * 3
    figures = {f["name"]: f["value"] for f in json.loads(again.out)["figures"]["figures"]}
    assert figures["same label of three"] == pytest.approx(1 / 3, abs=1e-4)
    assert figures["AUC, supported or not"] is None


def against(path: Path, other: Path, *flags: str | Path) -> Done:
    """Judge pairs beside earlier verdicts."""
    return command(
        "judges", "pairs", path, "--output", path.with_name("o.jsonl"), "--against", other, *flags
    )


def worse(verdicts: list[dict[str, Any]], path: Path, *without: str) -> Path:
    """Write verdicts that call the pairs of the groups t0 to t3 the other way round."""
    said = {"full_support": "no_support", "no_support": "full_support"}
    for one in verdicts:
        if one["group"] < "t4":
            chances = {name: round(1 - one[name], 4) for name in ("p_full", "p_supported")}
            one |= {"label": said.get(one["label"], one["label"])} | chances
    kept = [{k: v for k, v in one.items() if k not in without} for one in verdicts]
    path.write_text(lines_of(*kept))
    return path


def test_against_itself_every_difference_is_zero(write: Write) -> None:
    path = write(lines_of(*THREE), "p.jsonl")
    judged(path)
    done = against(path, path.with_name("out.jsonl"), "--json")
    found = json.loads(done.out)["against"]
    assert (done.status, found["compared"], found["label_changed"]) == (0, 24, 0)
    assert (found["not_compared"], found["matched_by_line"]) == ({}, False)
    assert {f["difference"] for f in found["differences"]["figures"]} == {0.0}


@pytest.mark.parametrize("without", [(), ("digest",)], ids=["now", "of an earlier release"])
def test_against_worse_verdicts(without: tuple[str, ...], write: Write) -> None:
    records = [r | {"topic": f"t{n // 3}"} for n, r in enumerate(THREE)]
    path = write(lines_of(*records), "p.jsonl")
    _, verdicts = judged(path)
    other = worse(verdicts, path.with_name("other.jsonl"), *without)
    found = json.loads(against(path, other, "--json").out)["against"]
    by_name = {figure["name"]: figure for figure in found["differences"]["figures"]}
    same, auc = by_name["same label"], by_name["AUC, full against the rest"]
    # 4 of 8 groups have two of three labels wrong there, the third is as it was.
    assert same["this"] - same["other"] == pytest.approx(8 / 24, abs=2e-4)
    assert same["difference"] == pytest.approx(8 / 24, abs=1e-4)
    assert auc["difference"] > 0.2 and 0 < same["low"] < same["difference"] < same["high"]
    assert by_name["Brier score, P(supported)"]["difference"] < 0
    assert by_name["Brier score, P(supported)"]["lower_is_better"]
    assert (found["differences"]["intervals_over"], found["label_changed"]) == ("pairs", 8)
    assert found["matched_by_line"] == bool(without)


def test_the_table_of_differences(write: Write) -> None:
    path = write(
        lines_of(*(r | {"topic": "ab"[n % 2]} for n, r in enumerate(THREE * 2))), "p.jsonl"
    )
    _, verdicts = judged(path)
    other = path.with_name("other.jsonl")
    other.write_text(lines_of(*verdicts[3:], verdicts[0] | {"digest": "none", "id": "x"}))
    done = against(path, other)
    rows = done.out.splitlines()
    (head,) = (row for row in rows if row.startswith("45 labels"))
    assert " ".join(head.split()) == "45 labels this other this - other 95 % over pairs"
    assert any(row.startswith("same label") and "+0.000" in row for row in rows)
    assert f"against {other}: 45 pairs compared, 0 have another label than there" in rows
    assert "not compared: 3 pairs, the other file has no verdict on them" in rows
    assert "not compared: 1 pair, only the other file has them" in rows
    assert sum("this - other, by group" in " ".join(row.split()) for row in rows) <= 1


def test_files_that_are_not_the_groups_have_rows_too(write: Write) -> None:
    one = write(lines_of(*THREE), "one.jsonl")
    two = write(lines_of(*(r | {"claim": f"{r['claim']} So."} for r in THREE)), "two.jsonl")
    out = one.with_name("out.jsonl")
    assert command("judges", "pairs", one, two, "--output", out).status == 0
    given = ("--against", out, "--output", one.with_name("o.jsonl"), "--json")
    found = json.loads(command("judges", "pairs", one, two, *given).out)["against"]
    assert [part["name"] for part in found["by_file"]] == [str(one), str(two)]
    alone = json.loads(against(two, out, "--json").out)["against"]
    assert (alone["compared"], alone["not_compared"], alone["by_file"]) == (
        24,
        {"only_other": 24},
        [],
    )


def test_a_model_beside_words_has_no_auc_but_labels(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(lines_of(*THREE), "p.jsonl")
    judged(path)
    with serving(attesting("partial_support", "It burned down"), monkeypatch):
        done = against(path, path.with_name("out.jsonl"), "--use-env-llm", "--json")
    figures = json.loads(done.out)["against"]["differences"]["figures"]
    by_name = {figure["name"]: figure for figure in figures}
    assert by_name["AUC, supported or not"]["difference"] is None
    assert by_name["AUC, supported or not"]["labels"] == 0
    assert by_name["same label"]["this"] == pytest.approx(1 / 3, abs=1e-4)


def test_pairs_without_labels_are_said_not_to_be_compared(write: Write) -> None:
    path = write(
        lines_of(*({k: v for k, v in r.items() if k != "label"} for r in PAIRS)), "p.jsonl"
    )
    judged(path)
    done = against(path, path.with_name("out.jsonl"))
    assert (done.status, "not compared: 3 pairs, without a label of people\n" in done.out) == (
        0,
        True,
    )


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (PAIRS, "v.jsonl:1: a pair to judge, not a verdict: first judge the file"),
        (
            [{"topic_id": "t1", "label": "FULL"}],
            "v.jsonl:1: no verdict of `judges pairs`: it lacks id",
        ),
        ([], "v.jsonl: no verdicts in it"),
    ],
)
def test_against_a_wrong_file_nothing_is_judged(
    other: list[dict[str, Any]], message: str, write: Write
) -> None:
    path, wrong = write(lines_of(*PAIRS), "p.jsonl"), write(lines_of(*other), "v.jsonl")
    done = against(path, wrong)
    assert (done.status, message in done.err) == (1, True), done.err
    assert not path.with_name("o.jsonl").exists()


def test_against_verdicts_on_other_pairs(write: Write) -> None:
    path = write(lines_of(*PAIRS), "p.jsonl")
    judged(write(lines_of({"claim": "It rains.", "document": "It rains."}), "q.jsonl"))
    done = against(path, path.with_name("out.jsonl"))
    assert done.status == 1
    assert f"out.jsonl: no pair in common with {path}. Its first verdict is on line 1" in done.err
    assert path.with_name("o.jsonl").exists()


def test_the_earlier_verdicts_are_not_written_over(write: Write) -> None:
    path = write(lines_of(*PAIRS), "p.jsonl")
    judged(path)
    out = path.with_name("out.jsonl")
    before = out.read_text()
    done = command("judges", "pairs", path, "--output", out, "--against", out)
    assert (done.status, "is the file of --against; give another" in done.err) == (1, True)
    assert out.read_text() == before


def test_beyond_the_budget_pairs_are_unjudged(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(attesting(), monkeypatch):
        done, verdicts = judged(
            write(lines_of(*PAIRS), "p.jsonl"), "--use-env-llm", "--max-calls", "2"
        )
    assert done.status == 3
    assert sorted(v["failure"]["kind"] for v in verdicts if v["failure"]) == ["budget"]
    assert "unjudged: 1 pairs, budget, in no figure; the first:" in done.out


def test_settings_of_a_model_that_nobody_asks_are_said(tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text('{"sentence": "It whistles.", "document": "It whistles."}')
    given = (tmp_path / "p.jsonl", "--set", "llm.seed=1", "--output", tmp_path / "o.jsonl")
    done = command("judges", "pairs", *given)
    assert "warning: no model is asked without --use-env-llm: llm.seed has no effect" in done.err
