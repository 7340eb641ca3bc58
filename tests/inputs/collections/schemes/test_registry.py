"""Which collection an id is of, and where it says that its document lies."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commandline import ROOT
from trecjudge.inputs.collections.schemes import FAR, Address
from trecjudge.inputs.collections.schemes.registry import (
    address_of,
    all_schemes,
    scheme_of,
    scheme_of_file,
    usual_scheme,
)

UUID = "afff11d4-0f9b-45b7-a39f-03b82928668a"


@pytest.mark.parametrize(
    ("doc_id", "name", "address"),
    [
        (
            "msmarco_v2.1_doc_04_420132660",
            "MS MARCO V2.1 documents",
            Address("msmarco_v2.1_doc_04", 420132660),
        ),
        (
            "msmarco_v2.1_doc_16_1992489241#0_2215051056",
            "MS MARCO V2.1 segmented",
            Address("msmarco_v2.1_doc_segmented_16", 2215051056),
        ),
        ("shard_00012_7", "ClimbMix", Address("shard_00012", 7, row=True)),
        ("shard_00012_" + "9" * 30, "ClimbMix", Address("shard_00012", FAR, row=True)),
        (f"{UUID}_654614496", "RAGTIME1", None),
        (UUID, "NeuCLIR1", None),
        ("22802756", "PubMed", None),
        ("clueweb22-en0000-00-00000:1", "ClueWeb22-B", None),
        ("clueweb22-en0000-00-00000", "ClueWeb22-B", None),
    ],
)
def test_ids_of_collections(doc_id: str, name: str, address: Address | None) -> None:
    scheme = scheme_of(doc_id)
    assert scheme is not None
    assert (scheme.NAME, address_of(doc_id)) == (name, address)
    assert scheme.TRACKS
    assert scheme.HOW.startswith("--documents ")


def test_other_ids() -> None:
    cases = [
        *("", "7", "129069349", "0123456", "msmarco_v2.1_doc_60_1", "msmarco_v2.1_doc_4_1"),
        *("msmarco_v2.1_doc_../../x_1", "msmarco_v2.1_doc_04_-1", "msmarco_v2.1_doc_٠٤_1"),
        *("msmarco_v2.1_doc_04_1\n", "MSMARCO_V2.1_DOC_04_1", "msmarco_v2x1_doc_04_1"),
        *("msmarco_v2.1_doc_04_1#_1", "msmarco_v2.1_doc_04_1#1", "shard_1_1", f"x{UUID}"),
        "shard_00012_" + "9" * 201,
    ]
    wrong = [doc_id for doc_id in cases if (scheme_of(doc_id), address_of(doc_id)) != (None, None)]
    assert not wrong


def test_files_of_collections() -> None:
    expected = {
        "msmarco_v2.1_doc_59": "MS MARCO V2.1 documents",
        "msmarco_v2.1_doc_segmented_00": "MS MARCO V2.1 segmented",
        "shard_00000": "ClimbMix",
        "msmarco_v2.1_doc_60": None,
        "eng": None,
    }
    assert {name: getattr(scheme_of_file(name), "NAME", None) for name in expected} == expected


def test_the_usual_collection_has_the_most() -> None:
    assert usual_scheme([]) is None
    assert usual_scheme(["x", UUID]) is None
    found = usual_scheme(["x", UUID, UUID])
    assert found is not None
    assert found.NAME == "NeuCLIR1"


def test_each_has_a_name_of_its_own() -> None:
    names = [scheme.NAME for scheme in all_schemes()]
    assert len(names) == len(set(names)) >= 7


OURS = """
NAME, TRACKS, HOW = "ours", ("our own",), "--documents FOLDER, with ours.jsonl"


def claims(doc_id):
    return doc_id.startswith("ours-")
"""
ASK = """
from trecjudge.errors import PluginError
from trecjudge.inputs.collections.schemes.registry import address_of, scheme_of
try:
    print(scheme_of("ours-1").HOW, address_of("ours-1"))
except PluginError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (OURS, "--documents FOLDER, with ours.jsonl None"),
        (
            "NAME = 'ours'",
            "the collection 'ours' at our_collection has no TRACKS, HOW, claims",
        ),
    ],
    ids=["one", "none"],
)
def test_an_installed_package_gives_a_collection(code: str, said: str, tmp_path: Path) -> None:
    about = tmp_path / "ours-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: ours\nVersion: 1\n")
    (about / "entry_points.txt").write_text("[trecjudge.collections]\nours = our_collection\n")
    (tmp_path / "our_collection.py").write_text(code)
    here = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
    done = subprocess.run(
        [sys.executable, "-c", ASK], env=here, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == said
