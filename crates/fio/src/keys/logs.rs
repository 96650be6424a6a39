//! The options for logs of rates and response times over time.

use super::entry::{Form, Key, key};
use crate::setters::log;
use crate::values::{number, switch};

/// The options for logs.
pub(super) const LOGS: &[Key] = &[
    key(
        "write_bw_log",
        &[],
        Form::OptionalWord("PREFIX"),
        "write the KiB per second over time to `PREFIX_bw.N.log`, where N is the number of the first clone; one line per second \
         and direction, for all clones that share a range [the name of the job]",
        |job, text| log(&mut job.logs.bandwidth, text),
    )
    .differs(),
    key(
        "write_iops_log",
        &[],
        Form::OptionalWord("PREFIX"),
        "like `write_bw_log`, but for I/Os per second, in `PREFIX_iops.N.log`",
        |job, text| log(&mut job.logs.iops, text),
    )
    .differs(),
    key(
        "write_lat_log",
        &[],
        Form::OptionalWord("PREFIX"),
        "like `write_bw_log`, but for mean response times in ns, in `PREFIX_lat.N.log` and, identically, in `PREFIX_clat.N.log`; not for mixes on simulated drives",
        |job, text| log(&mut job.logs.latency, text),
    )
    .differs(),
    key(
        "log_prio",
        &[],
        Form::Word("0|1"),
        "show the priority in each line of a log; as in fio with `log_avg_msec`, it is 0x0000, because a line is an average [0]",
        |job, text| switch(text).map(|on| job.logs.shows_priority = on),
    )
    .differs(),
    key(
        "log_avg_msec",
        &[],
        Form::Word("N"),
        "time in milliseconds over which each line of a log is averaged, rounded up to seconds [1000]",
        |job, text| number(text, 0, 86_400_000).map(|ms: u32| job.logs.intervals = ms.div_ceil(1000)),
    )
    .differs(),
    key(
        "write_hist_log",
        &[],
        Form::OptionalWord("PREFIX"),
        "like `write_bw_log`, but for histograms of response times, in `PREFIX_clat_hist.N.log`; one line per second; not for \
         mixes. A power of two has four bins: with less than 4 as `log_hist_coarseness`, all I/Os of a bin are in the middle \
         one of the bins that it covers",
        |job, text| log(&mut job.logs.histogram, text),
    )
    .differs(),
    key(
        "log_hist_msec",
        &[],
        Form::Word("N"),
        "time in milliseconds that each line of a histogram log covers, rounded up to seconds [1000]; in long jobs, lines cover \
         twice as much time, and so on",
        |job, text| {
            number(text, 0, 86_400_000).map(|ms: u32| job.logs.histogram_intervals = ms.div_ceil(1000))
        },
    )
    .differs(),
    key(
        "log_hist_coarseness",
        &[],
        Form::Word("N"),
        "0 to 6: a histogram log has 1856 bins, halved for each unit [0]",
        |job, text| number(text, 0, 6).map(|coarseness| job.logs.coarseness = coarseness),
    ),
];
