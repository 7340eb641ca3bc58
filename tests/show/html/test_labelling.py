"""The pages to label on: what is in them, who gets which items, and labels that come back."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.commandline import SAMPLES, command, sample
from tests.show.html.test_writing import blocks_of, everything
from trecjudge.findings import Finding
from trecjudge.inputs.labels import read_labels
from trecjudge.show.html.labelling import guideline_blocks, share_out

KEY = ("topic_id", "run_id", "sentence_index", "doc_id")


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the citation judge on sample data."""
    folder = tmp_path_factory.mktemp("job")
    sample("rag", folder, "-q")
    return folder


def items_of(page: Path) -> list[dict[str, Any]]:
    """Return the items of a page."""
    return blocks_of(page)["items"]


def label(job: Path, page: Path, *flags: str | Path) -> list[dict[str, Any]]:
    """Write a page; return its items."""
    done = command("labels", "next", job, "--page", page, *flags)
    assert (done.status, done.err) == (0, "")
    return items_of(page)


def test_a_page_has_each_text_once_and_not_what_the_judge_says(job: Path, tmp_path: Path) -> None:
    items = label(job, tmp_path / "l.html", "--top", "30")
    blocks = blocks_of(tmp_path / "l.html")
    documents = [own for name, own in blocks.items() if name.startswith("documents")]
    assert len(items) == 30 and len(blocks["responses"]) < 10
    assert len(documents) == 3  # of each topic
    assert all(len({str(one["id"]) for one in own}) == len(own) for own in documents)
    lines = map(json.loads, (job / "x.judgments.jsonl").open())
    judged = [line for line in lines if line["record"] == "judgment"]
    reasons = [one["reason"] for one in judged if len(one["reason"]) > 20]
    assert reasons and not any(reason in everything(tmp_path / "l.html") for reason in reasons)
    assert not any("verdict" in one for one in items) and any(one["looked"] for one in items)
    behind = label(job, tmp_path / "v.html", "--show-verdict", "--top", "5")
    assert all(one["verdict"][0] for one in behind)


def test_a_fifth_is_drawn_at_random_and_each_item_says_how_it_came(
    job: Path, tmp_path: Path
) -> None:
    out = tmp_path / "l.jsonl"
    items = label(job, tmp_path / "l.html", "--top", "10", "--output", out)
    assert Counter(one["sampled"] for one in items) == {"random": 2, "ranking": 8}
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert Counter(row["sampled"] for row in rows) == {"random": 2, "ranking": 8}
    keys = {tuple(row[name] for name in KEY) for row in rows}
    assert keys == {tuple(one["key"].get(name) for name in KEY) for one in items}
    every = label(job, tmp_path / "r.html", "--random", "--top", "10")
    assert {one["sampled"] for one in every} == {"random"}


@pytest.mark.parametrize(
    ("flags", "labels", "question", "defined"),
    [
        (("--judge", "support"), "full_support partial_support no_support",
         "Decide how much of the sentence", "supports all of the information"),
        (("--judge", "nuggets", "--nuggets", "{bank}"), "support partial_support not_support",
         "Decide for each nugget", "states the whole nugget"),
        (("--judge", "direct_prompt"), "0 1 2 3", "Grade how relevant", "nothing to do with"),
        (("--judge", "rubric", "--nuggets", "{rubric}"), "met partial unmet",
         "Decide for each criterion", "does what the criterion says"),
        (("--judge", "rubric", "--nuggets", "{bank}"), "supports partial contradicts none",
         "Decide for each answer", "what the answer says"),
    ],
)  # fmt: skip
def test_labels_are_the_judges_own_with_what_its_prompt_says_of_them(
    flags: tuple[str, ...], labels: str, question: str, defined: str, tmp_path: Path
) -> None:
    texts = ("The kettle works opened in 1902", "Tin is soft")
    criteria = [{"criterion": text, "weight": 5, "axis": "E"} for text in texts]
    nuggets = [{"text": text, "importance": "vital"} for text in texts]
    for name, key, own in (("rubric", "rubrics", criteria), ("bank", "nuggets", nuggets)):
        lines = [json.dumps({"qid": str(t), "query": "q", key: own}) for t in (11, 12, 13)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines))
    paths = {name: str(tmp_path / f"{name}.jsonl") for name in ("bank", "rubric")}
    sample("rag", tmp_path / "job", "-q", *(flag.format(**paths) for flag in flags))
    items = label(tmp_path / "job", tmp_path / "l.html", "--top", "4")
    ((only,),) = [blocks_of(tmp_path / "l.html")["head"][0]["sets"]]
    assert " ".join(one["label"] for one in only["labels"]) == labels
    assert question in only["question"] and defined in str([o["means"] for o in only["labels"]])
    assert only["labels"][0]["key"] == ("0" if "0" in labels else "1")
    given = [
        one["key"] | {"label": only["labels"][0]["label"], "labeller": "a", "seconds": 2.5,
                      "evidence": "1, 2", "comment": "no, not\nso", "sampled": one["sampled"]}
        for one in items
    ]  # fmt: skip
    (tmp_path / "given.jsonl").write_text("\n".join(map(json.dumps, given)))
    done = command("job", "rescore", tmp_path / "job", "--labels", tmp_path / "given.jsonl")
    assert f"labels of people: {len(items)} given, {len(items)} of them on judged items" in done.out


@pytest.mark.parametrize(("items", "people", "overlap"), [(50, 3, 0.2), (7, 2, 1.0), (2, 4, 0.0)])
def test_items_are_shared_out(items: int, people: int, overlap: float) -> None:
    shares = share_out(items, people, overlap)
    counts = Counter(place for own in shares for place in own)
    assert sorted(counts) == list(range(items))
    assert sum(n > 1 for n in counts.values()) == round(items * overlap)
    assert all(len(set(own)) == len(own) for own in shares)
    assert shares == share_out(items, people, overlap)
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


def test_people_get_pages_of_their_own(job: Path, tmp_path: Path) -> None:
    asked = ("--top", "20", "--assign", "3", "--overlap", "0.25")
    done = command("labels", "next", job, "--page", tmp_path / "l.html", *asked)
    assert done.out.splitlines()[-3:] == [
        f"page: {tmp_path}/l-{n}.html (10 items)" for n in (1, 2, 3)
    ]
    heads = [blocks_of(tmp_path / f"l-{n}.html")["head"][0] for n in (1, 2, 3)]
    assert [head["labeller"] for head in heads] == ["person 1", "person 2", "person 3"]
    assert len({str(head["digest"]) for head in heads}) == 3


def test_people_who_differ_get_a_page_for_who_decides(job: Path, tmp_path: Path) -> None:
    rows = list(map(json.loads, (SAMPLES / "rag" / "labels.jsonl").open()))[:6]
    folder = tmp_path / "people"
    folder.mkdir()
    said = {"anna": "full_support", "ben": "full_support", "cem": "no_support"}
    for who, label_ in said.items():
        own = [r | {"label": label_ if n < 2 else "full_support"} for n, r in enumerate(rows)]
        (folder / f"{who}.jsonl").write_text("\n".join(map(json.dumps, own)))
    items = label(job, tmp_path / "d.html", "--disagreements", "--labels", folder)
    differing = [{name: row[name] for name in KEY} for row in rows[:2]]
    assert sorted(map(str, differing)) == sorted(str(one["key"]) for one in items)
    votes = [{"annotator": who, "label": said[who]} for who in said]
    assert [one["votes"] for one in items] == [votes, votes]
    decided = items[0]["key"] | {"labels": votes, "adjudicated_label": "partial_support",
                                 "adjudicated": True, "labeller": "dora"}  # fmt: skip
    (folder / "decided.jsonl").write_text(json.dumps(decided))
    findings: list[Finding] = []
    labels = read_labels(folder, findings.append)
    key = tuple(items[0]["key"].get(name) for name in KEY)
    assert labels[key] == "partial_support" and findings == []  # type: ignore[index]
    left = label(job, tmp_path / "e.html", "--disagreements", "--labels", folder)
    assert [one["key"] for one in left] == [items[1]["key"]]
    out = command("labels", "agree", "--labels", folder, job).out
    assert "Krippendorff's alpha" in out and "anna" in out and "dora" not in out


def test_a_skipped_item_is_no_label_and_no_fault(tmp_path: Path) -> None:
    key = {"topic_id": "1", "run_id": "r", "sentence_index": 0, "doc_id": "d"}
    rows = [key | {"skipped": "cannot say"}, key | {"sentence_index": 1, "label": "full"}]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "b.csv").write_text(
        "topic_id,run_id,sentence_index,doc_id,label,labeller,skipped\n"
        "1,r,0,d,,b,cannot say\n1,r,1,d,full,b,\n"
    )
    findings: list[Finding] = []
    labels = read_labels(tmp_path, findings.append)
    assert (dict(labels), findings) == ({("1", "r", 1, "d"): "full_support"}, [])


def test_a_guideline_is_paragraphs_headings_and_lists() -> None:
    text = "# How\nRead <b>it</b>\ntwice.\n\n- one\n  goes on\n- two\n\n## Then\n1. a\n2. b\n"
    assert list(guideline_blocks(text)) == [
        ("heading", ["How"]),
        ("paragraph", ["Read <b>it</b> twice."]),
        ("list", ["one goes on", "two"]),
        ("heading", ["Then"]),
        ("list", ["a", "b"]),
    ]


def test_strata_are_drawn_alike_and_cuts_are_near(job: Path, tmp_path: Path) -> None:
    out = tmp_path / "l.jsonl"
    command("labels", "next", job, "--by", "strata", "--top", "8", "--output", out, "-q")
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    strata = Counter((row["run_id"], row["judged"]) for row in rows)
    assert max(strata.values()) - min(strata.values()) <= 1 and len(strata) >= 4
    command("labels", "next", job, "--by", "cut", "--top", "5", "--output", out, "-q")
    near = [json.loads(line)["expected"] for line in out.read_text().splitlines()]
    away = [min(abs(weight - 0.25), abs(weight - 0.75)) for weight in near]
    assert away == sorted(away) and len(away) == 5
    items = label(job, tmp_path / "s.html", "--by", "strata", "--top", "10")
    assert Counter(one["sampled"] for one in items) == {"random": 2, "strata": 8}


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ("--page l.pdf", "--page l.pdf: give FILE.html, or FILE.xlsx for a workbook"),
        ("--by strata,cut", "--by: give one of strata, cut"),
        ("--by cut --measure WEIGHTED_PRECISION", "--by cut: --measure chooses other items"),
        ("--assign 2", "--assign is for a page: give its file, --page FILE.html"),
        ("--page guideline=x.md", "guideline is for a page"),
        (
            "--by disagreements",
            "--by disagreements: give the labels of several people, --labels FOLDER",
        ),
        ("--by disagreements,random", "--measure, --by random and --for choose other items"),
        ("--page {out} --rag-topics gone.jsonl", "gone.jsonl"),
        ("--page {out} guideline=gone.md", "gone.md"),
        ("--by disagreements --labels {labels}", "people differ on no item of"),
    ],
)
def test_what_cannot_be_is_said(flags: str, message: str, job: Path, tmp_path: Path) -> None:
    places = {"out": tmp_path / "l.html", "labels": SAMPLES / "rag" / "labels.jsonl"}
    done = command("labels", "next", job, *flags.format(**places).split())
    assert done.status == 1 and message in " ".join(done.err.split())
    assert not (tmp_path / "l.html").exists()


def test_texts_that_are_gone_are_told_and_found_where_they_are_now(tmp_path: Path) -> None:
    sample("rag", tmp_path, "-q")
    config = tmp_path / "x.config.yml"
    config.write_text(config.read_text().replace(str(SAMPLES), "/gone"))
    page = tmp_path / "l.html"
    done = command("labels", "next", tmp_path, "--page", page, "--top", "3")
    assert done.status == 0 and "give --rag-topics, --rag-responses, --documents" in done.err
    assert {one["document"] for one in items_of(page)} == {None}
    rag = SAMPLES / "rag"
    inputs = ("--rag-topics", rag / "topics.jsonl", "--rag-responses", rag / "runs")
    found = label(tmp_path, page, *inputs, "--documents", rag / "documents.jsonl")
    assert None not in {one["document"] for one in found}
