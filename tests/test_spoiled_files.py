"""Commands on spoiled files: a seeded sample of what `python -m tests.fuzz` tries."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.cli_page import pages
from tests.commandline import ROOT
from tests.fuzz.recipes import recipes


def test_every_command_has_a_recipe() -> None:
    names = {page.name for page in pages() if not page.commands}
    assert names == {recipe.command for recipe in recipes()}


@pytest.mark.parametrize("seconds", ["2", pytest.param("12", marks=pytest.mark.slow("trecjudge"))])
def test_no_spoiled_file_makes_a_command_crash_hang_or_swell(seconds: str) -> None:
    call = [sys.executable, "-m", "tests.fuzz", "--seconds", seconds, "--seed", "7"]
    done = subprocess.run(call, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
