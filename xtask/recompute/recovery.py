"""Host idle recovery and cross stimulus recovery: PTS 2.5 and 2.6."""

from __future__ import annotations

from dataclasses import dataclass

from histogram import Histogram
from journal import Segment
from loops import mean
from replay import Script
from result import ABSENT_SCALED, Chart, Point, Result, Table, level_values
from spec import KIB, MINUTE, SECOND, name_of

#: PTS 2.5: wait states, bursts of 5 s, their number, and samples of the return.
WAITS = (1, 2, 3, 5, 10)
BURST_SECONDS, BURSTS = 5, 360
#: PTS 2.6: hours of the access groups.
HOURS = (8, 6, 8)
#: Confidence levels that stand in for maxima.
UPPER_LEVELS = ("50", "60", "70", "80", "90", "95", "99", "99.9", "99.99", "99.999", "99.9999")


@dataclass(frozen=True)
class Samples:
    """Equidistant values over a period of the specification."""

    values: list[float]
    total_seconds: int

    @property
    def seconds(self) -> float:
        """Length of one sample."""
        return self.total_seconds / len(self.values)

    def number(self, seconds: int) -> int:
        """Number of samples in this number of seconds; at least one."""
        return max(1, round(seconds / self.seconds))

    def first(self, seconds: int) -> list[float]:
        """The samples of the first seconds."""
        return self.values[:self.number(seconds)]

    def recovered(self, settled: float) -> float | str:
        """Seconds until the mean of every following minute is within 10 % of steady state."""
        minute = self.number(60)
        begin = len(self.values) - minute + 1
        while begin and abs(mean(self.values[begin - 1:begin - 1 + minute]) - settled) <= 0.1 * settled:
            begin -= 1
        return "not reached" if begin + minute > len(self.values) else self.seconds * begin


def hir(script: Script) -> Result:
    """Rounds of 30 minutes to steady state (minute 30 tracks), then bursts, idle time and returns."""
    setup = script.setup
    script.purge()
    load = setup.load("random", 0, 4 * KIB, setup.demand, {"duration_ns": setup.settings["cell_ns"]}, setup.test_range)
    name = name_of(load)
    rounds = script.rounds([load] * 30, {name: lambda segments: segments[-1].iops})
    bursts: list[list[Segment]] = []
    returns: list[Segment] = []
    short = load | {"until": {"duration_ns": setup.ns(BURST_SECONDS * SECOND)}}
    for wait in WAITS:
        state = []
        for _ in range(BURSTS):
            state.append(script.measure(short))
            script.idle(setup.ns(wait * BURST_SECONDS * SECOND))
        bursts.append(state)
        returns.append(script.measure(load | {"until": {"duration_ns": setup.ns(30 * MINUTE)}}))
    script.ended(rounds.converged)

    result = Result("Host Idle Recovery", "hir", setup.demand, len(rounds.complete), rounds.converged)
    result.windows = list((rounds.windows or {}).items())
    assert rounds.windows is not None
    # docs/reference/tests.md, "Choices": if there is no steady state, the last minute takes its place.
    settled = rounds.windows[name].mean if rounds.converged else rounds.values[name][-1]
    burst_means = [mean([burst.iops for burst in state]) for state in bursts]
    samples = [Samples([part.iops for part in back.slices(BURSTS)], 30 * 60) for back in returns]
    result.figures = [(f"{name}, steady state", settled, "IOPS")]
    result.figures += [(f"Wait State {wait}, 5/{5 * wait}", value, "IOPS") for wait, value in zip(WAITS, burst_means)]
    rows: list[tuple[str, list[float | str]]] = [
        ("Mean IOPS of the bursts", list(burst_means)),
        ("Ratio to steady state", [value / settled for value in burst_means]),
        ("Return, first minute (IOPS)", [mean(values.first(60)) for values in samples]),
        ("Return, time to recover (s)", [values.recovered(settled) for values in samples]),
    ]
    result.tables = [Table("Host Idle Recovery - Tabular Data", "Host Idle Recovery",
                           [f"{wait}: 5/{5 * wait}" for wait in WAITS], rows)]
    points = [(float(i), value) for i, value in enumerate(rounds.values[name], 1)]
    window = rounds.windows[name]
    result.charts = [
        Chart("Pre Conditioning IOPS", "Round", "IOPS", [(name, points)]),
        Chart("Pre Conditioning Steady State Measurement Window - RND/4KiB", "Round", "IOPS",
              [("RND/4KiB", points[window.first_round - 1:])]),
    ]
    states = _states(bursts, samples)
    result.charts.append(Chart("IOPS v Time - All Wait States", "Time (minutes)", "IOPS",
                               [curve for curves in states for curve in curves]))
    if setup.profile.is_second:
        for wait, curves in zip(WAITS, states):
            page = f"IOPS v Time - Wait State {wait} (5/{5 * wait})"
            result.charts.append(Chart(page, "Time (minutes)", "IOPS", curves))
    return result


def _states(bursts: list[list[Segment]], samples: list[Samples]) -> list[list[tuple[str, list[Point]]]]:
    """Each wait state and its return over minutes since the end of preconditioning; a sample is at its end."""
    states, seconds = [], 0.0
    for wait, state, values in zip(WAITS, bursts, samples):
        curve = []
        for burst in state:
            seconds += BURST_SECONDS
            curve.append((seconds / 60, burst.iops))
            seconds += wait * BURST_SECONDS
        back = []
        for value in values.values:
            seconds += values.seconds
            back.append((seconds / 60, value))
        states.append([(f"Wait State {wait} 5/{5 * wait}", curve), ("Return to baseline 5/0", back)])
    return states


def xsr(script: Script) -> Result:
    """SEQ 1024KiB W, RND 8KiB W, SEQ 1024KiB W for 8, 6 and 8 hours; samples of a minute."""
    setup = script.setup
    script.purge()
    demand = setup.sequential_demand
    groups = []
    for (access, size), hours in zip((("sequential", 1024), ("random", 8), ("sequential", 1024)), HOURS):
        until = {"duration_ns": setup.ns(hours * 60 * MINUTE)}
        groups.append(script.measure(setup.load(access, 0, size * KIB, demand, until, setup.test_range)))
    script.ended(None)

    result = Result("Cross Stimulus Recovery", "xsr", demand)
    names = [f"AG{i} {name_of(group.workload)}" for i, group in enumerate(groups, 1)]
    minutes = [group.slices(60 * hours) for group, hours in zip(groups, HOURS)]
    starts = (0, 60 * HOURS[0], 60 * (HOURS[0] + HOURS[1]))
    rates, times, peaks = [], [], []
    for group, parts, start, hours in zip(groups, minutes, starts, HOURS):
        size, step = group.workload["block_bytes"], 60 * hours / len(parts)
        rates.append([(start + step * i, part.iops * size / 1e6) for i, part in enumerate(parts, 1)])
        busy = [(i, part) for i, part in enumerate(parts, 1) if part.ios]
        times.append([(start + step * i, part.mean_ms) for i, part in busy])
        peaks.append([(start + step * i, part.max_ns / 1e6) for i, part in busy])
    hour = Samples([rate for _, rate in rates[0]], HOURS[0] * 3600).number(3600)
    whole_mean, last_hour = mean([y for _, y in rates[0]]), mean([y for _, y in rates[0][-hour:]])
    for title, reference in (("Recovery to the mean of AG1", whole_mean),
                             ("Recovery to 90 % of the last hour of AG1", 0.9 * last_hour)):
        found = next((minute - starts[2] for minute, rate in rates[2] if rate >= reference), None)
        result.figures.append((title, found, "min"))
    scaled = setup.scale > 1
    all_groups = list(zip(names, rates))
    result.charts = [Chart("TP v Time - All Access Groups", "Time (minutes)", "MB/s", all_groups)]
    if setup.profile.is_second:
        rows: list[tuple[str, list[float | str]]] = [
            ("TP at the end (MB/s)", [curve[-1][1] for curve in rates]),
            ("Peak ART (ms)", [max(y for _, y in curve) for curve in times]),
            ("Peak MRT (ms)", [ABSENT_SCALED if scaled else max(y for _, y in curve) for curve in peaks]),
        ]
        result.tables = [Table("XSR - Tabular Data", "Cross Stimulus Recovery", names, rows)]
        latencies = [(f"ART {name}", curve) for name, curve in zip(names, times)]
        if not scaled:
            latencies += [(f"MRT {name}", curve) for name, curve in zip(names, peaks)]
        page = "TP, ART and MRT v Time"
        result.charts += [Chart(page, "Time (minutes)", "MB/s", all_groups),
                          Chart(page, "Time (minutes)", "ms", latencies)]
        return result
    for first, change in enumerate(starts[1:], 1):
        # PTS 2.6: two hours on each side of the change. An earlier group without samples there keeps its place, and so
        # its colour.
        around = [(name, [point for point in curve if abs(point[0] - change) <= 120])
                  for name, curve in all_groups[:first + 1]]
        page = f"TP v Time - Access Groups {first} and {first + 1}"
        result.charts.append(Chart(page, "Time (minutes)", "MB/s", around))
    if scaled:
        rows = [(name, level_values(Histogram.merged([group.both]), UPPER_LEVELS))
                for name, group in zip(names, groups)]
        result.tables = [Table("Maximum Latency v Time: n/a, percentiles shown",
                               "Response Time by Confidence Level (ms)", list(UPPER_LEVELS), rows)]
    else:
        result.charts.append(Chart("Maximum Latency v Time", "Time (minutes)", "ms", list(zip(names, peaks))))
    result.charts.append(Chart("Average Latency v Time", "Time (minutes)", "ms", list(zip(names, times))))
    return result
