"""A PostgreSQL for the tests of an index, and where an index of a test's own may lie."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.baseline.index.servers import asked, server


@pytest.fixture(scope="session")
def url() -> Iterator[str]:
    with server() as url:
        yield url


@pytest.fixture
def address(url: str, request: pytest.FixtureRequest) -> Iterator[str]:
    """Return the address of an index of the test's own."""
    name = f"t{abs(hash(request.node.nodeid))}"
    yield f"{url}&index={name}"
    for schema in (name, f"{name}_2", f"{name}_3"):
        asked(url, f"DROP SCHEMA IF EXISTS {schema} CASCADE")


@pytest.fixture(params=["sqlite", "postgresql"])
def places(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, str, str]:
    """Return where three indexes may lie, in a database of each kind."""
    if request.param == "sqlite":
        return str(tmp_path / "x.index"), str(tmp_path / "y.index"), str(tmp_path / "z.index")
    address = request.getfixturevalue("address")
    return address, f"{address}_2", f"{address}_3"
