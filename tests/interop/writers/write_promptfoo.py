"""promptfoo: results of an evaluation whose provider knows the answers."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

Records = list[dict[str, Any]]
PROVIDER = """
const records = require('./known.json');
module.exports = class {
  id() { return 'known'; }
  async callApi(prompt, context) {
    const found = records.find((r) => r.question === context.vars.question);
    return { output: { answer: found.answer, contexts: found.contexts } };
  }
};
"""


def _results(records: Records, folder: Path, ending: str) -> Path:
    (folder / "provider.js").write_text(PROVIDER)
    (folder / "known.json").write_text(json.dumps(records))
    tests = [
        {
            "vars": {"question": r["question"]},
            "assert": [{"type": "javascript", "value": str(r["score"]), "metric": "faithfulness"}],
        }
        for r in records
    ]
    config = {"prompts": ["{{question}}"], "providers": ["file://provider.js"], "tests": tests}
    (folder / "promptfooconfig.json").write_text(json.dumps(config))
    path = folder / f"results.{ending}"
    words = ["node_modules/.bin/promptfoo", "eval", "-c", "promptfooconfig.json", "--no-cache"]
    subprocess.run([*words, "-o", str(path)], cwd=folder, capture_output=True, check=False)
    return path


def run_json(records: Records, folder: Path) -> Path:
    """promptfoo eval -o results.json"""
    return _results(records, folder, "json")


def run_jsonl(records: Records, folder: Path) -> Path:
    """promptfoo eval -o results.jsonl"""
    return _results(records, folder, "jsonl")


def run_yaml(records: Records, folder: Path) -> Path:
    """promptfoo eval -o results.yaml"""
    return _results(records, folder, "yaml")


def scores_json(records: Records, folder: Path) -> Path:
    """promptfoo eval -o results.json"""
    return _results(records, folder, "json")


def scores_csv(records: Records, folder: Path) -> Path:
    """promptfoo eval -o results.csv"""
    return _results(records, folder, "csv")
