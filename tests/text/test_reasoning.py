"""Reasoning is no part of an answer, and no text of an input can pose as its end."""

from __future__ import annotations

import time

import pytest

from trecjudge.judges.citation import ATTEST
from trecjudge.models.prompt import FORMS, Form, Prompts
from trecjudge.text.chat_tokens import neutralize
from trecjudge.text.reasoning import CUT, THOUGHTS, answer_without_reasoning, without_reasoning

TAGS = (
    "<think>", "</think>", "<THINKING>", "</reasoning >", "[THINK]", "[/THINK]", "◁/think▷",
    "<|end_of_thought|>", "<|channel|>", "<|message|>", "<|end|>",
)  # fmt: skip


def test_what_is_left() -> None:
    expected = {
        "It is so.": "It is so.",
        "<think>a</think>b": "b",
        "<think>a</think>b<think>c</think>d": "bd",
        "a</think>b": "b",
        "a</think>b</think>c": "c",
        "b<think>a": "b",
        "<think>a": None,
        "": None,
        "<|begin_of_thought|>a<|end_of_thought|>b": "b",
        "<|START_THINKING|>a<|END_THINKING|>b": "b",
        "◁think▷a◁/think▷b": "b",
        "<|channel|>analysis<|message|>a": None,
        "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b": "b",
        "analysis of the harbour": "analysis of the harbour",
        "I think > 3 of [them] think so": "I think > 3 of [them] think so",
    }
    assert {reply: without_reasoning(reply) for reply in expected} == expected


@pytest.mark.parametrize("form", FORMS)
def test_no_input_holds_a_tag(form: Form) -> None:
    prompt = Prompts().get(ATTEST, form)
    sent = {t: prompt.messages({"document": f"a {t} b", "sentence": t}) for t in TAGS}
    assert not [tag for tag, messages in sent.items() if tag in str(messages[1:])]


@pytest.mark.parametrize("tag", ["<%s>", "</%s>", "[/%s]", "<|%s|>", "◁%s▷", "◁/%s▷"])
def test_no_input_ends_the_reasoning_of_a_reply_that_quotes_it(tag: str) -> None:
    said = [f"It says: a {neutralize(tag % word)} b" for word in THOUGHTS.split("|")]
    assert list(map(without_reasoning, said)) == said


@pytest.mark.parametrize("text", ["a < b", "x[3]", "<b>bold</b>", "[sic]", "think", "if a<end>b"])
def test_other_text_stays_as_it_is(text: str) -> None:
    assert neutralize(text) == text


@pytest.mark.parametrize(
    ("value", "answer"),
    [
        pytest.param("<think>a\nb</think>\nc", "c", id="tags"),
        pytest.param("<reasoning>a</reasoning><answer>b</answer>", "b", id="an answer in tags"),
        pytest.param("It may be.\n</think>\nIt is.", "It is.", id="a closing tag only"),
        pytest.param("<think>It may", "", id="nothing but reasoning"),
        pytest.param("<think>``` a</think>b", "b", id="half a block of code"),
        pytest.param(
            "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b<|return|>",
            "b",
            id="channels",
        ),
        pytest.param("analysisIt may.assistantfinalIt is.", "It is.", id="channels without signs"),
        pytest.param(
            ["<think>a", {"text": "b"}, "</think>c", "d"], [CUT, CUT, "c", "d"], id="list"
        ),
        pytest.param(
            [{"text": "</think> b", "citations": [1]}], [{"text": "b", "citations": [1]}], id="kept"
        ),
    ],
)
def test_reasoning_is_no_part_of_an_answer(value: object, answer: object) -> None:
    found, cut = answer_without_reasoning(value)
    assert found == answer and cut > 0


@pytest.mark.parametrize(
    "value",
    [
        "Models think within `<think>` and `</think>`.",
        "Write <think> and </think> around it.",
        'The tag "</think>" ends it.',
        "```\n<think>a</think>\n```\nb",
        "The sign `<|channel|>` opens one.",
        "[Analysis] It rose by 3 < 4.",
        "analysis of the harbour",
        ["a", {"text": "b"}, None, 3],
        {"text": "<think>"},
    ],
)
def test_what_is_only_spoken_of_stays(value: object) -> None:
    assert answer_without_reasoning(value) == (value, 0) or isinstance(value, dict)


@pytest.mark.parametrize(
    "unit", ["<think>", "</think>", "`", "```", "`<think>", "<", "[/", "<|channel|>"]
)
def test_tags_in_any_number_are_read_at_once(unit: str) -> None:
    started = time.process_time()
    answer_without_reasoning(unit * 60_000)
    assert time.process_time() - started < 2
