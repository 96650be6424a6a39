//! The options that determine what is written, and whether it is verified.

use super::entry::{Form, Key, key};
use crate::duplicates::dedupe_mode;
use crate::setters::{content_check, first_wrong_block};
use crate::values::{byte, percent_of, switch};

const P: Form = Form::Word("P");
const NAME: Form = Form::Word("NAME");
const BIT: Form = Form::Word("0|1");

/// The options about data.
pub(super) const DATA: &[Key] = &[
    key(
        "buffer_pattern",
        &[],
        Form::Word("BYTE"),
        "write this byte, such as `0x01`; other patterns are not supported",
        |job, text| byte(text).map(|byte| job.buffer_byte = Some(byte)),
    )
    .differs(),
    key("zero_buffers", &[], Form::Switch, "write zeros", |job, text| {
        switch(text).map(|on| job.zero_buffers = on)
    }),
    key(
        "buffer_compress_percentage",
        &[],
        P,
        "percentage of each block that is compressible [0]",
        |job, text| percent_of(text).map(|percent| job.compress_percent = percent),
    ),
    key(
        "dedupe_percentage",
        &[],
        P,
        "percentage of blocks that are duplicates of earlier ones [0]",
        |job, text| percent_of(text).map(|percent| job.dedupe_percent = percent),
    ),
    key(
        "dedupe_mode",
        &[],
        NAME,
        "which blocks are duplicated: `repeat`: the most recent unique one, `working_set`: any of the first unique blocks of a \
         clone, which needs a `size` and one file [repeat]",
        dedupe_mode,
    ),
    key(
        "dedupe_working_set_percentage",
        &[],
        P,
        "percentage of `size` that is the working set; the other unique blocks are not duplicated [5]",
        |job, text| percent_of(text).map(|percent| job.duplicates.set_percent = percent),
    ),
    key(
        "dedupe_global",
        &[],
        Form::Switch,
        "the working set of each clone consists of equal parts of those of all clones of all jobs [0]",
        |job, text| switch(text).map(|on| job.duplicates.is_global = on),
    ),
    key(
        "verify",
        &[],
        NAME,
        "every block is stamped, with a CRC32C for every method of fio except `pattern`, `pattern_hdr` and `null`, and read \
         back; the stamps differ from fio's",
        content_check,
    )
    .differs(),
    key("verify_fatal", &[], BIT, "stop at the first wrong block; never (with 1, a note says so)", first_wrong_block)
    .differs(),
    key("do_verify", &[], BIT, "whether written data is read back at the end of the job [1]", |job, text| {
        switch(text).map(|on| job.do_verify = on)
    }),
    key(
        "verify_write_sequence",
        &[],
        BIT,
        "verify the number of each write as well; 0 only for `atomic` writes, whose blocks several clones may then overwrite [1]",
        |job, text| switch(text).map(|on| job.verifies_sequence = on),
    )
    .differs(),
    key(
        "atomic",
        &[],
        BIT,
        "writes of which the drive stores all or nothing if the power fails (`RWF_ATOMIC`); refused if the kernel, the file \
         system or the drive does not support their size [0]",
        |job, text| switch(text).map(|on| job.commands.atomic = on),
    ),
];
