"""Sixty mistakes that people type: each is told in one line that names what was meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commandline import SAMPLES, command, sample

RAG = SAMPLES / "rag"
JUDGE = f"judge {RAG}/runs --documents {RAG}/documents.jsonl --out-dir o -q"
LONGEST = 400
"""Characters of a line that can be taken in."""

WORDS = [
    ("judg runs", "did you mean 'judge'"),
    ("jugde runs", "did you mean 'judge'"),
    ("help jugde", "did you mean 'judge'"),
    ("--jugde citation", "did you mean '--judge'?"),
    ("--verison", "did you mean '--version'?"),
    ("judge", "RUN is missing: give run files"),
    ("judge nowhere", "nowhere: no such file or folder"),
    (f"judge {RAG}/runs --topics x", "x: no such topic file"),
    (f"judge {RAG}/runs --rag-topic x", "did you mean '--rag-topics'"),
    (f"judge {RAG}/runs --judges citation", "did you mean '--judge'"),
    (f"{JUDGE} --judge citatoin", "did you mean 'citation'?"),
    (f"{JUDGE} --judge citation,supprt", "did you mean 'support'?"),
    (f"{JUDGE} --set partail=0.5", "did you mean 'partial'?"),
    (f"{JUDGE} --set partial", "give key=value, judge.key=value"),
    (f"{JUDGE} --set partial=abc", "give a number from 0 to 1"),
    (f"{JUDGE} --set llm.temprature=0", "did you mean 'temperature'?"),
    (f"{JUDGE} --max calls", "calls takes a value; give topics=N, runs=N, calls=N, tokens=N, cost"),
    (f"{JUDGE} --max call=5", "did you mean 'calls'?"),
    (f"{JUDGE} --max 5", "there are: calls, cost, runs, tokens, topics"),
    (f"{JUDGE} --max calls=five", "five is not a whole number"),
    (f"{JUDGE} --max calls=5 calls=6", "--max calls is given twice: 5 and 6"),
    (f"{JUDGE} --max-cals 5", "did you mean '--max calls='?"),
    (f"{JUDGE} --max topics=0", "0 is too small"),
    (f"{JUDGE} --qrels-as bin", "did you mean 'binary'?"),
    (f"{JUDGE} --variant nope", "unknown variant 'nope'"),
    (f"{JUDGE} --workflow nope.yml", "nope.yml: no such file"),
    (f"{JUDGE} --run nobody", "there are: careful, careless, uncited"),
    (f"{JUDGE} --topic 999", "there are: 11, 12, 13"),
    (f"{JUDGE} --limit record=big", "give a number, as record=200MB"),
    (f"{JUDGE} --limit recrd=1MB", "did you mean 'record'?"),
    (f"{JUDGE} --shard 3/2", "give I/N, such as 2/8"),
    (f"{JUDGE} --workers many", "give a number from 1 on, auto, or dask://"),
    (f"{JUDGE} --log ful", "did you mean 'full'?"),
    (f"{JUDGE} --measure CITATION_SUPORT", "did you mean 'CITATION_SUPPORT'?"),
    (f"check {RAG}/runs --track rag24x", "did you mean 'rag24'?"),
    ("show {job} --run nobody", "there are: careful, careless, uncited"),
    ("show {job} --label partly-suported", "unknown label"),
    ("show nojob", "give the --out-dir of a job"),
    ("report {job} --truth nofile", "nofile: no such file or folder"),
    ("report {job} --against", "a value is missing: give FILE: another job"),
    ("report {job} --max sise=4", "did you mean 'size'?"),
    ("compare {job} --against nobody", "there are: careful, careless, uncited"),
    ("gate {job}", "give a rule: --min, --max, or --baseline with --max-drop"),
    ("gate {job} --min CITATION_SUPPORT", "give MEASURE=NUMBER, such as CITATION_SUPPORT=0.8"),
    ("gate {job} --min CITATION_SUPORT=0.5", "did you mean 'CITATION_SUPPORT'?"),
    ("gate {job} --max-drop 0.02", "--baseline and --max-drop go together"),
    ("table {job} --to latx", "did you mean 'latex'?"),
    ("table {job} --layout digits=9", "9 is too large; give a whole number of at least 0"),
    ("table {job} --layout plain=yes", "plain takes no value; give NAME, digits=N, plain"),
    ("labels next {job} --by randm", "did you mean 'random'?"),
    ("labels next {job} --for x", "there are: calibration, ranking"),
    ("labels agree {job}", "--labels is missing: give FILE: the labels to compare with"),
    ("labels agre {job}", "did you mean 'agree'?"),
    ("label next {job}", "did you mean 'labels' or 'labels next'"),
    ("judges prompts show attets", "did you mean 'attest'?"),
    ("judges pairs", "FILE is missing: give JSONL with sentence"),
    ("rag search", "INDEX is missing: give the index, as `rag index` wrote it"),
    ("rag index docs", "--output is missing: give INDEX"),
    ("cache", "give one of its commands: info, export, import, verify, prune"),
    ("cache prune", "give --model or --max days=N: what to delete"),
    ("init nofolder", "nofolder: no such file or folder"),
]
KEYS = [
    ("judge: citatoin", "did you mean 'citation'?"),
    ("partail: 0.5", "w.yml:1: unknown key 'partail'; there are: audit, datasets,"),
    ("settings: {partail: 0.5}", "w.yml:1: settings of judge citation: unknown key 'partail'; did"),
    ("partial: 0.5", "w.yml:1: unknown key 'partial'; it belongs below 'settings'"),
    ("settings: {temperature: 0}", "unknown key 'temperature'; it belongs below 'llm'"),
    ("settings: {sort_by: X}", "unknown key 'sort_by'; it belongs below 'leaderboard'"),
    ("sort_by: X", "w.yml:1: unknown key 'sort_by'; it belongs below 'leaderboard'"),
    ("model: gpt", "w.yml:1: unknown key 'model'; it belongs below 'llm'"),
    ("llm: {partial: 0.5}", "unknown key 'partial'; it belongs below 'settings'"),
    ("leaderboard: {partial: 0.5}", "unknown key 'partial'; it belongs below 'settings'"),
    ("variant: {a: {partial: 0.5}}", "did you mean 'variants'?"),
    ("variants: {a: {llm: {temprature: 0}}}", "did you mean 'temperature'?"),
    ("sweeps: {a: {partial: 0.5}}", "sweeps.a.partial is 0.5, must be a list of values"),
    ("prompts: {atest: strict}", "did you mean 'attest'?"),
    ("gate: {rules: 3}", "unknown key 'rules'; there are: reject_unless, review_unless"),
    ("settings:\n\tpartial: 0.5", "w.yml:2: is not YAML"),
]


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("job")
    sample("rag", out, "-q")
    return out


def check_told(words: str, message: str) -> None:
    """Assert that a command line is refused in one line which says this."""
    done = command(*words.split())
    assert (done.status in (1, 2), done.out, done.err.count("\n")) == (True, "", 1), done
    assert message in done.err and len(done.err) <= LONGEST, done.err


@pytest.mark.parametrize(("words", "message"), WORDS)
def test_what_is_typed_wrongly_is_told_in_a_line(
    words: str, message: str, job: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    check_told(words.format(job=job), message)


@pytest.mark.parametrize(("text", "message"), KEYS)
def test_a_key_in_the_wrong_place_is_told_where_it_belongs(
    text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("w.yml").write_text(text + "\n")
    check_told(f"{JUDGE} --workflow w.yml", message)
