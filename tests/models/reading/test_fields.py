"""Reading replies: the right answer in any wrapping, or none; never another one."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from trecjudge.judges.citation import ATTEST, ATTEST_GROUP
from trecjudge.judges.direct_prompt import GRADE
from trecjudge.judges.faithfulness.steps import TRUTHS, VERIFY
from trecjudge.judging.claims.by_model import ATTRIBUTE
from trecjudge.judging.claims.statements import SPLIT
from trecjudge.models.model import Program
from trecjudge.models.prompt import Form, Prompts
from trecjudge.models.reading import Unparsed

LABELS = ("full_support", "partial_support", "no_support")
PROMPTS = Prompts()
Fields = dict[str, Any]


def verdict(number: int, label: str) -> Fields:
    return {"number": number, "evidence": "", "label": label}


def saying(number: int, label: str) -> Fields:
    return {"number": number, "reason": "So.", "truth": 1, "verdict": label}


def claim(text: str) -> Fields:
    return {"sentence": 0, "claim": text, "importance": "vital"}


ANSWERS: dict[Program, list[Fields]] = {
    ATTEST: [{"evidence": "It sank.", "label": label} for label in LABELS],
    ATTEST_GROUP: [
        {"verdicts": [verdict(1, one), verdict(2, two)]} for one in LABELS for two in LABELS
    ],
    GRADE: [{"reason": "So.", "grade": grade} for grade in range(4)],
    ATTRIBUTE: [
        {"quotes": ["It sank."], "reason": "So.", "match": "NONE", "verdict": verdict}
        for verdict in ("ATTRIBUTED", "UNATTRIBUTED", "CONTRADICTED", "AMBIGUOUS")
    ],
    SPLIT: [{"claims": [claim(text)]} for text in ("It sank.", "It rose.")],
    TRUTHS: [{"truths": ["It sank."]}, {"truths": []}, {"truths": ["It rose.", "It sank."]}],
    VERIFY: [{"verdicts": [saying(1, label)]} for label in ("yes", "no", "unsure")],
}
ANSWER_FIELD = {
    ATTEST: "label", ATTEST_GROUP: "verdicts", GRADE: "grade", ATTRIBUTE: "verdict",
    SPLIT: "claims", TRUTHS: "truths", VERIFY: "verdicts",
}  # fmt: skip
"""The field that is the decision."""


def as_json(fields: Fields) -> str:
    return json.dumps(fields)


def marked(fields: Fields) -> str:
    """Return the answer in field markers."""
    parts = {k: v if isinstance(v, str) else json.dumps(v) for k, v in fields.items()}
    sections = "\n\n".join(f"[[ ## {name} ## ]]\n{value}" for name, value in parts.items())
    return f"{sections}\n\n[[ ## completed ## ]]"


WRITERS = (as_json, marked)
WRAPPINGS: dict[str, Callable[[str, str], str]] = {
    "bare": lambda right, wrong: right,
    "think": lambda right, wrong: f"<think>\n{wrong}\nNo, rather:\n</think>\n\n{right}",
    "thinking": lambda right, wrong: f"<thinking>{wrong}</thinking>{right}",
    "brackets": lambda right, wrong: f"[THINK]{wrong}[/THINK]{right}",
    "opening tag eaten": lambda right, wrong: f"Hm. {wrong}\nNo.\n</think>\n{right}",
    "two thoughts": lambda right, wrong: f"<think>{wrong}</think><think>{wrong}</think>{right}",
    "a tag in a thought": lambda right, wrong: f"<think>a </think> {wrong}\n</think>{right}",
    "a thought behind": lambda right, wrong: f"{right}\n<think>{wrong}</think>",
    "channels": lambda right, wrong: (
        f"<|channel|>analysis<|message|>{wrong}<|end|><|start|>assistant<|channel|>final"
        f"<|message|>{right}<|return|>"
    ),
    "channels without marks": lambda right, wrong: f"analysis{wrong}assistantfinal{right}",
    "fence": lambda right, wrong: f"```json\n{right}\n```",
    "prose": lambda right, wrong: f"Here is my answer:\n\n{right}\n\nI hope that this helps.",
    "braces in prose": lambda right, wrong: f"For {{x}} in {{1, 2}} I find:\n{right}",
    "twice the same": lambda right, wrong: f"{right}\n\n{right}",
    "afterthought": lambda right, wrong: f"{right}\n\nOf another document I would say {wrong}",
    "draft": lambda right, wrong: f"{wrong}\n\nOn reflection:\n\n{right}",
}
MAY_FAIL = frozenset({"afterthought", "draft"})


def read(program: Program, reply: str, form: Form = "schema") -> Fields | None:
    length = 2 if program is ATTEST_GROUP else None
    try:
        return PROMPTS.get(program, form).parse(reply, length)
    except Unparsed:
        return None


def decision(program: Program, fields: Fields) -> Any:
    """Return the decision of fields as plain data."""
    labels = fields[ANSWER_FIELD[program]]
    if isinstance(labels, list):
        return [e.model_dump() if hasattr(e, "model_dump") else e for e in labels]
    return labels


PROGRAMS = pytest.mark.parametrize("program", ANSWERS, ids=lambda program: program.name)


@PROGRAMS
@pytest.mark.parametrize("wrapping", WRAPPINGS)
def test_a_right_answer_in_any_wrapping(program: Program, wrapping: str) -> None:
    for write in WRITERS:
        for other in WRITERS:
            for right in ANSWERS[program]:
                wrong = next(answer for answer in ANSWERS[program] if answer != right)
                found = read(program, WRAPPINGS[wrapping](write(right), other(wrong)))
                if wrapping in MAY_FAIL:
                    assert found is None
                elif found is not None or write is as_json:
                    assert found is not None
                    assert decision(program, found) == decision(program, right)


@PROGRAMS
@given(data=some.data())
def test_never_another_answer(program: Program, data: Any) -> None:
    right = data.draw(some.sampled_from(ANSWERS[program]))
    wrong = data.draw(some.sampled_from([a for a in ANSWERS[program] if a != right]))
    reply = data.draw(some.sampled_from(WRITERS))(right)
    for _ in range(data.draw(some.integers(1, 3))):
        wrap = WRAPPINGS[data.draw(some.sampled_from(sorted(WRAPPINGS)))]
        reply = wrap(reply, data.draw(some.sampled_from(WRITERS))(wrong))
    found = read(program, reply)
    assert found is None or decision(program, found) == decision(program, right)


@PROGRAMS
@given(data=some.data())
def test_of_two_answers_neither(program: Program, data: Any) -> None:
    one, two = data.draw(
        some.lists(some.sampled_from(ANSWERS[program]), min_size=2, max_size=2, unique_by=str)
    )
    between = data.draw(some.sampled_from(["\n", " ", "\n\nor rather\n\n", "```\n```json\n", ""]))
    writers = some.sampled_from(WRITERS)
    assert read(program, data.draw(writers)(one) + between + data.draw(writers)(two)) is None


@given(
    label=some.sampled_from(LABELS),
    case=some.sampled_from([str.lower, str.upper, str.title, str.capitalize]),
    joint=some.sampled_from(["_", " ", "-", "\u2011", "\u200b_", "  "]),
    dress=some.sampled_from(
        ["{}", "**{}**", "`{}`", '"{}"', "“{}”", "{}.", "**{}**.", "__{}__", " {}\n", "[{}]",
         '["{}"]',
         "```\n{}\n```", "Label: {}", "**label**: {}", "\\boxed{{{}}}", "<b>{}</b>",
         '{{"label": "{}"}}', "{}</s>", "# {}"]
    ),
)  # fmt: skip
def test_one_unmistakable_label_in_any_dress(
    label: str, case: Callable[[str], str], joint: str, dress: str
) -> None:
    written = dress.format(case(label).replace("_", joint))
    for reply in (
        as_json({"evidence": "", "label": written}),
        f"[[ ## label ## ]]\n{written}",
        written,
    ):
        found = read(ATTEST, reply)
        assert found is not None, reply
        assert found["label"] == label


@pytest.mark.parametrize(
    "written",
    ["unsupported", "not full_support", "full_support or no_support", "no, full_support",
     "full_support? no_support", "partially", "support", "full_support (not no_support)", "",
     "non_full_support", "full_support, but only in part", "0", "true"],
)  # fmt: skip
def test_a_value_that_contains_another_is_not_that_other(written: str) -> None:
    assert read(ATTEST, as_json({"evidence": "", "label": written})) is None
    assert read(ATTEST, f"[[ ## evidence ## ]]\n\n[[ ## label ## ]]\n{written}", "chat") is None
    assert read(ATTEST, written) is None


@pytest.mark.parametrize(
    ("reply", "label"),
    [
        ('{"label": "no_support"}', "no_support"),
        ('{"evidence": null, "label": "no_support"}', "no_support"),
        ('{"Evidence": "", "LABEL": "no_support"}', "no_support"),
        ('{"answer": {"evidence": "", "label": "no_support"}}', "no_support"),
        ('[{"evidence": "", "label": "no_support"}]', "no_support"),
        ("{'evidence': '', 'label': 'no_support',}", "no_support"),
        ('{"evidence": "a\nb", "label": "no_support"}', "no_support"),
        ('{"evidence": "", "label": "no_support", "sure": 0.9}', "no_support"),
        ('\ufeff{"evidence": "", "label": "no_support"}', "no_support"),
        ('{"evidence": "[[ ## label ## ]] x", "label": "no_support"}', "no_support"),
        ('{"evidence": "</think>{}", "label": "no_support"}', "no_support"),
        ("[[##label##]]\nno_support", "no_support"),
        ("[[ ## reasoning ## ]]\nHm.\n[[ ## Label ## ]]\nno_support", "no_support"),
        ("[[ ## label ## ]]\n{label}  # one of\n[[ ## label ## ]]\nno_support", "no_support"),
        ('{"label": "no_support", "label": "full_support"}', None),
        ('{"label": "no_support", "Label": "full_support"}', None),
        ('{"label": "no_support", "label": "no_support"}', "no_support"),
        ('{"evidence": "so "label": "full_support" it says", "label": "no_support"}', None),
        ('{"evidence": "It is cut', None),
        ('{"evidence": "", "label": "no_supp', None),
        ("<think>It has no end, so no_support", None),
        ("<|channel|>analysis<|message|>no_support", None),
        ("I would say no_support.", None),
        ("{" * 30_000, None),
        ("[" * 30_000, None),
        ("x{ " * 100_000, None),
        ('{"label":' * 5_000, None),
    ],
    ids=range(27),
)
def test_single_replies(reply: str, label: str | None) -> None:
    for form in ("schema", "chat"):
        found = read(ATTEST, reply, form)
        assert (found and found["label"]) == label


@pytest.mark.parametrize("nothing", ["null", '"None"', '"N/A"', '""', '["null"]'])
def test_nothing_is_no_text(nothing: str) -> None:
    found = read(ATTEST, f'{{"evidence": {nothing}, "label": "no_support"}}')
    assert found == {"evidence": "", "label": "no_support"}


def test_a_list_ends_at_its_most() -> None:
    found = read(TRUTHS, as_json({"truths": [f"It is {n}." for n in range(500)]}))
    assert found is not None
    assert len(found["truths"]) == 60


def test_texts_that_differ_are_two_answers() -> None:
    one, two = ({"evidence": text, "label": "no_support"} for text in ("It sank.", "It rose."))
    assert read(ATTEST, f"{as_json(one)} {as_json(two)}") is None
    same = read(ATTEST, f"{as_json(one)} {as_json(one | {'evidence': ''})}")
    assert same == one


@pytest.mark.parametrize("numbers", [(2, 3), (0, 1), (1, 3), (1, 1), (-1, 1)])
def test_a_list_whose_numbers_are_not_those_of_its_inputs_is_refused(
    numbers: tuple[int, int],
) -> None:
    verdicts = [verdict(number, label) for number, label in zip(numbers, LABELS, strict=False)]
    with pytest.raises(Unparsed, match="numbers of verdicts must be 1 to 2, each once"):
        PROMPTS.get(ATTEST_GROUP, "schema").parse(json.dumps({"verdicts": verdicts}), 2)


def test_a_list_is_put_in_the_order_of_its_numbers() -> None:
    swapped = {"verdicts": [verdict(2, LABELS[1]), verdict(1, LABELS[0])]}
    found = PROMPTS.get(ATTEST_GROUP, "schema").parse(json.dumps(swapped), 2)
    assert [entry.label for entry in found["verdicts"]] == list(LABELS[:2])
