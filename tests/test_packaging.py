"""An install has two import names only, and works beside another package called `judges`."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterable
from email import message_from_bytes
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from zipfile import ZipFile

import pytest

import trecjudge
from tests.commandline import ROOT, SAMPLES, command

NEEDED = 77  # the setuptools that knows a licence by its SPDX name
FOLDERS = ("trecjudge", "judges", "workflows")
FILES = ("pyproject.toml", "setup.py", "run_judge.py", "README.md", "LICENSE")
OURS = sorted(path.parent.name for path in (ROOT / "judges").glob("*/__init__.py"))
BUILD = "import sys; from setuptools import build_meta as b; b.build_{}(sys.argv[1])"
IMPORT_JUDGES = "try: import judges\nexcept ImportError as error: print(error)\nelse: print(judges)"


def run(*words: str | Path, cwd: Path, **more: str) -> str:
    """Run a command, which must succeed; return what it prints."""
    given = {**os.environ, **more}
    done = subprocess.run(words, cwd=cwd, env=given, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the files to pack, with one more judge and the remains of an old build."""
    folder = tmp_path_factory.mktemp("checkout")
    for name in FOLDERS:
        unread = shutil.ignore_patterns("__pycache__", ".*")
        shutil.copytree(ROOT / name, folder / name, ignore=unread)
    for name in FILES:
        shutil.copy(ROOT / name, folder)
    shutil.copytree(folder / "judges" / "length", folder / "judges" / "echo")
    (folder / "judges" / "echo" / "words").mkdir()
    (folder / "judges" / "echo" / "words" / "table.csv").write_text("a,b\n")
    left = folder / "build" / "lib" / "judges"
    left.mkdir(parents=True)
    (left / "__init__.py").write_text("")
    return folder


def built(kind: str, checkout: Path, into: Path) -> Path:
    """Return the wheel, or the editable one, of a checkout."""
    try:
        found = version("setuptools")
    except PackageNotFoundError:
        found = "0"
    if int(found.partition(".")[0]) < NEEDED:
        pytest.skip(f"needs setuptools {NEEDED}; pip install -e '.[test]' has it")
    run(sys.executable, "-c", BUILD.format(kind), into, cwd=checkout)
    (wheel,) = into.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def wheel(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the wheel."""
    return built("wheel", checkout, tmp_path_factory.mktemp("wheel"))


def foreign(folder: Path, code: str) -> Path:
    """Return a wheel of another package that is called `judges`."""
    path = folder / "judges-0.1.1-py3-none-any.whl"
    about = "judges-0.1.1.dist-info"
    files = {
        "judges/__init__.py": code,
        f"{about}/METADATA": "Metadata-Version: 2.1\nName: judges\nVersion: 0.1.1\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{about}/RECORD"] = "".join(f"{name},,\n" for name in (*files, f"{about}/RECORD"))
    with ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


def environment(folder: Path, wheels: Iterable[Path]) -> tuple[Path, Path]:
    """Return Python and `run-judge` where these wheels are installed, one after the other.

    What they depend on is that of the tests.
    """
    venv.create(folder, symlinks=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    paths = {sysconfig.get_path(name) for name in ("purelib", "platlib")}
    (packages / "dependencies.pth").write_text("".join(f"{path}\n" for path in paths))
    pip = (sys.executable, "-m", "pip", "install", "--prefix", folder, "--ignore-installed")
    for path in wheels:
        run(*pip, "--no-index", "--no-deps", "--no-compile", "-q", path, cwd=folder)
    return folder / "bin" / "python", folder / "bin" / "run-judge"


def shown_judges(*program: str | Path, cwd: Path, **more: str) -> list[str]:
    """Return the names of the judges that can be used."""
    rows = [line.split() for line in run(*program, "judges", cwd=cwd, **more).splitlines()]
    return [row[0] for row in rows if row[1] != "broken:"]


def judged(*program: str | Path, cwd: Path, **more: str) -> int:
    """Return how many rows of scores a small job writes, with a workflow that is shipped."""
    given = (
        "--rag-responses",
        SAMPLES / "rag" / "runs",
        "--rag-topics",
        SAMPLES / "rag" / "topics.jsonl",
    )
    documents = ("--documents", SAMPLES / "rag" / "documents.jsonl")
    run(*program, *given, *documents, "--workflow", "citation", "-q", cwd=cwd, **more)
    return len((cwd / "out" / "default.leaderboard.txt").read_text().splitlines())


def test_the_wheel_has_two_names(wheel: Path) -> None:
    names = {name.partition("/")[0] for name in ZipFile(wheel).namelist()}
    about = f"trecjudge-{trecjudge.__version__}.dist-info"
    assert names == {"trecjudge", "run_judge.py", about}


def test_the_wheel_has_all_that_lies_in_the_folders(wheel: Path, checkout: Path) -> None:
    lies = {
        ("" if name == "trecjudge" else "trecjudge/") + path.relative_to(checkout).as_posix()
        for name in FOLDERS
        for path in (checkout / name).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    packed = {name for name in ZipFile(wheel).namelist() if name.startswith("trecjudge/")}
    assert packed == lies
    assert {"trecjudge/py.typed", "trecjudge/judges/echo/words/table.csv"} <= packed


def test_the_page_of_the_wheel_shows_pictures_and_leads_to_pages(wheel: Path) -> None:
    (path,) = (name for name in ZipFile(wheel).namelist() if name.endswith("/METADATA"))
    about = message_from_bytes(ZipFile(wheel).read(path))
    addresses = dict(one.split(", ", 1) for one in about.get_all("Project-URL"))
    assert addresses.keys() == {"Repository", "Documentation", "Changelog", "Issues"}
    page, at = about.get_payload(decode=True).decode(), addresses["Repository"]
    assert about["Description-Content-Type"] == "text/markdown"
    found = re.findall(r'src(?:set)?="([^"]*)"|\]\(([^)#]*)', page)
    paths = {"".join(one).removeprefix(f"{at}/") for one in found} - {""}
    kinds = {path.split("/")[0] for path in paths if "://" not in path}
    assert kinds == {"raw", "blob"}
    version = f"v{trecjudge.__version__}"
    lacking = [
        p for p in paths if "://" not in p and not (ROOT / p.split(f"{version}/")[1]).exists()
    ]
    assert lacking == []


def test_the_program_has_the_name_of_the_package_too(wheel: Path) -> None:
    """`uvx trecjudge` and `pipx run trecjudge` look for one."""
    (path,) = (name for name in ZipFile(wheel).namelist() if name.endswith("entry_points.txt"))
    text = ZipFile(wheel).read(path).decode()
    assert {"run-judge = run_judge:cli", "trecjudge = run_judge:cli"} <= set(text.splitlines())


SLOW = pytest.mark.slow(
    "setup.py",
    "pyproject.toml",
    "run_judge.py",
    "trecjudge/settings/plugins.py",
    "trecjudge/judges",
    "trecjudge/__init__.py",
)


@SLOW
@pytest.mark.parametrize(
    ("order", "code", "theirs"),
    [
        (("ours", "theirs"), "raise ImportError('they lack something')", "they lack something"),
        (("theirs", "ours"), "", "<module 'judges' from "),
    ],
    ids=["installed before one that breaks", "installed after one that works"],
)
def test_it_goes_with_another_package_called_judges(
    order: tuple[str, str], code: str, theirs: str, wheel: Path, tmp_path: Path
) -> None:
    wheels = {"ours": wheel, "theirs": foreign(tmp_path, code)}
    program = environment(tmp_path / "env", [wheels[name] for name in order])
    assert shown_judges(*program, cwd=tmp_path) == sorted([*OURS, "echo"])
    assert judged(*program, cwd=tmp_path) > 0
    assert run(program[0], "-c", IMPORT_JUDGES, cwd=tmp_path).startswith(theirs)


@SLOW
def test_an_editable_install_finds_a_new_judge(checkout: Path, tmp_path: Path) -> None:
    editable = built("editable", checkout, tmp_path)
    program = environment(tmp_path / "env", [editable])
    ZipFile(foreign(tmp_path, "")).extractall(next(tmp_path.glob("env/lib/*/site-packages")))
    shutil.copytree(checkout / "judges" / "length", checkout / "judges" / "later")
    try:
        shown = shown_judges(*program, cwd=tmp_path)
    finally:
        shutil.rmtree(checkout / "judges" / "later")
    assert shown == sorted([*OURS, "echo", "later"])
    assert "site-packages" in run(program[0], "-c", IMPORT_JUDGES, cwd=tmp_path)
    gone = "import importlib.util as u; print(*map(u.find_spec, ('workflows', 'tests', 'docs')))"
    assert run(program[0], "-c", gone, cwd=tmp_path).split() == ["None"] * 3


def test_a_checkout_needs_no_installation(checkout: Path, tmp_path: Path) -> None:
    with ZipFile(foreign(tmp_path, "raise ImportError")) as archive:
        archive.extractall(tmp_path / "theirs")
    before = {"PYTHONPATH": str(tmp_path / "theirs")}
    program = (sys.executable, checkout / "run_judge.py")
    assert shown_judges(*program, cwd=tmp_path, **before) == sorted([*OURS, "echo"])
    assert judged(*program, cwd=tmp_path, **before) > 0


def test_the_version_is_printed() -> None:
    assert command("--version").out == f"trecjudge {trecjudge.__version__}\n"
