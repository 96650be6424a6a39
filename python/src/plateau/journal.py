"""Runs as they are stored: `run.json`, `journal`, and the journal of their library.

The format is described in docs/reference/journal-format.md.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, Iterator, List, Tuple, Union

_MAGIC = b"plateau-journal "
_LIBRARY_MAGIC = b"plateau-library-journal "
_VERSION = 1
_MOST_RUN_FILE_BYTES = 4 << 20
_MOST_JOURNAL_BYTES = 4 << 30

PathLike = Union[str, Path]


class Damaged(ValueError):
    """A file is not as Plateau wrote it."""


@dataclass(frozen=True)
class Record:
    """One event of a run."""

    seq: int
    wall: str
    """Time in UTC."""
    event: str
    """Kind of the event, such as `measured`."""
    data: Any
    """Its content; None for events without content."""


@dataclass(frozen=True)
class Annotation:
    """One change to the labels of a run, made by a person."""

    seq: int
    wall: str
    who: str
    change: str
    """Kind of the change, such as `tagged`."""
    data: Dict[str, Any]


@dataclass(frozen=True)
class Run:
    """A run, whose hash chain is intact."""

    folder: Path
    file: Dict[str, Any]
    """The content of `run.json`."""
    records: List[Record]
    digest: str
    """Hash of the last record, which covers all records."""
    is_torn: bool
    """Whether an incomplete last record was ignored."""

    @property
    def id(self) -> str:
        return str(self.file["id"])

    def of(self, event: str) -> Iterator[Record]:
        """The records of one kind."""
        return (record for record in self.records if record.event == event)


def _read(path: Path, limit: int) -> bytes:
    if path.is_symlink() or not path.is_file():
        raise Damaged(f"{path} is not a regular file")
    with path.open("rb") as file:
        content = file.read(limit + 1)
    if len(content) > limit:
        raise Damaged(f"{path} is larger than {limit} B")
    return content


def _lines(path: Path, magic: bytes) -> Tuple[List[Dict[str, Any]], str, bool]:
    """Returns the records, the hash of the last record, and whether an incomplete record follows it."""
    lines = _read(path, _MOST_JOURNAL_BYTES).splitlines(keepends=True)
    header = lines[0] if lines else b""
    if not header.startswith(magic) or not header.endswith(b"\n"):
        raise Damaged(f"{path} is not a journal: its first line is not {magic.decode()}N")
    version = header[len(magic) : -1]
    if version != str(_VERSION).encode():
        raise Damaged(f"{path} has version {version.decode(errors='replace')}; {_VERSION} is supported")
    link = hashlib.sha256(header).hexdigest()
    records: List[Dict[str, Any]] = []
    for number, line in enumerate(lines[1:]):
        body = line[65:-1]
        next_link = hashlib.sha256(link.encode() + body).hexdigest()
        if not line.endswith(b"\n") or line[:65] != f"{next_link} ".encode():
            # Only the last line can be incomplete. Complete lines contain no zero bytes.
            if number == len(lines) - 2 and (not line.endswith(b"\n") or b"\0" in line):
                return records, link, True
            raise Damaged(f"{path} is damaged at record {number}")
        record = json.loads(body)
        if record["seq"] != number:
            raise Damaged(f"{path}: record {number} is numbered {record['seq']}")
        records.append(record)
        link = next_link
    return records, link, False


def _kind(value: Any) -> Tuple[str, Any]:
    """Splits an event into its kind and content."""
    if isinstance(value, str):
        return value, None
    if isinstance(value, dict) and len(value) == 1:
        return next(iter(value.items()))
    raise Damaged(f"not an event: {value!r}")


def read_run(folder: PathLike) -> Run:
    """Reads the run in a folder, and checks its hash chain and that its `run.json` is unchanged.

    Raises `Damaged` if the folder is not a run, or if one of these files was changed.
    """
    folder = Path(folder)
    content = _read(folder / "run.json", _MOST_RUN_FILE_BYTES)
    parsed, digest, is_torn = _lines(folder / "journal", _MAGIC)
    records = [Record(line["seq"], line["wall"], *_kind(line["event"])) for line in parsed]
    if not records or records[0].event != "opened":
        raise Damaged(f"{folder}: the journal does not begin with the hash of run.json")
    if records[0].data["run_sha256"] != hashlib.sha256(content).hexdigest():
        raise Damaged(f"{folder}: run.json was changed after the run started")
    return Run(folder, json.loads(content), records, digest, is_torn)


def runs(library: PathLike) -> Iterator[Run]:
    """Reads all runs in a library, sorted by the names of their folders. Folders without a run are skipped."""
    for folder in sorted(Path(library).iterdir()):
        if not folder.name.startswith(".") and (folder / "run.json").is_file():
            yield read_run(folder)


def read_annotations(library: PathLike) -> List[Annotation]:
    """Reads all annotations of runs in a library, oldest first."""
    path = Path(library) / "library.journal"
    if not path.exists():
        return []
    parsed, _, _ = _lines(path, _LIBRARY_MAGIC)
    return [Annotation(line["seq"], line["wall"], line["who"], *_kind(line["change"])) for line in parsed]
