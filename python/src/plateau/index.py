"""The index of a library and the shared store of a lab, whose tables docs/reference/store.md describes."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any, Dict, List, Sequence, Union
from urllib.parse import quote

_VERSION = 5
_SCHEMA = "plateau"
_SOCKETS = "/var/run/postgresql"

Rows = List[Dict[str, Any]]


class _Tables:
    """The tables in a database. Parameters of queries are written as the database expects them."""

    _connection: Any
    _parameter: str

    def _check(self, place: str) -> None:
        (found,) = self._connection.execute("SELECT version FROM schema_version").fetchone()
        if found != _VERSION:
            self.close()
            raise ValueError(f"{place} has schema version {found}; this package reads version {_VERSION}")

    def close(self) -> None:
        self._connection.close()

    def query(self, sql: str, values: Sequence[Any] = ()) -> Rows:
        """Runs an SQL query. Returns one dictionary per row."""
        cursor = self._connection.execute(sql, values)
        names = [column[0] for column in cursor.description or ()]
        return [dict(zip(names, row)) for row in cursor]

    def figures(self, key: str) -> Rows:
        """Returns one figure, such as `iops.rnd4k.w`, of all runs, oldest run first."""
        return self.query(
            "SELECT run.run_id, run.name, run.started_utc, run.state, run.simulated, drive.identity, drive.model,"
            " drive.firmware, figure.value, figure.unit, figure.spread_share, figure.host_limited"
            " FROM figure JOIN run ON run.run_key = figure.run_key JOIN drive ON drive.run_key = figure.run_key"
            f" WHERE figure.figure_key = {self._parameter} ORDER BY run.started_utc, run.run_id",
            (key,),
        )


class Index(_Tables):
    """The index of a library, open for reading. `plateau index` creates and updates it."""

    _parameter = "?"

    def __init__(self, library: Union[str, Path]) -> None:
        path = Path(library).resolve() / "index.sqlite"
        if not path.is_file():
            raise FileNotFoundError(f"{path} does not exist; `plateau index` creates it")
        self._connection = sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)
        self._check(str(path))

    def __enter__(self) -> "Index":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Store(_Tables):
    """A shared store in PostgreSQL, open for reading. It needs psycopg (version 3).

    The address is that of `plateau index --store`. As there, connections over a network always use TLS with a verified
    certificate, unless the address contains `sslmode=disable`.
    """

    _parameter = "%s"

    def __init__(self, address: str) -> None:
        import psycopg
        from psycopg.conninfo import conninfo_to_dict

        options: Dict[str, Any] = dict(conninfo_to_dict(address))
        options.setdefault("host", options.get("hostaddr", _SOCKETS))
        mode = options.get("sslmode", "verify-full")
        if mode not in ("disable", "require", "verify-ca", "verify-full"):
            raise ValueError("sslmode is verify-full (the default) or disable (no TLS)")
        is_local = all(host.startswith("/") for host in str(options["host"]).split(","))
        options["sslmode"] = "disable" if mode == "disable" or is_local else "verify-full"
        if options["sslmode"] == "verify-full":
            options.setdefault("sslrootcert", "system")
        self._connection = psycopg.connect(**options)
        self._connection.read_only = True
        self._connection.execute(f"SET search_path = {_SCHEMA}")
        self._check("the store")

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
