"""Burn-in: docs/reference/tests.md, "Burn-in". No version of the PTS contains it."""

from __future__ import annotations

from typing import Any

from journal import Segment
from loops import mean
from replay import Script
from result import Chart, Result
from spec import COMPOSITE, KIB, MIB, MINUTE, ZONES, whole

#: Verification uses one thread, and tracks this many blocks at a time.
DEMAND, MOST_BLOCKS = (1, 32), 1 << 26
CELL_MINUTES, CELLS_PER_HOUR = 10, 6


def _window(everything: dict[str, int], granule: int, number: int) -> dict[str, int]:
    """Divides a range that has too many blocks into equal parts, which are used in turn."""
    length = everything["segment_bytes"]
    windows = -(-length // (MOST_BLOCKS * granule))
    if windows <= 1:
        return everything
    part = length // windows // MIB * MIB
    return whole(number % windows * part, part)


def _load(script: Script, number: int) -> dict[str, Any]:
    setup = script.setup
    until = {"duration_ns": setup.ns(CELL_MINUTES * MINUTE)}
    if setup.settings.get("further", {}).get("burn-in-load") == "jesd219":
        small = sum(share for size, share in COMPOSITE if size < 4 * KIB)
        kinds = [{"share_percent": share + (small if size == 4 * KIB else 0), "access": "random", "read_percent": 40,
                  "block_bytes": size} for size, share in COMPOSITE if size >= 4 * KIB]
        zones = [{"access_percent": access, "range_percent": part} for access, part in ZONES]
        load = setup.load("random", 40, 64 * KIB, DEMAND, until, _window(setup.test_range, 4 * KIB, number))
        load |= {"kinds": kinds, "zones": zones}
    else:
        load = setup.load("random", 50, 64 * KIB, DEMAND, until, _window(setup.test_range, 64 * KIB, number))
    return load | {"regime": {"verify": True}}


def burn_in(script: Script) -> Result:
    """Cells of ten minutes, until one of them detects incorrect data or a failed I/O."""
    further = script.setup.settings.get("further", {})
    script.purge()
    cells: list[Segment] = []
    for number in range(int(further.get("burn-in-hours", 24)) * CELLS_PER_HOUR):
        cells.append(script.measure(_load(script, number)))
        found = cells[-1].verified or {}
        if found.get("wrong_blocks") or found.get("failed"):
            break
    script.ended(None)

    result = Result("Burn-In", "burn-in", DEMAND)
    whole = [cell for cell in cells if not (cell.verified or {}).get("failed")]
    result.figures = [("Throughput", mean([cell.megabytes_per_second for cell in whole]) if whole else None, "MB/s"),
                      ("Written", sum(cell.written_bytes for cell in cells) / 1e9, "GB"),
                      ("Read", sum(int(cell.ways["read"]["bytes"]) for cell in cells) / 1e9, "GB")]
    name = "JESD219 40/60" if further.get("burn-in-load") == "jesd219" else "RND 64KiB 50/50"
    points = [(float(CELL_MINUTES * i), cell.megabytes_per_second) for i, cell in enumerate(whole, 1)]
    result.charts = [Chart("Burn-In Throughput v Time", "Time (minutes)", "MB/s", [(name, points)])]
    result.reasons = _reasons(script, cells, further)
    return result


def _reasons(script: Script, cells: list[Segment], further: dict[str, str]) -> list[tuple[str, int | None]]:
    """Kind and offset of each reason to reject the drive, in order."""
    found: list[tuple[str, int | None]] = []
    verified = [cell.verified or {} for cell in cells]
    if any(each.get("wrong_blocks") for each in verified):
        found.append(("data", next(each["places"][0]["offset_bytes"] for each in verified if each.get("places"))))
    found += [("io", each["failed"]["offset_bytes"]) for each in verified if each.get("failed")][:1]
    health = script.health()

    def values(name: str) -> list[int]:
        return [reading[name] for reading in health if name in reading]

    for name, setting in (("media_errors", "burn-in-media-errors"), ("reallocated_sectors", "burn-in-reallocated")):
        counts = values(name)
        # A counter that fell was reset, and has increased from zero since then.
        growth = sum(now - before if now >= before else now for before, now in zip(counts, counts[1:]))
        if growth > int(further.get(setting, 0)):
            found.append(("grown", None))
    for name, setting, limit in (("percentage_used", "burn-in-used", 100),
                                 ("temperature_celsius", "burn-in-temperature", 70)):
        if max(values(name), default=0) > int(further.get(setting, limit)):
            found.append(("above", None))
    if min(values("available_spare_percent"), default=100) < int(further.get("burn-in-spare", 10)):
        found.append(("below", None))
    if any(values("critical_warning")):
        found.append(("critical_warning", None))
    return found
