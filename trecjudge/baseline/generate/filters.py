"""Which documents answers are made from, as the command line says it."""

from __future__ import annotations

from collections.abc import Iterable

from trecjudge.baseline.index.protocol import Only
from trecjudge.errors import InputError
from trecjudge.findings import shown


def only_of(written: Iterable[str]) -> Only | None:
    """Return the filter of `FIELD=VALUE` texts, None for none.

    Values of one field are alternatives. `since` and `until` bound the date. Raises InputError.
    """
    fields: dict[str, list[str]] = {}
    for text in written:
        name, sign, value = text.partition("=")
        if not sign or not name.strip() or not value.strip():
            raise InputError(f"--only {shown(text)}: must be FIELD=VALUE, such as date=2024-05-03")
        fields.setdefault(name.strip(), []).append(value.strip())
    if not fields:
        return None
    bounds = {name: fields.pop(name, [""]) for name in ("since", "until")}
    for name, values in bounds.items():
        if len(values) > 1:
            raise InputError(f"--only {name}: give it once")
    return Only(fields, bounds["since"][0], bounds["until"][0])
