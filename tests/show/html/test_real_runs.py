"""Real runs: every passage of evidence stands where the page marks it; the page stays small."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from tests.commandline import judge
from tests.show.html.browser import Browser
from tests.show.html.test_writing import blocks_of

SUPPORT = Path("data/rag25_support")


def test_evidence_stands_in_the_documents(
    shared: Path, tmp_path: Path, open_page: Callable[..., Browser]
) -> None:
    runs, topics = shared / SUPPORT / "runs", shared / SUPPORT / "topics.jsonl"
    options = ("--judge", "support", "--max-runs", "8", "--report", "-q", "--no-check")
    assert judge(runs, tmp_path, *options, topics=topics).status == 0
    page = tmp_path / "x.report.html"
    blocks = blocks_of(page)
    found = 0
    for number in range(len(blocks["head"][0]["topics"])):
        texts = [document["text"] for document in blocks[f"documents-{number}"]]
        for entry in blocks[f"topic-{number}"]:
            for judged in entry["judgments"]:
                if (evidence := judged.get("evidence")) is None:
                    continue
                text = texts[entry["documents"][judged["doc_id"]]]
                assert text[evidence["start"] : evidence["end"]] == evidence["quote"]
                found += 1
    assert found > 500
    assert page.stat().st_size < 2_000_000
    browser = open_page(page, "#/heat")
    cells = browser.run("return [...document.querySelectorAll('td[data-run]')].map(c => c.dataset)")
    assert len(cells) == 64
    browser.find(
        f"td[data-run={json.dumps(cells[9]['run'])}][data-topic='{cells[9]['topic']}']"
    ).click()
    assert browser.text(".document mark")
