"""The recomputed content of a report about a test, and its comparison with Plateau's report."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Iterable

import efficiency
from checks import Checks
from histogram import LEVELS, Histogram
from journal import Segment
from replay import Cell, Script
from spec import name_of
from steady import RANGE, SLOPE, Window

Point = tuple[float, float]

#: A modification: the number of extended cells, the number of all cells, and the largest factor.
EXTENDED = re.compile(r"([\d,]+) of ([\d,]+) cells extended .*up to ([\d.]+) times")

#: Text that tables print in place of a percentile without enough I/Os, and in place of maxima of a scaled drive.
ABSENT, ABSENT_SCALED = "n/a", "n/a (scaled)"
#: Percentiles of a cell in the JSON document.
CELL_LEVELS = {"50": "p50", "99": "p99", "99.9": "p99_9", "99.99": "p99_99", "99.999": "p99_999"}


@dataclass
class Table:
    """A table with unrounded values."""

    page: str
    heading: str
    columns: list[str]
    #: Name and values of each row; a text in place of a value is the reason why there is none.
    rows: list[tuple[str, list[float | str]]]


@dataclass
class Chart:
    """A chart of curves."""

    page: str
    x: str
    y: str
    series: list[tuple[str, list[Point]]]


@dataclass
class Result:
    """A test as its report must show it."""

    title: str
    family: str
    demand: tuple[int, int]
    rounds: int = 0
    converged: bool | None = None
    windows: list[tuple[str, Window]] = field(default_factory=list)
    #: Name, value (None if there is none) and unit.
    figures: list[tuple[str, float | None, str]] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    charts: list[Chart] = field(default_factory=list)
    #: Kind and offset of each reason to reject the drive; None if the test has no verdict on it.
    reasons: list[tuple[str, int | None]] | None = None
    #: Computed marks of WSAT, by their names on the command line.
    marks: dict[str, float | None] = field(default_factory=dict)
    #: Clause and requirement of a test that is not in a profile, and the text in place of a purge that a test lacks.
    clause: str = "n/a"
    requirement: str = "NOT IN THE PROFILE"
    no_purge: str = "None"


def levels_table(page: str, histogram: Histogram) -> Table:
    """The confidence levels of a histogram in ms (PTS 2.9)."""
    return Table(page, "Response Time by Confidence Level", list(LEVELS), [("ms", level_values(histogram, LEVELS))])


def level_values(histogram: Histogram, levels: Iterable[str]) -> list[float | str]:
    """Percentiles in ms, or the reason why there is none."""
    found = (histogram.percentile_ns(level) for level in levels)
    return [ABSENT if value is None else value / 1e6 for value in found]


def highest_level(histograms: list[Histogram]) -> str | None:
    """The highest level from 90 % that all of them have, shown in place of maxima (docs/reference/tests.md)."""
    tail = LEVELS[LEVELS.index("90"):]
    having = [level for level in tail if all(h.percentile_ns(level) is not None for h in histograms)]
    return having[-1] if having else None


def compare(result: Result, script: Script, shown: dict[str, Any], checks: Checks) -> None:
    """Compares a test with the JSON document of its report."""
    where = shown["test"]
    clause, required = script.setup.profile.tests.get(result.family, (result.clause, None))
    requirement = {True: "REQUIRED", False: "OPTIONAL", None: result.requirement}[required]
    scalars = {"title": result.title, "clause": clause, "requirement": requirement, "threads": result.demand[0],
               "queue_depth": result.demand[1], "rounds": result.rounds, "converged": result.converged,
               "stopped": None}
    for name, value in scalars.items():
        checks.equal(f"{where}: {name}", value, shown[name])
    _compare_header(where, script, shown, checks)
    purge = script.purge_record.body["method"] if script.purge_record else result.no_purge
    checks.equal(f"{where}: purge", purge, shown["purge"])
    _compare_extended(where, script, shown["modified"], checks)
    for mark in shown.get("marks", []):
        checks.equal(f"{where}: mark {mark['mark']}", result.marks.get(mark["mark"]), mark["computed"])
    verdict = None if result.reasons is None else "FAIL" if result.reasons else "PASS"
    acceptance = shown["acceptance"] or {"verdict": None, "reasons": []}
    checks.equal(f"{where}: verdict", verdict, acceptance["verdict"])
    checks.equal(f"{where}: reasons", result.reasons or [],
                 [(reason["reason"], reason["offset_bytes"]) for reason in acceptance["reasons"]])
    _compare_windows(where, result.windows, shown["steady_state"], checks)
    _compare_figures(where, result.figures, shown["figures"], checks)
    _compare_tables(where, result.tables, shown["tables"], checks)
    _compare_charts(where, result.charts, shown["charts"], checks)
    compare_cells(where, script, shown["cells"], checks)
    # In a test with two loops, workloads of the first loop have names of their own, so efficiency is not compared.
    if len(script.loops) == 1:
        efficiency.check_test(script, shown["efficiency"], where, checks)


def _compare_header(where: str, script: Script, shown: dict[str, Any], checks: Checks) -> None:
    """The date of the test, and the shares of the LBA space that it uses."""
    checks.equal(f"{where}: date", script.records[0].wall, shown["date"])
    settings = script.setup.settings
    for key, setting in (("precondition", "precondition_range_percent"), ("test", "test_range_percent")):
        checks.equal(f"{where}: active_range: {key}", f"{settings[setting]}%", shown["active_range"][key])


def _compare_extended(where: str, script: Script, modified: list[str], checks: Checks) -> None:
    """docs/reference/tests.md, "Time": extended cells are listed with their number and the largest factor."""
    found = next((match for text in modified if (match := EXTENDED.search(text))), None)
    timed = [cell for cell in script.cells if "duration_ns" in cell.segment.workload["until"]]
    ours = [f"{len(script.extended):,}", f"{len(timed):,}", f"{max(script.extended, default=0) / 10:.1f}"]
    checks.equal(f"{where}: extended cells", ours if script.extended else [], list(found.groups()) if found else [])


def _compare_windows(where: str, ours: list[tuple[str, Window]], shown: list[dict[str, Any]], checks: Checks) -> None:
    checks.equal(f"{where}: windows", [name for name, _ in ours], [window["variable"] for window in shown])
    for (name, window), theirs in zip(ours, shown):
        expected = {
            "first_round": window.first_round, "last_round": window.last_round, "mean": window.mean,
            "data_excursion": window.data_excursion, "data_excursion_allowed": RANGE * window.mean,
            "slope_per_round": window.slope, "intercept": window.intercept, "slope_excursion": window.slope_excursion,
            "slope_excursion_allowed": SLOPE * window.mean, "correlation": window.correlation,
            "steady": window.steady,
        }
        for key, value in expected.items():
            scale = abs(window.mean)
            # A slope close to zero is a small difference between large numbers, so its tolerance depends on the mean.
            if key in ("slope_per_round", "slope_excursion") and abs(value - theirs[key]) < 1e-12 * scale:
                checks.count += 1
                continue
            if key == "correlation" and value is not None and theirs[key] is not None:
                # Rounding errors of the values are relative to their range here.
                allowed = 1e-9 * abs(value) + 1e-13 * scale / window.data_excursion
                checks.holds(f"{where}: window of {name}: correlation: recomputed {value}, Plateau has {theirs[key]}",
                             abs(value - theirs[key]) <= allowed)
                continue
            checks.equal(f"{where}: window of {name}: {key}", value, theirs[key])


def _compare_figures(where: str, ours: list[tuple[str, float | None, str]], shown: list[dict[str, Any]],
                     checks: Checks) -> None:
    checks.equal(f"{where}: key figures", [name for name, _, _ in ours], [figure["name"] for figure in shown])
    for (name, value, unit), figure in zip(ours, shown):
        checks.equal(f"{where}: {name}", value, figure["value"])
        checks.equal(f"{where}: unit of {name}", unit, figure["unit"])


def _compare_tables(where: str, ours: list[Table], shown: list[dict[str, Any]], checks: Checks) -> None:
    checks.equal(f"{where}: tables", [(t.page, t.heading) for t in ours], [(t["page"], t["heading"]) for t in shown])
    for table, theirs in zip(ours, shown):
        name = f"{where}: table '{table.heading}' of '{table.page}'"
        checks.equal(f"{name}: columns", table.columns, theirs["columns"])
        checks.equal(f"{name}: rows", [row for row, _ in table.rows], [row["name"] for row in theirs["rows"]])
        for (row, values), found in zip(table.rows, theirs["rows"]):
            reasons = [value if isinstance(value, str) else "" for value in values]
            numbers = [None if isinstance(value, str) else value for value in values]
            checks.equal(f"{name}: {row}", numbers, found["values"])
            checks.equal(f"{name}: {row}: absent", reasons, found["absent"])


NOT_RECOMPUTED = ("Rounds Overlaid", "Wait States Overlaid", "WSAT Throughput v Data Written", "Response Time Tail")


def is_recomputed(chart: dict[str, Any]) -> bool:
    """Whether a chart of the report is compared."""
    return not any(part in chart["page"] for part in NOT_RECOMPUTED)


def _compare_charts(where: str, ours: list[Chart], shown: list[dict[str, Any]], checks: Checks) -> None:
    # These repeat values that other charts and tables have, or come from histograms; they are not recomputed.
    shown = [chart for chart in shown if is_recomputed(chart)]
    checks.equal(f"{where}: charts", [(c.page, c.x, c.y) for c in ours], [(c["page"], c["x"], c["y"]) for c in shown])
    for chart, theirs in zip(ours, shown):
        name = f"{where}: chart '{chart.page}'"
        checks.equal(f"{name}: curves", [curve for curve, _ in chart.series], [s["name"] for s in theirs["series"]])
        for (curve, points), found in zip(chart.series, theirs["series"]):
            checks.equal(f"{name}: {curve}", points, found["points"])


def compare_cells(where: str, script: Script, shown: list[dict[str, Any]], checks: Checks) -> None:
    """Compares every workload of a test."""
    checks.equal(f"{where}: records of its cells", [cell.segment.seq for cell in script.cells],
                 [cell["record"] for cell in shown])
    for cell, theirs in zip(script.cells, shown):
        for key, value in _cell(cell, script).items():
            checks.equal(f"{where}: record {cell.segment.seq}: {key}", value, theirs.get(key))
        combined = Histogram.merged(cell.segment.latency[way] for way in ("read", "write"))
        for key, value in _times(combined, script.setup.scale > 1).items():
            checks.equal(f"{where}: record {cell.segment.seq}: latency.{key}_ns", value,
                         theirs["latency"].get(f"{key}_ns"))
        for way in ("read", "write"):
            for key, value in _way(cell.segment, way, script.setup.scale > 1).items():
                checks.equal(f"{where}: record {cell.segment.seq}: {way}.{key}", value, theirs[way].get(key))
        place = f"{where}: record {cell.segment.seq}"
        efficiency.check_cell(script.run, cell.segment, theirs["power"], place, checks)


def _cell(cell: Cell, script: Script) -> dict[str, Any]:
    segment, load = cell.segment, cell.segment.workload
    in_window = cell.round is not None and script.loops[(cell.loop or 1) - 1].is_in_window(cell.round)
    return {
        "phase": "measure" if segment.is_measured else "precondition", "round": cell.round, "in_window": in_window,
        "workload": name_of(load), "access": load["access"], "block_bytes": load["block_bytes"],
        "read_percent": load["read_percent"], "threads": load["threads"], "queue_depth": load["queue_depth"],
        "start_ns": segment.start_ns, "duration_ns": segment.length_ns, "iops": segment.iops,
        "bytes_per_second": segment.bytes_per_second, "errors": sum(error["count"] for error in segment.errors),
        "gap_before_ns": segment.gap_before["length_ns"] if segment.gap_before else None,
    }


def _times(histogram: Histogram, scaled: bool) -> dict[str, Any]:
    times: dict[str, Any] = {"mean": histogram.mean_ns}
    times["max"] = histogram.max_ns if histogram.ios and not scaled else None
    for level, key in CELL_LEVELS.items():
        times[key] = histogram.percentile_ns(level)
    return times


def _way(segment: Segment, way: str, scaled: bool) -> dict[str, Any]:
    part, histogram = segment.ways[way], segment.latency[way]
    times: dict[str, Any] = {"ios": part["ios"], "bytes": part["bytes"], "latency_mean_ns": histogram.mean_ns}
    times["latency_min_ns"] = histogram.min_ns if part["ios"] else None
    # The longest stall of a scaled drive differs from that of the full-size drive.
    times["latency_max_ns"] = histogram.max_ns if part["ios"] and not scaled else None
    for level, key in CELL_LEVELS.items():
        times[f"latency_{key}_ns"] = histogram.percentile_ns(level)
    return times
