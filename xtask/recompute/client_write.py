"""Sustained client write: docs/reference/tests.md, "Sustained client write". No version of the PTS contains it."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

import steady
from journal import Segment
from replay import Script
from result import Chart, Point, Result, Table
from spec import KIB, MINUTE

BLOCK = 128 * KIB
#: Number of parts of the test range, and the maximum number of intervals of each.
CHUNKS, INTERVALS = 64, 32
IDLE = (1, 5, 15, 60)
#: Maximum ratio of the rates after and before a fall, minimum explained variance, minimum intervals after the fall.
FALLEN, EXPLAINED, AFTER = 0.8, 0.5, 3
#: Maximum number of intervals in a slow start, and their maximum rate as a fraction of the highest rate.
SKIPPED, SLOW_START = 10, 0.5
#: A chunk is slow up to this multiple of the sustained rate, and this many slow chunks in a row end the writes.
SLOW, SLOW_CHUNKS = 1.2, 3

Interval = tuple[int, float]


@dataclass
class Fall:
    """The first fall of the throughput."""

    intervals: int
    amount: float
    before: float
    after: float


@dataclass
class Stretch:
    """Chunks without a pause between them: bytes and seconds of each interval."""

    chunks: list[list[Interval]] = field(default_factory=list)

    def add(self, segment: Segment) -> None:
        """Appends a chunk."""
        parts = [(part.ios * BLOCK, part.length_ns) for part in segment.slices(INTERVALS)]
        if len(parts) > 1 and 2 * parts[-1][1] < segment.series["interval_ns"]:
            (amount, length), (rest, short) = parts[-2:]
            parts[-2:] = [(amount + rest, length + short)]
        self.chunks.append([(amount, length / 1e9) for amount, length in parts if length > 0])

    @property
    def all(self) -> list[Interval]:
        """The intervals of all chunks."""
        return [interval for chunk in self.chunks for interval in chunk]

    @property
    def rates(self) -> list[float]:
        """Bytes per second of each chunk."""
        return [mean_rate(chunk) for chunk in self.chunks]

    @property
    def curve(self) -> list[Point]:
        """MB/s of each interval over the GB written at its end."""
        totals = accumulate(amount for amount, _ in self.all)
        return [(total / 1e9, amount / seconds / 1e6) for total, (amount, seconds) in zip(totals, self.all)]


def mean_rate(intervals: list[Interval]) -> float:
    """All bytes over all seconds."""
    return sum(amount for amount, _ in intervals) / sum(seconds for _, seconds in intervals)


def median_rate(intervals: list[Interval]) -> float:
    """The rate of the interval that reaches half of the total time, if intervals are sorted from slowest to fastest."""
    half, passed = sum(seconds for _, seconds in intervals) / 2, 0.0
    ordered = sorted((amount / seconds, seconds) for amount, seconds in intervals)
    for rate, seconds in ordered:
        passed += seconds
        if passed >= half:
            return rate
    return ordered[-1][0]


def first_fall(series: list[Interval]) -> Fall | None:
    """Skips a slow start of a few intervals."""
    rates = [amount / seconds for amount, seconds in series]
    fast = [i for i, rate in enumerate(rates[:SKIPPED + 1]) if rate >= SLOW_START * max(rates)]
    skipped = fast[0] if fast else 0
    fall = fall_of(series[skipped:])
    if fall is None:
        return None
    amount = sum(part for part, _ in series[:skipped])
    return Fall(fall.intervals + skipped, fall.amount + amount, fall.before, fall.after)


def fall_of(series: list[Interval]) -> Fall | None:
    """The best division into a fast and a slow part; if the fast part falls as well, that fall is used."""
    seconds = sum(interval[1] for interval in series)
    amount = sum(interval[0] for interval in series)
    best, at = -1.0, 0
    first_seconds = first_amount = 0.0
    for i, interval in enumerate(series[:max(0, len(series) - AFTER)], 1):
        first_seconds, first_amount = first_seconds + interval[1], first_amount + interval[0]
        lead = first_amount / first_seconds - (amount - first_amount) / (seconds - first_seconds)
        explained = lead ** 2 * first_seconds * (seconds - first_seconds) / seconds
        if lead > 0 and explained > best:
            best, at = explained, i
    variance = sum(part ** 2 / length for part, length in series) - amount ** 2 / seconds if series else 0.0
    if not at or best < EXPLAINED * variance:
        return None
    high, low = median_rate(series[:at]), median_rate(series[at:])
    if low > FALLEN * high:
        return None
    earlier = fall_of(series[:at])
    if earlier is not None:
        return earlier
    total = float(sum(part for part, _ in series[:at - 1]))
    for part, length in series[at - 1:at + 1]:
        share = min(1.0, max(0.0, (part / length - low) / (high - low)))
        total += part * high * share / (high * share + low * (1 - share))
    return Fall(at, total, high, low)


def _is_settled(stretch: Stretch) -> bool:
    """Five chunks in a row, all after the fall, are steady as defined by PTS 1.9."""
    fall = first_fall(stretch.all)
    if fall is None or len(stretch.chunks) < steady.ROUNDS:
        return False
    before = sum(len(chunk) for chunk in stretch.chunks[:-steady.ROUNDS])
    number = len(stretch.chunks)
    windows = steady.windows({"": stretch.rates}, 1, number)
    return before > fall.intervals and windows is not None and windows[""].steady


def client_write(script: Script) -> Result:
    """Writes chunks until the throughput has fallen and is steady; repeats this after 1, 5, 15 and 60 idle minutes."""
    setup = script.setup
    script.purge()
    demand = setup.sequential_demand
    blocks = setup.test_range["segment_bytes"] // BLOCK // CHUNKS // demand[0]
    load = setup.load("sequential", 0, BLOCK, demand, {"amount_bytes": blocks * demand[0] * BLOCK}, setup.test_range)
    written = 0

    def write(stretch: Stretch) -> None:
        nonlocal written
        place: dict[str, Any] = {"from_block": written * blocks} if written else {}
        stretch.add(script.measure(load | place))
        written += 1

    fresh = Stretch()
    while len(fresh.chunks) < CHUNKS and not _is_settled(fresh):
        write(fresh)
    fall = first_fall(fresh.all)
    tail = [interval for chunk in fresh.chunks[-steady.ROUNDS:] for interval in chunk]
    after = len(fresh.all) - (fall.intervals + 1 if fall else 0)
    sustained = mean_rate(tail[-max(1, min(after, len(tail))):])
    bursts = []
    for minutes in IDLE:
        script.idle(setup.ns(minutes * MINUTE))
        burst = Stretch()
        while len(burst.chunks) < CHUNKS and not (len(burst.chunks) >= SLOW_CHUNKS and all(
                rate <= SLOW * sustained for rate in burst.rates[-SLOW_CHUNKS:])):
            write(burst)
        bursts.append(burst)
    script.ended(None)

    result = Result("Sustained Client Write", "client-write", demand)
    result.figures = [("SLC cache", fall.amount / 1e9 if fall else None, "GB"),
                      ("Rate in the cache", fall.before / 1e6 if fall else None, "MB/s"),
                      ("Sustained rate", sustained / 1e6, "MB/s")]
    caches: list[float | str] = []
    shares: list[float | str] = []
    rates: list[float | str] = []
    for minutes, burst in zip(IDLE, bursts):
        again = first_fall(burst.all)
        amount = again.amount if again else None
        if again is None and fall and all(rate <= SLOW * sustained for rate in burst.rates):
            amount = 0.0
        rate = again.before if again else burst.rates[0]
        result.figures.append((f"Cache after {minutes} min", None if amount is None else amount / 1e9, "GB"))
        result.figures.append((f"Rate after {minutes} min", rate / 1e6, "MB/s"))
        caches.append("no fall" if amount is None else amount / 1e9)
        shares.append("no fall" if amount is None or fall is None else 100 * amount / fall.amount)
        rates.append(rate / 1e6)
    rows = [("Cache (GB)", caches), ("Share of the whole cache (%)", shares), ("Rate (MB/s)", rates)]
    result.tables = [Table("Recovery in Idle Time - Tabular Data", "Recovery in Idle Time",
                           [f"{minutes} min" for minutes in IDLE], rows)]
    curves = [(f"After {minutes} min idle", burst.curve) for minutes, burst in zip(IDLE, bursts)]
    x, y = "Data written (GB)", "MB/s"
    result.charts = [Chart("Throughput v Data Written", x, y, [("SEQ 128KiB W", fresh.curve)]),
                     Chart("Throughput v Data Written After Idle Time", x, y, curves)]
    return result
