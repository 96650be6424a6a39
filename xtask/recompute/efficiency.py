"""Power and efficiency: docs/guide/power.md, "Uncertainty", and the records `power` and `idle_power` of the format."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from checks import Checks
from journal import Run, Segment
from replay import Cell, Script
from spec import name_of

#: "twice the standard error of the mean"
STANDARD_ERRORS = 2
#: Values that a report has per watt.
KEYS = ("watts", "iops_per_watt", "bytes_per_second_per_watt")


@dataclass(frozen=True)
class Value:
    """A value with the two parts of its uncertainty; each is None if it is not known."""

    value: float
    scatter: float | None
    tolerance: float | None

    @property
    def shown(self) -> dict[str, float | None]:
        """As in a report."""
        known = None if self.scatter is None else self.scatter + (self.tolerance or 0.0)
        return {"value": self.value, "uncertainty": known}

    def divides(self, amount: float) -> Value:
        """Returns `amount` per this value, with the same relative uncertainty."""
        share = amount / self.value
        return Value(share, *(None if part is None else share * part / self.value
                              for part in (self.scatter, self.tolerance)))


def watts(power: dict[str, Any]) -> Value:
    """The power of a record."""
    error, tolerance = power.get("standard_error_microwatts"), power.get("tolerance_microwatts")
    return Value(power["mean_microwatts"] / 1e6, None if error is None else STANDARD_ERRORS * error / 1e6,
                 None if tolerance is None else tolerance / 1e6)


def idle(run: Run) -> Value | None:
    """The power before the first test."""
    return next((watts(record.body["power"]) for record in run.records if record.event == "idle_power"), None)


def attributed(run: Run, power: dict[str, Any]) -> Value | None:
    """For a host meter, the part above the idle power if it exceeds the uncertainty; otherwise the power itself."""
    load = watts(power)
    if run.file["power"]["subject"] == "host":
        rest = idle(run)
        if rest is None or load.scatter is None or rest.scatter is None:
            return None
        both = None if load.tolerance is None or rest.tolerance is None else load.tolerance + rest.tolerance
        load = Value(load.value - rest.value, math.hypot(load.scatter, rest.scatter), both)
        if load.value <= (load.shown["uncertainty"] or 0.0):
            return None
    return load if load.value > 0 else None


def of_segment(run: Run, segment: Segment) -> tuple[Value, Value, Value] | None:
    """Power, IOPS/W and bytes/s/W of a workload."""
    found = attributed(run, segment.power) if segment.power else None
    return (found, found.divides(segment.iops), found.divides(segment.bytes_per_second)) if found else None


def mean(values: list[Value]) -> Value:
    """The scatter shrinks with the number of rounds; the tolerance does not."""
    count = len(values)
    scatters = [value.scatter for value in values if value.scatter is not None]
    tolerances = [value.tolerance for value in values if value.tolerance is not None]
    return Value(sum(value.value for value in values) / count,
                 math.sqrt(sum(part * part for part in scatters)) / count if len(scatters) == count else None,
                 sum(tolerances) / count if len(tolerances) == count else None)


def check_meter(run: Run, shown: dict[str, Any] | None, checks: Checks) -> None:
    """The meter of a report."""
    meter = run.file.get("power")
    if not checks.equal("power: a meter", meter is not None, shown is not None) or meter is None or shown is None:
        return
    resolution, tolerance = meter.get("resolution_microwatts"), meter.get("tolerance_ppm")
    expected = {"source": meter["source"], "meter": meter["meter"], "subject": meter["subject"],
                "resolution_watts": None if resolution is None else resolution / 1e6,
                "tolerance_percent": None if tolerance is None else tolerance / 1e4}
    for key, value in expected.items():
        checks.equal(f"power: {key}", value, shown[key])
    rest = idle(run)
    _check_value("power: idle", rest, shown["idle_watts"], checks)


def check_cell(run: Run, segment: Segment, shown: dict[str, Any] | None, where: str, checks: Checks) -> None:
    """The power of a workload, and its performance per watt."""
    power = segment.power
    if not checks.equal(f"{where}: power", power is not None, shown is not None) or power is None or shown is None:
        return
    for key in ("mean", "min", "max"):
        checks.equal(f"{where}: {key}_watts", power[f"{key}_microwatts"] / 1e6, shown[f"{key}_watts"])
    checks.equal(f"{where}: samples of power", power["samples"], shown["samples"])
    _check_all(where, of_segment(run, segment), shown["efficiency"], checks)


def check_test(script: Script, shown: list[dict[str, Any]], where: str, checks: Checks) -> None:
    """The workloads of the windows, each over the rounds with a known power."""
    if "power" not in script.run.file:
        checks.equal(f"{where}: efficiency", [], shown)
        return
    found: dict[str, list[tuple[Value, Value, Value]]] = {}
    for cell in script.cells:
        if not cell.segment.is_measured or not _is_in_window(script, cell):
            continue
        load = cell.segment.workload
        name = f"{name_of(load)}, TC {load['threads']} QD {load['queue_depth']}"
        rounds = found.setdefault(name, [])
        values = of_segment(script.run, cell.segment)
        if values:
            rounds.append(values)
    checks.equal(f"{where}: workloads with power", list(found), [workload["workload"] for workload in shown])
    for (name, rounds), theirs in zip(found.items(), shown):
        what = f"{where}: power of {name}"
        checks.equal(f"{what}: rounds", len(rounds), theirs["rounds"])
        means = tuple(mean([values[i] for values in rounds]) for i in range(len(KEYS))) if rounds else None
        _check_all(what, means, theirs["mean"], checks)


def _is_in_window(script: Script, cell: Cell) -> bool:
    return cell.round is not None and script.loops[(cell.loop or 1) - 1].is_in_window(cell.round)


def _check_all(where: str, ours: tuple[Value, ...] | None, shown: dict[str, Any] | None, checks: Checks) -> None:
    checks.equal(f"{where}: efficiency", ours is not None, shown is not None)
    for key, value in zip(KEYS, ours or ()):
        if shown is not None:
            _check_value(f"{where}: {key}", value, shown[key], checks)


def _check_value(where: str, ours: Value | None, shown: dict[str, Any] | None, checks: Checks) -> None:
    if not checks.equal(where, ours is not None, shown is not None) or ours is None or shown is None:
        return
    for key, value in ours.shown.items():
        checks.equal(f"{where}: {key}", value, shown[key])
