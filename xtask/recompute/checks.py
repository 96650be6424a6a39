"""Counts comparisons and keeps those that failed, with both values."""

from __future__ import annotations

import math
from typing import Any, Sequence

#: Sums of the same numbers in different orders differ by less than this (PTS 1.9: relative tolerance of 1e-9).
TOLERANCE = 1e-9


def close(ours: float, theirs: float) -> bool:
    """Whether two computed numbers are equal within the tolerance."""
    return math.isclose(ours, theirs, rel_tol=TOLERANCE, abs_tol=1e-12)


class Checks:
    """The comparisons of one run."""

    def __init__(self) -> None:
        self.count = 0
        self.mismatches: list[str] = []

    def fail(self, what: str) -> None:
        """Records a violation."""
        self.count += 1
        self.mismatches.append(what)

    def holds(self, what: str, condition: bool) -> bool:
        """Checks a rule for which there is no second value to compare."""
        self.count += 1
        if not condition:
            self.mismatches.append(what)
        return condition

    def equal(self, what: str, ours: Any, theirs: Any) -> bool:
        """Compares values: numbers with the tolerance if either is not an integer, and sequences item by item."""
        if isinstance(ours, (list, tuple)) and isinstance(theirs, (list, tuple)):
            return self._sequence(what, ours, theirs)
        self.count += 1
        if self._same(ours, theirs):
            return True
        self.mismatches.append(f"{what}: recomputed {ours!r}, Plateau has {theirs!r}")
        return False

    def _sequence(self, what: str, ours: Sequence[Any], theirs: Sequence[Any]) -> bool:
        if len(ours) != len(theirs):
            self.count += 1
            self.mismatches.append(f"{what}: recomputed {len(ours)} values, Plateau has {len(theirs)}")
            return False
        before = len(self.mismatches)
        for i, (a, b) in enumerate(zip(ours, theirs)):
            if isinstance(a, (list, tuple)) or not self._same(a, b):
                self.equal(f"{what}[{i}]", a, b)
            else:
                self.count += 1
        return len(self.mismatches) == before

    @staticmethod
    def _same(ours: Any, theirs: Any) -> bool:
        if ours is None or theirs is None or isinstance(ours, bool) or isinstance(theirs, bool):
            return ours is theirs
        if isinstance(ours, float) and isinstance(theirs, (int, float)):
            return close(ours, float(theirs))
        if isinstance(theirs, float) and isinstance(ours, int):
            return close(float(ours), theirs)
        return bool(ours == theirs)
