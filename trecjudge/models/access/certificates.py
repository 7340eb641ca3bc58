"""TLS certificates: whom to trust, and the client's own."""

from __future__ import annotations

import ssl
from pathlib import Path

from trecjudge.errors import ModelError


def tls_context(
    ca_file: str | None, cert_file: str | None, key_file: str | None
) -> ssl.SSLContext | None:
    """Return the TLS context of the certificate files, None where none is given.

    Raises ModelError, which names the file that cannot be used.
    """
    files = {"ca_file": ca_file, "cert_file": cert_file, "key_file": key_file}
    if key_file is not None and cert_file is None:
        raise ModelError("llm.key_file: needs llm.cert_file beside it")
    for name, path in files.items():
        if path is not None and not Path(path).is_file():
            raise ModelError(f"llm.{name} {path!r}: no such file")
    if ca_file is None and cert_file is None:
        return None
    name = "ca_file"
    try:
        context = ssl.create_default_context(cafile=ca_file)
        if cert_file is not None:
            name = "cert_file"
            # No password: OpenSSL would ask the terminal for that of a key which has one.
            context.load_cert_chain(cert_file, key_file, password="")
    except (OSError, ValueError) as error:
        raise ModelError(f"llm.{name} {files[name]!r}: {error}") from error
    return context
