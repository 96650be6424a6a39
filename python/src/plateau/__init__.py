"""Reads Plateau's runs, exports and index. Nothing is ever written.

The journals are authoritative: `read_run` checks the hash chain of a run. `Index` answers SQL queries from the index of
a library, and `read_export` reads the tables of `plateau export --csv`. Data frames need pandas; everything else needs
only the standard library.
"""

from .export import read_export
from .frames import frame
from .index import Index
from .journal import Annotation, Damaged, Record, Run, read_annotations, read_run, runs

__all__ = [
    "Annotation",
    "Damaged",
    "Index",
    "Record",
    "Run",
    "frame",
    "read_annotations",
    "read_export",
    "read_run",
    "runs",
]
