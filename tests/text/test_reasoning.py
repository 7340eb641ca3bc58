"""Reasoning is no part of an answer, and no text of an input can pose as its end."""

from __future__ import annotations

import pytest

from trecjudge.judges.citation import ATTEST
from trecjudge.models.prompt import FORMS, Form, Prompts
from trecjudge.models.reading import without_reasoning
from trecjudge.text.chat_tokens import THOUGHTS, broken

TAGS = (
    "<think>", "</think>", "<THINKING>", "</reasoning >", "[THINK]", "[/THINK]", "◁/think▷",
    "<|end_of_thought|>", "<|channel|>", "<|message|>", "<|end|>",
)  # fmt: skip


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("It is so.", "It is so."),
        ("<think>a</think>b", "b"),
        ("<think>a</think>b<think>c</think>d", "bd"),
        ("a</think>b", "b"),
        ("a</think>b</think>c", "c"),
        ("b<think>a", "b"),
        ("<think>a", None),
        ("", None),
        ("<|begin_of_thought|>a<|end_of_thought|>b", "b"),
        ("<|START_THINKING|>a<|END_THINKING|>b", "b"),
        ("◁think▷a◁/think▷b", "b"),
        ("<|channel|>analysis<|message|>a", None),
        (
            "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b",
            "b",
        ),
        ("analysis of the harbour", "analysis of the harbour"),
        ("I think > 3 of [them] think so", "I think > 3 of [them] think so"),
    ],
)
def test_what_is_left(reply: str, answer: str | None) -> None:
    assert without_reasoning(reply) == answer


@pytest.mark.parametrize("tag", TAGS)
@pytest.mark.parametrize("form", FORMS)
def test_no_input_holds_a_tag(tag: str, form: Form) -> None:
    messages = Prompts().get(ATTEST, form).messages({"document": f"a {tag} b", "sentence": tag})
    assert tag not in str(messages[1:])


@pytest.mark.parametrize("word", THOUGHTS.split("|"))
@pytest.mark.parametrize("tag", ["<%s>", "</%s>", "[/%s]", "<|%s|>", "◁%s▷", "◁/%s▷"])
def test_no_input_ends_the_reasoning_of_a_reply_that_quotes_it(word: str, tag: str) -> None:
    said = f"It says: a {broken(tag % word)} b"
    assert without_reasoning(said) == said


@pytest.mark.parametrize("text", ["a < b", "x[3]", "<b>bold</b>", "[sic]", "think", "if a<end>b"])
def test_other_text_stays_as_it_is(text: str) -> None:
    assert broken(text) == text
