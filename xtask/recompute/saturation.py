"""Write saturation: PTS 2.1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import steady
from journal import Segment
from replay import Rounds, Script, blocks_of_thread
from result import Chart, Result, levels_table
from spec import KIB, MINUTE, Setup, name_of

#: PTS 2.1: steady state is evaluated in minutes 31, 62, 93 and so on.
CYCLE = 31
#: PTS 2.1: the test ends after this number of capacities.
CAPACITIES = 4
#: Minutes that are averaged without steady state.
LAST = 30
#: A test that waits for both amount and time ends after this number of hours (docs/reference/tests.md).
LIMIT_HOURS = 240
#: PTS 2.1: workloads that 2.0 offers besides RND 4KiB W: access, share of reads, block size.
WORKLOADS = {None: ("random", 0, 4 * KIB), "oltp": ("random", 65, 8 * KIB), "video": ("sequential", 90, 128 * KIB),
             "metadata": ("sequential", 50, 512)}


@dataclass
class Marks:
    """Headline figures of PTS 2.1."""

    fresh: float
    settled: float
    #: First minute of the peak drop and of steady state, from 1; None if there is none.
    drop: int | None
    steady: int | None


def marks(values: list[float], window: steady.Window | None) -> Marks:
    """The algorithms of PTS 2.1 on the IOPS of each minute."""
    fresh = max(values[:60])
    last = values[-LAST:]
    settled = window.mean if window and window.steady else sum(last) / len(last)
    middle = fresh - 0.5 * (fresh - settled)
    # There is no drop if the fresh IOPS are below the settled IOPS or within 10 % of them (docs/reference/tests.md).
    drop = None
    if fresh > 1.1 * settled:
        drop = next((i + 1 for i, value in enumerate(values)
                     if value < middle and sum(v < middle for v in values[i + 1:i + 7]) >= 5), None)
    # Means of ten minutes, by the first of these minutes.
    averages = {i: sum(values[i - 1:i + 9]) / 10 for i in range(1, len(values) - 8)}
    first = None
    for minute in sorted(averages, reverse=True):
        if abs(averages[minute] - settled) > 0.1 * settled or minute < (drop or 0):
            break
        first = minute
    return Marks(fresh, settled, drop, first)


def wsat(script: Script) -> Result:
    """Writes to a fresh drive in cells of a minute, until the conditions of the profile or of the tester are met."""
    setup, profile = script.setup, script.setup.profile
    script.purge()
    chosen = setup.settings.get("wsat") or {}
    until = {"duration_ns": setup.settings["cell_ns"]}
    load = _load(script, chosen.get("workload"), until)
    name = "CBW 40/60" if "kinds" in load else name_of(load)
    rounds = Rounds(values={name: []})
    script.loops.append(rounds)
    minutes: list[Segment] = []
    written = begin = 0
    capacities, hours = chosen.get("capacities", CAPACITIES), chosen.get("hours", profile.wsat_hours)
    while True:
        if len(minutes) % CYCLE == 0:
            started = script.note("round_started")
            expected = {"round": len(rounds.complete) + 1, "cells": CYCLE}
            script.checks.equal("round_started", expected, started)
        minutes.append(script.measure(load | {"from_block": begin} if begin else load, len(rounds.complete) + 1))
        if load["access"] == "sequential":
            begin += blocks_of_thread(minutes[-1])
        written += minutes[-1].written_bytes
        if len(minutes) % CYCLE == 0:
            rounds.complete.append(minutes[-CYCLE:])
            rounds.values[name].append(minutes[-1].iops)
            # Steady state ends the test from 1.1 on.
            if not profile.is_first:
                _judge(script, rounds)
        late = len(minutes) >= hours * 60
        ends = [written >= capacities * setup.capacity, late] + ([] if profile.is_first else [rounds.converged])
        if {"first": any(ends), "all": all(ends[:2]) or len(minutes) >= LIMIT_HOURS * 60, "time": late}[chosen.get("until", "first")]:
            break
    script.note("rounds_ended")
    histogram = None
    if profile.is_second:
        last = load | {"until": {"duration_ns": setup.ns(20 * MINUTE)}}
        histogram = script.measure(last | {"from_block": begin} if begin else last).both
    # Only an evaluated test has a verdict: there is none with fewer than five samples, and none in 1.0.
    verdict = rounds.converged if rounds.windows else None
    script.ended(verdict)

    result = Result("WSAT", "wsat", setup.demand, 0 if profile.is_first else len(rounds.complete), verdict)
    result.windows = list((rounds.windows or {}).items())
    found = marks([minute.iops for minute in minutes], (rounds.windows or {}).get(name))
    # docs/reference/tests.md, "Choices": a shorter test has the mean of all minutes.
    cells = "minutes" if setup.ns(MINUTE) == MINUTE else "cells"
    part = f"the last 30 {cells}" if len(minutes) >= LAST else f"all {len(minutes)} {cells}"
    settled = {True: "steady state", False: f"mean of {part}, not steady", None: f"mean of {part}, not judged"}[verdict]
    result.figures = [(f"{name}, FOB", found.fresh, "IOPS"), (f"{name}, {settled}", found.settled, "IOPS")]
    result.marks = {"fob": found.fresh, "steady": found.settled,
                    "peak-drop": found.drop and _time(setup, found.drop),
                    "time-to-steady": found.steady and _time(setup, found.steady)}
    _pages(script, result, minutes, name)
    # Beyond the pages of the specification.
    averages = [(_time(setup, i), minute.mean_ms) for i, minute in enumerate(minutes, 1)]
    result.charts.append(Chart("WSAT Average Latency v Time", "Time (minutes)", "Average latency (ms)",
                               [(name, averages)]))
    if histogram is not None:
        result.tables.append(levels_table("WSAT Response Time Histogram - Confidence Level Plot", histogram))
    return result


def _time(setup: Setup, cells: int) -> float:
    """docs/reference/tests.md, "Time": the minutes that cells take; a cell is a minute unless the tester changes it."""
    return cells * float(setup.ns(MINUTE)) / MINUTE


def _load(script: Script, workload: str | None, until: dict[str, int]) -> dict[str, Any]:
    """The workload of a minute; the composite is that of CBW."""
    setup = script.setup
    if workload == "composite":
        return setup.composite(40, setup.demand, until)
    access, percent, size = WORKLOADS[workload]
    return setup.load(access, percent, size, setup.demand, until, setup.test_range)


def _judge(script: Script, rounds: Rounds) -> None:
    number = len(rounds.complete)
    rounds.windows = steady.windows(rounds.values, rounds.first, number)
    rounds.converged = rounds.is_steady()
    script.judged(rounds, number)


def _pages(script: Script, result: Result, minutes: list[Segment], name: str) -> None:
    """PTS 2.1, "Report pages": IOPS over time, bytes written and drive fills."""
    totals, written = [], 0
    for minute in minutes:
        written += minute.written_bytes
        totals.append(written)
    by_time = [(_time(script.setup, i), minute.iops) for i, minute in enumerate(minutes, 1)]
    by_bytes = [(total / 1e9, minute.iops) for total, minute in zip(totals, minutes)]
    fills = [total / script.setup.capacity for total in totals]
    time, amount, filled = "Time (minutes)", "TGBW (GB)", "Normalized capacity (drive fills)"
    result.charts = [Chart("WSAT IOPS (Linear) v Time (Linear)", time, "IOPS", [(name, by_time)])]
    if not script.setup.profile.is_second:
        result.charts += [
            Chart("WSAT IOPS (Log) v Time (Linear)", time, "IOPS", [(name, by_time)]),
            Chart("WSAT IOPS (Linear) v TGBW (Linear)", amount, "IOPS", [(name, by_bytes)]),
            Chart("WSAT IOPS (Log) v TGBW (Linear)", amount, "IOPS", [(name, by_bytes)]),
        ]
        return
    result.charts += [
        Chart("WSAT IOPS v TGBW", amount, "IOPS", [(name, by_bytes)]),
        Chart("WSAT IOPS v Normalized Capacity", filled, "IOPS",
              [(name, [(fill, minute.iops) for fill, minute in zip(fills, minutes)])]),
    ]
    curves = [("ART", [(fill, minute.mean_ms) for fill, minute in zip(fills, minutes)])]
    nines = [(fill, minute.both.percentile_ns("99.999")) for fill, minute in zip(fills, minutes)]
    enough = [(fill, value / 1e6) for fill, value in nines if value is not None]
    if enough:
        curves.append(("5 9s", enough))
    if script.setup.scale == 1:
        curves.append(("MRT", [(fill, minute.both.max_ns / 1e6) for fill, minute in zip(fills, minutes)]))
    result.charts.append(Chart("WSAT ART, 5 9s and MRT v Drive Fills", filled, "Response time (ms)", curves))
