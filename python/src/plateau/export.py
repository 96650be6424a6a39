"""The tables of `plateau export --csv`, which docs/reference/exports.md describes."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any, Dict, List, Union


def _value(text: str) -> Any:
    """Returns numbers as numbers, `true` and `false` as booleans, and empty fields as None."""
    if text in ("", "true", "false"):
        return {"": None, "true": True, "false": False}[text]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def read_export(folder: Union[str, Path], table: str) -> List[Dict[str, Any]]:
    """Reads one table (`run`, `tests`, `cells`, ...) of an export, one dictionary per row.

    The folder contains the tables of one run, or one such folder for each of several runs.
    """
    folder = Path(folder)
    name = f"{table}.csv"
    own = folder / name
    paths = [own] if own.is_file() else sorted(folder.glob(f"*/{name}"))
    if not paths:
        raise FileNotFoundError(f"no {name} in {folder}")
    rows: List[Dict[str, Any]] = []
    for path in paths:
        with path.open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                # Identifiers stay text, even if they consist of digits.
                rows.append({key: text if key == "run" else _value(text) for key, text in row.items()})
    return rows
