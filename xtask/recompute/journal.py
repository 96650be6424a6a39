"""Reads a run and checks that it is intact: `run.json`, the hash chain, the order of records, each segment.

Written from docs/reference/journal-format.md.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from checks import Checks
from histogram import Histogram, pairs

#: Events of a test, between `test_started` and `test_ended`.
OF_A_TEST = {"purged", "preconditioned", "measured", "idled", "noted", "imported"}
#: Events that prepare drive and host before a test, or restore what they changed.
SETTINGS = {"lba_format", "tuned", "host_checked", "write_cache", "idle_power"}


@dataclass(frozen=True)
class Record:
    """One line of a journal."""

    seq: int
    event: str
    body: Any
    wall: str

    @property
    def restores(self) -> bool:
        """Whether the event restores a drive or host setting."""
        return self.event in SETTINGS and bool(self.body.get("restored"))


class Segment:
    """One completed workload: section "Segment" of the format."""

    def __init__(self, record: Record) -> None:
        body = record.body
        self.seq = record.seq
        self.is_measured = record.event == "measured"
        self.workload: dict[str, Any] = body["workload"]
        self.start_ns: int = body["start_ns"]
        self.end_ns: int = body["end_ns"]
        self.ways: dict[str, dict[str, Any]] = {"read": body["read"], "write": body["write"]}
        self.latency = {way: Histogram.read(part["latency"]) for way, part in self.ways.items()}
        self.series: dict[str, Any] = body["series"]
        self.errors: list[dict[str, Any]] = body["errors"]
        self.gap_before: dict[str, int] | None = body["gap_before"]
        self.io_path: dict[str, str] = body["io_path"]
        self.host: dict[str, Any] | None = body.get("host")
        self.power: dict[str, Any] | None = body.get("power")
        self.verified: dict[str, Any] | None = body.get("verified")

    @property
    def length_ns(self) -> int:
        """Time between start and end."""
        return self.end_ns - self.start_ns

    @property
    def ios(self) -> int:
        """Reads and writes."""
        return sum(int(part["ios"]) for part in self.ways.values())

    @property
    def bytes(self) -> int:
        """Bytes read and written."""
        return sum(int(part["bytes"]) for part in self.ways.values())

    @property
    def written_bytes(self) -> int:
        """Bytes written."""
        return int(self.ways["write"]["bytes"])

    @property
    def iops(self) -> float:
        """(read I/Os + write I/Os) / seconds: PTS 1.10."""
        return self.ios * 1e9 / self.length_ns

    @property
    def bytes_per_second(self) -> float:
        """(read bytes + write bytes) / seconds: PTS 1.10."""
        return self.bytes * 1e9 / self.length_ns

    @property
    def megabytes_per_second(self) -> float:
        """The same in units of 10^6 bytes: PTS 1.2."""
        return self.bytes_per_second / 1e6

    @cached_property
    def both(self) -> Histogram:
        """Response times of reads and writes."""
        return Histogram.merged(self.latency.values())

    @property
    def mean_ms(self) -> float:
        """Sum of all response times over the number of I/Os, reads and writes alike: PTS 1.10."""
        return (self.both.mean_ns or 0.0) / 1e6

    def slices(self, count: int) -> list[Slice]:
        """Divides the series into `count` parts with equal numbers of intervals; the last part extends to the end.

        docs/reference/tests.md, "Time": part i begins at interval floor(i * intervals / count); if there are fewer
        intervals than requested parts, each is a part.
        """
        step, total = self.series["interval_ns"], len(self.series["read_ios"])
        count = max(1, min(count, total))
        ios = [reads + writes for reads, writes in zip(self.series["read_ios"], self.series["write_ios"])]
        sums = [number * mean for number, mean in zip(ios, self.series["latency_mean_ns"])]
        parts = []
        for i in range(count):
            first, after = i * total // count, (i + 1) * total // count
            end_ns = self.length_ns if after == total else after * step
            longest = max(self.series["latency_max_ns"][first:after], default=0)
            parts.append(Slice(sum(ios[first:after]), end_ns - first * step, sum(sums[first:after]), longest))
        return parts

    def check(self, checks: Checks) -> None:
        """Checks that the parts of a segment agree with each other."""
        where = f"record {self.seq}"
        for way, histogram in self.latency.items():
            checks.equal(f"{where}: {way}.ios and its histogram", histogram.ios, self.ways[way]["ios"])
            faults = histogram.faults()
            checks.holds(f"{where}: {way}.latency: {'; '.join(faults)}", not faults)
            checks.equal(f"{where}: {way}_ios of its series", sum(self.series[f"{way}_ios"]), self.ways[way]["ios"])
            if "kinds" not in self.workload:
                size = self.ways[way]["ios"] * self.workload["block_bytes"]
                checks.equal(f"{where}: {way}.bytes", size, self.ways[way]["bytes"])
        lengths = {len(self.series[name]) for name in ("read_ios", "write_ios", "latency_mean_ns", "latency_max_ns")}
        checks.holds(f"{where}: arrays of unequal length in its series: {lengths}", len(lengths) == 1)
        intervals = max(1, -(-self.length_ns // self.series["interval_ns"]))
        checks.equal(f"{where}: intervals of its series", intervals, max(lengths))
        largest = max(self.series["latency_max_ns"], default=0)
        checks.equal(f"{where}: largest response time of its series", self.both.max_ns, largest)
        self._check_columns(checks, where)

    def _check_columns(self, checks: Checks, where: str) -> None:
        """Section "Response times over time": the I/Os of all columns are those of both histograms."""
        times = self.series.get("times")
        if times is None:
            return
        per_column = times["intervals_per_column"]
        checks.holds(f"{where}: {per_column} intervals per column", per_column & (per_column - 1) == 0)
        found: Counter[int] = Counter()
        sums = []
        for column in times["columns"]:
            rows = list(pairs(column))
            sums.append(sum(count for _, count in rows))
            for row, count in rows:
                found[row] += count
        ios = [r + w for r, w in zip(self.series["read_ios"], self.series["write_ios"])]
        expected = [sum(ios[i:i + per_column]) for i in range(0, len(ios), per_column)]
        checks.equal(f"{where}: I/Os of its columns", expected, sums)
        checks.equal(f"{where}: rows of its columns", dict(self.both.rows()), dict(found))


@dataclass(frozen=True)
class Slice:
    """A part of a series."""

    ios: int
    length_ns: int
    sum_ns: int
    max_ns: int

    @property
    def iops(self) -> float:
        """I/Os per second."""
        return self.ios * 1e9 / self.length_ns

    @property
    def mean_ms(self) -> float:
        """Mean response time."""
        return self.sum_ns / self.ios / 1e6


@dataclass
class Run:
    """A run as it was read."""

    folder: Path
    file: dict[str, Any]
    records: list[Record]
    digest: str

    @property
    def scale(self) -> int:
        """Divisor of capacity and times of a simulated drive; 1 otherwise."""
        simulated = self.file["target"]["simulated"]
        return int(simulated["scale_divisor"]) if simulated else 1

    def of_test(self, name: str) -> list[Record]:
        """Records of a test, from `test_started` to `test_ended`, `closed`, or the end of the journal."""
        begin = next((i for i, record in enumerate(self.records)
                      if record.event == "test_started" and record.body["test"] == name), None)
        if begin is None:
            return []
        rest = self.records[begin:]
        end = next((i for i, record in enumerate(rest) if record.event in ("test_ended", "closed")), len(rest))
        return rest[:end + 1]


def read(folder: Path, checks: Checks) -> Run:
    """Reads a run and checks its chain: section "journal" of the format."""
    run_json = (folder / "run.json").read_bytes()
    lines = (folder / "journal").read_bytes().split(b"\n")
    checks.holds("the journal ends with an incomplete line", lines.pop() == b"")
    checks.equal("first line of the journal", b"plateau-journal 1", lines[0])
    previous = hashlib.sha256(lines[0] + b"\n").hexdigest()
    records = []
    for number, line in enumerate(lines[1:]):
        digits, text = line[:64].decode(), line[65:]
        previous = hashlib.sha256(previous.encode() + text).hexdigest()
        if not checks.equal(f"hash of record {number}", previous, digits):
            break
        entry = json.loads(text)
        checks.equal(f"seq of record {number}", number, entry["seq"])
        event = entry["event"]
        name, body = (event, {}) if isinstance(event, str) else next(iter(event.items()))
        records.append(Record(number, name, body, entry["wall"]))
    run = Run(folder, json.loads(run_json), records, previous)
    checks.holds("the journal has no records", bool(records))
    if records:
        checks.equal("first record", "opened", records[0].event)
        checks.equal("SHA-256 of run.json", hashlib.sha256(run_json).hexdigest(), records[0].body.get("run_sha256"))
    checks.equal("id and directory", folder.name, run.file["id"])
    check_order(run, checks)
    return run


def check_order(run: Run, checks: Checks) -> None:
    """Section "Order of records" of the format."""
    tests = list(run.file["tests"])
    inside: str | None = None
    stopped = closed = preparing = False
    for record in run.records[1:]:
        name, where = record.event, f"record {record.seq}: {record.event}"
        if name == "estimated":
            checks.holds(f"{where} is not directly after `opened`", record.seq == 1)
            continue
        if record.restores:
            stopped = stopped or not closed
            continue
        checks.holds(f"{where} after `closed`", not closed)
        if name == "resumed":
            stopped, preparing = False, True
            continue
        checks.holds(f"{where} after the run was stopped", not stopped)
        if name in ("interrupted", "cut"):
            # `cut` is followed by `interrupted`, unless the program died in between.
            stopped = name == "interrupted"
        elif name in SETTINGS:
            checks.holds(f"{where} within a test", inside is None or preparing)
            continue
        elif name == "test_started":
            checks.holds(f"{where} within a test", inside is None)
            inside = record.body["test"]
            checks.equal(f"{where}", tests.pop(0) if tests else None, inside)
        elif name == "test_ended":
            checks.equal(f"{where}", inside, record.body["test"])
            inside = None
        elif name == "restarted":
            checks.equal(f"{where}", inside, record.body["test"])
        elif name == "closed":
            checks.holds(f"{where} with tests that have not ended", inside is None and not tests)
            closed = True
        elif name in OF_A_TEST:
            checks.holds(f"{where} outside of a test", inside is not None)
        else:
            checks.holds(f"{where}: unknown event", name == "health")
        preparing = False
