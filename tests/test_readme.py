"""What the READMEs show is what happens: their files are written, their commands run, compared."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from tests.cli_page import pages
from tests.commandline import ROOT, command
from tests.examples import BLOCK, DOCS, PAGES, PLAYED, arguments, played, steady
from trecjudge.inputs.formats.registry import all_formats
from trecjudge.judging.judge import judge_names, make_judge, settings_of
from trecjudge.models.access.addresses import service_url
from trecjudge.models.settings import LlmSettings
from trecjudge.results.leaderboards.writing import LAYOUTS
from trecjudge.stats.correlation import COEFFICIENTS

FURTHER = [
    ROOT / p for p in ("CONTRIBUTING.md", "sample_data/README.md", "tests/benchmarks/README.md")
]
README = (ROOT / "README.md").read_text(encoding="utf-8")
MANUAL = "\n".join(page.read_text(encoding="utf-8") for page in DOCS)


def name_of(page: Path) -> str:
    """Return a page's path from the root of the repository."""
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PLAYED, ids=name_of)
def test_examples(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for shown in played(page, tmp_path):
        assert steady(shown.true) == steady(shown.text)


def test_the_main_command_is_tested_as_it_stands(tmp_path: Path) -> None:
    block = re.search(r"<!-- command: judge -->\n```sh\n(.*?)```", README, re.DOTALL)
    assert block is not None
    (tmp_path / "sample_data").symlink_to(ROOT / "sample_data")
    (tmp_path / "workflows").symlink_to(ROOT / "workflows")
    words = arguments(block[1][block[1].index("python run_judge.py") :])
    done = subprocess.run(
        [sys.executable, str(ROOT / "run_judge.py"), *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 3), done.stderr
    order = [line.split()[1] for line in done.stdout.splitlines() if re.match(r"\d ", line)]
    assert order == ["careful", "uncited", "careless"]


def test_the_first_page_takes_five_minutes() -> None:
    assert len(README.splitlines()) <= 140
    assert len(README.split()) <= 5 * 230


@pytest.mark.parametrize("name", [page.name for page in pages()])
def test_every_flag_is_in_the_docs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    help_text = command(*name.split(), "--help-all").out
    flags = set(re.findall(r"(?<![\w-])--[a-z][\w-]+", help_text)) - {"--help"}
    assert flags
    assert {flag for flag in flags if f"`{flag}" not in MANUAL and flag not in MANUAL} == set()


def test_every_judge_format_and_command_is_in_the_docs() -> None:
    named = [*judge_names(), *(f.NAME for f in all_formats()), *LAYOUTS, *COEFFICIENTS]
    named += [page.name for page in pages()]
    assert [name for name in named if f"`{name}" not in MANUAL] == []


JUDGES = (ROOT / "docs" / "judges.md").read_text(encoding="utf-8")


def sections_of(name: str) -> str:
    """Return a judge's section of docs/judges.md, and those on settings that it shares."""
    parts = re.split(r"^(?=##+ )", JUDGES, flags=re.MULTILINE)
    own = [part for part in parts if part.startswith(f"## {name}\n")]
    assert len(own) == 1
    shared = rf"### Settings of .*\b{re.escape(name)}\b"
    return own[0] + "".join(part for part in parts if re.match(shared, part))


SCORED = [(name, {}) for name in judge_names()]
SCORED += [("support", {"compat": "argue"}), ("support", {"compat": "alce"})]
SCORED += [("rubric", {"task": "questions"})]


@pytest.mark.parametrize(("name", "given"), SCORED)
def test_every_setting_and_measure_is_in_the_section_of_the_judge(
    name: str, given: dict[str, str]
) -> None:
    items = "\n".join(re.findall(r"^- .*(?:\n  .*)*", sections_of(name), re.MULTILINE))
    judge = make_judge(name, given)
    named = [f"`{setting}`" for setting in settings_of(judge)]
    assert [setting for setting in named if setting not in items] == []
    words = re.split(r"[\s,:]+", items)
    assert [m.name for m in judge.measures.measures if m.name not in words] == []


def test_every_setting_of_the_door_is_in_the_docs() -> None:
    named = [f.name for f in fields(LlmSettings) if f.name != "api_key"]
    assert [name for name in named if f"`{name}`" not in MANUAL] == []


WAYS = [
    ("organise a track", {"check", "job season", "job replay"}),
    ("submit a run", {"check", "judge", "job judgments", "compare"}),
    ("build a pipeline", {"judge", "gate", "compare"}),
    ("must know whether a judge", {"judges pairs"}),
    ("have people who label", {"judge", "labels next", "labels agree", "job rescore"}),
]
"""What a stranger does who has the first page only, by the row that they find themselves in."""


@pytest.mark.parametrize(("who", "commands"), WAYS, ids=[who for who, _ in WAYS])
def test_a_page_leads_a_stranger_to_the_end(who: str, commands: set[str]) -> None:
    (link,) = re.findall(rf"^\| {who}[^|]*\| \[[^\]]+\]\((docs/\w+\.md)\)", README, re.MULTILINE)
    text = (ROOT / link).read_text(encoding="utf-8")
    run = "\n".join(b[3] for b in BLOCK.finditer(text) if b[1] == "run" and b[2] != "elsewhere")
    called = set(re.findall(r"run_judge\.py ((?:labels|judges|job|rag) \w+|\w+)", run))
    assert called >= commands


PLACES = ("OpenAI", "Azure", "vLLM", "llama.cpp", "Ollama", "OpenRouter", "Together")
PLACES += ("Anthropic", "Bedrock", "Vertex")


def test_every_setting_of_the_door_is_in_the_page_about_the_model() -> None:
    page = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    named = [f.name for f in fields(LlmSettings) if f.name != "api_key"]
    table = page[page.index("## Settings") : page.index("## What a refusal means")]
    assert [name for name in named if f"`{name}`" not in table] == []


PICTURE = re.compile(r'<(?:source srcset|img src)="([^"]+)"')


@pytest.mark.parametrize("page", [*PAGES, *FURTHER], ids=name_of)
def test_links_resolve(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)\s]+)\)", text) + PICTURE.findall(text):
        if link.startswith("http"):
            continue
        name, _, part = link.partition("#")
        target = (page.parent / name) if name else page
        assert target.exists(), link
        if part:
            assert part in anchors(target), link


def anchors(page: Path) -> set[str]:
    """Return what links may name in a page: its headings as GitHub spells them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("where", PLACES)
def test_the_page_about_the_model_has_three_lines_for(where: str) -> None:
    page = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    shown = re.search(
        rf"^{re.escape(where)}[:;,].*?```sh\n(.*?)```", page, re.DOTALL | re.MULTILINE
    )
    assert shown is not None
    assert len(shown[1].splitlines()) == 3


def test_the_addresses_in_the_page_about_the_model_are_what_they_become() -> None:
    page = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    table = page[page.index("## Addresses") : page.index("## Headers")]
    rows = re.findall(r"^\| `(http\S+)`[^|]*\| `?(http[^`|\s]+|the same)", table, re.MULTILINE)
    assert len(rows) == 5
    for base_url, url in rows:
        assert service_url(base_url) == (base_url if url == "the same" else url)
