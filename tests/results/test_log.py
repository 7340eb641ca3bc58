"""The log of a job, and the page that explains it."""

from __future__ import annotations

import io
import json
import re
import shlex
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import jq
import orjson
import pytest

from tests.commandline import command, sample
from tests.endpoint import Answer, Script, attestation, serving, text_of
from tests.fakes import item, judgment, response
from trecjudge.findings import Finding
from trecjudge.records import Failure, Item, ModelCall, Place, Topic, Usage, Vote
from trecjudge.results.log import DebugLog

SECRET = "the words of a document"


def logged(document_text: bool) -> list[dict[str, Any]]:
    file = io.BytesIO()
    log = DebugLog(file, document_text)
    log.finding(Finding("instruction_like_text", Place("r.jsonl", 1), f"says {SECRET}", SECRET))
    log.finding(Finding("topic_unknown", Place("r.jsonl", 1), "answers topic 'x'", "x"))
    call = ModelCall("attest", [{"role": "user", "content": SECRET}], SECRET, Usage(), 1, SECRET)
    log.log_judgments("citation", item(), [], [call])
    return [orjson.loads(line) for line in file.getvalue().splitlines()]


@pytest.mark.parametrize("document_text", [True, False])
def test_text_of_documents_is_in_the_log_or_nowhere(document_text: bool) -> None:
    events = logged(document_text)
    assert [e["event"] for e in events] == ["FINDING", "FINDING", "CITATION_INPUT", "MODEL_CALL"]
    assert (SECRET in orjson.dumps(events).decode()) is document_text
    assert events[1]["message"] == "answers topic 'x'"


def test_every_event_of_an_item_says_of_which_run_topic_and_judge_it_is() -> None:
    file = io.BytesIO()
    call = ModelCall("attest", [], "", Usage(), 1, "")
    calls = [ModelCall("attest", [], "", Usage(), 2, "", earlier=(call,))]
    failed = judgment(None, citation="d", doc_id="d", failure=Failure("parse", "no label"))
    log = DebugLog(file)
    log.log_judgments("citation", item(exists=None), [failed, judgment("full_support")], calls)
    log.event("session_end", runs=1)
    *events, end = map(orjson.loads, file.getvalue().splitlines())
    names = [e["event"].removeprefix("CITATION_") for e in events]
    assert names == ["INPUT", "MODEL_CALL", "MODEL_CALL", "OUTPUT", "FAILURE", "OUTPUT"]
    bound = {"run_id": "r", "topic_id": "t1", "judge": "citation", "sentence_index": 0}
    bound |= {"citation_id": "d", "citation_exists": None}
    for event in events:
        assert dict(list(event.items())[2:8]) == bound
    assert list(end) == ["event", "timestamp", "runs"]


def test_what_is_bound_for_one_item_is_not_in_the_next() -> None:
    file = io.BytesIO()
    log = DebugLog(file)
    log.log_judgments("citation", item(), [], [])
    log.log_judgments("length", Item(Topic("t2"), "s", "A claim."), [], [])
    log.finding(Finding("topic_unknown", Place("r.jsonl", 1), "answers topic 'x'", "x"))
    _, second, finding = map(orjson.loads, file.getvalue().splitlines())
    of_an_item = ["run_id", "topic_id", "judge", "sentence_index", "text"]
    assert list(second) == ["event", "timestamp", *of_an_item]
    assert (second["run_id"], second["topic_id"], second["judge"]) == ("s", "t2", "length")
    assert "judge" not in finding


def test_a_lean_log_leaves_out_what_the_judgments_have() -> None:
    file = io.BytesIO()
    log = DebugLog(file, lean=True)
    call = ModelCall("attest", [], "", Usage(), 1, "")
    failed = judgment(None, citation="d", doc_id="d", failure=Failure("document", "not there"))
    decided = [judgment("full_support")]
    log.log_judgments("citation", item(), decided, [])
    log.log_judgments("citation", item(), [*decided, failed], [])
    log.log_judgments("citation", item(), decided, [call])
    log.log_judgments("citation", item(), decided, [], group=2, shared=[call])
    log.log_judgments("citation", item(), [failed], [], trace="Traceback")
    log.of_audit.log_judgments("citation", item(), decided, [])
    log.finding(Finding("topic_unknown", Place("r.jsonl", 1), "answers topic 'x'", "x"))
    log.event("session_end", runs=1)
    names = [orjson.loads(line)["event"] for line in file.getvalue().splitlines()]
    assert [name.removeprefix("CITATION_") for name in names] == [
        "FAILURE",  # of an item that no model was asked about
        *("INPUT", "MODEL_CALL", "OUTPUT"),
        *("INPUT", "OUTPUT"),  # its call stands with another item of its group
        *("INPUT", "OUTPUT", "FAILURE", "BUG"),
        *("INPUT", "OUTPUT"),  # of an audit: no file has its judgments
        "FINDING",
        "session_end",
    ]


def test_sentences_without_citation_missing_words_and_scores() -> None:
    told = []
    for lean in (False, True):
        file = io.BytesIO()
        log = DebugLog(file, lean=lean)
        log.log_judgments("citation", item(), [judgment("no_support", missing=("red", "fox"))], [])
        log.log_uncited(response(("Cited.", ["d"]), ("Not cited.", []), (" ", [])))
        log.log_scores([("r", "t1", "M", 0.5), ("r", "t2", "M", None)])
        told.append([orjson.loads(line) for line in file.getvalue().splitlines()])
    (given, decided, uncited, *scores), lean_events = told
    assert (decided["missing"], decided["sentence"]) == (["red", "fox"], given["sentence"])
    place = {"run_id": "r", "topic_id": "t1", "sentence_index": 1, "sentence": "Not cited."}
    assert place.items() <= uncited.items()
    assert [list(event.values())[2:] for event in scores] == [
        ["r", "t1", "M", 0.5],
        ["r", "t2", "M", None],
    ]
    assert lean_events == []  # other files have them


def test_a_judge_of_a_module_is_named_in_full_and_its_events_for_short() -> None:
    file = io.BytesIO()
    DebugLog(file, True).log_judgments("mine.own:Citation", item(), [], [])
    (event,) = map(orjson.loads, file.getvalue().splitlines())
    assert (event["judge"], event["event"]) == ("mine.own:Citation", "CITATION_INPUT")


ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "files.md").read_text(encoding="utf-8")
JUDGE = """
python run_judge.py --rag-responses sample_data/ragtime/runs
  --rag-topics sample_data/ragtime/topics.jsonl --documents sample_data/ragtime/documents.jsonl
  --out-dir out -q
"""
JOBS = (
    "--judge citation --name words",
    "--judge support,citation,direct_prompt --name model --use-env-llm"
    " --set 'llm.prices={input: 0.15, output: 0.6}'",
)
Event = dict[str, Any]
OF_AN_ITEM = ("MODEL_CALL", "FAILURE", "BUG")


def scripted() -> Script:
    """Return a script that fails by what a sentence is, and so always in the same way."""
    asked: Counter[str] = Counter()

    def script(body: dict[str, Any], number: int) -> Answer:
        text = text_of(body)
        asked[text] += 1
        sentence = text.rpartition("[[ ## sentence")[2]
        kind, first = sum(text.encode()) % 8, asked[text] == 1
        usage = (len(text) // 4, 20 + kind)
        if sentence == text:  # of the judge `direct_prompt`
            bad = {1: Answer("It depends."), 2: Answer("", finish_reason="content_filter")}
            return replace(bad.get(kind, Answer('{"grade": 3}')), usage=usage)
        if kind == 2 and first:
            return Answer("I cannot tell.", usage=usage)
        if kind == 5 and first:
            return Answer(status=500)
        delay = 1.0 if "replaced the diesel ferry Heron" in sentence else 0.0
        label = "no_support" if kind == 4 else "full_support"
        return Answer(attestation(body, label), usage=usage, delay=delay)

    return script


def block_after(marker: str) -> str:
    """Return the block of code behind a marker."""
    found = re.search(rf"<!-- {marker} -->\n```\w+\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    return found[1]


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return a folder with the logs of the two jobs that the page asks about."""
    folder = tmp_path_factory.mktemp("page")
    for name in ("sample_data", "workflows"):
        (folder / name).symlink_to(ROOT / name)
    with pytest.MonkeyPatch.context() as patch, serving(scripted()) as endpoint:
        patch.chdir(folder)
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        for name, value in endpoint.environment().items():
            patch.setenv(name, value)
        for job in JOBS:
            assert command(*shlex.split(JUDGE + job)[2:]).status in (0, 3)
        yield folder


def answered(line: str, folder: Path) -> list[str]:
    """Return the lines that a jq command prints."""
    words = shlex.split(line)
    *flags, program, file = words[1:]
    assert set(flags) <= {"-c", "-sc"}
    text = (folder / file).read_text(encoding="utf-8")
    found = jq.compile(program).input_text(text, slurp="-sc" in flags).all()
    return [json.dumps(value, ensure_ascii=False, separators=(",", ":")) for value in found]


SHOWN = {
    "judge, model, inputs": """
[["citation","direct_prompt","support"],"stub",["sample_data/ragtime/runs"]]
""",
    "cost by topic, in millionths": """
["501",540]
["502",512]
["503",765]
""",
    "failures by kind": """
["filtered",2]
["parse",1]
""",
    "replies that could not be read": """
["citation","careful","502",2,1,"I cannot tell."]
["citation","careful","502",3,1,"I cannot tell."]
["citation","careless","502",1,1,"I cannot tell."]
["citation","careless","503",2,1,"I cannot tell."]
["citation","careless","503",2,1,"I cannot tell."]
["citation","careless","503",4,1,"I cannot tell."]
["direct_prompt","careless","503",null,1,"It depends."]
["direct_prompt","careless","503",null,2,"It depends."]
["direct_prompt","careless","503",null,3,"It depends."]
""",
    "unsupported sentences, with the nearest passage": """
["careless","Perch replaced an older diesel boat in May 2022.",null]
["careless","She carries up to 180 passengers.","A crossing between Tholmar and Veskar takes \
22 minutes, and she carries up to 120 passengers and 14 cars"]
["careless","Most households by the landing see the change as an improvement.",null]
["careless","Most households by the landing see the change as an improvement.","Makers say that an \
apprentice takes three years to learn how to split bamboo evenly"]
["careless","Tickets cost the same as in 2021.",null]
""",
    "borderline, to look at": """
["careless","501",1,"no_support",0.1574]
["careless","502",4,"no_support",0.2298]
""",
}
FEWER = {"unsupported sentences, with the nearest passage": 5}
"""Questions of whose answer the first lines are looked at."""


def queries() -> dict[str, str]:
    """Return the commands of the page by the question above each."""
    lines = block_after("queries").splitlines()
    return dict(zip((line.removeprefix("# ") for line in lines[::2]), lines[1::2], strict=True))


@pytest.mark.parametrize("question", SHOWN)
def test_a_query_answers_its_question(question: str, logs: Path) -> None:
    answer = answered(queries()[question], logs)[: FEWER.get(question)]
    assert answer == SHOWN[question].strip().splitlines()


def test_each_query_of_the_page_is_asked() -> None:
    assert queries().keys() == SHOWN.keys()
    assert all(line.startswith("jq ") for line in queries().values())
    assert PAGE.count("\njq ") == len(SHOWN)


def test_the_calls_of_the_log_add_up_to_what_its_end_says(logs: Path) -> None:
    events = written(logs / "out" / "model.log")
    calls = [e for e in events if e["event"] == "MODEL_CALL"]
    end = events[-1]
    assert (end["items_judged"], end["items_expected"]) == (73, 76)
    sent = [e for e in calls if not (e["cached"] or e["turned_away"])]
    assert len(sent) == end["model"]["calls"] == 58
    tokens = end["model"]["prompt_tokens"] + end["model"]["completion_tokens"]
    assert sum(e["tokens"] for e in calls) == tokens == 8451
    assert sum(e["shared"] for e in calls) == end["model"]["saved"] == 31


def test_pandas_gives_what_jq_gives(logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pandas")
    monkeypatch.chdir(logs)
    *lines, last = block_after("pandas").splitlines()
    names: dict[str, Any] = {}
    exec("\n".join(lines), names)
    line = queries()["cost by topic, in millionths"]
    cost = eval(last, names)["cost"]
    costs = [json.loads(row) for row in answered(line, logs)]
    assert [[str(topic), round(value * 1e6)] for topic, value in cost.items()] == costs


def test_a_line_for_cost_by_topic_gives_the_sum_of_the_table(logs: Path) -> None:
    line = queries()["cost by topic, in millionths"]
    log = (logs / "out" / "model.log").read_text(encoding="utf-8")
    end = json.loads(log.splitlines()[-1])
    total = sum(json.loads(row)[1] for row in answered(line, logs))
    assert total == pytest.approx(end["model"]["cost"] * 1e6, abs=3)


def tables() -> dict[str, list[str]]:
    """Return the fields of each event by its name, as the table of the page has them."""
    table = PAGE.partition("### Events and fields")[2].partition("\n###")[0]
    rows = re.findall(r"^\| ?`?([\w ]+?)`? ?\| ?(.*?) ?\|$", table, re.M)
    found = {name: re.findall(r"`([a-z][\w.]*)`", fields) for name, fields in rows}
    return {name: fields for name, fields in found.items() if fields}


def rare() -> list[Event]:
    """Return events that need a rare endpoint, a bug or a signal."""
    file = io.BytesIO()
    log = DebugLog(file)
    call = ModelCall("attest", [], "", Usage(), reasoning="Hm.", source="elsewhere", voter="a")
    votes = (Vote("a", failure="parse: no label"),)
    failed = judgment(None, failure=Failure("parse", "no label", 3, "attest"), votes=votes)
    log.log_judgments("support", item(), [failed], [call], trace="Traceback")
    log.event("session_interrupted", signal="SIGINT")
    log.event("session_end", voters=[], model={})
    return [json.loads(line) for line in file.getvalue().splitlines()]


def written(path: Path) -> list[Event]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def everything(logs: Path) -> list[Event]:
    """Return events of jobs that together have every field."""
    out = logs / "more"
    bank = logs / "bank.jsonl"
    nugget = {"text": "The ferry Perch is electric.", "importance": "vital"}
    bank.write_text(json.dumps({"qid": "501", "nuggets": [nugget]}), encoding="utf-8")
    found = [*written(logs / "out" / "words.log"), *written(logs / "out" / "model.log"), *rare()]
    cascade = ("--set", "claims=rules", "--set", "cascade=[lexical, llm]")
    jobs = (
        ("support", "--use-env-llm", "--set", "group=4", "--refresh"),
        ("grounding", "--use-env-llm", *cascade),
        ("grounding",),
        ("nuggets", "--nuggets", str(bank)),
        ("length",),
    )
    for number, (judge, *more) in enumerate(jobs):
        done = sample("ragtime", out / str(number), "--judge", judge, *more)
        assert done.status in (0, 3), done.err
        found += written(out / str(number) / "x.log")
    return found


def kind_of(event: Event) -> str:
    return re.sub(r"\w+_(INPUT|OUTPUT)", r"X_\1", event["event"])


def fields_of(event: Event) -> set[str]:
    """Return the names of an event's fields; those inside `model` of the last event too."""
    inside = event["model"] if event["event"] == "session_end" else {}
    return {*event, *(f"model.{name}" for name in inside)}


def test_every_field_that_is_written_is_on_the_page(everything: list[Event]) -> None:
    fields = tables()
    for event in everything:
        kind = kind_of(event)
        known = {*fields["every event"], *fields[kind]}
        if kind in OF_AN_ITEM or kind.startswith("X_"):
            known |= set(fields["of an item"])
        assert fields_of(event) <= known, event


def test_every_field_on_the_page_is_written(everything: list[Event]) -> None:
    seen: dict[str, set[str]] = {}
    for event in everything:
        seen.setdefault(kind_of(event), set()).update(fields_of(event))
    seen["every event"] = set.intersection(*map(set, everything))
    seen["of an item"] = seen["MODEL_CALL"]
    missing = {kind: set(names) - seen.get(kind, set()) for kind, names in tables().items()}
    assert {kind: names for kind, names in missing.items() if names} == {}
