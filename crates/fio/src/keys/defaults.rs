//! The options that are accepted only with the value that means "as always here", because scripts write out fio's defaults.

use super::entry::{Form, Key, key};
use crate::setters::{only, zero};

const BIT: Form = Form::Word("0|1");
const N: Form = Form::Word("N");
const P: Form = Form::Word("P");
const NAME: Form = Form::Word("NAME");

/// The options of which only one value is supported.
pub(super) const DEFAULTS: &[Key] = &[
    key("lockfile", &[], NAME, "lock files: only `none`", |_, text| {
        only(text, "none", "the jobs of a load do not lock parts of files")
    })
    .differs(),
    key("stats", &[], BIT, "whether the job has a result: only 1", |_, text| {
        only(text, "1", "every job has a result")
    })
    .differs(),
    key("percentage_random", &[], P, "percentage of random I/Os in a random job: only 100", |_, text| {
        only(text, "100", "each job is either random or sequential; use one job for each")
    })
    .differs(),
    key(
        "percentage_sequential",
        &[],
        P,
        "percentage of sequential I/Os in a random job: only 0",
        |_, text| only(text, "0", "each job is either random or sequential; use one job for each"),
    )
    .differs(),
    key("trim_percentage", &[], P, "percentage of verified blocks that are trimmed: only 0", |_, text| {
        only(text, "0", "a job trims either all of its blocks or none")
    })
    .differs(),
    key("pre_read", &[], BIT, "read files into the page cache first: only 0", |_, text| {
        zero(text, "direct I/O does not use the page cache")
    })
    .differs(),
    key("uncached", &[], BIT, "remove data from the page cache: only 0", |_, text| {
        zero(text, "direct I/O does not use the page cache")
    })
    .differs(),
    key("create_only", &[], BIT, "only create the files: only 0", |_, text| {
        zero(text, "a load always performs its I/Os")
    })
    .differs(),
    key("file_append", &[], BIT, "write after the end of files: only 0", |_, text| {
        zero(text, "a load stays within the size of its target")
    })
    .differs(),
    key("end_syncfs", &[], BIT, "end with a sync of the file system: only 0", |_, text| {
        zero(text, "only whole targets are synced, with fsync, fdatasync, end_fsync or sync")
    })
    .differs(),
    key("nowait", &[], BIT, "fail instead of waiting: only 0", |_, text| {
        zero(text, "a load waits for each I/O")
    })
    .differs(),
    key("force_async", &[], N, "I/Os for worker threads of io_uring: only 0", |_, text| {
        zero(text, "io_uring itself decides which I/Os need a worker thread")
    })
    .differs(),
    key("bs_unaligned", &["blocksize_unaligned"], BIT, "sizes of any length: only 0", |_, text| {
        zero(text, "sizes are multiples of the smallest, as direct I/O requires")
    })
    .differs(),
    key("bs_is_seq_rand", &[], BIT, "sizes by order instead of direction: only 0", |_, text| {
        zero(text, "sizes differ by direction, not by order")
    })
    .differs(),
    key("verify_only", &[], BIT, "only check the data: only 0", |_, text| {
        zero(text, "a job that reads with verify=crc32c checks the stamps of earlier jobs")
    })
    .differs(),
    key("verify_state_load", &[], BIT, "read where an earlier job ended: only 0", |_, text| {
        zero(text, "a job that reads with verify=crc32c checks the stamps of earlier jobs")
    })
    .differs(),
    key("log_issue_time", &[], BIT, "start times in logs: only 0", |_, text| {
        zero(text, "logs contain averages over seconds")
    })
    .differs(),
    key("log_unix_epoch", &[], BIT, "times since 1970 in logs: only 0", |_, text| {
        zero(text, "logs contain the time since the start of the job")
    })
    .differs(),
];
