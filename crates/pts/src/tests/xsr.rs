//! Cross stimulus recovery (PTS-E 1.1 and PTS 2.0 clause 12): large sequential writes, small random writes, then large
//! sequential writes again, for hours without pause. The test has no steady state.

mod figures;
mod pages;

use record::{Access, Purged, Until, Workload};
use stdx::Histogram;
use stdx::units::KIB;

use crate::modified::Incidents;
use crate::profile::{Cell, Demand};
use crate::response::merged;
use crate::timeline::{Sample, course};
use crate::{Bench, Context, Outcome, Stop, Test};

/// An access group: one continuous workload. Restarting a sequential group every minute would only write the first part
/// of the drive, so a group is one workload, and its minutes are samples of its series.
struct Group {
    access: Access,
    block_bytes: u32,
    hours: u32,
}

const GROUPS: [Group; 3] = [
    Group { access: Access::Sequential, block_bytes: 1024 * KIB as u32, hours: 8 },
    Group { access: Access::Random, block_bytes: 8 * KIB as u32, hours: 6 },
    Group { access: Access::Sequential, block_bytes: 1024 * KIB as u32, hours: 8 },
];
/// Recommended demand; the operator may override it for the run.
const DEMAND: Demand = Demand { threads: 1, queue_depth: 32 };

/// The XSR test.
pub const TEST: Test = Test {
    name: "xsr",
    family: "xsr",
    title: "Cross Stimulus Recovery",
    about: "sequential writes for 8 h, random ones for 6 h, sequential ones for 8 h",
    run,
    cells_per_round: GROUPS.len() as u32,
    timeline: true,
    fixed_rounds: None,
};

/// All answers received by the test, whether or not it completed.
struct Seen {
    purge: Option<Purged>,
    /// The minutes of each completed access group.
    groups: Vec<Vec<Sample>>,
    /// The response times of each completed access group.
    times: Vec<Histogram>,
    incidents: Incidents,
}

fn run(context: &Context<'_>, bench: &mut dyn Bench) -> Outcome {
    let mut seen =
        Seen { purge: None, groups: Vec::new(), times: Vec::new(), incidents: Incidents::default() };
    let stop = measure(context, bench, &mut seen).err();
    pages::outcome(context, &seen, stop)
}

fn measure(context: &Context<'_>, bench: &mut dyn Bench, seen: &mut Seen) -> Result<(), Stop> {
    seen.purge = Some(bench.purge()?);
    let mut start = 0.0;
    for (step, group) in GROUPS.iter().enumerate() {
        let segment = bench.run(&workload(context, step as u32, group))?;
        let minutes = group.hours * 60;
        seen.incidents.see(&segment);
        seen.groups.push(course(&segment, start, f64::from(minutes), minutes as usize));
        seen.times.push(merged([&segment]));
        start += f64::from(minutes);
    }
    Ok(())
}

fn workload(context: &Context<'_>, step: u32, group: &Group) -> Workload {
    let cell = Cell { block_bytes: group.block_bytes, read_percent: 0 };
    Workload {
        access: group.access,
        range: context.whole_test_range(),
        until: Until::DurationNs(context.minutes_ns(group.hours * 60)),
        ..context.cell_at(context.demand(Some(DEMAND)), 1, step, cell)
    }
}
