//! The options that determine where a job performs its I/O and when it ends: strides, zones, steady state, new
//! files, other jobs.

use super::entry::{Form, Key, key};
use crate::errors::{continue_on_error, ignore_error};
use crate::setters::{exit_what, least_iops, least_rate, most_latency, only_on_or_off, start_delay};
use crate::steady::criterion;
use crate::values::{bytes, number, switch, thousandths, time_ns, time_of_us_ns};
use stdx::units::SECOND_NS;

const NAME: Form = Form::Word("NAME");
const N: Form = Form::Word("N");
/// A time whose default unit is not the second.
const US: Form = Form::Word("TIME");
const BIT: Form = Form::Word("0|1");

/// The options that determine the course of a job.
pub(super) const COURSE: &[Key] = &[
    key(
        "zonemode",
        &[],
        NAME,
        "`strided`: sequential I/O transfers `zonesize` bytes, skips `zoneskip` bytes, and so on, and starts again at the end of \
         `size` (fio continues to the end of the target); `zbd`: the target is a zoned block device, on which writes go to write \
         pointers and trims are zone resets (below); `none` [none]",
        |job, text| {
            job.strides.zoned = match text {
                "none" | "zbd" => Some(false),
                "strided" => Some(true),
                _ => return Err("supported: none, strided and zbd".into()),
            };
            job.commands.zoned.is_on = text == "zbd";
            Ok(())
        },
    )
    .differs(),
    key("zonesize", &[], Form::Size, "bytes to transfer in each zone of `zonemode=strided`; the size that the zones of `zonemode=zbd` must have", |job, text| {
        bytes(text).map(|bytes| job.strides.zone_bytes = bytes)
    }),
    key(
        "zonerange",
        &[],
        Form::Size,
        "size of a zone of `zonemode=strided`: the same as `zonesize` [`zonesize`]",
        |job, text| bytes(text).map(|bytes| job.strides.zone_range_bytes = Some(bytes)),
    )
    .differs(),
    key("zoneskip", &[], Form::Size, "bytes to skip after each zone of `zonemode=strided` [0]", |job, text| {
        bytes(text).map(|bytes| job.strides.zone_skip_bytes = bytes)
    }),
    key(
        "steadystate",
        &["ss"],
        Form::Word("MEASURE:LIMIT"),
        "end the job early when it is steady: `iops`, `bw` or `lat` with the largest deviation from the mean, or \
         `iops_slope`, `bw_slope` or `lat_slope` with the slope of the regression line per check, in percent of the mean \
         (`2%`), or for IOPS and bytes per second as a number; all clones of a job are evaluated together",
        |job, text| criterion(text).map(|criterion| job.steady.criterion = Some(criterion)),
    )
    .differs(),
    key(
        "steadystate_duration",
        &["ss_dur"],
        Form::Time,
        "length of the most recent period over which `steadystate` is evaluated",
        |job, text| time_ns(text).map(|ns| job.steady.duration_ns = ns),
    ),
    key(
        "steadystate_ramp_time",
        &["ss_ramp"],
        Form::Time,
        "time from the start of the job until `steadystate` collects data; never less than `ramp_time` [0]",
        |job, text| time_ns(text).map(|ns| job.steady.ramp_ns = ns),
    )
    .differs(),
    key(
        "steadystate_check_interval",
        &["ss_interval"],
        Form::Time,
        "time from one value of `steadystate` to the next, in whole seconds [1 s]",
        |job, text| time_ns(text).map(|ns| job.steady.interval_ns = Some(ns)),
    )
    .differs(),
    key(
        "startdelay",
        &[],
        Form::Time,
        "time before the job starts, after the jobs that it waits for have ended; the same for all concurrent jobs of a target, \
         and not for simulated drives; a range of times is not supported [0]",
        start_delay,
    )
    .differs(),
    key(
        "exitall",
        &[],
        Form::Switch,
        "as soon as one clone of any job ends, the jobs selected by its `exit_what` end too, with their results; a job with \
         several targets ends with its I/O on the first of them; not for simulated drives, and not with `startdelay` [0]",
        |job, text| switch(text).map(|on| job.tie.exit_all = on),
    )
    .differs(),
    key(
        "exit_what",
        &[],
        NAME,
        "with `exitall`, the jobs that end with this one: `group`: those of its group, `stonewall`: all that run, `all`: also \
         those that have not started [group]",
        exit_what,
    ),
    key(
        "flow",
        &[],
        N,
        "weight of each clone: jobs with the same `flow_id` keep the ratio of their numbers of I/Os; 0: independent of others; \
         not with a rate, and not for simulated drives [0]",
        |job, text| number(text, 0, 1000).map(|weight| job.tie.weight = weight),
    )
    .differs(),
    key("flow_id", &[], N, "number of the jobs that keep their ratio [0]", |job, text| {
        number(text, 0, u32::MAX.into()).map(|id| job.tie.flow_id = id)
    }),
    key(
        "flow_sleep",
        &[],
        US,
        "pause of a clone that is ahead of the others, once no I/O is in flight; 0: it waits until it is no longer ahead; the \
         default unit is microseconds [0]",
        |job, text| time_of_us_ns(text).map(|ns| job.tie.sleep_ns = ns),
    ),
    key(
        "rate_min",
        &["ratemin"],
        Form::Size,
        "least bytes per second of each clone: a slower job ends the load with an error and without results; compared every \
         `rate_cycle` after the first 2 seconds; `READ,WRITE` if they differ",
        least_rate,
    )
    .differs(),
    key("rate_iops_min", &[], N, "least I/Os per second of each clone, like `rate_min`", least_iops).differs(),
    key(
        "max_latency",
        &[],
        US,
        "longest response time: a slower I/O ends the load with an error and without results, at the end of its second; the \
         default unit is microseconds; `READ,WRITE` if they differ",
        most_latency,
    )
    .differs(),
    key(
        "rate_cycle",
        &["ratecycle"],
        N,
        "milliseconds over which a rate is compared with `rate_min` or `rate_iops_min`; at least a second, and ten I/Os of the \
         job's own rate [1000]",
        |job, text| number::<u64>(text, 0, 86_400_000).map(|ms| job.limits.cycle_ns = ms * 1_000_000),
    )
    .differs(),
    key(
        "latency_target",
        &[],
        US,
        "search for the greatest queue depth up to `iodepth` at which response times are not longer than this, and report the \
         results at that depth; the depth is doubled and then bisected; the job must run alone; the default unit is \
         microseconds; 0: no search [0]",
        |job, text| time_of_us_ns(text).map(|ns| job.latency.limit_ns = ns),
    )
    .differs(),
    key(
        "latency_window",
        &[],
        US,
        "time at each depth of `latency_target`; at least a second; the default unit is microseconds [1 s]",
        |job, text| time_of_us_ns(text).map(|ns| job.latency.window_ns = ns.max(SECOND_NS)),
    )
    .differs(),
    key(
        "latency_percentile",
        &[],
        Form::Word("P"),
        "percentage of the I/Os that must meet `latency_target` [100]",
        |job, text| match thousandths(text)? {
            milli @ ..=100_000 => {
                job.latency.percent_milli = milli;
                Ok(())
            }
            _ => Err("it must not exceed 100".into()),
        },
    ),
    key(
        "latency_run",
        &[],
        BIT,
        "with `latency_target`, run the job for its own amount or time at the depth that was found, instead of for \
         `latency_window`; the depth is then kept [0]",
        |job, text| switch(text).map(|on| job.latency.runs_on = on),
    )
    .differs(),
    key(
        "continue_on_error",
        &[],
        NAME,
        "failed I/Os that do not end the load: `none`, `read`, `write`, `io` for both, `verify`, or `all`, with the errors EIO and \
         EILSEQ; `0` is `none`, `1` is `all`; failed I/Os are part of the amount of a job and of `total_ios` in JSON, but of no \
         other result; results contain the number of errors and the first error; wrong data never ends a load, and always fails \
         it [none]",
        continue_on_error,
    )
    .differs(),
    key(
        "ignore_error",
        &[],
        Form::Word("READ,WRITE,VERIFY"),
        "the errors of each kind that do not end the load, instead of EIO and EILSEQ; names or numbers, separated by colons; a \
         transfer that is cut short counts with its part",
        ignore_error,
    )
    .differs(),
    key("allow_file_create", &[], BIT, "whether files that do not exist are created [1]", |job, text| {
        switch(text).map(|on| job.may_create = on)
    }),
    key(
        "fill_device",
        &["fill_fs"],
        BIT,
        "write the whole target; a file still keeps its size, so that the file system is not filled [0]",
        only_on_or_off,
    )
    .differs(),
];
