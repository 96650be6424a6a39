//! The options about I/O priorities.

use record::IoPriority;

use super::entry::{Form, Key, key};
use crate::setters::priority::{class, hint, level, pair, split};
use crate::values::{number, percent_of};

const N: Form = Form::Word("N");
const P: Form = Form::Word("P");

/// The options about I/O priorities.
pub(super) const PRIORITY: &[Key] = &[
    key(
        "prioclass",
        &[],
        N,
        "class of the I/O priority of a clone: 1: real time, as root, 2: best effort, 3: idle",
        |job, text| {
            number(text, 0, IoPriority::MOST_CLASS.into())
                .map(|class| job.commands.priorities.job_mut().class = class)
        },
    ),
    key("prio", &[], N, "level of the I/O priority of a clone, from 0 (highest) to 7", |job, text| {
        level(text).map(|level| job.commands.priorities.job_mut().level = level)
    }),
    key(
        "priohint",
        &[],
        N,
        "hint of the I/O priority of a clone, such as the number of a command duration limit [0: none]",
        |job, text| hint(text).map(|hint| job.commands.priorities.job_mut().hint = hint),
    ),
    key(
        "cmdprio_percentage",
        &[],
        P,
        "percentage of the I/Os that have the priority of `cmdprio_class`, `cmdprio` and `cmdprio_hint`, with `io_uring` or \
         `libaio`; `READ,WRITE` if they differ; the results then contain the response times by priority; not for simulated \
         drives [0]",
        |job, text| pair(&mut job.commands.priorities.percent, text, percent_of),
    ),
    key(
        "cmdprio_class",
        &[],
        N,
        "class of these I/Os: 1: real time, as root, 2: best effort, 3: idle; `READ,WRITE` if they differ [1]",
        |job, text| pair(&mut job.commands.priorities.class, text, class),
    ),
    key(
        "cmdprio",
        &[],
        N,
        "level of these I/Os, from 0 (highest) to 7; `READ,WRITE` if they differ [0]",
        |job, text| pair(&mut job.commands.priorities.level, text, level),
    ),
    key("cmdprio_hint", &[], N, "hint of these I/Os; `READ,WRITE` if they differ [0: none]", |job, text| {
        pair(&mut job.commands.priorities.hint, text, hint)
    }),
    key(
        "cmdprio_bssplit",
        &[],
        Form::Word("SHARES"),
        "like `cmdprio_percentage`, but by size: `SIZE/PERCENT:..` with the same priority, or `SIZE/PERCENT/CLASS/LEVEL:..` or \
         `SIZE/PERCENT/CLASS/LEVEL/HINT:..`; `READ,WRITE` if they differ",
        split,
    ),
];
