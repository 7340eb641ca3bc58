"""The guard of the other tests: no network, no cache folder but the test's own."""

from __future__ import annotations

import os
import socket
import sqlite3
from pathlib import Path

import pytest

from tests.conftest import CACHE_VARIABLE, REAL_CACHE


def test_the_network_is_out_of_reach() -> None:
    with socket.socket() as opened, pytest.raises(pytest.fail.Exception, match="network"):
        opened.connect(("192.0.2.1", 80))
    with pytest.raises(pytest.fail.Exception, match="network"):
        socket.getaddrinfo("example.org", 80)


def test_loopback_is_in_reach() -> None:
    with socket.socket() as server, socket.socket() as client:
        server.bind(("127.0.0.1", 0))
        server.listen()
        client.connect(server.getsockname())


def test_the_users_cache_is_out_of_reach() -> None:
    with pytest.raises(pytest.fail.Exception, match="cache"):
        Path(REAL_CACHE).mkdir()
    with pytest.raises(pytest.fail.Exception, match="cache"):
        sqlite3.connect(f"{REAL_CACHE}/replies.sqlite")


def test_each_test_has_an_own_cache_and_no_model() -> None:
    assert not os.environ[CACHE_VARIABLE].startswith(REAL_CACHE)
    assert not [name for name in os.environ if name.startswith("OPENAI_")]
