"""Histograms of response times and the percentiles derived from them.

Written from the sections "Histogram" and "Response times over time" of docs/reference/journal-format.md.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Iterable

#: Confidence levels that reports print (PTS 2.9).
LEVELS = ("1", "5", "10", "20", "30", "40", "50", "60", "70", "80", "90", "95", "99", "99.9", "99.99",
          "99.999", "99.9999")
#: Number of I/Os that must lie beyond a percentile for it to be printed (PTS 2.9).
BEYOND = 10
#: Slots of one coarse row of a series.
SLOTS_PER_ROW = 32


def slot_bounds(slot: int) -> tuple[int, int]:
    """First value of a slot and of the next slot: 128 slots for each power of two, exact below 128."""
    if slot < 128:
        return slot, slot + 1
    shift = slot // 128 - 1
    return (slot % 128 + 128) << shift, (slot % 128 + 129) << shift


def pairs(values: list[int]) -> Iterable[tuple[int, int]]:
    """Positions and counts of an array that alternates distance and count."""
    position = 0
    for distance, count in zip(values[0::2], values[1::2], strict=True):
        position += distance
        yield position, count


@dataclass
class Histogram:
    """Response times of some I/Os."""

    sum_ns: int = 0
    min_ns: int = 0
    max_ns: int = 0
    slots: Counter[int] = field(default_factory=Counter)

    @classmethod
    def read(cls, wire: dict[str, Any]) -> Histogram:
        """Reads a histogram in its journal format."""
        slots: Counter[int] = Counter(dict(pairs(wire["slots"])))
        return cls(wire["sum_ns"], wire["min_ns"], wire["max_ns"], slots)

    @classmethod
    def merged(cls, parts: Iterable[Histogram]) -> Histogram:
        """All I/Os of several histograms."""
        filled = [part for part in parts if part.ios]
        if not filled:
            return cls()
        slots: Counter[int] = Counter()
        for part in filled:
            slots.update(part.slots)
        return cls(sum(part.sum_ns for part in filled), min(part.min_ns for part in filled),
                   max(part.max_ns for part in filled), slots)

    @property
    def ios(self) -> int:
        """Number of I/Os."""
        return sum(self.slots.values())

    @property
    def mean_ns(self) -> float | None:
        """Sum over number, reads and writes alike (PTS 1.10); None without I/O."""
        return self.sum_ns / self.ios if self.ios else None

    def percentile_ns(self, level: str) -> int | None:
        """The value at rank ceil(share * I/Os), as the middle of its slot within minimum and maximum.

        None if fewer than ten I/Os lie beyond it (PTS 2.9).
        """
        share = Fraction(level) / 100
        if not self.ios or self.ios * (1 - share) < BEYOND:
            return None
        rank = -(-self.ios * share.numerator // share.denominator)
        seen = 0
        for slot in sorted(self.slots):
            seen += self.slots[slot]
            if seen >= rank:
                first, after = slot_bounds(slot)
                return min(max((first + after - 1) // 2, self.min_ns), self.max_ns)
        raise AssertionError("a rank is at most the number of I/Os")

    def faults(self) -> list[str]:
        """Violations of the format: values outside their slots, empty slots, an impossible sum."""
        if not self.slots:
            empty = self.sum_ns == self.min_ns == self.max_ns == 0
            return [] if empty else ["an empty histogram has values"]
        found = []
        low, high = min(self.slots), max(self.slots)
        if not slot_bounds(low)[0] <= self.min_ns < slot_bounds(low)[1]:
            found.append(f"min_ns {self.min_ns} is not in the first slot {low}")
        if not slot_bounds(high)[0] <= self.max_ns < slot_bounds(high)[1]:
            found.append(f"max_ns {self.max_ns} is not in the last slot {high}")
        if min(self.slots.values()) < 1:
            found.append("a slot without values is listed")
        least = sum(slot_bounds(slot)[0] * count for slot, count in self.slots.items())
        most = sum((slot_bounds(slot)[1] - 1) * count for slot, count in self.slots.items())
        if not least <= self.sum_ns <= most:
            found.append(f"sum_ns {self.sum_ns} is not between {least} and {most}")
        return found

    def rows(self) -> Counter[int]:
        """The same I/Os in the coarse rows of a series."""
        rows: Counter[int] = Counter()
        for slot, count in self.slots.items():
            rows[slot // SLOTS_PER_ROW] += count
        return rows
