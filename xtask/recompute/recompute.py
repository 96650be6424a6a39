#!/usr/bin/env python3
"""Recomputes runs from their journals and compares the results with what Plateau reports.

Written from docs/reference/journal-format.md, the specification and docs/reference/tests.md alone. It shares no code
with any other reader of journals, so an error remains undetected only if it is made twice. `PTS n` in a comment is a
clause of the specification as summarised for this project.

    recompute.py --plateau PROGRAM [--jobs N] [--self-test | --complete] RUN...

RUN is the directory of a run. Prints one line for each run, and one for each mismatch, with both values. The exit code
is 1 if there is a mismatch, if --complete is set and a test has no run, or if the self-test misses an alteration.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import traceback
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, Callable

import burn_in
import client_write
import custom
import disks
import document
import imported
import jesd219
import loops
import recovery
import saturation
import self_test
import signature
import sweeps
from checks import Checks
from journal import Run, read
from replay import Script, Stopped
from result import Result, compare

TESTS: dict[str, Callable[[Script], Result]] = {
    "iops": loops.iops, "tp-1024": loops.throughput, "tp-128": loops.throughput, "lat": loops.latency,
    "wsat": saturation.wsat, "hir": recovery.hir, "xsr": recovery.xsr, "ecw": sweeps.sweep, "cbw": sweeps.sweep,
    "dirth": sweeps.sweep, "hdd-iops": disks.hdd_iops, "hdd-tp": disks.hdd_tp,
    "client-write": client_write.client_write, "burn-in": burn_in.burn_in, "jesd219": jesd219.jesd219,
}

#: Maximum number of mismatches to print for one run.
PRINTED = 30


def report_of(plateau: Path, run: Path) -> dict[str, Any]:
    """Plateau's report of a run."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "report.json"
        subprocess.run([plateau, "report", run, "--json-file", file], check=True, stdout=subprocess.DEVNULL)
        found: dict[str, Any] = json.loads(file.read_text())
        return found


def recompute(folder: Path, report: dict[str, Any]) -> Checks:
    """Recomputes a run and compares it with its report."""
    checks = Checks()
    run = read(folder, checks)
    signature.check(folder, run.digest, checks)
    document.check(run, report, checks)
    shown = {test["test"]: test for test in report["tests"]}
    if run.file["profile"] == "imported":
        imported.check(run, shown, checks)
        return checks
    for name in run.file["tests"]:
        if name in shown:
            recompute_test(run, name, shown.pop(name), checks)
        else:
            checks.holds(f"{name}: has records, but is not reported", not run.of_test(name))
    checks.equal("tests that are reported but not part of the run", [], list(shown))
    return checks


def recompute_test(run: Run, name: str, shown: dict[str, Any], checks: Checks) -> None:
    """Recomputes one test."""
    plan = run.file.get("plan") or {}
    customs = [test["name"] for test in plan.get("custom_tests", [])]
    if name not in TESTS and name not in customs:
        checks.fail(f"{name}: is neither a test of the specification nor one of the plan, which has {customs}")
        return
    script = Script(run, name, checks)
    try:
        result = custom.custom(script) if name in customs else TESTS[name](script)
    except Stopped as stopped:
        checks.holds(f"{name}: {stopped}, but the test is reported as complete", shown["stopped"] is not None)
        return
    compare(result, script, shown, checks)


def checked(plateau: Path, folder: Path) -> Checks:
    """Recomputes the run in a folder; a run that this program cannot read is a mismatch, and the others continue."""
    try:
        return recompute(folder, report_of(plateau, folder))
    except Exception as error:  # pylint: disable=broad-except
        place = traceback.extract_tb(error.__traceback__)[-1]
        checks = Checks()
        checks.fail(f"cannot be recomputed: {type(error).__name__}: {error} "
                    f"(line {place.lineno} of {Path(place.filename).name})")
        return checks


def main() -> int:
    """Returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--plateau", type=Path, required=True, help="program whose report is compared")
    parser.add_argument("--jobs", type=int, default=1, help="runs at the same time")
    parser.add_argument("--self-test", action="store_true",
                        help="alter copies of the first run, and check that every alteration is found")
    parser.add_argument("--complete", action="store_true", help="fail if no run has one of the tests")
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN", help="directory of a run")
    arguments = parser.parse_args()
    folders = [folder.resolve() for folder in arguments.runs]
    if arguments.self_test:
        report = report_of(arguments.plateau, folders[0])
        return self_test.run(folders[0], report, lambda folder, altered: recompute(folder, altered).mismatches)
    failed = total = 0
    with ProcessPoolExecutor(arguments.jobs) as pool:
        for folder, checks in zip(folders, pool.map(partial(checked, arguments.plateau), folders)):
            mismatches = checks.mismatches
            failed += bool(mismatches)
            total += checks.count
            print(f"{folder.name}: {checks.count:,} checks, {len(mismatches)} mismatches", flush=True)
            for mismatch in mismatches[:PRINTED]:
                print(f"  {mismatch}")
            if len(mismatches) > PRINTED:
                print(f"  and {len(mismatches) - PRINTED} more")
    print(f"{len(folders)} runs, {total:,} checks, mismatches in {failed} of them")
    made = {name for folder in folders for name in json.loads((folder / "run.json").read_text())["tests"]}
    missing = sorted(TESTS.keys() - made) if arguments.complete else []
    if missing:
        print(f"no run has the tests {', '.join(missing)}")
    return 1 if failed or missing else 0


if __name__ == "__main__":
    sys.exit(main())
