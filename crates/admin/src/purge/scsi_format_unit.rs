//! SCSI FORMAT UNIT, the PTS's preferred purge for SAS.

use super::method::{Method, hits_no_others};
use super::scsi;

/// The method.
pub(super) const METHOD: Method = Method {
    name: "scsi-format-unit",
    label: "SCSI Format Unit",
    is_pts: true,
    offer: |can| scsi::offer(can, |drive| drive.format_unit),
    hits_others: hits_no_others,
    run: |job| scsi::format_unit(job),
};
