"""The head of a report: the facts that it repeats from `run.json`, and the conformance verdicts."""

from __future__ import annotations

from typing import Any

import efficiency
from checks import Checks
from journal import Run
from spec import PROFILES

#: Verdicts, worst last.
VERDICTS = ("conforms", "modified", "does_not_conform")
#: Targets that are not drives at the block level.
NO_DRIVE = ("file", "simulated", "imported")


def check(run: Run, report: dict[str, Any], checks: Checks) -> None:
    """Compares the head of a report."""
    file, target = run.file, run.file["target"]
    profile = PROFILES.get(file["profile"])
    repeated = {"run": file["id"], "created": file["created"], "command": file["command"],
                "plateau_version": file["plateau_version"], "journal_sha256": run.digest,
                "profile": profile.printed if profile else "NOT PTS"}
    for key, value in repeated.items():
        checks.equal(key, value, report[key])
    for key in ("path", "identity", "vendor", "model", "serial", "firmware", "interface", "capacity_bytes",
                "logical_block_bytes", "physical_block_bytes"):
        checks.equal(f"device: {key}", target[key], report["device"][key])
    for key in ("model", "model_version", "scale_divisor", "seed"):
        if target["simulated"]:
            checks.equal(f"device: simulated: {key}", target["simulated"][key], report["device"]["simulated"][key])
    for key, value in report["host"].items():
        checks.equal(f"host: {key}", file["host"].get(key), value)
    stated = file.get("stated", {})
    for key, value in report["stated"].items():
        checks.equal(f"stated: {key}", stated.get(key, [] if key == "links" else None), value)
    checks.equal("settings are known", file["settings"] is not None, report["settings"] is not None)
    for key, value in (report["settings"] or {}).items():
        # Choices that were not made are absent from run.json.
        chosen = {k: v for k, v in value.items() if v is not None} if isinstance(value, dict) else value
        none = {} if isinstance(value, dict) else False
        checks.equal(f"settings: {key}", file["settings"].get(key, none), chosen)
    efficiency.check_meter(run, report["power"], checks)
    _check_conformance(run, report, checks)


def _check_conformance(run: Run, report: dict[str, Any], checks: Checks) -> None:
    """A test's verdict is the worst verdict of its clauses. Purges and failed I/Os agree with the journal."""
    for conformance in report["conformance"]:
        name, clauses = conformance["test"], {clause["clause"]: clause for clause in conformance["clauses"]}
        given = [VERDICTS.index(clause["verdict"]) for clause in clauses.values() if clause["verdict"]]
        checks.equal(f"{name}: worst verdict", VERDICTS[max(given)], conformance["verdict"])
        if run.file["target"]["kind"] in NO_DRIVE:
            checks.equal(f"{name}: verdict", "does_not_conform", conformance["verdict"])
        records = run.of_test(name)
        purges = [record for record in records if record.event == "purged"]
        if "Purge" in clauses and purges:
            verdict = "conforms" if purges[-1].body["pts_purge"] else "modified"
            checks.equal(f"{name}: verdict of the purge", verdict, clauses["Purge"]["verdict"])
        restarts = [index for index, record in enumerate(records) if record.event == "restarted"]
        counted = records[restarts[-1] if restarts else 0:]
        loads = [record.body for record in counted if record.event in ("preconditioned", "measured", "cut")]
        errors = sum(error["count"] for load in loads for error in load["errors"])
        if "I/O errors" in clauses:
            verdict = "modified" if errors else "conforms"
            checks.equal(f"{name}: verdict of I/O errors", verdict, clauses["I/O errors"]["verdict"])
        shown = [test["io_errors"] for test in report["tests"] if test["test"] == name]
        checks.equal(f"{name}: I/O errors", [errors], shown)
