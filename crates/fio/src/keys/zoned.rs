//! The options about the zones of a zoned block device.

use super::entry::{Form, Key, key};
use crate::setters::only;
use crate::values::{number, part_of_one, switch};

const N: Form = Form::Word("N");
const BIT: Form = Form::Word("0|1");
const SHARE: Form = Form::Word("SHARE");
/// As in fio.
const MOST_OPEN: u64 = 4096;

/// The options about the zones of a zoned block device.
pub(super) const ZONED: &[Key] = &[
    key(
        "max_open_zones",
        &[],
        N,
        "with `zonemode=zbd`, the most zones that all jobs of the target write at a time; refused if the device permits fewer; 0: \
         the limit of the device, including its limit of active zones [0]",
        |job, text| {
            job.commands.zoned.note("max_open_zones");
            number(text, 0, MOST_OPEN).map(|zones| job.commands.zoned.how.max_open_zones = zones)
        },
    )
    .differs(),
    key(
        "job_max_open_zones",
        &[],
        N,
        "with `zonemode=zbd`, the most of these zones that each clone opens; 0: no such limit [0]",
        |job, text| {
            job.commands.zoned.note("job_max_open_zones");
            number(text, 0, MOST_OPEN).map(|zones| job.commands.zoned.how.thread_max_open_zones = zones)
        },
    ),
    key(
        "read_beyond_wp",
        &[],
        BIT,
        "with `zonemode=zbd`, whether reads go beyond the write pointers, where drives have nothing to read [0]",
        |job, text| {
            job.commands.zoned.note("read_beyond_wp");
            switch(text).map(|on| job.commands.zoned.how.reads_beyond = on)
        },
    ),
    key(
        "zone_reset_threshold",
        &[],
        SHARE,
        "with `zonemode=zbd` and `zone_reset_frequency`, the share of the range, from 0 to 1, above which zones are reset before \
         they are full; up to three decimal places [0]",
        |job, text| {
            job.commands.zoned.note("zone_reset_threshold");
            part_of_one(text).map(|milli| job.commands.zoned.threshold_milli = milli)
        },
    ),
    key(
        "zone_reset_frequency",
        &[],
        SHARE,
        "with `zonemode=zbd`, the resets per write, from 0 to 1, of zones that are not full; up to three decimal places; 0: only \
         full zones are reset [0]",
        |job, text| {
            job.commands.zoned.note("zone_reset_frequency");
            part_of_one(text).map(|milli| job.commands.zoned.frequency_milli = milli)
        },
    ),
    key("ignore_zone_limits", &[], BIT, "exceed the limits of the device: only 0", |_, text| {
        only(text, "0", "a device that permits fewer open zones fails the writes to others")
    })
    .differs(),
    key("recover_zbd_write_error", &[], BIT, "continue after failed writes to zones: only 0", |_, text| {
        only(text, "0", "after a failed write, the data in the zone is unknown")
    })
    .differs(),
    key(
        "write_zone_remainder",
        &["write_zone_remainders"],
        BIT,
        "write the rest of a zone that is smaller than a block: only 0",
        |_, text| only(text, "0", "such a zone is finished or reset"),
    )
    .differs(),
];
