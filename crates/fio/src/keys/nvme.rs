//! The options about NVMe commands.

use record::Commands;

use super::entry::{Form, Key, key};
use crate::setters::nvme::{data_placement, placement_handles, placement_order, write_mode};
use crate::values::{number, switch};

const NAME: Form = Form::Word("NAME");

/// The options about NVMe commands of `io_uring_cmd`.
pub(super) const NVME: &[Key] = &[
    key(
        "write_mode",
        &[],
        Form::Word("SHARES"),
        "command of `io_uring_cmd` for writes: `write`, `zeroes`, `uncor` (reads of the blocks then fail until they are written) \
         or `verify`; several with shares in percent, `write/60:zeroes/40`; refused if the drive lacks a command; \
         `zone_append` is not supported [write]",
        write_mode,
    )
    .differs(),
    key(
        "num_range",
        &[],
        Form::Word("N"),
        "number of ranges of a trim, up to 256; more than one needs `io_uring_cmd`; such a trim counts as one I/O with the sum of \
         the lengths [1]",
        |job, text| {
            number(text, 1, Commands::MOST_RANGES.into()).map(|ranges| job.commands.nvme.trim_ranges = ranges)
        },
    ),
    key(
        "fdp",
        &[],
        Form::Word("0|1"),
        "writes of `io_uring_cmd` carry placement handles (Flexible Data Placement), which the namespace must have [0]",
        |job, text| switch(text).map(|on| job.commands.nvme.places_data = on),
    ),
    key(
        "dataplacement",
        &["data_placement"],
        NAME,
        "`fdp`: the same as `fdp=1`, `none`: the same as `fdp=0`",
        data_placement,
    )
    .differs(),
    key(
        "plids",
        &["fdp_pli"],
        Form::Word("LIST"),
        "indices of the placement handles that writes carry, such as `0,2-4` [all]",
        placement_handles,
    ),
    key(
        "plid_select",
        &["fdp_pli_select"],
        NAME,
        "`roundrobin`: the placement handles take turns, `random`: they are drawn [roundrobin]",
        placement_order,
    )
    .differs(),
];
