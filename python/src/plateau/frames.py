"""Data frames."""

from __future__ import annotations

from typing import Any, Dict, Iterable


def frame(rows: Iterable[Dict[str, Any]]) -> Any:
    """Returns rows of this package as a pandas data frame. Columns named `..._utc` become times."""
    import pandas

    table = pandas.DataFrame(list(rows))
    for column in table.columns:
        if column.endswith("_utc"):
            table[column] = pandas.to_datetime(table[column], utc=True)
    return table
