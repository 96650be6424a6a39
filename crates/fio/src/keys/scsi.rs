//! The options about SCSI commands.

use super::entry::{Form, Key, key};
use crate::setters::scsi::write_mode;
use crate::values::switch;

const BIT: Form = Form::Word("0|1");

/// The options about SCSI commands of `sg`.
pub(super) const SCSI: &[Key] = &[
    key(
        "sg_write_mode",
        &[],
        Form::Word("NAME"),
        "command of `sg` for writes: `write`, `write_and_verify`, `write_same`, `write_same_ndob` (zeros), `verify_bytchk_00` (can \
         be read), `verify_bytchk_01` (equals the data) or `verify_bytchk_11` (each block equals one block of data); \
         `write_stream` is not supported [write]",
        write_mode,
    )
    .differs(),
    key("readfua", &[], BIT, "reads of `sg` bypass the drive's cache; not for `io_uring_cmd` [0]", |job, text| {
        switch(text).map(|on| job.commands.scsi.read_fua = on)
    })
    .differs(),
    key("writefua", &[], BIT, "writes of `sg` bypass the drive's cache; not for `io_uring_cmd` [0]", |job, text| {
        switch(text).map(|on| job.commands.scsi.write_fua = on)
    })
    .differs(),
];
