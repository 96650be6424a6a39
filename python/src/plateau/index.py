"""The index of a library, an SQLite database whose tables docs/reference/store.md describes."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any, Dict, List, Sequence, Union
from urllib.parse import quote

_VERSION = 3


class Index:
    """The index of a library, open for reading. `plateau index` creates and updates it."""

    def __init__(self, library: Union[str, Path]) -> None:
        path = Path(library).resolve() / "index.sqlite"
        if not path.is_file():
            raise FileNotFoundError(f"{path} does not exist; `plateau index` creates it")
        self._connection = sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)
        (found,) = self._connection.execute("SELECT version FROM schema_version").fetchone()
        if found != _VERSION:
            self._connection.close()
            raise ValueError(f"{path} has schema version {found}; this package reads version {_VERSION}")

    def __enter__(self) -> "Index":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    def query(self, sql: str, values: Sequence[Any] = ()) -> List[Dict[str, Any]]:
        """Runs an SQL query. Returns one dictionary per row."""
        cursor = self._connection.execute(sql, values)
        names = [column[0] for column in cursor.description or ()]
        return [dict(zip(names, row)) for row in cursor]

    def figures(self, key: str) -> List[Dict[str, Any]]:
        """Returns one figure, such as `iops.rnd4k.w`, of all runs, oldest run first."""
        return self.query(
            "SELECT run.run_id, run.name, run.started_utc, run.state, run.simulated, drive.identity, drive.model,"
            " drive.firmware, figure.value, figure.unit, figure.spread_share, figure.host_limited"
            " FROM figure JOIN run ON run.run_key = figure.run_key JOIN drive ON drive.run_key = figure.run_key"
            " WHERE figure.figure_key = ? ORDER BY run.started_utc, run.run_id",
            (key,),
        )
