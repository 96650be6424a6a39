"""Hard disks: TKperf's tests, which no version of the PTS contains (docs/reference/tests.md, "Hard disks")."""

from __future__ import annotations

import math
from typing import Callable

from journal import Segment
from replay import Rounds, Script
from result import Chart, Result, Table
from spec import KIB, kib, mix, name_of, whole

ZONES = 128
ALIGNMENT = 4096
COLUMNS = ["First Zone", "Last Zone", "Minimum", "25 %", "Median", "75 %", "Maximum"]

Curves = dict[tuple[int, int], list[Segment]]


def _zones(script: Script) -> list[dict[str, int]]:
    """The Test AR in 128 equal zones, first to last."""
    length = script.setup.test_range["segment_bytes"] // ZONES // ALIGNMENT * ALIGNMENT
    return [whole(i * length, length) for i in range(ZONES)]


def _quantile(values: list[float], share: float) -> float:
    """A quantile, interpolated linearly between the sorted values."""
    ordered, position = sorted(values), share * (len(values) - 1)
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)


def _run(script: Script, access: str, cells: list[tuple[int, int]], demand: tuple[int, int], first: int,
         curves: Curves) -> None:
    until = {"duration_ns": script.setup.settings["cell_ns"]}
    for number, zone in enumerate(_zones(script), first):
        started = script.note("round_started")
        script.checks.equal("round_started", {"round": number, "cells": len(cells)}, started)
        for percent, size in cells:
            segment = script.measure(script.setup.load(access, percent, size, demand, until, zone), number)
            curves.setdefault((percent, size), []).append(segment)


def _table(page: str, heading: str, curves: Curves, value: Callable[[Segment], float]) -> Table:
    rows: list[tuple[str, list[float | str]]] = []
    for segments in curves.values():
        values = [value(segment) for segment in segments]
        rows.append((name_of(segments[0].workload), [values[0], values[-1], min(values), _quantile(values, 0.25),
                                                     _quantile(values, 0.5), _quantile(values, 0.75), max(values)]))
    return Table(page, heading, COLUMNS, rows)


def _chart(page: str, y: str, curves: list[list[Segment]], value: Callable[[Segment], float]) -> Chart:
    """Values over the middle of each zone."""
    series = []
    for segments in curves:
        middles = [(s.workload["range"]["start_bytes"] + s.workload["range"]["segment_bytes"] / 2) / 1e9
                   for s in segments]
        series.append((name_of(segments[0].workload), list(zip(middles, map(value, segments)))))
    return Chart(page, "Position on the disk (GB)", y, series)


def _ends(segments: list[Segment], value: Callable[[Segment], float], unit: str) -> list[tuple[str, float, str]]:
    """Key figures of the first and the last zone."""
    name = name_of(segments[0].workload)
    return [(f"{name} first zone", value(segments[0]), unit), (f"{name} last zone", value(segments[-1]), unit)]


def hdd_iops(script: Script) -> Result:
    """In each zone, 100, 50 and 0 % reads, each with 64, 16 and 4 KiB."""
    curves: Curves = {}
    script.loops.append(Rounds())
    mixes, sizes = (100, 50, 0), (64 * KIB, 16 * KIB, 4 * KIB)
    demand = script.setup.demand
    _run(script, "random", [(percent, size) for percent in mixes for size in sizes], demand, 1, curves)
    script.note("rounds_ended")
    script.ended(None)
    result = Result("HDD IOPS by Zone", "hdd-iops", demand, ZONES)

    def value(segment: Segment) -> float:
        return segment.iops

    for percent in (100, 0):
        result.figures += _ends(curves[percent, 4 * KIB], value, "IOPS")
    result.tables = [_table("HDD IOPS by Zone - Tabular Data", "HDD IOPS by Zone (IOPS)", curves, value)]
    for percent in mixes:
        result.charts.append(_chart(f"IOPS by Zone - R/W Mix {mix(percent)}", "IOPS",
                                    [curves[percent, size] for size in sizes], value))
    result.charts.append(_chart("Average Response Time by Zone - RND/4KiB", "ms",
                                [curves[percent, 4 * KIB] for percent in mixes], lambda s: s.mean_ms))
    return result


def hdd_tp(script: Script) -> Result:
    """In each zone, reads and then writes of 1024 KiB; then all zones again with 4 KiB."""
    curves: Curves = {}
    script.loops.append(Rounds())
    demand = script.setup.sequential_demand
    sizes = (1024 * KIB, 4 * KIB)
    for i, size in enumerate(sizes):
        _run(script, "sequential", [(100, size), (0, size)], demand, 1 + i * ZONES, curves)
    script.note("rounds_ended")
    script.ended(None)
    result = Result("HDD Throughput by Zone", "hdd-tp", demand, 2 * ZONES)

    def value(segment: Segment) -> float:
        return segment.megabytes_per_second

    for percent in (100, 0):
        result.figures += _ends(curves[percent, 1024 * KIB], value, "MB/s")
    result.tables = [_table("HDD Throughput by Zone - Tabular Data", "HDD Throughput by Zone (MB/s)", curves, value)]
    for size in sizes:
        result.charts.append(_chart(f"Throughput by Zone - SEQ/{kib(size)}KiB", "MB/s",
                                    [curves[percent, size] for percent in (100, 0)], value))
    return result
