"""Custom tests, which a plan defines: "The plan of a run" and "Custom tests" in docs/reference/journal-format.md."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Callable

from journal import Segment
from loops import mean
from replay import Rounds, Script
from result import ABSENT_SCALED, Chart, Result, Table
from spec import KIB, MINUTE, SECOND, kib, mix, name_of

#: If there would be more figures than this, only the best cell of each load has a figure.
FIGURES = 4
#: Cells of at least this length are charts over time if a round has at most this number of cells.
LONG_NS, FEW_CELLS, SAMPLES = 300 * SECOND, 4, 300
#: A load has no knee if one of its cells has fewer I/Os.
FEW_IOS = 10
#: Points that reach this fraction of the best point count as equally good.
AS_GOOD = 0.97

#: Height of a page and of a table's headings in rows, and the largest number of columns of tables side by side.
PAGE_ROWS, HEADING_ROWS, NARROW = 19, 4, 6

Load = tuple[str, int]
Demand = tuple[int, int]


@dataclass(frozen=True)
class Figure:
    """A figure of a cell."""

    heading: str
    unit: str
    of: Callable[[Segment], float]
    key: str


IOPS = Figure("IOPS", "IOPS", lambda segment: segment.iops, "iops")
RATE = Figure("Throughput (MB/s)", "MB/s", lambda segment: segment.megabytes_per_second, "megabytes_per_second")
TIME = Figure("Average Response Time (ms)", "ms", lambda segment: segment.mean_ms, "mean_latency")
LONGEST = Figure("Maximum Response Time (ms)", "ms", lambda segment: segment.both.max_ns / 1e6, "")
MAIN = {figure.key: figure for figure in (IOPS, RATE, TIME)}
#: Figures in the tables, starting with the main figure.
TABLES = {"iops": (IOPS, TIME), "megabytes_per_second": (RATE, TIME), "mean_latency": (TIME, IOPS)}


def load_name(load: Load, block_bytes: int | None = None) -> str:
    """`RND W`, or `RND 4KiB W` with a block size."""
    named = name_of({"access": load[0], "read_percent": load[1], "block_bytes": block_bytes or KIB})
    access, _, way = named.split(" ")
    return named if block_bytes else f"{access} {way}"


def demand_name(demand: Demand) -> str:
    """`TC 8 QD 32`."""
    return f"TC {demand[0]} QD {demand[1]}"


@dataclass(frozen=True)
class Mean:
    """A cell in all rounds that the results are based on."""

    load: Load
    block_bytes: int
    demand: Demand
    rounds: tuple[Segment, ...]

    @property
    def outstanding(self) -> int:
        """Outstanding I/Os of all threads."""
        return self.demand[0] * self.demand[1]

    @property
    def name(self) -> str:
        """Load and block size."""
        return load_name(self.load, self.block_bytes)

    def of(self, figure: Figure) -> float | None:
        """Mean of the rounds with I/Os, or the largest response time."""
        busy = [segment for segment in self.rounds if segment.ios]
        if figure is LONGEST:
            return max((figure.of(segment) for segment in busy), default=None)
        if figure is TIME:
            return mean([figure.of(segment) for segment in busy]) if busy else None
        return mean([figure.of(segment) for segment in self.rounds])


@dataclass(frozen=True)
class Dimension:
    """A quantity that a loop varies: heading, value of a cell, name in rows and columns, name in legends, order."""

    heading: str
    of: Callable[[Mean], Any]
    name: Callable[[Any], str]
    full_name: Callable[[Any], str]
    order: Callable[[Any], Any]

    def places(self, cells: list[Mean]) -> list[Any]:
        """Values in loop order."""
        return list(dict.fromkeys(self.of(cell) for cell in cells))

    def sorted(self, cells: list[Mean]) -> list[Any]:
        """Values in the order of rows and columns."""
        return sorted(self.places(cells), key=self.order)


LOAD = Dimension("Load", lambda cell: cell.load, load_name, load_name, lambda _: 0)
BLOCK = Dimension("Block Size (KiB)", lambda cell: cell.block_bytes, kib, lambda size: f"{kib(size)}KiB", int)
THREADS = Dimension("TC", lambda cell: cell.demand[0], str, lambda count: f"TC {count}", int)
DEPTH = Dimension("QD", lambda cell: cell.demand[1], str, lambda count: f"QD {count}", int)
PAIR = Dimension("TC x QD", lambda cell: cell.demand, lambda d: f"{d[0]} x {d[1]}", lambda d: f"{d[0]} x {d[1]}",
                 lambda d: (d[0] * d[1], d[0]))


class Layout:
    """Rows, columns and sections of tables."""

    def __init__(self, cells: list[Mean]) -> None:
        self.cells = cells
        block, load = (len(one.places(cells)) > 1 for one in (BLOCK, LOAD))
        demand = self._demand()
        if len(demand) == 2:
            self.rows, self.columns = demand
        elif demand:
            self.rows, self.columns = (BLOCK if block else LOAD), demand[0]
        else:
            self.rows, self.columns = (LOAD, BLOCK) if block and not load else (BLOCK, LOAD)
        rest = [one for one in (LOAD, BLOCK) if one not in (self.rows, self.columns)]
        self.apart = [one for one in rest if len(one.places(cells)) > 1]

    def _demand(self) -> list[Dimension]:
        threads, depths, pairs = (len(one.places(self.cells)) for one in (THREADS, DEPTH, PAIR))
        if threads > 1 and depths > 1:
            return [THREADS, DEPTH] if pairs == threads * depths else [PAIR]
        return [THREADS] if threads > 1 else [DEPTH] if depths > 1 else []

    @property
    def is_map(self) -> bool:
        """Whether TC and QD vary independently: drawn as a map, which is not a chart of curves."""
        return (self.rows, self.columns) == (THREADS, DEPTH)

    def sections(self) -> list[tuple[str, list[Mean]]]:
        """Name and cells of each table."""
        found: dict[str, list[Mean]] = {}
        for cell in self.cells:
            name = " ".join(one.full_name(one.of(cell)) for one in self.apart)
            found.setdefault(name, []).append(cell)
        return list(found.items())

    def tables(self, figure: Figure, scaled: bool) -> list[Table]:
        """The tables of a figure."""
        rows, columns = self.rows.sorted(self.cells), self.columns.sorted(self.cells)
        tables = []
        for section, cells in self.sections():
            places = {(self.rows.of(cell), self.columns.of(cell)): cell for cell in reversed(cells)}

            def value(row: Any, column: Any, places: dict[Any, Mean] = places) -> float | str:
                if (row, column) not in places:
                    return "-"
                found = places[row, column].of(figure)
                return "n/a" if found is None or (figure is LONGEST and scaled) else found

            heading = f"{figure.heading}, {section}" if section else figure.heading
            tables.append(Table(f"{figure.heading} - Tabular Data", heading,
                                [self.columns.name(column) for column in columns],
                                [(self.rows.name(row), [value(row, column) for column in columns]) for row in rows]))
        return _spread(tables)

    def _horizontal(self) -> tuple[Dimension, str, Callable[[Mean], float]] | None:
        if self.columns in (THREADS, DEPTH, PAIR):
            return self.columns, "Total OIO (TC x QD)", lambda cell: float(cell.outstanding)
        if len(BLOCK.places(self.cells)) > 1:
            return BLOCK, "Block Size (KiB)", lambda cell: cell.block_bytes / KIB
        if len(LOAD.places(self.cells)) > 2:
            return LOAD, "Reads (%)", lambda cell: float(cell.load[1])
        return None

    def chart(self, figure: Figure) -> Chart | None:
        """Curves of a figure; None if the figure is drawn as a map, or if nothing varies along the horizontal axis."""
        horizontal = self._horizontal()
        if self.is_map or horizontal is None:
            return None
        along, label, position = horizontal
        across = self.rows if self.columns is along else self.columns
        series = []
        for section, cells in self.sections():
            for place in across.sorted(self.cells):
                for order in ("random", "sequential") if along is LOAD else (None,):
                    curve = [(position(cell), value) for cell in cells
                             if across.of(cell) == place and order in (None, cell.load[0])
                             and (value := cell.of(figure)) is not None]
                    is_named = len(across.places(self.cells)) > 1 or not section
                    parts = [section, {"random": "RND", "sequential": "SEQ"}.get(order or "", ""),
                             across.full_name(place) if is_named else ""]
                    if curve:
                        series.append((", ".join(part for part in parts if part), sorted(curve, key=lambda p: p[0])))
        return Chart(f"{figure.heading} - 2D Plot", label, figure.heading, series)


def _spread(tables: list[Table]) -> list[Table]:
    """The tables with the titles of the pages on which all of them are legible: two columns of narrow tables, or one."""
    height = max(len(table.rows) for table in tables) + HEADING_ROWS
    beside = 2 if max(len(table.columns) for table in tables) <= NARROW else 1
    pages = -(-len(tables) // (max(PAGE_ROWS // height, 1) * beside))
    if pages < 2:
        return tables
    size = -(-len(tables) // pages)
    pages = -(-len(tables) // size)
    return [replace(table, page=f"{table.page} ({index // size + 1} of {pages})") for index, table in enumerate(tables)]


def custom(script: Script) -> Result:
    """Purge, preconditioning and rounds, if the plan has them."""
    test = next(test for test in script.run.file["plan"]["custom_tests"] if test["name"] == script.test)
    positions = _possible(script, test)
    cells = [test["cells"][position] for position in positions]
    if test["purge"]:
        script.purge()
    for write in test.get("precondition", []):
        script.write(_write(script, write))
    figure = MAIN[test["figure"]]
    tracked = [positions.index(position) for position in test.get("tracked", []) if position in positions]
    names = {f"{load_name(_load(cells[i]), cells[i]['block_bytes'])}, {demand_name(_demand(script, cells[i]))}": i
             for i in tracked}
    ends = test["rounds"]
    rounds = script.rounds([_cell(script, test, cell) for cell in cells],
                           {name: _value_at(figure, i) for name, i in names.items()},
                           fixed=None if ends == "until_steady" else ends["fixed"])
    converged = bool(rounds.entered) if tracked else None
    script.ended(converged)

    means = _means(script, cells, test["average"], rounds)
    largest = max(reversed(means), key=lambda cell: cell.outstanding).demand
    result = Result(test["title"], "own", largest, len(rounds.complete), converged)
    result.requirement = "NOT A PTS TEST"
    result.no_purge = "none: drive used as is"
    result.windows = list((rounds.windows or {}).items())
    result.figures = _knees(means) if test.get("finds_knee") else _figures(figure, means)
    layout, scaled = Layout(means), script.setup.scale > 1
    result.tables = _streams(test)
    for shown in TABLES[test["figure"]] + (() if scaled else (LONGEST,)):
        result.tables += layout.tables(shown, scaled)
    result.charts = [chart for drawn in dict.fromkeys((figure, TIME)) if (chart := layout.chart(drawn))]
    result.charts += _times_by_rate(means) + _over_time(test, cells, means, rounds)
    for name, values in rounds.values.items():
        points = [(float(i), value) for i, value in enumerate(values, 1)]
        window = rounds.windows[name] if rounds.windows else None
        inside = points[window.first_round - 1:window.last_round] if window else points
        result.charts += [Chart("Steady State Measurement Window", "Round", figure.unit, [(name, points)]),
                          Chart(f"Steady State Measurement Window - {name}", "Round", figure.unit, [(name, inside)])]
    return result


def _possible(script: Script, test: dict[str, Any]) -> list[int]:
    """Positions of the cells whose block size is a multiple of the sector size; a note names all other block sizes."""
    sizes = dict.fromkeys(cell["block_bytes"] for cell in test["cells"])
    left_out = [size for size in sizes if size % script.setup.sector]
    expected = [f"all {kib(size)}KiB cells" for size in left_out]
    script.checks.equal("notes of skipped block sizes", expected, script.skipped())
    return [i for i, cell in enumerate(test["cells"]) if cell["block_bytes"] not in left_out]


def _load(cell: dict[str, Any]) -> Load:
    return cell["access"], cell["read_percent"]


def _demand(script: Script, cell: dict[str, Any]) -> Demand:
    threads, depth = script.setup.demand
    return cell.get("threads", threads), cell.get("queue_depth", depth)


def _write(script: Script, write: dict[str, Any]) -> dict[str, Any]:
    setup, size = script.setup, write["block_bytes"]
    amount = setup.capacity * write["capacities"]
    load = setup.load(write["access"], 0, size, _demand(script, write), {"amount_bytes": amount - amount % size},
                      setup.precondition_range)
    return load | ({"regime": {"limit_ns": setup.ns(write["limit_ns"])}} if "limit_ns" in write else {})


def _cell(script: Script, test: dict[str, Any], cell: dict[str, Any]) -> dict[str, Any]:
    setup = script.setup
    load = setup.load(cell["access"], cell["read_percent"], cell["block_bytes"], _demand(script, cell),
                      {"duration_ns": setup.ns(cell["run_ns"])}, setup.active_range)
    if "streams" in test:
        load |= {"kinds": test["streams"]}
    ramp = setup.ns(cell.get("ramp_ns", 0))
    return load | ({"regime": {"ramp_ns": ramp}} if ramp else {})


def _value_at(figure: Figure, position: int) -> Callable[[list[Segment]], float]:
    return lambda segments: figure.of(segments[position])


def _means(script: Script, cells: list[dict[str, Any]], average: dict[str, Any], rounds: Rounds) -> list[Mean]:
    """The rounds from the first steady window on, or the last rounds."""
    shown = rounds.complete[-average["rounds"]:]
    if average["from_steady"] and rounds.entered:
        first = next(iter(rounds.entered.values())).first_round - 1
        shown = rounds.complete[first:first + average["rounds"]]
    return [Mean(_load(cell), cell["block_bytes"], _demand(script, cell), tuple(round_[i] for round_ in shown))
            for i, cell in enumerate(cells)]


def _figures(figure: Figure, means: list[Mean]) -> list[tuple[str, float | None, str]]:
    """Every cell of a short loop, or the best cell of each load; the only cell of a load is not called the best."""
    if len(means) <= FIGURES:
        return [(f"{cell.name} {demand_name(cell.demand)}", cell.of(figure), figure.unit) for cell in means]
    found: list[tuple[str, float | None, str]] = []
    for load in LOAD.places(means):
        cells = [cell for cell in means if cell.load == load]
        values = [(value, cell) for cell in cells if (value := cell.of(figure)) is not None]
        if values:
            pick = min if figure is TIME else max
            value, cell = pick(values, key=lambda pair: pair[0])
            best = "best " if len(cells) > 1 else ""
            found.append((f"{best}{cell.name} {demand_name(cell.demand)}", value, figure.unit))
    return found[:FIGURES]


def _by_workload(means: list[Mean]) -> dict[str, list[Mean]]:
    found: dict[str, list[Mean]] = {}
    for cell in means:
        found.setdefault(cell.name, []).append(cell)
    return found


def _knees(means: list[Mean]) -> list[tuple[str, float | None, str]]:
    """The cell of the lowest demand with at least 97 % of the highest IOPS per ms (docs/reference/plans.md)."""
    knees: list[tuple[str, Mean]] = []
    for name, cells in _by_workload(means).items():
        if any(segment.ios < FEW_IOS for cell in cells for segment in cell.rounds):
            continue
        power = {cell.demand: (cell.of(IOPS) or 0.0) / (cell.of(TIME) or 1.0) for cell in cells}
        good = [cell for cell in cells if power[cell.demand] >= AS_GOOD * max(power.values())]
        knees.append((name, min(good, key=lambda cell: (cell.outstanding, cell.demand[0]))))
    proposed = max((cell for _, cell in knees), key=lambda cell: cell.outstanding, default=None)
    return [(f"{name} knee at {demand_name(cell.demand)}"
             + (", proposed" if proposed and cell.demand == proposed.demand else ""), cell.of(IOPS), "IOPS")
            for name, cell in knees][:FIGURES]


def _streams(test: dict[str, Any]) -> list[Table]:
    rows: list[tuple[str, list[float | str]]] = [
        (name_of(stream), [float(stream["share_percent"])]) for stream in test.get("streams", [])]
    return [Table("Composite of IO Streams", "IO Streams", ["Share of I/Os (%)"], rows)] if rows else []


def _times_by_rate(means: list[Mean]) -> list[Chart]:
    """Response time over IOPS of each load; cells with the same number of outstanding I/Os are averaged."""
    series = []
    for name, cells in _by_workload(means).items():
        points: dict[int, list[tuple[float, float]]] = {}
        for cell in sorted(cells, key=lambda cell: cell.outstanding):
            time = cell.of(TIME)
            if time is not None:
                points.setdefault(cell.outstanding, []).append((cell.of(IOPS) or 0.0, time))
        if len(points) > 1:
            series.append((name, [(mean([x for x, _ in same]), mean([y for _, y in same]))
                                  for same in points.values()]))
    return [Chart("Response Time v IOPS", "IOPS", "ART (ms)", series)] if series else []


def _over_time(test: dict[str, Any], cells: list[dict[str, Any]], means: list[Mean], rounds: Rounds) -> list[Chart]:
    """The cells of the last round, one after another, if there are few cells and any of them is long."""
    if len(cells) > FEW_CELLS or all(cell["run_ns"] < LONG_NS for cell in cells):
        return []
    is_rate = test["figure"] == RATE.key
    series, start = [], 0.0
    for cell, shown, segment in zip(cells, means, rounds.complete[-1]):
        minutes = cell["run_ns"] / MINUTE
        parts = segment.slices(SAMPLES)
        size = segment.bytes / segment.ios / 1e6 if is_rate and segment.ios else 1.0
        points = [(start + minutes * i / len(parts), part.iops * size) for i, part in enumerate(parts, 1)]
        series.append((f"{shown.name}, {demand_name(shown.demand)}", points))
        start += minutes
    label = "MB/s" if is_rate else "IOPS"
    return [Chart(f"{label} v Time", "Time (minutes)", label, series)]
