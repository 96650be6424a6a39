"""Imported runs: the figures of the source, arranged as the pages of the specification (event `imported`)."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Callable

import steady
from checks import Checks
from journal import Run
from spec import IOPS_MIXES, KIB, LAT_MIXES, kib, mix

Reading = dict[str, Any]
Value = Callable[[Reading], float | None]

#: Where an imported run keeps the file that was imported.
FILE = "imported-file"


def _scaled(key: str, divisor: float) -> Value:
    return lambda reading: reading[key] / divisor if key in reading else None


IOPS, AVERAGE, MAXIMUM = _scaled("iops", 1), _scaled("latency_mean_ns", 1e6), _scaled("latency_max_ns", 1e6)
MEGABYTES, MEBIBYTES = _scaled("bytes_per_second", 1e6), _scaled("bytes_per_second", 1 << 20)
MEBIBYTES_HEADING = "Throughput (MiB/s; TKperf prints these as MB/s)"


def check(run: Run, shown: dict[str, dict[str, Any]], checks: Checks) -> None:
    """Compares the tests of an imported run with their report."""
    digest = hashlib.sha256((run.folder / FILE).read_bytes()).hexdigest()
    checks.equal("SHA-256 of the imported file", digest, run.file["origin"]["sha256"])
    for name in run.file["tests"]:
        bodies = [record.body for record in run.of_test(name) if record.event == "imported"]
        if checks.equal(f"{name}: records with figures", 1, len(bodies)) and name in shown:
            _Test(name, bodies[0], shown[name], checks).compare()
        else:
            checks.holds(f"{name}: is not reported", name in shown)


class _Test:
    """One imported test."""

    def __init__(self, name: str, body: dict[str, Any], shown: dict[str, Any], checks: Checks) -> None:
        self.name, self.body, self.shown, self.checks = name, body, shown, checks
        self.kind = body["test"].split("-")[0]

    def compare(self) -> None:
        """Settings, windows, key figures and tables."""
        for key in ("threads", "queue_depth", "purge", "preconditioning", "date"):
            self.checks.equal(f"{self.name}: {key}", self.body.get(key), self.shown[key])
        ranges = self.shown["active_range"]
        self.checks.equal(f"{self.name}: active_range", self.body.get("active_range"),
                          ranges and [ranges[key] for key in ("precondition", "test", "amount", "segments")])
        self.checks.equal(f"{self.name}: converged", self.body.get("steady"), self.shown["converged"])
        self._compare_cells()
        if "exported" in self.body:
            self._compare_exported(self.body["exported"])
            return
        value = {"iops": IOPS, "tp": MEGABYTES, "lat": AVERAGE}.get(self.kind)
        if value is None:
            self._compare_published()
            return
        self._compare_window(value)
        self._compare_tables()
        self._compare_figures(value)

    def _compare_cells(self) -> None:
        """Each reading is a workload, and nothing that the file does not contain is filled in."""
        readings, cells = self.body["readings"], self.shown["cells"]
        self.checks.equal(f"{self.name}: workloads", len(readings), len(cells))
        for number, (reading, cell) in enumerate(zip(readings, cells), 1):
            where = f"{self.name}: workload {number}"
            for key in ("access", "read_percent", "round", "phase", "ios", "iops", "bytes_per_second"):
                self.checks.equal(f"{where}: {key}", reading.get(key), cell[key])
            self.checks.equal(f"{where}: block_bytes", reading["block_bytes"] or None, cell["block_bytes"])
            self.checks.equal(f"{where}: job", reading.get("name"), cell["job"])
            for key in ("threads", "queue_depth"):
                self.checks.equal(f"{where}: {key}", reading.get(key, self.body.get(key)), cell[key])
            for key in ("mean", "max"):
                self.checks.equal(f"{where}: {key}", reading.get(f"latency_{key}_ns"), cell["latency"][f"{key}_ns"])
            for way in ("read", "write"):
                self._compare_way(f"{where}: {way}", reading.get(way), cell[way])
            stated = reading.get("exported", {})
            self.checks.equal(f"{where}: in_results", stated.get("in_results"), cell["in_results"])
            for key in ("start_ns", "duration_ns", "errors", "engine", "host_share"):
                self.checks.equal(f"{where}: {key}", stated.get("driven", {}).get(key), cell[key])

    def _compare_way(self, where: str, ours: Reading | None, theirs: Reading | None) -> None:
        if not self.checks.equal(where, ours is not None, theirs is not None) or ours is None or theirs is None:
            return
        for key in ("ios", "bytes"):
            self.checks.equal(f"{where}: {key}", ours[key], theirs[key])
        mean = ours.get("latency_mean_ns")
        self.checks.equal(f"{where}: latency_mean_ns", mean, theirs["latency_mean_ns"])

    def _compare_exported(self, exported: dict[str, Any]) -> None:
        """A file that Plateau wrote: everything is as in the file."""
        self.checks.equal(f"{self.name}: title", exported["title"], self.shown["title"])
        figures = [(one["name"], one["value"], one["unit"]) for one in self.body.get("figures", [])]
        self.checks.equal(f"{self.name}: key figures", figures,
                          [(one["name"], one["value"], one["unit"]) for one in self.shown["figures"]])
        windows = exported.get("windows", [])
        self.checks.equal(f"{self.name}: windows", len(windows), len(self.shown["steady_state"]))
        for window, theirs in zip(windows, self.shown["steady_state"]):
            for key, value in window.items():
                self.checks.equal(f"{self.name}: window of {window['variable']}: {key}", value, theirs[key])
        # Tables of a page with charts are moved to it.
        if exported.get("tables"):
            self._compare_sorted("tables", exported["tables"], ("page", "heading", "columns", "rows"))
        if exported.get("charts"):
            self._compare_sorted("charts", exported["charts"], ("page", "series"))

    def _compare_sorted(self, kind: str, ours: list[Reading], keys: tuple[str, ...]) -> None:
        def content(one: Reading) -> str:
            return json.dumps([one[key] for key in keys], sort_keys=True)

        self.checks.equal(f"{self.name}: {kind}", sorted(map(content, ours)), sorted(map(content, self.shown[kind])))

    def _of(self, percent: int, size: int, value: Value) -> float | None:
        """A cell: its value as printed by the source, or else the mean over the rounds of the window."""
        cells = [r for r in self.body["readings"] if (r["read_percent"], r["block_bytes"]) == (percent, size)]
        printed = [value(cell) for cell in cells if "round" not in cell]
        found = [number for number in printed if number is not None]
        if found:
            return found[0]
        first, last = self.body.get("window", (1, 0))
        rounds = [value(cell) for cell in cells if first <= cell.get("round", 0) <= last]
        numbers = [number for number in rounds if number is not None]
        if not numbers:
            return None
        # PTS 1.10: the largest of the maxima, the mean of everything else.
        return max(numbers) if value is MAXIMUM else sum(numbers) / len(numbers)

    def _compare_window(self, value: Value) -> None:
        """PTS 1.9 on the round values of the tracking variable, if the source has them."""
        size = self.body.get("tracked_block_bytes", 4 * KIB)
        tracked = [r for r in self.body["readings"]
                   if "round" in r and (r["read_percent"], r["block_bytes"]) == (0, size)]
        first, last = self.body.get("window", (1, 0))
        values = [value(r) for r in sorted(tracked, key=lambda r: r["round"]) if first <= r["round"] <= last]
        numbers = tuple(number for number in values if number is not None)
        if len(numbers) != steady.ROUNDS or not self.shown["steady_state"]:
            self.checks.equal(f"{self.name}: windows", [], self.shown["steady_state"])
            return
        window, theirs = steady.Window(first, numbers), self.shown["steady_state"][0]
        expected = {"first_round": first, "last_round": last, "mean": window.mean, "steady": window.steady,
                    "data_excursion": window.data_excursion, "slope_per_round": window.slope,
                    "intercept": window.intercept, "slope_excursion": window.slope_excursion}
        for key, number in expected.items():
            self.checks.equal(f"{self.name}: window: {key}", number, theirs[key])

    def _compare_tables(self) -> None:
        headings: dict[str, tuple[Value, tuple[int, ...]]] = {
            "IOPS": (IOPS, IOPS_MIXES if self.kind == "iops" else LAT_MIXES),
            "Throughput (MB/s)": (MEGABYTES, (100, 0)), MEBIBYTES_HEADING: (MEBIBYTES, (100, 0)),
            "Average Response Time (ms)": (AVERAGE, LAT_MIXES), "Maximum Response Time (ms)": (MAXIMUM, LAT_MIXES),
        }
        sizes = {kib(reading["block_bytes"]): reading["block_bytes"] for reading in self.body["readings"]}
        for table in self.shown["tables"]:
            if not self.checks.holds(f"{self.name}: unknown table {table['heading']}", table["heading"] in headings):
                continue
            value, mixes = headings[table["heading"]]
            percents = {mix(percent): percent for percent in mixes}
            for row in table["rows"]:
                ours = [self._of(percents[column], sizes[row["name"]], value) for column in table["columns"]]
                self.checks.equal(f"{self.name}: {table['heading']}: {row['name']} KiB", ours, row["values"])

    def _compare_figures(self, value: Value) -> None:
        for figure in self.shown["figures"]:
            words = figure["name"].split()
            size, percent = round(float(words[1].removesuffix("KiB")) * KIB), {"R": 100, "W": 0}[words[2]]
            ours = self._of(percent, size, MAXIMUM if words[-1] == "maximum" else value)
            self.checks.equal(f"{self.name}: {figure['name']}", ours, figure["value"])

    def _compare_published(self) -> None:
        """Figures that the source itself states."""
        printed = {figure["name"]: figure["value"] for figure in reversed(self.body.get("figures", []))}
        for figure in self.shown["figures"]:
            if figure["name"] in printed:
                self.checks.equal(f"{self.name}: {figure['name']}", printed[figure["name"]], figure["value"])
