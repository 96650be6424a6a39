"""Steady state of a tracking variable: PTS 1.9, "Steady state"."""

from __future__ import annotations

import math
from dataclasses import dataclass

from checks import TOLERANCE

#: Rounds of a measurement window.
ROUNDS = 5
#: Allowed range and allowed excursion of the fitted line, as shares of the mean.
RANGE, SLOPE = 0.20, 0.10


@dataclass(frozen=True)
class Window:
    """Five rounds of one tracking variable."""

    first_round: int
    values: tuple[float, ...]

    @property
    def last_round(self) -> int:
        """The latest of the five."""
        return self.first_round + ROUNDS - 1

    @property
    def mean(self) -> float:
        """Mean of the five round values."""
        return sum(self.values) / ROUNDS

    @property
    def data_excursion(self) -> float:
        """Range: the largest value minus the smallest."""
        return max(self.values) - min(self.values)

    @property
    def slope(self) -> float:
        """Slope of the least-squares line; the divisor of five successive rounds is 10."""
        middle = self.first_round + 2
        products = [(self.first_round + i - middle) * (y - self.mean) for i, y in enumerate(self.values)]
        return sum(products) / 10

    @property
    def intercept(self) -> float:
        """Value of the line at round 0."""
        return self.mean - self.slope * (self.first_round + 2)

    @property
    def slope_excursion(self) -> float:
        """Highest minus lowest fitted value: four times the slope."""
        return abs(self.slope) * (ROUNDS - 1)

    @property
    def correlation(self) -> float | None:
        """Correlation of value and round; None if all values are equal."""
        squares = sum((y - self.mean) ** 2 for y in self.values)
        return self.slope * 10 / (10 * squares) ** 0.5 if self.data_excursion else None

    @property
    def steady(self) -> bool:
        """`<=` for both limits, with a relative tolerance of 1e-9; a mean of zero is never steady."""
        within = self.data_excursion <= RANGE * self.mean * (1 + TOLERANCE)
        flat = self.slope_excursion <= SLOPE * self.mean * (1 + TOLERANCE)
        return self.mean > 0 and within and flat

    @property
    def confidence(self) -> float | None:
        """Probability that the verdict is right about the trend, from Student's t with 3 degrees of freedom
        (docs/reference/tests.md); None if only the data excursion exceeds its limit.
        """
        flat = self.slope_excursion <= SLOPE * self.mean * (1 + TOLERANCE)
        if flat and not self.steady:
            return None
        line = [self.intercept + self.slope * (self.first_round + i) for i in range(ROUNDS)]
        noise = sum((y - fit) ** 2 for y, fit in zip(self.values, line)) / 3
        error = math.sqrt(noise / 10)
        if error <= 1e-12 * self.mean:
            return 1.0
        limit = SLOPE * self.mean / (ROUNDS - 1)
        level = _student((limit - self.slope) / error) - _student((-limit - self.slope) / error)
        return level if self.steady else 1 - level


def _student(t: float) -> float:
    """Distribution function of Student's t with 3 degrees of freedom."""
    scaled = t / math.sqrt(3)
    return 0.5 + (scaled / (1 + scaled * scaled) + math.atan(scaled)) / math.pi


def windows(values: dict[str, list[float]], first_round: int, last_round: int) -> dict[str, Window] | None:
    """The latest five rounds of each variable, or None if there are not yet five since `first_round`."""
    if last_round - first_round + 1 < ROUNDS:
        return None
    begin = last_round - ROUNDS + 1
    return {name: Window(begin, tuple(all_rounds[begin - 1:last_round])) for name, all_rounds in values.items()}
