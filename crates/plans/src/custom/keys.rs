//! The keys of a custom test, and the values read from them.

use record::{Access, CustomFigure, CustomRounds, CustomWrite, IoKind};

use super::steps::{Step, step};
use super::streams::{RW, inner, stream};
use crate::limits;
use crate::table::Key;
use crate::value::{Problem, Value};
use pts::profile::Demand;

/// Names of the loops; `order` lists them from the outermost to the innermost.
pub const ORDER: &[(&str, Loop)] =
    &[("rw", Loop::Rw), ("bs", Loop::Bs), ("tc", Loop::Tc), ("qd", Loop::Qd), ("demand", Loop::Demand)];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loop {
    Rw,
    Bs,
    Tc,
    Qd,
    Demand,
}

/// Values read from a test's table.
#[derive(Default)]
pub struct Draft {
    pub title: Option<String>,
    pub purpose: Option<String>,
    pub purge: bool,
    pub precondition: Vec<CustomWrite>,
    pub streams: Vec<IoKind>,
    pub steps: Vec<Step>,
    pub rw: Vec<(Access, Option<u8>)>,
    pub mixes: Vec<u8>,
    pub blocks: Vec<u32>,
    pub tc: Vec<u16>,
    pub qd: Vec<u16>,
    pub demands: Vec<Demand>,
    pub order: Vec<Loop>,
    pub run_ns: Option<u64>,
    pub ramp_ns: u64,
    pub rounds: Option<CustomRounds>,
    pub track: Vec<TrackedCell>,
    pub figure: Option<CustomFigure>,
    pub average: Option<u32>,
    pub from_steady: bool,
    pub finds_knee: bool,
}

/// The properties of a tracked cell that the plan specifies.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct TrackedCell {
    pub rw: Option<(Access, Option<u8>)>,
    pub mix: Option<u8>,
    pub block_bytes: Option<u32>,
    pub threads: Option<u16>,
    pub queue_depth: Option<u16>,
}

pub const TEST: &[Key<Draft>] = &[
    Key {
        name: "title",
        about: "name of the test, as printed",
        set: |draft, value| value.text().map(|text| draft.title = Some(text)),
    },
    Key {
        name: "purpose",
        about: "purpose of the test, in one sentence",
        set: |draft, value| value.text().map(|text| draft.purpose = Some(text)),
    },
    Key {
        name: "purge",
        about: "true: start with a purge; otherwise use the drive as is",
        set: |draft, value| value.flag().map(|flag| draft.purge = flag),
    },
    Key {
        name: "precondition",
        about: "writes before the first round: a table or an array of tables",
        set: |draft, value| {
            draft.precondition = value.list()?.into_iter().map(write).collect::<Result<_, _>>()?;
            Ok(())
        },
    },
    Key {
        name: "rw",
        about: "I/O pattern or an array of them, named as in fio: read, write, rw, randread, randwrite, randrw",
        set: |draft, value| value.each(|item| item.word(RW)).map(|rw| draft.rw = rw),
    },
    Key {
        name: "rwmixread",
        about: "percentages of reads, for rw and randrw",
        set: |draft, value| {
            value.each(|item| item.whole(&limits::READ_PERCENT)).map(|mixes| draft.mixes = mixes)
        },
    },
    Key {
        name: "bs",
        about: "block size, such as \"4KiB\", or an array of them",
        set: |draft, value| value.each(Value::block_bytes).map(|blocks| draft.blocks = blocks),
    },
    Key {
        name: "streams",
        about: "types of I/O mixed in each cell, instead of rw, rwmixread and bs: an array of tables",
        set: |draft, value| {
            draft.streams = value.list()?.into_iter().map(stream).collect::<Result<_, _>>()?;
            Ok(())
        },
    },
    Key {
        name: "steps",
        about: "steps of a trace to replay, instead of all loops: an array of tables, as `plateau trace plan` writes it",
        set: |draft, value| {
            draft.steps = value.list()?.into_iter().map(step).collect::<Result<_, _>>()?;
            Ok(())
        },
    },
    Key {
        name: "tc",
        about: "threads (TC): a number or an array; default: from the settings",
        set: |draft, value| value.each(|item| item.whole(&limits::TC)).map(|tc| draft.tc = tc),
    },
    Key {
        name: "qd",
        about: "outstanding I/Os per thread (QD): a number or an array; default: from the settings",
        set: |draft, value| value.each(|item| item.whole(&limits::QD)).map(|qd| draft.qd = qd),
    },
    Key {
        name: "demand",
        about: "pairs instead of tc and qd: \"8x2\" is TC 8 and QD 2",
        set: |draft, value| value.each(demand).map(|demands| draft.demands = demands),
    },
    Key {
        name: "order",
        about: "order of the loops, from outermost to innermost; default: \"rw\", \"bs\", then \"tc\", \
                \"qd\" or \"demand\"",
        set: |draft, value| value.each(|item| item.word(ORDER)).map(|order| draft.order = order),
    },
    Key {
        name: "runtime",
        about: "measured seconds per cell, or seconds per step; default: 60",
        set: |draft, value| value.seconds_ns(&limits::CELL_SECONDS).map(|ns| draft.run_ns = Some(ns)),
    },
    Key {
        name: "ramp_time",
        about: "unmeasured seconds under load before each cell, in addition to runtime",
        set: |draft, value| value.seconds_ns(&limits::RAMP_SECONDS).map(|ns| draft.ramp_ns = ns),
    },
    Key {
        name: "rounds",
        about: "number of rounds over all cells, or \"steady\": until steady state; default: 1",
        set: |draft, value| {
            let rounds = match value.text() {
                Ok(text) if text == "steady" => CustomRounds::UntilSteady,
                Ok(text) => return value.problem(format!("\"{text}\" is neither a number nor \"steady\"")),
                Err(_) => CustomRounds::Fixed(value.whole(&limits::FIXED_ROUNDS)?),
            };
            draft.rounds = Some(rounds);
            Ok(())
        },
    },
    Key {
        name: "track",
        about: "cells whose values determine steady state: a table or an array of tables",
        set: |draft, value| {
            draft.track =
                value.list()?.into_iter().map(|item| inner(item, TRACK)).collect::<Result<_, _>>()?;
            Ok(())
        },
    },
    Key {
        name: "figure",
        about: "the figure that is tracked and plotted: \"iops\", \"mb/s\" or \"latency\"; default: \"iops\"",
        set: |draft, value| {
            let words = [
                ("iops", CustomFigure::Iops),
                ("mb/s", CustomFigure::MegabytesPerSecond),
                ("latency", CustomFigure::MeanLatency),
            ];
            value.word(&words).map(|figure| draft.figure = Some(figure))
        },
    },
    Key {
        name: "average",
        about: "number of rounds that are averaged for results; default: five at steady state, otherwise all",
        set: |draft, value| value.whole(&limits::FIXED_ROUNDS).map(|n| draft.average = Some(n)),
    },
    Key {
        name: "average-from",
        about: "\"last\": the last rounds; \"steady\": rounds starting with the first steady window; default: \
                \"last\"",
        set: |draft, value| {
            value.word(&[("last", false), ("steady", true)]).map(|from| draft.from_steady = from)
        },
    },
    Key {
        name: "find-knee",
        about: "true: find the knee over TC x QD and suggest TC and QD",
        set: |draft, value| value.flag().map(|flag| draft.finds_knee = flag),
    },
];

/// Values read from the table for a preconditioning write.
#[derive(Default)]
pub struct DraftWrite {
    rw: Option<(Access, Option<u8>)>,
    block_bytes: Option<u32>,
    threads: Option<u16>,
    queue_depth: Option<u16>,
    capacities: Option<u32>,
    limit_ns: Option<u64>,
}

pub const WRITE: &[Key<DraftWrite>] = &[
    Key {
        name: "rw",
        about: "\"write\" or \"randwrite\"; default: \"write\"",
        set: |draft, value| {
            let rw = value.word(RW)?;
            if rw.1 != Some(0) {
                return value.problem("preconditioning must be \"write\" or \"randwrite\"");
            }
            draft.rw = Some(rw);
            Ok(())
        },
    },
    Key {
        name: "bs",
        about: "block size; default: \"128KiB\"",
        set: |draft, value| value.block_bytes().map(|bytes| draft.block_bytes = Some(bytes)),
    },
    Key {
        name: "tc",
        about: "threads; default: 1",
        set: |draft, value| value.whole(&limits::TC).map(|tc| draft.threads = Some(tc)),
    },
    Key {
        name: "qd",
        about: "outstanding I/Os per thread; default: from the settings",
        set: |draft, value| value.whole(&limits::QD).map(|qd| draft.queue_depth = Some(qd)),
    },
    Key {
        name: "capacities",
        about: "amount in multiples of the capacity, 1 to 10; default: 2",
        set: |draft, value| value.whole(&limits::CAPACITIES).map(|n| draft.capacities = Some(n)),
    },
    Key {
        name: "at-most",
        about: "seconds after which preconditioning ends even if the amount has not been written",
        set: |draft, value| value.seconds_ns(&limits::CELL_SECONDS).map(|ns| draft.limit_ns = Some(ns)),
    },
];

pub const TRACK: &[Key<TrackedCell>] = &[
    Key { name: "rw", about: "load", set: |cell, value| value.word(RW).map(|rw| cell.rw = Some(rw)) },
    Key {
        name: "rwmixread",
        about: "percentage of reads",
        set: |cell, value| value.whole(&limits::READ_PERCENT).map(|mix| cell.mix = Some(mix)),
    },
    Key {
        name: "bs",
        about: "block size",
        set: |cell, value| value.block_bytes().map(|bytes| cell.block_bytes = Some(bytes)),
    },
    Key {
        name: "tc",
        about: "threads",
        set: |cell, value| value.whole(&limits::TC).map(|tc| cell.threads = Some(tc)),
    },
    Key {
        name: "qd",
        about: "outstanding I/Os per thread",
        set: |cell, value| value.whole(&limits::QD).map(|qd| cell.queue_depth = Some(qd)),
    },
];

fn write(value: Value<'_>) -> Result<CustomWrite, Problem> {
    let draft = inner(value, WRITE)?;
    Ok(CustomWrite {
        access: draft.rw.map_or(Access::Sequential, |(access, _)| access),
        block_bytes: draft.block_bytes.unwrap_or(pts::PRECONDITION_BLOCK),
        threads: draft.threads.unwrap_or(1),
        queue_depth: draft.queue_depth,
        capacities: draft.capacities.unwrap_or(pts::profile::PRECONDITION_CAPACITIES),
        limit_ns: draft.limit_ns,
    })
}

fn demand(value: Value<'_>) -> Result<Demand, Problem> {
    let text = value.text()?;
    let parts =
        text.split_once('x').and_then(|(tc, qd)| Some((tc.trim().parse().ok()?, qd.trim().parse().ok()?)));
    let Some((threads, queue_depth)) = parts else {
        return value.problem(format!("\"{text}\" is not a demand; use \"8x2\" for TC 8 and QD 2"));
    };
    limits::TC.check(threads).or_else(|why| value.problem(format!("TC {why}")))?;
    limits::QD.check(queue_depth).or_else(|why| value.problem(format!("QD {why}")))?;
    Ok(Demand { threads, queue_depth })
}
