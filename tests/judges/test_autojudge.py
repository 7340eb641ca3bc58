"""Judges written for AutoJudge, run by ours: values, failures, settings, nuggets, a model."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from tests.autojudge import THEIRS, auto_judge, inputs, rows
from tests.commandline import ROOT, Done, command
from tests.endpoint import Answer, serving
from trecjudge.results.judgments import JudgmentsReader

WORKFLOW = """
judge_class: their_judges.Grades
create_nuggets: false
settings: {filebase: "{_name}", plus: 1}
judge_settings: {plus: 2}
qrels_settings: {grade: 3}
variants:
  more: {plus: 5}
  most: {judge_settings: {plus: 7}}
sweeps:
  grid: {plus: [10, 20]}
"""
BANK = (
    '{"query_id": "%s", "title_query": "", "format_version": "v3",'
    ' "nugget_bank": {"Why?": {"question": "Why?", "answers": {"Steam": {"answer": "Steam"}}}}}\n'
)


def judged(folder: Path, name: str, *arguments: str | Path, given: list[str] | None = None) -> Done:
    """Judge by a class of `their_judges` into `folder` under the name `x`."""
    flags = given or inputs(folder)
    chosen = ["--judge", "autojudge", "--set", f"judge_class=their_judges:{name}"]
    return command(*chosen, *flags, "--out-dir", folder, "--name", "x", *arguments)


def theirs(folder: Path, workflow: str, flags: list[str], *arguments: str | Path) -> Path:
    """Run a workflow by `auto-judge run`; return its folder."""
    path = folder / "theirs.yml"
    path.write_text(workflow)
    done = auto_judge("-w", path, *flags, "--out-dir", folder / "theirs", *arguments)
    assert done.status == 0, done.err
    return folder / "theirs"


@pytest.mark.parametrize("name", ["Words", "Compares", "Missing"])
def test_theirs_by_ours_equals_theirs_by_theirs(name: str, tmp_path: Path) -> None:
    flags = inputs(tmp_path)
    if name == "Missing":
        (tmp_path / "topics.jsonl").open("a").write('{"request_id": "3", "title": "?"}\n')
    made = theirs(
        tmp_path,
        f"judge_class: their_judges.{name}\ncreate_nuggets: false\ncreate_qrels: false\n",
        flags,
    )
    assert judged(tmp_path, name, "-q", given=flags).status == 0
    own = rows(tmp_path / "x.leaderboard.txt")
    given = {
        key: value
        for key, value in rows_of_numbers(made / "default.eval.txt").items()
        if key[2] != "KIND"
    }
    assert own == given
    assert len(own) == 6


def rows_of_numbers(path: Path) -> dict[tuple[str, ...], float]:
    """Return the rows whose value is a number."""
    lines = [line.split() for line in path.read_text().splitlines()]
    return {tuple(x[:3]): round(float(x[3]), 6) for x in lines if len(x) > 3 and x[2] != "KIND"}


def test_a_topic_that_is_called_as_the_means_are(tmp_path: Path) -> None:
    done = judged(tmp_path, "Words", "-q", given=inputs(tmp_path, topics=("1", "all")))
    assert (done.status, done.err.count("\n")) == (1, 1)
    assert "a topic is called 'all', as the row of means is in AutoJudge; rename" in done.err


def test_failures_that_it_hides_are_said_to_be_unknown(tmp_path: Path) -> None:
    done = judged(tmp_path, "Words")
    assert "failures unknown: judge autojudge" in done.out + done.err
    assert "failures_unknown:\n  - autojudge" in (tmp_path / "x.config.yml").read_text()
    reader = JudgmentsReader(tmp_path / "x.judgments.jsonl")
    reasons = {j.reason for _, judgments in reader for j in judgments}
    assert reasons == {"failures unknown: it does not tell what failed"}


def test_what_it_prints_goes_to_a_file(tmp_path: Path) -> None:
    done = judged(tmp_path, "Words", "--json")
    assert json.loads(done.out)["failures_unknown"] == ["autojudge"]
    assert "counting words" not in done.out + done.err
    assert (tmp_path / "x.autojudge" / "output.log").read_text() == "counting words\n"


def test_what_a_class_keeps_reaches_no_other_job(tmp_path: Path) -> None:
    flags = inputs(tmp_path)
    judged(tmp_path, "Keeps", "-q", given=flags)
    first = rows(tmp_path / "x.leaderboard.txt")
    judged(tmp_path, "Keeps", "-q", given=flags)
    assert rows(tmp_path / "x.leaderboard.txt") == first
    assert first["good", "1", "WORDS"] == 4


def test_scores_are_made_again_without_its_code(tmp_path: Path) -> None:
    judged(tmp_path, "Words", "-q")
    before = (tmp_path / "x.leaderboard.txt").read_bytes()
    path = tmp_path / "x.judgments.jsonl"
    path.write_bytes(path.read_bytes().replace(b"their_judges:Words", b"not.there:Words"))
    done = command("job", "rescore", tmp_path / "x")
    assert (done.status, (tmp_path / "x.leaderboard.txt").read_bytes()) == (0, before)
    assert "failures unknown" in done.out + done.err


def test_judgments_that_name_no_measures_import_nothing(tmp_path: Path) -> None:
    judged(tmp_path, "Words", "-q")
    path = tmp_path / "x.judgments.jsonl"
    first, rest = path.read_bytes().split(b"\n", 1)
    header = orjson.loads(first)
    header["judges"]["autojudge"] |= {"measures_wanted": "", "judge_class": "not.there:X"}
    path.write_bytes(orjson.dumps(header) + b"\n" + rest)
    done = command("job", "rescore", tmp_path / "x")
    assert done.status == 1
    assert "the judge has no measures" in done.err


UNJUDGED = {
    "an error": ("Breaks", "bug", "ValueError: no luck in autojudge"),
    "one response": ("Compares", "not_given", "gave no score for this response"),
}


@pytest.mark.parametrize(("name", "kind", "message"), UNJUDGED.values(), ids=UNJUDGED)
def test_what_it_does_not_score_is_unjudged(
    name: str, kind: str, message: str, tmp_path: Path
) -> None:
    flags = inputs(tmp_path, ["good"])
    done = judged(tmp_path, name, "--also", "length", "--json", given=flags)
    assert done.status == 3
    assert json.loads(done.out)["failures"] == {kind: 2}
    assert message in (tmp_path / "x.judgments.jsonl").read_text()
    assert rows(tmp_path / "x.leaderboard.txt")["good", "all", "LENGTH"] == 10


def test_a_value_that_is_no_number_is_left_out(tmp_path: Path) -> None:
    done = judged(tmp_path, "Odd")
    found = rows(tmp_path / "x.leaderboard.txt")
    assert {measure for _, _, measure in found} == {"B"}
    assert "gave no value of A" in done.err


REFUSED = {
    "no class": (["--set", 'judge_class=""'], "give judge_class=package.module:Class"),
    "no such module": (["--set", "judge_class=not.there:X"], "'not.there:X' cannot be imported"),
    "no such class": (["--set", "judge_class=their_judges:Word"], "did you mean 'Words'?"),
    "no module": (["--set", "judge_class=Words"], "give package.module:Class"),
    "no such file of nuggets": (["--set", "nugget_input=n.jsonl"], "nugget_input n.jsonl: no such"),
    "no such file of measures": (["--set", "measures_file=m.yml"], "m.yml: cannot be read"),
}


@pytest.mark.parametrize(("flags", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_run_is_refused(flags: list[str], message: str, tmp_path: Path) -> None:
    chosen = flags if flags[1].startswith("judge_class") else [*flags, "--set", WORDS]
    done = command("--judge", "autojudge", *chosen, *inputs(tmp_path), "--out-dir", tmp_path / "o")
    assert done.status == 1
    assert message in done.err


WORDS = "judge_class=their_judges:Words"


def test_measures_come_from_a_setting_or_a_file(tmp_path: Path) -> None:
    flags = inputs(tmp_path)
    judged(tmp_path, "Odd", "--set", "measures_wanted=B", "-q", given=flags)
    assert {key[2] for key in rows(tmp_path / "x.leaderboard.txt")} == {"B"}
    file = tmp_path / "m.yml"
    file.write_text("measures:\n- {name: WORDS, dtype: int}\n- {name: KIND, dtype: str}\n")
    judged(tmp_path, "Words", "--set", f"measures_file={file}", "-q", given=flags)
    assert {key[2] for key in rows(tmp_path / "x.leaderboard.txt")} == {"WORDS"}


POINTS: dict[str, tuple[list[str], dict[str, float]]] = {
    "as it is": ([], {"x": 2}),
    "a variant": (["--variant", "more"], {"x.more": 5}),
    "a variant of one call": (["--variant", "most"], {"x.most": 7}),
    "a sweep": (
        ["--sweep", "grid"],
        {"x.autojudge.override.plus-10": 10, "x.autojudge.override.plus-20": 20},
    ),
    "a setting of the command line": (["--set", "override={plus: 4}"], {"x": 4}),
}


@pytest.mark.parametrize(("flags", "values"), POINTS.values(), ids=POINTS)
def test_a_workflow_of_theirs_is_read(
    flags: list[str], values: dict[str, float], write: Callable[..., Path], tmp_path: Path
) -> None:
    path = write(WORKFLOW, "theirs.yml")
    given = ["--workflow", path, *inputs(tmp_path), "--out-dir", tmp_path, "--name", "x", "-q"]
    assert command(*given, *flags).status == 0
    found = {
        name: rows(tmp_path / f"{name}.leaderboard.txt")["good", "all", "PLUS"] for name in values
    }
    assert found == values


def test_qrels_and_nuggets_are_carried(write: Callable[..., Path], tmp_path: Path) -> None:
    flags = inputs(tmp_path)
    bank = write("".join(BANK % topic for topic in "12"), "n.jsonl")
    made = theirs(tmp_path, WORKFLOW, flags, "--nugget-banks", bank)
    path = tmp_path / "theirs.yml"
    for nuggets in (["--nuggets", bank], ["--set", f"nugget_input={bank}"]):
        given = ["--workflow", path, *flags, *nuggets, "--out-dir", tmp_path, "--name", "x", "-q"]
        assert command(*given).status == 0
        own = rows(tmp_path / "x.leaderboard.txt")
        assert own == rows(made / "default.eval.txt")
        assert (own["good", "1", "NUGGETS"], own["good", "1", "GRADED"]) == (1, 2)
        assert rows(tmp_path / "x.qrels") == rows(made / "default.qrels.txt")
        assert rows(tmp_path / "x.qrels") == {("1", "0", "k"): 3, ("2", "0", "k"): 3}


def endpoint(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    """Make an endpoint the one of the environment."""
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    monkeypatch.setenv("OPENAI_MODEL", "m")
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-of-mine-alone")


def test_its_calls_are_counted_and_it_never_sees_the_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(lambda body, number: Answer("yes")) as server:
        endpoint(monkeypatch, server.url)
        done = judged(tmp_path, "Asks", "--use-env-llm", "--json")
        assert {h["Authorization"] for h in server.headers} == {"Bearer a-key-of-mine-alone"}
    summary = json.loads(done.out)[0] if done.out.startswith("[") else json.loads(done.out)
    assert (done.status, summary["calls"]["calls"], summary["calls"]["prompt_tokens"]) == (0, 4, 40)
    assert rows(tmp_path / "x.leaderboard.txt")["good", "all", "YES"] == 1
    reason = "0 of 4 calls failed"
    assert reason in (tmp_path / "x.judgments.jsonl").read_text()


@pytest.mark.slow("trecjudge/interop", "judges/autojudge")
def test_it_finds_no_secret_in_any_environment(tmp_path: Path) -> None:
    hidden = ["Qw-the-key", "Qw-the-header", "Qw-the-password", "Qw-of-the-proxy"]
    workflow = tmp_path / "mine.yml"
    workflow.write_text("llm: {headers: {X-Team: '${TEAM_WORD}'}}\n")
    flags = ["--judge", "autojudge", "--set", "judge_class=spying:Spies", *inputs(tmp_path)]
    flags += ["--workflow", workflow, "--out-dir", tmp_path, "--name", "x", "--use-env-llm", "-q"]
    with serving(lambda body, number: Answer("yes")) as server:
        own = {"OPENAI_BASE_URL": server.url, "OPENAI_MODEL": "m", "OPENAI_API_KEY": hidden[0]}
        own |= {"TEAM_WORD": hidden[1], "PGPASSWORD": hidden[2], "NO_PROXY": "127.0.0.1"}
        own |= {"HTTPS_PROXY": f"http://me:{hidden[3]}@127.0.0.1:9", "PYTHONPATH": str(THEIRS)}
        words = [sys.executable, str(ROOT / "run_judge.py"), *map(str, flags)]
        done = subprocess.run(words, env=os.environ | own, capture_output=True, text=True)
        sent = [(h["Authorization"], h["X-Team"]) for h in server.headers]
    assert (done.returncode, done.stderr) == (0, "")
    assert set(sent) == {(f"Bearer {hidden[0]}", hidden[1])}
    said = (tmp_path / "x.autojudge" / "output.log").read_text()
    assert "OPENAI_BASE_URL" in said
    assert [secret for secret in hidden if secret in said] == []


def test_an_endpoint_that_only_fails_leaves_all_unjudged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(lambda body, number: Answer("no", status=500)) as server:
        endpoint(monkeypatch, server.url)
        done = judged(tmp_path, "Asks", "--use-env-llm")
    assert done.status == 3
    assert "all 4 calls of their_judges:Asks to the model failed; the first: status 500" in done.out
    assert "YES\t" not in (tmp_path / "x.leaderboard.txt").read_text()


def test_calls_that_fail_here_and_there_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = [200, 500, 200, 200]
    with serving(lambda body, number: Answer("yes", status=script[number])) as server:
        endpoint(monkeypatch, server.url)
        done = judged(tmp_path, "Asks", "--use-env-llm")
    assert done.status == 0
    assert "made 4 calls, of which 1 failed; the first: status 500" in done.err


@pytest.mark.parametrize("flags", [[], ["--use-env-llm", "--max-calls", "1"]], ids=["none", "one"])
def test_no_more_is_asked_than_the_flags_allow(
    flags: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(lambda body, number: Answer("yes")) as server:
        endpoint(monkeypatch, server.url)
        judged(tmp_path, "Asks", *flags, "-q")
        assert len(server.requests) == (1 if flags else 0)


MAKES = "nugget_class: their_judges.Makes\ncreate_nuggets: true\ncreate_qrels: false\n"


@pytest.mark.parametrize(
    "judging", ["judge: false\n", "judge_class: their_judges.Grades\nsettings: {plus: 1}\n"]
)
def test_the_banks_of_their_makers_are_written_as_theirs_writes_them(
    judging: str, tmp_path: Path
) -> None:
    flags, workflow = inputs(tmp_path), MAKES + judging
    made = theirs(tmp_path, workflow, flags, "--store-nuggets", tmp_path / "theirs" / "y")
    given = ["--workflow", tmp_path / "theirs.yml", *flags, "--out-dir", tmp_path, "--name", "x"]
    done = command(*given)
    assert done.status == 0, done.err
    ours = tmp_path / "x.nuggets.jsonl"
    assert f"2 banks of nuggets: {ours}" in done.err
    assert ours.read_bytes() == (made / "y.nuggets.jsonl").read_bytes()
    assert set(rows(tmp_path / "x.leaderboard.txt").values()) >= {2.0}
    own = command("--judge", "nuggets", *flags, "--nuggets", ours, "--out-dir", tmp_path, "-q")
    assert own.status == 0, own.err


def test_banks_that_theirs_refuses_leave_all_unjudged(tmp_path: Path) -> None:
    path = tmp_path / "w.yml"
    path.write_text("nugget_class: their_judges:Lacks\njudge: false\n")
    done = command("--workflow", path, *inputs(tmp_path), "--out-dir", tmp_path, "--name", "x")
    why = "the banks of their_judges:Lacks are refused: NuggetBanksVerificationError"
    assert (done.status, why in (tmp_path / "x.judgments.jsonl").read_text()) == (3, True)
    assert not (tmp_path / "x.nuggets.jsonl").exists()


def test_what_makes_no_banks_is_said_before(tmp_path: Path) -> None:
    path = tmp_path / "w.yml"
    path.write_text("nugget_class: their_judges:Words\njudge: false\n")
    done = command("--workflow", path, *inputs(tmp_path), "--out-dir", tmp_path)
    assert (done.status, "their_judges:Words has no create_nuggets" in done.err) == (1, True)


def test_a_plan_runs_nothing_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    endpoint(monkeypatch, "http://127.0.0.1:9/v1")
    done = judged(tmp_path, "Breaks", "--use-env-llm", "--plan")
    assert done.status == 0
    assert not (tmp_path / "x.autojudge").exists()


def test_a_run_that_is_not_judged_is_not_shown(tmp_path: Path) -> None:
    judged(tmp_path, "Compares", "--run", "good", "-q")
    assert "not_given" in (tmp_path / "x.judgments.jsonl").read_text()
