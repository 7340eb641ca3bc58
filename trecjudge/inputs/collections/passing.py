"""One pass over the files of a collection."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from trecjudge.findings import OnFinding
from trecjudge.inputs.collections.kept import KeptDocuments
from trecjudge.inputs.collections.units import FoundDocument


def pass_over(
    files: Sequence[Path], kept: KeptDocuments, wanted: Sequence[str], report: OnFinding, name: str
) -> None:
    """Keep the wanted documents of files."""
    from trecjudge.inputs.documents.store import _documents, nothing_in

    findings: list[object] = []
    new = kept.begin_pass(wanted)
    looked, found, any_ = set(wanted), [], []
    for path, line, document, _ in _documents(files, findings.append):
        any_ = any_ or [document.doc_id]
        if document.doc_id in looked:
            found.append(FoundDocument(document, str(path), line))
    with kept.change():
        kept.add(found, findings)
        kept.sample(any_)
    if not any_:
        raise nothing_in(Path(name))
    new.end(kept.left(wanted))
