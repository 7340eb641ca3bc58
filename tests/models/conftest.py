"""A certificate of one's own, for endpoints on loopback; a job in the test's own process."""

from __future__ import annotations

import datetime
import ipaddress
from pathlib import Path

import pytest

from tests.commandline import Done, judge
from tests.models.processes import Here, Serving, arguments


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    """Return a certificate of 127.0.0.1 that it signed itself, and its key.

    Beside them lies `locked.pem`, the key with a password.
    """
    x509 = pytest.importorskip("cryptography.x509")
    hashes = pytest.importorskip("cryptography.hazmat.primitives.hashes")
    serialization = pytest.importorskip("cryptography.hazmat.primitives.serialization")
    ec = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ec")

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "here")])
    today = datetime.datetime.now(datetime.UTC)
    here = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(today - datetime.timedelta(1))
    builder = builder.not_valid_after(today + datetime.timedelta(1)).add_extension(here, False)
    builder = builder.add_extension(x509.BasicConstraints(True, None), True)
    made = builder.sign(key, hashes.SHA256())
    pem = serialization.Encoding.PEM
    private = key.private_bytes(
        pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    locked = key.private_bytes(
        pem, serialization.PrivateFormat.PKCS8, serialization.BestAvailableEncryption(b"word")
    )
    (tmp_path / "locked.pem").write_bytes(locked)
    (tmp_path / "ca.pem").write_bytes(made.public_bytes(pem))
    (tmp_path / "key.pem").write_bytes(private)
    return tmp_path / "ca.pem", tmp_path / "key.pem"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Here:
    """Return `here(endpoint, cache, name, *flags)`: judge in this process what `runs` wrote."""

    def here(endpoint: Serving, cache: str, name: str, *flags: str) -> Done:
        for variable, value in endpoint.environment().items():
            monkeypatch.setenv(variable, value)
        given = arguments(tmp_path / cache, name)
        return judge(tmp_path / "runs", tmp_path, *given, *flags)

    return here
