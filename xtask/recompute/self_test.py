"""Proves that the recomputation can fail: alters copies of a run, or of its report, one value at a time."""

from __future__ import annotations

import copy
import hashlib
import json
import math
import shutil
import tempfile
from pathlib import Path
from typing import Any, Callable, Iterator

from result import is_recomputed

Report = dict[str, Any]
#: Recomputes a folder, compares it with a report, and returns the mismatches.
Recompute = Callable[[Path, Report], list[str]]
Edit = Callable[[list[dict[str, Any]]], None]

#: Values of a report that are altered: the first, a middle one and the last of each kind.
FIGURE_KEYS = ("steady_state", "figures", "tables", "charts", "cells", "efficiency")


def run(folder: Path, report: Report, recompute: Recompute) -> int:
    """Returns the exit code: 1 if an alteration is not found."""
    clean = recompute(folder, report)
    missed = [f"the unaltered run has mismatches: {clean[:3]}"] if clean else []
    tried = 0
    for what, altered in altered_reports(report):
        tried += 1
        if not recompute(folder, altered):
            missed.append(f"report: {what}")
    with tempfile.TemporaryDirectory() as place:
        for what, number in altered_runs(folder, Path(place)):
            tried += 1
            # The digest always differs, so another mismatch is required.
            found = [m for m in recompute(number, report) if not m.startswith("journal_sha256")]
            if not found:
                missed.append(f"journal: {what}")
    for miss in missed:
        print(f"not noticed: {miss}")
    print(f"self-test: {tried} alterations, {tried - len(missed)} found")
    return 1 if missed else 0


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Paths of all numbers below a value."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from leaves(part, (*path, key))
    elif isinstance(value, list):
        for i, part in enumerate(value):
            yield from leaves(part, (*path, i))
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield path


def altered_reports(report: Report) -> Iterator[tuple[str, Report]]:
    """The report with one number changed by a millionth of its scale, or by one if it is whole."""
    for number, test in enumerate(report["tests"]):
        for key in FIGURE_KEYS:
            paths = [path for path in leaves(test[key]) if key != "charts" or is_recomputed(test[key][path[0]])]
            # The counters of the file system's own work are copied, not computed.
            paths = [path for path in paths if "on_file" not in path]
            for path in {paths[0], paths[len(paths) // 2], paths[-1]} if paths else ():
                altered = copy.deepcopy(report)
                place = altered["tests"][number][key]
                for step in path[:-1]:
                    place = place[step]
                old = place[path[-1]]
                place[path[-1]] = _another(place, path[-1])
                yield f"{test['test']}: {key}: {path}: {old} -> {place[path[-1]]}", altered
    removed = copy.deepcopy(report)
    removed["tests"][0]["tables"].pop()
    yield "a table removed", removed
    removed = copy.deepcopy(report)
    removed["tests"].pop()
    yield "a test removed", removed


def _another(values: Any, name: Any) -> float:
    """A value with this name that differs by more than rounding can explain."""
    old: float = values[name]
    if not isinstance(old, float) or not old:
        return old + 1
    if name in ("slope_per_round", "slope_excursion"):
        # A slope close to zero is a small difference between large numbers, so the change is relative to the mean.
        return old + 1e-6 * abs(values["mean"])
    if name == "correlation":
        # A correlation is at most 1, and rounding of nearly equal values changes it by more than a millionth.
        return old - math.copysign(0.01, old)
    # The minimum is for values near zero, for which the tolerance of the comparison is absolute.
    return old + math.copysign(max(1e-6 * abs(old), 1e-9), old)


def altered_runs(folder: Path, place: Path) -> Iterator[tuple[str, Path]]:
    """Copies of the run with one alteration each; all but the first have a valid chain."""
    journal = (folder / "journal").read_bytes()
    yield "one byte of a record", _copy(folder, place / "byte", journal.replace(b'"ios":', b'"ioS":', 1))
    edits = EDITS | (POWER_EDITS if b'"power":' in journal else {})
    for name, edit in edits.items():
        entries = [json.loads(line[65:]) for line in journal.split(b"\n")[1:-1]]
        edit(entries)
        yield name, _copy(folder, place / name.replace(" ", "-"), chained(entries))
    target = _copy(folder, place / "run-json", journal)
    text = (target / "run.json").read_text()
    (target / "run.json").write_text(text.replace('"version"', '"version" ', 1))
    yield "run.json", target


def chained(entries: list[dict[str, Any]]) -> bytes:
    """A journal of these records, with matching hashes."""
    lines = [b"plateau-journal 1"]
    previous = hashlib.sha256(lines[0] + b"\n").hexdigest()
    for entry in entries:
        text = json.dumps(entry, separators=(",", ":")).encode()
        previous = hashlib.sha256(previous.encode() + text).hexdigest()
        lines.append(previous.encode() + b" " + text)
    return b"\n".join(lines) + b"\n"


def _copy(folder: Path, place: Path, journal: bytes) -> Path:
    target = place / folder.name
    target.mkdir(parents=True)
    shutil.copy(folder / "run.json", target)
    (target / "journal").write_bytes(journal)
    return target


def _measured(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [entry["event"]["measured"] for entry in entries if "measured" in entry["event"]]


def _io(entries: list[dict[str, Any]]) -> None:
    way = next(way for way in ("read", "write") if _measured(entries)[0][way]["ios"])
    _measured(entries)[0][way]["ios"] += 1


def _time(entries: list[dict[str, Any]]) -> None:
    _measured(entries)[1]["end_ns"] += 1


def _latency(entries: list[dict[str, Any]]) -> None:
    way = next(way for way in ("read", "write") if _measured(entries)[2][way]["ios"])
    _measured(entries)[2][way]["latency"]["sum_ns"] += 1_000_000


def _block(entries: list[dict[str, Any]]) -> None:
    _measured(entries)[3]["workload"]["block_bytes"] *= 2


def _depth(entries: list[dict[str, Any]]) -> None:
    _measured(entries)[-1]["workload"]["queue_depth"] += 1


def _mix(entries: list[dict[str, Any]]) -> None:
    _measured(entries)[-1]["workload"]["read_percent"] += 1


def _seed(entries: list[dict[str, Any]]) -> None:
    _measured(entries)[1]["workload"]["seed"] = _measured(entries)[0]["workload"]["seed"]


def _slot(entries: list[dict[str, Any]]) -> None:
    way = next(way for way in ("read", "write") if _measured(entries)[0][way]["ios"])
    _measured(entries)[0][way]["latency"]["slots"][1] += 1


def _order(entries: list[dict[str, Any]]) -> None:
    places = [i for i, entry in enumerate(entries) if "measured" in entry["event"]]
    a, b = places[0], places[1]
    entries[a]["event"], entries[b]["event"] = entries[b]["event"], entries[a]["event"]


def _lost(entries: list[dict[str, Any]]) -> None:
    del entries[next(i for i, entry in enumerate(entries) if "measured" in entry["event"])]
    for seq, entry in enumerate(entries):
        entry["seq"] = seq


def _purge(entries: list[dict[str, Any]]) -> None:
    del entries[next(i for i, entry in enumerate(entries) if "purged" in entry["event"])]
    for seq, entry in enumerate(entries):
        entry["seq"] = seq


def _verdict(entries: list[dict[str, Any]]) -> None:
    ended = next(entry["event"]["test_ended"] for entry in entries if "test_ended" in entry["event"])
    ended["converged"] = not ended["converged"]


def _judgement(entries: list[dict[str, Any]]) -> None:
    judged = [entry["event"]["noted"]["judged"] for entry in entries
              if "noted" in entry["event"] and "judged" in entry["event"]["noted"]]
    judged[-1]["variables"][0]["range_share"] += 1e-4


def _power(entries: list[dict[str, Any]]) -> None:
    _measured(entries)[-2]["power"]["mean_microwatts"] += 1000


def _scatter(entries: list[dict[str, Any]]) -> None:
    _idle(entries)["standard_error_microwatts"] += 10


def _tolerance(entries: list[dict[str, Any]]) -> None:
    _idle(entries)["tolerance_microwatts"] += 10


def _idle(entries: list[dict[str, Any]]) -> dict[str, Any]:
    power: dict[str, Any] = next(entry["event"]["idle_power"]["power"] for entry in entries
                                 if "idle_power" in entry["event"])
    return power


#: Alterations of records of a run with a power source.
POWER_EDITS: dict[str, Edit] = {
    "the power of a cell": _power, "the scatter of the idle power": _scatter,
    "the tolerance of the idle power": _tolerance,
}

#: Alterations of records, by name.
EDITS: dict[str, Edit] = {
    "one I/O more": _io, "a nanosecond more": _time, "a longer sum of response times": _latency,
    "another block size": _block, "another queue depth": _depth, "another mix": _mix, "a seed used twice": _seed,
    "one I/O more in a slot": _slot, "two cells exchanged": _order, "a cell lost": _lost, "the purge lost": _purge,
    "the verdict of the test": _verdict, "the range of a judgement": _judgement,
}
