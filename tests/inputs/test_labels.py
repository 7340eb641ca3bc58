"""Labels of a human or of another tool: what is read, what is odd, what an item's key is."""

from __future__ import annotations

import pytest

from tests.fakes import judgment
from tests.reading import Write
from trecjudge.errors import InputError
from trecjudge.findings import Finding
from trecjudge.inputs.labels import ItemKey, key_of, read_labels, support_label
from trecjudge.records import AskedNugget

WHOLE = '{"topic_id": "t1", "run_id": "r", "sentence_index": 2, "doc_id": "d", "label": "FULL"}\n'


def read(text: str, write: Write) -> tuple[dict[ItemKey, str], list[str]]:
    findings: list[Finding] = []
    labels = read_labels(write(text, "labels.jsonl"), findings.append)
    return labels, [f"{f.place.line}: {f.kind}" for f in findings]


@pytest.mark.parametrize(
    ("record", "key"),
    [
        pytest.param(WHOLE, ("t1", "r", 2, "d"), id="of a citation"),
        pytest.param(WHOLE.replace("2,", "2.0,"), ("t1", "r", 2, "d"), id="a whole number"),
        pytest.param(WHOLE.replace('"t1"', "1"), ("1", "r", 2, "d"), id="an integer topic"),
        pytest.param(
            '{"topic_id": "t1", "run_id": "r", "label": 3}',
            ("t1", "r", None, None),
            id="a response",
        ),
        pytest.param(
            '{"topic_id": "t1", "run_id": "r", "nugget_id": 7, "label": "support"}',
            ("t1", "r", None, None, "7"),
            id="of a nugget",
        ),
        pytest.param(
            '{"topic_id": "t1", "run_id": "r", "doc_id": 7, "label": "1", "more": [1]}',
            ("t1", "r", None, "7"),
            id="of a document",
        ),
    ],
)
def test_a_label_is_found_by_its_key(record: str, key: ItemKey, write: Write) -> None:
    labels, findings = read(record, write)
    assert (list(labels), findings) == ([key], [])


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param(WHOLE.replace('"FULL"', "null"), id="not filled in"),
        pytest.param(WHOLE.replace('"FULL"', '" "'), id="blank"),
        pytest.param(WHOLE.replace("2,", "2.5,"), id="half a sentence"),
        pytest.param(WHOLE.replace("2,", '"2",'), id="a sentence as text"),
        pytest.param(WHOLE.replace('"r"', "[]"), id="no run"),
        pytest.param('{"label": "FULL"}\n', id="nothing else"),
    ],
)
def test_a_record_that_is_none_is_found(bad: str, write: Write) -> None:
    labels, findings = read(bad + WHOLE, write)
    assert (len(labels), findings) == (1, ["1: label_unusable"])


def test_the_first_label_of_an_item_counts(write: Write) -> None:
    labels, findings = read(WHOLE + WHOLE.replace("FULL", "NONE") + WHOLE, write)
    assert (list(labels.values()), findings) == (["FULL"], ["2: label_duplicate"])


def test_no_labels_at_all(write: Write) -> None:
    with pytest.raises(InputError, match=r"labels.jsonl: no labels in it; give JSONL of topic_id"):
        read("{}\n", write)


def test_the_key_of_a_judgment() -> None:
    judged = judgment("yes", run_id="r", topic_id="t", sentence_index=3, doc_id="d")
    assert key_of(judged) == ("t", "r", 3, "d")


def test_judgments_on_nuggets_have_a_key_of_their_own() -> None:
    nuggets = (AskedNugget("1", "A  Fact."), AskedNugget("2", "When?", answer="In 1871"))
    keys = [key_of(judgment("support", sentence_index=None, nugget=nugget)) for nugget in nuggets]
    assert keys == [("t1", "r", None, None, "a fact."), ("t1", "r", None, None, "in 1871")]


@pytest.mark.parametrize(
    ("written", "label"),
    [
        *((dress, "full_support") for dress in ("full", "FULL", "full_support", "Full Support")),
        *((dress, "full_support") for dress in ("FULL-SUPPORT", "fullSupport", " full support. ")),
        *(
            (dress, "full_support")
            for dress in ("**full**", '"full"', "ｆｕｌｌ", "full\u200bsupport")
        ),
        *((dress, "partial_support") for dress in ("partial", "PARTIAL", "Partial support")),
        *((dress, "partial_support") for dress in ("partial_support", "partial-support")),
        *((dress, "no_support") for dress in ("none", "NONE", "no", "No.", "no_support")),
        *((dress, "no_support") for dress in ("No Support", "NO-SUPPORT", "nosupport")),
        *((other, None) for other in ("", " ", "supported", "unsupported", "not full", "yes")),
        *((other, None) for other in ("full partial", "no full support", "partially", "0", "2")),
    ],
)
def test_a_label_of_support_in_any_dress(written: str, label: str | None) -> None:
    assert support_label(written) == label
