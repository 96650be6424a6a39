"""What the specification requires of each test and profile, as data.

Numbers of clauses are those of the specification; `PTS n` is a section of our summary of it, and choices that it
leaves to the tester are those of docs/reference/tests.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

KIB, MIB = 1024, 1024 * 1024
SECOND = 1_000_000_000
MINUTE = 60 * SECOND

#: PTS 2.2: R/W mixes of the IOPS loop, outer; block sizes, inner.
IOPS_MIXES = (100, 95, 65, 50, 35, 5, 0)
IOPS_BLOCKS = (1024 * KIB, 128 * KIB, 64 * KIB, 32 * KIB, 16 * KIB, 8 * KIB, 4 * KIB, 512)
#: PTS 2.4: the latency loop.
LAT_MIXES = (100, 65, 0)
LAT_BLOCKS = (8 * KIB, 4 * KIB, 512)
#: PTS 2.7: sweep of threads (outer) and queue depth (inner).
SWEEP = (32, 16, 8, 6, 4, 2, 1)
#: PTS 2.7: share of the I/Os in percent, by block size.
COMPOSITE = ((512, 4), (1024, 1), (1536, 1), (2048, 1), (2560, 1), (3072, 1), (3584, 1), (4096, 67), (8192, 10),
             (16384, 7), (32768, 3), (65536, 3))
#: PTS 2.7: share of the I/Os and of the LBA space, in percent, of the groups A, B and C.
ZONES = ((50, 5), (30, 15), (20, 80))


@dataclass(frozen=True)
class Profile:
    """One version of the specification."""

    printed: str
    #: Version whose steps and pages it has.
    version: str
    client: bool
    #: Tests in the order of the specification, with their clauses; True: required.
    tests: dict[str, tuple[str, bool]]
    #: Demand of IOPS, WSAT and HIR if the tester chooses none.
    demand: tuple[int, int]
    #: PC AR and Test AR in percent, AR Amount (None: all of it).
    range_percent: int
    amount_bytes: int | None
    #: PTS 2.1: WSAT ends after at most this number of hours.
    wsat_hours: int

    @property
    def is_first(self) -> bool:
        """Whether this is a version 1.0."""
        return self.version == "1.0"

    @property
    def is_second(self) -> bool:
        """Whether this is a version 2.x."""
        return self.version == "2.0"


#: PTS 0 and 2.0: sections of 1.0; in the order of the report pages.
FIRST = {"wsat": ("7.0", True), "iops": ("8.0", True), "tp": ("9.0", True), "lat": ("10.0", True)}
LATER = {"iops": ("7.0", True), "tp": ("8.0", True), "lat": ("9.0", True), "wsat": ("10.0", True),
         "hir": ("11.0", False), "xsr": ("12.0", False)}

PROFILES = {
    "pts-c-1.0": Profile("PTS-C 1.0", "1.0", True, FIRST | {"wsat": ("7.0", False)}, (2, 16), 100, 16 << 30, 24),
    # There is a source only for the active ranges of these two; everything else is as in 1.0.
    "pts-c-1.1": Profile("PTS-C 1.1", "1.0", True, FIRST | {"wsat": ("7.0", False)}, (2, 16), 100, 16 << 30, 24),
    "pts-c-1.2": Profile("PTS-C 1.2", "1.0", True, FIRST | {"wsat": ("7.0", False)}, (2, 16), 100, 16 << 30, 24),
    "pts-e-1.0": Profile("PTS-E 1.0", "1.0", False, FIRST, (2, 16), 100, None, 24),
    "pts-e-1.1": Profile("PTS-E 1.1", "1.1", False, LATER | {"ecw": ("13.0", False), "dirth": ("14.0", False)},
                         (2, 16), 100, None, 24),
    "pts-c-2.0": Profile("PTS-C 2.0", "2.0", True, LATER | {"cbw": ("13.0", False), "dirth": ("14.0", False)},
                         (2, 16), 75, None, 6),
    "pts-e-2.0": Profile("PTS-E 2.0", "2.0", False, LATER | {"cbw": ("13.0", False), "dirth": ("14.0", False)},
                         (4, 32), 100, None, 6),
}


def whole(start: int, length: int) -> dict[str, int]:
    """A range in one piece."""
    return {"start_bytes": start, "segments": 1, "segment_bytes": length, "stride_bytes": length}


@dataclass(frozen=True)
class Setup:
    """What a test takes from profile, settings and target."""

    profile: Profile
    settings: dict[str, Any]
    capacity: int
    sector: int
    scale: int

    @property
    def demand(self) -> tuple[int, int]:
        """TC and QD of the settings."""
        return self.settings["threads"], self.settings["queue_depth"]

    @property
    def sequential_demand(self) -> tuple[int, int]:
        """PTS 1.7: TC 1 QD 32 for sequential loads, unless the tester chose another demand."""
        is_open = self.demand == self.profile.demand and not self.settings.get("demand_is_chosen")
        return (1, 32) if is_open else self.demand

    def ns(self, nanoseconds: int) -> int:
        """A time of the specification, scaled to the cell length of the settings (docs/reference/tests.md, "Time")."""
        return nanoseconds * int(self.settings["cell_ns"]) // MINUTE

    def _share(self, percent: int) -> int:
        """PTS 1.5: the active range, from LBA 0; unless it covers the whole drive, its end is a multiple of 1 MiB."""
        return self.capacity if percent == 100 else self.capacity * percent // 100 // MIB * MIB

    @property
    def precondition_range(self) -> dict[str, int]:
        """PC AR."""
        return whole(0, self._share(self.settings["precondition_range_percent"]))

    @property
    def test_range(self) -> dict[str, int]:
        """Test AR without an amount: for tests whose AR Amount is always 100 %."""
        return whole(0, self._share(self.settings["test_range_percent"]))

    @property
    def active_range(self) -> dict[str, int]:
        """PTS 1.5: AR Amount in AR Segments, evenly spaced; the scale divides amount and segments."""
        amount, everything = self.settings["active_range_amount_bytes"], self.test_range
        if amount is None or amount // self.scale >= everything["segment_bytes"]:
            return everything
        segments = max(1, self.settings["active_range_segments"] // self.scale)
        stride = everything["segment_bytes"] // segments // MIB * MIB
        size = amount // self.scale // segments // 4096 * 4096
        return {"start_bytes": 0, "segments": segments, "segment_bytes": size, "stride_bytes": stride}

    @property
    def precondition_bytes(self) -> int:
        """PTS 1.4: twice the user capacity, however small the range is."""
        return int(self.settings["precondition_capacities"]) * self.capacity

    def load(self, access: str, read_percent: int, block_bytes: int, demand: tuple[int, int], until: dict[str, int],
             where: dict[str, int]) -> dict[str, Any]:
        """A workload as a journal has it, without its seed."""
        return {"access": access, "read_percent": read_percent, "block_bytes": block_bytes, "threads": demand[0],
                "queue_depth": demand[1], "range": where, "data_pattern": "random", "until": until}

    @property
    def composite_shares(self) -> list[tuple[int, int]]:
        """Sizes of the composite and their shares of the I/Os.

        docs/reference/tests.md, "ECW and CBW": at the tester's request, smaller I/Os become I/Os of one sector.
        """
        shares = dict(COMPOSITE)
        if self.settings.get("composite_fits_sectors"):
            small = sum(shares.pop(size) for size in list(shares) if size < self.sector)
            shares[self.sector] += small
        return list(shares.items())

    def composite(self, read_percent: int, demand: tuple[int, int], until: dict[str, int]) -> dict[str, Any]:
        """PTS 2.7: twelve block sizes, three LBA groups."""
        kinds = [{"share_percent": share, "access": "random", "read_percent": read_percent, "block_bytes": size}
                 for size, share in self.composite_shares]
        zones = [{"access_percent": access, "range_percent": part} for access, part in ZONES]
        load = self.load("random", read_percent, COMPOSITE[-1][0], demand, until, self.test_range)
        return load | {"kinds": kinds, "zones": zones}


def kib(size: int) -> str:
    """Block size as printed: `0.5`, `4`."""
    return f"{size / KIB:g}"


def mix(read_percent: int) -> str:
    """R/W mix as printed: `65/35`."""
    return f"{read_percent}/{100 - read_percent}"


def name_of(load: dict[str, Any]) -> str:
    """A workload as printed (PTS 1.1): `RND 4KiB W`, `SEQ 1024KiB R`, `RND 8KiB 65/35`."""
    access = {"random": "RND", "sequential": "SEQ"}[load["access"]]
    percent = load["read_percent"]
    way = {100: "R", 0: "W"}.get(percent, mix(percent))
    sizes = sorted(kind["block_bytes"] for kind in load.get("kinds", []))
    size = f"{kib(sizes[0])}KiB to {kib(sizes[-1])}KiB" if sizes else f"{kib(load['block_bytes'])}KiB"
    return f"{access} {size} {way}"
