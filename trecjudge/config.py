"""The config file: what makes a job repeatable."""

from __future__ import annotations

import hashlib
import platform
import re
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import yaml

PACKAGES = ("trecjudge", "dspy", "aiohttp", "PyStemmer")
CREDENTIALS = re.compile(r"(?<=//)[^/@\s]+@")


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that can change a judgment."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def digests(paths: Iterable[Path]) -> dict[str, str]:
    """Return the sha256 of each file, as it lies on disk."""
    return {str(path): _digest(path) for path in paths}


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def config_text(config: Mapping[str, Any]) -> bytes:
    """Return a config as YAML, keys in the order given; credentials inside addresses are cut."""
    text = yaml.safe_dump(dict(config), sort_keys=False, allow_unicode=True, width=100)
    return CREDENTIALS.sub("", text).encode()
