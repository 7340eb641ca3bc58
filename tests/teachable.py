"""A scripted endpoint whose answers depend on the prompt in a known way, and labels to hold it to.

A sentence that says "even" is supported, one that says "odd" is not. The model gets a label right
where its prompt has what it needs; else it always says that there is support.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.endpoint import Answer, Script

RULE = "ZEBRA"
"""The word that the instruction must have."""
Needs = Callable[[dict[str, Any]], bool]
"""Whether a request has what the model needs."""


def rule(body: dict[str, Any]) -> bool:
    """Return whether the instruction has the rule."""
    return RULE in str(body["messages"][0]["content"])


def examples(body: dict[str, Any]) -> bool:
    """Return whether there are worked examples."""
    return any(message["role"] == "assistant" for message in body["messages"])


def either(body: dict[str, Any]) -> bool:
    """Return whether there is the rule or an example."""
    return rule(body) or examples(body)


def nothing(body: dict[str, Any]) -> bool:
    """Return False: no prompt helps."""
    return False


def teachable(needs: Needs, proposed: str = RULE, usage: tuple[int, int] = (10, 5)) -> Script:
    """Return the script of such a model; asked for instructions, it proposes some with a word."""

    def script(body: dict[str, Any], number: int) -> Answer:
        text = str(body["messages"][-1]["content"])
        if "response_format" not in body:
            return Answer(_proposal(text, proposed), usage=usage)
        program = body["response_format"]["json_schema"]["name"]
        found = [kind == "even" or not needs(body) for kind in FACT.findall(text)]
        return Answer(json.dumps(REPLIES[program](found)), usage=usage)

    return script


FACT = re.compile(r"Fact \d+ of \d+ is (even|odd)")
REPLIES: dict[str, Callable[[list[bool]], dict[str, Any]]] = {
    "attest": lambda found: {"evidence": "", "label": _support(found[-1])},
    "attest_group": lambda found: {
        "verdicts": [
            {"number": n, "evidence": "", "label": _support(yes)} for n, yes in enumerate(found, 1)
        ]
    },
    "grade": lambda found: {"reason": "", "grade": 3 if found[-1] else 0},
    "assign_nuggets": lambda found: {
        "assignments": [
            {"number": n, "reason": "", "label": "support" if yes else "not_support"}
            for n, yes in enumerate(found[-2:], 1)
        ]
    },
}
"""The reply to each program, by whether each fact of its last message is to be supported."""


def _support(yes: bool) -> str:
    return "full_support" if yes else "no_support"


def claiming(needs: Needs) -> Script:
    """Return the script of a model for judges of claims: each fact is one."""
    ask = teachable(needs)

    def script(body: dict[str, Any], number: int) -> Answer:
        text, form = str(body["messages"][-1]["content"]), body.get("response_format")
        if form is None:
            return ask(body, number)
        if form["json_schema"]["name"] == "claims":
            facts = [found[0] for found in FACT.finditer(text)]
            found = [
                {"sentence": n, "claim": f"{fact}.", "importance": "vital"}
                for n, fact in enumerate(facts, 1)
            ]
            return Answer(json.dumps({"claims": found}))
        stated = "odd" not in text or not needs(body)
        quotes = ["Something about"] if stated else []
        match, verdict = ("PARAPHRASE", "ATTRIBUTED") if stated else ("NONE", "UNATTRIBUTED")
        reply = {"quotes": quotes, "reason": "", "match": match, "verdict": verdict}
        return Answer(json.dumps(reply))

    return script


def _proposal(text: str, word: str) -> str:
    """Return what a reflecting model says, in the form of whoever asks."""
    said = f"Decide whether the document attests the sentence. {word}: odd is no_support."
    if "JSON object" in text:
        return json.dumps({"new_instruction": said})
    fields = ("proposed_instruction", "observations", "summary", "completed")
    return "\n\n".join(f"[[ ## {name} ## ]]\n{said}" for name in fields)


def pairs(topics: int = 9, each: int = 4) -> Iterator[dict[str, Any]]:
    """Yield labelled pairs: half of each topic is supported."""
    for topic in range(topics):
        for number in range(each):
            kind, label = (("even", "full"), ("odd", "none"))[number % 2]
            yield {
                "id": f"{topic}-{number}",
                "topic": f"t{topic}",
                "sentence": f"Fact {number} of {topic} is {kind}.",
                "document": f"About fact {number} of {topic}.",
                "label": label,
            }


def write_pairs(folder: Path, topics: int = 9, each: int = 4) -> Path:
    """Write labelled pairs; return the file."""
    path = folder / "pairs.jsonl"
    path.write_text("".join(f"{json.dumps(pair)}\n" for pair in pairs(topics, each)))
    return path


def write_runs(folder: Path, topics: int = 8, runs: int = 3) -> Path:
    """Write runs that state an even and an odd fact on each topic; return their folder."""
    path = folder / "runs"
    path.mkdir()
    for run in range(runs):
        records = [_record(f"r{run}", topic) for topic in range(topics)]
        (path / f"r{run}.jsonl").write_text("".join(f"{json.dumps(r)}\n" for r in records))
    return path


def _record(run: str, topic: int) -> dict[str, Any]:
    said = [
        {"text": f"Fact {run[1:]}{n} of {topic} is {kind}.", "citations": [f"d{topic}"]}
        for n, kind in enumerate(("even", "odd", "even" if run == "r0" else "odd"))
    ]
    return {
        "metadata": {"team_id": "x", "run_id": run, "topic_id": str(topic)},
        "responses": said,
        "documents": {f"d{topic}": {"text": f"Something about {topic}."}},
    }


def labels(topics: int = 8, runs: int = 3) -> Iterator[dict[str, Any]]:
    """Yield the labels of people on the citations of these runs."""
    for run in range(runs):
        for topic in range(topics):
            for index in range(3):
                even = index == 0 or (index == 2 and run == 0)
                yield {
                    "topic_id": str(topic),
                    "run_id": f"r{run}",
                    "sentence_index": index,
                    "doc_id": f"d{topic}",
                    "label": "full_support" if even else "no_support",
                }


def write_grades(folder: Path) -> tuple[Path, list[str | Path]]:
    """Write topics and grades of people on whole responses; return the labels and flags."""
    topics, truth = folder / "topics.jsonl", folder / "grades.jsonl"
    topics.write_text("".join(f'{{"id": "{n}", "title": "What of {n}?"}}\n' for n in range(8)))
    records = (
        {"topic_id": str(topic), "run_id": f"r{run}", "label": 0 if run else 3}
        for run in range(3)
        for topic in range(8)
    )
    truth.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return truth, ["--rag-topics", topics, "--judge", "direct_prompt"]


def write_nuggets(folder: Path) -> tuple[Path, list[str | Path]]:
    """Write a bank of two nuggets on each topic, and labels on them; return labels and flags."""
    banks, truth = folder / "nuggets.jsonl", folder / "assigned.jsonl"
    said = {t: [f"Fact 0 of {t} is even.", f"Fact 1 of {t} is odd."] for t in range(8)}
    bank = (
        {"query": f"What of {t}?", "qid": str(t), "nuggets": [{"text": text} for text in texts]}
        for t, texts in said.items()
    )
    banks.write_text("".join(f"{json.dumps(record)}\n" for record in bank))
    records = (
        {"topic_id": str(t), "run_id": f"r{run}", "nugget": text, "label": label}
        for t, texts in said.items()
        for run in range(3)
        for text, label in zip(texts, ("support", "not_support"), strict=True)
    )
    truth.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return truth, ["--nuggets", banks, "--judge", "nuggets"]


def write_labels(folder: Path, topics: int = 8, runs: int = 3) -> Path:
    """Write these labels; return the file."""
    path = folder / "labels.jsonl"
    path.write_text("".join(f"{json.dumps(label)}\n" for label in labels(topics, runs)))
    return path
