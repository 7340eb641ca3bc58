"""What is installed: the package, with the folders `judges/` and `workflows/` inside it.

All else stands in pyproject.toml; a list there would have to name each judge.
"""

from tempfile import TemporaryDirectory

from setuptools import find_namespace_packages, setup


def packages(folder: str, inside: str = "") -> dict[str, str]:
    """Return the packages of a folder, each with where it lies; data folders are packages too."""
    names = (f"{folder}.{name}" for name in find_namespace_packages(folder))
    return {inside + name: name.replace(".", "/") for name in (folder, *names)}


lies_in = packages("workflows", "trecjudge.") | packages("judges", "trecjudge.")
lies_in |= packages("trecjudge")  # the last word on `trecjudge.judges`, whose own code is there

# Not in `build/`: what an earlier installation left there would be installed again.
with TemporaryDirectory() as build:
    setup(
        packages=list(lies_in),
        package_dir=lies_in,
        options={"build": {"build_base": build}},
    )
