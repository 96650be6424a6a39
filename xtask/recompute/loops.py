"""The tests that repeat a loop until steady state: IOPS, throughput and latency (PTS 2.2 to 2.4)."""

from __future__ import annotations

from typing import Any, Callable

from histogram import Histogram
from journal import Segment
from replay import Rounds, Script
from result import ABSENT_SCALED, Chart, Result, Table, highest_level, level_values, levels_table
from spec import IOPS_BLOCKS, IOPS_MIXES, KIB, LAT_BLOCKS, LAT_MIXES, MINUTE, kib, mix, name_of
from steady import RANGE, ROUNDS, SLOPE, Window

Key = tuple[int, int]


def mean(values: list[float]) -> float:
    """Mean of the values of the window rounds (PTS 1.10)."""
    return sum(values) / len(values)


class Loop:
    """Cells of a loop by R/W mix and block size."""

    def __init__(self, script: Script, cells: list[dict[str, Any]], value: Callable[[Segment], float],
                 tracked: dict[str, Key], continues: bool = False) -> None:
        self.value = value
        self.keys = [(cell["read_percent"], cell["block_bytes"]) for cell in cells]
        track = {name: self._tracker(key) for name, key in tracked.items()}
        self.rounds: Rounds = script.rounds(cells, track, continues=continues)

    def _tracker(self, key: Key) -> Callable[[list[Segment]], float]:
        position = self.keys.index(key)
        return lambda segments: self.value(segments[position])

    def cells(self, key: Key) -> list[Segment]:
        """This cell in each round of the window."""
        return [segments[self.keys.index(key)] for segments in self.rounds.window]

    def average(self, key: Key) -> float:
        """Mean of the five round values."""
        return mean([self.value(segment) for segment in self.cells(key)])

    def course(self, key: Key, value: Callable[[Segment], float] | None = None) -> list[tuple[float, float]]:
        """The cell in every round."""
        segments = [segments[self.keys.index(key)] for segments in self.rounds.complete]
        return [(float(i), (value or self.value)(segment)) for i, segment in enumerate(segments, 1)]

    def window_chart(self, page: str, name: str, y: str, variable: str) -> Chart:
        """The five rounds of a tracking variable."""
        assert self.rounds.windows is not None
        window = self.rounds.windows[variable]
        points = [(float(window.first_round + i), value) for i, value in enumerate(window.values)]
        return Chart(page, "Round", y, [(name, points)])


def _left_out(script: Script, blocks: tuple[int, ...]) -> tuple[int, ...]:
    """Blocks smaller than a sector are left out, and a note names each (PTS 8, question 29)."""
    small = [size for size in blocks if size < script.setup.sector]
    expected = [f"all {kib(size)}KiB cells" for size in small]
    script.checks.equal("notes of skipped block sizes", expected, script.skipped())
    return tuple(size for size in blocks if size not in small)


def _purge_and_precondition(script: Script) -> None:
    """Workload-independent preconditioning, at the TC and QD of the run (PTS 2.2 and 2.4)."""
    setup = script.setup
    script.purge()
    script.write(setup.load("sequential", 0, 128 * KIB, setup.demand,
                            {"amount_bytes": setup.precondition_bytes}, setup.precondition_range))


def iops(script: Script) -> Result:
    """PTS 2.2; tracking variables: RND 4KiB W, from 2.0 on RND 64KiB 65/35 and RND 1024KiB R as well."""
    setup = script.setup
    blocks = _left_out(script, IOPS_BLOCKS)
    _purge_and_precondition(script)
    until = {"duration_ns": setup.settings["cell_ns"]}
    cells = [setup.load("random", percent, size, setup.demand, until, setup.active_range)
             for percent in IOPS_MIXES for size in blocks]
    tracked: dict[str, Key] = {"RND 4KiB W": (0, 4 * KIB)}
    if setup.profile.is_second:
        tracked |= {"RND 64KiB 65/35": (65, 64 * KIB), "RND 1024KiB R": (100, 1024 * KIB)}
    loop = Loop(script, cells, lambda segment: segment.iops, tracked)
    script.ended(loop.rounds.converged)

    result = Result("IOPS", "iops", setup.demand, len(loop.rounds.complete), loop.rounds.converged)
    result.windows = list((loop.rounds.windows or {}).items())
    ascending = sorted(IOPS_BLOCKS)
    for size in (4 * KIB, 8 * KIB):
        for percent in (0, 100):
            name = name_of({"access": "random", "block_bytes": size, "read_percent": percent})
            result.figures.append((name, loop.average((percent, size)), "IOPS"))
    rows: list[tuple[str, list[float | str]]] = []
    for size in ascending:
        rows.append((kib(size), [loop.average((percent, size)) if size in blocks else "n/a (4Kn)"
                                 for percent in reversed(IOPS_MIXES)]))
    columns = [mix(percent) for percent in reversed(IOPS_MIXES)]
    result.tables = [Table("IOPS - ALL RW Mix & BS - Tabular Data", "IOPS", columns, rows)]
    result.tables += _every_cell(loop, ascending, blocks)
    present = [size for size in ascending if size in blocks]
    result.charts = [
        Chart("Steady State Convergence Plot - All Block Sizes", "Round", "IOPS (R/W 0/100)",
              [(f"{kib(size)}KiB", loop.course((0, size))) for size in present]),
        Chart("Steady State Measurement Window", "Round", "IOPS", [("RND 4KiB W", loop.course((0, 4 * KIB)))]),
    ]
    for variable, (percent, size) in tracked.items():
        name = f"RND/{kib(size)}KiB" + ("" if percent == 0 else f" {mix(percent)}")
        page = f"Steady State Measurement Window - {name}"
        result.charts.append(loop.window_chart(page, name, "IOPS", variable))
    result.charts.append(Chart("IOPS - ALL RW Mix & BS - 2D Plot", "Block Size (KiB)", "IOPS", [
        (mix(percent), [(size / KIB, loop.average((percent, size))) for size in present])
        for percent in reversed(IOPS_MIXES)]))
    return result


def _every_cell(loop: Loop, sizes: list[int], present: tuple[int, ...]) -> list[Table]:
    """Steady state of every cell, beyond the specification (docs/reference/tests.md)."""
    page = "IOPS - Steady State of Every Cell (beyond the standard)"
    excursions: list[tuple[str, list[float | str]]] = []
    confidences: list[tuple[str, list[float | str]]] = []
    if len(loop.rounds.window) < ROUNDS:
        return []
    for size in sizes:
        larger: list[float | str] = []
        shares: list[float | str] = []
        for percent in reversed(IOPS_MIXES):
            if size not in present:
                larger.append("not measured")
                shares.append("not measured")
                continue
            window = Window(1, tuple(segment.iops for segment in loop.cells((percent, size))))
            if window.mean <= 0:
                larger.append("no I/O")
                shares.append("excursion")
                continue
            larger.append(100 * max(window.data_excursion / (RANGE * window.mean),
                                    window.slope_excursion / (SLOPE * window.mean)))
            confidence = window.confidence
            shares.append("excursion" if confidence is None else 100 * confidence)
        excursions.append((kib(size), larger))
        confidences.append((kib(size), shares))
    columns = [mix(percent) for percent in reversed(IOPS_MIXES)]
    return [Table(page, "Larger excursion, % of its limit", columns, excursions),
            Table(page, "Confidence of the verdict, %", columns, confidences)]


def throughput(script: Script) -> Result:
    """PTS 2.3: reads first, then writes; 1.0 preconditions with 128 KiB, later versions with the tested size."""
    setup = script.setup
    size = int(script.test.removeprefix("tp-")) * KIB
    demand = setup.sequential_demand if setup.profile.is_second else setup.demand
    script.purge()
    before = 128 * KIB if setup.profile.is_first else size
    script.write(setup.load("sequential", 0, before, demand,
                            {"amount_bytes": setup.precondition_bytes}, setup.precondition_range))
    until = {"duration_ns": setup.settings["cell_ns"]}
    cells = [setup.load("sequential", percent, size, demand, until, setup.active_range) for percent in (100, 0)]
    name = f"SEQ {kib(size)}KiB"
    loop = Loop(script, cells, lambda segment: segment.megabytes_per_second, {f"{name} W": (0, size)},
                continues=True)
    script.ended(loop.rounds.converged)

    result = Result(f"Throughput Test {kib(size)}KiB", "tp", demand, len(loop.rounds.complete), loop.rounds.converged)
    result.windows = list((loop.rounds.windows or {}).items())
    write, read = loop.average((0, size)), loop.average((100, size))
    result.figures = [(f"{name} W", write, "MB/s"), (f"{name} R", read, "MB/s")]
    result.tables = [Table("Throughput - ALL RW Mix & BS - Tabular Data", "Throughput (MB/s)", ["0/100", "100/0"],
                           [(kib(size), [write, read])])]
    slashed = f"SEQ/{kib(size)}KiB"
    result.charts = [
        Chart("Throughput - SS Convergence - Write", "Round", "MB/s", [(f"{slashed} 0/100", loop.course((0, size)))]),
        Chart("Throughput - SS Convergence - Read", "Round", "MB/s", [(f"{slashed} 100/0", loop.course((100, size)))]),
        loop.window_chart(f"Steady State Measurement Window - {slashed}", slashed, "MB/s", f"{name} W"),
        Chart("Throughput - ALL RW Mix & BS - 2D Plot", "R/W Mix", "MB/s",
              [("0/100", [(1.0, write)]), ("100/0", [(2.0, read)])]),  # bars, numbered from 1
    ]
    return result


def latency(script: Script) -> Result:
    """PTS 2.4: TC 1 QD 1; from 2.0 on followed by 20 minutes of RND 4KiB W for the histogram."""
    setup = script.setup
    blocks = _left_out(script, LAT_BLOCKS)
    _purge_and_precondition(script)
    until = {"duration_ns": setup.settings["cell_ns"]}
    cells = [setup.load("random", percent, size, (1, 1), until, setup.active_range)
             for percent in LAT_MIXES for size in blocks]
    variable = "RND 4KiB W average latency"
    loop = Loop(script, cells, lambda segment: segment.mean_ms, {variable: (0, 4 * KIB)})
    histogram: Histogram | None = None
    if setup.profile.is_second:
        load = setup.load("random", 0, 4 * KIB, (1, 1), {"duration_ns": setup.ns(20 * MINUTE)}, setup.active_range)
        histogram = script.measure(load).both
    script.ended(loop.rounds.converged)

    scaled = setup.scale > 1
    result = Result("Latency", "lat", (1, 1), len(loop.rounds.complete), loop.rounds.converged)
    result.windows = list((loop.rounds.windows or {}).items())

    def maximum(key: Key) -> float | str:
        """PTS 1.10: the largest of the window."""
        return ABSENT_SCALED if scaled else max(segment.both.max_ns for segment in loop.cells(key)) / 1e6

    for name, shown in (("average", loop.average), ("maximum", maximum)):
        for percent in (100, 0):
            value = shown((percent, 4 * KIB))
            way = "R" if percent else "W"
            result.figures.append((f"RND 4KiB {way} {name}", None if isinstance(value, str) else value, "ms"))
    result.tables = _latency_tables(loop, blocks, maximum, setup.profile.is_second)
    if histogram is not None:
        result.tables.append(levels_table("Response Time Histogram - Confidence Level Plot", histogram))
    result.charts = _latency_charts(loop, sorted(blocks), scaled, variable)
    return result


def _latency_tables(loop: Loop, blocks: tuple[int, ...], maximum: Callable[[Key], float | str],
                    is_second: bool) -> list[Table]:
    page = "Average and Maximum Response Time - Tabular Data"
    columns = [mix(percent) for percent in reversed(LAT_MIXES)]

    def table(heading: str, value: Callable[[Key], float | str]) -> Table:
        rows = [(kib(size), [value((percent, size)) if size in blocks else "n/a (4Kn)"
                             for percent in reversed(LAT_MIXES)]) for size in sorted(LAT_BLOCKS)]
        return Table(page, heading, columns, rows)

    def five_nines(key: Key) -> float | str:
        """PTS 1.10: the merged histogram of the window."""
        merged = Histogram.merged(segment.both for segment in loop.cells(key))
        return level_values(merged, ["99.999"])[0]

    tables = [table("Average Response Time (ms)", loop.average)]
    if is_second:
        tables.insert(0, table("IOPS", lambda key: mean([segment.iops for segment in loop.cells(key)])))
        tables.append(table("99.999 % Response Time (ms)", five_nines))
    tables.append(table("Maximum Response Time (ms)", maximum))
    return tables


def _latency_charts(loop: Loop, blocks: list[int], scaled: bool, variable: str) -> list[Chart]:
    writes = {size: [segments[loop.keys.index((0, size))] for segments in loop.rounds.complete] for size in blocks}
    page, y = "Steady State Convergence - Maximum Latency (100 % writes)", "Maximum latency (ms)"
    level, is_known = None, not scaled
    if scaled:
        level = highest_level([segment.both for cells in writes.values() for segment in cells])
        is_known = level is not None
        page, y = f"{page}: n/a", "n/a (ms)"
        if level is not None:
            page, y = f"{page}, {level} % shown", f"{level} % latency (ms)"

    def longest(segment: Segment) -> float:
        if level is None:
            return segment.both.max_ns / 1e6
        return (segment.both.percentile_ns(level) or 0) / 1e6

    def averages(percent: int, name: str) -> Chart:
        return Chart(f"Steady State Convergence - Average Latency ({name})", "Round", "Average latency (ms)",
                     [(f"{kib(size)}KiB", loop.course((percent, size))) for size in blocks])

    return [
        averages(0, "100 % writes"),
        Chart(page, "Round", y, [(f"{kib(size)}KiB", loop.course((0, size), longest) if is_known else [])
                                 for size in blocks]),
        loop.window_chart("Steady State Measurement Window - RND/4KiB", "RND/4KiB", "ms", variable),
        # The specification does not define this page.
        averages(100, "100 % reads"),
        averages(65, "65/35 reads and writes"),
    ]


