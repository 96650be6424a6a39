"""Write saturation: PTS 2.1."""

from __future__ import annotations

from dataclasses import dataclass

import steady
from journal import Segment
from replay import Rounds, Script
from result import Chart, Result, levels_table
from spec import KIB, MINUTE

#: PTS 2.1: steady state is looked for in minutes 31, 62, 93 and so on.
CYCLE = 31
#: PTS 2.1: the test ends after so many capacities.
CAPACITIES = 4
NAME = "RND 4KiB W"


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
    last = values[-30:]
    settled = window.mean if window and window.steady else sum(last) / len(last)
    middle = fresh - 0.5 * (fresh - settled)
    drop = next((i + 1 for i, value in enumerate(values)
                 if value < middle and sum(v < middle for v in values[i + 1:i + 7]) >= 5), None)
    averages = {i: sum(values[i - 10:i]) / 10 for i in range(10, len(values) + 1)}
    first = None
    for minute in sorted(averages, reverse=True):
        if abs(averages[minute] - settled) > 0.1 * settled:
            break
        first = minute
    return Marks(fresh, settled, drop, first)


def wsat(script: Script) -> Result:
    """Minutes of RND 4KiB W from a fresh drive, until the first condition of the profile is met."""
    setup, profile = script.setup, script.setup.profile
    script.purge()
    load = setup.load("random", 0, 4 * KIB, setup.demand, {"duration_ns": setup.settings["cell_ns"]}, setup.test_range)
    rounds = Rounds(values={NAME: []})
    script.loops.append(rounds)
    minutes: list[Segment] = []
    written = 0
    while True:
        if len(minutes) % CYCLE == 0:
            started = script.note("round_started")
            expected = {"round": len(rounds.complete) + 1, "cells": CYCLE}
            script.checks.equal("round_started", expected, started)
        minutes.append(script.measure(load, len(rounds.complete) + 1))
        written += minutes[-1].written_bytes
        if len(minutes) % CYCLE == 0:
            rounds.complete.append(minutes[-CYCLE:])
            rounds.values[NAME].append(minutes[-1].iops)
            # Steady state ends the test from 1.1 on.
            if not profile.is_first:
                _judge(script, rounds)
        if rounds.converged or written >= CAPACITIES * setup.capacity or len(minutes) >= profile.wsat_hours * 60:
            break
    script.note("rounds_ended")
    histogram = None
    if profile.is_second:
        until = {"duration_ns": setup.ns(20 * MINUTE)}
        histogram = script.measure(load | {"until": until}).both
    verdict = None if profile.is_first else rounds.converged
    script.ended(verdict)

    result = Result("WSAT", "wsat", setup.demand, 0 if profile.is_first else len(rounds.complete), verdict)
    result.windows = list((rounds.windows or {}).items())
    found = marks([minute.iops for minute in minutes], (rounds.windows or {}).get(NAME))
    result.figures = [(f"{NAME}, FOB", found.fresh, "IOPS"), (f"{NAME}, steady state", found.settled, "IOPS")]
    _pages(script, result, minutes)
    if histogram is not None:
        result.tables.append(levels_table("WSAT Response Time Histogram - Confidence Level Plot", histogram))
    return result


def _judge(script: Script, rounds: Rounds) -> None:
    number = len(rounds.complete)
    rounds.windows = steady.windows(rounds.values, rounds.first, number)
    rounds.converged = rounds.is_steady()
    script.judged(rounds, number)


def _pages(script: Script, result: Result, minutes: list[Segment]) -> None:
    """PTS 2.1, "Report pages": IOPS over time, bytes written and drive fills."""
    totals, written = [], 0
    for minute in minutes:
        written += minute.written_bytes
        totals.append(written)
    by_time = [(float(i), minute.iops) for i, minute in enumerate(minutes, 1)]
    by_bytes = [(total / 1e9, minute.iops) for total, minute in zip(totals, minutes)]
    fills = [total / script.setup.capacity for total in totals]
    time, amount, filled = "Time (minutes)", "TGBW (GB)", "Normalized capacity (drive fills)"
    result.charts = [Chart("WSAT IOPS (Linear) v Time (Linear)", time, "IOPS", [(NAME, by_time)])]
    if not script.setup.profile.is_second:
        result.charts += [
            Chart("WSAT IOPS (Log) v Time (Linear)", time, "IOPS", [(NAME, by_time)]),
            Chart("WSAT IOPS (Linear) v TGBW (Linear)", amount, "IOPS", [(NAME, by_bytes)]),
            Chart("WSAT IOPS (Log) v TGBW (Linear)", amount, "IOPS", [(NAME, by_bytes)]),
        ]
        return
    result.charts += [
        Chart("WSAT IOPS v TGBW", amount, "IOPS", [(NAME, by_bytes)]),
        Chart("WSAT IOPS v Normalized Capacity", filled, "IOPS",
              [(NAME, [(fill, minute.iops) for fill, minute in zip(fills, minutes)])]),
    ]
    curves = [("ART", [(fill, minute.mean_ms) for fill, minute in zip(fills, minutes)])]
    nines = [(fill, minute.both.percentile_ns("99.999")) for fill, minute in zip(fills, minutes)]
    enough = [(fill, value / 1e6) for fill, value in nines if value is not None]
    if enough:
        curves.append(("5 9s", enough))
    if script.setup.scale == 1:
        curves.append(("MRT", [(fill, minute.both.max_ns / 1e6) for fill, minute in zip(fills, minutes)]))
    result.charts.append(Chart("WSAT ART, 5 9s and MRT v Drive Fills", filled, "Response time (ms)", curves))
