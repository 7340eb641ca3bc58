"""Experiment files: what they may say, and what is said of those that are wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from trecjudge.errors import WorkflowError
from trecjudge.job.experiment.reading import Experiment, read_experiment

HEAD = "documents: [docs.jsonl]\ntopics: t.jsonl\nformat: rag26\n"


def read(folder: Path, text: str, with_model: bool = False) -> Experiment:
    path = folder / "e.yml"
    path.write_text(text, encoding="utf-8")
    return read_experiment(path, with_model)


def test_a_variant_has_what_is_its_own_and_the_base(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").touch()
    text = f"{HEAD}judge: [support]\nbase: {{top: 7, chunk_size: 80}}\nvariants:\n"
    found = read(tmp_path, f"{text}  a: {{}}\n  'b/../c': {{top: 3, chunk_overlap: 5}}\n")
    first, second = found.variants.values()
    assert (first.top, first.chunking.size, first.chunking.overlap) == (7, 80, 30)
    assert (second.top, second.index_name) == (3, "80-5-none")
    assert found.files == {"a": "a", "b/../c": "b_.._c"}
    assert (found.format.track_name, found.judges) == ("rag26", ["support"])
    # Beside the file where it is there, else from the current folder.
    assert found.topics == tmp_path / "t.jsonl"
    assert found.documents == [Path("docs.jsonl")]


def test_a_small_chunk_shares_half_of_it_at_most(tmp_path: Path) -> None:
    found = read(tmp_path, f"{HEAD}variants: {{a: {{chunk_size: 20}}, b: {{}}}}\n")
    assert [v.chunking.overlap for v in found.variants.values()] == [10, 30]


def test_a_variant_without_settings_is_a_name_alone(tmp_path: Path) -> None:
    found = read(tmp_path, f"{HEAD}variants:\n  a:\n  b: {{top: 3}}\n")
    assert [variant.top for variant in found.variants.values()] == [20, 3]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{HEAD}variants:\n  a: {{}}\n  b:\n    topk: 3\n", "e.yml:7: variants.b: unknown key"),
        (f"{HEAD}chunks: 3\nvariants: {{a: {{}}, b: {{}}}}\n", "e.yml:4: unknown key 'chunks'"),
        (f"{HEAD}base: {{top: 0}}\nvariants: {{a: {{}}, b: {{}}}}\n", "e.yml:4: base: top: 0 is"),
        (f"{HEAD}variants: {{a: {{top: ten}}, b: {{}}}}\n", "e.yml:4: variants.a: top: ten is not"),
        (
            f"{HEAD}variants: {{a: {{retriever: bm52}}, b: {{}}}}\n",
            "there are: auto, bm25, dense",
        ),
        (
            f"{HEAD}variants: {{a: {{}}, b: {{retriever: dense}}}}\n",
            "dense needs vectors",
        ),
        (f"{HEAD}variants: {{a: {{}}, b: {{rerank: 5}}}}\n", "rerank: add --use-env-llm"),
        (f"{HEAD}variants: {{a: {{}}, b: {{rounds: 1}}}}\n", "add --use-env-llm"),
        (f"{HEAD}variants: {{a: {{}}, b: {{chunk_overlap: 200}}}}\n", "an overlap of 200 words"),
        (f"{HEAD}variants: {{a: {{}}, b: {{prompts: {{x: y}}}}}}\n", "unknown prompt 'x'"),
        (f"{HEAD}variants: {{a: {{}}}}\n", "give two or more"),
        (f"{HEAD}variants: {{a: {{}}, 'b ': {{}}}}\n", "a name without blanks around it"),
        (f"{HEAD}variants: {{a: 3, b: {{}}}}\n", "e.yml:4: variants"),
        (
            f"{HEAD}variants: {{5: {{top: 5}}, 10: {{top: 10}}}}\n",
            "e.yml:4: variants: the key 5 must be a name: put it in quotes",
        ),
        (f"{HEAD}variants: {{'a/b': {{}}, a_b: {{}}}}\n", "has the files of 'a/b'"),
        (f"{HEAD}variants: {{Ab: {{}}, aB: {{}}}}\n", "has the files of 'Ab'"),
        (f"{HEAD}variants: {{'..': {{}}, b: {{}}}}\n", "can be in no file name"),
        (f"{HEAD}index: x.index\nvariants: {{a: {{}}, b: {{}}}}\n", "one of the two"),
        (HEAD, "variants is missing"),
        (f"{HEAD}format: rag25\n", "e.yml:4:"),
        ("- a\n", "must be a mapping"),
        ("", "must be a mapping"),
        (
            "index: x.index\ntopics: t\nformat: rag26\nvariants: {a: {}, b: {chunk_size: 80}}\n",
            "chunk_size: the index given decides that",
        ),
        (
            "index: x.index\ntopics: t\nformat: rag27\nvariants: {a: {}, b: {}}\n",
            "e.yml:3: format: unknown format 'rag27'",
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(WorkflowError) as raised:
        read(tmp_path, text)
    assert message in str(raised.value)


def test_a_prompt_beside_the_file_is_found(tmp_path: Path) -> None:
    (tmp_path / "own.md").write_text("Answer.")
    text = f"{HEAD}variants: {{a: {{}}, b: {{prompts: {{write_answer: own.md}}}}}}\n"
    found = read(tmp_path, text, with_model=True)
    assert found.variants["b"].prompts == {"write_answer": str(tmp_path / "own.md")}


def test_a_prompt_may_be_a_signature_or_a_module_with_its_state(tmp_path: Path) -> None:
    (tmp_path / "m.json").write_text("{}")
    grades = {"signature": "m:S", "labels": {"grade": {"YES": 3, "NO": 0}}}
    prompts = {"grade_passages": grades, "write_answer": {"module": "m:M", "state": "m.json"}}
    text = f"{HEAD}variants: {{a: {{}}, b: {{prompts: {json.dumps(prompts)}}}}}\n"
    found = read(tmp_path, text, with_model=True).variants["b"].prompts
    assert {name: json.loads(str(prompt)) for name, prompt in found.items()} == {
        "grade_passages": grades,
        "write_answer": {"module": "m:M", "state": str(tmp_path / "m.json")},
    }
