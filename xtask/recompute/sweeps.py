"""Tests over demand: ECW, CBW and DIRTH (PTS 2.7 and 2.8)."""

from __future__ import annotations

from typing import Any

from journal import Segment
from loops import mean
from replay import Rounds, Script
from result import Chart, Result, Table, levels_table
from spec import KIB, MINUTE, SWEEP, ZONES, kib, mix, name_of

Demand = tuple[int, int]

#: PTS 2.7: the response time of the Max point must be below this.
LIMIT_MS = 5.0
#: Minutes of the writes between rounds, and of those before a histogram.
BETWEEN, BEFORE = 5, 60
DEMANDS = [(threads, depth) for threads in SWEEP for depth in SWEEP]


class Stimulus:
    """The load of the test: the composite; for DIRTH, the tester's choice, which is RND 8KiB 65/35 by default."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.is_composite = script.test != "dirth"
        chosen = script.setup.settings.get("dirth") or {}
        self.block_bytes = chosen.get("block_bytes", 8 * KIB)
        self.read_percent = 40 if self.is_composite else chosen.get("read_percent", 65)

    def load(self, read_percent: int, demand: Demand, minutes: int) -> dict[str, Any]:
        """The load with this share of reads."""
        setup = self.script.setup
        until = {"duration_ns": setup.ns(minutes * MINUTE)}
        if self.is_composite:
            return setup.composite(read_percent, demand, until)
        return setup.load("random", read_percent, self.block_bytes, demand, until, setup.test_range)

    @property
    def mixed(self) -> str:
        """The load of the points, as printed: with its block size where the tester chooses it."""
        if self.is_composite:
            return mix(self.read_percent)
        return name_of(self.load(self.read_percent, (1, 1), 1))

    def name(self, demand: Demand) -> str:
        """Writes of this demand, as printed."""
        load = self.load(0, demand, 1)
        kind = f"{self.script.test.upper()} 0/100" if self.is_composite else name_of(load)
        return f"{kind} TC{demand[0]} QD{demand[1]}"


def sweep(script: Script) -> Result:
    """Preconditioning to steady state, demand variation to steady state, then three histograms."""
    stimulus = Stimulus(script)
    top = (32, 32)
    script.purge()
    conditioned = "Pre Conditioning TC32-QD32"
    minute = stimulus.load(0, top, 1)
    # The first minute of each round tracks.
    before = script.rounds([minute] * 30, {conditioned: lambda segments: segments[0].iops})
    varied = "DV TC32-QD32"
    cells = [stimulus.load(stimulus.read_percent, demand, 1) for demand in DEMANDS]
    rounds = script.rounds(cells, {varied: lambda segments: segments[0].iops}, stimulus.load(0, top, BETWEEN))
    between = [cell.segment for cell in script.cells if not cell.segment.is_measured]
    iops = {demand: mean([segments[i].iops for segments in rounds.window]) for i, demand in enumerate(DEMANDS)}
    times = {demand: mean([segments[i].mean_ms for segments in rounds.window]) for i, demand in enumerate(DEMANDS)}
    points = choose(iops, times)
    writes, histograms = {}, {}
    for name, demand in points.items():
        writes[name] = script.write(stimulus.load(0, demand, BEFORE))
        histograms[name] = script.measure(stimulus.load(stimulus.read_percent, demand, 10))
    script.ended(before.converged and rounds.converged)

    title = "Enterprise Composite Workload" if script.test == "ecw" else script.test.upper()
    result = Result(title, script.test, top, len(rounds.complete), before.converged and rounds.converged)
    result.windows = [*(rounds.windows or {}).items(), *(before.windows or {}).items()]
    for name, demand in points.items():
        art = f"{times[demand]:.3f}"
        point = f"{name} point, {stimulus.mixed} TC {demand[0]} QD {demand[1]}, ART {art} ms"
        result.figures.append((point, iops[demand], "IOPS"))
    if script.test == "ecw":
        result.tables = _pattern_tables(stimulus.read_percent, script.setup.composite_shares)
    result.tables += [levels_table(f"{name} IOPS Response Time Histogram", histogram.both)
                      for name, histogram in histograms.items()]
    result.charts = _round_charts(stimulus, before, conditioned, rounds, varied, between)
    result.charts += _demand_charts(iops, times)
    for name, demand in points.items():
        parts = writes[name].slices(BEFORE)
        curve = [(BEFORE * i / len(parts), part.iops) for i, part in enumerate(parts, 1)]
        result.charts.append(Chart(f"{name} IOPS Pre-Writes", "Time (minutes)", "IOPS",
                                   [(stimulus.name(demand), curve)]))
    if script.setup.profile.is_second:
        result.charts += _total_charts(iops, times)
    return result


def choose(iops: dict[Demand, float], times: dict[Demand, float]) -> dict[str, Demand]:
    """PTS 2.7, step C: the points Max, Mid and Min.

    Max has the most IOPS below 5 ms, or the lowest response time if nothing is below; Mid is nearest to the middle of
    Max and Min. Ties go to fewer outstanding I/Os, then to fewer threads.
    """
    def smaller(demand: Demand) -> tuple[int, int]:
        return demand[0] * demand[1], demand[0]

    quick = [demand for demand in iops if times[demand] < LIMIT_MS]
    least = (1, 1)
    if quick:
        most = min(quick, key=lambda demand: (-iops[demand], *smaller(demand)))
    else:
        most = min(iops, key=lambda demand: (times[demand], *smaller(demand)))
    middle = (iops[most] + iops[least]) / 2
    mid = min(quick or iops, key=lambda demand: (abs(iops[demand] - middle), *smaller(demand)))
    return {"Max": most, "Mid": mid, "Min": least}


def _pattern_tables(read_percent: int, composite: list[tuple[int, int]]) -> list[Table]:
    page = f"Access Pattern Block Sizes & Access Probabilities - {read_percent}:{100 - read_percent} RW"
    sizes = Table(page, "Block Sizes", [kib(size) for size, _ in composite],
                  [("Share of I/Os (%)", [float(share) for _, share in composite])])
    groups, start = [], 0
    for name, (_, part) in zip("ABC", ZONES):
        groups.append(f"{name} ({start} to {start + part} %)")
        start += part
    shares: list[tuple[str, list[float | str]]] = [
        ("Share of I/Os (%)", [float(access) for access, _ in ZONES]),
        ("Share of the LBA space (%)", [float(part) for _, part in ZONES]),
    ]
    return [sizes, Table(page, "Access Probabilities", groups, shares)]


def _round_charts(stimulus: Stimulus, before: Rounds, conditioned: str, rounds: Rounds, varied: str,
                  between: list[Segment]) -> list[Chart]:
    def course(values: list[float], first: int = 1) -> list[tuple[float, float]]:
        return [(float(i), value) for i, value in enumerate(values, first)]

    assert before.windows and rounds.windows
    window, later = before.windows[conditioned], rounds.windows[varied]
    # A round consists of the writes and then 49 cells.
    minutes = len(DEMANDS) + BETWEEN
    writes = []
    for number, parts in enumerate(segment.slices(BETWEEN) for segment in between):
        step = BETWEEN / len(parts)
        writes += [(minutes * number + step * i, part.iops) for i, part in enumerate(parts, 1)]
    by_depth = [(f"QD {depth}", course([segments[i].iops for segments in rounds.complete]))
                for i, depth in enumerate(SWEEP)]
    return [
        Chart("Pre Conditioning IOPS", "Round", "IOPS", [("TC32-QD32", course(before.values[conditioned]))]),
        Chart("Pre Conditioning Steady State Check TC32-QD32", "Round", "IOPS",
              [("TC32-QD32", course(list(window.values), window.first_round))]),
        Chart("Between Round Pre-Writes", "Time (minutes)", "IOPS", [(stimulus.name((32, 32)), writes)]),
        Chart("DV IOPS, TC = 32, All QD", "Round", "IOPS", by_depth),
        Chart("DV Steady State Check TC32-QD32", "Round", "IOPS",
              [("TC32-QD32", course(list(later.values), later.first_round))]),
    ]


def _demand_charts(iops: dict[Demand, float], times: dict[Demand, float]) -> list[Chart]:
    ascending = sorted(SWEEP)
    variation = [(f"TC {threads}", [(float(depth), iops[threads, depth]) for depth in ascending])
                 for threads in ascending]
    intensity = [(f"TC {threads}", [(iops[threads, depth], times[threads, depth]) for depth in ascending])
                 for threads in ascending]
    return [Chart("Demand Variation", "QD", "IOPS", variation),
            Chart("Demand Intensity", "IOPS", "ART (ms)", intensity)]


def _total_charts(iops: dict[Demand, float], times: dict[Demand, float]) -> list[Chart]:
    """PTS 2.7, page 15: means over all pairs with the same product."""
    totals: dict[int, list[Demand]] = {}
    for demand in iops:
        totals.setdefault(demand[0] * demand[1], []).append(demand)
    ordered = sorted(totals.items())
    page, x = "IOPS v Total OIO", "Total OIO (TC x QD)"
    return [Chart(page, x, unit, [(name, [(float(total), mean([values[demand] for demand in demands]))
                                          for total, demands in ordered])])
            for unit, name, values in (("IOPS", "IOPS", iops), ("ms", "ART", times))]
