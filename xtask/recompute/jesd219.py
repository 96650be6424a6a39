"""The enterprise workload of JESD219: docs/reference/tests.md, "JESD219". No version of the PTS contains it."""

from __future__ import annotations

from histogram import Histogram
from loops import mean
from replay import Script
from result import Chart, Result, Table, levels_table
from spec import KIB, ZONES, kib

NAME = "JESD219 40/60"
#: Demand in the public description, unless the tester chose a different demand.
DEMAND = (4, 256)


def jesd219(script: Script) -> Result:
    """Preconditioning as for IOPS, then rounds of one cell; offsets are multiples of 4 KiB."""
    setup = script.setup
    script.purge()
    script.write(setup.load("sequential", 0, 128 * KIB, setup.demand,
                            {"amount_bytes": setup.precondition_bytes}, setup.precondition_range))
    demand = DEMAND if setup.demand == setup.profile.demand else setup.demand
    cell = setup.composite(40, demand, {"duration_ns": setup.settings["cell_ns"]}) | {"align_bytes": 4 * KIB}
    rounds = script.rounds([cell], {NAME: lambda segments: segments[0].iops})
    script.ended(rounds.converged)

    result = Result("JESD219 Enterprise", "jesd219", demand, len(rounds.complete), rounds.converged)
    result.windows = list((rounds.windows or {}).items())
    cells = [segments[0] for segments in rounds.window]
    result.figures = [(NAME, mean([segment.iops for segment in cells]), "IOPS"),
                      ("Throughput", mean([segment.megabytes_per_second for segment in cells]), "MB/s"),
                      ("Average response time", mean([segment.mean_ms for segment in cells]), "ms")]
    page = "Access Pattern Block Sizes & Access Probabilities - 40:60 RW"
    sizes = [kib(size) for size, _ in setup.composite_shares]
    starts = [0, 5, 20, 100]
    groups = [f"{name} ({starts[i]} to {starts[i + 1]} %)" for i, name in enumerate("ABC")]
    times = Histogram.merged([segment.both for segment in cells])
    result.tables = [
        Table(page, "Block Sizes", sizes,
              [("Share of I/Os (%)", [float(share) for _, share in setup.composite_shares])]),
        Table(page, "Access Probabilities", groups,
              [("Share of I/Os (%)", [float(share) for share, _ in ZONES]),
               ("Share of the LBA space (%)", [float(part) for _, part in ZONES])]),
        levels_table("Response Time Histogram - Confidence Level Plot", times),
    ]
    points = [(float(i), value) for i, value in enumerate(rounds.values[NAME], 1)]
    first = next(iter(rounds.windows.values())).first_round if rounds.windows else 1
    result.charts = [Chart("JESD219 IOPS - SS Convergence", "Round", "IOPS", [(NAME, points)]),
                     Chart(f"Steady State Measurement Window - {NAME}", "Round", "IOPS", [(NAME, points[first - 1:])])]
    return result
