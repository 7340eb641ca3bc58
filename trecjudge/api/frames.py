"""Records as data frames, where pandas is installed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pandas import DataFrame

WHOLE = "Int64"
"""The type of whole numbers that may be missing: by default a gap would turn 2 into 2.0."""


def frame(
    rows: Iterable[Mapping[str, Any]], columns: Sequence[str], types: Mapping[str, str]
) -> DataFrame:
    """Return rows as a data frame with these columns. Raises ImportError without pandas."""
    try:
        import pandas
    except ImportError as error:
        message = "a data frame needs the package: pip install pandas; the records do not"
        raise ImportError(message) from error
    return pandas.DataFrame(list(rows), columns=list(columns)).astype(dict(types))
