"""Labels of a human or of another tool: what is read, what is odd, what an item's key is."""

from __future__ import annotations

import pytest

from tests.fakes import judgment
from tests.reading import Write
from trecjudge.errors import InputError
from trecjudge.findings import Finding, ignore
from trecjudge.inputs.labels import ItemKey, key_of, read_labels, support_label
from trecjudge.inputs.labels.vocabulary import SUPPORT
from trecjudge.records import AskedNugget

WHOLE = '{"topic_id": "t1", "run_id": "r", "sentence_index": 2, "doc_id": "d", "label": "FULL"}\n'


def read(text: str, write: Write) -> tuple[dict[ItemKey, str], list[str]]:
    findings: list[Finding] = []
    labels = read_labels(write(text, "labels.jsonl"), findings.append)
    return labels, [f"{f.place.line}: {f.kind}" for f in findings]


LABELS_BY_KEY = {
    "of a citation": (WHOLE, ("t1", "r", 2, "d")),
    "a whole number": (WHOLE.replace("2,", "2.0,"), ("t1", "r", 2, "d")),
    "an integer topic": (WHOLE.replace('"t1"', "1"), ("1", "r", 2, "d")),
    "a response": ('{"topic_id": "t1", "run_id": "r", "label": 3}', ("t1", "r", None, None)),
    "of a nugget": (
        '{"topic_id": "t1", "run_id": "r", "nugget_id": 7, "label": "support"}',
        ("t1", "r", None, None, "7"),
    ),
    "of a document": (
        '{"topic_id": "t1", "run_id": "r", "doc_id": 7, "label": "1", "more": [1]}',
        ("t1", "r", None, "7"),
    ),
}


@pytest.mark.parametrize(("record", "key"), LABELS_BY_KEY.values(), ids=LABELS_BY_KEY)
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


NONE = WHOLE.replace("FULL", "NONE")


def by(person: str, record: str) -> str:
    return record.replace("{", f'{{"annotator": "{person}", ', 1)


TEXTS = {
    "most rows": (WHOLE + NONE + WHOLE, ["full_support"], ["1: people_unnamed"]),
    "most people": (by("p", WHOLE) + by("q", NONE) + by("r", NONE), ["no_support"], []),
    "a tie": (by("p", WHOLE) + by("q", NONE), [], ["2: labels_tied"]),
    "columns": (WHOLE.replace("}", ', "label_2": "NONE", "label_3": "none"}'), ["no_support"], []),
    "an object by person": (
        WHOLE.replace('"FULL"', '{"p": "FULL", "q": "full", "r": "NONE"}'),
        ["full_support"],
        [],
    ),
    "a person who says both has no vote": (
        by("p", WHOLE) + by("p", NONE) + by("q", NONE),
        ["no_support"],
        ["2: label_contradicted"],
    ),
    "one vote each": (by("p", WHOLE) * 3 + by("q", NONE), [], ["4: labels_tied"]),
    "alike": (WHOLE + WHOLE, ["full_support"], []),
    "what all agreed on": (
        WHOLE.replace('"label"', '"gold_label": "NONE", "label2": "full", "label1"'),
        ["no_support"],
        [],
    ),
    "agreed on after a tie": (
        WHOLE.replace('"label": "FULL"', '"labels": ["full", "NONE"], "final_label": "full"'),
        ["full_support"],
        ["1: people_unnamed"],
    ),
    "gold alone": (WHOLE.replace("label", "gold_label"), ["full_support"], []),
    "agreed on in a row of each person": (
        by("p", WHOLE.replace('"label"', '"gold_label": "NONE", "label"')) + by("q", WHOLE),
        ["no_support"],
        [],
    ),
    "not agreed on, as SNLI has it": (
        WHOLE.replace('"label"', '"gold_label": "-", "label2": "full", "label1"'),
        ["full_support"],
        [],
    ),
}


@pytest.mark.parametrize(("text", "values", "kinds"), TEXTS.values(), ids=TEXTS)
def test_what_most_people_say_of_an_item_counts(
    text: str, values: list[str], kinds: list[str], write: Write
) -> None:
    labels, findings = read(text, write)
    without_lines = [f for f in findings if not f.endswith("people_unnamed")]
    assert (list(labels.values()), without_lines) == (
        values,
        [kind for kind in kinds if not kind.endswith("people_unnamed")],
    )
    assert len(labels) == len(values)
    assert (len(findings) > len(without_lines)) == any("unnamed" in kind for kind in kinds)


def test_each_file_of_a_folder_is_of_one_person(write: Write) -> None:
    folder = write(WHOLE, "people/anna.jsonl").parent
    write(NONE, "people/bo.jsonl")
    labels = read_labels(folder, ignore)
    assert (labels.several, labels.unnamed) == (1, False)
    (votes,) = labels.votes(("t1", "r")).values()
    assert [labels.names[person] for *_, person in votes] == ["anna", "bo"]


@pytest.mark.parametrize(
    ("paths", "persons"),
    [
        (("anna/x.jsonl", "bo/x.jsonl"), ["anna", "bo"]),
        (("anna/1.jsonl", "anna/2.jsonl", "bo/1.jsonl"), ["anna", "anna", "bo"]),
        (("labels.anna.jsonl", "labels.bo.jsonl"), ["labels.anna.jsonl", "labels.bo.jsonl"]),
    ],
)
def test_files_of_one_name_are_of_their_folders(
    paths: tuple[str, ...], persons: list[str], write: Write
) -> None:
    folders = {write(WHOLE, f"people/{path}") for path in paths}
    base = next(p for p in next(iter(folders)).parents if p.name == "people")
    labels = read_labels(base, ignore)
    (votes,) = labels.votes(("t1", "r")).values()
    assert [labels.names[person] for *_, person in votes] == persons


def test_lists_without_names_are_of_nobody_in_a_folder_too(write: Write) -> None:
    several = WHOLE.replace('"FULL"', '["FULL", "NONE", "NONE"]')
    folder = write(several, "people/1.jsonl").parent
    write(several.replace("t1", "t2"), "people/2.jsonl")
    labels = read_labels(folder, ignore)
    assert (set(labels.values()), labels.several) == ({"no_support"}, 2)


CELLS = ("topic_id", "run_id", "sentence_index", "doc_id", "label", "Annotator")


@pytest.mark.parametrize("bom", ["", "\ufeff"], ids=["plain", "of a spreadsheet"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_labels_may_be_a_table(separator: str, bom: str, write: Write) -> None:
    rows = [
        CELLS,
        ("t1", "r", "2.0", "d", "FULL", "p"),
        ("t1", "r", "3", "d", '"no\nsupport"', "p"),
    ]
    text = bom + "".join(f"{separator.join(row)}\r\n" for row in rows)
    findings: list[Finding] = []
    labels = read_labels(write(text, "labels.csv"), findings.append)
    assert dict(labels) == {("t1", "r", 2, "d"): "full_support", ("t1", "r", 3, "d"): "no_support"}
    assert (findings, list(labels.people)) == ([], ["p"])


@pytest.mark.parametrize("start", ["sep=;\r\n", "\ufeffsep=;\n", '"sep=;"\n', ""])
def test_a_table_of_a_spreadsheet_is_read_as_it_writes_it(start: str, write: Write) -> None:
    text = f"{start}Topic ID;runId;Sentence Index;DOC-ID;Label\nt1;r;2;d;0,5\nt1;r;3;d;1,0\n"
    labels = read_labels(write(text, "labels.csv"), ignore)
    labels.rename(SUPPORT, ignore)
    assert list(labels.values()) == ["partial_support", "full_support"]


@pytest.mark.parametrize("head", ["Topic,Run,Label", "id,text,label", "t1,r,full"])
def test_a_table_without_the_columns_of_labels_says_which(head: str, write: Write) -> None:
    with pytest.raises(InputError, match="its header has no topic_id, no run_id"):
        read_labels(write(f"{head}\n1,r,yes\n", "labels.csv"), ignore)


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("1", "full_support"),
        ("0.5", "partial_support"),
        ("0.0", "no_support"),
        ("Yes", "full_support"),
    ],
)
def test_words_and_numbers_become_the_labels_of_a_judge(
    label: str, name: str, write: Write
) -> None:
    text = WHOLE.replace("FULL", "1") + WHOLE.replace('"d"', '"e"').replace("FULL", label)
    labels = read_labels(write(text, "l.jsonl"), ignore)
    labels.rename(SUPPORT, ignore)
    assert labels["t1", "r", 2, "e"] == name


def test_an_unknown_word_among_known_ones_is_named_and_left_out(write: Write) -> None:
    text = WHOLE + NONE.replace('"d"', '"e"') + WHOLE.replace('"d"', '"f"').replace("FULL", "good")
    labels, findings = read(text, write)
    assert (len(labels), findings) == (2, ["3: label_unusable"])
    named = read_labels(write(text, "l.jsonl"), ignore, {"Good": "full"})
    assert named["t1", "r", 2, "f"] == "full_support"


def test_words_that_nobody_knows_stop_with_those_of_the_judge(write: Write) -> None:
    text = WHOLE.replace("FULL", "good") + WHOLE.replace('"d"', '"e"').replace("FULL", "bad")
    labels = read_labels(write(text, "l.jsonl"), pytest.fail)
    message = r"labels are bad, good; .* no_support, partial_support, full_support: .* --map bad="
    with pytest.raises(InputError, match=message):
        labels.rename(SUPPORT, pytest.fail)


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
        *((other, "full_support") for other in ("supported", "yes", "Entailment", "correct")),
        *((other, "partial_support") for other in ("partially", "partially_supported", "mixed")),
        *((other, "no_support") for other in ("unsupported", "not_supported", "Contradiction")),
        *((other, None) for other in ("", " ", "not full", "good", "maybe")),
        *((other, None) for other in ("full partial", "no full support", "0", "2")),
    ],
)
def test_a_label_of_support_in_any_dress(written: str, label: str | None) -> None:
    assert support_label(written) == label
