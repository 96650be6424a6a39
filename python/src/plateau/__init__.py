"""Reads Plateau's runs, exports, index and shared store. Nothing is ever written.

The journals are authoritative: `read_run` checks the hash chain of a run. `Index` answers SQL queries from the index of
a library, `Store` from the PostgreSQL store of a lab, and `read_export` reads the tables of `plateau export --csv`. Data
frames need pandas, and `Store` needs psycopg; everything else needs only the standard library.
"""

from .export import read_export
from .frames import frame
from .index import Index, Store
from .journal import Annotation, Damaged, Record, Run, read_annotations, read_run, runs

__all__ = [
    "Annotation",
    "Damaged",
    "Index",
    "Record",
    "Run",
    "Store",
    "frame",
    "read_annotations",
    "read_export",
    "read_run",
    "runs",
]
