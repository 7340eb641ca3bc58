"""What is installed: the package, with the folders `judges/` and `workflows/` inside it.

All else stands in pyproject.toml; a list there would have to name each judge. The README has
addresses in place of its paths, which lead nowhere on the page of a package index.
"""

import re
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory

from setuptools import find_namespace_packages, setup


def packages(folder: str, inside: str = "") -> dict[str, str]:
    """Return the packages of a folder, each with where it lies; data folders are packages too."""
    names = (f"{folder}.{name}" for name in find_namespace_packages(folder))
    return {inside + name: name.replace(".", "/") for name in (folder, *names)}


def readme() -> str:
    """Return the README with pictures and pages by their addresses in the repository."""
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
    version = re.search(r'"(.+)"', Path("trecjudge/version.py").read_text().partition("=")[2])
    assert version
    at, tag = project["urls"]["Repository"], f"v{version[1]}"
    text = Path("README.md").read_text(encoding="utf-8")
    text = re.sub(r'(src(?:set)?=")(?!https?:)', rf"\1{at}/raw/{tag}/", text)
    return re.sub(r"(\]\()(?!https?:|#)", rf"\1{at}/blob/{tag}/", text)


lies_in = packages("workflows", "trecjudge.") | packages("judges", "trecjudge.")
lies_in |= packages("trecjudge")  # the last word on `trecjudge.judges`, whose own code is there

# Not in `build/`: what an earlier installation left there would be installed again.
with TemporaryDirectory() as build:
    setup(
        long_description=readme(),
        long_description_content_type="text/markdown",
        packages=list(lies_in),
        package_dir=lies_in,
        options={"build": {"build_base": build}},
    )
