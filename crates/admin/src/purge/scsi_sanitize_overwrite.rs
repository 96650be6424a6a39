//! SCSI SANITIZE with overwrite, which the PTS does not list as a purge.

use super::method::{Method, hits_no_others};
use super::scsi;

/// The method.
pub(super) const METHOD: Method = Method {
    name: "scsi-sanitize-overwrite",
    label: "SCSI Sanitize, overwrite",
    is_pts: false,
    offer: |can| scsi::offer(can, |drive| drive.sanitize_overwrite),
    hits_others: hits_no_others,
    run: |job| scsi::sanitize(job, scsi::Action::Overwrite),
};
