"""`--keys`: the names that a record's parts have."""

from __future__ import annotations

import pytest

from tests.reading import Read
from trecjudge.errors import InputError
from trecjudge.inputs.pipelines.fields import keys_of, use_record_keys

RECORD = (
    '{"prompt": {"text": "Q?"}, "out": ["A."], "a.b": "X.", "hits": [{"text": "C."}], "n": 7,'
    ' "model": "m"}'
)
KEYS = "question=prompt.text,answer=out,contexts=hits,topic=n,run=model"


def test_keys_name_the_parts_of_a_record(read: Read) -> None:
    with use_record_keys(KEYS):
        found = read(RECORD)
    ((topic, response),) = found.pairs
    assert (topic.topic_id, topic.title, response.run_id) == ("7", "Q?", "m")
    assert (response.text, [d.text for d in response.documents.values()]) == ("A.", ["C."])


@pytest.mark.parametrize(
    ("key", "text"),
    [("out.0", "A."), ("a.b", "X."), ("hits.0.text", "C.")],
    ids=["a place in a list", "a key with a point", "through a list"],
)
def test_a_key_leads_into_a_record(key: str, text: str, read: Read) -> None:
    with use_record_keys(f"question=prompt.text, answer={key}"):
        assert read(RECORD).response.text == text


@pytest.mark.parametrize(
    ("keys", "record"),
    [
        ("answer=reply", '"question": "Q?", "reply": "A.", "contexts": ["C."]'),
        ("contexts=s[].t", '"query": "Q?", "answer": "A.", "s": [{"t": "C."}]'),
        ("contexts=h[].d.t", '"query": "Q?", "output": "A.", "h": [{"d": {"t": "C."}}]'),
        ("answer=o[0].m", '"query": "Q?", "o": [{"m": "A."}], "references": [], "docs": "C."'),
        ("answer=n", '"messages": [{"role": "user", "content": "Q?"}], "n": "A.", "doc": "C."'),
        ("question=q", '"runs": [{"q": "Q?", "answer": "A.", "context": "C."}]'),
        ("question=q", '"q": ["Q?"], "answer": ["A."], "contexts": [["C."]]'),
    ],
)
def test_parts_that_no_key_names_are_found_as_usual(keys: str, record: str, read: Read) -> None:
    with use_record_keys(keys):
        ((topic, response),) = read(f"{{{record}}}").pairs
    (document,) = response.documents.values()
    assert (topic.title, response.text, document.text) == ("Q?", "A.", "C.")


@pytest.mark.parametrize(
    ("keys", "count"),
    [("contexts=nope", 1), ("answer=out,contexts=h[].t", 0)],
    ids=["in no record", "in some record"],
)
def test_a_key_that_no_record_has_is_said_once(keys: str, count: int, read: Read) -> None:
    records = '{"query": "Q?", "output": "A."}\n{"query": "P?", "out": "B.", "h": [{"t": "C."}]}'
    with use_record_keys(keys):
        assert read(records).kinds.count("key_not_there") == count


def test_a_key_of_the_topic_leaves_the_format_as_it_is(read: Read) -> None:
    with use_record_keys("topic=id"):
        record = '{"id": 7, "run_id": "x", "answer": [{"text": "A."}], "references": []}'
        assert read(record).answers == [("x", "7")]


def test_keys_name_the_columns_of_a_table(read: Read) -> None:
    with use_record_keys("question=q,answer=out,contexts=s[].t"):
        found = read('q;out;s\nQ?;A.;"[{""t"": ""C.""}]"\n', "mine.csv")
    assert [d.text for d in found.response.documents.values()] == ["C."]


def test_keys_count_before_the_names_that_are_known(read: Read) -> None:
    with use_record_keys("question=question,answer=draft"):
        assert read('{"question": "Q?", "answer": "A.", "draft": "B."}').response.text == "B."


def test_a_record_without_these_keys_is_read_as_ever(read: Read) -> None:
    with use_record_keys("answer=out"):
        assert read('{"question": "Q?", "answer": "A."}').response.text == "A."


def test_a_record_that_cannot_be_known_says_what_to_give(read: Read) -> None:
    finding = read(RECORD).findings[0]
    assert finding.kind == "record_unknown_shape"
    assert finding.message.endswith("say where: --keys question=KEY,answer=KEY,contexts=KEY")


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("answr=x", "--keys 'answr=x': unknown part 'answr'; did you mean 'answer'?"),
        ("answer", "--keys 'answer': name the key that holds the answer: answer=KEY"),
    ],
)
def test_keys_that_say_nothing(written: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        keys_of(written)
    assert str(error.value).startswith(message)
