"""Walks through the records of a test and compares the requested workloads with those that the specification demands.

A test is straight-line code over `Script`: it requests the next record, and states the workload that the record must
contain.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable

import steady
from checks import Checks
from journal import SETTINGS, Record, Run, Segment
from spec import PROFILES, Setup


class Stopped(Exception):
    """The journal ends within the test, or does not match it."""


@dataclass
class Cell:
    """A segment and its place in the test."""

    segment: Segment
    #: Number of its round, and of the loop: a test may have two kinds of rounds.
    round: int | None = None
    loop: int | None = None


@dataclass
class Rounds:
    """The rounds of one loop."""

    #: Measured segments of each complete round.
    complete: list[list[Segment]] = field(default_factory=list)
    #: Value of each tracking variable in each of them.
    values: dict[str, list[float]] = field(default_factory=dict)
    #: The first round that may be part of a window.
    first: int = 1
    windows: dict[str, steady.Window] | None = None
    #: The first steady window.
    entered: dict[str, steady.Window] | None = None
    converged: bool = False

    def is_steady(self) -> bool:
        """PTS 1.9: all tracking variables, in the same window."""
        return bool(self.windows) and all(window.steady for window in (self.windows or {}).values())

    def is_in_window(self, number: int) -> bool:
        """Whether the results include this round."""
        if not self.windows:
            return False
        window = next(iter(self.windows.values()))
        return window.first_round <= number <= window.last_round

    @property
    def window(self) -> list[list[Segment]]:
        """The rounds of the window; if there is no window yet, all rounds that may become part of one."""
        if not self.windows:
            return self.complete[self.first - 1:][-steady.ROUNDS:]
        window = next(iter(self.windows.values()))
        return self.complete[window.first_round - 1:window.last_round]


def blocks_of_thread(segment: Segment) -> int:
    """Number of blocks by which a sequential stream advanced in each thread.

    docs/reference/tests.md, "Throughput": the counted I/Os, divided by the number of threads and rounded up, plus the
    I/Os that were outstanding at the end.
    """
    load = segment.workload
    return int(-(-segment.ios // load["threads"]) + load["queue_depth"])


class Script:
    """The records of one test, in order."""

    def __init__(self, run: Run, test: str, checks: Checks) -> None:
        self.run, self.test, self.checks = run, test, checks
        target = run.file["target"]
        self.setup = Setup(PROFILES[run.file["profile"]], run.file["settings"], target["capacity_bytes"],
                           target["logical_block_bytes"], run.scale)
        records = run.of_test(test)
        restarts = [i for i, record in enumerate(records) if record.event == "restarted"]
        # Section `restarted` of the format: earlier records of the test no longer count.
        self.records = records[restarts[-1]:] if restarts else records
        self.position = 1
        self.cells: list[Cell] = []
        self.loops: list[Rounds] = []
        self.gaps = 0
        self.purge_record: Record | None = None
        self.notes: list[str] = []
        #: For each workload of a simulated drive that lasted longer than requested, the factor in tenths, rounded up.
        self.extended: list[int] = []
        self._seeds: set[int] = set()
        self._last_end = 0
        self._gap_expected = False

    def next(self, event: str, what: str) -> Record:
        """The next record of the test, which must be of this kind."""
        while self.position < len(self.records):
            record = self.records[self.position]
            self.position += 1
            if record.event in ("health", "interrupted", "cut") or record.event in SETTINGS:
                continue
            if record.event == "resumed":
                self.gaps += 1
                self._gap_expected = True
                continue
            if not self.checks.equal(f"record {record.seq} ({what})", event, record.event):
                raise Stopped(f"record {record.seq} is not {event}")
            return record
        raise Stopped(f"the journal ends before {what}")

    def peek(self) -> str | None:
        """Kind of the next record of the test."""
        following = (record.event for record in self.records[self.position:])
        skipped = {"health", "interrupted", "cut", "resumed"} | SETTINGS
        return next((event for event in following if event not in skipped), None)

    def skipped(self) -> list[str]:
        """What the test skipped on this target, according to its notes."""
        found = []
        while self.position < len(self.records):
            record = self.records[self.position]
            if record.event != "noted" or "skipped" not in record.body:
                break
            found.append(record.body["skipped"]["what"])
            self.position += 1
        return found

    def purge(self) -> None:
        """PTS 1.3: every test begins with a purge."""
        record = self.purge_record = self.next("purged", "purge")
        self.checks.holds(f"record {record.seq}: the purge ends before it starts",
                          record.body["start_ns"] <= record.body["end_ns"])
        self._last_end = record.body["end_ns"]
        self._gap_expected = False

    def write(self, load: dict[str, Any], number: int | None = None) -> Segment:
        """A preconditioning workload."""
        return self._segment("preconditioned", load, number)

    def measure(self, load: dict[str, Any], number: int | None = None) -> Segment:
        """A measured workload."""
        return self._segment("measured", load, number)

    def idle(self, length_ns: int) -> None:
        """PTS 2.5: a period without commands."""
        record = self.next("idled", "idle time")
        self.checks.equal(f"record {record.seq}: length_ns", length_ns, record.body["length_ns"])
        self._last_end += length_ns // self.setup.scale

    def health(self) -> list[dict[str, Any]]:
        """Readings since the start of the test, up to the next one or the end of the run."""
        records = self.run.records
        starts = [i for i, record in enumerate(records) if record.event in ("test_started", "restarted")]
        first = max(i for i in starts if records[i].body["test"] == self.test)
        after = min((i for i in starts if i > first), default=len(records))
        return [record.body["health"] for record in records[first:after] if record.event == "health"]

    def note(self, kind: str) -> Any:
        """A note of this kind."""
        record = self.next("noted", f"note `{kind}`")
        name, body = (record.body, None) if isinstance(record.body, str) else next(iter(record.body.items()))
        if not self.checks.equal(f"record {record.seq}: note", kind, name):
            raise Stopped(f"record {record.seq} is not `{kind}`")
        return body

    def _segment(self, event: str, load: dict[str, Any], number: int | None) -> Segment:
        record = self.next(event, f"{load['access']} {load['block_bytes']}")
        segment = Segment(record)
        where = f"record {record.seq}"
        demanded = {key: value for key, value in segment.workload.items() if key != "seed"}
        self.checks.equal(f"{where}: fields of its workload", sorted(load), sorted(demanded))
        for key in sorted(set(load) & set(demanded)):
            self.checks.equal(f"{where}: workload.{key}", load[key], demanded[key])
        self.checks.holds(f"{where}: seed used before", segment.workload["seed"] not in self._seeds)
        self._seeds.add(segment.workload["seed"])
        segment.check(self.checks)
        self._check_time(segment, where)
        self.cells.append(Cell(segment, number, len(self.loops) if number else None))
        return segment

    def _check_time(self, segment: Segment, where: str) -> None:
        """A workload starts after its predecessor has ended, and lasts as long as requested.

        Section "Segment" of the format: on a simulated drive, times are divided by the scale, but a workload lasts
        until 20 I/Os per outstanding I/O have completed.
        """
        self.checks.holds(f"{where}: starts before the end of its predecessor", segment.start_ns >= self._last_end)
        self._last_end = segment.end_ns
        self.checks.equal(f"{where}: gap_before", self._gap_expected, segment.gap_before is not None)
        self._gap_expected = False
        until, load = segment.workload["until"], segment.workload
        limit_ns = load.get("regime", {}).get("limit_ns")
        if limit_ns is not None and segment.length_ns >= limit_ns // self.setup.scale:
            return
        if "amount_bytes" in until:
            missing = until["amount_bytes"] - segment.bytes
            self.checks.holds(f"{where}: {missing} of {until['amount_bytes']} bytes are missing",
                              missing < load["block_bytes"] * load["threads"])
        else:
            if segment.verified and segment.verified.get("failed"):
                return
            length = until["duration_ns"] // self.setup.scale
            simulated = self.run.file["target"]["kind"] == "simulated"
            least = 20 * load["threads"] * load["queue_depth"]
            if simulated and segment.length_ns > length:
                self.extended.append(-(-10 * segment.length_ns // length))
            extended = simulated and segment.length_ns > length and segment.ios == least
            exact = segment.length_ns == length if simulated else segment.length_ns >= length
            self.checks.holds(f"{where}: lasts {segment.length_ns} ns instead of {length}", exact or extended)

    def rounds(self, cells: list[dict[str, Any]], track: dict[str, Callable[[list[Segment]], float]],
               before: dict[str, Any] | None = None, continues: bool = False, fixed: int | None = None) -> Rounds:
        """PTS 1.12: repeats the cells until steady state, or for the allowed number of rounds.

        With `continues`, each cell begins where the previous cell in the same direction ended. With `fixed`, the rounds
        do not end at steady state, and the window is the first steady one. Without a tracking variable, nothing is
        judged.
        """
        rounds = Rounds(values={name: [] for name in track})
        streams = {cell["read_percent"]: 0 for cell in cells}
        self.loops.append(rounds)
        for number in range(1, (fixed or self.setup.settings["max_rounds"]) + 1):
            started = self.note("round_started")
            self.checks.equal(f"round {number}: round_started", {"round": number, "cells": len(cells)}, started)
            first = len(self.cells)
            if before is not None:
                self.write(before, number)
            segments = []
            for cell in cells:
                begin = streams[cell["read_percent"]]
                segments.append(self.measure(cell | {"from_block": begin} if begin else cell, number))
                if continues:
                    streams[cell["read_percent"]] += blocks_of_thread(segments[-1])
            for name, value in track.items():
                rounds.values[name].append(value(segments))
            rounds.complete.append(segments)
            if not track:
                continue
            self._restart_window(rounds, number, first)
            rounds.windows = steady.windows(rounds.values, rounds.first, number)
            rounds.converged = rounds.is_steady()
            # An interrupted round is not judged.
            if number >= rounds.first:
                self.judged(rounds, number)
            if rounds.converged:
                rounds.entered = rounds.entered or rounds.windows
                if fixed is None:
                    break
        self.note("rounds_ended")
        rounds.windows = rounds.entered or rounds.windows
        return rounds

    def _restart_window(self, rounds: Rounds, number: int, first: int) -> None:
        """PTS 1.12: a window never spans an interruption."""
        gaps = [i for i, cell in enumerate(self.cells[first:]) if cell.segment.gap_before]
        if gaps:
            rounds.first = number if gaps[-1] == 0 else number + 1
            restarted = self.note("window_restarted")
            self.checks.equal(f"round {number}: window_restarted", {"first_round": rounds.first}, restarted)

    def judged(self, rounds: Rounds, number: int) -> None:
        """Section `judged` of the format."""
        judged = self.note("judged")
        where = f"judgement of round {number}"
        self.checks.equal(f"{where}: round", number, judged["round"])
        self.checks.equal(f"{where}: steady", rounds.converged, judged["steady"])
        self.checks.equal(f"{where}: variables", list(rounds.values), [v["name"] for v in judged["variables"]])
        for variable in judged["variables"]:
            name = variable["name"]
            if name not in rounds.values:
                continue
            window = rounds.windows[name] if rounds.windows else None
            self.checks.equal(f"{where}: {name}: value", rounds.values[name][-1], variable["value"])
            # Without I/Os, the mean is zero, so the excursions are not a share of it.
            data = window.data_excursion / window.mean if window and window.mean else None
            slope = window.slope_excursion / window.mean if window and window.mean else None
            self.checks.equal(f"{where}: {name}: range_share", data, variable["range_share"])
            self.checks.equal(f"{where}: {name}: slope_share", slope, variable["slope_share"])
            self.checks.equal(f"{where}: {name}: steady", bool(window and window.steady), variable["steady"])

    def ended(self, converged: bool | None) -> None:
        """The end of the test, whose recorded verdict must be the recomputed verdict."""
        record = self.next("test_ended", "end of the test")
        self.checks.equal(f"record {record.seq}: converged", converged, record.body["converged"])
