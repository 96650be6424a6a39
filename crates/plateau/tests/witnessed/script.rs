//! The steps that the specification requires, test by test.

use record::Note;

const KIB: u32 = 1024;
const COMPOSITE: &[(u32, u8)] = &[
    (512, 4),
    (1024, 1),
    (1536, 1),
    (2048, 1),
    (2560, 1),
    (3072, 1),
    (3584, 1),
    (4096, 67),
    (8192, 10),
    (16384, 7),
    (32768, 3),
    (65536, 3),
];
/// TC and QD values in the demand variation.
const DEMANDS: [u16; 7] = [32, 16, 8, 6, 4, 2, 1];

/// One step of a test.
#[derive(Debug, Clone)]
pub enum Step {
    Purge,
    Idle { seconds: u64 },
    Load(Want),
}

/// A required load.
#[derive(Debug, Clone)]
pub struct Want {
    pub measured: bool,
    pub sequential: bool,
    /// Block sizes in bytes, and the percentage of the I/Os that each has.
    pub sizes: Vec<(u32, u8)>,
    pub read_percent: u8,
    pub threads: u16,
    pub queue_depth: u16,
    pub length: Length,
    pub reach: Reach,
}

/// The length of a load.
#[derive(Debug, Clone, Copy)]
pub enum Length {
    /// An amount of data, as a multiple of the user capacity.
    Fills(u64),
    Seconds(u64),
}

/// The part of the LBA space that a load touches.
#[derive(Debug, Clone, Copy)]
pub enum Reach {
    /// A percentage, from LBA 0.
    Percent(u64),
    /// 16 GiB in 2048 segments across the whole space.
    Segments,
}

impl Want {
    pub fn outstanding(&self) -> u32 {
        u32::from(self.threads) * u32::from(self.queue_depth)
    }

    pub fn largest_bytes(&self) -> u32 {
        self.sizes.iter().map(|size| size.0).max().unwrap_or(0)
    }

    fn unmeasured(self) -> Self {
        Self { measured: false, ..self }
    }
}

/// A profile's parameters that determine its loads.
struct Rules {
    /// Thread count and queue depth (TC, QD) of IOPS, WSAT and HIR; the next field contains those of
    /// Throughput.
    demand: (u16, u16),
    throughput: (u16, u16),
    percent: u64,
    segments: bool,
    /// Whether Throughput preconditions with the block size under test.
    own_block: bool,
    /// Whether LAT and WSAT end with a histogram.
    histograms: bool,
}

fn rules(profile: &str) -> Rules {
    let of_1_0 = Rules {
        demand: (2, 16),
        throughput: (2, 16),
        percent: 100,
        segments: false,
        own_block: false,
        histograms: false,
    };
    let throughput = (1, 32);
    match profile {
        "pts-c-1.0" | "pts-c-1.1" | "pts-c-1.2" => Rules { segments: true, ..of_1_0 },
        "pts-e-1.0" => of_1_0,
        "pts-e-1.1" => Rules { own_block: true, ..of_1_0 },
        "pts-c-2.0" => Rules { throughput, percent: 75, own_block: true, histograms: true, ..of_1_0 },
        "pts-e-2.0" => Rules { throughput, demand: (4, 32), own_block: true, histograms: true, ..of_1_0 },
        other => panic!("no rules for {other}"),
    }
}

impl Rules {
    fn random(&self, block: u32, read_percent: u8, (threads, queue_depth): (u16, u16), seconds: u64) -> Want {
        Want {
            measured: true,
            sequential: false,
            sizes: vec![(block, 100)],
            read_percent,
            threads,
            queue_depth,
            length: Length::Seconds(seconds),
            reach: Reach::Percent(self.percent),
        }
    }

    /// Restricts a load to the AR segments if the profile uses them, as client profiles do for IOPS, TP and
    /// LAT.
    fn in_segments(&self, want: Want) -> Want {
        if self.segments { Want { reach: Reach::Segments, ..want } } else { want }
    }

    /// Returns writes of twice the capacity at the test's thread count and queue depth. Before Latency, the
    /// values of the run's other tests are used.
    fn precondition(&self, block: u32, demand: (u16, u16)) -> Step {
        let writes = self.random(block, 0, demand, 0).unmeasured();
        Step::Load(Want { sequential: true, length: Length::Fills(2), ..writes })
    }

    fn iops(&self, rounds: usize) -> Vec<Step> {
        let mut steps = vec![Step::Purge, self.precondition(128 * KIB, self.demand)];
        for _ in 0..rounds {
            for read_percent in [100, 95, 65, 50, 35, 5, 0] {
                for block in [1024 * KIB, 128 * KIB, 64 * KIB, 32 * KIB, 16 * KIB, 8 * KIB, 4 * KIB, 512] {
                    let cell = self.random(block, read_percent, self.demand, 60);
                    steps.push(Step::Load(self.in_segments(cell)));
                }
            }
        }
        steps
    }

    fn throughput(&self, block: u32, rounds: usize) -> Vec<Step> {
        let written = if self.own_block { block } else { 128 * KIB };
        let mut steps = vec![Step::Purge, self.precondition(written, self.throughput)];
        for _ in 0..rounds {
            for read_percent in [100, 0] {
                let cell = self.in_segments(self.random(block, read_percent, self.throughput, 60));
                steps.push(Step::Load(Want { sequential: true, ..cell }));
            }
        }
        steps
    }

    fn latency(&self, rounds: usize) -> Vec<Step> {
        let mut steps = vec![Step::Purge, self.precondition(128 * KIB, self.demand)];
        let mut cell = |block, read_percent, seconds| {
            steps.push(Step::Load(self.in_segments(self.random(block, read_percent, (1, 1), seconds))));
        };
        for _ in 0..rounds {
            for read_percent in [100, 65, 0] {
                [8 * KIB, 4 * KIB, 512].into_iter().for_each(|block| cell(block, read_percent, 60));
            }
        }
        if self.histograms {
            cell(4 * KIB, 0, 20 * 60);
        }
        steps
    }

    /// Returns one load per minute, for as many minutes as the test ran.
    fn saturation(&self, steps: usize) -> Vec<Step> {
        let writes = |seconds| Step::Load(self.random(4 * KIB, 0, self.demand, seconds));
        let end = usize::from(self.histograms);
        let mut all = vec![Step::Purge];
        all.resize(steps - end, writes(60));
        all.extend((0..end).map(|_| writes(20 * 60)));
        all
    }

    fn idle_recovery(&self, rounds: usize) -> Vec<Step> {
        let writes = |seconds| Step::Load(self.random(4 * KIB, 0, self.demand, seconds));
        let mut all = vec![Step::Purge];
        all.resize(1 + 30 * rounds, writes(60));
        for idle in [5, 10, 15, 25, 50] {
            for _ in 0..360 {
                all.extend([writes(5), Step::Idle { seconds: idle }]);
            }
            all.push(writes(1800));
        }
        all
    }

    fn cross_stimulus(&self) -> Vec<Step> {
        let hours = |sequential, block, hours: u64| {
            Step::Load(Want { sequential, ..self.random(block, 0, (1, 32), hours * 3600) })
        };
        vec![Step::Purge, hours(true, 1024 * KIB, 8), hours(false, 8 * KIB, 6), hours(true, 1024 * KIB, 8)]
    }

    fn demand(&self, sizes: &[(u32, u8)], read_percent: u8, rounds: (usize, usize)) -> Vec<Step> {
        let load = |read_percent, demand, seconds| Want {
            sizes: sizes.to_vec(),
            ..self.random(0, read_percent, demand, seconds)
        };
        let highest = (32, 32);
        let mut all = vec![Step::Purge];
        all.resize(1 + 30 * rounds.0, Step::Load(load(0, highest, 60)));
        for _ in 0..rounds.1 {
            all.push(Step::Load(load(0, highest, 5 * 60).unmeasured()));
            for threads in DEMANDS {
                for queue_depth in DEMANDS {
                    all.push(Step::Load(load(read_percent, (threads, queue_depth), 60)));
                }
            }
        }
        all
    }

    fn histogram(&self, sizes: &[(u32, u8)], read_percent: u8, demand: (u16, u16)) -> [Step; 2] {
        let load = |read_percent, seconds| Want {
            sizes: sizes.to_vec(),
            ..self.random(0, read_percent, demand, seconds)
        };
        [Step::Load(load(0, 60 * 60).unmeasured()), Step::Load(load(read_percent, 10 * 60))]
    }
}

/// Returns the steps of a test; the number of rounds is taken from the test's notes. For a demand variation,
/// `points` contains the TC and QD of its histograms.
pub fn script(test: &str, profile: &str, notes: &[Note], steps: usize, points: &[(u16, u16)]) -> Vec<Step> {
    let rules = rules(profile);
    let rounds = |count: u32| {
        notes.iter().filter(|n| matches!(n, Note::RoundStarted { cells, .. } if *cells == count)).count()
    };
    let (sizes, read_percent) = match test {
        "iops" => return rules.iops(rounds(56)),
        "tp-1024" => return rules.throughput(1024 * KIB, rounds(2)),
        "tp-128" => return rules.throughput(128 * KIB, rounds(2)),
        "lat" => return rules.latency(rounds(9)),
        "wsat" => return rules.saturation(steps),
        "hir" => return rules.idle_recovery(rounds(30)),
        "xsr" => return rules.cross_stimulus(),
        "dirth" => (&[(8 * KIB, 100)][..], 65),
        "ecw" | "cbw" => (COMPOSITE, 40),
        other => panic!("no script for {other}"),
    };
    let mut all = rules.demand(sizes, read_percent, (rounds(30), rounds(49)));
    all.extend(points.iter().flat_map(|point| rules.histogram(sizes, read_percent, *point)));
    all
}
