"""The view of the job: what its config and log say, without keys and folders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.commandline import command, sample
from tests.endpoint import attesting, serving
from tests.fakes import response
from tests.show.html.browser import Open
from tests.show.html.made import output, report
from trecjudge.show.html.job import NOTHING_KNOWN, SentPrompt, job_shown, without_folders


def test_a_text_without_folders() -> None:
    expected = {
        "/home/me/data/runs": ".../runs",
        "~/data/runs": ".../runs",
        "--runs=/home/My Data/runs": "--runs=.../runs",
        "/a/b,/c/d": ".../b,.../d",
        "sample_data/rag/runs": "sample_data/rag/runs",
        "https://host/v1/chat": "https://host/v1/chat",
        "https://me:secret@host/v1": "https://***@host/v1",
        ".../runs": ".../runs",
    }
    assert {text: without_folders(text) for text in expected} == expected


def found(config: dict[str, Any]) -> dict[str, dict[str, str]]:
    return {section.title: dict(section.rows) for section in job_shown(config, {}).sections}


def test_settings_of_judges_and_model_are_shown() -> None:
    model = {"model": "m", "temperature": 0.0, "api_key": "sk-1", "headers": {"api-key": "sk-2"}}
    config = {"judges": {"citation": {"partial": 0.5, "calibration": ""}}, "model": model}
    shown = found(config)
    assert shown["Judge citation"] == {"partial": "0.5"}
    assert shown["Model"] == {
        "model": "m", "temperature": "0.0", "api_key": "***", "headers": "api-key: '***'",
    }  # fmt: skip


@pytest.mark.parametrize("odd", [{"judges": 5}, {"model": "m"}, {"counts": []}, {"inputs": None}])
def test_an_odd_config_is_shown_as_far_as_it_goes(odd: dict[str, Any]) -> None:
    assert "Model" in found({"written": "now"} | odd)


def test_no_config_shows_nothing() -> None:
    assert job_shown({}, {"p": "text"}) is NOTHING_KNOWN


def test_prompts_have_their_digest_and_words() -> None:
    sent = {"from": "a.json", "messages": [{"role": "user", "content": "SECRET TEXT"}]}
    config = {"model": {"prompts_sha256": {"attest": "ab"}, "prompts": {"attest": sent}}}
    shown = job_shown(config, {"attest": "Say yes."})
    assert shown.prompts == [SentPrompt("attest", "ab", "Say yes.")]
    assert "a.json" in str(shown.sections) and "SECRET TEXT" not in str(shown.sections)


def test_a_workflow_keeps_its_indentation(tmp_path: Path, open_page: Open) -> None:
    outputs = output(tmp_path, (response(("S.", [])), []))
    outputs.config.write_text("workflow: {ran: {settings: {citation: {group: 1}}}}")
    browser = open_page(report(outputs).path, "#/about")
    assert browser.text("#about").count("    group: 1") == 1


def test_the_view_of_a_job_with_a_model(
    tmp_path: Path, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(attesting()) as endpoint:
        for name, value in endpoint.environment("sk-secret").items():
            monkeypatch.setenv(name, value)
        sample("rag", tmp_path, "-q", "--report", "--use-env-llm")
    page = tmp_path / "x.report.html"
    assert "sk-secret" not in page.read_text(encoding="utf-8")
    browser = open_page(page, "#/about")
    text = browser.text("#about")
    for part in ("command line", "temperature", "base_url", "prompt tokens", "sha256"):
        assert part in text
    assert "Share of the citations that lead to a document that exists." in text
    for summary in browser.all("#about details summary"):
        summary.click()
    assert "full_support" in browser.text("#about .said-to-model")


def test_an_old_job_without_config_says_so(tmp_path: Path, open_page: Open) -> None:
    sample("rag", tmp_path, "-q")
    (tmp_path / "x.config.yml").unlink()
    command("report", tmp_path)
    shown = open_page(tmp_path / "x.report.html", "#/about").text("#about")
    assert "nothing is known of the job" in shown
